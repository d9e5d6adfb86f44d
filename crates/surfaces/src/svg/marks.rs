//! What stands in the plot: lines, stacked areas, phases, lost times.

use std::fmt::Write as _;

use crate::chart::{BandKind, Chart};
use crate::plan::Plan;
use crate::stack::{Slice, Stack};
use crate::text::{clean, fit};
use crate::trace;

use super::frame::Frame;
use super::write::{Anchor, Pen, Svg, number};
use super::{FAINT, INK, legend, style};

/// Points all lines together may have, about, so that the file stays small.
const MOST_POINTS: f64 = 30_000.0;

pub(super) fn lines(svg: &mut Svg, frame: &Frame, chart: &Chart, plan: &Plan) {
    let drawn = plan.legend.iter().filter(|e| !e.area).count().max(1);
    let columns = frame
        .plot_width()
        .min(MOST_POINTS / 2.0 / drawn as f64)
        .max(1.0);
    let wide = frame.plot_width() / columns;
    // The first line is the most important: it is drawn last, on top.
    for (line, entry) in chart.lines.iter().zip(&plan.legend).rev() {
        if entry.area {
            continue;
        }
        let mut d = String::new();
        for stroke in trace::strokes(&line.points, plan.seconds, plan.ruler_of(line), columns) {
            for (i, (x, y)) in stroke.into_iter().enumerate() {
                d.push(if i == 0 { 'M' } else { 'L' });
                d.push_str(&number(frame.left + x * wide));
                d.push(' ');
                d.push_str(&number(frame.y(y)));
            }
        }
        if !d.is_empty() {
            svg.stroke(&d, legend::pen(entry, frame.em));
        }
    }
}

pub(super) fn areas(svg: &mut Svg, frame: &Frame, plan: &Plan) {
    let Some(stack) = &plan.stack else {
        return;
    };
    for (layer, entry) in plan.legend.iter().filter(|e| e.area).enumerate() {
        let mut d = String::new();
        for run in connected(stack, plan) {
            outline(&mut d, frame, plan, run, layer);
        }
        if !d.is_empty() {
            svg.fill(&d, entry.colour, false);
        }
    }
}

/// Slices that touch each other.
fn connected<'a>(stack: &'a Stack, plan: &Plan) -> impl Iterator<Item = &'a [Slice]> {
    let least = (plan.seconds.1 - plan.seconds.0) * 1e-5;
    stack.slices.chunk_by(move |a, b| b.from - a.to <= least)
}

/// One layer of a run of slices: along its upper edge and back along its lower one.
fn outline(d: &mut String, frame: &Frame, plan: &Plan, run: &[Slice], layer: usize) {
    let edge = |slice: &Slice, layer: Option<usize>| {
        let value = layer.map_or(0.0, |l| slice.tops[l]);
        number(frame.y(plan.left.share(value)))
    };
    let x = |time| number(frame.x(plan, time));
    // A lone short slice is seen.
    let least = frame.x(plan, run[0].from) + 1.0;
    let end = |slice: &Slice| number(frame.x(plan, slice.to).max(least));
    let below = layer.checked_sub(1);
    if run.iter().all(|s| edge(s, Some(layer)) == edge(s, below)) {
        return;
    }
    // Writing to a String cannot fail.
    let _ = write!(d, "M{} {}", x(run[0].from), edge(&run[0], Some(layer)));
    for slice in run {
        let _ = write!(d, "V{}H{}", edge(slice, Some(layer)), end(slice));
    }
    for slice in run.iter().rev() {
        let _ = write!(d, "V{}H{}", edge(slice, below), x(slice.from));
    }
    d.push('z');
}

/// Phases as tints, every other one darker, with their names above the plot.
pub(super) fn phases(svg: &mut Svg, frame: &Frame, chart: &Chart, plan: &Plan) {
    let e = frame.em;
    let named = frame.top - frame.strip > e;
    let phases = chart
        .bands
        .iter()
        .filter(|b| b.kind == BandKind::Phase && in_view(plan, b.from, b.to));
    for (i, band) in phases.enumerate() {
        let (from, to) = (frame.x(plan, band.from), frame.x(plan, band.to));
        let (plot, strip) = if i % 2 == 0 {
            ("#f1f4f8", "#dde5ee")
        } else {
            ("#fafbfc", "#ebeff4")
        };
        svg.rect((from, frame.top), (to - from, frame.plot_height()), plot);
        if named {
            svg.rect(
                (from, frame.strip),
                (to - from, frame.top - frame.strip),
                strip,
            );
            let name = clean(&band.name);
            let short = fit(&name, (to - from) / e / 0.95 - 0.8);
            if short.chars().count() > 2 || short == name {
                let at = (from + 0.4 * e, frame.strip + 1.15 * e);
                svg.text(at, Anchor::Start, style(e * 0.95, INK), &short, &name);
            }
        }
        let pen = Pen {
            colour: FAINT,
            width: e * 0.06,
            dash: 0.0,
        };
        if from > frame.left + 1.0 {
            svg.line((from, frame.strip), (from, frame.bottom), pen);
        }
    }
}

/// Lost times, hatched over whatever is there.
pub(super) fn lost(svg: &mut Svg, frame: &Frame, chart: &Chart, plan: &Plan) {
    for band in chart
        .bands
        .iter()
        .filter(|b| b.kind == BandKind::Lost && in_view(plan, b.from, b.to))
    {
        let (from, to) = (frame.x(plan, band.from), frame.x(plan, band.to));
        // However short, it is seen.
        let wide = (to - from).max(frame.em * 0.25);
        let from = from.min(frame.right - wide);
        svg.rect((from, frame.top), (wide, frame.plot_height()), "url(#lost)");
    }
}

fn in_view(plan: &Plan, from: f64, to: f64) -> bool {
    to >= from && to > plan.seconds.0 && from < plan.seconds.1
}
