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

impl Format {
    /// The example as a file has it. That of a binary format is printed as hexadecimal digits
    /// after `0x`.
    pub fn example_bytes(&self) -> Vec<u8> {
        let Some(digits) = self.example.strip_prefix("0x") else {
            return self.example.as_bytes().to_vec();
        };
        let digits: Vec<u32> = digits.chars().filter_map(|c| c.to_digit(16)).collect();
        let byte = |pair: &[u32]| pair.iter().fold(0, |sum, digit| sum << 4 | digit) as u8;
        digits.chunks(2).map(byte).collect()
    }
}

/// All formats, by tool.
pub const FORMATS: &[Format] = &[
    tools::vmstat_linux::FORMAT,
    tools::trace::dtrace::FORMAT,
    tools::trace::bcc::FORMAT,
    tools::trace::bpftrace::FORMAT,
    tools::trace::io_events::BIOSNOOP,
    tools::trace::io_events::IOSNOOP,
    tools::trace::io_pattern::BIOPATTERN,
    tools::trace::io_pattern::IOPATTERN,
    tools::trace::io_pattern::BIOTOP,
    tools::trace::io_pattern::IOTOP,
    tools::trace::file_events::FSSLOWER,
    tools::trace::file_events::OPENSNOOP,
    tools::trace::file_events::TCPCONNLAT,
    tools::blktrace::text::FORMAT,
    tools::blktrace::binary::FORMAT,
];
