//! A summary of the routes: where the default ones lead, and how many each interface has.
//!
//! ```text
//! Iface  Destination  Gateway   Flags  RefCnt  Use  Metric  Mask      MTU  Window  IRTT
//! eth0   00000000     010200C0  0003   0       0    0       00000000  0    0       0
//! ```
//! `/proc/net/route` prints addresses as the machine's own words. `/proc/net/ipv6_route` has
//! destination, its prefix length, source, its length, next hop, metric, references, uses,
//! flags and interface, all hexadecimal.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::leaf::{Fields, bounded};
use crate::Host;
use crate::read::{fields as words, lines, text};

/// A router may have a million routes; that many bytes of them are read.
const LONGEST: u64 = 1 << 20;

/// Routes of the kernel's own making: local addresses, refusals, and what it learned for
/// itself meanwhile (`RTF_LOCAL`, `RTF_REJECT`, `RTF_CACHE`, `RTF_DYNAMIC`).
const NOT_SET: u32 = 0x8000_0000 | 0x200 | 0x0100_0000 | 0x10;

/// One route.
struct Route {
    interface: String,
    is_default: bool,
    gateway: Option<String>,
    metric: u32,
    flags: u32,
}

/// The section `routes`.
pub(super) fn take(host: &Host) -> Value {
    let mut all = Fields::default();
    let tables: [(&str, &str, usize, Parse); 2] = [
        ("ipv4", "net/route", 1, v4),
        ("ipv6", "net/ipv6_route", 0, v6),
    ];
    for (name, file, head, parse) in tables {
        if let Some((bytes, whole)) = bounded(&host.proc(file), LONGEST) {
            let routes = lines(&bytes).skip(head).filter_map(parse);
            all.nest(name, summary(routes, whole));
        }
    }
    all.into()
}

type Parse = fn(&[u8]) -> Option<Route>;

fn summary(routes: impl Iterator<Item = Route>, whole: bool) -> Fields {
    let mut defaults: Vec<Route> = Vec::new();
    let mut counts: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for route in routes.filter(|route| route.flags & NOT_SET == 0) {
        *counts.entry(route.interface.clone()).or_default() += 1;
        if route.is_default {
            defaults.push(route);
        }
    }
    let mut fields = Fields::default();
    // The least metric is the one taken.
    if let Some(route) = defaults.into_iter().min_by_key(|route| route.metric) {
        let mut default = Fields::default();
        default.put("interface", Some(route.interface));
        default.put("gateway", route.gateway);
        default.put("metric", Some(route.metric));
        fields.nest("default", default);
    }
    let mut routes = Fields::default();
    for (interface, count) in counts {
        routes.put(interface, Some(count));
    }
    fields.nest("routes", routes);
    fields.put("cut_short", (!whole).then_some(true));
    fields
}

fn hex(field: &[u8]) -> Option<u32> {
    u32::from_str_radix(&text(field), 16).ok()
}

fn v4(line: &[u8]) -> Option<Route> {
    let mut words = words(line);
    let interface = text(words.next()?).into_owned();
    let destination = hex(words.next()?)?;
    let gateway = Ipv4Addr::from(hex(words.next()?)?.to_ne_bytes());
    let flags = hex(words.next()?)?;
    let metric = text(words.nth(2)?).parse().ok()?;
    let mask = hex(words.next()?)?;
    Some(Route {
        interface,
        is_default: destination == 0 && mask == 0,
        gateway: (!gateway.is_unspecified()).then(|| gateway.to_string()),
        metric,
        flags,
    })
}

fn v6(line: &[u8]) -> Option<Route> {
    let mut words = words(line);
    let address = |field: &[u8]| u128::from_str_radix(&text(field), 16).ok();
    let destination = address(words.next()?)?;
    let length = hex(words.next()?)?;
    let gateway = Ipv6Addr::from(address(words.nth(2)?)?);
    let metric = hex(words.next()?)?;
    let flags = hex(words.nth(2)?)?;
    let interface = text(words.next()?).into_owned();
    Some(Route {
        interface,
        is_default: destination == 0 && length == 0,
        gateway: (!gateway.is_unspecified()).then(|| gateway.to_string()),
        metric,
        flags,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::tree::Tree;
    use serde_json::json;

    #[test]
    #[cfg(target_endian = "little")]
    fn the_default_of_least_metric_leads() {
        let tree = Tree::of(
            "proc/net/route = Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\\neth1 00000000 0102000A 0003 0 0 200 00000000 0 0 0\\neth0 00000000 010200C0 0003 0 0 100 00000000 0 0 0\\neth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\\nbroken\n\
             proc/net/ipv6_route = 00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003 eth0\\nfd000000000000000000000000000002 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000003 00000000 80200001 eth0\\n00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200 lo\n",
        );
        let expected = json!({
            "ipv4": {"default": {"interface": "eth0", "gateway": "192.0.2.1", "metric": 100}, "routes": {"eth0": 2, "eth1": 1}},
            "ipv6": {"default": {"interface": "eth0", "gateway": "fd00::1", "metric": 1024}, "routes": {"eth0": 1}},
        });
        assert_eq!(take(&tree.host()), expected);
    }
}
