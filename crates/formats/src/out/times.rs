//! Times and true intervals of samples, and amounts of rates.

use run::Nanos;
use run::rows::TableId;

use super::{BACK, GAP, MOST_HELD, Out, Sample, catalog_tables};
use crate::time::Refused;

/// Reports that were written less apart, in nanoseconds, waited in a pipe.
const TOGETHER: u64 = 1_000_000;

impl Out {
    /// The present sample is whole.
    pub(super) fn finish_sample(&mut self) {
        let Some(mut sample) = self.sample.take() else {
            return;
        };
        self.tell_logged(&mut sample);
        if self.order.is_told() {
            self.before = sample.stamp;
            return;
        }
        sample.lost &= self.own_rows == 0;
        if sample.since_boot && !sample.lost {
            self.since_boot_samples += 1;
        }
        let interval = self.interval_of(&sample);
        // A report since boot tells nothing of the length of those that wait.
        match interval.filter(|_| !sample.since_boot || self.held.is_empty()) {
            Some(interval) => {
                // Those before had to wait for it.
                self.settle(Some(interval));
                self.place(&sample, interval, &[]);
            }
            None => {
                let waiting = catalog_tables().zip(&mut self.held_rows);
                let own = |(table, before): (TableId, &mut usize)| {
                    let all = self.now.rows(table).len();
                    let own = all - *before;
                    *before = all;
                    own
                };
                let rows = waiting.map(own).collect();
                if let Some(stamp) = sample.stamp {
                    self.before = Some(stamp);
                }
                self.held.push((sample, rows));
                if self.held.len() >= MOST_HELD {
                    self.settle(None);
                }
            }
        }
    }

    /// Gives a sample that has no time of its own that of its line in a log. Where the interval is
    /// told the first one's counts alone: what waits in a pipe is logged late.
    fn tell_logged(&mut self, sample: &mut Sample) {
        let own = sample.stamp.is_some() || sample.spans.is_some();
        let Some(moment) = sample.logged.filter(|_| !own) else {
            return;
        };
        let told = self.options.every.or(self.stated).is_some();
        if told && self.logged_at.is_some() {
            return;
        }
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
        let passed = match (sample.stamp, self.before) {
            (Some(now), Some(before)) if !sample.broken && now > before => {
                // Those that were lost on the way had their share of the time.
                let parts = if self.counts { 1 } else { sample.missing + 1 };
                Some(now.saturating_sub(before) as f64 / 1e9 / f64::from(parts))
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

    /// Gives the samples that wait their interval: that of the one after them.
    pub(super) fn settle(&mut self, interval: Option<f64>) {
        if self.held.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.held_rows.fill(0);
        let moment = (self.only_levels && held.len() == 1 && self.ended == 0).then_some(1.0);
        let known = interval.or(self.stated).or(self.options.every);
        let Some(interval) = known.or(moment) else {
            let back = if self.notes.contains(BACK) {
                "its times go back, and what comes after that has no other to tell its interval: "
            } else {
                ""
            };
            self.refuse(Refused(format!(
                "{back}the text does not tell how long an interval is\n\
                 hint: say it, as --every 1s"
            )));
            self.now.clear();
            self.filled.clear();
            return;
        };
        for (sample, rows) in held {
            let interval = if sample.since_boot { 0.0 } else { interval };
            self.place(&sample, interval, &rows);
        }
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

    /// Hands out the rows of a sample: the first `rows` of each table, or all.
    pub(super) fn place(&mut self, sample: &Sample, interval: f64, rows: &[usize]) {
        let length = (interval * 1e9).round() as Nanos;
        let end = self.end_of(sample, interval);
        match sample.stamp {
            None => self.clock.starts(&self.options),
            Some(_) if !sample.since_boot && sample.spans.is_none() => self.look_at(interval),
            Some(_) => {}
        }
        self.before = Some(end);
        self.extend(end.saturating_sub(length), end);
        if !sample.since_boot && !sample.lost {
            self.ended += 1;
        }
        if sample.since_boot {
            self.since_boot_at = Some(end);
        }
        let kept = self.length_kept(interval);
        for table in std::mem::take(&mut self.filled) {
            let all = self.now.rows(table).len();
            if all > rows.get(usize::from(table.0)).copied().unwrap_or(all) {
                self.filled.push(table);
            }
            let count = rows.get(usize::from(table.0)).copied().unwrap_or(all);
            if count == 0 {
                continue;
            }
            let amounts = self.amounts.iter().filter(|(t, _)| *t == table);
            let amounts: Vec<usize> = amounts.map(|(_, row)| *row).collect();
            let sums = &self.sums[usize::from(table.0)];
            let from = self.now.rows_mut(table);
            from.times[..count].fill(end);
            from.intervals[..count].fill(kept);
            if amounts.len() < count {
                for (column, _) in from.values.iter_mut().zip(sums).filter(|(_, sum)| **sum) {
                    let mut whole = amounts.iter().peekable();
                    for (row, value) in column[..count].iter_mut().enumerate() {
                        if whole.next_if(|w| **w == row).is_none() {
                            *value *= interval;
                        }
                    }
                }
            }
            if table == self.other && interval > 0.0 {
                // What a counter grew by is kept per second.
                for row in amounts.iter().filter(|row| **row < count) {
                    from.values[0][*row] /= interval;
                }
            }
            self.done.take_rows(&mut self.now, table, count);
            self.amounts.retain(|(t, row)| *t != table || *row >= count);
            for (_, row) in self.amounts.iter_mut().filter(|(t, _)| *t == table) {
                *row -= count;
            }
        }
    }

    pub(super) fn extend(&mut self, from: Nanos, to: Nanos) {
        let (a, b) = self.span.unwrap_or((from, to));
        self.span = Some((a.min(from), b.max(to)));
    }
}
