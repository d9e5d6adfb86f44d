//! What an interface is, from `/sys/class/net/<name>`, so that sums count a byte once.
//!
//! `/sys` shows the network namespace it was mounted in and `/proc/net` that of the reader;
//! where those differ an interface is not found here, or another of the same name is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::Host;
use crate::read::once;

/// `ARPHRD_ETHER`, `ARPHRD_INFINIBAND` and `ARPHRD_LOOPBACK` of `type`.
const ETHERNET: &str = "1";
const INFINIBAND: &str = "32";
const LOOPBACK: &str = "772";

/// `IFF_NOARP` of `flags`: set on dummy and ifb interfaces.
const NO_ARP: u64 = 0x80;

/// What an interface rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Stays in the kernel.
    Loopback,
    /// Has hardware, or what a virtual machine takes for it.
    Physical,
    /// Rests on nothing in this namespace that we know: veth, tap, macvlan of another
    /// namespace's link. In a container that is the way out.
    Leaf,
    /// Its bytes pass, or are counted by, another interface: bridge, bond, vlan, tunnel.
    Stacked,
}

impl Kind {
    /// The word of `layer`, in a namespace with or without a physical interface.
    pub(crate) fn layer(self, with_physical: bool) -> &'static str {
        match self {
            Kind::Loopback => "loopback",
            Kind::Physical => "edge",
            Kind::Leaf if !with_physical => "edge",
            Kind::Leaf | Kind::Stacked => "virtual",
        }
    }
}

/// The folder of an interface.
pub(crate) fn folder(host: &Host, name: &[u8]) -> PathBuf {
    host.sys("class/net").join(OsStr::from_bytes(name))
}

/// The interface's number in its namespace; it outlives a change of the name.
pub(crate) fn index(folder: &Path) -> Option<u64> {
    once(&folder.join("ifindex"))?.parse().ok()
}

/// What the interface with this folder is.
pub(crate) fn kind(folder: &Path) -> Kind {
    let Some(hardware) = once(&folder.join("type")) else {
        let is_lo = folder.file_name() == Some(OsStr::new("lo"));
        return if is_lo { Kind::Loopback } else { Kind::Leaf };
    };
    if hardware == LOOPBACK {
        Kind::Loopback
    } else if has_hardware(folder) {
        if counted_elsewhere(folder) {
            Kind::Stacked
        } else {
            Kind::Physical
        }
    } else if (hardware == ETHERNET || hardware == INFINIBAND) && rests_on_nothing(folder) {
        Kind::Leaf
    } else {
        Kind::Stacked
    }
}

/// Whether it has hardware, or what a virtual machine takes for it.
pub(crate) fn has_hardware(folder: &Path) -> bool {
    folder.join("device").exists()
}

/// Whether another interface with hardware counts this one's packets too: the half of a
/// failover pair (Hyper-V, virtio), the port of a switch chip, the host's end of a virtual
/// function. A bond or a bridge has no hardware: its members count, it does not.
fn counted_elsewhere(folder: &Path) -> bool {
    let port = once(&folder.join("phys_port_name")).unwrap_or_default();
    folder.join("master/device").exists()
        || port.contains("vf")
        || port.contains("sf")
        || device_type(folder).as_deref() == Some("dsa")
}

/// Whether an interface without hardware is not built on others of this namespace.
fn rests_on_nothing(folder: &Path) -> bool {
    let built = !matches!(
        device_type(folder).as_deref(),
        None | Some("vlan" | "macvlan" | "macvtap" | "ipvlan" | "ipvtap" | "veth" | "netkit")
    );
    let number = |name| once(&folder.join(name));
    let flags =
        number("flags").and_then(|f| u64::from_str_radix(f.trim_start_matches("0x"), 16).ok());
    // A dummy takes no address resolution, and has no other end; an ipvlan has one.
    let is_dummy = flags.is_some_and(|f| f & NO_ARP != 0) && number("iflink") == number("ifindex");
    // A port of a bridge leads to another container, not out.
    let is_port = folder.join("master/bridge").exists();
    !built && !is_dummy && !is_port && !has_lower(folder)
}

/// `DEVTYPE` of `uevent`, which not every kind of interface has.
fn device_type(folder: &Path) -> Option<String> {
    let uevent = once(&folder.join("uevent"))?;
    let mut lines = uevent.lines();
    lines.find_map(|l| l.strip_prefix("DEVTYPE=").map(str::to_owned))
}

/// Whether an interface of this namespace lies below it.
fn has_lower(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.any(|e| e.is_ok_and(|e| e.file_name().as_bytes().starts_with(b"lower_")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/net");

    #[test]
    fn each_kind_is_told_from_its_folder() {
        let host = Host::at(format!("{FIXTURES}/server"));
        for (name, expected) in [
            ("lo", Kind::Loopback),
            ("eno1", Kind::Physical),
            ("eno2", Kind::Physical),
            ("bond0", Kind::Stacked),
            ("bond0.7", Kind::Stacked),
            ("eth0", Kind::Physical),
            ("eth0vf", Kind::Stacked),
            ("veth1", Kind::Leaf),
            ("dummy9", Kind::Stacked),
            ("wg0", Kind::Stacked),
            ("absent", Kind::Leaf),
        ] {
            assert_eq!(kind(&folder(&host, name.as_bytes())), expected, "{name}");
        }
        assert_eq!(index(&folder(&host, b"eno1")), Some(2));
        assert_eq!(index(&folder(&host, b"absent")), None);
    }

    #[test]
    fn a_leaf_is_an_edge_only_where_nothing_is_physical() {
        assert_eq!(Kind::Leaf.layer(true), "virtual");
        assert_eq!(Kind::Leaf.layer(false), "edge");
        assert_eq!(Kind::Stacked.layer(false), "virtual");
        assert_eq!(Kind::Physical.layer(true), "edge");
    }
}
