//! Worksheets saved beside a run's tables: `worksheets/NAME.json`. What is in them is the
//! viewer's; here they are only named, bounded and kept whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::write::write_durably;

/// Bytes that a worksheet may have.
pub const LARGEST: usize = 64 << 10;

/// Worksheets that a run may have.
pub const MOST: usize = 200;

/// Characters of a name.
const LONGEST_NAME: usize = 64;

/// Why a worksheet cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The name would be a path, or cannot be typed.
    #[error(
        "`{0}` cannot be a worksheet's name\nhint: letters, digits, spaces, `-` and `_`, up to 64"
    )]
    Name(String),
    /// Larger than [`LARGEST`].
    #[error("a worksheet has at most {LARGEST} bytes, this has {0}")]
    TooLarge(usize),
    /// More than [`MOST`].
    #[error(
        "the run has {MOST} worksheets already\nhint: remove some of its directory `worksheets`"
    )]
    TooMany,
    /// It is no JSON object.
    #[error("a worksheet is a JSON object: {0}")]
    NotJson(String),
    /// The operating system refused.
    #[error("cannot write {path}: {error}\nhint: the worksheet's address holds it too")]
    Io {
        /// The file.
        path: String,
        /// What it said.
        error: io::Error,
    },
}

/// A saved worksheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Worksheet {
    /// The name it was saved by.
    pub name: String,
    /// What is in it.
    pub content: serde_json::Value,
}

/// Those of the run in `dir`, by name. A file that is none is passed over.
pub fn list(dir: &Path) -> Vec<Worksheet> {
    let files = fs::read_dir(dir.join("worksheets")).into_iter().flatten();
    let mut found: Vec<Worksheet> = files
        .flatten()
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let name = name
                .strip_suffix(".json")
                .filter(|n| is_name(n))?
                .to_owned();
            // A link is no worksheet: it may lead anywhere.
            let kind = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let small = kind.len() <= LARGEST as u64;
            let content = small.then(|| fs::read(file.path()).ok()).flatten()?;
            let content = serde_json::from_slice(&content).ok()?;
            Some(Worksheet { name, content })
        })
        .take(MOST)
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Keeps `content` by `name` in the run in `dir`; one of that name is replaced.
pub fn keep(dir: &Path, name: &str, content: &[u8]) -> Result<PathBuf, KeepError> {
    if !is_name(name) {
        return Err(KeepError::Name(name.chars().take(LONGEST_NAME).collect()));
    }
    if content.len() > LARGEST {
        return Err(KeepError::TooLarge(content.len()));
    }
    let parsed: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(content).map_err(|e| KeepError::NotJson(e.to_string()))?;
    let folder = dir.join("worksheets");
    let path = folder.join(format!("{name}.json"));
    let failed = |error| KeepError::Io {
        path: path.display().to_string(),
        error,
    };
    if !path.exists() && fs::read_dir(&folder).is_ok_and(|files| files.count() >= MOST) {
        return Err(KeepError::TooMany);
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    if fs::symlink_metadata(&folder).is_ok_and(|kind| kind.is_symlink()) {
        return Err(failed(io::Error::other(
            "`worksheets` leads out of the run",
        )));
    }
    let text = serde_json::to_string_pretty(&parsed);
    let mut text = text.map_err(|e| KeepError::NotJson(e.to_string()))?;
    text.push('\n');
    write_durably(&path, text.as_bytes()).map_err(failed)?;
    Ok(path)
}

/// Whether `name` is one that leaves the directory by no means.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    !name.is_empty()
        && name.chars().count() <= LONGEST_NAME
        && name.chars().all(allowed)
        && name.trim() == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worksheets_come_back_and_stay_in_their_directory() {
        let dir = std::env::temp_dir().join(format!("sonde-worksheets-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        assert_eq!(list(&dir), []);
        let path = keep(&dir, "slow disks", br#"{"v":1,"panels":[]}"#).unwrap();
        assert_eq!(path, dir.join("worksheets/slow disks.json"));
        keep(&dir, "Übersicht", b"{}").unwrap();
        let names: Vec<String> = list(&dir).into_iter().map(|w| w.name).collect();
        assert_eq!(names, ["slow disks", "Übersicht"]);
        assert_eq!(list(&dir)[0].content["v"], 1);
        for name in [
            "",
            "../x",
            "a/b",
            "a.b",
            " a",
            "a\0",
            "a\n",
            "..",
            &"x".repeat(65),
        ] {
            assert!(
                matches!(keep(&dir, name, b"{}"), Err(KeepError::Name(_))),
                "{name:?}"
            );
        }
        assert!(matches!(
            keep(&dir, "a", b"[1]"),
            Err(KeepError::NotJson(_))
        ));
        let large = format!("{{\"x\":\"{}\"}}", "y".repeat(LARGEST));
        assert!(matches!(
            keep(&dir, "a", large.as_bytes()),
            Err(KeepError::TooLarge(_))
        ));
        fs::remove_dir_all(&dir).unwrap();
    }
}
