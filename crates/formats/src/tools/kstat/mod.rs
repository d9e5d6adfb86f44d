//! `kstat` of Solaris and illumos: the kernel's counters, in the long form and with `-p`.
//!
//! ```text
//! module: sd                              instance: 0
//! name:   sd0                             class:    disk
//!         nread                           1024
//!         snaptime                        7827.384789463
//! ```
//!
//! and `sd:0:sd0:nread<tab>1024`, with `-C` a colon instead of the tab; with `-j` JSON. Counters hold all since boot; of the second and later reports
//! the growth is taken. `snaptime` says when each was read, in seconds since boot; of times
//! that are printed with a point the unit is the second (`kstat(8)`).

mod forms;
mod json;
mod tables;

use std::collections::HashSet;

use self::forms::{Short, colon_form, long_form, module, name_and_class, short_form};
use self::tables::{Tables, in_seconds};
use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Options, Parser, echo, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "kstat",
    tool: "kstat",
    systems: "Solaris, illumos",
    help: "the kernel's own counters: disks, processors, network links, the ZFS cache, and all others",
    recognised: "lines `module: … instance: …` and `name: … class: …`, or of -p \
                 `module:instance:name:statistic`, a tab or (-C) a colon, and a value; of -j members \
                 `module`, `class` and `snaptime`",
    yields: &[
        "disk",
        "disk_device",
        "disk_io",
        "cpu",
        "cpu_idle",
        "system",
        "interrupt",
        "net",
        "arc",
        "arc_lookups",
        "l2arc",
        "l2arc_bytes",
    ],
    example: "\
module: sd                              instance: 0
name:   sd0                             class:    disk
\tcrtime                          36.863598884
\tnread                           1024
\tnwritten                        2048
\treads                           2
\trlentime                        0.002
\trtime                           0.001
\tsnaptime                        100.5
\twrites                          1
",
    recognise,
    parser: || Box::new(Kstat::new()),
};

fn recognise(head: &Head) -> u8 {
    let mut long = false;
    let mut short = 0;
    let mut lines = 0;
    let mut json = None;
    for line in head.lines().filter(|l| !is_between(l)) {
        lines += 1;
        json.get_or_insert(matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')));
        long |= module(line).is_some();
        let colons = || colon_form(line).filter(|s| number(s.value.as_bytes()).is_some());
        short += usize::from(short_form(line).or_else(colons).is_some());
    }
    let members = ["module", "class", "snaptime", "data"];
    long |= json == Some(true)
        && members
            .iter()
            .all(|m| head.contains(&format!("\t\"{m}\": ")));
    match () {
        () if long => 90,
        () if short > 0 && short * 10 >= lines * 7 => 85,
        () => 0,
    }
}

/// Whether a line stands between reports, which may be of one line each.
fn is_between(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
        || !matches!(stamp_line::stamp_line(line, &Options::default()), Ok(None))
        || prompt::arguments(line, &["kstat"]).is_some()
        || prompt::is_chatter(line)
}

/// Flags of the command line that have a value.
const VALUED: [&str; 6] = ["-c", "-i", "-m", "-n", "-s", "-T"];

/// A named set of statistics, as of one moment.
#[derive(Clone, Debug, Default, PartialEq)]
struct Set {
    module: String,
    instance: String,
    name: String,
    class: String,
    snaptime: Option<f64>,
    /// Its numbers.
    values: Vec<(String, f64)>,
}

impl Set {
    fn of(&self, name: &str) -> f64 {
        let found = self.values.iter().find(|(n, _)| n == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|n| !self.of(n).is_nan())
    }

    fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|n| !self.of(n).is_nan())
    }

    fn key(&self) -> String {
        format!("{}:{}:{}", self.module, self.instance, self.name)
    }

    /// Takes a statistic; whether it is a number, `None` where one is none.
    fn take(&mut self, name: &str, value: &str) -> Option<bool> {
        let read = || number(value.as_bytes()).filter(|_| !TEXTS.contains(&name));
        match name {
            "class" => value.clone_into(&mut self.class),
            "snaptime" | "crtime" => {
                let seconds = number(value.as_bytes())?;
                // Since boot: decades at most.
                let sound = (0.0..1e9).contains(&seconds) && name == "snaptime";
                self.snaptime = Some(seconds).filter(|_| sound).or(self.snaptime);
            }
            _ => {
                let found = read().map(|v| in_seconds(name, value, v));
                self.values.extend(found.map(|v| (name.to_owned(), v)));
                if found.is_none() && NUMBERS.contains(&name) {
                    return None;
                }
                return Some(found.is_some());
            }
        }
        Some(true)
    }
}

/// Statistics that are texts, though they can look like numbers.
const TEXTS: [&str; 8] = [
    "Model",
    "Product",
    "Revision",
    "Serial No",
    "Vendor",
    "brand",
    "implementation",
    "state",
];

/// Statistics that are numbers, of disks, links, processors and the ZFS cache.
const NUMBERS: [&str; 30] = [
    "nread",
    "nwritten",
    "reads",
    "writes",
    "rtime",
    "wtime",
    "rlentime",
    "wlentime",
    "rlastupdate",
    "wlastupdate",
    "rcnt",
    "wcnt",
    "rbytes",
    "obytes",
    "rbytes64",
    "obytes64",
    "ipackets",
    "opackets",
    "ipackets64",
    "opackets64",
    "ierrors",
    "oerrors",
    "cpu_nsec_idle",
    "cpu_nsec_intr",
    "cpu_nsec_kernel",
    "cpu_nsec_user",
    "pswitch",
    "hits",
    "misses",
    "size",
];

/// Whether a text is numbers of several things, which one of them alone is a number: `1:2`, `null`.
fn is_list(value: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    value == "null" || value.is_empty() || value.split(':').all(digits)
}

struct Kstat {
    /// A document of -j.
    json: json::Json,
    /// The sets of the present report.
    sets: Vec<Set>,
    seen: HashSet<String>,
    /// Statistics of the last set.
    statistics: HashSet<String>,
    /// Those that were a number, by module.
    numbers: HashSet<String>,
    stamp: Option<Stamp>,
    /// `snaptime` of the first report.
    zero: Option<f64>,
    /// Reports have their times from there.
    by_snaptime: bool,
    reports: u64,
    tables: Tables,
}

impl Kstat {
    fn new() -> Kstat {
        Kstat {
            json: json::Json::default(),
            sets: Vec::new(),
            seen: HashSet::new(),
            statistics: HashSet::new(),
            numbers: HashSet::new(),
            stamp: None,
            zero: None,
            by_snaptime: false,
            reports: 0,
            tables: Tables::new(),
        }
    }

    /// The set of that name of the present report; one that ended begins the next.
    fn open(&mut self, module: &str, instance: &str, name: &str, out: &mut Out) {
        let key = format!("{module}:{instance}:{name}");
        if !self.seen.insert(key.clone()) {
            self.report(out);
            self.seen.insert(key);
        }
        self.statistics.clear();
        self.sets.push(Set {
            module: module.to_owned(),
            instance: instance.to_owned(),
            name: name.to_owned(),
            ..Set::default()
        });
    }

    /// The present report is whole.
    fn report(&mut self, out: &mut Out) {
        let sets = std::mem::take(&mut self.sets);
        self.seen.clear();
        let stamp = self.stamp.take();
        if sets.iter().all(|s| s.values.is_empty()) {
            return;
        }
        let snap = sets.iter().find_map(|s| s.snaptime);
        let zero = *self.zero.get_or_insert(snap.unwrap_or(0.0));
        self.by_snaptime |= stamp.is_none() && snap.is_some();
        match (stamp, snap) {
            // Between a date and what is counted from the first report there is no interval.
            (Some(_), Some(snap)) if self.by_snaptime => {
                out.note("the first report has no date: times are counted from it, by `snaptime`");
                out.sample_at(Stamp::Elapsed(snap - zero));
            }
            (Some(stamp), _) => out.sample_once(Some(stamp)),
            (None, Some(snap)) => out.sample_at(Stamp::Elapsed(snap - zero)),
            (None, None) => out.sample(),
        }
        if self.reports == 0 {
            out.since_boot();
        }
        self.reports += 1;
        self.tables.put(&sets, out);
    }

    /// A line of -j.
    fn json(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        Some(match self.json.line(line)? {
            json::Part::Nothing => Line::Noise,
            json::Part::Set {
                module,
                instance,
                name,
            } => {
                self.open(&module, &instance, &name, out);
                Line::Noise
            }
            json::Part::About(name, value) => {
                let taken = self.sets.last_mut().map(|set| set.take(name, value));
                if taken == Some(None) {
                    Line::Unknown
                } else {
                    Line::Noise
                }
            }
            json::Part::Statistic(name, value) => self.statistic(name, value),
        })
    }

    fn short(&mut self, found: &Short, out: &mut Out) -> Line {
        let same = self.sets.last().is_some_and(|s| {
            s.module == found.module && s.instance == found.instance && s.name == found.name
        });
        let again = self.statistics.contains(found.statistic);
        if !same || again {
            self.open(found.module, found.instance, found.name, out);
        }
        self.statistics.insert(found.statistic.to_owned());
        self.statistic(found.statistic, found.value)
    }

    fn statistic(&mut self, name: &str, value: &str) -> Line {
        let Some(set) = self.sets.last_mut() else {
            return Line::Unknown;
        };
        let key = format!("{} {name}", set.module);
        match set.take(name, value) {
            Some(true) => {
                self.numbers.insert(key);
                Line::Data
            }
            // A text is a setting, where it is one always.
            Some(false) if is_list(value) || !self.numbers.contains(&key) => Line::Noise,
            _ => Line::Unknown,
        }
    }
}

impl Parser for Kstat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["kstat"]) {
            if prompt::has_flag(&arguments, 'l') {
                out.refuse(Refused(
                    "kstat -l lists names of statistics, without values".into(),
                ));
            }
            let words: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
            if let Some(seconds) = echo::interval(&words, &VALUED) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        if let Some((module, instance)) = module(line) {
            // Its name is in the next line.
            self.sets.push(Set {
                module: module.to_owned(),
                instance: instance.to_owned(),
                ..Set::default()
            });
            return Line::Noise;
        }
        if let Some((name, class)) = name_and_class(line) {
            let Some(half) = self.sets.pop_if(|s| s.name.is_empty()) else {
                return Line::Unknown;
            };
            self.open(&half.module, &half.instance, name, out);
            if let Some(set) = self.sets.last_mut() {
                class.clone_into(&mut set.class);
            }
            return Line::Noise;
        }
        if let Some(seen) = self.json(line, out) {
            return seen;
        }
        if let Some(found) = short_form(line).or_else(|| colon_form(line)) {
            return self.short(&found, out);
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.report(out);
            self.stamp = Some(stamp);
            return Line::Noise;
        }
        match long_form(line) {
            Some((name, value)) if self.sets.last().is_some_and(|s| !s.name.is_empty()) => {
                self.statistic(name, value)
            }
            _ if prompt::is_chatter(line) => Line::Noise,
            _ => Line::Unknown,
        }
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.report(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_is_no_text() {
        let report = |reads: &str, other: &str| {
            format!(
                "module: sd                              instance: 0     \n\
                 name:   sd0                             class:    disk\n\
                 \tcrtime                          36.863598884\n\
                 \tnread                           {reads}\n\
                 \tother                           {other}\n\
                 \tsnaptime                        100.5\n\n"
            )
        };
        for (reads, other, unknown) in [
            ("1024", "7", 0),
            ("10?24", "7", 1),
            ("1024", "on-line", 1),
            ("1024", "7:8", 0),
            ("x1024", "7x", 2),
        ] {
            let text = report("1000", "5") + &report(reads, other).replace("100.5", "101.5");
            let head = Head::new(text.as_bytes());
            let format = crate::named("kstat").unwrap();
            let mut import = crate::Import::new(format, &head, Options::default());
            import.feed(text.as_bytes()).unwrap();
            assert_eq!(import.finish().unwrap().unknown, unknown, "{reads} {other}");
        }
    }
}
