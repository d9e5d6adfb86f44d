//! Network interfaces, from `/proc/net/dev`.
//!
//! ```text
//!  face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
//!   eth0: 160584861    5114    0    0    0     0          0         0   327652    3047    0    0    0     0       0          0
//! ```
//! A name ends at the last colon (old kernels print an alias as `eth0:1`, and no space after
//! the colon). Received drops are those of the kernel and those the hardware missed.
//!
//! The file tells interfaces apart by name only. One that is removed and made again under
//! its name counts from zero: where a counter goes back, none of that interval's amounts is
//! known. If within one interval it overtakes all its old counters, nothing tells. One that
//! appears counts from zero if it is new, and goes on under its new name if it was renamed; if it
//! came from another namespace its first interval is left out.
//!
//! Layers: a physical interface is an `edge`, also as a member of a bond, which is then
//! `virtual`. In a namespace without a physical interface, as a container's, what rests on
//! nothing else in it is the edge. See [`link`].
//!
//! <https://docs.kernel.org/networking/statistics.html>

pub(crate) mod link;

use std::io;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, advance, fields, lines, number, once, text};
use crate::{Availability, Detail, Entry, Host, Source};
use link::Kind;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "net",
    help: "network interfaces: bytes, packets, errors, drops, by direction",
    reads: "/proc/net/dev, /sys/class/net",
    link: "https://docs.kernel.org/networking/statistics.html",
    detail: Detail::Samples,
    open,
};

const DIRECTIONS: [&str; 2] = ["receive", "transmit"];
const MULTICAST: usize = 7;
const COLLISIONS: usize = 5;

/// Bytes per second of one Mbit/s, the unit of `speed`.
const MEGABIT: f64 = 1e6 / 8.0;

/// Seconds for which a link's speed and kind are taken as read: some drivers ask the
/// hardware, under a lock that all of the network's configuration shares.
const LINK_LIFE: f64 = 10.0;

/// One interface's counters as the kernel prints them: received, then transmitted; each
/// bytes, packets, errors, drops, overruns, then five, six and seven as [`MULTICAST`] and
/// [`COLLISIONS`] name them.
pub type Counters = [[u64; 8]; 2];

/// Name and counters of a line; `None` if it is not one.
pub fn parse_line(line: &[u8]) -> Option<(&[u8], Counters)> {
    let colon = line.iter().rposition(|&b| b == b':')?;
    let name = line[..colon].trim_ascii();
    let mut counters = Counters::default();
    let mut fields = fields(&line[colon + 1..]);
    for value in counters.as_flattened_mut() {
        *value = number(fields.next()?)?;
    }
    (!name.is_empty()).then_some((name, counters))
}

/// How far each counter went; NaN for all if the interface was made anew.
///
/// A single counter that goes back may have wrapped at 32 bits, as a few drivers' do.
fn amounts(before: &Counters, now: &Counters) -> [[f64; 8]; 2] {
    let mut amounts = [[0.0; 8]; 2];
    let mut back = 0;
    for direction in 0..2 {
        for i in 0..8 {
            let (before, now) = (before[direction][i], now[direction][i]);
            amounts[direction][i] = advance(before, now);
            back += usize::from(now < before);
        }
    }
    let unknown = amounts.as_flattened().iter().any(|a| a.is_nan());
    if back > 1 || unknown {
        amounts = [[f64::NAN; 8]; 2];
    }
    amounts
}

struct Interface {
    name: Vec<u8>,
    /// The number that it keeps under another name.
    index: Option<u64>,
    words: [Word; 2],
    kind: Kind,
    /// Whether it has hardware: the speed that others tell is made up.
    hardware: bool,
    /// Bytes per second the link carries; NaN where it does not tell.
    rate: f64,
    before: Counters,
    /// What this reading says; `None`: it is gone.
    now: Option<Counters>,
    /// Whether `before` is where the interval began.
    settled: bool,
}

struct Net {
    host: Host,
    file: Kept,
    buffer: Vec<u8>,
    /// In the file's order, but for new ones.
    interfaces: Vec<Interface>,
    directions: Option<[Word; 2]>,
    /// The largest number an interface had so far: a new one's is larger.
    highest: u64,
    /// Seconds since kinds and speeds were read.
    link_age: f64,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(new(host)?))
}

fn new(host: &Host) -> Result<Net, Availability> {
    let path = host.proc("net/dev");
    let file = Kept::open(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    Ok(Net {
        host: host.clone(),
        file,
        buffer: Vec::new(),
        interfaces: Vec::new(),
        directions: None,
        highest: 0,
        link_age: 0.0,
        table: TableId::of("net"),
    })
}

impl Source for Net {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.file.read(&mut buffer);
        let read = read.map(|bytes| self.take(bytes, interval, out));
        self.buffer = buffer;
        read
    }
}

impl Net {
    /// Takes one reading of the file.
    fn take(&mut self, bytes: &[u8], interval: Option<f64>, out: &mut Sink) {
        let count = self.interfaces.len();
        let mut next = 0;
        for (name, now) in lines(bytes).filter_map(parse_line) {
            let at = self.find(name, next).unwrap_or_else(|| {
                let interface = self.appeared(name, &now, interval.is_some(), out);
                self.interfaces.push(interface);
                self.interfaces.len() - 1
            });
            self.interfaces[at].now = Some(now);
            next = at + 1;
        }
        let mut changed = self.interfaces.len() != count;
        self.interfaces.retain(|i| {
            changed |= i.now.is_none();
            i.now.is_some()
        });
        self.link_age += interval.unwrap_or(0.0);
        if changed || self.link_age >= LINK_LIFE {
            self.link_age = 0.0;
            self.look_at_links(out);
        }
        let words = *self
            .directions
            .get_or_insert_with(|| DIRECTIONS.map(|d| out.word(d)));
        for interface in &mut self.interfaces {
            interface.rows(words, interval, self.table, out);
        }
    }

    /// The place of the interface of that name, most likely `next`.
    fn find(&self, name: &[u8], next: usize) -> Option<usize> {
        let (before, after) = self.interfaces.split_at(next.min(self.interfaces.len()));
        let is_this = |i: &Interface| i.name == name;
        let place = after.iter().position(is_this).map(|at| before.len() + at);
        place.or_else(|| before.iter().position(is_this))
    }

    /// An interface that was not there at the last reading.
    fn appeared(&mut self, name: &[u8], now: &Counters, later: bool, out: &mut Sink) -> Interface {
        let folder = link::folder(&self.host, name);
        let kind = link::kind(&folder);
        let index = link::index(&folder);
        // A renamed interface keeps its number, and one from another namespace keeps it if
        // it can; hardware may come from there with any number.
        let is_new = later && kind != Kind::Physical && index.is_some_and(|i| i > self.highest);
        self.highest = self.highest.max(index.unwrap_or(0));
        let of_number = |i: &&Interface| index.is_some() && i.index == index;
        let renamed = self.interfaces.iter().find(of_number);
        let (before, settled) = match renamed {
            Some(old) => (old.before, old.settled),
            None if is_new => (Counters::default(), true),
            None => (*now, false),
        };
        Interface {
            name: name.to_vec(),
            index,
            words: [out.word(&text(name)), out.word(kind.layer(true))],
            kind,
            hardware: link::has_hardware(&folder),
            rate: f64::NAN,
            before,
            now: None,
            settled,
        }
    }

    /// Reads kinds and speeds again, and settles layers.
    fn look_at_links(&mut self, out: &mut Sink) {
        for interface in &mut self.interfaces {
            if !interface.hardware {
                continue;
            }
            let folder = link::folder(&self.host, &interface.name);
            // A pair may have been formed since.
            interface.kind = link::kind(&folder);
            // Cannot be read while the link is down, and from some drivers never.
            interface.rate = once(&folder.join("speed")).map_or(f64::NAN, |s| rate(&s));
        }
        let with_physical = self.interfaces.iter().any(|i| i.kind == Kind::Physical);
        for interface in &mut self.interfaces {
            interface.words[1] = out.word(interface.kind.layer(with_physical));
        }
    }
}

impl Interface {
    /// Adds its two rows, and remembers its counters.
    fn rows(
        &mut self,
        directions: [Word; 2],
        interval: Option<f64>,
        table: TableId,
        out: &mut Sink,
    ) {
        let Some(now) = self.now.take() else {
            return;
        };
        let before = std::mem::replace(&mut self.before, now);
        let settled = std::mem::replace(&mut self.settled, true);
        // One that has done nothing since boot has no rows.
        let idle = now == Counters::default() && before == now;
        let Some(interval) = interval.filter(|_| settled && !idle) else {
            return;
        };
        let amounts = amounts(&before, &now);
        let capacity = self.rate * interval;
        let [name, layer] = self.words;
        for (i, a) in amounts.iter().enumerate() {
            let (multicast, collisions) = if i == 0 {
                (a[MULTICAST], f64::NAN)
            } else {
                (f64::NAN, a[COLLISIONS])
            };
            let values = [
                a[0], a[1], a[2], a[3], a[4], multicast, collisions, capacity,
            ];
            out.row(table, &[name, layer, directions[i]], &values);
        }
    }
}

/// Bytes per second of a `speed` file: Mbit/s, or -1 or 0 where that is not known.
fn rate(speed: &str) -> f64 {
    match number(speed.as_bytes()) {
        // Old kernels print the unknown speed of 32 bits, or of 16.
        None | Some(0 | 65535 | 4294967295) => f64::NAN,
        Some(megabits) => megabits as f64 * MEGABIT,
    }
}

#[cfg(test)]
mod tests;
