//! Compiles the programs for the kernel, `src/bpf/*.bpf.c`, with clang.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script runs the compiler, and speaks to cargo by printing"
)]

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

/// The programs, by the name of their file.
const PROGRAMS: &[&str] = &["disk", "net", "tcp", "cpu", "file", "nfs", "nfs_client"];

fn main() {
    println!("cargo::rerun-if-changed=src/bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_EBPF").is_none() {
        return;
    }
    let out = env::var_os("OUT_DIR").expect("cargo names the directory");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let sources = read(Path::new("src/bpf"));
    for (list, names) in [("structs", structs(&sources)), ("hooks", hooks(&sources))] {
        let names = names.into_iter().collect::<Vec<_>>().join("\n");
        let list = Path::new(&out).join(format!("{list}.txt"));
        std::fs::write(list, names).expect("OUT_DIR takes files");
    }
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

/// The texts of the programs.
fn read(sources: &Path) -> Vec<String> {
    let files = std::fs::read_dir(sources).expect("the sources are there");
    let paths = files.map(|file| file.expect("the sources can be listed").path());
    paths
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "h"))
        .map(|path| std::fs::read_to_string(&path).expect("the sources are text"))
        .collect()
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The word at the beginning of `text`.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !is_part(c));
    &text[..end.unwrap_or(text.len())]
}

/// Names of all structs in the sources: among them are those of the kernel that the programs
/// read (`src/bpf/types.rs`). What follows three underscores tells versions of a struct apart.
fn structs(sources: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in sources {
        for (at, before) in text.match_indices("struct ") {
            if text[..at].ends_with(is_part) {
                continue; // the end of another word
            }
            let name = word(&text[at + before.len()..]);
            let name = name.split("___").next().unwrap_or(name);
            if !name.is_empty() {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Names of the types by which the kernel knows the tracepoints, iterators and functions that the
/// programs wait at: a program's section tells its own.
fn hooks(sources: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in sources {
        for (section, prefix) in [
            ("SEC(\"tp_btf/", "btf_trace_"),
            ("SEC(\"iter/", "bpf_iter_"),
            ("SEC(\"fentry/", ""),
        ] {
            for (at, _) in text.match_indices(section) {
                names.insert(format!("{prefix}{}", word(&text[at + section.len()..])));
            }
        }
    }
    names
}
