//! A file a format, or a family of them.

pub(crate) mod sysstat;
pub(crate) mod vmstat_linux;
