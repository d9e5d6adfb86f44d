//! The kernel's receive path per processor, from `/proc/net/softnet_stat`.
//!
//! ```text
//! 00001403 00000000 00000000 00000000 … 00000000 00000000 00000000 00000001 00000000 00000000
//! ```
//! A line per processor that is online, in hexadecimal: 0 packets processed, 1 dropped, 2
//! times squeezed, 9 wake-ups by another processor (RPS), 10 dropped by the flow limit, and
//! since 5.10: 12 the processor's number. Before that, lines stand for the processors of
//! `/sys/devices/system/cpu/online`. All are 32 bits wide and wrap.
//!
//! <https://docs.kernel.org/networking/scaling.html>

use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, advance, fields, lines, number};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "softnet",
    help: "the kernel's receive path, per processor: packets, drops, squeezes",
    reads: "/proc/net/softnet_stat",
    link: "https://docs.kernel.org/networking/scaling.html",
    detail: Detail::Samples,
    open,
};

/// Columns, in the order of the table.
const COLUMNS: [usize; 5] = [0, 1, 2, 9, 10];
const NUMBER: usize = 12;
/// More processors than Linux can have.
const MOST: u32 = 65536;

/// A line's counters, in the order of the table; `None` where an old kernel has not yet
/// that column.
pub type Counters = [Option<u32>; 5];

/// The processor's number, where the line has it, and its counters; `None` if it is no
/// such line.
pub fn parse_line(line: &[u8]) -> Option<(Option<u32>, Counters)> {
    let mut counters = [None; 5];
    let mut cpu = None;
    for (column, field) in fields(line).enumerate() {
        let value = hexadecimal(field)?;
        if let Some(place) = COLUMNS.iter().position(|&c| c == column) {
            counters[place] = Some(value);
        } else if column == NUMBER {
            cpu = Some(value);
        }
    }
    counters[0].map(|_| (cpu, counters))
}

/// A number of at most eight hexadecimal digits.
fn hexadecimal(field: &[u8]) -> Option<u32> {
    if field.is_empty() || field.len() > 8 {
        return None;
    }
    field.iter().try_fold(0_u32, |value, &b| {
        let digit = char::from(b).to_digit(16)?;
        Some(value << 4 | digit)
    })
}

/// Puts the processors of a list as `0-3,8` into `cpus`.
fn parse_list(text: &[u8], cpus: &mut Vec<u32>) -> Option<()> {
    cpus.clear();
    for part in text.trim_ascii().split(|&b| b == b',') {
        let mut ends = part.splitn(2, |&b| b == b'-').map(number);
        let first = u32::try_from(ends.next()??).ok()?;
        let last = match ends.next() {
            Some(last) => u32::try_from(last?).ok()?,
            None => first,
        };
        if last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(())
}

struct Cpu {
    number: u32,
    word: Word,
    /// Its counters at the last reading, if it was online then.
    before: Option<Counters>,
    now: Option<Counters>,
}

struct Softnet {
    file: Kept,
    buffer: Vec<u8>,
    /// Names the lines on old kernels.
    online: Option<Kept>,
    list: Vec<u8>,
    numbers: Vec<u32>,
    /// By number.
    cpus: Vec<Cpu>,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(new(host)?))
}

fn new(host: &Host) -> Result<Softnet, Availability> {
    let path = host.proc("net/softnet_stat");
    let file = Kept::open(&path).map_err(|e| {
        let needs = "a kernel with networking (CONFIG_NET) and a mounted /proc";
        let remedy = "in a container, give it /proc/net/softnet_stat to read";
        Availability::of(&path, &e, needs, remedy)
    })?;
    Ok(Softnet {
        file,
        buffer: Vec::new(),
        online: Kept::open(host.sys("devices/system/cpu/online")).ok(),
        list: Vec::new(),
        numbers: Vec::new(),
        cpus: Vec::new(),
        table: TableId::of("softnet"),
    })
}

impl Source for Softnet {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let bytes = self.file.read(&mut self.buffer)?;
        let unnumbered = lines(bytes)
            .filter_map(parse_line)
            .any(|(cpu, _)| cpu.is_none());
        self.numbers.clear();
        if unnumbered {
            let read = self.online.as_ref().map(|o| o.read(&mut self.list));
            let parsed = read
                .transpose()?
                .and_then(|l| parse_list(l, &mut self.numbers));
            // Without as many names as lines, no line can be named.
            if parsed.is_none() || self.numbers.len() != lines(bytes).count() {
                self.numbers.clear();
            }
        }
        for (at, (cpu, counters)) in lines(bytes).filter_map(parse_line).enumerate() {
            let Some(cpu) = cpu.or_else(|| self.numbers.get(at).copied()) else {
                continue;
            };
            let place = self.cpus.binary_search_by_key(&cpu, |c| c.number);
            let place = place.unwrap_or_else(|place| {
                let known = Cpu {
                    number: cpu,
                    word: out.word(&cpu.to_string()),
                    before: None,
                    now: None,
                };
                self.cpus.insert(place, known);
                place
            });
            self.cpus[place].now = Some(counters);
        }
        for cpu in &mut self.cpus {
            let now = cpu.now.take();
            let before = std::mem::replace(&mut cpu.before, now);
            // A processor that was offline kept its counters: they tell nothing of this
            // interval.
            if let (Some(_), Some(before), Some(now)) = (interval, before, now) {
                out.row(self.table, &[cpu.word], &amounts(&before, &now));
            }
        }
        Ok(())
    }
}

fn amounts(before: &Counters, now: &Counters) -> [f64; 5] {
    let mut amounts = [f64::NAN; 5];
    for (amount, (before, now)) in amounts.iter_mut().zip(before.iter().zip(now)) {
        if let (Some(before), Some(now)) = (*before, *now) {
            *amount = advance(u64::from(before), u64::from(now));
        }
    }
    amounts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(case: &str) -> Host {
        let root = env!("CARGO_MANIFEST_DIR");
        Host::at(format!("{root}/fixtures/softnet/{case}"))
    }

    /// Processor and values of each row, between two cases.
    fn between(first: &str, second: &str) -> Vec<(String, Vec<f64>)> {
        let mut softnet = new(&host(first)).unwrap();
        let mut out = Sink::new();
        softnet.sample(None, &mut out).unwrap();
        softnet.file = Kept::open(host(second).proc("net/softnet_stat")).unwrap();
        softnet.sample(Some(1.0), &mut out).unwrap();
        let rows = out.rows(TableId::of("softnet"));
        (0..rows.len())
            .map(|i| {
                let cpu = out.words.text(rows.words[0][i]).unwrap().to_owned();
                (cpu, rows.values.iter().map(|v| v[i]).collect())
            })
            .collect()
    }

    #[test]
    fn lines_of_each_age() {
        let new = b"0000000a 00000001 00000002 00000000 00000000 00000000 00000000 00000000 \
                    00000000 00000003 00000004 000000ff 00000011 00000000 00000000";
        let expected = [Some(10), Some(1), Some(2), Some(3), Some(4)];
        assert_eq!(parse_line(new), Some((Some(17), expected)));
        let old = b"0000000a 00000001 00000002 00000000 00000000 00000000 00000000 00000000 \
                    00000000";
        let expected = [Some(10), Some(1), Some(2), None, None];
        assert_eq!(parse_line(old), Some((None, expected)));
        assert_eq!(parse_line(b"packets dropped"), None);
        assert_eq!(parse_line(b"000000001"), None);
    }

    #[test]
    fn lists_of_processors() {
        let mut cpus = Vec::new();
        assert!(parse_list(b"0-2,5\n", &mut cpus).is_some());
        assert_eq!(cpus, [0, 1, 2, 5]);
        for bad in [&b""[..], b"0-", b"x", b"0-4294967295", b"1,,2"] {
            assert!(parse_list(bad, &mut cpus).is_none());
        }
    }

    #[test]
    fn counters_wrap_and_processors_keep_their_number() {
        // Processor 1 went offline, 3 came online, 2 wrapped.
        let rows = between("first", "second");
        assert_eq!(
            rows,
            [
                ("0".to_owned(), vec![16.0, 1.0, 2.0, 3.0, 4.0]),
                ("2".to_owned(), vec![32.0, 0.0, 0.0, 0.0, 0.0]),
            ]
        );
    }

    #[test]
    fn old_lines_are_named_by_what_is_online() {
        let rows = between("old", "old-later");
        let cpus: Vec<_> = rows.iter().map(|r| (r.0.as_str(), r.1[0])).collect();
        assert_eq!(cpus, [("0", 1.0), ("2", 2.0)]);
        assert!(rows[0].1[4].is_nan());
    }
}
