//! What people see: tables, terminal, pictures. Never sees a source.
//!
//! A [`Chart`] says what to show; [`svg::picture`], [`png::picture`] and
//! [`terminal::picture`] draw it. They are pure: the same chart gives the same bytes.

mod axis;
pub mod chart;
mod fold;
pub mod from_answer;
mod from_numbers;
mod heat;
pub mod palette;
mod plan;
pub mod png;
#[cfg(test)]
mod random;
mod scale;
pub mod server;
mod sparkline;
mod stack;
pub mod svg;
pub mod table;
pub mod terminal;
mod text;
mod time;
mod trace;

pub use chart::{Axis, Band, BandKind, Chart, Fold, Heat, Line, Mark, Point};
pub use sparkline::sparkline;
