//! `collectl`: raw files, and the plot format (`-P`).

pub(crate) mod plot;
pub(crate) mod raw;
