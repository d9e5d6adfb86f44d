//! A name and a number a line: `meminfo` and `vmstat`.

use crate::counters::Counters;
use crate::number::{number, whole};
use crate::out::{Out, Shape};

use super::counted::put_grown;

const KIB: f64 = 1024.0;

/// Kinds of memory that add up to all of it with what stays in `other`.
const KINDS: [(&str, &str); 8] = [
    ("MemFree", "free"),
    ("Buffers", "buffers"),
    ("AnonPages", "anonymous"),
    ("Shmem", "shared"),
    ("SReclaimable", "slab_reclaimable"),
    ("SUnreclaim", "slab_unreclaimable"),
    ("PageTables", "page_tables"),
    ("KernelStack", "kernel_stacks"),
];

/// Counters of `vmstat` with a place in `vm`, and what one of them is.
const VM: [(&str, usize, f64); 7] = [
    ("pgpgin", 0, KIB),
    ("pgpgout", 1, KIB),
    ("pgfault", 2, 1.0),
    ("pgmajfault", 3, 1.0),
    ("compact_stall", 5, 1.0),
    ("oom_kill", 6, 1.0),
    ("allocstall", 4, 1.0),
];

/// Lines of `vmstat` that count though they begin with `nr_`, which levels do (`vmstat_text` in the
/// kernel's `mm/vmstat.c`).
const COUNTED: [&str; 6] = [
    "nr_dirtied",
    "nr_foll_pin_",
    "nr_throttled_written",
    "nr_tlb_",
    "nr_vmscan_",
    "nr_written",
];

/// Whether the line of that name tells how many there are, and not how many came.
fn is_level(name: &str) -> bool {
    name == "workingset_nodes"
        || name.starts_with("nr_") && !COUNTED.iter().any(|c| name.starts_with(c))
}

/// Lines of a control group's `memory.stat`, of which some others are called as in `vmstat`.
pub(super) fn is_of_group(name: &[u8]) -> bool {
    matches!(
        name,
        b"rss" | b"total_rss" | b"hierarchical_memory_limit" | b"anon" | b"file_mapped" | b"sock"
    )
}

/// Names in `meminfo` of which no other file's lines `Name: N kB` have any.
const MEMORY: [&str; 17] = [
    "Active",
    "AnonPages",
    "Buffers",
    "Cached",
    "Committed_AS",
    "Dirty",
    "Inactive",
    "KReclaimable",
    "MemAvailable",
    "PageTables",
    "SReclaimable",
    "SUnreclaim",
    "Slab",
    "SwapCached",
    "SwapFree",
    "SwapTotal",
    "Writeback",
];

/// Whether a line that begins so is one of `meminfo`: `Dirty:`.
pub(super) fn is_of_memory(first: &[u8]) -> bool {
    let name = first.strip_suffix(b":");
    name.is_some_and(|name| MEMORY.iter().any(|known| known.as_bytes() == name))
}

/// Whether the line is of the table that `meminfo` of Linux 2.4 and before begins with: it has in bytes
/// what the lines below have in kB.
pub(super) fn is_table(all: &[&[u8]]) -> bool {
    match all {
        [b"total:", b"used:", b"free:", ..] => true,
        [b"Mem:" | b"Swap:", sizes @ ..] => {
            matches!(sizes.len(), 3 | 6) && sizes.iter().all(|size| whole(size).is_some())
        }
        _ => false,
    }
}

pub(super) struct Keyed {
    memory: Shape,
    state: Shape,
    vm: Shape,
    pub(super) counters: Counters,
    sizes: Vec<(String, f64)>,
    events: [f64; 7],
}

/// `MemFree:  3446476 kB`: the name, and bytes. Only `HugePages_Total:  0` and its like have no
/// unit: `TIMER: 12` is of another file.
pub(super) fn size<'a>(all: &[&'a [u8]]) -> Option<(&'a [u8], f64)> {
    let (name, value) = match *all {
        [name, value, b"kB"] => (name, number(value)? * KIB),
        [name, value] if name.starts_with(b"HugePages_") => (name, number(value)?),
        _ => return None,
    };
    let name = name.strip_suffix(b":")?;
    name.first()?.is_ascii_uppercase().then_some((name, value))
}

/// `pgfault 1234`.
pub(super) fn counter<'a>(all: &[&'a [u8]]) -> Option<(&'a [u8], f64)> {
    let &[name, value] = all else { return None };
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_';
    let named = name.first()?.is_ascii_lowercase() && name.iter().all(plain);
    whole(value)?;
    named.then_some((name, number(value)?))
}

impl Keyed {
    pub(super) fn new() -> Keyed {
        Keyed {
            memory: Shape::of("memory", &["bytes"]),
            state: Shape::of(
                "memory_state",
                &[
                    "available",
                    "dirty",
                    "writeback",
                    "committed",
                    "swap_total",
                    "swap_used",
                ],
            ),
            vm: Shape::of(
                "vm",
                &[
                    "paged_in",
                    "paged_out",
                    "faults",
                    "major_faults",
                    "allocation_stalls",
                    "compaction_stalls",
                    "oom_kills",
                ],
            ),
            counters: Counters::default(),
            sizes: Vec::new(),
            events: [f64::NAN; 7],
        }
    }

    pub(super) fn size(&mut self, name: &[u8], bytes: f64) {
        let name = String::from_utf8_lossy(name).into_owned();
        self.sizes.push((name, bytes));
    }

    pub(super) fn counter(&mut self, name: &[u8], value: f64, out: &mut Out) {
        let text = String::from_utf8_lossy(name).into_owned();
        let known = VM.iter().find(|(n, _, _)| {
            // `allocstall_dma`, `allocstall_normal`, …
            text == *n || (*n == "allocstall" && text.starts_with("allocstall_"))
        });
        if let Some((_, place, unit)) = known {
            let before = self.events[*place];
            let before = if before.is_nan() { 0.0 } else { before };
            self.events[*place] = before + value * unit;
            return;
        }
        let none = out.word(b"");
        if is_level(&text) {
            out.other(&text, "count", none, value);
        } else if let Some(grown) = self.counters.grown(name, &[value], out) {
            let grown = grown.first().copied().unwrap_or(f64::NAN);
            out.other_grown(&text, "count", none, grown);
        }
    }

    pub(super) fn finish_reading(&mut self, out: &mut Out) {
        self.put_sizes(out);
        let events = std::mem::replace(&mut self.events, [f64::NAN; 7]);
        if events.iter().any(|v| !v.is_nan()) {
            let grown = self.counters.grown(b"vm", &events, out);
            let first = grown.is_none();
            let values = grown.unwrap_or(events.to_vec());
            put_grown(out, &self.vm, &[], &values, first);
        }
    }

    fn put_sizes(&mut self, out: &mut Out) {
        let sizes = std::mem::take(&mut self.sizes);
        if sizes.is_empty() {
            return;
        }
        let of = |name: &str| {
            let found = sizes.iter().find(|(n, _)| n == name);
            found.map_or(f64::NAN, |(_, v)| *v)
        };
        for (name, kind) in KINDS {
            if !of(name).is_nan() {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[of(name)]);
            }
        }
        // Shared memory is counted in it; a kernel that does not tell how much has a cache.
        let (kind, bytes) = match of("Shmem") {
            shared if shared.is_nan() => ("cache", of("Cached")),
            shared => ("file", of("Cached") - shared),
        };
        if !bytes.is_nan() {
            let kind = out.word(kind.as_bytes());
            out.put(&self.memory, &[kind], &[bytes]);
        }
        let state = [
            of("MemAvailable"),
            of("Dirty"),
            of("Writeback"),
            of("Committed_AS"),
            of("SwapTotal"),
            of("SwapTotal") - of("SwapFree"),
        ];
        out.put(&self.state, &[], &state);
        let none = out.word(b"");
        let placed = [
            "Cached",
            "MemAvailable",
            "Dirty",
            "Writeback",
            "Committed_AS",
        ];
        for (name, value) in &sizes {
            let kind = KINDS.iter().any(|(n, _)| n == name);
            if !kind && !placed.contains(&&**name) {
                let unit = if name.starts_with("HugePages_") {
                    "count"
                } else {
                    "bytes"
                };
                out.other(name, unit, none, *value);
            }
        }
    }
}
