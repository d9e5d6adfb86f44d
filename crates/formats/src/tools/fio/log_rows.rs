//! The columns of fio's logs, which depend on its version and options and have no header.

use crate::number::whole;

/// What may stand in a row.
#[allow(clippy::struct_excessive_bools, reason = "each is an option of fio's")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// `log_window_value=both`: the greatest value after the mean.
    max: bool,
    /// `log_offset`.
    offset: bool,
    /// fio 3.23 and newer.
    priority: bool,
    /// `log_issue_time`.
    issue: bool,
}

impl Layout {
    fn columns(self) -> usize {
        let more = [self.max, self.offset, self.priority, self.issue];
        4 + more.iter().filter(|m| **m).count()
    }

    /// All that fio can print with so many columns.
    fn all(columns: usize) -> Vec<Layout> {
        let all = (0..16_u8).map(|bits| Layout {
            max: bits & 1 > 0,
            offset: bits & 2 > 0,
            priority: bits & 4 > 0,
            issue: bits & 8 > 0,
        });
        // What came with or after priorities comes with them.
        all.filter(|l| l.columns() == columns && (l.priority || !(l.max || l.issue)))
            .collect()
    }

    /// The row, if it can be of this layout.
    fn read(self, fields: &[&[u8]]) -> Option<Row> {
        let mut fields = fields.iter();
        let mut next = |present: bool| {
            if present {
                fields.next().copied()
            } else {
                None
            }
        };
        let (time, value) = (whole(next(true)?)?, whole(next(true)?)?);
        if self.max && whole(next(true)?)? < value {
            return None;
        }
        let op = whole(next(true)?).filter(|op| *op <= 2)?;
        let size = whole(next(true)?)?;
        let offset = if self.offset {
            Some(whole(next(true)?)?)
        } else {
            None
        };
        if self.priority && !is_priority(next(true)?) {
            return None;
        }
        if self.issue {
            whole(next(true)?)?;
        }
        Some(Row {
            time,
            value,
            op: ["read", "write", "trim"][op as usize],
            size,
            offset,
            is_new: self.priority,
            may_be_old: !self.priority,
        })
    }
}

/// 0 or 1, or with `log_prio` class and level in hexadecimal.
fn is_priority(text: &[u8]) -> bool {
    let hexadecimal = text.strip_prefix(b"0x");
    matches!(text, b"0" | b"1")
        || hexadecimal.is_some_and(|h| h.len() == 4 && h.iter().all(u8::is_ascii_hexdigit))
}

/// A row of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    /// Milliseconds.
    pub(super) time: u64,
    pub(super) value: u64,
    pub(super) op: &'static str,
    /// Of the I/O; zero in a row that is a mean.
    pub(super) size: u64,
    pub(super) offset: Option<u64>,
    /// Of a version that logs each I/O unless told to take means.
    pub(super) is_new: bool,
    /// It may be of an older one all the same: a priority of 0 is also an offset of 0.
    pub(super) may_be_old: bool,
}

/// Rows are held back while more than one layout fits and it matters.
#[derive(Debug, Default)]
pub(super) struct Rows {
    layouts: Option<Vec<Layout>>,
    columns: usize,
    held: Vec<Vec<u8>>,
}

/// What came of a line.
pub(super) enum Taken {
    /// It is no row.
    None,
    /// It waits for rows that decide.
    Held,
    /// Those that can be read now.
    Rows(Vec<Row>),
}

impl Rows {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &[u8]) -> Taken {
        let fields = split(line);
        if self.layouts.is_none() {
            self.columns = fields.len();
        }
        if fields.len() != self.columns {
            return Taken::None;
        }
        let layouts = self
            .layouts
            .take()
            .unwrap_or_else(|| Layout::all(self.columns));
        let fit: Vec<Layout> = layouts
            .iter()
            .copied()
            .filter(|l| l.read(&fields).is_some())
            .collect();
        if fit.is_empty() {
            self.layouts = Some(layouts).filter(|l| !l.is_empty());
            return Taken::None;
        }
        let rows = if agree(&fit, &fields) && self.held.is_empty() {
            // A priority of 0 may be an offset of 0, which is left open.
            let is_new = fit.iter().any(|l| l.priority);
            let may_be_old = fit.iter().any(|l| !l.priority);
            let row = fit[0].read(&fields);
            let told = |row| Row {
                is_new,
                may_be_old,
                ..row
            };
            row.map(told).into_iter().collect()
        } else {
            self.held.push(line.to_vec());
            if fit.len() > 1 {
                self.layouts = Some(fit);
                return Taken::Held;
            }
            let held = std::mem::take(&mut self.held);
            held.iter().filter_map(|l| fit[0].read(&split(l))).collect()
        };
        self.layouts = Some(fit);
        Taken::Rows(rows)
    }

    /// Whether rows wait that cannot be read.
    pub(super) fn undecided(&self) -> bool {
        !self.held.is_empty()
    }
}

fn split(line: &[u8]) -> Vec<&[u8]> {
    line.split(|b| *b == b',').map(<[u8]>::trim_ascii).collect()
}

/// Whether all those layouts read the same from a row; a priority of 0 is also an offset of 0.
fn agree(layouts: &[Layout], fields: &[&[u8]]) -> bool {
    let mut rows = layouts.iter().map(|l| {
        l.read(fields).map(|row| Row {
            offset: row.offset.filter(|o| *o > 0),
            is_new: false,
            may_be_old: false,
            ..row
        })
    });
    let first = rows.next();
    rows.all(|row| Some(row) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (Vec<Row>, bool) {
        let mut rows = Rows::default();
        let mut found = Vec::new();
        for line in lines {
            if let Taken::Rows(more) = rows.take(line.as_bytes()) {
                found.extend(more);
            }
        }
        (found, rows.undecided())
    }

    #[test]
    fn what_six_columns_are_is_found_in_the_rows() {
        let row = |line: &str| read(&[line]).0[0];
        // An offset and a priority.
        let with_offset = row("3, 156483, 0, 4096, 61440, 0");
        assert_eq!((with_offset.size, with_offset.offset), (4096, Some(61440)));
        // A priority and the moment of issue.
        let issued = row("3, 156483, 1, 4096, 0, 1234567");
        assert_eq!(
            (issued.op, issued.size, issued.offset),
            ("write", 4096, None)
        );
        // A mean and the greatest.
        let both = row("500, 156483, 903211, 1, 0, 0");
        assert_eq!((both.value, both.op, both.size), (156483, "write", 0));
        let old = row("5, 99, 2, 512");
        assert_eq!((old.op, old.size, old.is_new), ("trim", 512, false));
        assert!(row("5, 99, 2, 512, 0x2001").is_new);
    }

    #[test]
    fn rows_wait_while_it_is_not_clear() {
        // 1 is a direction or the greatest value, 0 a size or a direction.
        let (rows, undecided) = read(&["500, 1, 1, 0, 0, 0"]);
        assert!(rows.is_empty() && undecided);
        let (rows, undecided) = read(&["500, 1, 1, 0, 0, 0", "1000, 70, 80, 0, 0, 0"]);
        assert_eq!((rows.len(), undecided), (2, false));
        assert_eq!(rows[0].op, "read");
    }
}
