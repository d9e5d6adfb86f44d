//! Block devices: what they are, how their queues are set, and what they are made of.
//!
//! Serial numbers and world-wide names are left out: they identify the machine.
//!
//! <https://docs.kernel.org/block/queue-sysfs.html>

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::leaf::{Dir, Fields, Form, Leaf, MOST, leaf, plain};
use crate::Host;

/// What sysfs calls a sector, whatever the device's own blocks are.
const SECTOR: u64 = 512;

/// Below `/sys/block/<device>`.
pub(super) const DEVICE: &[Leaf] = &[
    leaf("model", "device/model", Form::Text),
    leaf("firmware", "device/firmware_rev", Form::Text),
    leaf("size_bytes", "size", Form::Bytes(SECTOR)),
    leaf("read_only", "ro", Form::Flag),
    leaf("removable", "removable", Form::Flag),
    leaf(
        "logical_block_bytes",
        "queue/logical_block_size",
        Form::Number,
    ),
    leaf(
        "physical_block_bytes",
        "queue/physical_block_size",
        Form::Number,
    ),
    leaf("minimum_io_bytes", "queue/minimum_io_size", Form::Number),
    leaf("optimal_io_bytes", "queue/optimal_io_size", Form::Number),
    leaf("chunk_bytes", "queue/chunk_sectors", Form::Bytes(SECTOR)),
    leaf("rotational", "queue/rotational", Form::Flag),
    leaf("scheduler", "queue/scheduler", Form::Choice),
    leaf("nr_requests", "queue/nr_requests", Form::Number),
    leaf("queue_depth", "device/queue_depth", Form::Number),
    leaf("read_ahead_bytes", "queue/read_ahead_kb", Form::Bytes(1024)),
    leaf("max_io_bytes", "queue/max_sectors_kb", Form::Bytes(1024)),
    leaf(
        "max_hardware_io_bytes",
        "queue/max_hw_sectors_kb",
        Form::Bytes(1024),
    ),
    leaf("max_segments", "queue/max_segments", Form::Number),
    leaf(
        "wbt_latency_seconds",
        "queue/wbt_lat_usec",
        Form::Seconds(1e6),
    ),
    leaf("write_cache", "queue/write_cache", Form::Text),
    leaf("fua", "queue/fua", Form::Flag),
    leaf("dax", "queue/dax", Form::Flag),
    leaf("zoned", "queue/zoned", Form::Text),
    leaf(
        "discard_granularity_bytes",
        "queue/discard_granularity",
        Form::Number,
    ),
    leaf("discard_max_bytes", "queue/discard_max_bytes", Form::Number),
    leaf("iostats", "queue/iostats", Form::Flag),
    leaf("add_random", "queue/add_random", Form::Flag),
    leaf("io_poll", "queue/io_poll", Form::Flag),
    leaf("nomerges", "queue/nomerges", Form::Number),
    leaf("rq_affinity", "queue/rq_affinity", Form::Number),
    leaf("stable_writes", "queue/stable_writes", Form::Flag),
    leaf("dirty_max_percent", "bdi/max_ratio", Form::Number),
    leaf("dirty_strict_limit", "bdi/strict_limit", Form::Flag),
];

/// As [`DEVICE`], of those made by software and of `NVMe`.
pub(super) const MADE: &[Leaf] = &[
    leaf("loop_direct_io", "loop/dio", Form::Flag),
    leaf("loop_offset_bytes", "loop/offset", Form::Number),
    leaf("dm_name", "dm/name", Form::Text),
    leaf("md_level", "md/level", Form::Text),
    leaf("md_disks", "md/raid_disks", Form::Number),
    leaf("md_degraded", "md/degraded", Form::Number),
    leaf("md_chunk_bytes", "md/chunk_size", Form::Number),
    leaf(
        "md_stripe_cache_pages",
        "md/stripe_cache_size",
        Form::Number,
    ),
    leaf("zram_compression", "comp_algorithm", Form::Choice),
    leaf("nvme_transport", "device/transport", Form::Text),
    leaf("nvme_io_policy", "device/iopolicy", Form::Text),
    leaf("nvme_path_state", "ana_state", Form::Text),
];

/// Below a partition's directory.
pub(super) const PARTITION: &[Leaf] = &[
    leaf("start_bytes", "start", Form::Bytes(SECTOR)),
    leaf("size_bytes", "size", Form::Bytes(SECTOR)),
];

/// The section `block`: devices by name.
pub(super) fn take(host: &Host) -> Value {
    let all_devices = Dir::new(host.sys("block"));
    let mut all = Fields::default();
    let mut names = all_devices.names();
    names.retain(|name| in_use(&all_devices.join(name), name));
    for name in names.iter().take(MOST) {
        // sysfs writes `!` for the `/` of names such as `cciss/c0d0`.
        all.nest(
            name.replace('!', "/"),
            device(host, &all_devices.join(name)),
        );
    }
    all.not_listed(names.len());
    all.into()
}

/// Whether there is something behind a device node: kernels make loop, ram, nbd and zram
/// devices in advance.
fn in_use(dir: &Dir, name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if numbered("loop") {
        dir.has("loop/backing_file")
    } else if numbered("ram") {
        let counters = dir.text("stat").unwrap_or_default();
        counters.split_whitespace().any(|counter| counter != "0")
    } else if numbered("zram") || numbered("nbd") {
        dir.number("size").is_some_and(|sectors| sectors > 0)
    } else {
        true
    }
}

fn device(host: &Host, dir: &Dir) -> Fields {
    let mut fields = Fields::default();
    let place = Place::of(host, dir.path());
    let mut drivers = place.drivers.into_iter();
    fields.put("driver", drivers.next());
    // A port of the PCI bus above it says nothing of the device.
    fields.put("controller_driver", drivers.find(|d| d != "pcieport"));
    fields.put("numa_node", place.node);
    fields.leaves(dir, DEVICE);
    let queues = dir.join("mq").names().len() as u64;
    fields.put("hardware_queues", (queues > 0).then_some(queues));
    fields.nest("scheduler_settings", settings(&dir.join("queue/iosched")));
    fields.put(
        "loop_file",
        dir.text("loop/backing_file").filter(|f| !f.is_empty()),
    );
    // `LVM-<ids>`, `CRYPT-LUKS2-<ids>`, `mpath-<id>`: the kind, without what identifies.
    let kind = dir.text("dm/uuid").unwrap_or_default();
    let kind = kind.split('-').next().filter(|kind| !kind.is_empty());
    fields.put("dm_kind", kind);
    fields.leaves(dir, MADE);
    for (name, links) in [("made_of", "slaves"), ("held_by", "holders")] {
        let names = dir.join(links).names();
        fields.put(name, (!names.is_empty()).then_some(names));
    }
    fields.nest("partitions", partitions(dir));
    fields
}

/// The scheduler's own settings, as the kernel prints them.
fn settings(dir: &Dir) -> Fields {
    let mut fields = Fields::default();
    for name in dir.names() {
        let value = dir.text(&name).filter(|text| !text.is_empty());
        fields.put(name, value.map(|text| plain(&text)));
    }
    fields
}

fn partitions(dir: &Dir) -> Fields {
    let mut all = Fields::default();
    let Some(device) = dir.path().file_name().and_then(|n| n.to_str()) else {
        return all;
    };
    let mut names = dir.names();
    // A partition's name begins with its device's.
    names.retain(|name| name.starts_with(device) && dir.join(name).has("partition"));
    for name in names.iter().take(MOST) {
        let mut fields = Fields::default();
        fields.leaves(&dir.join(name), PARTITION);
        all.nest(name.replace('!', "/"), fields);
    }
    all
}

/// Where in the tree of devices something hangs.
pub(super) struct Place {
    /// Drivers from the device towards the root: `sd`, `ahci`.
    pub(super) drivers: Vec<String>,
    /// The NUMA node of the nearest device that says one.
    pub(super) node: Option<u64>,
}

impl Place {
    /// Follows the class link `path` into `/sys/devices`, then walks upwards.
    pub(super) fn of(host: &Host, path: &Path) -> Place {
        let mut place = Place {
            drivers: Vec::new(),
            node: None,
        };
        let top = host.sys("devices");
        let top = std::fs::canonicalize(&top).unwrap_or(top);
        let Ok(mut at) = std::fs::canonicalize(path) else {
            return place;
        };
        // `virtual` holds what hangs on no hardware.
        while at.starts_with(&top) && at != top {
            let dir = Dir::new(PathBuf::from(&at));
            place.drivers.extend(dir.link_name("driver"));
            place.node = place.node.or_else(|| dir.number("numa_node"));
            if !at.pop() {
                break;
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::tree::Tree;
    use serde_json::json;

    #[test]
    fn a_disk_with_partitions_and_its_controller() {
        let tree = Tree::of(include_str!("../../fixtures/inventory/block/tree.txt"));
        let block = take(&tree.host());
        let sda = &block["sda"];
        assert_eq!(sda["driver"], "sd");
        assert_eq!(sda["controller_driver"], "ahci");
        assert_eq!(sda["numa_node"], 1);
        assert_eq!(sda["size_bytes"], 1000204886016_u64);
        assert_eq!(sda["scheduler"], "mq-deadline");
        assert_eq!(sda["scheduler_settings"], json!({"read_expire": 500}));
        assert_eq!(sda["read_ahead_bytes"], 131072);
        assert_eq!(sda["wbt_latency_seconds"], 0.075);
        assert_eq!(sda["queue_depth"], 32);
        assert_eq!(sda["hardware_queues"], 1);
        assert_eq!(sda["held_by"], json!(["md0"]));
        let expected = json!({
            "sda2": {"start_bytes": 1048576, "size_bytes": 536870912},
            "sda10": {"start_bytes": 537919488, "size_bytes": 512},
        });
        assert_eq!(sda["partitions"], expected);
        assert_eq!(sda.get("serial"), None);
    }

    #[test]
    fn stacks_say_what_they_are_made_of() {
        let tree = Tree::of(include_str!("../../fixtures/inventory/block/tree.txt"));
        let block = take(&tree.host());
        assert_eq!(
            block["md0"],
            json!({"md_level": "raid1", "md_disks": 2, "md_degraded": 1, "made_of": ["sda", "sdb"], "held_by": ["dm-0"]})
        );
        assert_eq!(
            block["dm-0"],
            json!({"dm_kind": "LVM", "dm_name": "vg0-data", "made_of": ["md0"]})
        );
        assert_eq!(block["loop3"]["loop_file"], "/images/a disk.img");
        assert_eq!(block["loop3"]["loop_direct_io"], true);
        let names: Vec<&String> = block.as_object().unwrap().keys().collect();
        // loop4, ram0, zram0 and nbd0 were never set up.
        assert_eq!(
            names,
            [
                "cciss/c0d0",
                "dm-0",
                "loop3",
                "md0",
                "nvme0c0n1",
                "nvme0c1n1",
                "nvme0n1",
                "sda"
            ]
        );
    }

    #[test]
    fn nvme_with_two_paths() {
        let tree = Tree::of(include_str!("../../fixtures/inventory/block/tree.txt"));
        let block = take(&tree.host());
        assert_eq!(block["nvme0n1"]["nvme_io_policy"], "round-robin");
        assert_eq!(block["nvme0n1"]["model"], "Fast Flash 3.8T");
        assert_eq!(block["nvme0n1"].get("driver"), None);
        assert_eq!(block["nvme0c0n1"]["driver"], "nvme");
        assert_eq!(block["nvme0c0n1"].get("controller_driver"), None);
        assert_eq!(block["nvme0c0n1"]["nvme_path_state"], "optimized");
        assert_eq!(block["nvme0c0n1"]["hardware_queues"], 2);
        assert_eq!(block["nvme0c1n1"]["nvme_path_state"], "non-optimized");
    }
}
