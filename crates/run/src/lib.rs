//! The words everybody in Sonde shares: units, the catalog of statistics, the
//! histogram grid; and the run directory, written, recovered and read here only.

mod alike;
pub mod catalog;
mod frames;
pub mod grid;
mod home;
pub mod inventory;
pub mod journal;
mod loss;
pub mod manifest;
pub mod printed;
pub mod read;
pub mod rows;
pub mod seal;
pub mod sums;
pub mod tail;
pub mod unit;
pub mod whole;
pub mod worksheets;
pub mod write;

pub use catalog::{CATALOG, Dimension, Kind, Measure, Subject, Table};
pub use home::own_file;
pub use manifest::Manifest;
pub use read::{Batch, Run};

pub use tail::Tail;

pub use rows::{Rows, Sink, Word, Words};
pub use unit::Unit;

/// A point in time: nanoseconds since 1970-01-01 UTC.
pub type Nanos = i64;
