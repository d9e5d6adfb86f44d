//! Stacked areas: the lines summed from the first up, interval by interval.
//!
//! A line that has no point in an interval adds nothing there (it did not exist); one whose
//! value is NaN makes the sum unknown, and the interval is a gap.

use crate::axis::LARGEST;
use crate::chart::Line;

/// An interval in which every layer is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// The upper edge of each layer, ascending.
    pub(crate) tops: Vec<f64>,
}

/// All slices of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stack {
    /// Ascending; where one's end is not the next's start is a gap.
    pub(crate) slices: Vec<Slice>,
    /// Intervals left out because a part of the sum is not known.
    pub(crate) unknown: usize,
    /// Negative values, which have no place in a sum of areas, taken as zero.
    pub(crate) negative: usize,
    /// Whether several intervals share a column.
    pub(crate) reduced: bool,
}

impl Stack {
    /// The height of the highest slice.
    pub(crate) fn most(&self) -> Option<f64> {
        let tops = self.slices.iter().filter_map(|s| s.tops.last().copied());
        tops.reduce(f64::max)
    }
}

/// Stacks `lines`. Where more intervals than `columns` are in view, each column shows the
/// interval with the largest sum, so that the parts still add up to the whole.
pub(crate) fn stack(lines: &[&Line], seconds: (f64, f64), columns: usize) -> Stack {
    let edges = edges(lines, seconds);
    let columns = columns.max(1);
    let width = (seconds.1 - seconds.0) / columns as f64;
    let mut stack = Stack {
        reduced: edges.len() > 2 * columns,
        ..Stack::default()
    };
    let mut at = vec![0; lines.len()];
    let mut column = None;
    for pair in edges.windows(2) {
        let (mut from, mut to) = (pair[0], pair[1]);
        let Some(tops) = stack.tops(lines, &mut at, from.midpoint(to)) else {
            continue;
        };
        if stack.reduced {
            let this = ((from.midpoint(to) - seconds.0) / width).floor();
            if column == Some(this) {
                if let Some(last) = stack.slices.last_mut()
                    && last.tops.last() < tops.last()
                {
                    last.tops = tops;
                }
                continue;
            }
            column = Some(this);
            from = seconds.0 + this * width;
            to = seconds.0 + (this + 1.0) * width;
        }
        stack.slices.push(Slice { from, to, tops });
    }
    stack
}

impl Stack {
    /// The edges of all layers at a time; `None` if it is a gap. `at` is how far each line
    /// was read.
    fn tops(&mut self, lines: &[&Line], at: &mut [usize], time: f64) -> Option<Vec<f64>> {
        let mut sum = 0.0;
        let mut present = false;
        let mut known = true;
        let mut tops = Vec::with_capacity(lines.len());
        for (line, at) in lines.iter().zip(at) {
            while line.points.get(*at).is_some_and(|p| p.to <= time) {
                *at += 1;
            }
            if let Some(point) = line.points.get(*at)
                && point.from <= time
            {
                present = true;
                if point.value.is_nan() || point.value.abs() > LARGEST {
                    known = false;
                } else if point.value < 0.0 {
                    self.negative += 1;
                } else {
                    sum += point.value;
                }
            }
            tops.push(sum);
        }
        self.unknown += usize::from(present && !known);
        (present && known).then_some(tops)
    }
}

/// Where any line's interval starts or ends. Edges closer than a millionth of the picture
/// are one: clocks of two sources differ by that little.
fn edges(lines: &[&Line], seconds: (f64, f64)) -> Vec<f64> {
    let points = lines.iter().flat_map(|l| &l.points);
    let mut edges: Vec<f64> = points
        .filter(|p| p.to > seconds.0 && p.from < seconds.1)
        .flat_map(|p| [p.from, p.to])
        .map(|t| t.clamp(seconds.0, seconds.1))
        .collect();
    edges.sort_by(f64::total_cmp);
    let least = (seconds.1 - seconds.0) * 1e-6;
    edges.dedup_by(|next, kept| *next - *kept <= least);
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Point;

    fn line(points: &[(f64, f64, f64)]) -> Line {
        let point = |&(from, to, value)| Point { from, to, value };
        Line {
            name: String::new(),
            right: false,
            points: points.iter().map(point).collect(),
            mean: 0.0,
            max: 0.0,
        }
    }

    #[test]
    fn absent_adds_nothing_and_unknown_is_a_gap() {
        let a = line(&[(0.0, 1.0, 1.0), (1.0, 2.0, 2.0), (2.0, 3.0, f64::NAN)]);
        let b = line(&[(1.0, 2.0, 10.0), (2.0, 3.0, 10.0), (4.0, 5.0, -1.0)]);
        let stack = stack(&[&a, &b], (0.0, 5.0), 100);
        let slice = |from, to, tops: [f64; 2]| Slice {
            from,
            to,
            tops: tops.to_vec(),
        };
        assert_eq!(
            stack.slices,
            [
                slice(0.0, 1.0, [1.0, 1.0]),
                slice(1.0, 2.0, [2.0, 12.0]),
                slice(4.0, 5.0, [0.0, 0.0])
            ]
        );
        assert_eq!((stack.unknown, stack.negative), (1, 1));
        assert_eq!(stack.most(), Some(12.0));
    }

    #[test]
    fn a_column_shows_its_largest_sum() {
        let mut points: Vec<_> = (0..1000)
            .map(|i| (f64::from(i), f64::from(i) + 1.0, 1.0))
            .collect();
        points[333].2 = 7.0;
        let (a, b) = (line(&points), line(&points));
        let stack = stack(&[&a, &b], (0.0, 1000.0), 100);
        assert_eq!(stack.slices.len(), 100);
        assert_eq!(stack.slices[33].tops, [7.0, 14.0]);
        assert_eq!(stack.slices[34].tops, [1.0, 2.0]);
    }
}
