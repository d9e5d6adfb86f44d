//! A heat map folded into one distribution: its bars, and where its quantiles are named.

use crate::axis::Ruler;
use crate::chart::{Axis, Chart, Fold, Heat, Mark};
use crate::heat::{self, Extent, Tile};
use crate::plan::amount_of;
use crate::scale::Scale;

/// What is drawn of a distribution.
pub(crate) struct Bars {
    /// From the lowest, as shares of the axis from its lower end.
    pub(crate) bars: Vec<Bar>,
    /// The highest of them.
    pub(crate) most: f64,
}

/// A bar of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) amount: f64,
}

impl Bars {
    /// Each at least `least` wide (a share of the axis). On a log axis all are equally wide:
    /// the buckets are not, and would look like teeth.
    pub(crate) fn new(
        heat: &Heat,
        extent: &Extent,
        ruler: &Ruler,
        seconds: (f64, f64),
        least: f64,
    ) -> Bars {
        let widths = heat.rows.iter().filter(|r| r.0 != 0.0).map(|r| {
            let (from, to) = heat::stretch(ruler, *r);
            if to <= 1.0 { to - from } else { 0.0 }
        });
        let widest = widths.fold(0.0, f64::max).min(0.02);
        let least = match ruler.scale {
            Scale::Linear => least,
            Scale::Log | Scale::Signed { .. } => least.max(widest),
        };
        let tiles = heat::tiles(heat, extent, ruler, seconds, (1.0, least)).all;
        let bar = |tile: Tile| Bar {
            from: tile.y.0,
            to: tile.y.1,
            amount: tile.amount,
        };
        let mut bars: Vec<Bar> = tiles.into_iter().map(bar).collect();
        bars.sort_by(|a, b| a.from.total_cmp(&b.from));
        let most = bars.iter().map(|b| b.amount).fold(0.0, f64::max);
        Bars { bars, most }
    }

    /// The axis of their heights. Where the highest would make most of the others vanish it is
    /// log: a spike at zero is not to hide where the rest is.
    pub(crate) fn ruler(&self, chart: &Chart, heat: &Heat, wanted: usize) -> Ruler {
        let what = amount_of(f64::NAN, chart);
        let mut axis = Axis {
            label: format!("{} per bar", what.trim_start_matches('-').trim()),
            ..heat.amount.clone()
        };
        let mut amounts: Vec<f64> = self.bars.iter().map(|b| b.amount).collect();
        amounts.sort_by(f64::total_cmp);
        let usual = amounts.get(amounts.len() / 2).copied().unwrap_or(0.0);
        if self.most <= MOST_TIMES * usual {
            return Ruler::for_values(&axis, 0.0, self.most, wanted);
        }
        axis.label.push_str(", log");
        // Parts of a whole thing come from buckets spread over two bars.
        let whole = if axis.unit.is_whole() { 1.0 } else { 0.0 };
        let least = amounts
            .first()
            .map_or(1.0, |a| a.max(whole).max(self.most * 1e-6));
        Ruler::between(&axis, least * 0.6, self.most * 1.5, Scale::Log, wanted)
    }
}

/// The highest bar may be so many times as high as the usual one.
const MOST_TIMES: f64 = 60.0;

/// The name of a quantile, in a row above the plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// Where on the axis.
    pub(crate) share: f64,
    /// Where its text begins: further left, where the right end is near.
    pub(crate) start: f64,
    pub(crate) text: String,
    /// 0 is next to the plot.
    pub(crate) row: usize,
}

/// The quantiles in view, in rows so that no name lies on another, nor is crossed by the line
/// of another: names stand to the right of their lines, so that those further left go
/// higher. `text` is what is written, `width` how much of the axis that takes;
/// texts end before `end`.
pub(crate) fn labels(
    fold: &Fold,
    ruler: &Ruler,
    text: impl Fn(&Mark) -> String,
    width: impl Fn(&str) -> f64,
    end: f64,
) -> Vec<Label> {
    let mut marks: Vec<(f64, &Mark)> = fold
        .marks
        .iter()
        .map(|mark| (ruler.share(mark.value), mark))
        .filter(|(share, _)| (0.0..=1.0).contains(share))
        .collect();
    marks.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut labels: Vec<Label> = vec![];
    for (share, mark) in marks {
        let text = text(mark);
        let start = share.min(end - width(&text)).max(0.0);
        let row = match labels.last() {
            Some(right) if start + width(&text) > right.start => right.row + 1,
            _ => 0,
        };
        labels.push(Label {
            share,
            start,
            text,
            row,
        });
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Unit;

    fn heat(cells: &[(f64, f64)]) -> Heat {
        Heat {
            rows: cells.iter().map(|c| (c.0, c.0 * 1.01)).collect(),
            columns: vec![(0.0, 1.0), (1.0, 2.0)],
            cells: (0..cells.len() as u32)
                .flat_map(|r| [(0, r, cells[r as usize].1), (1, r, 1.0)])
                .collect(),
            log: Some(true),
            ..Heat::default()
        }
    }

    fn bars(heat: &Heat, least: f64) -> (Bars, Ruler) {
        let extent = heat::extent(heat, (0.0, 2.0)).unwrap();
        let axis = Axis {
            unit: Unit::Seconds,
            ..Axis::default()
        };
        let ruler = extent.ruler(&axis, 5);
        (Bars::new(heat, &extent, &ruler, (0.0, 2.0), least), ruler)
    }

    #[test]
    fn all_of_it_is_in_the_bars() {
        let heat = heat(&[(1e-4, 50.0), (1.01e-4, 30.0), (1e-2, 7.0)]);
        for least in [0.001, 0.01, 0.2, 1.0] {
            let (found, _) = bars(&heat, least);
            let sum: f64 = found.bars.iter().map(|b| b.amount).sum();
            assert!((sum - 90.0).abs() < 1e-9, "{least}: {sum}");
            assert!(found.bars.windows(2).all(|b| b[0].to <= b[1].from + 1e-9));
            assert!(found.bars.iter().all(|b| b.from >= 0.0 && b.to <= 1.0));
        }
    }

    #[test]
    fn a_spike_makes_the_heights_log() {
        let chart = Chart::default();
        let even = heat(&[(1e-4, 50.0), (1e-3, 30.0), (1e-2, 7.0)]);
        assert_eq!(
            bars(&even, 0.01).0.ruler(&chart, &even, 5).scale,
            Scale::Linear
        );
        let spiked = heat(&[(1e-4, 5000.0), (1e-3, 30.0), (1e-2, 7.0)]);
        let ruler = bars(&spiked, 0.01).0.ruler(&chart, &spiked, 5);
        assert_eq!(ruler.scale, Scale::Log);
        assert!(ruler.heading.ends_with("per bar, log"), "{}", ruler.heading);
        assert!(ruler.share(8.0) > 0.05 && ruler.share(5001.0) < 1.0);
    }

    #[test]
    fn names_keep_apart() {
        let (_, ruler) = bars(&heat(&[(1e-4, 50.0), (1e-1, 30.0)]), 0.01);
        let mark = |name: &str, value: f64| Mark {
            name: name.into(),
            value,
            text: String::new(),
        };
        let fold = Fold {
            marks: vec![
                mark("p50", 1e-4),
                mark("p90", 1.1e-4),
                mark("p99", 1e-2),
                mark("p99.9", 0.1),
                mark("unseen", 5.0),
            ],
            numbers: vec![],
        };
        let text = |mark: &Mark| mark.name.clone();
        let labels = labels(&fold, &ruler, text, |_| 0.1, 1.0);
        let rows: Vec<_> = labels.iter().map(|l| (l.text.as_str(), l.row)).collect();
        assert_eq!(rows, [("p99.9", 0), ("p99", 0), ("p90", 0), ("p50", 1)]);
        assert!(labels[0].start <= 0.9 && labels[0].share > 0.9);
    }
}
