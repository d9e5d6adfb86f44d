//! Mounted file systems and their options, as `/proc/self/mountinfo` has them.
//!
//! `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
//! <https://docs.kernel.org/filesystems/proc.html#proc-pid-mountinfo-information-about-mounts>

use rustix::mount::MountFlags;

use crate::spot::Identity;

/// Options of a mount, with the flag that each is.
pub(super) const PER_MOUNT: &[(&str, MountFlags)] = &[
    ("ro", MountFlags::RDONLY),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
];

/// Options of any file system, whatever its kind, with the flag that each is.
pub(super) const SUPERBLOCK: &[(&str, MountFlags)] = &[
    ("ro", MountFlags::RDONLY),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("mand", MountFlags::PERMIT_MANDATORY_FILE_LOCKING),
    ("lazytime", MountFlags::LAZYTIME),
];

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    id: String,
    device: String,
    root: String,
    /// Where it is mounted.
    pub(super) point: String,
    /// Options of this mount.
    pub(super) own: Vec<String>,
    /// `ext4`.
    pub(super) kind: String,
    /// `/dev/sda1`.
    pub(super) source: String,
    /// Options of the file system.
    pub(super) superblock: Vec<String>,
}

impl Mount {
    /// Those of our mount namespace.
    pub(super) fn all() -> Vec<Mount> {
        let table = std::fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default();
        table.lines().filter_map(Mount::parsed).collect()
    }

    fn parsed(line: &str) -> Option<Mount> {
        let (front, end) = line.split_once(" - ")?;
        let mut front = front.split(' ');
        let mut end = end.split(' ');
        let list = |text: &str| text.split(',').map(plain).collect();
        Some(Mount {
            id: front.next()?.to_owned(),
            device: front.nth(1)?.to_owned(),
            root: front.next()?.to_owned(),
            point: plain(front.next()?),
            own: list(front.next()?),
            kind: end.next()?.to_owned(),
            source: plain(end.next()?),
            superblock: list(end.next()?),
        })
    }

    /// The mount and option of `POINT.OPTION`: the longest point that fits, and of several
    /// mounts at one point the topmost.
    pub(super) fn named(rest: &str) -> Option<(Mount, String)> {
        let fits = |m: &Mount| {
            rest.strip_prefix(&m.point)
                .and_then(|r| r.strip_prefix('.'))
                .is_some()
        };
        let mount = Mount::all()
            .into_iter()
            .filter(fits)
            .max_by_key(|m| m.point.len())?;
        let option = rest[mount.point.len() + 1..].to_owned();
        (!option.is_empty()).then_some((mount, option))
    }

    /// The same mount as it is now.
    pub(super) fn now(&self) -> Option<Mount> {
        let mut all = Mount::all().into_iter();
        all.rfind(|m| m.point == self.point)
    }

    pub(super) fn identity(&self) -> Identity {
        let fields = [
            ("mount", &self.id),
            ("device", &self.device),
            ("root", &self.root),
            ("file system", &self.kind),
        ];
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    }

    /// When reading a file writes its time of access.
    pub(super) fn access_time(&self) -> &'static str {
        let has = |option: &str| self.own.iter().any(|o| o == option);
        match (has("noatime"), has("relatime")) {
            (true, _) => "noatime",
            (_, true) => "relatime",
            _ => "strictatime",
        }
    }

    /// The flags of those options in `table` that are in `options`.
    pub(super) fn flags(&self, table: &[(&str, MountFlags)], options: &[String]) -> MountFlags {
        let set = table
            .iter()
            .filter(|(name, _)| options.iter().any(|o| o == name));
        let mut flags = set.fold(MountFlags::empty(), |flags, (_, flag)| flags | *flag);
        // Without any of the three the kernel would choose.
        if self.access_time() == "strictatime" {
            flags |= MountFlags::STRICTATIME;
        }
        flags
    }

    /// The options that the file system itself reads, but for one.
    pub(super) fn text_without(&self, option: &str) -> Vec<String> {
        let all = self.superblock.iter().filter(|shown| {
            let name = shown.split('=').next().unwrap_or(shown);
            let flag = name == "rw" || SUPERBLOCK.iter().any(|(n, _)| *n == name);
            !flag && name != option && name.strip_prefix("no") != Some(option)
        });
        all.cloned().collect()
    }
}

/// Text with the octal escapes of the kernel's tables as the bytes they are.
fn plain(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = rest.get(1..4).filter(|_| first == b'\\');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table() {
        let line = r"36 35 98:0 /mnt1 /a\040b rw,noatime master:1 shared:2 - ext4 /dev/root rw,lazytime,commit=30,nobarrier";
        let mount = Mount::parsed(line).unwrap();
        assert_eq!(mount.point, "/a b");
        assert_eq!(mount.kind, "ext4");
        assert_eq!(mount.access_time(), "noatime");
        assert_eq!(mount.text_without("barrier"), ["commit=30"]);
        assert_eq!(mount.text_without("commit"), ["nobarrier"]);
        let flags = mount.flags(SUPERBLOCK, &mount.superblock);
        assert_eq!(flags, MountFlags::LAZYTIME);
        assert_eq!(Mount::parsed("36 35 98:0"), None);
    }
}
