//! Lists of I/Os: bcc's `biosnoop` (also of libbpf-tools, -Q, -P, and bpftrace's), `iosnoop` of the
//! DTraceToolkit and of perf-tools.

use run::Word;
use run::rows::TableId;

use super::histogram::request_layer;
use super::table::{Row, Table};
use super::{echoed, event, first_number};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser};

pub(crate) const BIOSNOOP: Format = Format {
    name: "biosnoop",
    tool: "biosnoop",
    systems: "Linux",
    help: "each I/O of the disks, with its process and latency",
    recognised: "a header `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`",
    yields: &["disk_event"],
    example: "\
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)
0.000004    supervise      1950   xvda1   W 13092560   4096       0.74
2.003920    xfsaild/md0    456    xvdc    W 62901512   8192       0.23
",
    recognise: |head| recognise(head, &[BIO, BIO_BT]),
    parser: || Box::new(Snoop::new()),
};

pub(crate) const IOSNOOP: Format = Format {
    name: "iosnoop",
    tool: "iosnoop",
    systems: "Solaris, illumos, FreeBSD, macOS, Linux (perf-tools)",
    help: "each I/O of the disks, with its process; with times and latency if asked for",
    recognised: "a header `UID PID D BLOCK SIZE COMM PATHNAME` or `COMM PID TYPE DEV BLOCK BYTES`",
    yields: &["disk_event"],
    example: "\
STIME(us)    TIME(us)     DELTA(us) DEVICE  UID   PID D    BLOCK   SIZE       COMM PATHNAME
1000000      1003456      3456      cmdk0     0   645 R   104424   8192       bash /usr/bin/id
",
    recognise: |head| recognise(head, &[DTRACE, PERF]),
    parser: || Box::new(Snoop::new()),
};

const BIO: &[&str] = &[
    "TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES", "LAT(ms)",
];
/// Of bpftrace's `biosnoop.bt`, which tells neither op nor size.
const BIO_BT: &[&str] = &["TIME(ms)", "DISK", "COMM", "PID", "LAT(ms)"];
const DTRACE: &[&str] = &["UID", "PID", "D", "BLOCK", "SIZE", "COMM", "PATHNAME"];
const PERF: &[&str] = &["COMM", "PID", "TYPE", "DEV", "BLOCK", "BYTES", "LATms"];

fn recognise(head: &Head, headers: &[&[&str]]) -> u8 {
    let found = headers.iter().any(|header| Table::is_in(head, header));
    if found { 92 } else { 0 }
}

/// The op, whether somebody waits, and whether it is the file system's own: of blktrace's
/// letters, as `R`, `WS`, `FWFSM`.
fn kind(letters: &str) -> Option<(&'static str, bool, bool)> {
    let all = letters.chars().all(|c| c.is_ascii_uppercase());
    let rest = match letters.strip_prefix('F') {
        Some(rest) if rest.starts_with(['R', 'W', 'D', 'N']) => rest,
        _ => letters,
    };
    let op = match rest.chars().next().filter(|_| all)? {
        'R' => "read",
        'W' => "write",
        'D' => "discard",
        'F' => "flush",
        'N' if rest.len() < letters.len() => "flush",
        _ => "other",
    };
    let after = rest.get(1..).unwrap_or("");
    // Of a read that is not marked, nor of what flushes or is written through (F).
    let sync = op == "read" || letters.contains(['S', 'F']);
    Some((op, sync, after.contains('M')))
}

/// The name of a device that is told by its numbers, major and minor with that between; any other as it is.
pub(super) fn named(device: &str, between: char) -> String {
    let number = device.split_once(between).and_then(|(major, minor)| {
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        (major < 1 << 12 && minor < 1 << 20).then_some(major << 20 | minor)
    });
    number.map_or_else(|| device.to_owned(), crate::tools::blktrace::device_name)
}

struct Snoop {
    table: Option<Table>,
    events: TableId,
}

/// What all kinds of lists tell.
struct Io {
    stamp: Stamp,
    device: String,
    queue: f64,
    service: f64,
    bytes: f64,
    offset: f64,
    sequential: &'static str,
}

impl Snoop {
    fn new() -> Snoop {
        Snoop {
            table: None,
            events: TableId::of("disk_event"),
        }
    }

    fn bio(row: &Row, out: &mut Out) -> Option<Io> {
        let queue = row.optional("QUE(ms)")? / 1e3;
        if queue.is_nan() {
            out.note(
                "without -Q biosnoop does not tell the time in the queue: see disk.service_time",
            );
        }
        Some(Io {
            stamp: Stamp::Elapsed(row.number("TIME(s)")?),
            device: row.text("DISK")?.to_owned(),
            // -1: it was not seen.
            queue: if queue < 0.0 { f64::NAN } else { queue },
            service: row.number("LAT(ms)")? / 1e3,
            bytes: row.number("BYTES")?,
            offset: row.number("SECTOR")? * 512.0,
            sequential: match row.text("P") {
                Some("S") => "yes",
                Some("R") => "no",
                _ => "",
            },
        })
    }

    fn bpftrace(row: &Row, out: &mut Out) -> Option<Io> {
        out.note("biosnoop.bt cuts times and latencies to whole milliseconds: 0 is below one");
        Some(Io {
            stamp: Stamp::Elapsed(row.number("TIME(ms)")? / 1e3),
            // Where it cannot tell the name it prints the numbers, `259:1`.
            device: named(row.text("DISK")?, ':'),
            queue: f64::NAN,
            service: row.number("LAT(ms)")? / 1e3,
            bytes: f64::NAN,
            offset: f64::NAN,
            sequential: "",
        })
    }

    fn dtrace(row: &Row, out: &mut Out) -> Option<Io> {
        let of = |name: &str| {
            let plain = row.optional(name)?;
            let micros = row.optional(&format!("{name}(us)"))?;
            Some(if micros.is_nan() { plain } else { micros } / 1e6)
        };
        let (start, done, delta) = (of("STIME")?, of("TIME")?, of("DELTA")?);
        if !of("DTIME")?.is_nan() {
            out.note("DTIME, iosnoop's guess of the disk's own time, was left out: DELTA is kept");
        }
        let stamp = match (done.is_nan(), start.is_nan()) {
            (false, _) => Stamp::Elapsed(done),
            (true, false) if !delta.is_nan() => Stamp::Elapsed(start + delta),
            _ if row.text("STRTIME").is_some() => row.date()?,
            _ => {
                let why = "iosnoop printed no times of completion\nhint: iosnoop -t prints them";
                out.refuse(Refused(why.into()));
                return None;
            }
        };
        let service = if delta.is_nan() { done - start } else { delta };
        if row.text("DEVICE").is_none() {
            out.note("iosnoop without -e does not tell the device: it is `(all)`");
        }
        Some(Io {
            stamp,
            device: row.text("DEVICE").unwrap_or("(all)").to_owned(),
            queue: f64::NAN,
            service,
            bytes: row.number("SIZE")?,
            offset: row.number("BLOCK")? * 512.0,
            sequential: "",
        })
    }

    fn perf(row: &Row, out: &mut Out) -> Option<Io> {
        let (start, done) = (row.optional("STARTs")?, row.optional("ENDs")?);
        let service = row.number("LATms")? / 1e3;
        let at = if done.is_nan() { start + service } else { done };
        if at.is_nan() {
            let why = "iosnoop printed no times\nhint: iosnoop -t prints them";
            out.refuse(Refused(why.into()));
            return None;
        }
        Some(Io {
            stamp: Stamp::Elapsed(at),
            device: named(row.text("DEV")?, ','),
            queue: f64::NAN,
            service,
            bytes: row.number("BYTES")?,
            offset: row.number("BLOCK")? * 512.0,
            sequential: "",
        })
    }

    fn row(&self, table: &Table, line: &str, out: &mut Out) -> Option<()> {
        let row = table.row(line)?;
        let is_bpftrace = table.has("TIME(ms)");
        let letters = match row.text("T").or(row.text("D")).or(row.text("TYPE")) {
            None if is_bpftrace => "",
            letters => letters?,
        };
        let (op, sync, metadata) = match letters {
            "" => ("(all)", false, false),
            letters => kind(letters)?,
        };
        let told = letters.len() > 1;
        let pid = row.text("PID")?;
        pid.parse::<i64>().ok()?;
        let io = if is_bpftrace {
            Snoop::bpftrace(&row, out)?
        } else if table.has("DISK") {
            Snoop::bio(&row, out)?
        } else if table.has("LATms") {
            Snoop::perf(&row, out)?
        } else {
            Snoop::dtrace(&row, out)?
        };
        let comm = row.text("COMM")?;
        let file = row
            .text("PATHNAME")
            .filter(|f| *f != "<none>")
            .unwrap_or("");
        let words: [Word; 10] = [
            io.device.as_str(),
            request_layer(&io.device),
            op,
            match (told, sync) {
                (false, _) => "",
                (true, true) => "sync",
                (true, false) => "async",
            },
            match (told, metadata) {
                (false, _) => "",
                (true, true) => "yes",
                (true, false) => "no",
            },
            io.sequential,
            &format!("{comm}[{pid}]"),
            comm,
            "",
            file,
        ]
        .map(|w| out.word(w.as_bytes()));
        let unknown = f64::NAN;
        let numbers = [
            io.queue, io.service, io.bytes, io.offset, unknown, unknown, unknown, 1.0,
        ];
        event(self.events, io.stamp, &words, &numbers, out);
        Some(())
    }
}

/// The row of an I/O that has no disk's name, as commands that are passed through, with `?` there,
/// as the tool puts it where no program is known: it is the place before the operation's letters.
fn without_disk(table: &Table, line: &str) -> Option<String> {
    let mut fields: Vec<&str> = line.split_whitespace().collect();
    let at = table.place("DISK").filter(|_| table.has("T"))?;
    let letters = |f: &&str| f.bytes().all(|b| b.is_ascii_uppercase());
    if fields.len() + 1 != table.width() || !fields.get(at).is_some_and(letters) {
        return None;
    }
    fields.insert(at, "?");
    Some(fields.join(" "))
}

impl Parser for Snoop {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let header = [BIO, BIO_BT, DTRACE, PERF]
            .iter()
            .find_map(|h| Table::of(&text, h));
        if let Some(table) = header {
            self.table = Some(table);
            return Line::Noise;
        }
        let trimmed = text.trim();
        if trimmed.is_empty()
            || trimmed == "^C"
            || trimmed.starts_with("Tracing")
            || trimmed.starts_with("Attach")
            || trimmed == "[...]"
        {
            return Line::Noise;
        }
        if let Some(table) = &self.table
            && (self.row(table, &text, out).is_some()
                || without_disk(table, &text).is_some_and(|t| self.row(table, &t, out).is_some()))
        {
            return Line::Data;
        }
        if echoed(&text).is_some() || trimmed.starts_with("Ending tracing") {
            return Line::Noise;
        }
        Line::Unknown
    }
}

/// Seconds between outputs of an echoed command.
pub(super) fn every(words: &[&str], valued: &str, out: &mut Out) {
    if let Some(seconds) = first_number(words.get(1..).unwrap_or_default(), valued) {
        out.every(seconds);
    }
}

#[cfg(test)]
mod tests {
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
            let (_, sync, _) = super::kind(letters).unwrap();
            assert_eq!(sync, waits, "{letters}");
        }
    }
}
