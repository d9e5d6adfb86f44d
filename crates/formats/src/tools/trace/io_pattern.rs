//! How random I/O is, by interval: bcc's `biopattern`, the DTraceToolkit's `iopattern`; and who
//! did most: bcc's `biotop`, the DTraceToolkit's `iotop` and `rwtop`.

use super::bcc_command::disk_of;
use super::histogram::request_layer;
use super::io_events::every;
use super::table::Table;
use super::{echoed, output_every, stamp};
use crate::list::Format;
use crate::number;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::time::{Stamp, time_of_day};
use crate::{Line, Parser};

const KIB: f64 = 1024.0;

const BIO: &[&str] = &["DISK", "%RND", "%SEQ", "COUNT", "KBYTES"];
const IO: &[&str] = &["%RAN", "%SEQ", "COUNT", "MIN", "MAX", "AVG", "KR", "KW"];
const TOP: &[&str] = &[
    "PID", "COMM", "D", "MAJ", "MIN", "DISK", "I/O", "Kbytes", "AVGms",
];

/// bcc's `filetop`; that of libbpf-tools has the same.
const FTOP: &[&str] = &[
    "TID", "COMM", "READS", "WRITES", "R_Kb", "W_Kb", "T", "FILE",
];

/// The same before 2018, which names it a process.
const FTOP_OLD: &[&str] = &[
    "PID", "COMM", "READS", "WRITES", "R_Kb", "W_Kb", "T", "FILE",
];

/// The first column is `UID`, of -Z `ZONE`, of -j `PROJ`.
const ITOP: &[&str] = &["PID", "PPID", "CMD", "DEVICE", "MAJ", "MIN", "D"];
const RWTOP: &[&str] = &["PID", "PPID", "CMD", "D", "BYTES"];

pub(crate) const BIOPATTERN: Format = Format {
    name: "biopattern",
    tool: "biopattern",
    systems: "Linux",
    help: "I/Os and bytes of each disk, and how many were random",
    recognised: "a header `TIME DISK %RND %SEQ COUNT KBYTES`",
    yields: &["disk"],
    example: "\
TIME      DISK     %RND  %SEQ    COUNT     KBYTES
22:12:57  vdb         0    99      193        772
22:12:58  vdb         0   100     1119       4476
",
    recognise: |head| recognise(head, BIO),
    parser: || Box::new(Pattern::new()),
};

pub(crate) const IOPATTERN: Format = Format {
    name: "iopattern",
    tool: "iopattern",
    systems: "Solaris, illumos, macOS",
    help: "I/Os, bytes and sizes of the disks, and how many were random",
    recognised: "a header `%RAN %SEQ COUNT MIN MAX AVG KR KW`",
    yields: &["disk"],
    example: "\
# iopattern 1
%RAN %SEQ  COUNT    MIN    MAX    AVG     KR     KW
  83   17    187   1024 131072   8896   1424    200
",
    recognise: |head| recognise(head, IO),
    parser: || Box::new(Pattern::new()),
};

pub(crate) const BIOTOP: Format = Format {
    name: "biotop",
    tool: "biotop",
    systems: "Linux",
    help: "processes that did most I/O, and the load",
    recognised: "a header `PID COMM D MAJ MIN DISK I/O Kbytes AVGms`",
    yields: &["system"],
    example: "\
07:44:04 loadavg: 1.48 0.87 0.45 2/287 14547

PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms
14501  cksum            R 202 1   xvda1      361   28832   3.39
",
    recognise: |head| recognise(head, TOP),
    parser: || Box::new(Pattern::new()),
};

pub(crate) const FILETOP: Format = Format {
    name: "filetop",
    tool: "filetop",
    systems: "Linux",
    help: "files that threads read and wrote most, and the load",
    recognised: "a header `TID COMM READS WRITES R_Kb W_Kb T FILE`",
    yields: &["system"],
    example: "\
08:00:23 loadavg: 0.91 0.33 0.23 3/286 26635

TID     COMM             READS  WRITES R_Kb    W_Kb    T FILE
26628   ld               161    186    643     152     R built-in.o
",
    recognise: |head| recognise(head, FTOP).max(recognise(head, FTOP_OLD)),
    parser: || Box::new(Pattern::new()),
};

pub(crate) const IOTOP: Format = Format {
    name: "iotop-dtrace",
    tool: "iotop",
    systems: "Solaris, illumos, macOS",
    help: "bytes that the disks read and wrote, by process, and the load",
    recognised: "a header `PID PPID CMD DEVICE MAJ MIN D`",
    yields: &["system", "disk"],
    example: "\
2005 Jul 16 00:34:40,  load: 1.21,  disk_r:  12891 KB,  disk_w:   1087 KB

  UID    PID   PPID CMD              DEVICE  MAJ MIN D            BYTES
    0    404      1 vold             cmdk0   102   0 W           504320
",
    recognise: |head| recognise(head, ITOP),
    parser: || Box::new(Pattern::new()),
};

pub(crate) const RWTOP_DTRACE: Format = Format {
    name: "rwtop-dtrace",
    tool: "rwtop",
    systems: "Solaris, illumos, macOS",
    help: "bytes that programs read and wrote, by process, and the load",
    recognised: "a header `PID PPID CMD D BYTES`",
    yields: &["system"],
    example: "\
2005 Jul 24 04:47:26,  load: 0.15,  app_r:      9 KB,  app_w:      8 KB

  UID    PID   PPID CMD              D            BYTES
  100  20324  20312 bash             R             1372
",
    recognise: |head| {
        let disks = recognise(head, ITOP);
        if disks > 0 { 0 } else { recognise(head, RWTOP) }
    },
    parser: || Box::new(Pattern::new()),
};

fn recognise(head: &Head, header: &[&str]) -> u8 {
    if Table::is_in(head, header) { 92 } else { 0 }
}

struct Pattern {
    table: Option<Table>,
    disk: Shape,
    load: Shape,
    load1: Shape,
    /// The device that the command names.
    device: Option<String>,
    /// A line told the time of the table whose header comes.
    is_told: bool,
}

impl Pattern {
    fn new() -> Pattern {
        Pattern {
            table: None,
            disk: Shape::of("disk", &["ios", "bytes"]),
            load: Shape::of("system", &["load1", "load5", "load15"]),
            load1: Shape::of("system", &["load1"]),
            device: None,
            is_told: false,
        }
    }

    /// The header of a table of `biotop` or `iotop` comes, which has no times: a line above tells when it was
    /// printed, and loads or totals. Where that is lost the table is a report all the same.
    fn begin(&mut self, table: Table, out: &mut Out) {
        let is_told = std::mem::take(&mut self.is_told);
        let is_of_top = table.has("COMM") || table.has("CMD");
        if is_of_top && !is_told && out.has_sample() {
            out.sample_once(None);
        }
        self.table = Some(table);
    }

    fn put(&self, device: &str, op: &str, [ios, bytes]: [f64; 2], out: &mut Out) {
        let words = [device, request_layer(device), op].map(|w| out.word(w.as_bytes()));
        out.put_amounts(&self.disk, &words, &[ios, bytes]);
    }

    /// `22:12:57 vdb 0 99 193 772`.
    fn bio(&self, table: &Table, line: &str, out: &mut Out) -> Option<()> {
        let row = table.row(line)?;
        let names = ["COUNT", "KBYTES", "%RND", "%SEQ"];
        let [count, kbytes, random, sequential] = names.map(|n| row.number(n));
        let values = [count?, kbytes? * KIB];
        let (random, sequential) = (random?, sequential?);
        match row.text("TIME") {
            Some(time) => {
                let at = time_of_day(time.as_bytes(), None)?;
                out.sample_once_or_same(Stamp::Clock(at));
            }
            None => out.sample(),
        }
        let device = row.text("DISK")?;
        self.put(device, "(all)", values, out);
        let instance = out.word(device.as_bytes());
        out.other("%RND", "%", instance, random);
        out.other("%SEQ", "%", instance, sequential);
        Some(())
    }

    /// `83 17 187 1024 131072 8896 1424 200`; with -v the date and time before.
    fn io(&self, table: &Table, line: &str, out: &mut Out) -> Option<()> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let timed = table.has("TIME");
        // The date is of four fields.
        let (at, line) = match fields.split_at_checked(4) {
            Some((date, rest)) if timed => (
                Some(stamp(&date.join(" "))?),
                format!("{} {}", "-", rest.join(" ")),
            ),
            _ if timed => return None,
            _ => (None, line.to_owned()),
        };
        let row = table.row(&line)?;
        let names = ["%RAN", "%SEQ", "COUNT", "MIN", "MAX", "AVG", "KR", "KW"];
        let numbers: Vec<f64> = names.iter().map_while(|n| row.number(n)).collect();
        let &[random, sequential, count, least, most, mean, read, written] = &numbers[..] else {
            return None;
        };
        let device = row
            .text("DEVICE")
            .or(self.device.as_deref())
            .unwrap_or("(all)");
        match at {
            Some(at) => out.sample_once_or_same(at),
            None => out.sample(),
        }
        self.put(device, "(all)", [count, f64::NAN], out);
        self.put(device, "read", [f64::NAN, read * KIB], out);
        self.put(device, "write", [f64::NAN, written * KIB], out);
        let instance = out.word(device.as_bytes());
        for (name, unit, value) in [
            ("%RAN", "%", random),
            ("%SEQ", "%", sequential),
            ("MIN", "bytes", least),
            ("MAX", "bytes", most),
            ("AVG", "bytes", mean),
        ] {
            out.other(name, unit, instance, value);
        }
        Some(())
    }

    /// `14501 cksum R 202 1 xvda1 361 28832 3.39`.
    fn top(table: &Table, line: &str, out: &mut Out) -> Option<()> {
        // Of a process that has ended already no name is printed.
        let named = |words: &Vec<&str>| words.len() + 1 == table.width() && words[1].len() == 1;
        let words = Some(line.split_whitespace().collect()).filter(named);
        let with_name = words.map(|words: Vec<&str>| [&words[..1], &["?"], &words[1..]].concat());
        let with_name = with_name.map(|words| words.join(" "));
        let row = table.row(with_name.as_deref().unwrap_or(line))?;
        let values = [
            ("I/O", "per interval", row.number("I/O")?),
            ("Kbytes", "KiB per interval", row.number("Kbytes")?),
            ("AVGms", "ms", row.number("AVGms")?),
        ];
        if !out.has_sample() {
            return None;
        }
        let instance = format!(
            "{}[{}] {} {}",
            row.text("COMM")?,
            row.text("PID")?,
            row.text("DISK")?,
            row.text("D")?
        );
        let instance = out.word(instance.as_bytes());
        for (name, unit, value) in values {
            out.other(name, unit, instance, value);
        }
        Some(())
    }

    /// `26628 ld 161 186 643 152 R built-in.o`.
    fn files(table: &Table, line: &str, out: &mut Out) -> Option<()> {
        let row = table.row(line)?;
        let values = [
            ("READS", "per interval"),
            ("WRITES", "per interval"),
            ("R_Kb", "KiB per interval"),
            ("W_Kb", "KiB per interval"),
        ]
        .map(|(name, unit)| Some((name, unit, row.number(name)?)));
        let thread = row.text("TID").or(row.text("PID"))?;
        thread.parse::<u32>().ok()?;
        let [command, file, kind] = ["COMM", "FILE", "T"].map(|n| row.text(n).unwrap_or(""));
        if values.iter().any(Option::is_none) || !out.has_sample() {
            return None;
        }
        let instance = out.word(format!("{command}[{thread}] {file} {kind}").as_bytes());
        for (name, unit, value) in values.into_iter().flatten() {
            out.other(name, unit, instance, value);
        }
        Some(())
    }

    /// `07:44:04 loadavg: 1.48 0.87 0.45 2/287 14547`.
    fn loads(&self, line: &str, out: &mut Out) -> Option<()> {
        let (time, loads) = line.split_once("loadavg:")?;
        let at = time_of_day(time.trim().as_bytes(), None)?;
        let loads = loads.split_whitespace().take(3);
        let loads: Option<Vec<f64>> = loads.map(|l| number::number(l.as_bytes())).collect();
        let loads = loads.filter(|l| l.len() == 3)?;
        out.sample_once(Some(Stamp::Clock(at)));
        out.put(&self.load, &[], &loads);
        Some(())
    }

    /// `2005 Jul 16 00:34:40,  load: 1.21,  disk_r:  12891 KB,  disk_w:   1087 KB`; of rwtop
    /// `app_r` and `app_w`. Versions before 0.70 print `Kb` for the same.
    fn totals(&self, line: &str, out: &mut Out) -> Option<()> {
        let mut parts = line.split(", ").map(str::trim);
        let at = stamp(parts.next()?)?;
        let load = parts.next()?.strip_prefix("load:")?.trim();
        let load = number::number(load.as_bytes())?;
        let mut bytes = || {
            let (name, value) = parts.next()?.split_once(':')?;
            let value = value.strip_suffix("KB").or(value.strip_suffix("Kb"))?;
            Some((name, number::number(value.trim().as_bytes())? * KIB))
        };
        let totals = [bytes()?, bytes()?];
        let names = totals.map(|(name, _)| name);
        let of_disks = match names {
            ["disk_r", "disk_w"] => true,
            ["app_r", "app_w"] => false,
            _ => return None,
        };
        out.sample_once(Some(at));
        out.put(&self.load1, &[], &[load]);
        for ((name, value), op) in totals.into_iter().zip(["read", "write"]) {
            if of_disks {
                self.put("(all)", op, [f64::NAN, value], out);
            } else {
                // What programs read and write through the cache is no disk I/O.
                let all = out.word(b"(all)");
                out.other(name, "bytes per interval", all, value);
            }
        }
        Some(())
    }

    /// `0 404 1 vold cmdk0 102 0 W 504320`: bytes, microseconds of the disk (-o) or percents (-P).
    /// Of rwtop no disk is told.
    fn process(table: &Table, line: &str, out: &mut Out) -> Option<()> {
        let row = table.row(line)?;
        let columns = [
            ("BYTES", "bytes per interval"),
            ("DISKTIME", "us per interval"),
            ("%I/O", "%"),
        ];
        let column = columns.iter().find(|(name, _)| table.has(name))?;
        let value = row.number(column.0)?;
        if !out.has_sample() {
            return None;
        }
        let device = row
            .text("DEVICE")
            .map_or(String::new(), |d| format!(" {d}"));
        let [command, pid, op] = ["CMD", "PID", "D"].map(|n| row.text(n).unwrap_or(""));
        let instance = out.word(format!("{command}[{pid}]{device} {op}").as_bytes());
        out.other(column.0, column.1, instance, value);
        Some(())
    }

    fn command(&mut self, text: &str, out: &mut Out) -> bool {
        let Some(words) = echoed(text) else {
            return false;
        };
        let valued = match words[0] {
            "biotop" => "rp",
            "filetop" => "rps",
            _ => "dfmpt",
        };
        every(&words, valued, out);
        self.device = disk_of(&words).map(str::to_owned);
        true
    }
}

impl Parser for Pattern {
    /// A line of `iopattern` or `biopattern` without a time.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let alone = |t: &&Table| (t.has("KBYTES") || t.has("KR")) && !t.has("TIME");
        let Some(table) = self.table.as_ref().filter(alone) else {
            return;
        };
        for _ in 0..crate::lines::rows_in(line, table.width()) {
            out.lost();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line);
        let trimmed = text.trim();
        if let Some(table) = [BIO, IO, TOP, FTOP, FTOP_OLD, ITOP, RWTOP]
            .iter()
            .find_map(|h| Table::of(trimmed, h))
        {
            self.begin(table, out);
            return Line::Noise;
        }
        if let Some(seconds) = output_every(trimmed) {
            out.every(seconds);
        }
        if trimmed.is_empty()
            || trimmed == "[...]"
            || trimmed == "^C"
            || trimmed.starts_with("Tracing")
        {
            return Line::Noise;
        }
        if self.loads(trimmed, out).is_some() || self.totals(trimmed, out).is_some() {
            self.is_told = true;
            return Line::Data;
        }
        let seen = match self.table.take() {
            Some(table) => {
                let seen = if table.has("KBYTES") {
                    self.bio(&table, trimmed, out)
                } else if table.has("KR") {
                    self.io(&table, trimmed, out)
                } else if table.has("PPID") {
                    Pattern::process(&table, trimmed, out)
                } else if table.has("R_Kb") {
                    Pattern::files(&table, trimmed, out)
                } else {
                    Pattern::top(&table, trimmed, out)
                };
                self.table = Some(table);
                seen
            }
            None => None,
        };
        if seen.is_some() {
            return Line::Data;
        }
        if self.command(&text, out) || trimmed == "Detaching..." {
            return Line::Noise;
        }
        Line::Unknown
    }
}
