//! Pictures of a comparison: ratios of B to A with what is known of them.

use analysis::compare::{Compared, Shift};
use analysis::stats::{Interval, Margin};
use run::Unit;
use run::unit::amount;
use surfaces::{Axis, Chart, Range, Ranges};

use super::Comparison;
use super::told::{interval_text, named, ratio_text};
use crate::output::one_line;

/// Beyond this a name of a picture's row says no more.
const NAME: usize = 44;

/// Beyond this the names of a side's runs are more than a picture can show.
const RUNS: usize = 100;

/// What the shade says.
const SHADED: &str = "shaded: less than 2 % either way";

/// How a distribution moved, quantile by quantile.
pub(super) fn shift(shift: &Shift) -> Chart {
    let title = format!("Shift of {}", one_line(&shift.expression));
    let mut chart = chart(title, rows(shift, false));
    let band = if shift.drawn {
        "the band of 95 % holds all quantiles together (runs and batches drawn again)"
    } else if shift.at.iter().any(|at| at.band.is_bounded()) {
        "the band of 95 % holds all quantiles together (ranks of runs)"
    } else {
        "too few runs for a band that holds all quantiles together"
    };
    chart.notes.insert(0, band.to_owned());
    chart
}

/// All that was compared, in one picture: quantiles as shifts, the rest as their estimates.
pub(super) fn all(told: &Comparison) -> Chart {
    let (all, shifts) = (&told.all, &told.shifts);
    let shifted = |c: &&Compared| {
        let of = |s: &Shift| c.metric.quantile.is_some() && s.expression == c.metric.expression;
        !shifts.iter().any(of)
    };
    let mut ranges: Vec<Range> = all.iter().filter(shifted).map(metric).collect();
    ranges.extend(shifts.iter().flat_map(|s| rows(s, true)));
    let mut chart = chart("What changed from A to B".into(), ranges);
    if !shifts.is_empty() {
        let text = "quantiles of a distribution: a band of 95 % that holds them together; \
                    others: an interval of 95 % each";
        chart.notes.insert(0, text.into());
    }
    let sides = [&told.a, &told.b].map(|side| {
        let [name, runs] = named(side);
        name + &surfaces::table::shortened(&runs, RUNS)
    });
    chart.notes.splice(0..0, sides);
    chart
}

fn chart(title: String, rows: Vec<Range>) -> Chart {
    Chart {
        title,
        left: Axis {
            label: "B / A".into(),
            unit: Unit::Count,
            rate: false,
            log: true,
        },
        ranges: Some(Ranges {
            rows,
            even: Some(1.0),
            small: Some(within(Margin::THROUGHPUT)),
        }),
        notes: vec![SHADED.into()],
        ..Chart::default()
    }
}

fn within(margin: Margin) -> (f64, f64) {
    (1.0 / (1.0 + margin.0), 1.0 + margin.0)
}

fn rows(shift: &Shift, named: bool) -> Vec<Range> {
    let row = |at: &analysis::stats::shift::At| {
        let name = shift.names.get(at.place).copied().unwrap_or_default();
        let numbers = [at.a, at.b].map(|v| amount(v, shift.unit, false));
        let name = if named {
            format!("{name} {}", one_line(&shift.expression))
        } else {
            format!("{name:<5}  {} → {}", numbers[0], numbers[1])
        };
        range(&name, at.ratio, at.band)
    };
    shift.at.iter().map(row).collect()
}

fn metric(c: &Compared) -> Range {
    range(
        &one_line(&c.metric.text),
        c.estimate.ratio,
        c.estimate.interval,
    )
}

fn range(name: &str, ratio: f64, interval: Interval) -> Range {
    let known = interval.is_bounded();
    let end = |v: f64| if known { v } else { f64::NAN };
    let text = format!("{} {}", ratio_text(ratio), interval_text(interval));
    Range {
        name: surfaces::table::shortened(name, NAME),
        value: ratio,
        low: end(interval.low),
        high: end(interval.high),
        text: text.trim_end().to_owned(),
    }
}
