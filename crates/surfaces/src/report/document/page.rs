//! A document as one HTML file, in the colours and the type of the page of `sonde view`. It has no
//! script, and its policy forbids it to ask anybody for anything.

use super::{Document, NARROW, WIDE, drawing};
use crate::report::hyper::{escaped, toned_parts};
use crate::scatter::Scatter;
use crate::text::clean;

/// Nothing but the style within it.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
     style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">";

const STYLE: &str = include_str!("page.css");

/// The file.
pub fn text(document: &Document) -> String {
    let title = escaped(&clean(&document.title));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{POLICY}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><span>Sonde</span><h1>{title}</h1></header>\n<p class=\"answer\">{}</p>\n",
        escaped(&clean(&document.answer))
    );
    for section in &document.sections {
        let heading = escaped(&clean(&section.heading));
        out += &format!("<section>\n<h2>{heading}</h2>\n");
        if let Some(picture) = &section.picture {
            out += &pictures(picture, &heading);
        }
        out += &toned_parts(&section.parts, tone);
        out += "</section>\n";
    }
    let made = run::manifest::rfc3339(document.made);
    let made = made.get(..16).unwrap_or(&made).replace('T', " ");
    out + &format!("<footer>Made {made} UTC by sonde.</footer>\n</main>\n</body>\n</html>\n")
}

/// The picture twice: a window shows the one whose letters can be read in it.
fn pictures(picture: &Scatter, heading: &str) -> String {
    let one = |(class, size)| {
        let drawing = drawing(picture, size);
        format!("<div class=\"{class}\" role=\"img\" aria-label=\"{heading}\">{drawing}</div>\n")
    };
    [("wide", WIDE), ("narrow", NARROW)].map(one).concat()
}

/// Verdicts, and states of trials: those columns have words of this program only. Intervals, which
/// may have several lines.
fn tone(column: &str, text: &str) -> Option<&'static str> {
    match (column, text) {
        ("verdict", "better") => Some("good"),
        ("verdict", "worse" | "DIFFERS") | ("state", "failed") => Some("bad"),
        ("95 %", _) => Some("range"),
        _ => None,
    }
}
