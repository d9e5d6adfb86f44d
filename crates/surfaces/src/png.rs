//! Pictures as PNG: the SVG of [`crate::svg`], drawn with a font that is part of the
//! program, so that it looks the same everywhere.

use std::sync::Arc;

use epaint_default_fonts::UBUNTU_LIGHT;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use crate::chart::Chart;
use crate::svg;

/// Why a PNG could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The drawing is not valid: a fault of this program.
    #[error("the drawing could not be read back: {0}")]
    Drawing(#[from] usvg::Error),
    /// Too large for the memory.
    #[error("no memory for a picture of {0} x {1} pixels")]
    Memory(u32, u32),
    /// The encoder refused.
    #[error("the picture could not be encoded: {0}")]
    Encoding(String),
}

/// The chart as a PNG of this size in pixels (held between 64 and 8192).
pub fn picture(chart: &Chart, width: u32, height: u32) -> Result<Vec<u8>, PngError> {
    let (width, height) = svg::held(width, height);
    of_svg(&svg::picture(chart, width, height), width, height)
}

/// The pixels of an SVG that was made for this size.
pub fn of_svg(drawing: &str, width: u32, height: u32) -> Result<Vec<u8>, PngError> {
    let (width, height) = svg::held(width, height);
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(UBUNTU_LIGHT)));
    let family = fonts.faces().next().and_then(|f| f.families.first());
    let family = family.map_or_else(String::new, |f| f.0.clone());
    fonts.set_sans_serif_family(family.clone());
    let options = usvg::Options {
        font_family: family,
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(drawing, &options)?;
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Memory(width, height))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|e| PngError::Encoding(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Line, Point};
    use crate::random::Random;

    fn decoded(chart: &Chart, width: u32, height: u32) -> Pixmap {
        Pixmap::decode_png(&picture(chart, width, height).unwrap()).unwrap()
    }

    #[test]
    fn the_line_and_the_text_are_drawn() {
        let points = [1.0, 2.0].map(|at| Point {
            from: at,
            to: at + 1.0,
            value: at,
        });
        let chart = Chart {
            title: "Title".into(),
            seconds: (1.0, 3.0),
            lines: vec![Line {
                name: "a".into(),
                right: false,
                points: points.to_vec(),
                mean: 1.5,
                max: 2.0,
            }],
            ..Chart::default()
        };
        let pixels = decoded(&chart, 400, 200);
        assert_eq!((pixels.width(), pixels.height()), (400, 200));
        let count = |of: &dyn Fn(u8, u8, u8) -> bool| {
            let hits = pixels
                .pixels()
                .iter()
                .filter(|p| of(p.red(), p.green(), p.blue()));
            hits.count()
        };
        let blue = count(&|r, g, b| b > g && i32::from(b) > i32::from(r) + 60);
        assert!(blue > 300, "{blue} pixels of the line");
        let white = count(&|r, g, b| (r, g, b) == (255, 255, 255));
        assert!(white > 60_000, "{white} pixels of the background");
        // The title stands in the first rows, and nothing else does.
        let dark = pixels.pixels()[..400 * 22]
            .iter()
            .filter(|p| p.red() < 120)
            .count();
        assert!(dark > 40, "{dark} pixels of the title");
    }

    #[test]
    fn any_chart_has_the_size_asked_for() {
        let mut random = Random(5);
        for _ in 0..12 {
            let (width, height) = (64 + random.below(300) as u32, 64 + random.below(200) as u32);
            let pixels = decoded(&random.chart(), width, height);
            assert_eq!((pixels.width(), pixels.height()), (width, height));
        }
    }
}
