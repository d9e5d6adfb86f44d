//! The plot format of `collectl` (`-P`): a header line of `[subsystem]name` and a line a sample.
//!
//! ```text
//! #Date Time [CPU]User% [CPU]Sys% [CPU]Idle% [DSK]ReadTot [DSK]ReadKBTot
//! 20261122 03:25:59 92 8 0 1 4
//! ```
//!
//! Numbers are means per second, KB are 1,024 bytes, waits milliseconds. `[DSK:sda]` and the
//! like are of one device. With `-on` they are counts of an interval and shares are ticks, which
//! is refused where the text tells: in its heading, or by columns named `/int`.

use std::collections::{BTreeMap, BTreeSet};

use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::list::Format;
use crate::number::{number, whole};
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::stamp_line::{compact_date, epoch, offset};
use crate::time::{Refused, Stamp, time_of_day};
use crate::{Line, Parser, net};

const KIB: f64 = 1024.0;

/// Whose numbers have a place in the catalog.
const GROUPS: [&str; 4] = ["CPU", "MEM", "DSK", "NET"];

pub(crate) const FORMAT: Format = Format {
    name: "collectl-plot",
    tool: "collectl",
    systems: "Linux",
    help: "collectl -P: processors, memory, disks and networks, in all or by device",
    recognised: "a header `#Date Time [CPU]User% …`, or `#UTC [CPU]…`",
    yields: &[
        "cpu",
        "cpu_idle",
        "system",
        "interrupt",
        "memory",
        "memory_state",
        "vm",
        "disk",
        "disk_device",
        "net",
    ],
    example: "\
#Date Time [CPU]User% [CPU]Nice% [CPU]Sys% [CPU]Wait% [CPU]Idle% [DSK]ReadTot [DSK]ReadKBTot
20261122 03:25:59 92 0 8 0 0 1 4
20261122 03:26:00 50 0 8 0 42 2 8
",
    recognise,
    parser: || Box::new(Plot::new()),
};

fn recognise(head: &Head) -> u8 {
    let header =
        |l: &[u8]| (l.starts_with(b"#Date") || l.starts_with(b"#UTC")) && l.contains(&b'[');
    if head.lines().any(|l| header(l) || is_of_details(l)) {
        96
    } else {
        0
    }
}

/// The header of processes (`-sZ`) or slabs (`-sY`), which have a row for each.
fn is_of_details(line: &[u8]) -> bool {
    let mut words = crate::fields(line);
    words.next() == Some(b"#Date")
        && words.next() == Some(b"Time")
        && matches!(words.next(), Some(b"PID" | b"SlabName"))
}

struct Plot {
    separator: u8,
    /// Subsystem, device and name of each column after the time.
    columns: Vec<(String, String, String)>,
    in_epoch: bool,
    /// Seconds east of Greenwich, as its heading says.
    east: Option<i32>,
    cpu: Cpu,
    system: Shape,
    interrupt: Shape,
    memory: Shape,
    state: Shape,
    vm: Shape,
    disk: Shape,
    device: Shape,
    net: Shape,
}

/// A sample's numbers of one thing, by name.
type Named<'a> = BTreeMap<&'a str, f64>;

impl Plot {
    fn new() -> Plot {
        Plot {
            separator: b' ',
            columns: Vec::new(),
            in_epoch: false,
            east: None,
            cpu: Cpu::new(),
            system: Shape::of(
                "system",
                &["context_switches", "forks", "load1", "load5", "load15"],
            ),
            interrupt: Shape::of("interrupt", &["count"]),
            memory: Shape::of("memory", &["bytes"]),
            state: Shape::of(
                "memory_state",
                &["dirty", "committed", "swap_total", "swap_used"],
            ),
            vm: Shape::of("vm", &["paged_in", "paged_out", "faults", "major_faults"]),
            disk: Shape::of("disk", &["ios", "bytes", "merges", "time"]),
            device: Shape::of("disk_device", &["busy"]),
            net: Shape::of("net", &["bytes", "packets", "errors"]),
        }
    }

    /// `#Date Time [CPU]User% …`, the separator being what follows the first word.
    fn header(&mut self, line: &[u8], out: &mut Out) -> Line {
        let separator = line
            .iter()
            .find(|b| !(b.is_ascii_alphanumeric() || **b == b'#'));
        let Some(&separator) = separator else {
            return Line::Noise;
        };
        self.separator = separator;
        self.in_epoch = line.starts_with(b"#UTC");
        let skipped = if self.in_epoch { 1 } else { 2 };
        let text = String::from_utf8_lossy(line).into_owned();
        let column = |word: &str| {
            // A module of one's own may name them otherwise.
            let named = word.strip_prefix('[').and_then(|word| word.split_once(']'));
            let (place, name) = named.unwrap_or(("", word));
            let (subsystem, device) = place.split_once(':').unwrap_or((place, ""));
            (subsystem.to_owned(), device.to_owned(), name.to_owned())
        };
        let words = text.split(char::from(separator)).filter(|w| !w.is_empty());
        self.columns = words.skip(skipped).map(column).collect();
        // What is no header as it should be leaves its lines without meaning.
        if self.columns.iter().all(|(group, ..)| group.is_empty()) {
            self.columns.clear();
        }
        let cpus = self.columns.iter().filter(|(s, ..)| s == "CPU");
        let cpus: BTreeSet<_> = cpus.map(|(_, d, _)| d).filter(|d| !d.is_empty()).collect();
        if !cpus.is_empty() {
            out.has_processors(cpus.len() as u32);
        }
        if self.columns.iter().any(|(.., name)| name.ends_with("/int")) {
            refuse_counts(out);
        }
        if self.columns.is_empty() {
            Line::Unknown
        } else {
            Line::Noise
        }
    }

    fn stamp(&self, all: &[&[u8]], out: &Out) -> Option<Stamp> {
        if self.in_epoch {
            return epoch(all.first()?);
        }
        let date = compact_date(all.first()?)?;
        let time = time_of_day(all.get(1)?, None)?;
        let at = date.to_datetime(time);
        let zone = &out.options().zone;
        let users = zone.to_timestamp(at).ok()?;
        // Where the user's zone is that of the heading, it knows of summer time, too.
        let same = |east: &i32| zone.to_offset(users).seconds() == *east;
        Some(match self.east.filter(|east| !same(east)) {
            Some(east) => Stamp::Zoned(at, east),
            None => Stamp::Civil(at),
        })
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let fields = line
            .split(|b| *b == self.separator)
            .filter(|f| !f.is_empty());
        let all: Vec<&[u8]> = fields.collect();
        let skipped = if self.in_epoch { 1 } else { 2 };
        if self.columns.is_empty() || all.len() != self.columns.len() + skipped {
            return Line::Unknown;
        }
        let Some(stamp) = self.stamp(&all, out) else {
            out.fault("the time", &all[..skipped].join(&b' '));
            return Line::Unknown;
        };
        let mut things: BTreeMap<(&str, &str), Named> = BTreeMap::new();
        for ((subsystem, device, name), text) in self.columns.iter().zip(&all[skipped..]) {
            // The device again, or the zone of memory whose free pages follow (`-sB`).
            if matches!(name.as_str(), "Name" | "Zone") {
                continue;
            }
            let Some(value) = number(text) else {
                if !GROUPS.contains(&subsystem.as_str()) {
                    out.note("cells of other groups than CPU, MEM, DSK and NET are left out where they are no numbers");
                    continue;
                }
                out.fault(&format!("[{subsystem}]{name}"), text);
                return Line::Unknown;
            };
            let thing = things.entry((subsystem, device)).or_default();
            thing.insert(name, value);
        }
        out.sample_once(Some(stamp));
        let both = |s: &str| {
            things
                .keys()
                .filter(|(subsystem, _)| *subsystem == s)
                .count()
                > 1
        };
        for ((subsystem, device), named) in &things {
            let total = device.is_empty();
            let placed = match *subsystem {
                // Time counts once, as that of all.
                "CPU" if total || !things.contains_key(&("CPU", "")) => {
                    self.processor(device, named, out)
                }
                "MEM" if total => self.memory(named, out),
                "DSK" => self.disk(device, both("DSK"), named, out),
                "NET" => self.network(device, both("NET"), named, out),
                _ => &[],
            };
            let instance = out.word(device.as_bytes());
            for (name, value) in named.iter().filter(|(n, _)| !placed.contains(n)) {
                let name = format!("{subsystem} {name}");
                out.other(name.trim_start(), "", instance, *value);
            }
        }
        Line::Data
    }

    fn processor(&self, name: &str, named: &Named, out: &mut Out) -> &'static [&'static str] {
        let of = |name: &str| named.get(name).copied().unwrap_or(f64::NAN);
        let share = |name: &str| of(name) / 100.0;
        let shares = Shares {
            user: share("User%"),
            nice: share("Nice%"),
            system: share("Sys%"),
            irq: share("Irq%"),
            softirq: share("Soft%"),
            idle: share("Idle%"),
            iowait: share("Wait%"),
            steal: share("Steal%"),
            ..UNKNOWN
        };
        if name.is_empty() {
            self.cpu.put_all(out, &shares);
            let values = ["Ctx/sec", "Proc/sec", "L-Avg1", "L-Avg5", "L-Avg15"].map(of);
            if values.iter().any(|v| !v.is_nan()) {
                out.put(&self.system, &[], &values);
            }
            if named.contains_key("Intrpt/sec") {
                let words = [out.word(b"hard"), out.word(b"all")];
                out.put(&self.interrupt, &words, &[of("Intrpt/sec")]);
            }
        } else {
            let cpu = out.word(name.as_bytes());
            self.cpu.put(out, cpu, 1.0, &shares);
        }
        &[
            "User%",
            "Nice%",
            "Sys%",
            "Irq%",
            "Soft%",
            "Idle%",
            "Wait%",
            "Steal%",
            "Ctx/sec",
            "Proc/sec",
            "L-Avg1",
            "L-Avg5",
            "L-Avg15",
            "Intrpt/sec",
        ]
    }

    fn memory(&self, named: &Named, out: &mut Out) -> &'static [&'static str] {
        let of = |name: &str| named.get(name).copied().unwrap_or(f64::NAN);
        for (name, kind) in [("Free", "free"), ("Buf", "buffers"), ("Cached", "cache")] {
            if named.contains_key(name) {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[of(name) * KIB]);
            }
        }
        let state = ["Dirty", "Commit", "SwapTot", "SwapUsed"].map(|name| of(name) * KIB);
        out.put(&self.state, &[], &state);
        let vm = [
            of("PageIn") * KIB,
            of("PageOut") * KIB,
            of("PageFaults"),
            of("PageMajFaults"),
        ];
        out.put(&self.vm, &[], &vm);
        &[
            "Free",
            "Buf",
            "Cached",
            "Dirty",
            "Commit",
            "SwapTot",
            "SwapUsed",
            "PageIn",
            "PageOut",
            "PageFaults",
            "PageMajFaults",
        ]
    }

    fn disk(
        &self,
        name: &str,
        both: bool,
        named: &Named,
        out: &mut Out,
    ) -> &'static [&'static str] {
        let of = |name: &str| named.get(name).copied().unwrap_or(f64::NAN);
        let (device, layer) = match name {
            "" if both => ("total", out.word(b"total")),
            "" => ("total", out.word(b"disk")),
            name => (name, out.disk_layer(name.as_bytes())),
        };
        let device = out.word(device.as_bytes());
        let either = |a: &str, b: &str| if name.is_empty() { of(a) } else { of(b) };
        for (op, ios, kib, merges, wait) in [
            (
                "read",
                either("ReadTot", "Reads"),
                either("ReadKBTot", "RKBytes"),
                either("ReadMrgTot", "RMerge"),
                of("WaitR"),
            ),
            (
                "write",
                either("WriteTot", "Writes"),
                either("WriteKBTot", "WKBytes"),
                either("WriteMrgTot", "WMerge"),
                of("WaitW"),
            ),
        ] {
            let words = [device, layer, out.word(op.as_bytes())];
            out.put(
                &self.disk,
                &words,
                &[ios, kib * KIB, merges, wait / 1000.0 * ios],
            );
        }
        if named.contains_key("Util") {
            out.put(&self.device, &[device, layer], &[of("Util") / 100.0]);
        }
        &[
            "ReadTot",
            "WriteTot",
            "ReadKBTot",
            "WriteKBTot",
            "ReadMrgTot",
            "WriteMrgTot",
            "Reads",
            "Writes",
            "RKBytes",
            "WKBytes",
            "RMerge",
            "WMerge",
            "WaitR",
            "WaitW",
            "Util",
        ]
    }

    fn network(
        &self,
        name: &str,
        both: bool,
        named: &Named,
        out: &mut Out,
    ) -> &'static [&'static str] {
        let of = |name: &str| named.get(name).copied().unwrap_or(f64::NAN);
        let (interface, layer) = match name {
            "" if both => ("total", "total"),
            "" => ("total", "edge"),
            name => (name, net::layer(name.as_bytes())),
        };
        let words = [interface, layer].map(|w| out.word(w.as_bytes()));
        let either = |a: &str, b: &str| if name.is_empty() { of(a) } else { of(b) };
        for (direction, kib, packets, errors) in [
            (
                "receive",
                either("RxKBTot", "RxKB"),
                either("RxPktTot", "RxPkt"),
                either("RxErrsTot", "RxErrs"),
            ),
            (
                "transmit",
                either("TxKBTot", "TxKB"),
                either("TxPktTot", "TxPkt"),
                either("TxErrsTot", "TxErrs"),
            ),
        ] {
            let words = [words[0], words[1], out.word(direction.as_bytes())];
            out.put(&self.net, &words, &[kib * KIB, packets, errors]);
        }
        &[
            "RxKBTot",
            "TxKBTot",
            "RxPktTot",
            "TxPktTot",
            "RxErrsTot",
            "TxErrsTot",
            "RxKB",
            "TxKB",
            "RxPkt",
            "TxPkt",
            "RxErrs",
            "TxErrs",
        ]
    }
}

/// With `-on` no number is divided by the interval, so those of shares are no hundredths either
/// (`formatit.ph`: `$intSecs=1`, `$total=100`).
fn refuse_counts(out: &mut Out) {
    out.refuse(Refused(
        "collectl was run with -on: its numbers are counts of an interval, not means per second, \
         and shares are ticks of the clock\n\
         hint: print it anew without -on, as collectl -p FILE.raw.gz -P"
            .into(),
    ));
}

impl Parser for Plot {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let line = line.trim_ascii();
        if line.starts_with(b"#Date") || line.starts_with(b"#UTC") {
            if is_of_details(line) {
                out.refuse(Refused(
                    "it lists processes or slabs (collectl -sZ, -sY), which are not imported\n\
                     hint: of processes, `pidstat -ru 1`, `atop -P ALL` and `top -b` can be"
                        .into(),
                ));
                return Line::Noise;
            }
            return self.header(line, out);
        }
        if let Some(rest) = line.strip_prefix(b"# Host:") {
            if let Some(name) = crate::fields(rest).next() {
                out.host(name);
            }
            return Line::Noise;
        }
        if line.starts_with(b"# SubSys:") {
            let words: Vec<&[u8]> = crate::fields(line).collect();
            let count = words.windows(2).find(|w| w[0] == b"NumCPUs:");
            if let Some(count) = count.and_then(|w| whole(w[1])).filter(|n| *n > 0) {
                out.has_processors(u32::try_from(count).unwrap_or(u32::MAX));
            }
            // `# SubSys: cd Options: nz Interval: 2`; there may be none.
            let options = words.windows(2).find(|w| w[0] == b"Options:");
            if options.is_some_and(|w| !w[1].ends_with(b":") && w[1].contains(&b'n')) {
                refuse_counts(out);
            }
        }
        if line.starts_with(b"# Date:") {
            // `# Date:       20240304-130000  Secs: 1709553600 TZ: +0100`.
            let words: Vec<&[u8]> = crate::fields(line).collect();
            let zone = words.windows(2).find(|w| w[0] == b"TZ:");
            self.east = zone.and_then(|w| offset(w[1]));
        }
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"waiting") {
            return Line::Noise;
        }
        self.row(line, out)
    }
}
