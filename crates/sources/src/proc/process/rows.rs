//! Who is named, and the rows.

use run::rows::TableId;
use run::{Sink, Word};

use super::{IO, KINDS, Process};
use crate::read::printable;

/// Writes the rows of a sample.
pub(super) struct Report {
    /// How many are named by each of time, disk bytes and memory.
    top: usize,
    tick: f64,
    ticks: u64,
    page: f64,
    order: Vec<u32>,
    fixed: Option<Fixed>,
    time: TableId,
    memory: TableId,
    io: TableId,
}

/// Words that are always the same.
#[derive(Clone, Copy)]
struct Fixed {
    modes: [Word; 2],
    ops: [Word; 2],
    other: Word,
    exited: Word,
}

/// What is added up for `(other)`.
#[derive(Default)]
struct Rest {
    amounts: [u64; KINDS],
    io_known: bool,
    resident: u64,
    threads: u64,
}

impl Report {
    pub(super) fn new(top: usize) -> Report {
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        Report {
            top,
            tick: 1.0 / ticks as f64,
            ticks,
            page: rustix::param::page_size() as f64,
            order: Vec::new(),
            fixed: None,
            time: TableId::of("process"),
            memory: TableId::of("process_memory"),
            io: TableId::of("process_io"),
        }
    }

    pub(super) fn rows(&mut self, live: &mut [Process], out: &mut Sink) {
        let fixed = *self.fixed.get_or_insert_with(|| Fixed {
            modes: [out.word("user"), out.word("system")],
            ops: [out.word("read"), out.word("write")],
            other: out.word("(other)"),
            exited: out.word("(exited)"),
        });
        let if_moved = |p: &Process, amount: fn(&Process) -> u64| {
            let amount = p.moves().then(|| amount(p));
            amount.unwrap_or(0)
        };
        self.name(live, |p| if_moved(p, |p| p.spent[0] + p.spent[1]));
        self.name(live, |p| if_moved(p, |p| p.growth[IO] + p.growth[IO + 1]));
        self.name(live, |p| p.resident);
        let mut rest = Rest::default();
        let mut exited = [0_u64; IO];
        for process in live {
            if process.moves() {
                for (sum, grown) in exited.iter_mut().zip(process.growth) {
                    *sum += grown;
                }
            }
            if std::mem::take(&mut process.named) {
                self.named(process, fixed, out);
            } else {
                rest.add(process);
            }
        }
        self.rest(&rest, exited, fixed, out);
    }

    /// Names the largest by `size`; what has none is not named.
    fn name(&mut self, live: &mut [Process], size: impl Fn(&Process) -> u64) {
        self.order.clear();
        let has = |(place, p): (usize, &Process)| (size(p) > 0).then_some(place as u32);
        self.order.extend(live.iter().enumerate().filter_map(has));
        if self.order.len() > self.top {
            let largest_first = |place: &u32| std::cmp::Reverse(size(&live[*place as usize]));
            self.order
                .select_nth_unstable_by_key(self.top, largest_first);
            self.order.truncate(self.top);
        }
        for place in &self.order {
            live[*place as usize].named = true;
        }
    }

    fn named(&self, process: &mut Process, fixed: Fixed, out: &mut Sink) {
        let [name, command] = match process.words {
            Some(words) => words,
            None => *process.words.insert(self.words(process, out)),
        };
        for (spent, mode) in process.spent.into_iter().zip(fixed.modes) {
            if spent > 0 {
                out.row(
                    self.time,
                    &[name, command, mode],
                    &[spent as f64 * self.tick],
                );
            }
        }
        let memory = [
            process.spent[2] as f64,
            process.resident as f64 * self.page,
            f64::from(process.threads),
        ];
        out.row(self.memory, &[name, command], &memory);
        for (bytes, op) in process.growth[IO..].iter().zip(fixed.ops) {
            if *bytes > 0 {
                out.row(self.io, &[name, command, op], &[*bytes as f64]);
            }
        }
    }

    /// `comm[pid@start]` and the name of the program.
    fn words(&self, process: &Process, out: &mut Sink) -> [Word; 2] {
        let command = printable(process.command());
        let seconds = process.start / self.ticks;
        let hundredths = process.start % self.ticks * 100 / self.ticks;
        let name = format!("{command}[{}@{seconds}.{hundredths:02}]", process.pid);
        [out.word(&name), out.word(&command)]
    }

    fn rest(&self, rest: &Rest, exited: [u64; IO], fixed: Fixed, out: &mut Sink) {
        let seconds = |ticks: u64| ticks as f64 * self.tick;
        for (mode, word) in fixed.modes.into_iter().enumerate() {
            let other = [fixed.other, fixed.other, word];
            out.row(self.time, &other, &[seconds(rest.amounts[mode])]);
            if exited[mode] > 0 {
                let ended = [fixed.exited, fixed.exited, word];
                out.row(self.time, &ended, &[seconds(exited[mode])]);
            }
        }
        let memory = [
            rest.amounts[2] as f64,
            rest.resident as f64 * self.page,
            rest.threads as f64,
        ];
        out.row(self.memory, &[fixed.other; 2], &memory);
        if exited[2] > 0 {
            out.row(
                self.memory,
                &[fixed.exited; 2],
                &[exited[2] as f64, 0.0, 0.0],
            );
        }
        for (op, word) in fixed.ops.into_iter().enumerate() {
            let bytes = if rest.io_known {
                rest.amounts[IO + op] as f64
            } else {
                f64::NAN
            };
            out.row(self.io, &[fixed.other, fixed.other, word], &[bytes]);
        }
    }
}

impl Rest {
    fn add(&mut self, process: &Process) {
        if process.moves() {
            for kind in 0..IO {
                self.amounts[kind] += process.spent[kind];
            }
            for kind in IO..KINDS {
                self.amounts[kind] += process.growth[kind];
            }
        }
        self.io_known |= process.io_known;
        self.resident += process.resident;
        self.threads += u64::from(process.threads);
    }
}
