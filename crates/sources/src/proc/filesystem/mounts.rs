//! Which mounts of a mount table are worth asking, and safe to ask.

use std::collections::HashMap;

use crate::read::{fields, lines, number};

/// A line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Number of the mount.
    pub(super) number: u64,
    /// Device of the file system, major and minor.
    pub(super) device: (u32, u32),
    /// Where it is mounted.
    pub(super) point: Vec<u8>,
    /// Type of the file system.
    pub(super) kind: Vec<u8>,
    /// What is mounted.
    pub(super) source: Vec<u8>,
}

/// What may wait for another machine or a program, by its type's beginning. FUSE covers
/// sshfs, glusterfs, s3fs and the like; `fuseblk` is a local disk, with a program between.
const DISTANT: &[&str] = &[
    "nfs",
    "cifs",
    "smb",
    "9p",
    "ceph",
    "afs",
    "coda",
    "ncp",
    "fuse",
    "lustre",
    "gpfs",
    "beegfs",
    "glusterfs",
    "orangefs",
    "pvfs2",
    "virtiofs",
    "ocfs2",
    "gfs2",
    "autofs",
    "davfs",
    "prl_fs",
    "vboxsf",
    "vmhgfs",
];

/// Images: full by nature, and never changing.
const IMAGES: &[&[u8]] = &[b"squashfs", b"iso9660", b"erofs", b"cramfs", b"romfs"];

/// The lines of a mount table; what is none is left out.
pub(super) fn parse(text: &[u8]) -> Vec<Mount> {
    lines(text).filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut words = fields(line);
    let mount = number(words.next()?)?;
    let mut device = words.nth(1)?.splitn(2, |&b| b == b':').map(number);
    let device = (device.next()?? as u32, device.next()?? as u32);
    let point = unescaped(words.nth(1)?);
    words.find(|w| *w == b"-")?;
    Some(Mount {
        number: mount,
        device,
        point,
        kind: unescaped(words.next()?),
        source: unescaped(words.next()?),
    })
}

/// Text whose blanks and backslashes are written as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match *after {
            [
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                ref after @ ..,
            ] if first == b'\\' => {
                text.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => text.push(first),
        }
    }
    text
}

/// The mounts to ask: for each file system its mounts, shortest path first, in the order
/// of the table.
pub(super) fn choose(table: &[Mount]) -> Vec<Vec<&Mount>> {
    let distant: Vec<&Mount> = table.iter().filter(|m| m.is_distant()).collect();
    // `/` itself may be distant (a machine that boots over the network): the walk is
    // through it all the time then, and the machine lives as long as it answers.
    let is_safe = |m: &&Mount| {
        let mut roads = distant.iter().filter(|d| d.point != b"/");
        m.has_space() && !roads.any(|d| is_below(&m.point, &d.point))
    };
    let mut places = HashMap::new();
    let mut chosen: Vec<Vec<&Mount>> = Vec::new();
    for mount in table.iter().filter(is_safe) {
        let place = *places.entry(mount.device).or_insert(chosen.len());
        if place == chosen.len() {
            chosen.push(Vec::new());
        }
        chosen[place].push(mount);
    }
    for group in &mut chosen {
        group.sort_by_key(|m| m.point.len());
    }
    chosen
}

impl Mount {
    fn is_distant(&self) -> bool {
        let begins = |d: &&str| self.kind.starts_with(d.as_bytes());
        self.kind != b"fuseblk" && DISTANT.iter().any(begins)
    }

    /// Whether it has storage of its own, near by, that can fill up.
    fn has_space(&self) -> bool {
        let kernels = [&b"/proc"[..], b"/sys"];
        if self.is_distant() || kernels.iter().any(|k| is_below(&self.point, k)) {
            return false;
        }
        match &self.kind[..] {
            // A mounted snapshot is unmounted when nobody looks at it.
            b"zfs" => !self.source.contains(&b'@'),
            b"btrfs" | b"bcachefs" | b"tmpfs" => true,
            // It shows the space of the file system below. Where it is all there is, in a
            // container, that is what its programs have.
            b"overlay" => self.point == b"/",
            kind => self.source.starts_with(b"/") && !IMAGES.contains(&kind),
        }
    }
}

/// Whether a path is another, or leads through it.
fn is_below(path: &[u8], other: &[u8]) -> bool {
    path.strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_tags_and_blanks() {
        let line =
            br"36 35 98:3 /a /mnt/my\040disk\011\134x rw master:1 shared:2 - ext4 /dev/sd\043a rw";
        let mount = parse_line(line).unwrap();
        assert_eq!((mount.number, mount.device), (36, (98, 3)));
        assert_eq!(mount.point, b"/mnt/my disk\t\\x");
        assert_eq!(mount.source, b"/dev/sd#a");
        assert_eq!(mount.kind, b"ext4");
        assert_eq!(unescaped(br"\04\400\"), br"\04\400\");
        for bad in [
            &b"36 35 98 / /mnt rw - ext4 /dev/sda rw"[..],
            b"36 35 98:3 / /mnt rw",
            b"",
        ] {
            assert!(parse_line(bad).is_none());
        }
    }

    #[test]
    fn local_storage_once_and_nothing_that_could_hang() {
        let table = parse(
            br"22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw - proc proc rw
24 22 0:6 / /dev rw - devtmpfs udev rw
25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw
26 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
30 22 8:1 /var/lib /srv/bound rw - ext4 /dev/sda1 rw
31 22 8:2 /sub /very/long/path rw - xfs /dev/sda2 rw
32 22 8:2 / /data rw - xfs /dev/sda2 rw
33 22 0:40 / /nfs rw - nfs4 server:/export rw
34 33 8:3 / /nfs/disk rw - ext4 /dev/sda3 rw
35 22 8:4 / /nfsdisk rw - ext4 /dev/sda4 rw
36 22 0:41 / /win rw - cifs //server/share rw
37 22 0:42 / /auto rw - autofs /etc/auto.misc rw
38 37 8:5 / /auto/cd rw - ext4 /dev/sda5 rw
39 22 0:43 / /s rw - fuse.sshfs /local rw
40 22 8:6 / /ntfs rw - fuseblk /dev/sda6 rw
41 22 7:0 / /snap/core ro - squashfs /dev/loop0 ro
42 22 0:44 / /tank rw - zfs tank rw
43 22 0:45 / /tank/.zfs/snapshot/x ro - zfs tank@x ro
44 22 0:46 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw
",
        );
        let shown: Vec<String> = choose(&table)
            .iter()
            .map(|g| String::from_utf8_lossy(&g[0].point).into_owned())
            .collect();
        assert_eq!(
            shown,
            ["/", "/dev/shm", "/data", "/nfsdisk", "/ntfs", "/tank"]
        );
    }

    #[test]
    fn a_container_has_its_overlay() {
        let table = parse(
            b"22 1 0:50 / / rw - overlay overlay rw\n\
              23 22 8:1 /c/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n",
        );
        let kinds: Vec<_> = choose(&table).iter().map(|g| g[0].kind.clone()).collect();
        assert_eq!(kinds, [b"overlay".to_vec(), b"ext4".to_vec()]);
    }
}
