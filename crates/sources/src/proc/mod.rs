//! Sources that read `/proc` and `/sys`. One file a source.

pub mod disk;
pub mod nfs;
pub mod nfsd;
pub mod zfs;
