//! Title, axes, phases, legend and notes of a terminal picture, and where the plot is.

use crate::axis::Ruler;
use crate::chart::{BandKind, Chart};
use crate::palette::Rgb;
use crate::plan::{Plan, lost};
use crate::text::{clean, columns, shorten};
use crate::time;

use super::Colour;
use super::canvas::Canvas;
use super::legend::Legend;

pub(super) const FAINT: Option<Rgb> = Some(Rgb(0x80, 0x86, 0x8E));

/// Places in characters from the top left.
pub(super) struct Frame {
    pub(super) width: usize,
    /// The plot.
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) plot_width: usize,
    pub(super) plot_height: usize,
    legend: Legend,
    note_rows: usize,
}

impl Frame {
    pub(super) fn new(chart: &Chart, plan: &Plan, width: usize, height: usize) -> Frame {
        let widest = |r: &Ruler| r.ticks.iter().map(|t| columns(&t.text)).max().unwrap_or(1);
        let left = (widest(&plan.left) + 1).min(width / 3);
        let right = plan
            .right
            .as_ref()
            .map_or(0, |r| (widest(r) + 1).min(width / 3));
        let plot_width = width.saturating_sub(left + right + 1).max(1);
        let legend = Legend::new(plan, width, height / 3);
        let note_rows = notes(chart, plan).len().min(2).min(height / 10);
        let phases = usize::from(has_phases(chart) && height >= 12);
        let shades = usize::from(plan.extent.is_some());
        let above = usize::from(plan.extent.as_ref().is_some_and(|e| e.above > 0.0));
        let top = 2 + phases;
        let below = 2 + legend.height() + note_rows + shades + above;
        Frame {
            width,
            left,
            top,
            plot_width,
            plot_height: height.saturating_sub(top + below).max(1),
            legend,
            note_rows,
        }
    }

    pub(super) fn wanted_ticks(&self) -> usize {
        (self.plot_height / 3).clamp(2, 8)
    }

    fn bottom(&self) -> usize {
        self.top + self.plot_height
    }

    /// The row of a share of a value axis.
    fn row(&self, share: f64) -> usize {
        let from_below = (share.clamp(0.0, 1.0) * self.plot_height as f64) as usize;
        self.bottom() - 1 - from_below.min(self.plot_height - 1)
    }

    /// The column of a time.
    fn column(&self, plan: &Plan, time: f64) -> usize {
        let share = (time - plan.seconds.0) / (plan.seconds.1 - plan.seconds.0);
        let column = (share.clamp(0.0, 1.0) * self.plot_width as f64) as usize;
        self.left + 1 + column.min(self.plot_width - 1)
    }

    fn time_ticks(&self, plan: &Plan) -> time::TimeTicks {
        time::ticks(
            plan.seconds.0,
            plan.seconds.1,
            (self.plot_width / 10).max(1),
        )
    }

    /// The first free row below the axes.
    pub(super) fn below(&self) -> usize {
        self.bottom() + 2
    }
}

fn has_phases(chart: &Chart) -> bool {
    chart.bands.iter().any(|b| b.kind == BandKind::Phase)
}

pub(super) fn draw(canvas: &mut Canvas, frame: &Frame, chart: &Chart, plan: &Plan, colour: Colour) {
    let title = shorten(&clean(&chart.title), frame.width);
    canvas.text((0, 0), &title, None);
    let half = if plan.right.is_some() {
        frame.width / 2
    } else {
        frame.width
    };
    canvas.text((0, 1), &shorten(&plan.left.heading, half), FAINT);
    if let Some(right) = &plan.right {
        let heading = shorten(&right.heading, half.saturating_sub(1));
        canvas.text((frame.width - columns(&heading), 1), &heading, FAINT);
    }
    caption(canvas, frame, chart, plan);
    phases(canvas, frame, chart, plan);
    value_axes(canvas, frame, plan);
    time_axis(canvas, frame, chart, plan);
    let mut row = frame.below() + usize::from(plan.extent.is_some());
    if let Some(above) = plan.above(chart, |text| columns(text) <= frame.width) {
        canvas.text((0, row), &shorten(&above, frame.width), None);
        row += 1;
    }
    frame.legend.draw(canvas, plan, colour, (frame.width, row));
    row += frame.legend.height();
    draw_notes(canvas, frame, &notes(chart, plan), row);
    if let Some(instead) = plan.empty {
        let x = frame.left + 1 + frame.plot_width.saturating_sub(instead.len()) / 2;
        canvas.text((x, frame.top + frame.plot_height / 2), instead, None);
    }
}

/// The plan's notes, after what crosses on the time axis mean.
fn notes(chart: &Chart, plan: &Plan) -> Vec<String> {
    let crosses = lost(chart).map(|what| format!("x on the time axis: {what}"));
    crosses.into_iter().chain(plan.notes.clone()).collect()
}

fn draw_notes(canvas: &mut Canvas, frame: &Frame, notes: &[String], top: usize) {
    let hidden = notes.len() - frame.note_rows;
    for (i, note) in notes.iter().take(frame.note_rows).enumerate() {
        let more = if hidden > 0 && i + 1 == frame.note_rows {
            format!(" (and {hidden} more)")
        } else {
            String::new()
        };
        let note = shorten(note, frame.width.saturating_sub(more.len())) + &more;
        canvas.text((0, top + i), &note, FAINT);
    }
}

/// When zero was, between the headings, if there is room.
fn caption(canvas: &mut Canvas, frame: &Frame, chart: &Chart, plan: &Plan) {
    let Some(start) = chart.start else {
        return;
    };
    let words = format!("from {}", time::clock(start));
    let heading = |r: &Ruler| columns(&r.heading) + 2;
    let end = frame
        .width
        .saturating_sub(plan.right.as_ref().map_or(0, heading));
    if heading(&plan.left) + columns(&words) <= end {
        canvas.text((end - columns(&words), 1), &words, FAINT);
    }
}

fn phases(canvas: &mut Canvas, frame: &Frame, chart: &Chart, plan: &Plan) {
    if frame.top < 3 {
        return;
    }
    for band in chart.bands.iter().filter(|b| b.kind == BandKind::Phase) {
        if !(band.to > plan.seconds.0 && band.from < plan.seconds.1) {
            continue;
        }
        let (from, to) = (frame.column(plan, band.from), frame.column(plan, band.to));
        canvas.put((from, 2), '|', FAINT);
        let name = shorten(&clean(&band.name), to.saturating_sub(from + 1));
        canvas.text((from + 1, 2), &name, FAINT);
    }
}

fn value_axes(canvas: &mut Canvas, frame: &Frame, plan: &Plan) {
    let right = frame.left + 1 + frame.plot_width;
    for y in frame.top..frame.bottom() {
        canvas.put((frame.left, y), '│', FAINT);
        if plan.right.is_some() {
            canvas.put((right, y), '│', FAINT);
        }
    }
    for tick in &plan.left.ticks {
        let y = frame.row(plan.left.share(tick.value));
        canvas.put((frame.left, y), '┤', FAINT);
        let text = shorten(&tick.text, frame.left);
        let x = frame.left.saturating_sub(columns(&text) + 1);
        canvas.text((x, y), &text, FAINT);
    }
    for (ruler, tick) in plan
        .right
        .iter()
        .flat_map(|r| r.ticks.iter().map(move |t| (r, t)))
    {
        let y = frame.row(ruler.share(tick.value));
        canvas.put((right, y), '├', FAINT);
        canvas.text((right + 1, y), &tick.text, FAINT);
    }
}

/// The time axis; lost times are crosses on it.
fn time_axis(canvas: &mut Canvas, frame: &Frame, chart: &Chart, plan: &Plan) {
    let y = frame.bottom();
    canvas.put((frame.left, y), '└', FAINT);
    for x in 0..frame.plot_width {
        canvas.put((frame.left + 1 + x, y), '─', FAINT);
    }
    if plan.right.is_some() {
        canvas.put((frame.left + 1 + frame.plot_width, y), '┘', FAINT);
    }
    let axis = frame.time_ticks(plan);
    let end = (frame.left + 1 + frame.plot_width).saturating_sub(columns(axis.reading) + 1);
    let mut free_from = 0;
    for tick in &axis.ticks {
        let x = frame.column(plan, tick.value);
        canvas.put((x, y), '┬', FAINT);
        let at = x.saturating_sub(columns(&tick.text) / 2);
        if at >= free_from && at + columns(&tick.text) < end {
            free_from = canvas.text((at, y + 1), &tick.text, FAINT) + 1;
        }
    }
    canvas.text((end + 1, y + 1), axis.reading, FAINT);
    for band in chart.bands.iter().filter(|b| b.kind == BandKind::Lost) {
        if band.to > plan.seconds.0 && band.from < plan.seconds.1 && band.to >= band.from {
            let last = frame.column(plan, band.to);
            for x in frame.column(plan, band.from)..last.max(frame.column(plan, band.from) + 1) {
                canvas.put((x, y), 'x', None);
            }
        }
    }
}
