//! What findings on disks share: which devices are looked at, and how one is set.

use super::look::Look;

/// Whole devices: a partition's I/O is its disk's.
pub(super) const LAYERS: &str = "layer in disk, stacked, memory";

/// A setting of a block device.
pub(super) fn setting(look: &Look<'_>, device: &str, name: &str) -> Option<String> {
    look.setting(&["block", device, name])
}

/// The same, a number.
pub(super) fn number(look: &Look<'_>, device: &str, name: &str) -> Option<f64> {
    look.number(&["block", device, name])
}

/// ` sda has scheduler none, nr_requests 64, queue_depth 32.`; empty where nothing is known.
pub(super) fn queue(look: &Look<'_>, device: &str) -> String {
    let names = ["scheduler", "nr_requests", "queue_depth"];
    let known = names.iter().filter_map(|name| {
        let value = setting(look, device, name)?;
        Some(format!("{name} {value}"))
    });
    let list: Vec<String> = known.collect();
    if list.is_empty() {
        String::new()
    } else {
        format!(" {device} has {}.", list.join(", "))
    }
}
