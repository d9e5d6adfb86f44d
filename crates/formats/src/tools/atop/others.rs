//! Fields that have no place in the catalog.

use super::Numbers;
use crate::out::Out;

/// Names of fields that have no place in the catalog, from some place on; "" has one.
pub(super) const SWAP: [(&str, &str); 10] = [
    ("", ""),
    ("", ""),
    ("", ""),
    ("swap cache", "bytes"),
    ("", ""),
    ("commit limit", "bytes"),
    ("", ""),
    ("zswap stored", "bytes"),
    ("zswap pool", "bytes"),
    ("", ""),
];
pub(super) const MEMORY: [(&str, &str); 20] = [
    ("", ""),
    ("physical memory", "bytes"),
    ("", ""),
    ("", ""),
    ("", ""),
    ("", ""),
    ("", ""),
    ("", ""),
    ("balloon", "bytes"),
    ("shared memory", "bytes"),
    ("shared memory resident", "bytes"),
    ("shared memory swapped", "bytes"),
    ("", ""),
    ("", ""),
    ("", ""),
    ("ZFS ARC", "bytes"),
    ("KSM sharing", "bytes"),
    ("KSM shared", "bytes"),
    ("TCP memory", "bytes"),
    ("UDP memory", "bytes"),
];
pub(super) const PAGING: [(&str, &str); 4] = [
    ("pages migrated", "count"),
    ("NUMA pages migrated", "count"),
    ("pages read", "count"),
    ("pages written", "count"),
];
pub(super) const SERVER: [(&str, &str); 15] = [
    ("NFS requests", "count"),
    ("NFS read requests", "count"),
    ("NFS write requests", "count"),
    ("", ""),
    ("", ""),
    ("", ""),
    ("", ""),
    ("", ""),
    ("", ""),
    ("NFS requests by TCP", "count"),
    ("NFS requests by UDP", "count"),
    ("", ""),
    ("", ""),
    ("NFS reply cache misses", "count"),
    ("NFS uncached requests", "count"),
];

/// Fields that have no place in the catalog, from the one at `first` on, times `factor`.
pub(super) fn put_others(
    out: &mut Out,
    instance: &[u8],
    n: &Numbers,
    first: usize,
    names: &[(&str, &str)],
    factor: f64,
) {
    let instance = out.word(instance);
    for (i, (name, unit)) in names.iter().enumerate() {
        if !name.is_empty() {
            out.other(name, unit, instance, n.at(first + i) * factor);
        }
    }
}

/// A label of which nothing has a place in the catalog.
pub(super) fn generic(label: &[u8], name: &[u8], n: &Numbers, out: &mut Out) {
    let names: &[&str] = match label {
        b"NFC" => &[
            "rpcs",
            "read rpcs",
            "write rpcs",
            "retransmissions",
            "refreshes",
        ],
        b"IFB" => &[
            "port",
            "lanes",
            "Mbit/s",
            "received bytes",
            "sent bytes",
            "received packets",
            "sent packets",
        ],
        b"LLC" => &["id", "used %", "bandwidth bytes", "local bandwidth bytes"],
        b"GPU" => &[
            "busy %",
            "memory busy %",
            "memory KiB",
            "memory used KiB",
            "samples",
            "busy % added up",
            "memory busy % added up",
            "memory used KiB added up",
        ],
        b"NUM" => &[
            "node",
            "page size",
            "fragmentation %",
            "pages",
            "free pages",
            "active pages",
            "inactive pages",
            "file pages",
            "dirty pages",
            "slab pages",
            "reclaimable slab pages",
            "shared pages",
            "huge pages",
        ],
        b"NUC" => &[
            "node",
            "processors",
            "system ticks",
            "user ticks",
            "nice ticks",
            "idle ticks",
            "wait ticks",
            "irq ticks",
            "softirq ticks",
            "steal ticks",
            "guest ticks",
        ],
        _ => &[],
    };
    let label = String::from_utf8_lossy(label).into_owned();
    let by_number = matches!(&*label, "LLC" | "NUM" | "NUC");
    let instance = if by_number {
        out.word(format!("{}", n.at(0)).as_bytes())
    } else {
        out.word(name)
    };
    for (i, column) in names.iter().enumerate().skip(usize::from(by_number)) {
        out.other(&format!("{label} {column}"), "", instance, n.at(i));
    }
}
