//! Processors, scheduler and interrupts, from `/proc/stat` and `/proc/loadavg`.
//!
//! ```text
//! cpu  37828 0 6712 250852 774 0 72 25 0 0
//! cpu0 18552 0 2929 126458 140 0 13 8 0 0
//! cpu1 19276 0 3782 124394 633 0 59 16 0 0
//! intr 353847 0 0 0 0 15 0 82335
//! ctxt 521987
//! btime 1795290193
//! processes 13389
//! procs_running 2
//! procs_blocked 0
//! softirq 222666 0 29670 5 6343 82335 0 110 47254 0 56949
//! ```
//! The kernel adds up every interrupt of every processor to make this file, so one source
//! reads it once for all the tables that come from it.
//!
//! <https://docs.kernel.org/filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat>

mod cpu;
mod interrupt;
mod names;

use std::io;

use run::Sink;
use run::rows::TableId;

use crate::read::{Kept, advance, fields, number};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "cpu",
    help: "time of each processor by mode, load, context switches, interrupts by device",
    reads: "/proc/stat, /proc/loadavg; names of interrupts from /sys/kernel/irq or \
            /proc/interrupts",
    link: "https://docs.kernel.org/filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat",
    detail: Detail::Samples,
    open,
};

/// The numbers of the scheduler that `/proc/stat` has.
#[derive(Clone, Copy, Debug, Default)]
struct Scheduler {
    context_switches: Option<u64>,
    forks: Option<u64>,
    runnable: Option<u64>,
    blocked: Option<u64>,
}

/// What `/proc/loadavg` says; NaN where it does not.
#[derive(Clone, Copy, Debug)]
struct Load {
    averages: [f64; 3],
    tasks: f64,
}

struct Stat {
    file: Kept,
    loadavg: Option<Kept>,
    buffer: Vec<u8>,
    tables: Tables,
}

/// What is remembered from reading to reading.
struct Tables {
    processors: cpu::Processors,
    interrupts: interrupt::Interrupts,
    before: Scheduler,
    system: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("stat");
    let file = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    Ok(Box::new(Stat {
        file,
        loadavg: Kept::open(host.proc("loadavg")).ok(),
        buffer: Vec::new(),
        tables: Tables::new(host, rustix::param::clock_ticks_per_second()),
    }))
}

impl Source for Stat {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let bytes = self.file.read(&mut self.buffer)?;
        let scheduler = self.tables.take(bytes, interval, out);
        let mut load = parse_load(b"");
        if let Some(loadavg) = &self.loadavg {
            load = parse_load(loadavg.read(&mut self.buffer)?);
        }
        self.tables.finish(scheduler, load, interval, out);
        Ok(())
    }
}

impl Tables {
    fn new(host: &Host, ticks_per_second: u64) -> Tables {
        Tables {
            processors: cpu::Processors::new(ticks_per_second),
            interrupts: interrupt::Interrupts::new(host),
            before: Scheduler::default(),
            system: TableId::of("system"),
        }
    }

    /// Fills the tables of processors and interrupts from the text of `/proc/stat`.
    fn take(&mut self, text: &[u8], interval: Option<f64>, out: &mut Sink) -> Scheduler {
        let mut now = Scheduler::default();
        let mut rest = text;
        while !rest.is_empty() {
            // The longest line is taken field by field, without looking for its end first.
            if let Some(numbers) = rest.strip_prefix(b"intr ") {
                rest = self.interrupts.hard(numbers, interval.is_some(), out);
                continue;
            }
            let end = rest.iter().position(|&b| b == b'\n');
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after.get(1..).unwrap_or_default();
            if line.starts_with(b"cpu") {
                self.processors.line(line, interval, out);
            } else if let Some(numbers) = line.strip_prefix(b"softirq ") {
                self.interrupts.soft(numbers, interval.is_some(), out);
            } else {
                now.line(line);
            }
        }
        self.processors.finish(interval, out);
        now
    }

    /// Fills the table of the scheduler.
    fn finish(&mut self, now: Scheduler, load: Load, interval: Option<f64>, out: &mut Sink) {
        let before = std::mem::replace(&mut self.before, now);
        if interval.is_none() {
            return;
        }
        let gauge = |value: Option<u64>| value.map_or(f64::NAN, |v| v as f64);
        let amount = |before: Option<u64>, now: Option<u64>| match (before, now) {
            (Some(before), Some(now)) => advance(before, now),
            _ => f64::NAN,
        };
        let values = [
            load.averages[0],
            load.averages[1],
            load.averages[2],
            gauge(now.runnable),
            gauge(now.blocked),
            load.tasks,
            amount(before.context_switches, now.context_switches),
            amount(before.forks, now.forks),
        ];
        out.row(self.system, &[], &values);
    }
}

impl Scheduler {
    /// Takes a line, if it is one of its own.
    fn line(&mut self, line: &[u8]) {
        let mut fields = fields(line);
        let place = match fields.next() {
            Some(b"ctxt") => &mut self.context_switches,
            Some(b"processes") => &mut self.forks,
            Some(b"procs_running") => &mut self.runnable,
            Some(b"procs_blocked") => &mut self.blocked,
            _ => return,
        };
        *place = fields.next().and_then(number);
    }
}

/// Reads `/proc/loadavg`: three averages, `running/all` tasks, the newest process.
///
/// ```text
/// 0.17 0.23 0.25 1/91 13393
/// ```
fn parse_load(text: &[u8]) -> Load {
    let mut fields = fields(text);
    let mut averages = [f64::NAN; 3];
    for average in &mut averages {
        *average = fields.next().and_then(hundredths).unwrap_or(f64::NAN);
    }
    let tasks = fields.next().and_then(|f| {
        let slash = f.iter().position(|&b| b == b'/')?;
        number(&f[slash + 1..])
    });
    Load {
        averages,
        tasks: tasks.map_or(f64::NAN, |t| t as f64),
    }
}

/// `12.34`, always with two decimals.
fn hundredths(field: &[u8]) -> Option<f64> {
    let (whole, decimals) = field.split_at(field.iter().position(|&b| b == b'.')?);
    let decimals = decimals.get(1..).filter(|d| d.len() == 2)?;
    Some(number(whole)? as f64 + number(decimals)? as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_and_tasks() {
        let load = parse_load(b"0.17 10.05 123.00 1/91 13393\n");
        assert_eq!(load.averages, [0.17, 10.05, 123.0]);
        assert_eq!(load.tasks, 91.0);
        let broken = parse_load(b"0.1 x 1.00 91\n");
        assert!(broken.averages[0].is_nan() && broken.averages[1].is_nan());
        assert_eq!(broken.averages[2], 1.0);
        assert!(broken.tasks.is_nan());
    }

    #[test]
    fn one_reading_fills_every_table() {
        let mut tables = Tables::new(&Host::at("/nonexistent"), 100);
        let mut out = Sink::new();
        let first = b"cpu  30 0 0 70 0 0 0 0 0 0\ncpu0 30 0 0 70 0 0 0 0 0 0\n\
            intr 100 0 0 10\nctxt 1000\nbtime 1\nprocesses 50\nprocs_running 1\n\
            procs_blocked 0\nsoftirq 10 0 1 2 3 4 0 0 0 0 0\n";
        let second = b"cpu  60 0 0 140 0 0 0 0 0 0\ncpu0 60 0 0 140 0 0 0 0 0 0\n\
            intr 150 0 0 30\nctxt 1250\nbtime 1\nprocesses 57\nprocs_running 3\n\
            procs_blocked 2\nsoftirq 13 0 1 2 6 4 0 0 0 0 0\n";
        let scheduler = tables.take(first, None, &mut out);
        tables.finish(scheduler, parse_load(b""), None, &mut out);
        assert_eq!(out.filled().count(), 0);

        let scheduler = tables.take(second, Some(1.0), &mut out);
        let load = parse_load(b"0.10 0.20 0.30 1/91 13393\n");
        tables.finish(scheduler, load, Some(1.0), &mut out);
        let system = out.rows(TableId::of("system"));
        let values: Vec<f64> = system.values.iter().map(|column| column[0]).collect();
        assert_eq!(values, [0.1, 0.2, 0.3, 3.0, 2.0, 91.0, 250.0, 7.0]);
        let filled: Vec<_> = out.filled().map(|(_, rows)| rows.table.name).collect();
        assert_eq!(filled, ["cpu", "cpu_idle", "system", "interrupt"]);
        assert_eq!(out.rows(TableId::of("cpu")).values[0], [0.3]);
    }

    #[test]
    fn no_input_makes_it_fall_over() {
        let mut tables = Tables::new(&Host::at("/nonexistent"), 100);
        let mut out = Sink::new();
        for text in [
            &b""[..],
            b"intr ",
            b"intr x\n",
            b"intr 5 99999999999999999999 3\n",
            b"cpu\ncpu0\ncpu99999999999 1 2 3 4 5 6 7 8 9 10\n",
            b"cpu0 1 2 3 4 5 6 7 8 9",
            b"cpu1 x 2 3 4 5 6 7 8 9 10\n",
            b"softirq \nsoftirq 1 2 x\nctxt\nprocesses -1\n\n\n",
        ] {
            for interval in [None, Some(1.0)] {
                let scheduler = tables.take(text, interval, &mut out);
                tables.finish(scheduler, parse_load(text), interval, &mut out);
            }
        }
    }
}
