//! What is told in sections of texts, tables and pictures: an experiment. The page, the mail and
//! Markdown have the same sections in the same order, each in its own way.

pub mod mail;
pub mod markdown;
pub mod page;

use run::Nanos;

use crate::part::Part;
use crate::png::{self, PngError};
use crate::scatter::{self, Scatter};

/// What is handed on.
#[derive(Clone, Debug)]
pub struct Document {
    /// In one line.
    pub title: String,
    /// What it comes to, in a few sentences.
    pub answer: String,
    /// The rest, in the order of reading.
    pub sections: Vec<Section>,
    /// When what it tells of began.
    pub started: Nanos,
    /// When it was made.
    pub made: Nanos,
}

/// A part with a heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// A few words.
    pub heading: String,
    /// Its texts and tables.
    pub parts: Vec<Part>,
    /// Its picture, which stands above them.
    pub picture: Option<Scatter>,
}

/// Pixels that a picture is wide, and those of its letters.
const WIDE: (u32, f64) = (1000, 13.0);

/// The same on a phone.
const NARROW: (u32, f64) = (380, 11.0);

/// Letters that a picture with two axes is high.
const HIGH: f64 = 34.0;

/// Letters that each point takes where it has a row of its own, and what is around them.
const ROW: (f64, f64) = (3.0, 7.0);

/// Width and height in pixels.
fn size(picture: &Scatter, (width, letter): (u32, f64)) -> (u32, u32) {
    let letters = match picture.y {
        Some(_) => HIGH,
        None => ROW.1 + ROW.0 * picture.dots.len() as f64,
    };
    (width, (letters * letter) as u32)
}

/// The drawing at those pixels.
fn drawing(picture: &Scatter, of: (u32, f64)) -> String {
    scatter::lettered(picture, size(picture, of), of.1)
}

impl Section {
    /// Without a picture.
    pub fn new(heading: impl Into<String>, parts: Vec<Part>) -> Section {
        Section {
            heading: heading.into(),
            parts,
            picture: None,
        }
    }
}

impl Document {
    /// The pictures as PNG, with the places of their sections.
    pub fn pictures(&self) -> Result<Vec<(usize, Vec<u8>)>, PngError> {
        let sections = self.sections.iter().enumerate();
        let drawn = sections.filter_map(|(place, s)| Some((place, s.picture.as_ref()?)));
        drawn
            .map(|(place, picture)| {
                let (width, height) = size(picture, WIDE);
                let bytes = png::of_svg(&drawing(picture, WIDE), width, height)?;
                Ok((place, bytes))
            })
            .collect()
    }
}
