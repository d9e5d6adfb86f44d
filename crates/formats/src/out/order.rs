//! Outputs that stand above one another in one file: a second copy of the first, or the next run of
//! the tool.

use std::collections::BTreeMap;

use run::Nanos;

use super::{GAP, Out, Sample, Since};
use crate::time::{Refused, Stamp};

/// A report that comes after so many intervals, and so many seconds, is the first of another output,
/// or the tool was stopped meanwhile.
const PAUSE: f64 = 2.0 * GAP;
const LONG_PAUSE: f64 = 10.0;

/// Times that outputs above tell of: from when to when, none of which meets another.
///
/// A text whose reports stand newest first begins another output with each.
#[derive(Debug, Default)]
struct Spans(BTreeMap<Nanos, Nanos>);

impl Spans {
    fn add(&mut self, mut from: Nanos, mut to: Nanos) {
        while let Some((&a, &b)) = self.0.range(..=to).next_back()
            && b >= from
        {
            self.0.remove(&a);
            (from, to) = (from.min(a), to.max(b));
        }
        self.0.insert(from, to);
    }

    fn contain(&self, now: Nanos) -> bool {
        let last = self.0.range(..=now).next_back();
        last.is_some_and(|(_, to)| now <= *to)
    }
}

/// What is known of the order of reports.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is said of another report"
)]
pub(super) struct Order {
    /// Since when times went on, and from when to when they did before they went back.
    from: Option<Nanos>,
    /// When the last report ended.
    last: Option<Nanos>,
    above: Spans,
    /// Rows of a report whose header was lost stand above the first that is understood.
    pub(super) begins_within: bool,
    /// The first report was a mean since boot.
    begins_since_boot: bool,
    /// An output above told of the present report's time.
    told: bool,
    /// How many reports a run of the tool prints, as its command line says, and how many of the present
    /// one came.
    runs: Option<u64>,
    printed: u64,
    /// The text gives the present report the time of the one before it.
    again: bool,
    /// The report before was a mean since boot.
    since_boot: bool,
    /// By how much the report before was put later than the text has it, behind one of the same time.
    ahead: Nanos,
    /// Rows of times that an output above tells of, and the line of the first.
    left_out: u64,
    first_line: u64,
}

impl Order {
    /// When the last report ended, or will have ended.
    pub(super) fn last(&self) -> Option<Nanos> {
        self.last
    }

    /// By how much the report before is later than the text has it.
    pub(super) fn ahead(&self) -> Nanos {
        self.ahead
    }

    /// The present report ends at `now`, and the one before it did at `before`: where that is later
    /// another output begins.
    fn goes_on(&mut self, before: Option<Nanos>, now: Nanos) {
        if let Some(before) = before.filter(|before| now < *before) {
            let from = self.from.unwrap_or(before);
            self.above.add(from, before);
            self.from = Some(now);
        }
        self.from.get_or_insert(now);
        self.told = self.above.contain(now);
    }

    /// Whether the present report is told twice, which is over then.
    pub(super) fn is_told(&mut self) -> bool {
        std::mem::take(&mut self.told)
    }
}

impl Out {
    /// As [`Out::sample_told`], of a report that is whole and later than the one before it in the
    /// same output. Where times go back another output begins: what it tells of a time that one
    /// above told of is left out, for together they would be twice as much.
    pub fn sample_once(&mut self, stamp: Option<Stamp>) {
        self.sample_told(stamp);
        let Some(now) = self.sample.and_then(|s| self.ends(&s)) else {
            return;
        };
        let before = self.order.last.replace(now);
        let is_again = before == Some(now)
            || self.order.ahead > 0 && before.is_some_and(|b| b <= now) && self.before >= Some(now);
        let is_stamped = self.sample.is_some_and(|s| s.stamp.is_some());
        self.order.again = is_again && is_stamped && !self.order.since_boot;
        self.order.goes_on(before, now);
    }

    /// Of a report that has the time of the one before it, as times in whole seconds are where the tool
    /// prints more often, or a moment early: it comes an interval later. Together the levels of both would
    /// be twice as high.
    pub(super) fn part(&mut self, sample: &mut Sample) {
        self.order.since_boot = sample.since_boot;
        // Of one whose length is told nothing is to be known.
        let is_again = std::mem::take(&mut self.order.again);
        let is_again = is_again && !sample.since_boot && sample.spans.is_none();
        let (Some(stamp), true) = (sample.stamp, is_again) else {
            self.order.ahead = 0;
            return;
        };
        let (Some(every), Some(before)) = (self.options.every.or(self.stated), self.before) else {
            self.refuse(Refused(
                "several reports have the same time: how far apart they are is not known\n\
                 hint: say it, as --every 500ms"
                    .into(),
            ));
            return;
        };
        let now = before.saturating_add((every * 1e9).round() as Nanos);
        self.order.ahead = now.saturating_sub(stamp);
        sample.stamp = Some(now);
        self.note(
            "a report that has the time of the one before it is put an interval later: its times are in \
             whole seconds",
        );
    }

    /// The present sample, whose rows may have come already, ends then: as in [`Out::sample_once`].
    pub(super) fn turns_out_at(&mut self, now: Nanos) {
        self.order.last = Some(now);
        self.order.goes_on(self.before, now);
        let rows = std::mem::take(&mut self.own_rows);
        if self.held.is_empty() && self.leaves_out(rows as u64) {
            self.forget_rows();
        } else {
            self.own_rows = rows;
        }
    }

    /// When the sample ends, if its time is one that the text told, or so many intervals after that.
    fn ends(&self, sample: &Sample) -> Option<Nanos> {
        let counted = || {
            let before = self.before.filter(|_| self.since == Since::Time)?;
            let interval = self.stated.or(self.options.every)?;
            Some(before.saturating_add((interval * 1e9).round() as Nanos))
        };
        let own = sample.stamp.or_else(|| self.logged_of(sample));
        own.or_else(counted)
    }

    /// The same at `stamp`, unless the present sample is of that time.
    pub fn sample_once_or_same(&mut self, stamp: Stamp) {
        match self.clock.moment(stamp, &self.options) {
            Ok(moment) if self.sample.is_some_and(|s| s.stamp == Some(moment)) => {}
            Ok(moment) => self.sample_once(Some(Stamp::Epoch(moment))),
            Err(why) => self.refuse(why),
        }
    }

    /// A command line came of which each run prints so many reports; `None`: it goes on. There may be several
    /// runs of it below, in a loop, of which each begins with a mean since boot.
    pub(crate) fn runs(&mut self, reports: Option<u64>) {
        (self.order.runs, self.order.printed) = (reports, 0);
    }

    /// The same of a tool whose first report is a mean since boot. That of another output is one,
    /// too; where nothing else shows that it is another, a long pause does.
    pub fn sample_since_boot_first(&mut self, stamp: Option<Stamp>) {
        if self.ended == 0 && self.sample.is_some_and(|s| s.since_boot) {
            self.order.begins_since_boot = true;
        }
        let before = self.order.last;
        self.sample_once(stamp);
        if self
            .order
            .runs
            .is_some_and(|runs| self.order.printed == runs)
        {
            self.order.printed = 0;
            self.since_boot();
            self.note(
                "there are more reports than the command line above them prints: it was run again, and \
                 the first report of each run is a mean since boot",
            );
        }
        self.order.printed += 1;
        let now = self.sample.and_then(|s| s.stamp);
        let (Some(now), Some(before), true) = (now, before, self.order.begins_since_boot) else {
            return;
        };
        let passed = now.saturating_sub(before) as f64 / 1e9;
        let usual = self.stated.or(self.options.every).or(self.shortest);
        let paused = usual.is_some_and(|usual| passed > PAUSE * usual && passed >= LONG_PAUSE);
        if paused || now < before {
            self.since_boot();
            self.note(
                "after a pause, or where its times go back, a report is taken for a mean since \
                 boot: the tool was started anew, as it seems",
            );
        }
    }

    /// Whether the present rows are told by an output above. They are counted.
    pub(super) fn leaves_out(&mut self, rows: u64) -> bool {
        let told = self.order.told;
        if told {
            if self.order.left_out == 0 {
                self.order.first_line = self.line;
            }
            self.order.left_out += rows;
        }
        told
    }

    pub(super) fn note_left_out(&mut self) {
        let Order {
            left_out,
            first_line,
            ..
        } = self.order;
        if left_out > 0 {
            self.note(&format!(
                "{left_out} number{} from line {first_line} on left out: an output above in the \
                 file tells of the same time",
                if left_out == 1 { "" } else { "s" },
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spans;

    #[test]
    fn spans_that_meet_are_one() {
        let mut spans = Spans::default();
        for (from, to) in [(10, 20), (40, 50), (60, 60), (15, 45)] {
            spans.add(from, to);
        }
        assert_eq!(Vec::from_iter(&spans.0), [(&10, &50), (&60, &60)]);
        let inside: Vec<i64> = (0..70).step_by(5).filter(|t| spans.contain(*t)).collect();
        assert_eq!(inside, [10, 15, 20, 25, 30, 35, 40, 45, 50, 60]);
    }
}
