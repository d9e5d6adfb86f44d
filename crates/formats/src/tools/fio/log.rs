//! fio's logs of bandwidth, IOPS and latencies, one file each.
//!
//! Nothing in a row says which of them it is: that is in the file's name, or asked for. Rows
//! that are means (`log_avg_msec`) have size 0; others are of one I/O each.

use std::borrow::Cow;

use run::rows::TableId;

use super::log_jobs::{Jobs, Name, banner, first_length, since_start, stamp};
use super::log_rows::{Row, Rows, Taken};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser};

/// A format of one kind of log.
macro_rules! log {
    ($name:literal, $kind:expr, $what:literal, $yields:expr, $row:literal) => {
        Format {
            name: concat!("fio-", $name, "-log"),
            tool: "fio",
            systems: "all that fio runs on",
            help: $what,
            recognised: concat!(
                "rows of a fio log in a file named `…_",
                $name,
                ".N.log`, or after the line \
                 `==> …_",
                $name,
                ".1.log <==` of `tail`"
            ),
            yields: $yields,
            example: concat!("==> job_", $name, ".1.log <==\n", $row),
            recognise: |head| recognise(head, $name),
            parser: || Box::new(Log::new($kind)),
        }
    };
}

pub(crate) const BW: Format = log!(
    "bw",
    Kind::Bandwidth,
    "fio's log of bandwidth: bytes per interval and direction",
    &["workload"],
    "500, 38016, 0, 0, 0\n1000, 43879, 0, 0, 0\n"
);
pub(crate) const IOPS: Format = log!(
    "iops",
    Kind::Iops,
    "fio's log of IOPS: I/Os per interval and direction",
    &["workload"],
    "500, 9504, 0, 0, 0\n1000, 10969, 0, 0, 0\n"
);
pub(crate) const LAT: Format = log!(
    "lat",
    Kind::Latency("lat"),
    "fio's log of latencies: each I/O with size and offset, or means per interval",
    &["workload_event"],
    "3, 156483, 0, 4096, 61440, 0\n4, 89363, 1, 4096, 774144, 0\n"
);
pub(crate) const CLAT: Format = log!(
    "clat",
    Kind::Latency("clat"),
    "fio's log of latencies from submission to completion",
    &["distribution"],
    "3, 155993, 0, 4096, 61440, 0\n4, 89172, 1, 4096, 774144, 0\n"
);
pub(crate) const SLAT: Format = log!(
    "slat",
    Kind::Latency("slat"),
    "fio's log of latencies up to submission",
    &["distribution"],
    "3, 490, 0, 4096, 61440, 0\n4, 191, 1, 4096, 774144, 0\n"
);

/// Kinds of logs, as they are named.
const KINDS: [&str; 5] = ["bw", "iops", "lat", "clat", "slat"];

/// What a log's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// KiB/s.
    Bandwidth,
    Iops,
    /// Nanoseconds, before fio 2.99 microseconds.
    Latency(&'static str),
    /// Nobody said.
    Unknown,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Bandwidth => "bw",
            Kind::Iops => "iops",
            Kind::Latency(name) => name,
            Kind::Unknown => "",
        }
    }
}

/// The first version with latencies in nanoseconds.
const NANOSECONDS: [u32; 2] = [2, 99];

/// Whether these are rows of a fio log.
fn are_rows(head: &Head) -> bool {
    let mut lines = head
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with(b"==> "))
        .peekable();
    let mut rows = Rows::default();
    lines.peek().is_some() && {
        // The last may be cut.
        let lines: Vec<_> = lines.take(20).collect();
        let whole = &lines[..lines.len().saturating_sub(1).max(1)];
        whole.iter().all(|l| !matches!(rows.take(l), Taken::None))
    }
}

fn is_named(head: &Head, kind: &str) -> bool {
    Name::of(head.name()).is_some_and(|name| name.kind == kind)
}

fn recognise(head: &Head, kind: &str) -> u8 {
    if is_named(head, kind) && are_rows(head) {
        85
    } else {
        0
    }
}

/// Rows of a log whose name does not say what they are.
pub(crate) fn is_unnamed(head: &Head) -> bool {
    are_rows(head) && !KINDS.iter().any(|kind| is_named(head, kind))
}

struct Log {
    kind: Kind,
    work: Work,
    rows: Rows,
    /// Logs of which rows came, by the names of their files; the present one.
    logs: Vec<(String, Jobs)>,
    at: usize,
    /// First rows, whose interval is not known before others come, with their log and job.
    waiting: Vec<(Row, usize, String)>,
    /// Means of latencies of the present moment, with their log, job and length.
    moment: Vec<(Row, usize, String, u64)>,
    /// What is added up until a second is over: second, direction; I/Os and bytes.
    sums: Vec<(&'static str, f64, f64)>,
    second: u64,
    event: TableId,
    distribution: TableId,
}

impl Log {
    fn new(kind: Kind) -> Log {
        Log {
            kind,
            work: Work::new("fio"),
            rows: Rows::default(),
            logs: Vec::new(),
            at: 0,
            waiting: Vec::new(),
            moment: Vec::new(),
            sums: Vec::new(),
            second: 0,
            event: TableId::of("workload_event"),
            distribution: TableId::of("distribution"),
        }
    }

    /// Rows of that file follow.
    fn follows(&mut self, file: &str, out: &mut Out) {
        let other =
            |name: &Name| KINDS.contains(&name.kind.as_str()) && name.kind != self.kind.name();
        if self.kind != Kind::Unknown && Name::of(file).is_some_and(|name| other(&name)) {
            out.refuse(Refused(format!(
                "logs of several kinds are in it: {file} is another than that above\n\
                 hint: import the logs as files of their own"
            )));
        }
        self.moment_is_over(out);
        self.second_is_over(out);
        self.second = u64::MAX;
        if !self.logs.is_empty() {
            out.broken();
        }
        let place = self.logs.iter().position(|(name, _)| name == file);
        self.at = place.unwrap_or_else(|| {
            self.logs.push((file.to_owned(), Jobs::of(file)));
            self.logs.len() - 1
        });
    }

    fn row(&mut self, row: Row, out: &mut Out) {
        match (self.kind, row.size) {
            (Kind::Unknown, _) => out.refuse(Refused(
                "nothing in a log of fio says whether its values are bandwidth, IOPS or \
                 latencies\nhint: keep fio's file name (…_bw.1.log), or say --as fio-bw-log, \
                 fio-iops-log, fio-lat-log, fio-clat-log or fio-slat-log"
                    .into(),
            )),
            (_, 0) => self.mean(row, out),
            (Kind::Latency("lat"), size) => self.event(row, size, out),
            (Kind::Latency(_), _) => self.one(row, row.value, out),
            (Kind::Iops, _) if row.value != 1 => out.refuse(Refused(
                "rows with a size and more than one I/O: how long they are means over is told by \
                 fio's version and log_avg_msec only\nhint: import fio's JSON or its latency log"
                    .into(),
            )),
            (Kind::Bandwidth, _) if !row.is_new => out.refuse(Refused(
                "rows with a size in a bandwidth log of an old fio: whether they are of one I/O \
                 each or of half a second depends on fio's version\nhint: import fio's JSON or \
                 its latency log"
                    .into(),
            )),
            _ => self.one(row, 1, out),
        }
    }

    /// A row that is the mean of what came since the one before of its direction.
    fn mean(&mut self, row: Row, out: &mut Out) {
        let jobs = &mut self.logs[self.at].1;
        let place = jobs.row(row.op, row.time);
        let job = jobs.job().into_owned();
        if place.is_first {
            self.moment_is_over(out);
            out.broken();
        }
        let jobs = &mut self.logs[self.at].1;
        let told = out.options().every.map(|every| (every * 1000.0) as u64);
        let Some(passed) = place.passed else {
            match jobs.usual() {
                Some(usual) => self.put_first(row, (self.at, &job), usual, out),
                None => self.waiting.push((row, self.at, job)),
            }
            return;
        };
        let Some(length) = jobs.length(row.op, passed, told) else {
            out.refuse(Refused(
                "means stand closer together than fio takes them: two jobs are in it as it seems, \
                 and which row is of which is not told\n\
                 hint: import fio's JSON, or let each job have a log (per_job_logs=1)"
                    .into(),
            ));
            return;
        };
        // A log's rows are all means over the same, and those that wait were before this one.
        for (first, at, job) in std::mem::take(&mut self.waiting) {
            self.put_first(first, (at, &job), length, out);
        }
        self.put(row, (self.at, &job), length, out);
    }

    /// The first row of a job and direction, where others are so far apart.
    fn put_first(&mut self, row: Row, of: (usize, &str), usual: u64, out: &mut Out) {
        let told = out.options().every.map(|every| (every * 1000.0) as u64);
        match first_length(row.time, usual, told) {
            Some(length) => self.put(row, of, length, out),
            // What stands for no amount needs no length.
            None if matches!(self.kind, Kind::Latency(_)) => self.put(row, of, usual, out),
            None => out.note(HEADLESS),
        }
    }

    /// A mean of latencies waits for others of its time: which of them is of how many I/Os is not told.
    fn put(&mut self, row: Row, (log, job): (usize, &str), milliseconds: u64, out: &mut Out) {
        if !matches!(self.kind, Kind::Latency(_)) {
            return self.hand_out(row, (log, job), milliseconds, out);
        }
        let is_same = |(first, at, ..): &(Row, usize, _, _)| (first.time, *at) == (row.time, log);
        if !self.moment.first().is_none_or(is_same) {
            self.moment_is_over(out);
        }
        self.moment.push((row, log, job.to_owned(), milliseconds));
    }

    fn moment_is_over(&mut self, out: &mut Out) {
        let all = std::mem::take(&mut self.moment);
        for (row, log, job, milliseconds) in &all {
            let is_same =
                |other: &&(Row, usize, String, u64)| (other.0.op, &other.2) == (row.op, job);
            if all.iter().filter(is_same).count() == 1 {
                self.hand_out(*row, (*log, job), *milliseconds, out);
            } else {
                out.note(AT_ONE_TIME);
            }
        }
    }

    fn hand_out(&self, row: Row, (log, job): (usize, &str), milliseconds: u64, out: &mut Out) {
        out.sample_at(stamp(row.time));
        out.spans(milliseconds.max(1) as f64 / 1000.0);
        let value = row.value as f64;
        let client = self.logs[log].1.client();
        let of = [job, row.op, client].map(str::as_bytes);
        match self.kind {
            Kind::Bandwidth => {
                let bytes = value * 1024.0;
                self.work.rates(out, of, Done { bytes, ..UNKNOWN });
            }
            Kind::Iops => self.work.rates(
                out,
                of,
                Done {
                    ops: value,
                    ..UNKNOWN
                },
            ),
            Kind::Latency(name) => {
                let instance = instance(out, of);
                let value = value * scale(row, out);
                out.other(&format!("{name}.mean"), "ns", instance, value);
            }
            Kind::Unknown => {}
        }
    }

    /// The job and the client of rows of the present log.
    fn of(&self) -> (Cow<'_, str>, &str) {
        let jobs = &self.logs[self.at].1;
        (jobs.job(), jobs.client())
    }

    /// One I/O as an event.
    fn event(&mut self, row: Row, size: u64, out: &mut Out) {
        let (job, client) = self.of();
        let words = ["fio", &job, row.op, client].map(|w| out.word(w.as_bytes()));
        let offset = row.offset.map_or(f64::NAN, |o| o as f64);
        let latency = row.value as f64 * scale(row, out) / 1e9;
        let values = [latency, size as f64, offset, 1.0];
        out.event(self.event, stamp(row.time), &words, &values);
    }

    /// One I/O that is counted with the others of its second.
    fn one(&mut self, row: Row, value: u64, out: &mut Out) {
        let second = row.time / 1000;
        if second != self.second || !out.has_sample() {
            self.second_is_over(out);
            self.second = second;
            out.sample_at(stamp(second.saturating_add(1).saturating_mul(1000)));
            out.spans(1.0);
        }
        if let Kind::Latency(name) = self.kind {
            let words = ["fio", name, row.op].map(|w| out.word(w.as_bytes()));
            let value = value as f64 * scale(row, out);
            out.bucket(self.distribution, &words, value, value, 1.0);
            return;
        }
        let place = self.sums.iter().position(|s| s.0 == row.op);
        let place = place.unwrap_or_else(|| {
            self.sums.push((row.op, 0.0, 0.0));
            self.sums.len() - 1
        });
        self.sums[place].1 += 1.0;
        self.sums[place].2 += row.size as f64;
    }

    fn second_is_over(&mut self, out: &mut Out) {
        if self.sums.is_empty() {
            return;
        }
        let sums = std::mem::take(&mut self.sums);
        let (job, client) = self.of();
        for (op, ops, bytes) in sums {
            let done = match self.kind {
                Kind::Iops => Done { ops, ..UNKNOWN },
                _ => Done { bytes, ..UNKNOWN },
            };
            self.work
                .amounts(out, [&job, op, client].map(str::as_bytes), done);
        }
    }
}

const HEADLESS: &str = "the first row of a job or a direction is much later than rows are apart: those above it are \
                        gone, or it was idle. How long its mean is over is not told (--every says it), and \
                        it is left out";

const AT_ONE_TIME: &str = "means of latencies of one time and direction stand there, of which nobody knows how many \
                           I/Os each is of: they are left out";

const MICROSECONDS: &str = "fio before 2.99 logged latencies in microseconds";

/// Nanoseconds in a latency's unit.
fn scale(row: Row, out: &mut Out) -> f64 {
    match out.options().fio {
        // With log_offset rows of older ones look the same: an offset of 0 for a priority of 0.
        Some(version) if row.is_new && row.may_be_old && version < NANOSECONDS => {
            out.note(MICROSECONDS);
            1000.0
        }
        None if row.is_new && row.may_be_old => {
            out.note(
                "latencies are taken for nanoseconds, as of fio 3.23 and newer: those of one before 2.99 \
                 with log_offset look the same and are microseconds, which --fio-version 2.21 says",
            );
            1.0
        }
        _ if row.is_new => 1.0,
        Some(version) if version >= NANOSECONDS => 1.0,
        Some(_) => {
            out.note(MICROSECONDS);
            1000.0
        }
        None => {
            out.refuse(Refused(
                "its latencies may be microseconds (fio before 2.99) or nanoseconds (up to \
                 3.22), and rows of both look alike\n\
                 hint: say which fio it was, as --fio-version 2.21, or import the run's JSON \
                 beside it, which tells"
                    .into(),
            ));
            1.0
        }
    }
}

impl Parser for Log {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.is_empty() {
            return Line::Noise;
        }
        if let Some(file) = banner(line) {
            self.follows(file, out);
            return Line::Noise;
        }
        if self.logs.is_empty() {
            let file = out.options().file.clone();
            self.follows(&file, out);
        }
        match self.rows.take(line) {
            Taken::None => return Line::Unknown,
            Taken::Held => {}
            Taken::Rows(rows) => rows.into_iter().for_each(|row| self.row(row, out)),
        }
        Line::Data
    }

    fn end(&mut self, out: &mut Out) {
        self.second_is_over(out);
        if self.rows.undecided() {
            out.refuse(Refused(
                "its columns can be read in more than one way: fio's options log_offset, \
                 log_window_value and log_issue_time say which, and they are not in the log\n\
                 hint: import the run's JSON beside it, or log without them"
                    .into(),
            ));
        }
        for (row, log, job) in std::mem::take(&mut self.waiting) {
            match (out.options().every, since_start(row.time)) {
                (Some(every), _) => self.put(row, (log, &job), (every * 1000.0) as u64, out),
                (None, Some(passed)) => self.put(row, (log, &job), passed, out),
                (None, None) => out.refuse(Refused(
                    "one row does not tell how long its interval is\nhint: say it, as --every 1s"
                        .into(),
                )),
            }
        }
        self.moment_is_over(out);
    }
}

pub(crate) const UNNAMED: Format = Format {
    name: "fio-log",
    tool: "fio",
    systems: "all that fio runs on",
    help: "a log of fio whose name does not tell; refused: what its values are is asked for",
    recognised: "rows of three to seven numbers and a direction, without a telling file name",
    yields: &[],
    example: "500, 38016, 0, 0, 0\n1000, 43879, 0, 0, 0\n",
    recognise: |head| if is_unnamed(head) { 60 } else { 0 },
    parser: || Box::new(Log::new(Kind::Unknown)),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval that no tool has.
    #[test]
    fn times_without_bounds_are_no_fault() {
        let text = b"500, 1, 0, 4096, 0\n18446744073709551615, 1, 0, 4096, 0\n";
        let head = Head::new(text);
        for every in [None, Some(1e300)] {
            let options = crate::Options {
                every,
                ..crate::Options::default()
            };
            let mut import = crate::Import::new(&BW, &head, options);
            // Refused or not.
            if import.feed(text).is_ok() {
                let _ = import.finish();
            }
        }
    }
}
