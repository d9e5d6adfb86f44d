//! A Python with packages, for what is checked against independent implementations.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// A Python with the pinned packages of a requirements file; `None`, said on stderr, where it
/// cannot be made. It is kept below the target directory, by its packages.
pub(crate) fn python(requirements: &str, file: &Path) -> Option<PathBuf> {
    // One test makes it, the others of the process wait.
    static MAKING: Mutex<()> = Mutex::new(());
    let _one = MAKING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    match make(requirements, file) {
        Ok(python) => Some(python),
        Err(why) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "no Python packages: {why}: in CI every test must run"
            );
            eprintln!("skipped: no Python packages: {why}");
            None
        }
    }
}

fn make(requirements: &str, file: &Path) -> Result<PathBuf, String> {
    let key = fingerprint(requirements);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("python-{key:08x}"));
    let python = dir.join("bin/python");
    let ready = dir.join("ready");
    if ready.exists() {
        return Ok(python);
    }
    let step = |command: &mut Command| match command.output() {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&out.stderr).trim()
        )),
        Err(e) => Err(format!("{command:?}: {e}")),
    };
    let _ = std::fs::remove_dir_all(&dir);
    step(Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
    ];
    step(Command::new(&python).args(pip).arg(file))?;
    std::fs::write(&ready, "").map_err(|e| e.to_string())?;
    Ok(python)
}

/// Tells lists of packages apart (FNV-1a).
fn fingerprint(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |h, b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    })
}
