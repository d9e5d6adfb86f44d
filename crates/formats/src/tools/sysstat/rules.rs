//! Which column of `sar` and `mpstat` goes where.

use super::sheet::Sheet;
use super::{KIB, unit_of};
use crate::net;
use crate::out::Out;

/// Where a column goes.
#[derive(Clone, Copy)]
pub(crate) enum To {
    /// Table, words, measure, factor to base units; `@` is the instance, `@layer` the layer of
    /// a network interface of that name.
    Cell(&'static str, &'static [&'static str], &'static str, f64),
    /// The same, in pages of memory.
    Pages(&'static str, &'static [&'static str], &'static str),
}

use To::{Cell, Pages};

const PERCENT: f64 = 0.01;
const MIB: f64 = KIB * KIB;

/// Words of the tables of interfaces.
const RECEIVE: &[&str] = &["@", "@layer", "receive"];
const TRANSMIT: &[&str] = &["@", "@layer", "transmit"];

/// Names, as `sar` of Linux prints them.
const RULES: &[(&str, To)] = &[
    // -w, -q
    ("proc/s", Cell("system", &[], "forks", 1.0)),
    ("cswch/s", Cell("system", &[], "context_switches", 1.0)),
    ("runq-sz", Cell("system", &[], "runnable", 1.0)),
    ("plist-sz", Cell("system", &[], "tasks", 1.0)),
    ("ldavg-1", Cell("system", &[], "load1", 1.0)),
    ("ldavg-5", Cell("system", &[], "load5", 1.0)),
    ("ldavg-15", Cell("system", &[], "load15", 1.0)),
    ("blocked", Cell("system", &[], "blocked", 1.0)),
    // -W, -B
    ("pswpin/s", Pages("vm", &[], "swapped_in")),
    ("pswpout/s", Pages("vm", &[], "swapped_out")),
    ("pgpgin/s", Cell("vm", &[], "paged_in", KIB)),
    ("pgpgout/s", Cell("vm", &[], "paged_out", KIB)),
    ("fault/s", Cell("vm", &[], "faults", 1.0)),
    ("majflt/s", Cell("vm", &[], "major_faults", 1.0)),
    ("pgscank/s", Pages("vm_reclaim", &["kswapd"], "scanned")),
    ("pgscand/s", Pages("vm_reclaim", &["direct"], "scanned")),
    ("pgsteal/s", Pages("vm_reclaim", &["(all)"], "reclaimed")),
    // -r, -S
    ("kbmemfree", Cell("memory", &["free"], "bytes", KIB)),
    ("kbbuffers", Cell("memory", &["buffers"], "bytes", KIB)),
    ("kbcached", Cell("memory", &["cache"], "bytes", KIB)),
    ("kbanonpg", Cell("memory", &["anonymous"], "bytes", KIB)),
    ("kbslab", Cell("memory", &["slab"], "bytes", KIB)),
    ("kbkstack", Cell("memory", &["kernel_stacks"], "bytes", KIB)),
    ("kbpgtbl", Cell("memory", &["page_tables"], "bytes", KIB)),
    ("kbavail", Cell("memory_state", &[], "available", KIB)),
    ("kbdirty", Cell("memory_state", &[], "dirty", KIB)),
    ("kbcommit", Cell("memory_state", &[], "committed", KIB)),
    ("kbswpused", Cell("memory_state", &[], "swap_used", KIB)),
    // -n DEV, EDEV
    ("rxpck/s", Cell("net", RECEIVE, "packets", 1.0)),
    ("txpck/s", Cell("net", TRANSMIT, "packets", 1.0)),
    ("rxbyt/s", Cell("net", RECEIVE, "bytes", 1.0)),
    ("txbyt/s", Cell("net", TRANSMIT, "bytes", 1.0)),
    ("rxkB/s", Cell("net", RECEIVE, "bytes", KIB)),
    ("txkB/s", Cell("net", TRANSMIT, "bytes", KIB)),
    ("rxMB/s", Cell("net", RECEIVE, "bytes", MIB)),
    ("txMB/s", Cell("net", TRANSMIT, "bytes", MIB)),
    ("rxmcst/s", Cell("net", RECEIVE, "multicast", 1.0)),
    ("rxerr/s", Cell("net", RECEIVE, "errors", 1.0)),
    ("txerr/s", Cell("net", TRANSMIT, "errors", 1.0)),
    ("coll/s", Cell("net", TRANSMIT, "collisions", 1.0)),
    ("rxdrop/s", Cell("net", RECEIVE, "drops", 1.0)),
    ("txdrop/s", Cell("net", TRANSMIT, "drops", 1.0)),
    ("rxfifo/s", Cell("net", RECEIVE, "overruns", 1.0)),
    ("txfifo/s", Cell("net", TRANSMIT, "overruns", 1.0)),
    // -n TCP, ETCP
    ("active/s", Cell("tcp", &[], "connects", 1.0)),
    ("passive/s", Cell("tcp", &[], "accepts", 1.0)),
    (
        "iseg/s",
        Cell("tcp_segments", &["receive"], "segments", 1.0),
    ),
    (
        "oseg/s",
        Cell("tcp_segments", &["transmit"], "segments", 1.0),
    ),
    ("atmptf/s", Cell("tcp", &[], "connect_failures", 1.0)),
    ("estres/s", Cell("tcp", &[], "aborts", 1.0)),
    ("retrans/s", Cell("tcp", &[], "retransmits", 1.0)),
    ("isegerr/s", Cell("tcp", &[], "receive_errors", 1.0)),
    ("orsts/s", Cell("tcp", &[], "resets_sent", 1.0)),
    // -n UDP, UDP6
    (
        "idgm/s",
        Cell("udp_datagrams", &["receive", "4"], "datagrams", 1.0),
    ),
    (
        "odgm/s",
        Cell("udp_datagrams", &["transmit", "4"], "datagrams", 1.0),
    ),
    ("noport/s", Cell("udp", &["4"], "no_port", 1.0)),
    ("idgmerr/s", Cell("udp", &["4"], "receive_errors", 1.0)),
    (
        "idgm6/s",
        Cell("udp_datagrams", &["receive", "6"], "datagrams", 1.0),
    ),
    (
        "odgm6/s",
        Cell("udp_datagrams", &["transmit", "6"], "datagrams", 1.0),
    ),
    ("noport6/s", Cell("udp", &["6"], "no_port", 1.0)),
    ("idgmer6/s", Cell("udp", &["6"], "receive_errors", 1.0)),
    // -n IP, EIP, IP6, EIP6
    (
        "irec/s",
        Cell("ip_packets", &["receive", "4"], "packets", 1.0),
    ),
    (
        "orq/s",
        Cell("ip_packets", &["transmit", "4"], "packets", 1.0),
    ),
    ("fwddgm/s", Cell("ip", &["4"], "forwarded", 1.0)),
    ("fragcrt/s", Cell("ip", &["4"], "fragments", 1.0)),
    ("idisc/s", Cell("ip", &["4"], "receive_discards", 1.0)),
    ("odisc/s", Cell("ip", &["4"], "send_discards", 1.0)),
    ("onort/s", Cell("ip", &["4"], "no_route", 1.0)),
    ("asmf/s", Cell("ip", &["4"], "reassembly_failures", 1.0)),
    (
        "irec6/s",
        Cell("ip_packets", &["receive", "6"], "packets", 1.0),
    ),
    (
        "orq6/s",
        Cell("ip_packets", &["transmit", "6"], "packets", 1.0),
    ),
    ("fwddgm6/s", Cell("ip", &["6"], "forwarded", 1.0)),
    ("fragcr6/s", Cell("ip", &["6"], "fragments", 1.0)),
    ("idisc6/s", Cell("ip", &["6"], "receive_discards", 1.0)),
    ("odisc6/s", Cell("ip", &["6"], "send_discards", 1.0)),
    ("onort6/s", Cell("ip", &["6"], "no_route", 1.0)),
    ("asmf6/s", Cell("ip", &["6"], "reassembly_failures", 1.0)),
    // -n NFSD: the counters of the server that are of it alone.
    ("packet/s", Cell("nfsd", &[], "packets", 1.0)),
    ("badcall/s", Cell("nfsd", &[], "rpc_errors", 1.0)),
    ("hit/s", Cell("nfsd", &[], "cache_hits", 1.0)),
    // -q PSI
    (
        "%scpu",
        Cell("pressure", &["cpu", "some"], "stalled", PERCENT),
    ),
    (
        "%sio",
        Cell("pressure", &["io", "some"], "stalled", PERCENT),
    ),
    (
        "%fio",
        Cell("pressure", &["io", "full"], "stalled", PERCENT),
    ),
    (
        "%smem",
        Cell("pressure", &["memory", "some"], "stalled", PERCENT),
    ),
    (
        "%fmem",
        Cell("pressure", &["memory", "full"], "stalled", PERCENT),
    ),
];

/// Names, as `sar` of Solaris prints them; AIX and HP-UX have some of them. Swapping is told in
/// blocks of 512 bytes there.
const UNIX: &[(&str, To)] = &[
    ("fork/s", Cell("system", &[], "forks", 1.0)),
    ("pswch/s", Cell("system", &[], "context_switches", 1.0)),
    // AIX, `-w`.
    ("cswch/s", Cell("system", &[], "context_switches", 1.0)),
    ("bswin/s", Cell("vm", &[], "swapped_in", 512.0)),
    ("bswot/s", Cell("vm", &[], "swapped_out", 512.0)),
    ("ppgin/s", Pages("vm", &[], "paged_in")),
    ("ppgout/s", Pages("vm", &[], "paged_out")),
    ("pgscan/s", Pages("vm_reclaim", &["(all)"], "scanned")),
    ("pgfree/s", Pages("vm_reclaim", &["(all)"], "reclaimed")),
    ("freemem", Pages("memory", &["free"], "bytes")),
];

/// The system that printed a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum System {
    #[default]
    Linux,
    Solaris,
    /// AIX and HP-UX.
    Other,
}

/// Tables of the catalog that the rules fill.
pub(crate) const TABLES: &[&str] = &[
    "cpu",
    "cpu_idle",
    "disk",
    "disk_device",
    "interrupt",
    "ip",
    "ip_packets",
    "memory",
    "memory_state",
    "net",
    "nfsd",
    "pressure",
    "softnet",
    "system",
    "tcp",
    "tcp_segments",
    "udp",
    "udp_datagrams",
    "vm",
    "vm_reclaim",
];

/// Those of them that are filled where nobody tells how long a page of memory is: all but the last.
pub(super) const TABLES_WITHOUT_PAGES: &[&str] = TABLES.split_at(TABLES.len() - 1).0;

/// Names of the columns of Linux that have a rule.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    RULES.iter().map(|(name, _)| *name)
}

/// Where a column of that name goes in a table that has those columns: `retrans/s` is of TCP,
/// but of NFS beside `call/s`. Of an NFS client only some calls are told apart, and the catalog
/// wants all: they have no place.
fn rule(system: System, name: &str, names: &[String]) -> Option<To> {
    if name == "retrans/s" && names.iter().any(|n| n == "call/s") {
        return None;
    }
    let rules = if system == System::Linux { RULES } else { UNIX };
    rules.iter().find(|(n, _)| *n == name).map(|(_, to)| *to)
}

/// Puts a row of a table that is like any other.
pub(crate) fn apply(
    system: System,
    names: &[String],
    values: &[f64],
    instance: &[u8],
    page: Option<f64>,
    sheet: &mut Sheet,
    out: &mut Out,
) {
    let of = |name: &str| {
        let place = names.iter().position(|n| n == name);
        place.and_then(|p| values.get(p)).copied()
    };
    for (name, value) in names.iter().zip(values) {
        let (table, words, measure, factor) = match (rule(system, name, names), page) {
            (Some(Cell(table, words, measure, factor)), _) => (table, words, measure, factor),
            (Some(Pages(table, words, measure)), Some(page)) => (table, words, measure, page),
            (Some(Pages(..)), None) => {
                sheet.other(out, name, "pages/s", instance, *value);
                continue;
            }
            (None, _) => {
                sheet.other(out, name, unit(name), instance, *value);
                continue;
            }
        };
        let words: Vec<&[u8]> = words
            .iter()
            .map(|w| match *w {
                "@" => instance,
                "@layer" => net::layer(instance).as_bytes(),
                word => word.as_bytes(),
            })
            .collect();
        sheet.set(out, table, &words, measure, value * factor);
    }
    if let (Some(free), Some(used)) = (of("kbswpfree"), of("kbswpused")) {
        sheet.set(out, "memory_state", &[], "swap_total", (free + used) * KIB);
    }
}

/// The unit of a column without a place, as the manual has it.
fn unit(name: &str) -> &'static str {
    match name {
        "MHz" => "MHz",
        "freeswap" => "blocks of 512 bytes",
        "freemem" => "pages",
        "degC" => "degrees Celsius",
        "rpm" => "1/min",
        "inV" => "V",
        "sml_mem" | "lg_mem" | "ovsz_alloc" => "bytes",
        _ if name.ends_with("alloc") => "bytes",
        _ => unit_of(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::catalog;

    /// Names in the rules are names in the catalog.
    #[test]
    fn rules_lead_somewhere() {
        for (name, to) in RULES.iter().chain(UNIX) {
            let (Cell(table, words, measure, _) | Pages(table, words, measure)) = *to;
            assert!(TABLES.contains(&table), "{name}");
            let (subject, found) = catalog::table(table).expect(name);
            let all: Vec<_> = catalog::columns(subject, found).collect();
            assert!(all.iter().any(|c| c.name() == measure), "{name}");
            assert_eq!(
                all.iter().filter(|c| c.is_word()).count(),
                words.len(),
                "{name}"
            );
        }
    }
}
