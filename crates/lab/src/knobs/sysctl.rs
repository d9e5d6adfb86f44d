//! `sysctl:NAME`: files below `/proc/sys`.
//!
//! Some exclude each other: `vm.dirty_bytes` and `vm.dirty_ratio` are one setting in two
//! units, and the one that is not in use reads 0. Zero is never written back to it: the other
//! is put back, which zeroes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, leads_away};
use crate::spot::{Identity, NETWORK_NAMESPACE, Spot, Values, normal, number, quoted};
use crate::{KnobError, kernel_file, namespace};

pub(super) const FAMILY: Family = Family {
    prefix: "sysctl",
    form: "sysctl:NAME",
    about: "A setting of the kernel below /proc/sys",
    link: "https://docs.kernel.org/admin-guide/sysctl/index.html",
    fields: FIELDS,
    open,
    list,
};

const DIR: &str = "/proc/sys";

const fn known(name: &'static str, about: &'static str) -> Field {
    Field {
        name,
        about,
        reset_by: "",
        rank: 1,
    }
}

const fn pair(name: &'static str, about: &'static str, reset_by: &'static str) -> Field {
    Field {
        name,
        about,
        reset_by,
        rank: 1,
    }
}

/// Those that experiments are made with; any other is the asterisk.
const FIELDS: &[Field] = &[
    pair(
        "vm.dirty_ratio",
        "Dirty memory at which writers wait, in percent",
        "vm.dirty_bytes",
    ),
    pair(
        "vm.dirty_bytes",
        "Dirty memory at which writers wait, in bytes",
        "vm.dirty_ratio",
    ),
    pair(
        "vm.dirty_background_ratio",
        "Dirty memory at which write-back begins, in percent",
        "vm.dirty_background_bytes",
    ),
    pair(
        "vm.dirty_background_bytes",
        "Dirty memory at which write-back begins, in bytes",
        "vm.dirty_background_ratio",
    ),
    known(
        "vm.dirty_expire_centisecs",
        "Age at which dirty memory is written, in 1/100 s",
    ),
    known(
        "vm.dirty_writeback_centisecs",
        "How often write-back looks, in 1/100 s",
    ),
    known(
        "vm.swappiness",
        "Preference of swapping over dropping the page cache",
    ),
    known(
        "vm.vfs_cache_pressure",
        "How readily cached names and inodes are dropped",
    ),
    known("vm.min_free_kbytes", "Memory that is kept free, in KiB"),
    known(
        "vm.watermark_scale_factor",
        "How early memory is reclaimed, in 1/10,000 of it",
    ),
    known(
        "vm.page-cluster",
        "Pages that are swapped in at once, as a power of two",
    ),
    known(
        "kernel.numa_balancing",
        "Whether memory is moved to the processor that uses it",
    ),
    known(
        "kernel.sched_autogroup_enabled",
        "Whether sessions share the processors evenly",
    ),
    known(
        "net.core.rmem_max",
        "The largest receive buffer a program may ask for, in bytes",
    ),
    known(
        "net.core.wmem_max",
        "The largest send buffer a program may ask for, in bytes",
    ),
    known(
        "net.core.netdev_max_backlog",
        "Packets that may wait for a processor",
    ),
    known(
        "net.core.netdev_budget",
        "Packets that are handled in one soft interrupt",
    ),
    known(
        "net.core.busy_poll",
        "How long poll and select wait for packets, in microseconds",
    ),
    known(
        "net.core.somaxconn",
        "Connections that may wait to be accepted",
    ),
    known(
        "net.core.default_qdisc",
        "Queueing discipline of interfaces that are made afterwards",
    ),
    known(
        "net.ipv4.tcp_rmem",
        "Receive buffer of TCP: least, at first, most, in bytes",
    ),
    known(
        "net.ipv4.tcp_wmem",
        "Send buffer of TCP: least, at first, most, in bytes",
    ),
    known(
        "net.ipv4.tcp_congestion_control",
        "How new TCP connections find their rate",
    ),
    known(
        "net.ipv4.tcp_slow_start_after_idle",
        "Whether an idle connection starts slowly again",
    ),
    known(
        "net.ipv4.tcp_mtu_probing",
        "Whether TCP looks for the largest packet by itself",
    ),
    known(
        "net.ipv4.tcp_notsent_lowat",
        "Unsent bytes at which a socket is writable again",
    ),
    known("*", "Another setting of the kernel"),
];

/// Settings in two units: the one in the first column is in use, or the one in the second,
/// whose default is in the third.
const PAIRS: &[(&str, &str, &str)] = &[
    ("vm.dirty_bytes", "vm.dirty_ratio", "20"),
    (
        "vm.dirty_background_bytes",
        "vm.dirty_background_ratio",
        "10",
    ),
    ("vm.overcommit_kbytes", "vm.overcommit_ratio", "50"),
];

/// What cannot be put back, by the front or the end of its name, and why.
const ONE_WAY: &[(&str, &str)] = &[
    ("vm.drop_caches", "it is an action, not a setting"),
    ("vm.compact_memory", "it is an action, not a setting"),
    ("vm.stat_refresh", "it is an action, not a setting"),
    ("net.ipv4.route.flush", "it is an action, not a setting"),
    ("net.ipv6.route.flush", "it is an action, not a setting"),
    (
        "kernel.modules_disabled",
        "the kernel does not take it back",
    ),
    (
        "kernel.kexec_load_disabled",
        "the kernel does not take it back",
    ),
    (
        "kernel.unprivileged_bpf_disabled",
        "the kernel does not take it back",
    ),
    (
        "kernel.yama.ptrace_scope",
        "the kernel does not take its highest value back",
    ),
    (
        "net.ipv4.ip_forward",
        "it resets other settings of all interfaces",
    ),
    (
        "net.ipv4.conf.all.forwarding",
        "it resets other settings of all interfaces",
    ),
    (
        "net.ipv6.conf.all.forwarding",
        "it resets other settings of all interfaces",
    ),
    ("net.ipv6.conf.*.disable_ipv6", "it removes addresses"),
    ("kernel.ns_last_pid", "it changes with every process"),
    ("fs.binfmt_misc.*", "it is an action, not a setting"),
];

/// Where the setting is another in each namespace, by the front of its name.
const NAMESPACED: &[(&str, &str)] = &[
    ("net/", "net"),
    ("fs/mqueue/", "ipc"),
    ("kernel/shm", "ipc"),
    ("kernel/msg", "ipc"),
    ("kernel/sem", "ipc"),
    ("kernel/auto_msgmni", "ipc"),
    ("kernel/hostname", "uts"),
    ("kernel/domainname", "uts"),
];

/// The path below `/proc/sys`. As with `sysctl`, the first separator tells which of dot and
/// slash separates; the other is part of names, and swapped.
fn below(rest: &str) -> String {
    match rest.find(['.', '/']) {
        Some(at) if rest.as_bytes()[at] == b'/' => rest.to_owned(),
        _ => rest
            .chars()
            .map(|c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            })
            .collect(),
    }
}

/// The name with dots, as in the tables.
fn dotted(below: &str) -> String {
    below
        .chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            c => c,
        })
        .collect()
}

/// Whether a name is `pattern`, whose asterisk is one or more parts.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((front, end)) => {
            name.len() > front.len() + end.len() && name.starts_with(front) && name.ends_with(end)
        }
    }
}

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let below = below(rest);
    let path = Path::new(DIR).join(&below);
    if leads_away(&below) || !path.is_file() {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: path.display().to_string(),
            hint: "`sonde knobs sysctl:vm` lists those that begin with vm".into(),
        });
    }
    let dotted = dotted(&below);
    if let Some((_, why)) = ONE_WAY
        .iter()
        .find(|(pattern, _)| matches(pattern, &dotted))
    {
        return Err(KnobError::OneWay {
            name: name.to_owned(),
            why: (*why).to_owned(),
        });
    }
    let Some(field) = super::field(FIELDS, &dotted) else {
        return Err(super::no_field(name, rest, FIELDS));
    };
    let spot = Sysctl {
        path,
        below,
        name: dotted,
    };
    Ok(Opened {
        field,
        spot: Arc::new(spot),
    })
}

fn list(rest: &str) -> Vec<String> {
    if rest.is_empty() {
        let known = FIELDS.iter().filter(|f| f.name != "*");
        let here = known.filter(|f| Path::new(DIR).join(below(f.name)).exists());
        return here.map(|f| format!("sysctl:{}", f.name)).collect();
    }
    let mut found = Vec::new();
    collect(Path::new(DIR), &mut found);
    let mut names: Vec<String> = found
        .iter()
        .filter_map(|p| p.strip_prefix(DIR).ok()?.to_str())
        .map(dotted)
        .filter(|n| n.starts_with(rest) && !ONE_WAY.iter().any(|(p, _)| matches(p, n)))
        .map(|n| format!("sysctl:{n}"))
        .collect();
    names.sort();
    names
}

/// The files below `dir` that can be written.
fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            collect(&path, found);
        } else if super::can_be_written(&path) {
            found.push(path);
        }
    }
}

/// A file below `/proc/sys`.
#[derive(Debug)]
struct Sysctl {
    path: PathBuf,
    below: String,
    name: String,
}

impl Sysctl {
    /// The setting that is this one in another unit.
    fn partner(&self) -> Option<&'static str> {
        let mut pairs = PAIRS.iter();
        pairs.find_map(|(one, other, _)| match self.name.as_str() {
            name if name == *one => Some(*other),
            name if name == *other => Some(*one),
            _ => None,
        })
    }
}

impl Spot for Sysctl {
    fn read(&self) -> Result<String, KnobError> {
        kernel_file::read(&self.path).map(|text| normal(&text))
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        kernel_file::write(&self.path, value)
    }

    fn put_back(&self, value: &str) -> Result<(), KnobError> {
        let pair = PAIRS.iter().find(|(bytes, _, _)| *bytes == self.name);
        match pair.filter(|_| number(value) == Some(0)) {
            // Not in use at the start. The other may want 0 too, which it reads as now, and
            // which the kernel would take for no change: so it gets another value first. It is
            // put back behind this one.
            Some((_, other, default)) => {
                kernel_file::write(&Path::new(DIR).join(below(other)), default)
            }
            None => self.write(value),
        }
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        let kind = NAMESPACED
            .iter()
            .find(|(front, _)| self.below.starts_with(front));
        Ok(match kind {
            Some((_, "net")) => namespace::network().map(|n| (NETWORK_NAMESPACE.to_owned(), n)),
            Some((_, kind)) => namespace::of_kind(kind).map(|n| (format!("{kind} namespace"), n)),
            None => None,
        }
        .into_iter()
        .collect())
    }

    fn values(&self) -> Values {
        match self.read().ok().and_then(|text| number(&text)) {
            Some(_) => Values::Number,
            None if self.name == "net.ipv4.tcp_congestion_control" => {
                let all = "/proc/sys/net/ipv4/tcp_available_congestion_control";
                let known = kernel_file::read(Path::new(all));
                known.map_or(Values::Text, |text| {
                    Values::Words(kernel_file::choices(&text))
                })
            }
            None => Values::Text,
        }
    }

    fn writable(&self) -> Result<(), KnobError> {
        kernel_file::writable(&self.path)
    }

    fn command(&self, value: &str) -> String {
        match namespace::command_prefix() {
            inside if self.below.starts_with("net/") && !inside.is_empty() => {
                format!("{inside}sysctl -w {}={}", quoted(&self.name), quoted(value))
            }
            _ => kernel_file::command(&self.path, value),
        }
    }

    fn companions(&self) -> Vec<String> {
        self.partner()
            .map(|p| format!("sysctl:{p}"))
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_either_way() {
        assert_eq!(below("vm.dirty_ratio"), "vm/dirty_ratio");
        assert_eq!(
            below("net.ipv4.conf.eth0/100.arp_ignore"),
            "net/ipv4/conf/eth0.100/arp_ignore"
        );
        assert_eq!(
            below("net/ipv4/conf/eth0.100/arp_ignore"),
            "net/ipv4/conf/eth0.100/arp_ignore"
        );
        assert_eq!(
            dotted("net/ipv4/conf/eth0.100/x"),
            "net.ipv4.conf.eth0/100.x"
        );
    }

    #[test]
    fn patterns_of_what_is_not_put_back() {
        assert!(matches(
            "net.ipv6.conf.*.disable_ipv6",
            "net.ipv6.conf.eth0.disable_ipv6"
        ));
        assert!(!matches(
            "net.ipv6.conf.*.disable_ipv6",
            "net.ipv6.conf.eth0.mtu"
        ));
        assert!(matches("vm.drop_caches", "vm.drop_caches"));
    }
}
