//! fio's terse output (`--minimal`, `--output-format=terse`), versions 2 to 5: a line a job.
//!
//! `3;fio-3.33;name;group;error;…`, then the directions, each with
//! `KiB;KiB/s;IOPS;msec;` latencies up to submission, to completion and whole in microseconds, and
//! bandwidth; then processors, depths, latencies and disks:
//! <https://fio.readthedocs.io/en/latest/fio_doc.html#terse-output>.

use std::collections::HashMap;

use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::workload::{Done, UNKNOWN, Work, instance, trimmed};
use crate::{Line, Parser, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "fio-terse",
    tool: "fio",
    systems: "all that fio runs on",
    help: "fio's terse output: bytes, IOPS and latencies of each job and direction",
    recognised: "lines of numbers between semicolons as fio prints them with --minimal: a version \
                 of 2 to 5, a name, and directions with 20 percentiles each",
    yields: &["workload"],
    example: "\
3;fio-3.33;a;0;0;4000;4000;1000;1000;0;0;0.0;0.0;48;586;142.0;26.4;1.0%=71;5.0%=78;10.0%=85;\
20.0%=95;30.0%=100;40.0%=105;50.0%=111;60.0%=117;70.0%=125;80.0%=134;90.0%=156;95.0%=195;\
99.0%=208;99.5%=277;99.9%=417;99.95%=514;99.99%=586;0%=0;0%=0;0%=0;49;586;142.1;26.4;3900;4100;\
100.0%;4000.0;0.0;0;0;0;0;0;0;0.0;0.0;0;0;0.0;0.0;1.0%=0;5.0%=0;10.0%=0;20.0%=0;30.0%=0;40.0%=0;\
50.0%=0;60.0%=0;70.0%=0;80.0%=0;90.0%=0;95.0%=0;99.0%=0;99.5%=0;99.9%=0;99.95%=0;99.99%=0;0%=0;\
0%=0;0%=0;0;0;0.0;0.0;0;0;0.0%;0.0;0.0;2.6%;38.4%;6034;0;0;100.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.0%;\
0.00%;0.00%;0.00%;0.00%;0.01%;27.64%;69.25%;1.75%;0.40%;0.25%;0.25%;0.24%;0.21%;0.00%;0.00%;\
0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%
",
    recognise: |head: &Head| {
        let mut lines = head.lines().filter_map(|l| std::str::from_utf8(l).ok());
        if lines.any(|line| Layout::of(&parts(line)).is_some()) {
            93
        } else {
            0
        }
    },
    parser: || Box::new(Terse::new()),
};

/// What stands before a direction's latencies.
const TOTALS: usize = 4;
const PERCENTILES: usize = 20;
/// Processors, depths, latencies in microseconds and in milliseconds.
const AFTER: [(&str, &[&str]); 4] = [
    ("cpu", &["usr", "sys", "ctx", "majf", "minf"]),
    ("IO_depths", &["1", "2", "4", "8", "16", "32", ">=64"]),
    (
        "latency_usec",
        &[
            "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000",
        ],
    ),
    (
        "latency_msec",
        &[
            "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
        ],
    ),
];
const DISK: [(&str, &str); 8] = [
    ("read_ios", ""),
    ("write_ios", ""),
    ("read_merge", ""),
    ("write_merge", ""),
    ("read_ticks", "ms"),
    ("write_ticks", "ms"),
    ("in_queue", "ms"),
    ("util", "%"),
];

fn parts(line: &str) -> Vec<&str> {
    line.trim().split(';').collect()
}

/// Where what is in a line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Layout {
    /// Where the directions begin, how many there are, and how long each is.
    from: usize,
    directions: usize,
    length: usize,
}

impl Layout {
    fn of(parts: &[&str]) -> Option<Layout> {
        let (from, length, most) = match *parts.first()? {
            // Newer ones have trims as well.
            "2" => (4, 41, 3),
            "3" => (5, 41, 2),
            "4" => (5, 41, 3),
            "5" => (5, 47, 3),
            _ => return None,
        };
        if from == 5 && !parts.get(1)?.starts_with("fio") {
            return None;
        }
        let is_share = |at: usize| parts.get(at).is_some_and(|p| p.ends_with('%'));
        (2..=most)
            .map(|directions| Layout {
                from,
                directions,
                length,
            })
            // The shares of a processor follow the directions.
            .find(|l| {
                let percentiles = (0..l.directions).all(|d| {
                    let at = l.from + d * l.length + TOTALS + 8;
                    let between = parts.get(at..at + PERCENTILES);
                    between.is_some_and(|all| all.iter().all(|p| p.contains("%=")))
                });
                percentiles && is_share(l.end()) && is_share(l.end() + 1)
            })
    }

    fn end(self) -> usize {
        self.from + self.directions * self.length
    }
}

/// The job that a line of terse output is of, and its KiB in all directions.
pub(super) fn job_of(line: &str) -> Option<(&str, f64)> {
    if !line.starts_with(['2', '3', '4', '5']) {
        return None;
    }
    let parts = parts(line);
    let layout = Layout::of(&parts)?;
    let kib = |d: usize| number(parts[layout.from + d * layout.length].as_bytes());
    let kib = (0..layout.directions).map(kib).sum::<Option<f64>>()?;
    Some((parts[layout.from - 3], kib))
}

/// What a job's line told of a direction before: KiB and milliseconds.
type Totals = Vec<(f64, f64)>;

struct Terse {
    work: Work,
    /// The present group, when it began, and how long its longest job ran, in seconds.
    group: String,
    began: f64,
    longest: f64,
    /// How often each job came in a group, and its totals.
    jobs: HashMap<(String, String), (u32, Totals)>,
}

impl Terse {
    fn new() -> Terse {
        Terse {
            work: Work::new("fio"),
            group: String::new(),
            began: 0.0,
            longest: 0.0,
            jobs: HashMap::new(),
        }
    }

    fn job(&mut self, parts: &[&str], layout: Layout, out: &mut Out) -> Option<()> {
        let number_at = |at: usize| number(parts.get(at)?.trim_end_matches('%').as_bytes());
        let [name, group, error] = parts[layout.from - 3..layout.from] else {
            return None;
        };
        if error != "0" {
            out.note(&format!("fio's job {name} ended with error {error}"));
        }
        let starts = (0..layout.directions).map(|d| layout.from + d * layout.length);
        let totals = starts
            .clone()
            .map(|at| Some((number_at(at)?, number_at(at + 3)?)));
        let totals: Totals = totals.collect::<Option<_>>()?;
        let name = self.named(name, group, &totals, out);
        if group != self.group {
            if !self.group.is_empty() {
                out.note(super::IN_TURN);
            }
            group.clone_into(&mut self.group);
            self.began += std::mem::take(&mut self.longest);
        }
        let runtime = totals.iter().map(|(_, ms)| ms / 1000.0).fold(0.0, f64::max);
        if runtime <= 0.0 {
            return Some(());
        }
        self.longest = self.longest.max(runtime);
        out.sample_at(Stamp::Elapsed(self.began + runtime));
        out.spans(runtime);
        out.note(
            "fio's terse output has whole KiB and whole I/Os a second: its JSON has exact counts",
        );
        for ((at, (kib, ms)), op) in starts.zip(totals).zip(["read", "write", "trim"]) {
            if ms > 0.0 {
                self.direction(parts, at, layout.length, [&name, op], kib, out)?;
            }
        }
        let empty = [name.as_bytes(), b"", b""];
        let mut at = layout.end();
        for (of, columns) in AFTER {
            for column in columns {
                let unit = if parts.get(at)?.ends_with('%') {
                    "%"
                } else {
                    ""
                };
                let value = number_at(at)?;
                let instance = instance(out, empty);
                out.other(&format!("{of}.{column}"), unit, instance, value);
                at += 1;
            }
        }
        for disk in parts.get(at..)?.chunks_exact(1 + DISK.len()) {
            let device = out.word(disk[0].as_bytes());
            for ((column, unit), text) in DISK.iter().zip(&disk[1..]) {
                let value = number(text.trim_end_matches('%').as_bytes())?;
                out.other(&format!("disk_util.{column}"), unit, device, value);
            }
        }
        Some(())
    }

    /// The job's name, made unique. Reports of `--status-interval` are each since the start, and
    /// nothing in them says so but that all grows.
    fn named(&mut self, name: &str, group: &str, totals: &Totals, out: &mut Out) -> String {
        let key = (group.to_owned(), name.to_owned());
        let Some((times, before)) = self.jobs.get_mut(&key) else {
            self.jobs.insert(key, (1, totals.clone()));
            return name.to_owned();
        };
        let ran = |t: &Totals| t.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
        let goes_on = totals
            .iter()
            .zip(&*before)
            .all(|(now, then)| now.0 >= then.0)
            && totals
                .iter()
                .zip(&*before)
                .any(|(now, then)| now.0 > then.0)
            && ran(totals) > ran(before) + 100.0;
        if goes_on {
            out.refuse(Refused(format!(
                "the job {name} comes again with more: these may be reports of \
                 --status-interval, each since the start, or jobs of one name\n\
                 hint: import the last report alone, or fio's JSON"
            )));
        }
        *times += 1;
        totals.clone_into(before);
        format!("{name}#{times}")
    }

    fn direction(
        &self,
        parts: &[&str],
        at: usize,
        length: usize,
        [job, op]: [&str; 2],
        kib: f64,
        out: &mut Out,
    ) -> Option<()> {
        let number_at = |at: usize| number(parts.get(at)?.trim_end_matches('%').as_bytes());
        let (iops, ms) = (number_at(at + 2)?, number_at(at + 3)?);
        let whole = at + TOTALS + 8 + PERCENTILES;
        // With neither, it was not measured.
        let mean = [number_at(whole + 2)?, number_at(at + TOTALS + 6)?];
        let mean = mean.into_iter().find(|mean| *mean > 0.0);
        let ops = iops * ms / 1000.0;
        let of = [job, op, ""].map(str::as_bytes);
        let done = Done {
            ops,
            bytes: kib * 1024.0,
            time: mean.map_or(f64::NAN, |us| us / 1e6 * ops),
            ..UNKNOWN
        };
        self.work.amounts(out, of, done);
        let instance = instance(out, of);
        let kinds = [
            ("slat", at + TOTALS),
            ("clat", at + TOTALS + 4),
            ("lat", whole),
        ];
        for (kind, from) in kinds {
            for (place, column) in ["min", "max", "mean", "stdev"].iter().enumerate() {
                out.other(
                    &format!("{kind}.{column}"),
                    "us",
                    instance,
                    number_at(from + place)?,
                );
            }
        }
        for percentile in &parts[at + TOTALS + 8..whole] {
            let (share, value) = percentile.split_once("%=")?;
            if number(share.as_bytes())? > 0.0 {
                let column = format!("clat.percentile.{}", trimmed(share));
                out.other(&column, "us", instance, number(value.as_bytes())?);
            }
        }
        let bandwidth = [
            ("bw.min", "KiB/s"),
            ("bw.max", "KiB/s"),
            ("bw.per", "%"),
            ("bw.mean", "KiB/s"),
            ("bw.stdev", "KiB/s"),
            ("bw.samples", ""),
            ("iops.min", "1/s"),
            ("iops.max", "1/s"),
            ("iops.mean", "1/s"),
            ("iops.stdev", "1/s"),
            ("iops.samples", ""),
        ];
        let left = at + length - (whole + 4);
        for (place, (column, unit)) in bandwidth.iter().take(left).enumerate() {
            out.other(column, unit, instance, number_at(whole + 4 + place)?);
        }
        Some(())
    }
}

impl Parser for Terse {
    fn run_ends(&mut self, _out: &mut Out) -> bool {
        (self.began, self.longest) = (0.0, 0.0);
        self.group.clear();
        self.jobs.clear();
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let parts = parts(text);
        if let Some(layout) = Layout::of(&parts) {
            let seen = self.job(&parts, layout, out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if super::is_chatter(line) || prompt::is_chatter(line) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }
}
