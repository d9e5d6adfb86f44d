//! What became of a file.

use run::Nanos;

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// Its number, from 1 on.
    pub line: u64,
    /// Its text, or why.
    pub text: String,
}

/// What became of a file.
#[derive(Clone, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is asked by itself of its times"
)]
pub struct Report {
    /// Lines whose numbers were taken.
    pub data: u64,
    /// Lines known to have none.
    pub noise: u64,
    /// Lines not understood, and the first of them.
    pub unknown: u64,
    /// The first of those lines.
    pub not_understood: Vec<NotUnderstood>,
    /// Samples, and how many reports since boot beside them.
    pub samples: u64,
    /// Reports since boot.
    pub since_boot: u64,
    /// What the reader of the numbers should know.
    pub notes: Vec<String>,
    /// Those of them that say that something of the text is missing, as the end of its last line,
    /// or had to be mended.
    pub faults: Vec<String>,
    /// The machine's name, if the text tells.
    pub host: Option<String>,
    /// How many processors it had, if the text tells.
    pub processors: Option<u32>,
    /// When the first interval started and the last ended.
    pub span: Option<(Nanos, Nanos)>,
    /// Its times are not tied to any date.
    pub relative: bool,
    /// Its times are counted from the start that was told, or of its day.
    pub from_start: bool,
    /// Its times are those when it came ([`Import::came`]).
    pub by_arrival: bool,
    /// It has times of its own, perhaps without dates.
    pub stamped: bool,
    /// Seconds between samples, where they are told.
    pub every: Option<f64>,
}
