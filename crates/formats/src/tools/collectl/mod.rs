//! `collectl`: raw files, and the plot format (`-P`).

mod interrupts;
mod levels;
pub(crate) mod plot;
mod protocols;
pub(crate) mod raw;
