//! What every kind of drawing needs to know before it draws: axes, sums, what was left out.

use run::Unit;
use run::unit::{column_scale, digits};

use crate::axis::{LARGEST, Ruler};
use crate::chart::{Axis, BandKind, Chart, Line};
use crate::heat::{self, Extent};
use crate::palette::{self, Rgb};
use crate::stack::{self, Stack};
use crate::text::clean;

/// A chart, measured.
pub(crate) struct Plan {
    /// A time range that is not empty.
    pub(crate) seconds: (f64, f64),
    pub(crate) left: Ruler,
    pub(crate) right: Option<Ruler>,
    /// The layers, if areas are stacked.
    pub(crate) stack: Option<Stack>,
    pub(crate) extent: Option<Extent>,
    pub(crate) legend: Vec<Entry>,
    /// What the picture leaves out, then the chart's own notes; one line each.
    pub(crate) notes: Vec<String>,
    /// There is nothing to draw, and this to say in its place.
    pub(crate) empty: Option<&'static str>,
}

/// A line of the legend.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) mean: String,
    pub(crate) max: String,
    pub(crate) colour: Rgb,
    /// How often the colours were used up before: 0 for the first eight lines.
    pub(crate) round: usize,
    pub(crate) right: bool,
    /// Drawn as an area.
    pub(crate) area: bool,
}

impl Plan {
    /// Measures a chart for a plot `columns` wide with room for `wanted` ticks.
    pub(crate) fn new(chart: &Chart, columns: usize, wanted: usize) -> Plan {
        let seconds = time_range(chart.seconds);
        let areas: Vec<&Line> = chart.lines.iter().filter(|l| is_area(chart, l)).collect();
        let stack = chart
            .stacked
            .then(|| stack::stack(&areas, seconds, columns));
        let extent = chart.heat.as_ref().and_then(|h| heat::extent(h, seconds));
        let of = |right: bool| range(chart, right, seconds);
        let mut left = of(false);
        let right = chart.right.as_ref().map(|axis| (axis, of(true)));
        let mut notes = left_out(chart, &left, right.as_ref());
        let mut axis = chart.left.clone();
        axis.label = clean(&axis.label);
        if let Some(stack) = &stack {
            axis.log = false;
            left.span = stack.most().map(|most| (0.0, most));
            notes.extend(stack_notes(stack));
        }
        let blank = left.span.is_none()
            && right.as_ref().is_none_or(|r| r.1.span.is_none())
            && extent.is_none();
        let without_place = |r: &Range| r.without_place > 0;
        let is_low = without_place(&left) || right.as_ref().is_some_and(|r| without_place(&r.1));
        let empty = blank.then_some(if is_low { "nothing above 0" } else { "no data" });
        notes.extend(chart.notes.iter().map(|n| clean(n)));
        let mut left = match &extent {
            Some(extent) => extent.ruler(&axis, wanted),
            None => ruler(&axis, left.span, wanted),
        };
        let mut right = right.map(|(axis, r)| ruler(axis, r.span, wanted));
        if empty.is_some() {
            // Numbers would be made up.
            left.ticks.clear();
            if let Some(right) = &mut right {
                right.ticks.clear();
            }
        }
        Plan {
            seconds,
            left,
            right,
            stack,
            extent,
            legend: legend(chart),
            notes,
            empty,
        }
    }

    /// The axis a line belongs to.
    pub(crate) fn ruler_of(&self, line: &Line) -> &Ruler {
        match &self.right {
            Some(right) if line.right => right,
            _ => &self.left,
        }
    }

    /// `12 I/Os above 40.0 ms (0.3 %), up to 1.20 s, are off the picture`, or as much of it as `fits`, at least
    /// the number and the limit; `None` if nothing is.
    pub(crate) fn above(&self, chart: &Chart, fits: impl Fn(&str) -> bool) -> Option<String> {
        let extent = self.extent.as_ref().filter(|e| e.above > 0.0)?;
        let of_row = |v| run::unit::amount(v, chart.left.unit, chart.left.rate);
        let share = run::unit::amount(extent.above / extent.total, Unit::Ratio, false);
        let what = amount_of(extent.above, chart);
        let short = format!("{what} above {}", of_row(extent.span.upper));
        let middle = format!("{short} ({share})");
        let long = if extent.highest.is_finite() {
            format!("{middle}, up to {}", of_row(extent.highest))
        } else {
            middle.clone()
        };
        let comma = if long == middle { "" } else { "," };
        let whole = format!("{long}{comma} are off the picture");
        Some(
            [whole, long, middle]
                .into_iter()
                .find(|t| fits(t))
                .unwrap_or(short),
        )
    }
}

/// An amount of the heat map, with what it counts.
pub(crate) fn amount_of(value: f64, chart: &Chart) -> String {
    let Some(heat) = &chart.heat else {
        return String::new();
    };
    let number = run::unit::amount(value, heat.amount.unit, heat.amount.rate);
    let what = clean(&heat.amount.label);
    if what.is_empty() {
        number
    } else {
        format!("{number} {what}")
    }
}

/// What an amount of the heat map is of, where a cell stands for so many seconds.
pub(crate) fn per_cell(seconds: f64) -> String {
    let length = run::unit::amount(seconds, run::Unit::Seconds, false);
    format!("per cell of {length}")
}

/// What the times in which something was lost are called, if there are any.
pub(crate) fn lost(chart: &Chart) -> Option<String> {
    let lost = chart.bands.iter().filter(|b| b.kind == BandKind::Lost);
    let mut names = lost.map(|b| clean(&b.name));
    let first = names.next()?;
    let same = names.all(|n| n == first);
    Some(if same && !first.is_empty() {
        first
    } else {
        "lost".into()
    })
}

fn is_area(chart: &Chart, line: &Line) -> bool {
    chart.stacked && !on_right(chart, line)
}

fn on_right(chart: &Chart, line: &Line) -> bool {
    line.right && chart.right.is_some()
}

fn time_range((from, to): (f64, f64)) -> (f64, f64) {
    let usable = |t: f64| t.is_finite() && t.abs() < 1e15;
    match (usable(from), usable(to)) {
        (true, true) if to - from > from.abs() * 1e-12 => (from, to),
        (true, _) => (from, from + 1.0),
        _ => (0.0, 1.0),
    }
}

/// The values of one axis' lines in view.
#[derive(Default)]
struct Range {
    span: Option<(f64, f64)>,
    /// Values at or below zero, if the axis is log.
    without_place: usize,
}

fn range(chart: &Chart, right: bool, seconds: (f64, f64)) -> Range {
    let log = match &chart.right {
        Some(axis) if right => axis.log,
        _ => chart.left.log && !chart.stacked,
    };
    let mut range = Range::default();
    let lines = chart.lines.iter().filter(|l| on_right(chart, l) == right);
    for point in lines.flat_map(|l| &l.points) {
        let value = point.value;
        if value.is_nan()
            || value.abs() > LARGEST
            || !(point.to > seconds.0 && point.from < seconds.1)
        {
            continue;
        }
        if log && value <= 0.0 {
            range.without_place += 1;
            continue;
        }
        let (low, high) = range.span.unwrap_or((value, value));
        range.span = Some((low.min(value), high.max(value)));
    }
    range
}

fn ruler(axis: &Axis, span: Option<(f64, f64)>, wanted: usize) -> Ruler {
    let axis = Axis {
        label: clean(&axis.label),
        // Without values a log axis has no range.
        log: axis.log && span.is_some(),
        ..axis.clone()
    };
    let (low, high) = span.unwrap_or((0.0, 1.0));
    Ruler::for_values(&axis, low, high, wanted)
}

fn left_out(chart: &Chart, left: &Range, right: Option<&(&Axis, Range)>) -> Vec<String> {
    let mut notes = vec![];
    let mut say = |count: usize, axis: &str| {
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            notes.push(format!(
                "{count} value{s} at or below 0 left out of the {axis}log axis"
            ));
        }
    };
    say(
        left.without_place,
        if chart.right.is_some() { "left " } else { "" },
    );
    say(right.map_or(0, |r| r.1.without_place), "right ");
    notes
}

fn stack_notes(stack: &Stack) -> Vec<String> {
    let mut notes = vec![];
    let s = |n: usize| if n == 1 { "" } else { "s" };
    if stack.unknown > 0 {
        let n = stack.unknown;
        notes.push(format!(
            "{n} interval{} left out: a part of the sum is not known",
            s(n)
        ));
    }
    if stack.negative > 0 {
        let n = stack.negative;
        notes.push(format!("{n} negative value{} drawn as 0", s(n)));
    }
    if stack.reduced {
        notes.push("each column shows its interval with the largest sum".into());
    }
    notes
}

/// Means and maxima of one axis are in one unit.
fn legend(chart: &Chart) -> Vec<Entry> {
    let scale_of = |right: bool| {
        let axis = chart
            .right
            .as_ref()
            .filter(|_| right)
            .unwrap_or(&chart.left);
        let lines = chart.lines.iter().filter(|l| on_right(chart, l) == right);
        let values: Vec<f64> = lines.flat_map(|l| [l.mean, l.max]).collect();
        (column_scale(&values, axis.unit, axis.rate), axis.unit)
    };
    let scales = [scale_of(false), scale_of(true)];
    let print = |value: f64, right: bool| {
        let (scale, unit) = scales[usize::from(right)];
        if !value.is_finite() {
            return "-".into();
        }
        let gap = if unit == Unit::Count { "" } else { " " };
        format!("{}{gap}{}", short_digits(value / scale.by), scale.suffix)
    };
    let colours = palette::of_lines(&chart.lines);
    chart
        .lines
        .iter()
        .zip(colours)
        .map(|(line, (colour, round))| {
            let right = on_right(chart, line);
            Entry {
                name: clean(&line.name),
                mean: print(line.mean, right),
                max: print(line.max, right),
                colour,
                round,
                right,
                area: is_area(chart, line),
            }
        })
        .collect()
}

fn short_digits(value: f64) -> String {
    if value.abs() < 1e9 {
        digits(value)
    } else {
        format!("{value:.2e}")
    }
}
