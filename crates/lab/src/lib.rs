//! Settings of this machine: what they are, what they may be, and how they are changed for an
//! experiment and put back whatever happens.
//!
//! This is the only code of the project that writes settings. A [`Knob`] is one setting by
//! name; an [`Experiment`] changes knobs: it makes their values durable in a journal before
//! the first write, has a guardian process watch it, and puts everything back at its end.

mod capability;
mod error;
pub mod experiment;
mod kernel_file;
pub mod knobs;
mod namespace;
mod spot;
mod undo;

pub use error::KnobError;
pub use knobs::{Allow, Family, Field, KNOBS, Knob};
pub use spot::Values;
pub use undo::guardian::{GUARDIAN, guard};
pub use undo::recover::{RecoverError, recover, stale};
pub use undo::restore::{NotRestored, PutBack, Restored};
pub use undo::state::state_dir;
pub use undo::{BeginError, Experiment, SetError};
