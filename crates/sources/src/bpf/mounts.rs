//! Where file systems are mounted, so that files have their whole paths.

use std::collections::HashMap;
use std::fs::File;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Host;
use crate::read::{fields, lines, printable, unescaped};

/// Stands for the mount point of a file system that is not mounted where we can see it.
pub(super) const NO_MOUNT: &str = "(no mount)";

/// Where a file system is mounted.
#[derive(Debug, PartialEq)]
pub(super) struct Mount {
    /// What of it is shown there: `/` for all.
    root: String,
    /// The mount point.
    pub(super) point: String,
}

impl Mount {
    /// The whole path of what is at `inside` the file system, without its first slash.
    pub(super) fn path(&self, inside: &str) -> String {
        let root = self.root.trim_matches('/');
        let shown = match inside.strip_prefix(root) {
            Some(rest) if root.is_empty() => Some(rest),
            Some(rest) if rest.is_empty() => Some(rest),
            Some(rest) => rest.strip_prefix('/'),
            None => None,
        };
        let Some(shown) = shown else {
            // The part of it that is mounted here does not have it.
            return format!("{NO_MOUNT}/{inside}");
        };
        if shown.is_empty() {
            return self.point.clone();
        }
        format!("{}/{shown}", self.point.trim_end_matches('/'))
    }
}

/// Where each file system is mounted, by its device number as the kernel keeps it.
pub(super) struct Mounts {
    host: Host,
    now: HashMap<u32, Mount>,
    /// Those that went with the last change: what was done there may be told after it.
    gone: HashMap<u32, Mount>,
    /// Told by the kernel when something is mounted or no longer.
    changes: Option<File>,
}

impl Mounts {
    pub(super) fn new(host: &Host) -> Mounts {
        // Opened before: what changes meanwhile is told.
        let changes = File::open(host.proc("self/mountinfo")).ok();
        Mounts {
            host: host.clone(),
            now: mounts(host),
            gone: HashMap::new(),
            changes,
        }
    }

    /// Before names are asked for: learns of new mounts; whether there are any.
    pub(super) fn refresh(&mut self) -> bool {
        let Some(file) = &self.changes else {
            return false;
        };
        let mut wanted = [PollFd::new(file, PollFlags::PRI)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let changed = poll(&mut wanted, Some(&at_once)).is_ok_and(|n| n > 0);
        changed && self.become_of(mounts(&self.host))
    }

    /// One change of a mount may be told twice, and others are not seen here.
    fn become_of(&mut self, now: HashMap<u32, Mount>) -> bool {
        let changed = now != self.now;
        if changed {
            self.gone = std::mem::replace(&mut self.now, now);
        }
        changed
    }

    /// Where the file system of that device is mounted, or was before the last change.
    pub(super) fn get(&self, device: u32) -> Option<&Mount> {
        self.now.get(&device).or_else(|| self.gone.get(&device))
    }
}

fn mounts(host: &Host) -> HashMap<u32, Mount> {
    let bytes = std::fs::read(host.proc("self/mountinfo")).unwrap_or_default();
    parse_mounts(&bytes)
}

/// Of several mounts the first that shows all of it.
///
/// `36 35 254:0 / /mnt rw,noatime shared:1 - ext4 /dev/vda rw`
fn parse_mounts(bytes: &[u8]) -> HashMap<u32, Mount> {
    let mut found: HashMap<u32, Mount> = HashMap::new();
    for line in lines(bytes) {
        let mut fields = fields(line).skip(2);
        let (Some(device), Some(root), Some(point)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let mut numbers = device
            .split(|b| *b == b':')
            .filter_map(|n| std::str::from_utf8(n).ok()?.parse::<u32>().ok());
        let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
            continue;
        };
        // dev_t inside the kernel: 12 bits of major, 20 of minor.
        let key = major << 20 | minor;
        let known = found.get(&key);
        if known.is_none_or(|known| root == b"/" && known.root != "/") {
            let root = printable(&unescaped(root));
            let point = printable(&unescaped(point));
            found.insert(key, Mount { root, point });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_by_device() {
        let text = b"1 0 254:0 /sub /bound rw - ext4 /dev/vda rw\n\
            36 35 254:0 / /data rw,noatime shared:1 - ext4 /dev/vda rw\n\
            37 35 254:0 / /again rw - ext4 /dev/vda rw\n\
            38 35 0:21 / /dev/shm rw - tmpfs tmpfs rw\nbroken\n";
        let found = parse_mounts(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[&(254 << 20)].point, "/data");
        assert_eq!(found[&21].point, "/dev/shm");
    }

    #[test]
    fn a_path_below_a_mount() {
        let text = b"1 0 254:0 /sub /bound rw - ext4 /dev/vda rw\n\
            2 0 0:21 / / rw - tmpfs t rw\n\
            3 0 0:22 / /with\\040space\\012 rw - tmpfs t rw\n";
        let found = parse_mounts(text);
        let bound = &found[&(254 << 20)];
        assert_eq!(bound.path("sub/a/b"), "/bound/a/b");
        assert_eq!(bound.path("sub"), "/bound");
        assert_eq!(bound.path("subway/a"), "(no mount)/subway/a");
        assert_eq!(bound.path("other"), "(no mount)/other");
        assert_eq!(found[&21].path("etc/x"), "/etc/x");
        assert_eq!(found[&21].path(""), "/");
        assert_eq!(found[&22].path("x"), "/with space\\n/x");
    }

    #[test]
    fn what_was_mounted_before_the_last_change_is_known() {
        let mut mounts = Mounts::new(&Host::at("/nonexistent"));
        let point = |mounts: &Mounts, device| mounts.get(device).map(|m| m.point.clone());
        mounts.become_of(parse_mounts(
            b"1 0 0:21 / /a rw - tmpfs t rw\n2 0 0:22 / /b rw - tmpfs t rw\n",
        ));
        let moved = || parse_mounts(b"2 0 0:22 / /moved rw - tmpfs t rw\n");
        assert!(mounts.become_of(moved()));
        assert!(!mounts.become_of(moved()));
        assert_eq!(point(&mounts, 22).as_deref(), Some("/moved"));
        assert_eq!(point(&mounts, 21).as_deref(), Some("/a"));
        mounts.become_of(HashMap::new());
        assert_eq!(point(&mounts, 22).as_deref(), Some("/moved"));
        assert_eq!(point(&mounts, 21), None);
    }
}
