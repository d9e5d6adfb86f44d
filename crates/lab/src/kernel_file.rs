//! Settings that are files of the kernel: one read, one write, nothing created or cut.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::KnobError;
use crate::spot::{Identity, Spot, Values, number, quoted};

/// The longest value that is kept.
const LONGEST: u64 = 64 << 10;

/// The value in `path`, without the line's end.
pub(crate) fn read(path: &Path) -> Result<String, KnobError> {
    read_whole(path).map(|text| text.trim_end_matches('\n').to_owned())
}

/// The text in `path`, as it is.
pub(crate) fn read_whole(path: &Path) -> Result<String, KnobError> {
    let refused = |e: &io::Error| KnobError::refused("read", path.display().to_string(), e);
    let mut bytes = Vec::new();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(NONBLOCK)
        .open(path);
    let file = file.map_err(|e| refused(&e))?;
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|e| refused(&e))?;
    if bytes.len() as u64 > LONGEST {
        return Err(refused(&io::Error::other("it is longer than 64 KiB")));
    }
    String::from_utf8(bytes).map_err(|_| refused(&io::Error::other("it is no text")))
}

/// Opening a pipe must not wait for its other end.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// Writes `value` and a line's end, in one call: the kernel takes each call as a value.
pub(crate) fn write(path: &Path, value: &str) -> Result<(), KnobError> {
    let refused = |e: &io::Error| {
        let doing = format!("write `{value}` to");
        KnobError::refused(doing, path.display().to_string(), e)
    };
    let mut file = open_to_write(path).map_err(|e| refused(&e))?;
    let line = format!("{value}\n");
    let written = file.write(line.as_bytes()).map_err(|e| refused(&e))?;
    if written < line.len() {
        return Err(refused(&io::Error::other("only a part was taken")));
    }
    Ok(())
}

/// Whether `path` can be opened for writing.
pub(crate) fn writable(path: &Path) -> Result<(), KnobError> {
    let opened = open_to_write(path).map(|_| ());
    opened.map_err(|e| KnobError::refused("write to", path.display().to_string(), &e))
}

fn open_to_write(path: &Path) -> io::Result<std::fs::File> {
    OpenOptions::new()
        .write(true)
        .custom_flags(NONBLOCK)
        .open(path)
}

/// The number by which sysfs and cgroupfs know a directory: as long as the machine runs no
/// other one gets it. A device, module or group that was removed and made anew has another;
/// a loop device that got another file keeps its own, and with it its settings.
pub(crate) fn node(path: &Path) -> Result<String, KnobError> {
    let found = std::fs::metadata(path);
    let found = found.map_err(|e| KnobError::refused("find", path.display().to_string(), &e))?;
    Ok(found.ino().to_string())
}

/// What a person types to write `value` into `path`.
pub(crate) fn command(path: &Path, value: &str) -> String {
    let path = path.display().to_string();
    format!("echo {} > {}", quoted(value), quoted(&path))
}

/// The word in brackets: `none [mq-deadline]`; all of the text if there are none.
pub(crate) fn chosen(text: &str) -> &str {
    let inner = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(word, _)| word)
}

/// What a file can hold that holds `text` now, where nothing else is known of it.
fn plain(text: Option<String>) -> Values {
    match text.and_then(|text| number(&text)) {
        Some(_) => Values::Number,
        None => Values::Text,
    }
}

/// The words of a list of which one is in brackets.
pub(crate) fn choices(text: &str) -> Vec<String> {
    let words = text.split_whitespace();
    words
        .map(|w| w.trim_matches(['[', ']']).to_owned())
        .collect()
}

/// A setting that is one file.
#[derive(Clone, Debug)]
pub(crate) struct FileSpot {
    /// The file.
    pub(crate) path: PathBuf,
    /// What it can hold; words in brackets are found in the file itself.
    pub(crate) holds: Holds,
    /// The directory whose [`node`] is the identity.
    pub(crate) owner: PathBuf,
    /// More of the identity.
    pub(crate) more: Identity,
    /// Knobs disturbed by this one.
    pub(crate) companions: Vec<String>,
    /// How a value is written: [`write`] where that is all there is to it.
    pub(crate) write: fn(&Path, &str) -> Result<(), KnobError>,
}

/// What a kernel file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A list of words, the chosen one in brackets.
    Choice,
    /// One of these.
    Words(&'static [&'static str]),
    /// A whole number between these.
    Numbers(i64, i64),
    /// A whole number.
    Number,
    /// A number if a number is there now, else a text.
    Plain,
    /// A text.
    Text,
}

impl Spot for FileSpot {
    fn read(&self) -> Result<String, KnobError> {
        let text = read(&self.path)?;
        Ok(match self.holds {
            Holds::Choice => chosen(&text).to_owned(),
            _ => text,
        })
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        (self.write)(&self.path, value)
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        let mut identity = self.more.clone();
        identity.insert("node".into(), node(&self.owner)?);
        Ok(identity)
    }

    fn values(&self) -> Values {
        match self.holds {
            Holds::Choice => match read(&self.path) {
                Ok(text) if text.contains('[') => Values::Words(choices(&text)),
                other => plain(other.ok()),
            },
            Holds::Plain => plain(self.read().ok()),
            Holds::Words(words) => Values::Words(words.iter().map(|w| (*w).to_owned()).collect()),
            Holds::Numbers(least, most) => Values::Numbers(least, most),
            Holds::Number => Values::Number,
            Holds::Text => Values::Text,
        }
    }

    fn writable(&self) -> Result<(), KnobError> {
        writable(&self.path)
    }

    fn command(&self, value: &str) -> String {
        command(&self.path, value)
    }

    fn companions(&self) -> Vec<String> {
        self.companions.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_brackets() {
        let text = "none [mq-deadline] kyber bfq";
        assert_eq!(chosen(text), "mq-deadline");
        assert_eq!(choices(text), ["none", "mq-deadline", "kyber", "bfq"]);
        assert_eq!(chosen("none"), "none");
    }
}
