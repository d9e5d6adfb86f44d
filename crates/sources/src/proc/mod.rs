//! Sources that read `/proc` and `/sys`. One file a source.

pub mod disk;
pub mod process;
