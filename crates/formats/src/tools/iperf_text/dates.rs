//! Times before the lines of iperf's text, as `--timestamps` puts them: they say when a test began.
//! How long its intervals are, its rows tell better.

use jiff::SignedDuration;

use crate::out::Out;
use crate::time::Stamp;

/// When a test began.
#[derive(Debug, Default)]
pub(super) struct Dates {
    /// The time of the line that told of it.
    began: Option<Stamp>,
    /// Its first row came.
    looked: bool,
    /// What is known of the first test is known of all, or of none.
    trusted: Option<bool>,
    /// A time, and how many seconds after the beginning of the text it was.
    anchor: Option<(Stamp, f64)>,
    /// The first such time, and from when to when after it each test was.
    first: Option<Stamp>,
    tests: Vec<(f64, f64)>,
    /// A test above was at the same time as the present one.
    told: bool,
}

impl Dates {
    pub(super) fn test_begins(&mut self) {
        (self.began, self.looked, self.told) = (None, false, false);
    }

    /// A line that is printed when a test begins.
    pub(super) fn begin(&mut self, out: &Out) {
        self.began = self.began.or(out.logged);
    }

    /// A row that tells of `to` seconds of a test that began so many after the text. Of the first it is
    /// seen whether it was printed when its interval was over: what waited in a pipe was not.
    pub(super) fn row(&mut self, to: f64, base: f64, out: &mut Out) {
        if std::mem::replace(&mut self.looked, true) {
            if let Some((from, until)) = self.tests.last_mut().filter(|_| !self.told) {
                *until = until.max(*from + to);
            }
            return;
        }
        let Some(now) = out.logged else {
            return;
        };
        let passed = self.began.and_then(|began| between(began, now));
        let in_time = to >= 1.0 && passed.is_some_and(|p| (to - 0.5..=to + 1.5).contains(&p));
        if !(*self.trusted.get_or_insert(in_time) && in_time) {
            out.note(
                "the times before its lines are not those when its intervals ended, as of text that \
                 waited in a pipe: they are left out",
            );
            return;
        }
        self.anchor = Some((now, base + to));
        let first = *self.first.get_or_insert(now);
        let Some(from) = between(first, now).map(|after| after - to) else {
            return;
        };
        self.begins_at(from, from + to, out);
    }

    /// A stream was connected then, so many seconds after the beginning of the text. Where the others
    /// are `idle`, it may be later than they tell: who listens waits for the next client.
    pub(super) fn connected(&mut self, at: Stamp, now: f64, idle: bool, out: &mut Out) {
        // Dates have whole seconds.
        let later = |told: Stamp| between(told, at).is_some_and(|passed| passed.abs() >= 2.0);
        if self.anchor.is_some() && !(idle && later(self.stamp(now))) {
            return;
        }
        self.anchor = Some((at, now));
        let Some(from) = between(*self.first.get_or_insert(at), at) else {
            return;
        };
        self.begins_at(from, from, out);
    }

    /// A test began then. One that another above was at the same time as is told already.
    fn begins_at(&mut self, from: f64, until: f64, out: &mut Out) {
        // Times have whole seconds.
        let same = |(began, ended): &(f64, f64)| (began - 1.0..ended - 1.0).contains(&from);
        self.told = self.tests.iter().any(same);
        if self.told {
            out.note("a test that another above in the file tells of the time of is left out");
        } else {
            self.tests.push((from, until));
        }
    }

    /// Whether a test above was at the same time as the present one.
    pub(super) fn is_told(&self) -> bool {
        self.told
    }

    /// The time so many seconds after the beginning of the text.
    pub(super) fn stamp(&self, seconds: f64) -> Stamp {
        let after = |(stamp, at): (Stamp, f64)| after(stamp, seconds - at);
        self.anchor
            .and_then(after)
            .unwrap_or(Stamp::Elapsed(seconds))
    }
}

/// Seconds between two times of a kind.
fn between(from: Stamp, to: Stamp) -> Option<f64> {
    match (from, to) {
        (Stamp::Epoch(from), Stamp::Epoch(to)) => Some((to - from) as f64 / 1e9),
        (Stamp::Civil(from), Stamp::Civil(to)) | (Stamp::Zoned(from, _), Stamp::Zoned(to, _)) => {
            Some(to.duration_since(from).as_secs_f64())
        }
        (Stamp::Clock(from), Stamp::Clock(to)) => {
            let passed = to.duration_since(from).as_secs_f64();
            Some(if passed < 0.0 {
                passed + 86400.0
            } else {
                passed
            })
        }
        _ => None,
    }
}

/// The time so many seconds later.
fn after(stamp: Stamp, seconds: f64) -> Option<Stamp> {
    let passed = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Some(match stamp {
        Stamp::Epoch(at) => Stamp::Epoch(at.checked_add((seconds * 1e9).round() as i64)?),
        Stamp::Civil(at) => Stamp::Civil(at.checked_add(passed).ok()?),
        Stamp::Zoned(at, east) => Stamp::Zoned(at.checked_add(passed).ok()?, east),
        Stamp::Clock(at) => Stamp::Clock(at.wrapping_add(passed)),
        Stamp::Elapsed(at) => Stamp::Elapsed(at + seconds),
    })
}
