//! Blank lines below the headers of `iostat`, as in texts that were pasted.
//!
//! A blank line ends a table of `iostat`, which has none below a header but where `-z` left out all
//! devices. So a row below one is the table's only where no device's row stood right below a header:
//! after one that did, the blank line ends a report without devices, and the next header got lost.

use super::{Iostat, Place, Table};
use crate::number::number;
use crate::out::Out;

/// What stands below headers.
#[derive(Default)]
pub(super) struct Spacing {
    /// The present table has its header alone.
    pub(super) is_header: bool,
    /// A blank line stands below that.
    is_blank: bool,
    /// A device's row stood right below a header.
    tight: bool,
}

impl Iostat {
    /// A blank line comes, which ends the table but where it may stand below its header.
    pub(super) fn blank(&mut self, out: &mut Out) {
        let may_go_on = match self.table {
            Table::Devices(..) => !self.spacing.tight,
            Table::Processors(_) => true,
            _ => false,
        };
        self.spacing.is_blank = self.spacing.is_header && may_go_on;
        if !self.spacing.is_blank {
            self.end_table(out);
        }
    }

    /// A line that is not blank comes.
    pub(super) fn below_header(&mut self, names: &[&[u8]], out: &mut Out) {
        let is_first = std::mem::take(&mut self.spacing.is_header);
        if std::mem::take(&mut self.spacing.is_blank) {
            if !self.is_row(names) {
                self.end_table(out);
            }
        } else {
            let devices = matches!(self.table, Table::Devices(..));
            self.spacing.tight |= is_first && devices && self.is_row(names);
        }
    }

    fn end_table(&mut self, out: &mut Out) {
        self.end_devices(out);
        self.table = Table::None;
    }

    /// Whether those are a name, as no number is, and a value for each column of the present table.
    fn is_row(&self, names: &[&[u8]]) -> bool {
        match &self.table {
            Table::Devices(columns, place) if names.len() == columns.len() + 1 => {
                let (name, values) = match place {
                    Place::First => (names[0], &names[1..]),
                    Place::Last => (names[columns.len()], &names[..columns.len()]),
                };
                let mut values = columns.iter().zip(values);
                number(name).is_none() && values.all(|(column, f)| column.value(f).is_some())
            }
            Table::Processors(columns) => {
                names.len() == columns.len() && names.iter().all(|f| number(f).is_some())
            }
            _ => false,
        }
    }
}
