//! An experiment as it runs: rehearsal, search, blocks; each trial set, verified, settled,
//! recorded and written down.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use lab::experiment::{Arm, Blocks, Logbook, Stage, State, Trial, order, substitute};
use run::Run;
use run::manifest::rfc3339;
use rustix::process::Signal;

use super::live::Live;
use super::measure;
use super::recorder::{self, Ended};
use super::settings::Settings;
use crate::clock;
use crate::commands::experiment;
use crate::commands::record::signals::Signals;
use crate::failure::Failure;
use crate::output;

/// What the recorder and the command said on stderr in the trial that runs.
const SAID: &str = "stderr";

/// Lines of it that are told after a failure.
const TOLD: usize = 5;

/// Why the trials ended before their plan.
pub(super) enum Stop {
    /// Somebody asked for it.
    Signal(Signal),
    /// A trial failed, or something that all of them need.
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failure(failure)
    }
}

/// An experiment while it runs.
pub(super) struct Conductor {
    pub(super) dir: PathBuf,
    pub(super) book: Logbook,
    pub(super) settings: Settings,
    pub(super) signals: Signals,
    pub(super) live: Live,
    /// Keeps others from going on with the same experiment.
    pub(super) _lock: File,
}

impl Conductor {
    /// The trial outside the blocks, unless there was one: shows whether the command and the
    /// metrics work, and how long a trial takes.
    pub(super) fn rehearse(&mut self, arm: &Arm) -> Result<(), Stop> {
        let known = |t: &&Trial| t.stage == Stage::Rehearsal && t.state == State::Done;
        if let Some(seconds) = self.book.trials.iter().find(known).and_then(|t| t.seconds) {
            self.live.took(seconds);
            return Ok(());
        }
        "rehearsal".clone_into(&mut self.live.now);
        self.live.left = 1;
        match self.trial(Stage::Rehearsal, 0, arm)? {
            (_, State::Done) => Ok(()),
            _ => Err(self.failed().into()),
        }
    }

    /// All blocks that are not over.
    pub(super) fn blocks(&mut self) -> Result<(), Stop> {
        for block in self.book.whole_blocks() + 1..=experiment::most_blocks(self.book.blocks) {
            let arms = self.book.arms.clone();
            let of = match self.book.blocks {
                Blocks::Fixed(blocks) => format!(" of {blocks}"),
                Blocks::Auto => String::new(),
            };
            for place in order(arms.len(), block - 1, self.book.seed) {
                let arm = &arms[place];
                self.live.now = format!("block {block}{of}, {}", arm.name);
                self.live.left = self.left(block);
                self.trial(Stage::Block, block, arm)?;
            }
            self.live.estimates = experiment::estimates(&self.book);
            if experiment::may_stop(&self.book, block) {
                break;
            }
        }
        let _ = std::fs::remove_file(self.said());
        Ok(())
    }

    /// Trials to come, those of this block that are over left out.
    fn left(&self, block: usize) -> usize {
        let blocks = experiment::next_look(self.book.blocks, block);
        let over = |arm: &&Arm| self.book.is_over(block, &arm.name);
        let here = self.book.arms.iter().filter(over).count();
        ((blocks + 1).saturating_sub(block) * self.book.arms.len()).saturating_sub(here)
    }

    /// One trial, from setting the arm to what it measured; answers with its place among the
    /// trials and what became of it. In a block, one that failed is an error unless
    /// `--keep-going`.
    pub(super) fn trial(
        &mut self,
        stage: Stage,
        block: usize,
        arm: &Arm,
    ) -> Result<(usize, State), Stop> {
        if let Some(signal) = recorder::ending(&mut self.signals) {
            return Err(Stop::Signal(signal));
        }
        let began = clock::since_boot();
        self.live.begin();
        self.settings.apply(&arm.values)?;
        let place = self.write_down(stage, block, arm)?;
        let became = self.carry_out(place, arm);
        let seconds = (clock::since_boot() - began) as f64 / 1e9;
        let trial = &mut self.book.trials[place];
        trial.seconds = Some(seconds);
        let stop = match became {
            Became::Done(values) => {
                trial.state = State::Done;
                trial.values = values;
                None
            }
            Became::Failed(why) => {
                trial.state = State::Failed;
                trial.why = Some(why);
                let stops = stage == Stage::Block && !self.book.keep_going;
                stops.then(|| Stop::Failure(self.failed()))
            }
            Became::Cut(signal) => {
                trial.state = State::Interrupted;
                trial.why = Some("it was cut short".to_owned());
                Some(Stop::Signal(signal))
            }
        };
        self.save()?;
        self.live.took(seconds);
        match stop {
            Some(stop) => Err(stop),
            None => Ok((place, self.book.trials[place].state)),
        }
    }

    /// Prepares, settles, records and measures.
    fn carry_out(&mut self, place: usize, arm: &Arm) -> Became {
        if let Some(line) = self.book.prepare.clone()
            && let Some(became) = self.prepare(&line, arm)
        {
            return became;
        }
        if let Some(signal) = self.settle() {
            return Became::Cut(signal);
        }
        let run = self.dir.join(&self.book.trials[place].run);
        let command = substitute(&self.book.command, &arm.values);
        let started = recorder::record(&self.options(&run, place), &command, &self.said());
        let ended = match started {
            Ok(process) => process.wait(&mut self.signals, || self.live.draw()),
            Err(e) => return Became::Failed(format!("the recorder could not be started: {e}")),
        };
        if let Some(signal) = ended.cut {
            return Became::Cut(signal);
        }
        if let Some(what) = self.settings.changed(&arm.values) {
            return Became::Failed(format!("a setting was changed meanwhile: {what}"));
        }
        let rehearsal = self.book.trials[place].stage == Stage::Rehearsal;
        match measure::open(&run, &self.book) {
            Ok(run) if rehearsal => self.first(&run),
            Ok(run) => Became::Done(measure::values(&run, &self.book)),
            Err(why) if run.exists() => Became::Failed(why),
            Err(why) => Became::Failed(self.last_words().unwrap_or(why)),
        }
    }

    /// What the rehearsal tells: what to measure, and whether it can be.
    fn first(&mut self, run: &Run) -> Became {
        if self.book.measures.is_empty() {
            self.book.measures = measure::found(run);
        }
        match measure::check(run, &self.book) {
            Ok(()) => Became::Done(measure::values(run, &self.book)),
            Err(failure) => Became::Failed(failure.text),
        }
    }

    fn prepare(&mut self, line: &str, arm: &Arm) -> Option<Became> {
        let variables = arm.values.iter();
        let variables = variables.map(|(name, value)| (format!("SONDE_{name}"), value.clone()));
        let Ended { status, cut } = match recorder::shell(line, variables, &self.said()) {
            Ok(process) => process.wait(&mut self.signals, || self.live.draw()),
            Err(e) => return Some(Became::Failed(format!("--prepare: {e}"))),
        };
        if let Some(signal) = cut {
            return Some(Became::Cut(signal));
        }
        let bad = !status.is_some_and(|s| s.success());
        bad.then(|| {
            let how = status.map_or_else(String::new, |s| s.to_string());
            let words = self
                .last_words()
                .map_or_else(String::new, |w| format!(": {w}"));
            Became::Failed(format!("--prepare ended with {how}{words}"))
        })
    }

    /// Waits until the machine has settled; answers with the signal that cut it short.
    fn settle(&mut self) -> Option<Signal> {
        let until = clock::since_boot() + (self.book.settle * 1e9) as i64;
        loop {
            let left = until - clock::since_boot();
            if left <= 0 {
                return None;
            }
            recorder::pause(&self.signals, None, left.min(500_000_000));
            if let Some(signal) = recorder::ending(&mut self.signals) {
                return Some(signal);
            }
            self.live.draw();
        }
    }

    fn options(&self, run: &Path, place: usize) -> Vec<String> {
        let trial = &self.book.trials[place];
        let mut options = vec![
            format!("--{}", crate::commands::record::TRIAL),
            "--quiet".to_owned(),
            format!("--output={}", run.display()),
            format!("--name={} {}", self.book.command[0], trial.arm),
            format!("--note=experiment={}", self.book.id),
            format!("--note=arm={}", trial.arm),
            format!("--note=block={}", trial.block),
        ];
        if self.book.warmup > 0.0 {
            options.push(format!("--warmup={}s", self.book.warmup));
        }
        options.extend(self.book.record.iter().cloned());
        options
    }

    fn write_down(&mut self, stage: Stage, block: usize, arm: &Arm) -> Result<usize, Failure> {
        let run = self.book.place(&self.dir, stage, block, &arm.name);
        self.book.trials.push(Trial {
            stage,
            block,
            arm: arm.name.clone(),
            run,
            state: State::Running,
            why: None,
            started: rfc3339(clock::wall()),
            seconds: None,
            values: BTreeMap::new(),
        });
        self.save()?;
        Ok(self.book.trials.len() - 1)
    }

    /// Writes the logbook.
    pub(super) fn save(&self) -> Result<(), Failure> {
        self.book.save(&self.dir).map_err(|e| {
            let path = self.dir.join(lab::experiment::FILE);
            Failure::work(format!("cannot write {}: {e}", path.display()))
        })
    }

    /// The last trial's failure, for a person.
    fn failed(&self) -> Failure {
        let Some(trial) = self.book.trials.last() else {
            return Failure::work("no trial ran");
        };
        let name = match trial.stage {
            Stage::Rehearsal => "the rehearsal failed".to_owned(),
            _ => format!("block {}, {} failed", trial.block, trial.arm),
        };
        let mut text = format!("{name}: {}", trial.why.as_deref().unwrap_or_default());
        let why = trial.why.clone().unwrap_or_default();
        for line in self.words().iter().filter(|l| !why.contains(l.as_str())) {
            text += &format!("\n  {line}");
        }
        let kept = self.dir.join(&trial.run);
        if kept.exists() {
            text += &format!("\nits run is kept: {}", kept.display());
        }
        if trial.stage == Stage::Block {
            text += "\nhint: --keep-going goes on after a trial that failed";
        }
        match trial.stage {
            Stage::Rehearsal => Failure::input(text),
            _ => Failure::work(text),
        }
    }

    fn said(&self) -> PathBuf {
        self.dir.join(SAID)
    }

    /// The last lines that were said on stderr.
    fn words(&self) -> Vec<String> {
        let text = std::fs::read(self.said()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text[text.len().saturating_sub(4096)..]).into_owned();
        let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(TOLD)..].iter();
        last.map(|l| output::one_line(l)).collect()
    }

    fn last_words(&self) -> Option<String> {
        let words = self.words();
        let last = words.last()?;
        Some(last.trim_start_matches("sonde: ").to_owned())
    }
}

/// What became of a trial.
enum Became {
    /// Complete, with its metrics.
    Done(BTreeMap<String, Option<f64>>),
    /// It does not count: why.
    Failed(String),
    /// A signal ended it.
    Cut(Signal),
}
