//! An experiment as a picture: the arms by two metrics, or by one; or how work grows.

use analysis::experiment::{Measured, level};
use analysis::stats::Interval;
use surfaces::scatter::{Curve, Dot, Scatter, Value};
use surfaces::terminal::Colour;
use surfaces::{Axis, scatter};

use super::{Experiment, scaling};
use crate::commands::picture::File;
use crate::failure::Failure;

/// Points of a curve.
const SMOOTH: usize = 120;

/// The picture: of a scaling experiment work by what is done at once, with the law; else the
/// first declared metric against the second, or by arm if there is one only.
pub(crate) fn scatter_of(e: &Experiment<'_>) -> Option<Scatter> {
    if e.book.scale {
        return growth(e);
    }
    let mut declared = e.measured.iter().filter(|m| m.declared);
    let first = declared.next()?;
    let second = declared.next();
    let dots: Vec<Dot> = (0..e.book.arms.len())
        .map(|arm| Dot {
            name: e.book.arms[arm].name.clone(),
            x: value(first, arm),
            y: second.map(|m| value(m, arm)),
        })
        .collect();
    Some(Scatter {
        title: e.book.command.join(" "),
        x: axis(first),
        y: second.map(axis),
        dots,
        curves: vec![],
        notes: vec!["the middle of each arm's trials, with its interval of 95 %".to_owned()],
    })
}

fn value(m: &Measured, arm: usize) -> Value {
    let level = level(&m.values[arm]);
    let Interval { low, high } = level.interval;
    Value {
        low,
        middle: level.value,
        high,
    }
}

fn axis(m: &Measured) -> Axis {
    let (unit, rate) = m.unit.unwrap_or((run::Unit::Count, false));
    Axis {
        label: m.metric.text.clone(),
        unit,
        rate,
        log: false,
    }
}

/// Work by what is done at once, with the law through it and perfect growth beside it.
fn growth(e: &Experiment<'_>) -> Option<Scatter> {
    let measured = scaling::grows(e)?;
    let workers = scaling::workers(e);
    let most = workers.iter().copied().fold(1.0, f64::max);
    let exact = |value: f64| Value {
        low: value,
        middle: value,
        high: value,
    };
    let dots: Vec<Dot> = workers
        .iter()
        .enumerate()
        .map(|(arm, n)| Dot {
            name: run::unit::digits(*n),
            x: exact(*n),
            y: Some(value(measured, arm)),
        })
        .collect();
    let mut curves = Vec::new();
    if let Ok(laws) = scaling::laws(e, measured) {
        let at = |i: usize| 1.0 + (most - 1.0) * i as f64 / SMOOTH as f64;
        let curve = |name: &str, of: &dyn Fn(f64) -> f64| Curve {
            name: name.to_owned(),
            points: (0..=SMOOTH).map(|i| (at(i), of(at(i)))).collect(),
        };
        curves.push(curve("USL", &|n| laws.usl.work(n)));
        curves.push(curve("Amdahl", &|n| laws.amdahl.work(n)));
    }
    Some(Scatter {
        title: e.book.command.join(" "),
        x: Axis {
            label: format!("{} at once", e.book.factors[0].name),
            ..Axis::default()
        },
        y: Some(axis(measured)),
        dots,
        curves,
        notes: vec![],
    })
}

/// The picture as text, for a terminal so wide.
pub(crate) fn in_terminal(e: &Experiment<'_>, width: u16, colour: Colour) -> String {
    scatter_of(e).map_or_else(String::new, |s| scatter::text(&s, width, 18, colour))
}

/// Writes the picture as PNG or SVG.
pub(crate) fn write(e: &Experiment<'_>, file: &File<'_>) -> Result<(), Failure> {
    let scatter = scatter_of(e)
        .ok_or_else(|| Failure::input("the experiment has nothing to draw: no trial counts"))?;
    file.write_drawn(|width, height| scatter::svg(&scatter, width, height))
}
