//! Numbers that run together because they were wider than their columns: which is which.
//!
//! ```text
//!     kbmemfree kbmemused  %memused
//!  1234561321234560     99.91
//! ```
//!
//! A tool prints a number at least as wide as its column and aligned to the right, with the
//! decimals that the column always has and without zeros before it. A line with too few fields is
//! cut into as many numbers as there are columns, where these rules leave one way to do it:
//!
//! 1. After its decimals a number ends.
//! 2. Digits are cut where what results is aligned as the header's columns are, or shifted by
//!    numbers that were too wide. Shares are about a hundred together.
//! 3. Of tools that do not keep columns aligned, a share of 100 is cut off whose fellows are all 0.
//!
//! Where there are two ways or none the line stays as it is, and is not understood. Rows that are
//! not aligned as their header is are cut by their tool's `printf` ([`printed`]).

pub(crate) mod printed;

use crate::fields;
use crate::number::number;

/// More steps than any line needs that can be cut in one way.
const STEPS: usize = 20_000;

/// What is in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    /// A number with so many decimals.
    Number(usize),
}

/// The columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Where the name of each ends in the header.
    ends: Vec<usize>,
    /// Blanks before it there: so many at most stand before a number that is too wide.
    gaps: Vec<usize>,
    forms: Vec<Form>,
    /// Columns that are a hundred together.
    shares: std::ops::Range<usize>,
    /// The tool makes columns narrower where those before were too wide: nothing is aligned then.
    narrowed: bool,
}

/// A line that is cut: where its columns are, so far.
struct Cut<'a> {
    line: &'a [u8],
    /// Digits may be cut, where that is aligned.
    aligned: bool,
    pieces: Vec<(usize, usize)>,
    found: Option<Vec<(usize, usize)>>,
    /// Ways to cut it.
    ways: usize,
    steps: usize,
}

impl Columns {
    /// Those of a header line. What is in them is told by the first row ([`Columns::row`]).
    pub(crate) fn of(header: &[u8]) -> Columns {
        let is_end = |i: &usize| {
            let next = header.get(i + 1).is_none_or(u8::is_ascii_whitespace);
            !header[*i].is_ascii_whitespace() && next
        };
        let gap = |name: &[u8]| {
            let at = name.as_ptr() as usize - header.as_ptr() as usize;
            let before = header[..at].iter().rev();
            before.take_while(|b| b.is_ascii_whitespace()).count()
        };
        Columns {
            ends: (0..header.len()).filter(is_end).map(|i| i + 1).collect(),
            gaps: fields(header).map(gap).collect(),
            forms: Vec::new(),
            shares: 0..0,
            narrowed: false,
        }
    }

    /// The tool makes columns narrower where those before were too wide.
    pub(crate) fn narrowed(mut self) -> Columns {
        self.narrowed = true;
        self
    }

    /// All are numbers without decimals.
    pub(crate) fn whole(mut self) -> Columns {
        self.forms = vec![Form::Number(0); self.ends.len()];
        self
    }

    /// The last columns of these names are shares, and a hundred together.
    pub(crate) fn with_shares(mut self, header: &[u8], names: &[&str]) -> Columns {
        let all: Vec<&[u8]> = fields(header).collect();
        let is_share = |n: &&[u8]| names.iter().any(|s| s.as_bytes() == *n);
        let end = all.iter().rposition(&is_share).map_or(0, |last| last + 1);
        let count = all[..end].iter().rev().take_while(|n| is_share(n)).count();
        self.shares = end - count..end;
        self
    }

    /// A row that was understood: the first one tells what is in the columns.
    pub(crate) fn row(&mut self, line: &[u8]) {
        let told = !self.forms.is_empty() || self.ends.is_empty();
        if !told && fields(line).count() == self.ends.len() {
            self.forms = fields(line).map(form).collect();
        }
    }

    /// Whether a field of the row has zeros before its digits, as no tool prints a number: two
    /// that ran together.
    pub(crate) fn is_together<'a>(mut all: impl Iterator<Item = &'a [u8]>) -> bool {
        all.any(|f| {
            let digits = f.strip_prefix(b"-").unwrap_or(f);
            matches!(digits, [b'0', b'0'..=b'9', ..])
        })
    }

    /// The line with blanks between all its numbers, where it is certain what they are.
    pub(crate) fn apart(&self, line: &[u8]) -> Option<Vec<u8>> {
        let line = line.trim_ascii_end();
        let count = fields(line).count();
        if self.forms.len() != self.ends.len() || count == 0 || line.len() > 4096 {
            return None;
        }
        if count >= self.ends.len() {
            return None;
        }
        let ways = [false, true].map(|aligned| {
            let mut cut = Cut {
                line,
                aligned,
                pieces: Vec::with_capacity(self.ends.len()),
                found: None,
                ways: 0,
                steps: 0,
            };
            self.cut(&mut cut);
            (cut.steps <= STEPS).then_some((cut.ways, cut.found))
        });
        let [Some((decimals, by_decimals)), Some((aligned, by_place))] = ways else {
            return None;
        };
        match (decimals, aligned) {
            (1, _) => Some(self.pieces(line, &by_decimals?)),
            (0, 1) => Some(self.pieces(line, &by_place?)),
            (0, 0) if self.narrowed => self.hundred(line),
            _ => None,
        }
    }

    fn pieces(&self, line: &[u8], places: &[(usize, usize)]) -> Vec<u8> {
        let pieces: Vec<&[u8]> = places.iter().map(|(from, to)| &line[*from..*to]).collect();
        debug_assert_eq!(pieces.len(), self.ends.len());
        pieces.join(&b' ')
    }

    /// Counts the ways to go on, with the pieces that there are.
    fn cut(&self, cut: &mut Cut) {
        cut.steps += 1;
        if cut.ways > 1 || cut.steps > STEPS {
            return;
        }
        let column = cut.pieces.len();
        let before = cut.pieces.last().map_or(0, |(_, to)| *to);
        let rest = &cut.line[before..];
        let Some(form) = self.forms.get(column) else {
            if rest.is_empty() && self.shares_fit(cut) {
                cut.ways += 1;
                cut.found = Some(cut.pieces.clone());
            }
            return;
        };
        let Some(blanks) = rest.iter().position(|b| !b.is_ascii_whitespace()) else {
            return;
        };
        let from = before + blanks;
        let field = &cut.line[from..];
        let end = field.iter().position(u8::is_ascii_whitespace);
        let end = end.unwrap_or(field.len());
        let lengths = match form {
            // A name begins and ends at blanks.
            Form::Text if blanks == 0 && column > 0 => return,
            Form::Text => end..=end,
            Form::Number(0) if !cut.aligned => end..=end,
            Form::Number(_) => 1..=end,
        };
        for length in lengths {
            let Form::Number(decimals) = form else {
                cut.pieces.push((from, from + length));
                self.cut(cut);
                cut.pieces.pop();
                continue;
            };
            let sound = is_printed(&field[..length], *decimals)
                && (!cut.aligned || self.is_in_place(column, before, blanks, length));
            if sound {
                cut.pieces.push((from, from + length));
                self.cut(cut);
                cut.pieces.pop();
            }
        }
    }

    /// Whether a number of that length, with so many blanks before it, can be that column's.
    fn is_in_place(&self, column: usize, before: usize, blanks: usize, length: usize) -> bool {
        let previous = column.checked_sub(1);
        // After its decimals a number ends, whatever comes.
        let decimals = |c: usize| matches!(self.forms[c], Form::Number(d) if d > 0);
        if blanks == 0 && previous.is_some_and(decimals) {
            return true;
        }
        // A name is aligned to the left, and the number after it by the header's end.
        let from = match previous {
            Some(c) if self.forms[c] == Form::Text => before.min(self.ends[column]),
            Some(c) => self.ends[c],
            None => 0,
        };
        let width = self.ends[column] - from;
        blanks + length == width || (blanks + length > width && blanks <= self.gaps[column])
    }

    /// Whether those of the columns that are shares are a hundred, but for what was rounded.
    fn shares_fit(&self, cut: &Cut) -> bool {
        if self.shares.is_empty() {
            return true;
        }
        let shares = self.shares.clone().filter_map(|c| cut.pieces.get(c));
        let values = shares.map(|(from, to)| number(&cut.line[*from..*to]));
        let sum: f64 = values.map(|v| v.unwrap_or(f64::NAN)).sum();
        (sum - 100.0).abs() <= self.shares.len() as f64 / 2.0
    }

    /// A line that is not aligned, one of whose shares is 100 and stands at the end of the number
    /// before it; all others are 0.
    fn hundred(&self, line: &[u8]) -> Option<Vec<u8>> {
        let whole = self.forms.iter().all(|f| *f == Form::Number(0));
        let all: Vec<&[u8]> = fields(line).collect();
        let last = self.shares.end == self.ends.len();
        if self.shares.is_empty() || !last || !whole || all.len() + 1 != self.ends.len() {
            return None;
        }
        let first = self.shares.start.checked_sub(1)?;
        let zero = |f: &&[u8]| **f == *b"0";
        let cut_at = |at: usize| {
            let front = all[at].strip_suffix(b"100")?;
            // The number before the shares, or a share.
            let sound = (at == first || front == b"0") && is_printed(front, 0);
            let mut cut = all.clone();
            cut[at] = front;
            cut.insert(at + 1, b"100");
            let (numbers, shares) = cut.split_at(first + 1);
            let mut idle = shares.iter().enumerate().filter(|(i, _)| first + i != at);
            let sound = sound
                && numbers.iter().all(|f| is_printed(f, 0))
                && idle.all(|(_, share)| zero(share));
            sound.then(|| cut.join(&b' '))
        };
        let mut ways = (first..all.len()).filter_map(cut_at);
        ways.next().filter(|_| ways.next().is_none())
    }
}

/// What a field of a row that was understood tells of its column.
fn form(field: &[u8]) -> Form {
    let decimals = field.iter().rev().position(|b| *b == b'.').unwrap_or(0);
    if is_printed(field, decimals) {
        Form::Number(decimals)
    } else {
        Form::Text
    }
}

/// Whether a tool prints a number so, with that many decimals.
fn is_printed(text: &[u8], decimals: usize) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = match decimals {
        0 => text,
        _ => match text.len().checked_sub(decimals + 1) {
            Some(at) if text[at] == b'.' && text[at + 1..].iter().all(u8::is_ascii_digit) => {
                &text[..at]
            }
            _ => return false,
        },
    };
    let zeros = whole.len() > 1 && whole[0] == b'0';
    !whole.is_empty() && !zeros && whole.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(header: &str, row: &str, line: &str) -> Option<String> {
        let mut columns = Columns::of(header.as_bytes());
        columns.row(row.as_bytes());
        let apart = columns.apart(line.as_bytes())?;
        Some(String::from_utf8(apart).expect("text"))
    }

    #[test]
    fn decimals_end_a_number() {
        let header = "Device:         rrqm/s   wrqm/s   r/s  await";
        let row = "sda               0.01     6.25  0.24   1.00";
        let of = |line| apart(header, row, line);
        let cut = of("sda               0.0112345.25100000.24   1.00");
        assert_eq!(cut.as_deref(), Some("sda 0.01 12345.25 100000.24 1.00"));
        for no in [
            // Nothing is together.
            row,
            // A number is missing.
            "sda               0.01     6.25  0.24",
            // Other decimals.
            "sda               0.0112345.25100000.241  1.00",
            "sda               0.0100345.25  0.24",
            "sda0.01     6.25  0.24   1.00",
            "",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }

    #[test]
    fn digits_are_cut_where_that_is_aligned() {
        let header = "            kbmemfree kbmemused  %memused kbbuffers";
        let row = "               123456    132123     99.91   1234567";
        let of = |line| apart(header, row, line);
        assert_eq!(
            of("               1234561321234560     99.91   1234567").as_deref(),
            Some("123456 1321234560 99.91 1234567")
        );
        // What comes behind is shifted.
        assert_eq!(
            of("               12345613212345601     99.91   1234567").as_deref(),
            Some("123456 13212345601 99.91 1234567")
        );
        // Where both are too wide, nothing tells.
        let wide = "  123456789012313212345601234567     99.91   1234567";
        assert_eq!(of(wide), None);
        // A number is missing.
        assert_eq!(
            of("                         132123     99.91   1234567"),
            None
        );
        assert_eq!(of("               123456    132123     99.91"), None);
    }

    #[test]
    fn a_blank_that_may_belong_to_a_number_leaves_two_ways() {
        let header = " tin tout  kps tps serv";
        let row = "   0    4   12   1    9";
        let of = |line| apart(header, row, line);
        let cut = of("   0   1612345 640   12");
        assert_eq!(cut.as_deref(), Some("0 16 12345 640 12"));
        // 1234 and 51234, or 12345 and 1234 after a blank that is always there.
        assert_eq!(of("   0    4 123451234    9"), None);
    }

    #[test]
    fn shares_are_a_hundred() {
        let header = "   cs us sy id";
        let names = ["us", "sy", "id"];
        let columns = Columns::of(header.as_bytes()).whole();
        let columns = columns.with_shares(header.as_bytes(), &names);
        assert_eq!(columns.apart(b" 130100 0 0"), None);
        let columns = columns.narrowed();
        let of = |line: &str| {
            let apart = columns.apart(line.as_bytes())?;
            Some(String::from_utf8(apart).expect("text"))
        };
        assert_eq!(of("  130  0  0100").as_deref(), Some("130 0 0 100"));
        assert_eq!(of("  130  0100  0").as_deref(), Some("130 0 100 0"));
        // Not aligned.
        assert_eq!(of(" 130100 0 0").as_deref(), Some("130 100 0 0"));
        assert_eq!(of("7 0 0100").as_deref(), Some("7 0 0 100"));
        for no in [
            "130 1 98",
            "130101 0 0",
            "130100 1 0",
            "00100 0 0",
            "100 0 0",
            "5 4 0100",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }

    #[test]
    fn zeros_before_digits_are_of_two_numbers() {
        let together = |line: &str| Columns::is_together(fields(line.as_bytes()));
        assert!(together("1 0100 3"));
        assert!(together("-012"));
        assert!(!together("0 10 0.5 -1 c0t0"));
    }
}
