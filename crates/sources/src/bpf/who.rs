//! Names of processes, control groups and files that events refer to by number.
//!
//! A program tells each once, through its ring, before the first event that refers to it
//! (`who.h`). What the ring had no room for is not known: `(unknown)`.

use std::collections::HashMap;

use run::{Sink, Word};

use super::attach::Hook;
use crate::Host;
use crate::read::{fields, lines, printable, unescaped};

/// Kinds of records; the first word of each.
pub(super) const EVENT: u32 = 1;
const PROCESS: u32 = 2;
const GROUP: u32 = 3;
pub(super) const FILE: u32 = 4;

/// Bytes of a path's record before its names.
pub(super) const HEAD: usize = 24;
/// What a record says of its path: there are more names than it tells.
pub(super) const IS_CUT: u32 = 1;

/// Told again when it becomes another program (`who_exec.h`).
pub(super) const EXEC: Hook = Hook::useful("who_exec", "sched_process_exec");

/// What events refer to.
pub(super) struct Who {
    host: Host,
    processes: HashMap<u32, [Word; 2]>,
    groups: HashMap<u64, Word>,
    files: HashMap<u64, Word>,
    /// Mount points by device number.
    mounts: HashMap<u32, Mount>,
    unknown: Option<Word>,
    tick: u64,
}

/// A field of a record.
pub(super) fn u32_at(record: &[u8], at: usize) -> u32 {
    record
        .get(at..at + 4)
        .map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// A field of a record.
pub(super) fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from(u32_at(record, at)) | u64::from(u32_at(record, at + 4)) << 32
}

fn name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    printable(&bytes[..end])
}

impl Who {
    pub(super) fn new(host: &Host) -> Who {
        Who {
            host: host.clone(),
            processes: HashMap::new(),
            groups: HashMap::new(),
            files: HashMap::new(),
            mounts: HashMap::new(),
            unknown: None,
            tick: tick(),
        }
    }

    /// Takes a record, if it is one of these.
    pub(super) fn take(&mut self, record: &[u8], out: &mut Sink) {
        match u32_at(record, 0) {
            PROCESS => self.process(record, out),
            GROUP => {
                let path = out.word(&group_path(record));
                self.groups.insert(u64_at(record, 8), path);
            }
            FILE => self.file(record, out),
            _ => {}
        }
    }

    fn process(&mut self, record: &[u8], out: &mut Sink) {
        let pid = u32_at(record, 4);
        let [full, command] = process_names(record, self.tick);
        let words = [out.word(&full), out.word(&command)];
        self.processes.insert(pid, words);
    }

    fn file(&mut self, record: &[u8], out: &mut Sink) {
        let device = u64_at(record, 16) as u32;
        if !self.mounts.contains_key(&device) {
            self.mounts = mounts(&self.host);
        }
        let path = whole_path(&self.mounts, device, &names(record), is_cut(record));
        self.files.insert(u64_at(record, 8), out.word(&path));
    }

    /// `(unknown)`.
    pub(super) fn unknown(&mut self, out: &mut Sink) -> Word {
        *self.unknown.get_or_insert_with(|| out.word("(unknown)"))
    }

    /// Name and program of the process of that number.
    pub(super) fn process_words(&mut self, pid: u32, out: &mut Sink) -> [Word; 2] {
        match self.processes.get(&pid) {
            Some(words) => *words,
            None => [self.unknown(out); 2],
        }
    }

    /// Path of that control group.
    pub(super) fn group_word(&mut self, id: u64, out: &mut Sink) -> Word {
        match self.groups.get(&id) {
            Some(word) => *word,
            None => self.unknown(out),
        }
    }

    /// Path of that file.
    pub(super) fn file_word(&mut self, id: u64, out: &mut Sink) -> Word {
        match self.files.get(&id) {
            Some(word) => *word,
            None => self.unknown(out),
        }
    }
}

/// Nanoseconds of a clock tick, in which the start of a process is named.
pub(super) fn tick() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Name of the process in a record, and name of its program.
pub(super) fn process_names(record: &[u8], tick: u64) -> [String; 2] {
    let pid = u32_at(record, 4);
    let ticks = u64_at(record, 8) / tick;
    let per_second = 1_000_000_000 / tick;
    let (seconds, hundredths) = (ticks / per_second, ticks % per_second * 100 / per_second);
    let command = name(record.get(16..32).unwrap_or_default());
    [
        format!("{command}[{pid}@{seconds}.{hundredths:02}]"),
        command,
    ]
}

/// The names of a record, from the inside out.
pub(super) fn names(record: &[u8]) -> Vec<&[u8]> {
    let text = record.get(HEAD..).unwrap_or_default();
    let mut names: Vec<&[u8]> = text.split(|b| *b == 0).collect();
    // After the last 0 there is nothing.
    names.pop();
    names
}

/// Whether there are more names than the record tells.
fn is_cut(record: &[u8]) -> bool {
    u32_at(record, 4) & IS_CUT > 0
}

/// The path of names from the inside out, without its first slash. One of which more names are
/// not told starts with an ellipsis.
fn joined(names: &[&[u8]], cut: bool) -> String {
    let mut path = if cut { "…".to_owned() } else { String::new() };
    for name in names.iter().rev() {
        if !path.is_empty() {
            path.push('/');
        }
        path += &printable(name);
    }
    path
}

/// The path of the control group of a record.
pub(super) fn group_path(record: &[u8]) -> String {
    format!("/{}", joined(&names(record), is_cut(record)))
}

/// The path of those names, below where the file system of that device is mounted.
pub(super) fn whole_path(
    mounts: &HashMap<u32, Mount>,
    device: u32,
    names: &[&[u8]],
    cut: bool,
) -> String {
    let inside = joined(names, cut);
    match mounts.get(&device) {
        // What is above the cut is not known, so neither is whether it is shown.
        Some(mount) if cut => format!("{}/{inside}", mount.point.trim_end_matches('/')),
        Some(mount) => mount.path(&inside),
        None => format!("{NO_MOUNT}/{inside}"),
    }
}

/// Place of the subsystem whose groups are charged for processor time, in a task's set of
/// groups: the controller `cpuacct`, where it is mounted in version 1. As the program's `int`;
/// -1: groups are those of version 2.
pub(super) fn group_subsystem(host: &Host) -> u32 {
    // `cpuacct 3 14 1`: name, hierarchy (0: version 2), groups, enabled; in the kernel's order.
    let bytes = std::fs::read(host.proc("cgroups")).unwrap_or_default();
    let mut controllers = lines(&bytes).filter(|l| !l.starts_with(b"#"));
    let place = controllers.position(|l| {
        let mut fields = fields(l);
        fields.next() == Some(b"cpuacct") && fields.next() != Some(b"0")
    });
    place.map_or(u32::MAX, |p| p as u32)
}

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

/// Where each file system is mounted, by its device number as the kernel keeps it. Of several
/// mounts the first that shows all of it.
pub(super) fn mounts(host: &Host) -> HashMap<u32, Mount> {
    let bytes = std::fs::read(host.proc("self/mountinfo")).unwrap_or_default();
    parse_mounts(&bytes)
}

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
    fn a_path_from_the_inside_out() {
        let mut record = vec![0_u8; HEAD];
        record.extend(b"leaf\0top\0");
        assert_eq!(group_path(&record), "/top/leaf");
        record[4] = IS_CUT as u8;
        assert_eq!(group_path(&record), "/…/top/leaf");
        assert_eq!(group_path(&[]), "/");
    }
}
