//! Devices without requests, of which there may be none when a recording begins.

use crate::Host;
use crate::read::Kept;

/// Waits for the first device that has bios and no requests: device mapper, md, zram.
pub(super) struct Waiting {
    /// Counts what the kernel tells of devices that come, go or change; and its last count.
    events: Option<Kept>,
    count: Vec<u8>,
    /// Sizes of such devices that are not set up: those do nothing.
    unset: Vec<Kept>,
    buffer: Vec<u8>,
}

impl Waiting {
    /// `None` if there is such a device.
    pub(super) fn new(host: &Host) -> Option<Waiting> {
        let mut waiting = Waiting {
            events: Kept::open(host.sys("kernel/uevent_seqnum")).ok(),
            count: Vec::new(),
            unset: unset_without_requests(host)?,
            buffer: Vec::new(),
        };
        waiting.has_changed();
        Some(waiting)
    }

    /// Whether the kernel told of any device since it was asked last; true where it does not count
    /// that.
    fn has_changed(&mut self) -> bool {
        let count = self.events.as_ref().map(|e| e.read(&mut self.buffer));
        match count {
            Some(Ok(count)) if count == self.count => false,
            Some(Ok(count)) => {
                self.count = count.to_vec();
                true
            }
            _ => true,
        }
    }

    /// Whether there is one now.
    pub(super) fn is_over(&mut self, host: &Host) -> bool {
        if self.has_changed() {
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
