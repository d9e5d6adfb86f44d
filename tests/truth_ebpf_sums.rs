//! Of every histogram that programs in the kernel keep: each way to split it sums to the whole,
//! and tables of one subject have one sum.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and tell why they skip"
)]

mod support;
mod truth;

use std::collections::BTreeMap;
use std::path::Path;

use run::CATALOG;
use run::catalog::{Detail, Subject, Table};
use serde_json::Value;
use support::{Need, can_run, get, scratch};
use truth::record_script_with;

/// The sum of all groups.
fn sum(run: &Path, expression: &str) -> f64 {
    let answer = get(run, expression);
    let groups = answer["groups"].as_array().expect("groups");
    groups.iter().filter_map(|g| g["total"].as_f64()).sum()
}

/// A predicate that keeps everything, and that only this histogram can answer.
fn only_here(table: &Table, subject: &Subject) -> (String, &'static str) {
    let name = table
        .dimensions
        .iter()
        .find(|d| subject.dimension(d).is_some_and(|d| d.number.is_some()))
        .expect("a histogram has a number");
    let unit = subject.dimension(name).and_then(|d| d.number);
    let suffix = if unit == Some(run::Unit::Seconds) {
        "s"
    } else {
        ""
    };
    // Every layer, too: what is implied would keep a part.
    let mut text = format!("{name} >= -1000000000000000{suffix}");
    if table.dimensions.contains(&"layer") {
        text += " and layer ~ \"\"";
    }
    if table.dimensions.contains(&"stage") {
        text += " and stage ~ \"\"";
    }
    (text, name)
}

#[test]
fn every_split_of_a_histogram_sums_to_the_whole() {
    let needs = [Need::Root, Need::Program("fio")];
    if !can_run("every_split_of_a_histogram_sums_to_the_whole", &needs) {
        return;
    }
    let dir = scratch("sums");
    let run = dir.join("run");
    let file = dir.join("file");
    let script = format!(
        "fio --name=x --filename={} --size=32m --rw=randrw --bs=4k --direct=1 --ioengine=libaio \
         --iodepth=4 --runtime=1 --time_based --output-format=terse >/dev/null; \
         i=0; while [ $i -lt 50 ]; do sh -c true; i=$((i+1)); done; \
         cat {} | wc -c > /dev/null; sleep 0.2",
        file.display(),
        file.display()
    );
    record_script_with(&run, "200ms", &["--with", "file"], &script);
    let text = std::fs::read_to_string(run.join("run.json")).expect("run.json");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let mut compared = 0;
    let mut of_subject: BTreeMap<String, Vec<(&str, f64)>> = BTreeMap::new();
    for subject in CATALOG {
        for table in subject.tables {
            let recorded = manifest["tables"].get(table.name).is_some();
            if table.detail != Detail::Histogram || !recorded {
                continue;
            }
            let (all, number) = only_here(table, subject);
            for measure in table.measures {
                let whole = sum(&run, &format!("{}.{measure} where {all}", subject.name));
                for dimension in table.dimensions {
                    let parts = sum(
                        &run,
                        &format!("{}.{measure} by {dimension} where {all}", subject.name),
                    );
                    assert!(
                        (parts - whole).abs() <= 1e-9 * whole.abs(),
                        "{}: {measure} by {dimension}: {parts} of {whole}",
                        table.name
                    );
                    compared += usize::from(whole > 0.0);
                }
                // `at_depth` is time, and each connection's events are counted apart.
                if subject.name == "disk"
                    && *measure == "ios"
                    && !["size", "distance", "nearest"].contains(&number)
                {
                    let sums = of_subject.entry(format!("{}.{measure}", subject.name));
                    sums.or_default().push((table.name, whole));
                }
            }
        }
    }
    assert!(compared > 40, "only {compared} sums were there to compare");
    assert!(of_subject.contains_key("disk.ios"), "{of_subject:?}");
    for (statistic, sums) in of_subject {
        assert!(sums.len() > 2, "{statistic}: {sums:?}");
        assert!(
            sums.iter().all(|(_, s)| *s > 0.0 && *s == sums[0].1),
            "{statistic}: {sums:?}"
        );
    }
}
