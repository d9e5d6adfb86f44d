//! `net:IF.FIELD`: an interface of this network namespace, by rtnetlink and ethtool.
//!
//! Everything goes by netlink, nothing by `/sys/class/net`: that shows the namespace in which
//! it was mounted, netlink the one in which we are.

mod driver;
mod feature;
mod link;

use std::sync::Arc;

use super::{Allow, Family, Field, Opened, field, no_field};
use crate::KnobError;
use crate::spot::Spot;

pub(super) const FAMILY: Family = Family {
    prefix: "net",
    form: "net:IF.FIELD",
    about: "A network interface: packet sizes, offloads, rings, channels, coalescing",
    link: "https://docs.kernel.org/networking/ethtool-netlink.html",
    fields: FIELDS,
    open,
    list,
};

/// Rings and channels begin anew with some drivers when others change: they go first.
const fn known(name: &'static str, rank: u8, about: &'static str, reset_by: &'static str) -> Field {
    Field {
        name,
        about,
        reset_by,
        rank,
    }
}

const RESTART: &str = "the interface being made anew; a new number of channels, with some drivers";

const FIELDS: &[Field] = &[
    known(
        "mtu",
        1,
        "The largest packet, in bytes without the link's header",
        "DHCP, and daemons that manage networks",
    ),
    known(
        "txqueuelen",
        1,
        "Packets that may wait in the queueing discipline, for disciplines made afterwards",
        "",
    ),
    known(
        "gso_max_size",
        1,
        "The largest segment that is handed to the interface, in bytes",
        "a driver that starts anew",
    ),
    known(
        "gso_ipv4_max_size",
        2,
        "The same for IPv4",
        "a change of gso_max_size",
    ),
    known(
        "gso",
        2,
        "Whether segments are cut as late as possible",
        RESTART,
    ),
    known("tso", 2, "Whether the card cuts segments of TCP", RESTART),
    known(
        "gro",
        2,
        "Whether packets that come are joined before the stack sees them",
        RESTART,
    ),
    known(
        "lro",
        2,
        "Whether the card joins packets that come",
        "forwarding, which switches it off",
    ),
    known(
        "rx_ring",
        0,
        "Packets that the card can have for us",
        RESTART,
    ),
    known(
        "tx_ring",
        0,
        "Packets that we can have for the card",
        RESTART,
    ),
    known("rx_channels", 0, "Queues that only receive", ""),
    known("tx_channels", 0, "Queues that only send", ""),
    known("combined_channels", 0, "Queues that do both", ""),
    known(
        "rx_usecs",
        2,
        "How long the card waits before it interrupts for what came, in microseconds",
        RESTART,
    ),
    known(
        "rx_frames",
        2,
        "After how many packets it interrupts",
        RESTART,
    ),
    known(
        "tx_usecs",
        2,
        "How long the card waits before it interrupts for what was sent, in microseconds",
        RESTART,
    ),
    known(
        "tx_frames",
        2,
        "After how many packets it interrupts",
        RESTART,
    ),
    known(
        "adaptive_rx",
        1,
        "Whether the card chooses these two for what comes",
        RESTART,
    ),
    known(
        "adaptive_tx",
        1,
        "Whether the card chooses these two for what is sent",
        RESTART,
    ),
    known(
        "*",
        2,
        "Another offload by its name in `ethtool -k`, such as tx-udp-segmentation",
        RESTART,
    ),
];

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let split = rest
        .rsplit_once('.')
        .filter(|(i, s)| !i.is_empty() && !s.is_empty());
    let (interface, setting) = split.ok_or_else(|| no_field(name, rest, FIELDS))?;
    let found = field(FIELDS, setting).ok_or_else(|| no_field(name, setting, FIELDS))?;
    let link = link::Link::of(interface)?;
    let Some(link) = link else {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: format!("interface {interface}"),
            hint: format!(
                "in this network namespace there are {}",
                link::names().join(" ")
            ),
        });
    };
    let spot: Arc<dyn Spot> = if let Some(spot) = link::LinkSpot::of(&link, setting) {
        Arc::new(spot)
    } else if let Some(spot) = driver::DriverSpot::of(&link, setting) {
        Arc::new(spot)
    } else {
        match feature::Features::of(&link, setting)? {
            Some(spot) => Arc::new(spot),
            None => return Err(no_field(name, setting, FIELDS)),
        }
    };
    Ok(Opened { field: found, spot })
}

fn list(rest: &str) -> Vec<String> {
    let mut names = Vec::new();
    for interface in link::names() {
        let front = format!("{interface}.");
        if !(front.starts_with(rest) || rest.starts_with(&front)) {
            continue;
        }
        for known in FIELDS.iter().filter(|f| f.name != "*") {
            let name = format!("net:{interface}.{}", known.name);
            let there = name["net:".len()..].starts_with(rest);
            if there && super::Knob::parse(&name, Allow::default()).is_ok() {
                names.push(name);
            }
        }
    }
    names
}
