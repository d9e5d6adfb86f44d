//! `nfsstat`, `-c` and `-s`: what the NFS client and server counted since boot.
//!
//! ```text
//! Client rpc stats:
//! calls      retrans    authrefrsh
//! 1234       5          1240
//!
//! Client nfs v3:
//! null         getattr      setattr      lookup
//! 0         0% 100      10% 5         0% 200      20%
//! ```
//!
//! Solaris has `Client nfs:` and `Version 3: (300 calls)`. Lines of names and of numbers follow
//! each other; of the second and later reports the growth is taken.

use std::collections::HashSet;

use crate::counters::Counters;
use crate::list::Format;
use crate::number::whole;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::{Line, Parser, Stamp, calendar, fields, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "nfsstat",
    tool: "nfsstat",
    systems: "Linux, Solaris, illumos, AIX, HP-UX",
    help: "operations of the NFS client and server since boot; of repeated reports what came",
    recognised: "a line `Client rpc`, `Server rpc`, `Client nfs` or `Server nfs` with lines of \
                 names and of counts below it",
    yields: &["nfs", "nfsd_ops"],
    example: "\
Client nfs v3:
null         getattr      setattr      lookup
0         0% 100      10% 5         0% 200      20%
",
    recognise: |head: &Head| {
        let section = head.lines().any(|l| section(l).is_some());
        let names = head.any_fields(&["null", "getattr"])
            || head
                .lines()
                .any(|l| l.trim_ascii_start().starts_with(b"calls "));
        if section && names { 85 } else { 0 }
    },
    parser: || Box::new(Nfsstat::new()),
};

/// Whose counters follow a line.
fn section(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let lower = text.to_ascii_lowercase();
    let of = lower.starts_with("client ") || lower.starts_with("server ");
    let what = lower.get(7..).is_some_and(|r| {
        ["rpc", "nfs", "packet", "reply", "file"]
            .iter()
            .any(|w| r.starts_with(w))
    });
    (of && what && text.ends_with(':')).then(|| lower.trim_end_matches(':').to_owned())
}

/// The protocol's version that a line names: `Version 3: (300 calls)`, or the end of `client
/// nfs v4`.
fn version(text: &str) -> Option<&str> {
    let after = text
        .strip_prefix("version ")
        .or_else(|| text.rsplit_once(" v").map(|p| p.1))?;
    let number = after.split(|c: char| !c.is_ascii_digit()).next()?;
    (!number.is_empty()).then_some(number)
}

struct Nfsstat {
    section: String,
    /// Below the section: version, or kind of connection.
    part: String,
    names: Vec<String>,
    /// Sections and parts of the report.
    seen: HashSet<String>,
    fresh: bool,
    stamp: Option<Stamp>,
    reports: u64,
    counters: Counters,
    client: Shape,
    server: Shape,
}

impl Nfsstat {
    fn new() -> Nfsstat {
        Nfsstat {
            section: String::new(),
            part: String::new(),
            names: Vec::new(),
            seen: HashSet::new(),
            fresh: true,
            stamp: None,
            reports: 0,
            counters: Counters::default(),
            client: Shape::of("nfs", &["ops"]),
            server: Shape::of("nfsd_ops", &["ops"]),
        }
    }

    fn begin(&mut self, out: &mut Out) {
        out.sample_told(self.stamp.take());
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        self.fresh = false;
        self.seen.clear();
    }

    fn counts(&mut self, counts: &[u64], out: &mut Out) -> Line {
        if counts.len() != self.names.len() || self.section.is_empty() {
            return Line::Unknown;
        }
        for (name, count) in std::mem::take(&mut self.names).iter().zip(counts) {
            let key = format!("{} {} {name}", self.section, self.part);
            if self.fresh || self.seen.contains(&key) {
                self.begin(out);
            }
            self.seen.insert(key.clone());
            let now = *count as f64;
            let grown = self.counters.grown(key.as_bytes(), &[now]);
            let value = match grown.as_deref() {
                Some([grown]) => *grown,
                _ if out.is_since_boot() => now,
                _ => f64::NAN,
            };
            self.put(name, value, out);
        }
        Line::Data
    }

    fn put(&self, name: &str, value: f64, out: &mut Out) {
        let nfs = self.section.starts_with("client nfs") || self.section.starts_with("server nfs");
        let of = version(&self.part).or(version(&self.section));
        match of {
            Some(version) if nfs && !value.is_nan() => {
                let op = format!("v{version} {}", name.to_ascii_uppercase());
                let op = out.word(op.as_bytes());
                if self.section.starts_with("client") {
                    let all = out.word(b"(all)");
                    out.put_amounts(&self.client, &[all, op], &[value]);
                } else {
                    out.put_amounts(&self.server, &[op], &[value]);
                }
            }
            _ => {
                let place = format!("{} {}", self.section, self.part);
                let place = out.word(place.trim_end().as_bytes());
                out.other(name, "", place, value);
            }
        }
    }
}

impl Parser for Nfsstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["nfsstat"]) {
            if let Some(seconds) = prompt::interval(&arguments) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        if let Some(stamp) = calendar::stamp(line) {
            self.stamp = Some(stamp);
            self.fresh = true;
            return Line::Noise;
        }
        if let Some(section) = section(line) {
            self.section = section;
            self.part.clear();
            self.names.clear();
            return Line::Noise;
        }
        let text = String::from_utf8_lossy(line).trim().to_ascii_lowercase();
        let part = text.starts_with("version ") || text.ends_with(':');
        if part && !self.section.is_empty() {
            let name = text.split(':').next().unwrap_or_default();
            name.clone_into(&mut self.part);
            self.names.clear();
            return Line::Noise;
        }
        // Shares of the calls stand behind the counts.
        let words: Vec<&[u8]> = fields(line).filter(|w| !w.ends_with(b"%")).collect();
        let counts: Option<Vec<u64>> = words.iter().map(|w| whole(w)).collect();
        if let Some(counts) = counts {
            return self.counts(&counts, out);
        }
        let named = |w: &&[u8]| {
            w.first().is_some_and(u8::is_ascii_alphabetic)
                && w.iter()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        };
        if !self.section.is_empty() && words.iter().all(named) && !prompt::is_chatter(line) {
            self.names = words
                .iter()
                .map(|w| String::from_utf8_lossy(w).into_owned())
                .collect();
            return Line::Noise;
        }
        if prompt::is_chatter(line) {
            Line::Noise
        } else {
            Line::Unknown
        }
    }
}
