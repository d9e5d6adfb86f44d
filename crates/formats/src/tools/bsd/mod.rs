//! Tools of FreeBSD, OpenBSD, NetBSD and macOS.

pub(crate) mod gstat;
pub(crate) mod iostat;
pub(crate) mod vmstat;
