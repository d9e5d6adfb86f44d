//! From points to the strokes of a line: gaps lift the pen, and where several points share
//! a pixel column the least and the largest stay, so that peaks are seen.

use crate::axis::Ruler;
use crate::chart::Point;

/// A stroke without a gap: x in columns from the left, y as share of the axis.
pub(crate) type Stroke = Vec<(f64, f64)>;

/// Intervals at least this many columns wide are drawn as steps, narrower ones as a line
/// through their middles.
const STEP_COLUMNS: f64 = 10.0;

/// The strokes of `points` on `columns` columns. Points that have no place on the axis
/// (NaN; not positive on a log axis) are gaps.
pub(crate) fn strokes(
    points: &[Point],
    seconds: (f64, f64),
    ruler: &Ruler,
    columns: f64,
) -> Vec<Stroke> {
    let scale = columns / (seconds.1 - seconds.0);
    if !(scale > 0.0 && scale.is_finite()) {
        return vec![];
    }
    let seen: Vec<_> = points
        .iter()
        .filter(|p| p.to >= p.from && p.to > seconds.0 && p.from < seconds.1)
        .map(|p| Place {
            from: ((p.from - seconds.0) * scale).clamp(0.0, columns),
            to: ((p.to - seconds.0) * scale).clamp(0.0, columns),
            y: ruler.share(p.value),
        })
        .collect();
    if seen.len() as f64 > 2.0 * columns {
        dense(&seen)
    } else {
        let width: f64 = seen.iter().map(|p| p.to - p.from).sum();
        sparse(&seen, width >= STEP_COLUMNS * seen.len() as f64)
    }
}

/// A point in columns.
#[derive(Clone, Copy)]
struct Place {
    from: f64,
    to: f64,
    y: f64,
}

fn sparse(places: &[Place], steps: bool) -> Vec<Stroke> {
    let mut strokes: Vec<Stroke> = vec![];
    let mut run: Vec<Place> = vec![];
    for place in places {
        let gap = run
            .last()
            .is_some_and(|last| place.from - last.to > (place.to - place.from) / 2.0);
        if gap || place.y.is_nan() {
            strokes.extend(stroke(&run, steps));
            run.clear();
        }
        if !place.y.is_nan() {
            run.push(*place);
        }
    }
    strokes.extend(stroke(&run, steps));
    strokes
}

/// One stroke through a run of places; a lone one is as long as its interval, and long
/// enough to be seen.
fn stroke(run: &[Place], steps: bool) -> Option<Stroke> {
    let first = run.first()?;
    if run.len() == 1 {
        return Some(vec![
            (first.from, first.y),
            (first.to.max(first.from + 1.0), first.y),
        ]);
    }
    if steps {
        return Some(
            run.iter()
                .flat_map(|p| [(p.from, p.y), (p.to, p.y)])
                .collect(),
        );
    }
    let last = run[run.len() - 1];
    let middles = run.iter().map(|p| (p.from.midpoint(p.to), p.y));
    Some(
        // To the edges of the time it covers, or the first and last half intervals would
        // look like gaps.
        std::iter::once((first.from, first.y))
            .chain(middles)
            .chain([(last.to, last.y)])
            .collect(),
    )
}

/// Least and largest of a column, in the order they came.
struct Column {
    at: f64,
    low: f64,
    high: f64,
    low_first: bool,
}

impl Column {
    fn push_to(self, stroke: &mut Stroke) {
        if self.low == self.high {
            stroke.push((self.at + 0.5, self.low));
        } else if self.low_first {
            stroke.extend([(self.at + 0.25, self.low), (self.at + 0.75, self.high)]);
        } else {
            stroke.extend([(self.at + 0.25, self.high), (self.at + 0.75, self.low)]);
        }
    }
}

/// A gap narrower than half a column cannot be seen and does not lift the pen.
fn dense(places: &[Place]) -> Vec<Stroke> {
    let mut strokes: Vec<Stroke> = vec![];
    let mut stroke: Stroke = vec![];
    let mut column: Option<Column> = None;
    let mut covered = f64::NEG_INFINITY;
    for place in places.iter().filter(|p| !p.y.is_nan()) {
        let at = place.from.midpoint(place.to).floor();
        let gap = place.from - covered >= 0.5;
        if column.as_ref().is_some_and(|c| gap || c.at != at)
            && let Some(done) = column.take()
        {
            done.push_to(&mut stroke);
        }
        if gap && !stroke.is_empty() {
            strokes.push(finish(std::mem::take(&mut stroke)));
        }
        covered = place.to;
        let c = column.get_or_insert(Column {
            at,
            low: place.y,
            high: place.y,
            low_first: true,
        });
        if place.y > c.high {
            (c.high, c.low_first) = (place.y, true);
        } else if place.y < c.low {
            (c.low, c.low_first) = (place.y, false);
        }
    }
    if let Some(done) = column {
        done.push_to(&mut stroke);
    }
    if !stroke.is_empty() {
        strokes.push(finish(stroke));
    }
    strokes
}

/// A stroke of one point would not be drawn.
fn finish(mut stroke: Stroke) -> Stroke {
    if let [only] = stroke[..] {
        stroke.push((only.0 + 0.5, only.1));
    }
    stroke
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;
    use crate::scale::Scale;

    fn points(values: &[f64]) -> Vec<Point> {
        let point = |(i, value): (usize, &f64)| Point {
            from: i as f64,
            to: i as f64 + 1.0,
            value: *value,
        };
        values.iter().enumerate().map(point).collect()
    }

    fn ruler(lower: f64, upper: f64, log: bool) -> Ruler {
        let scale = if log { Scale::Log } else { Scale::Linear };
        Ruler::between(&Axis::default(), lower, upper, scale, 5)
    }

    #[test]
    fn gaps_lift_the_pen() {
        let mut some = points(&[1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0]);
        some.remove(4);
        let strokes = strokes(&some, (0.0, 6.0), &ruler(0.0, 10.0, false), 6.0);
        assert_eq!(
            strokes,
            [
                vec![(0.0, 0.1), (0.5, 0.1), (1.5, 0.2), (2.0, 0.2)],
                vec![(3.0, 0.3), (4.0, 0.3)],
                vec![(5.0, 0.5), (6.0, 0.5)],
            ]
        );
    }

    #[test]
    fn wide_intervals_are_steps() {
        let strokes = strokes(
            &points(&[1.0, 2.0]),
            (0.0, 2.0),
            &ruler(0.0, 10.0, false),
            100.0,
        );
        assert_eq!(
            strokes,
            [vec![(0.0, 0.1), (50.0, 0.1), (50.0, 0.2), (100.0, 0.2)]]
        );
    }

    #[test]
    fn a_lone_short_point_is_seen() {
        let one = [Point {
            from: 50.0,
            to: 50.001,
            value: 5.0,
        }];
        let strokes = strokes(&one, (0.0, 100.0), &ruler(0.0, 10.0, false), 100.0);
        assert_eq!(strokes, [vec![(50.0, 0.5), (51.0, 0.5)]]);
    }

    #[test]
    fn a_log_axis_leaves_out_zero() {
        let strokes = strokes(
            &points(&[1.0, 0.0, 100.0]),
            (0.0, 3.0),
            &ruler(1.0, 100.0, true),
            3.0,
        );
        assert_eq!(
            strokes,
            [vec![(0.0, 0.0), (1.0, 0.0)], vec![(2.0, 1.0), (3.0, 1.0)]]
        );
    }

    #[test]
    fn peaks_and_gaps_survive_reduction() {
        let mut values = vec![1.0; 86400];
        values[40_000] = 10.0;
        values[60_000..61_000].fill(f64::NAN);
        let strokes = strokes(
            &points(&values),
            (0.0, 86400.0),
            &ruler(0.0, 10.0, false),
            800.0,
        );
        assert_eq!(strokes.len(), 2, "one gap");
        let all: Vec<_> = strokes.iter().flatten().collect();
        assert!(all.len() <= 1600, "{}", all.len());
        let peak = all.iter().find(|p| p.1 == 1.0).unwrap();
        assert!((peak.0 - 40_000.0 / 108.0).abs() < 1.0);
        let gap = (strokes[0].last().unwrap().0, strokes[1][0].0);
        assert!(
            (gap.0 - 555.5).abs() < 1.5 && (gap.1 - 564.8).abs() < 1.5,
            "{gap:?}"
        );
    }
}
