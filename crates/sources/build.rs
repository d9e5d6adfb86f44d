//! Compiles the programs for the kernel, `src/bpf/*.bpf.c`, with clang.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script runs the compiler and tells cargo what to watch"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// The programs, by the name of their file.
const PROGRAMS: &[&str] = &["disk", "cpu"];

fn main() {
    println!("cargo::rerun-if-changed=src/bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_EBPF").is_none() {
        return;
    }
    let out = env::var_os("OUT_DIR").expect("cargo names the directory");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    for name in PROGRAMS {
        compile(&clang, name, Path::new(&out));
    }
}

fn compile(clang: &str, name: &str, out: &Path) {
    let source = format!("src/bpf/{name}.bpf.c");
    let object = out.join(format!("{name}.o"));
    let done = Command::new(clang)
        .args(["--target=bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"])
        .args(["-Wno-unused-function", "-Wno-unused-variable"])
        // Paths of this machine stay out of the program's debug information.
        .arg("-fdebug-prefix-map=src/bpf/=")
        .args(["-c", &source, "-o"])
        .arg(&object)
        .output();
    match done {
        Ok(done) if done.status.success() => {}
        Ok(done) => panic!(
            "{clang} could not compile {source}:\n{}",
            String::from_utf8_lossy(&done.stderr)
        ),
        Err(error) => panic!(
            "{clang} is needed to compile what runs in the kernel, and could not be started: \
             {error}\nInstall clang (apt-get install clang), name it in CLANG, or leave eBPF out: \
             cargo build --release --no-default-features"
        ),
    }
}
