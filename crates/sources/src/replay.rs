//! Trees of kernel files that change while a source has them open, for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use run::rows::TableId;
use run::{Sink, Word};

use crate::Host;

/// Tests run side by side: each copy has a folder of its own.
static COPIES: AtomicU32 = AtomicU32::new(0);

/// A copy of a fixture's tree, which can become another tree.
pub(crate) struct Replay {
    fixture: PathBuf,
    root: PathBuf,
}

impl Replay {
    /// A copy of `crates/sources/fixtures/<fixture>/<state>`.
    pub(crate) fn of(fixture: &str, state: &str) -> Replay {
        let count = COPIES.fetch_add(1, Ordering::Relaxed);
        let name = format!("sonde-replay-{}-{count}", std::process::id());
        let replay = Replay {
            fixture: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("fixtures")
                .join(fixture),
            root: std::env::temp_dir().join(name),
        };
        let _ = fs::remove_dir_all(&replay.root);
        replay.becomes(state);
        replay
    }

    /// The host to open a source at.
    pub(crate) fn host(&self) -> Host {
        Host::at(&self.root)
    }

    /// Overwrites every file that `state` has, in place: an open file sees it.
    pub(crate) fn becomes(&self, state: &str) {
        overlay(&self.fixture.join(state), &self.root);
    }

    /// Removes a file or a folder.
    pub(crate) fn lose(&self, path: &str) {
        let path = self.root.join(path);
        let gone = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        gone.unwrap();
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn overlay(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            overlay(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Every row of `table`, as its words joined by `|` and its values, in order.
pub(crate) fn rows(out: &Sink, table: &str) -> Vec<(String, Vec<f64>)> {
    let rows = out.rows(TableId::of(table));
    let text = |w: &Word| out.words.text(*w).unwrap().to_owned();
    (0..rows.len())
        .map(|i| {
            let words: Vec<String> = rows.words.iter().map(|c| text(&c[i])).collect();
            (words.join("|"), rows.values.iter().map(|c| c[i]).collect())
        })
        .collect()
}

/// The row of `table` with those words, if there is exactly one.
pub(crate) fn row(out: &Sink, table: &str, words: &str) -> Option<Vec<f64>> {
    let mut found = rows(out, table).into_iter().filter(|(w, _)| w == words);
    let first = found.next()?.1;
    found.next().is_none().then_some(first)
}

/// Captures of other projects, outside this repository: the folder of that name.
///
/// `None`, with the reason on stderr, where it is absent; in CI it must be there.
#[allow(clippy::disallowed_macros)] // A test tells the developer why it did nothing.
pub(crate) fn captures(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("SONDE_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let folder = shared.join("fixtures").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "no captures at {}",
        folder.display()
    );
    eprintln!("skipped: no captures at {}", folder.display());
    None
}
