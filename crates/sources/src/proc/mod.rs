//! Sources that read `/proc` and `/sys`. One file a source.

pub mod disk;
pub mod filesystem;
mod keyed;
pub mod memory;
pub mod net;
pub mod nfs;
pub mod nfsd;
pub mod power;
pub mod pressure;
pub mod process;
mod ratchet;
pub mod snmp;
pub mod softnet;
pub mod stat;
pub mod temperature;
pub mod vm;
pub mod zfs;
