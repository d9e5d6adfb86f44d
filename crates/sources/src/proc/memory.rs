//! Where physical memory is, from `/proc/meminfo`.
//!
//! ```text
//! MemTotal:       24684096 kB
//! MemFree:        24322512 kB
//! Buffers:            3892 kB
//! Cached:           109580 kB
//! AnonPages:         17756 kB
//! Shmem:              8788 kB
//! ```
//! A kB here is 1024 bytes. Many of the fields overlap. The ones used here do not, but for
//! two that the kernel cannot tell apart:
//!
//! - `Cached` holds `Shmem` (shared memory and tmpfs), which is taken out of it; it holds
//!   neither `Buffers` nor `SwapCached`.
//! - `AnonPages` are the mapped ones, transparent huge pages among them. A page in the swap
//!   cache is in `AnonPages` too while it is mapped, so `SwapCached` is not used; those that
//!   are not mapped end up in `unaccounted`.
//! - `Hugetlb` is the whole pool, free pages too, which no other field has.
//! - `Percpu` holds the first chunk of each processor, which the kernel set aside before it
//!   counted `MemTotal`: `unaccounted` is too small by so much.
//! - `Active`, `Inactive`, `Mlocked`, `Mapped`, `Unevictable`, `Dirty`, `AnonHugePages` are
//!   other views of the same pages; `VmallocUsed` holds kernel stacks.
//!
//! <https://docs.kernel.org/filesystems/proc.html#meminfo>

use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use super::keyed::Keyed;
use crate::read::Kept;
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "memory",
    help: "physical memory by kind, dirty pages, swap",
    reads: "/proc/meminfo",
    link: "https://docs.kernel.org/filesystems/proc.html#meminfo",
    detail: Detail::Samples,
    open,
};

const KIB: f64 = 1024.0;

/// The fields that are read, by their place in [`Fields`].
const KEYS: [&str; 22] = [
    "MemTotal",
    "MemFree",
    "AnonPages",
    "Cached",
    "Shmem",
    "Buffers",
    "SUnreclaim",
    "SReclaimable",
    "PageTables",
    "SecPageTables",
    "KernelStack",
    "Percpu",
    "Hugetlb",
    "HugePages_Total",
    "Hugepagesize",
    "Zswap",
    "MemAvailable",
    "Dirty",
    "Writeback",
    "Committed_AS",
    "SwapTotal",
    "SwapFree",
];

type Fields = [Option<u64>; KEYS.len()];

/// The kinds of memory, in the order in which they give way when their sum is more than
/// there is; `unaccounted` is what remains.
const KINDS: [&str; 13] = [
    "per_cpu",
    "file",
    "anonymous",
    "shared",
    "slab_reclaimable",
    "slab_unreclaimable",
    "buffers",
    "page_tables",
    "kernel_stacks",
    "zswap",
    "hugepages",
    "free",
    "unaccounted",
];

/// What one reading says, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// By kind; `None` where this kernel does not tell it apart: it is in `unaccounted`. The sum is
    /// the total.
    kinds: [Option<u64>; KINDS.len()],
    /// Available, dirty, writeback, committed, swap, swap used.
    state: [Option<u64>; 6],
}

/// Divides the total into kinds; `None` if there is no total.
///
/// The kernel reads its counters one after the other, some of them only roughly (a count
/// that each processor has not yet handed in), and counts a part of `Percpu` that is outside
/// of the total. Where the kinds sum to more than the total, `unaccounted` is 0 and the excess is
/// taken off the kinds in the order of [`KINDS`], per-processor memory first.
fn divide(fields: &Fields) -> Option<Memory> {
    let [
        total,
        free,
        anonymous,
        cached,
        shared,
        buffers,
        slab_unreclaimable,
        slab_reclaimable,
        page_tables,
        second_page_tables,
        kernel_stacks,
        per_cpu,
        hugetlb,
        huge_count,
        huge_size,
        zswap,
        available,
        dirty,
        writeback,
        committed,
        swap_total,
        swap_free,
    ] = *fields;
    let total = total?;
    // Before 4.16 only pages of the default size are told.
    let hugepages = hugetlb.or_else(|| huge_count?.checked_mul(huge_size?));
    let mut kinds = [
        per_cpu,
        cached.map(|c| c.saturating_sub(shared.unwrap_or(0))),
        anonymous,
        shared,
        slab_reclaimable,
        slab_unreclaimable,
        buffers,
        page_tables.map(|p| p.saturating_add(second_page_tables.unwrap_or(0))),
        kernel_stacks,
        zswap,
        hugepages,
        free,
        None,
    ];
    // Wide enough for any numbers a file can hold.
    let known: u128 = kinds.iter().flatten().map(|&k| u128::from(k)).sum();
    let mut excess = known.saturating_sub(u128::from(total));
    for kind in kinds.iter_mut().flatten() {
        let taken = u64::try_from(excess).unwrap_or(u64::MAX).min(*kind);
        *kind -= taken;
        excess -= u128::from(taken);
    }
    let rest = u64::try_from(u128::from(total).saturating_sub(known));
    kinds[KINDS.len() - 1] = Some(rest.unwrap_or(0));
    let swap_used = swap_total.and_then(|t| t.checked_sub(swap_free?));
    Some(Memory {
        kinds,
        state: [
            available, dirty, writeback, committed, swap_total, swap_used,
        ],
    })
}

struct MemoryFile {
    file: Kept,
    buffer: Vec<u8>,
    keyed: Keyed<{ KEYS.len() }>,
    kinds: Option<[Word; KINDS.len()]>,
    by_kind: TableId,
    state: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("meminfo");
    let file = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    Ok(Box::new(MemoryFile {
        file,
        buffer: Vec::new(),
        keyed: Keyed::new(&KEYS),
        kinds: None,
        by_kind: TableId::of("memory"),
        state: TableId::of("memory_state"),
    }))
}

impl Source for MemoryFile {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let words = *self.kinds.get_or_insert_with(|| KINDS.map(|k| out.word(k)));
        if interval.is_none() {
            return Ok(());
        }
        let bytes = self.file.read(&mut self.buffer)?;
        let fields = self.keyed.values(bytes);
        let Some(memory) = divide(&fields) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{}: no MemTotal", self.file.path().display()),
            ));
        };
        for (word, kind) in words.iter().zip(memory.kinds) {
            if let Some(kib) = kind {
                out.row(self.by_kind, &[*word], &[kib as f64 * KIB]);
            }
        }
        let state = memory
            .state
            .map(|v| v.map_or(f64::NAN, |kib| kib as f64 * KIB));
        out.row(self.state, &[], &state);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"MemTotal:           1000 kB\nMemFree:             400 kB\n\
        MemAvailable:        600 kB\nBuffers:              10 kB\nCached:              250 kB\n\
        SwapCached:            7 kB\nSwapTotal:           500 kB\nSwapFree:            480 kB\n\
        Zswap:                 6 kB\nZswapped:             18 kB\n\
        Dirty:                 5 kB\nWriteback:             2 kB\nAnonPages:           120 kB\n\
        Shmem:                50 kB\nSReclaimable:         30 kB\nSUnreclaim:           20 kB\n\
        KernelStack:           8 kB\nPageTables:            4 kB\nSecPageTables:         1 kB\n\
        WritebackTmp:          9 kB\nCommitted_AS:        700 kB\nPercpu:                3 kB\n\
        HugePages_Total:       2\nHugepagesize:         16 kB\nHugetlb:              64 kB\n";

    fn of(text: &[u8]) -> Option<Memory> {
        divide(&Keyed::new(&KEYS).values(text))
    }

    fn kind(memory: &Memory, name: &str) -> Option<u64> {
        let place = KINDS.iter().position(|k| *k == name);
        memory.kinds[place.expect("a kind")]
    }

    fn sum(memory: &Memory) -> u64 {
        memory.kinds.iter().flatten().sum()
    }

    #[test]
    fn kinds_are_disjoint_and_sum_to_the_total() {
        let memory = of(TEXT).unwrap();
        assert_eq!(kind(&memory, "file"), Some(200), "cached less shared");
        assert_eq!(kind(&memory, "page_tables"), Some(5));
        assert_eq!(kind(&memory, "hugepages"), Some(64), "of every size");
        assert_eq!(kind(&memory, "zswap"), Some(6));
        // 400+120+200+50+10+20+30+5+8+3+64+6 = 916 of 1000.
        assert_eq!(kind(&memory, "unaccounted"), Some(84));
        assert_eq!(sum(&memory), 1000);
        let state = [600, 5, 2, 700, 500, 20].map(Some);
        assert_eq!(memory.state, state);
    }

    #[test]
    fn an_older_kernel_leaves_kinds_to_the_others() {
        let old = b"MemTotal: 1000 kB\nMemFree: 400 kB\nCached: 100 kB\nAnonPages: 120 kB\n\
            Shmem: 40 kB\nHugePages_Total: 2\nHugepagesize: 16 kB\nSwapTotal: 9 kB\n";
        let memory = of(old).unwrap();
        assert_eq!(kind(&memory, "per_cpu"), None);
        assert_eq!(kind(&memory, "hugepages"), Some(32));
        // 400+60+40+120+32 = 652.
        assert_eq!(kind(&memory, "unaccounted"), Some(348));
        assert_eq!(sum(&memory), 1000);
        assert_eq!(memory.state[0], None, "no MemAvailable before 3.14");
        assert_eq!(memory.state[5], None, "no SwapFree");
    }

    #[test]
    fn more_than_there_is_comes_off_per_processor_memory_first() {
        let over = b"MemTotal: 100 kB\nMemFree: 80 kB\nCached: 15 kB\nPercpu: 8 kB\n";
        let memory = of(over).unwrap();
        assert_eq!(kind(&memory, "per_cpu"), Some(5));
        assert_eq!(kind(&memory, "file"), Some(15));
        assert_eq!(kind(&memory, "unaccounted"), Some(0));
        assert_eq!(sum(&memory), 100);
        let absurd = b"MemTotal: 10 kB\nMemFree: 18446744073709551615 kB\nCached: 7 kB\n";
        assert_eq!(sum(&of(absurd).unwrap()), 10);
        assert_eq!(of(b"MemFree: 80 kB\n"), None);
    }
}
