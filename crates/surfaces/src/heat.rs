//! Heat maps, apart from drawing: the range of the axis, what lies above it, and cells
//! merged until they are large enough to see.

use crate::axis::Ruler;
use crate::chart::{Axis, Heat};
use crate::scale::{Scale, Span};

/// The scale of a heat map and what it does not show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) span: Span,
    /// The amount above it, and all there is.
    pub(crate) above: f64,
    pub(crate) total: f64,
    /// The upper bound of the highest bucket with anything in it; may be infinite.
    pub(crate) highest: f64,
}

/// The cells in view that exist and hold a positive amount: column, row, amount.
fn filled(heat: &Heat, seconds: (f64, f64)) -> impl Iterator<Item = (usize, usize, f64)> {
    heat.cells
        .iter()
        .map(|&(c, r, amount)| (c as usize, r as usize, amount))
        .filter(move |&(c, r, amount)| {
            amount > 0.0
                && amount < crate::axis::LARGEST
                && heat
                    .rows
                    .get(r)
                    .is_some_and(|r| r.1 > r.0 && r.0.is_finite())
                && heat
                    .columns
                    .get(c)
                    .is_some_and(|c| c.1 > seconds.0 && c.0 < seconds.1)
        })
}

/// Outliers are left out if the axis gets shorter by this share.
const LEAST_SAVED: f64 = 0.1;

/// The range of rows that shows all but the allowed outliers; `None` without any amount.
pub(crate) fn extent(heat: &Heat, seconds: (f64, f64)) -> Option<Extent> {
    let mut of_row = vec![0.0; heat.rows.len()];
    for (_, row, amount) in filled(heat, seconds) {
        of_row[row] += amount;
    }
    let total: f64 = of_row.iter().sum();
    let first = of_row.iter().position(|a| *a > 0.0)?;
    let last = of_row.iter().rposition(|a| *a > 0.0)?;
    let allowed = total * heat.outliers.clamp(0.0, 0.05);
    let (mut top, mut above) = (last, 0.0);
    let endless = |row: usize| heat.rows[row].1 > crate::axis::LARGEST;
    while top > first && (endless(top) || above + of_row[top] <= allowed) {
        above += of_row[top];
        top -= 1;
    }
    let span_to = |top: usize| {
        let mut seen: Vec<(f64, f64)> = (first..=top)
            .filter(|r| of_row[*r] > 0.0)
            .map(|r| heat.rows[r])
            .collect();
        if endless(top)
            && let Some(bucket) = seen.last_mut()
        {
            // All there is lies in the bucket without an end.
            bucket.1 = bucket.0;
        }
        Span::of(&seen, heat.log, heat.places)
    };
    let mut span = span_to(top);
    if !endless(last) {
        // What would take little of the axis is not worth leaving out.
        let whole = span_to(last);
        if whole.share(span.upper) > 1.0 - LEAST_SAVED {
            span = whole;
        }
    }
    // Where there is room above, it is not left empty.
    let hidden = |r: &usize| heat.rows[*r].1 > span.upper;
    Some(Extent {
        span,
        above: (first..=last).filter(hidden).map(|r| of_row[r]).sum(),
        total,
        highest: heat.rows[last].1,
    })
}

impl Extent {
    /// The axis of the rows.
    pub(crate) fn ruler(&self, axis: &Axis, wanted: usize) -> Ruler {
        let Span {
            lower,
            upper,
            scale,
        } = self.span;
        // A little room, so that the highest cells do not touch the frame, nor those at the lower end of a
        // log axis, which may be as thin as its line.
        let (lower, upper) = match scale {
            Scale::Linear => (lower, upper + (upper - lower) * 0.01),
            Scale::Log => {
                let room = (upper / lower).powf(0.01);
                (lower / room, upper * room)
            }
            Scale::Signed { least, .. } => {
                let room = |end: f64| end * (end.abs() / least).max(1.0).powf(0.01);
                (room(lower), room(upper))
            }
        };
        Ruler::between(axis, lower, upper, scale, wanted)
    }
}

/// A rectangle of one amount; bounds are shares of the plot, from the left and from below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    pub(crate) amount: f64,
}

/// The tiles of a heat map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tiles {
    /// Row by row.
    pub(crate) all: Vec<Tile>,
    /// For how long a time a cell stands, in seconds: the amount of one that is of another time is what it
    /// would be in this.
    pub(crate) seconds: f64,
}

/// An interval whose length differs by less is as long as the others.
const ALIKE: f64 = 0.1;

/// How an axis is cut into cells.
enum Cells {
    /// As the buckets in view are, from this one on.
    Given(usize, Vec<(f64, f64)>),
    /// Into so many equal ones; buckets are spread over them by how much they overlap.
    Even(usize),
}

impl Cells {
    /// Buckets as they are if each in view is at least `least` long (a share), or has room for
    /// that.
    fn of(buckets: &[(f64, f64)], least: f64) -> Cells {
        let in_view = |b: &(f64, f64)| b.1 > 0.0 && b.0 < 1.0;
        let first = buckets.iter().position(in_view).unwrap_or(0);
        let end = buckets
            .iter()
            .rposition(in_view)
            .map_or(first, |last| last + 1);
        let seen = &buckets[first..end];
        // Narrow ones that stand apart are drawn wider, rather than spread over two cells.
        let room = |pair: &[(f64, f64)]| pair[1].0 - pair[0].0 >= least;
        let wide = seen.iter().all(|b| b.1 - b.0 >= least);
        if seen.len() <= 8192 && (wide || seen.windows(2).all(room)) {
            let cell = |b: &(f64, f64)| (b.0, b.1.max(b.0 + least));
            return Cells::Given(first, seen.iter().map(cell).collect());
        }
        // A rounding error is not to cost a cell.
        Cells::Even((1.0 / least + 1e-6).floor().clamp(1.0, 8192.0) as usize)
    }

    fn count(&self) -> usize {
        match self {
            Cells::Given(_, seen) => seen.len(),
            Cells::Even(n) => *n,
        }
    }

    fn bounds(&self, i: usize) -> (f64, f64) {
        match self {
            Cells::Given(_, seen) => (seen[i].0.max(0.0), seen[i].1.min(1.0)),
            Cells::Even(n) => (i as f64 / *n as f64, (i + 1) as f64 / *n as f64),
        }
    }

    /// The cells bucket `i` with these bounds falls in, and the part that falls in each.
    fn parts(&self, i: usize, (from, to): (f64, f64)) -> Vec<(usize, f64)> {
        if !(to > 0.0 && from < 1.0) {
            return vec![];
        }
        match self {
            Cells::Given(first, _) => vec![(i - first, 1.0)],
            Cells::Even(n) => {
                let n = *n as f64;
                // What a bucket has outside the plot belongs to its cells at the border.
                let (from, to) = (from.clamp(0.0, 1.0) * n, to.clamp(0.0, 1.0) * n);
                let whole = (to - from).max(1e-12);
                let cell = |c: usize| {
                    let overlap = to.min(c as f64 + 1.0) - from.max(c as f64);
                    (c, (overlap / whole).clamp(0.0, 1.0))
                };
                let last = (to.ceil().min(n) as usize).max(from as usize + 1);
                (from as usize..last.min(n as usize)).map(cell).collect()
            }
        }
    }
}

/// Where a bucket lies on an axis, as shares of it.
pub(crate) fn stretch(ruler: &Ruler, bucket: (f64, f64)) -> (f64, f64) {
    let (from, to) = ruler.scale.zero_band(bucket).unwrap_or(bucket);
    let low = ruler.share(from);
    // A log axis has no place for its lower end.
    let low = if low.is_nan() && from <= 0.0 {
        0.0
    } else {
        low
    };
    (low, ruler.share(to))
}

/// The cells of a heat map, each at least `least` wide and high (shares of the plot),
/// except empty ones.
pub(crate) fn tiles(
    heat: &Heat,
    extent: &Extent,
    ruler: &Ruler,
    seconds: (f64, f64),
    least: (f64, f64),
) -> Tiles {
    let span = seconds.1 - seconds.0;
    let share = |t: f64| (t - seconds.0) / span;
    let columns: Vec<_> = heat
        .columns
        .iter()
        .map(|c| (share(c.0), share(c.1)))
        .collect();
    let rows: Vec<_> = heat.rows.iter().map(|r| stretch(ruler, *r)).collect();
    let across = Cells::of(&columns, least.0);
    let up = Cells::of(&rows, least.1);
    let width = across.count();
    let lengths: Vec<f64> = match &across {
        Cells::Given(first, seen) => {
            let columns = heat.columns[*first..].iter().take(seen.len());
            columns.map(|c| c.1 - c.0).collect()
        }
        Cells::Even(_) => vec![],
    };
    let usual = median(&lengths).unwrap_or(span / width as f64);
    // A short interval is not to look as if little had happened in it.
    let to_usual = |x: usize| match lengths.get(x) {
        Some(length) if *length > 0.0 && (length - usual).abs() > ALIKE * usual => usual / length,
        _ => 1.0,
    };
    let mut amounts = vec![0.0; width * up.count()];
    // Zero's band stands for one value, however many cells high it is.
    let is_zero: Vec<bool> = heat
        .rows
        .iter()
        .map(|r| ruler.scale.zero_band(*r).is_some())
        .collect();
    // The same for all cells of a bucket, of which there may be thousands.
    let parts = |cells: &Cells, buckets: &[(f64, f64)]| -> Vec<Vec<(usize, f64)>> {
        let buckets = buckets.iter().enumerate();
        buckets.map(|(i, bounds)| cells.parts(i, *bounds)).collect()
    };
    let (along, high) = (parts(&across, &columns), parts(&up, &rows));
    let mut zeros = vec![0.0; width];
    let mut band = (0.0, 0.0);
    for (c, r, amount) in filled(heat, seconds) {
        // What ends above the axis is told as an outlier, not drawn.
        if heat.rows[r].1 > extent.span.upper {
            continue;
        }
        let along = &along[c];
        if is_zero[r] {
            band = rows[r];
            along
                .iter()
                .for_each(|(x, part)| zeros[*x] += amount * part);
            continue;
        }
        for (y, part) in &high[r] {
            for (x, part_x) in along {
                amounts[y * width + x] += amount * part * part_x;
            }
        }
    }
    let cells = amounts.iter().enumerate();
    let cells = cells.map(|(i, amount)| (i % width, up.bounds(i / width), *amount));
    let zeros = zeros.iter().enumerate().map(|(x, a)| (x, band, *a));
    let all = cells
        .chain(zeros)
        .filter(|(_, _, amount)| *amount > 0.0)
        .map(|(x, y, amount)| Tile {
            x: across.bounds(x),
            y,
            amount: amount * to_usual(x),
        })
        .collect();
    Tiles {
        all,
        seconds: usual,
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The times in which something lies above the axis.
pub(crate) fn columns_above(heat: &Heat, extent: &Extent, seconds: (f64, f64)) -> Vec<(f64, f64)> {
    let mut columns: Vec<_> = filled(heat, seconds)
        .filter(|&(_, r, _)| heat.rows[r].1 > extent.span.upper)
        .map(|(c, _, _)| c)
        .collect();
    columns.sort_unstable();
    columns.dedup();
    columns.into_iter().map(|c| heat.columns[c]).collect()
}

/// From amounts to shares of the palette.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shades {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) log: bool,
    /// Whether some cells hold less than `least`.
    pub(crate) fainter: bool,
}

impl Shades {
    /// Over the amounts of these tiles. Log if they span more than a factor of 30: else all
    /// but the busiest cells would look empty. Where buckets were spread over several cells,
    /// parts of a `whole` thing do not stretch the palette.
    pub(crate) fn of(tiles: &[Tile], whole: bool) -> Shades {
        let amounts = || tiles.iter().map(|t| t.amount);
        let most = amounts().fold(0.0, f64::max);
        let floor = if whole && most > 1.0 {
            1.0
        } else {
            most * 1e-4
        };
        let smallest = amounts().fold(most, f64::min);
        let least = smallest.max(floor);
        let log = most > 30.0 * least;
        Shades {
            least: if log { least } else { 0.0 },
            most,
            log,
            fainter: log && smallest < least,
        }
    }

    pub(crate) fn share(&self, amount: f64) -> f64 {
        let share = if self.log {
            (amount / self.least).ln() / (self.most / self.least).ln()
        } else {
            amount / self.most
        };
        if share.is_nan() {
            1.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }

    /// The amount at a share of the palette.
    pub(crate) fn amount(&self, share: f64) -> f64 {
        if self.log {
            self.least * (self.most / self.least).powf(share)
        } else {
            self.least + (self.most - self.least) * share
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Unit;

    fn heat(outliers: f64) -> Heat {
        Heat {
            rows: vec![
                (0.0, 1.0),
                (1.0, 2.0),
                (2.0, 4.0),
                (4.0, 8.0),
                (8.0, 1000.0),
            ],
            columns: vec![(0.0, 1.0), (1.0, 2.0)],
            cells: vec![
                (0, 1, 50.0),
                (1, 1, 40.0),
                (0, 3, 9.0),
                (1, 4, 1.0),
                (7, 9, 3.0),
            ],
            outliers,
            ..Heat::default()
        }
    }

    #[test]
    fn outliers_are_counted_not_lost() {
        let all = extent(&heat(0.0), (0.0, 2.0)).unwrap();
        assert_eq!((all.span.upper, all.above), (1000.0, 0.0));
        assert_eq!(all.span.scale, Scale::Log);
        let most = extent(&heat(0.01), (0.0, 2.0)).unwrap();
        assert_eq!(
            (most.span.upper, most.above, most.total, most.highest),
            (8.0, 1.0, 100.0, 1000.0)
        );
        assert_eq!(most.span.scale, Scale::Linear);
        assert_eq!(columns_above(&heat(0.01), &most, (0.0, 2.0)), [(1.0, 2.0)]);
        assert_eq!(extent(&Heat::default(), (0.0, 2.0)), None);
    }

    #[test]
    fn merging_keeps_the_whole_amount() {
        let heat = heat(0.01);
        let extent = extent(&heat, (0.0, 2.0)).unwrap();
        let ruler = extent.ruler(
            &Axis {
                unit: Unit::Seconds,
                ..Axis::default()
            },
            5,
        );
        for least in [(0.001, 0.001), (0.5, 0.3), (1.0, 1.0), (0.013, 0.17)] {
            let tiles = tiles(&heat, &extent, &ruler, (0.0, 2.0), least).all;
            let sum: f64 = tiles.iter().map(|t| t.amount).sum();
            assert!((sum - 99.0).abs() < 1e-9, "{least:?}: {sum}");
            assert!(tiles.iter().all(|t| t.y.1 <= 1.0 && t.x.1 <= 1.0));
        }
        let exact = tiles(&heat, &extent, &ruler, (0.0, 2.0), (0.001, 0.001)).all;
        assert_eq!(exact.len(), 3);
        assert_eq!(exact[0].amount, 50.0);
        assert_eq!(exact[0].x, (0.0, 0.5));
    }

    /// The same rate has the same colour, however long the interval.
    #[test]
    fn a_short_interval_is_drawn_by_its_rate() {
        let heat = Heat {
            rows: vec![(1.0, 2.0), (2.0, 3.0)],
            columns: vec![(0.0, 1.0), (1.0, 1.25), (1.25, 2.25), (2.25, 3.27)],
            cells: vec![(0, 0, 40.0), (1, 0, 10.0), (2, 1, 40.0), (3, 1, 41.0)],
            log: Some(false),
            ..Heat::default()
        };
        let extent = extent(&heat, (0.0, 3.27)).unwrap();
        let ruler = extent.ruler(&Axis::default(), 5);
        let tiles = tiles(&heat, &extent, &ruler, (0.0, 3.27), (0.001, 0.1));
        let amounts: Vec<f64> = tiles.all.iter().map(|t| t.amount).collect();
        assert_eq!(amounts, [40.0, 40.0, 40.0, 41.0]);
        assert_eq!(tiles.seconds, 1.0);
    }

    /// However many cells zero's band covers, its colour is that of all of it; and nothing is
    /// lost on either side.
    #[test]
    fn zero_keeps_its_amount_on_a_log_axis() {
        let heat = Heat {
            rows: vec![(-8256.0, -8192.0), (0.0, 1.0), (4096.0, 4160.0)],
            columns: vec![(0.0, 1.0)],
            cells: vec![(0, 0, 5.0), (0, 1, 70.0), (0, 2, 9.0)],
            log: Some(true),
            ..Heat::default()
        };
        let extent = extent(&heat, (0.0, 1.0)).unwrap();
        let ruler = extent.ruler(&Axis::default(), 5);
        for least in [0.001, 0.02, 0.1] {
            let tiles = tiles(&heat, &extent, &ruler, (0.0, 1.0), (1.0, least)).all;
            let sum: f64 = tiles.iter().map(|t| t.amount).sum();
            assert!((sum - 84.0).abs() < 1e-9, "{least}: {tiles:?}");
            let zero = ruler.share(0.0);
            let at_zero = |t: &&Tile| t.y.0 <= zero && zero <= t.y.1 && t.amount == 70.0;
            assert_eq!(tiles.iter().filter(at_zero).count(), 1, "{tiles:?}");
            assert!(
                tiles.iter().all(|t| t.y.0 >= 0.0 && t.y.1 <= 1.0),
                "{tiles:?}"
            );
        }
        let told: Vec<_> = ruler.ticks.iter().map(|t| t.text.as_str()).collect();
        assert!(
            told.contains(&"0") && told.iter().any(|t| t.starts_with('-')),
            "{told:?}"
        );
    }

    /// A last bucket that would take little of the axis is not left out of it.
    #[test]
    fn outliers_are_left_out_only_where_it_helps() {
        let heat = |highest: f64| Heat {
            rows: vec![(1.0, 1.01), (100.0, 101.0), (highest, highest * 1.01)],
            columns: vec![(0.0, 1.0)],
            cells: vec![(0, 0, 5000.0), (0, 1, 5000.0), (0, 2, 1.0)],
            log: Some(true),
            outliers: 0.001,
            ..Heat::default()
        };
        assert_eq!(extent(&heat(120.0), (0.0, 1.0)).unwrap().above, 0.0);
        let far = extent(&heat(10_000.0), (0.0, 1.0)).unwrap();
        assert_eq!((far.above, far.span.upper), (1.0, 101.0));
    }

    #[test]
    fn shades_end_at_the_ends() {
        let tile = |amount| Tile {
            x: (0.0, 1.0),
            y: (0.0, 1.0),
            amount,
        };
        let shades = Shades::of(&[tile(0.1), tile(1.0), tile(10_000.0)], true);
        assert_eq!((shades.share(1.0), shades.share(10_000.0)), (0.0, 1.0));
        assert!(shades.fainter && shades.share(0.1) == 0.0);
        assert!((shades.amount(0.5) - 100.0).abs() < 1e-9);
        let one = Shades::of(&[tile(5.0)], true);
        assert_eq!(
            (one.log, one.share(5.0), one.amount(0.0)),
            (false, 1.0, 0.0)
        );
    }
}
