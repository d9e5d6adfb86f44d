//! Tools of FreeBSD, OpenBSD, NetBSD and macOS.

pub(crate) mod gstat;
mod interrupts;
pub(crate) mod iostat;
pub(crate) mod vmstat;
