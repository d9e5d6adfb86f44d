//! The cells of a heat map: amounts by row of the number dimension and column of time.
//!
//! Rows end where buckets of the histogram grid end, so that no bucket is divided and every
//! cell is a sum of what was counted. Where there are more buckets than rows asked for, rows
//! hold several, of about the same height on the axis.

use analysis::scan::KeyValue;
use analysis::window::Pictured;
use run::{Run, Unit, grid};
use serde::Serialize;

use super::picture::Number;
use super::runs::since;
use crate::chart::Heat;
use crate::from_numbers::is_log;
use crate::heat::extent;
use crate::scale::{Scale, Span};

/// How a heat map is to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    /// Most rows.
    pub(super) rows: usize,
    /// Whether the axis is logarithmic; `None`: as suits the dimension.
    pub(super) log: Option<bool>,
    /// Share of the amount that may lie above the axis.
    pub(super) outliers: f64,
}

/// What lies above the axis.
#[derive(Serialize)]
pub(super) struct Hidden {
    amount: Number,
    share: Number,
    events: Option<Number>,
}

/// The cells.
#[derive(Serialize)]
pub(super) struct Cells {
    /// Edges of the columns in seconds since the run's start: one more than columns.
    times: Vec<Number>,
    /// Edges of the rows, rising, in the dimension's unit: one more than rows.
    pub(super) edges: Vec<Number>,
    log: bool,
    /// Row by row from the lowest. 0: nothing; null: not observed.
    #[serde(rename = "cells")]
    amounts: Vec<Number>,
    hidden: Hidden,
    total: Number,
    greatest: Number,
}

impl Cells {
    /// The cells of each row, from the lowest.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[Number]> {
        let columns = self.times.len().saturating_sub(1).max(1);
        self.amounts.chunks(columns)
    }
}

/// The cells of an answer by one number dimension.
pub(super) fn cells(run: &Run, pictured: &Pictured, wanted: &Wanted) -> Cells {
    let answer = &pictured.answer;
    let dimension = &answer.by[0];
    let unit = dimension.number.unwrap_or(Unit::Count);
    let heat = chart(run, pictured, unit, &dimension.name, wanted);
    let times = &pictured.grid;
    let edges_of_time = (0..=times.count).map(|c| Number(since(run, times.edge(c))));
    let columns = times.count as usize;
    let whole = (f64::NEG_INFINITY, f64::INFINITY);
    let (span, above, total) = match extent(&heat, whole) {
        Some(extent) => (extent.span, extent.above, extent.total),
        None => (Span::of(&[], heat.log, heat.places), 0.0, 0.0),
    };
    let edges = edges(&span, unit, wanted.rows);
    let rows = edges.len() - 1;
    let mut amounts = vec![0.0; rows * columns];
    for &(column, row, amount) in &heat.cells {
        let (low, high) = heat.rows[row as usize];
        // What ends above the axis is told as hidden.
        if high > span.upper || !amount.is_finite() {
            continue;
        }
        let middle = f64::midpoint(low, high);
        let place = edges.partition_point(|e| *e <= middle);
        let Some(row) = place.checked_sub(1).filter(|r| *r < rows) else {
            continue;
        };
        amounts[row * columns + column as usize] += amount;
    }
    let greatest = amounts.iter().copied().fold(0.0, f64::max);
    for (column, (seconds, _)) in pictured.observed.iter().enumerate() {
        for row in 0..rows {
            let cell = &mut amounts[row * columns + column];
            if *seconds <= 0.0 && *cell == 0.0 {
                *cell = f64::NAN;
            }
        }
    }
    Cells {
        times: edges_of_time.collect(),
        edges: edges.into_iter().map(Number).collect(),
        log: span.scale != Scale::Linear,
        amounts: amounts.into_iter().map(Number).collect(),
        hidden: Hidden {
            amount: Number(above),
            share: Number(if total > 0.0 { above / total } else { 0.0 }),
            events: (answer.unit == Unit::Count).then_some(Number(above)),
        },
        total: Number(total),
        greatest: Number(greatest),
    }
}

/// The same cells as a picture has them, bucket by bucket.
fn chart(run: &Run, pictured: &Pictured, unit: Unit, name: &str, wanted: &Wanted) -> Heat {
    let times = &pictured.grid;
    let edge = |column| since(run, times.edge(column));
    let mut heat = Heat {
        log: Some(wanted.log.unwrap_or_else(|| is_log(name, unit))),
        places: name == "offset",
        columns: (0..times.count).map(|c| (edge(c), edge(c + 1))).collect(),
        outliers: wanted.outliers,
        ..Heat::default()
    };
    let groups = pictured.answer.groups.iter().zip(&pictured.columns);
    for (group, columns) in groups {
        let Some(KeyValue::Number(lower)) = group.key.first() else {
            continue;
        };
        if !lower.is_finite() {
            continue;
        }
        let row = heat.rows.len() as u32;
        heat.rows.push(grid::bounds(*lower, unit));
        let cells = columns.iter().filter(|(_, c)| c.amount > 0.0);
        heat.cells
            .extend(cells.map(|(column, c)| (*column, row, c.amount)));
    }
    heat
}

/// Edges of at most about `rows` rows that cover `span`, all of them ends of buckets.
fn edges(span: &Span, unit: Unit, rows: usize) -> Vec<f64> {
    let (lower, upper) = (span.lower, span.upper);
    let inside = |v: &f64| *v > lower && *v < upper;
    let per_unit = if unit == Unit::Seconds { 1e9 } else { 1.0 };
    let furthest = (lower.abs().max(upper.abs()) * per_unit).min(u64::MAX as f64) as u64;
    let ends = (0..=grid::index(furthest) + 1).map(|index| grid::lower(index) as f64 / per_unit);
    let above: Vec<f64> = ends.collect();
    let below = above.iter().rev().map(|v| -v).filter(|v| *v < 0.0);
    let all: Vec<f64> = below.chain(above.iter().copied()).filter(inside).collect();
    let least = 1.0 / rows.max(1) as f64;
    let enough = all.len() < rows.max(1);
    let mut edges = vec![lower];
    let mut before = span.share(lower);
    for end in all {
        let share = span.share(end);
        // A rounding error is not to make a row twice as high.
        let high = share - before >= least * (1.0 - 1e-9) && 1.0 - share >= least * 0.5;
        // Zero has a row of its own where it has a band.
        let zero =
            matches!(span.scale, Scale::Signed { .. }) && (end - 0.0).abs() * per_unit <= 1.0;
        if (enough || high || zero) && edges.last().is_some_and(|last| *last < end) {
            edges.push(end);
            before = share;
        }
    }
    edges.push(upper);
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_buckets_and_not_too_many() {
        let log = Span::of(&[(1e-5, 1.1e-5), (0.9, 1.0)], Some(true), false);
        let found = edges(&log, Unit::Seconds, 100);
        assert!((80..=101).contains(&found.len()), "{}", found.len());
        assert!(found.is_sorted());
        for edge in &found[1..found.len() - 1] {
            assert_eq!(grid::floor(*edge, Unit::Seconds), *edge);
        }
        // Depths: a row each.
        let depths = Span::of(&[(0.0, 1.0), (32.0, 33.0)], Some(false), false);
        let found = edges(&depths, Unit::Count, 100);
        assert_eq!(found, (0..=33).map(f64::from).collect::<Vec<_>>());
        assert!(edges(&depths, Unit::Count, 10).len() <= 12);
        let seeks = Span::of(
            &[(-1e9, -0.98e9), (0.0, 1.0), (1e9, 1.01e9)],
            Some(true),
            false,
        );
        let found = edges(&seeks, Unit::Bytes, 64);
        assert!(found.contains(&0.0) && found.contains(&1.0), "{found:?}");
        assert!(found.len() < 80 && found.is_sorted());
    }
}
