//! A grid of characters with colours, printed as lines.

use std::fmt::Write as _;

use crate::palette::{Rgb, nearest_256};
use crate::text::columns_of;

use super::Colour;

/// One character place.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    glyph: char,
    ink: Option<Rgb>,
    paper: Option<Rgb>,
}

const BLANK: Cell = Cell {
    glyph: ' ',
    ink: None,
    paper: None,
};

/// What follows a glyph two columns wide.
const COVERED: char = '\0';

pub(crate) struct Canvas {
    width: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize) -> Canvas {
        Canvas {
            width,
            cells: vec![BLANK; width * height],
        }
    }

    /// Whether nothing is there yet.
    pub(crate) fn is_blank(&self, (x, y): (usize, usize)) -> bool {
        x < self.width && self.cells.get(y * self.width + x) == Some(&BLANK)
    }

    /// Sets a place; outside the canvas nothing happens.
    pub(crate) fn put(&mut self, (x, y): (usize, usize), glyph: char, ink: Option<Rgb>) {
        self.paint((x, y), glyph, ink, None);
    }

    pub(crate) fn paint(
        &mut self,
        (x, y): (usize, usize),
        glyph: char,
        ink: Option<Rgb>,
        paper: Option<Rgb>,
    ) {
        if x < self.width
            && let Some(cell) = self.cells.get_mut(y * self.width + x)
        {
            *cell = Cell { glyph, ink, paper };
        }
    }

    /// Writes clean text from `x` on, as far as there is room; returns where it ended.
    pub(crate) fn text(
        &mut self,
        (mut x, y): (usize, usize),
        text: &str,
        ink: Option<Rgb>,
    ) -> usize {
        for glyph in text.chars() {
            let wide = columns_of(glyph);
            if wide == 0 {
                continue;
            }
            if x + wide > self.width {
                break;
            }
            self.put((x, y), glyph, ink);
            if wide == 2 {
                self.put((x + 1, y), COVERED, None);
            }
            x += wide;
        }
        x
    }

    /// The lines, without blanks at their ends, each with a newline.
    pub(crate) fn print(&self, colour: Colour) -> String {
        let mut out = String::new();
        for row in self.cells.chunks(self.width.max(1)) {
            let used = row
                .iter()
                .rposition(|c| *c != BLANK)
                .map_or(0, |last| last + 1);
            let mut now = (None, None);
            for cell in row[..used].iter().filter(|c| c.glyph != COVERED) {
                let wanted = (cell.ink.filter(|_| cell.glyph != ' '), cell.paper);
                if colour != Colour::None && wanted != now {
                    switch(&mut out, wanted, colour);
                    now = wanted;
                }
                out.push(cell.glyph);
            }
            if now != (None, None) {
                out.push_str("\x1b[0m");
            }
            out.push('\n');
        }
        out
    }
}

fn switch(out: &mut String, (ink, paper): (Option<Rgb>, Option<Rgb>), colour: Colour) {
    out.push_str("\x1b[0");
    for (kind, rgb) in [(38, ink), (48, paper)] {
        let Some(rgb) = rgb else { continue };
        // Writing to a String cannot fail.
        let _ = match colour {
            Colour::Palette256 => write!(out, ";{kind};5;{}", nearest_256(rgb)),
            _ => write!(out, ";{kind};2;{};{};{}", rgb.0, rgb.1, rgb.2),
        };
    }
    out.push('m');
}

/// Dots of 2 x 4 to a character (Unicode block 2800: braille patterns).
pub(crate) struct Dots {
    width: usize,
    height: usize,
    cells: Vec<(u8, Option<Rgb>)>,
}

impl Dots {
    /// A field of so many characters.
    pub(crate) fn new(width: usize, height: usize) -> Dots {
        Dots {
            width,
            height,
            cells: vec![(0, None); width * height],
        }
    }

    /// Sets the dot at `x` from the left and `y` from the top, in dots.
    pub(crate) fn set(&mut self, x: i64, y: i64, ink: Option<Rgb>) {
        // The bit of each dot, by column and row: the numbering is from six-dot braille.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x < self.width * 2 && y < self.height * 4 {
            let cell = &mut self.cells[y / 4 * self.width + x / 2];
            cell.0 |= BITS[x % 2][y % 4];
            cell.1 = ink;
        }
    }

    /// The characters that have a dot.
    pub(crate) fn characters(&self) -> impl Iterator<Item = ((usize, usize), char, Option<Rgb>)> {
        let filled = self.cells.iter().enumerate().filter(|(_, c)| c.0 != 0);
        filled.map(|(i, (bits, ink))| {
            let glyph = char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' ');
            ((i % self.width, i / self.width), glyph, *ink)
        })
    }
}

/// The points of a straight line between two points, both included (Bresenham).
pub(crate) fn straight(from: (i64, i64), to: (i64, i64), mut visit: impl FnMut(i64, i64)) {
    let (dx, dy) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
    let (step_x, step_y) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let (mut x, mut y) = from;
    let mut error = dx + dy;
    loop {
        visit(x, y);
        if (x, y) == to {
            return;
        }
        let doubled = 2 * error;
        if doubled >= dy {
            error += dy;
            x += step_x;
        }
        if doubled <= dx {
            error += dx;
            y += step_y;
        }
    }
}
