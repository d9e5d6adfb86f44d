//! `dladm show-link -S` and `-s` of Solaris and illumos: traffic of network links.
//!
//! ```text
//! Link          iKb/s     oKb/s     iPk/s     oPk/s      %Util
//! igb0          94.36    131.72    116.31     63.62       0.02
//!
//! LINK         IPACKETS  RBYTES    IERRORS  OPACKETS  OBYTES    OERRORS
//! igb0         3920391   1342110   0        1929102   239193    0
//! ```
//!
//! Of `-S` a Kb is 1,024 bits (`print_link_stats` of illumos). Of `-s` without `-i` the counts
//! are since boot; with it the first report is, and the others are of the interval.

use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::repeated::Repeated;
use crate::together::printed::{self, Printed};
use crate::{Line, Parser, fields, net, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "dladm",
    tool: "dladm",
    systems: "Solaris, illumos",
    help: "bytes, packets and errors of network links",
    recognised: "the header `Link iKb/s oKb/s iPk/s oPk/s` (-S) or `LINK IPACKETS RBYTES …` (-s)",
    yields: &["net"],
    example: "\
Link          iKb/s     oKb/s     iPk/s     oPk/s      %Util
igb0          94.36    131.72    116.31     63.62       0.02
aggr0        186.31    450.06    194.83    160.04       0.07
",
    recognise: |head| if head.lines().any(is_header) { 90 } else { 0 },
    parser: || Box::new(Dladm::new()),
};

fn is_header(line: &[u8]) -> bool {
    let mut words = fields(line).map(<[u8]>::to_ascii_uppercase);
    words.next().as_deref() == Some(b"LINK")
        && matches!(words.next().as_deref(), Some(b"IKB/S" | b"IPACKETS"))
}

/// How a row of `-S` is printed: `%-10.10s%9.2f %9.2f %9.2f %9.2f     %6.2f` (`print_link_stats`).
const RATES: [Printed; 6] = [
    Printed::Name(10),
    Printed::Number {
        blanks: 0,
        width: 9,
        decimals: 2,
    },
    Printed::Apart,
    Printed::Apart,
    Printed::Apart,
    Printed::Apart,
];

/// After so many rows of `-s`, or more, its header is repeated, also amid a report: 23 where it is
/// not printed to a terminal.
const PAGE: u64 = 18;

struct Dladm {
    columns: Vec<String>,
    /// Rows since the last header.
    rows: u64,
    reports: Repeated,
    net: Shape,
}

impl Dladm {
    fn new() -> Dladm {
        Dladm {
            columns: Vec::new(),
            rows: 0,
            reports: Repeated::new(),
            net: Shape::of("net", &["bytes", "packets", "errors"]),
        }
    }

    /// -S is of the last second or interval from the first report on.
    fn counts(&self) -> bool {
        self.columns.iter().any(|c| c == "IPACKETS")
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let words: Vec<&[u8]> = fields(line).collect();
        let Some((name, texts)) = words.split_first() else {
            return Line::Noise;
        };
        let values = crate::numbers(texts.iter().copied());
        let Some(values) = values.filter(|v| v.len() == self.columns.len()) else {
            return Line::Unknown;
        };
        if self.columns.is_empty() {
            return Line::Unknown;
        }
        self.rows += 1;
        if self.counts() {
            self.reports.counted(name, out);
        } else {
            self.reports.of(name, out);
        }
        let of = |column: &str| {
            let at = self.columns.iter().position(|c| c == column);
            at.map_or(f64::NAN, |at| values[at])
        };
        let layer = out.word(net::layer(name).as_bytes());
        let link = out.word(name);
        let kilobits = 1024.0 / 8.0;
        let rows = if self.counts() {
            [
                ("receive", [of("RBYTES"), of("IPACKETS"), of("IERRORS")]),
                ("transmit", [of("OBYTES"), of("OPACKETS"), of("OERRORS")]),
            ]
        } else {
            [
                ("receive", [of("IKB/S") * kilobits, of("IPK/S"), f64::NAN]),
                ("transmit", [of("OKB/S") * kilobits, of("OPK/S"), f64::NAN]),
            ]
        };
        for (direction, values) in rows {
            let words = [link, layer, out.word(direction.as_bytes())];
            if self.counts() {
                out.put_amounts(&self.net, &words, &values);
            } else {
                out.put(&self.net, &words, &values);
            }
        }
        out.other("%Util", "%", link, of("%UTIL"));
        Line::Data
    }
}

/// What stands behind `-i`.
fn interval(arguments: &[String]) -> Option<f64> {
    let at = arguments.iter().position(|a| a == "-i")?;
    number(arguments.get(at + 1)?.as_bytes())
}

impl Parser for Dladm {
    /// Its name tells whether the row begins a report.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let name = fields(line).next().filter(|_| !self.columns.is_empty());
        let Some(name) = name.filter(|_| crate::lines::rows_in(line, self.columns.len()) > 0)
        else {
            return;
        };
        if self.counts() {
            self.reports.counted(name, out);
        } else {
            self.reports.of(name, out);
        }
        out.gap();
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii() == b"please wait..." {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["dladm", "show-link"]) {
            if let Some(seconds) = interval(&arguments) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        if is_header(line) {
            let names = fields(line).skip(1).map(<[u8]>::to_ascii_uppercase);
            self.columns = names
                .map(|n| String::from_utf8_lossy(&n).into_owned())
                .collect();
            if std::mem::take(&mut self.rows) < PAGE || !self.counts() {
                self.reports.ends();
            }
            return Line::Noise;
        }
        if self.reports.between(line, &["dladm", "show-link"], out) {
            return Line::Noise;
        }
        let mut seen = self.row(line, out);
        if seen == Line::Unknown
            && !self.columns.is_empty()
            && !self.counts()
            && !out.is_endless()
            && let Some(apart) = printed::apart(&RATES, line)
        {
            seen = self.row(&apart, out);
        }
        seen
    }
}
