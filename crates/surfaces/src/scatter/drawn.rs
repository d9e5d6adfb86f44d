//! The picture as SVG.
#![allow(
    clippy::many_single_char_names,
    reason = "x, y, w, h and e (the size of a letter) are what they are called in drawings"
)]

use crate::axis::Ruler;
use crate::palette::{Rgb, SERIES};
use crate::svg::held;
use crate::svg::write::{Anchor, Pen, Svg, Type, number};
use crate::text::{clean, em, fit};

use super::{Dot, Scatter, Value};

const INK: Rgb = Rgb(0x22, 0x26, 0x2B);
const FAINT: Rgb = Rgb(0x5A, 0x61, 0x69);
const GRID: Rgb = Rgb(0xDD, 0xE0, 0xE4);

/// Where the plot is, in pixels.
struct Frame {
    e: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    width: f64,
}

impl Frame {
    fn x(&self, ruler: &Ruler, value: f64) -> f64 {
        self.left + ruler.share(value).clamp(0.0, 1.0) * (self.right - self.left)
    }

    fn y(&self, share: f64) -> f64 {
        self.bottom - share.clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// The picture as an SVG of this size in pixels (held between 64 and 8192).
pub fn svg(scatter: &Scatter, width: u32, height: u32) -> String {
    let (width, height) = held(width, height);
    let e = f64::from(width).min(f64::from(height) * 1.6) / 64.0;
    lettered(scatter, (width, height), e)
}

/// The same with letters of that height in pixels (held between 6 and 40), where they are to be
/// as large as those of the text around the picture.
pub fn lettered(scatter: &Scatter, (width, height): (u32, u32), letter: f64) -> String {
    let (width, height) = held(width, height);
    let (w, h) = (f64::from(width), f64::from(height));
    let e = letter.clamp(6.0, 40.0);
    let mut svg = Svg::new(width, height, &scatter.title);
    let x = scatter.across(((w / e) / 9.0).clamp(2.0, 10.0) as usize);
    let y = scatter.upwards(((h / e) / 4.0).clamp(2.0, 10.0) as usize);
    let gutter = match &y {
        Some(y) => y.ticks.iter().map(|t| em(&t.text)).fold(1.0, f64::max) + 1.5,
        None => {
            scatter
                .dots
                .iter()
                .map(|d| em(&clean(&d.name)))
                .fold(1.0, f64::max)
                + 1.5
        }
    };
    let notes = scatter.notes.len() as f64 * 1.4;
    let frame = Frame {
        e,
        left: (gutter * e).min(w * 0.4),
        right: w - 2.0 * e,
        top: (4.6 - untitled(scatter)) * e,
        bottom: (h - (4.2 + notes) * e).max(5.0 * e),
        width: w,
    };
    headings(&mut svg, &frame, scatter, y.as_ref());
    axes(&mut svg, &frame, &x, y.as_ref());
    curves(&mut svg, &frame, scatter, &x, y.as_ref());
    for (place, dot) in scatter.dots.iter().enumerate() {
        let row = 1.0 - (place as f64 + 0.5) / scatter.dots.len() as f64;
        draw(&mut svg, &frame, (dot, place), &x, y.as_ref(), row);
    }
    if scatter.is_empty() {
        let at = (
            frame.left.midpoint(frame.right),
            frame.top.midpoint(frame.bottom),
        );
        svg.text(
            at,
            Anchor::Middle,
            plain(e * 1.3, FAINT),
            "no data",
            "no data",
        );
    }
    for (i, note) in scatter.notes.iter().enumerate() {
        let at = (e, frame.bottom + (4.0 + 1.4 * i as f64) * e);
        let note = clean(note);
        let short = fit(&note, (w - 2.0 * e) / (e * 0.9));
        svg.text(at, Anchor::Start, plain(e * 0.9, FAINT), &short, &note);
    }
    svg.finish()
}

fn plain(size: f64, fill: Rgb) -> Type {
    Type {
        size,
        fill,
        bold: false,
    }
}

fn colour(place: usize) -> Rgb {
    SERIES[place % SERIES.len()]
}

/// Letters that are free above the plot of a picture without a title.
fn untitled(scatter: &Scatter) -> f64 {
    match (scatter.title.is_empty(), &scatter.y) {
        (false, _) => 0.0,
        (true, Some(_)) => 2.4,
        (true, None) => 3.6,
    }
}

fn headings(svg: &mut Svg, frame: &Frame, scatter: &Scatter, y: Option<&Ruler>) {
    let e = frame.e;
    let bold = Type {
        size: e * 1.3,
        fill: INK,
        bold: true,
    };
    let title = clean(&scatter.title);
    let short = fit(&title, (frame.width - 2.0 * e) / bold.size);
    if !title.is_empty() {
        svg.text((e, 2.0 * e), Anchor::Start, bold, &short, &title);
    }
    if let Some(y) = y {
        let short = fit(&y.heading, (frame.width - 2.0 * e) / e);
        svg.text(
            (e, frame.top - 0.9 * e),
            Anchor::Start,
            plain(e, FAINT),
            &short,
            &y.heading,
        );
    }
}

fn axes(svg: &mut Svg, frame: &Frame, x: &Ruler, y: Option<&Ruler>) {
    let e = frame.e;
    let faint = Pen {
        colour: GRID,
        width: e * 0.08,
        dash: 0.0,
    };
    for tick in &x.ticks {
        let at = frame.x(x, tick.value);
        svg.line((at, frame.top), (at, frame.bottom), faint);
        let below = (at, frame.bottom + 1.4 * e);
        svg.text(
            below,
            Anchor::Middle,
            plain(e, FAINT),
            &tick.text,
            &tick.text,
        );
    }
    for tick in y.iter().flat_map(|y| &y.ticks) {
        let at = frame.y(y.map_or(0.0, |y| y.share(tick.value)));
        svg.line((frame.left, at), (frame.right, at), faint);
        let beside = (frame.left - 0.5 * e, at + 0.35 * e);
        svg.text(beside, Anchor::End, plain(e, FAINT), &tick.text, &tick.text);
    }
    let pen = Pen {
        colour: FAINT,
        width: e * 0.1,
        dash: 0.0,
    };
    svg.line((frame.left, frame.bottom), (frame.right, frame.bottom), pen);
    svg.line((frame.left, frame.top), (frame.left, frame.bottom), pen);
    let short = fit(&x.heading, (frame.right - frame.left) / e);
    let at = (frame.right, frame.bottom + 2.8 * e);
    svg.text(at, Anchor::End, plain(e, FAINT), &short, &x.heading);
}

fn curves(svg: &mut Svg, frame: &Frame, scatter: &Scatter, x: &Ruler, y: Option<&Ruler>) {
    let Some(y) = y else { return };
    let e = frame.e;
    for (place, curve) in scatter.curves.iter().enumerate() {
        let known = curve
            .points
            .iter()
            .filter(|p| p.0.is_finite() && p.1.is_finite());
        let mut path = String::new();
        let mut last = None;
        for (i, (across, up)) in known.enumerate() {
            let at = (frame.x(x, *across), frame.y(y.share(*up)));
            path += &format!(
                "{}{} {}",
                if i == 0 { "M" } else { "L" },
                number(at.0),
                number(at.1)
            );
            last = Some(at);
        }
        let Some(last) = last else { continue };
        let pen = Pen {
            colour: colour(place + 1),
            width: e * 0.14,
            dash: if place == 0 { 0.0 } else { e * 0.6 },
        };
        svg.stroke(&path, pen);
        // Names stand under each other where the curves end close together.
        let at = (last.0, last.1 - (0.5 + 1.2 * place as f64) * e);
        let name = clean(&curve.name);
        svg.text(at, Anchor::End, plain(e * 0.95, pen.colour), &name, &name);
    }
}

/// A point with its intervals and its name.
fn draw(
    svg: &mut Svg,
    frame: &Frame,
    (dot, place): (&Dot, usize),
    x: &Ruler,
    y: Option<&Ruler>,
    row: f64,
) {
    let e = frame.e;
    let pen = Pen {
        colour: if y.is_none() || dot.y.is_some() {
            colour(place)
        } else {
            FAINT
        },
        width: e * 0.16,
        dash: 0.0,
    };
    let name = clean(&dot.name);
    if y.is_none() {
        let at = (frame.left - 0.5 * e, frame.y(row) + 0.35 * e);
        let short = fit(&name, (frame.left - e) / e);
        svg.text(at, Anchor::End, plain(e, INK), &short, &name);
    }
    let up = match (y, dot.y) {
        (Some(y), Some(value)) if value.middle.is_finite() => frame.y(y.share(value.middle)),
        (Some(_), _) => return,
        (None, _) => frame.y(row),
    };
    if !dot.x.middle.is_finite() {
        return;
    }
    let across = frame.x(x, dot.x.middle);
    if let Some((low, high)) = ends(dot.x) {
        svg.line((frame.x(x, low), up), (frame.x(x, high), up), pen);
    }
    if let (Some(y), Some((low, high))) = (y, dot.y.and_then(ends)) {
        let place = |v: f64| frame.y(y.share(v));
        svg.line((across, place(low)), (across, place(high)), pen);
    }
    let r = e * 0.42;
    let n = number;
    let circle = format!(
        "M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0z",
        n(across - r),
        n(up),
        n(2.0 * r),
        n(-2.0 * r),
        r = n(r)
    );
    svg.fill(&circle, pen.colour, false);
    if y.is_some() {
        // On the side where there is room.
        let room = frame.right - across;
        let (anchor, at) = if room > em(&name) * e + e {
            (Anchor::Start, across + 0.7 * e)
        } else {
            (Anchor::End, across - 0.7 * e)
        };
        svg.text(
            (at, up - 0.6 * e),
            anchor,
            plain(e * 0.95, INK),
            &name,
            &name,
        );
    }
}

/// Both ends of an interval, where it has a length.
fn ends(value: Value) -> Option<(f64, f64)> {
    let bounded = value.low.is_finite() && value.high.is_finite() && value.low < value.high;
    bounded.then_some((value.low, value.high))
}
