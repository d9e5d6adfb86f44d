//! Names of files, processes and control groups that counts and events refer to by number.
//!
//! A program tells each when it is first used (`file.h`), and remembers that it did in a small
//! table in which the next of the same place takes over. This side mirrors that table, so that
//! it keeps what the program will not tell again, and no more.

use std::collections::HashMap;
use std::fs::File;
use std::hash::Hash;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Host;
use crate::bpf::who::{
    FILE, HEAD, IS_CUT, Mount, NO_MOUNT, group_path, mounts, process_names, tick, u32_at, u64_at,
    whole_path,
};
use crate::read::printable;

/// Kinds of records, as in `who.h`.
const PROCESS: u32 = 2;
const GROUP: u32 = 3;
const IS_GIVEN: u32 = 2;
/// A given name of so many bytes was longer.
const GIVEN_MOST: usize = 511;
/// Places of the program's tables of what it told.
const TOLD: usize = 8192;
/// Names kept beyond those that the program remembers.
const MOST_STALE: usize = 4 * TOLD;

/// What stands for a name that is not known: the ring had no room for it.
pub(super) const UNKNOWN: &str = "(unknown)";

/// What was told, as far as it may be referred to.
struct Told<K, V> {
    place: fn(&K) -> usize,
    places: Vec<Option<K>>,
    values: HashMap<K, V>,
    /// No longer in its place since this interval, and since the one before.
    stale: Vec<K>,
    older: Vec<K>,
}

impl<K: Copy + Eq + Hash, V> Told<K, V> {
    fn new(place: fn(&K) -> usize) -> Told<K, V> {
        Told {
            place,
            places: vec![None; TOLD],
            values: HashMap::new(),
            stale: Vec::new(),
            older: Vec::new(),
        }
    }

    fn is_in_place(&self, key: K) -> bool {
        self.places[(self.place)(&key) % TOLD] == Some(key)
    }

    fn insert(&mut self, key: K, value: V) {
        let place = (self.place)(&key) % TOLD;
        if let Some(old) = self.places[place].replace(key)
            && old != key
        {
            if self.stale.len() < MOST_STALE {
                self.stale.push(old);
            } else {
                self.values.remove(&old);
            }
        }
        self.values.insert(key, value);
    }

    /// An interval was told of: forgets what was not in its place for the whole of it.
    fn turn(&mut self) {
        for key in std::mem::take(&mut self.older) {
            if !self.is_in_place(key) {
                self.values.remove(&key);
            }
        }
        self.older = std::mem::take(&mut self.stale);
    }
}

/// A path as it was told.
struct Path {
    device: u32,
    flags: u32,
    /// From the inside out, each ended by 0.
    names: Box<[u8]>,
}

impl Path {
    fn of(record: &[u8]) -> Path {
        Path {
            device: u64_at(record, 16) as u32,
            flags: u32_at(record, 4),
            names: record.get(HEAD..).unwrap_or_default().into(),
        }
    }

    /// The path, below where its file system is mounted.
    fn text(&self, mounts: &HashMap<u32, Mount>) -> String {
        let mut names: Vec<&[u8]> = self.names.split(|b| *b == 0).collect();
        // After the last 0 there is nothing.
        names.pop();
        let given = if self.flags & IS_GIVEN > 0 && !names.is_empty() {
            Some(names.remove(0))
        } else {
            None
        };
        let cut = self.flags & IS_CUT > 0;
        let below = |mounts| whole_path(mounts, self.device, &names, cut);
        let Some(given) = given else {
            return below(mounts);
        };
        let end = if given.len() >= GIVEN_MOST { "…" } else { "" };
        if given.first() == Some(&b'/') {
            return format!("{}{end}", printable(given));
        }
        let base = below(mounts);
        format!("{}/{}{end}", base.trim_end_matches('/'), printable(given))
    }
}

/// All names.
pub(super) struct Names {
    host: Host,
    tick: u64,
    processes: Told<(u32, u64), [String; 2]>,
    groups: Told<u64, String>,
    paths: Told<u64, Path>,
    mounts: HashMap<u32, Mount>,
    /// Told by the kernel when something is mounted or no longer.
    changes: Option<File>,
}

impl Names {
    pub(super) fn new(host: &Host) -> Names {
        Names {
            host: host.clone(),
            tick: tick(),
            processes: Told::new(|(pid, _)| *pid as usize),
            groups: Told::new(|id| (*id ^ *id >> 32) as u32 as usize),
            paths: Told::new(|id| (*id >> 17) as u32 as usize),
            mounts: mounts(host),
            changes: File::open(host.proc("self/mountinfo")).ok(),
        }
    }

    /// Takes a record, if it is one of these.
    pub(super) fn take(&mut self, record: &[u8]) {
        match u32_at(record, 0) {
            PROCESS => {
                let key = (u32_at(record, 4), u64_at(record, 8));
                self.processes.insert(key, process_names(record, self.tick));
            }
            GROUP => {
                self.groups.insert(u64_at(record, 8), group_path(record));
            }
            FILE => self.paths.insert(u64_at(record, 8), Path::of(record)),
            _ => {}
        }
    }

    /// Before names are asked for: learns of new mounts.
    pub(super) fn refresh(&mut self) {
        let Some(file) = &self.changes else {
            return;
        };
        let mut wanted = [PollFd::new(file, PollFlags::PRI)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let changed = poll(&mut wanted, Some(&at_once)).is_ok_and(|n| n > 0);
        if changed {
            self.mounts = mounts(&self.host);
        }
    }

    /// An interval was told of.
    pub(super) fn turn(&mut self) {
        self.processes.turn();
        self.groups.turn();
        self.paths.turn();
    }

    /// Name of a process, and of its program.
    pub(super) fn process(&self, pid: u32, start: u64) -> [&str; 2] {
        match self.processes.values.get(&(pid, start)) {
            Some([full, command]) => [full, command],
            None => [UNKNOWN; 2],
        }
    }

    /// Path of a control group.
    pub(super) fn group(&self, id: u64) -> &str {
        self.groups.values.get(&id).map_or(UNKNOWN, |g| g)
    }

    /// Path of a file.
    pub(super) fn path(&self, id: u64) -> String {
        let path = self.paths.values.get(&id);
        path.map_or_else(|| UNKNOWN.to_owned(), |p| p.text(&self.mounts))
    }

    /// Where the file system of that device is mounted.
    pub(super) fn mount(&self, device: u32) -> &str {
        self.mounts.get(&device).map_or(NO_MOUNT, |m| &m.point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(flags: u32, names: &[&[u8]]) -> String {
        let mut record = vec![0_u8; HEAD];
        record[4..8].copy_from_slice(&flags.to_ne_bytes());
        for name in names {
            record.extend(*name);
            record.push(0);
        }
        let mut names = Names::new(&Host::at("/no such root"));
        record[0..4].copy_from_slice(&FILE.to_ne_bytes());
        record[8..16].copy_from_slice(&77_u64.to_ne_bytes());
        names.take(&record);
        names.path(77)
    }

    #[test]
    fn paths_as_they_are_told() {
        assert_eq!(path(0, &[b"leaf", b"top"]), "(no mount)/top/leaf");
        assert_eq!(path(IS_CUT, &[b"leaf", b"mid"]), "(no mount)/…/mid/leaf");
        assert_eq!(path(IS_GIVEN, &[b"/etc/missing"]), "/etc/missing");
        assert_eq!(
            path(IS_GIVEN, &[b"../x", b"b", b"a"]),
            "(no mount)/a/b/../x"
        );
        assert_eq!(
            path(0, &[b"a\nb\x1b[0m\xff"]),
            "(no mount)/a\\nb\\u{1b}[0m\\xff"
        );
        assert_eq!(path(0, &[]), "(no mount)/");
        let long = [b'/'; GIVEN_MOST];
        assert!(path(IS_GIVEN, &[&long]).ends_with('…'));
    }

    #[test]
    fn broken_records_have_no_names() {
        let mut names = Names::new(&Host::at("/no such root"));
        for kind in 0..7_u32 {
            for length in 0..40 {
                let mut record = vec![0xff_u8; length];
                if let Some(head) = record.get_mut(0..4) {
                    head.copy_from_slice(&kind.to_ne_bytes());
                }
                names.take(&record);
            }
        }
        assert_eq!(names.path(3), UNKNOWN);
        assert_eq!(names.process(3, 4), [UNKNOWN; 2]);
    }

    #[test]
    fn names_stay_as_long_as_the_program_will_not_tell_them_again() {
        let mut told: Told<u64, u32> = Told::new(|k| *k as usize);
        let other = 5 + TOLD as u64;
        told.insert(5, 1);
        for _ in 0..10 {
            told.turn();
        }
        assert_eq!(told.values.get(&5), Some(&1), "in its place for ever");
        told.insert(other, 2);
        assert_eq!(told.values.len(), 2, "this interval may refer to it");
        told.turn();
        told.turn();
        assert_eq!(told.values.get(&5), None);
        assert_eq!(told.values.get(&other), Some(&2));
        told.insert(5, 3);
        told.insert(other, 4);
        told.insert(5, 5);
        told.turn();
        told.turn();
        assert_eq!(told.values.get(&5), Some(&5), "it came back");
    }
}
