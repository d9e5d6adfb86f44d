//! The one list of formats.

use crate::recognise::Head;
use crate::{Parser, tools};

/// A format: what a tool prints on a kind of system.
pub struct Format {
    /// Its name, as in `--as`: unique.
    pub name: &'static str,
    /// What prints it; the tool in `other.<tool>.<column>`.
    pub tool: &'static str,
    /// Where it runs.
    pub systems: &'static str,
    /// One sentence: what is in it.
    pub help: &'static str,
    /// How it is recognised, in words.
    pub recognised: &'static str,
    /// Tables of the catalog that it fills (beside `other` and `since_boot`).
    pub yields: &'static [&'static str],
    /// A few lines of it.
    pub example: &'static str,
    /// How sure it is, from 0 (not this) to 100, that a file is of this format.
    pub recognise: fn(&Head) -> u8,
    /// Makes a parser.
    pub parser: fn() -> Box<dyn Parser>,
}

/// All formats, by tool.
pub const FORMATS: &[Format] = &[
    tools::vmstat_linux::FORMAT,
    tools::prometheus::FORMAT,
    tools::ganglia::FORMAT,
    tools::pcp::FORMAT,
];
