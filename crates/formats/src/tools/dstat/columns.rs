//! What the columns of a dstat file mean.

use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::net;
use crate::number::{decimal, is_undefined};
use crate::out::{Out, Shape};

/// How a column tells the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Time {
    /// Seconds since 1970.
    Epoch,
    /// A date without a year, and a time of day.
    Civil,
}

/// Where a column's number goes.
#[derive(Clone, Copy, Debug)]
enum Place {
    Time(Time),
    /// Of a device: read and written I/Os, read and written bytes.
    Disk(usize, usize),
    /// Of an interface: received and sent bytes, received and sent packets.
    Net(usize, usize),
    Cpu(usize, fn(&mut Shares, f64)),
    System(usize),
    Interrupts,
    Memory(&'static str),
    /// Available memory, swap used, swap free.
    State(usize),
    Vm(usize),
    Other(&'static str),
    /// A column before it is of the same.
    Again,
}

pub(super) struct Columns {
    places: Vec<Place>,
    names: Vec<(String, String)>,
    disks: Vec<String>,
    interfaces: Vec<String>,
    cpus: Vec<String>,
    /// How many of what a disk or network moves are a byte.
    of_byte: f64,
    cpu: Cpu,
    system: Shape,
    interrupt: Shape,
    memory: Shape,
    state: Shape,
    vm: Shape,
    disk: Shape,
    net: Shape,
}

/// The number of a name in a list, which grows by it.
fn numbered(list: &mut Vec<String>, name: &str) -> usize {
    list.iter().position(|n| n == name).unwrap_or_else(|| {
        list.push(name.to_owned());
        list.len() - 1
    })
}

/// Which processor a group is of: `total cpu usage`, `cpu0 usage`, `total usage`, `cpu/0`.
fn processor(group: &str) -> Option<&str> {
    let name = group.strip_suffix(" usage").unwrap_or(group);
    let name = name.strip_suffix(" cpu").unwrap_or(name);
    let name = name.strip_prefix("cpu").unwrap_or(name);
    let name = name.trim_start_matches(['/', ' ']);
    let known = group.contains("cpu") || group == "total usage";
    match name {
        "" | "total" if known => Some("total"),
        number if known && number.bytes().all(|b| b.is_ascii_digit()) => Some(number),
        _ => None,
    }
}

fn share(name: &str) -> Option<fn(&mut Shares, f64)> {
    Some(match name {
        "usr" => |s, v| s.user = v,
        "sys" => |s, v| s.system = v,
        "idl" => |s, v| s.idle = v,
        "wai" => |s, v| s.iowait = v,
        "hiq" => |s, v| s.irq = v,
        "siq" => |s, v| s.softirq = v,
        "stl" => |s, v| s.steal = v,
        "nic" => |s, v| s.nice = v,
        _ => return None,
    })
}

/// The place of a column of a group that there is one of.
fn fixed(group: &str, name: &str) -> Place {
    match (group, name) {
        ("epoch", _) | (_, "epoch") => Place::Time(Time::Epoch),
        (_, "time" | "date/time") => Place::Time(Time::Civil),
        ("load avg", "1m") => Place::System(0),
        ("load avg", "5m") => Place::System(1),
        ("load avg", "15m") => Place::System(2),
        ("procs", "run") => Place::System(3),
        ("procs", "blk") => Place::System(4),
        ("procs", "new") => Place::System(5),
        ("system", "csw") => Place::System(6),
        ("system", "int") => Place::Interrupts,
        ("memory usage", "used") => Place::Memory("used"),
        ("memory usage", "buff") => Place::Memory("buffers"),
        ("memory usage", "cach") => Place::Memory("cache"),
        ("memory usage", "free") => Place::Memory("free"),
        ("memory usage", "avai") => Place::State(0),
        ("swap", "used") => Place::State(1),
        ("swap", "free") => Place::State(2),
        ("paging", "in") => Place::Vm(0),
        ("paging", "out") => Place::Vm(1),
        // Its "minor" faults are the kernel's count of all.
        ("virtual memory", "majpf") => Place::Vm(2),
        ("virtual memory", "minpf") => Place::Vm(3),
        ("virtual memory", _) => Place::Other("pages/s"),
        ("interrupts", _) => Place::Other("/s"),
        (
            "filesystem" | "sysv ipc" | "tcp sockets" | "udp" | "raw" | "sockets" | "unix sockets",
            _,
        ) => Place::Other("count"),
        _ => Place::Other(""),
    }
}

impl Columns {
    /// The columns of two header rows; `in_bits`: what moves is told in bits.
    pub(super) fn new(
        groups: &[Vec<u8>],
        names: &[Vec<u8>],
        in_bits: bool,
        out: &mut Out,
    ) -> Columns {
        let text = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
        let mut wide = names;
        while wide.last().is_some_and(|c| c.trim_ascii().is_empty()) {
            wide = &wide[..wide.len() - 1];
        }
        let mut columns = Columns {
            places: Vec::new(),
            names: Vec::new(),
            disks: Vec::new(),
            interfaces: Vec::new(),
            cpus: Vec::new(),
            of_byte: if in_bits { 8.0 } else { 1.0 },
            cpu: Cpu::new(),
            system: Shape::of(
                "system",
                &[
                    "load1",
                    "load5",
                    "load15",
                    "runnable",
                    "blocked",
                    "forks",
                    "context_switches",
                ],
            ),
            interrupt: Shape::of("interrupt", &["count"]),
            memory: Shape::of("memory", &["bytes"]),
            state: Shape::of("memory_state", &["available", "swap_used", "swap_total"]),
            vm: Shape::of(
                "vm",
                &["swapped_in", "swapped_out", "major_faults", "faults"],
            ),
            disk: Shape::of("disk", &["ios", "bytes"]),
            net: Shape::of("net", &["bytes", "packets"]),
        };
        let mut group = String::new();
        for (i, name) in wide.iter().enumerate() {
            if let Some(next) = groups.get(i).filter(|g| !g.is_empty()) {
                group = text(next);
            }
            let name = text(name);
            // Where a plugin has several groups, names say theirs: `dsk/sda:read` (since 0.7.3).
            let own = name.strip_prefix(&*group).and_then(|n| n.strip_prefix(':'));
            let key = (group.clone(), own.unwrap_or(&name).to_owned());
            let place = if columns.names.contains(&key) {
                Place::Again
            } else {
                columns.place(&key.0, &key.1)
            };
            columns.places.push(place);
            columns.names.push(key);
        }
        columns.one_place_each(out);
        columns
    }

    fn place(&mut self, group: &str, name: &str) -> Place {
        let slot = |names: [&str; 2], first: usize| {
            names.iter().position(|n| *n == name).map(|at| at + first)
        };
        if let Some(device) = group.strip_prefix("dsk/").or(group.strip_prefix("disk/")) {
            if let Some(slot) = slot(["read", "writ"], 2) {
                return Place::Disk(numbered(&mut self.disks, device), slot);
            }
        } else if let Some(device) = group.strip_prefix("io/") {
            if let Some(slot) = slot(["read", "writ"], 0) {
                return Place::Disk(numbered(&mut self.disks, device), slot);
            }
        } else if let Some(interface) = group.strip_prefix("net/") {
            if let Some(slot) = slot(["recv", "send"], 0) {
                return Place::Net(numbered(&mut self.interfaces, interface), slot);
            }
        } else if let Some(interface) = group.strip_prefix("pkt/") {
            if let Some(slot) = slot(["#recv", "#send"], 2) {
                return Place::Net(numbered(&mut self.interfaces, interface), slot);
            }
        } else if let (Some(cpu), Some(set)) = (processor(group), share(name)) {
            return Place::Cpu(numbered(&mut self.cpus, cpu), set);
        }
        fixed(group, name)
    }

    /// Where a file has all processors as one and single ones too, the latter are kept beside
    /// the catalog: time counts once.
    fn one_place_each(&mut self, out: &mut Out) {
        let Some(total) = self.cpus.iter().position(|c| c == "total") else {
            return;
        };
        if self.cpus.len() == 1 {
            return;
        }
        for place in &mut self.places {
            if matches!(place, Place::Cpu(cpu, _) if *cpu != total) {
                *place = Place::Other("%");
            }
        }
        out.note("`cpu` has all processors as one; the single ones are in `other`");
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn time(&self) -> Option<(usize, Time)> {
        self.places.iter().enumerate().find_map(|(i, p)| match p {
            Place::Time(time) => Some((i, *time)),
            _ => None,
        })
    }

    /// Puts a row into its tables; there is a cell for each column.
    pub(super) fn put(&self, all: &[Vec<u8>], out: &mut Out) {
        let mut disks = vec![[f64::NAN; 4]; self.disks.len()];
        let mut nets = vec![[f64::NAN; 4]; self.interfaces.len()];
        let mut cpus = vec![UNKNOWN; self.cpus.len()];
        let (mut system, mut state, mut vm) = ([f64::NAN; 7], [f64::NAN; 3], [f64::NAN; 4]);
        for (i, (place, cell)) in self.places.iter().zip(all).enumerate() {
            let cell = cell.trim_ascii();
            let Some(value) = decimal(cell) else {
                if !matches!(place, Place::Time(_))
                    && !matches!(cell, b"" | b"-")
                    && !is_undefined(cell)
                {
                    let (group, name) = &self.names[i];
                    out.note(&format!(
                        "column `{group} {name}` has text, which is left out"
                    ));
                }
                continue;
            };
            match *place {
                Place::Time(_) | Place::Again => {}
                Place::Disk(at, slot) => disks[at][slot] = value,
                Place::Net(at, slot) => nets[at][slot] = value,
                Place::Cpu(at, set) => set(&mut cpus[at], value / 100.0),
                Place::System(at) => system[at] = value,
                Place::State(at) => state[at] = value,
                Place::Vm(at) => vm[at] = value,
                Place::Interrupts => {
                    let words = [out.word(b"hard"), out.word(b"all")];
                    out.put(&self.interrupt, &words, &[value]);
                }
                Place::Memory(kind) => {
                    let kind = out.word(kind.as_bytes());
                    out.put(&self.memory, &[kind], &[value]);
                }
                Place::Other(unit) => {
                    let (group, name) = &self.names[i];
                    let instance = out.word(group.as_bytes());
                    out.other(name, unit, instance, value);
                }
            }
        }
        let known = |values: &[f64]| values.iter().any(|v| !v.is_nan());
        state[2] += state[1];
        for (shape, values) in [
            (&self.system, &system[..]),
            (&self.state, &state),
            (&self.vm, &vm),
        ] {
            if known(values) {
                out.put(shape, &[], values);
            }
        }
        self.put_cpus(&cpus, out);
        self.put_disks(&disks, out);
        self.put_nets(&nets, out);
    }

    fn put_cpus(&self, cpus: &[Shares], out: &mut Out) {
        for (name, shares) in self.cpus.iter().zip(cpus) {
            if name == "total" {
                self.cpu.put_all(out, shares);
            } else if *shares != UNKNOWN {
                let cpu = out.word(name.as_bytes());
                self.cpu.put(out, cpu, 1.0, shares);
            }
        }
    }

    fn put_disks(&self, disks: &[[f64; 4]], out: &mut Out) {
        for (name, n) in self.disks.iter().zip(disks) {
            let device = out.word(name.as_bytes());
            let layer = match &**name {
                "total" if self.disks.len() > 1 => out.word(b"total"),
                "total" => out.word(b"disk"),
                name => out.disk_layer(name.as_bytes()),
            };
            for (op, ios, moved) in [("read", n[0], n[2]), ("write", n[1], n[3])] {
                let words = [device, layer, out.word(op.as_bytes())];
                out.put(&self.disk, &words, &[ios, moved / self.of_byte]);
            }
        }
    }

    fn put_nets(&self, nets: &[[f64; 4]], out: &mut Out) {
        for (name, n) in self.interfaces.iter().zip(nets) {
            let layer = match &**name {
                "total" if self.interfaces.len() > 1 => "total",
                "total" => "edge",
                name => net::layer(name.as_bytes()),
            };
            let (interface, layer) = (out.word(name.as_bytes()), out.word(layer.as_bytes()));
            for (direction, moved, packets) in [("receive", n[0], n[2]), ("transmit", n[1], n[3])] {
                let words = [interface, layer, out.word(direction.as_bytes())];
                out.put(&self.net, &words, &[moved / self.of_byte, packets]);
            }
        }
    }
}
