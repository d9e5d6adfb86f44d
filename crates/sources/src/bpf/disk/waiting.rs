//! Devices without requests, of which there may be none when a recording begins.

use crate::Host;
use crate::read::Kept;

/// Waits for the first device that has bios and no requests: device mapper, md, zram.
pub(super) struct Waiting {
    /// Sizes of such devices that are not set up: those do nothing.
    unset: Vec<Kept>,
    buffer: Vec<u8>,
}

impl Waiting {
    /// `None` if there is such a device.
    pub(super) fn new(host: &Host) -> Option<Waiting> {
        Some(Waiting {
            unset: unset_without_requests(host)?,
            buffer: Vec::new(),
        })
    }

    /// Whether there is one now; `told`: the kernel told of devices since this was asked last.
    pub(super) fn is_over(&mut self, host: &Host, told: bool) -> bool {
        if told {
            match unset_without_requests(host) {
                Some(unset) => self.unset = unset,
                None => return true,
            }
        }
        let buffer = &mut self.buffer;
        let is_set = |size: &Kept| size.read(buffer).is_ok_and(|text| text != b"0\n");
        self.unset.iter().any(is_set)
    }
}

/// Sizes of devices without requests, as long as none is set up. They have no directory of hardware
/// queues.
fn unset_without_requests(host: &Host) -> Option<Vec<Kept>> {
    let mut unset = Vec::new();
    let mut buffer = Vec::new();
    for device in std::fs::read_dir(host.sys("block")).ok()?.flatten() {
        let queues = std::fs::read_dir(device.path().join("mq"));
        if queues.is_ok_and(|mut q| q.next().is_some()) {
            continue;
        }
        // One that is going has none.
        if let Ok(size) = Kept::open(device.path().join("size")) {
            if size.read(&mut buffer).is_ok_and(|text| text != b"0\n") {
                return None;
            }
            unset.push(size);
        }
    }
    Some(unset)
}
