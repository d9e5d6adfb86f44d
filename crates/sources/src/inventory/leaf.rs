//! Kernel files that hold one value, as named fields.
//!
//! Most of the inventory is a list of such files. Each is a [`Leaf`] in a const table: its
//! name in the inventory, its file, and how its text becomes a value in base units.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::read::text;

/// The most entries a section lists of one kind of thing (devices, interfaces, mounts), so
/// that a machine with thousands of them does not delay the command.
pub(super) const MOST: usize = 256;

/// How a file's text becomes a value. What does not fit the form is left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// A whole number. A negative one is the kernel's "not known": left out.
    Number,
    /// A whole number of units of so many bytes.
    Bytes(u64),
    /// A whole number of which so many make a second.
    Seconds(f64),
    /// `0`/`1` or `N`/`Y`.
    Flag,
    /// The text without blanks around it, unless nothing remains.
    Text,
    /// The chosen word of a list: `none [mq-deadline] kyber`.
    Choice,
}

/// A field that is one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    /// The field's name; ends in its unit where it has one.
    pub(super) name: &'static str,
    /// The file, below the directory of the thing described.
    pub(super) file: &'static str,
    /// What the file holds.
    pub(super) form: Form,
}

/// Shorthand for the tables.
pub(super) const fn leaf(name: &'static str, file: &'static str, form: Form) -> Leaf {
    Leaf { name, file, form }
}

impl Form {
    fn value(self, text: &str) -> Option<Value> {
        if text.is_empty() {
            return None;
        }
        match self {
            Form::Number => text.parse::<u64>().ok().map(Value::from),
            Form::Bytes(unit) => text.parse::<u64>().ok()?.checked_mul(unit).map(Value::from),
            Form::Seconds(per) => Some(Value::from(text.parse::<u64>().ok()? as f64 / per)),
            Form::Flag => match text {
                "0" | "N" => Some(Value::Bool(false)),
                "1" | "Y" => Some(Value::Bool(true)),
                _ => None,
            },
            Form::Text => Some(Value::from(text)),
            Form::Choice => Some(Value::from(chosen(text))),
        }
    }
}

/// The word in brackets; all of it if the kernel brackets none.
pub(super) fn chosen(text: &str) -> &str {
    let inner = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(word, _)| word)
}

/// A value whose form the kernel does not promise: a number if it is one, else its text with
/// the blanks between words made single.
pub(super) fn plain(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return Value::from(number);
    }
    if let Ok(number) = text.parse::<u64>() {
        return Value::from(number);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Value::from(words.join(" "))
}

/// An object under construction: what is not known is not in it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn put(&mut self, name: impl Into<String>, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(name.into(), value.into());
        }
    }

    /// Puts an object, unless it is empty.
    pub(super) fn nest(&mut self, name: impl Into<String>, fields: Fields) {
        if !fields.is_empty() {
            self.0.insert(name.into(), Value::Object(fields.0));
        }
    }

    /// Says how many of `total` things were too many to list.
    pub(super) fn not_listed(&mut self, total: usize) {
        let over = total.saturating_sub(MOST) as u64;
        self.put("(not listed)", (over > 0).then_some(over));
    }

    /// Reads each of `leaves` below `dir`.
    pub(super) fn leaves(&mut self, dir: &Dir, leaves: &[Leaf]) {
        for leaf in leaves {
            let text = dir.text(leaf.file);
            self.put(leaf.name, text.and_then(|t| leaf.form.value(&t)));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Value {
        Value::Object(fields.0)
    }
}

/// A directory whose files are read once.
#[derive(Clone, Debug)]
pub(super) struct Dir(PathBuf);

impl Dir {
    pub(super) fn new(path: impl Into<PathBuf>) -> Dir {
        Dir(path.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn join(&self, name: &str) -> Dir {
        Dir(self.0.join(name))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    /// A small file's text without blanks around it. sysfs and `/proc/sys` give a value in
    /// one read, and never more than a page.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let mut buffer = [0_u8; 4096];
        let mut file = File::open(self.0.join(name)).ok()?;
        let length = file.read(&mut buffer).ok()?;
        let ends: &[char] = &['\0', ' ', '\t', '\n', '\r'];
        Some(text(&buffer[..length]).trim_matches(ends).to_owned())
    }

    /// A whole number in a file of its own.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// The last part of where the link `name` leads.
    pub(super) fn link_name(&self, name: &str) -> Option<String> {
        let target = std::fs::read_link(self.0.join(name)).ok()?;
        Some(text(target.file_name()?.as_encoded_bytes()).into_owned())
    }

    /// The names in it: numbers within names in the order of numbers (`sda2` before
    /// `sda10`). Empty if it cannot be read.
    pub(super) fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.0) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .map(|e| text(e.file_name().as_encoded_bytes()).into_owned())
            .collect();
        names.sort_by_cached_key(|name| order(name));
        names
    }
}

/// A key that orders runs of digits by their number.
fn order(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let word = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let digits = rest[word..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(rest.len(), |n| word + n);
        let number = rest[word..digits].parse().unwrap_or(u64::MAX);
        key.push((rest[..word].to_owned(), number));
        rest = &rest[digits..];
    }
    key
}

/// At most `limit` bytes of a file that may be long, and whether that was all of it. A file
/// cut short ends with its last whole line.
pub(super) fn bounded(path: &Path, limit: u64) -> Option<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    let whole = (bytes.len() as u64) < limit;
    if !whole {
        let end = bytes.iter().rposition(|&b| b == b'\n').unwrap_or(0);
        bytes.truncate(end);
    }
    Some((bytes, whole))
}

/// How many CPUs a list such as `0-3,8` names.
pub(super) fn list_length(list: &str) -> u64 {
    list_ranges(list)
        .map(|(first, last)| last - first + 1)
        .sum()
}

/// The first and last number of each part of a list such as `0-3,8`.
pub(super) fn list_ranges(cpus: &str) -> impl Iterator<Item = (u64, u64)> {
    cpus.split(',').filter_map(|part| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), ""));
        let first = first.parse().ok()?;
        let last = if last.is_empty() {
            first
        } else {
            last.parse().ok()?
        };
        // No kernel numbers this many; a larger range is not a list of CPUs.
        (first <= last && last < 1 << 20).then_some((first, last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_convert_to_base_units_or_nothing() {
        assert_eq!(Form::Bytes(1024).value("128"), Some(Value::from(131072)));
        assert_eq!(Form::Bytes(1024).value("18446744073709551615"), None);
        assert_eq!(Form::Seconds(1e6).value("75000"), Some(Value::from(0.075)));
        assert_eq!(Form::Number.value("-1"), None);
        assert_eq!(Form::Flag.value("Y"), Some(Value::Bool(true)));
        assert_eq!(Form::Flag.value("2"), None);
        assert_eq!(
            Form::Choice.value("none [bfq] kyber"),
            Some(Value::from("bfq"))
        );
        assert_eq!(Form::Choice.value("none"), Some(Value::from("none")));
        assert_eq!(Form::Text.value(""), None);
    }

    #[test]
    fn plain_values_keep_what_the_kernel_says() {
        assert_eq!(plain("-1"), Value::from(-1));
        assert_eq!(plain("18446744073709551615"), Value::from(u64::MAX));
        assert_eq!(plain("4096\t131072\t6291456"), "4096 131072 6291456");
    }

    #[test]
    fn names_sort_by_their_numbers() {
        let mut names = vec!["sda10", "sda2", "nvme1n1", "nvme0n10", "sda", "nvme0n2"];
        names.sort_by_cached_key(|n| order(n));
        assert_eq!(
            names,
            ["nvme0n2", "nvme0n10", "nvme1n1", "sda2", "sda10", "sda"]
        );
    }

    #[test]
    fn cpu_lists() {
        assert_eq!(list_length("0-3,8"), 5);
        assert_eq!(list_length(""), 0);
        assert_eq!(list_length("3-1"), 0);
        assert_eq!(list_length("0-99999999999999"), 0);
    }
}
