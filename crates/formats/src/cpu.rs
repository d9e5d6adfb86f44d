//! Shares of processors' time, as many tools print them.

use std::sync::Arc;

use run::Word;

use crate::out::{Out, Shape};

/// What a processor, or all of them, did, as shares from 0 to 1; NaN: not told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    pub(crate) user: f64,
    pub(crate) nice: f64,
    pub(crate) system: f64,
    pub(crate) irq: f64,
    pub(crate) softirq: f64,
    pub(crate) guest: f64,
    pub(crate) guest_nice: f64,
    pub(crate) idle: f64,
    pub(crate) iowait: f64,
    pub(crate) steal: f64,
}

/// Nothing is known.
pub(crate) const UNKNOWN: Shares = Shares {
    user: f64::NAN,
    nice: f64::NAN,
    system: f64::NAN,
    irq: f64::NAN,
    softirq: f64::NAN,
    guest: f64::NAN,
    guest_nice: f64::NAN,
    idle: f64::NAN,
    iowait: f64::NAN,
    steal: f64::NAN,
};

impl Shares {
    /// Shares of time spent running something, by the catalog's name of the mode.
    fn modes(&self) -> [(&'static str, f64); 7] {
        [
            ("user", self.user),
            ("nice", self.nice),
            ("system", self.system),
            ("irq", self.irq),
            ("softirq", self.softirq),
            ("guest", self.guest),
            ("guest_nice", self.guest_nice),
        ]
    }

    /// Those that can be: of counters that went back or were read anew tools print 107562416 %, or less than
    /// nothing. Of a row that `stands_for_all` nothing is known where it has neither work nor idleness. And
    /// whether all can be.
    pub(crate) fn possible(self, stands_for_all: bool, out: &mut Out) -> (Shares, bool) {
        // Ticks are no exact measure: a little more than all is printed of a short interval.
        const POSSIBLE: std::ops::RangeInclusive<f64> = -0.02..=1.5;
        let all = || {
            let modes = self.modes().into_iter().map(|(_, share)| share);
            modes.chain([self.idle, self.iowait, self.steal])
        };
        let is_told = !(self.user + self.system + self.idle).is_nan();
        if stands_for_all && is_told && all().all(|s| s == 0.0 || s.is_nan()) {
            out.note("where processors did nothing and were not idle, their shares are unknown");
            return (UNKNOWN, false);
        }
        if all().all(|s| s.is_nan() || POSSIBLE.contains(&s)) {
            return (self, true);
        }
        out.note("shares of processors that cannot be, below zero or far over 100 %, are unknown");
        let known = |share: f64| {
            Some(share)
                .filter(|s| POSSIBLE.contains(s))
                .unwrap_or(f64::NAN)
        };
        let possible = Shares {
            user: known(self.user),
            nice: known(self.nice),
            system: known(self.system),
            irq: known(self.irq),
            softirq: known(self.softirq),
            guest: known(self.guest),
            guest_nice: known(self.guest_nice),
            idle: known(self.idle),
            iowait: known(self.iowait),
            steal: known(self.steal),
        };
        (possible, false)
    }

    /// The same of a line that ends with `idle`, if `ends`, in whole percent, where it may have been cut at
    /// a width: without it, if the shares are 100 % only with a digit or two more behind it.
    pub(crate) fn of_end(mut self, ends: bool, out: &mut Out) -> Shares {
        let others = [self.user, self.nice, self.system, self.iowait, self.steal];
        let others: f64 = others.iter().filter(|s| !s.is_nan()).sum();
        let percent = |idle: f64| 100.0 * others + idle;
        let is_whole = |sum: f64| (sum - 100.0).abs() <= 2.5;
        let idle = (100.0 * self.idle).round();
        let longer = (0..10).map(|digit| 10.0 * idle + f64::from(digit));
        let hundred = (idle == 1.0).then_some(100.0);
        let is_cut = ends
            && idle > 0.0
            && !is_whole(percent(idle))
            && longer.chain(hundred).any(|idle| is_whole(percent(idle)));
        if is_cut {
            self.idle = f64::NAN;
            out.note(
                "lines were cut within their last number, `idle`: where the shares are 100 % only \
                 with another digit, it is left out",
            );
        }
        self
    }
}

/// Puts them into `cpu` and `cpu_idle`.
pub(crate) struct Cpu {
    time: Shape,
    idle: Shape,
}

impl Cpu {
    pub(crate) fn new() -> Cpu {
        Cpu {
            time: Shape::of("cpu", &["time"]),
            idle: Shape::of("cpu_idle", &["idle", "iowait", "steal"]),
        }
    }

    /// Rows of the processor of that name, which stands for `processors`.
    pub(crate) fn put(&self, out: &mut Out, cpu: Word, processors: f64, shares: &Shares) {
        let (possible, _) = shares.possible(false, out);
        self.put_told(out, cpu, processors, (shares, &possible));
    }

    /// The same of what is told; of that what cannot be is not known, but no zero.
    fn put_told(
        &self,
        out: &mut Out,
        cpu: Word,
        processors: f64,
        (told, possible): (&Shares, &Shares),
    ) {
        let is_told = |told: &[f64]| told.iter().any(|share| !share.is_nan());
        for ((mode, told), (_, share)) in told.modes().into_iter().zip(possible.modes()) {
            if is_told(&[told]) {
                let mode = out.word(mode.as_bytes());
                out.put(&self.time, &[cpu, mode], &[share * processors]);
            }
        }
        if is_told(&[told.idle, told.iowait, told.steal]) {
            let idle = [possible.idle, possible.iowait, possible.steal];
            out.put(&self.idle, &[cpu], &idle.map(|v| v * processors));
        }
    }

    /// Rows of a processor of which its report does not tell what it did.
    pub(crate) fn put_unknown(&self, out: &mut Out, cpu: Word) {
        for mode in [&b"user"[..], b"system"] {
            let mode = out.word(mode);
            out.put(&self.time, &[cpu, mode], &[f64::NAN]);
        }
        out.put(&self.idle, &[cpu], &[f64::NAN; 3]);
    }

    /// The same of one processor, as a mean since boot whatever the sample is.
    pub(crate) fn put_since_boot(&self, out: &mut Out, cpu: Word, shares: &Shares) {
        for (mode, share) in shares.modes() {
            if !share.is_nan() {
                let mode = out.word(mode.as_bytes());
                out.put_since_boot(&self.time, &[cpu, mode], &[share]);
            }
        }
        let idle = [shares.idle, shares.iowait, shares.steal];
        out.put_since_boot(&self.idle, &[cpu], &idle);
    }

    /// Rows of all processors as one, named `all`.
    pub(crate) fn put_all(&self, out: &mut Out, shares: &Shares) {
        let all = out.word(b"all");
        let processors = out.processors();
        let (possible, _) = shares.possible(true, out);
        self.put_told(out, all, processors, (shares, &possible));
    }
}

/// Puts rows of all processors as one, sample after sample, of which each tells the same modes.
pub(crate) struct AllCpus {
    cpu: Cpu,
    /// Which modes are told, and their words.
    told: [bool; 7],
    words: Arc<Vec<Vec<Word>>>,
    all: Arc<Vec<Vec<Word>>>,
}

impl AllCpus {
    pub(crate) fn new() -> AllCpus {
        AllCpus {
            cpu: Cpu::new(),
            told: [false; 7],
            words: Arc::default(),
            all: Arc::default(),
        }
    }

    /// The same as [`Cpu::put_all`] of a sample of which the time and the length are told already.
    pub(crate) fn put(&mut self, out: &mut Out, shares: &Shares) {
        let (possible, _) = shares.possible(true, out);
        let processors = out.processors();
        let modes = shares.modes();
        let told = modes.map(|(_, share)| !share.is_nan());
        if self.all.is_empty() || told != self.told {
            let all = out.word(b"all");
            let names = modes.iter().filter(|(_, share)| !share.is_nan());
            let names: Vec<Word> = names.map(|(name, _)| out.word(name.as_bytes())).collect();
            self.told = told;
            self.words = Arc::new(vec![vec![all; names.len()], names]);
            self.all = Arc::new(vec![vec![all]]);
        }
        let (mut times, mut count) = ([0.0; 7], 0);
        for (_, (_, share)) in told.iter().zip(possible.modes()).filter(|(told, _)| **told) {
            times[count] = share * processors;
            count += 1;
        }
        if count > 0 {
            out.put_columns(&self.cpu.time, &self.words, &[&times[..count]]);
        }
        let idle = [shares.idle, shares.iowait, shares.steal];
        if idle.iter().any(|v| !v.is_nan()) {
            let idle = [possible.idle, possible.iowait, possible.steal].map(|v| [v * processors]);
            let columns = [&idle[0][..], &idle[1], &idle[2]];
            out.put_columns(&self.cpu.idle, &self.all, &columns);
        }
    }
}
