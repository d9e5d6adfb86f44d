//! What `vmstat` of HP-UX prints beside its usual table: with `-n` two tables a report, of which the
//! second has a line for each processor, and with `-d` the disks (`vmstat(1)` of HP-UX 11i).
//!
//! ```text
//! VM
//!        memory                   page                          faults
//!      avm    free   re   at    pi   po    fr   de    sr     in     sy    cs
//!    80000  200000    5    1     0    0     0    0     0    300    700   150
//! CPU
//!     cpu          procs
//!  us sy id     r     b     w
//!   4  1 95     1     0     0
//!   6  2 92
//!
//! Disk Transfers
//!     device     xfer/sec
//!     c2t6d0           12
//! ```

use crate::number::number;
use crate::out::{Out, Shape};
use crate::{disk::layer, fields, numbers};

/// Columns of the second table of `-n`.
const PROCESSORS: [&str; 6] = ["us", "sy", "id", "r", "b", "w"];

/// Whether those are the columns of the first table of `-n`.
pub(super) fn is_memory(names: &[String]) -> bool {
    let begins = |with: [&str; 4]| names.iter().take(4).eq(with.iter());
    (begins(["avm", "free", "re", "at"]) || begins(["avm", "free", "si", "so"]))
        && names.last().is_some_and(|last| last == "cs")
}

/// Which table the rows below are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The usual one.
    Whole,
    Memory,
    Processors,
    Disks,
}

/// What a line is.
pub(super) enum Taken {
    Heading,
    /// A row of the first table, with which a report begins; it waits for the second.
    Begins,
    /// A report with all its columns; the shares are of processor 0.
    Report(Vec<String>, Vec<f64>),
    /// Shares of user, system and idle of the processor of that number.
    Processor(usize, [f64; 3]),
    /// I/Os a second of a disk.
    Disk,
}

pub(super) struct Parts {
    part: Part,
    names: Vec<String>,
    /// The row of the first table of `-n`, until the second comes.
    memory: Option<Vec<f64>>,
    /// Rows of the second since its header.
    processors: usize,
    disk: Shape,
}

impl Parts {
    pub(super) fn new() -> Parts {
        Parts {
            part: Part::Whole,
            names: Vec::new(),
            memory: None,
            processors: 0,
            disk: Shape::of("disk", &["ios"]),
        }
    }

    /// Whether the report that a row ends has other tables, and with them more headers.
    pub(super) fn are_many(&self) -> bool {
        self.part != Part::Whole
    }

    /// The usual table begins.
    pub(super) fn whole(&mut self) {
        self.part = Part::Whole;
    }

    /// Columns of the table whose row begins a report, if that is the first of `-n`.
    pub(super) fn width(&self) -> Option<usize> {
        matches!(self.part, Part::Memory | Part::Processors).then_some(self.names.len())
    }

    /// Takes a line of these tables.
    pub(super) fn take(&mut self, line: &[u8], names: &[String], out: &mut Out) -> Option<Taken> {
        let text = line.trim_ascii();
        if matches!(text, b"VM" | b"CPU" | b"Disk Transfers") {
            return Some(Taken::Heading);
        }
        if is_memory(names) {
            (self.part, self.names, self.memory) = (Part::Memory, names.to_vec(), None);
            return Some(Taken::Heading);
        }
        if self.part == Part::Memory && names.iter().eq(PROCESSORS.iter()) {
            (self.part, self.processors) = (Part::Processors, 0);
            return Some(Taken::Heading);
        }
        if names.iter().eq(["device", "xfer/sec"].iter()) {
            self.part = Part::Disks;
            return Some(Taken::Heading);
        }
        let is = |heads: &[&str]| names.iter().eq(heads.iter());
        if is(&["memory", "page", "faults"]) || is(&["cpu", "procs"]) {
            return Some(Taken::Heading);
        }
        match self.part {
            Part::Whole => None,
            Part::Memory => {
                let values = numbers(fields(line))?;
                (values.len() == self.names.len()).then(|| self.memory = Some(values))?;
                Some(Taken::Begins)
            }
            Part::Processors => self.processor(line),
            Part::Disks => self.disk(line, out),
        }
    }

    fn processor(&mut self, line: &[u8]) -> Option<Taken> {
        let values = numbers(fields(line))?;
        let shares = values.first_chunk().copied();
        let shares = shares.filter(|s: &[f64; 3]| (s.iter().sum::<f64>() - 100.0).abs() <= 2.0)?;
        let number = self.processors;
        if number > 0 {
            (values.len() == 3).then(|| self.processors += 1)?;
            return Some(Taken::Processor(number, shares));
        }
        if values.len() != PROCESSORS.len() {
            return None;
        }
        let (mut names, mut all) = (self.names.clone(), self.memory.take()?);
        names.extend(PROCESSORS.map(str::to_owned));
        all.extend(values);
        self.processors = 1;
        Some(Taken::Report(names, all))
    }

    fn disk(&mut self, line: &[u8], out: &mut Out) -> Option<Taken> {
        let words: Vec<&[u8]> = fields(line).collect();
        let [name, transfers] = words[..] else {
            return None;
        };
        if number(name).is_some() {
            return None;
        }
        let transfers = number(transfers)?;
        let layer = layer(name);
        let words = [name, layer.as_bytes(), b"(all)"].map(|w| out.word(w));
        out.put(&self.disk, &words, &[transfers]);
        Some(Taken::Disk)
    }
}
