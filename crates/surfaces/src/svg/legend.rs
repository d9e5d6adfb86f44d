//! The legend: a table of name, mean and maximum below the picture, in as many columns as
//! fit; without the numbers, then without some of the names, where there is no room.

use crate::chart::Chart;
use crate::plan::{Entry, Plan, lost};
use crate::text::{em, fit};

use super::frame::Frame;
use super::write::{Anchor, Pen, Svg, Type, hex};
use super::{FAINT, INK, style};

/// The legend's measures, in em.
pub(super) struct Legend {
    rows: usize,
    /// Room for the names of each column.
    names: Vec<f64>,
    /// Room for each of the two numbers; `None`: names only.
    numbers: Option<(f64, f64)>,
    pub(super) height: f64,
}

const ROW: f64 = 1.45;
const SWATCH: f64 = 2.0;
const GAP: f64 = 2.0;
const LONGEST_NAME: f64 = 26.0;

impl Legend {
    /// For a width and at most a height in em.
    pub(super) fn new(chart: &Chart, plan: &Plan, width: f64, height: f64) -> Legend {
        let mut legend = Legend {
            rows: 0,
            names: vec![],
            numbers: None,
            height: 0.0,
        };
        let mut names: Vec<f64> = plan.legend.iter().map(|e| em(&label(e))).collect();
        names.extend(lost(chart).map(|name| em(&name)));
        if names.is_empty() {
            return legend;
        }
        let longest = names.iter().copied().fold(1.0, f64::max).min(LONGEST_NAME);
        let widest = |text: fn(&Entry) -> &String| {
            plan.legend.iter().map(|e| em(text(e))).fold(2.5, f64::max) + 1.2
        };
        let numbers = (widest(|e| &e.mean), widest(|e| &e.max));
        let wide = (width - SWATCH - numbers.0 - numbers.1).min(longest);
        if wide >= longest.min(8.0) && !plan.legend.is_empty() {
            legend.lay(&names, width, wide, Some(numbers));
            if legend.height <= height {
                return legend;
            }
        }
        for most in [longest, longest.min(10.0), longest.min(6.0)] {
            legend.lay(&names, width, most.min(width - SWATCH).max(1.0), None);
            if legend.height <= height {
                return legend;
            }
        }
        legend.rows = ((height / ROW) as usize).max(1);
        legend.height = legend.rows as f64 * ROW + 0.6;
        legend
    }

    /// In as many columns as fit, each as wide as its longest name, at most `most` em.
    fn lay(&mut self, names: &[f64], width: f64, most: f64, numbers: Option<(f64, f64)>) {
        self.numbers = numbers;
        for columns in (1..=names.len()).rev() {
            self.rows = names.len().div_ceil(columns);
            let widest = |names: &[f64]| names.iter().copied().fold(1.0, f64::max).min(most);
            self.names = names.chunks(self.rows).map(widest).collect();
            if self.start_of(self.names.len()) - GAP <= width {
                break;
            }
        }
        let head = if numbers.is_some() { 1.0 } else { 0.0 };
        self.height = (self.rows as f64 + head) * ROW + 0.6;
    }

    /// Where a column starts.
    fn start_of(&self, column: usize) -> f64 {
        let numbers = self.numbers.map_or(0.0, |(mean, max)| mean + max);
        let before = self.names.iter().take(column);
        before.map(|name| SWATCH + name + numbers + GAP).sum()
    }
}

fn label(entry: &Entry) -> String {
    if entry.right {
        format!("{} (right)", entry.name)
    } else {
        entry.name.clone()
    }
}

/// The line of an entry: right axis and used-up colours are dashed.
pub(super) fn pen(entry: &Entry, em: f64) -> Pen {
    Pen {
        colour: entry.colour,
        width: em * 0.13,
        dash: match (entry.right, entry.round) {
            (false, 0) => 0.0,
            (true, 0) => em * 0.5,
            (_, round) => em * (0.5 / (1.0 + round as f64)).max(0.15),
        },
    }
}

pub(super) fn draw(svg: &mut Svg, frame: &Frame, chart: &Chart, plan: &Plan) {
    let legend = &frame.legend;
    let slots = legend.names.len() * legend.rows;
    let lost = lost(chart);
    let count = plan.legend.len() + usize::from(lost.is_some());
    let hidden = if count > slots { count - slots + 1 } else { 0 };
    let head = if legend.numbers.is_some() { 1.0 } else { 0.0 };
    for slot in 0..slots.min(count) {
        let (column, row) = (slot / legend.rows, slot % legend.rows);
        let x = frame.margin + legend.start_of(column) * frame.em;
        let y = frame.legend_top + (row as f64 + head + 1.0) * ROW * frame.em;
        if row == 0 && slot < plan.legend.len() {
            titles(svg, frame, x, legend.names[column]);
        }
        if hidden > 0 && slot == slots - 1 {
            let more = format!("and {hidden} more");
            svg.text((x, y), Anchor::Start, style(frame.em, FAINT), &more, &more);
        } else if let Some(entry) = plan.legend.get(slot) {
            draw_entry(svg, frame, entry, (x, y), legend.names[column]);
        } else if let Some(name) = &lost {
            let e = frame.em;
            svg.rect((x, y - 0.75 * e), (1.4 * e, 0.8 * e), "url(#lost)");
            let short = fit(name, legend.names[column]);
            svg.text(
                (x + SWATCH * e, y),
                Anchor::Start,
                style(e, INK),
                &short,
                name,
            );
        }
    }
}

/// The words above the two numbers.
fn titles(svg: &mut Svg, frame: &Frame, x: f64, name_width: f64) {
    let Some((mean, max)) = frame.legend.numbers else {
        return;
    };
    let y = frame.legend_top + ROW * frame.em;
    let end = x + (SWATCH + name_width + mean) * frame.em;
    let small = style(frame.em * 0.9, FAINT);
    svg.text((end, y), Anchor::End, small, "mean", "mean");
    svg.text((end + max * frame.em, y), Anchor::End, small, "max", "max");
}

fn draw_entry(svg: &mut Svg, frame: &Frame, entry: &Entry, at: (f64, f64), name_width: f64) {
    let em = frame.em;
    let (x, y) = at;
    if entry.area {
        let fill = hex(entry.colour);
        svg.rect((x, y - 0.75 * em), (1.4 * em, 0.8 * em), &fill);
    } else {
        let pen = Pen {
            width: em * 0.2,
            ..pen(entry, em)
        };
        svg.line((x, y - 0.35 * em), (x + 1.4 * em, y - 0.35 * em), pen);
    }
    let name = label(entry);
    let short = fit(&name, name_width);
    let plain: Type = style(em, INK);
    svg.text((x + SWATCH * em, y), Anchor::Start, plain, &short, &name);
    if let Some((mean, max)) = frame.legend.numbers {
        let end = x + (SWATCH + name_width + mean) * em;
        svg.text((end, y), Anchor::End, plain, &entry.mean, &entry.mean);
        svg.text(
            (end + max * em, y),
            Anchor::End,
            plain,
            &entry.max,
            &entry.max,
        );
    }
}
