//! The `cpuN` lines: time of each processor that is online, in clock ticks.
//!
//! ```text
//! cpu0 user nice system idle iowait irq softirq steal guest guest_nice
//! ```
//! `user` holds `guest` and `nice` holds `guest_nice`; here they are apart. A processor that
//! goes offline loses its line.
//!
//! Most counters only grow. `idle` and `iowait` are different: the kernel books the stretch of
//! idleness that is under way as `iowait` while a task of that processor waits for a disk,
//! else as `idle`, all of it, at each reading anew. So time that one reading called `iowait`
//! is called `idle` by the next, and the other way round; `iowait` and `idle` each go back at
//! times by as much as an idle stretch, and their sum does not. Here the sum is what counts:
//! `iowait` gets what the kernel says beyond what was told before, not less than nothing
//! and not more than the interval's sum; `idle` gets the rest. No time is counted twice, no
//! amount is negative, and over time both follow the kernel's.
//!
//! Before 6.8 a processor's `idle` and `iowait` start from zero when it comes back online; a
//! race of the reader with the end of an idle stretch can lose or double it for one reading.
//! Both show as a sum that goes back or grows by more than time allows, and make a gap.

use run::rows::TableId;
use run::{Sink, Word};

use crate::proc::ratchet::Ratchet;
use crate::read::{fields, number};

const MODES: [&str; 7] = [
    "user",
    "nice",
    "system",
    "irq",
    "softirq",
    "guest",
    "guest_nice",
];

/// More processors than any kernel supports: a line that names one beyond is broken.
const MOST: u64 = 1 << 16;

/// Each field is rounded down to whole ticks on its own, so a difference or a sum of two may
/// step back by one; one more for counts that are estimated while a task runs.
const ROUNDING: u64 = 2;

/// Clock ticks of one processor since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    /// By mode, without overlap.
    modes: [u64; MODES.len()],
    idle: u64,
    iowait: u64,
    steal: u64,
}

/// Number and ticks of a line; `None` if it is not one of a single processor.
fn parse_line(line: &[u8]) -> Option<(u32, Ticks)> {
    let mut fields = fields(line);
    let processor = number(fields.next()?.strip_prefix(b"cpu")?).filter(|&n| n < MOST)?;
    let mut values = [0_u64; 10];
    let mut found = 0;
    for (value, field) in values.iter_mut().zip(fields) {
        *value = number(field)?;
        found += 1;
    }
    // Guests are counted since 2.6.24 and 2.6.33; nothing older than that runs this.
    if found < 8 {
        return None;
    }
    let [
        user,
        nice,
        system,
        idle,
        iowait,
        irq,
        softirq,
        steal,
        guest,
        guest_nice,
    ] = values;
    let (user, nice) = (user.saturating_sub(guest), nice.saturating_sub(guest_nice));
    let modes = [user, nice, system, irq, softirq, guest, guest_nice];
    let ticks = Ticks {
        modes,
        idle,
        iowait,
        steal,
    };
    Some((processor as u32, ticks))
}

/// What was told of a processor so far.
#[derive(Clone, Copy, Debug)]
struct Told {
    modes: [Ratchet; MODES.len()],
    steal: Ratchet,
    /// `idle` and `iowait` together.
    resting: Ratchet,
    iowait: u64,
}

/// Ticks of a processor in one interval; NaN: not known.
#[derive(Clone, Copy, Debug)]
struct Amounts {
    modes: [f64; MODES.len()],
    /// Idle, iowait, steal.
    idle: [f64; 3],
}

const NOT_KNOWN: Amounts = Amounts {
    modes: [f64::NAN; MODES.len()],
    idle: [f64::NAN; 3],
};

impl Told {
    fn from(now: &Ticks) -> Told {
        Told {
            modes: now.modes.map(Ratchet::from),
            steal: Ratchet::from(now.steal),
            resting: Ratchet::from(now.idle.saturating_add(now.iowait)),
            iowait: now.iowait,
        }
    }

    /// The amounts since the last call, which was about `elapsed` ticks ago.
    fn advance(&mut self, now: &Ticks, elapsed: f64, second: f64) -> Amounts {
        let mut modes = [0.0; MODES.len()];
        for (amount, (told, now)) in modes.iter_mut().zip(self.modes.iter_mut().zip(now.modes)) {
            *amount = told.advance(now, ROUNDING);
        }
        let mut resting = self
            .resting
            .advance(now.idle.saturating_add(now.iowait), ROUNDING);
        // The two readings may be further apart than the two times they stand for, when the
        // recorder had to wait for a processor: only what is absurd is refused.
        if resting > 2.0 * elapsed + second {
            resting = f64::NAN;
        }
        let iowait = if resting.is_nan() {
            self.iowait = now.iowait;
            f64::NAN
        } else {
            let amount = (now.iowait.saturating_sub(self.iowait) as f64).min(resting);
            self.iowait = self.iowait.saturating_add(amount as u64);
            amount
        };
        let steal = self.steal.advance(now.steal, ROUNDING);
        Amounts {
            modes,
            idle: [resting - iowait, iowait, steal],
        }
    }
}

struct Processor {
    number: u32,
    word: Word,
    /// `None` while it is offline.
    told: Option<Told>,
    seen: bool,
}

/// Every processor that was online since the first reading.
pub(super) struct Processors {
    /// By number.
    all: Vec<Processor>,
    ticks_per_second: f64,
    modes: Option<[Word; MODES.len()]>,
    by_mode: TableId,
    idle: TableId,
}

impl Processors {
    pub(super) fn new(ticks_per_second: u64) -> Processors {
        Processors {
            all: Vec::new(),
            ticks_per_second: ticks_per_second.max(1) as f64,
            modes: None,
            by_mode: TableId::of("cpu"),
            idle: TableId::of("cpu_idle"),
        }
    }

    /// Takes a line. What a processor did before it came online, or back, is not known: its
    /// counters may be from an earlier life, and that first interval is a gap.
    pub(super) fn line(&mut self, line: &[u8], interval: Option<f64>, out: &mut Sink) {
        let Some((number, now)) = parse_line(line) else {
            return;
        };
        let place = match self.all.binary_search_by_key(&number, |p| p.number) {
            Ok(place) => place,
            Err(place) => {
                let processor = Processor {
                    number,
                    word: out.word(&number.to_string()),
                    told: None,
                    seen: false,
                };
                self.all.insert(place, processor);
                place
            }
        };
        let processor = &mut self.all[place];
        if std::mem::replace(&mut processor.seen, true) {
            return;
        }
        let word = processor.word;
        let second = self.ticks_per_second;
        let elapsed = interval.unwrap_or(0.0) * second;
        let amounts = match &mut processor.told {
            Some(told) => told.advance(&now, elapsed, second),
            told => {
                *told = Some(Told::from(&now));
                NOT_KNOWN
            }
        };
        if interval.is_some() {
            self.rows(word, &amounts, out);
        }
    }

    /// To be called after the last line. What a processor did that went offline meanwhile is
    /// not known; from then on it has no rows.
    pub(super) fn finish(&mut self, interval: Option<f64>, out: &mut Sink) {
        for place in 0..self.all.len() {
            let processor = &mut self.all[place];
            if std::mem::take(&mut processor.seen) {
                continue;
            }
            let was_online = processor.told.take().is_some();
            let word = processor.word;
            if was_online && interval.is_some() {
                self.rows(word, &NOT_KNOWN, out);
            }
        }
    }

    fn rows(&mut self, processor: Word, amounts: &Amounts, out: &mut Sink) {
        let modes = *self.modes.get_or_insert_with(|| MODES.map(|m| out.word(m)));
        for (i, (mode, ticks)) in modes.into_iter().zip(amounts.modes).enumerate() {
            // The first mode always has a row, to tell a sampled interval from a gap.
            if i == 0 || ticks != 0.0 {
                let seconds = ticks / self.ticks_per_second;
                out.row(self.by_mode, &[processor, mode], &[seconds]);
            }
        }
        let seconds = amounts.idle.map(|ticks| ticks / self.ticks_per_second);
        out.row(self.idle, &[processor], &seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(idle: u64, iowait: u64) -> Ticks {
        Ticks {
            modes: [0; MODES.len()],
            idle,
            iowait,
            steal: 0,
        }
    }

    /// Idle and iowait of readings 100 ticks apart, in ticks.
    fn resting(readings: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let mut told = Told::from(&ticks(readings[0].0, readings[0].1));
        let amount = |&(idle, iowait): &(u64, u64)| {
            let amounts = told.advance(&ticks(idle, iowait), 100.0, 100.0);
            (amounts.idle[0], amounts.idle[1])
        };
        readings[1..].iter().map(amount).collect()
    }

    #[test]
    fn guests_are_not_counted_twice() {
        let (number, t) = parse_line(b"cpu12 100 50 30 400 5 6 7 8 40 20").unwrap();
        assert_eq!(number, 12);
        assert_eq!(t.modes, [60, 30, 30, 6, 7, 40, 20]);
        assert_eq!((t.idle, t.iowait, t.steal), (400, 5, 8));
        assert!(parse_line(b"cpu  100 50 30 400 5 6 7 8 40 20").is_none());
        assert!(parse_line(b"cpu1 100 50 30 400").is_none());
    }

    #[test]
    fn an_idle_stretch_that_changes_its_name_is_counted_once() {
        // 80 ticks told as iowait are called idle at the next reading.
        let revised = resting(&[(1000, 100), (1000, 180), (1200, 100), (1290, 190)]);
        assert_eq!(revised, [(0.0, 80.0), (120.0, 0.0), (170.0, 10.0)]);
        // The kernel's own from first to last: 290 idle, 90 iowait.
        let sums = revised
            .iter()
            .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        assert_eq!(sums, (290.0, 90.0));
        // And the other way round: idle goes back by 80.
        let back = resting(&[(1000, 100), (1100, 100), (1020, 280), (1120, 280)]);
        assert_eq!(back, [(100.0, 0.0), (0.0, 100.0), (20.0, 80.0)]);
    }

    #[test]
    fn rounding_is_not_a_gap_and_a_reset_is() {
        assert_eq!(resting(&[(50, 10), (49, 10), (60, 10)])[0], (0.0, 0.0));
        assert_eq!(resting(&[(50, 10), (49, 10), (60, 10)])[1], (10.0, 0.0));
        let reset = resting(&[(5000, 100), (30, 0), (130, 0)]);
        assert!(reset[0].0.is_nan() && reset[0].1.is_nan());
        assert_eq!(reset[1], (100.0, 0.0));
        let leap = resting(&[(5000, 100), (5301, 100), (5401, 100)]);
        assert!(leap[0].0.is_nan(), "3.01 s idle in 1 s");
        assert_eq!(leap[1], (100.0, 0.0));
    }

    /// Rows of `cpu` as (processor, mode, seconds).
    fn rows(out: &Sink) -> Vec<(String, String, f64)> {
        let rows = out.rows(TableId::of("cpu"));
        let text = |word| out.words.text(word).unwrap_or("?").to_owned();
        (0..rows.len())
            .map(|i| {
                (
                    text(rows.words[0][i]),
                    text(rows.words[1][i]),
                    rows.values[0][i],
                )
            })
            .collect()
    }

    fn sample(
        all: &mut Processors,
        lines: &[&[u8]],
        interval: Option<f64>,
    ) -> (Sink, Vec<(String, String, f64)>) {
        let mut out = Sink::new();
        // Words keep their numbers in one recording.
        for text in ["0", "1"].iter().chain(&MODES) {
            out.word(text);
        }
        for line in lines {
            all.line(line, interval, &mut out);
        }
        all.finish(interval, &mut out);
        let rows = rows(&out);
        (out, rows)
    }

    #[test]
    fn modes_without_time_have_no_row_but_the_first() {
        let mut all = Processors::new(100);
        sample(&mut all, &[b"cpu0 10 0 10 0 0 0 0 0 0 0"], None);
        let (out, rows) = sample(&mut all, &[b"cpu0 10 0 60 0 0 0 25 25 0 0"], Some(1.0));
        let row = |mode: &str, seconds| ("0".to_owned(), mode.to_owned(), seconds);
        assert_eq!(
            rows,
            [row("user", 0.0), row("system", 0.5), row("softirq", 0.25)]
        );
        let idle = out.rows(TableId::of("cpu_idle"));
        assert_eq!(idle.values, [[0.0], [0.0], [0.25]]);
    }

    #[test]
    fn a_processor_that_comes_back_does_not_count_its_whole_life() {
        let mut all = Processors::new(100);
        let zero = b"cpu0 10 0 0 0 0 0 0 0 0 0";
        sample(&mut all, &[zero, b"cpu1 500 0 0 900 0 0 0 0 0 0"], None);

        let (_, gone) = sample(&mut all, &[zero], Some(1.0));
        assert_eq!(gone[0].2, 0.0);
        assert_eq!((gone[1].0.as_str(), gone.len()), ("1", 8));
        assert!(gone[1..].iter().all(|row| row.2.is_nan()), "went offline");

        let (out, offline) = sample(&mut all, &[zero], Some(1.0));
        assert_eq!(offline.len(), 1, "no rows while offline");
        assert_eq!(out.rows(TableId::of("cpu_idle")).len(), 1);

        let back = b"cpu1 560 0 0 20 0 0 0 0 0 0";
        let (_, back) = sample(&mut all, &[zero, back], Some(1.0));
        assert_eq!(back.len(), 8);
        assert!(back[1].2.is_nan(), "when it came back is not known");

        let later = b"cpu1 600 0 0 80 0 0 0 0 0 0";
        let (out, later) = sample(&mut all, &[zero, later], Some(1.0));
        assert_eq!(later[1].2, 0.4);
        assert_eq!(out.rows(TableId::of("cpu_idle")).values[0], [0.0, 0.6]);
    }
}
