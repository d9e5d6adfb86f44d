//! `net/softnet_stat`: what each processor took from the network, in hexadecimal.
//!
//! ```text
//! 00001403 00000000 00000002 00000000 … 00000000 00000000 00000000 00000001 00000000 00000000
//! ```
//! Packets, dropped, squeezed; tenth the wake-ups for other processors (RPS), eleventh what the flow
//! limit dropped, thirteenth (since Linux 5.10) the processor's number (`softnet_seq_show` of
//! `net/core/net-procfs.c`). All are 32 bits wide and wrap.

use std::collections::HashMap;

use crate::out::{Out, Shape};

use super::counted::put_grown;

/// Columns, in the order of the table.
const COLUMNS: [usize; 5] = [0, 1, 2, 9, 10];
const NUMBER: usize = 12;
/// Linux 2.6 has nine.
const LEAST: usize = 9;

/// A line's counters, in the order of the table, and the processor's number where it is there.
pub(super) struct Taken {
    pub(super) cpu: Option<u32>,
    counters: [Option<u32>; 5],
}

impl Taken {
    pub(super) fn of(all: &[&[u8]]) -> Option<Taken> {
        if all.len() < LEAST {
            return None;
        }
        let all: Vec<u32> = all.iter().map(|f| hexadecimal(f)).collect::<Option<_>>()?;
        Some(Taken {
            cpu: all.get(NUMBER).copied(),
            counters: COLUMNS.map(|column| all.get(column).copied()),
        })
    }
}

fn hexadecimal(field: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(field).ok()?;
    let plain = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| plain)
}

pub(super) struct Softnet {
    shape: Shape,
    before: HashMap<u32, [Option<u32>; 5]>,
    /// Lines of the present reading.
    lines: u32,
}

impl Softnet {
    pub(super) fn new() -> Softnet {
        Softnet {
            shape: Shape::of(
                "softnet",
                &["packets", "drops", "squeezes", "steered", "flow_limited"],
            ),
            before: HashMap::new(),
            lines: 0,
        }
    }

    pub(super) fn finish_reading(&mut self) {
        self.lines = 0;
    }

    pub(super) fn line(&mut self, taken: &Taken, out: &mut Out) {
        let cpu = taken.cpu.unwrap_or_else(|| {
            out.note("the processors of softnet_stat are numbered as their lines stand");
            self.lines
        });
        self.lines += 1;
        let before = self.before.insert(cpu, taken.counters);
        let number = |n: Option<u32>| n.map_or(f64::NAN, f64::from);
        let values = match before {
            None => taken.counters.map(number),
            Some(before) => {
                let mut grown = [f64::NAN; 5];
                for (grown, (now, before)) in
                    grown.iter_mut().zip(taken.counters.into_iter().zip(before))
                {
                    *grown = number(now.zip(before).and_then(|(now, before)| grew(now, before)));
                }
                grown
            }
        };
        let word = out.word(cpu.to_string().as_bytes());
        put_grown(out, &self.shape, &[word], &values, before.is_none());
    }
}

/// How far a counter grew; `None` where it rather began anew than wrapped.
fn grew(now: u32, before: u32) -> Option<u32> {
    let grown = now.wrapping_sub(before);
    (now >= before || grown < 1 << 31).then_some(grown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_words_of_eight_digits() {
        let words = |text: &'static str| crate::fields(text.as_bytes()).collect::<Vec<_>>();
        let old = Taken::of(&words(
            "0000001f 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003",
        ));
        let old = old.unwrap();
        assert_eq!(old.cpu, None);
        assert_eq!(old.counters, [Some(31), Some(1), Some(2), None, None]);
        assert!(Taken::of(&words("0000001f 00000001")).is_none());
        assert!(Taken::of(&words("1f 1 2 0 0 0 0 0 3")).is_none());
        assert_eq!(grew(5, u32::MAX), Some(6));
        assert_eq!(grew(5, 1000), None);
        assert_eq!(grew(1000, 5), Some(995));
    }
}
