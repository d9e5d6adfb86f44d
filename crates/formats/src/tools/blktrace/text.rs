//! `blkparse`'s text, in its default format.
//!
//! ```text
//!   8,0    1       12     0.000131430   697  D   W 223490 + 8 [kjournald]
//! ```
//!
//! Device, processor, sequence, seconds, process, action, kind, then what the action has: start
//! and length in sectors of 512 bytes, and the process's name or the error in brackets. P, U
//! and flushes have no sector. With `-t` there is a time in parentheses. Summaries at the end
//! repeat what the lines tell.

use super::pairing::Pairing;
use super::{Kind, Op, Record, comm};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "blkparse",
    tool: "blkparse",
    systems: "Linux",
    help: "each I/O of a block trace, from its queueing to its completion",
    recognised: "lines `8,0 1 12 0.000131430 697 D W 223490 + 8 [kjournald]`",
    yields: &["disk_event"],
    example: "\
  8,0    1        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    1        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    1        3     0.000003090   697  P   N [kjournald]
  8,0    1        4     0.000005090   697  I   W 223490 + 8 [kjournald]
  8,0    1        5     0.000017090   697  D   W 223490 + 8 [kjournald]
  8,0    0        1     0.000317090     0  C   W 223490 + 8 [0]
CPU0 (sda):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB
",
    recognise,
    parser: || Box::new(Blkparse::new()),
};

fn recognise(head: &Head) -> u8 {
    let (mut events, mut others) = (0, 0);
    for line in head.lines().filter(|l| !l.trim_ascii().is_empty()) {
        match read(line) {
            Seen::Record(_) | Seen::Passed(_) => events += 1,
            Seen::No if summary(line) => {}
            Seen::No => others += 1,
        }
    }
    if events > 0 && events >= others {
        92
    } else {
        0
    }
}

/// Said of completions that have no number in the brackets.
const NO_ERRORS: &str = "its lines of completions have a program where the error stands: which I/Os failed is not \
                         told";

struct Blkparse {
    pairing: Pairing,
    commands: u64,
    /// A line that names a process, if the next begins what it did.
    process: Option<u64>,
}

impl Blkparse {
    fn new() -> Blkparse {
        Blkparse {
            pairing: Pairing::new(),
            commands: 0,
            process: None,
        }
    }
}

enum Seen {
    Record(Record),
    /// An action without an I/O; true if it is a command that is passed through.
    Passed(bool),
    No,
}

/// The next field and what follows it.
pub(super) fn next(line: &[u8]) -> (&[u8], &[u8]) {
    let start = line.iter().position(|b| *b != b' ').unwrap_or(line.len());
    let line = &line[start..];
    let end = line.iter().position(|b| *b == b' ').unwrap_or(line.len());
    line.split_at(end)
}

/// So many digits are less than 2^64, whichever they are.
const FEW: usize = 19;

/// A whole number of digits only.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| Some(u64::from(byte.wrapping_sub(b'0'))).filter(|d| *d < 10);
    match text.len() {
        0 => None,
        1..=FEW => text.iter().try_fold(0, |sum, b| Some(sum * 10 + digit(b)?)),
        _ => text
            .iter()
            .try_fold(0_u64, |sum, b| sum.checked_mul(10)?.checked_add(digit(b)?)),
    }
}

/// `0.000131430` in nanoseconds.
fn nanos(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|b| matches!(b, b'.' | b','))?;
    let (seconds, fraction) = (&text[..point], &text[point + 1..]);
    if fraction.len() != 9 {
        return None;
    }
    whole(seconds)?
        .checked_mul(1_000_000_000)?
        .checked_add(whole(fraction)?)
}

/// `8,0` as one number.
pub(super) fn device(text: &[u8]) -> Option<u32> {
    let comma = text.iter().position(|b| *b == b',')?;
    let major = whole(&text[..comma]).filter(|n| *n < 1 << 12)?;
    let minor = whole(&text[comma + 1..]).filter(|n| *n < 1 << 20)?;
    Some((major as u32) << 20 | minor as u32)
}

/// `WSM`, `FWFS`, `RA`, `DS`, `N`, `FN`.
pub(super) fn kind(text: &[u8]) -> Option<Kind> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    // A flush before the write itself.
    let (flush, rest) = match text {
        [b'F', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (op, rest) = match rest {
        [b'R', rest @ ..] => (Op::Read, rest),
        [b'W', rest @ ..] => (Op::Write, rest),
        [b'D', rest @ ..] => (Op::Discard, rest),
        [b'N', rest @ ..] if !flush => (Op::None, rest),
        [b'N', rest @ ..] => (Op::Flush, rest),
        rest if flush => (Op::Flush, rest),
        _ => return None,
    };
    Some(Kind {
        op,
        // Of a read that is not marked, nor of what flushes or is written through (F at the end).
        sync: flush || op == Op::Read || rest.iter().any(|l| matches!(l, b'S' | b'F')),
        metadata: rest.contains(&b'M'),
        flushes: flush,
    })
}

/// Reads a line.
fn read(line: &[u8]) -> Seen {
    parts(line).unwrap_or(Seen::No)
}

fn parts(line: &[u8]) -> Option<Seen> {
    let (field, rest) = next(line);
    let device = device(field)?;
    let (cpu, rest) = next(rest);
    let (sequence, rest) = next(rest);
    let (time, rest) = next(rest);
    let (pid, rest) = next(rest);
    let (action, rest) = next(rest);
    whole(cpu)?;
    whole(sequence)?;
    let (time, pid) = (nanos(time)?, whole(pid)?);
    if matches!(action, b"m" | b"d" | b"P" | b"U" | b"UT" | b"T") {
        return Some(Seen::Passed(false));
    }
    let &[action] = action else { return None };
    if !b"QGIDCMFRAXSB".contains(&action) {
        return None;
    }
    let (letters, rest) = next(rest);
    let mut record = Record {
        time,
        sector: 0,
        sectors: 0,
        device,
        pid: u32::try_from(pid).ok()?,
        comm: [0; 16],
        action,
        kind: kind(letters)?,
        failed: false,
    };
    let rest = rest.trim_ascii();
    if !matches!(rest.last(), Some(b']')) && action != b'A' {
        return None;
    }
    let end = rest.len().checked_sub(1)?;
    let open = memchr::memchr(b'[', rest);
    // A remap has no brackets.
    let (before, within) = match open {
        Some(open) => (&rest[..open], &rest[open + 1..end]),
        None => (rest, &b""[..]),
    };
    if action == b'C' || action == b'R' {
        let within = std::str::from_utf8(within).ok()?;
        match within.parse::<i64>() {
            Ok(error) => record.failed = error != 0,
            // `-f` with the program's name last, as of all other actions.
            Err(_) if !within.is_empty() && !within.starts_with(['-', '+']) => {
                record.comm = comm(within.as_bytes());
            }
            Err(_) => return None,
        }
    } else {
        record.comm = comm(within);
    }
    body(record, before)
}

/// What stands between the kind and the bracket: `223490 + 8`, `223490 / 223498`, a command's
/// bytes in parentheses, nothing.
fn body(mut record: Record, text: &[u8]) -> Option<Seen> {
    let (first, rest) = next(text);
    let sized = record.kind;
    record.kind = sized.of(0);
    if first.is_empty() || first.starts_with(b"(") {
        // A flush; a time may stand there. Commands have bytes there.
        let flush = record.kind.op == Op::Flush || record.kind.op == Op::None;
        let is_time = first.is_empty() || !first[1..].iter().any(u8::is_ascii_alphanumeric);
        return Some(if flush && is_time {
            Seen::Record(record)
        } else {
            Seen::Passed(true)
        });
    }
    record.kind = sized;
    let first = whole(first)?;
    let (sign, rest) = next(rest);
    let (second, rest) = next(rest);
    match sign {
        b"+" => {
            record.sector = first;
            record.sectors = u32::try_from(whole(second)?).ok()?;
        }
        b"/" => {
            // Of a split, the second number is where the second part starts.
            record.sector = first;
            record.sectors = u32::try_from(whole(second)?).ok()?;
        }
        b"" => record.sector = first,
        // The length of a command and its bytes.
        _ if sign.starts_with(b"(") => {
            record.kind = sized.of(0);
            let flush = record.kind.op == Op::Flush;
            return Some(if flush {
                Seen::Record(record)
            } else {
                Seen::Passed(true)
            });
        }
        _ => return None,
    }
    let rest = rest.trim_ascii();
    record.kind = record.kind.of(record.sectors);
    let known = rest.is_empty() || rest.starts_with(b"(") || rest.starts_with(b"<-");
    known.then_some(Seen::Record(record))
}

/// A line of the summaries at the end, or of what blkparse says.
fn summary(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let starts = [
        "CPU",
        "Total (",
        "Events (",
        "Skips:",
        "Throughput (",
        "Input file",
        "Reads Queued:",
        "Read Dispatches:",
        "Reads Requeued:",
        "Reads Completed:",
        "Read Merges:",
        "Read depth:",
        "IO unplugs:",
        "PC Reads",
        "PC Read",
        "Allocation wait:",
        "Dispatch wait:",
        "Completion wait:",
        "Sleeps",
        "Device:",
        "blkparse",
        "=== ",
    ];
    starts.iter().any(|s| text.starts_with(s.as_bytes()))
}

/// Whether a line names a process of which -s tells what others are told of: `dd (697)`, or
/// `dd (697, ...)` where several have the name, which is one of 15 bytes at most.
fn names_process(line: &[u8]) -> bool {
    let text = line.trim_ascii_end();
    let Some(open) = text
        .windows(2)
        .rposition(|w| w == b" (")
        .filter(|at| *at <= 15)
    else {
        return false;
    };
    let within = text[open + 2..].strip_suffix(b")");
    let pid = within.map(|w| w.strip_suffix(b", ...").unwrap_or(w));
    pid.and_then(whole).is_some()
}

impl Parser for Blkparse {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(number) = self.process.take()
            && !line.trim_ascii_start().starts_with(b"Reads Queued:")
        {
            out.not_understood(
                number,
                "it looks as the name of a process, and nothing of one follows",
            );
        }
        match read(line) {
            Seen::Record(mut record) => {
                if matches!(record.action, b'C' | b'R') && record.comm != [0; 16] {
                    out.note(NO_ERRORS);
                    record.comm = [0; 16];
                }
                self.pairing.push(record, out);
                Line::Data
            }
            Seen::Passed(command) => {
                self.commands += u64::from(command);
                Line::Noise
            }
            Seen::No if summary(line) || line.trim_ascii().is_empty() => Line::Noise,
            Seen::No if names_process(line) => {
                self.process = Some(out.line_number());
                Line::Noise
            }
            Seen::No => Line::Unknown,
        }
    }

    /// What an action does ends in a bracket, but for a remap.
    fn sees_cut(&self, line: &[u8]) -> bool {
        line.trim_ascii_end().ends_with(b"]") || device(next(line).0).is_none()
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(number) = self.process.take().filter(|_| !out.is_endless()) {
            out.not_understood(number, "the name of a process, and nothing that it did");
        }
        if self.commands > 0 {
            let text = "lines of commands without a sector were left out";
            out.note(&format!("{} {text}", self.commands));
        }
        self.pairing.end(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Head, Import, Options};

    #[test]
    fn somebody_waits_for_reads_and_for_what_flushes_or_is_written_through() {
        for (letters, waits) in [
            ("R", true),
            ("RA", true),
            ("W", false),
            ("WS", true),
            ("WM", false),
            ("WFM", true),
            ("FWM", true),
            ("FF", true),
            ("FN", true),
            ("D", false),
        ] {
            let kind = super::kind(letters.as_bytes()).unwrap();
            assert_eq!(kind.sync, waits, "{letters}");
        }
    }

    #[test]
    fn whole_numbers_are_below_two_to_the_64() {
        for number in [0, 9, 9_999_999_999_999_999_999, u64::MAX] {
            assert_eq!(super::whole(number.to_string().as_bytes()), Some(number));
        }
        for text in [
            "",
            "18446744073709551616",
            "99999999999999999999",
            "1a",
            "-1",
            "1 ",
        ] {
            assert_eq!(super::whole(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_process_is_named_above_what_it_did() {
        let queued =
            " Reads Queued:           2,        8KiB\t Writes Queued:           0,        0KiB";
        for (line, unknown) in [
            (format!("dd (697)\n{queued}"), 0),
            (format!("dd (697, ...)\n{queued}"), 0),
            ("connection lost (255)".to_owned(), 1),
            ("dd (697)\nmore".to_owned(), 2),
            (format!("ssh to box: connection lost (255)\n{queued}"), 1),
        ] {
            let format = crate::named("blkparse").unwrap();
            let text = format!("{}\n{line}\n", format.example);
            let head = Head::new(text.as_bytes());
            let mut import = Import::new(format, &head, Options::default());
            import.feed(text.as_bytes()).unwrap();
            assert_eq!(import.finish().unwrap().unknown, unknown, "{line}");
        }
    }
}
