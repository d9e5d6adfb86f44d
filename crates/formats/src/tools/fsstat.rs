//! `fsstat` of Solaris and illumos: operations on file systems, by type or mount.
//!
//! ```text
//!  new  name   name  attr  attr lookup rddir  read read  write write
//!  file remov  chng   get   set    ops   ops   ops bytes   ops bytes
//!    35     0    32 1.67K    12  1.23K    12   500 1.5M    200  300K zfs
//! ```
//!
//! Letters are steps of 1,024; a row counts what happened in the interval, the first all since
//! the file system was mounted (`fsstat(8)`). What programs do through the cache is no disk
//! I/O, so it is kept as it is. With -A and -Z names are of a zone, too, as `zfs:global`.
//!
//! With -a, -n and -v there is one header line; with -f each file system has a list of its own:
//!
//! ```text
//! zfs
//!  operation  #ops  bytes
//!       open   500
//!       read 1.23K  1.5M
//! ```

use crate::list::Format;
use crate::number::scaled;
use crate::out::Out;
use crate::prompt::is_chatter;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "fsstat",
    tool: "fsstat",
    systems: "Solaris, illumos",
    help: "operations on files by type of file system or mount",
    recognised: "two header lines, `new name name attr …` and `file remov chng get …`, or one of \
                 those of -a, -n, -v and -f",
    yields: &[],
    example: "\
 new  name   name  attr  attr lookup rddir  read read  write write
 file remov  chng   get   set    ops   ops   ops bytes   ops bytes
   35     0    32 1.67K    12  1.23K    12   500 1.5M    200  300K zfs
    1     2     3     4     5      6     7     8    9     10    11 zfs
",
    recognise: |head| {
        let upper = head.any_fields(&["new", "name", "name", "attr"]);
        let lower = head.any_fields(&["file", "remov", "chng", "get"]);
        let io = head.any_fields(&["read", "read", "write", "write", "rddir", "rddir"])
            && head.any_fields(&["ops", "bytes", "ops", "bytes", "ops", "bytes"]);
        let other = head.lines().any(|l| alone(l).is_some() || is_list(l));
        if (upper && lower) || io || other {
            88
        } else {
            0
        }
    },
    parser: || {
        Box::new(Fsstat {
            upper: Vec::new(),
            columns: Vec::new(),
            list: None,
            named: None,
            reports: Repeated::new(),
        })
    },
};

/// Header lines that are the only one: of -a, -n, -v (`attr_display`, `naming_display` and
/// `vm_display` of illumos' `fsstat.c`).
const ALONE: [&[&str]; 3] = [
    &["getattr", "setattr", "getsec", "setsec"],
    &[
        "lookup", "creat", "remov", "link", "renam", "mkdir", "rmdir", "rddir", "symlnk", "rdlnk",
    ],
    &["map", "addmap", "delmap", "getpag", "putpag", "pagio"],
];

/// The columns that such a line names.
fn alone(line: &[u8]) -> Option<&'static [&'static str]> {
    let is = |header: &&&[&str]| fields(line).eq(header.iter().map(|name| name.as_bytes()));
    ALONE.iter().find(is).copied()
}

/// The header of -f, below the name of a file system.
fn is_list(line: &[u8]) -> bool {
    fields(line).eq([&b"operation"[..], b"#ops", b"bytes"])
}

struct Fsstat {
    upper: Vec<String>,
    columns: Vec<String>,
    /// The file system of which -f lists operations.
    list: Option<Vec<u8>>,
    /// A line with one word, which may be the name of one.
    named: Option<(u64, Vec<u8>)>,
    reports: Repeated,
}

impl Fsstat {
    /// Whether the line is part of a header.
    fn header(&mut self, line: &[u8]) -> bool {
        let words: Vec<String> = fields(line)
            .map(|w| String::from_utf8_lossy(w).into_owned())
            .collect();
        let starts = |with: [&str; 3]| words.iter().take(3).eq(with.iter());
        if starts(["new", "name", "name"]) {
            self.upper = words;
            return true;
        }
        // -i: read read write write rddir rddir rwlock rwulock, above ops bytes ops bytes …
        if starts(["read", "read", "write"]) {
            self.upper = words;
            return true;
        }
        if starts(["file", "remov", "chng"]) || starts(["ops", "bytes", "ops"]) {
            let joined = self
                .upper
                .iter()
                .zip(&words)
                .map(|(a, b)| format!("{a}_{b}"));
            self.columns = joined.collect();
            if self.columns.len() != words.len() {
                self.columns.clear();
            }
            return true;
        }
        match alone(line) {
            Some(names) => {
                self.columns = names.iter().map(|name| (*name).to_owned()).collect();
                true
            }
            None => false,
        }
    }

    /// A line of a list of -f; `None` if it is none.
    fn listed(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        if is_list(line) {
            // Where the line of its name is lost it is of another than the one above.
            self.list = None;
            let Some((_, name)) = self.named.take() else {
                return Some(Line::Unknown);
            };
            self.reports.counted(&name, out);
            self.list = Some(name);
            return Some(Line::Noise);
        }
        self.no_name(out);
        let words: Vec<&[u8]> = fields(line).collect();
        if let [name] = words[..]
            && !is_chatter(line)
        {
            self.list = None;
            self.named = Some((out.line_number(), name.to_vec()));
            return Some(Line::Data);
        }
        let name = self.list.as_ref()?;
        let (operation, texts) = words.split_first()?;
        let values: Option<Vec<f64>> = texts.iter().map(|t| scaled(t, 1024.0)).collect();
        let operation = String::from_utf8_lossy(operation);
        let instance = out.word(name);
        match values?[..] {
            [ops] => out.other(&operation, "", instance, ops),
            [ops, bytes] => {
                out.other(&format!("{operation}_ops"), "", instance, ops);
                out.other(&format!("{operation}_bytes"), "B", instance, bytes);
            }
            _ => return None,
        }
        Some(Line::Data)
    }

    /// What may have been a name is none.
    fn no_name(&mut self, out: &mut Out) {
        if let Some((line, name)) = self.named.take() {
            out.not_understood(line, &String::from_utf8_lossy(&name));
        }
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let words: Vec<&[u8]> = fields(line).collect();
        let Some((name, texts)) = words.split_last() else {
            return Line::Noise;
        };
        let values: Option<Vec<f64>> = texts.iter().map(|t| scaled(t, 1024.0)).collect();
        let Some(values) = values.filter(|v| !v.is_empty() && v.len() == self.columns.len()) else {
            return Line::Unknown;
        };
        self.reports.counted(name, out);
        let instance = out.word(name);
        for (column, value) in self.columns.iter().zip(values) {
            let unit = if column.ends_with("_bytes") { "B" } else { "" };
            out.other(column, unit, instance, value);
        }
        Line::Data
    }
}

impl Parser for Fsstat {
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let Some(name) = fields(line).last() else {
            return;
        };
        if crate::lines::rows_in(line, self.columns.len()) > 0 {
            self.reports.counted(name, out);
            out.gap();
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if self.reports.between(line, &["fsstat"], out) {
            return Line::Noise;
        }
        // `<<mount point no longer available: /a>>`, `<<zone now active: web>>`.
        let text = line.trim_ascii();
        if text.starts_with(b"<<") && text.ends_with(b">>") || self.header(line) {
            return Line::Noise;
        }
        match self.listed(line, out) {
            Some(seen) => seen,
            None => self.row(line, out),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.no_name(out);
    }
}
