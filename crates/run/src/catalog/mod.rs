//! The catalog: every subject, measure, dimension, table and unit, in one const table.
//!
//! The planner, the reference page, shell completion, the web page's menus, the Parquet
//! columns and the contract tests all come from here. To add a statistic, add it to its
//! subject's file below, and have a source fill the table.

mod cgroup;
mod cpu;
mod disk;
mod file;
mod imported;
mod memory;
mod net;
mod nfs;
mod own;
mod power;
mod process;
mod protocols;
mod short;
mod storage;

use crate::Unit;
use short::{
    PLAIN, dense, events, histogram, level, mean_number, number, peak, ratio, sectors,
    share_of_time, sparse, sum, word,
};

/// Every subject, in the order in which people meet them.
pub const CATALOG: &[Subject] = &[
    cpu::CPU,
    cpu::SYSTEM,
    cpu::INTERRUPT,
    cpu::PRESSURE,
    memory::MEMORY,
    memory::VM,
    disk::DISK,
    file::FILE,
    storage::FILESYSTEM,
    net::NET,
    protocols::TCP,
    protocols::UDP,
    protocols::IP,
    net::SOFTNET,
    process::PROCESS,
    cgroup::CGROUP,
    nfs::NFS,
    nfs::NFSD,
    storage::ARC,
    storage::L2ARC,
    storage::ZFS,
    storage::ZPOOL,
    power::POWER,
    power::TEMPERATURE,
    own::SELF,
    imported::WORKLOAD,
    imported::DISTRIBUTION,
    imported::OTHER,
    imported::SINCE_BOOT,
];

/// A thing observed.
#[derive(Debug)]
pub struct Subject {
    /// The word before the point in `disk.bytes`.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Everything about it that is counted or gauged.
    pub measures: &'static [Measure],
    /// Everything it can be split by (beside `host`, `phase` and `time`).
    pub dimensions: &'static [Dimension],
    /// The tables that serve it, cheapest first.
    pub tables: &'static [Table],
    /// Ratios of sums, computed after grouping.
    pub derived: &'static [Derived],
    /// Tables of other subjects that serve this one's measures by more dimensions.
    pub also: &'static [Also],
    /// Predicates that hold unless the expression names a dimension of them.
    pub unless_named: &'static [UnlessNamed],
    /// Dimensions that tell kinds of numbers apart, which have no sum: columns of other tools, and
    /// their units.
    pub kinds: &'static [&'static str],
}

/// What to keep when nothing else was asked for: without it, `disk.bytes` would count a
/// byte once for the partition, once for the RAID and once for the disk.
#[derive(Debug)]
pub struct UnlessNamed {
    /// It holds while `where` names none of these, and `by` does not name the restricted one:
    /// a breakdown by device still counts everything once.
    pub dimensions: &'static [&'static str],
    /// The dimension that is restricted.
    pub dimension: &'static str,
    /// The value that is kept.
    pub value: &'static str,
}

/// How amounts of a measure combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An amount in the interval; instances and intervals add. Shown per second.
    Sum,
    /// A gauge; instances add, intervals average (weighted by their length).
    Level,
    /// A maximum; instances and intervals take the larger.
    Peak,
}

impl Kind {
    /// The name used in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Sum => "sum",
            Kind::Level => "level",
            Kind::Peak => "peak",
        }
    }
}

/// Something counted or gauged about a subject.
#[derive(Debug)]
pub struct Measure {
    /// The word after the point in `disk.bytes`.
    pub name: &'static str,
    /// The unit of stored values.
    pub unit: Unit,
    /// How amounts combine.
    pub kind: Kind,
    /// One sentence.
    pub help: &'static str,
}

/// Something a subject can be split by.
#[derive(Debug)]
pub struct Dimension {
    /// The word after `by` and `where`.
    pub name: &'static str,
    /// `None`: a word (text). `Some`: a number in that unit, on the histogram grid.
    pub number: Option<Unit>,
    /// Of a number: every value is a whole multiple of this, in the base unit.
    pub step: Option<f64>,
    /// One sentence.
    pub help: &'static str,
}

/// How detailed a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A row is an interval and an instance.
    Sample,
    /// A row is an interval, an instance and a bucket.
    Histogram,
    /// A row is one thing that happened.
    Event,
}

/// One file of a run: its dimensions and measures are its columns, after `timestamp` and
/// `interval`.
#[derive(Debug)]
pub struct Table {
    /// The file's name without `.parquet`; unique in the catalog.
    pub name: &'static str,
    /// What a row is.
    pub detail: Detail,
    /// Names of dimensions of the subject. Words first, then numbers.
    pub dimensions: &'static [&'static str],
    /// Names of measures of the subject, which are columns; none in a table of events.
    pub measures: &'static [&'static str],
    /// Of a table of events: the measures it serves, and what each is made of. Every event has
    /// a [`WEIGHT`], by which its amounts are multiplied.
    pub made: &'static [(&'static str, Stored)],
    /// Number dimensions that are no columns but the sum of columns.
    pub sums: &'static [(&'static str, &'static [&'static str])],
    /// The source that fills it.
    pub source: &'static str,
    /// Whether an instance without a row in a sampled interval had zero, by definition.
    /// Otherwise its absence is a gap.
    pub sparse: bool,
}

impl Table {
    /// Whether it has a measure of that name, as a column or made of columns.
    pub fn has_measure(&self, name: &str) -> bool {
        self.measures.contains(&name) || self.made.iter().any(|(m, _)| *m == name)
    }

    /// Whether it can be split by that dimension.
    pub fn has_dimension(&self, name: &str) -> bool {
        self.dimensions.contains(&name) || self.sums.iter().any(|(d, _)| *d == name)
    }
}

/// What an event adds to a measure (times its weight).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// One: the event counts itself.
    One,
    /// The value of this number dimension.
    Dimension(&'static str),
    /// One, if this word dimension has the value.
    If(&'static str, &'static str),
    /// One, unless this word dimension has the value.
    IfNot(&'static str, &'static str),
    /// The value of the first, a number dimension, if the second, a word dimension, has the value.
    DimensionIf(&'static str, &'static str, &'static str),
    /// The value of the first, a number dimension, unless the second, a word dimension, has the
    /// value.
    DimensionIfNot(&'static str, &'static str, &'static str),
}

impl Stored {
    /// The number dimension that is added up; `None` where events are counted.
    pub const fn number(self) -> Option<&'static str> {
        match self {
            Stored::Dimension(number)
            | Stored::DimensionIf(number, ..)
            | Stored::DimensionIfNot(number, ..) => Some(number),
            Stored::One | Stored::If(..) | Stored::IfNot(..) => None,
        }
    }

    /// Which events count: those of which the word dimension has the value, or with `false` those
    /// of which it has another; `None`: all.
    pub const fn choice(self) -> Option<(&'static str, &'static str, bool)> {
        match self {
            Stored::If(of, word) | Stored::DimensionIf(_, of, word) => Some((of, word, true)),
            Stored::IfNot(of, word) | Stored::DimensionIfNot(_, of, word) => {
                Some((of, word, false))
            }
            Stored::One | Stored::Dimension(_) => None,
        }
    }
}

/// The last column of a table of events: how many events a row stands for. It is 1 unless
/// events came faster than the budget allowed.
pub const WEIGHT: Measure = sum("weight", Unit::Count, "How many events the row stands for.");

/// A ratio of sums, computed after grouping.
///
/// By a dimension that only what is above the line has there is none, but of a share of the whole:
/// `cpu.utilisation by mode` divides each mode's time by all the time there was, so that the parts sum to the
/// whole.
#[derive(Debug)]
pub struct Derived {
    /// The word after the point in `disk.mean_latency`.
    pub name: &'static str,
    /// The unit of the ratio.
    pub unit: Unit,
    /// Full name of the statistic above the line.
    pub over: &'static str,
    /// What is below the line.
    pub under: Under,
    /// What is below the line instead, where nothing has both by what is named.
    pub or: Option<&'static str>,
    /// The ratio is multiplied by this.
    pub times: f64,
    /// What is below the line may be of the whole, where it is not kept by a dimension that is named.
    pub of_whole: bool,
    /// A dimension, and words of it that count neither above nor below the line.
    pub without: Option<(&'static str, &'static [&'static str])>,
    /// A table of samples in which what is above the line is exact, where another comes first in which
    /// it is rounded: recorded runs are asked for it there, if it counted the same things.
    pub exact: Option<&'static str>,
    /// One sentence.
    pub help: &'static str,
}

/// The denominator of a derived statistic.
#[derive(Debug)]
pub enum Under {
    /// The sum of these statistics (full names).
    Sum(&'static [&'static str]),
    /// The seconds each instance was observed, added over the instances: the mean of the
    /// instances' shares.
    Elapsed,
}

/// A table of another subject that serves a measure of this one.
#[derive(Debug)]
pub struct Also {
    /// The measure of this subject.
    pub measure: &'static str,
    /// The table, anywhere in the catalog.
    pub table: &'static str,
    /// The measure's column there.
    pub column: &'static str,
    /// Why its sum may differ from this subject's own tables.
    pub caveat: &'static str,
    /// A dimension of that table, and a word of it of which rows do not count here.
    pub without: Option<(&'static str, &'static str)>,
}

impl Subject {
    /// The measure of that name.
    pub fn measure(&self, name: &str) -> Option<&'static Measure> {
        self.measures.iter().find(|m| m.name == name)
    }

    /// The dimension of that name (not `host`, `phase`, `time`).
    pub fn dimension(&self, name: &str) -> Option<&'static Dimension> {
        self.dimensions.iter().find(|d| d.name == name)
    }
}

/// The subject of that name.
pub fn subject(name: &str) -> Option<&'static Subject> {
    CATALOG.iter().find(|s| s.name == name)
}

/// All tables with their subject; a table's place here is its number in a journal.
pub fn tables() -> impl Iterator<Item = (&'static Subject, &'static Table)> {
    CATALOG
        .iter()
        .flat_map(|s| s.tables.iter().map(move |t| (s, t)))
}

/// The table of that name, with its subject.
pub fn table(name: &str) -> Option<(&'static Subject, &'static Table)> {
    tables().find(|(_, t)| t.name == name)
}

/// A column of a table, after `timestamp` and `interval`.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// Split by.
    Dimension(&'static Dimension),
    /// Counted or gauged.
    Measure(&'static Measure),
}

impl Column {
    /// The column's name.
    pub fn name(&self) -> &'static str {
        match self {
            Column::Dimension(d) => d.name,
            Column::Measure(m) => m.name,
        }
    }

    /// Whether it has words; numbers otherwise.
    pub fn is_word(&self) -> bool {
        matches!(self, Column::Dimension(d) if d.number.is_none())
    }
}

/// The columns of `table` after `timestamp` and `interval`, in their order on disk.
///
/// # Panics
/// Where the catalog names a dimension or measure that its subject does not have; a test
/// of the catalog keeps that from happening.
pub fn columns(subject: &'static Subject, table: &'static Table) -> impl Iterator<Item = Column> {
    let dimensions = table.dimensions.iter().map(|d| {
        Column::Dimension(
            subject
                .dimension(d)
                .expect("catalog names its own dimensions"),
        )
    });
    let measures = table
        .measures
        .iter()
        .map(|m| Column::Measure(subject.measure(m).expect("catalog names its own measures")));
    let weight = (table.detail == Detail::Event).then_some(Column::Measure(&WEIGHT));
    dimensions.chain(measures).chain(weight)
}

/// Those of them that have numbers: number dimensions, then measures.
pub fn numbers(subject: &'static Subject, table: &'static Table) -> impl Iterator<Item = Column> {
    columns(subject, table).filter(|column| !column.is_word())
}

#[cfg(test)]
mod tests;
