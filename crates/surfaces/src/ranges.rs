//! Ranges, measured: their axis, and where each begins and ends on it.

use crate::axis::{LARGEST, Ruler};
use crate::chart::{Axis, Chart, Range, Ranges};
use crate::text::clean;

/// Ranges with their axis.
pub(crate) struct Measured {
    pub(crate) ruler: Ruler,
    /// Those whose value has a place.
    pub(crate) rows: Vec<Row>,
    /// Where no difference is.
    pub(crate) even: Option<f64>,
    /// From and to of what is too small to matter.
    pub(crate) small: Option<(f64, f64)>,
}

/// A range, in shares of the axis.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) value: f64,
    /// `None` where the range is not known.
    pub(crate) ends: Option<[End; 2]>,
}

/// An end of a range.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) share: f64,
    /// It goes on beyond the axis.
    pub(crate) open: bool,
}

/// A log axis reaches no further than this factor beyond the values and what is even: an end
/// that nothing bounds would make the others vanish.
const FURTHEST: f64 = 100.0;

impl Measured {
    /// `None` where no value has a place.
    pub(crate) fn new(chart: &Chart, ranges: &Ranges, wanted: usize) -> Option<Measured> {
        let axis = Axis {
            label: clean(&chart.left.label),
            ..chart.left.clone()
        };
        let placed = |v: f64| v.is_finite() && v.abs() <= LARGEST && (!axis.log || v > 0.0);
        let known: Vec<&Range> = ranges.rows.iter().filter(|r| placed(r.value)).collect();
        let marks = ranges.even.into_iter().chain(known.iter().map(|r| r.value));
        let marks = marks.filter(|v| placed(*v));
        let (least, most) = marks.fold((f64::INFINITY, f64::NEG_INFINITY), around);
        if known.is_empty() {
            return None;
        }
        let small = ranges.small.map_or([f64::NAN; 2], |s| [s.0, s.1]);
        let ends = known.iter().flat_map(|r| [r.low, r.high]).chain(small);
        let near = |v: f64| !axis.log || (v >= least / FURTHEST && v <= most * FURTHEST);
        let (low, high) = ends
            .filter(|v| placed(*v) && near(*v))
            .fold((least, most), around);
        let ruler = ruler(&axis, low, high, wanted);
        let inside = |v: f64| Some(ruler.share(v)).filter(|s| (0.0..=1.0).contains(s));
        let small = ranges.small.and_then(|(from, to)| {
            let shares = (ruler.share(from), ruler.share(to));
            let sound = shares.0 < shares.1 && shares.1 > 0.0 && shares.0 < 1.0;
            sound.then_some((shares.0.max(0.0), shares.1.min(1.0)))
        });
        Some(Measured {
            rows: known.into_iter().map(|r| row(r, &ruler)).collect(),
            even: ranges.even.and_then(inside),
            small,
            ruler,
        })
    }
}

fn around((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (low.min(value), high.max(value))
}

/// An axis that need not begin at zero, with some room at both ends.
fn ruler(axis: &Axis, low: f64, high: f64, wanted: usize) -> Ruler {
    use crate::scale::Scale;
    if axis.log {
        let room = (high / low).powf(0.05).max(1.005);
        return Ruler::between(axis, low / room, high * room, Scale::Log, wanted);
    }
    let room = match (high - low) * 0.05 {
        room if room > 0.0 => room,
        _ => (low.abs() * 0.05).max(f64::MIN_POSITIVE * 1e10),
    };
    Ruler::between(axis, low - room, high + room, Scale::Linear, wanted)
}

fn row(range: &Range, ruler: &Ruler) -> Row {
    let end = |value: f64, outside: f64| match ruler.share(value) {
        // What a log axis has no place for lies below all.
        share if share.is_nan() => End {
            share: outside,
            open: true,
        },
        share => End {
            share: share.clamp(0.0, 1.0),
            open: !(0.0..=1.0).contains(&share),
        },
    };
    let unknown = range.low.is_nan() || range.high.is_nan();
    Row {
        name: clean(&range.name),
        text: clean(&range.text),
        value: ruler.share(range.value).clamp(0.0, 1.0),
        ends: (!unknown).then(|| [end(range.low, 0.0), end(range.high, 1.0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Unit;

    fn chart(log: bool) -> Chart {
        Chart {
            left: Axis {
                label: "B / A".into(),
                unit: Unit::Count,
                rate: false,
                log,
            },
            ..Chart::default()
        }
    }

    fn range(value: f64, low: f64, high: f64) -> Range {
        Range {
            value,
            low,
            high,
            ..Range::default()
        }
    }

    #[test]
    fn equal_factors_are_equal_distances() {
        let ranges = Ranges {
            rows: vec![range(2.0, 1.0, 4.0), range(1.0, 0.5, 2.0)],
            even: Some(1.0),
            small: Some((0.95, 1.05)),
        };
        let found = Measured::new(&chart(true), &ranges, 5).unwrap();
        let [low, high] = found.rows[0].ends.unwrap();
        assert!(!low.open && !high.open);
        let middle = found.rows[0].value;
        assert!((middle - low.share - (high.share - middle)).abs() < 1e-9);
        assert!((found.even.unwrap() - low.share).abs() < 1e-9);
        let (from, to) = found.small.unwrap();
        assert!(from < low.share && to > low.share);
    }

    #[test]
    fn what_has_no_end_goes_to_the_edge() {
        let ranges = Ranges {
            rows: vec![
                range(1.1, 0.0, f64::INFINITY),
                range(1.0, 0.9, 1e200),
                range(1.0, f64::NAN, f64::NAN),
                range(f64::NAN, 1.0, 2.0),
            ],
            ..Ranges::default()
        };
        let found = Measured::new(&chart(true), &ranges, 5).unwrap();
        assert_eq!(found.rows.len(), 3);
        let ends = found.rows[0].ends.unwrap();
        assert!(ends[0].open && ends[0].share == 0.0 && ends[1].open && ends[1].share == 1.0);
        let ends = found.rows[1].ends.unwrap();
        assert!(!ends[0].open && ends[1].open);
        assert!(found.rows[2].ends.is_none());
        assert!(found.ruler.upper < 2.0, "{}", found.ruler.upper);
        assert!(Measured::new(&chart(true), &Ranges::default(), 5).is_none());
    }
}
