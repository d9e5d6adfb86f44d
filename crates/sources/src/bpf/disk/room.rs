//! How much room the maps of the program need on this machine.

use super::OPS;
use crate::Host;

/// Devices that may be there at a time beside those that are set up when a recording begins. A block
/// takes 160 kB of the kernel's memory for each lane; what has gone leaves its room to others.
const LATER: u32 = 16;
/// Blocks for each of them: most are only read and written.
const BLOCKS_LATER: u32 = 2;

/// Values of maps, without lanes.
pub(super) struct Room {
    pub(super) blocks: u32,
    pub(super) weights: u32,
    pub(super) slots: u32,
}

impl Room {
    pub(super) fn of(host: &Host) -> Room {
        let (devices, blocks) = devices_and_blocks(host);
        let most = super::PLACES as u32;
        Room {
            blocks: (blocks + BLOCKS_LATER * LATER).min(OPS as u32 * most),
            weights: (devices + LATER).min(most),
            slots: slots(host),
        }
    }
}

/// How many devices are set up, and how many blocks they need: one for each operation that they
/// have. What is not set up does nothing.
fn devices_and_blocks(host: &Host) -> (u32, u32) {
    let (mut devices, mut blocks) = (0, 0);
    for device in std::fs::read_dir(host.sys("block")).into_iter().flatten() {
        let Ok(device) = device else { continue };
        let says = |name: &str| crate::read::once(&device.path().join(name)).unwrap_or_default();
        if says("size") == "0" {
            continue;
        }
        let discards = says("queue/discard_max_bytes") != "0";
        let flushes = says("queue/write_cache") != "write through";
        devices += 1;
        blocks += 2 + u32::from(discards) + u32::from(flushes);
    }
    (devices, blocks)
}

/// Places for requests under way, as a power of two: many times more than the devices can
/// have, so that two hardly ever meet at one place.
fn slots(host: &Host) -> u32 {
    let mut all = 1 << 10;
    let devices = std::fs::read_dir(host.sys("block"));
    for device in devices.into_iter().flatten().flatten() {
        let queues = std::fs::read_dir(device.path().join("mq"));
        for queue in queues.into_iter().flatten().flatten() {
            let tags = crate::read::once(&queue.path().join("nr_tags"));
            all += tags.and_then(|t| t.parse::<u32>().ok()).unwrap_or(128);
        }
    }
    (all * 8).next_power_of_two().min(1 << 20)
}
