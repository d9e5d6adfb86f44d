//! Named values with their ranges, a line each.

use crate::axis::Ruler;
use crate::chart::{Chart, Ranges};
use crate::palette::SERIES;
use crate::ranges::{Measured, Row};
use crate::text::{clean, columns, shorten};

use super::canvas::Canvas;
use super::frame::FAINT;

/// Places in characters.
struct Places {
    left: usize,
    plot_width: usize,
    top: usize,
}

pub(super) fn draw(
    canvas: &mut Canvas,
    chart: &Chart,
    ranges: &Ranges,
    (width, height): (usize, usize),
) {
    canvas.text((0, 0), &shorten(&clean(&chart.title), width), None);
    let Some(mut measured) = Measured::new(chart, ranges, (width / 14).clamp(2, 8)) else {
        canvas.text((width.saturating_sub(7) / 2, height / 2), "no data", None);
        return;
    };
    // Title, axis and its numbers stay.
    measured.rows.truncate(height.saturating_sub(3).max(1));
    let widest = |of: fn(&Row) -> &str| measured.rows.iter().map(|r| columns(of(r))).max();
    let left = widest(|r| &r.name).unwrap_or(0).min(width * 3 / 10) + 1;
    let texts = widest(|r| &r.text).unwrap_or(0).min(width * 2 / 5);
    let places = Places {
        left,
        plot_width: width.saturating_sub(left + texts + 2).max(1),
        top: 1,
    };
    for (i, row) in measured.rows.iter().enumerate() {
        let y = places.top + i;
        canvas.text((0, y), &shorten(&row.name, left.saturating_sub(1)), None);
        background(canvas, &places, &measured, y);
        whisker(canvas, &places, row, y);
        let text = shorten(&row.text, texts);
        canvas.text((width.saturating_sub(columns(&text)), y), &text, None);
    }
    let below = places.top + measured.rows.len();
    axis(canvas, &places, &measured.ruler, below, width);
    for (i, note) in chart.notes.iter().enumerate() {
        if below + 2 + i < height {
            canvas.text((0, below + 2 + i), &shorten(&clean(note), width), None);
        }
    }
}

impl Places {
    fn x(&self, share: f64) -> usize {
        let column = (share.clamp(0.0, 1.0) * self.plot_width as f64) as usize;
        self.left + column.min(self.plot_width - 1)
    }
}

/// What is too small to matter is dotted; where there is no difference is a line.
fn background(canvas: &mut Canvas, places: &Places, measured: &Measured, y: usize) {
    if let Some((from, to)) = measured.small {
        for x in places.x(from)..=places.x(to) {
            canvas.put((x, y), '·', FAINT);
        }
    }
    if let Some(even) = measured.even {
        canvas.put((places.x(even), y), '┊', FAINT);
    }
}

fn whisker(canvas: &mut Canvas, places: &Places, row: &Row, y: usize) {
    let ink = Some(SERIES[0]);
    if let Some([low, high]) = row.ends {
        let (from, to) = (places.x(low.share), places.x(high.share));
        (from..=to).for_each(|x| canvas.put((x, y), '─', ink));
        canvas.put((from, y), if low.open { '←' } else { '├' }, ink);
        canvas.put((to, y), if high.open { '→' } else { '┤' }, ink);
    }
    canvas.put((places.x(row.value), y), '●', ink);
}

fn axis(canvas: &mut Canvas, places: &Places, ruler: &Ruler, y: usize, width: usize) {
    for x in places.left..places.left + places.plot_width {
        canvas.put((x, y), '─', FAINT);
    }
    let end = places.left + places.plot_width;
    let mut free_from = 0;
    for tick in &ruler.ticks {
        let x = places.x(ruler.share(tick.value));
        canvas.put((x, y), '┬', FAINT);
        let at = x.saturating_sub(columns(&tick.text) / 2);
        if at >= free_from && at + columns(&tick.text) <= end + 1 {
            free_from = canvas.text((at, y + 1), &tick.text, FAINT) + 1;
        }
    }
    let heading = shorten(&ruler.heading, width.saturating_sub(end + 2));
    canvas.text((end + 2, y + 1), &heading, FAINT);
}
