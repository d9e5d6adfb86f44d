//! The kernel's sets of counters, as rows of the catalog's tables.

use std::collections::HashMap;

use super::Set;
use crate::counters::Counters;
use crate::disk;
use crate::net;
use crate::out::{Out, Shape};

/// Counters of a set, and the set's instance.
const DISK: [&str; 8] = [
    "reads", "writes", "nread", "nwritten", "rtime", "rlentime", "wlentime", "wtime",
];
const CPU: [&str; 3] = ["cpu_nsec_user", "cpu_nsec_kernel", "cpu_nsec_idle"];
/// Those of links: what `-p` was asked for may be these alone.
const NET: [&str; 2] = ["rbytes64", "obytes64"];
const KINDS: [&str; 4] = [
    "demand_data",
    "demand_metadata",
    "prefetch_data",
    "prefetch_metadata",
];

/// Counters of the ZFS cache, beside those by kind.
const MORE: [&str; 8] = [
    "memory_throttle_count",
    "l2_hits",
    "l2_misses",
    "l2_writes_error",
    "l2_cksum_bad",
    "l2_io_error",
    "l2_read_bytes",
    "l2_write_bytes",
];

pub(super) struct Tables {
    counters: Counters,
    disk: Shape,
    disk_device: Shape,
    disk_io: Shape,
    cpu: Shape,
    idle: Shape,
    system: Shape,
    interrupt: Shape,
    net: Shape,
    lookups: Shape,
    arc: Shape,
    l2arc: Shape,
    l2bytes: Shape,
}

impl Tables {
    pub(super) fn new() -> Tables {
        Tables {
            counters: Counters::default(),
            disk: Shape::of("disk", &["ios", "bytes", "time"]),
            disk_device: Shape::of("disk_device", &["busy", "depth_time", "inflight"]),
            disk_io: Shape::of("disk_io", &["queue", "service"]),
            cpu: Shape::of("cpu", &["time"]),
            idle: Shape::of("cpu_idle", &["idle"]),
            system: Shape::of("system", &["context_switches"]),
            interrupt: Shape::of("interrupt", &["count"]),
            net: Shape::of(
                "net",
                &[
                    "bytes",
                    "packets",
                    "errors",
                    "drops",
                    "multicast",
                    "collisions",
                    "capacity",
                ],
            ),
            lookups: Shape::of("arc_lookups", &["hits", "misses", "joined"]),
            arc: Shape::of(
                "arc",
                &[
                    "throttled",
                    "size",
                    "target",
                    "limit",
                    "mru",
                    "mfu",
                    "metadata",
                ],
            ),
            l2arc: Shape::of(
                "l2arc",
                &["hits", "misses", "errors", "size", "allocated", "headers"],
            ),
            l2bytes: Shape::of("l2arc_bytes", &["bytes"]),
        }
    }

    /// How far those of a set grew since the report before, and whether it is the first: then
    /// they are all there was since boot.
    fn grown(&mut self, set: &Set, names: &[&str], out: &mut Out) -> (Vec<f64>, bool) {
        let now: Vec<f64> = names.iter().map(|n| set.of(n)).collect();
        self.counters.grown_or_whole(set.key().as_bytes(), now, out)
    }

    /// Puts all sets of a report.
    pub(super) fn put(&mut self, sets: &[Set], out: &mut Out) {
        self.counters.next();
        let links = links(sets);
        let mut whole = [0.0; 2];
        let mut processors = 0;
        for (i, set) in sets.iter().enumerate() {
            let instance = out.word(set.key().as_bytes());
            if set.module == "cpu_stat" {
                self.counts(set, instance, ticks, out);
                continue;
            }
            if set.name.starts_with("vopstats_") {
                self.counts(set, instance, bytes, out);
                continue;
            }
            let taken: Vec<&str> = if is_disk(set) {
                self.disk(set, out)
            } else if set.module == "cpu" && set.name == "sys" && set.has_any(&CPU) {
                processors += 1;
                self.processor(set, &mut whole, out)
            } else if let Some(interface) = links.get(&i) {
                self.link(set, interface, out)
            } else if set.module == "zfs" && set.name == "arcstats" {
                self.cache(set, out)
            } else {
                Vec::new()
            };
            for (name, value) in &set.values {
                if !taken.contains(&name.as_str()) {
                    out.other(name, "", instance, *value);
                }
            }
        }
        if processors > 0 && !out.is_since_boot() {
            Self::add(out, false, &self.system, &[], &[whole[0]]);
            let words = [out.word(b"hard"), out.word(b"all")];
            Self::add(out, false, &self.interrupt, &words, &[whole[1]]);
        }
    }

    fn add(out: &mut Out, first: bool, shape: &Shape, words: &[run::Word], values: &[f64]) {
        if values.iter().all(|v| v.is_nan()) {
            return;
        }
        if first {
            out.put_since_boot(shape, words, values);
        } else {
            out.put_amounts(shape, words, values);
        }
    }

    /// Reads and writes; `w` is the queue of the driver, `r` what the device has.
    fn disk(&mut self, set: &Set, out: &mut Out) -> Vec<&'static str> {
        let (n, first) = self.grown(set, &DISK, out);
        let device = out.word(set.name.as_bytes());
        let layer = out.word(disk::layer(set.name.as_bytes()).as_bytes());
        for (op, ios, bytes) in [("read", n[0], n[2]), ("write", n[1], n[3])] {
            let words = [device, layer, out.word(op.as_bytes())];
            Self::add(out, first, &self.disk, &words, &[ios, bytes, f64::NAN]);
        }
        let queue = if n[6].is_nan() { 0.0 } else { n[6] };
        let words = [device, layer, out.word(b"(all)")];
        // Reads and writes are timed together: their time is the depth, integrated.
        let time = n[5] + queue;
        Self::add(out, first, &self.disk, &words, &[f64::NAN, f64::NAN, time]);
        Self::add(out, first, &self.disk_io, &words, &[n[6], n[5]]);
        let inflight = set.of("rcnt") + set.of("wcnt");
        Self::add(
            out,
            first,
            &self.disk_device,
            &words[..2],
            &[n[4], time, inflight],
        );
        vec![
            "reads", "writes", "nread", "nwritten", "rtime", "rlentime", "wlentime", "rcnt", "wcnt",
        ]
    }

    fn processor(&mut self, set: &Set, whole: &mut [f64; 2], out: &mut Out) -> Vec<&'static str> {
        let names = [CPU[0], CPU[1], CPU[2], "pswitch", "intr"];
        let (n, first) = self.grown(set, &names, out);
        let cpu = out.word(set.instance.as_bytes());
        // The kernel's time holds that of interrupts.
        for (mode, ns) in [("user", n[0]), ("system", n[1])] {
            let words = [cpu, out.word(mode.as_bytes())];
            Self::add(out, first, &self.cpu, &words, &[ns / 1e9]);
        }
        Self::add(out, first, &self.idle, &[cpu], &[n[2] / 1e9]);
        if !first {
            whole[0] += n[3];
            whole[1] += n[4];
        }
        vec![CPU[0], CPU[1], CPU[2], "pswitch", "intr"]
    }

    /// All of a set, of which each only grows, with its unit.
    fn counts(
        &mut self,
        set: &Set,
        instance: run::Word,
        unit: fn(&str) -> &'static str,
        out: &mut Out,
    ) {
        let names: Vec<&str> = set.values.iter().map(|(name, _)| name.as_str()).collect();
        // Others may be asked for in the next report.
        for name in names {
            let key = format!("{} {name}", set.key());
            let now = set.of(name);
            let unit = unit(name);
            match self.counters.grown(key.as_bytes(), &[now], out).as_deref() {
                Some(&[grown]) => out.other_grown(name, unit, instance, grown),
                _ => out.other_total(name, unit, instance, now),
            }
        }
    }

    fn link(&mut self, set: &Set, interface: &str, out: &mut Out) -> Vec<&'static str> {
        let names = [
            "rbytes64",
            "obytes64",
            "ipackets64",
            "opackets64",
            "ierrors",
            "oerrors",
            "norcvbuf",
            "noxmtbuf",
            "multircv",
            "collisions",
        ];
        let (n, first) = self.grown(set, &names, out);
        let clock = format!("{} snaptime", set.key());
        let passed =
            self.counters
                .grown(clock.as_bytes(), &[set.snaptime.unwrap_or(f64::NAN)], out);
        let carried = match passed.as_deref() {
            Some(&[seconds]) => set.of("ifspeed") / 8.0 * seconds,
            _ => f64::NAN,
        };
        let capacity = Some(carried).filter(|c| *c > 0.0).unwrap_or(f64::NAN);
        let layer = out.word(net::layer(interface.as_bytes()).as_bytes());
        let interface = out.word(interface.as_bytes());
        let none = f64::NAN;
        let receive = [n[0], n[2], n[4], n[6], n[8], none, capacity];
        let transmit = [n[1], n[3], n[5], n[7], none, n[9], capacity];
        for (direction, values) in [("receive", receive), ("transmit", transmit)] {
            let words = [interface, layer, out.word(direction.as_bytes())];
            Self::add(out, first, &self.net, &words, &values);
        }
        let mut taken = names.to_vec();
        // The same counters, cut to 32 bits.
        taken.extend(["rbytes", "obytes", "ipackets", "opackets"]);
        taken
    }

    fn cache(&mut self, set: &Set, out: &mut Out) -> Vec<&'static str> {
        let mut names: Vec<String> = Vec::new();
        for kind in KINDS {
            names.extend(["hits", "misses", "iohits"].map(|what| format!("{kind}_{what}")));
        }
        let all: Vec<&str> = names.iter().map(String::as_str).chain(MORE).collect();
        let (n, first) = self.grown(set, &all, out);
        for (kind, counts) in KINDS.iter().zip(n.chunks(3)) {
            let words = [out.word(kind.as_bytes())];
            Self::add(out, first, &self.lookups, &words, counts);
        }
        // Of all kinds together, where single ones do not tell it.
        if n[..3 * KINDS.len()].iter().all(|count| count.is_nan()) {
            let counts = ["hits", "misses", "iohits"].map(|name| set.of(name));
            let key = format!("{} (all)", set.key());
            let (counts, first) =
                self.counters
                    .grown_or_whole(key.as_bytes(), counts.to_vec(), out);
            let words = [out.word(b"(all)")];
            Self::add(out, first, &self.lookups, &words, &counts);
        }
        let rest = n.get(12..).unwrap_or_default();
        let &[throttled, hits, misses, writes, sums, ios, read, written] = rest else {
            return Vec::new();
        };
        let sizes = [
            "size",
            "c",
            "c_max",
            "mru_size",
            "mfu_size",
            "metadata_size",
        ];
        let mut arc = vec![throttled];
        arc.extend(sizes.map(|n| set.of(n)));
        Self::add(out, first, &self.arc, &[], &arc);
        let sizes = ["l2_size", "l2_asize", "l2_hdr_size"].map(|n| set.of(n));
        let second = [
            hits,
            misses,
            writes + sums + ios,
            sizes[0],
            sizes[1],
            sizes[2],
        ];
        Self::add(out, first, &self.l2arc, &[], &second);
        for (direction, bytes) in [("read", read), ("write", written)] {
            let words = [out.word(direction.as_bytes())];
            Self::add(out, first, &self.l2bytes, &words, &[bytes]);
        }
        let mut taken = MORE.to_vec();
        taken.extend([
            "size",
            "c",
            "c_max",
            "mru_size",
            "mfu_size",
            "metadata_size",
        ]);
        taken.extend(["l2_size", "l2_asize", "l2_hdr_size"]);
        // The sums of the kinds.
        taken.extend(["hits", "misses", "iohits"]);
        taken.extend([
            "demand_data_hits",
            "demand_data_misses",
            "demand_data_iohits",
        ]);
        taken.extend([
            "demand_metadata_hits",
            "demand_metadata_misses",
            "demand_metadata_iohits",
        ]);
        taken.extend([
            "prefetch_data_hits",
            "prefetch_data_misses",
            "prefetch_data_iohits",
        ]);
        taken.extend([
            "prefetch_metadata_hits",
            "prefetch_metadata_misses",
            "prefetch_metadata_iohits",
        ]);
        taken
    }
}

/// Whether the set is of a disk. Of those that count operations on files, as `vopstats_zfs`, `nread`
/// is the number of reads, and bytes are beside it: what programs do through the cache is no disk I/O.
fn is_disk(set: &Set) -> bool {
    set.has_any(&["nread", "nwritten"])
        && !set.has_any(&["nwrite", "read_bytes"])
        && !set.module.starts_with("zone_")
}

/// Units of what operations on files are counted in.
fn bytes(name: &str) -> &'static str {
    if name.ends_with("_bytes") { "B" } else { "" }
}

/// Units of what a processor counts: its time is in ticks of a clock that is not told.
fn ticks(name: &str) -> &'static str {
    match name {
        "user" | "kernel" | "idle" | "wait" => "ticks",
        _ => "",
    }
}

/// The sets of network links that are counted, by place, with the interface's name: an
/// interface has several with the same numbers.
fn links(sets: &[Set]) -> HashMap<usize, String> {
    // Whose numbers are taken before those of others.
    const LINK: u8 = 3;
    const DRIVER: u8 = 2;
    let mut best: HashMap<String, (u8, usize)> = HashMap::new();
    for (i, set) in sets.iter().enumerate() {
        if !set.has(&NET) {
            continue;
        }
        let from_driver = matches!(set.name.as_str(), "mac" | "phys" | "statistics");
        let (rank, interface) = match (set.module.as_str(), from_driver) {
            ("link", _) => (LINK, set.name.clone()),
            (module, true) if module.ends_with(|c: char| c.is_ascii_digit()) => {
                (DRIVER, module.to_owned())
            }
            (module, true) => (DRIVER, format!("{module}{}", set.instance)),
            _ => (1, set.name.clone()),
        };
        let known = best.entry(interface).or_insert((rank, i));
        if rank > known.0 {
            *known = (rank, i);
        }
    }
    // A link may have another name than its driver: `link:0:net0` has what `ixgbe:0:mac` has.
    let has_links = best.values().any(|(rank, _)| *rank == LINK);
    best.retain(|_, (rank, _)| !has_links || *rank != DRIVER);
    best.into_iter().map(|(name, (_, i))| (i, name)).collect()
}

/// A time of a disk in seconds: without a point it is one of nanoseconds, as programs print that
/// read the kernel's structure themselves. (No whole second is so long.)
pub(super) fn in_seconds(name: &str, text: &str, value: f64) -> f64 {
    let times = ["rtime", "wtime", "rlentime", "wlentime"];
    if times.contains(&name) && !text.contains(['.', ',']) && value >= 1e6 {
        value / 1e9
    } else {
        value
    }
}
