//! NFS client, from `/proc/self/mountstats`.
//!
//! ```text
//! device srv:/tank mounted on /mnt/tank with fstype nfs4 statvers=1.1
//!         age:    3600
//!         bytes:  1048576 0 0 65536 1048576 65536 256 16
//!         xprt:   tcp 832 0 1 0 0 400 400 0 420 0 2 0 0
//!         per-op statistics
//!                 READ: 16 16 0 3200 1052672 6 120 130 0
//! ```
//! An operation's numbers are: operations, transmissions, major timeouts, bytes sent and
//! received, ms queued, ms on the wire, ms in all, and since 5.3 errors. All are 64 bits.
//!
//! What is shared is counted once. Two mounts of one file system (same device number in
//! mountinfo) print the same statistics: only the first has rows. Mounts of one server
//! share their connections: these belong to the server. What the client does for its lease
//! (`LEASE_OPS`) is printed by every mount of a version 4 server, and cannot be told apart.
//!
//! <https://docs.kernel.org/filesystems/nfs/index.html>, `net/sunrpc/stats.c`

pub mod mountstats;

use std::io;
use std::path::{Path, PathBuf};

use run::rows::TableId;
use run::{Sink, Word};

use self::mountstats::{Line, OpCounters, Transport, device_number, parse, server, unescaped};
use crate::read::{Kept, fields, grown, lines, text};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "nfs",
    help: "NFS client: operations, bytes, times, by mount and operation",
    reads: "/proc/self/mountstats, /proc/self/mountinfo",
    link: "https://man7.org/linux/man-pages/man8/mountstats.8.html",
    detail: Detail::Samples,
    open,
};

/// Access and layer of the six numbers of a `bytes:` line.
const BYTES: [(&str, &str); 6] = [
    ("read", "program"),
    ("write", "program"),
    ("direct_read", "program"),
    ("direct_write", "program"),
    ("read", "server"),
    ("write", "server"),
];

/// Operations that a client does once for a server: a new mount shows those of its elders.
const LEASE_OPS: [&[u8]; 12] = [
    b"NULL",
    b"RENEW",
    b"SETCLIENTID",
    b"SETCLIENTID_CONFIRM",
    b"EXCHANGE_ID",
    b"CREATE_SESSION",
    b"DESTROY_SESSION",
    b"SEQUENCE",
    b"GET_LEASE_TIME",
    b"RECLAIM_COMPLETE",
    b"BIND_CONN_TO_SESSION",
    b"DESTROY_CLIENTID",
];

/// What a mount's counters are compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    /// The last reading.
    Before,
    /// Its mounting, in this interval: zero.
    Mounted,
    /// Nothing that is known; they are remembered for the next time.
    Unknown,
    /// It was mounted anew: the amount is not known.
    Reset,
}

struct Op {
    name: Vec<u8>,
    word: Word,
    before: OpCounters,
}

struct Connection {
    protocol: Vec<u8>,
    port: u64,
    before: [u64; 5],
}

struct Mount {
    device: Vec<u8>,
    path: Vec<u8>,
    word: Word,
    /// Place in `servers`.
    server: usize,
    /// Major and minor number; `None` where mountinfo does not tell.
    number: Option<Vec<u8>>,
    age: u64,
    bytes: Option<[u64; 6]>,
    ops: Vec<Op>,
    connections: Vec<Connection>,
}

/// What a server's connections did in this interval.
struct Server {
    name: Vec<u8>,
    word: Word,
    /// Protocol (its first letter tells it), port, and which of those with that port.
    counted: Vec<(u8, u64, usize)>,
    sums: [f64; 5],
}

struct Words {
    bytes: [[Word; 2]; 6],
    read: Word,
}

struct Nfs {
    file: Kept,
    mountinfo: PathBuf,
    buffer: Vec<u8>,
    /// In the file's order.
    mounts: Vec<Mount>,
    servers: Vec<Server>,
    words: Option<Words>,
    by_op: TableId,
    by_access: TableId,
    by_server: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(Nfs::open(host)?))
}

/// Whether the kernel knows NFS now. Mounts may still come; a recording then sees them.
fn has_nfs(host: &Host) -> bool {
    let known = std::fs::read(host.proc("filesystems")).unwrap_or_default();
    lines(&known).any(|line| matches!(fields(line).last(), Some(b"nfs" | b"nfs4")))
}

impl Source for Nfs {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        self.words.get_or_insert_with(|| Words {
            bytes: BYTES.map(|(access, layer)| [out.word(access), out.word(layer)]),
            read: out.word("READ"),
        });
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self
            .file
            .read(&mut buffer)
            .map(|bytes| self.rows(bytes, interval, out));
        self.buffer = buffer;
        read
    }
}

/// Where a pass through the file is.
struct Section {
    /// Place in `mounts`.
    mount: usize,
    since: Since,
    /// Whether it is the first mount of its file system.
    first: bool,
    ops: usize,
    rows: usize,
    connections: usize,
}

impl Nfs {
    fn open(host: &Host) -> Result<Nfs, Availability> {
        if !has_nfs(host) {
            return Err(Availability::Unsupported {
                needs: "the nfs module (modprobe nfs; mounting an NFS export loads it)".into(),
            });
        }
        let path = host.proc("self/mountstats");
        let file = Kept::open(&path).map_err(|e| {
            let remedy = format!("let this user read {}", path.display());
            Availability::of(&path, &e, "a kernel with /proc/self/mountstats", &remedy)
        })?;
        Ok(Nfs {
            file,
            mountinfo: host.proc("self/mountinfo"),
            buffer: Vec::new(),
            mounts: Vec::new(),
            servers: Vec::new(),
            words: None,
            by_op: TableId::of("nfs"),
            by_access: TableId::of("nfs_bytes"),
            by_server: TableId::of("nfs_transport"),
        })
    }

    fn rows(&mut self, bytes: &[u8], interval: Option<f64>, out: &mut Sink) {
        for server in &mut self.servers {
            server.counted.clear();
            server.sums = [0.0; 5];
        }
        let mut section: Option<Section> = None;
        let mut mounts = 0;
        for line in parse(bytes) {
            if let Line::Mount { device, path, nfs } = line {
                self.end(section.take(), out);
                if nfs {
                    section = Some(self.begin(mounts, device, path, interval, out));
                    mounts += 1;
                }
                continue;
            }
            let Some(section) = &mut section else {
                continue;
            };
            match line {
                Line::Age(age) => self.age(section, age, interval),
                Line::Bytes(now) => self.bytes(section, now, out),
                Line::Transport(transport) => self.transport(section, &transport),
                Line::Op {
                    name,
                    counters,
                    errors,
                } => self.op(section, name, counters, errors, out),
                Line::Mount { .. } => {}
            }
        }
        self.end(section, out);
        self.mounts.truncate(mounts);
        for server in self.servers.iter().filter(|s| !s.counted.is_empty()) {
            out.row(self.by_server, &[server.word], &server.sums);
        }
    }

    /// The mount whose section begins, at place `at` of `mounts`.
    fn begin(
        &mut self,
        at: usize,
        device: &[u8],
        path: &[u8],
        interval: Option<f64>,
        out: &mut Sink,
    ) -> Section {
        let same = |m: &Mount| m.device == device && m.path == path;
        let known = self.mounts[at..].iter().position(same);
        let since = if let Some(ahead) = known {
            self.mounts.swap(at, at + ahead);
            Since::Before
        } else {
            let mount = self.new_mount(device, path, out);
            self.mounts.insert(at, mount);
            Since::Unknown
        };
        let (elders, rest) = self.mounts.split_at(at);
        let number = &rest[0].number;
        let first = number.is_none() || !elders.iter().any(|m| m.number == *number);
        Section {
            mount: at,
            since: if interval.is_some() {
                since
            } else {
                Since::Unknown
            },
            first,
            ops: 0,
            rows: 0,
            connections: 0,
        }
    }

    fn new_mount(&mut self, device: &[u8], path: &[u8], out: &mut Sink) -> Mount {
        let name = server(device);
        let known = self.servers.iter().position(|s| s.name == name);
        let server = known.unwrap_or_else(|| {
            self.servers.push(Server {
                name: name.to_vec(),
                word: out.word(&unescaped(name)),
                counted: Vec::new(),
                sums: [0.0; 5],
            });
            self.servers.len() - 1
        });
        Mount {
            device: device.to_vec(),
            path: path.to_vec(),
            word: out.word(&unescaped(path)),
            server,
            number: number(&self.mountinfo, path, device),
            age: 0,
            bytes: None,
            ops: Vec::new(),
            connections: Vec::new(),
        }
    }

    /// The age tells a new mount from one that only came into sight (a bind mount, a move
    /// between namespaces), and a mount from its successor in the same place.
    fn age(&mut self, section: &mut Section, age: u64, interval: Option<f64>) {
        let mount = &mut self.mounts[section.mount];
        let before = std::mem::replace(&mut mount.age, age);
        match (section.since, interval) {
            (Since::Before, _) if age < before => {
                section.since = Since::Reset;
                mount.number = number(&self.mountinfo, &mount.path, &mount.device);
            }
            (Since::Unknown, Some(seconds)) if age as f64 <= seconds => {
                section.since = Since::Mounted;
            }
            _ => {}
        }
    }

    fn bytes(&mut self, section: &Section, now: [u64; 6], out: &mut Sink) {
        let mount = &mut self.mounts[section.mount];
        let since = match (mount.bytes, section.since) {
            (None, Since::Before) => Since::Unknown,
            (_, since) => since,
        };
        let before = mount.bytes.replace(now).unwrap_or_default();
        let Some(words) = self.words.as_ref().filter(|_| section.first) else {
            return;
        };
        for (i, &[access, layer]) in words.bytes.iter().enumerate() {
            if let Some(moved) = amount(since, before[i], now[i]) {
                out.row(self.by_access, &[mount.word, access, layer], &[moved]);
            }
        }
    }

    fn op(
        &mut self,
        section: &mut Section,
        name: &[u8],
        now: OpCounters,
        errors: bool,
        out: &mut Sink,
    ) {
        let mount = &mut self.mounts[section.mount];
        let at = section.ops.min(mount.ops.len());
        section.ops += 1;
        let mut since = section.since;
        if let Some(ahead) = mount.ops[at..].iter().position(|op| op.name == name) {
            mount.ops.swap(at, at + ahead);
        } else {
            let op = Op {
                name: name.to_vec(),
                word: out.word(&text(name)),
                before: OpCounters::default(),
            };
            mount.ops.insert(at, op);
            if since == Since::Before {
                since = Since::Unknown;
            }
        }
        if since == Since::Mounted && LEASE_OPS.contains(&name) {
            since = Since::Unknown;
        }
        let op = &mut mount.ops[at];
        let before = std::mem::replace(&mut op.before, now);
        // After a new mount, even an operation with the same numbers did an unknown amount.
        let changed = now != before || since == Since::Reset && now[0] > 0;
        if !changed || since == Since::Unknown || !section.first {
            return;
        }
        let count = |i: usize| amount(since, before[i], now[i]).unwrap_or(f64::NAN);
        let values = [
            count(0),
            count(1),
            count(2),
            if errors { count(8) } else { f64::NAN },
            count(3),
            count(4),
            count(5) / 1e3,
            count(6) / 1e3,
            count(7) / 1e3,
        ];
        section.rows += 1;
        out.row(self.by_op, &[mount.word, op.word], &values);
    }

    /// Adds a connection to its server, unless another mount brought it.
    fn transport(&mut self, section: &mut Section, transport: &Transport) {
        let mount = &mut self.mounts[section.mount];
        let connections = &mut mount.connections;
        let at = section.connections.min(connections.len());
        section.connections += 1;
        let same = |c: &Connection| c.port == transport.port && c.protocol == transport.protocol;
        let known = connections[at..].iter().position(same);
        let twins = connections[..at].iter().filter(|c| same(c)).count();
        let before = if let Some(ahead) = known {
            connections.swap(at, at + ahead);
            let before = &mut connections[at].before;
            Some(std::mem::replace(before, transport.counters))
        } else {
            let connection = Connection {
                protocol: transport.protocol.to_vec(),
                port: transport.port,
                before: transport.counters,
            };
            // One that went elsewhere (another port) makes way for the new one.
            if at < connections.len() {
                connections[at] = connection;
            } else {
                connections.push(connection);
            }
            None
        };
        if matches!(section.since, Since::Unknown | Since::Mounted) {
            return;
        }
        let key = (
            transport.protocol.first().copied().unwrap_or_default(),
            transport.port,
            twins,
        );
        let server = &mut self.servers[mount.server];
        if server.counted.contains(&key) {
            return;
        }
        server.counted.push(key);
        for (i, sum) in server.sums.iter_mut().enumerate() {
            // A new connection of an old mount may be an old one on a new port.
            let known = before.filter(|_| section.since == Since::Before);
            *sum += known.map_or(f64::NAN, |b| grown(b[i], transport.counters[i]));
        }
    }

    /// A mount on which nothing was done has one row that says so.
    fn end(&mut self, section: Option<Section>, out: &mut Sink) {
        let Some(section) = section else {
            return;
        };
        let mount = &mut self.mounts[section.mount];
        mount.connections.truncate(section.connections);
        let compared = matches!(section.since, Since::Before | Since::Mounted);
        if let Some(words) = self.words.as_ref()
            && compared
            && section.first
            && section.ops > 0
            && section.rows == 0
        {
            out.row(self.by_op, &[mount.word, words.read], &[0.0; 9]);
        }
    }
}

/// The device number of a mount. Read only when a mount is new: mountinfo is long.
fn number(mountinfo: &Path, path: &[u8], device: &[u8]) -> Option<Vec<u8>> {
    let mountinfo = std::fs::read(mountinfo).ok()?;
    device_number(&mountinfo, path, device).map(<[u8]>::to_vec)
}

/// How much was added since then; `None` where there is nothing to compare with.
fn amount(since: Since, before: u64, now: u64) -> Option<f64> {
    match since {
        Since::Before => Some(grown(before, now)),
        Since::Mounted => Some(now as f64),
        Since::Unknown => None,
        Since::Reset => Some(f64::NAN),
    }
}

#[cfg(test)]
mod tests;
