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

/// Tells the user something on stderr, after the program's name.
pub(crate) fn message(text: &str) {
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(io::stderr().lock(), "sonde: {text}");
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
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
