//! What `pgbench -P` prints while it runs.

use crate::number::decimal;
use crate::workload::{Done, UNKNOWN};

/// Seconds and what follows of `progress: 5.0 s, 1234.5 tps, lat 0.8 ms stddev 0.1, 0 failed`.
pub(super) fn progress(line: &[u8]) -> Option<(f64, Vec<Vec<&str>>)> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let mut parts = text.strip_prefix("progress: ")?.split(", ");
    let seconds = decimal(parts.next()?.strip_suffix(" s")?.as_bytes())?;
    Some((seconds, parts.map(|p| p.split(' ').collect()).collect()))
}

/// What was done in an interval.
#[derive(Clone, Debug)]
pub(super) struct Report {
    /// Per second; what failed is a count.
    pub(super) done: Done,
    /// Column, unit, value.
    pub(super) others: Vec<(&'static str, &'static str, f64)>,
}

impl Report {
    pub(super) fn of(parts: &[Vec<&str>]) -> Option<Report> {
        let value = |text: &&str| decimal(text.as_bytes());
        // Old ones divide by the transactions that there were not.
        let mean = |text: &&str| match text.trim_start_matches('-') {
            "nan" | "NaN" => Some(f64::NAN),
            _ => value(text),
        };
        let mut done = UNKNOWN;
        let mut others = Vec::new();
        for part in parts {
            match &part[..] {
                [tps, "tps"] => done.ops = value(tps)?,
                ["lat", latency, "ms", rest @ ..] => {
                    done.time = mean(latency)? / 1000.0;
                    if let ["stddev", stdev] = rest {
                        others.push(("latency.stddev", "ms", mean(stdev)?));
                    }
                }
                [failed, "failed"] => done.errors = value(failed)?,
                ["lag", lag, "ms"] => others.push(("lag", "ms", mean(lag)?)),
                [skipped, "skipped"] => others.push(("skipped", "", value(skipped)?)),
                [retried, "retried"] => others.push(("retried", "", value(retried)?)),
                [retries, "retries"] => others.push(("retries", "", value(retries)?)),
                _ => return None,
            }
        }
        // Nothing took no time.
        let none = done.ops == 0.0 && done.time.is_nan();
        done.time = if none { 0.0 } else { done.time * done.ops };
        Some(Report { done, others })
    }
}

/// A run's report at the top of a text, where nothing says that the run began there: of what
/// `tail` left, the first interval did not begin at zero. It waits for the next one.
#[derive(Clone, Debug)]
pub(super) struct First {
    pub(super) seconds: f64,
    /// None if it is not understood.
    pub(super) report: Option<Report>,
    pub(super) line: u64,
}

/// Said of a run that was not done to its end.
pub(super) const BROKEN_OFF: &str = "pgbench says that clients were aborted, or the run: what was counted is not all that was \
                          to be done";

/// `pgbench: error: client 3 script 0 aborted in command 4 query 0: FATAL: …`, `client 1 aborted in state
/// 8: …` of old ones, `pgbench: error: Run was aborted; the above results are incomplete.`
pub(super) fn is_broken_off(text: &str) -> bool {
    let said = text.strip_prefix("pgbench: ").unwrap_or(text);
    let said = said.trim_start_matches("error: ");
    let is_client = said.starts_with("client ") || said.starts_with("Client ");
    said.starts_with("Run was aborted") || is_client && said.contains(" aborted")
}
