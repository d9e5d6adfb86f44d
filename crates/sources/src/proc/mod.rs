//! Sources that read `/proc` and `/sys`. One file a source.

pub mod disk;
mod keyed;
pub mod memory;
pub mod pressure;
mod ratchet;
pub mod stat;
pub mod vm;
pub mod nfs;
pub mod nfsd;
pub mod zfs;
pub mod filesystem;
pub mod net;
pub mod power;
pub mod snmp;
pub mod softnet;
pub mod temperature;
pub mod process;
