//! When reports came through a pipe while they were made: the times of those that tell none.
//!
//! A tool prints a report and waits. So nothing of another report comes together with it, and the
//! time when it came is when it was made. A report that waited in a buffer or for a network comes
//! together with others, or later than it should: its time is found from those around it that came
//! alone, or not at all.

use run::Nanos;
use run::rows::TableId;

use super::{Out, OwnRows, Sample};
use crate::time::Refused;

/// When a line or a report came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Came {
    pub(crate) at: Nanos,
    /// No numbers of another report came with it.
    pub(crate) alone: bool,
}

/// Reports less apart waited for each other: no tool is asked to print so often, and a filter
/// hands on the lines of a file much faster.
const TOGETHER: Nanos = 50_000_000;

/// So much longer or shorter than others, as a part of it, may an interval be.
const UNEVEN: f64 = 0.25;

/// The same of each of several together, for how far reports are apart is not known exactly.
const DRIFT: f64 = 0.01;

/// So many reports may wait until it is seen how far they are apart.
const PATIENCE: usize = 8;

/// What is known of when reports came.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// When the last one came whose time is known.
    known: Option<Nanos>,
    /// When the last one came.
    last: Option<Nanos>,
    /// Seconds from one to the next.
    pub(super) pace: Option<f64>,
    /// Some have their times from there.
    pub(super) used: bool,
    /// So many came late, and their times are found from others'.
    late: u64,
    /// So many are left out.
    left_out: u64,
}

impl Arrivals {
    /// The tool was started anew.
    pub(super) fn begin_anew(&mut self) {
        *self = Arrivals {
            used: self.used,
            late: self.late,
            left_out: self.left_out,
            ..Arrivals::default()
        };
    }
}

fn seconds(from: Nanos, to: Nanos) -> f64 {
    to.saturating_sub(from) as f64 / 1e9
}

/// Whether so many reports at that pace took so long.
fn fits(passed: f64, count: usize, pace: f64) -> bool {
    let count = count as f64;
    (passed / pace - count).abs() <= UNEVEN + DRIFT * count
}

impl Out {
    /// Whether the report's time is when it came: the text tells neither that nor an interval.
    pub(super) fn is_of_arrival(&self, sample: &Sample) -> bool {
        let told = sample.stamp.is_some() || sample.spans.is_some() || self.clock.stamped;
        !told && self.stated.or(self.options.every).is_none()
    }

    /// Whether reports wait because of when they came.
    pub(super) fn awaits_arrivals(&self) -> bool {
        self.held.last().is_some_and(|(s, _)| s.came.is_some())
    }

    /// A report that is whole now came then.
    pub(super) fn arrive(&mut self, mut sample: Sample, came: Came) {
        if sample.since_boot && (self.arrivals.known.is_some() || !self.held.is_empty()) {
            self.settle(None);
            self.arrivals.begin_anew();
        }
        let apart = |a: Nanos, b: Nanos| b.saturating_sub(a) >= TOGETHER;
        let before = self.arrivals.last.replace(came.at);
        // The line that ends it is of the next.
        let after = self.came;
        let alone = came.alone
            && before.is_none_or(|before| apart(before, came.at))
            && after.is_none_or(|after| after.alone && apart(came.at, after.at));
        sample.came = Some(Came { alone, ..came });
        self.hold_back(sample);
        if !self.place_arrived() && self.arrivals.pace.is_none() && self.held.len() > PATIENCE {
            self.refuse_arrivals();
        }
    }

    /// Places the reports that wait, if the last of them tells how long their intervals are.
    fn place_arrived(&mut self) -> bool {
        let last = self.held.last().and_then(|(s, _)| s.came);
        let Some(last) = last.filter(|c| c.alone) else {
            return false;
        };
        let count = self.held.len();
        if let (Some(known), Some(pace)) = (self.arrivals.known, self.arrivals.pace) {
            let passed = seconds(known, last.at);
            if fits(passed, count, pace) {
                let mean = passed / count as f64;
                self.arrivals.late += count as u64 - 1;
                self.arrivals.pace = Some(pace + (mean - pace) / 8.0);
                self.place_evenly(known, mean);
                self.arrivals.known = Some(last.at);
                return true;
            }
        }
        self.find_pace(last)
    }

    /// Three in a row that came alone and are as far apart tell it.
    fn find_pace(&mut self, last: Came) -> bool {
        let count = self.held.len();
        // The first of them may be the last whose time is known.
        let first = match (count, self.arrivals.known) {
            (2, Some(at)) => Some(Came { at, alone: true }),
            (0..=2, _) => None,
            _ => self.came_of(count - 3),
        };
        let (Some(first), Some(middle)) = (first, self.came_of(count.saturating_sub(2))) else {
            return false;
        };
        let (a, b) = (seconds(first.at, middle.at), seconds(middle.at, last.at));
        if !(first.alone && middle.alone && a.max(b) <= (1.0 + UNEVEN) * a.min(b)) {
            return false;
        }
        self.arrivals.pace = Some(f64::midpoint(a, b));
        let mut held = std::mem::take(&mut self.held);
        self.held_rows.fill(0);
        let two = held.split_off(count - 2);
        // What was before the first report of all nobody knows: it is as long as the next one.
        let begins = self.arrivals.known.is_none() && held.len() == 1;
        let mut late = &held[..];
        // A report since boot is the first of all that wait.
        if let Some(((sample, rows), after)) = held.split_first()
            && (sample.since_boot || begins)
        {
            let interval = if sample.since_boot { 0.0 } else { a };
            self.place_came(*sample, interval, rows);
            late = after;
        }
        self.leave_out(late);
        for ((sample, rows), interval) in two.into_iter().zip([a, b]) {
            self.place_came(sample, interval, &rows);
        }
        self.hand_out();
        self.arrivals.known = Some(last.at);
        true
    }

    /// The input, or what the tool printed since it was started, is over: what waits is placed, or
    /// left out. `false` if when they came tells nothing.
    pub(super) fn settle_arrivals(&mut self) -> bool {
        if let (Some(known), Some(pace)) = (self.arrivals.known, self.arrivals.pace) {
            let count = self.held.len() as f64;
            let last = self.arrivals.last.unwrap_or(known);
            // As many as were printed until the last of them came.
            let printed = seconds(known, last) / pace;
            if (count - UNEVEN..=count + 1.0 + UNEVEN).contains(&printed) {
                self.arrivals.late += self.held.len() as u64;
                self.place_evenly(known, pace);
                return true;
            }
            self.held_rows.fill(0);
            let late = std::mem::take(&mut self.held);
            self.leave_out(&late);
            return true;
        }
        let all: Vec<Came> = self.held.iter().filter_map(|(s, _)| s.came).collect();
        match all[..] {
            [first, second] if first.alone && second.alone => {
                let interval = seconds(first.at, second.at);
                self.held_rows.fill(0);
                for (sample, rows) in std::mem::take(&mut self.held) {
                    let interval = if sample.since_boot { 0.0 } else { interval };
                    self.place_came(sample, interval, &rows);
                }
                self.hand_out();
                true
            }
            [_, _, ..] => {
                self.refuse_arrivals();
                true
            }
            _ => {
                self.forget_arrivals();
                false
            }
        }
    }

    /// Those that wait are of no known time.
    pub(super) fn forget_arrivals(&mut self) {
        for (sample, _) in &mut self.held {
            sample.came = None;
        }
        // A report since boot needs no interval.
        if let [(sample, _)] = self.held[..]
            && sample.since_boot
        {
            let (sample, rows) = self.held.remove(0);
            self.held_rows.fill(0);
            self.place(&sample, 0.0, Some(&rows));
            self.hand_out();
        }
    }

    fn came_of(&self, place: usize) -> Option<Came> {
        self.held.get(place)?.0.came
    }

    /// Those that wait ended one interval after the other.
    fn place_evenly(&mut self, from: Nanos, interval: f64) {
        self.held_rows.fill(0);
        for (place, (mut sample, rows)) in std::mem::take(&mut self.held).into_iter().enumerate() {
            let passed = interval * (place as f64 + 1.0) * 1e9;
            let at = from.saturating_add(passed.round() as Nanos);
            sample.came = Some(Came { at, alone: true });
            self.place_came(sample, interval, &rows);
        }
        self.hand_out();
    }

    fn place_came(&mut self, mut sample: Sample, interval: f64, rows: &[(TableId, usize)]) {
        sample.stamp = sample.came.map(|c| c.at);
        self.arrivals.used = true;
        self.place(&sample, interval, Some(rows));
    }

    /// The next reports that wait are left out: how long their intervals are is not known.
    fn leave_out(&mut self, late: &[(Sample, OwnRows)]) {
        self.arrivals.left_out += late.len() as u64;
        let mut counts = vec![0; self.placed.len()];
        for (_, rows) in late {
            for (table, rows) in rows {
                counts[usize::from(table.0)] += rows;
            }
        }
        self.drop_rows(&counts);
    }

    fn refuse_arrivals(&mut self) {
        let alone = |(sample, _): &(Sample, OwnRows)| sample.came.is_some_and(|c| c.alone);
        let (why, or) = if self.held.iter().all(alone) {
            ("its reports came at uneven times", "")
        } else {
            (
                "several of its reports came at once",
                "; of a filter that keeps what it reads, `stdbuf -oL` makes one that does not",
            )
        };
        self.refuse(Refused(format!(
            "the text does not tell how long an interval is, and neither does when it came: {why}\n\
             hint: say it, as --every 1s{or}"
        )));
        self.forget_rows();
    }

    pub(super) fn note_arrivals(&mut self) {
        let Arrivals {
            used,
            late,
            left_out,
            ..
        } = self.arrivals;
        let reports = |count| match count {
            1 => "1 report".to_owned(),
            _ => format!("{count} reports"),
        };
        if used {
            self.note("it tells neither times nor an interval: a report's time is when it came");
        }
        if late > 0 {
            self.note(&format!(
                "{} came late: between those that came in time all are put as far apart",
                reports(late)
            ));
        }
        if left_out > 0 {
            self.note(&format!(
                "{} left out: they came late, and nothing tells how long their intervals were",
                reports(left_out)
            ));
        }
    }
}

#[cfg(test)]
mod tests;
