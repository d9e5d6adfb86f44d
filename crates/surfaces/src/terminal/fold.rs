//! A distribution in the terminal: bars in eighths of a character, its quantiles marked
//! above and told below.

use crate::axis::Ruler;
use crate::chart::{Chart, Fold, Mark};
use crate::fold::{self, Bars, Label};
use crate::palette;
use crate::plan::Plan;
use crate::table::{Align, Table};
use crate::text::{clean, columns, shorten};

use super::canvas::Canvas;
use super::frame::FAINT;

/// From an eighth to a whole.
const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Rows of names above the plot, at most.
const MOST_ROWS: usize = 4;

/// Places in characters.
struct Places {
    width: usize,
    left: usize,
    top: usize,
    plot_width: usize,
    plot_height: usize,
}

pub(super) fn draw(
    canvas: &mut Canvas,
    chart: &Chart,
    fold: &Fold,
    (width, height): (usize, usize),
) {
    let plan = Plan::new(chart, 1, (width / 12).clamp(2, 8));
    canvas.text((0, 0), &shorten(&clean(&chart.title), width), None);
    let (Some(heat), Some(extent)) = (&chart.heat, &plan.extent) else {
        canvas.text((width.saturating_sub(7) / 2, height / 2), "no data", None);
        return;
    };
    let bottom = below(chart, fold, &plan, width);
    // Places depend on the width of the amounts' numbers, and those on the bars.
    let rough = width.saturating_sub(8).max(8);
    let of =
        |columns: usize| Bars::new(heat, extent, &plan.left, plan.seconds, 1.0 / columns as f64);
    let up = |bars: &Bars| bars.ruler(chart, heat, (height / 6).clamp(2, 8));
    let widest = |r: &Ruler| r.ticks.iter().map(|t| columns(&t.text)).max().unwrap_or(1);
    let left = (widest(&up(&of(rough))) + 1).min(width / 3);
    let plot_width = width.saturating_sub(left + 1).max(1);
    let bars = of(plot_width);
    let up = up(&bars);

    let whole = plot_width as f64;
    let text = |mark: &Mark| clean(&mark.name);
    let share = |text: &str| (columns(text) + 1) as f64 / whole;
    let labels = fold::labels(fold, &plan.left, text, share, 1.0 + 1.0 / whole);
    let rows = labels
        .iter()
        .map(|l| l.row + 1)
        .max()
        .unwrap_or(0)
        .min(MOST_ROWS);
    let top = 2 + rows;
    let places = Places {
        width,
        left,
        top,
        plot_width,
        plot_height: height.saturating_sub(top + 2 + bottom.len()).max(1),
    };
    canvas.text((0, 1), &shorten(&up.heading, width), FAINT);
    draw_bars(canvas, &places, &bars, &up);
    marks(canvas, &places, &labels);
    axes(canvas, &places, &up, &plan.left);
    for (i, line) in bottom.iter().enumerate() {
        let y = places.top + places.plot_height + 2 + i;
        canvas.text((0, y), &shorten(line, width), None);
    }
}

/// The lines below the axes: what is off the picture, the numbers, notes.
fn below(chart: &Chart, fold: &Fold, plan: &Plan, width: usize) -> Vec<String> {
    let mut table = Table::new();
    let (mut names, mut values, mut taken) = (vec![], vec![], 0);
    for (name, value) in &fold.numbers {
        let (name, value) = (clean(name), clean(value));
        taken += columns(&name).max(columns(&value)) + 2;
        if taken <= width + 2 {
            names.push(name);
            values.push(value);
        }
    }
    names
        .iter()
        .for_each(|name| table.column(name, Align::Right));
    table.row(values);
    let mut lines: Vec<String> = table
        .render(usize::MAX)
        .lines()
        .map(str::to_owned)
        .collect();
    lines.extend(plan.above(chart, |text| columns(text) <= width));
    lines.extend(plan.notes.iter().take(2).cloned());
    lines
}

fn draw_bars(canvas: &mut Canvas, places: &Places, bars: &Bars, up: &Ruler) {
    // The highest of the bars that share a column.
    let mut heights = vec![0.0_f64; places.plot_width];
    for bar in &bars.bars {
        let column = |share: f64| (share.max(0.0) * places.plot_width as f64 + 0.499_999) as usize;
        let from = column(bar.from).min(places.plot_width - 1);
        let to = column(bar.to).clamp(from + 1, places.plot_width.max(from + 1));
        let share = up.share(bar.amount).max(0.0);
        heights[from..to].iter_mut().for_each(|h| *h = h.max(share));
    }
    let ink = Some(palette::SERIES[0]);
    for (x, share) in heights.iter().enumerate().filter(|(_, h)| **h > 0.0) {
        // However low, it is seen.
        let most = places.plot_height * 8;
        let eighths = ((share * most as f64).round() as usize).clamp(1, most);
        let base = places.top + places.plot_height - 1;
        for row in 0..eighths / 8 {
            canvas.put((places.left + 1 + x, base - row), EIGHTHS[7], ink);
        }
        if !eighths.is_multiple_of(8) {
            let glyph = EIGHTHS[eighths % 8 - 1];
            canvas.put((places.left + 1 + x, base - eighths / 8), glyph, ink);
        }
    }
}

/// A line from each name down to the bars.
fn marks(canvas: &mut Canvas, places: &Places, labels: &[Label]) {
    for label in labels.iter().filter(|l| l.row < MOST_ROWS) {
        let column = (label.share * places.plot_width as f64) as usize;
        let x = places.left + 1 + column.min(places.plot_width - 1);
        let top = places.top.saturating_sub(label.row + 1);
        for y in top + 1..places.top + places.plot_height {
            if canvas.is_blank((x, y)) {
                canvas.put((x, y), '┊', None);
            }
        }
        let start = (label.start * places.plot_width as f64) as usize;
        canvas.text((places.left + 1 + start, top), &label.text, None);
    }
}

fn axes(canvas: &mut Canvas, places: &Places, up: &Ruler, across: &Ruler) {
    let bottom = places.top + places.plot_height;
    for y in places.top..bottom {
        canvas.put((places.left, y), '│', FAINT);
    }
    for tick in &up.ticks {
        let share = up.share(tick.value).clamp(0.0, 1.0);
        let row = ((share * places.plot_height as f64) as usize).min(places.plot_height - 1);
        canvas.put((places.left, bottom - 1 - row), '┤', FAINT);
        let text = shorten(&tick.text, places.left);
        let x = places.left.saturating_sub(columns(&text) + 1);
        canvas.text((x, bottom - 1 - row), &text, FAINT);
    }
    canvas.put((places.left, bottom), '└', FAINT);
    for x in 0..places.plot_width {
        canvas.put((places.left + 1 + x, bottom), '─', FAINT);
    }
    let heading = shorten(&across.heading, places.plot_width / 2);
    let end = places.width.saturating_sub(columns(&heading) + 1);
    let mut free_from = 0;
    for tick in &across.ticks {
        let share = across.share(tick.value).clamp(0.0, 1.0);
        let column = (share * places.plot_width as f64) as usize;
        let x = places.left + 1 + column.min(places.plot_width - 1);
        canvas.put((x, bottom), '┬', FAINT);
        let at = x.saturating_sub(columns(&tick.text) / 2);
        if at >= free_from && at + columns(&tick.text) < end {
            free_from = canvas.text((at, bottom + 1), &tick.text, FAINT) + 1;
        }
    }
    canvas.text((end + 1, bottom + 1), &heading, FAINT);
}
