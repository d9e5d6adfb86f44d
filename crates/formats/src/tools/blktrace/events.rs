//! Events of the block layer as ftrace, `trace-cmd report` and `perf script` print them.
//!
//! ```text
//!   dd-1234    [001] d..1.  1234.567890: block_rq_issue: 8,0 R 65536 () 2048 + 128 none,0,0 [dd]
//!   dd  1234 [001]  1234.567890: block:block_rq_issue: 8,0 R 65536 () 2048 + 128 [dd]
//! ```
//!
//! Task, processor, seconds since boot, the event, then what its `TP_printk` in the kernel's
//! `include/trace/events/block.h` has: device, letters, of requests the bytes and a command in
//! parentheses, start and length in sectors of 512 bytes, since 6.7 a priority, and the process's
//! name or the error in brackets.

use super::pairing::Pairing;
use super::text::{device, kind, next, whole};
use super::{Action, Op, Record, comm};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "block-events",
    tool: "ftrace",
    systems: "Linux",
    help: "each I/O, from the block layer's events that ftrace, trace-cmd or perf script print",
    recognised: "lines `dd-1234 [001] d..1. 1234.567890: block_rq_issue: 8,0 R …`, or as perf has them",
    yields: &["disk_event"],
    example: "\
              dd-1234    [001] d..1.  1234.567890: block_bio_queue: 8,0 R 2048 + 128 [dd]
              dd-1234    [001] d..1.  1234.567950: block_rq_issue: 8,0 R 65536 () 2048 + 128 [dd]
          <idle>-0       [001] d.h2.  1234.568950: block_rq_complete: 8,0 R () 2048 + 128 [0]
",
    recognise: |head: &Head| {
        let mut found = 0;
        for line in head.lines() {
            match event(line) {
                Some(event) if event.name.starts_with(b"block_") => return 93,
                // For the reason why they are not read.
                Some(_) => found = 40,
                None => {}
            }
        }
        found
    },
    parser: || Box::new(Events::new()),
};

/// A line that tells of an event.
struct Event<'a> {
    pid: u32,
    /// Nanoseconds.
    time: u64,
    name: &'a [u8],
    /// What it has.
    rest: &'a [u8],
}

/// Reads what stands before each event.
fn event(line: &[u8]) -> Option<Event<'_>> {
    // Of the processor in brackets, and the first time behind it.
    let open = memchr::memmem::find(line, b" [")?;
    let (task, rest) = (&line[..open], &line[open + 2..]);
    let (cpu, mut rest) = rest.split_at(memchr::memchr(b']', rest)?);
    whole(cpu)?;
    rest = &rest[1..];
    let time = loop {
        let (field, after) = next(rest);
        if field.is_empty() {
            return None;
        }
        rest = after;
        if let Some(time) = field.strip_suffix(b":") {
            break nanos(time)?;
        }
    };
    let (mut name, mut after) = next(rest);
    // perf prints a period with some options.
    if whole(name).is_some() {
        (name, after) = next(after);
    }
    let name = name.strip_suffix(b":")?;
    // perf's has the subsystem before it.
    let name = match memchr::memchr(b':', name) {
        Some(at) => &name[at + 1..],
        None => name,
    };
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    if name.is_empty() || !name.iter().all(is_name) {
        return None;
    }
    Some(Event {
        pid: process(task)?,
        time,
        name,
        rest: after.trim_ascii(),
    })
}

/// The process of `dd-1234`, `dd-1234  (  1230)`, `dd  1234` and `dd 1230/1234`.
fn process(task: &[u8]) -> Option<u32> {
    let mut task = task.trim_ascii();
    if task.ends_with(b")") {
        task = task[..memchr::memrchr(b'(', task)?].trim_ascii_end();
    }
    let at = task.iter().rposition(|b| !b.is_ascii_digit())?;
    let (before, digits) = (&task[..at], &task[at + 1..]);
    let digits = match task[at] {
        b'-' | b' ' => digits,
        b'/' => {
            let from = before.iter().rposition(|b| !b.is_ascii_digit());
            &before[from.map_or(0, |at| at + 1)..]
        }
        _ => return None,
    };
    u32::try_from(whole(digits)?).ok()
}

/// `1234.567890` in nanoseconds: of ftrace six digits, of others nine as well.
fn nanos(text: &[u8]) -> Option<u64> {
    let point = memchr::memchr(b'.', text)?;
    let (seconds, fraction) = (&text[..point], &text[point + 1..]);
    if !matches!(fraction.len(), 6 | 9) {
        return None;
    }
    let scale = if fraction.len() == 6 { 1000 } else { 1 };
    whole(seconds)?
        .checked_mul(1_000_000_000)?
        .checked_add(whole(fraction)? * scale)
}

/// The letter that blkparse has for it; `None` for those that tell nothing new.
fn action(name: &[u8]) -> Option<Action> {
    Some(match name {
        b"block_bio_queue" => b'Q',
        b"block_rq_insert" => b'I',
        b"block_rq_issue" => b'D',
        b"block_rq_requeue" => b'R',
        b"block_rq_complete" | b"block_bio_complete" => b'C',
        b"block_bio_backmerge" | b"block_rq_merge" => b'M',
        b"block_bio_frontmerge" => b'F',
        b"block_split" => b'X',
        _ => return None,
    })
}

/// `8,0 R 65536 () 2048 + 128 none,0,0 [dd]`.
fn record(event: &Event, action: Action) -> Option<Record> {
    let (field, rest) = next(event.rest);
    let device = device(field)?;
    let (letters, mut rest) = next(rest);
    let (field, after) = next(rest);
    // Bytes, where a command in parentheses follows.
    if next(after).0.starts_with(b"(") && whole(field).is_some() {
        rest = after;
    }
    if next(rest).0.starts_with(b"(") {
        rest = &rest[memchr::memchr(b')', rest)? + 1..];
    }
    let (sector, rest) = next(rest);
    let (sign, rest) = next(rest);
    let (count, rest) = next(rest);
    if !matches!(sign, b"+" | b"/") {
        return None;
    }
    let rest = rest.trim_ascii();
    let within = rest.strip_suffix(b"]")?;
    let within = &within[memchr::memchr(b'[', within)? + 1..];
    // Of a split, the low bits of where the second part starts.
    let sectors = match sign {
        b"/" => whole(count)? as u32,
        _ => u32::try_from(whole(count)?).ok()?,
    };
    let mut record = Record {
        time: event.time,
        sector: whole(sector)?,
        sectors,
        device,
        pid: event.pid,
        comm: [0; 16],
        action,
        kind: kind(letters)?.of(sectors),
        failed: false,
    };
    if matches!(action, b'C' | b'R') {
        let error: i64 = std::str::from_utf8(within).ok()?.parse().ok()?;
        record.failed = error != 0;
    } else {
        record.comm = comm(within);
    }
    Some(record)
}

struct Events {
    pairing: Pairing,
    /// When the first was.
    began: Option<u64>,
    commands: u64,
    /// One that is not of the block layer.
    other: Option<String>,
    /// Lines may be of the stack of the event above.
    stack: bool,
}

impl Events {
    fn new() -> Events {
        Events {
            pairing: Pairing::new(),
            began: None,
            commands: 0,
            other: None,
            stack: false,
        }
    }

    fn event(&mut self, event: &Event, out: &mut Out) -> Line {
        if !event.name.starts_with(b"block_") {
            if self.other.is_none() {
                self.other = Some(String::from_utf8_lossy(event.name).into_owned());
            }
            return Line::Noise;
        }
        let Some(action) = action(event.name) else {
            return Line::Noise;
        };
        let Some(record) = record(event, action) else {
            return Line::Unknown;
        };
        if self.began.is_none() {
            self.began = Some(record.time);
            self.pairing.zero = record.time;
        }
        if record.kind.op == Op::None && record.sectors == 0 {
            self.commands += 1;
            return Line::Noise;
        }
        self.pairing.push(record, out);
        Line::Data
    }
}

/// Whether the line is of a stack, as perf and ftrace print them below an event.
fn is_frame(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let (word, _) = next(text);
    let address = word.len() >= 4 && word.iter().all(u8::is_ascii_hexdigit);
    text.starts_with(b"=> ") || text.len() < line.len() && address
}

impl Parser for Events {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(event) = event(line) {
            self.stack = true;
            return self.event(&event, out);
        }
        let text = line.trim_ascii();
        if memchr::memmem::find(text, b"LOST").is_some() && text.starts_with(b"CPU:") {
            out.note("the trace says that events were lost: I/Os may be missing");
            return Line::Noise;
        }
        let starts = [&b"#"[..], b"cpus=", b"CPU ", b"version ="];
        let known = text.is_empty() || starts.iter().any(|s| text.starts_with(s));
        if known || self.stack && (is_frame(line) || text.ends_with(b"<stack trace>")) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    /// What an event of the block layer tells ends in a bracket.
    fn sees_cut(&self, line: &[u8]) -> bool {
        line.trim_ascii_end().ends_with(b"]")
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(name) = &self.other {
            if self.began.is_none() {
                out.refuse(Refused(format!(
                    "its events are others than the block layer's, as {name}: of a trace only \
                     those of the block layer are imported"
                )));
                return;
            }
            out.note(&format!(
                "events that are not the block layer's, as {name}, are left out"
            ));
        }
        if self.commands > 0 {
            let text = "events of commands without a sector were left out";
            out.note(&format!("{} {text}", self.commands));
        }
        self.pairing.end(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_all_kinds() {
        for (task, pid) in [
            ("  dd-1234   ", Some(1234)),
            ("kworker/u8:2-77", Some(77)),
            ("<idle>-0", Some(0)),
            ("a-b-12  (   11)", Some(12)),
            ("a-b-12  (-------)", Some(12)),
            ("my prog  1234", Some(1234)),
            ("my prog  1230/1234", Some(1230)),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(process(task.as_bytes()), pid, "{task}");
        }
    }
}
