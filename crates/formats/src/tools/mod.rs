//! A file a format, or a family of them.

pub(crate) mod dd;
pub(crate) mod fio;
pub(crate) mod iperf3_json;
pub(crate) mod sysbench;
pub(crate) mod vmstat_linux;
pub(crate) mod wrk;
