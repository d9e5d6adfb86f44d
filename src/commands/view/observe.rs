//! Observing this host for a live page: the recorder's sampler, whose rows stay in memory.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use clap::ArgMatches;
use run::manifest::{Loss, OwnCost};
use run::tail::Room;
use run::{Manifest, Nanos, Tail};
use sources::{Detail, Host, Look, inventory};
use surfaces::server::Live;

use crate::clock::{self, RunClock};
use crate::commands::record::sampler::{Counts, Sampler, Wrote};
use crate::commands::record::{named_sources, without_hooks};
use crate::failure::Failure;

/// A sample later than this share of the interval counts as late.
const LATE: f64 = 0.1;

/// Rows of events that wait for the next sample at most.
const MOST_WAITING: usize = 1 << 16;

/// Words after which the sources begin anew, and with them the words: names of short processes
/// and of files come without end, and whoever counts under a name keeps its number.
const MOST_WORDS: usize = 50_000;

/// Losses of earlier words that are told.
const MOST_LOSSES: usize = 100;

/// What events may cost, as a share of one processor: that of `sonde record`.
const EVENT_SHARE: f64 = 0.02;

/// An observation at work. It ends when this is dropped.
pub(super) struct Observer {
    live: Arc<Live>,
    /// Closed to end it.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Observer {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join);
    }
}

impl Observer {
    /// Begins; answers when the first interval has started.
    pub(super) fn start(matches: &ArgMatches) -> Result<Observer, Failure> {
        let every = crate::commands::duration(matches, "every")?.unwrap_or(1.0);
        if !(0.01..=3600.0).contains(&every) {
            return Err(Failure::input("--every must be from 10ms to 1h"));
        }
        let detail = match matches.get_one::<String>("detail").map(String::as_str) {
            Some("samples") => Detail::Samples,
            Some("distributions") => Detail::Distributions,
            _ => Detail::Events,
        };
        let look = Look {
            detail,
            events: vec!["disk".into()],
            event_share: EVENT_SHARE,
            event_rate: f64::INFINITY,
            ..Look::default()
        };
        let named = named_sources(matches, &look)?;
        let host = Host {
            top: 10,
            look,
            without_hooks: without_hooks(),
            ..Host::default()
        };
        let failed = |e: io::Error| Failure::work(format!("starting to observe: {e}"));
        let (stop, stopped) = UnixStream::pair().map_err(failed)?;
        let (send, receive) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("observer".into())
            .spawn(move || {
                let mut observing = Observing::begin(host, named, every);
                take_inventory(observing.host.clone(), observing.tail.clone());
                // Nobody waits any more if the server could not start.
                let _ = send.send(observing.live.clone());
                observing.go_on(&stopped);
                observing.live.ended();
            })
            .map_err(failed)?;
        let live = receive
            .recv()
            .map_err(|_| Failure::work("the observation fell over while starting"))?;
        Ok(Observer {
            live,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// What it observes.
    pub(super) fn live(&self) -> Arc<Live> {
        self.live.clone()
    }
}

/// Takes the inventory meanwhile; without a thread there is none.
fn take_inventory(host: Host, tail: Arc<Tail>) {
    let _ = std::thread::Builder::new()
        .name("inventory".into())
        .spawn(move || {
            let text = format!("{:#}\n", inventory::take(&host).document(None));
            tail.put_beside("inventory.json", text.into_bytes());
        });
}

struct Observing {
    host: Host,
    named: Option<Vec<String>>,
    most_words: usize,
    clock: RunClock,
    sampler: Sampler,
    /// When it began.
    since: Nanos,
    /// What samplers before the present one lost.
    lost: Vec<Loss>,
    sampled: BTreeMap<String, u32>,
    tail: Arc<Tail>,
    live: Arc<Live>,
    started: Nanos,
    every: Nanos,
    counts: Counts,
}

impl Observing {
    fn begin(host: Host, named: Option<Vec<String>>, every: f64) -> Observing {
        let clock = RunClock::start();
        let mut sampler = Sampler::open(&host, named.as_deref(), every, &clock);
        let started = sampler.begin(&clock);
        let uname = rustix::system::uname();
        let name = uname.nodename().to_string_lossy().into_owned();
        let manifest = Manifest {
            id: format!("{started:x}-{}-{name}", std::process::id()),
            sources: sampler.states(),
            ..Manifest::new(&name, started, every)
        };
        let tail = Arc::new(Tail::new(manifest, Room::default()));
        Observing {
            host,
            named,
            most_words: MOST_WORDS,
            clock,
            sampler,
            since: started,
            lost: vec![],
            sampled: BTreeMap::new(),
            live: Arc::new(Live::new(tail.clone())),
            tail,
            started,
            every: ((every * 1e9) as Nanos).max(1),
            counts: Counts::default(),
        }
    }

    /// Samples until the other end of `stopped` is closed.
    fn go_on(&mut self, stopped: &UnixStream) {
        // Whole multiples of the interval, as in a recording.
        let mut next = (self.started / self.every + 1) * self.every;
        loop {
            let due = self.sampler.due();
            let woken = {
                let mut wanted: Vec<BorrowedFd<'_>> = vec![stopped.as_fd()];
                wanted.extend(self.sampler.ready());
                self.clock.wait_until(next.min(due), &wanted)
            };
            if woken && is_closed(stopped) {
                return;
            }
            if woken || self.clock.now() >= due {
                self.take_events();
            }
            let now = self.clock.now();
            if now < next {
                continue;
            }
            if (now - next) as f64 > LATE * self.every as f64 {
                self.counts.late += 1;
            }
            let passed = (now - next) / self.every;
            self.counts.missed += passed as u64;
            next += (passed + 1) * self.every;
            self.sample(now);
            if self.sampler.sink.words.texts().len() > self.most_words {
                self.begin_anew();
            }
        }
    }

    /// Begins with new sources, and so with new words. A sample joins the two observations, so
    /// that nothing is between them but what was under way.
    fn begin_anew(&mut self) {
        let every = self.every as f64 / 1e9;
        let mut fresh = Sampler::open(&self.host, self.named.as_deref(), every, &self.clock);
        self.sample(self.clock.now());
        let now = fresh.begin(&self.clock);
        self.lost = self.losses(now);
        self.sampled = self.sampled();
        self.since = now;
        self.sampler = fresh;
        self.tail.renew();
    }

    /// Events that could not be kept, in each stretch between two beginnings.
    fn losses(&self, now: Nanos) -> Vec<Loss> {
        let mut all = self.lost.clone();
        all.extend(self.sampler.losses(self.since, now));
        // Of a long observation, the newest.
        all.split_off(all.len().saturating_sub(MOST_LOSSES))
    }

    /// Tables of events that were thinned out at some time, and how much at most.
    fn sampled(&self) -> BTreeMap<String, u32> {
        let mut all = self.sampler.sampled();
        for (table, n) in &self.sampled {
            let most = all.entry(table.clone()).or_insert(*n);
            *most = (*most).max(*n);
        }
        all
    }

    /// Takes events that wait in the kernel, so that there is room for more.
    fn take_events(&mut self) {
        self.sampler.between(&self.clock);
        let sink = &mut self.sampler.sink;
        let waiting: usize = sink.filled().map(|(_, rows)| rows.len()).sum();
        if waiting > MOST_WAITING {
            self.tail.append(sink, self.clock.now());
        }
    }

    fn sample(&mut self, now: Nanos) {
        self.counts.samples += 1;
        // What is in memory is not written, and not lost.
        let wrote = Wrote::default();
        self.sampler
            .sample(&self.clock, now, false, self.counts, wrote);
        self.tail.append(&mut self.sampler.sink, now);
        let own = OwnCost {
            cpu_seconds: clock::own_cpu(),
            peak_resident_bytes: self.sampler.peak_resident(),
            written_bytes: 0,
            samples: self.counts.samples,
            late: self.counts.late,
            missed: self.counts.missed,
        };
        let (sampled, loss) = (self.sampled(), self.losses(now));
        self.tail.describe(|manifest| {
            manifest.own = own;
            manifest.sampled = Some(sampled);
            manifest.loss = loss;
        });
        self.live.sampled();
    }
}

/// Whether the other end is gone.
fn is_closed(stream: &UnixStream) -> bool {
    let mut byte = [0; 1];
    let flags = rustix::net::RecvFlags::DONTWAIT;
    matches!(rustix::net::recv(stream, &mut byte, flags), Ok((0, _)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What processors did, and which processes, each tenth of a second.
    #[test]
    fn an_observation_goes_on_when_its_words_begin_anew() {
        let named = ["process", "cpu"].map(str::to_owned).to_vec();
        let mut observing = Observing::begin(Host::default(), Some(named), 0.1);
        observing.most_words = 0;
        for number in 1..=8 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            observing.sample(observing.clock.now());
            if number % 2 == 0 {
                observing.begin_anew();
            }
        }
        let run = observing.tail.run();
        let answer = analysis::evaluate(&run, "cpu.idle").unwrap();
        // Eight intervals, and a short one before each of four beginnings.
        assert_eq!(answer.slots.len(), 12);
        let observed: f64 = answer.slots.iter().map(|s| s.interval).sum();
        let passed = (observing.clock.now() - observing.started) as f64 / 1e9;
        assert!(observed > 0.9 * passed, "{observed} of {passed}");
        let words = observing.sampler.sink.words.texts().len();
        assert!(words < 400, "{words}");
    }
}
