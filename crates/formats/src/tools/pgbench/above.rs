//! Reports of progress below a summary: of the next run, or of the same one.
//!
//! Progress goes to the error output, which some logs put below the other. Whose it is, the counts tell.

use super::progress::Report;
use super::{EPOCH, Pgbench, Summary};
use crate::out::Out;

/// What reports count differs from their summary by less than this share: times are rounded.
const SAME: f64 = 0.01;

/// A summary with no reports above it, and those below.
pub(super) struct Above {
    summary: Summary,
    reports: Vec<(f64, Option<Report>)>,
}

impl Above {
    /// How far the reports' rate is from the summary's, as a share of it; no end to it where they are of
    /// another run.
    fn distance(&self, summary: &Summary) -> f64 {
        let told = summary.transactions.zip(summary.length());
        let (Some((ops, seconds)), [(first, _), ..]) = (told, &self.reports[..]) else {
            return f64::INFINITY;
        };
        let next = self.reports.get(1).map_or(*first, |(at, _)| *at);
        let began = if *first < EPOCH {
            0.0
        } else {
            2.0 * first - next
        };
        let (mut before, mut longest, mut counted) = (began, 0.0_f64, 0.0);
        for (at, report) in &self.reports {
            let passed = at - before;
            counted += passed * report.as_ref().map_or(f64::NAN, |report| report.done.ops);
            longest = longest.max(passed);
            before = *at;
        }
        let reported = before - began;
        let distance = (counted / reported * seconds / ops - 1.0).abs();
        // The last interval has no report where it is shorter.
        let is_whole = (reported - seconds).abs() <= longest;
        if is_whole && distance <= SAME {
            distance
        } else {
            f64::INFINITY
        }
    }
}

impl Pgbench {
    /// Whether a report waits until it is told whose it is: one that stands below a summary without any.
    pub(super) fn waits(&mut self, seconds: f64, report: Option<&Report>, out: &mut Out) -> bool {
        if self.summary.transactions.is_some() {
            self.above_is_over(out);
            if self.reports > 0 || self.first.is_some() {
                self.run_is_over(out);
            } else {
                self.above = Some(Above {
                    summary: std::mem::take(&mut self.summary),
                    reports: Vec::new(),
                });
            }
        }
        let begins_anew = |(last, _): &(f64, _)| seconds <= *last;
        let Some(above) = &mut self.above else {
            return false;
        };
        if above.reports.last().is_some_and(begins_anew) {
            self.above_is_over(out);
            return false;
        }
        above.reports.push((seconds, report.cloned()));
        true
    }

    /// What waits is of the summary above it, or of the one below: that which counts the same.
    pub(super) fn above_is_over(&mut self, out: &mut Out) {
        let Some(above) = self.above.take() else {
            return;
        };
        let below = std::mem::take(&mut self.summary);
        let is_above = above.distance(&above.summary) < above.distance(&below);
        self.summary = above.summary;
        if !is_above {
            self.run_is_over(out);
        }
        self.is_whole = true;
        for (seconds, report) in above.reports {
            self.put(seconds, report, out);
        }
        if is_above {
            self.run_is_over(out);
        }
        self.summary = below;
    }
}
