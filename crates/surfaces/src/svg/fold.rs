//! A distribution: bars over its values, its quantiles marked and told.

use std::fmt::Write as _;

use crate::axis::Ruler;
use crate::chart::{Chart, Fold, Mark};
use crate::fold::{self, Bar, Bars, Label};
use crate::plan::Plan;
use crate::text::{clean, em, fit};

use super::frame::{text_size, title_line};
use super::write::{Anchor, Pen, Svg, number};
use super::{ALARM, BAR, FAINT, GRID, INK, MARK, style};

/// Where everything goes, in pixels.
struct Places {
    em: f64,
    width: f64,
    heading: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Baseline of the names of the numbers.
    numbers: f64,
    notes: f64,
    note_lines: usize,
}

/// Between rows of names, in em.
const ROW: f64 = 1.4;

/// Draws everything but the title.
pub(super) fn draw(svg: &mut Svg, chart: &Chart, fold: &Fold, (width, height): (f64, f64)) {
    let em = text_size(width, height);
    let wanted = (width / (8.0 * em)).clamp(2.0, 14.0) as usize;
    let plan = Plan::new(chart, 1, wanted);
    let mut places = Places::new(&plan, em, width, height);
    let (Some(heat), Some(extent)) = (&chart.heat, &plan.extent) else {
        let at = (width / 2.0, height / 2.0);
        svg.text(
            at,
            Anchor::Middle,
            style(em * 1.3, FAINT),
            "no data",
            "no data",
        );
        return;
    };
    let least = 4.0 / (places.right - places.left);
    let bars = Bars::new(heat, extent, &plan.left, plan.seconds, least);
    let wanted = ((places.bottom - places.top) / (3.2 * em)).clamp(2.0, 12.0) as usize;
    let up = bars.ruler(chart, heat, wanted);
    let labels = places.fit(&plan, &up, fold);
    above(svg, &places, chart, &plan, &up);
    grid(svg, &places, &up);
    draw_bars(svg, &places, &bars.bars, &up);
    values(svg, &places, &plan.left);
    marks(svg, &places, &labels);
    numbers(svg, &places, fold);
    let lines = (places.notes, places.note_lines);
    super::notes(svg, (width, em), &plan.notes, lines);
}

impl Places {
    fn new(plan: &Plan, em: f64, width: f64, height: f64) -> Places {
        let margin = em;
        let heading = title_line(em) + 2.0 * em;
        let note_lines = plan.notes.len().min(2);
        let notes_top = height - margin * 0.7 - note_lines as f64 * em * 1.35;
        let numbers = notes_top - 1.8 * em;
        Places {
            em,
            width,
            heading,
            left: margin,
            right: width - 1.6 * margin,
            top: heading + 0.8 * em,
            bottom: (numbers - 4.6 * em).round().max(heading + 2.0 * em),
            numbers,
            notes: notes_top + em,
            note_lines,
        }
    }

    /// Makes room for the numbers of the axis at the left, for the names of the quantiles above
    /// the plot and right of the last one.
    fn fit(&mut self, plan: &Plan, up: &Ruler, fold: &Fold) -> Vec<Label> {
        let ticks = up.ticks.iter().map(|t| em(&t.text));
        self.left = (self.em + (ticks.fold(1.0, f64::max) * 0.92 + 0.5) * self.em).round();
        let most = self.right.max(self.left + self.em);
        let length = |text: &str| (em(text) + 0.8) * self.em;
        for mark in &fold.marks {
            let share = plan.left.share(mark.value);
            if share > 0.0 && share <= 1.0 {
                let room = (self.width - self.left - length(&text_of(mark))) / share;
                self.right = self.right.min(self.left + room.max(0.0));
            }
        }
        self.right = self
            .right
            .clamp(self.left + (most - self.left) / 2.0, most)
            .round();
        let whole = self.right - self.left;
        let end = (self.width - self.left) / whole;
        let labels = fold::labels(fold, &plan.left, text_of, |text| length(text) / whole, end);
        let rows = labels.iter().map(|l| l.row + 1).max().unwrap_or(0);
        let room = (self.bottom - self.top - 2.0 * self.em).max(0.0);
        self.top += (rows as f64 * ROW * self.em).min(room);
        self.top = self.top.round();
        labels
    }

    fn x(&self, share: f64) -> f64 {
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    fn y(&self, share: f64) -> f64 {
        self.bottom - share.clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// `p99 6.42 ms`.
fn text_of(mark: &Mark) -> String {
    clean(&format!("{} {}", mark.name, mark.text))
}

/// What is off the picture, and what the bars count.
fn above(svg: &mut Svg, places: &Places, chart: &Chart, plan: &Plan, up: &Ruler) {
    let e = places.em;
    let room = (places.width - 2.0 * e) / e;
    let heading = fit(&up.heading, room * 0.45);
    svg.text(
        (e, places.heading),
        Anchor::Start,
        style(e, FAINT),
        &heading,
        &up.heading,
    );
    let room = room - em(&heading) - 2.0;
    if let Some(text) = plan.above(chart, |text| em(text) <= room) {
        let short = fit(&text, room);
        let at = (places.width - 1.6 * e, places.heading);
        svg.text(at, Anchor::End, style(e, ALARM), &short, &text);
    }
}

fn grid(svg: &mut Svg, places: &Places, up: &Ruler) {
    let e = places.em;
    let pen = Pen {
        colour: GRID,
        width: e * 0.08,
        dash: 0.0,
    };
    for tick in &up.ticks {
        let y = places.y(up.share(tick.value));
        svg.line((places.left, y), (places.right, y), pen);
        let at = (places.left - 0.5 * e, y + 0.35 * e);
        svg.text(at, Anchor::End, style(e, FAINT), &tick.text, &tick.text);
    }
}

fn draw_bars(svg: &mut Svg, places: &Places, bars: &[Bar], up: &Ruler) {
    let mut d = String::new();
    for bar in bars {
        // On whole pixels, so that neighbours neither overlap nor leave a seam.
        let (from, to) = (places.x(bar.from).round(), places.x(bar.to).round());
        let width = number((to - from).max(1.0));
        // However low, it is seen.
        let top = places.y(up.share(bar.amount)).min(places.bottom - 1.0);
        // Writing to a String cannot fail.
        let _ = write!(
            d,
            "M{} {}h{width}V{}h-{width}z",
            number(from),
            number(top),
            number(places.bottom)
        );
    }
    svg.fill(&d, BAR, false);
}

/// The axis of the values, and what they are.
fn values(svg: &mut Svg, places: &Places, across: &Ruler) {
    let e = places.em;
    let pen = Pen {
        colour: FAINT,
        width: e * 0.1,
        dash: 0.0,
    };
    svg.line(
        (places.left, places.bottom),
        (places.right, places.bottom),
        pen,
    );
    let mut free_from = 0.0;
    for tick in &across.ticks {
        let x = places.x(across.share(tick.value));
        svg.line((x, places.bottom), (x, places.bottom + 0.35 * e), pen);
        let half = em(&tick.text) * e / 2.0;
        if x - half >= free_from && x + half <= places.width {
            let at = (x, places.bottom + 1.4 * e);
            svg.text(at, Anchor::Middle, style(e, FAINT), &tick.text, &tick.text);
            free_from = x + half + 0.6 * e;
        }
    }
    let room = (places.right - places.left) / e;
    let short = fit(&across.heading, room);
    let at = (places.right, places.bottom + 2.8 * e);
    svg.text(at, Anchor::End, style(e, FAINT), &short, &across.heading);
}

/// A line at each quantile, up to its name.
fn marks(svg: &mut Svg, places: &Places, labels: &[Label]) {
    let e = places.em;
    let pen = Pen {
        colour: MARK,
        width: e * 0.11,
        dash: e * 0.3,
    };
    for label in labels {
        let x = places.x(label.share);
        let base = places.top - (label.row as f64 * ROW + 0.5) * e;
        svg.line((x, base - 0.8 * e), (x, places.bottom), pen);
        let start = places.left + label.start * (places.right - places.left);
        let at = (start + 0.35 * e, base);
        svg.text(at, Anchor::Start, style(e, INK), &label.text, &label.text);
    }
}

/// The numbers in columns: name above, value below.
fn numbers(svg: &mut Svg, places: &Places, fold: &Fold) {
    let e = places.em;
    let mut x = e;
    for (name, value) in &fold.numbers {
        let (name, value) = (clean(name), clean(value));
        let width = em(&name).max(em(&value)).max(3.0);
        if x + width * e > places.width - e {
            break;
        }
        let (above, below) = ((x, places.numbers), (x, places.numbers + 1.35 * e));
        svg.text(above, Anchor::Start, style(e * 0.92, FAINT), &name, &name);
        svg.text(below, Anchor::Start, style(e, INK), &value, &value);
        x += (width + 2.2) * e;
    }
}
