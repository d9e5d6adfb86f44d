//! Whether a text begins within a report: with rows whose header was lost.

use crate::fields;

/// So few numbers may be in any line.
const FEWEST: usize = 4;

/// The last line that was not understood, before any that was: which of its fields are numbers.
#[derive(Default)]
pub(crate) struct Above(Vec<bool>);

impl Above {
    /// A line that is not understood.
    pub(crate) fn lost(&mut self, line: &[u8]) {
        let shape = shape(line);
        let numbers = shape.iter().filter(|is_number| **is_number).count();
        self.0 = if numbers < FEWEST { Vec::new() } else { shape };
    }

    /// Whether that line looks like this one, which is a row.
    pub(crate) fn is_like(&self, row: &[u8]) -> bool {
        !self.0.is_empty() && self.0 == shape(row)
    }
}

fn shape(line: &[u8]) -> Vec<bool> {
    fields(line).map(|f| f[0].is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::Above;

    #[test]
    fn rows_are_alike_and_others_are_not() {
        let mut above = Above::default();
        assert!(!above.is_like(b""));
        above.lost(b" 0.0  1.5  8.0 12.0  sda");
        assert!(above.is_like(b"10.5 0.1  9.0  1.0  sdb"));
        assert!(!above.is_like(b"10.5 0.1  9.0  1.0  7"));
        assert!(!above.is_like(b"10.5 0.1  9.0  1.0  sdb c"));
        above.lost(b"at 10:00 on 3 May");
        assert!(!above.is_like(b"at 10:00 on 3 May"));
    }
}
