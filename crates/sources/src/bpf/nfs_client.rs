//! The NFS client through eBPF (`nfs_client.bpf.c`): each operation, of which server, on which file.
//!
//! Its tracepoint is one of the module `sunrpc`, and comes where the kernel adds an operation to the
//! statistics of its mount, which `/proc/self/mountstats` shows: what is counted there is counted here
//! too, and as often (`docs/decisions/0024-nfs-client-events.md`).
//!
//! <https://docs.kernel.org/trace/events.html>

use super::attach::Hook;
use super::load::describes;
use super::nfs::known::{Names, V4_NULL};
use super::nfs::{Side, open_side};
use super::types::NFS_CLIENT;
use crate::proc::nfs::mountstats::{server, unescaped};
use crate::read::{fields, lines};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-nfs-client",
    help: "NFS client: operations by server and file, how long, how many bytes; each as an event",
    reads: "tracepoint sunrpc:rpc_stats_latency",
    link: "https://docs.kernel.org/trace/events.html",
    detail: Detail::Distributions,
    open,
};

const HOOKS: [Hook; 1] = [Hook::needed("nfs_client_done", "rpc_stats_latency")];

const CLIENT: Side = Side {
    object: super::object!("nfs_client"),
    hooks: &HOOKS,
    subject: "nfs",
    names: Names {
        numbered: |place| (place == V4_NULL).then(|| "NULL".into()),
        prefix: ("", ""),
        other_side,
    },
    by_file: "nfs_file",
    latency: "nfs_latency",
    event: "nfs_event",
    push: |rows, time, words, record| {
        let times = [record.latency(), record.round_trip(), record.queue()];
        let rest = [record.bytes(), record.weight()];
        rows.event(time, words, times.into_iter().chain(rest));
    },
};

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    if !describes(NFS_CLIENT)? {
        return Err(Availability::Unsupported {
            needs:
                "the NFS client's module from before the recording began (modprobe nfs; mounting \
                    loads it), and a kernel that describes its types, CONFIG_DEBUG_INFO_BTF_MODULES"
                    .into(),
        });
    }
    open_side(host, &CLIENT)
}

/// The name by which the server with that address was mounted, as in `/proc/self/mountstats`.
fn other_side(address: &str) -> Option<String> {
    named(&std::fs::read("/proc/self/mountinfo").ok()?, address)
}

/// The same, of a text like
/// `36 25 0:31 / /mnt rw shared:1 - nfs4 filer:/export rw,vers=4.2,addr=10.0.0.1`.
fn named(mountinfo: &[u8], address: &str) -> Option<String> {
    lines(mountinfo).find_map(|line| {
        let mut words = fields(line).skip_while(|word| *word != b"-").skip(1);
        words.next().filter(|kind| kind.starts_with(b"nfs"))?;
        let (device, options) = (words.next()?, words.next()?);
        let mut options = options.split(|b| *b == b',');
        let is_there = options.any(|o| o.strip_prefix(b"addr=") == Some(address.as_bytes()));
        is_there.then(|| unescaped(server(device)).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_name_by_which_it_was_mounted() {
        let mounts = b"22 1 0:21 / /proc rw - proc proc rw,addr=10.0.0.2\n\
            36 25 0:31 / /mnt/a rw shared:1 - nfs4 filer:/export rw,vers=4.2,clientaddr=10.0.0.9,addr=10.0.0.1\n\
            37 25 0:32 / /mnt/b rw shared:2 - nfs [fe80::7]:/b rw,vers=3,addr=fe80::7,local_lock=none\n";
        assert_eq!(named(mounts, "10.0.0.1").as_deref(), Some("filer"));
        assert_eq!(named(mounts, "fe80::7").as_deref(), Some("[fe80::7]"));
        // Another's, the client's own, and a part of one.
        for address in ["10.0.0.2", "10.0.0.9", "10.0.0"] {
            assert_eq!(named(mounts, address), None, "{address}");
        }
    }
}
