//! A file a format, or a family of them.

pub(crate) mod atop;
pub(crate) mod bsd;
pub(crate) mod collectl;
pub(crate) mod dstat;
pub(crate) mod mountstats;
pub(crate) mod nmon;
pub(crate) mod proc;
pub(crate) mod top;
pub(crate) mod vmstat_linux;
