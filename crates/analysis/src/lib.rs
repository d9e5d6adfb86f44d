//! The expression language, its planner and its evaluator.
//!
//! `disk.ios by op where device = vda` is parsed ([`syntax`]), given the cheapest tables
//! that can answer it ([`plan`]), read into cells of group and interval ([`scan`]) and
//! folded into totals, means and series ([`answer`]). What stands out in a run is told by
//! [`findings`]. No clock, no printing; files are read only through `run`.

pub mod answer;
pub mod bounds;
pub mod compare;
pub mod contents;
pub mod dropped;
pub mod error;
mod exact;
pub mod experiment;
pub mod findings;
mod fold;
pub mod gather;
pub mod limit;
pub mod listing;
pub mod mixed;
pub mod notes;
mod paired;
pub mod plan;
pub mod quantiles;
mod ratio;
pub mod scan;
pub mod slots;
pub mod stats;
pub mod syntax;
pub mod window;

pub use answer::{Answer, Group, evaluate, summarise};
pub use error::{Error, Problem};
pub use syntax::{Expression, parse};
