//! Names of files, processes and control groups that counts and events refer to by number.
//!
//! The program tells each when it is first used (`file.h`); [`Told`] keeps them.

use crate::Host;
use crate::bpf::mounts::{Mounts, NO_MOUNT};
use crate::bpf::told::Told;
use crate::bpf::who::{
    FILE, HEAD, IS_CUT, group_path, place_of_file, place_of_group, process_names, tick, u32_at,
    u64_at, whole_path,
};
use crate::read::printable;

/// Kinds of records, as in `who.h`.
const PROCESS: u32 = 2;
const GROUP: u32 = 3;
const IS_GIVEN: u32 = 2;
/// A given name of so many bytes was longer.
const GIVEN_MOST: usize = 511;
/// What stands for a name that is not known: the ring had no room for it.
pub(super) const UNKNOWN: &str = "(unknown)";

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
    fn text(&self, mounts: &Mounts) -> String {
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
    tick: u64,
    processes: Told<(u32, u64), [String; 2]>,
    groups: Told<u64, String>,
    paths: Told<u64, Path>,
    mounts: Mounts,
}

impl Names {
    pub(super) fn new(host: &Host) -> Names {
        Names {
            tick: tick(),
            processes: Told::new(|(pid, _)| pid as usize),
            groups: Told::new(place_of_group),
            paths: Told::new(place_of_file),
            mounts: Mounts::new(host),
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
        let _ = self.mounts.refresh();
    }

    /// An interval was told of.
    pub(super) fn turn(&mut self) {
        self.processes.turn();
        self.groups.turn();
        self.paths.turn();
    }

    /// Name of a process, and of its program.
    pub(super) fn process(&self, pid: u32, start: u64) -> [&str; 2] {
        match self.processes.get((pid, start)) {
            Some([full, command]) => [full, command],
            None => [UNKNOWN; 2],
        }
    }

    /// Path of a control group.
    pub(super) fn group(&self, id: u64) -> &str {
        self.groups.get(id).map_or(UNKNOWN, |g| g)
    }

    /// Path of a file.
    pub(super) fn path(&self, id: u64) -> String {
        let path = self.paths.get(id);
        path.map_or_else(|| UNKNOWN.to_owned(), |p| p.text(&self.mounts))
    }

    /// Where the file system of that device is mounted.
    pub(super) fn mount(&self, device: u32) -> &str {
        self.mounts.get(device).map_or(NO_MOUNT, |m| &m.point)
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
}
