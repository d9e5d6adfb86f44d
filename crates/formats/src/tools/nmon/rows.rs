//! What the sections of a snapshot mean.

use std::collections::BTreeMap;

use crate::Line;
use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::net;
use crate::number::number;
use crate::out::{Out, Shape};

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// What is told of a device in several sections.
#[derive(Clone, Copy, Debug)]
struct Disk {
    busy: f64,
    read: f64,
    write: f64,
    transfers: f64,
    reads: f64,
    /// Milliseconds of a transfer.
    service: f64,
}

const NO_DISK: Disk = Disk {
    busy: f64::NAN,
    read: f64::NAN,
    write: f64::NAN,
    transfers: f64::NAN,
    reads: f64::NAN,
    service: f64::NAN,
};

pub(super) struct Rows {
    pub(super) is_aix: bool,
    cpu: Cpu,
    system: Shape,
    memory: Shape,
    state: Shape,
    vm: Shape,
    disk: Shape,
    device: Shape,
    net: Shape,
    time: Shape,
    resident: Shape,
    disks: BTreeMap<String, Disk>,
    /// Received and sent bytes, received and sent packets.
    interfaces: BTreeMap<String, [f64; 4]>,
    /// All processors as one, until it is clear that single ones do not follow.
    total: Option<(Shares, f64)>,
    single: Vec<(String, Shares)>,
    /// What all did, in processors of the machine instead of shares.
    consumed: Option<Shares>,
}

/// The section of devices without the number of its part: `DISKBUSY1` goes on where
/// `DISKBUSY` ended.
fn family(section: &str) -> &str {
    if section.starts_with("DISK") {
        section.trim_end_matches(|c: char| c.is_ascii_digit())
    } else {
        section
    }
}

impl Rows {
    pub(super) fn new() -> Rows {
        Rows {
            is_aix: false,
            cpu: Cpu::new(),
            system: Shape::of(
                "system",
                &["runnable", "blocked", "context_switches", "forks"],
            ),
            memory: Shape::of("memory", &["bytes"]),
            state: Shape::of("memory_state", &["swap_total", "swap_used"]),
            vm: Shape::of("vm", &["faults"]),
            disk: Shape::of("disk", &["ios", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy"]),
            net: Shape::of("net", &["bytes", "packets"]),
            time: Shape::of("process", &["time"]),
            resident: Shape::of("process_memory", &["resident"]),
            disks: BTreeMap::new(),
            interfaces: BTreeMap::new(),
            total: None,
            single: Vec::new(),
            consumed: None,
        }
    }

    pub(super) fn section(&mut self, section: &[u8], names: &[String], n: &[f64], out: &mut Out) {
        let section = String::from_utf8_lossy(section).into_owned();
        let of = |name: &str| {
            let place = names.iter().position(|c| c == name);
            place.map_or(f64::NAN, |p| n[p])
        };
        let processor = section
            .strip_prefix("CPU")
            .filter(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()));
        if processor.is_some() || section == "CPU_ALL" {
            let share = |name: &str| of(name) / 100.0;
            let shares = Shares {
                user: share("User%"),
                system: share("Sys%"),
                iowait: share("Wait%"),
                idle: share("Idle%"),
                steal: share("Steal%"),
                ..UNKNOWN
            };
            match processor {
                Some(name) => self.single.push((name.to_owned(), shares)),
                None => self.total = Some((shares, of("CPUs"))),
            }
            return;
        }
        if section == "PCPU_ALL" {
            // In processors of the machine, of which a partition may share some.
            self.consumed = Some(Shares {
                user: of("User"),
                system: of("Sys"),
                iowait: of("Wait"),
                idle: of("Idle"),
                ..UNKNOWN
            });
            let placed = ["User", "Sys", "Wait", "Idle"];
            others(&section, names, n, &placed, out);
            return;
        }
        match family(&section) {
            "DISKBUSY" => self.disks(names, n, |d, v| d.busy = v / 100.0),
            "DISKREAD" => self.disks(names, n, |d, v| d.read = v * KIB),
            "DISKWRITE" => self.disks(names, n, |d, v| d.write = v * KIB),
            "DISKXFER" => self.disks(names, n, |d, v| d.transfers = v),
            "DISKRXFER" => self.disks(names, n, |d, v| d.reads = v),
            "DISKSERV" => self.disks(names, n, |d, v| d.service = v),
            "NET" => self.networks(names, n, 0, KIB, &section, out),
            "NETPACKET" => self.networks(names, n, 2, 1.0, &section, out),
            "PROC" => {
                let values = [of("Runnable"), of("Blocked"), of("pswitch"), of("fork")];
                out.put(&self.system, &[], &values);
                let placed = ["Runnable", "Blocked", "pswitch", "fork"];
                others(&section, names, n, &placed, out);
            }
            "PAGE" => {
                out.put(&self.vm, &[], &[of("faults")]);
                others(&section, names, n, &["faults"], out);
            }
            "MEM" => self.memory(&section, names, n, &of, out),
            _ => others(&section, names, n, &[], out),
        }
    }

    fn disks(&mut self, names: &[String], n: &[f64], set: fn(&mut Disk, f64)) {
        for (name, value) in names.iter().zip(n) {
            set(self.disks.entry(name.clone()).or_insert(NO_DISK), *value);
        }
    }

    /// `eth0-read-KB/s`, `eth0-write/s`; packets of AIX are `en0-reads/s`.
    fn networks(
        &mut self,
        names: &[String],
        n: &[f64],
        first: usize,
        unit: f64,
        section: &str,
        out: &mut Out,
    ) {
        for (name, value) in names.iter().zip(n) {
            let found = [("-read", 0), ("-write", 1)]
                .into_iter()
                .find_map(|(word, place)| {
                    let at = name.rfind(word)?;
                    let rest = &name[at + word.len()..];
                    // What ends otherwise is a sum of several.
                    matches!(rest, "-KB/s" | "-KB" | "/s" | "s/s" | "")
                        .then(|| (&name[..at], place))
                });
            match found.filter(|(name, _)| !name.starts_with("total")) {
                Some((interface, place)) => {
                    let entry = self.interfaces.entry(interface.to_owned());
                    entry.or_insert([f64::NAN; 4])[first + place] = value * unit;
                }
                None => others(section, std::slice::from_ref(name), &[*value], &[], out),
            }
        }
    }

    fn memory(
        &self,
        section: &str,
        names: &[String],
        n: &[f64],
        of: &dyn Fn(&str) -> f64,
        out: &mut Out,
    ) {
        let mut placed = Vec::new();
        for (name, kind) in [
            ("memfree", "free"),
            ("Real free(MB)", "free"),
            ("cached", "cache"),
            ("buffers", "buffers"),
        ] {
            if !of(name).is_nan() {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[of(name) * MIB]);
                placed.push(name);
            }
        }
        if !of("swaptotal").is_nan() {
            let total = of("swaptotal") * MIB;
            out.put(&self.state, &[], &[total, total - of("swapfree") * MIB]);
            placed.extend(["swaptotal", "swapfree"]);
        }
        others(section, names, n, &placed, out);
    }

    /// What several sections say together.
    pub(super) fn finish(&mut self, out: &mut Out) {
        self.put_processors(out);
        for (name, d) in std::mem::take(&mut self.disks) {
            let name = name.as_bytes();
            let (device, layer) = (out.word(name), out.disk_layer(name));
            for (op, ios, bytes) in [
                ("read", d.reads, d.read),
                ("write", d.transfers - d.reads, d.write),
            ] {
                if !(ios.is_nan() && bytes.is_nan()) {
                    let words = [device, layer, out.word(op.as_bytes())];
                    out.put(&self.disk, &words, &[ios, bytes, f64::NAN]);
                }
            }
            let time = d.service / 1000.0 * d.transfers;
            // Reads and writes together, unless they are told apart.
            let ios = if d.reads.is_nan() {
                d.transfers
            } else {
                f64::NAN
            };
            if !(time.is_nan() && ios.is_nan()) {
                let words = [device, layer, out.word(b"(all)")];
                out.put(&self.disk, &words, &[ios, f64::NAN, time]);
            }
            if !d.busy.is_nan() {
                out.put(&self.device, &[device, layer], &[d.busy]);
            }
        }
        for (name, n) in std::mem::take(&mut self.interfaces) {
            let name = name.as_bytes();
            let (interface, layer) = (out.word(name), out.word(net::layer(name).as_bytes()));
            for (direction, at) in [("receive", 0), ("transmit", 1)] {
                let words = [interface, layer, out.word(direction.as_bytes())];
                out.put(&self.net, &words, &[n[at], n[at + 2]]);
            }
        }
    }

    /// Time counts once: of AIX what was consumed of the machine's processors, if that is told;
    /// where single processors are parts of cores, all as one; else
    /// the single ones, if there are any.
    fn put_processors(&mut self, out: &mut Out) {
        let single = std::mem::take(&mut self.single);
        let total = self.total.take();
        if let Some(consumed) = self.consumed.take() {
            let all = out.word(b"all");
            self.cpu.put(out, all, 1.0, &consumed);
            let total = total.map(|(shares, _)| ("all".to_owned(), shares));
            single_shares(total.into_iter().chain(single), out);
            return;
        }
        if let Some((shares, count)) = total.filter(|_| self.is_aix || single.is_empty()) {
            if (1.0..1e6).contains(&count) {
                out.has_processors(count as u32);
            }
            self.cpu.put_all(out, &shares);
            single_shares(single, out);
            return;
        }
        for (name, shares) in single {
            let cpu = out.word(name.trim_start_matches('0').as_bytes());
            self.cpu.put(out, cpu, 1.0, &shares);
        }
    }

    /// `pid,T0001,%CPU,…,Command`.
    pub(super) fn process(&self, names: &[String], all: &[&[u8]], out: &mut Out) -> Line {
        if names.is_empty() || all.len() != names.len() {
            return Line::Unknown;
        }
        let text = |name: &str| {
            let place = names.iter().position(|c| c == name)?;
            all.get(place).copied()
        };
        let of = |name: &str| text(name).and_then(number).unwrap_or(f64::NAN);
        let (Some(pid), Some(command)) = (text("+PID"), text("Command")) else {
            return Line::Unknown;
        };
        if !pid.iter().all(u8::is_ascii_digit) || of("%CPU").is_nan() {
            return Line::Unknown;
        }
        // Some versions print leading zeros.
        let zeros = pid.iter().take_while(|b| **b == b'0').count();
        let pid = &pid[zeros.min(pid.len().saturating_sub(1))..];
        let process = out.word(&[command, b"[", pid, b"]"].concat());
        let words = [process, out.word(command)];
        for (mode, column) in [("user", "%Usr"), ("system", "%Sys")] {
            let words = [words[0], words[1], out.word(mode.as_bytes())];
            out.put(&self.time, &words, &[of(column) / 100.0]);
        }
        if !of("ResSet").is_nan() {
            out.put(&self.resident, &words, &[of("ResSet") * KIB]);
        }
        let placed = ["+PID", "Time", "%CPU", "%Usr", "%Sys", "ResSet", "Command"];
        for name in names.iter().filter(|n| !placed.contains(&n.as_str())) {
            out.other(&format!("TOP {name}"), "", process, of(name));
        }
        Line::Data
    }
}

/// Shares of processors that are parts of others, as printed.
fn single_shares(single: impl IntoIterator<Item = (String, Shares)>, out: &mut Out) {
    for (name, s) in single {
        let cpu = out.word(name.as_bytes());
        for (column, share) in [
            ("CPU User%", s.user),
            ("CPU Sys%", s.system),
            ("CPU Wait%", s.iowait),
            ("CPU Idle%", s.idle),
        ] {
            out.other(column, "%", cpu, share * 100.0);
        }
    }
}

/// Columns without a place in the catalog.
fn others(section: &str, names: &[String], n: &[f64], placed: &[&str], out: &mut Out) {
    let none = out.word(b"");
    for (name, value) in names.iter().zip(n) {
        if !name.is_empty() && !placed.contains(&name.as_str()) {
            out.other(&format!("{section} {name}"), "", none, *value);
        }
    }
}
