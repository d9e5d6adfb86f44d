//! Labels of processes: `PRG`, `PRC`, `PRM`, `PRD`, `PRN`, `PRE`.
//!
//! A name is in brackets and may hold blanks and brackets; with `-Z` it has neither.

use std::collections::BTreeMap;

use run::Word;

use super::Record;
use super::system::is_whole;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::{Line, fields};

const KIB: f64 = 1024.0;

pub(super) struct Processes {
    time: Shape,
    memory: Shape,
    bytes: Shape,
    /// Of this sample, by process: its words, major faults, resident memory, threads.
    seen: BTreeMap<u64, ([Word; 2], [f64; 3])>,
}

/// A line's process, and the fields after its state.
struct Task<'a> {
    pid: &'a [u8],
    name: &'a [u8],
    state: u8,
    rest: Vec<&'a [u8]>,
}

impl<'a> Task<'a> {
    fn of(text: &'a [u8]) -> Option<Task<'a>> {
        let end = text.iter().position(u8::is_ascii_whitespace)?;
        let (pid, text) = text.split_at(end);
        let text = text.trim_ascii_start();
        if !is_whole(pid) {
            return None;
        }
        let (name, after) = if text.starts_with(b"(") {
            // The first `) S ` that ends it.
            let end = text
                .windows(4)
                .position(|w| w.starts_with(b") ") && w[2].is_ascii_alphabetic() && w[3] == b' ');
            let end = end.or_else(|| {
                let short = text.len().checked_sub(3)?;
                text[short..].starts_with(b") ").then_some(short)
            })?;
            (&text[1..end], &text[end + 1..])
        } else {
            let end = text.iter().position(u8::is_ascii_whitespace)?;
            text.split_at(end)
        };
        let mut rest = fields(after);
        let &[state] = rest.next()? else { return None };
        Some(Task {
            pid,
            name,
            state,
            rest: rest.collect(),
        })
    }

    fn at(&self, place: usize) -> f64 {
        let text = self.rest.get(place).copied();
        text.and_then(number).unwrap_or(f64::NAN)
    }

    fn text(&self, place: usize) -> &[u8] {
        self.rest.get(place).copied().unwrap_or_default()
    }
}

impl Processes {
    pub(super) fn new() -> Processes {
        Processes {
            time: Shape::of("process", &["time"]),
            memory: Shape::of("process_memory", &["major_faults", "resident", "threads"]),
            bytes: Shape::of("process_io", &["bytes"]),
            seen: BTreeMap::new(),
        }
    }

    pub(super) fn finish_sample(&mut self, out: &mut Out) {
        for (words, values) in std::mem::take(&mut self.seen).into_values() {
            out.put_amounts(&self.memory, &words, &values);
        }
    }

    pub(super) fn line(&mut self, record: &Record, out: &mut Out) -> Line {
        let Some(task) = Task::of(record.rest) else {
            return Line::Unknown;
        };
        let process = out.word(&[task.name, b"[", task.pid, b"]"].concat());
        let words = [process, out.word(task.name)];
        match record.label {
            b"PRG" => self.general(&task, words),
            b"PRC" => self.time(&task, words, out),
            b"PRM" => self.memory(&task, words, out),
            b"PRD" => self.disk(&task, words, out),
            b"PRN" => network(&task, words, out),
            _ => gpu(&task, words, out),
        }
    }

    fn of_sample(&mut self, task: &Task, words: [Word; 2]) -> &mut [f64; 3] {
        let pid = crate::number::whole(task.pid).unwrap_or(0);
        let entry = self.seen.entry(pid).or_insert((words, [f64::NAN; 3]));
        &mut entry.1
    }

    /// Identity; of numbers over time only how many threads there are.
    fn general(&mut self, task: &Task, words: [Word; 2]) -> Line {
        if task.rest.len() < 6 {
            return Line::Unknown;
        }
        // A thread's line says `n` far behind the command line; it has itself as only one.
        let is_process = task.text(2) == task.pid || task.state == b'E';
        if is_process {
            self.of_sample(task, words)[2] = task.at(3);
        }
        Line::Data
    }

    /// hz, ticks of user and system, nice, priority, real-time priority, policy, processor,
    /// sleep average, group, whether it is a process, delay in ns, …
    fn time(&self, task: &Task, words: [Word; 2], out: &mut Out) -> Line {
        let hz = task.at(0);
        if task.rest.len() < 9 || hz <= 0.0 || hz.is_nan() {
            return Line::Unknown;
        }
        if task.text(10) == b"n" {
            return Line::Data;
        }
        for (mode, at) in [("user", 1), ("system", 2)] {
            let words = [words[0], words[1], out.word(mode.as_bytes())];
            out.put_amounts(&self.time, &words, &[task.at(at) / hz]);
        }
        out.other("run queue delay", "ns", words[0], task.at(11));
        // What the process waits in stands between, in brackets.
        if task.text(12).starts_with(b"(") && task.text(12).ends_with(b")") {
            out.other("block I/O delay", "ticks", words[0], task.at(13));
        }
        Line::Data
    }

    /// Page size, then KiB: virtual, resident, text, growth of both; minor faults, major ones;
    /// libraries, data, stack, swap; group, whether it is a process, proportional size.
    fn memory(&mut self, task: &Task, words: [Word; 2], out: &mut Out) -> Line {
        if task.rest.len() < 8 || task.at(2).is_nan() {
            return Line::Unknown;
        }
        if task.text(13) == b"n" {
            return Line::Data;
        }
        let values = self.of_sample(task, words);
        values[0] = task.at(7);
        values[1] = task.at(2) * KIB;
        for (column, at) in [
            ("virtual memory", 1),
            ("shared text", 3),
            ("libraries", 8),
            ("data", 9),
            ("stack", 10),
            ("swapped", 11),
            ("proportional memory", 14),
            ("locked memory", 15),
        ] {
            out.other(column, "KiB", words[0], task.at(at));
        }
        out.other("minor faults", "count", words[0], task.at(6));
        Line::Data
    }

    /// `n`, whether the numbers are there; reads, sectors, writes, sectors, cancelled ones.
    fn disk(&self, task: &Task, words: [Word; 2], out: &mut Out) -> Line {
        if task.rest.len() < 7 {
            return Line::Unknown;
        }
        if task.text(1) != b"y" || task.text(9) == b"n" {
            return Line::Data;
        }
        for (op, at) in [("read", 3), ("write", 5)] {
            let words = [words[0], words[1], out.word(op.as_bytes())];
            out.put_amounts(&self.bytes, &words, &[task.at(at) * 512.0]);
        }
        out.other("writes cancelled", "sectors", words[0], task.at(6));
        Line::Data
    }
}

fn network(task: &Task, words: [Word; 2], out: &mut Out) -> Line {
    if task.rest.len() < 9 {
        return Line::Unknown;
    }
    if task.text(0) == b"y" {
        let columns = [
            "TCP packets sent",
            "TCP bytes sent",
            "TCP packets received",
            "TCP bytes received",
            "UDP packets sent",
            "UDP bytes sent",
            "UDP packets received",
            "UDP bytes received",
        ];
        for (i, column) in columns.into_iter().enumerate() {
            out.other(column, "count", words[0], task.at(i + 1));
        }
    }
    Line::Data
}

fn gpu(task: &Task, words: [Word; 2], out: &mut Out) -> Line {
    // `N`: it uses none.
    if !matches!(task.text(0), b"" | b"N") {
        for (column, unit, at) in [
            ("GPU busy", "%", 3),
            ("GPU memory busy", "%", 4),
            ("GPU memory", "KiB", 5),
        ] {
            out.other(column, unit, words[0], task.at(at));
        }
    }
    Line::Data
}

#[cfg(test)]
mod tests {
    use super::Task;

    #[test]
    fn names_with_blanks_and_brackets() {
        for (text, name, state) in [
            ("12 (a b) S 100 2", "a b", b'S'),
            ("12 (a) x) R 100 2", "a) x", b'R'),
            ("12 ((sd-pam)) S 100 2", "(sd-pam)", b'S'),
            ("12 a_b S 100 2", "a_b", b'S'),
            ("12 (bash) S", "bash", b'S'),
        ] {
            let task = Task::of(text.as_bytes()).unwrap();
            assert_eq!((task.name, task.state), (name.as_bytes(), state), "{text}");
        }
        for text in ["", "12", "x (a) S", "12 (a", "12 (a) SS 1"] {
            assert!(Task::of(text.as_bytes()).is_none(), "{text}");
        }
    }
}
