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

/// A table with numbers to the right.
pub(crate) fn table(table: &Table) -> String {
    let side = |align: Align| match align {
        Align::Left | Align::Words => "left",
        Align::Right => "right",
    };
    let row = |tag: &str, cells: &mut dyn Iterator<Item = (&str, Align)>| {
        let cells = cells.map(|(text, align)| {
            let text = escaped(&clean(text));
            format!("<{tag} align=\"{}\">{text}</{tag}>", side(align))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let columns = table.columns();
    let mut out = TABLE.to_owned();
    out += &row(
        "th",
        &mut columns.iter().map(|(name, align)| (name.as_str(), *align)),
    );
    for cells in table.rows() {
        let cells = cells.iter().zip(columns);
        out += &row(
            "td",
            &mut cells.map(|(text, (_, align))| (text.as_str(), *align)),
        );
    }
    out + "</table>\n"
}

/// Parts as paragraphs and tables; labels are bold.
pub(crate) fn parts(parts: &[Part]) -> String {
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
            Part::Table(one) => out += &format!("{}<br>\n", table(one)),
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
