//! A file a format, or a family of them.

pub(crate) mod blktrace;
pub(crate) mod trace;
pub(crate) mod vmstat_linux;
