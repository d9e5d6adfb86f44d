//! Texts that lost lines: those behind one, or one among them. What is not there is not known, and what is left
//! makes no number of its own.

mod texts;

use std::collections::{BTreeMap, HashSet};

use formats::{FORMATS, Format, Head, Import, Reading};
use texts::{Read, assert_none, but_for, faults, printed, texts};

/// Formats of which each report has all there is of what it tells.
const LIST_ALL: [&str; 7] = [
    "atop",
    "ip-link",
    "kstat",
    "nfsiostat",
    "proc",
    "sar",
    "vmstat-linux",
];

/// Of tables that leave out what is nothing: the first row of the whole text that is missing where a
/// text that was cut behind a line has others of the same report.
fn lost(format: Reading, text: &[u8], cuts: &mut usize) -> Option<String> {
    let leaves_out = |key: &str| {
        let mut tables = run::catalog::tables().map(|(_, table)| table);
        tables.any(|t| t.sparse && key.split(' ').next() == Some(t.name))
    };
    let report = |key: &str| key.split(" [").next().unwrap_or_default().to_owned();
    let whole = Read::of(format, text);
    let lines = text.split_inclusive(|b| *b == b'\n');
    let ends = lines.scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    });
    for end in ends {
        *cuts += 1;
        let cut = Read::of(format, &text[..end]);
        let begun: HashSet<String> = cut.rows.keys().map(|key| report(key)).collect();
        // What no report above has told of is not known to be missing.
        let instance = |key: &str| key.split_once(" [").map(|(_, words)| words.to_owned());
        let table = |key: &str| key.split(' ').next().unwrap_or_default().to_owned();
        let is_told = |key: &str| {
            let same =
                |other: &&String| table(other) == table(key) && instance(other) == instance(key);
            cut.rows.keys().any(|k| k.starts_with("since_boot "))
                || cut.rows.keys().any(|k| same(&k))
        };
        // A row of all stands for those of each until they are there.
        let of_all = |key: &&String| key.contains("Some(\"all\")");
        let all: HashSet<String> = cut.rows.keys().filter(of_all).map(|k| report(k)).collect();
        let is_lost = |key: &&String| {
            let report = report(key);
            leaves_out(key)
                && begun.contains(&report)
                && !all.contains(&report)
                && !cut.rows.contains_key(*key)
                && is_told(key)
        };
        if let Some(key) = whole.rows.keys().find(is_lost) {
            let last = text[..end].trim_ascii_end().rsplit(|b| *b == b'\n').next();
            let last = String::from_utf8_lossy(last.unwrap_or_default());
            return Some(format!("{last}|\n    {key}"));
        }
    }
    None
}

#[test]
fn what_a_text_lacks_that_was_cut_behind_a_line_is_no_zero() {
    let examples = FORMATS.iter();
    let examples = examples.map(|f| ("example".to_owned(), f, f.example_bytes()));
    let all = examples.chain(texts());
    let all: Vec<_> = all
        .filter(|(_, format, _)| LIST_ALL.contains(&format.name))
        .collect();
    let faults = faults(&all, 1_000, |(name, format, text), cuts| {
        let fault = lost((*format).into(), text, cuts)?;
        Some((format!("{} {name}", format.name), fault))
    });
    assert_none(&faults);
}

/// The greatest rate or level of each column, by table and words.
type Greatest = BTreeMap<(String, Vec<String>, usize), f64>;

fn greatest(format: &'static Format, text: &[u8], every: Option<f64>) -> Option<Greatest> {
    let mut import = Import::new(format, &Head::new(text), texts::every(every));
    import.feed(text).and_then(|()| import.finish()).ok()?;
    let mut sink = std::mem::take(import.rows());
    sink.spread();
    let mut found = Greatest::new();
    for (_, rows) in sink.filled() {
        let name = rows.table.name;
        let (subject, _) = run::catalog::table(name).expect("a table");
        // What was counted since boot, and what benchmarks and buckets tell, is no rate.
        let is_rate = name != "since_boot" && !name.starts_with("workload");
        let is_interval = rows.intervals.len() == rows.len() && name != "distribution";
        for row in (0..rows.len()).filter(|_| is_rate && is_interval) {
            let words = rows.words.iter().map(|words| sink.words.text(words[row]));
            let words: Vec<String> = words.map(|w| w.unwrap_or("").to_owned()).collect();
            let measures = rows.table.measures.iter().zip(&rows.values);
            for (column, (measure, values)) in measures.enumerate() {
                let kind = subject.measure(measure).map(|measure| measure.kind);
                let length = match kind {
                    Some(run::catalog::Kind::Sum) => rows.intervals[row],
                    _ => 1.0,
                };
                let rate = values[row] / length;
                if rate.is_finite() {
                    let key = (name.to_owned(), words.clone(), column);
                    let most = found.entry(key).or_insert(rate);
                    *most = most.max(rate);
                }
            }
        }
    }
    Some(found)
}

/// Texts of which a line says what is not told otherwise, and what is read without it.
const UNTOLD: &[(&str, &[&str])] = &[
    (
        "a tool was started anew there: its report since boot stands as one of an interval",
        &[
            "iostat-aix adapters.txt",
            "iostat-hpux appended.txt",
            "iostat-linux appended.txt",
            "iostat-linux date-of-a-loop-like-its-own.txt",
            "iostat-solaris device-first.txt",
            "iostat-solaris silent.txt",
            "mpstat-solaris every-column.txt",
            "netstat-i date-of-a-loop.txt",
            "netstat-i openbsd-appended.txt",
            "vmstat-linux appended.txt",
            "vmstat-linux date-of-a-loop.txt",
            "vmstat-linux date-titled.txt",
            "vmstat-linux forks-and-counts.txt",
            "vmstat-linux others-between.txt",
            "vmstat-linux two-runs.txt",
            "vmstat-solaris appended.txt",
            "vmstat-solaris garbled-row.txt",
        ],
    ),
    (
        "that no processor went before: the report since boot, after it did, stands as one of an interval",
        &["mpstat-solaris quiet.txt"],
    ),
    (
        "how much was moved, and how fast: no other row tells that the first report is since boot",
        &[
            "iostat-aix example",
            "iostat-aix requests.txt",
            "iostat-aix times.txt",
            "iostat-aix two.txt",
        ],
    ),
    (
        "the first of two that have one name",
        &["prometheus doubled.txt", "zpool-iostat one-name-twice.txt"],
    ),
    (
        "the only other name that was told until then",
        &[
            "ethtool bare-names.txt",
            "ethtool grepped-in-turn.txt",
            "mountstats-text connections-alone.txt",
        ],
    ),
    (
        "what a reading lacks was zero, as the tool leaves out what is",
        &[
            "collectl-raw nfs-interrupts-sockets.txt",
            "iotop accumulated.txt",
            "nfsstat list.txt",
            "nstat absolute.txt",
        ],
    ),
    (
        "what was counted in two intervals stands in the second",
        &[
            "ethtool grepped-without-times.txt",
            "proc logged.txt",
            "proc machine.txt",
            "proc watched-often.txt",
            "prometheus times-apart.txt",
        ],
    ),
    (
        "that a reading was made there: what grew is of all the time since the one before",
        &["mountstats lacking.txt", "proc disk-lacking.txt"],
    ),
    (
        "since when it was counted",
        &["mountstats mounted-anew.txt"],
    ),
    (
        "how much a part of the machine is, or is of another",
        &[
            "nmon aix-shared.txt",
            "prometheus node.txt",
            "sadf-json local.txt",
            "sar aix-changed.txt",
        ],
    ),
    (
        "whose the lines below are, of two alike",
        &[
            "iostat-bsd cut-names.txt",
            "iostat-linux header-lost-below-idle.txt",
            "mpstat-linux appended-overlap.txt",
            "netstat-i both-families.txt",
            "netstat-s solaris-restart.txt",
            "pcp cut-rows.txt",
            "pidstat children-without-decimals.txt",
            "prometheus two-exporters-dates.txt",
            "prometheus two-exporters.txt",
            "sar appended-overlap.txt",
            "sar blanks-below-one-another.txt",
        ],
    ),
    (
        "that another benchmark, job or script begins",
        &[
            "dd another-rate.txt",
            "dd asked-with-signals.txt",
            "dd ended-by-an-error.txt",
            "fio-json status-interval-jobs-in-turn.txt",
            "fio-text ended-sooner.txt",
            "fio-text fio3-clients.txt",
            "iperf3-text udp-lost-3.1.txt",
            "pgbench scripts.txt",
        ],
    ),
    (
        "one that runs was counted with the reader",
        &["collectl-raw every-table.txt"],
    ),
];

/// The first line without which a rate is greater than with it.
fn grown(format: &'static Format, text: &[u8], missing: &mut usize) -> Option<String> {
    let told = greatest(format, text, None).filter(|found| !found.is_empty());
    let every = if told.is_some() { None } else { Some(1.0) };
    let whole = told.or_else(|| greatest(format, text, every))?;
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    // What stands above all, and commands, tell of all that is below.
    for at in 2..lines.len() {
        let line = String::from_utf8_lossy(lines[at]);
        if line.starts_with(['$', '#']) {
            continue;
        }
        *missing += 1;
        let without = [&lines[..at], &lines[at + 1..]].concat().concat();
        let Some(found) = greatest(format, &without, every) else {
            continue;
        };
        let is_greater = |(key, rate): &(&(String, Vec<String>, usize), &f64)| {
            let most = whole.get(*key);
            most.is_some_and(|most| **rate > most + most.abs() * 1e-3)
        };
        if let Some((key, rate)) = found.iter().find(is_greater) {
            let line = line.trim_end();
            return Some(format!(
                "{}: {line}|\n    {key:?} {rate} of {}",
                at + 1,
                whole[key]
            ));
        }
    }
    None
}

#[test]
fn without_one_of_its_lines_a_text_has_no_greater_rate() {
    let all = printed();
    let mut faults = faults(&all, 5_000, |(name, format, text), missing| {
        let fault = grown(format, text, missing)?;
        Some((format!("{} {name}", format.name), fault))
    });
    but_for(&mut faults, UNTOLD);
    assert_none(&faults);
}
