//! How a command fails: a text for a person, and an exit status that means something.

use std::fmt::Display;

/// Why a command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What was being done, on what, what is wrong, what to do.
    pub(crate) text: String,
    /// 1: it went wrong while working. 2: it was asked for something that cannot be.
    pub(crate) code: u8,
}

impl Failure {
    /// Wrong input: exit status 2.
    pub(crate) fn input(text: impl Display) -> Failure {
        Failure {
            text: text.to_string(),
            code: 2,
        }
    }

    /// Something went wrong while working: exit status 1.
    pub(crate) fn work(text: impl Display) -> Failure {
        Failure {
            text: text.to_string(),
            code: 1,
        }
    }
}

impl From<run::read::ReadError> for Failure {
    fn from(e: run::read::ReadError) -> Failure {
        Failure::input(e)
    }
}

impl From<analysis::Error> for Failure {
    fn from(e: analysis::Error) -> Failure {
        Failure::input(e)
    }
}
