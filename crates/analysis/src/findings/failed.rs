//! I/Os that a device, or what is below it, refused.

use super::look::Look;
use super::stretch::above;
use super::text::{count, percent, quoted};
use super::{Finding, Rule, WORST, device};

pub(super) const RULE: Rule = Rule {
    name: "failed",
    help: "I/Os of a device failed.",
    find,
};

const CAUSES: &[&str] = &[
    "no room below the device: the file system under a loop device, a thin pool",
    "a disk that fails: the kernel's log names the sector, `smartctl` the disk's own count",
    "a path, a server or a hypervisor that went away",
    "a write to a device that is read-only, or beyond its end",
];

/// A device that cannot discard or zero says so by failing: that harms nobody.
const HARM: &str = "op in read, write, flush";

fn find(look: &Look<'_>) -> Vec<Finding> {
    let asked = format!("disk.errors by device where {HARM} and {}", device::LAYERS);
    let mut devices = look.totals(&asked);
    devices.retain(|(_, failed)| *failed > 0.0);
    devices.truncate(WORST);
    let names = devices.iter().filter_map(|(key, _)| key.first());
    names.filter_map(|name| failed(look, name)).collect()
}

fn failed(look: &Look<'_>, name: &str) -> Option<Finding> {
    let part = format!("device = {}", quoted(name));
    let series = look.whole_series(&format!("disk.errors where {part} and {HARM}"))?;
    let stretch = above(&series, 0.0)?;
    let by_op = look.totals(&format!("disk.errors by op where {part} and {HARM}"));
    let by_op = by_op.into_iter().filter(|(_, failed)| *failed > 0.0);
    let parts: Vec<String> = by_op
        .filter_map(|(key, failed)| {
            let op = key.into_iter().next()?;
            let all = look.total(&format!("disk.ios where {part} and op = {op}"));
            let of = all.filter(|all| *all >= failed);
            let of = of.map_or(String::new(), |all| {
                format!(" of {} ({})", count(all), percent(failed / all))
            });
            let plural = if op == "flush" { "es" } else { "s" };
            Some(format!("{}{of} {op}{plural}", count(failed)))
        })
        .collect();
    Some(Finding {
        name: RULE.name,
        // Whoever asked was told that it did not work.
        score: 1.0,
        sentence: format!("{name}: {} failed.", parts.join(" and ")),
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(&format!("disk.errors by op where {part}"), stretch.time()),
        causes: CAUSES,
    })
}
