//! `/proc/self/mountstats` of NFS clients, read once or again and again.
//!
//! ```text
//! device box:/x mounted on /mnt with fstype nfs4 statvers=1.1
//!     bytes:  1207640230 0 0 0 1210214218 0 295483 0
//!     xprt:   tcp 832 0 1 0 11 6428 6428 0 12154 0 24 26 5726
//!     per-op statistics
//!         READ: 1298 1298 0 207680 1210292152 6 79386 79407
//! ```
//!
//! Bytes: by programs read, written, read and written with `O_DIRECT`; from and to the server;
//! pages. Operations: how many, transmissions, major timeouts, bytes sent and received, ms in
//! the queue, to the reply, in all, and errors (statvers 1.1 of later kernels). All are counts
//! since it was mounted.
//!
//! The command `mountstats --raw` prints the same, with two faults: of several connections (`nconnect=`)
//! older versions print one, and of kernels that count no errors a zero. Both are left out.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::counters::Counters;
use crate::list::Format;
use crate::number::number;
use crate::out::{Out, Shape};
use crate::prompt::is_chatter;
use crate::recognise::Head;
use crate::stamp_line::stamp_of;
use crate::{Line, Parser, fields, numbers};

pub(crate) const FORMAT: Format = Format {
    name: "mountstats",
    tool: "mountstats",
    systems: "Linux",
    help: "NFS client, by mount: operations, their times, bytes, transports",
    recognised: "lines `device X mounted on Y with fstype nfs`, or `per-op statistics`",
    yields: &["nfs", "nfs_bytes", "nfs_transport"],
    example: "\
device box:/x mounted on /mnt with fstype nfs4 statvers=1.1
\tage:\t13968
\tbytes:\t1207640230 0 0 0 1210214218 0 295483 0
\txprt:\ttcp 832 0 1 0 11 6428 6428 0 12154 0 24 26 5726
\tper-op statistics
\t        READ: 1298 1298 0 207680 1210292152 6 79386 79407
",
    recognise,
    parser: || Box::new(Mountstats::new()),
};

fn recognise(head: &Head) -> u8 {
    let device = |l: &[u8]| {
        let mut words = fields(l);
        words.next() == Some(b"device") && words.nth(1) == Some(b"mounted")
    };
    if head.lines().any(device) {
        if head.any_fields(&["per-op", "statistics"]) {
            95
        } else {
            80
        }
    } else {
        0
    }
}

/// Names of the numbers of `events:`.
const EVENTS: [&str; 27] = [
    "inode revalidations",
    "dentry revalidations",
    "data invalidations",
    "attribute invalidations",
    "opens",
    "lookups",
    "access checks",
    "page updates",
    "page reads",
    "pages reads",
    "page writes",
    "pages writes",
    "directory reads",
    "attribute changes",
    "flushes",
    "fsyncs",
    "locks",
    "releases",
    "congestion waits",
    "truncations",
    "extending writes",
    "silly renames",
    "short reads",
    "short writes",
    "delays",
    "pNFS reads",
    "pNFS writes",
];

/// What begins lines without numbers over time (`nfs_show_stats` in the kernel's `fs/nfs/super.c`,
/// `rpc_clnt_show_stats` in `net/sunrpc/stats.c`): options, what the server can do, who made it.
const SETTINGS: [&[u8]; 8] = [
    b"opts:",
    b"age:",
    b"impl_id:",
    b"caps:",
    b"nfsv4:",
    b"sec:",
    b"fsc:",
    b"RPC",
];

/// What ends the server's name for itself.
const NAME_ENDS: &[u8] = b"date='";

struct Mountstats {
    ops: Shape,
    bytes: Shape,
    transport: Shape,
    counters: Counters,
    ages: HashMap<Vec<u8>, f64>,
    /// The NFS mount whose lines come, and its server.
    mount: Option<(Vec<u8>, Vec<u8>)>,
    /// How many connections its options name, and what was read of them, each by kind and port.
    connections: f64,
    read: Vec<(Vec<u8>, [f64; 5])>,
    /// Its operations come.
    in_ops: bool,
    /// So many numbers of one are counted: nine with errors, if they are printed.
    counted: usize,
    /// The server's name for itself comes, which may hold ends of lines.
    in_name: bool,
    /// Mounts of this reading.
    seen: HashSet<Vec<u8>>,
    /// Connections of this reading, by server, kind and port: mounts share them.
    transports: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, [f64; 5]>>,
    readings: u64,
    stamped: bool,
}

impl Mountstats {
    fn new() -> Mountstats {
        Mountstats {
            ops: Shape::of(
                "nfs",
                &[
                    "ops",
                    "transmissions",
                    "timeouts",
                    "sent",
                    "received",
                    "queue_time",
                    "round_trip_time",
                    "time",
                    "errors",
                ],
            ),
            bytes: Shape::of("nfs_bytes", &["bytes"]),
            transport: Shape::of(
                "nfs_transport",
                &["sends", "replies", "bad_xids", "connects", "backlog"],
            ),
            counters: Counters::default(),
            ages: HashMap::new(),
            mount: None,
            connections: 1.0,
            read: Vec::new(),
            in_ops: false,
            counted: 9,
            in_name: false,
            seen: HashSet::new(),
            transports: BTreeMap::new(),
            readings: 0,
            stamped: false,
        }
    }

    fn begin(&mut self, out: &mut Out) {
        self.counters.next();
        self.readings += 1;
        if self.readings == 1 {
            out.since_boot();
            out.note("the first reading counts from when each file system was mounted");
        }
    }

    /// The mount's lines are over: its connections are those of its server.
    fn finish_mount(&mut self, out: &mut Out) {
        let read = std::mem::take(&mut self.read);
        let Some((_, server)) = self.mount.take() else {
            return;
        };
        if read.len() == 1 && self.connections > 1.0 {
            out.note(
                "of a mount with several connections mountstats --raw prints one, and its version \
                 decides whether that is the last one or their sum: it is left out",
            );
            return;
        }
        if !read.is_empty() {
            self.transports.entry(server).or_default().extend(read);
        }
    }

    fn finish_reading(&mut self, out: &mut Out) {
        self.finish_mount(out);
        self.seen.clear();
        for (server, connections) in std::mem::take(&mut self.transports) {
            let mut sum = [0.0; 5];
            let mut first = true;
            for (port, values) in connections {
                let key = [&server[..], b" ", &port].concat();
                let Some(grown) = self.counters.grown(&key, &values, out) else {
                    if out.is_since_boot() {
                        sum.iter_mut().zip(values).for_each(|(s, v)| *s += v);
                        first = false;
                    }
                    continue;
                };
                first = false;
                sum.iter_mut().zip(grown).for_each(|(s, v)| *s += v);
            }
            if !first {
                let server = out.word(&server);
                out.put_amounts(&self.transport, &[server], &sum);
            }
        }
    }

    /// `device X mounted on Y with fstype nfs4 statvers=1.1`.
    fn device(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let with = all.windows(2).rposition(|w| w == [&b"with"[..], b"fstype"]);
        let on = all.get(3).copied() == Some(&b"on"[..]);
        let Some(with) = with.filter(|at| on && *at >= 5) else {
            return Line::Unknown;
        };
        let kind = all.get(with + 2).copied().unwrap_or_default();
        self.finish_mount(out);
        (self.in_ops, self.in_name) = (false, false);
        (self.connections, self.counted) = (1.0, 9);
        // What has no numbers may come twice, as the first `rootfs`.
        let mount = all[4..with].join(&b' ');
        let key = [all[1], b" ", &mount].concat();
        if (!self.stamped && self.seen.contains(&key)) || !out.has_sample() {
            self.finish_reading(out);
            out.sample();
            self.begin(out);
        }
        self.seen.insert(key);
        if !matches!(kind, b"nfs" | b"nfs4") {
            self.mount = None;
            return Line::Noise;
        }
        // A server's name may be an address with colons, in brackets.
        let colon = all[1].windows(2).position(|w| w == b":/");
        let server = &all[1][..colon.unwrap_or(all[1].len())];
        self.mount = Some((mount, server.to_vec()));
        Line::Noise
    }

    fn bytes(&mut self, mount: &[u8], n: &[f64], out: &mut Out) {
        let (n, first) = self.grown(&[mount, b" bytes"].concat(), n, out);
        let words = |out: &mut Out, access: &str, layer: &str| {
            [mount, access.as_bytes(), layer.as_bytes()].map(|w| out.word(w))
        };
        for (i, (access, layer)) in [
            ("read", "program"),
            ("write", "program"),
            ("direct_read", "program"),
            ("direct_write", "program"),
            ("read", "server"),
            ("write", "server"),
        ]
        .into_iter()
        .enumerate()
        {
            let words = words(out, access, layer);
            let bytes = n.get(i).copied().unwrap_or(f64::NAN);
            put(out, &self.bytes, &words, &[bytes], first);
        }
        let mount = out.word(mount);
        for (column, at) in [("pages read", 6), ("pages written", 7)] {
            if let Some(pages) = n.get(at).filter(|_| !first || out.is_since_boot()) {
                out.other_grown(column, "pages", mount, *pages);
            }
        }
    }

    fn transport(&mut self, kind: &[u8], port: &[u8], n: &[f64]) -> bool {
        // After the port: `tcp` and `rdma` have binds, connects, their time, idle time.
        let (connects, sends) = match kind {
            b"tcp" | b"rdma" => (2, 5),
            b"udp" => (usize::MAX, 2),
            _ => return false,
        };
        let at = |place: usize| n.get(place).copied().unwrap_or(f64::NAN);
        let values = [
            at(sends),
            at(sends + 1),
            at(sends + 2),
            if connects < n.len() {
                at(connects)
            } else {
                0.0
            },
            at(sends + 4),
        ];
        if values.iter().any(|v| v.is_nan()) {
            return false;
        }
        self.read.push(([kind, b" ", port].concat(), values));
        true
    }

    fn operation(&mut self, mount: &[u8], op: &[u8], n: &[f64], out: &mut Out) {
        let key = [mount, b" ", op].concat();
        let (n, first) = self.grown(&key, n, out);
        if n.iter().all(|v| *v == 0.0) {
            return;
        }
        let counted = n.get(..self.counted).unwrap_or(&n);
        let at = |place: usize| counted.get(place).copied().unwrap_or(f64::NAN);
        let words = [out.word(mount), out.word(op)];
        let values = [
            at(0),
            at(1),
            at(2),
            at(3),
            at(4),
            at(5) / 1000.0,
            at(6) / 1000.0,
            at(7) / 1000.0,
            at(8),
        ];
        put(out, &self.ops, &words, &values, first);
    }

    /// Seconds since it was mounted: where they are fewer than before it was mounted anew meanwhile.
    fn age(&mut self, mount: &[u8], age: Option<f64>) {
        let Some(age) = age else { return };
        let before = self.ages.insert(mount.to_vec(), age);
        if before.is_some_and(|before| age < before) {
            self.counters.anew(&[mount, b" "].concat());
        }
    }

    fn grown(&mut self, key: &[u8], now: &[f64], out: &mut Out) -> (Vec<f64>, bool) {
        // Some kernels let a time fall below zero, which is printed as a huge number.
        let sound = |v: &f64| if *v >= 9e18 { f64::NAN } else { *v };
        let now: Vec<f64> = now.iter().map(sound).collect();
        self.counters.grown_or_whole(key, now, out)
    }

    /// A line of an NFS mount.
    fn of_mount(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let Some((mount, _)) = self.mount.clone() else {
            return Line::Unknown;
        };
        let first = all[0];
        let is_head = matches!(first, b"bytes:" | b"events:" | b"xprt:" | b"per-op");
        if self.in_ops && (is_head || SETTINGS.contains(&first)) {
            // Of another mount, whose line with its name was lost.
            self.finish_mount(out);
            return Line::Unknown;
        }
        if all.starts_with(&[b"per-op", b"statistics"]) {
            self.in_ops = true;
            return Line::Noise;
        }
        let ends = || {
            all.iter()
                .any(|f| memchr::memmem::find(f, NAME_ENDS).is_some())
        };
        if self.in_name {
            self.in_name = !ends();
            return Line::Noise;
        }
        self.in_name = first == b"impl_id:" && !ends();
        match first {
            b"opts:" => self.connections = connections(all[1..].iter().copied()),
            // Before Linux 5.3 there are none.
            b"RPC" if all.get(3) == Some(&&b"1.0"[..]) => self.counted = 8,
            b"age:" => self.age(&mount, all.get(1).copied().and_then(number)),
            _ => {}
        }
        let rest = numbers(all[1..].iter().copied());
        if self.in_ops {
            let (Some(op), Some(n)) = (first.strip_suffix(b":"), rest) else {
                return Line::Unknown;
            };
            if n.len() < 8 {
                return Line::Unknown;
            }
            self.operation(&mount, op, &n, out);
            return Line::Data;
        }
        match (first, rest) {
            (b"bytes:", Some(n)) if n.len() >= 6 => self.bytes(&mount, &n, out),
            (b"events:", Some(n)) => {
                let (n, first) = self.grown(&[&mount[..], b" events"].concat(), &n, out);
                let mount = out.word(&mount);
                if !first || out.is_since_boot() {
                    for (name, value) in EVENTS.iter().zip(&n) {
                        out.other_grown(name, "count", mount, *value);
                    }
                }
            }
            (b"xprt:", _) => {
                let n = numbers(all.iter().skip(2).copied());
                let (Some(&kind), Some(&port), Some(n)) = (all.get(1), all.get(2), n) else {
                    return Line::Unknown;
                };
                if !self.transport(kind, port, &n) {
                    return Line::Unknown;
                }
            }
            (b"bytes:", _) | (b"events:", None) => return Line::Unknown,
            (setting, _) if SETTINGS.contains(&setting) => return Line::Noise,
            _ => return Line::Unknown,
        }
        Line::Data
    }
}

/// How many connections the options of a mount name.
fn connections<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> f64 {
    let mut options = words.into_iter().flat_map(|w| w.split(|b| *b == b','));
    let count = options.find_map(|o| o.strip_prefix(b"nconnect="));
    count.and_then(number).unwrap_or(1.0)
}

fn put(out: &mut Out, shape: &Shape, words: &[run::Word], values: &[f64], first: bool) {
    if first {
        out.put_since_boot(shape, words, values);
    } else {
        out.put_amounts(shape, words, values);
    }
}

impl Parser for Mountstats {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(&first) = all.first() else {
            return Line::Noise;
        };
        if first == b"device" && all.get(2) == Some(&&b"mounted"[..]) {
            return self.device(&all, out);
        }
        if all.starts_with(&[b"no", b"device", b"mounted"]) {
            self.finish_mount(out);
            return Line::Noise;
        }
        match stamp_of(line, out) {
            Ok(Some(stamp)) => {
                self.finish_reading(out);
                out.sample_once(Some(stamp));
                self.begin(out);
                self.stamped = true;
                return Line::Noise;
            }
            Ok(None) => {}
            Err(why) => out.refuse(why),
        }
        match self.of_mount(&all, out) {
            Line::Unknown if is_chatter(line) => Line::Noise,
            seen => seen,
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.finish_reading(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Import, Options};

    #[test]
    fn only_lines_that_are_known_are_noise() {
        for (line, unknown) in [
            ("\tcaps:\tcaps=0xffbfff7,wtmult=512", 0),
            ("\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)", 0),
            ("\timpl_id:\tname='a',domain='b',date='0,0'", 0),
            ("\timpl_id:\tname='a\nb 1.2\n',domain='b',date='0,0'", 0),
            ("ssh: connection lost", 1),
            ("\tbyte:\t1207640230 0 0 0 1210214218 0 295483 0", 1),
        ] {
            let text = FORMAT.example.replacen("\tage:\t13968", line, 1);
            let head = Head::new(text.as_bytes());
            let options = Options {
                every: Some(1.0),
                ..Options::default()
            };
            let mut import = Import::new(crate::named("mountstats").unwrap(), &head, options);
            import.feed(text.as_bytes()).unwrap();
            assert_eq!(import.finish().unwrap().unknown, unknown, "{line}");
        }
    }
}
