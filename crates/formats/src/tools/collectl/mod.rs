//! `collectl`: raw files, and the plot format (`-P`).

pub(in crate::tools) mod interrupts;
mod levels;
pub(crate) mod plot;
pub(in crate::tools) mod protocols;
pub(crate) mod raw;
