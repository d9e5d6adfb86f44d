//! Parts sum to the whole: for every table of the catalog, measure, dimension and kind of
//! predicate, whatever this machine could record.
//!
//! Each table is in a run of its own, so that no other can answer for it.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;
mod truth;

use std::collections::BTreeSet;
use std::path::Path;

use run::catalog::{self, Column, Detail, Stored};
use run::manifest::{Manifest, Phase};
use run::rows::TableId;
use run::write::Writer;
use run::{Kind, Nanos, Run, Sink, Subject, Table, Unit, Word, grid};
use support::scratch;
use truth::parts::Asked;

/// When every run here starts.
const START: Nanos = 1_800_000_000_000_000_000;

/// The length of an interval; a run has [`INTERVALS`].
const EVERY: Nanos = 250_000_000;
const INTERVALS: i64 = 12;

/// Rows of an interval, or events.
const ROWS: u64 = 16;

/// A number that looks random, the same for the same place: splitmix64 (Steele, Lea and Flood,
/// 2014).
fn drawn(place: [u64; 3]) -> u64 {
    let mut z = 0x5eed;
    for part in place {
        z = (z ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
    }
    z
}

/// The words of a dimension: those that the catalog has a rule about, more than once, and some
/// more.
fn words(subject: &Subject, table: &Table, dimension: &str) -> Vec<&'static str> {
    let kept = subject.unless_named.iter();
    let kept = kept.filter(|u| u.dimension == dimension).map(|u| u.value);
    let told = table.made.iter().filter_map(|(_, stored)| {
        let (of, word, _) = stored.choice()?;
        (of == dimension).then_some(word)
    });
    let ruled: Vec<&str> = kept.chain(told).collect();
    let free = ["alpha", "/beta", "zeta γ"];
    ruled.iter().chain(&ruled).copied().chain(free).collect()
}

/// Numbers of a dimension, on the grid of the histograms.
fn numbers(unit: Unit) -> [f64; 4] {
    let some = match unit {
        Unit::Seconds => [0.0, 0.000_1, 0.003, 0.25],
        Unit::Bytes => [512.0, 2048.0, 65_536.0, 1_048_576.0],
        _ => [0.0, 1.0, 3.0, 70.0],
    };
    some.map(|number| grid::floor(number, unit))
}

/// Whether a number of an event may be unknown: no measure is made of it.
fn is_optional(table: &Table, dimension: &str) -> bool {
    let is_made = |stored: &Stored| stored.number() == Some(dimension);
    let is_summed = |parts: &[&str]| parts.contains(&dimension);
    table.detail == Detail::Event
        && !table.made.iter().any(|(_, stored)| is_made(stored))
        && !table.sums.iter().any(|(_, parts)| is_summed(parts))
}

/// The words and numbers of a row of `interval`: an instance is the same in all intervals, an event
/// each time another.
fn row(
    sink: &mut Sink,
    (subject, table): (&'static Subject, &'static Table),
    interval: u64,
    instance: u64,
) -> (Vec<Word>, Vec<f64>) {
    let (mut of_row, mut values) = (Vec::new(), Vec::new());
    for (place, column) in catalog::columns(subject, table).enumerate() {
        let when = drawn([place as u64, instance, 1 + interval]);
        let who = match table.detail {
            Detail::Event => when,
            Detail::Sample | Detail::Histogram => drawn([place as u64, instance, 0]),
        };
        match column {
            Column::Dimension(dimension) => match dimension.number {
                // Numbers of one kind only have a sum.
                None if subject.kinds.contains(&dimension.name) => {
                    of_row.push(sink.word("alpha"));
                }
                None => {
                    let all = words(subject, table, dimension.name);
                    of_row.push(sink.word(all[who as usize % all.len()]));
                }
                // The distance of a device's first I/O is not known.
                Some(_) if is_optional(table, dimension.name) && when.is_multiple_of(5) => {
                    values.push(f64::NAN);
                }
                Some(unit) => values.push(numbers(unit)[who as usize % 4]),
            },
            Column::Measure(measure) if measure.name == catalog::WEIGHT.name => {
                values.push((1 + when % 3) as f64);
            }
            // A limit that is not set.
            Column::Measure(m) if m.kind == Kind::Level && when.is_multiple_of(7) => {
                values.push(f64::NAN);
            }
            Column::Measure(_) => values.push((when % 4000) as f64 / 8.0),
        }
    }
    (of_row, values)
}

/// A sealed run in which only `table`, and what the recorder says of itself, have rows.
fn recorded(dir: &Path, (subject, table): (&'static Subject, &'static Table)) -> Run {
    let phase = |name: &str, from: Nanos| Phase {
        name: name.into(),
        from: START + from,
    };
    let manifest = Manifest {
        phases: vec![
            phase("warm-up", 900_000_000),
            phase("steady", 1_900_000_000),
        ],
        ended: Some(START + INTERVALS * EVERY),
        ..Manifest::new("synthetic", START, EVERY as f64 / 1e9)
    };
    let path = dir.join(table.name);
    let mut writer = Writer::create(&path, &manifest).expect("a run");
    let mut sink = Sink::new();
    let (id, own) = (TableId::of(table.name), TableId::of("self"));
    for interval in 1..=INTERVALS {
        let time = START + interval * EVERY;
        sink.at(time, EVERY as f64 / 1e9);
        if id != own {
            sink.row(own, &[], &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        }
        let mut seen = BTreeSet::new();
        for instance in 0..ROWS {
            let (words, values) = row(&mut sink, (subject, table), interval as u64, instance);
            if table.detail == Detail::Event {
                let time = time - (instance as Nanos + 1) * 15_000_000;
                sink.events(id).event(time, words, values);
                continue;
            }
            // An instance, or a bucket of it, has one row; some come late, some are away.
            let numbers = values.len() - table.measures.len();
            let bucket: Vec<u64> = values[..numbers].iter().map(|v| v.to_bits()).collect();
            let is_away = instance > 6 && drawn([instance, interval as u64, 0]).is_multiple_of(4);
            if !is_away && seen.insert((words.clone(), bucket)) {
                sink.row(id, &words, &values);
            }
        }
        writer.append(&mut sink, time);
    }
    let finished = writer.finish(manifest).expect("it ends");
    assert_eq!(finished.not_sealed, None, "{}", table.name);
    Run::open(&path).expect("the run opens")
}

/// Each statistic of each table of the catalog, in a run that `check` is given with it.
fn every_statistic(name: &str, check: impl Fn(&Asked<'_>, &'static Table)) {
    let dir = scratch(name);
    let mut checked = Vec::new();
    for (subject, table) in catalog::tables() {
        let run = recorded(&dir, (subject, table));
        assert!(run.tables().iter().any(|t| t == table.name));
        let made = table.made.iter().map(|(measure, _)| *measure);
        for measure in table.measures.iter().copied().chain(made) {
            let asked = Asked {
                run: &run,
                subject,
                measure,
            };
            let whole = asked.answer("");
            assert_eq!(whole.table, table.name, "{}.{measure}", subject.name);
            assert!(
                whole.groups.iter().any(|g| g.mean > 0.0),
                "{}.{measure} of {} has nothing to compare",
                subject.name,
                table.name
            );
            check(&asked, table);
            checked.push((table.name, measure));
        }
    }
    // No table and no measure was left out.
    for (subject, table) in catalog::tables() {
        let columns = subject
            .measures
            .iter()
            .filter(|m| table.has_measure(m.name));
        let all: Vec<&str> = columns.map(|m| m.name).collect();
        assert!(!all.is_empty(), "{} has no measure", table.name);
        for measure in all {
            assert!(
                checked.contains(&(table.name, measure)),
                "{}.{measure}",
                table.name
            );
        }
    }
}

#[test]
fn every_breakdown_of_every_table_sums_to_the_whole() {
    every_statistic("every-breakdown", |asked, table| {
        for dimension in table.dimensions {
            let groups = asked.answer(&format!("by {dimension}")).groups.len();
            let what = format!("{}.{} by {dimension}", asked.subject.name, asked.measure);
            let is_kind = asked.subject.kinds.contains(dimension);
            assert!(is_kind || groups > 1, "{what}: {groups} parts");
        }
        asked.breakdowns_sum(table);
    });
}

#[test]
fn what_passes_and_what_does_not_sum_to_the_whole_for_every_table() {
    every_statistic("every-predicate", |asked, table| {
        asked.what_passes_and_what_does_not_sum(table);
    });
}
