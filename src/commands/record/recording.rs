//! One recording, from the first reading to the sealed run.

mod phases;

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use run::Nanos;
use run::manifest::{self, ClockStep, Manifest};
use run::printed::TIMES;
use run::write::{CreateError, Finished, Writer};
use rustix::process::Signal;
use sources::NO_ROOM;

use super::child::{self, Outputs, Running};
use super::inventories::Inventories;
use super::marks::Marks;
use super::progress::{Progress, Screen, Told, seconds};
use super::sampler::{Counts, Sampler, Wrote};
use super::signals::Signals;
use super::tee::{Kept, Tee};
use super::{Wanted, closing_words, unobserved, workload};
use crate::clock::{self, RunClock};
use crate::failure::Failure;
use crate::output;

/// How long the command may wait for the inventory. What is not known by then is taken
/// while it runs.
const INVENTORY_WAIT: Duration = Duration::from_millis(40);

/// A sample later than this share of the interval counts as late.
const LATE: f64 = 0.1;

/// Records what was asked for; answers with the command's exit status.
pub(super) fn record(wanted: Wanted) -> Result<ExitCode, Failure> {
    let signals = Signals::catch().map_err(|e| Failure::work(format!("catching signals: {e}")))?;
    let clock = RunClock::start();
    let manifest = first_manifest(&wanted, &clock);
    // The kernel checks programs while the disk makes the manifest durable, and the inventory is
    // taken beside both.
    let inventory = Inventories::start(&wanted.host);
    let (created, sampler) = std::thread::scope(|scope| {
        let created = scope.spawn(|| Writer::create(&wanted.path, &manifest));
        let named = wanted.sources.as_deref();
        let sampler = Sampler::open(&wanted.host, named, wanted.every, &clock);
        (created.join(), sampler)
    });
    let writer = created
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        .map_err(|e: CreateError| Failure::input(e))?;
    inventory.write_into(writer.inside());
    if !wanted.quiet
        && let Some(text) = unobserved::told(&sampler.states(), &wanted.asked)
    {
        output::paragraph(&text);
    }
    let marks = Marks::listen(writer.dir()).ok();
    let screen = Arc::new(Screen::new(!wanted.quiet));
    let recording = Recording {
        wanted,
        manifest,
        clock,
        writer,
        sampler,
        marks,
        signals,
        inventory,
        screen,
        progress: Progress::new(),
        counts: Counts::default(),
        status: None,
        warm_at: None,
        kept: None,
    };
    recording.run()
}

fn first_manifest(wanted: &Wanted, clock: &RunClock) -> Manifest {
    let started = clock.now();
    let uname = rustix::system::uname();
    let host = uname.nodename().to_string_lossy().into_owned();
    let arguments: Vec<String> = wanted
        .command
        .iter()
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    // Time, host and process tell runs apart; nobody is asked for randomness.
    let id = format!("{started:x}-{}-{host}", std::process::id());
    let named_for = arguments
        .first()
        .map_or_else(|| host.clone(), |_| arguments.join(" "));
    Manifest {
        id,
        name: wanted.name.clone().unwrap_or(named_for),
        notes: wanted.notes.clone(),
        command: (!arguments.is_empty()).then_some(manifest::Command {
            arguments,
            status: None,
            signal: None,
        }),
        ..Manifest::new(&host, started, wanted.every)
    }
}

struct Recording {
    wanted: Wanted,
    manifest: Manifest,
    clock: RunClock,
    writer: Writer,
    sampler: Sampler,
    marks: Option<Marks>,
    signals: Signals,
    inventory: Inventories,
    screen: Arc<Screen>,
    progress: Progress,
    counts: Counts,
    status: Option<ExitStatus>,
    /// When the warm-up ends, if it has not.
    warm_at: Option<Nanos>,
    /// What keeps the command's output.
    kept: Option<[Kept; 2]>,
}

/// Why the sampling ended.
enum Ended {
    /// The command is over.
    Command,
    /// The time is over, or somebody interrupted.
    Time,
}

impl Recording {
    fn run(mut self) -> Result<ExitCode, Failure> {
        self.inventory.wait(INVENTORY_WAIT);
        // The command's life begins where the first interval does.
        self.manifest.started = self.sampler.begin(&self.clock);
        let mut running = None;
        let mut tee = None;
        if !self.wanted.command.is_empty() {
            match child::start(&self.wanted.command, self.writer.dir()) {
                Ok((child, outputs)) => {
                    running = Some(child);
                    tee = self.tee(outputs);
                }
                Err(e) => return self.no_such_command(&e),
            }
        }
        self.manifest.sources = self.sampler.states();
        self.begin_warmup();
        self.writer.update(&self.manifest);
        let ended = self.observe(running.as_ref());
        self.last_sample();
        if matches!(ended, Ended::Time)
            && let Some(child) = &running
        {
            self.wait_for(child);
        }
        self.status = running.as_mut().and_then(Running::status);
        let remarks = tee.map(Tee::finish).unwrap_or_default();
        self.screen.end();
        self.finish(&remarks)
    }

    fn tee(&mut self, outputs: Outputs) -> Option<Tee> {
        let dir = self.writer.inside();
        let keep = |name: &str| {
            io::Result::Ok(Kept {
                text: child::keep(&dir, name)?,
                times: child::keep(&dir, &format!("{name}{TIMES}"))?,
            })
        };
        let started = keep("stdout")
            .and_then(|out| Ok([out, keep("stderr")?]))
            .and_then(|[out, err]| {
                let again = [out.again()?, err.again()?];
                let clock = self.clock.clone();
                let tee = Tee::start(outputs, [out, err], self.screen.clone(), clock)?;
                Ok((tee, again))
            });
        match started {
            Ok((tee, kept)) => {
                self.kept = Some(kept);
                Some(tee)
            }
            Err(e) => {
                output::message(&format!("the command's output cannot be read: {e}"));
                None
            }
        }
    }

    fn no_such_command(self, error: &io::Error) -> Result<ExitCode, Failure> {
        let name = self.wanted.command[0].to_string_lossy().into_owned();
        // What it still wrote would be left behind.
        self.inventory.end();
        drop(self.marks);
        self.writer.abandon();
        let (why, code) = match error.kind() {
            io::ErrorKind::NotFound => ("there is no such command".to_owned(), 127),
            io::ErrorKind::PermissionDenied => ("it may not be executed".to_owned(), 126),
            _ => (error.to_string(), 126),
        };
        Err(Failure {
            text: format!("{name}: {why}; nothing was recorded"),
            code,
        })
    }

    /// Samples until there is a reason to stop.
    fn observe(&mut self, running: Option<&Running>) -> Ended {
        let every = (self.wanted.every * 1e9) as Nanos;
        let end = self
            .wanted
            .length
            .map(|l| self.manifest.started + (l * 1e9) as Nanos);
        // Whole multiples of the interval, so that hosts line up.
        let mut next = (self.manifest.started / every + 1) * every;
        loop {
            let until = end.map_or(next, |e| e.min(next)).min(self.warm_at());
            let due = self.sampler.due();
            let woken = self.wait_until(until.min(due), running);
            if woken {
                if running.is_some_and(Running::ended) {
                    return Ended::Command;
                }
                if self.signalled(running) {
                    return Ended::Time;
                }
                self.new_phases();
            }
            if woken || self.clock.now() >= due {
                self.take_events(next);
            }
            let now = self.clock.now();
            if end.is_some_and(|e| now >= e) {
                return Ended::Time;
            }
            self.end_warmup(now);
            if now < next {
                continue;
            }
            if (now - next) as f64 > LATE * every as f64 {
                self.counts.late += 1;
            }
            let passed = (now - next) / every;
            self.counts.missed += passed as u64;
            next += (passed + 1) * every;
            self.sample(now, false);
        }
    }

    /// Waits for `time`, the command's end, a signal or a mark; answers whether anything but
    /// the time may have come.
    fn wait_until(&self, time: Nanos, running: Option<&Running>) -> bool {
        let mut wanted: Vec<BorrowedFd<'_>> = self.signals.fds().collect();
        wanted.extend(self.marks.iter().map(Marks::fd));
        wanted.extend(running.map(Running::fd));
        wanted.extend(self.sampler.ready());
        self.clock.wait_until(time, &wanted)
    }

    /// Deals with signals; answers whether the recording is to end.
    fn signalled(&mut self, running: Option<&Running>) -> bool {
        let mut end = false;
        for signal in self.signals.come() {
            match (signal, running) {
                (Signal::WINCH, Some(child)) => child.resize(),
                // The terminal sent these to the command too; the recording ends when it does.
                (Signal::WINCH, None) | (Signal::INT | Signal::QUIT, Some(_)) => {}
                (signal, Some(child)) => child.signal(signal),
                (_, None) => end = true,
            }
        }
        end
    }

    /// Takes a sample; `whole` reads also the sources that are read less often.
    fn sample(&mut self, now: Nanos, whole: bool) {
        if let Some(by_seconds) = self.clock.step() {
            self.manifest.clock.steps.push(ClockStep {
                at: now,
                by_seconds,
            });
            self.writer.update(&self.manifest);
        }
        self.counts.samples += 1;
        let wrote = Wrote {
            bytes: self.writer.written(),
            lost: self.writer.untold(),
        };
        self.sampler
            .sample(&self.clock, now, whole, self.counts, wrote);
        let told = Told {
            elapsed: seconds(self.manifest.started, now),
            samples: self.counts.samples,
            written: self.writer.written(),
            own: clock::own_cpu(),
            lost: self.writer.lost(),
        };
        self.progress.show(&self.screen, &self.sampler.sink, &told);
        // There will be more when the interval is over, if not before.
        let next = now + (self.wanted.every * 1e9) as Nanos;
        self.writer.gather(&mut self.sampler.sink, now, next);
    }

    /// Takes events that wait, so that there is room for more; the next sample is due at `next`.
    fn take_events(&mut self, next: Nanos) {
        self.sampler.between(&self.clock);
        if self.sampler.sink.filled().next().is_some() {
            let now = self.clock.now();
            self.writer.gather_before(&mut self.sampler.sink, now, next);
        }
    }

    /// The sample that ends the last interval, at the command's end.
    fn last_sample(&mut self) {
        let now = self.clock.now();
        self.sample(now, true);
        self.writer.hand_over();
        self.manifest.ended = Some(now);
        self.manifest.programs = self.sampler.programs(self.clock.now());
    }

    /// The recording is over and the command is not.
    fn wait_for(&mut self, child: &Running) {
        if !self.wanted.quiet {
            self.screen.end();
            output::message("the recording is complete; the command goes on");
        }
        loop {
            if child.ended() {
                return;
            }
            let hour = self.clock.now() + 3_600_000_000_000;
            self.wait_until(hour, Some(child));
            self.signalled(Some(child));
        }
    }

    fn finish(mut self, remarks: &[String]) -> Result<ExitCode, Failure> {
        let mut remarks = remarks.to_vec();
        if let (Some(printed), Some(ended)) = (&self.kept, self.manifest.ended) {
            let sink = &mut self.sampler.sink;
            remarks.extend(workload::take(printed, ended, sink));
            self.writer.append(sink, ended);
        }
        remarks.extend(not_kept(&self.manifest.programs));
        self.describe_end();
        drop(self.marks);
        let code = self.status.map(child::shell_status);
        let finished: Finished = match self.writer.finish(self.manifest) {
            Ok(finished) => finished,
            Err(e) => {
                let text = format!("the run is lost: {e}");
                // The command's status passes through whatever became of its recording.
                return Err(Failure {
                    text,
                    code: code.unwrap_or(1),
                });
            }
        };
        if finished.made_again {
            restore(&finished.path, self.kept, &self.inventory);
        }
        let lost = closing_words(self.wanted.quiet, &finished, &remarks);
        Ok(ExitCode::from(code.unwrap_or(u8::from(lost))))
    }

    fn describe_end(&mut self) {
        use std::os::unix::process::ExitStatusExt;
        if let (Some(command), Some(status)) = (&mut self.manifest.command, self.status) {
            command.status = status.code();
            command.signal = status.signal();
        }
        let changes = self
            .inventory
            .finish(&self.wanted.host, &self.writer.inside());
        self.manifest.changes = changes;
        self.manifest.sources = self.sampler.states();
        self.manifest.sampled = Some(self.sampler.sampled());
        let (from, to) = (self.manifest.started, self.clock.now());
        self.manifest.loss.extend(self.sampler.losses(from, to));
        self.manifest.own = manifest::OwnCost {
            cpu_seconds: clock::own_cpu(),
            peak_resident_bytes: self.sampler.peak_resident(),
            written_bytes: self.writer.written(),
            samples: self.counts.samples,
            late: self.counts.late,
            missed: self.counts.missed,
        };
    }
}

/// What programs in the kernel had no room for.
fn not_kept(programs: &[manifest::Program]) -> impl Iterator<Item = String> {
    let lacking = programs.iter().filter(|p| p.detail.starts_with(NO_ROOM));
    lacking.map(|p| format!("not counted: {}", p.detail))
}

/// Writes what the removed directory had beside the tables into the one made in its place.
fn restore(dir: &Path, kept: Option<[Kept; 2]>, inventory: &Inventories) {
    let copy = |mut file: File, name: &str| {
        let mut copy = child::keep(dir, name)?;
        io::Seek::rewind(&mut file)?;
        io::copy(&mut file, &mut copy)
    };
    for (name, kept) in ["stdout", "stderr"]
        .into_iter()
        .zip(kept.into_iter().flatten())
    {
        let copied =
            copy(kept.text, name).and_then(|_| copy(kept.times, &format!("{name}{TIMES}")));
        if let Err(e) = copied {
            output::message(&format!("the command's {name} is lost: {e}"));
        }
    }
    inventory.write_again(dir);
}
