//! What this machine is called: names and addresses by which others may reach its page.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink::{Ask, Socket, attribute};

/// `RTM_GETADDR` of `linux/rtnetlink.h`.
const GET_ADDRESSES: u16 = 22;
/// Length of `struct ifaddrmsg` (`linux/if_addr.h`), before the attributes, and where in it the
/// scope is. A scope of 0 reaches everywhere; links and this very host have others.
const HEAD: usize = 8;
const SCOPE: usize = 3;
/// `IFA_ADDRESS` and `IFA_LOCAL`; on a link between two the former is the other side's.
const ADDRESS: u16 = 1;
const LOCAL: u16 = 2;

/// Names of this machine.
pub(super) fn names() -> Vec<String> {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_string_lossy().into_owned();
    let short = name.split('.').next().unwrap_or_default().to_owned();
    let mut names = vec![name, short];
    names.dedup();
    names.retain(|n| !n.is_empty());
    names
}

/// Its addresses that reach beyond it, IPv4 first, by the order of its interfaces; none where
/// the kernel does not tell.
pub(super) fn addresses() -> Vec<IpAddr> {
    let mut found = Vec::new();
    let all = [0; HEAD];
    // A missing address is no reason not to show a run.
    let _ = Socket::open(None).and_then(|mut socket| {
        socket.ask(GET_ADDRESSES, Ask::All, &all, |message| {
            found.extend(address(message));
        })
    });
    found.sort_by_key(IpAddr::is_ipv6);
    found
}

/// The address that a message tells of, if it reaches beyond this machine.
fn address(message: &[u8]) -> Option<IpAddr> {
    let reaches = message.get(SCOPE) == Some(&0);
    let rest = message.get(HEAD..).filter(|_| reaches)?;
    let bytes = attribute(rest, LOCAL).or_else(|| attribute(rest, ADDRESS))?;
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(bytes).into());
    }
    let bytes = <[u8; 16]>::try_from(bytes).ok()?;
    Some(Ipv6Addr::from(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_from_its_message() {
        let message = |scope: u8, attributes: &[(u16, &[u8])]| {
            let mut bytes = vec![2, 24, 0, scope, 0, 0, 0, 2];
            for (kind, payload) in attributes {
                netlink::push_attribute(&mut bytes, *kind, payload);
            }
            bytes
        };
        let (here, there) = ([192, 0, 2, 7], [192, 0, 2, 8]);
        let told = message(0, &[(ADDRESS, &there), (LOCAL, &here)]);
        assert_eq!(address(&told), Some(IpAddr::from(here)));
        let v6 = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7);
        let told = message(0, &[(ADDRESS, &v6.octets())]);
        assert_eq!(address(&told), Some(v6.into()));
        assert_eq!(address(&message(254, &[(LOCAL, &[127, 0, 0, 1])])), None);
        assert_eq!(address(&message(0, &[(LOCAL, &[1, 2])])), None);
        assert_eq!(address(&[2, 24]), None);
        assert!(addresses().iter().all(|a| !a.is_loopback()));
    }
}
