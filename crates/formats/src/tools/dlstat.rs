//! `dlstat` and `flowstat` of Solaris 11 and illumos: traffic of network links and of flows.
//!
//! ```text
//!            LINK    IPKTS   RBYTES    OPKTS   OBYTES
//!            net0  101.88K   32.86M   40.16K    4.37M
//! ```
//!
//! Packets and bytes have steps of 1,000 (`map_to_units` in `dlstat.c`). Without `-i` they are since
//! boot; with it the first report is, and the others are of the interval. A header comes each 23
//! rows, also amid a report. What a flow passed its link passed, too, so flows are kept by
//! themselves.

use crate::headers::Headers;
use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::time::Refused;
use crate::{Line, Parser, fields, net, prompt};

pub(crate) const DLSTAT: Format = Format {
    name: "dlstat",
    tool: "dlstat",
    systems: "Solaris, illumos",
    help: "bytes and packets of network links",
    recognised: "the header `LINK IPKTS RBYTES OPKTS OBYTES`",
    yields: &["net"],
    example: "           LINK    IPKTS   RBYTES    OPKTS   OBYTES
           net0  101.88K   32.86M   40.16K    4.37M
           net0      120   14.20K       98    8.80K
",
    recognise: |head: &Head| {
        let of_links = |l: &[u8]| header(l).is_some_and(|(what, _)| what == "LINK");
        if head.lines().any(of_links) { 90 } else { 0 }
    },
    parser: || Box::new(Dlstat::new("dlstat")),
};

pub(crate) const FLOWSTAT: Format = Format {
    name: "flowstat",
    tool: "flowstat",
    systems: "Solaris, illumos",
    help: "bytes, packets and drops of flows",
    recognised: "the header `FLOW IPKTS RBYTES …`, or `FLOW OPKTS …`",
    yields: &[],
    example: "           FLOW    IPKTS   RBYTES   IDROPS    OPKTS   OBYTES   ODROPS
          flow1  528.45K  787.39M        0  179.39K   11.85M        0
          flow1    1.45K    1.39M        0      410   11.85K        0
",
    recognise: |head: &Head| {
        let of_flows = |l: &[u8]| header(l).is_some_and(|(what, _)| what == "FLOW");
        if head.lines().any(of_flows) { 90 } else { 0 }
    },
    parser: || Box::new(Dlstat::new("flowstat")),
};

/// The columns that are read, with their units.
const COLUMNS: [(&str, &str); 8] = [
    ("IPKTS", "packets"),
    ("RBYTES", "bytes"),
    ("IDROPS", "packets"),
    ("IERRS", "packets"),
    ("OPKTS", "packets"),
    ("OBYTES", "bytes"),
    ("ODROPS", "packets"),
    ("OERRS", "packets"),
];

/// What rows below that header are of, and their columns.
fn header(line: &[u8]) -> Option<(&'static str, Vec<String>)> {
    let mut names = fields(line).map(|f| String::from_utf8_lossy(f).into_owned());
    let first = names.next()?;
    let what = ["LINK", "FLOW"].into_iter().find(|what| *what == first)?;
    let names: Vec<String> = names.collect();
    let has = |name: &str| names.iter().any(|n| n == name);
    (has("IPKTS") || has("OPKTS")).then_some((what, names))
}

struct Dlstat {
    tool: &'static str,
    columns: Vec<String>,
    headers: Headers,
    reports: Repeated,
    net: Shape,
}

impl Dlstat {
    fn new(tool: &'static str) -> Dlstat {
        Dlstat {
            tool,
            columns: Vec::new(),
            headers: Headers::default(),
            reports: Repeated::new(),
            net: Shape::of("net", &["bytes", "packets"]),
        }
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Option<()> {
        let mut words = fields(line);
        let name = words.next()?;
        let values: Option<Vec<f64>> = words.map(|w| scaled(w, 1000.0)).collect();
        let values = values.filter(|v| v.len() == self.columns.len() && !v.is_empty())?;
        self.reports.counted(name, out);
        self.headers.row();
        let of = |column: &str| {
            let at = self.columns.iter().position(|c| c == column);
            at.map_or(f64::NAN, |at| values[at])
        };
        let instance = out.word(name);
        if self.tool == "flowstat" {
            for (column, unit) in COLUMNS {
                if out.is_since_boot() {
                    out.other(column, unit, instance, of(column));
                } else {
                    out.other_grown(column, unit, instance, of(column));
                }
            }
            return Some(());
        }
        let layer = out.word(net::layer(name).as_bytes());
        for (direction, bytes, packets) in [
            ("receive", "RBYTES", "IPKTS"),
            ("transmit", "OBYTES", "OPKTS"),
        ] {
            let words = [instance, layer, out.word(direction.as_bytes())];
            out.put_amounts(&self.net, &words, &[of(bytes), of(packets)]);
        }
        Some(())
    }

    fn header(&mut self, columns: Vec<String>, out: &mut Out) {
        let known = |name: &String| COLUMNS.iter().any(|(column, _)| name == column);
        if !columns.iter().all(known) {
            out.refuse(Refused(
                "rings, lanes and ports of links (-r, -t, show-phys, show-aggr) are not read\n\
                 hint: run dlstat without them"
                    .into(),
            ));
        }
        if self.headers.begin_anew(out) {
            self.reports = Repeated::new();
        }
        self.columns = columns;
    }
}

/// What stands behind `-i`.
fn interval(arguments: &[String]) -> Option<f64> {
    let at = arguments.iter().position(|a| a == "-i")?;
    number(arguments.get(at + 1)?.as_bytes())
}

impl Parser for Dlstat {
    /// Its name tells whether the row begins a report.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Some(name) = fields(line).next().filter(|_| !self.columns.is_empty()) else {
            return;
        };
        if crate::lines::rows_in(line, self.columns.len()) > 0 {
            self.reports.counted(name, out);
            self.headers.row();
            out.gap();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &[self.tool]) {
            if let Some(seconds) = interval(&arguments) {
                out.every(seconds);
            }
            if self.headers.take() > 0 {
                out.broken();
                self.reports = Repeated::new();
            }
            return Line::Noise;
        }
        if let Some((_, columns)) = header(line) {
            self.header(columns, out);
            return Line::Noise;
        }
        if self.row(line, out).is_some() {
            return Line::Data;
        }
        if self.reports.between(line, &[self.tool], out) {
            return Line::Noise;
        }
        Line::Unknown
    }
}
