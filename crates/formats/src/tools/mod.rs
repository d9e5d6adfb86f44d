//! A file a format, or a family of them.

pub(crate) mod ganglia;
pub(crate) mod pcp;
pub(crate) mod prometheus;
pub(crate) mod vmstat_linux;
