//! `zonestat` of Solaris 11 and `zonestat.pl` before it: what zones use.
//!
//! ```text
//! Zonename| IT|Size|Used| RAM| Shm| Lkd| VM|
//!  global  0D   64  0.0 318M  0.0  0.0 225M
//! ==TOTAL= ===   64  0.0 1.1G  0.0  0.0 620M
//!
//! Interval: 1, Duration: 0:00:05
//! SUMMARY                   Cpus/Online: 8/8   PhysMem: 31.8G  VirtMem: 33.8G
//!                     ---CPU----  --PhysMem-- --VirtMem-- --PhysNet--
//!                ZONE  USED %PART  USED %USED  USED %USED PBYTE %PUSE
//!             [total]  0.30 3.79% 8131M 24.9% 7600M 21.9%   594 0.00%
//! ```
//!
//! Of one resource (`-r`) a header and a row of the resource stand above the zones:
//!
//! ```text
//! PHYSICAL-MEMORY              SYSTEM MEMORY
//! mem_default                          31.8G
//!                                 ZONE  USED %USED   CAP  %CAP
//!                              [total] 8131M 24.9%     -     -
//! ```
//!
//! illumos leaves out zeros and points: 12.05 processors are `12.5`, 48.8K `488K`, so that sizes
//! of 98K to 976K are not known.
//!
//! The script takes memory from `prstat`, whose letters are steps of 1,024, makes bytes of it
//! with steps of 1,000, and prints those with steps of 1,000 again. `prstat` has KB up to
//! 9,999 of them, then MB, then GB, so what it printed can be told, and the bytes are put right.

use std::collections::HashSet;

use super::zonestat_parseable::{SUMMARIES, lost_point};
use crate::lines::{BLANKS_LOST, blanks_are_lost};
use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, time_of_day};
use crate::{Line, Parser, Stamp, fields, prompt, stamp_line};

pub(crate) const SCRIPT: Format = Format {
    name: "zonestat-pl",
    tool: "zonestat",
    systems: "Solaris 10, OpenSolaris",
    help: "processors and memory of zones, as the script zonestat.pl prints them",
    recognised: "a header `Zonename| IT|Size|Used| RAM| …`",
    yields: &[],
    example: "\
Zonename| IT|Size|Used| RAM| Shm| Lkd| VM|
 global  0D   64  0.0 318M  0.0  0.0 225M
==TOTAL= ===   64  0.0 318M  0.0  0.0 225M
",
    recognise: |head: &Head| if head.lines().any(is_script) { 90 } else { 0 },
    parser: || Box::new(Zonestat::new(true)),
};

pub(crate) const NATIVE: Format = Format {
    name: "zonestat",
    tool: "zonestat",
    systems: "Solaris 11",
    help: "processors, memory and network of zones",
    recognised: "`Interval: N, Duration: …` and a header `ZONE USED %PART …`",
    yields: &[],
    example: "\
Interval: 1, Duration: 0:00:05
SUMMARY                   Cpus/Online: 8/8   PhysMem: 31.8G  VirtMem: 33.8G
                    ---CPU----  --PhysMem-- --VirtMem-- --PhysNet--
               ZONE  USED %PART  USED %USED  USED %USED PBYTE %PUSE
            [total]  0.30 3.79% 8131M 24.9% 7600M 21.9%   594 0.00%
",
    recognise: |head: &Head| {
        let interval = head.lines().any(|l| duration(l).is_some());
        if interval && head.lines().any(is_native) {
            90
        } else {
            0
        }
    },
    parser: || Box::new(Zonestat::new(false)),
};

fn is_script(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"Zonename|") && line.len() > 12
}

fn is_native(line: &[u8]) -> bool {
    let mut words = fields(line);
    words.next() == Some(b"ZONE")
        && words
            .next()
            .is_some_and(|w| matches!(w, b"USED" | b"CAP" | b"PBYTE" | b"TOBYTE"))
}

/// What `-r` can ask for, of which what is used and its cap have a unit.
fn resource(line: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(fields(line).next()?).ok()?;
    let memory = name.ends_with("-MEMORY");
    (memory || name == "PROCESSOR_SET").then_some(name)
}

/// Seconds of `Interval: 1, Duration: 0:00:05`.
fn duration(line: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let after = text.strip_prefix("Interval:")?.split_once("Duration:")?.1;
    let mut seconds = 0.0;
    for part in after.trim().split(':') {
        seconds = seconds * 60.0 + number(part.as_bytes())?;
    }
    Some(seconds).filter(|s| (0.0..1e9).contains(s))
}

/// Headings of groups of columns: where they begin and end, and their names.
fn groups(line: &[u8]) -> Vec<(usize, usize, String)> {
    let between = |b: &u8| matches!(b, b' ' | b'|');
    let mut found = Vec::new();
    let mut start = None;
    for (i, byte) in line.iter().chain([&b' ']).enumerate() {
        match (between(byte), start) {
            (false, None) => start = Some(i),
            (true, Some(from)) => {
                let text = String::from_utf8_lossy(&line[from..i]);
                found.push((from, i, text.trim_matches('-').to_owned()));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// What a table is of, as the lines above it say.
#[derive(Default)]
struct Resource {
    /// It sums several intervals up.
    in_summary: bool,
    /// What `-r` asked for; empty if it is of all.
    name: String,
    /// Its line stands above the header that comes.
    is_told: bool,
    /// The next line is its row.
    is_open: bool,
    /// Those of the present report.
    present: HashSet<String>,
}

impl Resource {
    /// Whether the line is one of the two that stand above a table's header.
    fn line(&mut self, line: &[u8]) -> bool {
        if let Some(name) = resource(line) {
            name.clone_into(&mut self.name);
            (self.is_told, self.is_open) = (true, true);
            return true;
        }
        if prompt::is_chatter(line) {
            return false;
        }
        // There is one of each but of sets of processors.
        let name = fields(line).next().unwrap_or_default();
        let row = std::mem::take(&mut self.is_open);
        if row && !name.ends_with(b"_default") {
            self.name = format!("{}_{}", self.name, String::from_utf8_lossy(name));
        }
        row
    }
}

struct Zonestat {
    script: bool,
    /// Its columns are those of illumos, whose numbers lose points.
    illumos: bool,
    /// The line above the header.
    above: Vec<(usize, usize, String)>,
    columns: Vec<String>,
    resource: Resource,
    /// Zones of the present table.
    zones: HashSet<Vec<u8>>,
    fresh: bool,
    stamp: Option<Stamp>,
    /// From the start to the present report and to that before.
    elapsed: Option<f64>,
    before: f64,
}

impl Zonestat {
    fn new(script: bool) -> Zonestat {
        Zonestat {
            script,
            illumos: false,
            above: Vec::new(),
            columns: Vec::new(),
            resource: Resource::default(),
            zones: HashSet::new(),
            fresh: true,
            stamp: None,
            elapsed: None,
            before: 0.0,
        }
    }

    /// The columns after the zone's; one that occurs twice is told apart by its group.
    fn header(&mut self, line: &[u8], out: &mut Out) {
        let words = groups(line);
        // No group stands above the zone's name, unless the blanks before it are gone.
        let above_zone = |(_, to, _): &(usize, usize, String)| {
            self.above.first().is_some_and(|(from, ..)| from < to)
        };
        if !self.script && (blanks_are_lost(line) || words.first().is_some_and(above_zone)) {
            out.refuse(Refused(BLANKS_LOST.into()));
        }
        let name = |(from, to, name): &(usize, usize, String)| {
            let twice = words.iter().filter(|(_, _, n)| n == name).count() > 1;
            let group = self.above.iter().find(|(a, b, _)| a < to && from < b);
            match group {
                Some((_, _, group)) if twice || !self.script => format!("{group}_{name}"),
                _ => name.clone(),
            }
        };
        self.columns = words.iter().skip(1).map(name).collect();
        self.illumos = self.above.iter().any(|(_, _, group)| group == "PHYSICAL");
        // Lines above are of this header only.
        self.above.clear();
        let resource = &mut self.resource;
        if !resource.name.is_empty() {
            if !std::mem::take(&mut resource.is_told) {
                // It is of another, whose line is lost.
                self.columns.clear();
            }
            for column in &mut self.columns {
                *column = format!("{}_{column}", resource.name);
            }
            // It may be another of the same report.
            self.zones.clear();
            self.fresh |= !resource.present.insert(resource.name.clone());
            return;
        }
        // The script prints it every 25 rows.
        self.fresh |= !self.script;
    }

    fn begin(&mut self, out: &mut Out) {
        match (self.stamp.take(), self.elapsed.take()) {
            (Some(stamp), _) => out.sample_once(Some(stamp)),
            (None, Some(elapsed)) => {
                out.sample_at(Stamp::Elapsed(elapsed));
                out.spans(elapsed - self.before);
                self.before = elapsed;
            }
            (None, None) => out.sample(),
        }
        out.only_levels();
        self.fresh = false;
        self.zones.clear();
        self.resource.present.clear();
        self.resource.present.insert(self.resource.name.clone());
    }

    /// The fields of a row; of -P they are divided by colons or commas, perhaps with a time first.
    fn texts<'a>(&mut self, line: &'a [u8], out: &mut Out) -> Option<Vec<&'a [u8]>> {
        let wanted = self.columns.len() + 1;
        let blanks: Vec<&[u8]> = fields(line).collect();
        if blanks.len() == wanted {
            return Some(blanks);
        }
        for separator in [b':', b',', b'|'] {
            let parts: Vec<&[u8]> = line
                .trim_ascii()
                .split(|b| *b == separator)
                .map(<[u8]>::trim_ascii)
                .collect();
            if parts.len() == wanted {
                return Some(parts);
            }
            let (first, rest) = parts.split_first()?;
            if rest.len() == wanted {
                let clock = time_of_day(first, None).map(Stamp::Clock);
                let stamp = clock.or_else(|| stamp_line::told(first, out))?;
                if self.stamp != Some(stamp) {
                    self.stamp = Some(stamp);
                }
                return Some(rest.to_vec());
            }
        }
        None
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        if self.columns.is_empty() {
            return Line::Unknown;
        }
        let Some(texts) = self.texts(line, out) else {
            return Line::Unknown;
        };
        let Some((zone, texts)) = texts.split_first() else {
            return Line::Unknown;
        };
        let mut values = Vec::with_capacity(texts.len());
        for (column, text) in self.columns.iter().zip(texts) {
            match self.value(column, text) {
                Some(value) => values.push(value),
                None => return Line::Unknown,
            }
        }
        if self.fresh || self.zones.contains(*zone) {
            self.begin(out);
        }
        self.zones.insert(zone.to_vec());
        if self.script {
            out.note(
                "zonestat.pl multiplies the KB, MB and GB of prstat by 1,000 instead of 1,024: \
                 RAM and VM are corrected",
            );
        }
        let total = zone.starts_with(b"==TOTAL") || *zone == b"[total]";
        let zone = out.word(if total { b"(total)" } else { zone });
        for (column, (value, unit)) in self.columns.iter().zip(values) {
            out.other(column, unit, zone, value);
        }
        Line::Data
    }

    /// A value and its unit; NaN for a text. `None` if it is none of that column.
    fn value(&self, column: &str, text: &[u8]) -> Option<(f64, &'static str)> {
        if text == b"-" || column == "IT" || text.iter().all(|b| *b == b'=') {
            return Some((f64::NAN, ""));
        }
        if let Some(share) = text.strip_suffix(b"%") {
            return Some((number(share)?, "%"));
        }
        let plain = number(text);
        if self.script {
            // Memory: of prstat, or counted in bytes.
            let memory = ["RAM", "VM", "Shm", "Lkd"]
                .iter()
                .any(|m| column.starts_with(m));
            let bytes = scaled(text, 1000.0)?;
            let of_prstat = column.starts_with("RAM") || column.starts_with("VM");
            return Some(match (memory, of_prstat) {
                (true, true) => (corrected(bytes), "B"),
                (true, false) => (bytes, "B"),
                _ => (
                    bytes,
                    if column.ends_with("Used") || column.ends_with("Size") {
                        "CPUs"
                    } else {
                        ""
                    },
                ),
            });
        }
        let as_text = std::str::from_utf8(text).ok()?;
        // illumos prints 12.05 processors as 12.5, and 12.50 as such.
        if column == "CPU_USED"
            && self.illumos
            && let Some((whole, hundredths)) = as_text.split_once('.')
        {
            let text = format!("{whole}.{hundredths:0>2}");
            return Some((number(text.as_bytes())?, "CPUs"));
        }
        if self.illumos && lost_point(as_text) {
            return Some((f64::NAN, ""));
        }
        let unit = match column {
            "CPU_USED" => "CPUs",
            "PHYSICAL_USED" | "VIRTUAL_USED" => "B",
            name if name.contains("Mem") || name.contains("BYTE") => "B",
            name if name.contains("-MEMORY") => "B",
            name if name.starts_with("PROCESSOR_SET") && !name.contains("SHR") => "CPUs",
            _ => "",
        };
        Some((plain.or_else(|| scaled(text, 1024.0))?, unit))
    }
}

/// The bytes that `prstat` meant.
fn corrected(bytes: f64) -> f64 {
    let steps = match bytes {
        b if b < 1e3 => 0,
        b if b < 9_999.5e3 => 1,
        b if b < 9_999.5e6 => 2,
        _ => 3,
    };
    bytes * 1.024_f64.powi(steps)
}

/// An interval with units: `5s`, `1h30m`.
fn in_seconds(argument: &str) -> Option<f64> {
    let (mut seconds, mut rest) = (0.0, argument);
    while !rest.is_empty() {
        let at = rest.find(|c: char| !c.is_ascii_digit())?;
        let factor = match rest.as_bytes()[at] {
            b'h' => 3600.0,
            b'm' => 60.0,
            b's' => 1.0,
            _ => return None,
        };
        seconds += factor * crate::number::number(&rest.as_bytes()[..at])?;
        rest = &rest[at + 1..];
    }
    Some(seconds)
}

impl Parser for Zonestat {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"Collecting data") {
            return Line::Noise;
        }
        // `Report: Average Usage`, with a start and an end: of -R, and at the end.
        if !self.script && text.starts_with(b"Report: ") {
            self.resource.in_summary = true;
            out.note(SUMMARIES);
            return Line::Noise;
        }
        for tool in ["zonestat", "zonestat.pl"] {
            if let Some(arguments) = prompt::arguments(line, &[tool]) {
                let plain = |a: &String| in_seconds(a).map_or(a.clone(), |s| s.to_string());
                let arguments: Vec<String> = arguments.iter().map(plain).collect();
                if let Some(seconds) = prompt::interval(&arguments) {
                    out.every(seconds);
                }
                self.resource.in_summary = false;
                return Line::Noise;
            }
        }
        if let Some(seconds) = duration(line) {
            self.resource.in_summary = false;
            self.elapsed = Some(seconds);
            self.fresh = true;
            return Line::Noise;
        }
        if self.resource.in_summary {
            return Line::Noise;
        }
        if text.starts_with(b"SUMMARY") {
            self.resource.name.clear();
            return Line::Noise;
        }
        if !self.script && self.resource.line(line) {
            return Line::Noise;
        }
        if (self.script && is_script(line)) || (!self.script && is_native(line)) {
            self.header(line, out);
            return Line::Noise;
        }
        if text.starts_with(b"|") || text.starts_with(b"--") {
            self.above = groups(line);
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.stamp = Some(stamp);
            self.fresh = true;
            return Line::Noise;
        }
        let headless = self.columns.is_empty() && line.split(|b| *b == b':').count() > 4;
        if headless {
            out.refuse(Refused(
                "rows without a header: what their columns are is not told\n\
                 hint: put the header line that the command prints without -P above them"
                    .into(),
            ));
            return Line::Unknown;
        }
        self.row(line, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_with_units() {
        for (text, seconds) in [
            ("5s", Some(5.0)),
            ("1h30m", Some(5400.0)),
            ("2m5s", Some(125.0)),
            ("10", None),
            ("s", None),
            ("5x", None),
        ] {
            assert_eq!(in_seconds(text), seconds, "{text}");
        }
    }

    #[test]
    fn what_prstat_meant() {
        assert_eq!(corrected(0.0), 0.0);
        assert_eq!(corrected(5_200e3), 5_200.0 * 1024.0);
        assert!((corrected(318e6) - 318.0 * 1_048_576.0).abs() < 1.0);
        assert!((corrected(12e9) - 12.0 * 1_073_741_824.0).abs() < 10.0);
    }
}
