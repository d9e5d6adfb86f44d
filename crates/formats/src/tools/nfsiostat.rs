//! `nfsiostat` of Linux, with `-a`, `-d`, `-p` and `-m`, and `mountstats iostat`: the NFS client by
//! mount and operation.
//!
//! ```text
//! box:/x mounted on /mnt:
//!
//!            ops/s       rpc bklog
//!           12.500           0.000
//!
//! read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)
//!                   10.000         640.000          64.000        2 (2.0%)           1.500           2.500
//! ```
//!
//! kB are 1,024 bytes, MB (`-m`) as many kB, both ways added. Retransmissions and errors are
//! counts of the interval, the times means of its operations. The first report is a mean since
//! the file system was mounted. Since the tool prints no time, one before a report is of a script that
//! started it anew, as is a command line: the report below is such a mean again. With `--since` of
//! `mountstats iostat` it is a mean since a file was written. `ms-iostat`, which was before
//! `nfsiostat`, prints `reads:` and `writes:` without retransmissions. Where it was moved to Python 3,
//! each number and the name of the operation stand on lines of their own for some versions.

use crate::list::Format;
use crate::number::{number, whole};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::time::Refused;
use crate::{Line, Parser, echo, fields, numbers, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "nfsiostat",
    tool: "nfsiostat",
    systems: "Linux",
    help: "NFS client by mount and operation: rates, retransmissions, mean times",
    recognised: "lines `X mounted on Y:`, and headers `read: ops/s kB/s kB/op retrans …`",
    yields: &["nfs"],
    example: "\
box:/x mounted on /mnt:

           ops/s       rpc bklog
          12.500           0.000

read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)  avg queue (ms)          errors
                  10.000         640.000          64.000        2 (2.0%)           1.500           2.500           0.500        0 (0.0%)
",
    recognise: |head: &Head| {
        let mount = head.lines().any(|l| mount(l).is_some());
        let backlog = head.any_fields(&["rpc", "bklog"]);
        let operations = head.lines().any(is_header);
        if mount && (backlog || operations) {
            90
        } else if backlog && operations {
            // Its mount was cut off above.
            60
        } else {
            0
        }
    },
    parser: || Box::new(Nfsiostat::new()),
};

/// Where it is mounted: `box:/x mounted on /mnt:`.
fn mount(line: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(line, b" mounted on ")?;
    let mount = line[at + 12..].trim_ascii_end().strip_suffix(b":")?;
    (at > 0 && !mount.is_empty()).then_some(mount)
}

fn is_header(line: &[u8]) -> bool {
    let mut words = fields(line);
    let op = words.next().is_some_and(|w| w.ends_with(b":"));
    op && words.next() == Some(b"ops/s")
        && words.any(|w| matches!(w, b"retrans" | b"kB/s" | b"MB/s"))
}

/// Counts that `-a`, `-d` and `-p` print in sentences; `#` stands for a number.
const SENTENCES: [(&str, &[&str]); 15] = [
    ("# congestion waits", &["congestion waits"]),
    ("# VFS opens", &["VFS opens"]),
    (
        "# inoderevalidates (forced GETATTRs)",
        &["inode revalidations"],
    ),
    ("# page cache invalidations", &["page cache invalidations"]),
    (
        "# attribute cache invalidations",
        &["attribute cache invalidations"],
    ),
    ("# open operations (pathname lookups)", &["open operations"]),
    (
        "# dentry revalidates and # vfs lookup requests",
        &["dentry revalidations", "lookup requests"],
    ),
    ("resulted in # LOOKUPs on the wire", &["LOOKUPs"]),
    (
        "# vfs getdents calls resulted in # READDIRs on the wire",
        &["getdents calls", "READDIRs"],
    ),
    (
        "# nfs_readpage() calls read # pages",
        &["readpage calls", "readpage pages"],
    ),
    (
        "# nfs_readpages() calls read # pages",
        &["readpages calls", "readpages pages"],
    ),
    (
        "# nfs_readahead() calls read # pages",
        &["readahead calls", "readahead pages"],
    ),
    ("# nfs_updatepage() calls", &["updatepage calls"]),
    (
        "# nfs_writepage() calls wrote # pages",
        &["writepage calls", "writepage pages"],
    ),
    (
        "# nfs_writepages() calls wrote # pages",
        &["writepages calls", "writepages pages"],
    ),
];

enum Table {
    None,
    /// Operations and backlog of the mount.
    Mount,
    /// An operation and its columns.
    Operation(Vec<u8>, Vec<&'static str>),
}

struct Nfsiostat {
    reports: Repeated,
    /// The command line has no interval: the tool prints one report.
    one_each: bool,
    mount: Vec<u8>,
    /// There are operations above all lines that name a mount.
    lacks_mount: bool,
    table: Table,
    /// An operation whose columns stand below its name.
    op: Vec<u8>,
    /// Numbers of a row that has each on a line of its own, with blanks between.
    row: Vec<u8>,
    /// Where the last of them stands.
    row_line: u64,
    nfs: Shape,
}

/// The columns of an operation's header, as one word each.
fn columns(line: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(line);
    let names = [
        ("ops/s", "ops/s"),
        ("kB/s", "kB/s"),
        ("MB/s", "MB/s"),
        ("kB/op", "kB/op"),
        ("MB/op", "MB/op"),
        ("retrans", "retrans"),
        ("avg RTT (ms)", "RTT"),
        ("avg exe (ms)", "exe"),
        ("avg queue (ms)", "queue"),
        ("errors", "errors"),
    ];
    let mut found: Vec<(usize, &str)> = names
        .iter()
        .filter_map(|(text_of, name)| Some((text.find(text_of)?, *name)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

impl Nfsiostat {
    fn new() -> Nfsiostat {
        Nfsiostat {
            reports: Repeated::new(),
            one_each: false,
            mount: Vec::new(),
            lacks_mount: false,
            table: Table::None,
            op: Vec::new(),
            row: Vec::new(),
            row_line: 0,
            nfs: Shape::of(
                "nfs",
                &[
                    "ops",
                    "transmissions",
                    "errors",
                    "queue_time",
                    "round_trip_time",
                    "time",
                ],
            ),
        }
    }

    /// The next table begins: a row that was told number by number should be whole.
    fn begins(&mut self, table: Table, out: &mut Out) {
        if !std::mem::take(&mut self.row).is_empty() {
            out.not_understood(self.row_line, "a row of nfsiostat is not told to its end");
        }
        self.op.clear();
        self.table = table;
    }

    /// The row that this line is or ends; none where more of its numbers are to come.
    fn gathered(&mut self, line: &[u8], columns: usize, out: &Out) -> Option<Vec<u8>> {
        let mut plain = fields(line).filter(|w| !w.ends_with(b"%)"));
        let alone = plain.next().is_some_and(|w| number(w).is_some()) && plain.next().is_none();
        if !alone {
            return Some(line.to_vec());
        }
        self.row.extend_from_slice(line);
        self.row.push(b' ');
        self.row_line = out.line_number();
        let so_far = fields(&self.row).filter(|w| !w.ends_with(b"%)")).count();
        (so_far >= columns).then(|| std::mem::take(&mut self.row))
    }

    /// The mount's own table: operations and backlog.
    fn mounts(&self, line: &[u8], out: &mut Out) -> Line {
        let values = numbers(fields(line)).and_then(|v| <[f64; 2]>::try_from(&v[..]).ok());
        let Some([ops, backlog]) = values else {
            return Line::Unknown;
        };
        let mount = out.word(&self.mount);
        out.other("ops/s", "/s", mount, ops);
        out.other("rpc bklog", "", mount, backlog);
        Line::Data
    }

    fn operation(&self, op: &[u8], columns: &[&str], line: &[u8], out: &mut Out) -> Line {
        // Shares of the operations stand behind counts: `2 (2.0%)`.
        let words: Vec<&[u8]> = fields(line).filter(|w| !w.ends_with(b"%)")).collect();
        let values = numbers(words.iter().copied());
        let Some(values) = values.filter(|v| v.len() == columns.len()) else {
            return Line::Unknown;
        };
        let of = |name: &str| {
            let at = columns.iter().position(|c| *c == name);
            at.map_or(f64::NAN, |at| values[at])
        };
        let op = match op {
            b"reads" => b"READ".to_vec(),
            b"writes" => b"WRITE".to_vec(),
            op => op.to_ascii_uppercase(),
        };
        let words = [out.word(&self.mount), out.word(&op)];
        let ops = of("ops/s");
        let times = ["queue", "RTT", "exe"].map(|t| of(t) / 1000.0 * ops);
        // Those sent again are counted by themselves.
        let sent = if columns.contains(&"retrans") {
            ops
        } else {
            f64::NAN
        };
        let rates = [ops, sent, f64::NAN, times[0], times[1], times[2]];
        out.put(&self.nfs, &words, &rates);
        if !out.is_since_boot() {
            // Counts of the interval, beside rates.
            let (retrans, errors, nan) = (of("retrans"), of("errors"), f64::NAN);
            if !(retrans.is_nan() && errors.is_nan()) {
                let counts = [nan, retrans, errors, nan, nan, nan];
                out.put_amounts(&self.nfs, &words, &counts);
            }
        }
        let instance = out.word(&[&self.mount[..], b" ", &op].concat());
        for (column, unit) in [
            ("kB/s", "KiB/s"),
            ("MB/s", "MiB/s"),
            ("kB/op", "KiB"),
            ("MB/op", "MiB"),
        ] {
            out.other(column, unit, instance, of(column));
        }
        Line::Data
    }

    /// A sentence with counts of the interval.
    fn sentence(&self, line: &[u8], out: &mut Out) -> Line {
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        if matches!(words[..], [first, "pages", "per", "call)"] if first.starts_with('(')) {
            return Line::Noise;
        }
        let count = |w: &&str| whole(w.as_bytes());
        let plain: Vec<&str> = words
            .iter()
            .map(|w| if count(w).is_some() { "#" } else { *w })
            .collect();
        let plain = plain.join(" ");
        let counts: Vec<f64> = words
            .iter()
            .filter_map(|w| Some(count(w)? as f64))
            .collect();
        match SENTENCES.iter().find(|(sentence, _)| *sentence == plain) {
            Some((_, names)) => self.counts(names, &counts, out),
            None => Line::Unknown,
        }
    }

    fn counts(&self, names: &[&str], counts: &[f64], out: &mut Out) -> Line {
        let mount = out.word(&self.mount);
        for (name, count) in names.iter().zip(counts) {
            out.other_grown(name, "count", mount, *count);
        }
        Line::Data
    }
}

impl Parser for Nfsiostat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let command = |words: &[&str]| prompt::arguments(line, words);
        let iostat = command(&["nfsiostat"]).or_else(|| command(&["mountstats", "iostat"]));
        if let Some(arguments) = iostat.or_else(|| command(&["ms-iostat"])) {
            // Mounts follow the interval and the count.
            let words: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
            let valued = ["-l", "--list", "-f", "--file", "-S", "--since"];
            let every = echo::interval(&words, &valued);
            if let Some(seconds) = every {
                out.every(seconds);
            }
            self.one_each = every.is_none();
            self.reports.ends();
            return Line::Noise;
        }
        if self.reports.between(line, &["nfsiostat"], out) {
            return Line::Noise;
        }
        if let Some(mount) = mount(line) {
            let anew = self.reports.is_over() || self.one_each;
            if self.reports.of(mount, out) && anew {
                out.since_boot();
                out.note(if self.reports.is_first() {
                    "the first report is a mean since each file system was mounted"
                } else {
                    "a report below a time or a command line is the first that nfsiostat printed: \
                     a mean since each file system was mounted"
                });
            }
            self.mount = mount.to_vec();
            self.begins(Table::None, out);
            return Line::Noise;
        }
        if self.mount.is_empty() {
            self.lacks_mount |= is_header(line);
            let none = line.trim_ascii() == b"No NFS mount points were found";
            return if none || prompt::is_chatter(line) {
                Line::Noise
            } else {
                Line::Unknown
            };
        }
        if is_header(line) {
            let op = fields(line).next().unwrap_or_default();
            let op = op.strip_suffix(b":").unwrap_or(op).to_vec();
            self.begins(Table::Operation(op, columns(line)), out);
            return Line::Noise;
        }
        let words: Vec<&[u8]> = fields(line).collect();
        match words[..] {
            [b"ops/s" | b"op/s", b"rpc", b"bklog"] => {
                self.begins(Table::Mount, out);
                if self
                    .reports
                    .again(&[&self.mount, &b" rpc bklog"[..]].concat())
                {
                    // The line that names another mount is lost.
                    self.mount.clear();
                    return Line::Unknown;
                }
                return Line::Noise;
            }
            [op @ (b"read:" | b"write:")] => {
                self.begins(Table::None, out);
                self.op = op[..op.len() - 1].to_vec();
                return Line::Noise;
            }
            [
                b"ops/s",
                b"kB/s" | b"MB/s",
                b"kB/op" | b"MB/op",
                b"retrans",
                ..,
            ] if !self.op.is_empty() => {
                let op = std::mem::take(&mut self.op);
                self.begins(Table::Operation(op, columns(line)), out);
                return Line::Noise;
            }
            _ => {}
        }
        match std::mem::replace(&mut self.table, Table::None) {
            Table::Mount => match self.gathered(line, 2, out) {
                Some(row) => self.mounts(&row, out),
                None => {
                    self.table = Table::Mount;
                    Line::Data
                }
            },
            Table::Operation(op, columns) => match self.gathered(line, columns.len(), out) {
                Some(row) => self.operation(&op, &columns, &row, out),
                None => {
                    self.table = Table::Operation(op, columns);
                    Line::Data
                }
            },
            Table::None => match self.sentence(line, out) {
                Line::Unknown if prompt::is_chatter(line) => Line::Noise,
                seen => seen,
            },
        }
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.begins(Table::None, out);
        if self.reports.is_none() && self.lacks_mount {
            let why = "no line `box:/x mounted on /mnt:` names the file system, which begins a report of \
                       nfsiostat\n\
                       hint: leave it above the operations, or write it there";
            out.refuse(Refused(why.into()));
        }
    }
}
