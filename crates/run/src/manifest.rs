//! `run.json`: what was recorded, how it ended, and what is missing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The version of the run directory this program writes, and the newest it reads.
pub const FORMAT: u32 = 1;

/// The manifest of a run. Times are RFC 3339 with nanoseconds in JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the run directory.
    pub format: u32,
    /// Version of Sonde that wrote it.
    pub sonde: String,
    /// Unique name of the run.
    pub id: String,
    /// Title given by the user, or the run's id.
    pub name: String,
    /// Name of the host observed.
    pub host: String,
    /// Notes given by the user.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// Whether the recorder has finished.
    pub state: State,
    /// The command that was run, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// When the first interval starts.
    #[serde(with = "time")]
    pub started: Nanos,
    /// When the last interval ends.
    #[serde(
        default,
        with = "optional_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub ended: Option<Nanos>,
    /// The interval asked for, in seconds.
    pub every_seconds: f64,
    /// What the clock did.
    #[serde(default)]
    pub clock: Clock,
    /// Named parts of the run, in order of time.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// What each source could give.
    #[serde(default)]
    pub sources: Vec<SourceState>,
    /// Programs that ran in the kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// Files that were imported; empty in a run that was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<Imported>,
    /// Of tables of events that were sampled, how many events a row stands for at most. Where
    /// it is not there, nobody kept count: the rows tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<BTreeMap<String, u32>>,
    /// What could not be kept.
    #[serde(default)]
    pub loss: Vec<Loss>,
    /// What the recorder cost, over the whole run.
    #[serde(default)]
    pub own: OwnCost,
    /// Settings and devices that differ between start and end.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Rows of each sealed table.
    #[serde(default)]
    pub tables: BTreeMap<String, u64>,
    /// CRC-32 of the footer of each sealed table; the footer has those of the columns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub footers: BTreeMap<String, u32>,
}

impl Manifest {
    /// Whether its times are dates: those of texts that tell none are counted from zero.
    pub fn is_dated(&self) -> bool {
        let is_relative = |file: &Imported| file.times == "relative";
        self.imported.is_empty() || !self.imported.iter().all(is_relative)
    }

    /// Of a recording on `host` that starts now, with nothing known of it yet.
    pub fn new(host: &str, started: Nanos, every_seconds: f64) -> Manifest {
        Manifest {
            format: FORMAT,
            sonde: env!("CARGO_PKG_VERSION").into(),
            // Time and host tell runs apart; a recorder adds its process.
            id: format!("{started:x}-{host}"),
            name: host.into(),
            host: host.into(),
            notes: BTreeMap::new(),
            state: State::Recording,
            command: None,
            started,
            ended: None,
            every_seconds,
            clock: Clock::default(),
            phases: vec![],
            sources: vec![],
            programs: vec![],
            imported: vec![],
            sampled: None,
            loss: vec![],
            own: OwnCost::default(),
            changes: vec![],
            tables: BTreeMap::new(),
            footers: BTreeMap::new(),
        }
    }
}

/// Whether a recorder is, or was, still at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The recorder has not sealed the run: it is at work, or was killed.
    Recording,
    /// The run is sealed.
    Complete,
}

/// The command whose life the run covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments.
    pub arguments: Vec<String>,
    /// Exit status, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// Number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// What the clock did while recording. Times in the run never step: they are the wall
/// clock at the start plus the time that passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Times at which somebody set the wall clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ClockStep>,
}

/// Somebody set the wall clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockStep {
    /// When it was noticed, on the run's own clock.
    #[serde(with = "time")]
    pub at: Nanos,
    /// How far, in seconds; forward is positive.
    pub by_seconds: f64,
}

/// A named part of the run; it lasts until the next one starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Name given to `sonde mark`.
    pub name: String,
    /// When it starts.
    #[serde(with = "time")]
    pub from: Nanos,
}

/// What a source could give, and what reading it cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceState {
    /// Name of the source.
    pub name: String,
    /// available, unsupported, denied, failed.
    pub state: String,
    /// What it needs, the remedy, or why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Processor time spent reading it, in seconds.
    #[serde(default)]
    pub cost_seconds: f64,
    /// Times it was read.
    #[serde(default)]
    pub samples: u64,
    /// Times it was left out because reading it costs too much at this interval; the next
    /// reading covers the longer interval.
    #[serde(default)]
    pub stretched: u64,
}

/// Sources that are in the same state for the same reason.
#[derive(Clone, Debug)]
pub struct SameReason<'s> {
    /// Their names.
    pub names: Vec<&'s str>,
    /// As [`SourceState::state`].
    pub state: &'s str,
    /// As [`SourceState::detail`].
    pub why: &'s str,
}

/// Those sources by state and reason, each where it comes first.
pub fn by_reason<'s>(sources: impl IntoIterator<Item = &'s SourceState>) -> Vec<SameReason<'s>> {
    let mut all: Vec<SameReason<'s>> = Vec::new();
    for source in sources {
        let same = |a: &&mut SameReason<'_>| a.state == source.state && a.why == source.detail;
        match all.iter_mut().find(same) {
            Some(same) => same.names.push(&source.name),
            None => all.push(SameReason {
                names: vec![&source.name],
                state: &source.state,
                why: &source.detail,
            }),
        }
    }
    all
}

/// A program that ran in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The tracepoint it was attached to.
    pub hook: String,
    /// attached, unsupported, denied, failed.
    pub state: String,
    /// Why it is not attached, or what it could not keep.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Times it ran while the kernel measured it.
    #[serde(default)]
    pub hits: u64,
    /// Processor time of those, in seconds; with what measuring costs.
    #[serde(default)]
    pub time_seconds: f64,
    /// How long the kernel measured it, in seconds.
    #[serde(default)]
    pub measured_seconds: f64,
    /// Times the kernel left it out, because it was running on that processor already.
    #[serde(default)]
    pub missed: u64,
}

/// A file that was imported, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Its path, as given.
    pub file: String,
    /// Its format.
    pub format: String,
    /// The machine it is of, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How many processors the machine had, if it says so: the text may tell of some of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Where its times are from: `text`, `start` (told when importing), `first file`,
    /// `arrival` (when it came through a pipe) or `relative` (to zero, 1970-01-01).
    pub times: String,
    /// Samples, without reports since boot.
    pub samples: u64,
    /// Lines whose numbers were taken.
    pub lines: u64,
    /// Lines known to have none.
    pub noise: u64,
    /// Lines that were not understood.
    pub not_understood: u64,
    /// The first of them, up to a hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_not_understood: Vec<TextLine>,
    /// What a reader of the numbers should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A line of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextLine {
    /// Its number, from 1 on.
    pub line: u64,
    /// Its text, or the beginning of it.
    pub text: String,
}

/// Rows that could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Time of the first row lost.
    #[serde(with = "time")]
    pub from: Nanos,
    /// Time of the last row lost.
    #[serde(with = "time")]
    pub to: Nanos,
    /// How many.
    pub rows: u64,
    /// Why.
    pub why: String,
    /// Table of the events that were dropped; `None`: rows of any table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// What the recorder cost, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnCost {
    /// Processor time of the recorder, in seconds.
    pub cpu_seconds: f64,
    /// Largest resident memory, in bytes.
    pub peak_resident_bytes: u64,
    /// Bytes written while recording.
    pub written_bytes: u64,
    /// Samples taken.
    pub samples: u64,
    /// Samples taken late by more than a tenth of the interval.
    pub late: u64,
    /// Samples left out because an earlier one was still being taken.
    pub missed: u64,
}

/// A setting or device that differs between start and end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where in the inventory: `block.vda.scheduler`.
    pub path: String,
    /// What it was; absent: it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it is; absent: it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// `2026-11-21T20:04:02.123456789Z`.
pub fn rfc3339(time: Nanos) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time))
        .map_or_else(|_| time.to_string(), |t| format!("{t:.9}"))
}

/// Reads what [`rfc3339`] writes.
pub fn parse_rfc3339(text: &str) -> Option<Nanos> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Nanos::try_from(time.as_nanosecond()).ok()
}

mod time {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(time: &i64, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&super::rfc3339(*time))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<i64, D::Error> {
        let text = String::deserialize(d)?;
        super::parse_rfc3339(&text).ok_or_else(|| D::Error::custom(format!("not a time: {text}")))
    }
}

mod optional_time {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(time: &Option<i64>, s: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => s.serialize_str(&super::rfc3339(*time)),
            None => s.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<i64>, D::Error> {
        let Some(text) = Option::<String>::deserialize(d)? else {
            return Ok(None);
        };
        let time = super::parse_rfc3339(&text);
        time.map(Some)
            .ok_or_else(|| D::Error::custom(format!("not a time: {text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_nanoseconds() {
        for time in [0, 1, -1, 1795290193123456789, i64::MAX / 2] {
            assert_eq!(parse_rfc3339(&rfc3339(time)), Some(time));
        }
        assert_eq!(rfc3339(1_000_000_001), "1970-01-01T00:00:01.000000001Z");
    }
}
