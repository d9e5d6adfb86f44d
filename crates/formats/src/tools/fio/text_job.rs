//! What fio's text says of a job.

use jiff::civil::DateTime;

use crate::out::Out;

/// A direction of a job.
#[derive(Debug, Default)]
pub(super) struct Direction {
    pub(super) op: &'static str,
    pub(super) bytes: f64,
    /// Seconds.
    pub(super) runtime: f64,
    /// Mean of the whole latency, and of that from submission on, in seconds.
    pub(super) lat: Option<f64>,
    pub(super) clat: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Job {
    pub(super) client: String,
    pub(super) name: String,
    pub(super) group: i64,
    pub(super) pid: String,
    pub(super) printed: Option<DateTime>,
    pub(super) directions: Vec<Direction>,
    /// I/Os of reads, writes, trims and syncs.
    pub(super) issued: [f64; 4],
    pub(super) errors: f64,
    /// It stands for what was pasted without its job.
    pub(super) is_part: bool,
    /// Op, column, unit, value.
    pub(super) others: Vec<(&'static str, String, String, f64)>,
}

impl Job {
    /// I/Os of a direction by their rate, where nothing else tells them.
    pub(super) fn by_rate(&self, direction: &Direction, out: &mut Out) -> f64 {
        let mut rates = self
            .others
            .iter()
            .filter(|(op, column, ..)| *op == direction.op && column == "iops");
        let Some((.., rate)) = rates.next() else {
            return f64::NAN;
        };
        out.note("I/Os are counted by their rate: the lines that count them are not there");
        rate * direction.runtime
    }
}
