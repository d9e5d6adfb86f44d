//! Filled pictures in the terminal: two samples to a character, as half blocks in colour;
//! one sample, as marks or densities, without.

use std::cmp::Ordering;

use crate::chart::Chart;
use crate::heat::{self, Shades, Tiles};
use crate::palette::{self, Rgb};
use crate::plan::{Plan, amount_of, per_cell};
use crate::text::shorten;

use super::canvas::Canvas;
use super::frame::Frame;
use super::{Colour, mark};

/// From nothing to most, for terminals without colour.
const DENSITIES: [char; 9] = ['.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// What fills a sample: a colour, and a character where there are none.
type Sample = Option<(Rgb, char)>;

/// Draws samples, `up` to a character, from the lowest row up.
fn fill(
    canvas: &mut Canvas,
    frame: &Frame,
    colour: Colour,
    sample: impl Fn(usize, usize) -> Sample,
) {
    for y in 0..frame.plot_height {
        for x in 0..frame.plot_width {
            let at = (frame.left + 1 + x, frame.top + frame.plot_height - 1 - y);
            if colour == Colour::None {
                if let Some((_, glyph)) = sample(x, y) {
                    canvas.put(at, glyph, None);
                }
                continue;
            }
            let (low, high) = (sample(x, 2 * y), sample(x, 2 * y + 1));
            match (low.map(|s| s.0), high.map(|s| s.0)) {
                (None, None) => {}
                (Some(low), None) => canvas.put(at, '▄', Some(low)),
                (None, Some(high)) => canvas.put(at, '▀', Some(high)),
                (Some(low), Some(high)) if low == high => canvas.put(at, '█', Some(low)),
                (low, high) => canvas.paint(at, '▄', low, high),
            }
        }
    }
}

/// Samples to a character, upwards.
fn samples(colour: Colour) -> usize {
    if colour == Colour::None { 1 } else { 2 }
}

/// The layers of a stack.
pub(super) fn areas(canvas: &mut Canvas, frame: &Frame, plan: &Plan, colour: Colour) {
    let Some(stack) = &plan.stack else {
        return;
    };
    let areas: Vec<usize> = (0..plan.legend.len())
        .filter(|i| plan.legend[*i].area)
        .collect();
    let rows = frame.plot_height * samples(colour);
    let step = (plan.seconds.1 - plan.seconds.0) / frame.plot_width as f64;
    // The highest slice of each column, as in a reduced stack; borders do not count.
    let slices: Vec<_> = (0..frame.plot_width)
        .map(|x| {
            let from = plan.seconds.0 + step * (x as f64 + 1e-3);
            let to = from + step * 0.998;
            let after = stack.slices.partition_point(|s| s.to <= from);
            let seen = stack.slices[after..].iter().take_while(|s| s.from < to);
            seen.max_by(|a, b| {
                a.tops
                    .last()
                    .partial_cmp(&b.tops.last())
                    .unwrap_or(Ordering::Equal)
            })
        })
        .collect();
    fill(canvas, frame, colour, |x, y| {
        let share = (y as f64 + 0.5) / rows as f64;
        let value = plan.left.lower + share * (plan.left.upper - plan.left.lower);
        let tops = &slices[x]?.tops;
        let layer = tops.iter().position(|top| *top > value)?;
        let entry = *areas.get(layer)?;
        Some((plan.legend[entry].colour, mark(plan, entry, colour)))
    });
}

/// The cells of a heat map, and the meaning of their colours in the row below the axes.
pub(super) fn heat(canvas: &mut Canvas, frame: &Frame, chart: &Chart, plan: &Plan, colour: Colour) {
    let (Some(heat), Some(extent)) = (&chart.heat, &plan.extent) else {
        return;
    };
    let (width, height) = (frame.plot_width, frame.plot_height * samples(colour));
    let least = (1.0 / width as f64, 1.0 / height as f64);
    let tiles = heat::tiles(heat, extent, &plan.left, plan.seconds, least);
    let shades = Shades::of(&tiles.all, heat.amount.unit.is_whole());
    let mut amounts = vec![0.0; width * height];
    for tile in &tiles.all {
        for y in covered(tile.y, height) {
            for x in covered(tile.x, width) {
                amounts[y * width + x] += tile.amount;
            }
        }
    }
    fill(canvas, frame, colour, |x, y| {
        let amount = amounts[y * width + x];
        (amount > 0.0).then(|| shade(&shades, amount))
    });
    scale(canvas, frame, chart, &shades, &tiles, colour);
}

/// The samples whose middle lies between two shares; without one, that in which they lie.
fn covered((from, to): (f64, f64), count: usize) -> std::ops::Range<usize> {
    let sample = |share: f64| (share * count as f64 + 0.499_999).max(0.0) as usize;
    let (start, end) = (sample(from), sample(to).min(count));
    if start < end {
        return start..end;
    }
    let middle = (from.midpoint(to) * count as f64).max(0.0) as usize;
    let start = middle.min(count - 1);
    start..start + 1
}

fn shade(shades: &Shades, amount: f64) -> (Rgb, char) {
    let share = shades.share(amount);
    let density = (share * (DENSITIES.len() - 1) as f64).round() as usize;
    (
        palette::heat_in_terminal(share),
        DENSITIES[density.min(DENSITIES.len() - 1)],
    )
}

/// `1 ▁▂▃ 178 I/Os per cell of 1.00 s`, in the cells' own colours or densities.
fn scale(
    canvas: &mut Canvas,
    frame: &Frame,
    chart: &Chart,
    shades: &Shades,
    tiles: &Tiles,
    colour: Colour,
) {
    let Some(heat) = chart.heat.as_ref().filter(|_| !tiles.all.is_empty()) else {
        return;
    };
    let y = frame.below();
    let print = |share| run::unit::amount(shades.amount(share), heat.amount.unit, heat.amount.rate);
    let fainter = if shades.fainter { "<= " } else { "" };
    let mut x = canvas.text((0, y), &format!("{fainter}{} ", print(0.0)), None);
    for i in 0..DENSITIES.len() {
        let share = i as f64 / (DENSITIES.len() - 1) as f64;
        let (rgb, density) = shade(shades, shades.amount(share));
        let glyph = if colour == Colour::None {
            density
        } else {
            '█'
        };
        canvas.put((x, y), glyph, Some(rgb));
        x += 1;
    }
    let kind = if shades.log { ", log" } else { "" };
    let most = amount_of(shades.most, chart);
    let text = format!(" {most} {}{kind}", per_cell(tiles.seconds));
    canvas.text((x, y), &shorten(&text, frame.width.saturating_sub(x)), None);
}
