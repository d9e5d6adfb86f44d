//! A file a format, or a family of them.

pub(crate) mod arcstat;
pub(crate) mod kstat;
pub(crate) mod netstat;
pub(crate) mod vmstat_linux;
pub(crate) mod zpool;
