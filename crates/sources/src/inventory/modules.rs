//! Parameters of kernel modules that bear on performance, `/sys/module/<name>/parameters`.

use serde_json::Value;

use super::leaf::{Dir, Fields, MOST, plain};
use crate::Host;

/// The modules, those of a purpose together.
pub(super) const MODULES: &[&str] = &[
    // file systems
    "zfs",
    "spl",
    "nfs",
    "nfsv4",
    "nfsd",
    "lockd",
    "sunrpc",
    "fuse",
    "ceph",
    "libceph",
    "cifs",
    // block
    "nvme_core",
    "nvme",
    "nvme_tcp",
    "nvme_rdma",
    "scsi_mod",
    "sd_mod",
    "dm_mod",
    "dm_crypt",
    "dm_multipath",
    "md_mod",
    "raid456",
    "loop",
    "zram",
    "zswap",
    "virtio_blk",
    "null_blk",
    "mpt3sas",
    "megaraid_sas",
    "qla2xxx",
    "lpfc",
    // network
    "tcp_cubic",
    "tcp_bbr",
    "nf_conntrack",
    "bonding",
    "virtio_net",
    "vhost",
    "vhost_net",
    "ena",
    "gve",
    "ice",
    "i40e",
    "ixgbe",
    "mlx5_core",
    "bnxt_en",
    "rdma_cm",
    "ib_core",
    // processors
    "kvm",
    "kvm_intel",
    "kvm_amd",
    "haltpoll",
    "cpuidle_haltpoll",
    "intel_idle",
    "processor",
    "pcie_aspm",
    "workqueue",
    "rcutree",
];

/// Parameters that name this one machine.
const IDENTIFYING: &[&str] = &["spl_hostid", "nfs4_unique_id"];

/// The section `modules`: parameters as the kernel prints them, by module. What may not be
/// read is left out.
pub(super) fn take(host: &Host) -> Value {
    let modules = Dir::new(host.sys("module"));
    let mut all = Fields::default();
    for module in MODULES {
        let dir = modules.join(module).join("parameters");
        let mut fields = Fields::default();
        let mut names = dir.names();
        names.retain(|name| !IDENTIFYING.contains(&name.as_str()));
        for name in names.iter().take(MOST) {
            let value = dir.text(name).map(|text| plain(&text));
            fields.put(name, value);
        }
        all.nest(*module, fields);
    }
    all.into()
}
