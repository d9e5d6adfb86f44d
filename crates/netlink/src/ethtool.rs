//! The generic netlink family `ethtool` (Linux 5.6): what network drivers are set to.
//!
//! <https://docs.kernel.org/networking/ethtool-netlink.html>

use std::io;

use rustix::net::netlink;

use crate::{Ask, Socket, attribute, attributes, push_attribute, text_of, u16_of};

const CONTROLLER: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// Command, version and two spare bytes lead a generic netlink message.
pub const GENERIC: usize = 4;
/// In an attribute's type: it holds attributes.
pub const NESTED: u16 = 0x8000;
/// Reads the features, called offloads, of an interface.
pub const FEATURES_GET: u8 = 11;

const BITSET_BITS: u16 = 3;
const BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// The family, open.
#[derive(Debug)]
pub struct Ethtool {
    socket: Socket,
    family: u16,
}

impl Ethtool {
    /// Opens it. Errors: the kernel's, where it does not have the family or refuses it.
    pub fn open() -> io::Result<Ethtool> {
        let mut socket = Socket::open(Some(netlink::GENERIC))?;
        let mut payload = vec![GET_FAMILY, 1, 0, 0];
        push_attribute(&mut payload, FAMILY_NAME, b"ethtool\0");
        let mut family = None;
        socket.ask(CONTROLLER, Ask::One, &payload, |answer| {
            let id = answer.get(GENERIC..).and_then(|a| attribute(a, FAMILY_ID));
            family = id.and_then(u16_of);
        })?;
        let family = family.ok_or(io::ErrorKind::Unsupported)?;
        Ok(Ethtool { socket, family })
    }

    /// The attributes of the answer to a reading command about `interface`.
    pub fn get(&mut self, interface: &str, command: u8) -> io::Result<Vec<u8>> {
        let mut found = None;
        let payload = request(interface, command, &[]);
        self.socket.ask(self.family, Ask::One, &payload, |answer| {
            found = answer.get(GENERIC..).map(<[u8]>::to_vec);
        })?;
        found.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Sends a changing command with `attributes`. Only the crate `lab` may: it journals
    /// first.
    pub fn set(&mut self, interface: &str, command: u8, attributes: &[u8]) -> io::Result<()> {
        let payload = request(interface, command, attributes);
        #[allow(clippy::disallowed_methods, reason = "the caller is the one that may")]
        self.socket.change(self.family, &payload)
    }
}

fn request(interface: &str, command: u8, attributes: &[u8]) -> Vec<u8> {
    let mut payload = vec![command, 1, 0, 0];
    let mut header = Vec::new();
    let mut name = interface.as_bytes().to_vec();
    name.push(0);
    push_attribute(&mut header, 2, &name);
    push_attribute(&mut payload, 1 | NESTED, &header);
    payload.extend(attributes);
    payload
}

/// Name and value of each bit of a bitset in its long form. A set without a mask lists only
/// the bits that are set, and gives them no value.
pub fn bits(set: &[u8]) -> impl Iterator<Item = (String, bool)> {
    attributes(attribute(set, BITSET_BITS).unwrap_or_default()).filter_map(|(_, bit)| {
        let name = text_of(attribute(bit, BIT_NAME)?);
        Some((name, attribute(bit, BIT_VALUE).is_some()))
    })
}

/// A bitset that sets or clears the named bits and leaves the others, as the content of an
/// attribute.
pub fn bitset<'n>(changes: impl Iterator<Item = (&'n str, bool)>) -> Vec<u8> {
    let mut list = Vec::new();
    for (name, value) in changes {
        let mut bit = Vec::new();
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        push_attribute(&mut bit, BIT_NAME, &text);
        if value {
            push_attribute(&mut bit, BIT_VALUE, &[]);
        }
        push_attribute(&mut list, BIT | NESTED, &bit);
    }
    let mut set = Vec::new();
    push_attribute(&mut set, BITSET_BITS | NESTED, &list);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitset_reads_as_it_was_made() {
        let set = bitset([("tx-udp", true), ("rx-gro", false)].into_iter());
        let found: Vec<_> = bits(&set).collect();
        assert_eq!(
            found,
            [("tx-udp".to_owned(), true), ("rx-gro".to_owned(), false)]
        );
    }
}
