//! `mountstats` of nfs-utils, also with `--nfs`, `--rpc` and `--xprt`: what NFS mounts counted since
//! they were mounted.
//!
//! ```text
//! Stats for box:/x mounted on /mnt:
//!   NFS mount options: rw,vers=4.2,proto=tcp
//!   NFS mount age: 1 day, 0:10:00
//!
//! NFS byte counts:
//!   applications read 248542089 bytes via read(2)
//!
//! RPC statistics:
//!   699 RPC requests sent, 699 RPC replies received (0 XIDs not found)
//!   average backlog queue length: 0
//!
//! READ:
//!         338 ops (48%)   2 retrans (0%)  0 major timeouts        1 errors (0%)
//!         avg bytes sent per op: 216      avg bytes received per op: 507131
//!         backlog wait: 0.005917  RTT: 548.736686         total execute time: 548.775148 (milliseconds)
//! ```
//!
//! Of the second and later outputs the growth is taken. Operations are printed as counts, their
//! bytes and times as means since mounting: those of an interval are left out where the rounding
//! of these makes more than a hundredth of them ([`reading`]). Errors are zero where they are missing,
//! if others are there; major timeouts are printed beside retransmissions, and not known without.
//!
//! Of several connections of a mount older versions tell of the last one alone, newer ones of all, and
//! several mounts of a server may share one: what such requests are is not told, so they are
//! kept by mount, as is what `--xprt` prints. Old versions print no mount with `--rpc`: only a command
//! line that was kept tells it. `--raw` prints `/proc/self/mountstats`, `iostat` and
//! `nfsstat` what `nfsiostat` and `nfsstat` do. With `--since` counts are differences to a file
//! of an unknown time: the command line shows it, or the age, which does not grow as time does.

mod reading;
mod rows;
mod sentences;

use std::collections::{BTreeMap, HashSet};

use crate::list::Format;
use crate::out::{Out, Shape};
use crate::recognise::Head;
use crate::repeated::Repeated;
use crate::time::Refused;
use crate::{Line, Parser, Stamp, prompt, stamp_line};

use reading::{Before, Mount, Operation};
use sentences::Number;

pub(crate) const FORMAT: Format = Format {
    name: "mountstats-text",
    tool: "mountstats",
    systems: "Linux",
    help: "the command mountstats: NFS operations, bytes and requests by mount, since mounting; of \
           repeated outputs what came",
    recognised: "a line `Stats for X mounted on Y:`, or `N RPC requests sent, …`",
    yields: &["nfs", "nfs_bytes", "nfs_transport"],
    example: "\
Stats for box:/x mounted on /mnt:
  NFS mount options: rw,vers=3,proto=tcp
  NFS mount age: 0:10:00

NFS byte counts:
  applications read 1048576 bytes via read(2)
  client read 524288 bytes via NFS READ

RPC statistics:
  20 RPC requests sent, 20 RPC replies received (0 XIDs not found)
  average backlog queue length: 0

READ:
\t8 ops (40%) \t1 retrans (12%) \t0 major timeouts
\tavg bytes sent per op: 130\tavg bytes received per op: 65664
\tbacklog wait: 0.125000 \tRTT: 1.500000 \ttotal execute time: 1.750000 (milliseconds)
",
    recognise: |head: &Head| {
        let requests = |l: &[u8]| memchr::memmem::find(l, b" RPC requests sent, ").is_some();
        if head.lines().any(|l| mount(l).is_some()) {
            90
        } else if head.lines().any(requests) {
            85
        } else {
            0
        }
    },
    parser: || Box::new(Mountstats::new()),
};

/// Server's name and mount of `Stats for box:/x mounted on /mnt:`.
fn mount(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.trim_ascii().strip_prefix(b"Stats for ")?;
    let at = memchr::memmem::find(rest, b" mounted on ")?;
    let mount = rest[at + 12..].strip_suffix(b":")?;
    let export = &rest[..at];
    // A server's name may be an address with colons, in brackets.
    let colon = memchr::memmem::find(export, b":/");
    let server = &export[..colon.unwrap_or(export.len())];
    (!server.is_empty() && !mount.is_empty()).then_some((server, mount))
}

/// One reading: what was printed at a time.
#[derive(Default)]
struct Mounts {
    mounts: BTreeMap<Vec<u8>, Mount>,
    stamp: Option<Stamp>,
}

/// Of the mount whose lines come: what stands above its numbers.
#[derive(Clone, Default)]
struct Heading {
    name: Vec<u8>,
    server: Vec<u8>,
    age: Option<f64>,
    connections: Option<f64>,
    /// No requests of it can come any more: they came, or its events did (`--nfs`).
    is_told: bool,
}

struct Mountstats {
    ops: Shape,
    bytes: Shape,
    transport: Shape,
    reports: Repeated,
    heading: Option<Heading>,
    /// The operation whose paragraph comes, and whether its count was understood.
    operation: Option<(Vec<u8>, bool)>,
    now: Mounts,
    before: Option<Mounts>,
    stamp: Option<Stamp>,
    /// The command line had `--since`.
    since: bool,
    /// The one mount that the command line names.
    named: Option<Vec<u8>>,
    /// Servers of which there were several mounts.
    shared: HashSet<Vec<u8>>,
    /// The kernel counts errors, and the tool prints them.
    errors_known: bool,
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
                &["sends", "replies", "bad_xids", "backlog"],
            ),
            reports: Repeated::new(),
            heading: None,
            operation: None,
            now: Mounts::default(),
            before: None,
            stamp: None,
            since: false,
            named: None,
            shared: HashSet::new(),
            errors_known: false,
        }
    }

    /// The mount that a line tells of, in the reading that it belongs to: it begins the next if
    /// this one has the same already.
    fn told(&mut self, what: &[u8], out: &mut Out) -> Option<&mut Mount> {
        let heading = self.heading.clone()?;
        let key = [&heading.name[..], b" ", what].concat();
        if self.reports.is_over() || self.reports.has(&key) {
            self.finish_reading(out);
            self.now.stamp = self.stamp.take();
        }
        self.reports.counted(&key, out);
        let since = self.since;
        let mount = self.now.mounts.entry(heading.name).or_default();
        mount.server = heading.server;
        mount.age = heading.age.or(mount.age);
        mount.connections = heading.connections.or(mount.connections);
        mount.since |= since;
        Some(mount)
    }

    fn finish_reading(&mut self, out: &mut Out) {
        let now = std::mem::take(&mut self.now);
        if now.mounts.is_empty() {
            return;
        }
        if self.before.is_none() {
            out.note("the first output counts from when each file system was mounted");
        }
        let operations = now.mounts.values().flat_map(|m| m.operations.values());
        self.errors_known |= operations.into_iter().any(|o| o.done.errors.is_some());
        let mut servers = HashSet::new();
        for mount in now.mounts.values() {
            if mount.numbers.contains_key(&Number::Sends) && !servers.insert(&mount.server) {
                self.shared.insert(mount.server.clone());
            }
        }
        let last = self.before.take().unwrap_or_default();
        let passed = seconds(last.stamp, now.stamp);
        for (name, mount) in &now.mounts {
            let before = match last.mounts.get(name) {
                None => Before::Nothing,
                Some(before) if mount.goes_on_from(before, passed) => Before::Reading(before),
                Some(_) => {
                    out.note(
                        "where counters of a mount fell, or its age does not grow as time does, it \
                         was mounted anew or mountstats was run with --since: what came to them is \
                         not known",
                    );
                    Before::Other
                }
            };
            self.put_operations(name, mount, &before, out);
            self.put_numbers(name, mount, &before, out);
            let alone = !self.shared.contains(&mount.server);
            self.put_requests(name, mount, &before, alone, out);
        }
        self.before = Some(now);
    }

    /// Of the mount whose lines come something is missing.
    fn loses(&mut self) {
        let mount = self
            .heading
            .as_ref()
            .and_then(|h| self.now.mounts.get_mut(&h.name));
        if let Some(mount) = mount {
            mount.lost = true;
        }
    }

    /// What is known of the command line: `--since`, and the only mount it names.
    fn command(&mut self, arguments: &[String]) {
        let file = |a: &str| matches!(a, "-f" | "--file" | "-S" | "--since");
        let since = |a: &String| a == "-S" || a.starts_with("--since");
        self.since = arguments.iter().any(since);
        let valued = |i: usize| i > 0 && file(&arguments[i - 1]);
        let mut mounts = arguments
            .iter()
            .enumerate()
            .filter(|(i, a)| a.starts_with('/') && !valued(*i))
            .map(|(_, a)| a.clone().into_bytes());
        self.named = mounts.next().filter(|_| mounts.next().is_none());
        self.heading = None;
        self.operation = None;
    }

    /// The heading above the requests. Old versions print no mount above it with `--rpc`.
    fn requests_begin(&mut self, out: &mut Out) {
        let told = self.heading.as_ref().is_some_and(|h| !h.is_told);
        if !told {
            self.heading = self.named.clone().map(|name| Heading {
                name,
                ..Heading::default()
            });
            if self.heading.is_none() {
                out.refuse(Refused(
                    "it does not tell of which mount the requests are: old versions of mountstats \
                     print no mount with --rpc\n\
                     hint: keep the command line above its output, or import /proc/self/mountstats"
                        .into(),
                ));
            }
        }
        if let Some(heading) = &mut self.heading {
            heading.is_told = true;
        }
    }

    /// A setting or a heading.
    fn setting(&mut self, text: &str, out: &mut Out) -> Line {
        if text.starts_with("RPC statistics:") {
            self.requests_begin(out);
        }
        let Some(heading) = &mut self.heading else {
            return Line::Noise;
        };
        if let Some(options) = text.strip_prefix("NFS mount options:") {
            let mut options = options.trim().split(',');
            let count = options.find_map(|o| o.strip_prefix("nconnect="));
            heading.connections = count.and_then(|c| c.parse().ok());
        }
        heading.is_told |= text.starts_with("Cache events:");
        Line::Noise
    }

    /// The first line of an operation's paragraph.
    fn done(&mut self, words: &[&str], out: &mut Out) -> Option<Line> {
        let done = sentences::done(words)?;
        let (op, counted) = self.operation.clone()?;
        if counted {
            return None;
        }
        let key = [b"op ", &op[..]].concat();
        let mount = self.told(&key, out)?;
        mount.operations.insert(op.clone(), Operation::new(done));
        self.operation = Some((op, true));
        Some(Line::Data)
    }

    fn numbers(&mut self, numbers: &[(Number, f64)], out: &mut Out) -> Option<Line> {
        use Number::{QueueTime, Received, RoundTripTime, Sent, Time};
        for (number, value) in numbers {
            if matches!(number, Sent | Received | QueueTime | RoundTripTime | Time) {
                let (op, _) = self.operation.as_ref().filter(|(_, counted)| *counted)?;
                let name = &self.heading.as_ref()?.name;
                let mount = self.now.mounts.get_mut(name)?;
                mount.operations.get_mut(op)?.take(*number, *value);
            } else {
                let key = format!("{number:?}");
                let mount = self.told(key.as_bytes(), out)?;
                mount.numbers.insert(*number, *value);
            }
        }
        Some(Line::Data)
    }

    /// A line of a mount.
    fn of_mount(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        if sentences::is_setting(text) {
            self.operation = None;
            return Some(self.setting(text, out));
        }
        if let Some(age) = text.strip_prefix("NFS mount age:") {
            let age = sentences::age(age.trim())?;
            self.heading.as_mut()?.age = Some(age);
            return Some(Line::Noise);
        }
        self.heading.as_ref()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        if let [op] = words[..]
            && let Some(op) = op.strip_suffix(':')
        {
            let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
            (!op.is_empty() && op.bytes().all(plain)).then_some(())?;
            self.operation = Some((op.as_bytes().to_vec(), false));
            return Some(Line::Noise);
        }
        if let Some(seen) = self.done(&words, out) {
            return Some(seen);
        }
        let numbers = sentences::numbers(&words)?;
        self.numbers(&numbers, out)
    }
}

/// Seconds between two times that a text tells.
fn seconds(from: Option<Stamp>, to: Option<Stamp>) -> Option<f64> {
    match (from?, to?) {
        (Stamp::Epoch(from), Stamp::Epoch(to)) => Some((to.saturating_sub(from)) as f64 / 1e9),
        (Stamp::Civil(from), Stamp::Civil(to)) => Some(to.duration_since(from).as_secs_f64()),
        (Stamp::Zoned(from, a), Stamp::Zoned(to, b)) if a == b => {
            Some(to.duration_since(from).as_secs_f64())
        }
        (Stamp::Clock(from), Stamp::Clock(to)) => {
            let passed = to.duration_since(from).as_secs_f64();
            (passed >= 0.0).then_some(passed)
        }
        _ => None,
    }
}

impl Parser for Mountstats {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if line.trim_ascii().is_empty() {
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["mountstats"]) {
            self.command(&arguments);
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.reports.made_at(stamp);
            self.stamp = Some(stamp);
            (self.heading, self.operation) = (None, None);
            return Line::Noise;
        }
        if let Some((server, name)) = mount(line) {
            self.operation = None;
            self.heading = Some(Heading {
                name: name.to_vec(),
                server: server.to_vec(),
                ..Heading::default()
            });
            return Line::Noise;
        }
        let seen = std::str::from_utf8(line)
            .ok()
            .and_then(|text| self.of_mount(text.trim(), out));
        if let Some(seen) = seen {
            return seen;
        }
        if prompt::is_chatter(line) {
            return Line::Noise;
        }
        self.operation = None;
        self.loses();
        Line::Unknown
    }

    fn end(&mut self, out: &mut Out) {
        // It may have been cut off between two operations.
        self.loses();
        self.finish_reading(out);
    }
}
