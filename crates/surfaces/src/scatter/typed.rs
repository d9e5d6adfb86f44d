//! The picture as lines of text.

use crate::axis::Ruler;
use crate::palette::{Rgb, SERIES};
use crate::terminal::Colour;
use crate::terminal::canvas::{Canvas, Dots, straight};
use crate::terminal::ink_of;
use crate::text::{clean, columns, shorten};

use super::Scatter;

const FAINT: Option<Rgb> = Some(Rgb(0x80, 0x86, 0x8E));

/// Letters that stand for points, in the order of the legend.
const MARKS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Where the plot is, in characters.
struct Frame {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Frame {
    fn column(&self, ruler: &Ruler, value: f64) -> usize {
        let share = ruler.share(value).clamp(0.0, 1.0);
        self.left + 1 + ((share * self.width as f64) as usize).min(self.width - 1)
    }

    fn row(&self, share: f64) -> usize {
        let up = (share.clamp(0.0, 1.0) * self.height as f64) as usize;
        self.top + self.height - 1 - up.min(self.height - 1)
    }
}

/// The picture in at most `height` lines, and more only for its legend, of at most `width`
/// columns, each with a newline.
pub fn text(scatter: &Scatter, width: u16, height: u16, colour: Colour) -> String {
    let (width, height) = (
        usize::from(width.clamp(20, 1000)),
        usize::from(height.clamp(8, 500)),
    );
    match &scatter.y {
        Some(_) => two(scatter, width, height, colour),
        None => rows(scatter, width, colour),
    }
}

fn mark(place: usize) -> char {
    MARKS.chars().nth(place).unwrap_or('*')
}

fn ink(place: usize) -> Option<Rgb> {
    ink_of(SERIES[place % SERIES.len()])
}

/// Points by two numbers, each a letter of the legend.
fn two(scatter: &Scatter, width: usize, height: usize, colour: Colour) -> String {
    let Some(y) = scatter.upwards((height / 4).max(2)) else {
        return String::new();
    };
    let legend: Vec<String> = legend(scatter, width);
    let left = (y.ticks.iter().map(|t| columns(&t.text)).max().unwrap_or(1) + 1).min(width / 3);
    let frame = Frame {
        left,
        top: 2,
        width: (width - left - 1).max(1),
        height: (height - 5).max(3),
    };
    let x = scatter.across((frame.width / 12).max(2));
    let mut canvas = Canvas::new(width, frame.top + frame.height + 3 + legend.len());
    canvas.text((0, 0), &shorten(&clean(&scatter.title), width), None);
    canvas.text((0, 1), &shorten(&y.heading, width), FAINT);
    for row in 0..frame.height {
        canvas.put((left, frame.top + row), '│', FAINT);
    }
    for tick in &y.ticks {
        let row = frame.row(y.share(tick.value));
        let text = shorten(&tick.text, left - 1);
        canvas.text((left - 1 - columns(&text), row), &text, FAINT);
        canvas.put((left, row), '┤', FAINT);
    }
    across(&mut canvas, &frame, &x);
    curves(&mut canvas, &frame, scatter, (&x, &y));
    for (place, dot) in scatter.dots.iter().enumerate() {
        let Some(up) = dot
            .y
            .filter(|v| v.middle.is_finite() && dot.x.middle.is_finite())
        else {
            continue;
        };
        let (column, row) = (
            frame.column(&x, dot.x.middle),
            frame.row(y.share(up.middle)),
        );
        if dot.x.low.is_finite() && dot.x.high.is_finite() {
            for c in frame.column(&x, dot.x.low)..=frame.column(&x, dot.x.high) {
                canvas.put((c, row), '─', ink(place));
            }
        }
        if up.low.is_finite() && up.high.is_finite() {
            for r in frame.row(y.share(up.high))..=frame.row(y.share(up.low)) {
                canvas.put((column, r), '│', ink(place));
            }
        }
    }
    // Letters last: an interval must not hide a point.
    for (place, dot) in scatter.dots.iter().enumerate() {
        if let Some(up) = dot
            .y
            .filter(|v| v.middle.is_finite() && dot.x.middle.is_finite())
        {
            let at = (
                frame.column(&x, dot.x.middle),
                frame.row(y.share(up.middle)),
            );
            canvas.put(at, mark(place), ink(place));
        }
    }
    for (i, line) in legend.iter().enumerate() {
        canvas.text((0, frame.top + frame.height + 3 + i), line, None);
    }
    canvas.print(colour).trim_end_matches('\n').to_owned() + "\n"
}

/// `a baseline  b none`, in lines.
fn legend(scatter: &Scatter, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (place, dot) in scatter.dots.iter().enumerate() {
        let name = shorten(&clean(&dot.name), 30.min(width - 4));
        let entry = format!("{} {name}", mark(place));
        let last = lines.last_mut().expect("never empty");
        let gap = if last.is_empty() { 0 } else { 3 };
        if columns(last) + gap + columns(&entry) > width {
            lines.push(entry);
        } else {
            *last += &" ".repeat(gap);
            *last += &entry;
        }
    }
    lines
}

/// The axis below the plot.
fn across(canvas: &mut Canvas, frame: &Frame, x: &Ruler) {
    let row = frame.top + frame.height;
    canvas.put((frame.left, row), '└', FAINT);
    for column in 0..frame.width {
        canvas.put((frame.left + 1 + column, row), '─', FAINT);
    }
    let mut free = 0;
    for tick in &x.ticks {
        let column = frame.column(x, tick.value);
        canvas.put((column, row), '┴', FAINT);
        let wide = columns(&tick.text);
        let at = column.saturating_sub(wide / 2);
        if at >= free && at + wide <= frame.left + 1 + frame.width {
            canvas.text((at, row + 1), &tick.text, FAINT);
            free = at + wide + 1;
        }
    }
    let heading = shorten(&x.heading, frame.width);
    let at = frame.left + 1 + frame.width - columns(&heading);
    canvas.text((at, row + 2), &heading, FAINT);
}

fn curves(canvas: &mut Canvas, frame: &Frame, scatter: &Scatter, (x, y): (&Ruler, &Ruler)) {
    let mut dots = Dots::new(frame.width, frame.height);
    let (wide, high) = ((frame.width * 2) as f64, (frame.height * 4) as f64);
    for (place, curve) in scatter.curves.iter().enumerate() {
        let places: Vec<(i64, i64)> = curve
            .points
            .iter()
            .map(|(a, b)| (x.share(*a), y.share(*b)))
            .filter(|(a, b)| (0.0..=1.0).contains(a) && (0.0..=1.0).contains(b))
            .map(|(a, b)| ((a * (wide - 1.0)) as i64, ((1.0 - b) * (high - 1.0)) as i64))
            .collect();
        for pair in places.windows(2) {
            straight(pair[0], pair[1], |a, b| dots.set(a, b, ink(place + 1)));
        }
    }
    for ((column, row), glyph, ink) in dots.characters() {
        canvas.put((frame.left + 1 + column, frame.top + row), glyph, ink);
    }
}

/// Points by one number, each in a row of its own.
fn rows(scatter: &Scatter, width: usize, colour: Colour) -> String {
    let longest = scatter.dots.iter().map(|d| columns(&clean(&d.name))).max();
    let left = (longest.unwrap_or(1) + 1).min(width / 3);
    let frame = Frame {
        left,
        top: 1,
        width: (width - left - 1).max(1),
        height: scatter.dots.len().max(1),
    };
    let x = scatter.across((frame.width / 12).max(2));
    let mut canvas = Canvas::new(width, frame.top + frame.height + 3);
    canvas.text((0, 0), &shorten(&clean(&scatter.title), width), None);
    for (place, dot) in scatter.dots.iter().enumerate() {
        let row = frame.top + place;
        canvas.text((0, row), &shorten(&clean(&dot.name), left - 1), None);
        canvas.put((left, row), '│', FAINT);
        if !dot.x.middle.is_finite() {
            continue;
        }
        if dot.x.low.is_finite() && dot.x.high.is_finite() {
            for column in frame.column(&x, dot.x.low)..=frame.column(&x, dot.x.high) {
                canvas.put((column, row), '─', ink(place));
            }
        }
        canvas.put((frame.column(&x, dot.x.middle), row), '●', ink(place));
    }
    across(&mut canvas, &frame, &x);
    canvas.print(colour).trim_end_matches('\n').to_owned() + "\n"
}
