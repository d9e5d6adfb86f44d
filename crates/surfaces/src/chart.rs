//! What a picture shows, whatever it is drawn on: the input of [`crate::svg`],
//! [`crate::png`] and [`crate::terminal`]. Values are in base units; smoothing and choosing
//! the lines is the caller's.

use run::{Nanos, Unit};

/// One picture: lines, stacked areas or a heat map over time; a distribution; or ranges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The expression, or what the reader should call this.
    pub title: String,
    /// From and to of the time axis, seconds since the run's start.
    pub seconds: (f64, f64),
    /// Wall clock of second 0, for the caption of the time axis.
    pub start: Option<Nanos>,
    /// The scale of the lines, or of a heat map's rows.
    pub left: Axis,
    /// The scale of the lines that say `right`.
    pub right: Option<Axis>,
    /// In the order of the legend; at most eight and `other` have a colour of their own.
    pub lines: Vec<Line>,
    /// Draw the lines of the left axis as areas on top of each other, first line lowest.
    pub stacked: bool,
    /// Cells behind the lines.
    pub heat: Option<Heat>,
    /// The heat map is folded: one distribution over the whole time, instead of time.
    pub fold: Option<Fold>,
    /// Instead of all this: named values with their ranges, on the left axis.
    pub ranges: Option<Ranges>,
    /// Phases, and times in which something was lost.
    pub bands: Vec<Band>,
    /// Small print under the picture.
    pub notes: Vec<String>,
}

/// What a scale counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// In words, without the unit.
    pub label: String,
    /// Of the values.
    pub unit: Unit,
    /// Whether the values are per second.
    pub rate: bool,
    /// Equal distances are equal factors. Ignored for stacked areas, and for heat maps,
    /// which have [`Heat::log`].
    pub log: bool,
}

impl Default for Axis {
    fn default() -> Self {
        Axis {
            label: String::new(),
            unit: Unit::Count,
            rate: false,
            log: false,
        }
    }
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Any text; `other` is drawn grey.
    pub name: String,
    /// Belongs to the right axis.
    pub right: bool,
    /// Ascending in time. Missing intervals are gaps.
    pub points: Vec<Point>,
    /// For the legend: over the whole time, by the caller's rules.
    pub mean: f64,
    /// For the legend.
    pub max: f64,
}

/// The value of one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Start, seconds since the run's start.
    pub from: f64,
    /// End.
    pub to: f64,
    /// NaN: not known, drawn as a gap.
    pub value: f64,
}

/// A stretch of time with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Any text.
    pub name: String,
    /// Seconds since the run's start.
    pub from: f64,
    /// Seconds since the run's start.
    pub to: f64,
    /// How it is drawn.
    pub kind: BandKind,
}

/// What a band says about its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandKind {
    /// A phase of the run: tinted, named at the top.
    Phase,
    /// Something was not seen here: hatched.
    Lost,
}

/// Amounts over time and over a number dimension, whose scale is [`Chart::left`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// What the amounts count; they are summed where cells are merged, so no rates.
    pub amount: Axis,
    /// Whether the rows are on a log scale, to both sides of zero if they lie there; `None`: if
    /// they span more than a factor of 100.
    pub log: Option<bool>,
    /// Rows are places, not amounts: a linear axis need not begin at zero.
    pub places: bool,
    /// Lower and upper bound of each bucket, ascending.
    pub rows: Vec<(f64, f64)>,
    /// From and to of each interval, seconds since the run's start, ascending.
    pub columns: Vec<(f64, f64)>,
    /// Column, row, amount. Cells left out are empty.
    pub cells: Vec<(u32, u32, f64)>,
    /// Share of the whole amount, 0 to 0.05, that may lie above the axis. The picture says
    /// how much does.
    pub outliers: f64,
}

/// Named values, one below the other, each with the range in which it may lie; the axis runs
/// from left to right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    /// From the top.
    pub rows: Vec<Range>,
    /// The value that means no difference: a line.
    pub even: Option<f64>,
    /// From and to of what is too small to matter: shaded.
    pub small: Option<(f64, f64)>,
}

/// A named value with its range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// Any text.
    pub name: String,
    /// In the unit of [`Chart::left`].
    pub value: f64,
    /// Lower end of the range; infinite if it has none, NaN if it is not known.
    pub low: f64,
    /// Upper end, likewise.
    pub high: f64,
    /// Value and range for a person.
    pub text: String,
}

/// What is told of a distribution beside its bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fold {
    /// Quantiles, rising.
    pub marks: Vec<Mark>,
    /// Name and value of each number below the picture.
    pub numbers: Vec<(String, String)>,
}

/// A named value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// Any text.
    pub name: String,
    /// In the unit of [`Chart::left`].
    pub value: f64,
    /// The value for a person.
    pub text: String,
}
