//! What fio's JSON says of a job in each direction, in whatever version.

use std::collections::BTreeMap;

use run::grid;
use serde_json::Value;

use crate::documents::number;
use crate::out::Out;

/// Directions, and what they all have.
pub(super) const OPS: [&str; 5] = ["read", "write", "trim", "mixed", "sync"];

/// What a job did in one direction, since it started.
#[derive(Clone, Debug, Default)]
pub(super) struct Total {
    pub(super) ops: f64,
    pub(super) bytes: f64,
    pub(super) time: f64,
    /// Seconds.
    pub(super) runtime: f64,
    /// Counts by lower bound and upper bound in nanoseconds.
    pub(super) bins: BTreeMap<(u64, u64), f64>,
}

impl Total {
    /// What came since.
    pub(super) fn since(&self, before: &Total) -> Total {
        let bins = self.bins.iter().map(|(bin, count)| {
            let old = before.bins.get(bin).copied().unwrap_or(0.0);
            (*bin, count - old)
        });
        Total {
            ops: self.ops - before.ops,
            bytes: self.bytes - before.bytes,
            // Means are rounded: what is less than nothing is nothing.
            time: match self.time - before.time {
                time if time < 0.0 => 0.0,
                time => time,
            },
            runtime: self.runtime - before.runtime,
            bins: bins.filter(|(_, count)| *count > 0.0).collect(),
        }
    }
}

/// What a job did in each direction that it used.
pub(super) fn totals(entry: &Value, out: &mut Out) -> Vec<(&'static str, Total)> {
    let mut found: Vec<(&'static str, Total)> = Vec::new();
    for op in OPS {
        let Some(part) = entry.get(op).filter(|p| p.is_object()) else {
            continue;
        };
        let total = total(part, op, out);
        if !(total.ops > 0.0 || total.bytes > 0.0) {
            continue;
        }
        if op == "mixed" && !found.is_empty() {
            out.note(super::MIXED);
            continue;
        }
        found.push((op, total));
    }
    found
}

fn total(part: &Value, op: &str, out: &mut Out) -> Total {
    // fio 2 has no counter of bytes but this one, in KiB.
    let in_bytes = part.get("io_kbytes").is_some() || part.get("bw_bytes").is_some();
    let scale = if in_bytes { 1.0 } else { 1024.0 };
    let runtime = number(part, "runtime") / 1000.0;
    let mut ops = number(part, "total_ios");
    if ops.is_nan() {
        ops = (number(part, "iops") * runtime).round();
        out.note(
            "this version of fio does not tell how many I/Os there were: `workload.ops` is its \
             IOPS times the run time",
        );
    }
    // One that failed at once is counted, too.
    if op != "sync" && runtime <= 0.0 && number(part, "io_bytes") == 0.0 {
        ops = 0.0;
    }
    // fio 3 counts no syncs, but how long they took.
    if op == "sync" && ops <= 0.0 {
        ops = part.get("lat_ns").map_or(0.0, |l| number(l, "N"));
    }
    let latency = |name: &str| {
        let nanos = part.get(format!("{name}_ns")).map(|l| (l, 1.0));
        nanos.or_else(|| part.get(name).map(|l| (l, 1000.0)))
    };
    let mean = |name: &str| {
        let (latency, scale) = latency(name)?;
        let mean = number(latency, "mean") * scale / 1e9;
        (mean > 0.0).then(|| {
            let n = number(latency, "N");
            mean * if n > 0.0 { n } else { ops }
        })
    };
    let mut time = mean("lat");
    if time.is_none() {
        time = mean("clat");
        if time.is_some() {
            out.note(super::COMPLETION);
        }
    }
    let bins = ["lat", "clat"].iter().filter_map(|name| {
        let (latency, scale) = latency(name)?;
        Some((*name, bins(latency, scale as u64)?))
    });
    let bins = bins.into_iter().next();
    if let Some(("clat", _)) = bins {
        out.note(
            "the buckets are of the latency from submission to completion (clat); \
             `lat_percentiles=1` makes fio print those of the whole",
        );
    }
    Total {
        ops,
        bytes: if op == "sync" {
            0.0
        } else {
            number(part, "io_bytes") * scale
        },
        time: time.unwrap_or(f64::NAN),
        runtime: if runtime > 0.0 { runtime } else { 0.0 },
        bins: bins.map(|(_, bins)| bins).unwrap_or_default(),
    }
}

/// The buckets of a latency, in nanoseconds. `scale` is nanoseconds per unit.
fn bins(latency: &Value, scale: u64) -> Option<BTreeMap<(u64, u64), f64>> {
    let fields = latency.get("bins")?.as_object()?;
    // Old versions give the number of the bucket, newer ones its middle.
    let numbered = fields.contains_key("FIO_IO_U_PLAT_NR");
    let mut bins = BTreeMap::new();
    for (key, count) in fields {
        let (Ok(key), Some(count)) = (key.parse::<u64>(), count.as_f64()) else {
            continue;
        };
        if count <= 0.0 {
            continue;
        }
        let place = match (numbered, u32::try_from(key)) {
            (true, Ok(place)) if place < grid::index(u64::MAX) => place,
            (true, _) => continue,
            (false, _) => grid::index(key),
        };
        let bin = (
            grid::lower(place).saturating_mul(scale),
            grid::upper(place).saturating_mul(scale),
        );
        *bins.entry(bin).or_insert(0.0) += count;
    }
    (!bins.is_empty()).then_some(bins)
}
