//! A file a format, or a family of them.

pub(crate) mod arcstat;
pub(crate) mod dladm;
pub(crate) mod fsstat;
pub(crate) mod inventory;
pub(crate) mod ip_link;
pub(crate) mod kstat;
pub(crate) mod memstat;
pub(crate) mod netstat;
pub(crate) mod nfsstat;
pub(crate) mod nfsstat_m;
pub(crate) mod sysstat;
pub(crate) mod vmstat_linux;
pub(crate) mod zones;
pub(crate) mod zonestat;
pub(crate) mod zpool;
