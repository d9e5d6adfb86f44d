//! A controlled experiment: which arms there are, in which order they run, and the file that
//! says how far it came.
//!
//! The unit is one run. Every arm runs once in each block, in random order, so that what drifts
//! with time meets all arms alike (randomised complete blocks; Duplyakin et al., USENIX ATC
//! 2023, show that order alone can turn a conclusion round).

mod arms;
mod factor;
mod logbook;
mod order;
mod substitute;

pub use arms::{Arm, Design, Role, arms, of_winner};
pub use factor::{Factor, Kind};
pub use logbook::{
    Blocks, FILE, FORMAT, Logbook, MOST_BLOCKS, Measure, OpenError, Search, Stage, State, Trial,
    number,
};
pub use order::{order, seed_of};
pub use substitute::{names_in, substitute};

/// Why an experiment cannot be as it was asked for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DesignError {
    /// A factor without its values.
    #[error("{text}: expected {what}=VALUE,VALUE,...\nhint: for example {example}")]
    Form {
        /// As given.
        text: String,
        /// What stands before the values.
        what: &'static str,
        /// A good one.
        example: &'static str,
    },
    /// A value twice, or none.
    #[error("{name}: {why}")]
    Values {
        /// The factor.
        name: String,
        /// What is wrong with its values.
        why: String,
    },
    /// The same factor twice.
    #[error("{0} is given twice\nhint: give all its values at once, as NAME=V1,V2")]
    Twice(String),
    /// A name that no argument can hold.
    #[error(
        "`{0}` is no name of a parameter\nhint: a name has letters, digits and _, and begins with no digit"
    )]
    Name(String),
    /// `{NAME}` without values.
    #[error("the command has {{{0}}}, and there are no values for it\nhint: add --param {0}=V1,V2")]
    NoValues(String),
    /// Values for a name that the command does not have.
    #[error(
        "--param {0} changes nothing: the command has no {{{0}}}\nhint: write {{{0}}} where the value belongs"
    )]
    NotUsed(String),
    /// Nothing to compare.
    #[error("there is one arm only, {0}: nothing to compare\nhint: give another value")]
    OneArm(String),
    /// More than anybody can wait for.
    #[error(
        "that would be {0} arms; {1} is the most\nhint: fewer values, or --design one-at-a-time"
    )]
    TooMany(usize, usize),
}
