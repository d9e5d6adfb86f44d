//! Phases: a warm-up of a length that was asked for, and those that `sonde mark` names.

use run::Nanos;
use run::manifest::Phase;

use super::Recording;
use crate::commands::record::marks::Marks;
use crate::commands::record::{STEADY, WARM_UP};

impl Recording {
    /// With `--warmup` the run begins in a phase of that name.
    pub(super) fn begin_warmup(&mut self) {
        let Some(length) = self.wanted.warmup else {
            return;
        };
        self.phase(WARM_UP, self.manifest.started);
        self.warm_at = Some(self.manifest.started + (length * 1e9) as Nanos);
    }

    /// When the warm-up ends; never, if there is none.
    pub(super) fn warm_at(&self) -> Nanos {
        self.warm_at.unwrap_or(Nanos::MAX)
    }

    /// Ends the warm-up if it is time, with a sample at its moment.
    pub(super) fn end_warmup(&mut self, now: Nanos) {
        if now < self.warm_at() {
            return;
        }
        self.warm_at = None;
        self.sample(now, true);
        self.phase(STEADY, now);
        self.writer.update(&self.manifest);
    }

    fn phase(&mut self, name: &str, from: Nanos) {
        self.manifest.phases.push(Phase {
            name: name.to_owned(),
            from,
        });
    }

    /// Starts the phases that were asked for, each with a sample at its moment.
    pub(super) fn new_phases(&mut self) {
        let mut requests = Vec::new();
        while let Some(request) = self.marks.as_ref().and_then(Marks::accept) {
            requests.push(request);
        }
        for request in requests {
            let now = self.clock.now();
            self.sample(now, true);
            self.phase(&request.name, now);
            self.writer.update(&self.manifest);
            request.done();
        }
    }
}
