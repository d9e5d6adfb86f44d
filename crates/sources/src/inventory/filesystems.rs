//! Mounted file systems with their options, from `/proc/self/mountinfo`.
//!
//! ```text
//! 27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,resuid=65534
//! ```
//! Mount number, parent, device, the root within the file system, mount point, options of the
//! mount, optional fields, `-`, type, source, options of the file system. Blanks in names are
//! octal escapes.
//!
//! <https://docs.kernel.org/filesystems/proc.html#proc-pid-mountinfo-information-about-mounts>

use serde_json::Value;

use super::leaf::{Dir, Fields, MOST, bounded};
use super::secret::{mask_address, mask_word};
use crate::Host;
use crate::read::{fields as words, lines, text, unescaped};

/// Types that hold no files of anybody's.
const PSEUDO: &[&str] = &[
    "autofs",
    "binder",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nfsd",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "sysfs",
    "tracefs",
];

/// An option longer than this is cut: overlays list all their layers.
const LONGEST: usize = 256;

/// A line of mountinfo, its names unescaped and its secrets masked.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: String,
    root: String,
    point: String,
    kind: String,
    source: String,
    options: Vec<String>,
}

/// The section `filesystems`.
pub(super) fn take(host: &Host) -> Value {
    let mut all = Fields::default();
    let Some((file, _)) = bounded(&host.proc("self/mountinfo"), 1 << 20) else {
        return all.into();
    };
    let devices = Dir::new(host.sys("dev/block"));
    let mounts = lines(&file).filter_map(mount);
    let mounts = mounts.filter(|m| !PSEUDO.contains(&m.kind.as_str()));
    // Mounted twice at one point, the later hides the earlier, here as there.
    let mounts: Vec<Mount> = mounts.collect();
    let total = mounts.len();
    for mount in mounts.into_iter().take(MOST) {
        let mut fields = Fields::default();
        fields.put("type", Some(mount.kind));
        fields.put("source", Some(mount.source));
        fields.put("device", devices.link_name(&mount.device));
        fields.put("root", Some(mount.root).filter(|root| root != "/"));
        fields.put("options", Some(mount.options));
        all.nest(mount.point, fields);
    }
    all.not_listed(total);
    all.into()
}

/// `None` if the line is none of mountinfo.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut words = words(line).skip(2);
    let device = words.next()?;
    let root = words.next()?;
    let point = words.next()?;
    let own = words.next()?;
    words.find(|word| *word == b"-")?;
    let kind = words.next()?;
    // A source may be empty, which leaves two blanks and one word.
    let third = words.next()?;
    let (source, shared) = match words.next() {
        Some(shared) => (third, shared),
        None => (&b""[..], third),
    };
    let mut options: Vec<String> = Vec::new();
    let all = text(own).into_owned() + "," + &text(shared);
    for option in all.split(',').filter(|option| !option.is_empty()) {
        let option = shortened(mask_word(option));
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: text(device).into_owned(),
        root: unescape(root),
        point: unescape(point),
        kind: text(kind).into_owned(),
        source: mask_address(&unescape(source)),
        options,
    })
}

fn shortened(mut option: String) -> String {
    if option.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&n| option.is_char_boundary(n));
        option.truncate(end.unwrap_or(0));
        option.push('…');
    }
    option
}

/// `\040` and its like as the characters they stand for.
pub(super) fn unescape(name: &[u8]) -> String {
    text(&unescaped(name)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_everything() {
        let line = b"36 35 0:52 /sub /mnt/my\\040disk rw,noatime master:1 shared:7 - cifs //joe:pw@host/share rw,noatime,vers=3.1.1,username=joe,password=pw,rsize=4194304";
        let found = mount(line).unwrap();
        assert_eq!(found.point, "/mnt/my disk");
        assert_eq!(found.root, "/sub");
        assert_eq!(found.source, "//joe:(masked)@host/share");
        assert_eq!(
            found.options.join(","),
            "rw,noatime,vers=3.1.1,username=joe,password=(masked),rsize=4194304"
        );
    }

    #[test]
    fn odd_lines() {
        let found = mount(b"30 25 0:27 / /dev/shm rw - tmpfs  rw,size=4k").unwrap();
        assert_eq!((found.kind.as_str(), found.source.as_str()), ("tmpfs", ""));
        assert_eq!(found.options, ["rw", "size=4k"]);
        assert_eq!(mount(b"30 25 0:27 / /dev/shm rw"), None);
        assert_eq!(mount(b""), None);
        assert_eq!(unescape(b"a\\04"), "a\\04");
        assert_eq!(unescape(b"a\\777b\\134"), "a\\777b\\");
        let long = format!(
            "1 1 0:1 / / rw - overlay o rw,lowerdir={}",
            "é/".repeat(400)
        );
        let found = mount(long.as_bytes()).unwrap();
        assert!(found.options[1].ends_with('…') && found.options[1].len() <= 259);
    }
}
