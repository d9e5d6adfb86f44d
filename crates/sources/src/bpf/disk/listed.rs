//! Disks as the kernel lists them.

use std::collections::HashMap;

use crate::Host;
use crate::read::{Kept, once};

/// Whether the kernel told of any device that came, went or changed. What it counts of that is read
/// by one call; times of directories in `/sys` do not change.
pub(super) struct Told {
    events: Option<Kept>,
    count: Vec<u8>,
    buffer: Vec<u8>,
}

impl Told {
    pub(super) fn new(host: &Host) -> Told {
        let mut told = Told {
            events: Kept::open(host.sys("kernel/uevent_seqnum")).ok(),
            count: Vec::new(),
            buffer: Vec::new(),
        };
        told.of_any();
        told
    }

    /// Whether it told of any since it was asked last; true where it does not count that.
    pub(super) fn of_any(&mut self) -> bool {
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
}

/// The disks that there are.
#[derive(Debug, Default)]
pub(super) struct Listed {
    names: HashMap<u64, String>,
    set_up: HashMap<String, bool>,
}

/// How the program tells a device by its numbers: 0 is no device.
fn key(numbers: &str) -> Option<u64> {
    let (major, minor) = numbers.split_once(':')?;
    Some((major.parse::<u64>().ok()? << 20 | minor.parse::<u64>().ok()?) + 1)
}

/// A name as the kernel's directories have it, as people know it.
pub(super) fn human(name: &str) -> String {
    name.replace('!', "/")
}

impl Listed {
    pub(super) fn now(host: &Host) -> Listed {
        let mut listed = Listed::default();
        let devices = std::fs::read_dir(host.sys("block"));
        for device in devices.into_iter().flatten().flatten() {
            let says = |what: &str| once(&device.path().join(what)).unwrap_or_default();
            let name = human(&device.file_name().to_string_lossy());
            // One that stays behind a device of several ways has no numbers here.
            if let Some(key) = key(&says("dev")) {
                listed.names.insert(key, name.clone());
            }
            listed.set_up.insert(name, says("size") != "0");
        }
        listed
    }

    /// These: key, name and whether it is set up.
    #[cfg(test)]
    pub(super) fn of(disks: &[(u64, &str, bool)]) -> Listed {
        let mut listed = Listed::default();
        for (key, name, is_set_up) in disks {
            listed.names.insert(*key, (*name).to_owned());
            listed.set_up.insert((*name).to_owned(), *is_set_up);
        }
        listed
    }

    /// The name of the device that has these numbers now.
    pub(super) fn name(&self, key: u64) -> Option<&str> {
        self.names.get(&key).map(String::as_str)
    }

    /// Whether a device of that name is there, and set up.
    pub(super) fn has(&self, name: &str) -> bool {
        self.set_up.get(name).copied().unwrap_or(false)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files")]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_used_again_has_the_name_of_who_has_it_now() {
        let root = std::env::temp_dir().join(format!("sonde-listed-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let host = Host::at(&root);
        let add = |name: &str, files: &[(&str, &str)]| {
            let dir = host.sys("block").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            for (file, text) in files {
                std::fs::write(dir.join(file), format!("{text}\n")).unwrap();
            }
        };
        let lose = |name: &str| std::fs::remove_dir_all(host.sys("block").join(name)).unwrap();
        add("nvme0n1", &[("dev", "259:0"), ("size", "2048")]);
        add("cciss!c0d0", &[("dev", "104:0"), ("size", "2048")]);
        add("loop3", &[("dev", "7:3"), ("size", "0")]);
        add("nvme0c0n1", &[("size", "2048")]);
        let dynamic = (259 << 20) + 1;
        let listed = Listed::now(&host);
        assert_eq!(listed.name(dynamic), Some("nvme0n1"));
        assert_eq!(listed.name((104 << 20) + 1), Some("cciss/c0d0"));
        let has = |name| listed.has(name);
        assert!(has("nvme0n1") && has("cciss/c0d0") && has("nvme0c0n1"));
        assert!(!has("loop3") && !has("sdb"));

        lose("nvme0n1");
        add("nvme1n1", &[("dev", "259:0"), ("size", "2048")]);
        let listed = Listed::now(&host);
        assert_eq!(listed.name(dynamic), Some("nvme1n1"));
        assert!(!listed.has("nvme0n1"));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
