//! Small trees of kernel files for tests, written as one text each.
//!
//! ```text
//! # a remark
//! > sys/block/sda          lines below are below this directory
//! size = 2048              a file and its content
//! @ device -> ../../sd     a symbolic link
//! ```
//! `\n` in a content is a line's end. A line of only `>` goes back to the root.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Host;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A tree below the temporary directory; gone when dropped.
pub(super) struct Tree(PathBuf);

impl Tree {
    pub(super) fn of(text: &str) -> Tree {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sonde-inventory-{}-{number}", std::process::id());
        let tree = Tree(std::env::temp_dir().join(name));
        tree.add(text);
        tree
    }

    pub(super) fn host(&self) -> Host {
        Host::at(&self.0)
    }

    /// Writes what `text` describes; a file that is there gets the new content.
    #[allow(clippy::disallowed_methods, reason = "a test makes its own input")]
    pub(super) fn add(&self, text: &str) {
        let mut below = self.0.clone();
        for line in text
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            if let Some(dir) = line.strip_prefix('>') {
                below = self.0.join(dir.trim());
                fs::create_dir_all(&below).unwrap();
            } else if let Some((path, target)) =
                line.strip_prefix("@ ").and_then(|l| l.split_once(" -> "))
            {
                let path = below.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, path).unwrap();
            } else {
                let (path, content) = line.split_once(" =").expect("path = content");
                let path = below.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let content = content.trim_start().replace("\\n", "\n") + "\n";
                fs::write(path, content).unwrap();
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
