//! Memory: how much, on which nodes, in which pages, and where it is swapped to.
//!
//! <https://docs.kernel.org/admin-guide/mm/hugetlbpage.html>,
//! <https://docs.kernel.org/admin-guide/mm/transhuge.html>

use serde_json::Value;

use super::leaf::{Dir, Fields, Form, Leaf, MOST, bounded, leaf, plain};
use crate::Host;
use crate::read::{fields as words, lines, number, text};

const KIB: u64 = 1024;

/// Below `/sys/kernel/mm`.
pub(super) const PAGES: &[Leaf] = &[
    leaf("thp", "transparent_hugepage/enabled", Form::Choice),
    leaf("thp_defrag", "transparent_hugepage/defrag", Form::Choice),
    leaf(
        "thp_shmem",
        "transparent_hugepage/shmem_enabled",
        Form::Choice,
    ),
    leaf(
        "khugepaged_defrag",
        "transparent_hugepage/khugepaged/defrag",
        Form::Flag,
    ),
    leaf(
        "khugepaged_pages_to_scan",
        "transparent_hugepage/khugepaged/pages_to_scan",
        Form::Number,
    ),
    leaf(
        "khugepaged_scan_sleep_seconds",
        "transparent_hugepage/khugepaged/scan_sleep_millisecs",
        Form::Seconds(1e3),
    ),
    leaf("ksm_run", "ksm/run", Form::Number),
    leaf("lru_gen", "lru_gen/enabled", Form::Text),
    leaf("numa_demotion", "numa/demotion_enabled", Form::Text),
    leaf("swap_vma_readahead", "swap/vma_ra_enabled", Form::Text),
];

/// The section `memory`.
pub(super) fn take(host: &Host) -> Value {
    let mut fields = Fields::default();
    let meminfo = bounded(&host.proc("meminfo"), 1 << 16);
    let meminfo = meminfo.map(|(bytes, _)| bytes).unwrap_or_default();
    fields.put("total_bytes", kib_line(&meminfo, b"MemTotal:"));
    fields.put(
        "huge_page_default_bytes",
        kib_line(&meminfo, b"Hugepagesize:"),
    );
    let mm = Dir::new(host.sys("kernel/mm"));
    fields.nest("huge_pages", huge_pages(&mm.join("hugepages")));
    fields.leaves(&mm, PAGES);
    fields.nest("nodes", nodes(&Dir::new(host.sys("devices/system/node"))));
    let swaps = bounded(&host.proc("swaps"), 1 << 20);
    let swaps = swaps.map(|(bytes, _)| swaps_of(&bytes)).unwrap_or_default();
    fields.nest("swap", swaps);
    fields.into()
}

/// `MemTotal:  8349912 kB`, which are KiB, in bytes. `name` may stand later in the line: a
/// node's file begins each with `Node 0`.
fn kib_line(file: &[u8], name: &[u8]) -> Option<u64> {
    lines(file).find_map(|line| {
        let mut words = words(line).skip_while(|word| *word != name);
        words.next()?;
        number(words.next()?)?.checked_mul(KIB)
    })
}

/// Pools of huge pages by page size. The kernel's `nr_hugepages` counts surplus pages too,
/// which come and go with use: without them it is what somebody set.
fn huge_pages(dir: &Dir) -> Fields {
    let mut all = Fields::default();
    for name in dir.names() {
        let size = name.strip_prefix("hugepages-");
        let Some(size) = size.and_then(|s| s.strip_suffix("kB")?.parse::<u64>().ok()) else {
            continue;
        };
        let pool = dir.join(&name);
        let mut fields = Fields::default();
        let surplus = pool.number("surplus_hugepages").unwrap_or(0);
        let pages = pool.number("nr_hugepages");
        fields.put("pages", pages.map(|n| n.saturating_sub(surplus)));
        fields.put("overcommit_pages", pool.number("nr_overcommit_hugepages"));
        all.nest(size.saturating_mul(KIB).to_string(), fields);
    }
    all
}

/// NUMA nodes by number.
fn nodes(dir: &Dir) -> Fields {
    let mut all = Fields::default();
    let names = dir.names();
    let numbered = names.iter().filter_map(|name| {
        let rest = name.strip_prefix("node")?;
        rest.parse::<u32>().ok().map(|_| (name, rest))
    });
    for (name, node) in numbered.take(MOST) {
        let dir = dir.join(name);
        let mut fields = Fields::default();
        let meminfo = bounded(&dir.path().join("meminfo"), 1 << 14);
        let total = meminfo.and_then(|(bytes, _)| kib_line(&bytes, b"MemTotal:"));
        fields.put("total_bytes", total);
        fields.put("cpus", dir.text("cpulist"));
        let distances = dir.text("distance").map(|text| {
            let distances = text.split_whitespace().map(plain);
            Value::Array(distances.collect())
        });
        fields.put("distances", distances);
        all.nest(node, fields);
    }
    all
}

/// Swap areas by file; how much of them is used is left out.
///
/// ```text
/// Filename     Type        Size     Used  Priority
/// /dev/vda3    partition   2097148  0     -2
/// ```
fn swaps_of(file: &[u8]) -> Fields {
    let mut all = Fields::default();
    for line in lines(file).skip(1).take(MOST) {
        let parts: Vec<&[u8]> = words(line).collect();
        let [name, kind, size, _, priority] = parts[..] else {
            continue;
        };
        let mut fields = Fields::default();
        fields.put("type", Some(text(kind).as_ref()));
        fields.put("size_bytes", number(size).and_then(|n| n.checked_mul(KIB)));
        fields.put("priority", Some(plain(&text(priority))));
        all.nest(super::filesystems::unescape(name), fields);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_areas_without_their_use() {
        let file = b"Filename\tType\tSize\tUsed\tPriority\n/dev/vda3  partition\t2097148\t77\t-2\n/swap\\040file file 1024 0 5\nbroken line\n";
        let expected = serde_json::json!({
            "/dev/vda3": {"type": "partition", "size_bytes": 2147479552_u64, "priority": -2},
            "/swap file": {"type": "file", "size_bytes": 1048576, "priority": 5},
        });
        assert_eq!(Value::from(swaps_of(file)), expected);
    }
}
