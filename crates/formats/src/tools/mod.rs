//! A file a format, or a family of them.

mod solaris;

pub(crate) mod iostat_solaris;
pub(crate) mod mpstat_solaris;
pub(crate) mod nicstat;
pub(crate) mod prstat;
pub(crate) mod vmstat_linux;
pub(crate) mod vmstat_solaris;
