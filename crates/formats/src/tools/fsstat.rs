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
//! I/O, so it is kept as it is.

use crate::list::Format;
use crate::number::scaled;
use crate::out::Out;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "fsstat",
    tool: "fsstat",
    systems: "Solaris, illumos",
    help: "operations on files by type of file system or mount",
    recognised: "two header lines, `new name name attr …` and `file remov chng get …`",
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
        let other = head.lines().any(|l| {
            let words: Vec<&[u8]> = fields(l).collect();
            words.len() >= 7
                && words
                    .iter()
                    .all(|w| ALONE.iter().any(|a| a.as_bytes() == *w))
        });
        if (upper && lower) || other { 88 } else { 0 }
    },
    parser: || {
        Box::new(Fsstat {
            upper: Vec::new(),
            columns: Vec::new(),
            reports: Repeated::new(),
        })
    },
};

/// Columns of the flags that print one header line (-a, -f, -i, -n, -v).
const ALONE: [&str; 34] = [
    "getattr", "setattr", "getsec", "setsec", "lookup", "creat", "remov", "link", "renam", "mkdir",
    "rmdir", "rddir", "symlnk", "rdlnk", "open", "close", "access", "rwlock", "rwulock", "read",
    "write", "seek", "cmp", "frlock", "space", "realvp", "getpage", "putpage", "map", "addmap",
    "delmap", "poll", "dump", "pathconf",
];

struct Fsstat {
    upper: Vec<String>,
    columns: Vec<String>,
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
        let alone = words.len() >= 7 && words.iter().all(|w| ALONE.contains(&w.as_str()));
        if alone {
            self.columns = words;
        }
        alone
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
        if self.header(line) {
            return Line::Noise;
        }
        self.row(line, out)
    }
}
