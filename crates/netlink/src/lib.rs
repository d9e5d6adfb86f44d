//! Questions to the kernel over netlink, and its answers as attributes.
//!
//! Every length in an answer is checked against what was
//! received: a short or odd message ends its iteration, it never panics.
//!
//! <https://docs.kernel.org/userspace-api/netlink/intro.html>

pub mod ethtool;

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const HEADER: usize = 16;
/// The kernel fills at most 32 KiB a datagram.
const LARGEST: usize = 1 << 15;

/// Whether one thing is asked for, or all there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// One; the kernel ends with an acknowledgement.
    One,
    /// All; the kernel ends with a mark.
    All,
}

/// A netlink socket.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Socket {
    /// Opens one; `None` as protocol is rtnetlink. Errors: the kernel's, where it is refused.
    pub fn open(protocol: Option<Protocol>) -> io::Result<Socket> {
        let flags = SocketFlags::CLOEXEC;
        let fd = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
        // The kernel answers within the request; the limit is for what nobody foresaw.
        set_socket_timeout(&fd, Timeout::Recv, Some(Duration::from_secs(1)))?;
        Ok(Socket {
            fd,
            sequence: 0,
            buffer: vec![0; LARGEST],
        })
    }

    /// Sends a request that reads and gives each answer's payload (behind its header) to
    /// `each`. Errors: the kernel's refusal by its number.
    pub fn ask(
        &mut self,
        kind: u16,
        ask: Ask,
        payload: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.sequence += 1;
        let flags = REQUEST | if ask == Ask::All { DUMP } else { ACK };
        let mut request = Vec::with_capacity(HEADER + payload.len());
        request.extend(((HEADER + payload.len()) as u32).to_ne_bytes());
        request.extend(kind.to_ne_bytes());
        request.extend(flags.to_ne_bytes());
        request.extend(self.sequence.to_ne_bytes());
        request.extend(0_u32.to_ne_bytes());
        request.extend(payload);
        send(&self.fd, &request, SendFlags::empty())?;
        loop {
            let (filled, length) =
                retry_on_intr(|| recv(&self.fd, &mut self.buffer[..], RecvFlags::TRUNC))?;
            if length > filled || length == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            for message in messages(&self.buffer[..filled]) {
                if message.sequence != self.sequence {
                    continue;
                }
                match message.kind {
                    ERROR => return message.outcome(),
                    DONE => return Ok(()),
                    _ => each(message.payload),
                }
            }
        }
    }

    /// Sends a request that changes something. Only the crate `lab` may: it journals first.
    pub fn change(&mut self, kind: u16, payload: &[u8]) -> io::Result<()> {
        self.ask(kind, Ask::One, payload, |_| {})
    }
}

/// One message of a datagram.
#[derive(Debug, PartialEq, Eq)]
struct Message<'m> {
    kind: u16,
    sequence: u32,
    payload: &'m [u8],
}

impl Message<'_> {
    /// An acknowledgement carries 0, a refusal the negative error number.
    fn outcome(&self) -> io::Result<()> {
        match u32_of(self.payload).map(|code| code as i32) {
            Some(0) => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(code.wrapping_neg())),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// The messages of a datagram, as far as they are whole.
fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = u32_of(rest)? as usize;
        let message = rest.get(..length)?;
        let found = Message {
            kind: u16_of(message.get(4..)?)?,
            sequence: u32_of(message.get(8..)?)?,
            payload: message.get(HEADER..)?,
        };
        rest = rest.get(aligned(length)..).unwrap_or(&[]);
        Some(found)
    })
}

/// Type and payload of each attribute, as far as they are whole. The flags in the type
/// (nested, byte order) are cleared.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16_of(rest)?);
        let kind = u16_of(rest.get(2..)?)? & 0x3fff;
        let payload = rest.get(4..length)?;
        rest = rest.get(aligned(length)..).unwrap_or(&[]);
        Some((kind, payload))
    })
}

/// The payload of the first attribute of a type.
pub fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(k, _)| *k == kind).map(|(_, p)| p)
}

/// Appends an attribute.
pub fn push_attribute(to: &mut Vec<u8>, kind: u16, payload: &[u8]) {
    to.extend(((payload.len() + 4) as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(payload);
    to.resize(aligned(to.len()), 0);
}

/// Text up to its zero byte.
pub fn text_of(payload: &[u8]) -> String {
    let end = payload.iter().position(|&b| b == 0);
    String::from_utf8_lossy(&payload[..end.unwrap_or(payload.len())]).into_owned()
}

/// The first four bytes as a number.
pub fn u32_of(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?))
}

/// The first two bytes as a number.
pub fn u16_of(bytes: &[u8]) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?))
}

/// A number of one, two or four bytes.
pub fn number_of(payload: &[u8]) -> Option<u64> {
    match *payload {
        [byte] => Some(byte.into()),
        [_, _] => u16_of(payload).map(u64::from),
        [_, _, _, _] => u32_of(payload).map(u64::from),
        _ => None,
    }
}

fn aligned(length: usize) -> usize {
    length.saturating_add(3) & !3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_odd_lengths_are_padded() {
        let mut bytes = Vec::new();
        push_attribute(&mut bytes, 2, b"eth0\0");
        push_attribute(&mut bytes, 3 | 0x8000, &7_u32.to_ne_bytes());
        assert_eq!(bytes.len(), 12 + 8);
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(2, &b"eth0\0"[..]), (3, &7_u32.to_ne_bytes()[..])]);
        assert_eq!(text_of(found[0].1), "eth0");
        assert_eq!(number_of(found[1].1), Some(7));
    }

    #[test]
    fn what_is_cut_short_ends_the_iteration() {
        let mut bytes = Vec::new();
        push_attribute(&mut bytes, 1, b"whole");
        push_attribute(&mut bytes, 2, b"the second");
        for end in 0..bytes.len() {
            assert!(attributes(&bytes[..end]).count() <= 1 + usize::from(end >= 26));
        }
        // A length below its own header, and one of zero, must not loop for ever.
        assert_eq!(attributes(&[0, 0, 1, 0, 9, 9, 9, 9]).count(), 0);
        assert_eq!(attributes(&[3, 0, 1, 0]).count(), 0);
        assert_eq!(messages(&[0; 64]).count(), 0);
        assert_eq!(messages(&[255; 64]).count(), 0);
    }

    #[test]
    fn refusals_become_errors() {
        let mut bytes = vec![];
        for word in [20_u32, u32::from(ERROR), 1, 0, (-95_i32) as u32] {
            bytes.extend(word.to_ne_bytes());
        }
        let message = messages(&bytes).next().unwrap();
        let error = message.outcome().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(95));
    }
}
