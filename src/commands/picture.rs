//! Where a picture goes: a file, or the terminal.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};
use surfaces::terminal::Colour;
use surfaces::{Chart, png, svg, terminal};

use super::option;
use crate::failure::Failure;
use crate::output;

/// Pixels of a picture when nothing else is asked for.
const PICTURE: (u32, u32) = (1200, 600);

/// Columns and rows of a picture in a pipe.
const PIPE: (u16, u16) = (80, 24);

/// `-o FILE`.
pub(super) fn file_argument(help: &'static str) -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .value_hint(clap::ValueHint::FilePath)
        .help(help)
}

/// `--size`, in pixels.
pub(super) fn size_argument(help: &'static str) -> Arg {
    option("size", "WIDTHxHEIGHT", help)
}

/// `--colour`, of the terminal.
pub(super) fn colour_argument() -> Arg {
    option(
        "colour",
        "WHEN",
        "Colours in the terminal: auto, true, 256, none",
    )
    .alias("color")
    .value_parser(["auto", "true", "256", "none"])
    .default_value("auto")
}

/// How the bytes of a picture are made.
type Format = fn(&Chart, (u32, u32)) -> Result<Vec<u8>, Failure>;

/// How to make the bytes of `path`, told by its ending.
fn format_of(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => Ok(|chart, (w, h)| {
            png::picture(chart, w, h).map_err(|e| Failure::work(format!("drawing: {e}")))
        }),
        Some("svg") => Ok(|chart, (w, h)| Ok(svg::picture(chart, w, h).into_bytes())),
        _ => Err(Failure::input(format!(
            "{}: pictures are written as .png or .svg\nhint: for example -o disk.png",
            path.display()
        ))),
    }
}

fn size(matches: &ArgMatches) -> Result<Option<(u32, u32)>, Failure> {
    let Some(text) = matches.get_one::<String>("size") else {
        return Ok(None);
    };
    let pair = text
        .split_once('x')
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match pair {
        Some((w, h)) if (64..=8192).contains(&w) && (64..=8192).contains(&h) => Ok(Some((w, h))),
        _ => Err(Failure::input(format!(
            "--size {text}: expected WIDTHxHEIGHT, each 64 to 8192\nhint: for example 1200x600"
        ))),
    }
}

/// A file that a picture is written to.
pub(super) struct File<'m> {
    path: &'m Path,
    format: Format,
    /// Pixels, where they are asked for.
    size: Option<(u32, u32)>,
}

impl File<'_> {
    /// As asked for; what is wrong with it is told before anything is read.
    pub(super) fn of(matches: &ArgMatches) -> Result<Option<File<'_>>, Failure> {
        let size = size(matches)?;
        let Some(path) = matches.get_one::<PathBuf>("output") else {
            return Ok(None);
        };
        let format = format_of(path)?;
        Ok(Some(File { path, format, size }))
    }

    /// Draws and writes it.
    pub(super) fn write(&self, chart: &Chart) -> Result<(), Failure> {
        let usual = match &chart.ranges {
            // Their number says how high it is.
            Some(ranges) => (PICTURE.0, 180 + 60 * ranges.rows.len().min(60) as u32),
            None => PICTURE,
        };
        let size = self.size.unwrap_or(usual);
        output::file(self.path, &(self.format)(chart, size)?)
    }

    /// Writes what `draw` draws as SVG in a size.
    pub(super) fn write_drawn(&self, draw: impl FnOnce(u32, u32) -> String) -> Result<(), Failure> {
        let (w, h) = self.size.unwrap_or(PICTURE);
        let svg = draw(w, h);
        if self.path.extension().is_some_and(|e| e == "svg") {
            return output::file(self.path, svg.as_bytes());
        }
        let bytes = png::of_svg(&svg, w, h).map_err(|e| Failure::work(format!("drawing: {e}")))?;
        output::file(self.path, &bytes)
    }
}

/// The picture for the terminal, as large as that is.
pub(super) fn in_terminal(chart: &Chart, matches: &ArgMatches) -> String {
    let colour = match matches.get_one::<String>("colour").map(String::as_str) {
        Some("true") => Colour::True,
        Some("256") => Colour::Palette256,
        Some("none") => Colour::None,
        _ => colour_here(),
    };
    // A row stays free for the prompt that follows.
    let (width, height) = output::terminal_size().map_or(PIPE, |(w, h)| (w, h.saturating_sub(1)));
    terminal::picture(chart, width, height, colour)
}

/// What the terminal on stdout can show (<https://no-color.org>).
pub(super) fn colour_here() -> Colour {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if output::terminal_size().is_none() || !variable("NO_COLOR").is_empty() {
        Colour::None
    } else if ["truecolor", "24bit"].contains(&variable("COLORTERM").as_str()) {
        Colour::True
    } else if variable("TERM").contains("256color") {
        Colour::Palette256
    } else {
        Colour::None
    }
}
