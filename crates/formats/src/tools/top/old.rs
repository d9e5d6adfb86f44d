//! `top` of procps 2 and before, whose lines are read as those that later versions have for them.
//!
//! ```text
//!  21:59:09  up 6 min,  3 users,  load average: 0.91, 0.57, 0.28
//! 34 processes: 33 sleeping, 1 running, 0 zombie, 0 stopped
//! CPU states:  24.9% user   7.9% system   0.0% nice  63.7% iowait   3.3% idle
//! Mem:    21216k av,   20700k used,     516k free,       0k shrd,     324k buff
//!         11748k active,               4388k inactive
//! Swap:  272120k av,    1848k used,  270272k free                    8960k cached
//!
//!   PID USER     PRI  NI  SIZE  RSS SHARE STAT %CPU %MEM   TIME CPU COMMAND
//! ```
//!
//! Of several processors each has such a line (`CPU0 states:`) or, in Red Hat's, a row of a table.

use super::text::rest_from;
use crate::fields;
use crate::number::{decimal, whole};
use crate::recognise::Head;

/// What of the old screen is known.
#[derive(Default)]
pub(super) struct Old {
    /// Columns of the table of processors.
    shares: Vec<String>,
}

/// A line as later versions have it.
pub(super) enum Modern {
    Line(Vec<u8>),
    /// Numbers that those do not tell: pages in use or not.
    Pages(Vec<(&'static str, Vec<u8>)>),
    /// It tells no number.
    Noise,
    /// It is the same.
    Same,
}

/// Whether it is a text of such a version, by its header or by `Mem: 21216k av, 20700k used, …`.
pub(super) fn is_old(head: &Head) -> bool {
    head.lines().any(|line| {
        let all: Vec<&[u8]> = fields(line).collect();
        matches!(all[..], [b"Mem:", _, b"av,", _, b"used,", ..]) || is_header(&all)
    })
}

/// The header of the tasks.
fn is_header(all: &[&[u8]]) -> bool {
    ["PID", "SIZE", "RSS", "SHARE", "%CPU"]
        .iter()
        .all(|n| all.contains(&n.as_bytes()))
}

impl Old {
    pub(super) fn modern(&mut self, line: &[u8]) -> Modern {
        let all: Vec<&[u8]> = fields(line).collect();
        match all[..] {
            [time, b"up", .., _, _, _] if all.contains(&&b"average:"[..]) => {
                // Versions that print no seconds do not tell when.
                let is_whole = time.split(|b| *b == b':').count() == 3;
                let time = if is_whole { time } else { &b"-"[..] };
                Modern::Line([&b"top - "[..], time, b" ", rest_from(line, 1)].concat())
            }
            [count, b"processes:", ..] => {
                Modern::Line([&b"Tasks: "[..], count, b" total, ", rest_from(line, 2)].concat())
            }
            [b"CPU", b"states:", b"cpu", ref names @ ..] => {
                let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
                self.shares = names.iter().map(text).collect();
                Modern::Noise
            }
            [cpu, b"states:", ref pairs @ ..] if cpu.starts_with(b"CPU") => {
                let shares: Vec<&[u8]> = pairs.iter().step_by(2).copied().collect();
                let names = pairs.iter().skip(1).step_by(2);
                let names: Vec<String> = names
                    .map(|name| String::from_utf8_lossy(name).replace(',', ""))
                    .collect();
                processors(&cpu[3..], &shares, &names).unwrap_or(Modern::Same)
            }
            [b"total", ref shares @ ..] => {
                processors(b"", shares, &self.shares).unwrap_or(Modern::Same)
            }
            [cpu, ref shares @ ..] if cpu.starts_with(b"cpu") => {
                processors(&cpu[3..], shares, &self.shares).unwrap_or(Modern::Same)
            }
            [b"Mem:" | b"Swap:", ..] => {
                let words = all.iter().map(|word| match *word {
                    b"av," => &b"total,"[..],
                    b"buff" => b"buffers",
                    word => word,
                });
                Modern::Line(words.collect::<Vec<_>>().join(&b' '))
            }
            [_, b"active," | b"actv,", ..] => {
                let names = all.iter().skip(1).step_by(2);
                let names = names.map_while(|name| pages(name));
                let sizes = all.iter().step_by(2).map(|size| size.to_vec());
                Modern::Pages(names.zip(sizes).collect())
            }
            _ if is_header(&all) => {
                let names = all.iter().map(|name| match *name {
                    b"SIZE" => &b"VIRT"[..],
                    b"RSS" => b"RES",
                    b"SHARE" => b"SHR",
                    b"STAT" => b"S",
                    b"CPU" => b"P",
                    name => name,
                });
                Modern::Line(names.collect::<Vec<_>>().join(&b' '))
            }
            _ => Modern::Same,
        }
    }
}

/// The line of a processor by its number, or of all: their shares may be the sum of each one's.
fn processors(number: &[u8], shares: &[&[u8]], names: &[String]) -> Option<Modern> {
    /// Percent, of each: they are rounded.
    const WITHIN: f64 = 2.0;
    let share = |text: &&[u8]| decimal(text.strip_suffix(b"%")?);
    let shares: Vec<f64> = shares.iter().map(share).collect::<Option<_>>()?;
    if shares.is_empty() || shares.len() != names.len() {
        return None;
    }
    let pairs = |count: f64| {
        let pair = |(share, name): (&f64, &String)| format!("{} {name}", share / count);
        let all: Vec<String> = shares.iter().zip(names).map(pair).collect();
        all.join(", ")
    };
    let line = if number.is_empty() {
        // Of a line that was cut not even how many they are is known.
        let sum: f64 = shares.iter().sum();
        let count = (sum / 100.0).round();
        if count < 1.0 || (sum - 100.0 * count).abs() > WITHIN * count {
            return None;
        }
        format!("%Cpu(s): {}", pairs(count))
    } else {
        format!("%Cpu{}: {}", whole(number)?, pairs(1.0))
    };
    Some(Modern::Line(line.into_bytes()))
}

/// What kind of pages a word counts.
fn pages(word: &[u8]) -> Option<&'static str> {
    Some(match word.strip_suffix(b",").unwrap_or(word) {
        b"active" | b"actv" => "active",
        b"inactive" => "inactive",
        b"in_d" => "inactive dirty",
        b"in_c" => "inactive clean",
        b"in_l" => "inactive laundry",
        b"target" => "inactive target",
        _ => return None,
    })
}

/// A task's row without the mark of its priority behind the state, in a field of its own where the task
/// has memory: `S <`, `S N`.
pub(super) fn without_mark(line: &[u8], state: usize) -> Vec<u8> {
    let rest = rest_from(line, state + 1);
    let Some(after) = [b"< ", b"N "]
        .iter()
        .find_map(|m| rest.strip_prefix(&m[..]))
    else {
        return line.to_vec();
    };
    [&line[..line.len() - rest.len()], after].concat()
}
