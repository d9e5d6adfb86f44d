//! What a run lacks because the kernel had no such hook, or refused the program there.

use run::Manifest;
use run::catalog::Table;
use run::manifest::Program;

use super::Asked;
use crate::plan::{Key, ScanPlan};

/// What needs a hook of the kernel.
struct Need {
    /// As the manifest names it.
    hook: &'static str,
    /// What does as well.
    or: Option<&'static str>,
    tables: &'static [&'static str],
    /// What of those.
    part: Part,
    /// What is to be said of it without.
    without: &'static str,
}

/// What of a table needs a hook.
#[derive(Clone, Copy)]
enum Part {
    /// It may have no rows at all without.
    All,
    /// What there is of it is not all.
    Rows,
    /// These measures and dimensions.
    Columns(&'static [&'static str]),
}

use Part::{All, Columns, Rows};

const NET: &[&str] = &["net_size", "net_packets", "net_event"];
const FILE: &[&str] = &["file_path", "file_latency", "file_size", "file_event"];
const NFSD: &[&str] = &["nfsd_file", "nfsd_latency", "nfsd_event"];
const MOVED: Part = Columns(&["bytes", "size"]);
const WAITING: Part = Columns(&["waits", "waited"]);
const WAITS: &str = "waits for a processor are not known";
const SUBMITTERS: &str = "who made the I/Os of a disk is not known";
const CONTEXT: &str = "in whose time a segment passed is not known";
const PASSED: &[&str] = &["context", "process", "command", "cgroup"];
const RINGS: &str = "what was asked for through io_uring is not counted";
const BIOS: &str = "devices without a queue of requests (dm, md, zram) are not seen";
const BIO_TABLES: &[&str] = &[
    "disk_io",
    "disk_pattern",
    "disk_peak",
    "disk_latency",
    "disk_queue_time",
    "disk_service_time",
    "disk_size",
    "disk_distance",
    "disk_nearest",
    "disk_depth",
    "disk_at_depth",
    "disk_event",
];

const NEEDS: &[Need] = &[
    need("sched_wakeup", &["cpu_wait"], All, WAITS),
    need("sched_wakeup_new", &["cpu_wait"], All, WAITS),
    need("sched_wakeup", &["cpu_cgroup"], WAITING, WAITS),
    need("sched_wakeup_new", &["cpu_cgroup"], WAITING, WAITS),
    Need {
        or: Some("block_getrq"),
        ..need(
            "block_io_start",
            &["disk_event"],
            Columns(&["process", "command", "cgroup", "file"]),
            SUBMITTERS,
        )
    },
    need(
        "iomap_dio_rw_begin",
        &["disk_event"],
        Columns(&["file"]),
        "the file of an I/O that passed by the page cache is not known",
    ),
    need(
        "block_rq_insert",
        &["disk_io", "disk_latency", "disk_queue_time", "disk_event"],
        Columns(&["queue", "time", "queue_time", "latency"]),
        "time in the scheduler's queue is not known, and counts as none",
    ),
    need(
        "block_rq_requeue",
        &["disk_io"],
        Columns(&["requeues"]),
        "what was handed back by the driver is not counted",
    ),
    need("block_bio_queue", BIO_TABLES, All, BIOS),
    need("block_bio_complete", BIO_TABLES, All, BIOS),
    need(
        "tcp_probe",
        &["tcp_rtt"],
        All,
        "round-trip times are not known",
    ),
    need(
        "tcp_rcv_space_adjust",
        &["tcp_connection", "tcp_event"],
        Columns(&["process", "command", "cgroup"]),
        "whose an accepted connection is is not known",
    ),
    need(
        "tcp_retransmit_skb",
        &["tcp_event"],
        Columns(&["retransmits", "state"]),
        "segments sent again are no events",
    ),
    need(
        "tcp_retransmit_synack",
        &["tcp_event"],
        Columns(&["retransmits", "state"]),
        "answers to connection requests that were sent again are no events",
    ),
    need("softirq_entry", NET, Columns(PASSED), CONTEXT),
    need("softirq_exit", NET, Columns(PASSED), CONTEXT),
    need(
        "net_dev_queue",
        NET,
        Columns(&["stage"]),
        "what comes before the queueing discipline is not seen",
    ),
    need(
        "net_dev_xmit",
        NET,
        Rows,
        "a segment that the driver gives back counts each time it is handed over",
    ),
    need("io_uring_submit_req", FILE, Rows, RINGS),
    need("io_uring_submit_sqe", FILE, Rows, RINGS),
    need("io_uring_complete", FILE, Rows, RINGS),
    need(
        "nfsd_compound_status",
        NFSD,
        Rows,
        "operations of version 4 are not counted",
    ),
    need(
        "nfsd_compound",
        NFSD,
        Columns(&["time", "latency"]),
        "the first operation of a request of version 4 has what came before it in its time",
    ),
    need(
        "nfsd_fh_verify",
        &["nfsd_file", "nfsd_event"],
        Columns(&["file"]),
        "the files of operations that move no bytes are not known",
    ),
    need(
        "nfsd_read_io_done",
        NFSD,
        MOVED,
        "bytes that clients read are not known",
    ),
    need(
        "nfsd_write_io_done",
        NFSD,
        MOVED,
        "bytes that clients write are not known",
    ),
];

const fn need(
    hook: &'static str,
    tables: &'static [&'static str],
    part: Part,
    without: &'static str,
) -> Need {
    Need {
        hook,
        or: None,
        tables,
        part,
        without,
    }
}

impl Need {
    /// The program that would wait there, if it does not.
    fn lacks<'m>(&self, manifest: &'m Manifest) -> Option<&'m Program> {
        let all = &manifest.programs;
        let waits_at = |hook| all.iter().any(|p| p.hook == hook && p.state == "attached");
        if self.or.is_some_and(waits_at) {
            return None;
        }
        all.iter()
            .find(|p| p.hook == self.hook && p.state != "attached")
    }

    /// Whether what a scan reads needs it.
    fn is_read_by(&self, scan: &ScanPlan) -> bool {
        // Of disks nothing is missed of other devices.
        let is_elsewhere = self.without == BIOS && scan.implied.contains(&("layer", "disk"));
        let is_named = match self.part {
            All | Rows => true,
            Columns(columns) => columns.iter().any(|c| reads(scan, c)),
        };
        self.tables.contains(&scan.table.name) && is_named && !is_elsewhere
    }
}

/// Whether a scan reads the measure or dimension of that name because it was asked for.
fn reads(scan: &ScanPlan, name: &str) -> bool {
    let is_key = |key: &Key| matches!(key, Key::Word(n) | Key::Number(n) if *n == name);
    let is_implied = scan.implied.iter().any(|(dimension, _)| *dimension == name);
    scan.column == Some(name)
        || scan.by.iter().any(|(_, key)| is_key(key))
        || (!is_implied && scan.tests.iter().any(|(tested, _)| *tested == name))
}

/// `sched_wakeup` (unsupported: this kernel has no such tracepoint)
fn told(program: &Program) -> String {
    let why = match program.detail.as_str() {
        "" => program.state.clone(),
        why => format!("{}: {why}", program.state),
    };
    format!("`{}` ({why})", program.hook)
}

/// Why a table that a source would fill may have no rows: it needs a hook that was missing.
pub(crate) fn lacking(manifest: &Manifest, table: &Table) -> Option<String> {
    let is_of = |need: &&Need| need.tables.contains(&table.name) && matches!(need.part, All);
    let mut missing = NEEDS.iter().filter(is_of);
    let (need, program) = missing.find_map(|n| Some((n, n.lacks(manifest)?)))?;
    Some(format!(
        "without the hook {} {}",
        told(program),
        need.without
    ))
}

impl Asked<'_> {
    /// What is not in the numbers for want of a hook.
    pub(super) fn hooks(&self) -> Vec<String> {
        let mut said: Vec<&str> = vec![];
        let mut notes = vec![];
        for need in NEEDS {
            let Some(program) = need.lacks(self.manifest()) else {
                continue;
            };
            let is_read = self.scans().any(|scan| need.is_read_by(scan));
            if is_read && !said.contains(&need.without) {
                said.push(need.without);
                notes.push(format!(
                    "without the hook {}, {}",
                    told(program),
                    need.without
                ));
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::catalog;

    /// Names are those of the catalog and of the sources.
    #[test]
    fn every_name_is_one() {
        let mut sources = String::new();
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../sources/src/bpf");
        for file in std::fs::read_dir(dir).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
        for need in NEEDS {
            let hook = format!("\"{}\"", need.hook);
            assert!(sources.contains(&hook), "no source has {hook}");
            let or = need.or.map(|hook| format!("\"{hook}\""));
            assert!(
                or.is_none_or(|hook| sources.contains(&hook)),
                "{:?}",
                need.or
            );
            for name in need.tables {
                let (_, table) = catalog::table(name).expect("a table");
                assert!(table.source.starts_with("bpf-"), "{name}");
            }
            let columns = match need.part {
                All | Rows => &[],
                Columns(columns) => columns,
            };
            for column in columns {
                let has = |name: &&str| {
                    let (_, table) = catalog::table(name).unwrap();
                    table.has_measure(column) || table.has_dimension(column)
                };
                assert!(need.tables.iter().any(has), "{column}");
            }
        }
    }
}
