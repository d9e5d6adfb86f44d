//! Kernel files kept open and read again from offset 0; numbers scanned without allocation.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A kernel file that is read at every sample.
#[derive(Debug)]
pub struct Kept {
    file: File,
    path: PathBuf,
}

impl Kept {
    /// Opens `path` for reading.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Kept> {
        let path = path.into();
        let file = File::open(&path)?;
        Ok(Kept { file, path })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file, to ask the kernel about it in other ways.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Reads the whole file into `buffer` (its former content goes) and returns the bytes. The
    /// buffer is longer than they are: it keeps its length, so that nothing is cleared.
    ///
    /// A `/proc` file is made when it is read from offset 0; after the first time one `pread` and one
    /// more that finds the end is all. Only that one tells it: a list (mounts, for example) comes up
    /// to the entry for which there is no room, however short what is before it may be.
    pub fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        const PAGE: usize = 4096;
        let room = buffer.capacity().max(PAGE);
        buffer.resize(room, 0);
        let mut filled = 0;
        loop {
            match self.file.read_at(&mut buffer[filled..], filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            if filled == buffer.len() {
                buffer.resize(filled * 2, 0);
            }
        }
        Ok(&buffer[..filled])
    }
}

/// The lines of `text`, without their ends.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').filter(|l| !l.is_empty())
}

/// The words of `line`, split at spaces and tabs.
pub fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b' ' || b == b'\t')
        .filter(|f| !f.is_empty())
}

/// A decimal number, all of `field`; `None` if it is none or does not fit.
pub fn number(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    for &b in field {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Text of a kernel file for a word: what is not UTF-8 becomes U+FFFD.
pub fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A name that anyone may have chosen, for a word: on one line, and the same bytes always
/// give the same word.
///
/// What is not UTF-8 becomes `\xNN`, control characters and those that turn the direction of
/// writing their Rust escape (`\n`, `\u{202e}`). A backslash stays as it is: systemd's names
/// of groups are full of them.
pub fn printable(bytes: &[u8]) -> String {
    let mut name = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_control() || turns {
                name.extend(c.escape_default());
            } else {
                name.push(c);
            }
        }
        for byte in chunk.invalid() {
            name.extend(std::ascii::escape_default(*byte).map(char::from));
        }
    }
    name
}

/// A name of a mount table: what the kernel writes in octal (`\040`) as it was.
pub fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = |d: u8| (b'0'..=b'7').contains(&d).then(|| u32::from(d - b'0'));
        let escaped = match rest {
            [b'\\', a, b, c, ..] => octal(*a)
                .zip(octal(*b))
                .zip(octal(*c))
                .and_then(|((a, b), c)| u8::try_from(a * 64 + b * 8 + c).ok()),
            _ => None,
        };
        plain.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &rest[4..] } else { tail };
    }
    plain
}

/// A file that is read once, trimmed; `None` if it cannot be read.
pub fn once(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(text(&bytes).trim().to_owned())
}

/// How far a counter that only grows went from `before` to `now`.
///
/// A counter that went back was reset (its device was replaced) or wrapped at 32 bits; a
/// wrap is told by `before` being in the upper half of 32 bits and `now` in the lower. A
/// reset has no truthful amount: NaN, a gap.
pub fn advance(before: u64, now: u64) -> f64 {
    if now >= before {
        (now - before) as f64
    } else if u32::try_from(before).is_ok() && before > 1 << 31 && now < 1 << 31 {
        (now + (1 << 32) - before) as f64
    } else {
        f64::NAN
    }
}

/// How far a counter of 64 bits went from `before` to `now`: one that went back was reset,
/// whatever its value, since it never wraps.
pub fn grown(before: u64, now: u64) -> f64 {
    now.checked_sub(before).map_or(f64::NAN, |n| n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_counter_does_not_wrap() {
        assert_eq!(grown(5, 8), 3.0);
        assert!(grown(4294967290, 4).is_nan());
    }

    #[test]
    fn numbers_are_whole_or_nothing() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"12a"), None);
        assert_eq!(number(b""), None);
    }

    #[test]
    fn any_name_is_printable() {
        for (bytes, name) in [
            (&b"a b(c) \xc3\xa9"[..], "a b(c) é"),
            (b"x\n\t\x1b[0m", "x\\n\\t\\u{1b}[0m"),
            (b"\xff\x80z", "\\xff\\x80z"),
            (b"dev-disk\\x2dby.swap", "dev-disk\\x2dby.swap"),
            ("\u{202e}gpj".as_bytes(), "\\u{202e}gpj"),
        ] {
            assert_eq!(printable(bytes), name);
        }
    }

    #[test]
    fn counters_wrap_and_reset() {
        assert_eq!(advance(5, 8), 3.0);
        assert_eq!(advance(4294967290, 4), 10.0);
        assert!(advance(100, 4).is_nan());
        assert!(advance(1 << 40, 4).is_nan());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its file")]
    fn a_file_larger_than_the_buffer_is_read_whole() {
        let path = std::env::temp_dir().join(format!("sonde-kept-{}", std::process::id()));
        let content: Vec<u8> = (0..20_000).map(|i| b'a' + (i % 26) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let kept = Kept::open(&path).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(kept.read(&mut buffer).unwrap(), &content[..]);
        assert_eq!(kept.read(&mut buffer).unwrap(), &content[..]);
        std::fs::remove_file(&path).unwrap();
    }
}
