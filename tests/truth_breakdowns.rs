//! Parts sum to the whole: for every measure, dimension and kind of predicate of the catalog
//! that a real recording has.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell what they compared"
)]

mod support;
mod truth;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::OnceLock;

use analysis::evaluate;
use run::catalog::{self, Under};
use run::read::Values;
use run::{CATALOG, Kind, Run, Table};
use support::scratch;
use truth::parts::Asked;
use truth::record_script_with;

/// A few seconds with work for processors, a disk and loopback, in three phases.
fn recorded() -> &'static PathBuf {
    static RUN: OnceLock<PathBuf> = OnceLock::new();
    RUN.get_or_init(|| {
        let dir = scratch("breakdowns");
        let run = dir.join("run");
        let file = dir.join("file").display().to_string();
        let work = format!(
            "for i in 1 2 3 4 5; do
                 dd if=/dev/zero of={file} bs=64k count=200 conv=fsync status=none
                 dd if={file} of=/dev/null bs=64k status=none
                 timeout 0.4 dd if=/dev/zero of=/dev/null bs=64k status=none || true
                 j=0; while [ $j -lt 60 ]; do sh -c true; j=$((j+1)); done
             done"
        );
        let script = format!("{work}; $SONDE mark warm-up; {work}; $SONDE mark steady; {work}");
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::io::copy(&mut stream.take(1 << 24), &mut std::io::sink()).expect("receives");
            }
        });
        std::thread::spawn(move || {
            let piece = vec![1; 1 << 16];
            loop {
                let mut stream = TcpStream::connect(address).expect("connects");
                for _ in 0..64 {
                    stream.write_all(&piece).expect("sends");
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
        });
        // Of the counters that the kernel keeps; what its programs count has a test of its own
        // (`truth_ebpf_sums.rs`), since a table of theirs is another instrument.
        record_script_with(&run, "100ms", &["--detail", "samples"], &script);
        run
    })
}

/// Every table of the catalog that `run` has, with each of its measures.
fn asked(run: &Run) -> Vec<(Asked<'_>, &'static Table)> {
    let present = run.tables();
    let mut all = Vec::new();
    for (subject, table) in catalog::tables() {
        if !present.iter().any(|p| p == table.name) {
            continue;
        }
        for measure in table.measures {
            let asked = Asked {
                run,
                subject,
                measure,
            };
            all.push((asked, table));
        }
    }
    assert!(
        all.len() > 60,
        "only {} statistics were recorded",
        all.len()
    );
    all
}

#[test]
fn every_breakdown_sums_to_the_whole() {
    let run = Run::open(recorded()).expect("a run");
    for (asked, table) in asked(&run) {
        asked.breakdowns_sum(table);
    }
}

#[test]
fn what_passes_a_predicate_and_what_does_not_sum_to_the_whole() {
    let run = Run::open(recorded()).expect("a run");
    for (asked, table) in asked(&run) {
        asked.what_passes_and_what_does_not_sum(table);
    }
}

/// The amounts of a table's column read row by row, without the planner.
fn rows(run: &Run, table: &'static Table, measure: &str, only: Option<(&str, &str)>) -> f64 {
    let opened = run
        .table(table.name)
        .expect("the table opens")
        .expect("it is there");
    let mut columns = vec![measure];
    columns.extend(only.map(|o| o.0));
    let mut sum = 0.0;
    for part in &opened.parts {
        let visit = |batch: &run::Batch<'_>| {
            let Values::Numbers(values) = &batch.columns[0] else {
                panic!("{measure} is a number");
            };
            for (row, value) in values.iter().enumerate() {
                let kept = match (only, batch.columns.get(1)) {
                    (Some((_, word)), Some(Values::Words { codes, texts })) => {
                        texts.get(codes[row]) == word
                    }
                    _ => true,
                };
                if kept && !value.is_nan() {
                    sum += value;
                }
            }
        };
        opened.read(part, &columns, visit).expect("it reads");
    }
    sum
}

#[test]
fn totals_are_the_sums_of_the_stored_rows() {
    let run = Run::open(recorded()).expect("a run");
    let mut compared = 0;
    for (asked, table) in asked(&run) {
        let kind = asked
            .subject
            .measure(asked.measure)
            .expect("a measure")
            .kind;
        if kind != Kind::Sum {
            continue;
        }
        let unless = asked.subject.unless_named.iter();
        let mut unless = unless.filter(|u| table.dimensions.contains(&u.dimension));
        let only = unless.next().map(|u| (u.dimension, u.value));
        assert!(
            unless.next().is_none(),
            "{} has two restrictions",
            table.name
        );
        let stored = rows(&run, table, asked.measure, only);
        let answer = asked.answer("");
        assert_eq!(answer.table, table.name);
        let total: f64 = answer.groups.iter().filter_map(|g| g.total).sum();
        let what = format!("{}.{}", asked.subject.name, asked.measure);
        assert!(
            (total - stored).abs() <= 1e-9 * stored.abs(),
            "{what}: {total} and {stored}"
        );
        compared += usize::from(stored > 0.0);
    }
    assert!(compared > 25, "only {compared} statistics counted anything");
}

/// The share of each mode is of all time, so the shares sum to the whole's.
#[test]
fn shares_of_the_processors_sum_to_the_whole() {
    let run = Run::open(recorded()).expect("a run");
    let sum = |text: &str| -> f64 {
        let answer = evaluate(&run, text).expect("an answer");
        answer.groups.iter().map(|g| g.mean).sum()
    };
    let (whole, parts) = (sum("cpu.utilisation"), sum("cpu.utilisation by mode"));
    assert!(
        0.0 < whole && whole <= 1.0 && (whole - parts).abs() <= 1e-9,
        "{whole} and {parts}"
    );
}

/// Every ratio over a whole run is the sum above its line by the sums below it.
#[test]
fn ratios_are_sums_by_sums() {
    let run = Run::open(recorded()).expect("a run");
    let sum = |text: &str| -> Option<f64> {
        let answer = evaluate(&run, text).ok()?;
        Some(answer.groups.iter().filter_map(|g| g.total).sum())
    };
    let mut compared = 0;
    for subject in CATALOG {
        for derived in subject.derived {
            let Under::Sum(under) = derived.under else {
                continue;
            };
            let of = |statistic: &str| {
                sum(&match derived.without {
                    Some((dimension, words)) => {
                        let tests = words.iter().map(|word| format!("{dimension} != {word}"));
                        let tests: Vec<String> = tests.collect();
                        format!("{statistic} where {}", tests.join(" and "))
                    }
                    None => statistic.to_owned(),
                })
            };
            let below: Option<Vec<f64>> = under.iter().map(|u| of(u)).collect();
            let (Some(above), Some(below)) = (of(derived.over), below) else {
                continue;
            };
            let name = format!("{}.{}", subject.name, derived.name);
            let answer = evaluate(&run, &name).expect("its sums have answers");
            let below: f64 = below.iter().sum();
            if below == 0.0 {
                assert!(
                    answer.groups.iter().all(|g| g.mean.is_nan()),
                    "{name} has nothing below"
                );
                continue;
            }
            let expected = above / below * derived.times;
            let mean = answer.groups[0].mean;
            assert!(
                (mean - expected).abs() <= 1e-9 * expected,
                "{name}: {mean} and {expected}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 4, "only {compared} ratios were compared");
}

/// Processor time by group and by process comes from other tables than the whole.
///
/// They are charged by the nanosecond, or in ticks of what ran exactly; the whole is sampled:
/// a processor's tick is all charged to what it meets. Of n ticks of a sampled share p,
/// the error has a standard deviation of √(n·p·(1−p)) ticks, at most √n / 2. Four of those,
/// and the time of interrupts, which is charged to no group and no process.
#[test]
fn time_of_groups_and_processes_agrees_with_the_processors() {
    let run = Run::open(recorded()).expect("a run");
    let sum = |text: &str| {
        let answer = evaluate(&run, text).expect("an answer");
        let total: f64 = answer.groups.iter().filter_map(|g| g.total).sum();
        (total, answer)
    };
    let (whole, answer) = sum("cpu.time");
    assert!(whole > 1.0, "the load ran {whole} s");
    let (interrupts, _) = sum("cpu.time where mode in irq, softirq");
    let processors = sum("cpu.idle by cpu").1.groups.len() as f64;
    let second = rustix::param::clock_ticks_per_second() as f64;
    let ticks = answer.groups[0].seconds * second * processors;
    let tolerance = 4.0 * ticks.sqrt() / 2.0 / second + interrupts;
    for dimension in ["cgroup", "process", "command"] {
        let table = if dimension == "cgroup" {
            "cgroup_cpu"
        } else {
            "process"
        };
        if !run.tables().iter().any(|t| t == table) {
            continue;
        }
        let (parts, answer) = sum(&format!("cpu.time by {dimension}"));
        assert_eq!(answer.table, table);
        assert!(
            answer.caveat.is_some(),
            "{dimension}: another table without its caveat"
        );
        assert!(
            (parts - whole).abs() <= tolerance,
            "cpu.time by {dimension}: {parts} s, the processors {whole} s, ± {tolerance} s"
        );
        eprintln!("cpu.time by {dimension}: {parts:.3} s of {whole:.3} s, ± {tolerance:.3} s");
    }
}

/// Every table that another subject lends says so in the answer, and answers.
#[test]
fn lent_tables_say_that_they_are() {
    let run = Run::open(recorded()).expect("a run");
    let present = run.tables();
    for subject in CATALOG {
        for also in subject
            .also
            .iter()
            .filter(|a| present.iter().any(|p| p == a.table))
        {
            let (_, table) = catalog::table(also.table).expect("a table");
            let own = |d: &str| {
                let mut tables = subject.tables.iter();
                tables.any(|t| t.measures.contains(&also.measure) && t.dimensions.contains(&d))
            };
            for dimension in table.dimensions.iter().filter(|d| !own(d)) {
                if subject.dimension(dimension).is_none() {
                    continue;
                }
                let text = format!("{}.{} by {dimension}", subject.name, also.measure);
                let answer = evaluate(&run, &text).unwrap_or_else(|e| panic!("{text}: {e}"));
                assert!(answer.caveat.is_some(), "{text} has no caveat");
            }
        }
    }
}
