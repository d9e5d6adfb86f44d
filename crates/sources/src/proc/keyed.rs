//! Files of `key value` lines, of which a few of many lines are wanted.
//!
//! Which lines a kernel prints, and in which order, stays the same until it stops; only the
//! digits change. So each wanted key is looked for at the distance from the previous one at
//! which it was last time, which costs nothing where the lines between kept their length.

use crate::read::number;

/// Where the wanted keys are in a file.
#[derive(Debug)]
pub(super) struct Keyed<const N: usize> {
    keys: &'static [&'static str; N],
    /// In the order of the file; only keys that it has.
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Which of the keys.
    key: usize,
    /// Bytes between the end of the previous wanted line and this one.
    gap: usize,
}

impl<const N: usize> Keyed<N> {
    /// Will look for `keys`.
    pub(super) fn new(keys: &'static [&'static str; N]) -> Keyed<N> {
        Keyed {
            keys,
            places: Vec::new(),
        }
    }

    /// The values of the keys in `text`, in the order of the keys; `None` where it has no such
    /// line or no number there.
    pub(super) fn values(&mut self, text: &[u8]) -> [Option<u64>; N] {
        if !self.places.is_empty()
            && let Some(values) = self.walk(text)
        {
            return values;
        }
        self.places = places(self.keys, text);
        self.walk(text).unwrap_or([None; N])
    }

    /// The values by the known order of lines; `None` if a key is not where that has it.
    fn walk(&mut self, text: &[u8]) -> Option<[Option<u64>; N]> {
        let mut values = [None; N];
        // The start of the line after the last one that was used.
        let mut at = 0;
        for place in &mut self.places {
            let key = self.keys[place.key].as_bytes();
            let mut start = at + place.gap;
            if !has(text, start, key) {
                start = at;
                while !has(text, start, key) {
                    start = next_line(text, start)?;
                }
                place.gap = start - at;
            }
            let mut from = start + key.len() + 1;
            while text.get(from) == Some(&b' ') {
                from += 1;
            }
            let mut to = from;
            while text.get(to).is_some_and(u8::is_ascii_digit) {
                to += 1;
            }
            values[place.key] = number(&text[from..to]);
            at = next_line(text, to).unwrap_or(text.len());
        }
        Some(values)
    }
}

/// Whether a line with exactly that key starts at `start`.
fn has(text: &[u8], start: usize, key: &[u8]) -> bool {
    let line_starts = start == 0 || text.get(start - 1) == Some(&b'\n');
    line_starts
        && text
            .get(start..)
            .and_then(|rest| rest.strip_prefix(key))
            .is_some_and(|rest| matches!(rest.first(), Some(b' ' | b':')))
}

/// Start of the line after the one that `at` is in.
fn next_line(text: &[u8], at: usize) -> Option<usize> {
    let end = text.get(at..)?.iter().position(|&b| b == b'\n')?;
    Some(at + end + 1)
}

/// The order of the keys in `text`. The gaps are found by the first walk.
fn places(keys: &[&str], text: &[u8]) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    let mut line = Some(0);
    while let Some(start) = line {
        let key = keys.iter().position(|k| has(text, start, k.as_bytes()));
        if let Some(key) = key
            && found.iter().all(|p| p.key != key)
        {
            found.push(Place { key, gap: 0 });
        }
        line = next_line(text, start);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["oom", "in", "none", "out"];

    #[test]
    fn values_follow_their_lines_when_lengths_change() {
        let mut file = Keyed::new(&KEYS);
        let first = b"x 1\nin 9\ny 9\nin_more 4\nout 100\nz 0\noom 3\n";
        assert_eq!(
            file.values(first),
            [Some(3), Some(9), None, Some(100)],
            "found"
        );
        let longer = b"x 10\nin 10\ny 10000\nin_more 40\nout 200\nz 12\noom 4\n";
        assert_eq!(file.values(longer), [Some(4), Some(10), None, Some(200)]);
        assert_eq!(file.values(longer), [Some(4), Some(10), None, Some(200)]);
    }

    #[test]
    fn another_order_is_read_anew() {
        let mut file = Keyed::new(&KEYS);
        file.values(b"in 1\nout 2\noom 3\n");
        let other = b"oom 6\nx 1\nout 5\nin 4\n";
        assert_eq!(file.values(other), [Some(6), Some(4), None, Some(5)]);
        assert_eq!(file.values(b"out 7\n"), [None, None, None, Some(7)]);
    }

    #[test]
    fn only_the_start_of_a_line_is_a_key() {
        let mut file = Keyed::new(&KEYS);
        assert_eq!(file.values(b"a 1\nin 9\n")[1], Some(9));
        // The same distance as before, but within a line.
        assert_eq!(file.values(b"sum in 7\nin 10\n")[1], Some(10));
    }

    #[test]
    fn a_colon_and_a_unit_are_no_part_of_the_value() {
        let mut file = Keyed::new(&KEYS);
        assert_eq!(
            file.values(b"in:          12 kB\nout: 3 kB\n"),
            [None, Some(12), None, Some(3)]
        );
    }

    #[test]
    fn broken_files_yield_nothing() {
        let mut file = Keyed::new(&KEYS);
        for text in [&b""[..], b"\n\n", b"in", b"in \n", b"in x\n", b"inn 3\n"] {
            assert_eq!(file.values(text), [None; 4], "{text:?}");
        }
        let cut = b"in 5\nout 12345";
        assert_eq!(file.values(cut)[3], Some(12345));
    }
}
