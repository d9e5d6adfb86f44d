//! Dates that a script printed above what a tool did: when it starts, and when another run of it does.

use run::Nanos;

use super::{BACK, Out};
use crate::time::{Stamp, Start};

/// Dates of a script's on lines of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dates {
    of: Option<Beginning>,
    /// One stands on a line of its own, and no sample began since.
    pub(super) waits: bool,
    /// One was of no use.
    pub(super) among: bool,
    /// A sample has a time of its own.
    pub(super) needless: bool,
}

/// What begins at a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning {
    /// The first sample.
    First,
    /// Each run.
    Runs,
}

impl Out {
    /// A date stands on a line of its own, which says nothing to the tool's parser: above all that the
    /// tool printed (`is_first`) it says when that starts, unless the user does. Others are known for
    /// what they are where there was such a one; whether it is known.
    pub(crate) fn date_line(&mut self, stamp: Stamp, is_first: bool) -> bool {
        if matches!(stamp, Stamp::Clock(_) | Stamp::Elapsed(_)) {
            return false;
        }
        match self.clock.start {
            Start::User if !is_first => return false,
            Start::User => {
                self.date_above(stamp);
                if self.clock.start == Start::Text {
                    self.dates.of = Some(Beginning::First);
                }
            }
            Start::Text => {
                self.date_between(stamp);
                self.dates.waits = true;
            }
            Start::Overruled => {}
        }
        true
    }

    /// Whether a date on a line of its own may be when a run begins: one above all says when the first
    /// did.
    pub(crate) fn may_begin_at(&self, stamp: Stamp) -> bool {
        let is_whole = !matches!(stamp, Stamp::Clock(_) | Stamp::Elapsed(_));
        is_whole && self.clock.start == Start::Text
    }

    /// What follows is of another run, which begins at that date.
    pub(crate) fn run_begins(&mut self, stamp: Stamp) -> bool {
        /// A date tells no parts of a second.
        const WHOLE: Nanos = 1_000_000_000;
        let Ok(mut moment) = self.clock.moment(stamp, &self.options) else {
            return false;
        };
        self.finish_sample();
        if !self.held.is_empty() {
            return false;
        }
        if let Some(before) = self.before.take().filter(|before| moment < *before) {
            if before.saturating_sub(moment) < WHOLE {
                moment = before;
            } else {
                self.note(BACK);
            }
        }
        self.options.start = Some(moment);
        (self.ended_at, self.between) = (None, None);
        self.dates.waits = false;
        (self.stated, self.next_stated) = (None, None);
        self.dates.of = Some(Beginning::Runs);
        true
    }

    /// A date stands on a line of its own among what the tool printed: if the tool is started anew below
    /// it, that is when.
    pub(crate) fn date_between(&mut self, stamp: Stamp) {
        if !matches!(stamp, Stamp::Clock(_) | Stamp::Elapsed(_)) {
            self.between = self.clock.moment(stamp, &self.options).ok();
        }
    }

    /// A tool was started anew below a date.
    pub(super) fn date_is_used(&mut self) {
        if std::mem::take(&mut self.dates.waits) {
            self.dates.of = Some(Beginning::Runs);
        }
    }

    /// A date stands above what the tool printed: it starts then, unless it or the user says otherwise.
    pub(crate) fn date_above(&mut self, stamp: Stamp) {
        let whole = !matches!(stamp, Stamp::Clock(_) | Stamp::Elapsed(_));
        if !whole || self.samples() > 0 || self.clock.start != Start::User {
            return;
        }
        if self.options.start.is_some() {
            self.clock.start = Start::Overruled;
            return;
        }
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) => self.options.start = Some(moment),
            Err(why) => self.refuse(why),
        }
        self.clock.start = Start::Text;
    }

    /// What became of a script's dates, where they tell what the text does not.
    pub(super) fn note_dates(&mut self) {
        if self.dates.needless {
            return;
        }
        match self.dates.of {
            Some(Beginning::First) => self.note("it is taken to start at the date above it"),
            Some(Beginning::Runs) => self.note("each run is taken to start at the date above it"),
            None => {}
        }
        if self.dates.among {
            self.note(
                "dates among its results are not used: what follows one is taken to begin where \
                 what is above it ends",
            );
        }
    }
}
