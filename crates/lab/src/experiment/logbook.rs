//! `experiment.json`: what was asked for, and what became of each trial.
//!
//! It is written anew, durably, before and after each trial: whatever ends the experiment, the
//! file says which trials are complete, and `--resume` goes on from there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Arm, Design, Factor};

/// Name of the file in the experiment's directory.
pub const FILE: &str = "experiment.json";

/// More blocks than this nobody waits for.
pub const MOST_BLOCKS: usize = 1000;

/// Version of the file's form.
pub const FORMAT: u32 = 1;

/// Why an experiment could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such file.
    #[error("{0} is no experiment: it has no {FILE}\nhint: `sonde try -o DIR` makes one")]
    None(PathBuf),
    /// It cannot be read.
    #[error("cannot read {0}: {1}")]
    Io(PathBuf, io::Error),
    /// It is not what it should be.
    #[error("{0} is damaged: {1}")]
    Damaged(PathBuf, serde_json::Error),
    /// A newer version wrote it.
    #[error("{0} has the form {1}; this version knows {FORMAT}\nhint: use a newer sonde")]
    Newer(PathBuf, u64),
}

/// An experiment, from its plan to its last trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub struct Logbook {
    /// Version of the form.
    pub format: u32,
    /// Version of the program that began it.
    pub sonde: String,
    /// Tells experiments apart.
    pub id: String,
    /// Name of the machine.
    pub host: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The command, with `{NAME}` where a value belongs.
    pub command: Vec<String>,
    /// Run by a shell before each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Where the random orders come from.
    pub seed: u64,
    /// How the factors make arms.
    pub design: Design,
    /// How many blocks.
    pub blocks: Blocks,
    /// Seconds at the start of a trial that do not count.
    pub warmup: f64,
    /// Seconds to wait after the settings were changed.
    pub settle: f64,
    /// Go on after a trial that failed.
    pub keep_going: bool,
    /// The baseline runs once more in each block.
    pub again: bool,
    /// Files may be knobs.
    #[serde(default)]
    pub allow_file: bool,
    /// Options for `sonde record`, one a word.
    pub record: Vec<String>,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// The arms, the baseline first. Of a search, those that confirm; none before it is over.
    pub arms: Vec<Arm>,
    /// What is measured of each trial.
    pub measures: Vec<Measure>,
    /// The search, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The factor says how much is done at once: how throughput grows is asked.
    #[serde(default)]
    pub scale: bool,
    /// Every trial that began, in order.
    pub trials: Vec<Trial>,
    /// How it ended; absent while it runs, or if nobody could write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What was said when the settings were put back: nothing if all are what they were. Absent
    /// while it runs, or if nobody could write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Vec<String>>,
}

/// How many blocks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blocks {
    /// So many.
    Fixed(usize),
    /// Until everything is decided, looked at a few times that were fixed before.
    Auto,
}

/// A metric of each trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// `[pN ]EXPR[:higher|:lower]`.
    pub metric: String,
    /// Whether a verdict is asked of it. What is not declared is told, and concludes nothing.
    pub declared: bool,
}

/// Where a search looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Search {
    /// Between two numbers.
    Range {
        /// The least value.
        low: f64,
        /// The greatest value.
        high: f64,
        /// What it found, when it is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<f64>,
    },
    /// Among values that need not have an order: those of the factor.
    Among {
        /// How many there are.
        candidates: usize,
        /// What it found, when it is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<String>,
    },
}

impl Search {
    /// What it found, as a knob or an argument takes it; `None` before it is over.
    pub fn found(&self) -> Option<String> {
        match self {
            Search::Range { found, .. } => found.map(number),
            Search::Among { found, .. } => found.clone(),
        }
    }
}

/// A number as a knob or an argument takes it.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

/// What a trial is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The first one, outside the blocks: whether the command and the metrics work, and how
    /// long it takes.
    Rehearsal,
    /// A proposal of a search.
    Search,
    /// A block.
    Block,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It began, and nobody wrote how it ended.
    Running,
    /// Complete; it counts.
    Done,
    /// The command or the recording failed; kept, and does not count.
    Failed,
    /// Cut short; kept, and does not count.
    Interrupted,
    /// Complete, but its block was cut in two and ran anew; it does not count.
    Aside,
}

/// One run of the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What it is part of.
    pub stage: Stage,
    /// Number of its block, from 1; of a search, of the proposal.
    pub block: usize,
    /// Name of its arm; of a search, the value.
    pub arm: String,
    /// Its run, in the experiment's directory.
    pub run: PathBuf,
    /// What became of it.
    pub state: State,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long it took, with all that belongs to it; absent until it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// By metric; null where the run cannot tell.
    #[serde(default)]
    pub values: BTreeMap<String, Option<f64>>,
}

impl Logbook {
    /// Reads the experiment in `dir`.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read.
    pub fn open(dir: &Path) -> Result<Logbook, OpenError> {
        let path = dir.join(FILE);
        let text = fs::read(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                OpenError::None(dir.to_path_buf())
            }
            _ => OpenError::Io(path.clone(), e),
        })?;
        let damaged = |e| OpenError::Damaged(path.clone(), e);
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
        let format = value["format"].as_u64().unwrap_or(0);
        if format > u64::from(FORMAT) {
            return Err(OpenError::Newer(path, format));
        }
        serde_json::from_value(value).map_err(damaged)
    }

    /// Whether there is an experiment in `dir`.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FILE).is_file()
    }

    /// Writes it into `dir`, so that there is always a whole one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn save(&self, dir: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        run::write::write_durably(&dir.join(FILE), text.as_bytes())?;
        // The name has to be durable too.
        fs::File::open(dir)?.sync_all()
    }

    /// Place of the arm with that name.
    pub fn arm(&self, name: &str) -> Option<usize> {
        self.arms.iter().position(|a| a.name == name)
    }

    /// The trial of an arm in a block that counts.
    pub fn done(&self, block: usize, arm: &str) -> Option<&Trial> {
        self.trials.iter().find(|t| {
            t.stage == Stage::Block && t.state == State::Done && t.block == block && t.arm == arm
        })
    }

    /// Whether a trial of an arm in a block ran to its end, well or not.
    pub fn is_over(&self, block: usize, arm: &str) -> bool {
        self.trials.iter().any(|t| {
            t.stage == Stage::Block
                && matches!(t.state, State::Done | State::Failed)
                && t.block == block
                && t.arm == arm
        })
    }

    /// Blocks in which every arm ran to its end.
    pub fn whole_blocks(&self) -> usize {
        let whole = |block: &usize| self.arms.iter().all(|a| self.is_over(*block, &a.name));
        match self.arms.len() {
            0 => 0,
            _ => (1..=MOST_BLOCKS).take_while(whole).count(),
        }
    }

    /// Makes it fit to go on: what nobody wrote the end of was cut short, and the trials of a
    /// block that was cut in two are put aside, as it runs anew. Answers with the block.
    pub fn mend(&mut self) -> Option<usize> {
        for trial in &mut self.trials {
            if trial.state == State::Running {
                trial.state = State::Interrupted;
                trial.why = Some("it was cut short".to_owned());
            }
        }
        self.ended = None;
        self.restored = None;
        let cut = self.whole_blocks() + 1;
        let mut any = false;
        for trial in &mut self.trials {
            let belongs = trial.stage == Stage::Block && trial.block == cut;
            if belongs && matches!(trial.state, State::Done | State::Failed) {
                trial.state = State::Aside;
                trial.why = Some("its block was cut in two and ran anew".to_owned());
                any = true;
            }
        }
        any.then_some(cut)
    }

    /// A directory for a trial that is not there yet: `trials/003-none`, and after one that was
    /// cut short `trials/003-none-again2`.
    pub fn place(&self, dir: &Path, stage: Stage, block: usize, arm: &str) -> PathBuf {
        let base = match stage {
            Stage::Rehearsal => "rehearsal".to_owned(),
            Stage::Search => format!("search-{block:03}-{arm}"),
            Stage::Block => format!("{block:03}-{arm}"),
        };
        let free = |path: &PathBuf| {
            !self.trials.iter().any(|t| t.run == *path) && !dir.join(path).exists()
        };
        let numbered = (2..u32::MAX).map(|n| Path::new("trials").join(format!("{base}-again{n}")));
        std::iter::once(Path::new("trials").join(&base))
            .chain(numbered)
            .find(free)
            .unwrap_or_else(|| Path::new("trials").join(&base))
    }

    /// Numbers of a metric by arm and block, of `blocks` blocks; NaN where a trial does not
    /// count or cannot tell.
    pub fn values(&self, metric: &str, blocks: usize) -> Vec<Vec<f64>> {
        let mut table = vec![vec![f64::NAN; blocks]; self.arms.len()];
        for trial in &self.trials {
            let counts = trial.stage == Stage::Block && trial.state == State::Done;
            let (Some(arm), true) = (self.arm(&trial.arm), counts) else {
                continue;
            };
            let value = trial.values.get(metric).copied().flatten();
            if let (Some(value), true) = (value, (1..=blocks).contains(&trial.block)) {
                table[arm][trial.block - 1] = value;
            }
        }
        table
    }
}

#[cfg(test)]
pub(crate) mod tests;
