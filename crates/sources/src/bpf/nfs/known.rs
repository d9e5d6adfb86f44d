//! Operations and clients by their places in the program's tables (`nfs_counts.h`).

use run::{Sink, Word};

use crate::bpf::address;
use crate::proc::nfsd::ops::Family;
use crate::read::printable;

/// Operations that have a place.
pub(super) const OPS: usize = 256;
/// Where those of version 3 begin, and where NULL of version 4 is; version 2 begins at 1.
const V3: usize = 32;
pub(in crate::bpf) const V4_NULL: usize = 64;
/// Where those of version 4 begin, which are known by name.
const FIRST_NAMED: usize = 128;
const NAMED: usize = OPS - FIRST_NAMED;
/// Numbers of a name: its key and 32 bytes.
const NAME_WORDS: usize = 5;
/// Clients that have a place; the first is that of all others.
pub(super) const CLIENTS: usize = 128;
/// Numbers of a client: its key, its address, and family with whether it is whole.
const CLIENT_WORDS: usize = 4;

/// The program's tables.
pub(super) type OpNames = [u64; NAMED * NAME_WORDS];
pub(super) type Clients = [u64; CLIENTS * CLIENT_WORDS];

/// How operations that came by name, and who is at the other side, are called.
#[derive(Clone, Copy)]
pub(in crate::bpf) struct Names {
    /// The name of one that has none of the kernel's, by its place.
    pub(in crate::bpf) numbered: fn(usize) -> Option<String>,
    /// What the kernel says, and what stands for that.
    pub(in crate::bpf) prefix: (&'static str, &'static str),
    /// What an address is called, if not by itself.
    pub(in crate::bpf) other_side: fn(&str) -> Option<String>,
}

impl Names {
    pub(super) const SERVER: Names = Names {
        numbered,
        prefix: ("OP_", "v4 "),
        other_side: |_| None,
    };
}

/// The words of places.
pub(super) struct Known {
    names: Names,
    ops: [Option<Word>; OPS],
    clients: [Option<Word>; CLIENTS],
    other: Word,
    none: Word,
}

impl Known {
    pub(super) fn new(names: Names, out: &mut Sink) -> Known {
        let (other, none) = (out.word("(other)"), out.word("(none)"));
        Known {
            names,
            ops: [None; OPS],
            clients: [None; CLIENTS],
            other,
            none,
        }
    }

    /// What has no name, or found no place.
    pub(super) fn other(&self) -> Word {
        self.other
    }

    /// The file of what looks at none.
    pub(super) fn none(&self) -> Word {
        self.none
    }

    pub(super) fn op(&self, place: usize) -> Word {
        self.ops.get(place).copied().flatten().unwrap_or(self.other)
    }

    pub(super) fn client(&self, place: usize) -> Word {
        let word = self.clients.get(place).copied().flatten();
        word.unwrap_or(self.other)
    }

    /// Whether both have been read since they got their places.
    pub(super) fn knows(&self, op: usize, client: usize) -> bool {
        self.ops.get(op).is_some_and(Option::is_some)
            && (client == 0 || self.clients.get(client).is_some_and(Option::is_some))
    }

    /// Reads what is new in the program's tables.
    pub(super) fn read(&mut self, names: &OpNames, clients: &Clients, out: &mut Sink) {
        let (names, _) = names.as_chunks::<NAME_WORDS>();
        for (place, word) in self.ops.iter_mut().enumerate().filter(|w| w.1.is_none()) {
            let name = match place.checked_sub(FIRST_NAMED) {
                Some(at) => name_of(&names[at], self.names.prefix),
                None => (self.names.numbered)(place),
            };
            *word = name.map(|n| out.word(&n));
        }
        let (clients, _) = clients.as_chunks::<CLIENT_WORDS>();
        for (word, client) in self.clients.iter_mut().zip(clients) {
            if word.is_none() {
                let called = |address: String| (self.names.other_side)(&address).unwrap_or(address);
                *word = client_name(client).map(|n| out.word(&called(n)));
            }
        }
    }
}

/// An operation that a whole request is: `v3 READ`.
fn numbered(place: usize) -> Option<String> {
    match place {
        1..=18 => Some(Family::V2.name(place - 1)),
        V3..54 => Some(Family::V3.name(place - V3)),
        V4_NULL => Some(Family::V4Null.name(0)),
        _ => None,
    }
}

/// `v4 READ` of `OP_READ`, with that prefix; `None`: nothing has that place.
fn name_of(words: &[u64; NAME_WORDS], (said, called): (&str, &str)) -> Option<String> {
    if words[0] == 0 || words[1] == 0 {
        return None;
    }
    let bytes: Vec<u8> = words[1..].iter().flat_map(|w| w.to_ne_bytes()).collect();
    let name = bytes.split(|b| *b == 0).next().unwrap_or_default();
    let name = name.strip_prefix(said.as_bytes()).unwrap_or(name);
    Some(format!("{called}{}", printable(name)))
}

fn client_name(words: &[u64; CLIENT_WORDS]) -> Option<String> {
    let (family, ready) = (words[3] as u32, words[3] >> 32);
    if ready == 0 {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&words[1].to_ne_bytes());
    bytes[8..].copy_from_slice(&words[2].to_ne_bytes());
    Some(address::text(family as u16, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_names_of_the_kernels_own_counters() {
        for (place, name) in [
            (1, "v2 NULL"),
            (18, "v2 STATFS"),
            (32, "v3 NULL"),
            (38, "v3 READ"),
            (53, "v3 COMMIT"),
            (64, "v4 NULL"),
        ] {
            assert_eq!(numbered(place).as_deref(), Some(name));
        }
        for place in [0, 19, 31, 54, 63, 65, 127] {
            assert_eq!(numbered(place), None);
        }
    }

    #[test]
    fn an_operation_that_came_by_name() {
        let mut words = [0; NAME_WORDS];
        let of = |words: &[u64; NAME_WORDS]| name_of(words, Names::SERVER.prefix);
        assert_eq!(of(&words), None);
        let mut text = [0; 32];
        text[..25].copy_from_slice(b"OP_SETCLIENTID_CONFIRM\0xy");
        words[0] = 9;
        assert_eq!(of(&words), None, "its name is being written");
        for (word, bytes) in words[1..].iter_mut().zip(text.as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        assert_eq!(of(&words).as_deref(), Some("v4 SETCLIENTID_CONFIRM"));
        assert_eq!(Family::V4.name(36), "v4 SETCLIENTID_CONFIRM");
    }

    #[test]
    fn a_client_has_a_name_when_it_is_whole() {
        let address = u64::from_ne_bytes([10, 9, 8, 2, 0, 0, 0, 0]);
        assert_eq!(client_name(&[7, address, 0, 2]), None);
        let named = client_name(&[7, address, 0, 2 | 1 << 32]);
        assert_eq!(named.as_deref(), Some("10.9.8.2"));
        let version_6 = 10;
        let loopback = client_name(&[7, 0, 1 << 56, version_6 | 1 << 32]);
        assert_eq!(loopback.as_deref(), Some("::1"));
    }

    #[test]
    fn what_has_no_place_is_of_others() {
        let mut out = Sink::new();
        let mut known = Known::new(Names::SERVER, &mut out);
        let mut clients = [0; CLIENTS * CLIENT_WORDS];
        clients[5 * CLIENT_WORDS + 1] = u64::from_ne_bytes([10, 9, 8, 2, 0, 0, 0, 0]);
        clients[5 * CLIENT_WORDS + 3] = 2 | 1 << 32;
        known.read(&[0; NAMED * NAME_WORDS], &clients, &mut out);
        let text = |word| out.words.text(word).unwrap();
        assert_eq!(text(known.op(38)), "v3 READ");
        assert_eq!(text(known.op(200)), "(other)");
        assert_eq!(text(known.op(999)), "(other)");
        assert_eq!(text(known.client(5)), "10.9.8.2");
        assert_eq!(text(known.client(0)), "(other)");
        assert!(known.knows(38, 0) && known.knows(38, 5));
        assert!(!known.knows(38, 6) && !known.knows(200, 5));
    }
}
