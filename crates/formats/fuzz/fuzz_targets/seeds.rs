//! What the fuzzer starts with, written where `SONDE_SEEDS` says: examples, fixtures and captures, each
//! with the first byte of its own format, so that a changed one is still read as that; and tables
//! behind their descriptions.

use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};

use formats::{FORMATS, Head, recognise};

/// With an interval and a start, 64 bytes at a time.
const HOW: u8 = 8;
const LONGEST: usize = 8000;

pub fn write() {
    let Some(seeds) = var_os("SONDE_SEEDS").map(PathBuf::from) else {
        return;
    };
    assert!(FORMATS.len() < 256, "a byte says which format");
    for (which, format) in FORMATS.iter().enumerate() {
        seed(&seeds, format.name, which, &format.example_bytes());
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in files(&here.join("../fixtures"), "txt") {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let which = FORMATS.iter().position(|f| folder == f.name);
        seed(&seeds, &name(&path), which.expect("a folder is a format"), &read(&path));
    }
    for path in var_os("SONDE_CAPTURES").iter().flat_map(|dir| files(Path::new(dir), "")) {
        let text = read(&path);
        if let Ok(format) = recognise(&Head::new(&text)) {
            let which = FORMATS.iter().position(|f| f.name == format.name);
            seed(&seeds, &name(&path), which.unwrap_or(0), &text);
        }
    }
    for path in files(&here.join("own"), "toml") {
        let table = [read(&path), read(&path.with_extension("txt"))].join(&0);
        assert!(formats::own(&String::from_utf8_lossy(&read(&path))).is_ok(), "{path:?}");
        seed(&seeds, &name(&path), FORMATS.len(), &table);
    }
}

fn seed(seeds: &Path, name: &str, which: usize, text: &[u8]) {
    let text = &text[..text.len().min(LONGEST)];
    let bytes = [&[which as u8, HOW], text].concat();
    fs::write(seeds.join(format!("seed-{name}")), bytes).expect("a seed is written");
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Folder and name.
fn name(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(2)..].join("-")
}

/// Files below a folder, with that ending if it is told; not those that say what is expected.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let ends = path.extension().unwrap_or_default();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if ending.is_empty() && ends != "tsv" || ends == ending {
            found.push(path);
        }
    }
    found.sort();
    found
}
