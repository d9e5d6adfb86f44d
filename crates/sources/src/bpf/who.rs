//! Names of processes, control groups and files that events refer to by number.
//!
//! A program tells each once, through its ring, before the first event that refers to it
//! (`who.h`). What the ring had no room for is not known: `(unknown)`. Of what the program would
//! tell again only the newest is kept ([`Told`]): an I/O is under way for seconds at most.

use run::{Sink, Word};

use super::attach::Hook;
use super::mounts::{Mounts, NO_MOUNT};
use super::told::Told;
use crate::Host;
use crate::read::{fields, lines, printable};

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
    processes: Told<u32, [Word; 2]>,
    groups: Told<u64, Word>,
    files: Told<u64, File>,
    mounts: Mounts,
    unknown: Option<Word>,
    tick: u64,
}

/// A file that was told.
struct File {
    device: u32,
    /// Its path in its file system.
    inside: Box<str>,
    is_cut: bool,
    /// Its whole path, where the file system is mounted now.
    word: Word,
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

/// Where the programs keep that a group was told; the higher bits do not count.
pub(super) fn place_of_group(id: u64) -> usize {
    (id ^ id >> 32) as u32 as usize
}

/// The same of a file.
pub(super) fn place_of_file(id: u64) -> usize {
    (id >> 17) as u32 as usize
}

fn name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    printable(&bytes[..end])
}

impl Who {
    pub(super) fn new(host: &Host) -> Who {
        Who {
            processes: Told::new(|pid| pid as usize),
            groups: Told::new(place_of_group),
            files: Told::new(place_of_file),
            mounts: Mounts::new(host),
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
        self.refresh(out);
        let (device, is_cut) = (u64_at(record, 16) as u32, is_cut(record));
        let inside = joined(&names(record), is_cut);
        let file = File {
            device,
            word: out.word(&path_of(&self.mounts, device, &inside, is_cut)),
            inside: inside.into(),
            is_cut,
        };
        self.files.insert(u64_at(record, 8), file);
    }

    /// Before names are asked for: a file system may be mounted elsewhere now, and the program does
    /// not tell its files again. Answers whether names changed.
    pub(super) fn refresh(&mut self, out: &mut Sink) -> bool {
        let changed = self.mounts.refresh();
        if changed {
            for file in self.files.values_mut() {
                let path = path_of(&self.mounts, file.device, &file.inside, file.is_cut);
                file.word = out.word(&path);
            }
        }
        changed
    }

    /// `(unknown)`.
    pub(super) fn unknown(&mut self, out: &mut Sink) -> Word {
        *self.unknown.get_or_insert_with(|| out.word("(unknown)"))
    }

    /// Name and program of the process of that number.
    pub(super) fn process_words(&mut self, pid: u32, out: &mut Sink) -> [Word; 2] {
        match self.processes.get(pid) {
            Some(words) => *words,
            None => [self.unknown(out); 2],
        }
    }

    /// Path of that control group.
    pub(super) fn group_word(&mut self, id: u64, out: &mut Sink) -> Word {
        match self.groups.get(id) {
            Some(word) => *word,
            None => self.unknown(out),
        }
    }

    /// Path of that file.
    pub(super) fn file_word(&mut self, id: u64, out: &mut Sink) -> Word {
        match self.files.get(id) {
            Some(file) => file.word,
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
pub(super) fn whole_path(mounts: &Mounts, device: u32, names: &[&[u8]], cut: bool) -> String {
    path_of(mounts, device, &joined(names, cut), cut)
}

/// The path of what is at `inside` the file system of that device.
fn path_of(mounts: &Mounts, device: u32, inside: &str, cut: bool) -> String {
    match mounts.get(device) {
        // What is above the cut is not known, so neither is whether it is shown.
        Some(mount) if cut => format!("{}/{inside}", mount.point.trim_end_matches('/')),
        Some(mount) => mount.path(inside),
        None => format!("{NO_MOUNT}/{inside}"),
    }
}

/// Place of the subsystem whose groups are charged for processor time, in a task's set of
/// groups: the controller `cpuacct`, where it is mounted in version 1. As the program's `int`;
/// -1: groups are those of version 2.
pub(super) fn group_subsystem(host: &Host) -> u32 {
    charged(&cgroups(host)).map_or(u32::MAX, |(place, _)| place)
}

/// Number of the hierarchy whose groups are charged; 0: version 2.
pub(super) fn group_hierarchy(host: &Host) -> u32 {
    charged(&cgroups(host)).map_or(0, |(_, hierarchy)| hierarchy)
}

fn cgroups(host: &Host) -> Vec<u8> {
    std::fs::read(host.proc("cgroups")).unwrap_or_default()
}

/// Place and hierarchy of `cpuacct`, where it is in one of version 1.
///
/// `cpuacct 3 14 1`: name, hierarchy (0: version 2), groups, enabled; in the kernel's order.
fn charged(cgroups: &[u8]) -> Option<(u32, u32)> {
    let controllers = lines(cgroups).filter(|l| !l.starts_with(b"#"));
    let mut found = controllers.zip(0..).filter_map(|(line, place)| {
        let mut fields = fields(line);
        let name = fields.next()?;
        let hierarchy = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        (name == b"cpuacct" && hierarchy > 0).then_some((place, hierarchy))
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_groups_are_charged() {
        let first = b"#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t4\t1\t1\n";
        let with = |line: &[u8]| charged(&[first, line].concat());
        assert_eq!(with(b"cpuacct\t3\t14\t1\n"), Some((1, 3)));
        assert_eq!(with(b"cpuacct\t0\t14\t1\n"), None);
        assert_eq!(with(b"cpu\t3\t14\t1\ncpuacct\n"), None);
    }

    /// `record`: of a group, a process or a file, by number.
    fn told(record: u32, number: u64) -> Vec<u8> {
        let mut bytes = vec![0; HEAD];
        bytes[..4].copy_from_slice(&record.to_ne_bytes());
        bytes[8..16].copy_from_slice(&number.to_ne_bytes());
        if record == PROCESS {
            bytes[4..8].copy_from_slice(&(number as u32).to_ne_bytes());
            bytes.resize(32, 0);
        }
        bytes.extend(b"name\0");
        bytes
    }

    #[test]
    fn a_million_names_take_the_room_of_some() {
        let mut who = Who::new(&Host::at("/nonexistent"));
        let mut out = Sink::new();
        // It stays in its place: of files places are by higher bits.
        who.take(&told(FILE, 1), &mut out);
        for number in 1..1_000_000_u64 {
            // Each has a text of its own.
            if number < 100_000 {
                who.take(&told(PROCESS, number), &mut out);
            }
            who.take(&told(GROUP, number), &mut out);
            who.take(
                &told(FILE, (number % 8000 + 1) << 17 | number << 32),
                &mut out,
            );
        }
        let lengths = [who.processes.len(), who.groups.len(), who.files.len()];
        assert!(lengths.iter().all(|n| *n <= 50_000), "{lengths:?}");
        // The program will not tell it again.
        let (file, group) = (
            who.file_word(1, &mut out),
            who.group_word(999_999, &mut out),
        );
        assert_eq!(out.words.text(file), Some("(no mount)/name"));
        assert_eq!(out.words.text(group), Some("/name"));
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
