//! What a name of a network interface says of it.

/// Kinds of interfaces that are made of others, or stay inside.
const VIRTUAL: [&[u8]; 28] = [
    b"aggr",
    b"bond",
    b"br",
    b"bridge",
    b"docker",
    b"dummy",
    b"etherstub",
    b"gif",
    b"gre",
    b"ifb",
    b"ipmp",
    b"lagg",
    b"stf",
    b"tap",
    b"team",
    b"tun",
    b"tunl",
    b"utun",
    b"veth",
    b"vif",
    b"virbr",
    b"vlan",
    b"vmnet",
    b"vnet",
    b"vnic",
    b"vxlan",
    b"wg",
    b"sit",
];

/// Beginnings of other names of such.
const BEGINNINGS: [&[u8]; 18] = [
    b"br-",
    b"cali",
    b"cilium",
    b"cni",
    b"docker",
    b"flannel",
    b"geneve",
    b"ip6tnl",
    b"kube",
    b"lxc",
    b"lxd",
    b"macvtap",
    b"ovs",
    b"podman",
    b"tailscale",
    b"veth",
    b"virbr",
    b"vxlan",
];

/// The catalog's `layer` of an interface, as far as its name tells: `loopback`, `virtual` (made
/// of others, or for what stays inside), `edge`.
pub(crate) fn layer(name: &[u8]) -> &'static str {
    let letters = name.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let kind = &name[..letters];
    let numbered = name[letters..].iter().all(u8::is_ascii_digit);
    if kind == b"lo" && numbered {
        return "loopback";
    }
    let begins = BEGINNINGS.iter().any(|b| name.starts_with(b));
    // `eth0.100` is a part of eth0, as `e1000g2000:1` is of its interface.
    let part = name.contains(&b'.') || name.contains(&b':') || name.contains(&b'@');
    if VIRTUAL.contains(&kind) || begins || part {
        "virtual"
    } else {
        "edge"
    }
}

#[cfg(test)]
mod tests {
    use super::layer;

    #[test]
    fn names_of_many_systems() {
        for name in ["lo", "lo0"] {
            assert_eq!(layer(name.as_bytes()), "loopback", "{name}");
        }
        for name in [
            "eth0", "igb3", "e1000g0", "enp3s0f1", "en0", "net0", "ixgbe1", "wlan0", "ens27f0",
        ] {
            assert_eq!(layer(name.as_bytes()), "edge", "{name}");
        }
        for name in [
            "aggr0",
            "virbr0-nic",
            "vif1",
            "vnic12",
            "br0",
            "br-12ab",
            "veth1a2b",
            "bond0",
            "eth0.7",
            "docker0",
            "wg0",
            "cali12ab",
            "kube-ipvs0",
            "ip6tnl0",
        ] {
            assert_eq!(layer(name.as_bytes()), "virtual", "{name}");
        }
    }
}
