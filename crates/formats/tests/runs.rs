//! Results of a benchmark that a script ran again and again, with a date above each: what is below a date
//! is the same as with that date alone.

mod texts;

use std::collections::BTreeMap;

use formats::{FORMATS, Format, Head, Import, Options};
use texts::{cases, here, parsed, read};

/// Formats of benchmarks whose results tell no date.
const RUN: &[&str] = &[
    "ab",
    "dd",
    "filebench",
    "fio-terse",
    "iperf2-text",
    "iperf3-text",
    "memtier",
    "netperf",
    "pgbench",
    "redis-benchmark",
    "stress-ng",
    "sysbench",
    "uperf",
    "wrk",
];

/// Said where a date begins a run.
const SAID: &str = "each run is taken to start at the date above it";

const FIRST: &str = "Fri Nov 27 15:00:00 UTC 2026\n";
const SECOND: &str = "Fri Nov 27 17:00:00 UTC 2026\n";

/// What it is imported to: each number with its table, words, time and interval, and how often it is
/// there.
type Rows = BTreeMap<(String, i64, Vec<String>, Vec<u64>), usize>;

struct Imported {
    rows: Rows,
    notes: Vec<String>,
}

fn import(format: &'static Format, text: &[u8]) -> Option<Imported> {
    let options = Options {
        every: Some(1.0),
        processors: Some(2),
        zone: jiff::tz::TimeZone::UTC,
        ..Options::default()
    };
    let mut import = Import::new(format, &Head::new(text), options);
    import.feed(text).ok()?;
    let report = import.finish().ok()?;
    let mut sink = std::mem::take(import.rows());
    sink.spread();
    let mut rows = Rows::new();
    for (table, filled) in sink.filled() {
        let (_, entry) = run::catalog::tables()
            .nth(usize::from(table.0))
            .expect("a table");
        for i in 0..filled.len() {
            let word = |w: &Vec<_>| sink.words.text(w[i]).unwrap_or_default().to_owned();
            let words = filled.words.iter().map(word).collect();
            let values = filled.values.iter().map(|v| v[i].to_bits());
            let numbers = values.chain([filled.intervals[i].to_bits()]).collect();
            let key = (entry.name.to_owned(), filled.times[i], words, numbers);
            *rows.entry(key).or_default() += 1;
        }
    }
    Some(Imported {
        rows,
        notes: report.notes,
    })
}

#[test]
fn what_is_below_a_date_is_as_with_that_date_alone() {
    let mut faults = Vec::new();
    for name in RUN {
        let format = named(name);
        let mut looked_at = 0;
        for case in cases(&here().join("fixtures").join(name)) {
            let told = parsed(&case);
            // Of the end of a run the first interval is told by the next; below a date it is whole.
            let name = case.file_stem().unwrap_or_default().to_string_lossy();
            if name.starts_with("tail") || name.starts_with("date-") {
                continue;
            }
            if told["refused"].is_string() || told["not_understood"].is_array() {
                continue;
            }
            let text = read(&case.with_extension("txt"));
            let with = |dates: &[&str]| {
                let runs = dates.iter().flat_map(|date| [date.as_bytes(), &text]);
                import(format, &runs.collect::<Vec<_>>().concat())
            };
            let all = [&[FIRST][..], &[SECOND], &[FIRST, SECOND]].map(with);
            let [Some(first), Some(second), Some(both)] = all else {
                continue;
            };
            if !both.notes.iter().any(|note| note == SAID) {
                continue;
            }
            let times = |rows: &Rows| rows.keys().map(|key| key.1).collect::<Vec<_>>();
            if times(&first.rows) == times(&second.rows) {
                // It has times of its own.
                continue;
            }
            looked_at += 1;
            let mut sum = first.rows;
            for (key, count) in second.rows {
                *sum.entry(key).or_default() += count;
            }
            if sum != both.rows {
                let differs = |(key, count): &(&_, &usize)| both.rows.get(*key) != Some(count);
                let lost: Vec<_> = sum.iter().filter(differs).collect();
                faults.push(format!("{}: {:?}", case.display(), lost.first()));
            }
        }
        if looked_at == 0 {
            faults.push(format!("{name}: no text in which a date begins a run"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn named(name: &str) -> &'static Format {
    FORMATS.iter().find(|f| f.name == name).expect("a format")
}

/// Below a date where a tool is started anew it begins then, and none says that the date is of no use.
#[test]
fn a_date_that_is_used_is_not_said_to_be_of_no_use() {
    let text = read(&here().join("fixtures/vmstat-linux/date-titled.txt"));
    let text = String::from_utf8(text).expect("UTF-8");
    let format = named("vmstat-linux");
    let all = import(format, text.as_bytes()).expect("an import");
    let of_no_use = |note: &String| note.contains("are not used");
    assert!(all.notes.iter().any(|n| n == SAID), "{:?}", all.notes);
    assert!(!all.notes.iter().any(of_no_use), "{:?}", all.notes);
    // One between reports of one run is.
    let lines: Vec<&str> = text.lines().take(5).collect();
    let logged = format!("{0}\n=== now {SECOND}{1}\n", lines.join("\n"), lines[4]);
    let one = import(format, logged.as_bytes()).expect("an import");
    assert!(one.notes.iter().any(of_no_use), "{:?}", one.notes);
}

#[test]
fn a_date_within_a_run_begins_none() {
    let format = named("sysbench");
    let text = "\
Running the test with following options:
Number of threads: 1
[ 1s ] thds: 1 eps: 100.00 lat (ms,95%): 0.21
Fri Nov 27 17:00:00 UTC 2026
[ 2s ] thds: 1 eps: 200.00 lat (ms,95%): 0.21
";
    let one = import(format, format!("{FIRST}{text}").as_bytes()).expect("an import");
    let times: Vec<i64> = one.rows.keys().map(|key| key.1).collect();
    let hour = 3_600_000_000_000;
    assert!(times.iter().max().unwrap() - times.iter().min().unwrap() < hour);
    assert!(one.notes.iter().all(|note| note != SAID), "{:?}", one.notes);
}
