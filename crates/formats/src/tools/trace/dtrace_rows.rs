//! Rows of histograms that `DTrace` prints, and which ranges of values they are.

use super::buckets::{Bucket, is_bar};
use crate::out::Out;

/// What stands before the bar of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edge {
    Below(f64),
    At(f64),
    From(f64),
    /// `abs() < 27`, of `llquantize` on Linux. Rows above it are of numbers down to the one of the row
    /// before, whose sizes are those of the rows below it.
    Within(f64),
}

/// The rows of a histogram, and the count of each.
pub(super) type Rows = Vec<(Edge, f64)>;

/// A row: `64 |@@@@ 12`, `< 0 | 3`, `1 @@@| -123`.
pub(super) fn row(line: &str) -> Option<(Edge, f64)> {
    let (left, right) = line.split_once('|')?;
    let left = left.trim().trim_end_matches('@').trim();
    let right = right.trim();
    let (bar, count) = right.rsplit_once([' ', '@']).unwrap_or(("", right));
    if !is_bar(bar) {
        return None;
    }
    let whole = |text: &str| text.trim().parse::<i128>().ok().map(|n| n as f64);
    let count = whole(count)?;
    let edge = if let Some(value) = left.strip_prefix(">=") {
        Edge::From(whole(value)?)
    } else if let Some(value) = left.strip_prefix("<=") {
        Edge::Below(whole(value)? + 1.0)
    } else if let Some(value) = left.strip_prefix('<') {
        Edge::Below(whole(value)?)
    } else if let Some(value) = left.strip_prefix("abs() <") {
        Edge::Within(whole(value)?)
    } else {
        Edge::At(whole(left)?)
    };
    Some((edge, count))
}

/// Whether it is 0 or a power of two, or minus one.
fn is_power(value: f64) -> bool {
    value == 0.0 || value.abs().log2().fract() == 0.0
}

/// Whether rows of `quantize` stand so, one after the other.
fn follows(value: f64, next: f64) -> bool {
    match value {
        0.0 => next == 1.0,
        -1.0 => next == 0.0,
        v if v < 0.0 => next == v / 2.0,
        v => next == v * 2.0,
    }
}

/// Whether the rows are of `quantize`: powers of two, one after the other or with rows left out.
/// Its last row has nothing in it, unless it is at the end of all numbers.
fn is_quantize(rows: &[(Edge, f64)], at: &[f64], steps: &[f64]) -> bool {
    let uniform = steps.windows(2).all(|w| w[0] == w[1]);
    let in_sequence = at.windows(2).all(|w| follows(w[0], w[1]));
    let ended = rows.last().is_some_and(|(_, count)| *count == 0.0);
    let powers = at.len() == rows.len() && at.iter().all(|v| is_power(*v));
    powers && (!uniform || (in_sequence && (ended || at.len() < 3)))
}

/// The ranges of a histogram's rows.
pub(super) fn buckets(rows: &[(Edge, f64)], out: &mut Out) -> Vec<Bucket> {
    let at: Vec<f64> = rows
        .iter()
        .filter_map(|(edge, _)| match edge {
            Edge::At(value) => Some(*value),
            _ => None,
        })
        .collect();
    let steps: Vec<f64> = at.windows(2).map(|w| w[1] - w[0]).collect();
    let quantize = is_quantize(rows, &at, &steps);
    let mut found = Vec::with_capacity(rows.len());
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    // Rows without anything left out: each step is as wide as its bucket.
    let whole = is_contiguous(&at);
    let within = rows
        .iter()
        .position(|(edge, _)| matches!(edge, Edge::Within(_)));
    for (i, &(edge, count)) in rows.iter().enumerate() {
        let (from, to) = match edge {
            Edge::Below(end) => {
                if count != 0.0 && end > 0.0 {
                    out.note("a row `< N` has no lower end: its values are taken to be above 0");
                } else if count != 0.0 {
                    out.note("a row `< N` has no lower end: its values stand at N less 1");
                }
                (if end > 0.0 { 0.0 } else { end - 1.0 }, end)
            }
            Edge::From(start) => {
                if count != 0.0 {
                    out.note("a row `>= N` has no upper end: its values stand at N");
                }
                (start, start)
            }
            Edge::Within(size) if rows[..i].iter().any(|(_, count)| *count != 0.0) => {
                (1.0 - size, size)
            }
            Edge::Within(size) => {
                if count != 0.0 {
                    out.note("a row `abs() < N` is taken to be of none below 0, as no row is");
                }
                (0.0, size)
            }
            Edge::At(v) if within.is_some_and(|within| i < within) => {
                let above = i.checked_sub(1).and_then(|above| rows.get(above));
                let from = match above {
                    Some((Edge::At(next), _)) => next + 1.0,
                    Some((Edge::Below(next), _)) => *next,
                    _ => v + 1.0 - least,
                };
                (from, v + 1.0)
            }
            Edge::At(v) if quantize && v == 0.0 => (0.0, 1.0),
            Edge::At(v) if quantize && v < 0.0 => (2.0 * v + 1.0, v + 1.0),
            Edge::At(v) if quantize => (v, 2.0 * v),
            Edge::At(v) => {
                let next = rows.get(i + 1).map(|(edge, _)| match edge {
                    Edge::Below(n) | Edge::At(n) | Edge::From(n) | Edge::Within(n) => *n,
                });
                let width = match next {
                    Some(next) if whole && next > v => next - v,
                    _ if whole => steps.last().copied().unwrap_or(0.0),
                    _ => least,
                };
                (v, v + width.max(0.0))
            }
        };
        found.push(Bucket { from, to, count });
    }
    found
}

/// Whether steps between rows are those of `lquantize`, or those of `llquantize`, which change
/// at powers of its factor only; otherwise rows were left out.
fn is_contiguous(at: &[f64]) -> bool {
    let is_power_of = |value: f64, factor: u32| {
        let mut power = 1.0;
        while power < value {
            power *= f64::from(factor);
        }
        power == value
    };
    at.windows(3).all(|w| {
        let (before, after) = (w[1] - w[0], w[2] - w[1]);
        let edge = w[1].abs();
        before == after || edge == 0.0 || (2..=20).any(|factor| is_power_of(edge, factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Options;

    fn ranges(values: &[f64], last: f64) -> Vec<(f64, f64)> {
        let mut rows: Rows = values.iter().map(|v| (Edge::At(*v), 1.0)).collect();
        if let Some(row) = rows.last_mut() {
            row.1 = last;
        }
        let mut out = Out::new("dtrace", Options::default());
        let found = buckets(&rows, &mut out);
        found.iter().map(|b| (b.from, b.to)).collect()
    }

    #[test]
    fn the_kind_of_aggregation_shows_in_its_rows() {
        let quantize = ranges(&[-2.0, -1.0, 0.0, 1.0, 2.0, 4.0], 0.0);
        let wanted = [
            (-3.0, -1.0),
            (-1.0, 0.0),
            (0.0, 1.0),
            (1.0, 2.0),
            (2.0, 4.0),
        ];
        assert_eq!(quantize[..5], wanted);
        // Rows left out.
        assert_eq!(ranges(&[4.0, 64.0, 1024.0], 5.0)[1], (64.0, 128.0));
        let linear = ranges(&[0.0, 100.0, 200.0], 0.0);
        assert_eq!(linear[1], (100.0, 200.0));
        assert_eq!(
            ranges(&[100.0, 200.0, 500.0, 600.0], 0.0)[1],
            (200.0, 300.0)
        );
        assert_eq!(ranges(&[0.0, 1.0, 2.0], 3.0)[2], (2.0, 3.0));
        let both = ranges(&[8.0, 9.0, 10.0, 15.0, 20.0], 0.0);
        assert_eq!(both[..3], [(8.0, 9.0), (9.0, 10.0), (10.0, 15.0)]);
    }

    #[test]
    fn sizes_on_both_sides_of_zero() {
        let rows = [
            (Edge::Below(-80.0), 1.0),
            (Edge::At(-30.0), 1.0),
            (Edge::At(-27.0), 2.0),
            (Edge::Within(27.0), 3.0),
            (Edge::At(27.0), 4.0),
            (Edge::At(30.0), 5.0),
            (Edge::From(81.0), 6.0),
        ];
        let found = buckets(&rows, &mut Out::new("dtrace", Options::default()));
        let ranges: Vec<_> = found.iter().map(|b| (b.from, b.to)).collect();
        let negative = [
            (-81.0, -80.0),
            (-80.0, -29.0),
            (-29.0, -26.0),
            (-26.0, 27.0),
        ];
        assert_eq!(ranges[..4], negative);
        assert_eq!(ranges[4..], [(27.0, 30.0), (30.0, 81.0), (81.0, 81.0)]);
    }

    #[test]
    fn rows_of_all_kinds() {
        assert_eq!(row("64 |@@@@@@   12"), Some((Edge::At(64.0), 12.0)));
        assert_eq!(row("1 @@@@@@| -123"), Some((Edge::At(1.0), -123.0)));
        assert_eq!(row("< -100 |  0"), Some((Edge::Below(-100.0), 0.0)));
        assert_eq!(row(">= 600000 |@ 7"), Some((Edge::From(600000.0), 7.0)));
        assert_eq!(row("abs() < 27 |@ 7"), Some((Edge::Within(27.0), 7.0)));
        assert_eq!(row("<= -729 |@ 7"), Some((Edge::Below(-728.0), 7.0)));
        for no in ["", "64", "64 | x", "a | 1", "64 |@@ 1 2"] {
            assert_eq!(row(no), None, "{no}");
        }
    }
}
