//! What this machine runs on: hardware, a hypervisor, a container.
//!
//! Serial numbers, asset tags and UUIDs are left out.

use serde_json::Value;

use super::cpu::cpuinfo;
use super::leaf::{Dir, Fields, Form, Leaf, bounded, leaf};
use crate::Host;

/// Below `/sys/class/dmi/id`.
pub(super) const DMI: &[Leaf] = &[
    leaf("system_vendor", "sys_vendor", Form::Text),
    leaf("product", "product_name", Form::Text),
    leaf("board", "board_name", Form::Text),
    leaf("bios_vendor", "bios_vendor", Form::Text),
    leaf("bios_version", "bios_version", Form::Text),
    leaf("bios_date", "bios_date", Form::Text),
];

/// Files that a container runtime leaves, and what each says.
const MARKS: &[(&str, &str)] = &[
    (".dockerenv", "docker"),
    ("run/.containerenv", "podman"),
    ("proc/vz", "openvz"),
];

/// The section `virtualisation`.
pub(super) fn take(host: &Host) -> Value {
    let mut fields = Fields::default();
    fields.leaves(&Dir::new(host.sys("class/dmi/id")), DMI);
    let hypervisor = Dir::new(host.sys("hypervisor"));
    fields.leaves(&hypervisor, &[leaf("hypervisor", "type", Form::Text)]);
    let head = bounded(&host.proc("cpuinfo"), 1 << 14);
    let flags = head.and_then(|(bytes, _)| cpuinfo(&bytes, "flags"));
    let guest = flags.map(|f| f.split(' ').any(|flag| flag == "hypervisor"));
    fields.put("guest", guest);
    fields.put("container", container(host));
    fields.into()
}

/// systemd's own note is the most exact; else the marks of the runtimes.
fn container(host: &Host) -> Option<String> {
    let root = Dir::new(&host.root);
    let told = root.text("run/systemd/container").filter(|t| !t.is_empty());
    told.or_else(|| {
        let (_, kind) = MARKS.iter().find(|(file, _)| root.has(file))?;
        // OpenVZ has this file on the host too, and there another beside it.
        (*kind != "openvz" || !root.has("proc/bc")).then(|| (*kind).to_owned())
    })
}
