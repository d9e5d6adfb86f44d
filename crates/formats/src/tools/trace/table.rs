//! Tables of tracing tools: columns by the names of a header, with programs and paths that can
//! hold blanks.

use std::borrow::Cow;

use super::stamp;
use crate::recognise::Head;
use crate::time::Stamp;

/// Columns of a table, as its header names them.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    names: Vec<String>,
}

impl Table {
    /// The header, if the line has all of these names.
    pub(super) fn of(line: &str, wanted: &[&str]) -> Option<Table> {
        let names: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let all = wanted.iter().all(|w| names.iter().any(|n| n == w));
        all.then_some(Table { names })
    }

    /// Whether a text has a header with all of these names.
    pub(super) fn is_in(head: &Head, wanted: &[&str]) -> bool {
        let is_header = |l: &[u8]| Table::of(&String::from_utf8_lossy(l), wanted).is_some();
        wanted.iter().all(|w| head.has(w)) && head.headers().any(is_header)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    /// Which column has that name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// The columns' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// How many columns there are.
    pub(super) fn width(&self) -> usize {
        self.names.len()
    }

    /// The cells of a row. `COMM` or `CMD`, and a last column that is a path, can have blanks in them;
    /// what stands between the two is numbers. `None` if the row does not fit.
    pub(super) fn row<'a>(&'a self, line: &'a str) -> Option<Row<'a>> {
        let line = self.with_date_together(line);
        let fields: Vec<&str> = line.split_whitespace().collect();
        let columns = self.names.len();
        let spare = fields.len().checked_sub(columns)?;
        let comm = self.place("COMM").or(self.place("CMD"));
        let comm = comm.unwrap_or(columns);
        let last = columns.checked_sub(1)?;
        let path = matches!(
            self.names[last].as_str(),
            "PATH" | "PATHNAME" | "FILENAME" | "FILE" | "ARGS"
        );
        // How many fields the name of the program has.
        let wide = match (spare, path) {
            (_, _) if comm == columns => 1,
            (spare, false) => spare + 1,
            // Side by side: a path begins with a slash.
            (1.., true) if comm + 1 == last => {
                let path = |f: &&str| f.starts_with(['/', '<']);
                fields.get(comm + 1..)?.iter().position(path)? + 1
            }
            (spare, true) => (1..=spare + 1).find(|wide| {
                let between = &fields[comm + wide..last + wide - 1];
                between.iter().all(|f| is_plain(f))
            })?,
        };
        if spare > 0 && comm == columns && !path {
            return None;
        }
        let mut cells = Vec::with_capacity(columns);
        let mut at = 0;
        for column in 0..columns {
            let count = match column {
                c if c == last && path => fields.len() - at,
                c if c == comm => wide,
                _ => 1,
            };
            cells.push(fields.get(at..at + count)?.join(" "));
            at += count;
        }
        (at == fields.len()).then_some(Row { table: self, cells })
    }

    /// The line with the four words of a date (`2005 Jul 26 22:39:02`, below the `STRTIME` or `TIMESTR`
    /// of the DTraceToolkit) as one field: `2005_Jul_26_22:39:02`.
    fn with_date_together<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let Some(place) = self.place("STRTIME").or(self.place("TIMESTR")) else {
            return Cow::Borrowed(line);
        };
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        let Some(date) = fields.get(place..place + 4).map(|date| date.join("_")) else {
            return Cow::Borrowed(line);
        };
        fields.splice(place..place + 4, [date.as_str()]);
        Cow::Owned(fields.join(" "))
    }
}

/// A number, one of a few letters, or nothing: no part of a name.
fn is_plain(field: &str) -> bool {
    let number = crate::number::number(field.as_bytes()).is_some();
    number
        // Of bytes, in fsslower of libbpf-tools.
        || matches!(field, "-" | "LL_MAX")
        || (field.len() == 1 && field.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// A row of a table.
#[derive(Debug)]
pub(super) struct Row<'a> {
    table: &'a Table,
    cells: Vec<String>,
}

impl Row<'_> {
    /// The cell of the column of that name.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let place = self.table.place(name)?;
        self.cells.get(place).map(String::as_str)
    }

    /// The date and time of day of the DTraceToolkit's option -v, in whole seconds.
    pub(super) fn date(&self) -> Option<Stamp> {
        let date = self.text("STRTIME").or(self.text("TIMESTR"))?;
        stamp(&date.replace('_', " "))
    }

    /// Its number; `None` if there is no such column or it is no number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        crate::number::number(self.text(name)?.as_bytes())
    }

    /// The number of a column that the tool need not print: NaN then. `None` if it is no
    /// number.
    pub(super) fn optional(&self, name: &str) -> Option<f64> {
        if self.table.has(name) {
            self.number(name)
        } else {
            Some(f64::NAN)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_can_have_blanks() {
        let table = Table::of("TIME(s) COMM PID DISK LAT(ms)", &["COMM", "PID"]).unwrap();
        let row = table.row("0.5 tmux: server 12 sda 0.74").unwrap();
        assert_eq!(row.text("COMM"), Some("tmux: server"));
        assert_eq!(row.number("LAT(ms)"), Some(0.74));
        assert!(table.row("0.5 x 12 sda").is_none());
        let table = Table::of("PID COMM FD ERR PATH", &["PATH"]).unwrap();
        let row = table.row("12 a b 3 0 /tmp/x y").unwrap();
        assert_eq!(
            (row.text("COMM"), row.text("PATH")),
            (Some("a b"), Some("/tmp/x y"))
        );
        let table = Table::of("STRTIME UID COMM PATH", &["COMM"]).unwrap();
        let row = table.row("2005 Jul  6 22:39:02 0 a b /tmp/x y").unwrap();
        assert!(matches!(row.date(), Some(Stamp::Civil(_))));
        assert_eq!(row.text("COMM"), Some("a b"));
        assert!(table.row("2005 Jul 0 a").is_none());
        let table = Table::of("TIME DISK COUNT", &["DISK"]).unwrap();
        assert!(table.row("1 2 3 4").is_none());
    }
}
