//! `/proc/interrupts` and `/proc/softirqs`: counts by line, a column for each processor.
//!
//! ```text
//!            CPU0       CPU1
//!  24:          1          0  IO-APIC   5-edge      ACPI:Ged
//! LOC:      74804      74347   Local timer interrupts
//!      NET_RX:     123        456
//! ```
//!
//! Lines with a name count what belongs to no device, some of it twice (`CAL` has the `TLB` of some
//! kernels): they are kept by name. `/proc/stat` has the sum of all lines: where it is in the same
//! reading, these are kept by name, too, so that nothing is counted twice.

use crate::counters::Counters;
use crate::out::{Out, Shape};
use crate::tools::collectl::interrupts::{Told, kind, told};

use super::counted::put_grown;

/// `softirq_to_name` of the kernel, and `BLOCK_IOPOLL` before Linux 4.5.
const SOFT: [&str; 11] = [
    "HI",
    "TIMER",
    "NET_TX",
    "NET_RX",
    "BLOCK",
    "BLOCK_IOPOLL",
    "IRQ_POLL",
    "TASKLET",
    "SCHED",
    "HRTIMER",
    "RCU",
];

/// The names of processors above the counts.
pub(super) fn is_header(all: &[&[u8]]) -> bool {
    let of_processor = |w: &&[u8]| {
        let number = w.strip_prefix(b"CPU").filter(|n| !n.is_empty());
        number.is_some_and(|n| n.iter().all(u8::is_ascii_digit))
    };
    !all.is_empty() && all.iter().all(of_processor)
}

/// A line of either file.
pub(super) fn row<'a>(line: &'a [u8], all: &[&[u8]]) -> Option<Told<'a>> {
    let name = all.first()?.strip_suffix(b":")?;
    let named = std::str::from_utf8(name).ok()?;
    let soft = SOFT.contains(&named);
    let numbered = name.iter().all(u8::is_ascii_digit);
    let upper = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    let of_kernel = (2..=5).contains(&name.len()) && name.iter().all(upper) || name == b"Err";
    // Counts of errors have neither processors nor a description.
    let bare = matches!(name, b"ERR" | b"MIS" | b"Err") && all.len() == 2;
    let found = told(line)?;
    let described = !found.described.is_empty() && found.described != b"kB";
    let sound =
        soft && found.described.is_empty() || bare || (numbered || of_kernel && !soft) && described;
    sound.then_some(found)
}

pub(super) struct Interrupts {
    shape: Shape,
    pub(super) counters: Counters,
    /// Lines of this reading: name, what it is called, what came, and whether that is since boot.
    now: Vec<(String, Vec<u8>, f64, bool)>,
}

impl Interrupts {
    pub(super) fn new() -> Interrupts {
        Interrupts {
            shape: Shape::of("interrupt", &["count"]),
            counters: Counters::default(),
            now: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, row: &Told, out: &mut Out) {
        let counts: Vec<f64> = row.counts.iter().map(|n| *n as f64).collect();
        let grown = self.counters.grown(row.name, &counts, out);
        let first = grown.is_none();
        // Of one that fell nothing is known.
        let sum = grown.unwrap_or(counts).iter().sum();
        let name = String::from_utf8_lossy(row.name).into_owned();
        self.now.push((name, kind(row), sum, first));
    }

    /// The reading is over; whether it has the sums of hard and soft ones of `/proc/stat`.
    pub(super) fn finish_reading(&mut self, sums: [bool; 2], out: &mut Out) {
        for (name, kind, count, first) in std::mem::take(&mut self.now) {
            if count.is_nan() {
                continue;
            }
            let soft = SOFT.contains(&&*name);
            let (level, kind): (&[u8], &[u8]) = if soft {
                (b"soft", name.as_bytes())
            } else {
                (b"hard", &kind)
            };
            let of_device = name.bytes().all(|b| b.is_ascii_digit());
            if (soft || of_device) && !sums[usize::from(soft)] {
                let words = [out.word(level), out.word(kind)];
                put_grown(out, &self.shape, &words, &[count], first);
                continue;
            }
            let column = if of_device { "interrupts" } else { &name };
            let instance = if of_device { kind } else { b"" };
            let instance = out.word(instance);
            if first {
                out.other_total(column, "count", instance, count);
            } else {
                out.other_grown(column, "count", instance, count);
            }
        }
    }
}
