//! Files that only their own tools read, where those are installed: recordings of `sadc` and of
//! `atop`, another format in each version, and archives of Performance Co-Pilot.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::inputs::Text;
use super::packed::{decompressed, first_bytes};

/// Parts of PCP's name space that are asked for: those whose metrics say what a machine did.
/// Processes are left out: there are thousands.
const METRICS: [&str; 13] = [
    "kernel", "disk", "mem", "swap", "network", "filesys", "nfs", "nfs4", "rpc", "vfs", "xfs",
    "zfs", "zram",
];

/// What only its own tool reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sadc,
    Atop,
    Pcp,
}

/// So many bytes at the beginning of a file tell it.
pub(super) const MAGIC: usize = 8;

/// What a file is that begins so.
pub(super) fn kind(head: &[u8]) -> Option<Kind> {
    match head {
        [0x96, 0xd5, ..] | [0xd5, 0x96, ..] => Some(Kind::Sadc),
        [0xef, 0xbe, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xbe, 0xef, ..] => Some(Kind::Atop),
        // Length of the label, and a magic number with the version.
        [0, 0, _, _, 0x50, 0x05, 0x26, _, ..] => Some(Kind::Pcp),
        _ => None,
    }
}

fn kind_of(path: &Path) -> Option<Kind> {
    let mut text = decompressed(Box::new(File::open(path).ok()?)).ok()?;
    kind(&first_bytes(&mut text.from, MAGIC).ok()?)
}

/// How names of compressed files end.
const PACKED: [&str; 4] = ["gz", "bz2", "xz", "zst"];

/// The path without the ending of a compressed file.
fn without_packing(path: &Path) -> PathBuf {
    match ending(path) {
        packed if PACKED.contains(&packed) => path.with_extension(""),
        _ => path.to_owned(),
    }
}

fn ending(path: &Path) -> &str {
    path.extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
}

/// The name of an archive of PCP of which that is a volume, perhaps compressed.
pub(super) fn base(volume: &Path) -> PathBuf {
    without_packing(volume).with_extension("")
}

/// Whether it is a part of an archive of PCP whose first volume, `NAME.0`, is beside it, perhaps
/// compressed.
pub(super) fn is_beside_archive(path: &Path) -> bool {
    let path = without_packing(path);
    let ending = ending(&path);
    let later = ending.bytes().all(|b| b.is_ascii_digit()) && !matches!(ending, "" | "0");
    if !(later || matches!(ending, "meta" | "index")) {
        return false;
    }
    let first = path.with_extension("0");
    let packed = PACKED
        .iter()
        .map(|ending| first.with_extension(format!("0.{ending}")));
    let mut volumes = [first.clone()].into_iter().chain(packed);
    volumes.any(|volume| matches!(kind_of(&volume), Some(Kind::Pcp)))
}

/// What the file's own tool prints of it, `content` being its stdin; nothing if the tool is not
/// installed: the format's parser says what is missing then.
#[allow(
    clippy::disallowed_methods,
    reason = "starts a converter, whose output is read"
)]
pub(super) fn converted(
    kind: Kind,
    path: &Path,
    content: Option<&File>,
) -> io::Result<Option<Text>> {
    let tools: &[&Tool] = match kind {
        Kind::Sadc => &[&SADF],
        Kind::Atop => &[&ATOP],
        Kind::Pcp => &[&PMREP, &PMDUMPTEXT],
    };
    for tool in tools {
        let stdin = match content {
            Some(file) => Stdio::from(file.try_clone()?),
            None => Stdio::null(),
        };
        let child = Command::new(tool.program)
            .args((tool.arguments)(path))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => {
                let why = tool.why;
                let mut text = Text::new(Box::new(Converted { child, why }));
                text.note = tool.note;
                return Ok(Some(text));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

/// A tool that prints what is in such a file.
struct Tool {
    program: &'static str,
    arguments: fn(&Path) -> Vec<OsString>,
    /// Why it failed.
    why: &'static str,
    /// What is to be known of what it prints.
    note: Option<&'static str>,
}

fn words(words: &[&str]) -> impl Iterator<Item = OsString> {
    words
        .iter()
        .map(OsString::from)
        .collect::<Vec<_>>()
        .into_iter()
}

const SADF: Tool = Tool {
    program: "sadf",
    arguments: |path| {
        let of = words(&["-j"]).chain([path.into()]);
        of.chain(words(&["--", "-A"])).collect()
    },
    why: "sadf cannot read it: it is of another version of sysstat, or damaged",
    note: None,
};

const ATOP: Tool = Tool {
    program: "atop",
    arguments: |path| {
        let of = words(&["-r"]).chain([path.into()]);
        of.chain(words(&["-P", "ALL"])).collect()
    },
    why: "atop cannot read it: it is of another version of atop (`atopconvert` may change it), or \
          damaged",
    note: None,
};

const PMREP: Tool = Tool {
    program: "pmrep",
    arguments: |path| {
        let of = words(&["-a"]).chain([path.into()]);
        // As it was logged, what there is of it, with names, units and times of UTC.
        let how = ["-u", "-5", "-I", "-g", "-p", "-Z", "UTC", "-f", TIMES];
        of.chain(words(&how)).chain(words(&METRICS)).collect()
    },
    why: "pmrep cannot read it: its other files (.meta, .index) are not beside it, or it is damaged",
    note: None,
};

/// Where `pmrep` is not installed. What the archive does not have it leaves out.
const PMDUMPTEXT: Tool = Tool {
    program: "pmdumptext",
    arguments: |path| {
        let of = words(&["-a"]).chain([path.into()]);
        let how = [
            "-m", "-u", "-P", "6", "-t", "1sec", "-Z", "UTC", "-f", TIMES,
        ];
        of.chain(words(&how)).chain(words(&METRICS)).collect()
    },
    why: "pmdumptext cannot read it: its other files (.meta, .index) are not beside it, or it is \
          damaged",
    note: Some(
        "pmdumptext read it, which has a report each second, however seldom it was logged: between \
         readings it interpolates. pmrep, if it is installed, has what was logged",
    ),
};

const TIMES: &str = "%Y-%m-%dT%H:%M:%S+0000";

/// What a converter prints; that it failed is an error at the end.
struct Converted {
    child: Child,
    why: &'static str,
}

impl Read for Converted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(out) = &mut self.child.stdout else {
            return Ok(0);
        };
        let n = out.read(buffer)?;
        if n == 0 && !buffer.is_empty() && !self.child.wait()?.success() {
            return Err(io::Error::other(self.why));
        }
        Ok(n)
    }
}

impl Drop for Converted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
