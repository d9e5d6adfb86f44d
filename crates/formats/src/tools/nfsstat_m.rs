//! `nfsstat -m` of Solaris: mounts, and how fast their servers answered, where the protocol
//! tells.
//!
//! ```text
//! /mnt from server:/export
//!  Flags:         vers=3,proto=udp,hard,intr,rsize=32768,wsize=32768,retrans=5
//!  Lookups:       srtt=7 (17ms), dev=4 (20ms), cur=2 (40ms)
//!  All:           srtt=10 (25ms), dev=6 (30ms), cur=4 (80ms)
//! ```
//!
//! The times in brackets are smoothed means. Without such lines (NFS over TCP) there are only
//! settings, and the file is refused.

use std::collections::HashSet;

use crate::list::Format;
use crate::number::{number, seconds};
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::{Line, Parser, Stamp, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "nfsstat-m",
    tool: "nfsstat",
    systems: "Solaris, illumos, HP-UX",
    help: "smoothed round-trip times of NFS mounts, by kind of operation",
    recognised: "a line `Flags:` with `vers=` below one with ` from `",
    yields: &[],
    example: "\
/mnt from server:/export
 Flags:         vers=3,proto=udp,hard,intr,rsize=32768,wsize=32768
 Attr cache:    acregmin=3,acregmax=60,acdirmin=30,acdirmax=60
 Lookups:       srtt=7 (17ms), dev=4 (20ms), cur=2 (40ms)
",
    recognise: |head: &Head| {
        let flags = head.lines().any(|l| {
            l.trim_ascii_start().starts_with(b"Flags:") && l.windows(5).any(|w| w == b"vers=")
        });
        let mount = head.lines().any(is_mount);
        if flags && mount { 85 } else { 0 }
    },
    parser: || Box::new(Mounts::default()),
};

fn is_mount(line: &[u8]) -> bool {
    line.starts_with(b"/") && line.windows(5).any(|w| w == b" from")
}

#[derive(Default)]
struct Mounts {
    mount: Vec<u8>,
    seen: HashSet<Vec<u8>>,
    stamp: Option<Stamp>,
    begun: bool,
    times: u64,
}

/// Name, printed units and seconds of `srtt=7 (17ms), dev=4 (20ms), cur=2 (40ms)`.
fn times(text: &str) -> Option<Vec<(&str, f64, f64)>> {
    let part = |part| -> Option<(&str, f64, f64)> {
        let part: &str = part;
        let (name, rest) = part.trim().split_once('=')?;
        let (count, time) = rest.split_once('(')?;
        let time = time.trim().strip_suffix(')')?.replace(' ', "");
        let known = matches!(name, "srtt" | "dev" | "cur");
        known.then_some(())?;
        Some((
            name,
            number(count.trim().as_bytes())?,
            seconds(time.as_bytes())?,
        ))
    };
    text.split(',').map(part).collect()
}

impl Mounts {
    fn times(&mut self, kind: &str, text: &str, out: &mut Out) -> Line {
        let Some(found) = times(text) else {
            return Line::Unknown;
        };
        if !self.begun {
            out.sample_told(self.stamp.take());
            out.only_levels();
            self.begun = true;
        }
        self.times += 1;
        let kind = kind.to_ascii_lowercase();
        let mut instance = self.mount.clone();
        instance.push(b' ');
        instance.extend_from_slice(kind.as_bytes());
        let instance = out.word(&instance);
        for (name, _, seconds) in found {
            out.other(name, "s", instance, seconds);
        }
        Line::Data
    }
}

impl Parser for Mounts {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["nfsstat"]) {
            if let Some(seconds) = prompt::interval(&arguments) {
                out.every(seconds);
            }
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.stamp = Some(stamp);
            self.seen.clear();
            self.begun = false;
            return Line::Noise;
        }
        if is_mount(line) {
            let end = line.windows(5).position(|w| w == b" from");
            let mount = line[..end.unwrap_or(line.len())].to_vec();
            if self.seen.contains(&mount) {
                self.seen.clear();
                self.begun = false;
            }
            self.seen.insert(mount.clone());
            self.mount = mount;
            return Line::Noise;
        }
        let text = String::from_utf8_lossy(line);
        match text.trim().split_once(':') {
            Some(("Flags" | "Attr cache" | "Failover" | "Status", _)) => Line::Noise,
            Some((kind, rest)) if rest.contains("srtt=") && !self.mount.is_empty() => {
                self.times(kind, rest, out)
            }
            _ if prompt::is_chatter(line) => Line::Noise,
            _ => Line::Unknown,
        }
    }

    fn end(&mut self, out: &mut Out) {
        if self.times == 0 {
            out.refuse(Refused(
                "it lists NFS mounts and their options (nfsstat -m), which are settings, not \
                 measurements: only mounts over UDP have times there"
                    .into(),
            ));
        }
    }
}
