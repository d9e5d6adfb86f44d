//! `/proc/interrupts` in raw files of `collectl`, and the total of `/proc/stat` beside it.
//!
//! ```text
//! intr 353847
//! int  24:          1          0  IO-APIC   5-edge      ACPI:Ged
//! int LOC:      74804      74347   Local timer interrupts
//! int ERR:          0
//! ```
//!
//! A count for each processor that is running, then controller, number there and trigger, then the
//! handlers. The header, which names the processors, is not recorded. Lines with a name count what
//! belongs to no device, some of it twice (`CAL` has the `TLB` of some kernels). So `interrupt` has the
//! lines with a number, and as `local` what the total has beyond them, as a recording has it; those with
//! a name are kept by name.

use std::collections::HashMap;

use crate::Line;
use crate::number::whole;
use crate::out::{Out, Shape};
use crate::tools::proc::put_grown;

/// What was counted by one line: by processor, as they stand.
type Counts = Vec<u64>;

#[derive(Default)]
struct Reading {
    lines: HashMap<Vec<u8>, Counts>,
    /// Of the whole machine, from `/proc/stat`.
    total: Option<u64>,
    /// A line of it was not understood.
    lost: bool,
}

pub(super) struct Interrupts {
    shape: Shape,
    now: Reading,
    before: Option<Reading>,
    /// Lines of interrupts came, in this reading or above it.
    pub(super) used: bool,
    /// What the total has beyond the lines and was not told yet: the lines are read after it, so
    /// that it can be less than nothing for a moment.
    owed: f64,
}

/// A line without its label.
pub(in crate::tools) struct Told<'a> {
    pub(in crate::tools) name: &'a [u8],
    pub(in crate::tools) counts: Counts,
    pub(in crate::tools) described: &'a [u8],
}

pub(in crate::tools) fn told(line: &[u8]) -> Option<Told<'_>> {
    let line = line.trim_ascii();
    let colon = line.iter().position(|b| *b == b':')?;
    let (name, mut rest) = (&line[..colon], line[colon + 1..].trim_ascii_start());
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let plain = !name.is_empty() && name.iter().all(is_plain);
    plain.then_some(())?;
    let mut counts = Vec::new();
    loop {
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let Some(count) = whole(word) else { break };
        counts.push(count);
        rest = after.trim_ascii_start();
    }
    let described = rest.trim_ascii_end();
    (!counts.is_empty()).then_some(Told {
        name,
        counts,
        described,
    })
}

/// The kind of a line: its handlers and its number, `eth0 (36)`.
pub(in crate::tools) fn kind(told: &Told) -> Vec<u8> {
    let name = handlers(told.described).unwrap_or(b"unnamed");
    [name, b" (", told.name, b")"].concat()
}

/// The handlers behind controller, number there and trigger, after two blanks or more. Old kernels
/// have controller and trigger in a word (`IO-APIC-edge`). Where the handlers are gone, it ends before.
fn handlers(described: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::rfind(described, b"  ")?;
    let (line, handlers) = (described[..at].trim_ascii(), described[at..].trim_ascii());
    let triggers: [&[u8]; 5] = [b"-edge", b"-level", b"-fasteoi", b"-simple", b"-X"];
    let whole = crate::fields(line).count() > 1 || triggers.iter().any(|t| line.ends_with(t));
    whole.then_some(handlers)
}

impl Interrupts {
    pub(super) fn new() -> Interrupts {
        Interrupts {
            shape: Shape::of("interrupt", &["count"]),
            now: Reading::default(),
            before: None,
            used: false,
            owed: 0.0,
        }
    }

    /// The total of the reading.
    pub(super) fn total(&mut self, total: u64) {
        self.now.total = Some(total);
    }

    pub(super) fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        self.used = true;
        // The header.
        if crate::fields(line).all(|w| w.starts_with(b"CPU")) {
            return Line::Noise;
        }
        let told = told(line).filter(|told| !self.now.lines.contains_key(told.name));
        let Some(told) = told else {
            self.now.lost = true;
            return Line::Unknown;
        };
        let numbered = told.name.iter().all(u8::is_ascii_digit);
        let grown = self.grown(&told);
        let first = self.before.is_none();
        let counted: u64 = told.counts.iter().fold(0, |sum, n| sum.saturating_add(*n));
        let value = if first { counted as f64 } else { grown };
        if numbered {
            // The table has no rows of what had none.
            if value != 0.0 {
                let words = [out.word(b"hard"), out.word(&kind(&told))];
                put_grown(out, &self.shape, &words, &[value], first);
            }
        } else {
            let column = String::from_utf8_lossy(told.name).into_owned();
            let none = out.word(b"");
            if first {
                out.other_total(&column, "count", none, value);
            } else {
                out.other_grown(&column, "count", none, value);
            }
        }
        self.now.lines.insert(told.name.to_vec(), told.counts);
        Line::Data
    }

    /// What a line grew by on all processors. One that is new had counted nothing: the kernel leaves
    /// out those without handlers.
    fn grown(&self, told: &Told) -> f64 {
        let Some(before) = &self.before else {
            return f64::NAN;
        };
        let zeros = vec![0; told.counts.len()];
        let before = match before.lines.get(told.name) {
            Some(before) => before,
            None if before.lost || before.lines.is_empty() => return f64::NAN,
            None => &zeros,
        };
        // Processors came or went, and which is not told.
        if before.len() != told.counts.len() {
            return f64::NAN;
        }
        let grow = |(now, before): (&u64, &u64)| match now.checked_sub(*before) {
            Some(grown) => grown as f64,
            // It was set to zero, or ran over its 32 bits.
            None => f64::NAN,
        };
        told.counts.iter().zip(before).map(grow).sum()
    }

    /// The reading is over: the row of what the total has beyond the lines. The last one of a file
    /// that has no time behind it may have been cut off.
    pub(super) fn finish_reading(&mut self, is_whole: bool, out: &mut Out) {
        let now = std::mem::take(&mut self.now);
        if now.lines.is_empty() && !now.lost {
            // It was cut off before them, or has none.
            if self.before.is_some() {
                let words = [out.word(b"hard"), out.word(b"local")];
                out.put_amounts(&self.shape, &words, &[f64::NAN]);
                self.before = Some(Reading { lost: true, ..now });
            }
            return;
        }
        let words = [out.word(b"hard"), out.word(b"local")];
        match &self.before {
            None => {
                let numbered = numbered(&now.lines);
                let local = now.total.map(|total| total as f64 - numbered);
                let sound = local.filter(|local| *local >= 0.0 && !now.lost && is_whole);
                if let Some(local) = sound {
                    out.put_since_boot(&self.shape, &words, &[local]);
                }
            }
            Some(before) => {
                let grown = self.local(before, &now);
                let amount = if grown < 0.0 { 0.0 } else { grown };
                out.put_amounts(&self.shape, &words, &[amount]);
                // What is not known is owed no longer.
                self.owed = if grown.is_nan() { 0.0 } else { grown.min(0.0) };
            }
        }
        self.before = Some(now);
    }

    fn local(&self, before: &Reading, now: &Reading) -> f64 {
        let (Some(total), Some(total_before)) = (now.total, before.total) else {
            return f64::NAN;
        };
        let Some(all) = total.checked_sub(total_before) else {
            return f64::NAN;
        };
        // Of a line that is not there any more, or was cut off, nothing is known.
        let is_gone = |name: &Vec<u8>| !now.lines.contains_key(name);
        if now.lost || before.lost || before.lines.keys().any(is_gone) {
            return f64::NAN;
        }
        let is_numbered = |name: &[u8]| name.iter().all(u8::is_ascii_digit);
        let lines = now.lines.iter().filter(|(name, _)| is_numbered(name));
        let grown: f64 = lines
            .map(|(name, counts)| {
                self.grown(&Told {
                    name,
                    counts: counts.clone(),
                    described: b"",
                })
            })
            .sum();
        self.owed + all as f64 - grown
    }
}

/// What lines with a number counted.
fn numbered(lines: &HashMap<Vec<u8>, Counts>) -> f64 {
    let of_devices = lines
        .iter()
        .filter(|(name, _)| name.iter().all(u8::is_ascii_digit));
    of_devices
        .flat_map(|(_, counts)| counts)
        .map(|n| *n as f64)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_called_as_in_a_recording() {
        for (line, wanted) in [
            (
                " 24:  1  0  IO-APIC   5-edge      ACPI:Ged",
                "ACPI:Ged (24)",
            ),
            (
                "36: 0 82335 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0",
                "virtio1-req.0 (36)",
            ),
            (
                "17: 5 IO-APIC-fasteoi   ehci_hcd:usb1, eth0",
                "ehci_hcd:usb1, eth0 (17)",
            ),
            ("40: 7 0 PCI-MSI 524288-edge", "unnamed (40)"),
            ("40: 7 0  IO-APIC   5-edge", "unnamed (40)"),
            ("27: 3 GICv3  27 Level     arch_timer", "arch_timer (27)"),
            ("9: 3", "unnamed (9)"),
        ] {
            let told = told(line.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&kind(&told)), wanted, "{line}");
        }
        for line in ["", "24", "24:", "24: x", ": 1", "a b: 1", "24: -1"] {
            assert!(told(line.as_bytes()).is_none(), "{line}");
        }
    }
}
