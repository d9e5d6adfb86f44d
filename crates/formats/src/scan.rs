//! Numbers of a line, eight bytes at a time: for tools that print millions of lines.
//!
//! The blanks of the first 64 bytes are found at once as bits of a word; between them stands a
//! number of digits, perhaps with one decimal, whose bytes are made a number by three
//! multiplications. All else (signs, commas, more decimals, tabs) goes the way of
//! [`crate::number::number`], with the same result.

use crate::number::number;

/// More numbers than any line has that is read this way.
pub(crate) const MOST: usize = 24;

const EACH: u64 = 0x0101_0101_0101_0101;

/// Bytes of a line that are looked at at once.
const WINDOW: usize = 64;

/// Reads numbers from the beginning of the line, as many as `values` has room for or as there
/// are; how many, and where what follows them begins.
pub(crate) fn numbers(line: &[u8], values: &mut [f64]) -> (usize, usize) {
    if let Some(head) = line.first_chunk::<WINDOW>() {
        return windowed(head, line, values);
    }
    // A short line, with blanks behind it.
    let mut head = [b' '; WINDOW];
    head[..line.len()].copy_from_slice(line);
    let (count, at) = windowed(&head, line, values);
    (count, at.min(line.len()))
}

fn windowed(head: &[u8; WINDOW], line: &[u8], values: &mut [f64]) -> (usize, usize) {
    let filled = filled(head);
    // Where a field begins, and where a blank is after one.
    let mut starts = filled & !(filled << 1);
    let mut ends = !filled & (filled << 1);
    for count in 0..values.len() {
        let (start, end) = (
            starts.trailing_zeros() as usize,
            ends.trailing_zeros() as usize,
        );
        if end >= WINDOW {
            // It reaches beyond what was looked at, or there is none.
            return slow(line, start.min(WINDOW), count, values);
        }
        let found = quick(head, start, end).or_else(|| number(line.get(start..end)?));
        let Some(value) = found else {
            // No number, or one before a tab.
            return slow(line, start, count, values);
        };
        values[count] = value;
        starts &= starts - 1;
        ends &= ends - 1;
    }
    let next = (starts.trailing_zeros() as usize).min(WINDOW);
    (values.len(), after_blanks(line, next))
}

/// The same from `at` on, field by field.
fn slow(line: &[u8], at: usize, count: usize, values: &mut [f64]) -> (usize, usize) {
    let mut at = after_blanks(line, at);
    for (i, place) in values.iter_mut().enumerate().skip(count) {
        let rest = &line[at.min(line.len())..];
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let end = end.unwrap_or(rest.len());
        let Some(value) = number(&rest[..end]) else {
            return (i, at);
        };
        *place = value;
        at = after_blanks(line, at + end);
    }
    (values.len(), at)
}

fn after_blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    let blanks = rest.iter().position(|b| !b.is_ascii_whitespace());
    at + blanks.unwrap_or(rest.len())
}

/// A bit for each byte that is no blank.
fn filled(head: &[u8; WINDOW]) -> u64 {
    // Sixteen are compared at once.
    let mut other = [0; WINDOW];
    for (other, byte) in other.iter_mut().zip(head) {
        *other = u8::from(*byte != b' ');
    }
    let mut bits = 0;
    for (i, eight) in other.as_chunks::<8>().0.iter().enumerate() {
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * i);
    }
    bits
}

/// Up to eight digits, or up to six, a point and one more. Exact: both numbers of the division
/// are.
#[inline]
fn quick(line: &[u8; WINDOW], start: usize, end: usize) -> Option<f64> {
    let length = end.checked_sub(start)?;
    if length > 8 || length == 0 {
        return None;
    }
    // The eight bytes that end with the last digit, which is the highest byte then.
    let last = match end.checked_sub(8) {
        Some(from) => u64::from_le_bytes(*line.get(from..)?.first_chunk()?),
        None => u64::from_le_bytes(*line.first_chunk()?) << (8 * (8 - end)),
    };
    // Before the first digit there are zeros.
    let mut digits = (last ^ (EACH * 0x30)) & (u64::MAX << (8 * (8 - length)));
    let decimal = length > 2 && (digits >> 48) & 0xff == u64::from(b'.' ^ b'0');
    if decimal {
        digits = (digits << 8 & 0x00ff_ffff_ffff_ffff) | (digits & 0xff00_0000_0000_0000);
    }
    if (digits | (digits & (EACH * 0x7f)).wrapping_add(EACH * 0x76)) & (EACH * 0x80) != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10 * 0x100 + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 * 0x1_0000 + 1) >> 16 & 0x0000_ffff_0000_ffff;
    let eight = fours.wrapping_mul(10_000 * 0x1_0000_0000 + 1) >> 32;
    let value = eight as f64;
    Some(if decimal { value / 10.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is between blanks, read one by one.
    fn plainly(line: &str) -> Vec<f64> {
        let all = line.split_whitespace().map(|f| number(f.as_bytes()));
        all.map_while(|n| n).collect()
    }

    #[test]
    fn the_short_way_agrees_with_the_long_one() {
        let lines = [
            "    0.0    0.9    0.8    3.8  0.0  0.0    0.0    0.5   0   0 c0t1d0",
            "  269.2  113.9  505.4  686.8  3.1  0.3    8.1    0.8   1   3 zones      ",
            "12345.6 99999999 999999.9 123456789.1 1234567.8 0 1 -3 .5 5. x 1 2 3 4 5 6 7 8 9 0 1 2 ",
            "1,5 2.25 3.125 1e3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28",
            "1\t2 3                                                                          4 5 6",
            "                                                                               7 8 9",
            "1 2 3",
            "",
            " ",
            "x",
            "1 2 3 x 4",
            "1.2.3 4                                                                  ",
            "                                                          1.5  2222222222222222222.5 3",
            "1 2 3 4 5                                                   66.6 7",
        ];
        for line in lines {
            let wanted = plainly(line);
            for room in [0, 1, 2, 10, MOST] {
                let mut values = vec![f64::NAN; room];
                let (count, at) = numbers(line.as_bytes(), &mut values);
                assert_eq!(values[..count], wanted[..wanted.len().min(room)], "{line}");
                let rest = line.get(at..).unwrap().split_whitespace().count();
                assert_eq!(rest + count, line.split_whitespace().count(), "{line}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_digits_are_no_number() {
        for byte in 0..=255_u8 {
            let mut line = b"00000.0 ".repeat(10);
            line[2] = byte;
            let mut values = [f64::NAN; 1];
            let (count, _) = numbers(&line, &mut values);
            let field = line.split(u8::is_ascii_whitespace).next().unwrap();
            if byte != b' ' {
                let wanted = number(field);
                assert_eq!(wanted.is_some(), count == 1, "{byte}");
                assert_eq!(
                    wanted.unwrap_or(0.0),
                    values[..count].first().copied().unwrap_or(0.0)
                );
            }
        }
    }

    #[test]
    fn one_decimal_is_exact() {
        for n in (0..9_999_999_u64).step_by(37) {
            let text = format!("{}.{} {:60}", n / 10, n % 10, "");
            let mut value = [0.0];
            assert_eq!(numbers(text.as_bytes(), &mut value).0, 1);
            assert_eq!(
                Some(value[0]),
                format!("{}.{}", n / 10, n % 10).parse().ok()
            );
        }
    }
}
