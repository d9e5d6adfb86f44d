//! Lists of what programs did with files and connections: bcc's `ext4slower` and its like,
//! `opensnoop`, `rwsnoop`, `tcpconnlat`.

use run::rows::TableId;

use super::table::{Row, Table};
use super::{echoed, event};
use crate::list::Format;
use crate::number::{number, whole};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser};

const SLOWER: &[&str] = &[
    "TIME", "COMM", "PID", "T", "BYTES", "OFF_KB", "LAT(ms)", "FILENAME",
];
/// Of `-j`, with commas between: bcc's has microseconds, that of libbpf-tools (`-c`) nanoseconds.
const SLOWER_CSV: [(&str, f64); 2] = [
    (
        "ENDTIME_us,TASK,PID,TYPE,BYTES,OFFSET_b,LATENCY_us,FILE",
        1e6,
    ),
    (
        "ENDTIME_ns,TASK,PID,TYPE,BYTES,OFFSET_b,LATENCY_us,FILE",
        1e9,
    ),
];
/// Of `fileslower`, whose rows name threads, and no offset. Its first versions called them `PID`.
const FILE_SLOWER: &[&str] = &[
    "TIME(s)", "COMM", "TID", "D", "BYTES", "LAT(ms)", "FILENAME",
];
const FILE_SLOWER_OLD: &[&str] = &[
    "TIME(s)", "COMM", "PID", "D", "BYTES", "LAT(ms)", "FILENAME",
];
/// Of DTrace's `zfsslower.d`, which prints `%-20Y %-16s %1s %4d %6d %s`.
const ZFS_SLOWER: [&str; 6] = ["TIME", "PROCESS", "D", "KB", "ms", "FILE"];
const OPEN: &[&str] = &["PID", "COMM", "FD", "ERR", "PATH"];
/// Of the DTraceToolkit, which prints `ERR` with -e only.
const OPEN_DTRACE: &[&str] = &["UID", "PID", "COMM", "FD", "PATH"];
/// Of the DTraceToolkit's `rwsnoop`.
const READ_WRITE: &[&str] = &["UID", "PID", "CMD", "D", "BYTES", "FILE"];
const CONNECT: &[&str] = &["PID", "COMM", "IP", "SADDR", "DADDR", "DPORT", "LAT(ms)"];

pub(crate) const FSSLOWER: Format = Format {
    name: "fsslower",
    tool: "fsslower",
    systems: "Linux; Solaris, illumos, FreeBSD (zfsslower.d)",
    help: "slow operations on files: ext4slower, xfsslower, btrfsslower, zfsslower, nfsslower, fileslower",
    recognised: "a header `TIME COMM PID T BYTES OFF_KB LAT(ms) FILENAME`, or that of -j, or \
                 `TIME(s) COMM TID D BYTES LAT(ms) FILENAME`, or `TIME PROCESS D KB ms FILE`",
    yields: &["file_event"],
    example: "\
Tracing ext4 operations slower than 10 ms
TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME
06:35:01 cron           16464  R 1249    0          16.05 common-auth
",
    recognise: |head| {
        let csv = SLOWER_CSV.iter().any(|(header, _)| head.any_starts(header));
        if csv || head.lines().any(is_zfs_slower) {
            92
        } else {
            let slower = [SLOWER, FILE_SLOWER, FILE_SLOWER_OLD];
            slower
                .map(|columns| recognise(head, columns))
                .into_iter()
                .max()
                .unwrap_or(0)
        }
    },
    parser: || Box::new(Files::new()),
};

pub(crate) const OPENSNOOP: Format = Format {
    name: "opensnoop",
    tool: "opensnoop",
    systems: "Linux; Solaris, illumos, FreeBSD, macOS (DTraceToolkit)",
    help: "files that programs opened",
    recognised: "a header `PID COMM FD ERR PATH` or `UID PID COMM FD PATH`",
    yields: &["file_event"],
    example: "\
TIME(s)       PID    COMM               FD ERR PATH
0.000000000   1576   snmpd              11   0 /proc/sys/net/ipv6/conf/lo/forwarding
1.023123000   1956   supervise          -1   2 supervise/status.new
",
    recognise: |head| recognise(head, OPEN).max(recognise(head, OPEN_DTRACE)),
    parser: || Box::new(Files::new()),
};

pub(crate) const RWSNOOP: Format = Format {
    name: "rwsnoop",
    tool: "rwsnoop",
    systems: "Solaris, illumos, FreeBSD, macOS",
    help: "each read and write of programs (DTraceToolkit), with its size",
    recognised: "a header `UID PID CMD D BYTES FILE`",
    yields: &["file_event"],
    example: "\
TIME             UID    PID CMD          D   BYTES FILE
9323460965       100    902 sshd         R      42 /devices/pseudo/clone@0:ptm
9323461210         0    404 vxsvc        R    1024 /etc/inet/protocols
",
    recognise: |head| recognise(head, READ_WRITE),
    parser: || Box::new(Files::new()),
};

pub(crate) const TCPCONNLAT: Format = Format {
    name: "tcpconnlat",
    tool: "tcpconnlat",
    systems: "Linux",
    help: "connections that programs opened, and how long that took",
    recognised: "a header `PID COMM IP SADDR DADDR DPORT LAT(ms)`",
    yields: &["tcp_event"],
    example: "\
TIME(s)   PID    COMM         IP SADDR            DADDR            DPORT LAT(ms)
0.000     1201   wget         4  10.153.223.157   23.23.100.231    80    1.65
",
    recognise: |head| recognise(head, CONNECT),
    parser: || Box::new(Files::new()),
};

fn recognise(head: &Head, header: &[&str]) -> u8 {
    if Table::is_in(head, header) { 92 } else { 0 }
}

fn is_zfs_slower(line: &[u8]) -> bool {
    crate::fields(line).eq(ZFS_SLOWER.map(str::as_bytes))
}

struct Files {
    table: Option<Table>,
    /// Rows are those of `zfsslower.d`.
    of_zfs: bool,
    /// What the tool says that it traces.
    filesystem: &'static str,
    /// Fields stand between commas, and times are so many in a second.
    commas: Option<f64>,
    /// Time of the first row of those, which are since boot.
    zero: Option<f64>,
    file: TableId,
    tcp: TableId,
}

/// `bash[12]` and `bash`.
fn process(comm: &str, pid: &str) -> Option<(String, String)> {
    pid.parse::<u32>().ok()?;
    Some((format!("{comm}[{pid}]"), comm.to_owned()))
}

const OFFSETS: &str = "where in the file it was (OFF_KB) has no place and was left out";

/// Bytes; libbpf-tools print `LL_MAX` of an fsync of the whole file.
fn moved(text: &str) -> Option<f64> {
    match text {
        "LL_MAX" => Some(f64::NAN),
        _ => number(text.as_bytes()),
    }
}

/// When it was, as the row tells.
fn moment(row: &Row, out: &mut Out) -> Option<Stamp> {
    if row.text("TIME(s)").is_some() {
        return row.number("TIME(s)").map(Stamp::Elapsed);
    }
    if let Some(time) = row.text("TIME") {
        // The DTraceToolkit's opensnoop -t prints microseconds since boot.
        let digits = time.bytes().all(|b| b.is_ascii_digit());
        if digits && row.text("UID").is_some() {
            return Some(Stamp::Elapsed(number(time.as_bytes())? / 1e6));
        }
        return time_of_day(time.as_bytes(), None).map(Stamp::Clock);
    }
    if row.text("STRTIME").or(row.text("TIMESTR")).is_some() {
        return row.date();
    }
    let why = "the tool printed no times\nhint: its option -T (opensnoop; -v of the DTraceToolkit's) or -t prints them";
    out.refuse(Refused(why.into()));
    None
}

impl Files {
    fn new() -> Files {
        Files {
            table: None,
            of_zfs: false,
            filesystem: "",
            commas: None,
            zero: None,
            file: TableId::of("file_event"),
            tcp: TableId::of("tcp_event"),
        }
    }

    fn of(row: &Row) -> Option<(String, String)> {
        process(row.text("COMM")?, row.text("PID")?)
    }

    fn slower(&self, row: &Row, out: &mut Out) -> Option<()> {
        let (bytes, latency) = (moved(row.text("BYTES")?)?, row.number("LAT(ms)")? / 1e3);
        row.optional("OFF_KB")?;
        // `fileslower` tells the thread, whatever its header calls it.
        let thread = row
            .text("TID")
            .or(row.text("PID").filter(|_| row.text("OFF_KB").is_none()));
        let process = match thread {
            Some(thread) => {
                thread.parse::<u32>().ok()?;
                out.note("fileslower tells the thread and not its process: it was left out");
                (String::new(), row.text("COMM")?.to_owned())
            }
            None => Files::of(row)?,
        };
        let stamp = moment(row, out)?;
        let file = row.text("FILENAME")?;
        let letter = row.text("T").or(row.text("D"))?;
        self.put_slower(letter, [latency, bytes], &process, file, stamp, out)?;
        if row.text("OFF_KB").is_some() {
            out.note(OFFSETS);
        }
        Some(())
    }

    /// `127200712278,bash,17225,R,128,0,4325,date`.
    fn slower_csv(&mut self, line: &str, per_second: f64, out: &mut Out) -> Option<()> {
        let cells: Vec<&str> = line.splitn(8, ',').collect();
        let [end, comm, pid, letter, bytes, offset, latency, file] = cells[..] else {
            return None;
        };
        let of = |text: &str| number(text.as_bytes());
        let (bytes, latency) = (moved(bytes)?, of(latency)? / 1e6);
        let end = of(end)? / per_second;
        of(offset)?;
        let process = process(comm, pid)?;
        let zero = *self.zero.get_or_insert(end);
        let stamp = Stamp::Elapsed(end - zero);
        out.note(OFFSETS);
        self.put_slower(letter, [latency, bytes], &process, file, stamp, out)
    }

    /// `2011 May 17 01:23:12  mysqld           R   16     19 /data/a b`.
    fn slower_zfs(&self, line: &str, out: &mut Out) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (date, rest) = words.split_at_checked(4)?;
        let stamp = super::stamp(&date.join(" "))?;
        let of = |word: &str| whole(word.as_bytes()).map(|n| n as f64);
        let is_end = |at: &usize| {
            matches!(rest[*at], "R" | "W" | "D")
                && rest[at + 1..at + 3].iter().all(|w| of(w).is_some())
        };
        // The name of a program may have blanks.
        let at = (1..rest.len().saturating_sub(3)).find(is_end)?;
        let command = rest[..at].join(" ");
        let [letter, size, latency, file @ ..] = &rest[at..] else {
            return None;
        };
        // Of a list it is no size, and below 1 KiB none is told.
        let bytes = of(size)
            .filter(|size| *size > 0.0)
            .map_or(f64::NAN, |size| size * 1024.0);
        let letter = if *letter == "D" { "L" } else { letter };
        out.note(
            "zfsslower.d tells whole milliseconds and KiB, rounded down, and of the KiB those that were \
             asked for",
        );
        let process = (String::new(), command);
        let values = [of(latency)? / 1e3, bytes];
        self.put_slower(letter, values, &process, &file.join(" "), stamp, out)
    }

    fn put_slower(
        &self,
        letter: &str,
        [latency, bytes]: [f64; 2],
        (process, command): &(String, String),
        file: &str,
        stamp: Stamp,
        out: &mut Out,
    ) -> Option<()> {
        let op = match letter {
            "R" => "read",
            "W" => "write",
            "O" => "open",
            // bcc's and that of libbpf-tools.
            "S" | "F" => "fsync",
            "G" => "stat",
            "L" => "list",
            _ => return None,
        };
        out.note("only operations slower than the tool's limit are in it");
        let moved = matches!(letter, "R" | "W");
        let words = [op, file, self.filesystem, process, command, ""];
        let words = words.map(|w| out.word(w.as_bytes()));
        let size = if moved { bytes } else { f64::NAN };
        event(self.file, stamp, &words, &[latency, size, 1.0], out);
        Some(())
    }

    fn open(&self, row: &Row, out: &mut Out) -> Option<()> {
        let (error, file) = (row.optional("ERR")?, row.number("FD")?);
        let failed = if error.is_nan() {
            file < 0.0
        } else {
            error != 0.0
        };
        let op = if failed { "open-failed" } else { "open" };
        let (process, command) = Files::of(row)?;
        let stamp = moment(row, out)?;
        let words = [op, row.text("PATH")?, "(by name)", &process, &command, ""];
        let words = words.map(|w| out.word(w.as_bytes()));
        event(self.file, stamp, &words, &[f64::NAN, f64::NAN, 1.0], out);
        Some(())
    }

    fn read_write(&self, row: &Row, out: &mut Out) -> Option<()> {
        let op = match row.text("D")? {
            "R" => "read",
            "W" => "write",
            _ => return None,
        };
        let (process, command) = process(row.text("CMD")?, row.text("PID")?)?;
        let bytes = row.number("BYTES")?;
        let stamp = moment(row, out)?;
        out.note("rwsnoop tells of a write how many bytes were asked for, and of neither its time");
        let words = [op, row.text("FILE")?, "", &process, &command, ""];
        let words = words.map(|w| out.word(w.as_bytes()));
        // -1: it failed.
        let size = if bytes < 0.0 { f64::NAN } else { bytes };
        event(self.file, stamp, &words, &[f64::NAN, size, 1.0], out);
        Some(())
    }

    fn connect(&self, row: &Row, out: &mut Out) -> Option<()> {
        let latency = row.number("LAT(ms)")? / 1e3;
        let (process, command) = Files::of(row)?;
        let stamp = moment(row, out)?;
        let words = [
            row.text("DADDR")?,
            row.text("DPORT")?,
            row.text("LPORT").unwrap_or(""),
            &process,
            &command,
            "",
            "SYN_SENT to ESTABLISHED",
        ];
        let words = words.map(|w| out.word(w.as_bytes()));
        event(self.tcp, stamp, &words, &[latency, f64::NAN, 1.0], out);
        Some(())
    }

    /// `Tracing ext4 operations slower than 10 ms`.
    fn banner(&mut self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix("Tracing ") else {
            return false;
        };
        let name = rest.split_whitespace().next().unwrap_or("");
        let known = ["ext4", "xfs", "btrfs", "zfs", "nfs", "f2fs", "bcachefs"];
        let found = known.iter().find(|k| k.eq_ignore_ascii_case(name));
        self.filesystem = found.copied().unwrap_or(self.filesystem);
        true
    }
}

impl Parser for Files {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let trimmed = text.trim();
        if let Some(table) = [
            SLOWER,
            FILE_SLOWER,
            FILE_SLOWER_OLD,
            OPEN,
            OPEN_DTRACE,
            READ_WRITE,
            CONNECT,
        ]
        .iter()
        .find_map(|h| Table::of(trimmed, h))
        {
            (self.table, self.of_zfs) = (Some(table), false);
            return Line::Noise;
        }
        if is_zfs_slower(line) {
            (self.of_zfs, self.filesystem) = (true, "zfs");
            return Line::Noise;
        }
        if trimmed.is_empty() || trimmed == "^C" || trimmed == "[...]" || self.banner(trimmed) {
            return Line::Noise;
        }
        let header = SLOWER_CSV.iter().find(|(header, _)| *header == trimmed);
        if let Some((_, per_second)) = header {
            self.commas = Some(*per_second);
            return Line::Noise;
        }
        if let Some(per_second) = self.commas {
            return match self.slower_csv(trimmed, per_second, out) {
                Some(()) => Line::Data,
                None if echoed(&text).is_some() => Line::Noise,
                None => Line::Unknown,
            };
        }
        if self.of_zfs {
            return match self.slower_zfs(trimmed, out) {
                Some(()) => Line::Data,
                None if echoed(&text).is_some() => Line::Noise,
                None => Line::Unknown,
            };
        }
        let table = self.table.as_ref();
        let seen = table.and_then(|table| {
            if table.has("BYTES") && table.has("CMD") {
                // What is no file has no name.
                let nameless = format!("{trimmed} <unknown>");
                let row = table.row(trimmed).or_else(|| table.row(&nameless))?;
                return self.read_write(&row, out);
            }
            let row = table.row(trimmed)?;
            if table.has("BYTES") {
                self.slower(&row, out)
            } else if table.has("FD") {
                self.open(&row, out)
            } else {
                self.connect(&row, out)
            }
        });
        match seen {
            Some(()) => Line::Data,
            None if echoed(&text).is_some() => Line::Noise,
            None => Line::Unknown,
        }
    }
}
