//! The programs of disks, run outside the kernel: what needs several processors at one moment, or a
//! disk that this machine does not have. The checks are in `disk_programs.c`.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test runs the compiler, as the build does, and what it made"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The compiled checks.
fn checks() -> &'static Path {
    static CHECKS: OnceLock<PathBuf> = OnceLock::new();
    CHECKS.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk_programs.c");
        let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bpf");
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk_programs");
        let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".into());
        let done = Command::new(clang)
            .args(["-O1", "-w", "-fno-builtin", "-I", programs, source, "-o"])
            .arg(&made)
            .output()
            .expect("clang, which the build needs too");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        made
    })
}

fn check(name: &str) {
    let done = Command::new(checks()).arg(name).output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}");
}

#[test]
fn the_depth_at_issue_is_right_where_all_are_faster() {
    check("depth");
}

#[test]
fn a_bio_that_is_handed_on_itself_completes_where_it_was_queued() {
    check("remapped");
}

#[test]
fn nothing_has_ended_before_the_first() {
    check("ends");
}

#[test]
fn a_device_keeps_its_place_when_another_goes() {
    check("places");
}

#[test]
fn room_that_is_given_back_is_used_again() {
    check("room");
}

#[test]
fn what_the_kernel_leaves_out_is_counted() {
    check("left_out");
}

#[test]
fn an_io_that_is_handed_back_is_one_with_all_of_its_bytes() {
    check("requeued");
}

#[test]
fn what_failed_is_counted_of_its_operation() {
    check("errors");
}
