//! A file a format, or a family of them.

pub(crate) mod dd;
pub(crate) mod filebench;
pub(crate) mod fio;
pub(crate) mod iperf3_json;
pub(crate) mod iperf_text;
pub(crate) mod netperf;
pub(crate) mod pgbench;
pub(crate) mod redis_benchmark;
pub(crate) mod sysbench;
pub(crate) mod uperf;
pub(crate) mod vmstat_linux;
pub(crate) mod wrk;
