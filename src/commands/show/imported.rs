//! What a benchmark said of its own work, and what an imported run has beside what the rest of the
//! screen shows.

use analysis::contents::Held;
use run::Run;
use run::Unit::{Bytes, Count, Seconds};
use run::catalog;
use run::unit::digits;
use surfaces::part::Part;
use surfaces::table::{Align, Cell, Table};

use super::gather::Summary;
use super::screen::WIDTH;
use super::subjects::{MOST, table, value};
use super::told::Latency;
use crate::commands::get::contents;
use crate::output::{counted, one_line};

/// Statistics without a part of their own that are listed.
const MOST_LISTED: usize = 12;
/// What means since boot are called.
const SINCE_BOOT: &str = "since_boot.value";

/// Jobs of benchmarks, those with most operations first.
pub(super) fn workload(s: &Summary) -> Vec<Part> {
    let mut keys = s.keys("workload_ops");
    // Which tell bytes only.
    let more = s.keys("workload_bytes").into_iter();
    let more: Vec<_> = more.filter(|key| !keys.contains(key)).collect();
    keys.extend(more);
    let row = |key: &Vec<&str>| {
        let words: Vec<&str> = key.iter().copied().filter(|w| !w.is_empty()).collect();
        let (mean, p99) = latency(s, key);
        vec![
            Cell::name(one_line(&words.join(" "))),
            value(s.total_of("workload_ops", key), Count, false),
            value(s.of("workload_ops", key), Count, true),
            value(s.of("workload_bytes", key), Bytes, true),
            value(mean, Seconds, false),
            value(p99, Seconds, false),
        ]
    };
    let rows = keys.iter().take(2 * MOST).map(row).collect();
    let columns = ["done", "rate", "bytes", "latency", "p99"];
    let mut parts = table("benchmark", &columns, rows);
    if keys.len() > 2 * MOST {
        let more = counted((keys.len() - 2 * MOST) as u64, "more job");
        parts.push(Part::Line(format!("and {more}")));
    }
    parts
}

/// The mean and the p99 of a job's operations, of one kind both: fio's distribution is from submission on,
/// its mean from before it.
fn latency(s: &Summary, key: &[&str]) -> (f64, f64) {
    let mean = || s.of("workload_latency", key);
    let of_it = |(of, _): &(&[String; 2], &Latency)| of.iter().eq(key);
    // What the tool says itself is of each operation: of its distribution some print few steps only.
    if let Some((_, told)) = s.told.iter().find(of_it) {
        let is_told = told.mean.is_finite();
        return (if is_told { told.mean } else { mean() }, told.p99);
    }
    match s.spread("workload_latency", key) {
        Some(spread) => (
            spread.mean().unwrap_or_else(mean),
            spread.quantile(0.99).unwrap_or(f64::NAN),
        ),
        None => (mean(), f64::NAN),
    }
}

/// Statistics that are on no other part of the screen.
pub(super) fn rest(run: &Run, s: &Summary) -> Vec<Part> {
    // Means since boot are of another time; of a benchmark the numbers that matter are above.
    let has_benchmark = !workload(s).is_empty();
    let is_listed = |held: &Held| {
        let of_tool = held.statistic.starts_with("other.");
        held.statistic != SINCE_BOOT && !(of_tool && has_benchmark)
    };
    let mut listed: Vec<Held> = s.rest.iter().filter(|h| is_listed(h)).cloned().collect();
    listed.truncate(MOST_LISTED);
    let path = one_line(&run.path().display().to_string());
    if !s.since_boot.is_empty() {
        return since_boot(&path, s);
    }
    let mut parts = vec![];
    if !listed.is_empty() {
        parts.extend([Part::Gap, Part::Table(contents::table(&listed, WIDTH))]);
    }
    let since_boot = s.rest.iter().any(|h| h.statistic == SINCE_BOOT);
    let more = s.rest.len() - listed.len() - usize::from(since_boot);
    if !s.rest.is_empty() {
        let also = match (more, since_boot) {
            (0, false) => "by what each can be split",
            (0, true) => "means since the machine was started",
            (_, false) => &format!("and {more} more"),
            (_, true) => &format!("and {more} more, and means since the machine was started"),
        };
        let gap = parts.is_empty().then_some(Part::Gap);
        parts.extend(gap);
        parts.push(Part::Line(format!("{also}: sonde get {path}")));
    }
    parts
}

/// The first means since boot.
fn since_boot(path: &str, s: &Summary) -> Vec<Part> {
    let mut table = Table::new();
    table.column("since boot", Align::Words);
    table.column("of", Align::Left);
    table.column("value", Align::Right);
    for ([statistic, instance], mean) in s.since_boot.iter().take(MOST_LISTED) {
        let mut names = statistic.split('.');
        let subject = names.next().and_then(catalog::subject);
        let measure = names.next().and_then(|name| subject?.measure(name));
        let unit = measure.map_or("", |m| match m.unit {
            Count => "",
            unit => unit.name(),
        });
        let value = format!("{} {unit}", digits(*mean));
        table.row(vec![
            one_line(statistic),
            one_line(instance),
            value.trim_end().to_owned(),
        ]);
    }
    let all = s.since_boot.len();
    let text = format!(
        "{} of {}; sums are by the second, or in all where the tool counts: sonde get {path} \
         'since_boot.value by statistic, instance'",
        all.min(MOST_LISTED),
        counted(all as u64, "number"),
    );
    vec![
        Part::Gap,
        Part::Table(table),
        Part::Gap,
        Part::entry("shown", text),
    ]
}
