//! What a network driver is set to, by the generic netlink family `ethtool` (Linux 5.6).
//!
//! <https://docs.kernel.org/networking/ethtool-netlink.html>

use std::collections::BTreeMap;

use netlink::ethtool::{FEATURES_GET, bits};
use netlink::{attribute, number_of};
use serde_json::Value;

use super::leaf::Fields;

const LINKMODES_GET: u8 = 4;

/// How an attribute's number is told.
#[derive(Clone, Copy, Debug)]
enum As {
    Count,
    Microseconds,
    Flag,
}

/// A reading command, the object its answer becomes, and the attributes that are kept.
struct Query {
    command: u8,
    object: &'static str,
    kept: &'static [(u16, &'static str, As)],
}

const QUERIES: &[Query] = &[
    Query {
        command: 15,
        object: "rings",
        kept: &[
            (6, "rx", As::Count),
            (9, "tx", As::Count),
            (2, "rx_max", As::Count),
            (5, "tx_max", As::Count),
        ],
    },
    Query {
        command: 17,
        object: "channels",
        kept: &[
            (6, "rx", As::Count),
            (7, "tx", As::Count),
            (8, "other", As::Count),
            (9, "combined", As::Count),
            (2, "rx_max", As::Count),
            (3, "tx_max", As::Count),
            (5, "combined_max", As::Count),
        ],
    },
    Query {
        command: 19,
        object: "coalescing",
        kept: &[
            (2, "rx_seconds", As::Microseconds),
            (3, "rx_frames", As::Count),
            (6, "tx_seconds", As::Microseconds),
            (7, "tx_frames", As::Count),
            (11, "adaptive_rx", As::Flag),
            (12, "adaptive_tx", As::Flag),
        ],
    },
    Query {
        command: 21,
        object: "pause",
        kept: &[
            (2, "autonegotiation", As::Flag),
            (3, "rx", As::Flag),
            (4, "tx", As::Flag),
        ],
    },
];

/// The family, open.
pub(super) struct Ethtool(netlink::ethtool::Ethtool);

impl Ethtool {
    /// `None` where the kernel does not have it or does not let us.
    pub(super) fn open() -> Option<Ethtool> {
        netlink::ethtool::Ethtool::open().ok().map(Ethtool)
    }

    /// Adds what `interface` is set to. With `carrier` its driver is asked too; without,
    /// only the network core: to ask a driver may wake a sleeping device.
    pub(super) fn add(&mut self, fields: &mut Fields, interface: &str, carrier: bool) {
        let offloads = self.get(interface, FEATURES_GET);
        fields.nest(
            "offloads",
            offloads.map(|a| features(&a)).unwrap_or_default(),
        );
        if !carrier {
            return;
        }
        let modes = self.get(interface, LINKMODES_GET);
        // 0 off, 1 on, 2 not known.
        let auto = modes.and_then(|a| attribute(&a, 2).and_then(number_of));
        fields.put("autonegotiation", auto.filter(|v| *v < 2).map(|v| v == 1));
        for query in QUERIES {
            let answer = self.get(interface, query.command).unwrap_or_default();
            fields.nest(query.object, kept(&answer, query.kept));
        }
    }

    /// The attributes of the answer to a reading command.
    fn get(&mut self, interface: &str, command: u8) -> Option<Vec<u8>> {
        self.0.get(interface, command).ok()
    }
}

fn kept(answer: &[u8], table: &[(u16, &'static str, As)]) -> Fields {
    let mut fields = Fields::default();
    for (kind, name, form) in table {
        let number = attribute(answer, *kind).and_then(number_of);
        let value = number.map(|n| match form {
            As::Count => Value::from(n),
            As::Microseconds => Value::from(n as f64 / 1e6),
            As::Flag => Value::from(n != 0),
        });
        fields.put(*name, value);
    }
    fields
}

/// Offloads by name: those that are active, and those that are not and could be.
fn features(answer: &[u8]) -> Fields {
    const HARDWARE: u16 = 2;
    const ACTIVE: u16 = 4;
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    for (name, can_change) in bits(attribute(answer, HARDWARE).unwrap_or_default()) {
        if can_change {
            known.insert(name, false);
        }
    }
    for (name, _) in bits(attribute(answer, ACTIVE).unwrap_or_default()) {
        known.insert(name, true);
    }
    let mut fields = Fields::default();
    for (name, active) in known {
        fields.put(name, Some(active));
    }
    fields
}

/// The names of all objects and fields this module makes, for the documentation's test.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    let mut names = vec!["offloads", "autonegotiation"];
    for query in QUERIES {
        names.push(query.object);
        names.extend(query.kept.iter().map(|(_, name, _)| *name));
    }
    names
}

/// An answer's attributes as an object of its numbers, for tests on captured bytes.
#[cfg(test)]
fn object(object: &str, answer: &[u8]) -> Value {
    let query = QUERIES.iter().find(|q| q.object == object).unwrap();
    kept(answer, query.kept).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Two hexadecimal digits a byte; the captures are of a little-endian machine.
    fn captured(name: &str) -> Vec<u8> {
        let text = include_str!("../../fixtures/inventory/net/ethtool.txt");
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let digits = line.unwrap().trim();
        let bytes = (0..digits.len()).step_by(2);
        let bytes = bytes.map(|n| u8::from_str_radix(&digits[n..n + 2], 16).unwrap());
        bytes.skip(netlink::ethtool::GENERIC).collect()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn captured_answers() {
        let rings = object("rings", &captured("rings"));
        let expected = json!({"rx": 256, "tx": 256, "rx_max": 256, "tx_max": 256});
        assert_eq!(rings, expected);
        let channels = object("channels", &captured("channels"));
        let expected = json!({"combined": 1, "combined_max": 1});
        assert_eq!(channels, expected);
        let coalescing = object("coalescing", &captured("coalescing"));
        let expected = json!({"rx_seconds": 0.0, "rx_frames": 1, "tx_seconds": 0.0, "tx_frames": 1, "adaptive_rx": false});
        assert_eq!(coalescing, expected);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn captured_features() {
        let answer = captured("features");
        let found = Value::from(features(&answer));
        assert_eq!(found["rx-gro"], true);
        assert_eq!(found["tx-tcp-segmentation"], true);
        assert_eq!(found["rx-gro-list"], false);
        // Fixed and off: says nothing.
        assert_eq!(found.get("hsr-dup-offload"), None);
        for end in 0..answer.len() {
            let _ = features(&answer[..end]);
        }
    }
}
