//! Tables of zones on illumos: `vfsstat` and `zonememstat`.
//!
//! ```text
//!   r/s   w/s  Mr/s  Mw/s ractv wactv read_t writ_t  %r  %w   d/s  del_t zone
//!   6.6   1.2   0.0   0.0   0.0   0.0    3.7   38.2   0   0   0.0    0.0 global (0)
//!
//!                                  ZONE  RSS(MB)  CAP(MB)    NOVER  POUT(MB)
//!                                global        0        -        -         -
//! ```
//!
//! Of `vfsstat` the first report is a mean since boot; times are in microseconds, K and M are
//! steps of 1,024. What programs do with files through the cache is no disk I/O, and of a zone
//! no file is known, so it is kept as it is. `zonememstat` prints what is, and counts since
//! the zone's boot.

use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields, prompt};

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
    parser: || Box::new(Zones::new(false)),
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
    parser: || Box::new(Zones::new(true)),
};

fn is_vfsstat(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = separated(line).collect();
    words.len() > 4
        && words.last() == Some(&&b"zone"[..])
        && words.contains(&&b"read_t"[..])
        && matches!(words.first(), Some(&(b"r/s" | b"r/i")))
}

fn is_zonememstat(line: &[u8]) -> bool {
    let mut words = fields(line);
    words.next() == Some(b"ZONE") && words.next().is_some_and(|w| w.starts_with(b"RSS"))
}

/// Columns: divided by blanks, or of `vfsstat -r` by commas.
fn separated(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace() || *b == b',')
        .filter(|w| !w.is_empty())
}

struct Zones {
    /// The columns after or before the zone's name.
    columns: Vec<String>,
    /// The name stands first (`zonememstat`).
    named_first: bool,
    /// Columns are divided by commas.
    commas: bool,
    reports: Repeated,
}

impl Zones {
    fn new(named_first: bool) -> Zones {
        Zones {
            columns: Vec::new(),
            named_first,
            commas: false,
            reports: Repeated::new(),
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
        // Names of zones are one word, with their number in brackets.
        let one = match name {
            [_] => true,
            [_, number] => number.starts_with(b"("),
            _ => false,
        };
        one.then(|| (name.join(&b' '), texts.to_vec()))
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
            let (name, unit) = unit(column);
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
        "read_t" | "writ_t" | "del_t" => (column, "us"),
        "%r" | "%w" => (column, "%"),
        _ => match column.strip_suffix("(MB)") {
            Some(name) => (name, "MiB"),
            None => (column, ""),
        },
    }
}

impl Parser for Zones {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let is_header = if self.named_first {
            is_zonememstat
        } else {
            is_vfsstat
        };
        if is_header(line) {
            self.header(line);
            return Line::Noise;
        }
        let tool = if self.named_first {
            "zonememstat"
        } else {
            "vfsstat"
        };
        if self.reports.between(line, &[tool], out) {
            return Line::Noise;
        }
        match self.row(line, out) {
            Line::Unknown if prompt::is_chatter(line) => Line::Noise,
            seen => seen,
        }
    }
}
