//! What fio's text says of a job.

use jiff::civil::DateTime;

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
    /// Op, column, unit, value.
    pub(super) others: Vec<(&'static str, String, String, f64)>,
}
