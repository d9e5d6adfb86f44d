//! pgbench's aggregated log (`--aggregate-interval`): a row an interval, without a header.
//!
//! `start transactions sum sum_of_squares min max`, in seconds since 1970 and microseconds; with
//! `--rate` the lag's sums, and with limits and retries what was skipped, tried again and failed:
//! <https://www.postgresql.org/docs/current/pgbench.html>.

use crate::list::Format;
use crate::number::whole;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::workload::{Done, UNKNOWN, Work};
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "pgbench-aggregate-log",
    tool: "pgbench",
    systems: "all that PostgreSQL runs on",
    help: "pgbench's log of intervals: how many transactions each had and how long they took",
    recognised: "rows of a time since 1970, a count, a sum of microseconds and of their squares, \
                 the least and the most, which go together",
    yields: &["workload"],
    example: "\
1175850560 300 900000 2800000000 1500 9000
1175850565 200 700000 2600000000 1600 8000
",
    recognise: |head: &Head| {
        let mut lines = head.lines().filter(|l| !l.is_empty()).peekable();
        let any = lines.peek().is_some();
        if any && lines.take(20).all(|l| row(l).is_some()) {
            82
        } else {
            0
        }
    },
    parser: || Box::new(Aggregate::new()),
};

/// Columns behind the first six, in so many as there may be; the sums are microseconds.
const MORE: [(&str, &str); 10] = [
    ("lag.sum", "us"),
    ("lag.sum_of_squares", "us^2"),
    ("lag.min", "us"),
    ("lag.max", "us"),
    ("skipped", ""),
    ("retried", ""),
    ("retries", ""),
    ("serialization_failures", ""),
    ("deadlock_failures", ""),
    // After version 18.
    ("other_sql_failures", ""),
];

/// The numbers of a row, if they agree with one another.
fn row(line: &[u8]) -> Option<Vec<u64>> {
    let all: Option<Vec<u64>> = fields(line).map(whole).collect();
    let all = all.filter(|all| matches!(all.len(), 6 | 10 | 11 | 15 | 16))?;
    let [start, _, sum, squares, least, most] = all[..6] else {
        return None;
    };
    let count = done(&all)?;
    let is_time = (1_000_000_000..10_000_000_000).contains(&start);
    let between = count.saturating_mul(least) <= sum && sum <= count.saturating_mul(most);
    let squared = |v: u64| count.saturating_mul(v.saturating_mul(v));
    let agrees = squared(least) <= squares && squares <= squared(most);
    (is_time && between && agrees).then_some(all)
}

/// How many transactions were done. Up to version 14, which prints no failures, the count has those that
/// were skipped in it: `accumStats` of `pgbench.c`.
fn done(row: &[u64]) -> Option<u64> {
    match row.len() {
        11 => row[1].checked_sub(row[10]),
        _ => Some(row[1]),
    }
}

/// The thread whose log a file is, as its name tells: `pgbench_log.14532.1` is that of the second one of
/// process 14532.
fn thread(name: &str) -> Option<&str> {
    let mut parts = name.rsplit('.');
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let thread = parts.next().filter(is_number)?;
    parts.next().filter(is_number)?;
    parts.next().map(|_| thread)
}

struct Aggregate {
    work: Work,
    /// As the client: all threads together do the work.
    thread: String,
    /// The row whose end is not known, and the seconds from row to row.
    held: Option<Vec<u64>>,
    length: Option<u64>,
}

impl Aggregate {
    fn new() -> Aggregate {
        Aggregate {
            work: Work::new("pgbench"),
            thread: String::new(),
            held: None,
            length: None,
        }
    }

    fn put(&self, row: &[u64], length: f64, out: &mut Out) {
        let start = row[0] as f64;
        out.sample_at(Stamp::epoch((start + length) * 1000.0, 1_000_000));
        out.spans(length);
        let done = Done {
            ops: done(row).map_or(f64::NAN, |n| n as f64),
            time: row[2] as f64 / 1e6,
            ..UNKNOWN
        };
        let client = self.thread.as_bytes();
        self.work.amounts(out, [b"", b"transaction", client], done);
        let instance = out.word(client);
        let beside = [("latency.min", "us", row[4]), ("latency.max", "us", row[5])];
        let more = MORE.iter().zip(&row[6..]);
        for (column, unit, value) in beside
            .into_iter()
            .chain(more.map(|((column, unit), value)| (*column, *unit, *value)))
        {
            out.other(column, unit, instance, value as f64);
        }
    }
}

impl Parser for Aggregate {
    fn look(&mut self, head: &Head) {
        let thread = thread(head.name());
        self.thread = thread.map_or(String::new(), |n| format!("thread {n}"));
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.is_empty() {
            return Line::Noise;
        }
        let Some(now) = row(line) else {
            return Line::Unknown;
        };
        if let Some(before) = self.held.take() {
            // Each interval has a row, also an empty one.
            let length = now[0].saturating_sub(before[0]);
            if length == 0 || self.length.is_some_and(|known| known != length) {
                out.refuse(Refused(
                    "its rows are not equally far apart, as those of one log of pgbench are\n\
                     hint: import the log of each thread and run by itself"
                        .into(),
                ));
                return Line::Unknown;
            }
            self.length = Some(length);
            self.put(&before, length as f64, out);
        }
        self.held = Some(now);
        Line::Data
    }

    fn end(&mut self, out: &mut Out) {
        let Some(last) = self.held.take() else { return };
        let length = self.length.map(|s| s as f64).or(out.options().every);
        match length {
            Some(length) => self.put(&last, length, out),
            None => out.refuse(Refused(
                "one row does not tell how long its interval is\nhint: say it, as --every 5s"
                    .into(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::thread;

    #[test]
    fn the_name_of_a_log_tells_its_thread() {
        assert_eq!(thread("pgbench_log.14532.1"), Some("1"));
        for no in [
            "pgbench_log.14532",
            "14532.1",
            "pgbench_log.a.1",
            "log.14532.txt",
            "",
        ] {
            assert_eq!(thread(no), None, "{no}");
        }
    }
}
