//! Texts of all formats, and what is read of them.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use formats::{FORMATS, Format, Head, Import, Options, Reading, recognise};
use serde_json::Value;

/// Of a long text the beginning, up to the end of a line.
const LONGEST: usize = 4 << 10;

/// Where it stands how long a text tells of.
pub(crate) const SPAN: &str = "span";

/// What a text may not tell: a start, two processors, and how long an interval is.
pub(crate) fn every(every: Option<f64>) -> Options {
    Options {
        every,
        processors: Some(2),
        start: Some(1_700_000_000_000_000_000),
        ..Options::default()
    }
}

/// What was read: rows by table, time, interval and words, with the values of each.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) rows: BTreeMap<String, Vec<Vec<f64>>>,
}

impl Read {
    /// Whether all that is known of a row is in one of these.
    pub(crate) fn has(&self, key: &str, values: &[f64]) -> bool {
        let same = |(a, b): (&f64, &f64)| a.is_nan() || a.to_bits() == b.to_bits();
        let is_row = |row: &Vec<f64>| values.iter().zip(row).all(same);
        let rows = self.rows.get(key);
        values.iter().all(|v| v.is_nan()) || rows.is_some_and(|all| all.iter().any(is_row))
    }

    pub(crate) fn of(format: Reading, text: &[u8]) -> Read {
        let mut import = Import::new(format, &Head::new(text), every(Some(1.0)));
        let Ok(report) = import.feed(text).and_then(|()| import.finish()) else {
            return Read::default();
        };
        let mut sink = std::mem::take(import.rows());
        sink.spread();
        let mut all = Read::default();
        // Of how long it tells is a number, too.
        if let Some((from, to)) = report.span {
            let span = vec![from as f64, to as f64];
            all.rows.insert(SPAN.to_owned(), vec![span]);
        }
        for (_, rows) in sink.filled() {
            let name = rows.table.name;
            for i in 0..rows.len() {
                let words: Vec<_> = rows.words.iter().map(|w| sink.words.text(w[i])).collect();
                let values: Vec<_> = rows.values.iter().map(|v| v[i]).collect();
                let (time, interval) = (rows.times[i], rows.intervals.get(i));
                let key = format!("{name} {time} {interval:?} {words:?}");
                all.rows.entry(key).or_default().push(values);
            }
        }
        all
    }

    /// A row that none of the others has.
    pub(crate) fn differs(&self, others: &[&Read]) -> Option<String> {
        for (key, all) in &self.rows {
            for values in all {
                if !others.iter().any(|other| other.has(key, values)) {
                    return Some(format!("{key} {values:?}"));
                }
            }
        }
        None
    }
}

/// All files below a directory, in their order.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All cases below a folder.
pub(crate) fn cases(dir: &Path) -> Vec<PathBuf> {
    let is_case = |path: &PathBuf| path.extension().is_some_and(|e| e == "json");
    files(dir).into_iter().filter(is_case).collect()
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn parsed(path: &Path) -> Value {
    serde_json::from_slice(&read(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Where the captures are, if they are here.
pub(crate) fn captures() -> PathBuf {
    let told = std::env::var_os("SONDE_CAPTURES").map(PathBuf::from);
    told.unwrap_or_else(|| here().join("../../../shared/fixtures"))
}

/// Fixtures, and the captures if they are here, with the format that they are of.
pub(crate) fn texts() -> Vec<Text> {
    let captures = captures();
    let fixtures = files(&here().join("fixtures")).into_iter();
    let fixtures = fixtures.filter(|path| path.extension().is_some_and(|e| e == "txt"));
    let mut found = Vec::new();
    for path in fixtures.chain(files(&captures)) {
        let mut text = std::fs::read(&path).unwrap_or_default();
        if text.len() > LONGEST {
            let end = text[..LONGEST].iter().rposition(|b| *b == b'\n');
            text.truncate(end.map_or(LONGEST, |end| end + 1));
        }
        if let Ok(format) = recognise(&Head::new(&text)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.push((name.into_owned(), format, text));
        }
    }
    found
}

/// The examples of formats, and fixtures and captures, but for what is no text.
pub(crate) fn printed() -> Vec<Text> {
    let examples = FORMATS.iter().filter(|f| !f.example.starts_with("0x"));
    let examples = examples.map(|f| ("example".to_owned(), f, f.example_bytes()));
    let all = examples.chain(texts());
    all.filter(|(_, _, text)| !text.contains(&0)).collect()
}

/// Without those that are listed with a reason; fails where one of these is none any more.
pub(crate) fn but_for(faults: &mut Vec<(String, String)>, listed: &[(&str, &[&str])]) {
    let names = listed.iter().flat_map(|(_, names)| *names).copied();
    let mut left: HashSet<&str> = names.collect();
    faults.retain(|(text, _)| !left.remove(text.as_str()));
    assert!(left.is_empty(), "they are told now: {left:?}");
}

/// A text of a format: which it is, and what it reads as.
pub(crate) type Text = (String, &'static Format, Vec<u8>);

/// The faults that are found in texts, by their names and in their order; all processors look.
/// `find` also counts what it looks at.
pub(crate) fn faults<T: Sync>(
    all: &[T],
    least: usize,
    find: impl Fn(&T, &mut usize) -> Option<(String, String)> + Sync,
) -> Vec<(String, String)> {
    let parts = std::thread::available_parallelism().map_or(2, usize::from);
    let mine = |part: usize| {
        let mut looked_at = 0;
        let all = all.iter().skip(part).step_by(parts);
        let found: Vec<_> = all.filter_map(|text| find(text, &mut looked_at)).collect();
        (looked_at, found)
    };
    let (mut looked_at, mut found) = (0, Vec::new());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..parts)
            .map(|part| scope.spawn(move || mine(part)))
            .collect();
        for thread in threads {
            let (more, faults) = thread.join().expect("no format falls over");
            looked_at += more;
            found.extend(faults);
        }
    });
    found.sort();
    assert!(looked_at > least, "only {looked_at} were looked at");
    found
}

/// Fails with what was found.
pub(crate) fn assert_none(faults: &[(String, String)]) {
    let lines: Vec<String> = faults
        .iter()
        .map(|(text, what)| format!("{text}: {what}"))
        .collect();
    assert!(
        lines.is_empty(),
        "{} faults\n{}",
        lines.len(),
        lines.join("\n")
    );
}
