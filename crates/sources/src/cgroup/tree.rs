//! One hierarchy: which groups there are, and noticing at little cost when that changes.
//!
//! A directory of a control group has two links and one for each child. A change of that
//! number makes its children be listed again. Where one group went and another came, the
//! number is the same, but the file of the one that went cannot be read any more
//! (`ENODEV`, `ENOENT`), and its parent's children are listed at the next sample.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::group::{Group, Item};
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
    pub(super) fn update(&mut self, budget: &mut Budget) {
        self.drop_gone(budget);
        let known = self.groups.len();
        for place in 0..known {
            let path = c_path(&self.groups[place].path);
            let Ok(status) = statat(&self.root, &path, AtFlags::empty()) else {
                continue;
            };
            let links = u64::from(status.st_nlink as u32);
            // Some file systems do not count them; a copied tree may lie on one.
            if links != self.groups[place].links || links < 2 {
                self.groups[place].links = links;
                self.list(place, known);
            }
        }
        if self.groups.len() > known {
            self.order();
        }
    }

    /// Adds the children of a group that are not among the `known`, and theirs.
    fn list(&mut self, place: usize, known: usize) {
        let path = self.groups[place].path.clone();
        for name in children(&self.root, &path) {
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
            if let Ok(status) = statat(&self.root, c_path(&group.path), AtFlags::empty()) {
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

    /// Reads all groups, children before their parents, and adds up what children have.
    pub(super) fn read(&mut self, first: bool, budget: &mut Budget, buffer: &mut Vec<u8>) {
        self.turn = self.turn.wrapping_add(1);
        // Settings seldom change: where there are many groups, each one's are read in turn.
        let turns = (self.groups.len() / 32).clamp(1, 16) as u32;
        for place in (0..self.groups.len()).rev() {
            let with_settings = (place as u32).wrapping_add(self.turn).is_multiple_of(turns);
            let group = &mut self.groups[place];
            let is_new = !std::mem::replace(&mut group.known, true);
            let with_settings = with_settings || is_new;
            for item in 0..self.items.len() {
                let kind = self.items[item];
                if kind.is_setting() && !with_settings || group.absent >> item & 1 == 1 && !with_settings {
                    continue;
                }
                let root = self.root.as_fd();
                match group.read(root, item, kind, first, budget, buffer) {
                    Ok(()) => group.absent &= !(1 << item),
                    Err(error) if is_gone(&error) => {
                        group.absent |= 1 << item;
                        let path = c_path(&group.path);
                        let there = statat(root, &path, AtFlags::empty()).is_ok();
                        let dead = error.raw_os_error() == Some(Errno::NODEV.raw_os_error());
                        if !there || dead {
                            group.gone = place > 0;
                            self.any_gone |= group.gone;
                            break;
                        }
                    }
                    Err(_) => group.absent |= 1 << item,
                }
            }
            if place > 0 {
                let (before, rest) = self.groups.split_at_mut(place);
                before[rest[0].parent].add_child(&rest[0]);
            }
        }
    }
}

/// Whether reading failed because the file is gone, and perhaps its group.
fn is_gone(error: &io::Error) -> bool {
    [Errno::NODEV, Errno::NOENT]
        .iter()
        .any(|code| error.raw_os_error() == Some(code.raw_os_error()))
}

/// Names of the directories below `path`.
fn children(root: &File, path: &[u8]) -> Vec<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(dir) = openat(root, &*c_path(path), flags, Mode::empty()) else {
        return Vec::new();
    };
    let Ok(entries) = Dir::new(dir) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for entry in entries.flatten() {
        let name: &CStr = entry.file_name();
        let is_dot = matches!(name.to_bytes(), b"." | b"..");
        if entry.file_type() == FileType::Directory && !is_dot {
            names.push(name.to_bytes().to_vec());
        }
    }
    names
}

/// A path below the root of the hierarchy, which is `.` itself.
fn c_path(path: &[u8]) -> CString {
    let path = if path.is_empty() { b"." } else { path };
    CString::new(path).unwrap_or_default()
}
