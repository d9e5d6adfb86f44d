//! The cells of a heat map, its colour scale, and what lies above its axis.

use std::fmt::Write as _;

use crate::chart::{Chart, Heat};
use crate::heat::{self, Extent, Shades, Tile};
use crate::palette;
use crate::plan::{Plan, amount_of, per_cell};
use crate::text::{em, fit};

use super::frame::Frame;
use super::write::{Anchor, Svg, hex, number};
use super::{ALARM, FAINT, INK, style};

/// Shades drawn apart; finer ones look the same.
const SHADES: usize = 24;
/// Rectangles an SVG may have: about 12 bytes each.
const MOST_RECTANGLES: usize = 30_000;

/// Draws the cells and returns what their colours mean, and for how many seconds a cell stands.
pub(super) fn draw(
    svg: &mut Svg,
    frame: &Frame,
    chart: &Chart,
    plan: &Plan,
) -> Option<(Shades, f64)> {
    let (heat, extent) = (chart.heat.as_ref()?, plan.extent.as_ref()?);
    let mut pixels = 2.0;
    let (shades, runs, seconds) = loop {
        let least = (pixels / frame.plot_width(), pixels / frame.plot_height());
        let tiles = heat::tiles(heat, extent, &plan.left, plan.seconds, least);
        let shades = Shades::of(&tiles.all, heat.amount.unit.is_whole());
        let runs = runs(&tiles.all, &shades);
        if runs.len() <= MOST_RECTANGLES || pixels > 64.0 {
            break (shades, runs, tiles.seconds);
        }
        pixels += 1.0;
    };
    for shade in 0..SHADES {
        let mut d = String::new();
        for run in runs.iter().filter(|r| r.0 == shade) {
            rectangle(&mut d, frame, &run.1);
        }
        if !d.is_empty() {
            let share = shade as f64 / (SHADES - 1) as f64;
            svg.fill(&d, palette::heat(share), true);
        }
    }
    Some((shades, seconds))
}

/// Neighbours of one shade in one rectangle.
fn runs(tiles: &[Tile], shades: &Shades) -> Vec<(usize, Tile)> {
    let mut runs: Vec<(usize, Tile)> = vec![];
    for tile in tiles {
        let shade = (shades.share(tile.amount) * (SHADES - 1) as f64).round() as usize;
        if let Some((last_shade, last)) = runs.last_mut()
            && *last_shade == shade
            && last.y == tile.y
            && (last.x.1 - tile.x.0).abs() < 1e-9
        {
            last.x.1 = tile.x.1;
        } else {
            runs.push((shade, *tile));
        }
    }
    runs
}

/// On whole pixels, so that neighbours neither overlap nor leave a seam.
fn rectangle(d: &mut String, frame: &Frame, tile: &Tile) {
    let x = |share: f64| (frame.left + share * frame.plot_width()).round();
    let (left, right) = (x(tile.x.0), x(tile.x.1).max(x(tile.x.0) + 1.0));
    let (top, bottom) = (frame.y(tile.y.1).round(), frame.y(tile.y.0).round());
    let (w, h) = (number(right - left), number((bottom - top).max(1.0)));
    // Writing to a String cannot fail.
    let _ = write!(d, "M{} {}h{w}v{h}h-{w}z", number(left), number(top));
}

/// Says how much is above the axis, and marks when.
pub(super) fn above(svg: &mut Svg, frame: &Frame, chart: &Chart, plan: &Plan) {
    let (Some(heat), Some(extent)) = (&chart.heat, &plan.extent) else {
        return;
    };
    let e = frame.em;
    let beside = frame.plot_width() / e - em(&plan.left.heading) - 2.0;
    // Beside the axis heading, else inside the plot.
    let (at, room) = if plan.right.is_none() && beside > 14.0 {
        ((frame.right, frame.heading), beside)
    } else {
        let at = (frame.right - 0.4 * e, frame.top + 1.5 * e);
        (at, frame.plot_width() / e - 1.0)
    };
    if let Some(text) = plan.above(chart, |text| em(text) <= room) {
        svg.fill(&marks_above(frame, plan, heat, extent), ALARM, false);
        let short = fit(&text, room);
        svg.text(at, Anchor::End, style(e, ALARM), &short, &text);
    }
}

/// A mark above the plot wherever something is above the axis.
fn marks_above(frame: &Frame, plan: &Plan, heat: &Heat, extent: &Extent) -> String {
    let mut marks = String::new();
    let mut drawn_to = f64::NEG_INFINITY;
    let (top, height) = (frame.top - frame.em * 0.4, number(frame.em * 0.3));
    for (from, to) in heat::columns_above(heat, extent, plan.seconds) {
        // On whole pixels; several columns may share one.
        let from = frame.x(plan, from).floor().max(drawn_to);
        let to = frame.x(plan, to).ceil();
        if to <= from {
            continue;
        }
        let width = number(to - from);
        let _ = write!(
            marks,
            "M{} {}h{width}v{height}h-{width}z",
            number(from),
            number(top)
        );
        drawn_to = to;
    }
    marks
}

/// The colour scale, with amounts.
pub(super) fn draw_shades(
    svg: &mut Svg,
    frame: &Frame,
    chart: &Chart,
    (shades, seconds): &(Shades, f64),
) {
    let e = frame.em;
    let width = (frame.plot_width() * 0.4).min(22.0 * e);
    let step = width / SHADES as f64;
    for i in 0..SHADES {
        let colour = palette::heat(i as f64 / (SHADES - 1) as f64);
        let at = (frame.left + i as f64 * step, frame.shades + 0.3 * e);
        svg.rect(at, (step + 0.3, 0.7 * e), &hex(colour));
    }
    let marks: &[f64] = if width > 16.0 * e {
        &[0.0, 0.5, 1.0]
    } else {
        &[0.0, 1.0]
    };
    for share in marks {
        let amount = shades.amount(*share);
        let unit = chart.heat.as_ref().map(|h| &h.amount);
        let text = unit.map_or_else(String::new, |a| run::unit::amount(amount, a.unit, a.rate));
        let text = if *share == 0.0 && shades.fainter {
            format!("≤ {text}")
        } else {
            text
        };
        let at = (frame.left + share * width, frame.shades + 2.0 * e);
        let anchor = match *share {
            0.0 => Anchor::Start,
            1.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text(at, anchor, style(e * 0.92, FAINT), &text, &text);
    }
    let what = amount_of(f64::NAN, chart);
    let what = what.trim_start_matches('-').trim_start();
    let kind = if shades.log { ", log colours" } else { "" };
    let text = format!("{what} {}{kind}", per_cell(*seconds));
    let short = fit(text.trim(), (frame.right - frame.left - width) / e - 1.0);
    let at = (frame.left + width + e, frame.shades + 0.95 * e);
    svg.text(at, Anchor::Start, style(e, INK), &short, text.trim());
}
