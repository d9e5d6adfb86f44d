//! Puts the page of `sonde view` into the library, compressed: every file of `web/dist`, which
//! `npm ci && npm run build` makes in `web`. Without it the library is built all the same, and
//! the command says what is missing.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script writes files, and speaks to cargo by printing"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo gives it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo gives it"));
    let web = root.join("../../web");
    let dist = web.join("dist");
    // Of a path that is not there cargo would build anew each time.
    let watched = [dist.clone(), web, root.join("build.rs")];
    let watched = watched.iter().find(|path| path.exists());
    if let Some(path) = watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let mut files = Vec::new();
    collect(&dist, &mut files);
    files.sort();
    let mut code =
        String::from("/// Every file of the page.\npub(super) const ASSETS: &[Asset] = &[\n");
    for (number, file) in files.iter().enumerate() {
        let path = file.strip_prefix(&dist).expect("found below it");
        let path = path
            .to_str()
            .expect("Vite writes plain names")
            .replace('\\', "/");
        let packed = out.join(format!("asset-{number}.gz"));
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let bytes = fs::read(file).expect("a file that was just listed");
        gzip.write_all(&bytes).expect("a vector takes all");
        fs::write(&packed, gzip.finish().expect("a vector takes all")).expect("room in OUT_DIR");
        let _ = writeln!(
            code,
            "    Asset {{ path: {path:?}, gzip: include_bytes!({:?}) }},",
            packed.display().to_string()
        );
    }
    code += "];\n";
    fs::write(out.join("assets.rs"), code).expect("room in OUT_DIR");
}

/// All files below `dir`.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_none_or(|e| e != "map") {
            files.push(path);
        }
    }
}
