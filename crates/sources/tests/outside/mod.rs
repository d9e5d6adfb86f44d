//! Programs of the kernel, compiled and run outside it, with checks in C.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Runs the check of that name in `<file>.c` beside the tests. A test binary has one such file.
pub(crate) fn check(file: &str, name: &str) {
    static COMPILED: OnceLock<()> = OnceLock::new();
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    COMPILED.get_or_init(|| compile(file, &made));
    let done = Command::new(made).arg(name).output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}");
}

fn compile(file: &str, made: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let done = Command::new(clang)
        .args(["-O1", "-w", "-fno-builtin", "-I"])
        .arg(here.join("src/bpf"))
        .arg(here.join("tests").join(file).with_extension("c"))
        .arg("-o")
        .arg(made)
        .output()
        .expect("clang, which the build needs too");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}
