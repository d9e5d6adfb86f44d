//! Samples: when one begins, and how long its interval is.

use run::Nanos;

use super::rounded::Rounded;
use super::{BACK, Out, Sample, Since, Start};
use crate::time::Stamp;

impl Out {
    /// A sample begins, of which the text does not tell the time.
    pub fn sample(&mut self) {
        self.begin(None, 0);
    }

    /// A sample begins that was taken at `stamp`, the end of its interval.
    pub fn sample_at(&mut self, stamp: Stamp) {
        // Connections that run side by side do not end at once, and no clock goes back in that.
        const SIDE_BY_SIDE: Nanos = 1_000_000_000;
        let elapsed = matches!(stamp, Stamp::Elapsed(_));
        self.sample_within(stamp, if elapsed { SIDE_BY_SIDE } else { 0 });
    }

    /// The same of a part of a run, beside which others ran: it may have ended before the one above it.
    pub(crate) fn sample_beside(&mut self, end: Stamp) {
        self.sample_within(end, Nanos::MAX);
    }

    /// The same, which may be so much earlier than the one above it.
    fn sample_within(&mut self, stamp: Stamp, slack: Nanos) {
        let elapsed = matches!(stamp, Stamp::Elapsed(_));
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) => {
                self.begin(Some(moment), slack);
                if elapsed {
                    // Both are counted from the start.
                    self.since = Since::Time;
                } else {
                    self.dates.needless = true;
                }
            }
            Err(why) => self.refuse(why),
        }
    }

    /// A sample begins, of which the text may tell the time.
    pub fn sample_told(&mut self, stamp: Option<Stamp>) {
        match stamp {
            Some(stamp) => self.sample_at(stamp),
            None => self.sample(),
        }
    }

    /// A sample begins at `stamp`, unless the present one is of that time.
    pub fn sample_at_or_same(&mut self, stamp: Stamp) {
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) if self.sample.is_some_and(|s| s.stamp == Some(moment)) => {}
            Ok(moment) => self.begin(Some(moment), 0),
            Err(why) => self.refuse(why),
        }
    }

    /// Whether rows of a report whose header was lost stand above the first line that is understood.
    pub(crate) fn begins_within(&mut self, is_so: bool) {
        self.order.begins_within = is_so;
    }

    /// The present sample is a mean since the machine was started; the first is none where rows of
    /// another stand above it.
    pub fn since_boot(&mut self) {
        if self.order.begins_within && self.samples() == 1 {
            self.note(
                "the text begins within a report: the first whole one is of an interval, and no mean \
                 since boot",
            );
            return;
        }
        if let Some(sample) = &mut self.sample {
            sample.since_boot = true;
        }
    }

    /// Where the interval of the present sample starts.
    pub(crate) fn starts(&mut self, start: Start) {
        if let Some(sample) = &mut self.sample {
            sample.start = start;
        }
    }

    /// The present sample, of which nothing told the time so far, was taken then.
    pub(crate) fn sample_is_at(&mut self, stamp: Stamp) {
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) => {
                if let Some(sample) = &mut self.sample {
                    sample.stamp = Some(moment);
                }
                self.turns_out_at(moment);
                self.clock.stamped = true;
                self.dates.needless = true;
            }
            Err(why) => self.refuse(why),
        }
    }

    /// When the present sample was taken, as the text tells.
    pub(crate) fn sample_time(&self) -> Option<Nanos> {
        self.sample?.stamp
    }

    /// Length of the present sample's interval, in seconds, where the text tells.
    pub fn spans(&mut self, seconds: f64) {
        if let Some(sample) = &mut self.sample
            && seconds > 0.0
        {
            sample.spans = Some(seconds);
        }
    }

    /// Length of the present sample's interval by two times in whole seconds, of a tool that
    /// is never early: it may be a second shorter. What the text says, the user, the interval
    /// after it or else the one `before` it, of another output, tells which.
    pub(crate) fn spans_rounded(&mut self, seconds: f64, before: Option<f64>) {
        if let Some(sample) = &mut self.sample {
            let most = seconds;
            sample.rounded = Some(Rounded { most, before });
        }
    }

    /// Nothing in the present sample is an amount: if it stays the only one, it needs no length.
    pub fn only_levels(&mut self) {
        self.only_levels = true;
    }

    /// What the text said of the samples to come holds now.
    pub(super) fn state_next(&mut self) {
        self.stated = self.next_stated.take().or(self.stated);
    }

    /// Amounts are what counters grew by: an interval is all the time since the sample before,
    /// however long that is.
    pub fn counts(&mut self) {
        self.counts = true;
    }

    /// Whether there is a present sample.
    pub fn has_sample(&self) -> bool {
        self.sample.is_some()
    }

    /// Whether the present sample is since boot.
    pub fn is_since_boot(&self) -> bool {
        self.sample.is_some_and(|s| s.since_boot)
    }

    /// Samples so far, the present one included.
    pub fn samples(&self) -> u64 {
        self.ended + self.since_boot_samples + u64::from(self.sample.is_some())
    }

    /// A sample begins; times that go back by more than `slack` are noted.
    pub(super) fn begin(&mut self, stamp: Option<Nanos>, slack: Nanos) {
        self.finish_sample();
        self.state_next();
        if let (Some(now), Some(before)) = (stamp, self.before)
            && now < before.saturating_sub(slack.max(self.order.ahead()))
        {
            self.note(BACK);
        }
        self.clock.stamped |= stamp.is_some();
        // Not one that is counted from the start.
        self.dates.needless |= stamp.is_some() && slack == 0;
        self.between = None;
        self.dates.among |= std::mem::take(&mut self.dates.waits);
        let logged = match (stamp, self.logged) {
            (None, Some(logged)) => self.clock.moment(logged, &self.options).ok(),
            _ => None,
        };
        self.sample = Some(Sample {
            stamp,
            start: Start::Above,
            since_boot: false,
            spans: None,
            rounded: None,
            broken: self.before.is_none() && self.held.is_empty(),
            missing: std::mem::take(&mut self.missing),
            lost: false,
            logged,
            came: self.came.filter(|_| stamp.is_none()),
        });
        self.own_rows = 0;
    }
}
