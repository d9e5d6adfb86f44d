//! Numbers that run together in a row whose `printf` is known: where each begins.
//!
//! ```text
//!     fr   sr ada0 ada1   in
//!     48    8150 12    3
//! ```
//!
//! FreeBSD prints `%4lu` and then `%3.0Lf` with no blank between: the 8 fills its four places,
//! and 150 stands behind it. A number takes its least width, or as much as it needs, so that the
//! blanks before it tell how long it is; only one that is as wide as its column or wider can have
//! several ends. A line that fits in one way is cut; of others nothing is certain.

use super::{STEPS, is_printed};
use crate::fields;

/// A column as the tool's `printf` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// ` %s`, or a number behind a blank and before one: it never touches what is beside it.
    Apart,
    /// `%-10.10s`, a name that takes just so many bytes.
    Name(usize),
    /// `%9.2f`, with so many blanks before it in the format.
    Number {
        blanks: usize,
        width: usize,
        decimals: usize,
    },
}

impl Printed {
    /// `%4lu`, with so many blanks before it in the format.
    pub(crate) const fn whole(blanks: usize, width: usize) -> Printed {
        Printed::Number {
            blanks,
            width,
            decimals: 0,
        }
    }
}

/// Where a field of the line ends in it.
pub(crate) fn end(line: &[u8], field: &[u8]) -> usize {
    field.as_ptr() as usize - line.as_ptr() as usize + field.len()
}

/// A line that is cut, so far.
struct Cut<'a> {
    line: &'a [u8],
    pieces: Vec<&'a [u8]>,
    found: Option<Vec<u8>>,
    ways: usize,
    steps: usize,
}

/// The line with blanks between all its columns, if some of them touch and there is one way to
/// print it so.
pub(crate) fn apart(columns: &[Printed], line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii_end();
    if line.len() > 4096 || fields(line).count() >= columns.len() {
        return None;
    }
    let mut cut = Cut {
        line,
        pieces: Vec::with_capacity(columns.len()),
        found: None,
        ways: 0,
        steps: 0,
    };
    cut.go_on(columns, 0);
    let certain = cut.ways == 1 && cut.steps <= STEPS;
    cut.found.filter(|_| certain)
}

impl<'a> Cut<'a> {
    /// Counts the ways to cut what is left of the line into those columns.
    fn go_on(&mut self, columns: &[Printed], at: usize) {
        self.steps += 1;
        if self.ways > 1 || self.steps > STEPS {
            return;
        }
        let rest = &self.line[at..];
        let blanks = rest.iter().take_while(|b| **b == b' ').count();
        let field = &rest[blanks..];
        let end = field.iter().position(u8::is_ascii_whitespace);
        let end = end.unwrap_or(field.len());
        match columns {
            [] => {
                if rest.is_empty() {
                    self.ways += 1;
                    self.found = Some(self.pieces.join(&b' '));
                }
            }
            [Printed::Apart, after @ ..] => {
                if end > 0 && (blanks > 0 || at == 0) {
                    self.take(&field[..end], at + blanks + end, after);
                }
            }
            [Printed::Name(width), after @ ..] => {
                let name = rest.get(..*width).unwrap_or_default().trim_ascii();
                if fields(name).count() == 1 {
                    self.take(name, at + width, after);
                }
            }
            [
                Printed::Number {
                    blanks: least,
                    width,
                    decimals,
                },
                after @ ..,
            ] => {
                let fits = |length: &usize| {
                    blanks == least + width.saturating_sub(*length)
                        && is_printed(&field[..*length], *decimals)
                };
                for length in (1..=end).filter(fits) {
                    self.take(&field[..length], at + blanks + length, after);
                }
            }
        }
    }

    fn take(&mut self, piece: &'a [u8], to: usize, after: &[Printed]) {
        self.pieces.push(piece);
        self.go_on(after, to);
        self.pieces.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(columns: &[Printed], line: &str) -> Option<String> {
        let apart = apart(columns, line.as_bytes())?;
        Some(String::from_utf8(apart).expect("text"))
    }

    #[test]
    fn blanks_tell_how_long_a_number_is() {
        // `%4lu%3.0Lf%3.0Lf %4lu`.
        let columns = [
            Printed::whole(0, 4),
            Printed::whole(0, 3),
            Printed::whole(0, 3),
            Printed::Apart,
        ];
        let of = |line| cut(&columns, line);
        assert_eq!(of("   8150 12   20").as_deref(), Some("8 150 12 20"));
        assert_eq!(of("   8150200   20").as_deref(), Some("8 150 200 20"));
        assert_eq!(of("  42  01234   20").as_deref(), Some("42 0 1234 20"));
        assert_eq!(of("1234567  8   20").as_deref(), Some("1234 567 8 20"));
        for no in [
            // 1234 and 5678, or 12345 and 678.
            "12345678  9   20",
            // 150 and 2000, or 1502 and 000.
            "   81502345   20",
            // Nothing is together.
            "   8 15 12   20",
            // A number is missing, and one would begin with zeros.
            "   8 15   20",
            "   8001 12   20",
            "   8150 12",
            "   8150 1x   20",
            "",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }

    #[test]
    fn the_width_of_a_name_and_decimals_end_what_is_before() {
        // `%-10.10s%9.2f%9.2f %6.2f`.
        let rate = Printed::Number {
            blanks: 0,
            width: 9,
            decimals: 2,
        };
        let columns = [Printed::Name(10), rate, rate, Printed::Apart];
        let of = |line| cut(&columns, line);
        let line = "vnic123456100000.00     1.25   0.10";
        assert_eq!(of(line).as_deref(), Some("vnic123456 100000.00 1.25 0.10"));
        let line = "igb0       12345.501234567.00   0.10";
        assert_eq!(of(line).as_deref(), Some("igb0 12345.50 1234567.00 0.10"));
        for no in [
            // The number is not where it would be.
            "igb0        12345.501234567.00   0.10",
            "igb0 12345.501234567.00   0.10",
            // Other decimals.
            "vnic123456100000.0     1.25   0.10",
            "vnic123456",
            "igb0",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }

    #[test]
    fn a_line_that_fits_in_very_many_ways_is_left() {
        let columns = [Printed::whole(0, 1); 30];
        let digits = "1".repeat(4000);
        assert_eq!(cut(&columns, &digits), None);
        assert_eq!(cut(&columns, &format!("{digits} x")), None);
    }
}
