//! Numbers of a line, eight bytes at a time: for tools that print millions of lines.
//!
//! The blanks of the first 64 bytes are found at once as bits of a word; between them stands a
//! number of digits, perhaps with one decimal, whose bytes are made a number by three
//! multiplications. All else (signs, commas, more decimals, tabs) goes the way of
//! [`crate::number::number`], with the same result: but for `2,232` in a line that shows elsewhere that its
//! commas are decimal.

use crate::number::{decimal, number};

/// More numbers than any line has that is read this way.
pub(crate) const MOST: usize = 24;

const EACH: u64 = 0x0101_0101_0101_0101;

/// A point, where digits are their numbers.
const POINT: u64 = (b'.' ^ b'0') as u64;

/// Bytes of a line in which fields are looked for at once.
const WINDOW: usize = 64;

/// Those, and what is read behind the beginning of the last of them.
const HEAD: usize = WINDOW + 8;

/// Reads numbers from the beginning of the line, as many as `values` has room for or as there
/// are; how many, and where what follows them begins.
pub(crate) fn numbers(line: &[u8], values: &mut [f64]) -> (usize, usize) {
    let read = match line.first_chunk() {
        Some(head) => quick(head, values),
        None => {
            // A short line, with blanks behind it.
            let mut head = [b' '; HEAD];
            head[..line.len()].copy_from_slice(line);
            quick(&head, values)
        }
    };
    match read {
        Ok(next) => (values.len(), after_blanks(line, next.min(line.len()))),
        Err((count, at)) => slow(line, at.min(line.len()), count, values),
    }
}

/// The same of numbers that all are in the first bytes of `text` and have at most one decimal; where the
/// field behind them begins.
pub(crate) fn plain(text: &[u8], values: &mut [f64]) -> Option<usize> {
    let next = quick(text.first_chunk()?, values).ok()?;
    (next < WINDOW).then_some(next)
}

/// Where what follows the numbers begins, or of how many none was odd and where the next begins.
#[inline]
fn quick(head: &[u8; HEAD], values: &mut [f64]) -> Result<usize, (usize, usize)> {
    let filled = filled(head);
    // Where a field begins, and where a blank is after one.
    let mut starts = filled & !(filled << 1);
    let mut ends = !filled & (filled << 1);
    for (count, value) in values.iter_mut().enumerate() {
        let (start, end) = (starts.trailing_zeros(), ends.trailing_zeros());
        match one(head, start, end) {
            Some(number) => *value = number,
            None => return Err((count, start as usize)),
        }
        starts &= starts.wrapping_sub(1);
        ends &= ends.wrapping_sub(1);
    }
    Ok(starts.trailing_zeros() as usize)
}

/// A field of up to eight digits, or up to six, a point and one more. Exact: both numbers of the
/// division are.
#[inline]
fn one(head: &[u8; HEAD], start: u32, end: u32) -> Option<f64> {
    let length = end.wrapping_sub(start);
    if length > 8 || end >= WINDOW as u32 {
        return None;
    }
    let eight: &[u8; 8] = head[start as usize..].first_chunk()?;
    // The last digit is the highest byte, before the first there are zeros.
    let shift = 0u32.wrapping_sub(8 * length);
    let mut digits = (u64::from_le_bytes(*eight) ^ (EACH * 0x30)).wrapping_shl(shift);
    let decimal = (digits >> 48) & 0xff == POINT;
    if decimal {
        // The digits before it move up by one, over it.
        digits = (digits & (0xff << 56)) | (digits << 8 & !(0xff << 56));
    }
    // What is carried into the next byte comes of one that is no digit anyway.
    if (digits | digits.wrapping_add(EACH * 0x76)) & (EACH * 0x80) != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10 * 0x100 + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 * 0x1_0000 + 1) >> 16 & 0x0000_ffff_0000_ffff;
    let made = (fours.wrapping_mul(10_000 * 0x1_0000_0000 + 1) >> 32) as u32;
    // Below 10^8; a signed number of four bytes becomes a float by one instruction.
    let value = f64::from(made as i32);
    Some(if decimal { value / 10.0 } else { value })
}

/// The same from `at` on, field by field.
fn slow(line: &[u8], at: usize, count: usize, values: &mut [f64]) -> (usize, usize) {
    let mut at = after_blanks(line, at);
    for (i, place) in values.iter_mut().enumerate().skip(count) {
        let rest = &line[at.min(line.len())..];
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let end = end.unwrap_or(rest.len());
        let text = &rest[..end];
        let has_decimal = text.contains(&b',') && has_decimal_commas(line);
        let value = if has_decimal {
            decimal(text)
        } else {
            number(text)
        };
        let Some(value) = value else {
            return (i, at);
        };
        *place = value;
        at = after_blanks(line, at + end);
    }
    (values.len(), at)
}

/// Whether a field has a comma that separates no thousands: `0,3`, `12,75`, `0,031`.
fn has_decimal_commas(line: &[u8]) -> bool {
    crate::fields(line).any(|field| {
        let mut parts = field.split(|b| *b == b',');
        let (Some(whole), Some(behind), None) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        digits(whole) && digits(behind) && (behind.len() < 3 || whole == b"0")
    })
}

fn after_blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    let blanks = rest.iter().position(|b| !b.is_ascii_whitespace());
    at + blanks.unwrap_or(rest.len())
}

/// A bit for each byte of the window that is no blank.
#[inline]
fn filled(head: &[u8; HEAD]) -> u64 {
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
    fn a_comma_is_decimal_where_another_is() {
        let of = |line: &str| {
            let mut values = [0.0; 4];
            let (count, _) = numbers(line.as_bytes(), &mut values);
            values[..count].to_vec()
        };
        assert_eq!(
            of("100,3 1012,7 1,031 2,232"),
            [100.3, 1012.7, 1.031, 2.232]
        );
        assert_eq!(of("0,031 2,232"), [0.031, 2.232]);
        assert_eq!(of("1,234 12 3 4"), [1234.0, 12.0, 3.0, 4.0]);
        assert_eq!(of("1,234.5 0.3"), [1234.5, 0.3]);
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
