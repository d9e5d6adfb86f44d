//! Compiles the programs for the kernel, `src/bpf/*.bpf.c`, with clang.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script runs the compiler, and speaks to cargo by printing"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// The programs, by the name of their file.
const PROGRAMS: &[&str] = &["disk", "net", "tcp", "file"];

fn main() {
    println!("cargo::rerun-if-changed=src/bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_EBPF").is_none() {
        return;
    }
    let out = env::var_os("OUT_DIR").expect("cargo names the directory");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let structs = structs(Path::new("src/bpf"));
    std::fs::write(Path::new(&out).join("structs.txt"), structs).expect("OUT_DIR takes files");
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

/// Names of all structs in the sources, a line each: among them are those of the kernel that
/// the programs read (`src/bpf/types.rs`). What follows three underscores tells versions of a
/// struct apart.
fn structs(sources: &Path) -> String {
    let mut names = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(sources).expect("the sources are there") {
        let path = file.expect("the sources can be listed").path();
        if !path.extension().is_some_and(|e| e == "c" || e == "h") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the sources are text");
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for (at, word) in text.match_indices("struct ") {
            if text[..at].ends_with(is_part) {
                continue; // the end of another word
            }
            let rest = &text[at + word.len()..];
            let end = rest.find(|c: char| !is_part(c));
            let name = &rest[..end.unwrap_or(rest.len())];
            let name = name.split("___").next().unwrap_or(name);
            if !name.is_empty() {
                names.insert(name.to_owned());
            }
        }
    }
    names.into_iter().collect::<Vec<_>>().join("\n")
}
