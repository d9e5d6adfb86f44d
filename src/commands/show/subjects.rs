//! The parts of the screen that are of a subject: a line on the whole machine, a table of each device,
//! process or group.

use std::fmt::Write;

use run::Unit::{self, Bytes, Count, Seconds};
use run::unit::{amount, digits};
use surfaces::part::Part;
use surfaces::table::{Align, Cell, Table};

use super::gather::Summary;
use crate::output::one_line;

/// Heading of processor time, where 100 % is one processor.
const ONE_CPU: &str = "of 1 cpu";

/// Rows of each list.
pub(super) const MOST: usize = 5;

fn percent(share: f64) -> String {
    if share.is_nan() {
        "-".into()
    } else {
        format!("{} %", digits(share * 100.0))
    }
}

pub(super) fn cpu(s: &Summary) -> Vec<Part> {
    let mut parts = vec![];
    if s.mean("cpu").is_finite() {
        // What was imported may be of all as one, or of a mean one.
        let of = match s.processors {
            0 | 1 => String::new(),
            n => format!(" of {n} processors"),
        };
        let mut line = format!("{}{of}", percent(s.mean("cpu")));
        // Of a machine that did next to nothing, what there was of it.
        let least = (s.mean("cpu") * 0.05).min(0.0005);
        let modes = s.list("cpu_modes").into_iter();
        let modes = modes.filter(|(_, share)| *share > 0.0 && *share >= least);
        for (place, (mode, share)) in modes.enumerate() {
            let colon = if place == 0 { ":" } else { "" };
            let _ = write!(line, "{colon}  {mode} {}", percent(share));
        }
        parts.push(Part::entry("cpu", line));
    }
    parts
}

pub(super) fn memory(s: &Summary) -> Vec<Part> {
    let mut parts = vec![];
    if s.mean("memory_available").is_finite() {
        let of = |name: &str| amount(s.mean(name), Bytes, false);
        let mut line = format!("{} available", of("memory_available"));
        if s.mean("memory_total").is_finite() {
            let _ = write!(line, " of {}", of("memory_total"));
        }
        if s.mean("dirty").is_finite() {
            let _ = write!(line, ", {} dirty", of("dirty"));
        }
        if s.mean("swap_used") > 0.0 {
            let _ = write!(line, ", {} of swap used", of("swap_used"));
        }
        for (name, what) in [
            ("major_faults", "major faults"),
            ("oom_kills", "killed for want of memory"),
        ] {
            if s.total(name) > 0.0 {
                let _ = write!(line, ", {} {what}", amount(s.total(name), Count, false));
            }
        }
        parts.push(Part::entry("memory", line));
    }
    parts
}

pub(super) fn pressure(s: &Summary) -> Vec<Part> {
    let mut parts = vec![];
    let pressure = s.list("pressure");
    if !pressure.is_empty() {
        let shares: Vec<String> = pressure
            .iter()
            .map(|(name, share)| format!("{name} {}", percent(*share)))
            .collect();
        let text = format!("time lost waiting:  {}", shares.join("  "));
        parts.push(Part::entry("pressure", text));
    }
    parts
}

pub(super) fn value(value: f64, unit: Unit, rate: bool) -> Cell {
    Cell::amount(amount(value, unit, rate), value, unit, rate)
}

fn share(share: f64) -> Cell {
    Cell::amount(percent(share), share, Unit::Ratio, false)
}

/// A table below a blank line, its first column the names.
pub(super) fn table(title: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Vec<Part> {
    if rows.is_empty() {
        return vec![];
    }
    let mut table = Table::new();
    table.column(title, Align::Left);
    for column in columns {
        table.column(column, Align::Right);
    }
    rows.into_iter().for_each(|row| table.row_of(row));
    vec![Part::Gap, Part::Table(table)]
}

pub(super) fn disks(s: &Summary) -> Vec<Part> {
    let depth = |depth: f64| Cell::amount(digits(depth), depth, Count, false);
    let mut names = s.names(&["disk_busy", "disk_ios", "disk_bytes"]);
    // Which was busy, and did nothing that can be told, is none to be listed.
    let any_ios = !s.list("disk_ios").is_empty();
    names.retain(|name| !any_ios || s.of("disk_ios", &[name]) > 0.0);
    // Some tools tell nothing of the time before the device had an I/O.
    let (heading, latency) = match () {
        () if s.has("disk_latency") || !s.has("disk_service") => ("latency", "disk_latency"),
        () => ("service", "disk_service"),
    };
    let row = |name: &String| {
        let bytes = |op| value(s.of("disk_bytes", &[name, op]), Bytes, true);
        vec![
            Cell::name(one_line(name)),
            bytes("read"),
            bytes("write"),
            value(s.of("disk_ios", &[name]), Count, true),
            value(s.of(latency, &[name]), Seconds, false),
            value(s.p99(latency, &[name]), Seconds, false),
            depth(s.of("disk_depth", &[name])),
            share(s.of("disk_busy", &[name])),
        ]
    };
    let rows = names.iter().take(MOST).map(row).collect();
    table(
        "disk",
        &["read", "written", "I/Os", heading, "p99", "depth", "busy"],
        rows,
    )
}

pub(super) fn interfaces(s: &Summary) -> Vec<Part> {
    let names = s.names(&["net_packets", "net_bytes"]);
    let row = |name: &String| {
        let bytes = |direction| value(s.of("net_bytes", &[name, direction]), Bytes, true);
        vec![
            Cell::name(one_line(name)),
            bytes("receive"),
            bytes("transmit"),
            value(s.of("net_packets", &[name]), Count, true),
            value(s.total_of("net_drops", &[name]), Count, false),
        ]
    };
    let rows = names.iter().take(MOST).map(row).collect();
    table(
        "interface",
        &["received", "sent", "packets", "dropped"],
        rows,
    )
}

/// Rows of those with operations, with their names before what `row` makes of name and operations.
fn with_operations(
    s: &Summary,
    breakdown: &str,
    row: impl Fn(&str, f64) -> Vec<Cell>,
) -> Vec<Vec<Cell>> {
    let mut names = s.list(breakdown);
    names.retain(|(_, ops)| *ops > 0.0);
    let rows = names.iter().take(MOST).map(|(name, ops)| {
        let mut cells = row(name, *ops);
        cells.insert(0, Cell::name(one_line(name)));
        cells
    });
    rows.collect()
}

pub(super) fn nfs_mounts(s: &Summary) -> Vec<Part> {
    let rows = with_operations(s, "nfs_ops", |name, ops| {
        let bytes = |access| value(s.of("nfs_bytes", &[name, access]), Bytes, true);
        vec![
            bytes("read"),
            bytes("write"),
            value(ops, Count, true),
            value(s.of("nfs_latency", &[name]), Seconds, false),
            value(s.of("nfs_round_trip", &[name]), Seconds, false),
        ]
    });
    let columns = ["read", "written", "operations", "latency", "round trip"];
    table("nfs mount", &columns, rows)
}

pub(super) fn nfs_clients(s: &Summary) -> Vec<Part> {
    let rows = with_operations(s, "nfsd_ops", |name, ops| {
        vec![
            value(s.of("nfsd_bytes", &[name]), Bytes, true),
            value(ops, Count, true),
            value(s.of("nfsd_latency", &[name]), Seconds, false),
        ]
    });
    table(
        "nfs client",
        &["read and written", "operations", "latency"],
        rows,
    )
}

pub(super) fn processes(s: &Summary) -> Vec<Part> {
    let mut names = s.list("process_time");
    let bytes = |name: &str, op: &str| s.of("process_bytes", &[name, op]);
    // A process that only moved bytes stands in the list too.
    if let Some(largest) = s
        .list("process_bytes")
        .into_iter()
        .map(|(name, _)| name)
        .find(|n| names.iter().take(MOST).all(|(known, _)| known != n) && n != "(other)")
    {
        names.truncate(MOST - 1);
        let time = s.of("process_time", &[&largest]);
        names.push((largest, time));
    }
    names.retain(|(name, time)| {
        *time > 0.0 || bytes(name, "read") > 0.0 || bytes(name, "write") > 0.0
    });
    let row = |(name, time): &(String, f64)| {
        vec![
            Cell::name(one_line(name)),
            share(*time),
            value(bytes(name, "read"), Bytes, true),
            value(bytes(name, "write"), Bytes, true),
            value(s.of("process_memory", &[name]), Bytes, false),
        ]
    };
    let rows = names.iter().take(MOST).map(row).collect();
    table("process", &[ONE_CPU, "read", "written", "memory"], rows)
}

pub(super) fn cgroups(s: &Summary) -> Vec<Part> {
    let mut names = s.list("cgroup_time");
    names.retain(|(_, time)| *time > 0.0);
    // One group is the whole machine, which stands above.
    if names.len() < 2 {
        return vec![];
    }
    let row = |(name, time): &(String, f64)| {
        let memory = value(s.of("cgroup_memory", &[name]), Bytes, false);
        vec![Cell::name(one_line(name)), share(*time), memory]
    };
    let rows = names.iter().take(MOST).map(row).collect();
    table("cgroup", &[ONE_CPU, "memory"], rows)
}
