//! Named values with their ranges: a whisker each, and a line where there is no difference.

use crate::axis::Ruler;
use crate::chart::{Chart, Ranges};
use crate::palette::SERIES;
use crate::ranges::{Measured, Row};
use crate::text::{clean, em, fit};

use super::frame::{text_size, title_line};
use super::write::{Anchor, Pen, Svg, hex, number};
use super::{FAINT, GRID, INK, style};

/// How high a row is at most, the axis, and it with the margin below the notes; in letters.
const ROW: f64 = 5.0;
const AXIS: f64 = 4.2;
const BELOW: f64 = AXIS + 0.7;

/// Where the rows begin.
fn top(e: f64) -> f64 {
    title_line(e) + 1.4 * e
}

/// Where everything goes, in pixels.
struct Places {
    em: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Where the texts of the rows end.
    end: f64,
    /// Between rows.
    step: f64,
}

/// Draws everything but the title.
pub(super) fn draw(svg: &mut Svg, chart: &Chart, ranges: &Ranges, (width, height): (f64, f64)) {
    let e = text_size(width, height);
    let wanted = (width / (9.0 * e)).clamp(2.0, 12.0) as usize;
    let Some(measured) = Measured::new(chart, ranges, wanted) else {
        let at = (width / 2.0, height / 2.0);
        svg.text(
            at,
            Anchor::Middle,
            style(e * 1.3, FAINT),
            "no data",
            "no data",
        );
        return;
    };
    let notes: Vec<String> = chart.notes.iter().map(|n| clean(n)).collect();
    // What few rows leave free, and a share of the height.
    let rows = ROW * e * measured.rows.len() as f64;
    let free = (height - top(e) - rows - BELOW * e) / (e * 1.35);
    let room = free.max((height / e - 16.0) / 4.0);
    let lines = notes.len().min(room.clamp(0.0, 4.0) as usize);
    let notes_top = height - 0.7 * e - lines as f64 * e * 1.35;
    let places = Places::new(&measured, e, width, notes_top);
    background(svg, &places, &measured);
    axis(svg, &places, &measured.ruler);
    for (i, row) in measured.rows.iter().enumerate() {
        whisker(
            svg,
            &places,
            row,
            places.top + (i as f64 + 0.5) * places.step,
        );
    }
    super::notes(svg, (width, e), &notes, (notes_top + e, lines));
}

impl Places {
    fn new(measured: &Measured, e: f64, width: f64, below: f64) -> Places {
        let widest = |of: fn(&Row) -> &str, most: f64| {
            let texts = measured.rows.iter().map(|r| em(of(r)));
            texts.fold(0.0, f64::max).min(most / e) * e
        };
        let names = widest(|r| &r.name, width * 0.25);
        let texts = widest(|r| &r.text, width * 0.35);
        let top = top(e);
        let bottom = (below - AXIS * e).max(top + e);
        let left = (2.0 * e + names).round();
        let step = (bottom - top) / measured.rows.len() as f64;
        Places {
            em: e,
            left,
            right: (width - 2.6 * e - texts).max(left + e).round(),
            top,
            // Few rows do not spread over a large picture.
            bottom: (top + step.min(ROW * e) * measured.rows.len() as f64).round(),
            end: width - e,
            step: step.min(ROW * e),
        }
    }

    fn x(&self, share: f64) -> f64 {
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }
}

/// What is too small to matter, and where there is no difference.
fn background(svg: &mut Svg, places: &Places, measured: &Measured) {
    if let Some((from, to)) = measured.small {
        let (from, to) = (places.x(from), places.x(to));
        let size = (to - from, places.bottom - places.top);
        svg.rect((from, places.top), size, &hex(GRID));
    }
    if let Some(even) = measured.even {
        let x = places.x(even);
        let pen = Pen {
            colour: FAINT,
            width: places.em * 0.11,
            dash: places.em * 0.3,
        };
        svg.line((x, places.top), (x, places.bottom), pen);
    }
}

fn axis(svg: &mut Svg, places: &Places, ruler: &Ruler) {
    let e = places.em;
    let pen = Pen {
        colour: FAINT,
        width: e * 0.1,
        dash: 0.0,
    };
    let (left, right, bottom) = (places.left, places.right, places.bottom);
    svg.line((left, bottom), (right, bottom), pen);
    let mut free_from = 0.0;
    for tick in &ruler.ticks {
        let x = places.x(ruler.share(tick.value));
        svg.line((x, bottom), (x, bottom + 0.35 * e), pen);
        let half = em(&tick.text) * e / 2.0;
        if x - half >= free_from && x + half <= places.end {
            let at = (x, bottom + 1.4 * e);
            svg.text(at, Anchor::Middle, style(e, FAINT), &tick.text, &tick.text);
            free_from = x + half + 0.6 * e;
        }
    }
    let short = fit(&ruler.heading, (right - left) / e);
    let at = (right, bottom + 2.8 * e);
    svg.text(at, Anchor::End, style(e, FAINT), &short, &ruler.heading);
}

fn whisker(svg: &mut Svg, places: &Places, row: &Row, y: f64) {
    let e = places.em;
    let base = y + 0.35 * e;
    let name = fit(&row.name, (places.left - 1.5 * e) / e);
    svg.text((e, base), Anchor::Start, style(e, INK), &name, &row.name);
    let text = fit(&row.text, (places.end - places.right - e) / e);
    svg.text(
        (places.end, base),
        Anchor::End,
        style(e, INK),
        &text,
        &row.text,
    );
    let pen = Pen {
        colour: SERIES[0],
        width: e * 0.16,
        dash: 0.0,
    };
    if let Some([low, high]) = row.ends {
        let (from, to) = (places.x(low.share), places.x(high.share));
        svg.line((from, y), (to, y), pen);
        for (end, x, inwards) in [(low, from, 1.0), (high, to, -1.0)] {
            let half = 0.4 * e;
            if end.open {
                // An arrow: it goes on.
                let back = x + inwards * half;
                svg.line((back, y - half), (x, y), pen);
                svg.line((back, y + half), (x, y), pen);
            } else {
                svg.line((x, y - half), (x, y + half), pen);
            }
        }
    }
    let (x, r) = (places.x(row.value), 0.45 * e);
    let diamond = [(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
    let corners = diamond.map(|(x, y)| format!("{} {}", number(x), number(y)));
    svg.fill(&format!("M{}z", corners.join("L")), SERIES[0], false);
}
