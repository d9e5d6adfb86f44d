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
//! each other. With `-l` each counter that is not zero has a line: `nfs v3 client getattr: 100`.
//! Of the second and later reports the growth is taken. With an interval Solaris prints it itself, and
//! a line of asterisks behind each report (`nfsstat.c` of illumos).
//!
//! `mountstats nfsstat` prints the same of the client without colons behind `Client nfs v4`, and cuts the
//! names of operations to twelve letters. Its `authrefrsh` is the number of calls once more, and not
//! known.

use std::collections::HashSet;

use crate::list::Format;
use crate::number::whole;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::{Line, Parser, fields, prompt};

pub(crate) const FORMAT: Format = Format {
    name: "nfsstat",
    tool: "nfsstat",
    systems: "Linux, Solaris, illumos, AIX, HP-UX",
    help: "operations of the NFS client and server since boot; of repeated reports what came",
    recognised: "a line `Client rpc`, `Server rpc`, `Client nfs` or `Server nfs` with lines of \
                 names and of counts below it; of -l lines `nfs v3 client getattr: 100`",
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
        let listed = head.lines().filter(|l| listed(l).is_some()).count() > 1;
        if (section && names) || listed { 85 } else { 0 }
    },
    parser: || Box::new(Nfsstat::new()),
};

/// Whose counters follow a line.
fn section(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let lower = text.to_ascii_lowercase();
    if is_of_mountstats(&lower) {
        return Some(lower);
    }
    let of = lower.starts_with("client ") || lower.starts_with("server ");
    let what = lower.get(7..).is_some_and(|r| {
        ["rpc", "nfs", "packet", "reply", "file"]
            .iter()
            .any(|w| r.starts_with(w))
    });
    (of && what && text.ends_with(':')).then(|| lower.trim_end_matches(':').to_owned())
}

/// `client nfs v4`, as `mountstats nfsstat` prints it.
fn is_of_mountstats(lower: &str) -> bool {
    matches!(lower, "client nfs v3" | "client nfs v4")
}

/// Operations whose names have more than twelve letters.
const CUT: [&str; 13] = [
    "open_downgrade",
    "setclientid_confirm",
    "release_lockowner",
    "create_session",
    "destroy_session",
    "get_lease_time",
    "reclaim_complete",
    "getdeviceinfo",
    "getdevicelist",
    "secinfo_no_name",
    "bind_conn_to_session",
    "destroy_clientid",
    "offload_cancel",
];

/// The whole name of an operation that was cut.
fn uncut(name: &str) -> &str {
    let is_it = |whole: &&&str| name.len() == 12 && whole.starts_with(name);
    CUT.iter().find(is_it).copied().unwrap_or(name)
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

/// Section, name and count of a line of `-l`: `nfs v4 servop   getattr:   12`.
fn listed(line: &[u8]) -> Option<(String, &str, f64)> {
    let words: Vec<&str> = std::str::from_utf8(line).ok()?.split_whitespace().collect();
    let &["nfs", version, whose, name, count] = &words[..] else {
        return None;
    };
    let whose = match whose {
        "client" => "client",
        "server" | "servop" => "server",
        _ => return None,
    };
    version.strip_prefix('v')?.parse::<u8>().ok()?;
    let count = whole(count.as_bytes())? as f64;
    let section = format!("{whose} nfs {version}");
    Some((section, name.strip_suffix(':')?, count))
}

/// A count that a share of 100 follows at once: Linux prints `%-8u%3u%% `, so that one of eight
/// digits or more stands against the only share of three.
fn count_of_all(word: &[u8]) -> Option<&[u8]> {
    let count = word.strip_suffix(b"100%")?;
    let printed = count.len() >= 8 && !count.starts_with(b"0");
    printed.then_some(count)
}

/// What printed the counts, as far as a command line that was kept tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Command {
    Nfsstat,
    Mountstats,
    /// The same with `--since`: they are differences to a file.
    Since,
}

struct Nfsstat {
    section: String,
    /// Below the section: version, or kind of connection.
    part: String,
    names: Vec<String>,
    /// All names below the present heading.
    headed: HashSet<String>,
    /// Names of operations are cut.
    cuts: bool,
    command: Command,
    reports: Repeated,
    /// Reports but the first are of an interval each.
    of_intervals: bool,
    client: Shape,
    server: Shape,
}

impl Nfsstat {
    fn new() -> Nfsstat {
        Nfsstat {
            section: String::new(),
            part: String::new(),
            names: Vec::new(),
            headed: HashSet::new(),
            cuts: false,
            command: Command::Nfsstat,
            reports: Repeated::new(),
            of_intervals: false,
            client: Shape::of("nfs", &["ops"]),
            server: Shape::of("nfsd_ops", &["ops"]),
        }
    }

    fn counts(&mut self, counts: &[u64], out: &mut Out) -> Line {
        if counts.len() != self.names.len() || self.section.is_empty() {
            return Line::Unknown;
        }
        let named = self.names.iter();
        if named.filter(|n| !self.headed.insert((*n).clone())).count() > 0 {
            // The heading above them is lost: they are of another version, or another side.
            self.section.clear();
            return Line::Unknown;
        }
        for (name, count) in std::mem::take(&mut self.names).iter().zip(counts) {
            let key = format!("{} {} {name}", self.section, self.part);
            self.reports.counted(key.as_bytes(), out);
            let count = *count as f64;
            let is_first = self.reports.is_first();
            let value = match () {
                () if self.of_intervals && !is_first => count,
                () if self.command == Command::Since && !is_first => f64::NAN,
                () => {
                    let grown = self.reports.grown(key.as_bytes(), &[count], out);
                    grown.map_or(f64::NAN, |grown| grown[0])
                }
            };
            self.put(name, value, out);
        }
        Line::Data
    }

    /// A line of `-l`, which leaves out what is zero.
    fn listed(&mut self, section: &str, name: &str, count: f64, out: &mut Out) -> Line {
        // All of them once more.
        if name == "total" {
            return Line::Noise;
        }
        section.clone_into(&mut self.section);
        self.part.clear();
        let key = format!("{section} {name}");
        self.reports.counted(key.as_bytes(), out);
        let grown = self.reports.grown(key.as_bytes(), &[count], out);
        self.put(name, grown.map_or(count, |grown| grown[0]), out);
        Line::Data
    }

    fn put(&self, name: &str, value: f64, out: &mut Out) {
        if name == "authrefrsh" && self.command != Command::Nfsstat {
            return;
        }
        let name = if self.cuts { uncut(name) } else { name };
        // `Client nfs_acl:` has calls of the same names.
        let nfs = ["client nfs", "server nfs"]
            .iter()
            .any(|of| self.section.starts_with(of) && !self.section.ends_with("_acl"));
        let of = version(&self.part).or(version(&self.section));
        // Operations stand inside compounds, and are counted themselves.
        let is_around = name == "compound" || name == "null" && self.section.starts_with("server");
        let of = of.filter(|version| !(is_around && *version == "4"));
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
                out.other_grown(name, "calls", place, value);
            }
        }
    }
}

impl Parser for Nfsstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(arguments) = prompt::arguments(line, &["mountstats", "nfsstat"]) {
            let since = |a: &String| a == "-S" || a.starts_with("--since");
            self.command = Command::Mountstats;
            if arguments.iter().any(since) {
                self.command = Command::Since;
                out.note("what --since prints is the difference to a file of an unknown time");
            }
            return Line::Noise;
        }
        if prompt::arguments(line, &["nfsstat"]).is_some() {
            self.command = Command::Nfsstat;
        }
        if self.reports.between(line, &["nfsstat"], out) {
            return Line::Noise;
        }
        if let Some((section, name, count)) = listed(line) {
            return self.listed(&section, name, count, out);
        }
        if line.trim_ascii().iter().all(|b| matches!(b, b'-' | b' ')) {
            return Line::Noise;
        }
        if line.len() > 40 && line.trim_ascii().iter().all(|b| *b == b'*') {
            self.of_intervals = true;
            self.reports.ends();
            return Line::Noise;
        }
        if let Some(section) = section(line) {
            self.cuts =
                is_of_mountstats(&String::from_utf8_lossy(line).trim().to_ascii_lowercase());
            self.section = section;
            self.part.clear();
            self.names.clear();
            self.headed.clear();
            return Line::Noise;
        }
        let text = String::from_utf8_lossy(line).trim().to_ascii_lowercase();
        let part = text.starts_with("version ") || text.ends_with(':');
        if part && !self.section.is_empty() {
            let name = text.split(':').next().unwrap_or_default();
            name.clone_into(&mut self.part);
            self.names.clear();
            self.headed.clear();
            return Line::Noise;
        }
        // Shares of the calls stand behind the counts.
        let words: Vec<&[u8]> = fields(line)
            .map(|w| count_of_all(w).unwrap_or(w))
            .filter(|w| !w.ends_with(b"%"))
            .collect();
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
