//! What people see: tables, terminal, pictures. Never sees a source.
//!
//! A [`Chart`] says what to show; [`svg::picture`], [`png::picture`] and
//! [`terminal::picture`] draw it. They are pure: the same chart gives the same bytes.

mod axis;
pub mod chart;
pub mod csv;
mod fold;
pub mod from_answer;
mod from_numbers;
mod heat;
pub mod palette;
pub mod part;
mod plan;
pub mod png;
#[cfg(test)]
mod random;
mod ranges;
pub mod report;
mod scale;
pub mod scatter;
pub mod server;
mod sparkline;
mod stack;
pub mod svg;
pub mod table;
pub mod terminal;
mod text;
mod time;
mod trace;
pub mod worksheet;

pub use chart::{Axis, Band, BandKind, Chart, Fold, Heat, Line, Mark, Point, Range, Ranges};
pub use sparkline::sparkline;
