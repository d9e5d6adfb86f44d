//! Opening the browser, where there is one.
//!
//! The address holds a token, and what a program is called with can be read by everybody on the
//! machine. So the browser is not given the address but a file that only its owner can read
//! and that leads on to it, as Jupyter does.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::output;

/// The program that opens what suits it.
const OPENER: &str = "xdg-open";

/// The file that leads on; removed when this is dropped.
pub(super) struct Opened {
    file: PathBuf,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Opens `address`, if somebody sits before this machine.
pub(super) fn open(address: &str) -> Option<Opened> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    if !(set("DISPLAY") || set("WAYLAND_DISPLAY")) || !is_there(OPENER) {
        return None;
    }
    let file = leading_to(address)
        .map_err(|e| output::message(&format!("the browser was not opened: {e}")))
        .ok()?;
    let opened = Opened { file };
    match start(&opened.file) {
        Ok(()) => Some(opened),
        Err(e) => {
            output::message(&format!("{OPENER} could not be started: {e}"));
            None
        }
    }
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// A file of the user's own that leads a browser to `address`.
fn leading_to(address: &str) -> std::io::Result<PathBuf> {
    let dir = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let dir = dir
        .filter(|d| d.is_dir())
        .unwrap_or_else(std::env::temp_dir);
    let path = dir.join(format!("sonde-view-{}.html", std::process::id()));
    // One that was left behind may be somebody else's.
    let _ = fs::remove_file(&path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    // The address is made of a host's name or numbers, and hexadecimal digits: nothing in it is
    // special.
    writeln!(
        file,
        "<!doctype html><meta charset=utf-8><title>Sonde</title>\
         <meta http-equiv=refresh content=\"0;url={address}\"><a href=\"{address}\">Sonde</a>"
    )?;
    Ok(path)
}

fn start(file: &Path) -> std::io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the browser is the one program that this command starts"
    )]
    let mut command = Command::new(OPENER);
    let mut child = command
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It goes on by itself; somebody has to take note of its end.
    let _ = std::thread::Builder::new()
        .name("browser".into())
        .spawn(move || child.wait());
    Ok(())
}
