//! The line on the terminal that says how the recording goes.
//!
//! It shares the terminal with the command's output, so it is only drawn while the cursor
//! is at the start of a line, and taken away before output comes.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use run::rows::TableId;
use run::unit::{Unit, amount};
use run::{Nanos, Sink};

use crate::output::counted;

/// Seconds between two drawings.
const PACE: f64 = 0.5;

/// What is on the terminal.
#[derive(Debug)]
pub(crate) struct Screen {
    state: Mutex<State>,
    terminal: bool,
}

#[derive(Debug)]
pub(super) struct State {
    drawn: bool,
    at_line_start: bool,
    full_screen: bool,
}

impl Screen {
    /// Draws only if stderr is a terminal and `wanted`.
    pub(crate) fn new(wanted: bool) -> Screen {
        let state = State {
            drawn: false,
            at_line_start: true,
            full_screen: false,
        };
        Screen {
            state: Mutex::new(state),
            terminal: wanted && io::stderr().is_terminal(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line away because `bytes` will be shown; hold the answer while showing them.
    pub(super) fn output(&self, bytes: &[u8]) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.clear();
        state.at_line_start = bytes.last() == Some(&b'\n');
        // A full-screen program owns the terminal until it leaves the alternate screen.
        let find = |what: &[u8]| bytes.windows(what.len()).rposition(|w| w == what);
        match (find(b"\x1b[?1049h"), find(b"\x1b[?1049l")) {
            (Some(on), off) if off.is_none_or(|off| on > off) => state.full_screen = true,
            (_, Some(_)) => state.full_screen = false,
            _ => {}
        }
        state
    }

    /// Draws `parts`, if the terminal is free.
    pub(crate) fn draw(&self, parts: &[String]) {
        if !self.terminal {
            return;
        }
        let mut state = self.lock();
        if !state.at_line_start || state.full_screen {
            return;
        }
        let width = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |s| s.ws_col);
        let short = fitting(parts, usize::from(width));
        let _ = write!(io::stderr().lock(), "\r\x1b[K{short}");
        state.drawn = true;
    }

    /// Takes the line away for good.
    pub(crate) fn end(&self) {
        self.lock().clear();
    }
}

impl State {
    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// Draws the line from the rows of each sample.
pub(super) struct Progress {
    cpu: TableId,
    idle: TableId,
    disk: TableId,
    net: TableId,
    last: f64,
}

/// What the line tells beside the rows.
pub(super) struct Told {
    /// Seconds since the start.
    pub(super) elapsed: f64,
    /// Samples taken.
    pub(super) samples: u64,
    /// Bytes written.
    pub(super) written: u64,
    /// Processor seconds that the recorder took.
    pub(super) own: f64,
    /// Rows lost.
    pub(super) lost: u64,
}

impl Progress {
    /// Nothing drawn yet.
    pub(super) fn new() -> Progress {
        let of = TableId::of;
        Progress {
            cpu: of("cpu"),
            idle: of("cpu_idle"),
            disk: of("disk"),
            net: of("net"),
            last: -PACE,
        }
    }

    /// Draws, if the last drawing is long enough ago.
    pub(super) fn show(&mut self, screen: &Screen, sink: &Sink, told: &Told) {
        if !screen.terminal || told.elapsed < self.last + PACE {
            return;
        }
        self.last = told.elapsed;
        let sum = |table: TableId, columns: &[usize]| -> f64 {
            let values = &sink.rows(table).values;
            columns
                .iter()
                .flat_map(|&c| &values[c])
                .filter(|v| !v.is_nan())
                .sum()
        };
        let rate = |table: TableId, column: usize, layer: &str| -> f64 {
            let rows = sink.rows(table);
            let counted = |i: &usize| sink.words.text(rows.words[1][*i]) == Some(layer);
            (0..rows.len())
                .filter(counted)
                .map(|i| rows.values[column][i] / rows.intervals[i])
                .filter(|v| v.is_finite())
                .sum()
        };
        let busy = sum(self.cpu, &[0]);
        let all = busy + sum(self.idle, &[0, 1, 2]);
        let mut parts = vec![clock_text(told.elapsed)];
        if told.lost > 0 {
            parts.push(format!("LOST {} rows", told.lost));
        }
        if all > 0.0 {
            parts.push(format!("cpu {:.0} %", busy / all * 100.0));
        }
        let disk = rate(self.disk, 1, "disk");
        let net = rate(self.net, 0, "edge");
        let own = told.own / told.elapsed.max(1e-3) * 100.0;
        parts.extend([
            format!("disk {}", amount(disk, Unit::Bytes, true)),
            format!("net {}", amount(net, Unit::Bytes, true)),
            counted(told.samples, "sample"),
            format!("own {own:.1} %"),
            amount(told.written as f64, Unit::Bytes, false),
        ]);
        screen.draw(&parts);
    }
}

/// As many of `parts` as fit into `width` columns with room for the `^C` that a terminal adds
/// at the cursor: a line that wraps could not be taken away.
fn fitting(parts: &[String], width: usize) -> String {
    let most = width.saturating_sub(3);
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { 0 } else { 2 };
        if line.chars().count() + gap + part.chars().count() > most {
            break;
        }
        line.extend([&"  "[..gap], part]);
    }
    line
}

/// `0:07`, `12:34`, `1:02:03`.
pub(crate) fn clock_text(seconds: f64) -> String {
    let whole = seconds as u64;
    let (h, m, s) = (whole / 3600, whole / 60 % 60, whole % 60);
    if h > 0 {
        format!("{h}:{m:02}:{s:02}")
    } else {
        format!("{m}:{s:02}")
    }
}

/// Seconds between two times.
pub(super) fn seconds(from: Nanos, to: Nanos) -> f64 {
    (to - from) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_never_wraps() {
        let parts = ["0:07", "cpu 12 %", "disk 1.00 MiB/s"].map(str::to_owned);
        assert_eq!(fitting(&parts, 80), "0:07  cpu 12 %  disk 1.00 MiB/s");
        assert_eq!(fitting(&parts, 34), "0:07  cpu 12 %  disk 1.00 MiB/s");
        assert_eq!(fitting(&parts, 33), "0:07  cpu 12 %");
        assert_eq!(fitting(&parts, 2), "");
    }
}
