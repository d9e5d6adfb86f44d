//! What a name of a network interface says of it.

/// The catalog's `layer` of an interface of Linux, as far as its name tells: `edge` (leaves the
/// machine), `virtual` (made of others, or stays inside), `loopback`.
pub(crate) fn layer(name: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(name);
    let numbered = |prefix: &str| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if numbered("lo") {
        return "loopback";
    }
    let made = [
        "veth",
        "br-",
        "docker",
        "virbr",
        "vnet",
        "cali",
        "flannel",
        "cni",
        "vxlan",
        "geneve",
        "tap",
        "tun",
        "wg",
        "dummy",
        "ifb",
        "tailscale",
        "podman",
        "lxc",
        "lxd",
        "ovs",
        "kube",
        "cilium",
        "vlan",
        "macvtap",
        "gre",
        "sit",
        "ip6tnl",
    ];
    let is_made = made.iter().any(|p| text.starts_with(p));
    // `eth0.100` is a vlan of eth0.
    if is_made || text.contains('.') || ["br", "bond", "team"].iter().any(|p| numbered(p)) {
        "virtual"
    } else {
        "edge"
    }
}

#[cfg(test)]
mod tests {
    use super::layer;

    #[test]
    fn names_of_interfaces() {
        for (wanted, names) in [
            ("edge", &["eth0", "enp3s0f1", "wlan0", "ib0", "ens192"][..]),
            (
                "virtual",
                &["veth12ab", "br0", "docker0", "bond1", "eth0.100", "wg0"],
            ),
            ("loopback", &["lo", "lo0"]),
        ] {
            for name in names {
                assert_eq!(layer(name.as_bytes()), wanted, "{name}");
            }
        }
    }
}
