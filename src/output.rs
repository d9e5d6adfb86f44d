//! The only place that writes to stdout and stderr, and files that are not runs.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use surfaces::table::wrapped;

use crate::failure::Failure;

/// Bytes that are written at once.
const PIECE: usize = 256 << 10;

/// Columns of what a person reads on stderr.
const WIDTH: usize = 80;

/// Writes data to stdout. A reader that has gone (`sonde get … | head`) ends the program as
/// it ends any filter.
pub(crate) fn data(text: &str) {
    data_by(|out| out.write_all(text.as_bytes()));
}

/// The same of what is too much to be made whole first.
pub(crate) fn data_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = BufWriter::with_capacity(PIECE, io::stdout().lock());
    let result = write(&mut out).and_then(|()| out.flush());
    if let Err(e) = result {
        if e.kind() != io::ErrorKind::BrokenPipe {
            message(&format!("writing to stdout: {e}"));
        }
        std::process::exit(i32::from(e.kind() != io::ErrorKind::BrokenPipe));
    }
}

/// The same, where it does not matter whether anybody still reads.
pub(crate) fn data_if_read(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// `1 sample`, `2 samples`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Tells the user something on stderr, after the program's name. What was given by others
/// (a path, an argument) cannot draw on the terminal.
pub(crate) fn message(text: &str) {
    let safe = text.replace(|c: char| c != '\n' && is_unsafe(c), "\u{fffd}");
    let mut text = format!("sonde: {safe}");
    // A file or pipe keeps each sentence on its line, for who searches it.
    if io::stderr().is_terminal() {
        text = fitted(&text);
    }
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A message with its long lines broken. Not those that are indented, as an expression above its
/// marker, nor a command to copy.
fn fitted(text: &str) -> String {
    let whole = [" ", "hint: sonde ", "sonde: next: "];
    let is_whole = |line: &str| {
        line.chars().count() <= WIDTH || whole.iter().any(|head| line.starts_with(head))
    };
    let broken = |line: &str| {
        if is_whole(line) {
            return line.to_owned();
        }
        let mut heads = ["sonde: ", "hint: ", "note: "].into_iter();
        let head = heads.find(|head| line.starts_with(head)).unwrap_or("");
        wrapped(head, &line[head.len()..], WIDTH)
            .trim_end()
            .to_owned()
    };
    text.split('\n').map(broken).collect::<Vec<_>>().join("\n")
}

/// The same of a longer text, in lines that fit a terminal of 80 columns.
pub(crate) fn paragraph(text: &str) {
    let lines = wrapped("", text, WIDTH - "sonde: ".len());
    message(&lines.trim_end().replace('\n', "\n       "));
}

/// Several lines beside the data, on stderr: a plan.
pub(crate) fn aside(text: &str) {
    let safe = text.replace(|c: char| c != '\n' && is_unsafe(c), "\u{fffd}");
    let _ = write!(io::stderr().lock(), "{safe}");
}

/// Control characters, and those that reorder or break a line.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` as one word of a shell's command line.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:,+=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Writes a picture or a report where the user asked for it: whole, or not at all. A file that
/// is there is replaced; a device or pipe is written to.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    file_by(path, |out| out.write_all(bytes))
}

/// The same of what is too much to be made whole first.
pub(crate) fn file_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    whole(path, write).map_err(|e| {
        let hint = match (e.kind(), path.parent()) {
            (io::ErrorKind::NotFound, Some(dir)) => {
                let dir = shell_word(&dir.display().to_string());
                format!("\nhint: make the directory first: mkdir -p {dir}")
            }
            (io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem, _) => {
                "\nhint: write it where you may, for example below /tmp".to_owned()
            }
            _ => String::new(),
        };
        Failure::input(format!("cannot write {}: {e}{hint}", path.display()))
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place for files that are not runs"
)]
fn whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let write_to = |path: &Path| {
        let mut out = BufWriter::with_capacity(PIECE, std::fs::File::create(path)?);
        write(&mut out)?;
        out.flush()
    };
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|m| !m.is_file()) {
        return write_to(path);
    }
    // A link stays; what it leads to is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name = format!(".{name}.{}.part", std::process::id());
    let part = target.with_file_name(name);
    let written = (|| {
        write_to(&part)?;
        if let Some(old) = old {
            std::fs::set_permissions(&part, old.permissions())?;
        }
        std::fs::rename(&part, &target)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Makes the directory for what belongs to a report, unless it is there.
pub(crate) fn directory(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path)
        .map_err(|e| Failure::input(format!("cannot make the directory {}: {e}", path.display())))
}

/// Columns and rows of the terminal on stdout, if it is one.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Text from elsewhere (names of processes, files, phases) made safe for one line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if is_unsafe(c) { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fit_80_columns_and_commands_stay_whole() {
        let words = "word ".repeat(30);
        let expression = format!("  disk.bytes by {words}\n  ^^^^");
        let command = format!("hint: sonde get run '{words}'");
        let text = format!("sonde: {words}\n{expression}\nhint: {words}\n{command}\nshort  one");
        let fitted = fitted(&text);
        assert!(
            fitted.contains(&expression) && fitted.contains(&command),
            "{fitted}"
        );
        assert!(fitted.ends_with("\nshort  one"), "{fitted}");
        let long = fitted.lines().filter(|l| l.chars().count() > 80);
        assert_eq!(long.count(), 2, "{fitted}");
        // Further lines stand below the first's text.
        assert!(fitted.contains("\n       word word"), "{fitted}");
        assert!(fitted.contains("\n      word word"), "{fitted}");
        assert_eq!(
            fitted.split_whitespace().count(),
            text.split_whitespace().count()
        );
    }
}
