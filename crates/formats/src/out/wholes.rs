//! Which partitions of a text stand for disks.

use std::collections::{HashMap, HashSet};

use run::rows::Word;

use super::Out;
use crate::disk::{disk_of_partition, layer};

/// The disks of a text that tells of whole ones and, if at all, of their partitions below them.
///
/// A guest of Xen may have a `xvda1` without a `xvda`, and somebody may have asked for `sda1` alone: a
/// partition whose disk is not told is all there is of it, and counts as one.
#[derive(Default)]
pub(super) struct Wholes {
    disks: HashSet<Vec<u8>>,
    /// Partitions, and whether their disk was told before they were first.
    parts: HashMap<Vec<u8>, bool>,
    /// Disks of those that were not.
    without: HashSet<Vec<u8>>,
}

impl Out {
    /// The layer of a block device: by its name, and by whether the disk of a partition is told.
    pub(crate) fn disk_layer(&mut self, name: &[u8]) -> Word {
        let layer = self.disk_layer_of(name, layer(name));
        self.word(layer.as_bytes())
    }

    /// The same of a device whose name says `known`.
    pub(crate) fn disk_layer_of(&mut self, name: &[u8], known: &'static str) -> &'static str {
        match known {
            "disk" if !self.wholes.disks.contains(name) => self.is_told(name),
            "partition" if !self.is_of_a_disk(name) => return "disk",
            _ => {}
        }
        known
    }

    /// A disk is told for the first time.
    fn is_told(&mut self, name: &[u8]) {
        if self.wholes.without.contains(name) {
            self.note(
                "a partition stands before its disk and counts as one, too: by device they are \
                 right, added up they are not",
            );
        }
        self.wholes.disks.insert(name.to_vec());
    }

    /// Whether the disk of a partition is told; of names that do not tell their disk it may be.
    fn is_of_a_disk(&mut self, name: &[u8]) -> bool {
        if let Some(with) = self.wholes.parts.get(name) {
            return *with;
        }
        let disk = disk_of_partition(name);
        let without = disk.filter(|disk| !self.wholes.disks.contains(*disk));
        if let Some(disk) = without {
            self.wholes.without.insert(disk.to_vec());
            self.note(
                "partitions whose disk is not in the text count as disks, as `xvda1` of a guest \
                 of Xen",
            );
        }
        let with = without.is_none();
        self.wholes.parts.insert(name.to_vec(), with);
        with
    }
}

#[cfg(test)]
mod tests {
    use super::Out;
    use crate::time::Options;

    #[test]
    fn partitions_without_their_disk_count_as_disks() {
        let mut out = Out::new("iostat", Options::default());
        for (name, wanted, notes) in [
            ("sda", "disk", 0),
            ("sda1", "partition", 0),
            ("c0t0d0s2", "partition", 0),
            ("dm-0", "stacked", 0),
            ("xvda1", "disk", 1),
            // What was told of it is written: it stays what it was, and that is said.
            ("xvda", "disk", 2),
            ("xvda1", "disk", 2),
        ] {
            let wanted = out.word(wanted.as_bytes());
            assert_eq!(out.disk_layer(name.as_bytes()), wanted, "{name}");
            assert_eq!(out.notes().count(), notes, "{name}");
        }
    }
}
