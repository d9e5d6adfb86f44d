//! Tests of the inventory as a whole, on trees and on the live host.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::leaf::Leaf;
use super::tree::Tree;
use super::*;

#[test]
fn a_changed_setting_is_one_difference() {
    let tree = Tree::of(include_str!("../../fixtures/inventory/block/tree.txt"));
    let start = take(&tree.host());
    assert_eq!(differences(&start, &take(&tree.host())), []);
    tree.add("sys/block/sda/queue/scheduler = [none] mq-deadline kyber bfq\n");
    tree.add("sys/block/sdb/size = 16\n");
    let found = differences(&start, &take(&tree.host()));
    let expected = [
        Difference {
            path: "block.sda.scheduler".to_owned(),
            before: Some(json!("mq-deadline")),
            after: Some(json!("none")),
        },
        Difference {
            path: "block.sdb".to_owned(),
            before: None,
            after: Some(json!({"size_bytes": 8192})),
        },
    ];
    assert_eq!(found, expected);
    let document = start.document(Some(&found));
    assert_eq!(
        document["changes"][1],
        json!({"path": "block.sdb", "after": {"size_bytes": 8192}})
    );
    assert_eq!(start.document(None).get("changes"), None);
}

#[test]
fn what_comes_and_goes_by_itself_is_not_compared() {
    let of = |count: u64| {
        let value = json!({"cgroup": {"count": {"cpu": count}}, "processes": {"1": count}});
        Inventory(value.as_object().unwrap().clone())
    };
    assert_eq!(differences(&of(1), &of(2)), []);
}

#[test]
fn two_nodes_two_sockets_four_threads() {
    let tree = Tree::of(include_str!("../../fixtures/inventory/numa/tree.txt"));
    let found = take(&tree.host());
    let cpu = &found.sections()["cpu"];
    assert_eq!(
        (&cpu["sockets"], &cpu["cores"], &cpu["threads"]),
        (&json!(2), &json!(4), &json!(8))
    );
    assert_eq!(cpu["model"], "Example 9000");
    assert_eq!(
        cpu["frequency"],
        json!({
            "0-3": {"driver": "acpi-cpufreq", "governor": "performance", "least_hertz": 1200000000, "most_hertz": 3500000000_u64},
            "4": {"driver": "acpi-cpufreq", "governor": "powersave", "least_hertz": 1200000000, "most_hertz": 3500000000_u64},
        })
    );
    assert_eq!(
        cpu["caches"],
        json!({"L1d": {"size_bytes": 49152, "shared_by_threads": 2}, "L3": {"size_bytes": 33554432, "shared_by_threads": 4}})
    );
    let memory = &found.sections()["memory"];
    assert_eq!(memory["total_bytes"], 137438953472_u64);
    assert_eq!(
        memory["nodes"]["1"],
        json!({"total_bytes": 68719476736_u64, "cpus": "4-7", "distances": [21, 10]})
    );
    assert_eq!(
        memory["huge_pages"],
        json!({"2097152": {"pages": 1024, "overcommit_pages": 8}})
    );
    assert_eq!(memory["thp"], "madvise");
}

#[test]
fn an_empty_host_has_an_empty_inventory() {
    let host = Host::at("/nonexistent");
    assert_eq!(take(&host), Inventory::default());
}

#[test]
fn this_host_twice_has_no_differences() {
    let host = Host::default();
    // Somebody may mount or attach something at the same time, but not always.
    let pairs = (0..5).map(|_| differences(&take(&host), &take(&host)));
    let pairs: Vec<_> = pairs.collect();
    assert!(pairs.iter().any(Vec::is_empty), "{pairs:?}");
    let start = take(&host);
    assert!(start.get(&["kernel", "release"]).is_some());
    assert!(start.get(&["limits", "open_files", "soft"]).is_some());
}

/// Puts a kernel setting back when dropped, so that a failed test leaves nothing changed.
struct Restored {
    path: PathBuf,
    old: String,
}

impl Drop for Restored {
    #[allow(
        clippy::disallowed_methods,
        reason = "puts back what this test changed"
    )]
    fn drop(&mut self) {
        let _ = std::fs::write(&self.path, &self.old);
    }
}

/// A loop device without a file: its settings touch nobody.
fn unused_loop() -> Option<PathBuf> {
    let devices = (0..16).rev().map(|n| format!("/sys/block/loop{n}"));
    let mut devices = devices.map(PathBuf::from).filter(|device| device.exists());
    devices.find(|device| !device.join("loop/backing_file").exists())
}

#[test]
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "changes a harmless setting and says why it could not"
)]
fn a_live_change_is_seen() {
    let skip = |why: &str| {
        assert!(std::env::var_os("CI").is_none(), "did not run: {why}");
        eprintln!("skipped: {why}");
    };
    let Some(device) = unused_loop() else {
        return skip("needs a loop device that is not in use");
    };
    // Under a name that is not a loop device's, as those without a file are left out.
    let tree = Tree::of(&format!("@ sys/block/live -> {}\n", device.display()));
    let start = take(&tree.host());
    let path = device.join("queue/read_ahead_kb");
    let old = std::fs::read_to_string(&path).unwrap();
    let before: u64 = old.trim().parse().unwrap();
    let after = before + 64;
    let restored = Restored { path, old };
    if std::fs::write(&restored.path, after.to_string()).is_err() {
        return skip("needs root to change a setting");
    }
    let found = differences(&start, &take(&tree.host()));
    drop(restored);
    let expected = Difference {
        path: "block.live.read_ahead_bytes".to_owned(),
        before: Some(Value::from(before * 1024)),
        after: Some(Value::from(after * 1024)),
    };
    assert_eq!(found, [expected]);
    assert_eq!(differences(&start, &take(&tree.host())), []);
}

#[test]
fn the_reference_names_every_section_and_field() {
    let path: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/inventory.md");
    let page = std::fs::read_to_string(path).unwrap();
    for section in SECTIONS {
        let heading = format!("## `{}`", section.name);
        assert!(page.contains(&heading), "no chapter {heading}");
        assert!(
            page.contains(section.help),
            "help of {} differs",
            section.name
        );
    }
    let leaves: [&[Leaf]; 10] = [
        kernel::KERNEL,
        kernel::CLOCK,
        cpu::CPU,
        cpu::FREQUENCY,
        cpu::IDLE,
        memory::PAGES,
        block::DEVICE,
        block::MADE,
        net::INTERFACE,
        virtualisation::DMI,
    ];
    let names = leaves.into_iter().flatten().map(|leaf| leaf.name);
    let names = names.chain(ethtool::names());
    let names = names.chain(block::PARTITION.iter().map(|leaf| leaf.name));
    let names = names.chain(cpu::HERTZ.iter().map(|(name, _)| *name));
    let names = names.chain(kernel::LIMITS.iter().map(|(_, name)| *name));
    let names = names.chain(cgroup::UNIFIED.iter().copied());
    let names = names.chain(cgroup::LEGACY.iter().map(|(_, name)| *name));
    let names = names.chain(sysctl::SYSCTLS.iter().copied());
    let names = names.chain(modules::MODULES.iter().copied());
    for name in names {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not explained"
        );
    }
}
