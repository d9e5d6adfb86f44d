//! What virtual memory did, from `/proc/vmstat`.
//!
//! ```text
//! nr_dirtied 1475161
//! nr_written 1311561
//! pgpgin 2494993
//! pgfault 11397910
//! allocstall_normal 0
//! pgsteal_kswapd 0
//! ```
//! Almost 200 lines, of which two dozen are read. `pgpgin` and `pgpgout` are KiB, the other
//! amounts of memory are pages; all count from boot.
//!
//! - `pgpgin` and `pgpgout` count what is submitted to block devices, direct I/O too.
//! - `pgfault` holds `pgmajfault`.
//! - `nr_dirtied` steps back by the pages that could not be written and are dirty again.
//! - `nr_written` counts pages of files and of swap, when their writing ends.
//! - Before 4.10 there is one `allocstall`, before 4.8 reclaim is counted by zone (not
//!   read); `khugepaged` was part of `direct` before it had counters of its own.
//!
//! <https://docs.kernel.org/filesystems/proc.html> names the file; the counters are in the
//! kernel's `mm/vmstat.c`.

use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use super::keyed::Keyed;
use super::ratchet::Ratchet;
use crate::read::{Kept, advance};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "vm",
    help: "virtual memory: paging, faults, write-back, reclaim, kills for want of memory",
    reads: "/proc/vmstat",
    link: "https://docs.kernel.org/filesystems/proc.html",
    detail: Detail::Samples,
    open,
};

const KIB: f64 = 1024.0;

/// Pages by which `nr_dirtied` may step back and mean it.
const DIRTY_AGAIN: u64 = 1 << 20;

const RECLAIMERS: [&str; 4] = ["kswapd", "direct", "khugepaged", "proactive"];

/// The counters that are read, by their place in [`Counters`].
const KEYS: [&str; 25] = [
    "pgpgin",
    "pgpgout",
    "pswpin",
    "pswpout",
    "pgfault",
    "pgmajfault",
    "nr_dirtied",
    "nr_written",
    "compact_stall",
    "oom_kill",
    "pgscan_kswapd",
    "pgscan_direct",
    "pgscan_khugepaged",
    "pgscan_proactive",
    "pgsteal_kswapd",
    "pgsteal_direct",
    "pgsteal_khugepaged",
    "pgsteal_proactive",
    "allocstall",
    "allocstall_dma",
    "allocstall_dma32",
    "allocstall_normal",
    "allocstall_high",
    "allocstall_movable",
    "allocstall_device",
];
const DIRTIED: usize = 6;
const SCANNED: usize = 10;
const RECLAIMED: usize = 14;
const STALLS: usize = 18;

type Counters = [Option<u64>; KEYS.len()];

struct Vm {
    file: Kept,
    buffer: Vec<u8>,
    keyed: Keyed<{ KEYS.len() }>,
    before: Counters,
    dirtied: Ratchet,
    /// Bytes of a page.
    page: f64,
    reclaimers: Option<[Word; 4]>,
    whole: TableId,
    by_reclaimer: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let path = host.proc("vmstat");
    let file = Kept::open(&path).map_err(|e| {
        let needs = "a mounted /proc and a kernel with CONFIG_VM_EVENT_COUNTERS";
        Availability::of(&path, &e, needs, "read it as root")
    })?;
    let page = rustix::param::page_size() as f64;
    Ok(Box::new(Vm::new(file, page)))
}

impl Vm {
    fn new(file: Kept, page: f64) -> Vm {
        Vm {
            file,
            buffer: Vec::new(),
            keyed: Keyed::new(&KEYS),
            before: [None; KEYS.len()],
            dirtied: Ratchet::default(),
            page,
            reclaimers: None,
            whole: TableId::of("vm"),
            by_reclaimer: TableId::of("vm_reclaim"),
        }
    }

    fn take(&mut self, now: &Counters, interval: Option<f64>, out: &mut Sink) {
        let reclaimers = *self
            .reclaimers
            .get_or_insert_with(|| RECLAIMERS.map(|r| out.word(r)));
        let before = std::mem::replace(&mut self.before, *now);
        if interval.is_none() {
            self.dirtied = Ratchet::from(now[DIRTIED].unwrap_or(0));
            return;
        }
        let mut amounts = [f64::NAN; KEYS.len()];
        for (amount, pair) in amounts.iter_mut().zip(before.iter().zip(now)) {
            if let (Some(before), Some(now)) = (*pair.0, *pair.1) {
                *amount = advance(before, now);
            }
        }
        if let (Some(_), Some(dirtied)) = (before[DIRTIED], now[DIRTIED]) {
            amounts[DIRTIED] = self.dirtied.advance(dirtied, DIRTY_AGAIN);
        }
        let page = self.page;
        let [
            read,
            written,
            swap_in,
            swap_out,
            faults,
            major,
            dirtied,
            ended,
            compaction,
            kills,
            ..,
        ] = amounts;
        let values = [
            read * KIB,
            written * KIB,
            swap_in * page,
            swap_out * page,
            faults,
            major,
            dirtied * page,
            ended * page,
            stalls(now, &amounts),
            compaction,
            kills,
        ];
        out.row(self.whole, &[], &values);
        for (i, &reclaimer) in reclaimers.iter().enumerate() {
            let (scanned, reclaimed) = (SCANNED + i, RECLAIMED + i);
            let told = now[scanned].is_some() || now[reclaimed].is_some();
            let values = [amounts[scanned] * page, amounts[reclaimed] * page];
            // The first reclaimer always has a row, to tell a sampled interval from a gap.
            if i == 0 || (told && values != [0.0; 2]) {
                out.row(self.by_reclaimer, &[reclaimer], &values);
            }
        }
    }
}

/// The stalls of the zones that this kernel has, added up; NaN if it counts none.
fn stalls(now: &Counters, amounts: &[f64; KEYS.len()]) -> f64 {
    let zones = STALLS..KEYS.len();
    let told = zones.clone().filter(|&i| now[i].is_some());
    if told.clone().next().is_none() {
        return f64::NAN;
    }
    told.map(|i| amounts[i]).sum()
}

impl Source for Vm {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let bytes = self.file.read(&mut self.buffer)?;
        let now = self.keyed.values(bytes);
        self.take(&now, interval, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm() -> Vm {
        Vm::new(Kept::open("/dev/null").unwrap(), 4096.0)
    }

    fn take(vm: &mut Vm, text: &[u8], interval: Option<f64>, out: &mut Sink) {
        out.clear();
        let now = vm.keyed.values(text);
        vm.take(&now, interval, out);
    }

    /// The values of the only row of `vm`.
    fn row(out: &Sink) -> Vec<f64> {
        let rows = out.rows(TableId::of("vm"));
        assert_eq!(rows.len(), 1);
        rows.values.iter().map(|column| column[0]).collect()
    }

    #[test]
    fn each_counter_in_its_unit() {
        let (mut vm, mut out) = (vm(), Sink::new());
        let first = b"nr_dirty 9\nnr_dirtied 10\nnr_written 10\nnr_dirty_threshold 5\npgpgin 100\n\
            pgpgout 100\npswpin 5\npswpout 5\nallocstall_dma 1\nallocstall_normal 2\n\
            allocstall_movable 3\npgfault 1000\npgmajfault 10\npgsteal_kswapd 0\n\
            pgsteal_direct 0\npgscan_kswapd 0\npgscan_direct 0\npgscan_direct_throttle 0\n\
            oom_kill 0\ncompact_stall 4\n";
        let second =
            b"nr_dirty 0\nnr_dirtied 13\nnr_written 11\nnr_dirty_threshold 6\npgpgin 104\n\
            pgpgout 108\npswpin 6\npswpout 7\nallocstall_dma 1\nallocstall_normal 4\n\
            allocstall_movable 4\npgfault 1100\npgmajfault 11\npgsteal_kswapd 0\n\
            pgsteal_direct 30\npgscan_kswapd 0\npgscan_direct 40\npgscan_direct_throttle 77\n\
            oom_kill 1\ncompact_stall 6\n";
        take(&mut vm, first, None, &mut out);
        assert_eq!(out.filled().count(), 0);
        take(&mut vm, second, Some(1.0), &mut out);
        let expected = [
            4096.0, 8192.0, 4096.0, 8192.0, 100.0, 1.0, 12288.0, 4096.0, 3.0, 2.0, 1.0,
        ];
        assert_eq!(row(&out), expected);

        let reclaim = out.rows(TableId::of("vm_reclaim"));
        let who: Vec<_> = reclaim.words[0]
            .iter()
            .filter_map(|w| out.words.text(*w))
            .collect();
        assert_eq!(who, ["kswapd", "direct"]);
        assert_eq!(reclaim.values[0], [0.0, 40.0 * 4096.0]);
        assert_eq!(reclaim.values[1], [0.0, 30.0 * 4096.0]);
    }

    #[test]
    fn pages_dirty_again_do_not_count_twice() {
        let (mut vm, mut out) = (vm(), Sink::new());
        let mut dirtied = Vec::new();
        for (text, interval) in [
            (&b"nr_dirtied 100\n"[..], None),
            (b"nr_dirtied 90\n", Some(1.0)),
            (b"nr_dirtied 101\n", Some(1.0)),
        ] {
            take(&mut vm, text, interval, &mut out);
            if interval.is_some() {
                dirtied.push(row(&out)[DIRTIED]);
            }
        }
        assert_eq!(dirtied, [0.0, 4096.0]);
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_known() {
        let (mut vm, mut out) = (vm(), Sink::new());
        take(&mut vm, b"pgfault 1\nallocstall 5\n", None, &mut out);
        take(&mut vm, b"pgfault 4\nallocstall 7\n", Some(1.0), &mut out);
        let values = row(&out);
        assert_eq!((values[4], values[8]), (3.0, 2.0));
        assert!(values[0].is_nan() && values[9].is_nan() && values[10].is_nan());
        let reclaim = out.rows(TableId::of("vm_reclaim"));
        assert_eq!(reclaim.len(), 1, "no row for reclaimers that are not told");
        assert!(reclaim.values[0][0].is_nan());
    }
}
