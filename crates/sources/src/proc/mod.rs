//! Sources that read `/proc` and `/sys`. One file a source.

pub mod disk;
pub mod filesystem;
pub mod net;
pub mod power;
pub mod snmp;
pub mod softnet;
pub mod temperature;
