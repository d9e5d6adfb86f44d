//! What the header lines of `iostat` say of the columns below them.

use crate::fields;
use crate::together::Columns;

/// Columns of a device, by name; with `-n`, `-I`, `-M` and `-e` others of them.
pub(super) const READS: usize = 0;
pub(super) const WRITES: usize = 1;
pub(super) const READ_SIZE: usize = 2;
pub(super) const WRITE_SIZE: usize = 3;
pub(super) const WAIT: usize = 4;
pub(super) const ACTIVE: usize = 5;
pub(super) const WAIT_TIME: usize = 6;
pub(super) const ACTIVE_TIME: usize = 7;
pub(super) const WHOLE_TIME: usize = 8;
pub(super) const WAIT_BUSY: usize = 9;
pub(super) const BUSY: usize = 10;
const KNOWN: usize = 11;

/// A table with a line for each device: `-x`, `-e`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Which number of a row is which column.
    pub(super) places: [Option<usize>; KNOWN],
    /// Columns that are counts since boot, of `-e`, or that are not known: name and place.
    pub(super) others: Vec<(String, usize)>,
    /// Numbers of a row.
    pub(super) numbers: usize,
    /// The name is before the numbers: without `-n`.
    pub(super) name_first: bool,
    /// Comma between fields: `-r`.
    pub(super) raw: bool,
    /// Amounts of the interval and no rates: `-I`.
    pub(super) amounts: bool,
    /// Bytes of what sizes count: 1,024, or 1,048,576 with `-M`.
    pub(super) unit: f64,
    /// Columns of terminals and processors, which follow on the first row only.
    pub(super) tail: Vec<String>,
}

/// The columns of terminals and processors.
const TAIL: [&str; 7] = ["tin", "tout", "us", "sy", "wt", "st", "id"];

fn is_tail(name: &str) -> bool {
    TAIL.contains(&name) || name == "dt"
}

/// Names of a header's columns.
pub(super) fn names(line: &[u8]) -> Vec<String> {
    let text = |f: &[u8]| String::from_utf8_lossy(f).into_owned();
    if line.contains(&b',') {
        let all = line.split(|b| *b == b',').map(<[u8]>::trim_ascii);
        return all.filter(|f| !f.is_empty()).map(text).collect();
    }
    fields(line).map(text).collect()
}

/// The column of that name, whether it is of the interval, and the bytes of its unit.
fn column(name: &str) -> Option<(usize, bool, f64)> {
    let found = match name {
        "wait" => WAIT,
        "actv" => ACTIVE,
        "wsvc_t" => WAIT_TIME,
        "asvc_t" => ACTIVE_TIME,
        "svc_t" => WHOLE_TIME,
        "%w" => WAIT_BUSY,
        "%b" => BUSY,
        _ => {
            let (what, per) = name.split_once('/')?;
            let amounts = match per {
                "s" => false,
                "i" => true,
                _ => return None,
            };
            let (unit, what) = match what.as_bytes() {
                [b'k' | b'K', what] => (1024.0, what),
                [b'M', what] => (1_048_576.0, what),
                [what] => (0.0, what),
                _ => return None,
            };
            let place = match (what, unit > 0.0) {
                (b'r', false) => READS,
                (b'w', false) => WRITES,
                (b'r', true) => READ_SIZE,
                (b'w', true) => WRITE_SIZE,
                _ => return None,
            };
            return Some((place, amounts, unit));
        }
    };
    Some((found, false, 0.0))
}

impl Layout {
    /// Whether rows are numbers, blanks between them, and a name behind.
    pub(super) fn is_behind(&self) -> bool {
        !self.raw && !self.name_first
    }

    /// Numbers after those of the device, with their names.
    pub(super) fn tail<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = (&'a str, f64)> {
        self.tail
            .iter()
            .map(String::as_str)
            .zip(values.iter().copied())
    }

    /// Of a header line; `None` if it is none.
    pub(super) fn of(line: &[u8]) -> Option<Layout> {
        let names = names(line);
        let is_name = |n: &String| n == "device" || n == "disk";
        let at = names.iter().position(is_name)?;
        let end = names.iter().position(|n| is_tail(n)).unwrap_or(names.len());
        let has = |name: &str| names.iter().any(|n| n == name);
        let name_first = at == 0;
        let sound = (name_first || at + 1 == end) && (has("actv") || has("trn"));
        if !sound || !names[end..].iter().all(|n| is_tail(n)) {
            return None;
        }
        let mut layout = Layout {
            places: [None; KNOWN],
            others: Vec::new(),
            numbers: end - 1,
            name_first,
            raw: line.contains(&b','),
            amounts: false,
            unit: 1024.0,
            tail: names[end..].to_vec(),
        };
        let numbers = names[..end].iter().filter(|n| !is_name(n));
        for (place, name) in numbers.enumerate() {
            match column(name) {
                Some((which, amounts, unit)) if layout.places[which].is_none() => {
                    layout.places[which] = Some(place);
                    layout.amounts |= amounts;
                    if unit > 0.0 {
                        layout.unit = unit;
                    }
                }
                _ => layout.others.push((name.clone(), place)),
            }
        }
        (layout.numbers + layout.tail.len() <= crate::scan::MOST).then_some(layout)
    }
}

/// A table with a line for each sample: `-d`, `-D`, `-t`, `-c`, and what `iostat` prints without
/// flags.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Basic {
    /// Names of the columns of terminals and processors, and their places.
    pub(super) tail: Vec<(String, usize)>,
    /// Place of each device's first column.
    pub(super) groups: Vec<usize>,
    /// Names of a device's three columns.
    pub(super) columns: Vec<String>,
    /// Numbers of a row.
    pub(super) numbers: usize,
    pub(super) raw: bool,
    pub(super) amounts: bool,
    pub(super) unit: f64,
    /// Its columns, for rows whose numbers run together.
    pub(super) together: Columns,
}

impl Basic {
    /// Of a header line; `None` if it is none.
    pub(super) fn of(line: &[u8]) -> Option<Basic> {
        let names = names(line);
        let (mut tail, mut groups) = (Vec::new(), Vec::new());
        let mut columns: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(name) = names.get(at) {
            if is_tail(name) {
                tail.push((name.clone(), at));
                at += 1;
                continue;
            }
            let group = names.get(at..at + 3)?;
            let known = matches!(
                [&*group[0], &*group[1], &*group[2]],
                ["kps" | "kpi" | "Mps" | "Mpi", "tps" | "tpi", "serv"]
                    | ["rps" | "rpi", "wps" | "wpi", "util"]
            );
            if !known || !(columns.is_empty() || columns == group) {
                return None;
            }
            columns = group.to_vec();
            groups.push(at);
            at += 3;
        }
        let has = |name: &str| tail.iter().any(|(n, _)| n == name);
        if groups.is_empty() && !has("tin") && !(has("us") && has("sy") && has("id")) {
            return None;
        }
        let first = columns.first().map_or("", String::as_str);
        Some(Basic {
            numbers: names.len(),
            raw: line.contains(&b','),
            amounts: first.ends_with('i'),
            unit: if first.starts_with('M') {
                1_048_576.0
            } else {
                1024.0
            },
            tail,
            groups,
            columns,
            together: Columns::of(line).with_shares(line, &["us", "sy", "wt", "dt", "st", "id"]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_many_flags() {
        let n = Layout::of(
            b"    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b s/w h/w trn tot device",
        );
        let n = n.unwrap();
        assert_eq!((n.numbers, n.name_first, n.unit), (14, false, 1024.0));
        assert_eq!(n.places[BUSY], Some(9));
        assert_eq!(n.others[3], ("tot".to_owned(), 13));
        let x = Layout::of(
            b"device       r/i    w/i   Mr/i   Mw/i wait actv  svc_t  %w  %b  tin tout  us sy dt id",
        );
        let x = x.unwrap();
        assert!(x.name_first && x.amounts && x.unit > 1e6);
        assert_eq!((x.numbers, x.tail.len()), (9, 6));
        let raw = Layout::of(b"device,r/s,w/s,kr/s,kw/s,wait,actv,svc_t,%w,%b,,us,sy,wt,id");
        assert_eq!(
            raw.map(|r| (r.raw, r.numbers, r.tail.len())),
            Some((true, 9, 4))
        );
        assert!(Layout::of(b"device  s/w h/w trn tot ").is_some());
        // Of FreeBSD.
        assert_eq!(
            Layout::of(b"device     r/s   w/s    kr/s    kw/s qlen svc_t  %b"),
            None
        );
        let basic = Basic::of(b" tin tout kps tps serv  kps tps serv   us sy wt id").unwrap();
        assert_eq!((basic.groups.len(), basic.numbers), (2, 12));
        assert!(Basic::of(b" us sy dt id").is_some());
        assert!(Basic::of(b"rps wps util").is_some());
        assert_eq!(Basic::of(b" r b w   swap  free"), None);
        assert_eq!(Basic::of(b""), None);
    }
}
