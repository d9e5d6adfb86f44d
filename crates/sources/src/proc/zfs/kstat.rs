//! The text form of a ZFS kstat of named values, and how its counters advance.
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

/// What `N` counters of a kstat were at its last reading; none has been yet at first.
#[derive(Clone, Copy, Debug)]
pub struct Count<const N: usize> {
    made: u64,
    read: u64,
    before: [u64; N],
}

impl<const N: usize> Default for Count<N> {
    fn default() -> Count<N> {
        Count {
            made: 0,
            read: 0,
            before: [0; N],
        }
    }
}

/// What counters can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since<const N: usize> {
    /// Nothing: they are seen for the first time.
    FirstSeen,
    /// Nothing: they began anew, as when a pool was exported and imported again.
    Renewed,
    /// What they were; zero if they came into being since.
    Was([u64; N]),
}

impl<const N: usize> Count<N> {
    /// Takes the next reading, of a kstat made and read at `times`. `last` is when any kstat of
    /// its kind was read last (0: never): one that was made later began at zero since.
    pub fn advance(&mut self, times: (u64, u64), now: [u64; N], last: u64) -> Since<N> {
        let (made, read) = times;
        let was = *self;
        *self = Count {
            made,
            read: read.max(1),
            before: now,
        };
        match was.read {
            0 if last > 0 && made > last => Since::Was([0; N]),
            0 => Since::FirstSeen,
            _ if was.made != made => Since::Renewed,
            _ => Since::Was(was.before),
        }
    }
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
    fn counters_are_compared_with_their_own() {
        let mut count = Count::default();
        assert_eq!(count.advance((5, 10), [7], 0), Since::FirstSeen);
        assert_eq!(count.advance((5, 20), [9], 10), Since::Was([7]));
        assert_eq!(count.advance((25, 30), [2], 20), Since::Renewed);
        assert_eq!(count.advance((25, 40), [3], 30), Since::Was([2]));
        assert_eq!(Count::default().advance((35, 40), [3], 30), Since::Was([0]));
        assert_eq!(
            Count::default().advance((29, 40), [3], 30),
            Since::FirstSeen
        );
    }

    #[test]
    fn amounts_below_zero_are_not_known() {
        assert_eq!(amount(b"18446744073709551615"), None);
        assert_eq!(amount(b"7"), Some(7));
        assert_eq!(times(b"1 2 3"), None);
    }
}
