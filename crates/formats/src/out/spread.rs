//! A bucket of another histogram on the grid.

use run::grid;

/// What is less than this part of a range is one cell: a range of all that a number can be had thousands
/// of them.
const LEAST_SHARE: u64 = 1024;

/// The buckets of the grid in `[from, to)`, with the share of that range in each. What is next to the lower
/// end, seen from the upper one, is one cell.
pub(super) fn spread(from: f64, to: f64, unit: run::Unit) -> Vec<(f64, f64)> {
    if to <= from {
        return vec![(grid::floor(from, unit), 1.0)];
    }
    if from < 0.0 {
        // Negative values mirror the positive; what holds zero is cut there.
        let low = spread((-to).max(0.0), -from, unit);
        let below = (-from).min(to - from) / (to - from);
        let mut all: Vec<_> = low.into_iter().map(|(v, s)| (-v, s * below)).collect();
        if to > 0.0 {
            let above = spread(0.0, to, unit);
            all.extend(above.into_iter().map(|(v, s)| (v, s * (1.0 - below))));
        }
        return all;
    }
    let per_unit = match unit {
        run::Unit::Seconds => 1e9,
        _ => 1.0,
    };
    let (low, high) = (
        (from * per_unit).round() as u64,
        (to * per_unit).round() as u64,
    );
    let (first, last) = (
        grid::index(low),
        grid::index(high.saturating_sub(1).max(low)),
    );
    let width = high.saturating_sub(low).max(1) as f64;
    let cell = |i: u32| {
        let (a, b) = (grid::lower(i).max(low), grid::upper(i).min(high));
        (
            grid::lower(i) as f64 / per_unit,
            b.saturating_sub(a).max(1) as f64 / width,
        )
    };
    if first == last {
        return vec![(grid::lower(first) as f64 / per_unit, 1.0)];
    }
    // The lowest cells together, where there are many.
    let near = grid::index(low.saturating_add((high - low) / LEAST_SHARE)).max(first);
    let beginning = (near > first).then(|| {
        let (value, _) = cell(first);
        (value, (grid::lower(near) - low) as f64 / width)
    });
    beginning
        .into_iter()
        .chain((near..=last).map(cell))
        .collect()
}
