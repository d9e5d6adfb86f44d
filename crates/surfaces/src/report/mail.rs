//! A mail to send on: text and HTML alternatives, the pictures within it. It has no fonts and
//! no sizes, so it takes those of whoever writes and reads. `X-Unsent: 1` has mail programs
//! that know it open it as a draft (RFC 5322, RFC 2387, RFC 2392).

use mail_builder::MessageBuilder;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::date::Date;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::MimePart;
use run::Nanos;

use super::hyper::{escaped, parts, table};
use super::{PICTURE, Panel, Report};
use crate::part::{render, untied};
use crate::png::{self, PngError};
use crate::table::wrapped;
use crate::text::clean;

/// Columns of the text alternative.
pub(super) const WIDTH: usize = 78;

/// The mail. Lines end as RFC 5322 has them.
pub fn bytes(report: &Report) -> Result<Vec<u8>, PngError> {
    let mut pictures = Vec::new();
    for (place, panel) in report.panels.iter().enumerate() {
        if let Some(chart) = &panel.chart {
            pictures.push((place, png::picture(chart, PICTURE.0, PICTURE.1)?));
        }
    }
    let letter = Letter {
        title: &report.title,
        started: report.started,
        made: report.made,
        plain: plain(report),
        html: html(report),
        pictures,
    };
    Ok(letter.bytes())
}

/// What a mail is made of.
pub(super) struct Letter<'t> {
    pub(super) title: &'t str,
    /// When what it tells of began, which tells mails apart.
    pub(super) started: Nanos,
    pub(super) made: Nanos,
    pub(super) plain: String,
    pub(super) html: String,
    /// PNG by the place that [`cid`] names.
    pub(super) pictures: Vec<(usize, Vec<u8>)>,
}

impl Letter<'_> {
    pub(super) fn bytes(self) -> Vec<u8> {
        let mut related = vec![MimePart::new("text/html", self.html)];
        for (place, picture) in self.pictures {
            let name = format!("{}.png", place + 1);
            let part = MimePart::new("image/png", picture);
            let inline = ContentType::new("inline").attribute("filename", name);
            related.push(part.header("Content-Disposition", inline).cid(cid(place)));
        }
        let text = MimePart::new("text/plain", self.plain);
        let related = MimePart::new("multipart/related", related);
        let body = MimePart::new("multipart/alternative", vec![text, related]);
        let id = format!("{:x}.{:x}@sonde.invalid", self.started, self.made);
        let mut out = Vec::new();
        MessageBuilder::new()
            .subject(subject(self.title))
            .date(Date::new(self.made.div_euclid(1_000_000_000)))
            .message_id(id)
            .header("X-Unsent", Raw::new("1"))
            .body(body)
            .serialize(&mut out);
        out
    }
}

/// The title, in one line.
pub(super) fn subject(title: &str) -> String {
    let title = clean(title);
    let title = title.trim();
    if title.is_empty() {
        "Sonde".into()
    } else {
        title.to_owned()
    }
}

/// What the picture at a place is called within the mail.
pub(super) fn cid(place: usize) -> String {
    format!("panel{}@sonde.invalid", place + 1)
}

fn plain(report: &Report) -> String {
    let mut out = format!("{}\n", clean(&report.title));
    out += &render(&report.summary, WIDTH);
    for panel in &report.panels {
        let help = wrapped("", panel.answer.help, WIDTH);
        out += &format!("\n\n{}\n{help}\n", panel.answer.text);
        out += &panel
            .head
            .iter()
            .map(|h| format!("{h}\n"))
            .collect::<String>();
        out += &panel.table.render(WIDTH);
        for note in panel.notes_of_table() {
            out += &wrapped("note: ", note, WIDTH);
        }
    }
    untied(&out)
}

fn html(report: &Report) -> String {
    let mut out = String::from("<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>");
    out += &escaped(&subject(&report.title));
    out += "</title></head>\n<body>\n";
    out += &format!("<p><b>{}</b></p>\n", escaped(&subject(&report.title)));
    out += &parts(&report.summary);
    for (place, panel) in report.panels.iter().enumerate() {
        out += &self::panel(place, panel);
    }
    out + "</body>\n</html>\n"
}

fn panel(place: usize, panel: &Panel) -> String {
    let answer = &panel.answer;
    let expr = escaped(&clean(&answer.text));
    let mut out = format!("<hr>\n<p><b>{expr}</b><br>\n{}</p>\n", escaped(answer.help));
    if panel.chart.is_some() {
        // The attribute is for programs that know no styles; wide pictures shrink with others.
        out += &format!(
            "<p><img src=\"cid:{}\" alt=\"{expr}\" width=\"{}\" style=\"max-width:100%\"></p>\n",
            cid(place),
            PICTURE.0
        );
    }
    if let Some(head) = &panel.head {
        out += &format!("<p>{}</p>\n", escaped(&clean(head)));
    }
    out += &table(&panel.table);
    for note in panel.notes_of_table() {
        out += &format!("<p>Note: {}</p>\n", escaped(&clean(note)));
    }
    out
}
