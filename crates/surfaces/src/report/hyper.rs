//! HTML that takes everything from the page or mail it stands in: no fonts, no sizes, no
//! colours but those of lines. So it reads as its neighbours do, and pastes well.

use crate::part::{Part, untied};
use crate::table::{Align, Table};
use crate::text::clean;

/// `text` as text of an element or value of an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // Numbers keep their units on their line.
            '\u{a0}' => out += "&nbsp;",
            c => out.push(c),
        }
    }
    out
}

/// Lines around the cells; attributes, because programs that take pasted tables know them.
const TABLE: &str =
    "<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\" style=\"border-collapse:collapse\">\n";

/// The class of a cell by the name of its column and its text, if it is to stand out.
pub(crate) type Tone = fn(column: &str, text: &str) -> Option<&'static str>;

/// A table with numbers to the right.
pub(crate) fn table(table: &Table) -> String {
    toned(table, |_, _| None)
}

/// The same, some of its cells with a class for a style.
pub(crate) fn toned(table: &Table, tone: Tone) -> String {
    let side = |align: Align| match align {
        Align::Left | Align::Words => "left",
        Align::Right => "right",
    };
    let row = |tag: &str, cells: &mut dyn Iterator<Item = (&str, &(String, Align))>| {
        let cells = cells.map(|(text, (column, align))| {
            let class = tone(column, text).filter(|_| tag == "td");
            let class = class.map_or_else(String::new, |c| format!(" class=\"{c}\""));
            let text = escaped(&clean(text));
            format!("<{tag} align=\"{}\"{class}>{text}</{tag}>", side(*align))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let columns = table.columns();
    let mut out = TABLE.to_owned();
    out += &row(
        "th",
        &mut columns.iter().map(|column| (column.0.as_str(), column)),
    );
    for cells in table.rows() {
        let cells = cells.iter().zip(columns);
        out += &row("td", &mut cells.map(|(text, c)| (text.as_str(), c)));
    }
    out + "</table>\n"
}

/// Parts as paragraphs and tables; labels are bold.
pub(crate) fn parts(parts: &[Part]) -> String {
    toned_parts(parts, |_, _| None)
}

/// The same, some cells of the tables with a class for a style.
pub(crate) fn toned_parts(parts: &[Part], tone: Tone) -> String {
    let (mut out, mut open) = (String::new(), false);
    for part in parts {
        if let Part::Entry { label, text } = part {
            let text = escaped(&text.replace('\n', " "));
            if open && label.is_empty() {
                out += &format!("<br>\n{text}");
                continue;
            }
            out += if open { "</p>\n" } else { "" };
            out += &format!("<p><b>{}</b> {text}", escaped(label));
            open = true;
            continue;
        }
        out += if open { "</p>\n" } else { "" };
        open = false;
        match part {
            Part::Line(line) => out += &format!("<p>{}</p>\n", escaped(&untied(line))),
            Part::Table(one) => out += &format!("{}<br>\n", toned(one, tone)),
            Part::Gap | Part::Entry { .. } => {}
        }
    }
    out + if open { "</p>\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        let hostile = "<img src=x onerror=\"alert('1')\"> & \u{202e}";
        let mut one = Table::new();
        one.column(hostile, Align::Left);
        one.row(vec![hostile.into()]);
        let all = [
            Part::Line(hostile.into()),
            Part::entry(hostile, hostile),
            Part::entry("", hostile),
            Part::Table(one),
        ];
        let text = parts(&all);
        assert!(
            !text.contains("<img") && !text.contains("\"alert"),
            "{text}"
        );
        assert_eq!(text.matches("&lt;img src=x onerror=&quot;").count(), 6);
        // What stands below an entry is of the same paragraph.
        assert_eq!(text.matches("<p>").count(), text.matches("</p>").count());
    }
}
