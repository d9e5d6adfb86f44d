//! The `intr` and `softirq` lines: interrupts since boot.
//!
//! ```text
//! intr 353847 0 0 0 0 15 0 82335
//! softirq 222666 0 29670 5 6343 82335 0 110 47254 0 56949
//! ```
//! `intr` has the total, then each line (IRQ) by its number, zeros for the numbers that are
//! not in use: thousands on a large machine. The total has more than the lines: what belongs
//! to a processor alone (its timer, calls from other processors), and what a line counted
//! that went away with its device. That rest is the kind `local`, so the kinds sum to the
//! kernel's total. The counts of lines and of soft interrupts are 32 bits wide and wrap.

use run::rows::TableId;
use run::{Sink, Word};

use super::names::Names;
use crate::Host;
use crate::read::{advance, fields, number};

const SOFT: [&str; 10] = [
    "hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu",
];

/// The kind of soft interrupt that always has a row.
const SOFT_KEPT: usize = 1;

/// A line that counted something since boot. It is named when it first counts, and again when
/// its count started over.
struct Line {
    irq: u32,
    before: u64,
    /// `None` while it is unused: whoever comes next may have another name.
    kind: Option<Word>,
}

struct Fixed {
    hard: Word,
    soft: Word,
    local: Word,
    kinds: [Word; SOFT.len()],
}

/// What is remembered of interrupts.
pub(super) struct Interrupts {
    names: Names,
    /// By number.
    lines: Vec<Line>,
    total: Option<u64>,
    /// What the total has beyond the lines and was not told yet. The kernel reads the lines
    /// after the total, so it can be less than nothing for a moment.
    owed: f64,
    soft: Option<[u64; SOFT.len()]>,
    words: Option<Fixed>,
    table: TableId,
}

impl Interrupts {
    pub(super) fn new(host: &Host) -> Interrupts {
        Interrupts {
            names: Names::new(host),
            lines: Vec::new(),
            total: None,
            owed: 0.0,
            soft: None,
            words: None,
            table: TableId::of("interrupt"),
        }
    }

    /// Takes the numbers after `intr `; returns what follows that line. Rows are made if this
    /// is not the first reading.
    pub(super) fn hard<'t>(&mut self, text: &'t [u8], rows: bool, out: &mut Sink) -> &'t [u8] {
        let hard = self.words(out).hard;
        let (total, mut rest) = leading_number(text);
        let mut numbered = 0.0;
        let mut place = 0;
        let mut irq = 0;
        while let Some(&b' ') = rest.first() {
            if rest.starts_with(b" 0 0 0 0 ") {
                rest = &rest[8..];
                irq += 4;
                continue;
            }
            let (count, after) = leading_number(&rest[1..]);
            rest = after;
            if let Some(count) = count.filter(|&c| c != 0) {
                while self.lines.get(place).is_some_and(|l| l.irq < irq) {
                    self.lines[place].fall_silent();
                    place += 1;
                }
                let amount = self.line(place, irq, count, out);
                let kind = self.lines[place].kind;
                place += 1;
                numbered += amount;
                if let (true, true, Some(kind)) = (rows, amount != 0.0, kind) {
                    out.row(self.table, &[hard, kind], &[amount]);
                }
            }
            irq += 1;
        }
        // Of a line that broke off, the rest is not known to be zero.
        if rest.first() == Some(&b'\n') {
            self.lines[place..].iter_mut().for_each(Line::fall_silent);
        }
        self.names.forget();
        self.local(total, numbered, rows, out);
        let end = rest.iter().position(|&b| b == b'\n');
        end.map_or(&[], |end| &rest[end + 1..])
    }

    /// How far line `irq` went, which is at `place` or belongs there.
    ///
    /// A line that is new, or went back because its device was replaced, counts from zero.
    fn line(&mut self, place: usize, irq: u32, count: u64, out: &mut Sink) -> f64 {
        if self.lines.get(place).is_none_or(|l| l.irq != irq) {
            let line = Line {
                irq,
                before: 0,
                kind: None,
            };
            self.lines.insert(place, line);
        }
        let line = &mut self.lines[place];
        let mut amount = advance(std::mem::replace(&mut line.before, count), count);
        if amount.is_nan() {
            amount = count as f64;
            line.kind = None;
        }
        if line.kind.is_none() {
            line.kind = Some(out.word(&self.names.kind(irq)));
        }
        amount
    }

    /// The row of what the total has beyond the lines.
    fn local(&mut self, total: Option<u64>, numbered: f64, rows: bool, out: &mut Sink) {
        let before = std::mem::replace(&mut self.total, total);
        if !rows {
            return;
        }
        self.owed += match (before, total) {
            (Some(before), Some(total)) => advance(before, total) - numbered,
            _ => f64::NAN,
        };
        // What is not known is told as such, and owed no longer: `min` passes NaN over.
        let amount = if self.owed < 0.0 { 0.0 } else { self.owed };
        self.owed = self.owed.min(0.0);
        let words = self.words(out);
        let (hard, local) = (words.hard, words.local);
        out.row(self.table, &[hard, local], &[amount]);
    }

    /// Takes the numbers after `softirq `.
    pub(super) fn soft(&mut self, text: &[u8], rows: bool, out: &mut Sink) {
        let mut now = [0; SOFT.len()];
        let mut found = 0;
        // The first is the total.
        for (count, field) in now.iter_mut().zip(fields(text).skip(1)) {
            let Some(value) = number(field) else {
                return;
            };
            *count = value;
            found += 1;
        }
        if found < SOFT.len() {
            return;
        }
        let before = self.soft.replace(now);
        if !rows {
            return;
        }
        let table = self.table;
        let words = self.words(out);
        for (i, (&kind, now)) in words.kinds.iter().zip(now).enumerate() {
            let amount = before.map_or(f64::NAN, |before| advance(before[i], now));
            if i == SOFT_KEPT || amount != 0.0 {
                out.row(table, &[words.soft, kind], &[amount]);
            }
        }
    }

    fn words(&mut self, out: &mut Sink) -> &Fixed {
        self.words.get_or_insert_with(|| Fixed {
            hard: out.word("hard"),
            soft: out.word("soft"),
            local: out.word("local"),
            kinds: SOFT.map(|kind| out.word(kind)),
        })
    }
}

impl Line {
    /// The line counts nothing any more: it was given back.
    fn fall_silent(&mut self) {
        self.before = 0;
        self.kind = None;
    }
}

/// The number that `text` starts with (`None` if it has no digits or does not fit) and what
/// follows it.
fn leading_number(text: &[u8]) -> (Option<u64>, &[u8]) {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    (number(digits), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Readings {
        interrupts: Interrupts,
        out: Sink,
    }

    impl Readings {
        fn new() -> Readings {
            let names = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cpu/names");
            Readings {
                interrupts: Interrupts::new(&Host::at(names)),
                out: Sink::new(),
            }
        }

        /// The rows after taking a line: kind and count.
        fn hard(&mut self, text: &str, rows: bool) -> Vec<(String, f64)> {
            self.out.clear();
            let after = self.interrupts.hard(text.as_bytes(), rows, &mut self.out);
            assert_eq!(after, b"ctxt");
            self.rows()
        }

        fn soft(&mut self, text: &str, rows: bool) -> Vec<(String, f64)> {
            self.out.clear();
            self.interrupts.soft(text.as_bytes(), rows, &mut self.out);
            self.rows()
        }

        fn rows(&self) -> Vec<(String, f64)> {
            let rows = self.out.rows(TableId::of("interrupt"));
            let kinds = rows.words[1].iter().map(|w| self.out.words.text(*w));
            kinds
                .map(|k| k.unwrap_or("?").to_owned())
                .zip(rows.values[0].iter().copied())
                .collect()
        }
    }

    fn row(kind: &str, count: f64) -> (String, f64) {
        (kind.to_owned(), count)
    }

    /// An `intr` line of 48 numbers, of which only the named are not zero.
    fn intr(total: u64, counts: &[(usize, u64)]) -> String {
        let mut all = vec![0; 48];
        for &(irq, count) in counts {
            all[irq] = count;
        }
        let all: Vec<String> = all.iter().map(u64::to_string).collect();
        format!("{total} {} \nctxt", all.join(" "))
    }

    #[test]
    fn kinds_sum_to_the_total_and_zeros_are_skipped_right() {
        // Every place, whatever the zeros before it are grouped like.
        for irq in 0..48 {
            let mut r = Readings::new();
            assert_eq!(r.hard(&intr(100, &[(irq, 20)]), false), []);
            let rows = r.hard(&intr(160, &[(irq, 50)]), true);
            assert!(rows[0].0.ends_with(&format!("({irq})")), "{rows:?}");
            assert_eq!((rows[0].1, rows[1].clone()), (30.0, row("local", 30.0)));
        }
    }

    #[test]
    fn a_line_that_is_new_or_replaced_counts_from_zero() {
        let mut r = Readings::new();
        r.hard(&intr(1000, &[(17, 300), (40, 5)]), false);
        let rows = r.hard(&intr(1100, &[(17, 300), (36, 60), (40, 5)]), true);
        assert_eq!(rows, [row("virtio1-req.0 (36)", 60.0), row("local", 40.0)]);
        let rows = r.hard(&intr(1200, &[(17, 70), (36, 60), (40, 5)]), true);
        assert_eq!(
            rows,
            [row("ehci_hcd:usb1,snd hda (17)", 70.0), row("local", 30.0)]
        );
        // Given back, and taken again by another device.
        assert_eq!(
            r.hard(&intr(1210, &[(40, 5)]), true),
            [row("local", 10.0)],
            "silent lines have no row"
        );
        let rows = r.hard(&intr(1220, &[(36, 7), (40, 5)]), true);
        assert_eq!(rows, [row("virtio1-req.0 (36)", 7.0), row("local", 3.0)]);
    }

    #[test]
    fn lines_read_after_the_total_are_made_good() {
        let mut r = Readings::new();
        r.hard(&intr(1000, &[(36, 100)]), false);
        // Two came after the total was read.
        let rows = r.hard(&intr(1010, &[(36, 112)]), true);
        assert_eq!(rows, [row("virtio1-req.0 (36)", 12.0), row("local", 0.0)]);
        let rows = r.hard(&intr(1022, &[(36, 117)]), true);
        assert_eq!(rows, [row("virtio1-req.0 (36)", 5.0), row("local", 5.0)]);
    }

    #[test]
    fn a_text_that_breaks_off_does_not_start_lines_over() {
        let mut r = Readings::new();
        r.hard(&intr(1000, &[(36, 100)]), false);
        r.interrupts.hard(b"1010 0 0 0 x\n", true, &mut r.out);
        let rows = r.hard(&intr(1020, &[(36, 103)]), true);
        assert_eq!(rows, [row("virtio1-req.0 (36)", 3.0), row("local", 7.0)]);
    }

    #[test]
    fn a_line_wraps_at_32_bits() {
        let mut r = Readings::new();
        r.hard(&intr(1 << 40, &[(36, 4294967290)]), false);
        let rows = r.hard(&intr((1 << 40) + 25, &[(36, 14)]), true);
        assert_eq!(rows, [row("virtio1-req.0 (36)", 20.0), row("local", 5.0)]);
    }

    #[test]
    fn soft_interrupts_by_kind() {
        let mut r = Readings::new();
        assert_eq!(r.soft("55 1 2 3 4 5 6 7 8 9 4294967295", false), []);
        let rows = r.soft("63 1 2 3 9 5 6 7 8 9 2", true);
        assert_eq!(
            rows,
            [row("timer", 0.0), row("net_rx", 5.0), row("rcu", 3.0)]
        );
        assert_eq!(r.soft("63 1 2 3", true), [], "a cut line");
    }
}
