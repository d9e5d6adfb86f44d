//! The line on the terminal that says how an experiment goes.

use std::collections::VecDeque;

use analysis::stats::median;
use run::Nanos;

use crate::clock;
use crate::commands::record::progress::{Screen, clock_text};

/// What is told while trials run.
pub(super) struct Live {
    screen: Screen,
    /// How long the last trials took, in seconds.
    took: VecDeque<f64>,
    began: Nanos,
    /// What runs now: `block 3 of 8, mq-deadline`.
    pub(super) now: String,
    /// Trials that are still to come, this one included.
    pub(super) left: usize,
    /// Current estimates: `mq-deadline 1.04`.
    pub(super) estimates: Vec<String>,
}

/// Trials whose lengths are remembered.
const REMEMBERED: usize = 20;

impl Live {
    /// Draws only if `wanted` and stderr is a terminal.
    pub(super) fn new(wanted: bool) -> Live {
        Live {
            screen: Screen::new(wanted),
            took: VecDeque::new(),
            began: clock::since_boot(),
            now: String::new(),
            left: 0,
            estimates: vec![],
        }
    }

    /// A trial begins.
    pub(super) fn begin(&mut self) {
        self.began = clock::since_boot();
        self.draw();
    }

    /// A trial took so many seconds.
    pub(super) fn took(&mut self, seconds: f64) {
        if self.took.len() == REMEMBERED {
            self.took.pop_front();
        }
        self.took.push_back(seconds);
        self.left = self.left.saturating_sub(1);
    }

    /// Seconds that so many trials will likely take; `None` before the first.
    pub(super) fn estimate(&self, trials: usize) -> Option<f64> {
        let took: Vec<f64> = self.took.iter().copied().collect();
        (!took.is_empty()).then(|| median(&took) * trials as f64)
    }

    /// Draws the line.
    pub(super) fn draw(&self) {
        let mut parts = vec![self.now.clone()];
        if let Some(all) = self.estimate(self.left) {
            let passed = (clock::since_boot() - self.began) as f64 / 1e9;
            parts.push(format!("{} left", clock_text((all - passed).max(0.0))));
        }
        parts.extend(self.estimates.iter().cloned());
        self.screen.draw(&parts);
    }

    /// Takes the line away, for something else to be printed.
    pub(super) fn clear(&self) {
        self.screen.end();
    }
}
