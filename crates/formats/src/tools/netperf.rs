//! netperf: classic tables, omni's columns, keywords and CSV (also wrapped, also in a JSON list),
//! and its histogram of times. What it says while a test runs (`-D`) are the intervals then.
//!
//! Without an elapsed time in it an interval must be told, unless the histogram's total does.

mod interim;
mod omni;
mod table;

use std::borrow::Cow;

use serde_json::Value;

use crate::documents::{Documents, Piece};
use crate::lines::ends_in_number;
use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::workload::{Done, Of, UNKNOWN, Work, instance};
use crate::{Line, Parser};
use interim::{Keywords, Ran};
use table::Columns;

pub(crate) const FORMAT: Format = Format {
    name: "netperf",
    tool: "netperf",
    systems: "all that netperf runs on",
    help: "throughput or transactions of netperf's tests, with its histogram",
    recognised: "a banner `TCP STREAM TEST from …` or `TCP STREAM TEST to …` or the like, `THROUGHPUT=`, omni's CSV, or \
                 `Interim result:`",
    yields: &["workload", "workload_latency"],
    example: "\
TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00    9413.21
",
    recognise,
    parser: || Box::new(Netperf::new()),
};

/// A header that was wrapped at 80 columns ends before that.
const LONGEST_HEADER: usize = 16 << 10;

/// Names over several lines tell no column from another where blanks were lost.
const OMNI: &str = "the columns that netperf's -O prints cannot be told apart\n\
                    hint: let it print the same as keywords, with -k instead of -O, or as CSV, \
                    with -o";

/// How banners begin that name the other side only, as before 2.4: `TCP STREAM TEST to host`.
const OLD: [&str; 5] = [
    "TCP STREAM TEST to ",
    "TCP SENDFILE TEST to ",
    "TCP REQUEST/RESPONSE TEST to ",
    "UDP REQUEST/RESPONSE TEST to ",
    "UDP UNIDIRECTIONAL SEND TEST to ",
];

fn recognise(head: &Head) -> u8 {
    let banner = head.contains(" TEST from ") && head.contains("AF_INET")
        || OLD.iter().any(|kind| head.any_starts(kind));
    let keywords = head.any_starts("THROUGHPUT=");
    let csv = head.contains("Throughput,Throughput Units");
    let interim = head.any_starts("Interim result: ") || head.any_starts("NETPERF_INTERIM_RESULT[");
    if banner || keywords || csv || interim {
        90
    } else {
        0
    }
}

/// A test's values as they come.
#[derive(Debug, Default)]
struct Test {
    name: String,
    throughput: Option<f64>,
    unit: String,
    seconds: Option<f64>,
    /// Microseconds.
    mean: Option<f64>,
    /// Lower bound in microseconds, width, count.
    buckets: Vec<(f64, f64, f64)>,
    total: Option<f64>,
    /// Transactions a second.
    transactions: Option<f64>,
    /// Messages of UDP: sent and failed, and what the other side received with its throughput.
    sent: Option<(f64, f64)>,
    received: Option<(f64, f64)>,
    /// Column, unit, value.
    others: Vec<(String, Cow<'static, str>, f64)>,
    /// Its intervals were told.
    ran: Option<Ran>,
}

/// What comes next.
enum Next {
    Any,
    /// CSV's header, which may be wrapped.
    Header(String),
    /// A row of so many columns.
    Row(Vec<String>),
    /// A classic table's header; `bytes bytes bytes secs. 10^6bits/sec` ends it.
    Table,
    /// Its row.
    TableRow(Columns),
    /// What comes after the row is of the other side.
    Rest,
}

struct Netperf {
    work: Work,
    documents: Documents,
    test: Option<Test>,
    /// An interval that keywords tell in part.
    keywords: Keywords,
    /// Lines below a banner that may be a heading of `-O`.
    heading: Vec<String>,
    next: Next,
}

/// What keywords chose that is no throughput, or one without its unit: that is of the test, and
/// of `-f`.
fn put_without_throughput(mut test: Test, out: &mut Out) {
    if let Some(value) = test.throughput {
        out.note(
            "netperf's THROUGHPUT is kept as printed: the text does not tell its unit, as \
             THROUGHPUT_UNITS does",
        );
        test.others
            .push(("THROUGHPUT".to_owned(), "".into(), value));
    }
    if test.others.is_empty() {
        return;
    }
    out.sample();
    if let Some(seconds) = test.seconds {
        out.spans(seconds);
    }
    let instance = instance(out, [test.name.as_bytes(), b"", b""]);
    for (column, unit, value) in test.others {
        out.other(&column, &unit, instance, value);
    }
}

impl Netperf {
    fn new() -> Netperf {
        Netperf {
            work: Work::new("netperf"),
            documents: Documents::default(),
            test: None,
            keywords: Keywords::default(),
            heading: Vec::new(),
            next: Next::Any,
        }
    }

    fn test_is_over(&mut self, out: &mut Out) {
        self.next = Next::Any;
        if std::mem::take(&mut self.keywords).is_begun() {
            out.not_understood(0, "an interval of netperf is not told to its end");
        }
        let Some(mut test) = self.test.take() else {
            return;
        };
        if test.throughput.is_none() && test.name.contains("REQUEST/RESPONSE") {
            test.throughput = test.transactions;
            "Trans/s".clone_into(&mut test.unit);
        }
        let known = unit(&test.unit);
        if test.throughput.is_some() && known.is_none() && !test.unit.is_empty() {
            let why = format!("netperf's unit {} is not known", test.unit);
            out.not_understood(0, &why);
            return;
        }
        let Some((value, (is_rate, scale))) = test.throughput.zip(known) else {
            put_without_throughput(test, out);
            return;
        };
        let rate = value * scale;
        let seconds = test.seconds.or(match (is_rate, test.total) {
            (true, Some(total)) if rate > 0.0 => Some(total / rate),
            _ => None,
        });
        let name = std::mem::take(&mut test.name);
        let of = [name.as_bytes(), op(&name, is_rate), b""];
        if let Some(ran) = test.ran {
            interim::put_whole(&mut test, ran, seconds, out);
        } else {
            self.put(&test, of, (is_rate, scale), seconds, out);
        }
        for (from, width, count) in test.buckets {
            self.work
                .latency(out, of, from / 1e6, (from + width) / 1e6, count);
        }
        let instance = instance(out, of);
        for (column, unit, value) in test.others {
            out.other(&column, &unit, instance, value);
        }
    }

    /// The test as one interval.
    fn put(
        &self,
        test: &Test,
        of: Of,
        (is_rate, scale): (bool, f64),
        seconds: Option<f64>,
        out: &mut Out,
    ) {
        let rate = test.throughput.map_or(f64::NAN, |value| value * scale);
        let mean = test.mean.map_or(f64::NAN, |m| m / 1e6);
        let done = if is_rate {
            Done {
                ops: rate,
                time: mean * rate,
                ..UNKNOWN
            }
        } else {
            let per_second = |count: f64| seconds.map_or(f64::NAN, |s| count / s);
            let sent = test.sent.unwrap_or((f64::NAN, f64::NAN));
            Done {
                ops: per_second(sent.0),
                bytes: rate,
                errors: per_second(sent.1),
                ..UNKNOWN
            }
        };
        out.sample();
        if let Some(seconds) = seconds {
            out.spans(seconds);
        }
        self.work.rates(out, of, done);
        if let (Some((messages, throughput)), Some(seconds)) = (test.received, seconds) {
            let received = Done {
                ops: messages / seconds,
                bytes: throughput * scale,
                ..UNKNOWN
            };
            self.work.rates(out, [of[0], b"receive", b""], received);
        }
    }

    fn banner(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (name, _) = text.split_once(" TEST")?;
        if !OLD.iter().any(|kind| text.starts_with(kind)) {
            text.split_once(" from ").filter(|_| !name.contains(':'))?;
        }
        self.test_is_over(out);
        let name = name.trim_start_matches("MIGRATED ").trim();
        self.test = Some(Test {
            name: name.to_owned(),
            ..Test::default()
        });
        self.heading.clear();
        self.next = Next::Table;
        Some(())
    }

    /// A value under its name, of keywords or CSV.
    fn keep(&mut self, name: &str, value: &str) {
        let test = self.test.get_or_insert_default();
        let plain = number(value.trim().as_bytes());
        match name.replace('_', " ").to_lowercase().trim() {
            "throughput" => test.throughput = plain,
            "throughput units" => value.trim().clone_into(&mut test.unit),
            "elapsed time" | "elapsed time (sec)" => test.seconds = plain,
            "mean latency" | "mean latency microseconds" => {
                test.mean = plain;
                test.others
                    .extend(plain.map(|v| (name.to_owned(), "".into(), v)));
            }
            told => {
                if matches!(told, "transaction rate" | "transaction rate tran/s") {
                    test.transactions = plain;
                }
                test.others
                    .extend(plain.map(|v| (name.trim().to_owned(), "".into(), v)));
            }
        }
    }

    /// `HUNDRED_USEC  :    0:    0:    0: 5771: …`.
    fn histogram(&mut self, text: &str) -> Option<()> {
        let (name, rest) = text.split_once(':')?;
        let name = name.trim();
        let width = match name {
            "UNIT_USEC" => 1.0,
            "TEN_USEC" => 10.0,
            "HUNDRED_USEC" => 100.0,
            "UNIT_MSEC" => 1e3,
            "TEN_MSEC" => 1e4,
            "HUNDRED_MSEC" => 1e5,
            "UNIT_SEC" => 1e6,
            "TEN_SEC" => 1e7,
            ">100_SECS" => 1e8,
            "HIST_TOTAL" => 0.0,
            _ => return None,
        };
        let test = self.test.as_mut()?;
        let counts = rest.split(':').map(|c| number(c.trim().as_bytes()));
        let counts: Vec<f64> = counts.collect::<Option<_>>()?;
        match name {
            "HIST_TOTAL" => test.total = counts.first().copied(),
            ">100_SECS" => test.buckets.extend(
                counts
                    .first()
                    .filter(|c| **c > 0.0)
                    .map(|c| (width, 0.0, *c)),
            ),
            _ => {
                let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
                test.buckets
                    .extend(filled.map(|(i, count)| (i as f64 * width, width, *count)));
            }
        }
        Some(())
    }

    fn text(&mut self, text: &str, out: &mut Out) -> Line {
        let printed = text.trim_end();
        let text = text.trim();
        if text.is_empty() {
            return Line::Noise;
        }
        // `!!! Confidence intervals: Throughput      : 5.215%`, above the table.
        if let Some((name, share)) = text.strip_prefix("!!!").and_then(|t| t.rsplit_once(':'))
            && let Some(share) = share.strip_suffix('%')
        {
            let name = name.rsplit(':').next().unwrap_or_default().trim();
            self.keep(&format!("confidence interval {name}"), share);
            return Line::Data;
        }
        // A banner may go on in a second line: ` () port 0 AF_INET : histogram`.
        if self.banner(text, out).is_some() || text.contains(" port ") && text.contains("AF_INET") {
            return Line::Noise;
        }
        if !matches!(self.next, Next::Header(_) | Next::Row(_))
            && let Some(seen) = self.interim(text, out)
        {
            return seen;
        }
        if self.histogram(text).is_some() {
            return Line::Data;
        }
        if let Some((name, value)) = text.split_once('=')
            && name
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        {
            if name == "THROUGHPUT" && self.test.as_ref().is_some_and(|t| t.throughput.is_some()) {
                self.test_is_over(out);
            }
            self.keep(name, value);
            return Line::Data;
        }
        if text.starts_with("Throughput,") || text.contains(",Throughput,") {
            self.next = Next::Header(String::new());
        }
        match std::mem::replace(&mut self.next, Next::Any) {
            Next::Header(header) => self.header(&header, text, out),
            Next::Row(names) => {
                let seen = self.row(&names, text, out);
                self.next = Next::Row(names);
                seen
            }
            Next::Table => {
                self.next = Next::Table;
                if let Some(seen) = self.omni(printed) {
                    return seen;
                }
                let seen = self.table(text);
                let is_omni = self
                    .test
                    .as_ref()
                    .is_some_and(|t| t.name.starts_with("OMNI"));
                if seen.is_none() && is_omni && text.starts_with(|c: char| c.is_ascii_digit()) {
                    out.refuse(Refused(OMNI.into()));
                }
                seen.unwrap_or(Line::Unknown)
            }
            Next::TableRow(columns) => {
                if self.table_row(&columns, text).is_some() {
                    self.next = Next::Rest;
                    return Line::Data;
                }
                self.next = Next::TableRow(columns);
                Line::Unknown
            }
            Next::Rest => {
                self.next = Next::Rest;
                self.rest(text)
            }
            Next::Any => {
                let known = text.starts_with("Histogram of") || text.starts_with("port ");
                if known { Line::Noise } else { Line::Unknown }
            }
        }
    }

    /// CSV's header goes on until a row of as many values comes.
    fn header(&mut self, header: &str, text: &str, out: &mut Out) -> Line {
        let first = text.split(',').next();
        let first = first.and_then(|v| number(v.trim().as_bytes()));
        if first.is_some() && !header.is_empty() {
            let names: Vec<String> = header.split(',').map(|n| n.trim().to_owned()).collect();
            let seen = self.row(&names, text, out);
            self.next = Next::Row(names);
            return seen;
        }
        if header.len() > LONGEST_HEADER {
            self.next = Next::Any;
            return Line::Unknown;
        }
        self.next = Next::Header(if header.is_empty() {
            text.to_owned()
        } else {
            format!("{header} {text}")
        });
        Line::Noise
    }

    fn row(&mut self, names: &[String], text: &str, out: &mut Out) -> Line {
        let values: Vec<&str> = text.split(',').collect();
        let is_note = text.starts_with("Histogram of");
        let mut names = names;
        if values.len() != names.len() {
            // More values than names: which are meant is clear only up to the unit.
            let unit_at = names.iter().position(|n| n == "Throughput Units");
            let known =
                unit_at.filter(|at| values.get(*at).is_some_and(|v| unit(v.trim()).is_some()));
            match known {
                Some(at) if at <= 1 && values.len() > names.len() => {
                    out.note(
                        "a row of netperf has more values than names: only its throughput is taken",
                    );
                    names = &names[..=at];
                }
                _ => return if is_note { Line::Noise } else { Line::Unknown },
            }
        }
        if self.test.as_ref().is_some_and(|t| t.throughput.is_some()) {
            let name = self
                .test
                .as_ref()
                .map(|t| t.name.clone())
                .unwrap_or_default();
            self.test_is_over(out);
            self.test = Some(Test {
                name,
                ..Test::default()
            });
        }
        for (name, value) in names.iter().zip(values) {
            self.keep(name, value);
        }
        Line::Data
    }

    /// Texts held in a JSON list.
    fn texts(&mut self, value: &Value, out: &mut Out) {
        match value {
            Value::Array(values) => values.iter().for_each(|v| self.texts(v, out)),
            Value::String(text) => {
                for line in text.lines() {
                    if self.text(line, out) == Line::Unknown {
                        out.not_understood(0, line);
                    }
                }
            }
            _ => {}
        }
    }
}

/// What a test does.
fn op(name: &str, is_rate: bool) -> &'static [u8] {
    match (is_rate, name.contains("MAERTS")) {
        (true, _) => b"transaction",
        (false, true) => b"receive",
        (false, false) => b"send",
    }
}

/// Whether a unit is of transactions, and what to multiply by to have base units per second.
fn unit(text: &str) -> Option<(bool, f64)> {
    let text = text.trim_end_matches("ec").trim_end_matches("/s");
    let scale = match text {
        "Trans" => return Some((true, 1.0)),
        "bits" | "10^0bits" => 1.0 / 8.0,
        "10^3bits" => 1e3 / 8.0,
        "10^6bits" => 1e6 / 8.0,
        "10^9bits" => 1e9 / 8.0,
        "10^12bits" => 1e12 / 8.0,
        "Bytes" => 1.0,
        "KBytes" => 1024.0,
        "MBytes" => 1024.0 * 1024.0,
        "GBytes" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some((false, scale))
}

/// Whether a document may end in the line.
fn closes(line: &[u8]) -> bool {
    matches!(line.trim_ascii_end().last(), Some(b'}' | b']'))
}

impl Parser for Netperf {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let at = line
            .iter()
            .rposition(|b| *b == b',')
            .filter(|_| out.is_endless() && !closes(line));
        // The last value may be longer.
        let line = at.map_or(line, |at| &line[..=at]);
        let is_value = matches!(self.next, Next::TableRow(_)) || line.contains(&b'=');
        if is_value && ends_in_number(line, 2, out) {
            return Line::Unknown;
        }
        match self.documents.line(line, out) {
            Piece::Inside => return Line::Data,
            Piece::Whole(documents) => {
                documents.iter().for_each(|d| self.texts(d, out));
                return Line::Data;
            }
            Piece::Outside => {}
        }
        match std::str::from_utf8(line) {
            // It was asked to stop while it waited.
            Ok(text) => self.text(text.strip_prefix("^C").unwrap_or(text), out),
            Err(_) => Line::Unknown,
        }
    }

    /// Rows of CSV are counted, and documents closed.
    fn sees_cut(&self, line: &[u8]) -> bool {
        line.contains(&b',') || closes(line)
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        let is_told = |test: &Test| test.throughput.is_some() || !test.others.is_empty();
        let is_told = self.test.as_ref().is_none_or(is_told);
        if is_told {
            self.test_is_over(out);
        }
        is_told
    }

    fn end(&mut self, out: &mut Out) {
        self.documents.end(out);
        self.test_is_over(out);
    }
}
