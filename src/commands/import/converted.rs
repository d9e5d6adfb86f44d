//! Files that only their own tools read, where those are installed: recordings of `sadc`, another
//! format in each version, and archives of Performance Co-Pilot.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Parts of PCP's name space that are asked for: those whose metrics say what a machine did.
/// Processes are left out: there are thousands.
const METRICS: [&str; 13] = [
    "kernel", "disk", "mem", "swap", "network", "filesys", "nfs", "nfs4", "rpc", "vfs", "xfs",
    "zfs", "zram",
];

/// What the file is, by its first bytes.
enum Kind {
    Sadc,
    Pcp,
}

fn kind(path: &Path) -> Option<Kind> {
    let mut magic = [0; 8];
    let mut file = File::open(path).ok()?;
    let read = file.read(&mut magic).ok()?;
    match magic[..read] {
        [0x96, 0xd5, ..] | [0xd5, 0x96, ..] => Some(Kind::Sadc),
        // Length of the label, and a magic number with the version.
        [0, 0, _, _, 0x50, 0x05, 0x26, _] => Some(Kind::Pcp),
        _ => None,
    }
}

/// Whether it is a part of an archive of PCP whose first volume, `NAME.0`, is beside it.
pub(super) fn is_beside_archive(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let later = ending.bytes().all(|b| b.is_ascii_digit()) && !matches!(ending, "" | "0");
    let part = later || matches!(ending, "meta" | "index");
    part && matches!(kind(&path.with_extension("0")), Some(Kind::Pcp))
}

/// What the file's own tool prints of it; nothing if it is a file like others, or the tool is
/// not installed: the format's parser says what is missing then.
#[allow(
    clippy::disallowed_methods,
    reason = "starts a converter, whose output is read"
)]
pub(super) fn converted(path: &Path) -> io::Result<Option<Box<dyn Read + Send>>> {
    let (mut command, why) = match kind(path) {
        None => return Ok(None),
        Some(Kind::Sadc) => {
            let mut command = Command::new("sadf");
            command.arg("-j").arg(path).args(["--", "-A"]);
            let why = "sadf cannot read it: it is of another version of sysstat, or damaged";
            (command, why)
        }
        Some(Kind::Pcp) => {
            let mut command = Command::new("pmrep");
            command.arg("-a").arg(path);
            // As it was logged, what there is of it, with names, units and times of UTC.
            command.args(["-u", "-5", "-I", "-g", "-p", "-Z", "UTC"]);
            command.args(["-f", "%Y-%m-%dT%H:%M:%S+0000"]);
            command.args(METRICS);
            let why = "pmrep cannot read it: its other files (.meta, .index) are not beside it, \
                       or it is damaged";
            (command, why)
        }
    };
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    match child {
        Ok(child) => Ok(Some(Box::new(Converted { child, why }))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

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
