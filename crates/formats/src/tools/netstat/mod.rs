//! `netstat`: `-s`, and `-i` of several systems.

pub(crate) mod interfaces;
mod names;
pub(crate) mod protocols;
