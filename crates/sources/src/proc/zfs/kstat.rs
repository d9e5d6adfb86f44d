//! The text form of a ZFS kstat of named values.
//!
//! ```text
//! 28 1 0x01 7 2160 5266516168 165893402816452
//! name                            type data
//! dataset_name                    7    tank/home
//! writes                          4    12
//! ```
//! The first line: number, type, flags, count, size, nanoseconds after boot when it was made
//! and when it was read.

use crate::read::{fields, lines, number};

/// When the kstat was made, and when it was read: nanoseconds since the boot.
pub fn times(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut words = fields(lines(bytes).next()?).skip(5);
    Some((number(words.next()?)?, number(words.next()?)?))
}

/// Name and value of each line; the value may have blanks in it.
pub fn named(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines(bytes).skip(2).filter_map(|line| {
        let (name, rest) = word(line)?;
        let (_kind, value) = word(rest)?;
        Some((name, value))
    })
}

/// An amount: 64 bits without a sign. One with the highest bit set is a sum that was read
/// while it changed, and fell below zero: not known.
pub fn amount(value: &[u8]) -> Option<u64> {
    number(value).filter(|&n| i64::try_from(n).is_ok())
}

/// The first word of `line` and what follows it, without the blanks between.
fn word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii_start();
    let end = line.iter().position(|&b| b == b' ')?;
    Some((&line[..end], line[end..].trim_ascii_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_blanks() {
        let text = b"28 1 0x01 7 2160 5266516168 165893402816452\n\
            name                            type data\n\
            dataset_name                    7    tank/my files: old\n\
            writes                          4    12\n";
        assert_eq!(times(text), Some((5266516168, 165893402816452)));
        let all: Vec<_> = named(text).collect();
        assert_eq!(all[0], (&b"dataset_name"[..], &b"tank/my files: old"[..]));
        assert_eq!(all[1], (&b"writes"[..], &b"12"[..]));
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn amounts_below_zero_are_not_known() {
        assert_eq!(amount(b"18446744073709551615"), None);
        assert_eq!(amount(b"7"), Some(7));
        assert_eq!(times(b"1 2 3"), None);
    }
}
