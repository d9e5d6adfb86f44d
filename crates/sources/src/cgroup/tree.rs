//! One hierarchy: which groups there are, and noticing at little cost when that changes.
//!
//! A directory of a control group has two links and one for each child. A change of that
//! number makes its children be listed again. Where one group went and another came, the
//! number is the same, but the file of the one that went cannot be read any more
//! (`ENODEV`, `ENOENT`), and its parent's children are listed at once.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::group::{Files, Group, Item};
use crate::slot::Budget;

/// A mounted hierarchy of groups.
pub(super) struct Tree {
    root: File,
    /// What is read of each group.
    pub(super) items: Vec<Item>,
    /// Parents before their children.
    pub(super) groups: Vec<Group>,
    any_gone: bool,
    turn: u32,
}

impl Tree {
    pub(super) fn open(point: &Path, items: Vec<Item>) -> io::Result<Tree> {
        Ok(Tree {
            root: File::open(point)?,
            groups: vec![Group::new(Vec::new(), items.len())],
            items,
            any_gone: false,
            turn: 0,
        })
    }

    /// Finds groups that came, drops those that went.
    fn update(&mut self, budget: &mut Budget) {
        self.drop_gone(budget);
        let known = self.groups.len();
        for place in 0..known {
            let Ok(links) = self.groups[place].count_links(self.root.as_fd(), budget) else {
                continue;
            };
            // Some file systems do not count them; a copied tree may lie on one.
            if links != self.groups[place].links || links < 2 {
                self.groups[place].links = links;
                self.list(place, known);
            }
        }
        for place in 1..known {
            self.groups[place].gone |= self.groups[self.groups[place].parent].gone;
        }
        if self.groups.len() > known {
            self.order();
        }
        self.drop_gone(budget);
    }

    /// Adds the children of a group that are not among the `known`, and theirs; finds those
    /// that are gone.
    fn list(&mut self, place: usize, known: usize) {
        let path = self.groups[place].path.clone();
        let names = children(&self.root, &self.groups[place].directory);
        let below = if path.is_empty() { 0 } else { path.len() + 1 };
        if place < known {
            for group in &mut self.groups[1..known] {
                if group.parent == place && !names.contains(&group.path[below..]) {
                    group.gone = true;
                    self.any_gone = true;
                }
            }
        }
        for name in names {
            let mut child = path.clone();
            if !child.is_empty() {
                child.push(b'/');
            }
            child.extend_from_slice(&name);
            let before = &self.groups[..known];
            if before.binary_search_by(|g| g.path.cmp(&child)).is_ok() {
                continue;
            }
            let mut group = Group::new(child, self.items.len());
            if let Ok(status) = statat(&self.root, group.directory.as_c_str(), AtFlags::empty()) {
                group.links = u64::from(status.st_nlink as u32);
                let new = self.groups.len();
                self.groups.push(group);
                self.list(new, known);
            }
        }
    }

    /// Drops groups whose files were gone; what they owed goes to their parents.
    fn drop_gone(&mut self, budget: &mut Budget) {
        if !std::mem::take(&mut self.any_gone) {
            return;
        }
        for place in (1..self.groups.len()).rev() {
            if self.groups[place].gone {
                self.groups[place].close(budget);
                let (before, rest) = self.groups.split_at_mut(place);
                let parent = &mut before[rest[0].parent];
                parent.inherit(&rest[0]);
                // Perhaps another came in its place.
                parent.links = 0;
            }
        }
        let mut place = 0;
        self.groups.retain(|g| {
            place += 1;
            place == 1 || !g.gone
        });
        self.order();
    }

    /// Puts parents before their children, and says who is whose.
    fn order(&mut self) {
        // A parent's path is the beginning of its children's, so it comes first.
        self.groups.sort_by(|a, b| a.path.cmp(&b.path));
        for place in 1..self.groups.len() {
            let path = &self.groups[place].path;
            let end = path.iter().rposition(|&b| b == b'/').unwrap_or(0);
            let parent = &path[..end];
            let found = self.groups.binary_search_by(|g| g.path[..].cmp(parent));
            self.groups[place].parent = found.unwrap_or(0);
        }
    }

    /// Reads all groups as they are now.
    pub(super) fn sample(&mut self, first: bool, budget: &mut Budget, buffer: &mut [u8]) {
        self.update(budget);
        self.read(|_| true, first, budget, buffer);
        if self.any_gone {
            self.update(budget);
            // Those that came in the place of others.
            self.read(|group| !group.known, first, budget, buffer);
        }
    }

    /// Reads groups, parents before their children (see [`own`](super::own)), and adds up what
    /// children have.
    fn read(
        &mut self,
        which: impl Fn(&Group) -> bool,
        first: bool,
        budget: &mut Budget,
        buffer: &mut [u8],
    ) {
        self.turn = self.turn.wrapping_add(1);
        // Settings seldom change: each group's are read in turn.
        let turns = (self.groups.len() / 32).clamp(ROUND / 2, ROUND) as u32;
        for place in 0..self.groups.len() {
            let turn = (place as u32).wrapping_add(self.turn);
            let group = &mut self.groups[place];
            if !which(group) {
                continue;
            }
            let is_new = !std::mem::replace(&mut group.known, true);
            let due = Due {
                constants: is_new,
                settings: is_new || turn.is_multiple_of(turns),
                absent: is_new || turn.is_multiple_of(ROUND as u32),
            };
            let mut files = Files {
                root: self.root.as_fd(),
                first,
                budget: &mut *budget,
                buffer: &mut *buffer,
            };
            if !read_group(group, &self.items, due, &mut files) && place > 0 {
                group.gone = true;
                self.any_gone = true;
            }
            if place > 0 {
                let (before, rest) = self.groups.split_at_mut(place);
                before[rest[0].parent].add_child(&rest[0]);
            }
        }
    }
}

/// After so many samples each file has been tried again.
const ROUND: usize = 16;

/// What is read this time beside the counters.
#[derive(Clone, Copy)]
struct Due {
    /// What never changes.
    constants: bool,
    settings: bool,
    /// Files that were not there: a controller may have been enabled.
    absent: bool,
}

/// Reads the files of a group; false if it is gone.
fn read_group(group: &mut Group, items: &[Item], due: Due, files: &mut Files<'_>) -> bool {
    for (slot, item) in items.iter().copied().enumerate() {
        let absent = group.absent >> slot & 1 == 1;
        let due_now = match item {
            Item::Hierarchy => due.constants,
            _ => due.settings || !item.is_setting(),
        };
        if !due_now || group.spares(item) || (absent && !due.absent) {
            continue;
        }
        let Err(error) = group.read(files, slot, item) else {
            group.absent &= !(1 << slot);
            continue;
        };
        group.absent |= 1 << slot;
        group.forget(item);
        let dead = error.raw_os_error() == Some(Errno::NODEV.raw_os_error());
        let missing = error.kind() == io::ErrorKind::NotFound;
        let path = group.directory.as_c_str();
        if dead || (missing && statat(files.root, path, AtFlags::empty()).is_err()) {
            for item in items {
                group.forget(*item);
            }
            return false;
        }
    }
    group.end_time(files.first);
    true
}

/// Names of the directories below `path`.
fn children(root: &File, path: &CStr) -> BTreeSet<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(dir) = openat(root, path, flags, Mode::empty()) else {
        return BTreeSet::new();
    };
    let Ok(entries) = Dir::new(dir) else {
        return BTreeSet::new();
    };
    let mut names = BTreeSet::new();
    for entry in entries.flatten() {
        let name: &CStr = entry.file_name();
        let is_dot = matches!(name.to_bytes(), b"." | b"..");
        if entry.file_type() == FileType::Directory && !is_dot {
            names.insert(name.to_bytes().to_vec());
        }
    }
    names
}
