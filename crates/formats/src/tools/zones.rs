//! Tables of zones on illumos: `vfsstat`, `ziostat` and `zonememstat`.
//!
//! ```text
//!   r/s   w/s  Mr/s  Mw/s ractv wactv read_t writ_t  %r  %w   d/s  del_t zone
//!   6.6   1.2   0.0   0.0   0.0   0.0    3.7   38.2   0   0   0.0    0.0 global (0)
//!
//!     r/s   kr/s   actv wsvc_t asvc_t  %b zone
//!     0.8    1.9    0.0    0.0    2.5   0 3b45ecfa (1)
//!
//!                                  ZONE  RSS(MB)  CAP(MB)    NOVER  POUT(MB)
//!                                global        0        -        -         -
//! ```
//!
//! Of `vfsstat` and `ziostat` the first report is a mean since boot; K and M are steps of 1,024. Times are in
//! milliseconds; delays of `vfsstat` are in microseconds, and so are its reads and writes in newer versions: in
//! older ones, and where there is a column `wait_t`, they are in milliseconds ([`times_of`]). What programs do with files
//! through the cache is no disk I/O, and of a zone neither file nor disk is known, so it is kept as
//! it is. `zonememstat` prints what is, and counts since the zone's boot.

use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields};

pub(crate) const VFSSTAT: Format = Format {
    name: "vfsstat",
    tool: "vfsstat",
    systems: "illumos (SmartOS)",
    help: "reads, writes and delays of files by zone",
    recognised: "a header that ends in `d/s del_t zone`",
    yields: &[],
    example: "\
  r/s   w/s  Mr/s  Mw/s ractv wactv read_t writ_t  %r  %w   d/s  del_t zone
  6.6   1.2   0.0   0.0   0.0   0.0    3.7   38.2   0   0   0.0    0.0 global (0)
  9.6   1.2   0.0   0.0   0.0   0.0    3.7   38.2   0   0   0.0    0.0 global (0)
",
    recognise: |head: &Head| if head.lines().any(is_vfsstat) { 90 } else { 0 },
    parser: || Box::new(Zones::new("vfsstat", is_vfsstat)),
};

pub(crate) const ZIOSTAT: Format = Format {
    name: "ziostat",
    tool: "ziostat",
    systems: "illumos (SmartOS)",
    help: "reads from ZFS pools by zone, their waits and service times",
    recognised: "a header `r/s kr/s actv wsvc_t asvc_t %b zone`",
    yields: &[],
    example: "\
    r/s   kr/s   actv wsvc_t asvc_t  %b zone
    0.8    1.9    0.0    0.0    2.5   0 global (0)
    1.0    0.5    0.0    0.0    6.4   0 global (0)
",
    recognise: |head: &Head| if head.lines().any(is_ziostat) { 90 } else { 0 },
    parser: || Box::new(Zones::new("ziostat", is_ziostat)),
};

pub(crate) const ZONEMEMSTAT: Format = Format {
    name: "zonememstat",
    tool: "zonememstat",
    systems: "illumos (SmartOS)",
    help: "memory of zones, and what was paged out to keep it below its cap",
    recognised: "the header `ZONE RSS(MB) CAP(MB) NOVER POUT(MB)`",
    yields: &[],
    example: "\
                                 ZONE  RSS(MB)  CAP(MB)    NOVER  POUT(MB)
                               global        0        -        -         -
 a28faa4d-d0ee-4593-938a-f0d062022b02     2082     3072        0         0
",
    recognise: |head: &Head| {
        if head.lines().any(is_zonememstat) {
            90
        } else {
            0
        }
    },
    parser: || Box::new(Zones::new("zonememstat", is_zonememstat)),
};

fn is_vfsstat(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = separated(line).collect();
    words.len() > 4
        && words.last() == Some(&&b"zone"[..])
        && words.contains(&&b"read_t"[..])
        && matches!(words.first(), Some(&(b"r/s" | b"r/i")))
}

fn is_ziostat(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = separated(line).collect();
    matches!(
        words[..],
        [
            b"r/s" | b"r/i",
            b"kr/s" | b"Mr/s" | b"kr/i" | b"Mr/i",
            b"actv",
            b"wsvc_t",
            b"asvc_t",
            b"%b",
            b"zone"
        ]
    )
}

fn is_zonememstat(line: &[u8]) -> bool {
    let mut words = fields(line);
    words.next() == Some(b"ZONE") && words.next().is_some_and(|w| w.starts_with(b"RSS"))
}

/// Columns: divided by blanks, or with `-r` by commas.
fn separated(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace() || *b == b',')
        .filter(|w| !w.is_empty())
}

struct Zones {
    tool: &'static str,
    is_header: fn(&[u8]) -> bool,
    /// The columns after or before the zone's name.
    columns: Vec<String>,
    /// The name stands first (`zonememstat`).
    named_first: bool,
    /// Columns are divided by commas.
    commas: bool,
    reports: Repeated,
    /// The unit of `read_t` and `writ_t`, where it is told.
    times: Option<&'static str>,
}

impl Zones {
    fn new(tool: &'static str, is_header: fn(&[u8]) -> bool) -> Zones {
        Zones {
            tool,
            is_header,
            columns: Vec::new(),
            named_first: tool == "zonememstat",
            commas: false,
            reports: Repeated::new(),
            times: None,
        }
    }

    fn header(&mut self, line: &[u8]) {
        let names = separated(line).map(|w| String::from_utf8_lossy(w).into_owned());
        let mut names: Vec<String> = names.collect();
        if self.named_first {
            names.remove(0);
        } else {
            names.pop();
        }
        self.columns = names;
        self.commas = line.contains(&b',');
        self.reports.ends();
    }

    /// The zone and the values, `-` as NaN. A zone's name can hold blanks: `global (0)`.
    fn values<'a>(&self, line: &'a [u8]) -> Option<(Vec<u8>, Vec<&'a [u8]>)> {
        let words: Vec<&[u8]> = if self.commas {
            line.split(|b| *b == b',').map(<[u8]>::trim_ascii).collect()
        } else {
            fields(line).collect()
        };
        let names = words.len().checked_sub(self.columns.len())?;
        if names == 0 || self.columns.is_empty() {
            return None;
        }
        let (name, texts) = if self.named_first {
            (words.get(..names)?, words.get(names..)?)
        } else {
            (
                words.get(self.columns.len()..)?,
                words.get(..self.columns.len())?,
            )
        };
        // Names of zones are one word, with their number in brackets; `ziostat -r` has none around it.
        let name = match name {
            [name] => name.to_vec(),
            [name, id] if self.commas && number(id).is_some() => {
                [name, &b" ("[..], id, b")"].concat()
            }
            [_, id] if id.starts_with(b"(") => name.join(&b' '),
            _ => return None,
        };
        Some((name, texts.to_vec()))
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Some((zone, texts)) = self.values(line) else {
            return Line::Unknown;
        };
        let read = texts.iter().map(|t| match *t {
            b"-" => Some(f64::NAN),
            text => number(text),
        });
        let Some(values) = read.collect::<Option<Vec<f64>>>() else {
            return Line::Unknown;
        };
        if self.named_first {
            self.reports.of(&zone, out);
            out.only_levels();
        } else {
            self.reports.counted(&zone, out);
        }
        let instance = out.word(&zone);
        for (column, value) in self.columns.iter().zip(values) {
            let (name, unit) = match column.as_str() {
                "read_t" | "writ_t" => {
                    if self.times.is_none() && value > 0.0 {
                        out.note(UNTOLD);
                    }
                    (column.as_str(), self.times.unwrap_or("us"))
                }
                "wait_t" => (column.as_str(), "ms"),
                _ => unit(column),
            };
            out.other(name, unit, instance, value);
        }
        Line::Data
    }
}

/// Name and unit of a column.
fn unit(column: &str) -> (&str, &'static str) {
    match column {
        "r/s" | "w/s" | "d/s" => (column, "/s"),
        "kr/s" | "kw/s" => (column, "KiB/s"),
        "Mr/s" | "Mw/s" => (column, "MiB/s"),
        "kr/i" | "kw/i" => (column, "KiB"),
        "Mr/i" | "Mw/i" => (column, "MiB"),
        "del_t" => (column, "us"),
        "wsvc_t" | "asvc_t" => (column, "ms"),
        "%r" | "%w" | "%b" => (column, "%"),
        _ => match column.strip_suffix("(MB)") {
            Some(name) => (name, "MiB"),
            None => (column, ""),
        },
    }
}

/// Said of times.
const UNTOLD: &str = "read_t and writ_t are taken for microseconds, as newer versions print them: no row tells \
                      whether they are the milliseconds of older ones";

/// The unit of `read_t` and `writ_t`, where a row tells it: as many are under way as come in a second
/// times the seconds that one takes (`vfsstat.pl` divides one by the other).
fn times_of(columns: &[String], row: &[f64]) -> Option<&'static str> {
    if columns.iter().any(|c| c == "wait_t") {
        return Some("ms");
    }
    let of = |names: &[&str]| {
        let place = columns.iter().position(|c| names.contains(&c.as_str()))?;
        row.get(place).copied()
    };
    let told = |rate: &str, under_way: &str, time: &str| {
        let (rate, under_way, time) = (of(&[rate])?, of(&[under_way])?, of(&[time])?);
        let seconds = under_way / rate;
        let is_near = |expected: f64| (0.4..2.5).contains(&(time.max(0.05) / expected));
        match [is_near(seconds * 1e3), is_near(seconds * 1e6)] {
            _ if rate <= 0.0 || under_way < 0.1 => None,
            [true, false] => Some("ms"),
            [false, true] => Some("us"),
            _ => None,
        }
    };
    told("r/s", "ractv", "read_t").or(told("w/s", "wactv", "writ_t"))
}

impl Parser for Zones {
    fn look(&mut self, head: &Head) {
        let mut header = Zones::new(self.tool, self.is_header);
        for line in head.lines() {
            if (self.is_header)(line) {
                header.header(line);
            } else if let Some((_, texts)) = header.values(line) {
                let row: Vec<f64> = texts
                    .iter()
                    .map(|t| number(t).unwrap_or(f64::NAN))
                    .collect();
                self.times = times_of(&header.columns, &row);
                if self.times.is_some() {
                    return;
                }
            }
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if (self.is_header)(line) {
            self.header(line);
            return Line::Noise;
        }
        if self.reports.between(line, &[self.tool], out) {
            return Line::Noise;
        }
        self.row(line, out)
    }
}
