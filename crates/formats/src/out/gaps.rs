//! Where a text stops telling: rows that are not understood, restarts.

use run::Nanos;

use super::{Out, Since};

impl Out {
    /// The row of the present sample is not understood: the sample keeps its place, so that those
    /// after it are not moved, and is empty unless other rows come.
    pub fn gap(&mut self) {
        self.note(
            "rows that are not understood leave gaps: their samples keep their places, and those \
             after them are not moved",
        );
        if let Some(sample) = &mut self.sample {
            sample.lost = true;
        }
    }

    /// A row that is a sample of its own is not understood, nor its time if it has one.
    pub fn lost(&mut self) {
        let timed = self
            .sample
            .map_or(self.clock.stamped, |s| s.stamp.is_some());
        if timed {
            self.finish_sample();
            self.missing = self.missing.saturating_add(1);
        } else {
            self.begin(None, 0);
        }
        self.gap();
    }

    /// The tool or the machine was started anew: the next sample has none before it.
    pub fn broken(&mut self) {
        self.finish_sample();
        let [(sample, _)] = &self.held[..] else {
            return self.start_anew();
        };
        if sample.came.is_some() {
            return self.start_anew();
        }
        self.missing = 0;
        if sample.rounded.is_some() {
            return self.start_anew();
        }
        if self.stated.or(self.options.every).is_none() {
            self.note(
                "a sample just before a restart is left out: the text does not tell how long its \
                 interval is, and --every would",
            );
            self.forget_rows();
        }
        self.start_anew();
    }

    fn start_anew(&mut self) {
        self.logged_at = None;
        self.settle(None);
        self.arrivals.begin_anew();
        self.ended_at = self.before.take().or(self.ended_at);
        let later = |at: &Nanos| self.ended_at.is_none_or(|ended| ended < *at);
        if let Some(at) = self.between.take().filter(later) {
            self.ended_at = Some(at);
            self.since = Since::Time;
            self.date_is_used();
        }
        self.state_next();
    }
}
