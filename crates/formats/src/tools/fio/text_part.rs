//! What people paste of fio's text: the sums of a group of jobs, or lines of `grep IOPS`.

use super::text::FioText;
use super::text_fields::pairs;
use super::text_job::{Direction, Job};
use crate::number::{number, scaled};
use crate::out::Out;

/// Sums of a group, below all of its jobs.
pub(super) const SUMS: [(&str, &str); 4] = [
    ("READ: ", "read"),
    ("WRITE: ", "write"),
    ("TRIM: ", "trim"),
    ("MIXED: ", "mixed"),
];

impl FioText {
    /// `Run status group 0 (all jobs):`.
    pub(super) fn group(&mut self, text: &str) {
        let rest = text.strip_prefix("Run status group ");
        let number = rest.and_then(|rest| rest.split(' ').next()?.parse().ok());
        self.group = number.unwrap_or(self.group);
    }

    /// A job that stands for what has none above it.
    pub(super) fn part(&mut self, op: &str, group: i64) -> &mut Job {
        let goes_on = |job: &Job| {
            job.is_part && job.group == group && job.directions.iter().all(|d| d.op != op)
        };
        if !self.jobs.last().is_some_and(goes_on) {
            self.jobs.push(Job {
                group,
                is_part: true,
                issued: [f64::NAN; 4],
                ..Job::default()
            });
        }
        self.jobs.last_mut().expect("one was pushed")
    }

    /// `READ: bw=48.0MiB/s (50.4MB/s), …, io=2884MiB (3024MB), run=60001-60001msec`, of fio 2
    /// `READ: io=1626.9MB, aggrb=27764KB/s, …, mint=60002msec, maxt=60002msec`, without the jobs that it sums
    /// up.
    pub(super) fn sum(&mut self, op: &'static str, text: &str, out: &mut Out) -> Option<()> {
        let pairs = pairs(text);
        let of = |name: &str| {
            pairs
                .iter()
                .find(|(n, _)| *n == name || n.ends_with(&format!(" {name}")))
        };
        let of = |name: &str| of(name).map(|(_, value)| *value);
        let size = of("io")?.split(' ').next()?;
        let is_old = of("aggrb").is_some();
        let longest = match of("maxt") {
            Some(longest) => longest,
            None => of("run")?.rsplit('-').next()?,
        };
        let step = match is_old {
            _ if size.contains('i') => 1024.0,
            true => self.kilo,
            false => 1000.0,
        };
        let direction = Direction {
            op,
            bytes: scaled(size.as_bytes(), step)?,
            runtime: number(longest.strip_suffix("msec")?.trim().as_bytes())? / 1000.0,
            ..Direction::default()
        };
        if is_old {
            out.note(super::text::KB_UNTOLD);
        }
        out.note("of fio's text there are the sums of all jobs only: no I/Os, and no latency");
        let group = self.group;
        self.part(op, group).directions.push(direction);
        Some(())
    }
}
