//! What the truth tests share: recording a command, and the kernel's counters as the tests
//! read them, with none of the product's code.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and read clocks"
)]

pub(crate) mod group;
pub(crate) mod parts;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{get, sonde, succeed};

/// Records `command` into `run`; its stdout.
pub(crate) fn record<S: AsRef<OsStr>>(run: &Path, every: &str, command: &[S]) -> String {
    succeed(&mut recording(run, every, command))
}

/// `sonde record -q --every EVERY -o RUN -- COMMAND`.
pub(crate) fn recording<S: AsRef<OsStr>>(run: &Path, every: &str, command: &[S]) -> Command {
    let mut record = sonde();
    record.args(["record", "-q", "--every", every, "-o"]);
    record.arg(run).arg("--").args(command);
    record
}

/// `sonde record … -- sh -c SCRIPT`; `$SONDE` in the script is the binary.
pub(crate) fn record_script(run: &Path, every: &str, script: &str) -> String {
    record_script_with(run, every, &[], script)
}

/// The same with more options.
pub(crate) fn record_script_with(
    run: &Path,
    every: &str,
    options: &[&str],
    script: &str,
) -> String {
    let mut record = sonde();
    record
        .args(["record", "-q", "--every", every])
        .args(options);
    record
        .arg("-o")
        .arg(run)
        .args(["--", "sh", "-e", "-c", script]);
    succeed(record.env("SONDE", env!("CARGO_BIN_EXE_sonde")))
}

/// The totals of an expression `by` one dimension, by its word; 0 for words it does not have.
pub(crate) struct Totals(Value);

impl Totals {
    /// Asks `sonde get`.
    pub(crate) fn of(run: &Path, expression: &str) -> Totals {
        Totals(get(run, expression))
    }

    /// All groups together.
    pub(crate) fn sum(&self) -> f64 {
        let groups = self.0["groups"].as_array().expect("groups").iter();
        groups.map(|g| g["total"].as_f64().expect("a total")).sum()
    }

    /// The total of the group whose only key is `word`.
    pub(crate) fn get(&self, word: &str) -> f64 {
        let groups = self.0["groups"].as_array().expect("groups");
        let is_it = |g: &&Value| {
            let key = g["key"].as_object().expect("a key");
            key.values().all(|v| v == word)
        };
        groups
            .iter()
            .find(is_it)
            .map_or(0.0, |g| g["total"].as_f64().expect("a total"))
    }
}

/// Fails unless `inside <= value <= outside`: two readings of the kernel's own counter, one
/// within the recorded life and one around it. `grain` allows for the rounding of binary
/// fractions only.
pub(crate) fn bounded(what: &str, inside: f64, value: f64, outside: f64) {
    let grain = 1e-9 * outside.abs().max(1.0);
    assert!(
        inside - grain <= value && value <= outside + grain,
        "{what}: recorded {value}, the kernel counted {inside} inside and {outside} around"
    );
}

/// Fails unless the two are the same but for the rounding of binary fractions.
pub(crate) fn same(what: &str, value: f64, expected: f64) {
    assert!(
        (value - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{what}: recorded {value}, expected {expected}"
    );
}

/// The operations of `/proc/diskstats`, in its order.
pub(crate) const OPS: [&str; 4] = ["read", "write", "discard", "flush"];

/// A line of `/proc/diskstats`: seventeen numbers after the name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DiskLine(pub(crate) [f64; 17]);

impl DiskLine {
    /// The line of `device` in `text`.
    pub(crate) fn find(text: &str, device: &str) -> DiskLine {
        let line = text
            .lines()
            .find(|l| l.split_whitespace().nth(2) == Some(device))
            .unwrap_or_else(|| panic!("no {device} in {text}"));
        let mut values = [0.0; 17];
        for (value, field) in values.iter_mut().zip(line.split_whitespace().skip(3)) {
            *value = field.parse().expect("a number");
        }
        DiskLine(values)
    }

    /// The line of `device` now.
    pub(crate) fn now(device: &str) -> DiskLine {
        let text = std::fs::read_to_string("/proc/diskstats").expect("disk statistics");
        DiskLine::find(&text, device)
    }

    /// What was counted since `before`.
    pub(crate) fn since(&self, before: &DiskLine) -> DiskLine {
        let mut values = self.0;
        for (value, before) in values.iter_mut().zip(before.0) {
            *value -= before;
        }
        DiskLine(values)
    }

    /// Of an operation: I/Os, bytes, merges, seconds.
    pub(crate) fn of(&self, op: usize) -> [f64; 4] {
        let v = self.0;
        // Reads and writes, then I/Os under way and two times, then discards and flushes.
        match op {
            0 | 1 => {
                let at = op * 4;
                [v[at], v[at + 2] * 512.0, v[at + 1], v[at + 3] / 1e3]
            }
            // A discard moves no bytes.
            2 => [v[11], 0.0, v[12], v[14] / 1e3],
            _ => [v[15], 0.0, 0.0, v[16] / 1e3],
        }
    }

    /// Bytes discarded.
    pub(crate) fn discarded(&self) -> f64 {
        self.0[13] * 512.0
    }

    /// Seconds busy, and seconds times I/Os under way.
    pub(crate) fn busy(&self) -> [f64; 2] {
        [self.0[9] / 1e3, self.0[10] / 1e3]
    }
}

/// `ip` with `arguments`, which must succeed.
pub(crate) fn ip(arguments: &str) {
    succeed(Command::new("ip").args(arguments.split_whitespace()));
}
