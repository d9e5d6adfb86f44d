//! Network interfaces: what they are and how they are set.
//!
//! Hardware addresses are left out: they identify the machine. Interfaces are those of the
//! recorder's network namespace.
//!
//! <https://docs.kernel.org/admin-guide/abi-testing.html> (`/sys/class/net`)

use std::path::Path;

use serde_json::Value;

use super::block::Place;
use super::ethtool::Ethtool;
use super::leaf::{Dir, Fields, Form, Leaf, MOST, leaf};
use super::rtnetlink;
use crate::Host;

/// Below `/sys/class/net/<interface>`.
pub(super) const INTERFACE: &[Leaf] = &[
    leaf("operstate", "operstate", Form::Text),
    leaf("mtu_bytes", "mtu", Form::Number),
    leaf("tx_queue_length", "tx_queue_len", Form::Number),
    leaf(
        "gro_flush_timeout_seconds",
        "gro_flush_timeout",
        Form::Seconds(1e9),
    ),
    leaf("napi_defer_hard_irqs", "napi_defer_hard_irqs", Form::Number),
    leaf("napi_threaded", "threaded", Form::Number),
    leaf("bond_mode", "bonding/mode", Form::Text),
    leaf("bond_hash_policy", "bonding/xmit_hash_policy", Form::Text),
];

/// How many receive queues of an interface are asked for packet steering.
const MOST_QUEUES: usize = 128;

/// The section `net`: interfaces by name.
pub(super) fn take(host: &Host) -> Value {
    let interfaces = Dir::new(host.sys("class/net"));
    // Netlink answers for this machine, whatever tree is read.
    let live = host.root == Path::new("/");
    let known = live.then(rtnetlink::interfaces).unwrap_or_default();
    let mut ethtool = live.then(Ethtool::open).flatten();
    let mut all = Fields::default();
    let mut names = interfaces.names();
    // `bonding_masters` is a file.
    names.retain(|name| interfaces.join(name).has("ifindex"));
    for name in names.iter().take(MOST) {
        let dir = interfaces.join(name);
        let known = known.get(name);
        let mut fields = Fields::default();
        fields.put("kind", kind(&dir, known.and_then(|k| k.kind.clone())));
        if dir.has("device") {
            hardware(&mut fields, host, &dir);
        }
        fields.leaves(&dir, INTERFACE);
        let carrier = dir.number("carrier") == Some(1);
        if carrier {
            link(&mut fields, &dir);
        }
        let names = dir.names();
        let lower = names.iter().filter_map(|n| n.strip_prefix("lower_"));
        let lower: Vec<&str> = lower.collect();
        fields.put("made_of", (!lower.is_empty()).then_some(lower));
        fields.put("master", dir.link_name("master"));
        queues(&mut fields, &dir.join("queues"));
        if let Some(known) = known {
            known.add(&mut fields);
        }
        if let Some(ethtool) = &mut ethtool {
            ethtool.add(&mut fields, name, carrier);
        }
        all.nest(name, fields);
    }
    all.not_listed(names.len());
    all.into()
}

/// What made it: the kernel's word for a kind of virtual interface, else `physical`,
/// `loopback` or, for a driver's virtual ones, its device type.
fn kind(dir: &Dir, told: Option<String>) -> Option<String> {
    const LOOPBACK: u64 = 772;
    let uevent = dir.text("uevent").unwrap_or_default();
    let device_type = uevent.lines().find_map(|l| l.strip_prefix("DEVTYPE="));
    told.or_else(|| device_type.map(str::to_owned)).or_else(|| {
        let kind = if dir.has("device") {
            "physical"
        } else if dir.number("type") == Some(LOOPBACK) {
            "loopback"
        } else {
            return None;
        };
        Some(kind.to_owned())
    })
}

fn hardware(fields: &mut Fields, host: &Host, dir: &Dir) {
    let place = Place::of(host, dir.path());
    fields.put("driver", place.drivers.into_iter().next());
    fields.put("numa_node", place.node);
}

/// What both ends agreed on. Only asked when there is a link: it is the driver that answers.
fn link(fields: &mut Fields, dir: &Dir) {
    // In megabits; -1 where the driver has none, which is not a number here.
    // Older kernels print the -1 without its sign.
    let speed = dir.number("speed").filter(|&m| m < u64::from(u32::MAX));
    let speed = speed.and_then(|m| m.checked_mul(1_000_000));
    fields.put("speed_bits_per_second", speed);
    let duplex = dir.text("duplex").filter(|d| d != "unknown");
    fields.put("duplex", duplex);
}

/// Queues of the interface, and receive queues with packet steering to other CPUs (RPS).
fn queues(fields: &mut Fields, dir: &Dir) {
    let names = dir.names();
    let count = |prefix| names.iter().filter(|n| n.starts_with(prefix)).count() as u64;
    fields.put("rx_queues", Some(count("rx-")));
    fields.put("tx_queues", Some(count("tx-")));
    let receiving = names.iter().filter(|n| n.starts_with("rx-"));
    let steered = receiving.take(MOST_QUEUES).filter(|name| {
        let mask = dir.text(&format!("{name}/rps_cpus")).unwrap_or_default();
        mask.contains(|c: char| c != '0' && c != ',')
    });
    fields.put("rps_queues", Some(steered.count() as u64));
}
