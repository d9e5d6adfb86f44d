//! Which job a row of fio's logs is of, and how long a mean is over.
//!
//! A log is named `NAME_KIND.N.log` with the number of its job, and `.HOST` behind in client mode.
//! With `per_job_logs=0` the jobs follow one another in one file, and nothing stands between them
//! but that the time, which is counted from each job's start, goes back.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::time::Stamp;

/// Times above are milliseconds since 1970, below since the job started.
const EPOCH: u64 = 1_000_000_000_000;

/// Two means in so few milliseconds are of two jobs, or the last of a job that just ended.
const AT_ONCE: u64 = 10;

/// A row's time, unless it is of the clock.
pub(super) fn since_start(time: u64) -> Option<u64> {
    (time < EPOCH).then_some(time)
}

/// How long the mean of a job's first row is over: since the start, unless that is much longer than rows are
/// apart. Then those above it are gone, or it was idle, and nobody knows.
pub(super) fn first_length(time: u64, usual: u64, told: Option<u64>) -> Option<u64> {
    let usual = told.unwrap_or(usual);
    match time {
        EPOCH.. => Some(usual),
        _ if time.saturating_mul(2) <= usual.saturating_mul(3) => Some(time),
        _ => told,
    }
}

/// What a log's name tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// `lat` of `q_lat.1.log`, `hist` of `q_clat_hist.1.log`.
    pub(super) kind: String,
    /// `q.1`.
    pub(super) job: String,
    /// The host behind.
    pub(super) client: String,
}

impl Name {
    pub(super) fn of(file: &str) -> Option<Name> {
        let packed = [".gz", ".bz2", ".xz", ".zst"];
        let unpacked = packed.iter().find_map(|end| file.strip_suffix(end));
        let file = unpacked.unwrap_or(file);
        let (stem, client) = file
            .split_once(".log")
            .or_else(|| file.split_once(".csv"))?;
        let without = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        let (name, number) = match without.strip_suffix('.') {
            Some(name) => (name, &stem[without.len()..]),
            None => (without, ""),
        };
        let (job, kind) = name.rsplit_once('_').unwrap_or(("", name));
        let job = job
            .strip_suffix("_clat")
            .filter(|_| kind == "hist")
            .unwrap_or(job);
        let parts = [job, number].into_iter().filter(|p| !p.is_empty());
        Some(Name {
            kind: kind.to_owned(),
            job: parts.collect::<Vec<_>>().join("."),
            client: client.trim_start_matches('.').to_owned(),
        })
    }
}

/// The file that `head` and `tail` name before its rows.
pub(super) fn banner(line: &[u8]) -> Option<&str> {
    let name = line.strip_prefix(b"==> ")?.strip_suffix(b" <==")?;
    std::str::from_utf8(name).ok()?.rsplit('/').next()
}

pub(super) fn stamp(milliseconds: u64) -> Stamp {
    if milliseconds < EPOCH {
        Stamp::Elapsed(milliseconds as f64 / 1000.0)
    } else {
        let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
        Stamp::Epoch(milliseconds.saturating_mul(1_000_000))
    }
}

/// The jobs in a log.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    name: Name,
    /// How many were before the present one.
    over: u32,
    directions: HashMap<&'static str, Direction>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    /// The job of its last row, and when that was.
    job: u32,
    before: Option<u64>,
    rows: u64,
    /// When its first row was, since the start.
    first: Option<u64>,
    usual: Option<u64>,
    /// The length of the row before, where it was much less than usual.
    short: Option<u64>,
}

/// What is known of a row.
pub(super) struct Place {
    /// It is the first of another job.
    pub(super) is_first: bool,
    /// Milliseconds since the row before of its direction.
    pub(super) passed: Option<u64>,
}

impl Jobs {
    pub(super) fn of(file: &str) -> Jobs {
        Jobs {
            name: Name::of(file).unwrap_or_default(),
            ..Jobs::default()
        }
    }

    pub(super) fn client(&self) -> &str {
        &self.name.client
    }

    /// The present job, named as those in fio's JSON where several have one name.
    pub(super) fn job(&self) -> Cow<'_, str> {
        match self.over {
            0 => Cow::Borrowed(&self.name.job),
            over => Cow::Owned(format!("{}#{}", self.name.job, over + 1)),
        }
    }

    /// Takes a row's time. Those of a job and direction never go back.
    pub(super) fn row(&mut self, op: &'static str, time: u64) -> Place {
        let over = self.over;
        let direction = self.directions.entry(op).or_default();
        let is_first = direction.job == over && direction.before.is_some_and(|b| time < b);
        self.over += u32::from(is_first);
        if direction.job < self.over {
            *direction = Direction {
                job: self.over,
                ..Direction::default()
            };
        }
        let before = direction.before.replace(time);
        if before.is_none() {
            direction.first = since_start(time);
        }
        direction.rows += 1;
        Place {
            is_first,
            passed: before.map(|before| time.saturating_sub(before)),
        }
    }

    /// How far rows of the present job are apart, as far as they tell.
    pub(super) fn usual(&self) -> Option<u64> {
        let mut all = self.directions.values().filter(|d| d.job == self.over);
        all.find_map(|d| d.usual)
    }

    /// How long a mean is over that came so long after the one before: idle intervals have no row,
    /// so what is longer than usual began with them. `None` where it may be of two jobs.
    pub(super) fn length(&mut self, op: &str, passed: u64, told: Option<u64>) -> Option<u64> {
        let direction = self.directions.get_mut(op)?;
        let is_late = direction.first.is_some_and(|first| first > 10 * AT_ONCE);
        if direction.rows == 2 && passed <= AT_ONCE && is_late {
            return None;
        }
        if passed == 0 {
            return Some(0);
        }
        let usual = direction.usual.get_or_insert(passed);
        // A first row that came late left less to the second.
        let is_near = direction
            .first
            .is_some_and(|first| usual.saturating_mul(3) < first * 2);
        if direction.rows == 3 && is_near && passed < usual.saturating_mul(2) {
            *usual = passed.max(*usual);
        }
        // A row that came late leaves less to the next, and the last of a job may be short: only
        // two of them are an interval.
        if passed.saturating_mul(3) < usual.saturating_mul(2) {
            if let Some(other) = direction.short.replace(passed) {
                *usual = passed.max(other).max(1);
            }
        } else {
            direction.short = None;
        }
        let usual = told.unwrap_or(*usual);
        Some(if passed.saturating_mul(2) > usual.saturating_mul(3) {
            usual
        } else {
            passed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_kind_job_and_host() {
        let of = |file: &str| {
            let name = Name::of(file).unwrap();
            [name.kind, name.job, name.client]
        };
        assert_eq!(of("big_job_bw.12.log"), ["bw", "big_job.12", ""]);
        assert_eq!(of("a_lat.log"), ["lat", "a", ""]);
        assert_eq!(of("a_lat.2.log.gz"), ["lat", "a.2", ""]);
        assert_eq!(of("a_iops.1.log.east.net"), ["iops", "a.1", "east.net"]);
        assert_eq!(of("a_clat_hist.3.log"), ["hist", "a.3", ""]);
        assert_eq!(Name::of("a_bw.txt"), None);
    }

    /// Means of a job's rows, as `(job, length)`; that of a first row is not told.
    fn lengths(times: &[u64]) -> Vec<(String, Option<u64>)> {
        let mut jobs = Jobs::of("a_bw.log");
        let mut row = |time: &u64| {
            let passed = jobs.row("read", *time).passed;
            let length = passed.and_then(|passed| jobs.length("read", passed, None));
            (jobs.job().into_owned(), length)
        };
        times.iter().map(&mut row).collect()
    }

    /// Two rows that are closer than usual are the usual from then on.
    #[test]
    fn a_row_that_came_late_leaves_less_to_the_next() {
        let late = lengths(&[500, 1000, 1700, 2003, 2500, 4500]);
        let late: Vec<u64> = late.into_iter().filter_map(|(_, l)| l).collect();
        assert_eq!(late, [500, 700, 303, 497, 500]);
        let first = lengths(&[700, 1003, 1500, 2000]);
        let first: Vec<u64> = first.into_iter().filter_map(|(_, l)| l).collect();
        assert_eq!(first, [303, 497, 500]);
        let idle = lengths(&[500, 1000, 1500, 9000]);
        let idle: Vec<u64> = idle.into_iter().filter_map(|(_, l)| l).collect();
        assert_eq!(idle, [500, 500, 500]);
    }

    #[test]
    fn a_first_row_that_is_late_is_of_an_unknown_time() {
        assert_eq!(first_length(505, 500, None), Some(505));
        assert_eq!(first_length(89_103, 1000, None), None);
        assert_eq!(first_length(89_103, 1000, Some(1000)), Some(1000));
        assert_eq!(first_length(EPOCH, 1000, None), Some(1000));
    }

    #[test]
    fn jobs_in_one_file_begin_where_time_goes_back() {
        let found = lengths(&[500, 1001, 1503, 499, 1000]);
        let job = |name: &str, length| (name.to_owned(), Some(length));
        let wanted = [
            ("a".to_owned(), None),
            job("a", 501),
            job("a", 502),
            ("a#2".to_owned(), None),
            job("a#2", 501),
        ];
        assert_eq!(found, wanted);
        assert_eq!(lengths(&[500, 501])[1].1, None);
    }
}
