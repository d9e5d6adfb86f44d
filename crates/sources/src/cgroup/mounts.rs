//! Where the hierarchies of control groups are mounted, from `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::read::{fields, lines};

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where, as this process sees it.
    pub point: PathBuf,
    /// Version 1: the options of the hierarchy, its controllers among them. Version 2: `None`.
    pub controllers: Option<Vec<String>>,
}

/// The mounts of control groups. Of a hierarchy that is mounted several times, one that shows
/// all of it comes first.
///
/// ```text
/// 34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
/// 41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
/// ```
/// id, parent, device, root of the mount in its file system, mount point (blanks as `\040`),
/// options, optional fields up to a hyphen; then type, source, options of the file system.
///
/// <https://docs.kernel.org/filesystems/proc.html>
pub fn parse(bytes: &[u8]) -> Vec<Mount> {
    let mut found: Vec<(bool, Mount)> = lines(bytes).filter_map(parse_line).collect();
    found.sort_by_key(|(whole, _)| !whole);
    found.into_iter().map(|(_, mount)| mount).collect()
}

fn parse_line(line: &[u8]) -> Option<(bool, Mount)> {
    let mut words = fields(line);
    let root = words.nth(3)?;
    let point = words.next()?;
    let mut rest = words.skip_while(|w| *w != b"-").skip(1);
    let controllers = match rest.next()? {
        b"cgroup2" => None,
        b"cgroup" => {
            let options = String::from_utf8_lossy(rest.nth(1)?).into_owned();
            Some(options.split(',').map(str::to_owned).collect())
        }
        _ => return None,
    };
    let point = PathBuf::from(OsString::from_vec(unescaped(point)));
    Some((root == b"/", Mount { point, controllers }))
}

/// Undoes `\040` and the like.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let octal = text.get(at + 1..at + 4).filter(|d| {
            text[at] == b'\\' && d[0] <= b'3' && d.iter().all(|b| (b'0'..=b'7').contains(b))
        });
        if let Some(d) = octal {
            out.push((d[0] - b'0') << 6 | (d[1] - b'0') << 3 | (d[2] - b'0'));
            at += 4;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_and_nothing_else() {
        let text = b"22 27 0:21 / /proc rw - proc proc rw\n\
            30 31 0:31 /docker/x /mnt rw - cgroup cgroup rw,cpu,cpuacct\n\
            34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\n\
            41 31 0:38 / /a\\040b rw - cgroup2 cgroup2 rw\nnonsense\n";
        let mounts = parse(text);
        assert_eq!(mounts.len(), 3);
        assert_eq!(mounts[0].point, PathBuf::from("/sys/fs/cgroup/cpu,cpuacct"));
        let controllers = mounts[0].controllers.as_ref().unwrap();
        assert_eq!(controllers, &["rw", "cpu", "cpuacct"]);
        assert_eq!(mounts[1].point, PathBuf::from("/a b"));
        assert_eq!(mounts[1].controllers, None);
    }
}
