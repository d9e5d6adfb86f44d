//! fio's histogram logs (`write_hist_log`): latencies from submission to completion.
//!
//! `time in ms, direction, block size, counts…`, of each interval. There are 1,856 buckets in
//! nanoseconds, or 1,216 in microseconds before fio 2.99, halved `log_hist_coarseness` times.

use run::grid;

use super::log_jobs::{Jobs, banner, since_start, stamp};
use crate::list::Format;
use crate::number::whole;
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::Work;
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "fio-hist-log",
    tool: "fio",
    systems: "all that fio runs on",
    help: "fio's histogram log: the distribution of latencies, interval by interval",
    recognised: "rows of a time, a direction, a size and 1,856 or 1,216 counts, or those halved",
    yields: &["workload_latency"],
    example: "\
1000, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
2000, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
",
    recognise,
    parser: || Box::new(Hist::new()),
};

/// Counts in a row: how many, and nanoseconds per unit of their grid.
const WHOLE: [(usize, u64); 2] = [(1856, 1), (1216, 1000)];
const COARSEST: u32 = 6;

/// How often the buckets were halved, and nanoseconds per unit.
fn grid_of(counts: usize) -> Option<(u32, u64)> {
    WHOLE.iter().find_map(|(all, scale)| {
        let coarseness = (0..=COARSEST).find(|c| all >> c == counts)?;
        Some((coarseness, *scale))
    })
}

fn recognise(head: &Head) -> u8 {
    let mut lines = head.lines();
    let Some(first) = lines.find(|l| !l.is_empty() && banner(l).is_none()) else {
        return 0;
    };
    match row(first) {
        Some(_) => 88,
        None => 0,
    }
}

/// Time, direction, and counts.
fn row(line: &[u8]) -> Option<(u64, &'static str, Vec<u64>)> {
    let fields = line.split(|b| *b == b',').map(|f| whole(f.trim_ascii()));
    let mut fields = fields.collect::<Option<Vec<u64>>>()?;
    grid_of(fields.len().checked_sub(3)?)?;
    let counts = fields.split_off(3);
    let op = ["read", "write", "trim"].get(usize::try_from(fields[1]).ok()?)?;
    Some((fields[0], op, counts))
}

struct Hist {
    work: Work,
    jobs: Option<Jobs>,
}

impl Hist {
    fn new() -> Hist {
        Hist {
            work: Work::new("fio"),
            jobs: None,
        }
    }
}

impl Parser for Hist {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.is_empty() {
            return Line::Noise;
        }
        if let Some(file) = banner(line) {
            self.jobs = Some(Jobs::of(file));
            out.broken();
            return Line::Noise;
        }
        let Some((time, op, counts)) = row(line) else {
            return Line::Unknown;
        };
        let Some((coarseness, scale)) = grid_of(counts.len()) else {
            return Line::Unknown;
        };
        let jobs = self
            .jobs
            .get_or_insert_with(|| Jobs::of(&out.options().file));
        let place = jobs.row(op, time);
        if place.is_first {
            out.broken();
        }
        out.note(
            "fio's histogram logs have latencies from submission to completion (clat), not the \
             whole",
        );
        out.sample_at(stamp(time));
        if let Some(passed) = place.passed.or(since_start(time)) {
            out.spans(passed.max(1) as f64 / 1000.0);
        }
        let job = jobs.job();
        let of = [&*job, op, jobs.client()].map(str::as_bytes);
        for (place, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let bound = |place: usize| {
                let fine = u32::try_from(place << coarseness).unwrap_or(u32::MAX >> 8);
                grid::lower(fine).saturating_mul(scale) as f64 / 1e9
            };
            self.work
                .latency(out, of, bound(place), bound(place + 1), *count as f64);
        }
        Line::Data
    }
}
