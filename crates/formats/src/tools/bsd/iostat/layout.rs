//! The header of what stands side by side in a line: terminals, disks, processors, load.

use crate::disk::layer_of_cut;
use crate::fields;

/// Columns of a disk.
const OF_DISKS: [&str; 10] = [
    "KB/t", "tps", "t/s", "xfrs", "MB/s", "MB", "sps", "msps", "KB", "xfr",
];

/// Those before and after the disks.
const OF_TERMINALS: [&str; 2] = ["tin", "tout"];
const OF_MACHINE: [&str; 9] = ["us", "ni", "sy", "sp", "in", "id", "1m", "5m", "15m"];

/// Which columns are of what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    pub(super) names: Vec<String>,
    /// Where the columns of the disks begin, and how many each has.
    pub(super) from: usize,
    pub(super) each: usize,
    pub(super) disks: usize,
}

impl Layout {
    /// Of a header; `None` if it is none.
    pub(super) fn of(all: &[&[u8]]) -> Option<Layout> {
        let count = |of: &[&str], from: usize| {
            let known = |n: &&&[u8]| of.iter().any(|o| o.as_bytes() == **n);
            all[from..].iter().take_while(known).count()
        };
        let from = count(&OF_TERMINALS, 0);
        let mut disks = count(&OF_DISKS, from);
        // `KB xfr time` of OpenBSD's -D. In NetBSD's order the column KB was of megabytes once.
        let shares: [&[u8]; 3] = [b"KB", b"xfr", b"time"];
        let busy = all[from..].chunks_exact(3).take_while(|c| **c == shares);
        disks = disks.max(busy.count() * 3);
        let to = from + disks;
        if to + count(&OF_MACHINE, to) != all.len() {
            return None;
        }
        let (block, machine) = (&all[from..to], &all[to..]);
        let again = block.iter().skip(1).position(|n| *n == block[0]);
        let each = again.map_or(block.len(), |at| at + 1);
        let has = |of: &[&[u8]], name: &[u8]| of.contains(&name);
        let sound = if block.is_empty() {
            has(machine, b"us")
                && has(machine, b"id")
                && (has(machine, b"ni") || has(machine, b"1m"))
        } else {
            let alike = block.chunks(each).all(|c| *c == block[..each]);
            let (first, counted) = (&block[..each], ["tps", "t/s", "xfrs"]);
            let of_size = has(first, b"KB/t") && first.iter().any(|n| n.starts_with(b"MB"));
            let of_sectors = has(first, b"sps") && has(first, b"msps");
            let rates = counted.iter().any(|c| has(first, c.as_bytes()));
            alike && (*first == shares || rates && (of_size || of_sectors) && each == 3)
        };
        let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
        sound.then(|| Layout {
            names: all.iter().map(text).collect(),
            from,
            each,
            disks: disks / each.max(1),
        })
    }

    /// The disks' values, one after the other.
    pub(super) fn of_disks<'a>(
        &self,
        values: &'a [f64],
    ) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        let to = (self.from + self.each * self.disks).min(values.len());
        values[self.from.min(to)..to].chunks(self.each.max(1))
    }

    /// The value of a column of a disk's.
    pub(super) fn of_disk(&self, values: &[f64], names: &[&str]) -> f64 {
        let columns = self.names[self.from..].iter().take(self.each);
        let mut found = columns
            .zip(values)
            .filter(|(n, _)| names.contains(&n.as_str()));
        found.next().map_or(f64::NAN, |(_, v)| *v)
    }

    /// The value of a column that no disk has.
    pub(super) fn value(&self, values: &[f64], name: &str) -> f64 {
        let place = self.names.iter().position(|n| n == name);
        place
            .and_then(|p| values.get(p))
            .copied()
            .unwrap_or(f64::NAN)
    }
}

/// The disks that the line over such a header names; `None` if it is none. Names lose what is
/// behind their sixth letter.
pub(super) fn disks(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let other = |n: &[u8]| matches!(n, b"tty" | b"cpu" | b"CPU" | b"load" | b"average");
    let is_disk = |n: &[u8]| {
        let whole = n[0].is_ascii_alphabetic() && n.last().is_some_and(u8::is_ascii_digit);
        let cut = n.len() == 6 && layer_of_cut(n) == "disk";
        (whole || cut) && n.iter().all(u8::is_ascii_alphanumeric)
    };
    // NetBSD draws a line from each column to the disk's name.
    let drawn = |n: &[u8]| n.iter().all(|b| b"|_".contains(b));
    let named = || fields(line).filter(|n| !drawn(n) && !other(n));
    if !named().all(is_disk) {
        return None;
    }
    let mut disks: Vec<Vec<u8>> = Vec::new();
    for name in named() {
        let name = numbered(name, |n| disks.iter().any(|d| d == n));
        disks.push(name);
    }
    Some(disks)
}

/// The name, with a number behind where another was cut to the same.
pub(super) fn numbered(name: &[u8], is_there: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut full = name.to_vec();
    let mut number = 1;
    while is_there(&full) {
        number += 1;
        full = [name, format!("#{number}").as_bytes()].concat();
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str) -> Option<Layout> {
        Layout::of(&fields(header.as_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn headers_and_what_is_none() {
        for (header, from, each, disks) in [
            (
                " tin  tout  KB/t tps  MB/s  KB/t tps  MB/s  us ni sy in id",
                2,
                3,
                2,
            ),
            ("    KB/t xfrs   MB", 0, 3, 1),
            (" us ni sy sp in id", 0, 0, 0),
            (" us sy id   1m   5m   15m", 0, 0, 0),
            (" sps tps msps  sps tps msps", 0, 3, 2),
            ("   t/s  KB/t  MB/s   t/s  KB/t  MB/s", 0, 3, 2),
            ("   KB xfr  time    KB xfr  time", 0, 3, 2),
        ] {
            let layout = of(header).unwrap_or_else(|| panic!("{header}"));
            assert_eq!(
                (layout.from, layout.each, layout.disks),
                (from, each, disks),
                "{header}"
            );
        }
        for no in [
            " tin tout  kps tps serv  us sy wt id",
            " us sy wt id",
            " us sy id",
            " tin tout",
            "  KB/t xfr  MB",
            "  xfr  KB  time",
            "  KB/t tps  MB/s  KB/t tps",
            "device     r/s   w/s    kr/s    kw/s",
            "",
        ] {
            assert_eq!(of(no), None, "{no}");
        }
    }

    #[test]
    fn names_of_disks() {
        let of = |line: &str| {
            let text = |n: Vec<u8>| String::from_utf8(n).expect("text");
            Some(
                disks(line.as_bytes())?
                    .into_iter()
                    .map(text)
                    .collect::<Vec<_>>(),
            )
        };
        let two = Some(vec!["ada0".to_owned(), "da12".to_owned()]);
        assert_eq!(of("     tty     ada0    da12    cpu"), two);
        assert_eq!(of("     tty |___ ada0 ___| |___ da12 ___|  CPU"), two);
        let cut = Some(vec!["mfisys".to_owned(), "mfisys#2".to_owned()]);
        assert_eq!(of("     mfisys     mfisys"), cut);
        assert_eq!(of("no names"), None);
    }
}
