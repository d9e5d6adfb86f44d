//! Times and true intervals of samples, and amounts of rates.

use std::collections::VecDeque;

use run::rows::TableId;
use run::{Nanos, Sink};

use super::{BACK, GAP, MOST_HELD, Out, OwnRows, Sample, Since, Start, catalog_tables};
use crate::time::Refused;

/// Reports that were written less apart, in nanoseconds, waited in a pipe.
const TOGETHER: u64 = 1_000_000;

impl Out {
    /// The present sample is whole.
    pub(super) fn finish_sample(&mut self) {
        let Some(mut sample) = self.sample.take() else {
            return;
        };
        self.listed.next();
        self.tell_logged(&mut sample);
        if self.order.is_told() {
            self.before = sample.stamp.or(self.order.last());
            self.since = Since::Time;
            return;
        }
        self.part(&mut sample);
        sample.lost &= self.own_rows == 0;
        if sample.since_boot && !sample.lost {
            self.since_boot_samples += 1;
        }
        if let Some(came) = sample.came.filter(|_| self.is_of_arrival(&sample)) {
            self.arrive(sample, came);
            return;
        }
        if self.awaits_arrivals() {
            self.forget_arrivals();
        }
        let interval = self.interval_of(&sample);
        // A report since boot tells nothing of the length of those that wait.
        match interval.filter(|_| !sample.since_boot || self.held.is_empty()) {
            Some(interval) => {
                // Those before had to wait for it.
                self.settle(Some(interval));
                self.place(&sample, interval, None);
                self.hand_out();
            }
            None => {
                if let Some(stamp) = sample.stamp {
                    self.before = Some(stamp);
                    self.since = Since::Time;
                }
                self.hold_back(sample);
            }
        }
    }

    /// The sample waits with its rows.
    pub(super) fn hold_back(&mut self, sample: Sample) {
        let waiting = catalog_tables().zip(&mut self.held_rows);
        let own = |(table, before): (TableId, &mut usize)| {
            let all = self.now.rows(table).len();
            let own = all - *before;
            *before = all;
            (table, own)
        };
        let rows = waiting.map(own).filter(|(_, own)| *own > 0).collect();
        self.held.push((sample, rows));
        if self.held.len() >= MOST_HELD {
            self.settle(None);
        }
    }

    /// The time of its line in a log, if that is the sample's: it has none of its own. Where the
    /// interval is told the first one's counts alone: what waits in a pipe is logged late.
    pub(super) fn logged_of(&self, sample: &Sample) -> Option<Nanos> {
        let own = sample.stamp.is_some() || sample.spans.is_some();
        let told = self.options.every.or(self.stated).is_some();
        let is_later = told && self.logged_at.is_some();
        sample.logged.filter(|_| !own && !is_later)
    }

    /// Gives a sample that has no time of its own that of its line in a log.
    fn tell_logged(&mut self, sample: &mut Sample) {
        let Some(moment) = self.logged_of(sample) else {
            return;
        };
        let apart = self.logged_at.map(|at| moment.abs_diff(at));
        if apart.is_some_and(|apart| apart < TOGETHER) {
            self.refuse(Refused(
                "several reports have the same time in the log: they were written together, so \
                 their times are not known\nhint: say how far apart they are, as --every 1s"
                    .into(),
            ));
            return;
        }
        if self.before.is_some_and(|before| moment < before) {
            self.note(BACK);
        }
        self.logged_at = Some(moment);
        self.clock.stamped = true;
        sample.stamp = Some(moment);
    }

    pub(super) fn interval_of(&self, sample: &Sample) -> Option<f64> {
        if sample.since_boot {
            // Of no length; where it stands says when it was printed.
            return Some(0.0);
        }
        if sample.spans.is_some() {
            return sample.spans;
        }
        if let Some(rounded) = sample.rounded {
            let told = [self.stated, self.options.every];
            return told.into_iter().flatten().find(|t| rounded.may_be(*t));
        }
        let before = match sample.start {
            Start::Above => self.before,
            Start::At(at) => Some(at),
            Start::Unknown => None,
        };
        let passed = match (sample.stamp, before) {
            (Some(now), Some(before))
                if !sample.broken && self.since == Since::Time && now > before =>
            {
                // Those that were lost on the way had their share of the time, and those whose time was.
                let missing = if self.counts { 0 } else { sample.missing };
                let parts = f64::from(missing + 1) + self.untold() as f64;
                Some(now.saturating_sub(before) as f64 / 1e9 / parts)
            }
            _ => None,
        };
        // A pause is told from an interval by what the text says of it, or the user where the
        // stamps agree.
        let agrees = |every: &f64| self.shortest.is_some_and(|least| least <= GAP * every);
        let usual = self.stated.or(self.options.every.filter(agrees));
        match (passed, usual) {
            (Some(passed), Some(usual)) if passed > GAP * usual && !self.counts => Some(usual),
            (Some(passed), _) => Some(passed),
            // The stamp of the one after it tells.
            (None, _) if sample.stamp.is_some() => self.stated,
            (None, _) => self.stated.or(self.options.every),
        }
    }

    /// How many samples wait that came since the last time and have none.
    fn untold(&self) -> usize {
        let is_untold = |s: &Sample| s.stamp.is_none() && !s.since_boot && s.spans.is_none();
        let last = self.held.iter().rev();
        let untold = last.take_while(|(sample, _)| is_untold(sample)).count();
        // Before the first time they have a place of their own.
        if untold == self.held.len() && self.held.first().is_some_and(|(s, _)| s.broken) {
            return 0;
        }
        untold
    }

    /// Gives the samples that wait their interval: that of the one after them.
    pub(super) fn settle(&mut self, interval: Option<f64>) {
        if self.awaits_arrivals() && self.settle_arrivals() {
            return;
        }
        if self.held.is_empty() {
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        self.held_rows.fill(0);
        let moment = (self.only_levels && held.len() == 1 && self.ended == 0).then_some(1.0);
        let known = interval.or(self.stated).or(self.options.every);
        let known = known.or(moment);
        if known.is_none() && is_of_moments(&held) {
            return self.place_between(held);
        }
        let tells_nothing = |sample: &Sample| sample.rounded.is_none();
        if known.is_none() && held.iter().any(|(sample, _)| tells_nothing(sample)) {
            let back = if self.notes.contains(BACK) {
                "its times go back, and what comes after that has no other to tell its interval: "
            } else {
                ""
            };
            self.refuse(Refused(format!(
                "{back}the text does not tell how long an interval is\n\
                 hint: say it, as --every 1s"
            )));
            self.forget_rows();
            return;
        }
        if let Some(length) = known {
            self.tell_first(&mut held, length);
        }
        for (sample, rows) in held {
            let length = match sample.rounded {
                _ if sample.since_boot => 0.0,
                Some(rounded) => self.length_of_rounded(rounded, interval),
                None => known.unwrap_or_default(),
            };
            self.place(&sample, length, Some(&rows));
        }
        self.hand_out();
    }

    /// Reports whose time was lost, as the first line of a file, stand before the first that tells one.
    fn tell_first(&mut self, held: &mut [(Sample, OwnRows)], length: f64) {
        let Some(first) = held.iter().position(|(s, _)| s.stamp.is_some()) else {
            return;
        };
        let (untold, told) = held.split_at_mut(first);
        let Some(at) = told[0].0.stamp.filter(|_| !untold.is_empty()) else {
            return;
        };
        // Behind what was placed already they are counted from that.
        let is_first = untold[0].0.broken && self.ended_at.is_none();
        if !is_first || untold.iter().any(|(s, _)| s.spans.is_some()) {
            return;
        }
        self.note("the first report has no time, and those below it do: it is put an interval before them");
        for (back, (sample, _)) in (1..).zip(untold.iter_mut().rev()) {
            let length = (length * f64::from(back) * 1e9).round() as Nanos;
            sample.stamp = Some(at.saturating_sub(length));
        }
    }

    /// Places samples of which none tells its interval: each is of the time since the one above it,
    /// the first as long as the next.
    fn place_between(&mut self, held: Vec<(Sample, OwnRows)>) {
        let stamps: Vec<Nanos> = held.iter().filter_map(|(s, _)| s.stamp).collect();
        for (at, (sample, rows)) in held.into_iter().enumerate() {
            let at = at.max(1);
            let length = if sample.since_boot {
                0.0
            } else {
                stamps[at].saturating_sub(stamps[at - 1]) as f64 / 1e9
            };
            self.place(&sample, length, Some(&rows));
        }
        self.hand_out();
    }

    /// What the stamps say of the interval, beside what the user says.
    pub(super) fn look_at(&mut self, interval: f64) {
        self.shortest = Some(self.shortest.map_or(interval, |least| least.min(interval)));
        let other = |every: f64| interval > GAP * every || interval * GAP < every;
        if self.options.every.is_some_and(other) {
            self.note("its time stamps are not as far apart as --every says: the stamps count");
        }
    }

    /// What the text says of the interval, beside what the user says.
    pub(super) fn compare(&mut self, stated: f64) {
        /// More lengths than that are not told one by one.
        const TOLD: usize = 4;
        let Some(every) = self.options.every else {
            return;
        };
        if (stated - every).abs() > 0.01 * every
            && self.overruled.len() < TOLD
            && !self.overruled.contains(&stated)
        {
            self.overruled.push(stated);
            self.note(&format!(
                "its text says that an interval is {stated} s where --every says {every} s: the \
                 text counts there"
            ));
        }
    }

    /// When it ended, where its interval is that long.
    pub(super) fn end_of(&self, sample: &Sample, interval: f64) -> Nanos {
        if let Some(stamp) = sample.stamp {
            return stamp;
        }
        let passed = match (sample.since_boot, sample.broken) {
            // The first report is printed at once; one that comes later, because devices came or
            // went, after an interval.
            (true, true) => 0.0,
            (true, false) => self.stated.or(self.options.every).unwrap_or(0.0),
            (false, _) => interval,
        };
        // What was started anew comes after what was before it.
        let before = self.before.or(self.ended_at).or(self.options.start);
        let before = before.unwrap_or(0);
        // Two reports since boot in one place would be added up.
        let passed = match passed {
            0.0 if sample.since_boot && self.since_boot_at == Some(before) => self.length_kept(0.0),
            _ => passed,
        };
        before.saturating_add((passed * 1e9).round() as Nanos)
    }

    /// The length of rows of such an interval: a report since boot has none, and a row has to.
    fn length_kept(&self, interval: f64) -> f64 {
        match interval {
            0.0 => self.stated.or(self.options.every).unwrap_or(1.0),
            _ => interval,
        }
    }

    /// Gives the rows of a sample their times and makes amounts of its rates: of so many as `rows` says
    /// that come next, or of all. They are to be handed out then: those of many samples at once, for
    /// each time all that wait behind them are moved.
    pub(super) fn place(
        &mut self,
        sample: &Sample,
        interval: f64,
        rows: Option<&[(TableId, usize)]>,
    ) {
        let length = (interval * 1e9).round() as Nanos;
        let end = self.end_of(sample, interval);
        self.since = match sample.stamp {
            None if self.before.or(self.ended_at).is_some() => self.since,
            None => Since::Start,
            Some(_) => Since::Time,
        };
        if sample.stamp.is_none() {
            // What follows a time of the text is tied to that.
            if self.since == Since::Start {
                self.clock.starts(&self.options);
            }
        } else if !sample.since_boot && sample.spans.is_none() {
            self.look_at(interval);
        }
        self.before = Some(end);
        self.extend(end.saturating_sub(length), end);
        if !sample.since_boot && !sample.lost {
            self.ended += 1;
        }
        if sample.since_boot {
            self.since_boot_at = Some(end);
        }
        for at in 0..self.filled.len() {
            let table = self.filled[at];
            let own = |rows: &[(TableId, usize)]| {
                let found = rows.iter().find(|(of, _)| *of == table);
                found.map_or(0, |(_, count)| *count)
            };
            let rows = rows.map(own);
            self.place_rows(table, rows, end, interval);
        }
    }

    /// The same of one table, whose sample ended then.
    fn place_rows(&mut self, table: TableId, rows: Option<usize>, end: Nanos, interval: f64) {
        let kept = self.length_kept(interval);
        let at = usize::from(table.0);
        let first = self.placed[at];
        let from = self.now.rows_mut(table);
        let last = rows.map_or(from.times.len(), |count| first + count);
        if first == last {
            return;
        }
        self.placed[at] = last;
        from.times[first..last].fill(end);
        from.intervals[first..last].fill(kept);
        let amounts = &mut self.amounts[at];
        let count = amounts.partition_point(|row| *row < last);
        if count < last - first {
            let columns = from.values.iter_mut().zip(&self.sums[at]);
            for (column, _) in columns.filter(|(_, sum)| **sum) {
                let mut whole = amounts.iter().take(count).peekable();
                for (row, value) in column.iter_mut().enumerate().take(last).skip(first) {
                    if whole.next_if(|w| **w == row).is_none() {
                        *value *= interval;
                    }
                }
            }
        }
        if table == self.other && interval > 0.0 {
            // What a counter grew by is kept per second.
            for row in amounts.iter().take(count) {
                from.values[0][*row] /= interval;
            }
        }
        amounts.drain(..count);
    }

    /// Hands out the rows whose times are known.
    pub(super) fn hand_out(&mut self) {
        let (now, amounts, done) = (&mut self.now, &mut self.amounts, &mut self.done);
        self.filled.retain(|table| {
            let at = usize::from(table.0);
            let count = std::mem::take(&mut self.placed[at]);
            move_rows(*table, count, now, &mut amounts[at], done)
        });
    }

    /// Drops the first rows of each table, so many, of those whose times are not known.
    pub(super) fn drop_rows(&mut self, counts: &[usize]) {
        self.hand_out();
        let (now, amounts) = (&mut self.now, &mut self.amounts);
        let mut gone = Sink::new();
        self.filled.retain(|table| {
            let at = usize::from(table.0);
            move_rows(*table, counts[at], now, &mut amounts[at], &mut gone)
        });
    }

    /// What waits is of no known time, and goes.
    pub(super) fn forget_rows(&mut self) {
        self.held.clear();
        self.held_rows.fill(0);
        self.now.clear();
        self.filled.clear();
        self.placed.fill(0);
        self.amounts.iter_mut().for_each(VecDeque::clear);
    }

    pub(super) fn extend(&mut self, from: Nanos, to: Nanos) {
        let (a, b) = self.span.unwrap_or((from, to));
        self.span = Some((a.min(from), b.max(to)));
    }
}

/// Whether they are samples of which nothing tells where they start, one after the other.
fn is_of_moments(held: &[(Sample, OwnRows)]) -> bool {
    held.len() > 1
        && held[1..].iter().all(|(s, _)| s.start == Start::Unknown)
        && held.is_sorted_by(|(a, _), (b, _)| a.stamp.is_some() && a.stamp < b.stamp)
}

/// Moves the first rows of a table, some of which are amounts. Whether others are left.
fn move_rows(
    table: TableId,
    count: usize,
    now: &mut Sink,
    amounts: &mut VecDeque<usize>,
    to: &mut Sink,
) -> bool {
    to.take_rows(now, table, count);
    amounts.drain(..amounts.partition_point(|row| *row < count));
    amounts.iter_mut().for_each(|row| *row -= count);
    !now.rows(table).is_empty()
}
