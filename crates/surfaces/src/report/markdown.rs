//! Markdown for an issue, a wiki or a repository: tables as GitHub has them, pictures as files
//! beside it.

use super::{Panel, Report};
use crate::part::{Part, untied};
use crate::table::{Align, Table};
use crate::text::clean;

/// The text; `picture` says where the picture of the panel at that place is, if it has one.
pub fn text(report: &Report, picture: &dyn Fn(usize) -> Option<String>) -> String {
    let mut out = format!("# {}\n\n", escaped(&report.title));
    out += &parts(&report.summary);
    for (place, panel) in report.panels.iter().enumerate() {
        out += &self::panel(panel, picture(place).as_deref());
    }
    out
}

fn panel(panel: &Panel, picture: Option<&str>) -> String {
    let answer = &panel.answer;
    let mut out = format!(
        "\n## {}\n\n{}\n\n",
        code(&answer.text),
        escaped(answer.help)
    );
    if let Some(target) = picture {
        out += &image(&answer.text, target);
    }
    if let Some(head) = &panel.head {
        out += &format!("{}\n\n", escaped(head));
    }
    out += &table(&panel.table);
    for note in panel.notes_of_table() {
        out += &format!("\nNote: {}\n", escaped(note));
    }
    out
}

/// The picture in that file.
pub(super) fn image(name: &str, target: &str) -> String {
    // The name is ours, but the directory is the user's.
    let target = target
        .replace('%', "%25")
        .replace(' ', "%20")
        .replace('<', "%3C")
        .replace('>', "%3E");
    format!("![{}](<{target}>)\n\n", escaped(name))
}

pub(super) fn parts(parts: &[Part]) -> String {
    let mut out = String::new();
    let mut in_list = false;
    for part in parts {
        if let Part::Entry { label, text } = part {
            let text = escaped(&untied(text));
            out += &if in_list && label.is_empty() {
                format!("  {text}\n")
            } else {
                format!("- **{}** {text}\n", escaped(label))
            };
            in_list = true;
            continue;
        }
        out += if in_list { "\n" } else { "" };
        in_list = false;
        match part {
            Part::Line(line) => out += &format!("{}\n\n", paragraph(&untied(line))),
            Part::Table(one) => out += &format!("{}\n", table(one)),
            Part::Gap | Part::Entry { .. } => {}
        }
    }
    out
}

fn table(table: &Table) -> String {
    let row = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let columns = table.columns();
    let mut out = row(&mut columns.iter().map(|c| escaped(&c.0)));
    out += &row(&mut columns.iter().map(|c| match c.1 {
        Align::Left | Align::Words => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    }));
    for cells in table.rows() {
        out += &row(&mut cells.iter().map(|c| escaped(c)));
    }
    out
}

/// `text` so that Markdown takes nothing in it for its own. Underscores within words mean
/// nothing and stay as they are.
pub(super) fn escaped(text: &str) -> String {
    let text = clean(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let inside = before.is_alphanumeric() && rest.peek().is_some_and(|n| n.is_alphanumeric());
        if "\\`*[]<>|&~$".contains(c) || (c == '_' && !inside) {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// The same at the start of a line, where it could begin a heading or a list.
pub(super) fn paragraph(text: &str) -> String {
    let text = escaped(text);
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let begins = |at: usize, marks: &[char]| text[at..].starts_with(marks);
    if begins(0, &['#', '-', '+', '=']) {
        format!("\\{text}")
    } else if digits > 0 && begins(digits, &['.', ')']) {
        format!("{}\\{}", &text[..digits], &text[digits..])
    } else {
        text
    }
}

/// `text` as code, whatever backticks it has.
fn code(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let room = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{room}{text}{room}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        for (text, expected) in [
            ("a|b", "a\\|b"),
            ("<script>", "\\<script\\>"),
            ("[x](javascript:1)", "\\[x\\](javascript:1)"),
            ("mean_latency", "mean_latency"),
            ("_x_", "\\_x\\_"),
            ("`code`", "\\`code\\`"),
        ] {
            assert_eq!(escaped(text), expected, "{text}");
        }
        for (text, expected) in [
            ("# head\n- item", "\\# head - item"),
            ("-1", "\\-1"),
            ("1. item", "1\\. item"),
            ("*", "\\*"),
            ("12", "12"),
        ] {
            assert_eq!(paragraph(text), expected, "{text}");
        }
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
    }

    #[test]
    fn a_table_has_as_many_cells_in_each_line() {
        let mut one = Table::new();
        one.column("name", Align::Left);
        one.column("MiB/s", Align::Right);
        one.row(vec!["a|b\nc".into(), "1".into()]);
        assert_eq!(
            table(&one),
            "| name | MiB/s |\n| --- | ---: |\n| a\\|b c | 1 |\n"
        );
    }
}
