//! A document as a mail, like that of a run ([`crate::report::mail`]).

use super::{Document, WIDE};
use crate::part::{Part, render, untied};
use crate::png::PngError;
use crate::report::hyper::{escaped, parts};
use crate::report::mail::{Letter, WIDTH, cid, subject};
use crate::table::wrapped;
use crate::text::clean;

/// The mail. Lines end as RFC 5322 has them.
pub fn bytes(document: &Document) -> Result<Vec<u8>, PngError> {
    let letter = Letter {
        title: &document.title,
        started: document.started,
        made: document.made,
        plain: plain(document),
        html: html(document),
        pictures: document.pictures()?,
    };
    Ok(letter.bytes())
}

fn plain(document: &Document) -> String {
    let mut out = wrapped("", &clean(&document.title), WIDTH);
    out += &format!("\n{}", wrapped("", &clean(&document.answer), WIDTH));
    for section in &document.sections {
        // Of a section that is a picture there is nothing to read.
        if section.parts.is_empty() {
            continue;
        }
        out += &format!("\n\n{}\n", wrapped("", &clean(&section.heading), WIDTH));
        for part in &section.parts {
            out += &match part {
                Part::Line(line) => wrapped("", line, WIDTH),
                part => render(std::slice::from_ref(part), WIDTH),
            };
        }
    }
    untied(&out)
}

fn html(document: &Document) -> String {
    let title = escaped(&subject(&document.title));
    let mut out = format!(
        "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>\n<p><b>{title}</b></p>\n<p>{}</p>\n",
        escaped(&clean(&document.answer))
    );
    for (place, section) in document.sections.iter().enumerate() {
        let heading = escaped(&clean(&section.heading));
        out += &format!("<hr>\n<p><b>{heading}</b></p>\n");
        if section.picture.is_some() {
            // The attribute is for programs that know no styles.
            out += &format!(
                "<p><img src=\"cid:{}\" alt=\"{heading}\" width=\"{}\" style=\"max-width:100%\"></p>\n",
                cid(place),
                WIDE.0
            );
        }
        out += &parts(&section.parts);
    }
    out + "</body>\n</html>\n"
}
