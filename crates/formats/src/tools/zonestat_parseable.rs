//! `zonestat -p`, also with `-P`, `-r` and `-T`: what zones use, for programs.
//!
//! ```text
//! interval:header:since-last-interval:20201122T144443Z:1:5
//! interval:summary:[resource]:8:8:33406976K:35454976K
//! interval:summary:global:0.30:3.79%:-:-:8326144K:24.90%:-:7782400K:21.91%:-
//! interval:virtual-memory:vm_default:global:7782400K:21.91%:-:-
//! interval:processor-set:default-pset:pset_default:global:0.30:3.79%:-:-:-:-:-:0-00-01.50
//! ```
//!
//! Letters are steps of 1,024. From 10,000 to 99,999 the tool leaves out the point of `48.8K`,
//! so that `98K` to `976K` can be either, and are not known.

use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::Out;
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::{Line, Parser, Stamp, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "zonestat-p",
    tool: "zonestat",
    systems: "illumos, Solaris 11",
    help: "processors, memory and limits of zones, as zonestat -p prints them",
    recognised: "lines `interval:summary:…`, `interval:virtual-memory:…`, perhaps after a time",
    yields: &[],
    example: "\
interval:header:since-last-interval:20201122T144443Z:1:5
interval:summary:[resource]:8:8:33406976K:35454976K
interval:summary:[total]:0.30:3.79%:-:-:8326144K:24.90%:-:7782400K:21.91%:-
interval:summary:global:0.20:2.50%:-:-:4163072K:12.45%:-:3891200K:10.95%:-
",
    recognise: |head: &Head| {
        let ours = head
            .lines()
            .any(|l| parts(l).is_some_and(|p| !p.is_summary()));
        if ours { 92 } else { 0 }
    },
    parser: || Box::new(Parseable::new()),
};

/// Columns and their units: of a zone in `summary`, in a set of processors, of other resources.
const SUMMARY: [(&str, &str); 10] = [
    ("CPU_USED", "CPUs"),
    ("CPU_%PART", "%"),
    ("CPU_%CAP", "%"),
    ("CPU_%SHRU", "%"),
    ("PHYSICAL_USED", "B"),
    ("PHYSICAL_PCT", "%"),
    ("PHYSICAL_%CAP", "%"),
    ("VIRTUAL_USED", "B"),
    ("VIRTUAL_PCT", "%"),
    ("VIRTUAL_%CAP", "%"),
];
const SUMMARY_ALL: [(&str, &str); 4] = [
    ("CPUS", "CPUs"),
    ("ONLINE", "CPUs"),
    ("PHYSICAL", "B"),
    ("VIRTUAL", "B"),
];
const PROCESSORS: [(&str, &str); 8] = [
    ("USED", "CPUs"),
    ("PCT", "%"),
    ("CAP", "CPUs"),
    ("%CAP", "%"),
    ("SHRS", "shares"),
    ("%SHR", "%"),
    ("%SHRU", "%"),
    ("TIME", "s"),
];
const PROCESSORS_ALL: [(&str, &str); 5] = [
    ("ONLINE", "CPUs"),
    ("CPUS", "CPUs"),
    ("MIN", "CPUs"),
    ("MAX", "CPUs"),
    ("TIME", "s"),
];
const MEMORY: [(&str, &str); 4] = [("USED", "B"), ("PCT", "%"), ("CAP", "B"), ("%CAP", "%")];
const COUNTED: [(&str, &str); 4] = [("USED", ""), ("PCT", "%"), ("CAP", ""), ("%CAP", "%")];
const KINDS: [&str; 11] = [
    "header",
    "footer",
    "summary",
    "physical-memory",
    "virtual-memory",
    "locked-memory",
    "shm-memory",
    "processor-set",
    "processes",
    "lwps",
    "lofi",
];
const IDS: [&str; 3] = ["shm-ids", "sem-ids", "msg-ids"];

/// A line: the time before it, its report, its kind and what follows.
struct Parts<'a> {
    stamp: Option<&'a str>,
    report: &'a str,
    kind: &'a str,
    rest: Vec<&'a str>,
}

impl Parts<'_> {
    /// A report of several intervals: their sum, mean or maximum.
    fn is_summary(&self) -> bool {
        self.report != "interval"
    }
}

fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let all: Vec<&str> = text.split(':').collect();
    let report = |t: &str| t == "interval" || t.starts_with("report-") || t == "footer";
    let at = all.iter().take(2).position(|t| report(t))?;
    let kind = *all.get(at + 1)?;
    let known = KINDS.contains(&kind) || IDS.contains(&kind);
    known.then(|| Parts {
        stamp: (at == 1).then(|| all[0]),
        report: all[at],
        kind,
        rest: all[at + 2..].to_vec(),
    })
}

/// The note on reports of several intervals.
pub(super) const SUMMARIES: &str =
    "reports over several intervals (-R) are left out: they repeat them";

struct Parseable {
    reports: Repeated,
    /// Seconds from the start to the report before.
    before: f64,
    /// The header's time and length of the report to come.
    header: Option<(Option<Stamp>, f64)>,
    stamp: Option<Stamp>,
}

impl Parseable {
    fn new() -> Parseable {
        Parseable {
            reports: Repeated::new(),
            before: 0.0,
            header: None,
            stamp: None,
        }
    }

    /// `since-last-interval:TIME:COUNT:SECONDS`, seconds since the tool was started.
    fn header(&mut self, rest: &[&str], out: &mut Out) -> Line {
        let &[_, time, count, seconds] = rest else {
            return Line::Unknown;
        };
        let (Some(count), Some(seconds)) = (number(count.as_bytes()), number(seconds.as_bytes()))
        else {
            return Line::Unknown;
        };
        if count <= 1.0 || seconds < self.before {
            self.before = 0.0;
        }
        let stamp = stamp_line::told(time.as_bytes(), out);
        self.header = Some((stamp, seconds - self.before));
        self.before = seconds;
        self.reports.ends();
        Line::Noise
    }

    fn row(&mut self, parts: &Parts<'_>, out: &mut Out) -> Line {
        let rest = &parts.rest;
        let of_all = |at: usize| rest.get(at) == Some(&"[resource]");
        let memory = parts.kind.ends_with("-memory");
        // How many words name it, and the columns behind.
        let (words, columns): (usize, &[(&str, &str)]) = match parts.kind {
            "summary" if of_all(0) => (1, &SUMMARY_ALL),
            "summary" => (1, &SUMMARY),
            "processor-set" if of_all(2) => (3, &PROCESSORS_ALL),
            "processor-set" => (3, &PROCESSORS),
            _ if of_all(1) && memory => (2, &[("SIZE", "B")]),
            _ if of_all(1) => (2, &[("SIZE", "")]),
            _ if memory => (2, &MEMORY),
            _ => (2, &COUNTED),
        };
        if rest.len() != words + columns.len() {
            return Line::Unknown;
        }
        let (names, texts) = rest.split_at(words);
        let mut values = Vec::with_capacity(columns.len());
        for ((_, unit), text) in columns.iter().zip(texts) {
            match value(text, unit, out) {
                Some(value) => values.push(value),
                None => return Line::Unknown,
            }
        }
        let instance = match parts.kind {
            "summary" => names.join(" "),
            kind => format!(
                "{} {kind} {}",
                names[words - 1],
                names[..words - 1].join(" ")
            ),
        };
        self.begin(&instance, parts, out);
        let instance = out.word(instance.trim_end().as_bytes());
        for ((column, unit), value) in columns.iter().zip(values) {
            out.other(column, unit, instance, value);
        }
        Line::Data
    }

    fn begin(&mut self, instance: &str, parts: &Parts<'_>, out: &mut Out) {
        let header = self.header.take();
        let told = parts
            .stamp
            .and_then(|t| stamp_line::told(t.as_bytes(), out));
        if told.is_some() && told != self.stamp {
            self.stamp = told;
            self.reports.ends();
        }
        if let Some(stamp) = header.and_then(|h| h.0).or(told)
            && (header.is_some() || self.reports.is_over())
        {
            self.reports.made_at(stamp);
        }
        if self.reports.of(instance.as_bytes(), out) {
            out.only_levels();
            if let Some((_, length)) = header {
                out.spans(length);
            }
        }
    }
}

/// A number of that unit; NaN for one that is not told or can be read in two ways.
fn value(text: &str, unit: &str, out: &mut Out) -> Option<f64> {
    match (text, unit) {
        ("-" | "no-fss" | "inf", _) => return Some(f64::NAN),
        (_, "s") => {
            let mut seconds = 0.0;
            for part in text.split('-') {
                seconds = seconds * 60.0 + number(part.as_bytes())?;
            }
            return Some(seconds);
        }
        (_, "%") => return number(text.strip_suffix('%')?.as_bytes()),
        _ => {}
    }
    let found = scaled(text.as_bytes(), 1024.0)?;
    if lost_point(text) {
        out.note(
            "sizes of 98K to 976K are left out: zonestat -p prints 48.8K as 488K, so that they \
             can be a tenth of that",
        );
        return Some(f64::NAN);
    }
    Some(found)
}

/// Whether a size can be one whose point is missing.
pub(super) fn lost_point(text: &str) -> bool {
    let kilo = text.strip_suffix('K').and_then(|k| k.parse::<u32>().ok());
    kilo.is_some_and(|k| (98..=976).contains(&k))
}

impl Parser for Parseable {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(parts) = parts(line) {
            if parts.is_summary() {
                out.note(SUMMARIES);
                return Line::Noise;
            }
            return match parts.kind {
                "header" => self.header(&parts.rest, out),
                "footer" => Line::Noise,
                _ => self.row(&parts, out),
            };
        }
        if self.reports.between(line, &["zonestat"], out) || prompt::is_chatter(line) {
            return Line::Noise;
        }
        Line::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn sizes_without_their_point_are_not_known() {
        let mut out = Out::new("test", Options::default());
        assert_eq!(value("9999", "B", &mut out), Some(9999.0));
        assert!(value("488K", "B", &mut out).is_some_and(f64::is_nan));
        assert_eq!(value("977K", "B", &mut out), Some(977.0 * 1024.0));
        assert_eq!(value("3.79%", "%", &mut out), Some(3.79));
        assert_eq!(value("1-02-03.50", "s", &mut out), Some(3723.5));
        assert_eq!(value("x", "B", &mut out), None);
    }
}
