//! The only place that writes to stdout and stderr, and files that are not runs.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::failure::Failure;

/// Writes data to stdout. A reader that has gone (`sonde get … | head`) ends the program as
/// it ends any filter.
pub(crate) fn data(text: &str) {
    let mut out = io::stdout().lock();
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(io::stderr().lock(), "sonde: {safe}");
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

/// Writes a picture or a report where the user asked for it.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place for files that are not runs"
    )]
    std::fs::write(path, bytes)
        .map_err(|e| Failure::input(format!("cannot write {}: {e}", path.display())))
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
