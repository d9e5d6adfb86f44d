//! Histograms of a scrape: buckets that count all up to their bound.

use run::rows::TableId;
use run::{Unit, grid};

use super::scrape::Growth;
use crate::out::Out;

/// Points that a bucket's contents are spread over, at most.
const POINTS: f64 = 64.0;

/// Buckets of one histogram: upper bound, what it grew by and count up to it.
pub(super) type Buckets = Vec<(f64, Growth, f64)>;

/// What came into the buckets of a histogram since the scrape before.
pub(super) fn put_histogram(family: &str, key: &str, mut buckets: Buckets, out: &mut Out) {
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (per_unit, unit) = whole_numbers(family, &buckets);
    let name = format!("{family}{unit}");
    let words = [&b"prometheus"[..], name.as_bytes(), key.as_bytes()].map(|w| out.word(w));
    let table = TableId::of("distribution");
    let mut below = 0.0;
    let mut from: Option<f64> = None;
    // Where one was set to zero all were, also those that are above what they were.
    let is_restart = |b: &(f64, Growth, f64)| matches!(b.1, Growth::Restarted(_));
    let restarted = buckets.iter().any(is_restart);
    for (bound, growth, now) in buckets {
        let upto = match growth {
            Growth::Total(_) => return,
            _ if restarted => now,
            Growth::Grown(grown) | Growth::Restarted(grown) => grown,
        };
        // The bucket without bounds alone tells no values; its count is kept anyway.
        if !upto.is_finite() || (from.is_none() && bound.is_infinite()) {
            return;
        }
        let count = upto - below;
        below = upto;
        if count < 0.0 {
            out.note(&format!(
                "the buckets of {family} do not add up: values of some intervals are left out"
            ));
            return;
        }
        // By custom the lowest bucket starts at zero, if it ends above.
        let start = from.unwrap_or(if bound > 0.0 { 0.0 } else { bound });
        let (a, b) = if bound.is_finite() {
            (start * per_unit, bound * per_unit)
        } else {
            if count > 0.0 {
                out.note(&format!(
                    "what is above the highest bucket of {family} stands at its lower end"
                ));
            }
            (start * per_unit, start * per_unit)
        };
        from = Some(bound);
        for (value, share) in points(a, b, count) {
            out.amounts(table, &words, &[value, share]);
        }
    }
}

/// The bucket's contents at points of even distance, in whole numbers where they are whole.
fn points(from: f64, to: f64, count: f64) -> Vec<(f64, f64)> {
    let number = if to > from {
        count
            .ceil()
            .clamp(0.0, POINTS.min(to - from).max(1.0))
            .floor()
    } else {
        count.min(1.0).ceil()
    };
    let mut all: Vec<(f64, f64)> = Vec::new();
    let mut given = 0.0;
    for i in 0..number as u32 {
        let done = count * f64::from(i + 1) / number;
        let done = if count.fract() == 0.0 {
            done.round()
        } else {
            done
        };
        let value = if to > from {
            from + (to - from) * (f64::from(i) + 0.5) / number
        } else {
            from
        };
        let value = grid::floor(value.trunc(), Unit::Count);
        match all.last_mut() {
            Some((same, share)) if *same == value => *share += done - given,
            _ => all.push((value, done - given)),
        }
        given = done;
    }
    all
}

/// By what to multiply bounds to make them whole, and how to say it: values are kept in whole
/// numbers.
fn whole_numbers(family: &str, buckets: &Buckets) -> (f64, &'static str) {
    if family.ends_with("_seconds") {
        return (1e9, " in ns");
    }
    let finite = || buckets.iter().map(|(b, _, _)| *b).filter(|b| b.is_finite());
    [(1.0, ""), (1e3, " in thousandths"), (1e6, " in millionths")]
        .into_iter()
        .find(|(by, _)| finite().all(|b| ((b * by).round() - b * by).abs() < 1e-6 * (b * by).abs()))
        .unwrap_or((1e9, " in billionths"))
}
