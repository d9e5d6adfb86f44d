//! Shares of processors' time, as many tools print them.

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
        for (mode, share) in shares.modes() {
            if !share.is_nan() {
                let mode = out.word(mode.as_bytes());
                out.put(&self.time, &[cpu, mode], &[share * processors]);
            }
        }
        let idle = [shares.idle, shares.iowait, shares.steal];
        if idle.iter().any(|v| !v.is_nan()) {
            out.put(&self.idle, &[cpu], &idle.map(|v| v * processors));
        }
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
        self.put(out, all, processors, shares);
    }
}
