//! What the build script says to whom cannot compile programs for the kernel.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A directory of the test's own.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("building-{name}"));
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// `build.rs`, compiled here: it needs nothing but the standard library.
fn script() -> &'static Path {
    static SCRIPT: OnceLock<PathBuf> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let script = scratch("script").join("build");
        let cargo = PathBuf::from(std::env::var_os("CARGO").expect("cargo runs tests"));
        let out = Command::new(cargo.with_file_name("rustc"))
            .args(["--edition=2024", "-o"])
            .arg(&script)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs"))
            .output()
            .expect("the compiler is beside cargo");
        assert!(out.status.success(), "{out:?}");
        script
    })
}

/// Runs it with that compiler for programs of the kernel.
fn built(name: &str, clang: &str, with_ebpf: bool) -> Output {
    let mut build = Command::new(script());
    build
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("OUT_DIR", scratch(name))
        .env("CLANG", clang)
        .env_remove("CARGO_FEATURE_EBPF");
    if with_ebpf {
        build.env("CARGO_FEATURE_EBPF", "1");
    }
    build.output().expect("it runs")
}

#[test]
fn without_clang_it_says_what_to_do() {
    let out = built("absent", "/nonexistent", true);
    assert!(!out.status.success(), "{out:?}");
    let said = String::from_utf8_lossy(&out.stderr);
    for text in [
        "/nonexistent is needed to compile what runs in the kernel",
        "No such file or directory",
        "apt-get install clang",
        "name it in CLANG",
        "leave eBPF out: cargo build --release --no-default-features",
    ] {
        assert!(said.contains(text), "{text:?} is not in {said}");
    }
}

#[test]
fn a_clang_that_refuses_is_quoted() {
    // It answers to no option of clang's, and says so.
    let out = built("refuses", "rustc", true);
    assert!(!out.status.success(), "{out:?}");
    let said = String::from_utf8_lossy(&out.stderr);
    let text = "rustc could not compile src/bpf/disk.bpf.c:\n";
    let (_, quoted) = said.split_once(text).unwrap_or_else(|| panic!("{said}"));
    assert!(quoted.contains("error"), "{said}");
}

#[test]
fn without_the_feature_no_clang_is_needed() {
    let out = built("without", "/nonexistent", false);
    assert!(out.status.success(), "{out:?}");
}
