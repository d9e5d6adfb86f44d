//! `netstat`: `-s`, and `-i` of several systems.

mod names;
pub(crate) mod protocols;
