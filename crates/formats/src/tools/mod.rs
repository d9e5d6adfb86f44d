//! A file a format, or a family of them.

pub(crate) mod vmstat_linux;
pub(crate) mod zpool;
