//! Where the well-known names of `node_exporter` and `windows_exporter` are in the catalog.

/// Where a word of a row comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Fixed(&'static str),
    Label(&'static str),
    /// The number in a label like `cpu0`.
    Cpu,
    /// What the label `device` (or `nic`) says of a disk, of an interface.
    DiskLayer,
    NetLayer,
}

/// Who tells it: what one of them has of a measure is whole without the others'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    #[default]
    Node,
    /// Before version 0.16.
    NodeOfOld,
    Windows,
}

/// A metric's share in a measure: it is added, times a factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) metric: &'static str,
    /// Only series with this label.
    pub(super) only: Option<(&'static str, &'static str)>,
    pub(super) table: &'static str,
    pub(super) measure: &'static str,
    pub(super) words: &'static [Source],
    pub(super) factor: f64,
    /// Without it the measure is not known.
    pub(super) must: bool,
    pub(super) origin: Origin,
}

const fn one(
    metric: &'static str,
    table: &'static str,
    measure: &'static str,
    words: &'static [Source],
    factor: f64,
) -> Entry {
    Entry {
        metric,
        only: None,
        table,
        measure,
        words,
        factor,
        must: true,
        origin: Origin::Node,
    }
}

const fn by_mode(
    metric: &'static str,
    mode: &'static str,
    table: &'static str,
    measure: &'static str,
    words: &'static [Source],
) -> Entry {
    Entry {
        only: Some(("mode", mode)),
        ..one(metric, table, measure, words, 1.0)
    }
}

const fn of_old(
    metric: &'static str,
    table: &'static str,
    measure: &'static str,
    words: &'static [Source],
) -> Entry {
    Entry {
        origin: Origin::NodeOfOld,
        ..one(metric, table, measure, words, 0.001)
    }
}

const fn of_windows(entry: Entry) -> Entry {
    Entry {
        origin: Origin::Windows,
        ..entry
    }
}

/// Taken off where it is there.
const fn less(
    metric: &'static str,
    table: &'static str,
    measure: &'static str,
    words: &'static [Source],
) -> Entry {
    Entry {
        must: false,
        ..one(metric, table, measure, words, -1.0)
    }
}

use Source::{Cpu, DiskLayer, Fixed, Label, NetLayer};

const DEVICE: Source = Label("device");
const USER: &[Source] = &[Cpu, Fixed("user")];
const NICE: &[Source] = &[Cpu, Fixed("nice")];
const READ: &[Source] = &[DEVICE, DiskLayer, Fixed("read")];
const WRITE: &[Source] = &[DEVICE, DiskLayer, Fixed("write")];
const DISCARD: &[Source] = &[DEVICE, DiskLayer, Fixed("discard")];
const FLUSH: &[Source] = &[DEVICE, DiskLayer, Fixed("flush")];
const DISK: &[Source] = &[DEVICE, DiskLayer];
const RECEIVE: &[Source] = &[DEVICE, NetLayer, Fixed("receive")];
const TRANSMIT: &[Source] = &[DEVICE, NetLayer, Fixed("transmit")];
const MOUNT: &[Source] = &[Label("mountpoint"), DEVICE, Label("fstype")];
const REST: &[Source] = &[Fixed("unaccounted")];

/// Of `windows_exporter`, whose processors are `0,1`: node and number.
const CORE: Source = Label("core");
const NIC_RECEIVE: &[Source] = &[Label("nic"), NetLayer, Fixed("receive")];
const NIC_TRANSMIT: &[Source] = &[Label("nic"), NetLayer, Fixed("transmit")];

const WINDOWS_CPU: &str = "windows_cpu_time_total";
const CPU_SECONDS: &str = "node_cpu_seconds_total";
const GUEST: &str = "node_cpu_guest_seconds_total";

const fn guest(mode: &'static str, words: &'static [Source]) -> Entry {
    Entry {
        only: Some(("mode", mode)),
        ..less(GUEST, "cpu", "time", words)
    }
}

/// A kind of memory.
const fn kind(metric: &'static str, words: &'static [Source]) -> Entry {
    one(metric, "memory", "bytes", words, 1.0)
}

/// Memory that is accounted for.
const fn accounted(metric: &'static str, must: bool) -> Entry {
    Entry {
        must,
        ..less(metric, "memory", "bytes", REST)
    }
}

/// All of them, each on its line.
#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    by_mode(CPU_SECONDS, "user", "cpu", "time", USER),
    by_mode(CPU_SECONDS, "nice", "cpu", "time", NICE),
    by_mode(CPU_SECONDS, "system", "cpu", "time", &[Cpu, Fixed("system")]),
    by_mode(CPU_SECONDS, "irq", "cpu", "time", &[Cpu, Fixed("irq")]),
    by_mode(CPU_SECONDS, "softirq", "cpu", "time", &[Cpu, Fixed("softirq")]),
    by_mode(CPU_SECONDS, "idle", "cpu_idle", "idle", &[Cpu]),
    by_mode(CPU_SECONDS, "iowait", "cpu_idle", "iowait", &[Cpu]),
    by_mode(CPU_SECONDS, "steal", "cpu_idle", "steal", &[Cpu]),
    // The kernel counts time of guests as that of users, too.
    by_mode(GUEST, "user", "cpu", "time", &[Cpu, Fixed("guest")]),
    by_mode(GUEST, "nice", "cpu", "time", &[Cpu, Fixed("guest_nice")]),
    guest("user", USER),
    guest("nice", NICE),
    one("node_load1", "system", "load1", &[], 1.0),
    one("node_load5", "system", "load5", &[], 1.0),
    one("node_load15", "system", "load15", &[], 1.0),
    one("node_procs_running", "system", "runnable", &[], 1.0),
    one("node_procs_blocked", "system", "blocked", &[], 1.0),
    one("node_context_switches_total", "system", "context_switches", &[], 1.0),
    one("node_forks_total", "system", "forks", &[], 1.0),
    one("node_intr_total", "interrupt", "count", &[Fixed("hard"), Fixed("all")], 1.0),
    kind("node_memory_MemFree_bytes", &[Fixed("free")]),
    kind("node_memory_Buffers_bytes", &[Fixed("buffers")]),
    kind("node_memory_Cached_bytes", &[Fixed("file")]),
    // Shared memory is in the page cache, too.
    less("node_memory_Shmem_bytes", "memory", "bytes", &[Fixed("file")]),
    kind("node_memory_Shmem_bytes", &[Fixed("shared")]),
    kind("node_memory_AnonPages_bytes", &[Fixed("anonymous")]),
    kind("node_memory_SReclaimable_bytes", &[Fixed("slab_reclaimable")]),
    kind("node_memory_SUnreclaim_bytes", &[Fixed("slab_unreclaimable")]),
    kind("node_memory_PageTables_bytes", &[Fixed("page_tables")]),
    kind("node_memory_KernelStack_bytes", &[Fixed("kernel_stacks")]),
    kind("node_memory_Percpu_bytes", &[Fixed("per_cpu")]),
    kind("node_memory_Zswap_bytes", &[Fixed("zswap")]),
    kind("node_memory_Hugetlb_bytes", &[Fixed("hugepages")]),
    kind("node_memory_MemTotal_bytes", REST),
    accounted("node_memory_MemFree_bytes", true),
    accounted("node_memory_Buffers_bytes", true),
    accounted("node_memory_Cached_bytes", true),
    accounted("node_memory_AnonPages_bytes", true),
    accounted("node_memory_SReclaimable_bytes", true),
    accounted("node_memory_SUnreclaim_bytes", true),
    accounted("node_memory_PageTables_bytes", true),
    accounted("node_memory_KernelStack_bytes", true),
    accounted("node_memory_Percpu_bytes", false),
    accounted("node_memory_Zswap_bytes", false),
    accounted("node_memory_Hugetlb_bytes", false),
    one("node_memory_MemAvailable_bytes", "memory_state", "available", &[], 1.0),
    one("node_memory_Dirty_bytes", "memory_state", "dirty", &[], 1.0),
    one("node_memory_Writeback_bytes", "memory_state", "writeback", &[], 1.0),
    one("node_memory_Committed_AS_bytes", "memory_state", "committed", &[], 1.0),
    one("node_memory_SwapTotal_bytes", "memory_state", "swap_total", &[], 1.0),
    one("node_memory_SwapTotal_bytes", "memory_state", "swap_used", &[], 1.0),
    one("node_memory_SwapFree_bytes", "memory_state", "swap_used", &[], -1.0),
    // KiB, and pages: those of x86 and of most of ARM are of 4 KiB.
    one("node_vmstat_pgpgin", "vm", "paged_in", &[], 1024.0),
    one("node_vmstat_pgpgout", "vm", "paged_out", &[], 1024.0),
    one("node_vmstat_pswpin", "vm", "swapped_in", &[], PAGE),
    one("node_vmstat_pswpout", "vm", "swapped_out", &[], PAGE),
    one("node_vmstat_pgfault", "vm", "faults", &[], 1.0),
    one("node_vmstat_pgmajfault", "vm", "major_faults", &[], 1.0),
    one("node_vmstat_oom_kill", "vm", "oom_kills", &[], 1.0),
    one("node_disk_reads_completed_total", "disk", "ios", READ, 1.0),
    one("node_disk_writes_completed_total", "disk", "ios", WRITE, 1.0),
    one("node_disk_discards_completed_total", "disk", "ios", DISCARD, 1.0),
    one("node_disk_flush_requests_total", "disk", "ios", FLUSH, 1.0),
    one("node_disk_reads_merged_total", "disk", "merges", READ, 1.0),
    one("node_disk_writes_merged_total", "disk", "merges", WRITE, 1.0),
    one("node_disk_discards_merged_total", "disk", "merges", DISCARD, 1.0),
    one("node_disk_read_bytes_total", "disk", "bytes", READ, 1.0),
    one("node_disk_written_bytes_total", "disk", "bytes", WRITE, 1.0),
    one("node_disk_discarded_sectors_total", "disk", "discarded", DISCARD, 512.0),
    one("node_disk_read_time_seconds_total", "disk", "time", READ, 1.0),
    one("node_disk_write_time_seconds_total", "disk", "time", WRITE, 1.0),
    one("node_disk_discard_time_seconds_total", "disk", "time", DISCARD, 1.0),
    one("node_disk_flush_requests_time_seconds_total", "disk", "time", FLUSH, 1.0),
    one("node_disk_io_time_seconds_total", "disk_device", "busy", DISK, 1.0),
    one("node_disk_io_time_weighted_seconds_total", "disk_device", "depth_time", DISK, 1.0),
    // Before version 0.16, in milliseconds.
    of_old("node_disk_read_time_ms", "disk", "time", READ),
    of_old("node_disk_write_time_ms", "disk", "time", WRITE),
    of_old("node_disk_io_time_ms", "disk_device", "busy", DISK),
    of_old("node_disk_io_time_weighted", "disk_device", "depth_time", DISK),
    one("node_disk_io_now", "disk_device", "inflight", DISK, 1.0),
    one("node_network_receive_bytes_total", "net", "bytes", RECEIVE, 1.0),
    one("node_network_transmit_bytes_total", "net", "bytes", TRANSMIT, 1.0),
    one("node_network_receive_packets_total", "net", "packets", RECEIVE, 1.0),
    one("node_network_transmit_packets_total", "net", "packets", TRANSMIT, 1.0),
    one("node_network_receive_errs_total", "net", "errors", RECEIVE, 1.0),
    one("node_network_transmit_errs_total", "net", "errors", TRANSMIT, 1.0),
    one("node_network_receive_drop_total", "net", "drops", RECEIVE, 1.0),
    one("node_network_transmit_drop_total", "net", "drops", TRANSMIT, 1.0),
    one("node_network_receive_fifo_total", "net", "overruns", RECEIVE, 1.0),
    one("node_network_transmit_fifo_total", "net", "overruns", TRANSMIT, 1.0),
    one("node_network_receive_multicast_total", "net", "multicast", RECEIVE, 1.0),
    one("node_network_transmit_colls_total", "net", "collisions", TRANSMIT, 1.0),
    one("node_filesystem_size_bytes", "filesystem", "size", MOUNT, 1.0),
    one("node_filesystem_avail_bytes", "filesystem", "available", MOUNT, 1.0),
    one("node_filesystem_size_bytes", "filesystem", "used", MOUNT, 1.0),
    one("node_filesystem_free_bytes", "filesystem", "used", MOUNT, -1.0),
    one("node_filesystem_files", "filesystem", "inodes", MOUNT, 1.0),
    one("node_filesystem_files", "filesystem", "inodes_used", MOUNT, 1.0),
    one("node_filesystem_files_free", "filesystem", "inodes_used", MOUNT, -1.0),
    one("node_pressure_cpu_waiting_seconds_total", "pressure", "stalled", &[Fixed("cpu"), Fixed("some")], 1.0),
    one("node_pressure_io_waiting_seconds_total", "pressure", "stalled", &[Fixed("io"), Fixed("some")], 1.0),
    one("node_pressure_io_stalled_seconds_total", "pressure", "stalled", &[Fixed("io"), Fixed("full")], 1.0),
    one("node_pressure_memory_waiting_seconds_total", "pressure", "stalled", &[Fixed("memory"), Fixed("some")], 1.0),
    one("node_pressure_memory_stalled_seconds_total", "pressure", "stalled", &[Fixed("memory"), Fixed("full")], 1.0),
    one("node_pressure_irq_stalled_seconds_total", "pressure", "stalled", &[Fixed("irq"), Fixed("full")], 1.0),
    one("node_softnet_processed_total", "softnet", "packets", &[Cpu], 1.0),
    one("node_softnet_dropped_total", "softnet", "drops", &[Cpu], 1.0),
    one("node_softnet_times_squeezed_total", "softnet", "squeezes", &[Cpu], 1.0),
    one("node_softnet_received_rps_total", "softnet", "steered", &[Cpu], 1.0),
    one("node_softnet_flow_limit_count_total", "softnet", "flow_limited", &[Cpu], 1.0),
    // Interrupts and deferred calls are in Windows' privileged time, too.
    of_windows(by_mode(WINDOWS_CPU, "user", "cpu", "time", &[CORE, Fixed("user")])),
    of_windows(by_mode(WINDOWS_CPU, "privileged", "cpu", "time", &[CORE, Fixed("system")])),
    of_windows(by_mode(WINDOWS_CPU, "idle", "cpu_idle", "idle", &[CORE])),
    of_windows(one("windows_memory_available_bytes", "memory_state", "available", &[], 1.0)),
    of_windows(one("windows_net_bytes_received_total", "net", "bytes", NIC_RECEIVE, 1.0)),
    of_windows(one("windows_net_bytes_sent_total", "net", "bytes", NIC_TRANSMIT, 1.0)),
    of_windows(one("windows_net_packets_received_total", "net", "packets", NIC_RECEIVE, 1.0)),
    of_windows(one("windows_net_packets_sent_total", "net", "packets", NIC_TRANSMIT, 1.0)),
];

/// Bytes of a page, where its size is not told.
pub(super) const PAGE: f64 = 4096.0;

/// The name since version 0.16 of a metric with an older one.
pub(super) fn present_name(name: &str) -> String {
    let more = |suffix: &str| format!("{name}{suffix}");
    let known = |name: &str| ENTRIES.iter().any(|e| e.metric == name);
    let newer = match name {
        "node_cpu" => more("_seconds_total"),
        "node_disk_bytes_read" => "node_disk_read_bytes_total".into(),
        "node_disk_bytes_written" => "node_disk_written_bytes_total".into(),
        "node_intr"
        | "node_forks"
        | "node_context_switches"
        | "node_disk_reads_completed"
        | "node_disk_writes_completed"
        | "node_disk_reads_merged"
        | "node_disk_writes_merged" => more("_total"),
        _ if name.starts_with("node_memory_") => more("_bytes"),
        _ if name.starts_with("node_network_") => more("_total"),
        "node_filesystem_size" | "node_filesystem_avail" | "node_filesystem_free" => more("_bytes"),
        _ => name.to_owned(),
    };
    if !known(name) && known(&newer) {
        newer
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::catalog;

    #[test]
    fn entries_are_of_the_catalog() {
        for e in ENTRIES {
            let (subject, table) = catalog::table(e.table).unwrap_or_else(|| panic!("{e:?}"));
            assert!(table.measures.contains(&e.measure), "{e:?}");
            assert_eq!(table.dimensions.len(), e.words.len(), "{e:?}");
            for (dimension, from) in table.dimensions.iter().zip(e.words) {
                let found = subject.dimension(dimension).expect("a dimension");
                assert!(found.number.is_none(), "{e:?}");
                let layer = matches!(from, Source::DiskLayer | Source::NetLayer);
                assert_eq!(layer, *dimension == "layer", "{e:?}");
            }
        }
    }

    #[test]
    fn names_of_old() {
        for (old, new) in [
            ("node_cpu", "node_cpu_seconds_total"),
            ("node_memory_MemFree", "node_memory_MemFree_bytes"),
            (
                "node_network_receive_bytes",
                "node_network_receive_bytes_total",
            ),
            ("node_disk_bytes_read", "node_disk_read_bytes_total"),
            ("node_disk_io_time_ms", "node_disk_io_time_ms"),
            ("node_memory_HugePages_Free", "node_memory_HugePages_Free"),
            ("node_load1", "node_load1"),
        ] {
            assert_eq!(present_name(old), new);
        }
    }
}
