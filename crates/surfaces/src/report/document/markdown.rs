//! A document as Markdown, like a run ([`crate::report::markdown`]).

use super::Document;
use crate::report::markdown::{escaped, image, paragraph, parts};

/// The text; `picture` says where the picture of the section at that place is.
pub fn text(document: &Document, picture: &dyn Fn(usize) -> String) -> String {
    let mut out = format!(
        "# {}\n\n{}\n",
        escaped(&document.title),
        paragraph(&document.answer)
    );
    for (place, section) in document.sections.iter().enumerate() {
        let heading = escaped(&section.heading);
        out += &format!("\n## {heading}\n\n");
        if section.picture.is_some() {
            out += &image(&section.heading, &picture(place));
        }
        out += &parts(&section.parts);
    }
    out
}
