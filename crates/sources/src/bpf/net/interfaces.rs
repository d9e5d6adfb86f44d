//! Interfaces that the program has seen, with their names and layers.
//!
//! The source `net` knows those of its own network namespace only. An interface of another has
//! that namespace's number in its name, and never is an `edge`: so sums are those of `net`.

use std::os::unix::fs::MetadataExt;

use run::{Sink, Word};

use crate::Host;
use crate::proc::net::link::{self, Kind};
use crate::read::text;

/// Interfaces that have a place of their own; one more takes all others.
pub(super) const INTERFACES: usize = 256;
/// Ways times contexts.
pub(super) const WAYS_AND_CONTEXTS: usize = 12;
/// Numbers of an interface in the program's map: 128 bytes.
const WORDS: usize = 16;
/// The program's map.
pub(super) type TableOfInterfaces = [u64; (INTERFACES + 1) * WORDS];

/// Places of the fields of an interface, in units of 32 bits.
const TOUCHED: usize = 2;
const READY: usize = 3;
const ROWS: usize = 4;
const INDEX: usize = 16;
const SPACE: usize = 17;
const TYPE: usize = 19;
/// The same in bytes.
const NAME: usize = 80;
const KIND: usize = 96;
const NAME_BYTES: usize = 16;

/// `ARPHRD_LOOPBACK`.
const LOOPBACK: u32 = 772;
/// Kinds that rest on nothing in their namespace.
const LEAVES: [&str; 3] = ["veth", "tun", "netkit"];

/// Seconds for which the layers are taken as settled, as in the source `net`.
const LINK_LIFE: f64 = 10.0;

/// What rows need of an interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) name: Word,
    pub(super) layer: Word,
}

struct Interface {
    place: usize,
    words: Known,
    /// Of our own namespace: its name and number there.
    own: Option<(String, u64)>,
    kind: Kind,
}

/// All that were seen.
pub(super) struct Interfaces {
    host: Host,
    /// Number of our own network namespace.
    space: u64,
    all: Vec<Interface>,
    age: f64,
}

/// The number of our own network namespace; 0 where that is not known.
pub(super) fn own_space(host: &Host) -> u64 {
    std::fs::metadata(host.proc("self/ns/net")).map_or(0, |m| m.ino())
}

/// A field of an interface.
fn field(table: &TableOfInterfaces, place: usize, at: usize) -> u32 {
    let word = table[place * WORDS + at / 2].to_ne_bytes();
    let half = if at.is_multiple_of(2) {
        &word[..4]
    } else {
        &word[4..]
    };
    half.try_into().map_or(0, u32::from_ne_bytes)
}

/// A text of an interface.
fn name(table: &TableOfInterfaces, place: usize, at: usize) -> String {
    let words = &table[place * WORDS + at / 8..][..NAME_BYTES / 8];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    text(&bytes[..end]).into_owned()
}

/// The rows of an interface, each with one added; 0: none.
pub(super) fn rows(table: &TableOfInterfaces, place: usize) -> [u32; WAYS_AND_CONTEXTS] {
    std::array::from_fn(|i| field(table, place, ROWS + i))
}

/// Rows of all interfaces that were counted at in the interval `present` or the one before.
pub(super) fn rows_touched(
    table: &TableOfInterfaces,
    present: u32,
) -> impl Iterator<Item = u32> + '_ {
    let places = (0..=INTERFACES).filter(move |place| is_touched(table, *place, present));
    let rows = places.flat_map(|place| rows(table, place));
    rows.filter_map(|row| row.checked_sub(1))
}

fn is_touched(table: &TableOfInterfaces, place: usize, past: u32) -> bool {
    past.wrapping_sub(field(table, place, TOUCHED)) <= 1
}

impl Interfaces {
    pub(super) fn new(host: &Host) -> Interfaces {
        Interfaces {
            host: host.clone(),
            space: own_space(host),
            all: Vec::new(),
            age: 0.0,
        }
    }

    /// The interface at that place.
    pub(super) fn known(&self, place: usize) -> Option<Known> {
        let mut all = self.all.iter();
        all.find(|i| i.place == place).map(|i| i.words)
    }

    /// Places that were counted at in the interval `past` or the one before.
    pub(super) fn touched(&self, table: &TableOfInterfaces, past: u32) -> Vec<usize> {
        let places = self.all.iter().map(|i| i.place);
        places
            .filter(|place| is_touched(table, *place, past))
            .collect()
    }

    /// Learns those that are new in `table`.
    pub(super) fn take(
        &mut self,
        table: &TableOfInterfaces,
        interval: Option<f64>,
        out: &mut Sink,
    ) {
        let before = self.all.len();
        for place in 0..=INTERFACES {
            let there = if place < INTERFACES {
                field(table, place, READY) > 0
            } else {
                rows(table, place).iter().any(|r| *r > 0)
            };
            if there && self.known(place).is_none() {
                let interface = self.meet(table, place, out);
                self.all.push(interface);
            }
        }
        self.age += interval.unwrap_or(0.0);
        if self.all.len() > before || self.age >= LINK_LIFE {
            self.age = 0.0;
            self.settle(out);
        }
    }

    fn meet(&self, table: &TableOfInterfaces, place: usize, out: &mut Sink) -> Interface {
        let space = u64::from(field(table, place, SPACE));
        let name_there = name(table, place, NAME);
        let own = place < INTERFACES && space == self.space;
        let shown = if place == INTERFACES {
            "(other)".to_owned()
        } else if own {
            name_there.clone()
        } else {
            format!("{name_there}@ns-{space}")
        };
        let kind = if place == INTERFACES {
            Kind::Stacked
        } else {
            let numbers = field(table, place, TYPE);
            kind_seen(
                numbers & 0xffff,
                numbers >> 16 > 0,
                &name(table, place, KIND),
            )
        };
        let outside = if kind == Kind::Loopback {
            "loopback"
        } else {
            "virtual"
        };
        Interface {
            place,
            words: Known {
                name: out.word(&shown),
                layer: out.word(outside),
            },
            own: own.then(|| (name_there, u64::from(field(table, place, INDEX)))),
            kind,
        }
    }

    /// Gives those of our own namespace the layers that the source `net` gives them.
    fn settle(&mut self, out: &mut Sink) {
        for interface in &mut self.all {
            let Some((name, index)) = &interface.own else {
                continue;
            };
            let folder = link::folder(&self.host, name.as_bytes());
            // It may be gone, and another may have its name.
            if link::index(&folder) == Some(*index) {
                interface.kind = link::kind(&folder);
            }
        }
        let physical = self.any_physical();
        for interface in self.all.iter_mut().filter(|i| i.own.is_some()) {
            interface.words.layer = out.word(interface.kind.layer(physical));
        }
    }

    /// Whether an interface of our namespace has hardware, seen or not.
    fn any_physical(&self) -> bool {
        let entries = std::fs::read_dir(self.host.sys("class/net"));
        entries.into_iter().flatten().flatten().any(|e| {
            let folder = e.path();
            link::has_hardware(&folder) && link::kind(&folder) == Kind::Physical
        })
    }
}

/// What an interface is by what the program saw of it: for those that are gone.
fn kind_seen(hardware: u32, has_parent: bool, kind: &str) -> Kind {
    if hardware == LOOPBACK {
        Kind::Loopback
    } else if has_parent {
        Kind::Physical
    } else if LEAVES.contains(&kind) {
        Kind::Leaf
    } else {
        Kind::Stacked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/net/server");

    fn empty() -> Box<TableOfInterfaces> {
        let words = vec![0; (INTERFACES + 1) * WORDS];
        words.into_boxed_slice().try_into().unwrap()
    }

    /// Puts an interface where the program would.
    fn put(table: &mut TableOfInterfaces, place: usize, name: &str, numbers: &[(usize, u32)]) {
        let mut bytes = [0_u8; WORDS * 8];
        for (at, number) in numbers.iter().chain(&[(READY, 1)]) {
            bytes[at * 4..][..4].copy_from_slice(&number.to_ne_bytes());
        }
        bytes[NAME..][..name.len()].copy_from_slice(name.as_bytes());
        bytes[KIND..][..4].copy_from_slice(b"veth");
        for (i, word) in bytes.chunks(8).enumerate() {
            table[place * WORDS + i] = u64::from_ne_bytes(word.try_into().unwrap());
        }
    }

    #[test]
    fn another_namespace_is_told_from_ours_and_counts_nothing_twice() {
        let mut table = empty();
        let mut interfaces = Interfaces::new(&Host::at(SERVER));
        interfaces.space = 77;
        put(&mut table, 3, "eno1", &[(INDEX, 2), (SPACE, 77), (TYPE, 1)]);
        put(&mut table, 9, "eno1", &[(INDEX, 2), (SPACE, 78), (TYPE, 1)]);
        put(&mut table, 4, "lo", &[(INDEX, 1), (SPACE, 78), (TYPE, 772)]);
        put(&mut table, 5, "gone", &[(INDEX, 9), (SPACE, 77), (TYPE, 1)]);
        put(&mut table, INTERFACES, "", &[(ROWS + 4, 5)]);
        let mut out = Sink::new();
        interfaces.take(&table, None, &mut out);
        let shown = |place| {
            let known = interfaces.known(place).unwrap();
            [known.name, known.layer].map(|w| out.words.text(w).unwrap().to_owned())
        };
        assert_eq!(shown(3), ["eno1", "edge"]);
        assert_eq!(shown(9), ["eno1@ns-78", "virtual"]);
        assert_eq!(shown(4), ["lo@ns-78", "loopback"]);
        assert_eq!(shown(5), ["gone", "virtual"]);
        assert_eq!(shown(INTERFACES), ["(other)", "virtual"]);
        assert!(interfaces.known(6).is_none());
        assert_eq!(rows(&table, INTERFACES)[4], 5);
    }

    #[test]
    fn only_what_was_counted_at_lately_is_read() {
        let mut table = empty();
        for (place, touched) in [(0, 8), (1, 7), (2, 6), (3, 9)] {
            put(&mut table, place, "a", &[(TOUCHED, touched)]);
        }
        let mut interfaces = Interfaces::new(&Host::at(SERVER));
        interfaces.take(&table, None, &mut Sink::new());
        assert_eq!(interfaces.touched(&table, 8), [0, 1]);
        assert_eq!(interfaces.touched(&table, 9), [0, 3]);
        // Also those that no sample has met yet.
        for (place, touched, row) in [(4, 9, 7), (5, 6, 8), (INTERFACES, 9, 1)] {
            put(
                &mut table,
                place,
                "b",
                &[(TOUCHED, touched), (ROWS + 3, row)],
            );
        }
        assert_eq!(rows_touched(&table, 9).collect::<Vec<_>>(), [6, 0]);
    }

    #[test]
    fn what_the_program_saw_tells_the_kind() {
        for (numbers, kind, expected) in [
            ((772, false), "", Kind::Loopback),
            ((1, true), "", Kind::Physical),
            ((1, false), "veth", Kind::Leaf),
            ((1, false), "bridge", Kind::Stacked),
            ((65534, false), "tun", Kind::Leaf),
        ] {
            assert_eq!(kind_seen(numbers.0, numbers.1, kind), expected, "{kind}");
        }
    }
}
