//! The lines of `/proc/self/mountstats` that matter, one after another.

use std::borrow::Cow;

use crate::read::{self, fields, lines, number, text};

/// Numbers of an operation: operations, transmissions, timeouts, bytes sent, bytes received,
/// milliseconds queued, milliseconds on the wire, milliseconds in all, errors.
pub type OpCounters = [u64; 9];

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A mount begins. Lines up to the next one belong to it.
    Mount {
        /// What is mounted, escaped as in the file: `server:/export`.
        device: &'a [u8],
        /// Where, escaped as in the file.
        path: &'a [u8],
        /// Whether it has NFS statistics that we know how to read.
        nfs: bool,
    },
    /// Seconds since it was mounted: since its statistics began.
    Age(u64),
    /// Bytes: programs reading, writing, reading and writing with `O_DIRECT`; then read from
    /// and written to the server.
    Bytes([u64; 6]),
    /// A connection to the server. Mounts of one server share them.
    Transport(Transport<'a>),
    /// An operation.
    Op {
        /// Its name, or its number where the kernel has no name.
        name: &'a [u8],
        /// Its counters.
        counters: OpCounters,
        /// Whether errors are among them (since kernel 5.3).
        errors: bool,
    },
}

/// An `xprt:` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport<'a> {
    /// tcp, udp, rdma, local.
    pub protocol: &'a [u8],
    /// Local port; 0 for rdma.
    pub port: u64,
    /// Sends, replies, replies that belong to no request, connects, backlog at each send.
    pub counters: [u64; 5],
}

/// The lines of `bytes` that say something known; others are passed over.
pub fn parse(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut in_nfs = false;
    let mut in_ops = false;
    lines(bytes).filter_map(move |line| {
        if let Some(mount) = mount(line) {
            in_nfs = matches!(mount, Line::Mount { nfs: true, .. });
            in_ops = false;
            return Some(mount);
        }
        if !in_nfs {
            return None;
        }
        let line = line.trim_ascii();
        if line == b"per-op statistics" {
            in_ops = true;
            None
        } else if in_ops {
            op(line)
        } else {
            head(line)
        }
    })
}

/// `device SERVER:/EXPORT mounted on PATH with fstype nfs4 statvers=1.1`.
///
/// Blanks in names are octal escapes, so that the words stay in their places; what is
/// mounted without a name is `no device mounted on …`.
fn mount(line: &[u8]) -> Option<Line<'_>> {
    let mut words = fields(line.strip_prefix(b"device ")?);
    let device = words.next()?;
    if words.next()? != b"mounted" || words.next()? != b"on" {
        return None;
    }
    let path = words.next()?;
    if words.next()? != b"with" || words.next()? != b"fstype" {
        return None;
    }
    let kind = words.next()?;
    // Another first number would mean other lines.
    let version = words.next().unwrap_or_default();
    let nfs = matches!(kind, b"nfs" | b"nfs4") && version.starts_with(b"statvers=1.");
    Some(Line::Mount { device, path, nfs })
}

/// A line before the operations.
fn head(line: &[u8]) -> Option<Line<'_>> {
    let colon = line.iter().position(|&b| b == b':')?;
    let rest = &line[colon + 1..];
    match &line[..colon] {
        b"age" => number(rest.trim_ascii()).map(Line::Age),
        b"bytes" => numbers::<6>(fields(rest)).map(Line::Bytes),
        b"xprt" => transport(rest).map(Line::Transport),
        _ => None,
    }
}

/// tcp, rdma: port, binds, connects, connect time, idle time, sends, replies, bad xids,
/// requests under way, backlog, … — udp has neither connects nor times; local has no port.
fn transport(rest: &[u8]) -> Option<Transport<'_>> {
    let mut words = fields(rest);
    let protocol = words.next()?;
    let (port, counters) = match protocol {
        b"udp" => {
            let v = numbers::<7>(words)?;
            (v[0], [v[2], v[3], v[4], 0, v[6]])
        }
        b"local" => {
            // Binds, connects, connect time, idle time, then as tcp.
            let v = numbers::<9>(words)?;
            (0, [v[4], v[5], v[6], v[1], v[8]])
        }
        b"tcp" | b"rdma" => {
            let v = numbers::<10>(words)?;
            (v[0], [v[5], v[6], v[7], v[2], v[9]])
        }
        _ => return None,
    };
    Some(Transport {
        protocol,
        port,
        counters,
    })
}

/// `READ: 1 2 3 4 5 6 7 8 [9]`.
fn op(line: &[u8]) -> Option<Line<'_>> {
    let colon = line.iter().position(|&b| b == b':')?;
    let words = || fields(&line[colon + 1..]);
    let mut counters = OpCounters::default();
    counters[..8].copy_from_slice(&numbers::<8>(words())?);
    let ninth = words().nth(8).and_then(number);
    counters[8] = ninth.unwrap_or_default();
    Some(Line::Op {
        name: &line[..colon],
        counters,
        errors: ninth.is_some(),
    })
}

/// The first `N` words as numbers; `None` if there are fewer.
///
/// A negative number (idle times are signed) reads as 0: no counter that is used is signed.
fn numbers<'a, const N: usize>(words: impl Iterator<Item = &'a [u8]>) -> Option<[u64; N]> {
    let mut values = [0; N];
    let mut found = 0;
    for (value, word) in values.iter_mut().zip(words) {
        *value = match word {
            [b'-', digits @ ..] => number(digits).map(|_| 0)?,
            _ => number(word)?,
        };
        found += 1;
    }
    (found == N).then_some(values)
}

/// A name as people write it: octal escapes (`\040` is a blank) undone.
pub fn unescaped(name: &[u8]) -> Cow<'_, str> {
    if !name.contains(&b'\\') {
        return text(name);
    }
    Cow::Owned(text(&read::unescaped(name)).into_owned())
}

/// The server's part of `server:/export`; IPv6 addresses have colons of their own.
pub fn server(device: &[u8]) -> &[u8] {
    let end = device.windows(2).position(|pair| pair == b":/");
    &device[..end.unwrap_or(device.len())]
}

/// The device number (`0:52`) in `/proc/self/mountinfo` of what is mounted at `path` from
/// `device`, both escaped: mounts with the same number are one file system.
pub fn device_number<'a>(mountinfo: &'a [u8], path: &[u8], device: &[u8]) -> Option<&'a [u8]> {
    lines(mountinfo).find_map(|line| {
        let mut words = fields(line).skip(2);
        let number = words.next()?;
        let found = words.nth(1)? == path && words.skip_while(|&w| w != b"-").nth(2)? == device;
        found.then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_line() {
        let line = b"device srv:/a\\040b mounted on /mnt/x with fstype nfs4 statvers=1.1";
        let expected = Line::Mount {
            device: b"srv:/a\\040b",
            path: b"/mnt/x",
            nfs: true,
        };
        assert_eq!(mount(line), Some(expected));
        let other = mount(b"device proc mounted on /proc with fstype proc");
        assert!(matches!(other, Some(Line::Mount { nfs: false, .. })));
        assert_eq!(mount(b"no device mounted on /x with fstype bpf"), None);
    }

    #[test]
    fn each_protocol_has_its_own_places() {
        let of = |line: &'static [u8]| transport(line).unwrap();
        let tcp = of(b"tcp 832 1 2 3 -4 6 7 8 9 10 11 12 13");
        assert_eq!((tcp.port, tcp.counters), (832, [6, 7, 8, 2, 10]));
        let udp = of(b"udp 800 1 6 7 8 9 10");
        assert_eq!((udp.port, udp.counters), (800, [6, 7, 8, 0, 10]));
        let rdma = of(b"rdma 0 0 2 3 4 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20");
        assert_eq!((rdma.port, rdma.counters), (0, [6, 7, 8, 2, 10]));
        let local = of(b"local 1 2 3 4 6 7 8 9 10 11 12 13");
        assert_eq!((local.port, local.counters), (0, [6, 7, 8, 2, 10]));
        assert_eq!(transport(b"tcp 832 1 2 3 4 6 7 8 9"), None);
        assert_eq!(transport(b"pigeon 1 2 3 4 5 6 7 8 9 10"), None);
    }

    #[test]
    fn operations_with_and_without_errors() {
        let old = op(b"READ: 1 2 3 4 5 6 7 8");
        assert!(matches!(old, Some(Line::Op { errors: false, .. })));
        let Some(Line::Op { name, counters, .. }) = op(b"READ: 1 2 3 4 5 6 7 8 9") else {
            panic!("no operation");
        };
        assert_eq!(
            (name, counters),
            (&b"READ"[..], [1, 2, 3, 4, 5, 6, 7, 8, 9])
        );
        assert_eq!(op(b"READ: 1 2 3 4 5 6 7"), None);
    }

    #[test]
    fn names_lose_their_escapes() {
        assert_eq!(unescaped(b"/a\\040b\\134c"), "/a b\\c");
        assert_eq!(unescaped(b"/odd\\09"), "/odd\\09");
        assert_eq!(server(b"fd00::1:/export"), b"fd00::1");
        assert_eq!(server(b"nfs.example.org:/"), b"nfs.example.org");
    }

    #[test]
    fn device_numbers_are_found_by_place_and_source() {
        let info = b"50 28 0:45 / /mnt/a rw,relatime shared:1 - nfs4 srv:/x rw,vers=4.2\n\
                     51 28 0:46 / /mnt/a rw,relatime - nfs4 srv:/y rw\n";
        assert_eq!(
            device_number(info, b"/mnt/a", b"srv:/y"),
            Some(&b"0:46"[..])
        );
        assert_eq!(device_number(info, b"/mnt/b", b"srv:/y"), None);
    }
}
