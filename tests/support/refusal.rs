//! What the tests of refusals share: a short run, and a message that says what to do.

use std::path::Path;

use crate::support::{output, sonde, succeed};

/// A short run, sealed.
pub(crate) fn recorded(run: &Path) {
    let mut record = sonde();
    record
        .args(["record", "-q", "--every", "20ms", "--for", "200ms", "-o"])
        .arg(run);
    succeed(&mut record);
}

/// Runs sonde in `dir`; its status and what it said, which is never a panic.
pub(crate) fn said(dir: &Path, arguments: &[&str]) -> (i32, String) {
    let out = output(sonde().args(arguments).current_dir(dir));
    let said = String::from_utf8(out.stderr).expect("messages are UTF-8");
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    (out.status.code().expect("it exits"), said)
}

/// The status is 2, the first line has `what`, and a line tells `todo`.
pub(crate) fn refuses(dir: &Path, arguments: &[&str], what: &str, todo: &str) {
    let (status, said) = said(dir, arguments);
    assert_eq!(status, 2, "{arguments:?}: {said}");
    let first = said.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("sonde: ") && first.contains(what),
        "{arguments:?}: {said}"
    );
    assert!(said.contains(todo), "{arguments:?}: {said}");
}
