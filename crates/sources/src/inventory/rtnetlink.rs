//! Interfaces' kinds, addresses and queueing disciplines, by rtnetlink.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use netlink::{Ask, Socket, attribute, number_of, push_attribute, text_of, u32_of};

use super::leaf::Fields;

const GET_LINK: u16 = 18;
const GET_ADDRESS: u16 = 22;
const GET_QDISC: u16 = 38;
/// Lengths of the fixed parts that lead the attributes.
const LINK: usize = 16;
const ADDRESS: usize = 8;
const QDISC: usize = 20;

/// What rtnetlink says of one interface.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Interface {
    /// `veth`, `bridge`, `vlan`, …; none for what a driver of hardware made.
    pub(super) kind: Option<String>,
    gso_max_bytes: Option<u64>,
    gso_max_segments: Option<u64>,
    gro_max_bytes: Option<u64>,
    xdp: bool,
    addresses: Vec<String>,
    root: Option<String>,
    ingress: Option<String>,
    leaves: BTreeMap<String, u64>,
}

impl Interface {
    /// Adds its fields.
    pub(super) fn add(&self, fields: &mut Fields) {
        let some = |addresses: &Vec<String>| (!addresses.is_empty()).then(|| addresses.clone());
        fields.put("addresses", some(&self.addresses));
        fields.put("gso_max_bytes", self.gso_max_bytes);
        fields.put("gso_max_segments", self.gso_max_segments);
        fields.put("gro_max_bytes", self.gro_max_bytes);
        fields.put("xdp", self.xdp.then_some(true));
        fields.put("qdisc", self.root.clone());
        fields.put("qdisc_ingress", self.ingress.clone());
        let mut leaves = Fields::default();
        for (kind, count) in &self.leaves {
            leaves.put(kind.clone(), Some(*count));
        }
        fields.nest("qdisc_children", leaves);
    }
}

/// All interfaces by name; empty where netlink is refused.
pub(super) fn interfaces() -> BTreeMap<String, Interface> {
    let mut all = Known::default();
    if let Ok(mut socket) = Socket::open(None) {
        let mut payload = vec![0; LINK];
        // The counters are not wanted: IFLA_EXT_MASK with RTEXT_FILTER_SKIP_STATS.
        push_attribute(&mut payload, 29, &8_u32.to_ne_bytes());
        let _ = socket.ask(GET_LINK, Ask::All, &payload, |m| {
            all.link(m);
        });
        let _ = socket.ask(GET_ADDRESS, Ask::All, &[0; ADDRESS], |m| {
            all.address(m);
        });
        let _ = socket.ask(GET_QDISC, Ask::All, &[0; QDISC], |m| {
            all.qdisc(m);
        });
    }
    all.0.into_values().collect()
}

/// Interfaces by index, with their names.
#[derive(Default)]
struct Known(BTreeMap<u32, (String, Interface)>);

impl Known {
    /// `family, -, type:2, index:4, flags:4, change:4`, then attributes.
    fn link(&mut self, message: &[u8]) -> Option<()> {
        let index = u32_of(message.get(4..)?)?;
        let attributes = message.get(LINK..)?;
        let number = |kind| attribute(attributes, kind).and_then(number_of);
        let nested = |outer, inner| attribute(attribute(attributes, outer)?, inner);
        let interface = Interface {
            kind: nested(18, 1).map(text_of),
            gso_max_segments: number(40),
            gso_max_bytes: number(41),
            gro_max_bytes: number(58),
            xdp: nested(43, 2).and_then(number_of).is_some_and(|n| n > 0),
            ..Interface::default()
        };
        let name = text_of(attribute(attributes, 3)?);
        self.0.insert(index, (name, interface));
        Some(())
    }

    /// `family, prefix length, flags, scope, index:4`, then attributes.
    ///
    /// Left out: link-local addresses, which say nothing but the hardware address, and
    /// temporary ones, which the kernel replaces by itself.
    fn address(&mut self, message: &[u8]) -> Option<()> {
        const TEMPORARY: u8 = 1;
        let (&prefix, &flags) = (message.get(1)?, message.get(2)?);
        let index = u32_of(message.get(4..)?)?;
        let attributes = message.get(ADDRESS..)?;
        // On a point-to-point link the first is the peer's address and the second ours.
        let address = attribute(attributes, 2).or_else(|| attribute(attributes, 1))?;
        let shown = if let Ok(bytes) = <[u8; 4]>::try_from(address) {
            Ipv4Addr::from(bytes).to_string()
        } else {
            let address = Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?);
            if address.is_unicast_link_local() || flags & TEMPORARY != 0 {
                return None;
            }
            address.to_string()
        };
        let (_, interface) = self.0.get_mut(&index)?;
        interface.addresses.push(format!("{shown}/{prefix}"));
        Some(())
    }

    /// `family, -:3, index:4, handle:4, parent:4, info:4`, then attributes.
    fn qdisc(&mut self, message: &[u8]) -> Option<()> {
        const ROOT: u32 = 0xffff_ffff;
        const INGRESS: u32 = 0xffff_fff1;
        let index = u32_of(message.get(4..)?)?;
        let parent = u32_of(message.get(12..)?)?;
        let kind = text_of(attribute(message.get(QDISC..)?, 1)?);
        let (_, interface) = self.0.get_mut(&index)?;
        match parent {
            ROOT => interface.root = Some(kind),
            INGRESS => interface.ingress = Some(kind),
            _ => *interface.leaves.entry(kind).or_default() += 1,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn message(head: &[u32], attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes: Vec<u8> = head.iter().flat_map(|n| n.to_ne_bytes()).collect();
        for (kind, payload) in attributes {
            push_attribute(&mut bytes, *kind, payload);
        }
        bytes
    }

    #[test]
    fn a_veth_with_multiqueue_discipline() {
        let mut known = Known::default();
        let mut kind = Vec::new();
        push_attribute(&mut kind, 1, b"veth\0");
        let size = 65536_u32.to_ne_bytes();
        let link = message(&[0, 7, 0, 0], &[(3, b"veth0\0"), (18, &kind), (41, &size)]);
        assert!(known.link(&link).is_some());
        let v4 = message(
            &[u32::from_ne_bytes([2, 24, 0, 0]), 7],
            &[(1, &[10, 0, 0, 9]), (2, &[10, 0, 0, 1])],
        );
        known.address(&v4);
        let v6 = |first: u8, flags: u8| {
            let mut address = [0; 16];
            (address[0], address[1], address[15]) = (first, 0x80, 1);
            message(
                &[u32::from_ne_bytes([10, 64, flags, 0]), 7],
                &[(1, &address)],
            )
        };
        known.address(&v6(0xfe, 0));
        known.address(&v6(0x20, 1));
        known.address(&v6(0x20, 0));
        for parent in [0xffff_ffff, 0x1_0001, 0x1_0002] {
            let kind: &[u8] = if parent == u32::MAX { b"mq\0" } else { b"fq\0" };
            known.qdisc(&message(&[0, 7, 0, parent, 0], &[(1, kind)]));
        }
        let mut fields = Fields::default();
        known.0[&7].1.add(&mut fields);
        assert_eq!(known.0[&7].1.kind.as_deref(), Some("veth"));
        let expected = json!({
            "addresses": ["10.0.0.1/24", "2080::1/64"],
            "gso_max_bytes": 65536, "qdisc": "mq", "qdisc_children": {"fq": 2},
        });
        assert_eq!(Value::from(fields), expected);
        for end in 0..link.len() {
            Known::default().link(&link[..end]);
            Known::default().qdisc(&link[..end]);
            Known::default().address(&link[..end]);
        }
    }
}
