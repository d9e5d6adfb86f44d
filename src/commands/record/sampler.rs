//! The sampling itself: reads the sources at each tick and hands rows to the writer.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use run::manifest::{Loss, Program, SourceState};
use run::rows::TableId;
use run::{Nanos, Sink};
use sources::read::{Kept, fields, number};
use sources::{Availability, Detail, Entry, GATHER_AFTER, Host, Lost, SOURCES, Source};

use super::events::{Budget, Spells};
use crate::clock::RunClock;
use crate::{clock, memory};

/// A source may take this share of one processor. A costlier one (ten thousand processes at
/// 10 ms) is read less often, and its rows say over how long.
const SHARE_OF_SOURCE: f64 = 0.01;

/// A source whose first reading took less, in seconds of processor time, is read again just
/// before the command starts: else its first interval begins before the run does, and has what was
/// before. The first reading finds files and names, so that the second takes a part of it.
const QUICK: f64 = 0.25;

/// The most samples in a row that a source may be left out.
const MOST_STRETCH: u64 = 600;

/// How much newer costs count in a source's mean cost.
const NEWER: f64 = 0.3;

pub(crate) struct Observed {
    entry: &'static Entry,
    pub(crate) source: Option<Box<dyn Source>>,
    state: SourceState,
    /// When it was read last.
    last: Nanos,
    /// When it is due to be gathered from, if it need be at all.
    gather: Nanos,
    gathers: bool,
    /// What reading it costs, in seconds, as a moving mean.
    cost: f64,
    /// Ticks until it is read again.
    wait: u64,
    /// Whether its first reading was quick.
    is_quick: bool,
}

/// Reads all sources.
pub(crate) struct Sampler {
    observed: Vec<Observed>,
    events: Budget,
    spells: Spells,
    /// Rows of the present sample.
    pub(crate) sink: Sink,
    own: Own,
    every: f64,
}

/// Counts of the recorder's own work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Samples taken.
    pub(crate) samples: u64,
    /// Of those, late by more than a tenth of the interval.
    pub(crate) late: u64,
    /// Ticks that passed while a sample was being taken.
    pub(crate) missed: u64,
}

/// What became of the rows so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wrote {
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Rows lost that no row has told of yet.
    pub(crate) lost: u64,
}

/// Opens all, and reads each once, since first readings open files and fill caches.
///
/// Those that load programs into the kernel take longest, since the kernel takes its time to
/// check them: each processor takes one after the other, in the order of the table, which has the
/// dearest first.
fn open_all(
    entries: &[&'static Entry],
    host: &Host,
    clock: &RunClock,
    sink: &mut Sink,
) -> Vec<Observed> {
    let slow = |entry: &Entry| entry.detail > Detail::Samples;
    let waiting = Mutex::new(entries.iter().copied().filter(|e| slow(e)));
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let sink = Mutex::new(sink);
    let open = |entry: &'static Entry| {
        let opened = catch_unwind(|| (entry.open)(host)).unwrap_or_else(|_| {
            let why = "it fell over while opening".into();
            Err(Availability::Failed { why })
        });
        let mut opened = Observed::new(entry, opened);
        opened.read_first(
            clock,
            &mut sink.lock().unwrap_or_else(PoisonError::into_inner),
        );
        opened
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(entries.iter().filter(|e| slow(e)).count());
    let mut opened: Vec<Observed> = std::thread::scope(|scope| {
        let work = || std::iter::from_fn(next).map(open).collect::<Vec<_>>();
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let _prepared = (!workers.is_empty()).then(sources::bpf::prepare);
        let quick = entries.iter().filter(|e| !slow(e)).map(|e| open(e));
        let mut opened: Vec<Observed> = quick.collect();
        for worker in workers {
            opened.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        opened
    });
    // As they are listed.
    opened.sort_by_key(|o| entries.iter().position(|e| std::ptr::eq(*e, o.entry)));
    opened
}

/// What was counted of the recorder when it was last written down.
struct Own {
    table: TableId,
    statm: Option<Kept>,
    buffer: Vec<u8>,
    page: f64,
    last: Nanos,
    cpu: f64,
    written: u64,
    counts: Counts,
    /// Largest resident memory, in bytes.
    peak: f64,
}

impl Sampler {
    /// Opens the sources named (all, if none is) and takes their first reading.
    pub(crate) fn open(
        host: &Host,
        named: Option<&[String]>,
        every: f64,
        clock: &RunClock,
    ) -> Sampler {
        let wanted = |e: &&Entry| named.is_none_or(|n| n.iter().any(|n| n == e.name));
        let entries: Vec<&'static Entry> = SOURCES
            .iter()
            .filter(wanted)
            .filter(|e| e.wanted(&host.look))
            .collect();
        let mut sink = Sink::new();
        let observed = open_all(&entries, host, clock, &mut sink);
        memory::trim();
        Sampler {
            observed,
            events: Budget::new(&host.look, every),
            spells: Spells::new(every),
            sink,
            own: Own::new(),
            every,
        }
    }

    /// What the counters are before anything is observed. Answers with the time at which the
    /// first interval starts.
    pub(crate) fn begin(&mut self, clock: &RunClock) -> Nanos {
        // What came before belongs to no interval.
        self.drain(clock);
        // The first readings were taken while others were being opened: once more, of what is
        // read quickly, so that the first interval does not begin so long before the command.
        for o in self.observed.iter_mut().filter(|o| o.is_quick) {
            o.read(clock, None, 0, &mut self.sink);
            o.state.samples -= 1;
        }
        let started = clock.now();
        self.events.begin(started);
        self.spells.begin(started);
        self.own.begin(started);
        self.sink.clear();
        started
    }

    /// A sample at `time`: rows of every source that is due (all, with `whole`).
    pub(crate) fn sample(
        &mut self,
        clock: &RunClock,
        time: Nanos,
        whole: bool,
        counts: Counts,
        kept: Wrote,
    ) {
        for o in &mut self.observed {
            if o.wait > 0 && !whole {
                o.wait -= 1;
                o.state.stretched += 1;
                continue;
            }
            o.read(clock, Some(time), time, &mut self.sink);
            let affordable = self.every * SHARE_OF_SOURCE;
            o.wait = ((o.cost / affordable).ceil() as u64).clamp(1, MOST_STRETCH) - 1;
        }
        // After the histograms: so no event is missing that they have.
        self.drain(clock);
        self.own.sample(time, counts, kept, &mut self.sink);
        let sources = self.observed.iter_mut().filter_map(|o| o.source.as_mut());
        let lost = sources.filter_map(|s| s.lost());
        self.events.tell(lost, &mut self.sink);
        self.adapt(time);
    }

    /// Between two samples: takes the events that wait, and sees to it that events keep to
    /// their budget however long the interval is.
    ///
    /// Where it is long, also what else cannot wait until its end.
    pub(crate) fn between(&mut self, clock: &RunClock) {
        self.drain(clock);
        self.adapt(clock.now());
        for o in &mut self.observed {
            o.gather(clock);
        }
    }

    /// When [`between`](Sampler::between) is to be called if nothing else happens.
    pub(crate) fn due(&self) -> Nanos {
        let gathered = self.observed.iter().map(|o| o.gather);
        let due = gathered.min().unwrap_or(Nanos::MAX);
        due.min(self.events.due()).min(self.spells.due())
    }

    fn adapt(&mut self, now: Nanos) {
        if let Some(n) = self.events.next(now) {
            for source in self.observed.iter_mut().filter_map(|o| o.source.as_mut()) {
                source.one_in(n);
            }
        }
        self.spells.next(now, &mut self.observed);
    }

    /// Takes the events that wait.
    fn drain(&mut self, clock: &RunClock) {
        let before = clock::own_thread_cpu();
        let offset = clock.less_monotonic();
        for source in self.observed.iter_mut().filter_map(|o| o.source.as_mut()) {
            self.events.taken += source.drain(offset, &mut self.sink);
        }
        self.events.spent += clock::own_thread_cpu() - before;
    }

    /// Readable when events should be drained before the next sample.
    pub(crate) fn ready(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let sources = self.observed.iter().filter_map(|o| o.source.as_ref());
        sources.filter_map(|s| s.ready())
    }

    /// Events that could not be kept, by table.
    fn lost(&self) -> &[Lost] {
        self.events.lost()
    }

    /// The same as the manifest has it, of an observation from `from` to `to`.
    pub(crate) fn losses(&self, from: Nanos, to: Nanos) -> Vec<Loss> {
        let lost = self.lost().iter().filter(|l| l.dropped > 0);
        let loss = |l: &Lost| Loss {
            from,
            to,
            rows: l.dropped,
            why: format!(
                "events of {} came faster than they could be read; its histograms have them",
                l.table
            ),
            table: Some(l.table.to_owned()),
        };
        lost.map(loss).collect()
    }

    /// Tables of events that were sampled.
    pub(crate) fn sampled(&self) -> BTreeMap<String, u32> {
        self.events.sampled()
    }

    /// What became of the programs in the kernel; at the end.
    pub(crate) fn programs(&mut self, now: Nanos) -> Vec<Program> {
        self.spells.end(now, &mut self.observed)
    }

    /// What each source gave, for the manifest.
    pub(crate) fn states(&self) -> Vec<SourceState> {
        self.observed.iter().map(|o| o.state.clone()).collect()
    }

    /// Largest resident memory of the recorder, in bytes.
    pub(crate) fn peak_resident(&self) -> u64 {
        self.own.peak as u64
    }
}

impl Observed {
    fn new(entry: &'static Entry, opened: Result<Box<dyn Source>, Availability>) -> Observed {
        let (source, availability) = match opened {
            Ok(source) => (Some(source), Availability::Available),
            Err(why) => (None, why),
        };
        let state = source_state(entry.name, &availability);
        Observed {
            entry,
            source,
            state,
            last: 0,
            gather: Nanos::MAX,
            gathers: true,
            cost: 0.0,
            wait: 0,
            is_quick: false,
        }
    }

    /// The first reading, beside others that are being opened and want the processors too.
    fn read_first(&mut self, clock: &RunClock, sink: &mut Sink) {
        let before = clock::own_thread_cpu();
        self.read(clock, None, 0, sink);
        let took = clock::own_thread_cpu() - before;
        self.is_quick = self.source.is_some() && took < QUICK;
    }

    /// Between two samples, when the last is long ago.
    fn gather(&mut self, clock: &RunClock) {
        let from = clock.now();
        let Some(source) = self.source.as_mut().filter(|_| from >= self.gather) else {
            return;
        };
        // What could not be gathered may be there the next time.
        self.gathers = source.gather().unwrap_or(true);
        self.due_to_gather(from);
        self.state.cost_seconds += (clock.now() - from) as f64 / 1e9;
    }

    fn due_to_gather(&mut self, last: Nanos) {
        self.gather = if self.gathers {
            last + GATHER_AFTER
        } else {
            Nanos::MAX
        };
    }

    /// Reads the source; `time` is `None` the first time.
    fn read(&mut self, clock: &RunClock, time: Option<Nanos>, at: Nanos, sink: &mut Sink) {
        let Some(source) = &mut self.source else {
            return;
        };
        let from = clock.now();
        let interval = time.map(|_| (from - self.last) as f64 / 1e9);
        sink.at(at, interval.unwrap_or(0.0));
        let result = source.sample(interval, sink);
        self.last = from;
        self.due_to_gather(from);
        let cost = (clock.now() - from) as f64 / 1e9;
        self.cost = if self.state.samples < 2 {
            // The first readings find files and names; they are dearer than the rest.
            cost
        } else {
            self.cost * (1.0 - NEWER) + cost * NEWER
        };
        self.state.cost_seconds += cost;
        self.state.samples += 1;
        if let Err(e) = result {
            let why = Availability::Failed { why: e.to_string() };
            let kept = std::mem::take(&mut self.state);
            self.state = SourceState {
                cost_seconds: kept.cost_seconds,
                samples: kept.samples,
                stretched: kept.stretched,
                ..source_state(self.entry.name, &why)
            };
        } else if self.state.state != "available" {
            // It failed before and works again; the gap is in the data.
            self.state.state = "available".into();
        }
    }
}

/// How an availability stands in a manifest.
pub(crate) fn source_state(name: &str, availability: &Availability) -> SourceState {
    let (state, detail) = match availability {
        Availability::Available => ("available", String::new()),
        Availability::Unsupported { needs } => ("unsupported", format!("needs {needs}")),
        Availability::Denied { remedy } => ("denied", remedy.clone()),
        Availability::Failed { why } => ("failed", why.clone()),
    };
    SourceState {
        name: name.into(),
        state: state.into(),
        detail,
        ..SourceState::default()
    }
}

impl Own {
    fn new() -> Own {
        Own {
            table: TableId::of("self"),
            statm: Kept::open("/proc/self/statm").ok(),
            buffer: Vec::new(),
            page: rustix::param::page_size() as f64,
            last: 0,
            cpu: 0.0,
            written: 0,
            counts: Counts::default(),
            peak: 0.0,
        }
    }

    fn begin(&mut self, now: Nanos) {
        self.last = now;
        self.cpu = clock::own_cpu();
    }

    fn sample(&mut self, time: Nanos, counts: Counts, kept: Wrote, sink: &mut Sink) {
        let cpu = clock::own_cpu();
        let (written, lost) = (kept.bytes, kept.lost);
        let resident = self.resident();
        self.peak = self.peak.max(resident);
        // From sample to sample: these intervals tile the run.
        sink.at(time, (time - self.last) as f64 / 1e9);
        let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let values = [
            cpu - self.cpu,
            since(written, self.written),
            since(counts.samples, self.counts.samples),
            since(counts.late, self.counts.late),
            since(counts.missed, self.counts.missed),
            lost as f64,
            resident,
        ];
        sink.row(self.table, &[], &values);
        (self.last, self.cpu, self.written, self.counts) = (time, cpu, written, counts);
    }

    /// Resident memory now, in bytes; NaN if the kernel does not tell.
    fn resident(&mut self) -> f64 {
        let Some(statm) = &self.statm else {
            return f64::NAN;
        };
        let Ok(bytes) = statm.read(&mut self.buffer) else {
            return f64::NAN;
        };
        let pages = fields(bytes).nth(1).and_then(number);
        pages.map_or(f64::NAN, |p| p as f64 * self.page)
    }
}

#[cfg(test)]
mod tests;
