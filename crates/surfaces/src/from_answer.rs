//! An answer as a chart: the largest groups as lines, the rest summed; a number dimension as
//! a heat map.

use std::collections::BTreeSet;

use analysis::scan::{KeyValue, Slot};
use analysis::{Answer, Group, quantiles};
use run::catalog::Kind;
use run::{Nanos, Run};

use crate::chart::{Axis, Band, BandKind, Chart, Line, Point};
use crate::from_numbers::{fold, heat};
use crate::text::clean;

/// Groups with a line of their own; the rest are `other`.
const MOST_LINES: usize = 7;

/// How a chart is to look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Title; the expressions if `None`.
    pub title: Option<String>,
    /// Whether the left axis is logarithmic; `None`: as suits what is on it.
    pub log: Option<bool>,
    /// Areas on top of each other.
    pub stack: bool,
    /// Seconds over which values are averaged.
    pub smooth: Option<f64>,
    /// First second shown.
    pub from: Option<f64>,
    /// Last second shown.
    pub to: Option<f64>,
    /// One distribution over all time, instead of a heat map.
    pub fold: bool,
    /// Share of a heat map's amount that may lie above its axis.
    pub outliers: f64,
}

/// Why answers cannot be drawn together.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// A number dimension beside others.
    #[error(
        "a heat map has one dimension, a number; `{0}` has others too\nhint: choose them with `where` instead of `by`"
    )]
    Mixed(String),
    /// Cells could not be added.
    #[error(
        "`{0}` is no sum: its parts do not add up to anything, as those of a heat map do\nhint: `sonde get` prints it bucket by bucket"
    )]
    NoSum(String),
    /// Nothing to fold.
    #[error(
        "`{0}` has no number dimension, so it has no distribution\nhint: for example disk.ios by latency"
    )]
    NoNumber(String),
    /// What stands behind the numbers could not be read.
    #[error(transparent)]
    Behind(#[from] analysis::Error),
    /// A heat map with something else.
    #[error("a heat map has no second axis and no stacked areas")]
    HeatWithMore,
    /// The time range is empty.
    #[error(
        "nothing lies between --from and --to: the run is {0} s long\nhint: both count from the \
         run's start, --from below --to: for example --from 0s --to {0}s"
    )]
    Empty(String),
}

/// The chart of `left`, with `right` on a second axis, as `look` says.
pub fn chart(
    run: &Run,
    left: &Answer,
    right: Option<&Answer>,
    look: &Look,
) -> Result<Chart, ChartError> {
    let since = |time: i64| (time - run.manifest.started) as f64 / 1e9;
    let end = since(run.ended());
    let from = look.from.unwrap_or(0.0).max(0.0);
    let to = look.to.unwrap_or(end).min(end);
    if from >= to {
        return Err(ChartError::Empty(run::unit::digits(end)));
    }
    let mut chart = Chart {
        title: look.title.clone().unwrap_or_else(|| title(left, right)),
        seconds: (from, to),
        start: run.manifest.is_dated().then_some(run.manifest.started),
        left: axis(left, look.log == Some(true)),
        right: right.map(|r| axis(r, false)),
        stacked: look.stack,
        bands: bands(run, end),
        notes: notes(left, right, look),
        ..Chart::default()
    };
    let at = |seconds: f64| run.manifest.started + (seconds * 1e9).round() as run::Nanos;
    let behind = behind(run, left, right, (at(from), at(to)))?;
    chart.notes.extend(behind);
    if left.by.iter().any(|b| b.number.is_some()) {
        if right.is_some() || look.stack {
            return Err(ChartError::HeatWithMore);
        }
        if left.kind != Some(Kind::Sum) {
            return Err(ChartError::NoSum(left.text.clone()));
        }
        chart.heat = Some(heat(left, &since, (from, to), look)?);
        if look.fold
            && let Some(spreads) = quantiles::of(run, left)?
        {
            let (fold, notes) = fold(left, &spreads);
            chart.fold = Some(fold);
            chart.notes.extend(notes);
        }
        return Ok(chart);
    }
    if look.fold {
        return Err(ChartError::NoNumber(left.text.clone()));
    }
    for (answer, is_right) in [(Some(left), false), (right, true)] {
        let Some(answer) = answer else { continue };
        if answer.by.iter().any(|b| b.number.is_some()) {
            return Err(ChartError::HeatWithMore);
        }
        let place = Place {
            is_right,
            two_axes: right.is_some(),
            shown: (from, to),
            shortest: run.manifest.every_seconds / 2.0,
        };
        let (mut lines, left_out) = lines(answer, &place, &since, look);
        if left_out > 0 {
            chart.notes.push(format!(
                "{left_out} smaller groups of {} are not drawn",
                answer.text
            ));
        }
        // What a level is does not depend on for how long it was.
        let is_level = matches!(answer.kind, Some(Kind::Level | Kind::Peak));
        if look.smooth.is_none() && !is_level {
            let is_stack = look.stack && !is_right;
            let short = leave_short_out(&mut lines, place.shortest, is_stack);
            chart.notes.extend(short);
        }
        chart.lines.extend(lines);
    }
    Ok(chart)
}

fn title(left: &Answer, right: Option<&Answer>) -> String {
    match right {
        Some(right) => format!("{}  (right: {})", left.text, right.text),
        None => left.text.clone(),
    }
}

fn axis(answer: &Answer, log: bool) -> Axis {
    let label = statistic(answer).to_owned();
    let label = if answer.by.iter().any(|b| b.number.is_some()) {
        answer
            .by
            .iter()
            .map(|b| b.name.clone())
            .collect::<Vec<_>>()
            .join(", ")
    } else {
        label
    };
    let number = answer.by.iter().find_map(|b| b.number);
    match number {
        Some(unit) => Axis {
            label,
            unit,
            rate: false,
            log,
        },
        None => Axis {
            label,
            unit: answer.unit,
            rate: answer.is_rate(),
            log,
        },
    }
}

fn bands(run: &Run, end: f64) -> Vec<Band> {
    let m = &run.manifest;
    let since = |time: i64| (time - m.started) as f64 / 1e9;
    let ends = m.phases.iter().skip(1).map(|p| since(p.from)).chain([end]);
    let phases = m.phases.iter().zip(ends).map(|(phase, to)| Band {
        name: phase.name.clone(),
        from: since(phase.from),
        to,
        kind: BandKind::Phase,
    });
    let lost = m.loss.iter().map(|l| Band {
        name: l.why.clone(),
        from: since(l.from) - m.every_seconds,
        to: since(l.to),
        kind: BandKind::Lost,
    });
    phases.chain(lost).collect()
}

fn notes(left: &Answer, right: Option<&Answer>, look: &Look) -> Vec<String> {
    let caveats = [Some(left), right]
        .into_iter()
        .flatten()
        .filter_map(|a| a.caveat);
    let mut notes: Vec<String> = caveats.map(str::to_owned).collect();
    if let Some(window) = look.smooth {
        let window = run::unit::amount(window, run::Unit::Seconds, false);
        notes.push(format!("smoothed: mean of {window} around each interval"));
    }
    notes
}

/// What stands behind the numbers; of two answers, of which it is.
fn behind(
    run: &Run,
    left: &Answer,
    right: Option<&Answer>,
    shown: (Nanos, Nanos),
) -> Result<Vec<String>, analysis::Error> {
    let of = |answer: &Answer| {
        let mut notes: Vec<String> = Vec::new();
        notes.extend(analysis::notes::sampled(run, answer)?);
        notes.extend(analysis::dropped::note(run, answer, Some(shown))?);
        if !answer.groups.is_empty() {
            notes.extend(analysis::notes::of(run, answer)?);
        }
        Ok::<_, analysis::Error>(notes)
    };
    let left_notes = of(left)?;
    let Some(right) = right else {
        return Ok(left_notes);
    };
    let right_notes = of(right)?;
    let (both, of_left): (Vec<_>, Vec<_>) = left_notes
        .into_iter()
        .partition(|note| right_notes.contains(note));
    let of_right = right_notes.into_iter().filter(|note| !both.contains(note));
    let named = |answer: &Answer, note: String| format!("{}: {note}", statistic(answer));
    let mut notes: Vec<String> = of_left.into_iter().map(|note| named(left, note)).collect();
    notes.extend(of_right.map(|note| named(right, note)));
    notes.extend(both);
    Ok(notes)
}

/// The words before `by` and `where`.
fn statistic(answer: &Answer) -> &str {
    answer.text.split_whitespace().next().unwrap_or("")
}

/// A group's key in the legend.
fn name(group: &Group) -> String {
    let words: Vec<&str> = group
        .key
        .iter()
        .map(|k| match k {
            KeyValue::Word(word) => word.as_str(),
            KeyValue::Number(_) => "",
        })
        .collect();
    clean(&words.join(", "))
}

/// Where lines are drawn.
struct Place {
    is_right: bool,
    two_axes: bool,
    /// Seconds, from and to.
    shown: (f64, f64),
    /// Seconds of an interval that is long enough to count for least and greatest values.
    shortest: f64,
}

/// Lines of an answer, and how many groups have none.
fn lines(
    answer: &Answer,
    place: &Place,
    since: &dyn Fn(i64) -> f64,
    look: &Look,
) -> (Vec<Line>, usize) {
    let shown = place.shown;
    let statistic = statistic(answer);
    let named = |group: &Group| {
        let key = name(group);
        match (key.is_empty(), place.two_axes) {
            (true, _) => statistic.to_owned(),
            (false, true) => format!("{statistic} {key}"),
            (false, false) => key,
        }
    };
    let line = |name: String, series: &[(u32, f64)], group: Option<&Group>| {
        let weights = group.map(|g| g.weights.as_slice()).unwrap_or_default();
        let weighted = series.iter().enumerate().map(|(i, (place, value))| {
            let point = point(&answer.slots[*place as usize], *value, since);
            let length = point.to - point.from;
            (point, weights.get(i).copied().unwrap_or(length))
        });
        let mut points: Vec<(Point, f64)> = weighted
            .filter(|(p, _)| p.to > shown.0 && p.from < shown.1)
            .collect();
        // A group's own numbers: the mean of a ratio does not follow from its intervals.
        let (mean, max) = group.map_or_else(|| legend(&points), |g| (g.mean, g.max));
        if let Some(window) = look.smooth {
            points = smoothed(&points, window);
        }
        Line {
            name,
            right: place.is_right,
            points: points.into_iter().map(|(point, _)| point).collect(),
            mean,
            max,
        }
    };
    let keep = if answer.groups.len() <= MOST_LINES + 1 {
        MOST_LINES + 1
    } else {
        MOST_LINES
    };
    let (large, small) = answer.groups.split_at(keep.min(answer.groups.len()));
    let mut lines: Vec<Line> = large
        .iter()
        .map(|g| line(named(g), &g.series, Some(g)))
        .collect();
    if small.is_empty() {
        return (lines, 0);
    }
    // Ratios and peaks do not add up to anything.
    if !matches!(answer.kind, Some(Kind::Sum | Kind::Level)) {
        return (lines, small.len());
    }
    let mut rest = vec![f64::NAN; answer.slots.len()];
    for (place, value) in small.iter().flat_map(|g| &g.series) {
        let cell = &mut rest[*place as usize];
        *cell = if cell.is_nan() { *value } else { *cell + value };
    }
    let known = rest.iter().enumerate().filter(|(_, v)| !v.is_nan());
    let series: Vec<(u32, f64)> = known.map(|(i, v)| (i as u32, *v)).collect();
    lines.push(line("other".into(), &series, None));
    (lines, 0)
}

/// A few milliseconds at a mark or at the end may hold a tick's worth: such a rate is no maximum,
/// and must not set the axis either. Takes those above their line's maximum away, and says so. A
/// stack without one of its parts would be lower than the sum was: there the interval goes.
fn leave_short_out(lines: &mut [Line], shortest: f64, is_stack: bool) -> Option<String> {
    let above = |max: f64, p: &Point| p.to - p.from < shortest && p.value > max;
    // All lines of an answer have their intervals in common.
    let ends: BTreeSet<u64> = lines
        .iter()
        .flat_map(|line| line.points.iter().filter(|p| above(line.max, p)))
        .map(|p| p.to.to_bits())
        .collect();
    for line in lines {
        if is_stack {
            line.points.retain(|p| !ends.contains(&p.to.to_bits()));
            continue;
        }
        for point in line.points.iter_mut().filter(|p| above(line.max, p)) {
            point.value = f64::NAN;
        }
    }
    let (number, s) = (ends.len(), if ends.len() == 1 { "" } else { "s" });
    let under = run::unit::amount(shortest, run::Unit::Seconds, false);
    (number > 0).then(|| {
        format!(
            "{number} interval{s} under {under} left out: above the maximum, which longer ones set"
        )
    })
}

fn point(slot: &Slot, value: f64, since: &dyn Fn(i64) -> f64) -> Point {
    let to = since(slot.time);
    Point {
        from: to - slot.interval,
        to,
        value,
    }
}

/// Weighted mean and greatest of what is shown.
fn legend(points: &[(Point, f64)]) -> (f64, f64) {
    let known = points.iter().filter(|(p, _)| !p.value.is_nan());
    let (sum, weights, max) = known.fold((0.0, 0.0, f64::NAN), |(sum, weights, max), (p, w)| {
        (sum + p.value * w, weights + w, p.value.max(max))
    });
    (sum / weights, max)
}

/// Each value as the weighted mean over `window` seconds around it; a gap stays a gap. With
/// what was divided by as the weight, the mean of a ratio is the ratio over the window.
fn smoothed(points: &[(Point, f64)], window: f64) -> Vec<(Point, f64)> {
    let (mut first, mut last) = (0, 0);
    let (mut sum, mut weights) = (0.0, 0.0);
    let known = |p: &(Point, f64)| !p.0.value.is_nan();
    let weight = |p: &(Point, f64)| if known(p) { p.1 } else { 0.0 };
    let amount = |p: &(Point, f64)| if known(p) { p.0.value * p.1 } else { 0.0 };
    let middle = |p: &(Point, f64)| f64::midpoint(p.0.from, p.0.to);
    let mut out = Vec::with_capacity(points.len());
    for p in points {
        while last < points.len() && middle(&points[last]) <= middle(p) + window / 2.0 {
            sum += amount(&points[last]);
            weights += weight(&points[last]);
            last += 1;
        }
        while middle(&points[first]) < middle(p) - window / 2.0 {
            sum -= amount(&points[first]);
            weights -= weight(&points[first]);
            first += 1;
        }
        let value = if known(p) { sum / weights } else { f64::NAN };
        out.push((Point { value, ..p.0 }, p.1));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[f64]) -> Vec<(Point, f64)> {
        let at = |(i, &value): (usize, &f64)| {
            let (from, to) = (i as f64, i as f64 + 1.0);
            (Point { from, to, value }, 1.0)
        };
        values.iter().enumerate().map(at).collect()
    }

    #[test]
    fn smoothing_averages_around_each_interval_and_keeps_gaps() {
        let smooth = smoothed(&points(&[0.0, 3.0, f64::NAN, 6.0, 0.0]), 2.0);
        let values: Vec<f64> = smooth.iter().map(|p| p.0.value).collect();
        assert_eq!(values[..2], [1.5, 1.5]);
        assert!(values[2].is_nan());
        assert_eq!(values[3..], [3.0, 3.0]);
    }

    /// 100 I/Os of 1 ms beside one of 201 ms: 301 ms for 101 I/Os, not 101 ms.
    #[test]
    fn a_smoothed_ratio_is_the_ratio_over_the_window() {
        let mut two = points(&[0.001, 0.201]);
        (two[0].1, two[1].1) = (100.0, 1.0);
        let smooth = smoothed(&two, 4.0);
        assert!((smooth[0].0.value - 0.301 / 101.0).abs() < 1e-12);
    }

    /// Ten milliseconds with a tick's worth, in one of two lines.
    #[test]
    fn short_intervals_above_the_maximum_are_left_out_for_that_reason() {
        let line = |short: f64| {
            let mut points: Vec<Point> = points(&[1.0, 2.0]).into_iter().map(|p| p.0).collect();
            let (from, to, value) = (2.0, 2.01, short);
            points.push(Point { from, to, value });
            Line {
                name: String::new(),
                right: false,
                points,
                mean: 1.5,
                max: 2.0,
            }
        };
        let lines = [line(100.0), line(1.5)];
        let mut apart = lines.clone();
        let said = leave_short_out(&mut apart, 0.5, false).unwrap();
        assert!(
            said.starts_with("1 interval under 500 ms left out: "),
            "{said}"
        );
        assert!(apart[0].points[2].value.is_nan());
        assert_eq!(apart[1], lines[1]);
        let mut stacked = lines.clone();
        assert_eq!(leave_short_out(&mut stacked, 0.5, true), Some(said));
        assert!(stacked.iter().all(|l| l.points.len() == 2));
        assert_eq!(leave_short_out(&mut stacked, 0.5, true), None);
    }

    #[test]
    fn the_legend_is_weighted() {
        let mut two = points(&[1.0, 4.0]);
        (two[0].1, two[1].1) = (1.0, 3.0);
        assert_eq!(legend(&two), (13.0 / 4.0, 4.0));
    }
}
