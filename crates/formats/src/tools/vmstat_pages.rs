//! What `vmstat` of AIX prints of each size of pages: `-P`, a table of its own, and `-p`, below each
//! report (`vmstat(1)` of AIX 7).
//!
//! ```text
//! pgsz            memory                           page
//! ----- -------------------------- ------------------------------------
//!            siz      avm      fre    re    pi    po    fr     sr    cy
//!    4K   542846   202832   329649     0     0     0     0      0     0
//!   64K    31379      961    30484     0     0     0     0      0     0
//! ```
//!
//! Each counts pages of its own size, so that nothing of it is added to what the reports tell of
//! memory; all are kept as printed, with the size beside them.

use crate::number::number;
use crate::out::Out;
use crate::{fields, numbers};

/// Columns, and what they count.
const COLUMNS: [(&str, &str, &str); 9] = [
    ("siz", "psz siz", "pages of that size"),
    ("avm", "psz avm", "pages of that size"),
    ("fre", "psz fre", "pages of that size"),
    ("re", "psz re", "reclaims/s"),
    ("pi", "psz pi", "pages of that size/s"),
    ("po", "psz po", "pages of that size/s"),
    ("fr", "psz fr", "pages of that size/s"),
    ("sr", "psz sr", "pages of that size/s"),
    ("cy", "psz cy", "revolutions/s"),
];

/// The table of page sizes.
#[derive(Default)]
pub(super) struct Pages {
    /// Columns in the order of the header, without the size's; empty: none came.
    columns: Vec<usize>,
    /// The size that begins a report.
    first: Option<Vec<u8>>,
    /// It is that of `-P`.
    alone: bool,
}

impl Pages {
    /// The columns of a header: of `-p` with `psz` before them, of `-P` without.
    fn columns(line: &[u8]) -> Option<Vec<usize>> {
        let place = |name: &[u8]| COLUMNS.iter().position(|(n, ..)| n.as_bytes() == name);
        let names = fields(line).skip_while(|name| *name == b"psz");
        let columns: Vec<usize> = names.map(place).collect::<Option<_>>()?;
        let all = (0..COLUMNS.len()).all(|column| columns.contains(&column));
        (all && columns.len() == COLUMNS.len()).then_some(columns)
    }

    /// Whether a line is its header.
    pub(super) fn is_header(line: &[u8]) -> bool {
        Pages::columns(line).is_some()
    }

    /// Takes its header.
    pub(super) fn header(&mut self, line: &[u8]) -> bool {
        let Some(columns) = Pages::columns(line) else {
            return false;
        };
        self.columns = columns;
        self.alone = fields(line).next() != Some(b"psz");
        true
    }

    /// Whether it stands below each report, of `-p`.
    pub(super) fn is_below(&self) -> bool {
        !self.columns.is_empty() && !self.alone
    }

    /// The size and the numbers of a row.
    pub(super) fn values<'a>(&self, line: &'a [u8]) -> Option<(&'a [u8], Vec<f64>)> {
        let size = fields(line).next()?;
        let (digits, unit) = size.split_at(size.len() - 1);
        if !matches!(unit, b"K" | b"M" | b"G") || number(digits).is_none() {
            return None;
        }
        let values = numbers(fields(line).skip(1))?;
        (!self.columns.is_empty() && values.len() == self.columns.len()).then_some((size, values))
    }

    /// Whether a report begins with the row of that size.
    pub(super) fn begins(&mut self, size: &[u8]) -> bool {
        self.alone && self.first.get_or_insert_with(|| size.to_vec()) == size
    }

    /// Keeps a row.
    pub(super) fn put(&self, size: &[u8], values: &[f64], out: &mut Out) {
        let size = out.word(size);
        for (column, value) in self.columns.iter().zip(values) {
            let (_, name, unit) = COLUMNS[*column];
            out.other(name, unit, size, *value);
        }
    }
}
