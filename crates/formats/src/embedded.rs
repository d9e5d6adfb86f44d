//! Results of benchmarks in the captured output of a command: what a script prints, `fio`'s
//! JSON after other lines, two copies of `dd`.

use std::collections::BTreeMap;
use std::ops::Range;

use run::{Nanos, Sink};

use crate::list::Format;
use crate::recognise::{Head, named};
use crate::{Import, Options, Refused, Report};

/// A part of a text that is of a benchmark.
pub struct Embedded {
    /// Of which.
    pub format: &'static Format,
    /// Where it is: whole lines.
    pub bytes: Range<usize>,
}

/// Where a format's results may begin: any of these in a line; they end before a line of
/// another's.
const SIGNS: &[(&str, &[&str])] = &[
    ("fio-json", &["\"fio version\""]),
    ("fio-text", &[": (g=", ": (groupid=", "fio-2.", "fio-3."]),
    ("dd", &["+0 records in", " records in"]),
    ("iperf3-json", &["\"test_start\"", "\"connecting_to\""]),
    (
        "iperf3-text",
        &["Connecting to host ", "Accepted connection from "],
    ),
    (
        "iperf2-text",
        &[
            "Client connecting to ",
            "Server listening on UDP",
            "Server listening on TCP",
        ],
    ),
    ("netperf", &[" TEST from ", "THROUGHPUT="]),
    ("sysbench", &["sysbench 0.", "sysbench 1."]),
    ("wrk", &["s test @ ", "m test @ ", "h test @ "]),
    (
        "pgbench",
        &["progress: ", "transaction type: ", "pgbench ("],
    ),
    ("memtier", &["[RUN #", " Connections per thread"]),
    ("redis-benchmark", &["====== ", " requests per second"]),
];

/// The parts of `text` that are results of benchmarks, in their order.
///
/// A part reaches up to the next one; lines of others in it are not understood by its parser
/// and left out.
pub fn find_workload(text: &[u8]) -> Vec<Embedded> {
    let mut found: Vec<(&'static str, usize)> = Vec::new();
    for (place, begin) in signs(text) {
        let (name, _) = &SIGNS[place];
        if found.last().is_some_and(|(last, _)| last == name) {
            continue;
        }
        let end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |n| begin + n);
        let line = &text[begin..end];
        // A JSON document's sign comes after its beginning.
        let document = name.ends_with("json").then(|| document_at(text, begin));
        let begin = document.flatten().unwrap_or(begin);
        // With --output-format=normal,json fio tells of a run twice; another run would begin
        // with the description of its jobs.
        let again = *name == "fio-text"
            && found.last().is_some_and(|(last, _)| *last == "fio-json")
            && memchr::memmem::find(line, b": (groupid=").is_some();
        found.push((if again { "" } else { name }, begin));
    }
    let ends = found.iter().skip(1).map(|(_, begin)| *begin);
    let ends: Vec<usize> = ends.chain([text.len()]).collect();
    let mut parts: Vec<Embedded> = Vec::new();
    // Where what is told a second time begins, nothing goes on.
    let mut goes_on = false;
    for ((name, begin), end) in found.iter().zip(ends) {
        let format = named(name);
        let head = || text.get(*begin..end).map(Head::new);
        let format = format.filter(|f| head().is_some_and(|head| (f.recognise)(&head) > 0));
        match (format, parts.last_mut()) {
            // Other lines that only look like a sign: `====== next ======`.
            (None, Some(last)) if goes_on && !name.is_empty() => last.bytes.end = end,
            (None, _) => goes_on = false,
            (Some(format), Some(last)) if goes_on && last.format.name == format.name => {
                last.bytes.end = end;
            }
            (Some(format), _) => {
                goes_on = true;
                let bytes = *begin..end;
                parts.push(Embedded { format, bytes });
            }
        }
    }
    parts
}

/// Lines that have a sign: its place in [`SIGNS`] (the first, of several) and where the line
/// begins. The whole text is searched for each: a command can print millions of lines.
fn signs(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    for (place, (_, signs)) in SIGNS.iter().enumerate() {
        for sign in *signs {
            for at in memchr::memmem::find_iter(text, sign.as_bytes()) {
                let begin = memchr::memrchr(b'\n', &text[..at]).map_or(0, |n| n + 1);
                // Of places only the first is kept, and signs come in their order.
                found.entry(begin).or_insert(place);
            }
        }
    }
    found
        .into_iter()
        .map(|(begin, place)| (place, begin))
        .collect()
}

/// The last line up to that place that begins a JSON document.
fn document_at(text: &[u8], line: usize) -> Option<usize> {
    if text.get(line) == Some(&b'{') {
        return Some(line);
    }
    let before = &text[..line];
    let found = memchr::memmem::rfind(before, b"\n{").map(|n| n + 1);
    found.or_else(|| before.starts_with(b"{").then_some(0))
}

/// Imports such a part of what a command printed that ended at `ended`.
///
/// What has no time of its own is taken to have ended with the command.
///
/// # Errors
/// Where it cannot be imported at all, or has nothing in it.
pub fn import_embedded(
    part: &Embedded,
    text: &[u8],
    ended: Nanos,
    options: &Options,
) -> Result<(Report, Sink), Refused> {
    let bytes = text.get(part.bytes.clone()).unwrap_or_default();
    let import = |options: Options| {
        let mut import = Import::new(part.format, &Head::new(bytes), options);
        import.feed(bytes)?;
        let report = import.finish()?;
        Ok((report, std::mem::take(import.rows())))
    };
    let (report, rows) = import(options.clone())?;
    match report.span {
        Some((first, last)) if report.relative => import(Options {
            start: Some(ended.saturating_sub(last.saturating_sub(first))),
            ..options.clone()
        }),
        _ => Ok((report, rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::rows::TableId;

    const TEXT: &str = "\
preparing
fio: warning: something
{
  \"fio version\" : \"fio-3.33\", \"timestamp_ms\" : 1795315792201,
  \"jobs\" : [ { \"jobname\" : \"a\", \"read\" : { \"io_bytes\" : 4096, \"io_kbytes\" : 4,
    \"runtime\" : 1000, \"total_ios\" : 1 } } ]
}
now dd
200+0 records in
200+0 records out
209715200 bytes (210 MB, 200 MiB) copied, 0.5 s, 419 MB/s
100+0 records in
100+0 records out
104857600 bytes (105 MB, 100 MiB) copied, 0.25 s, 419 MB/s
bye
";

    #[test]
    fn results_are_found_among_other_lines_and_end_with_the_command() {
        let found = find_workload(TEXT.as_bytes());
        let names: Vec<&str> = found.iter().map(|f| f.format.name).collect();
        assert_eq!(names, ["fio-json", "dd"]);
        assert!(TEXT[found[0].bytes.clone()].starts_with("{\n"));
        let ended = 1_000_000_000_000;
        let options = Options::default();
        let (_, rows) = import_embedded(&found[1], TEXT.as_bytes(), ended, &options).unwrap();
        let rows = rows.rows(TableId::of("workload"));
        assert_eq!(rows.times, [ended - 250_000_000, ended]);
        let (_, rows) = import_embedded(&found[0], TEXT.as_bytes(), ended, &options).unwrap();
        assert_eq!(
            rows.rows(TableId::of("workload")).times,
            [1_795_315_792_201_000_000]
        );
    }

    /// Copies that a script made one after the other do not lie at the same time.
    #[test]
    fn lines_that_look_like_a_sign_do_not_part() {
        let text = "\
====== first ======
progress: 10 %
3+0 records in
3+0 records out
3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.5 s, 6.3 MB/s
====== second ======
4+0 records in
4+0 records out
4194304 bytes (4.2 MB, 4.0 MiB) copied, 0.25 s, 17 MB/s
a TEST from home
";
        let found = find_workload(text.as_bytes());
        assert_eq!(found.len(), 1);
        let ended = 1_000_000_000_000;
        let options = Options::default();
        let (report, rows) = import_embedded(&found[0], text.as_bytes(), ended, &options).unwrap();
        assert_eq!(report.unknown, 2);
        let rows = rows.rows(TableId::of("workload"));
        assert_eq!(rows.times, [ended - 250_000_000, ended]);
    }

    /// What fio prints with --output-format=normal,json.
    #[test]
    fn a_run_that_is_told_twice_counts_once() {
        let header = "a: (g=0): rw=read, bs=4096B-4096B, ioengine=psync, iodepth=1\n";
        let result = "\
a: (groupid=0, jobs=1): err= 0: pid=1: Sun Nov 22 02:49:54 2026
  read: IOPS=1, BW=4096B/s (4096B/s)(4096B/1000msec)
    lat (usec): min=1, max=1, avg= 1.00, stdev= 0.00
     issued rwts: total=1,0,0,0 short=0,0,0,0 dropped=0,0,0,0
";
        let json = &TEXT[TEXT.find('{').unwrap()..TEXT.find("now dd").unwrap()];
        let names = |text: &str| -> Vec<&str> {
            let found = find_workload(text.as_bytes());
            found.iter().map(|f| f.format.name).collect()
        };
        let twice = format!("{header}{json}\n{result}\n");
        assert_eq!(names(&twice), ["fio-json"]);
        let other_run = format!("{json}\n{header}fio-3.33\n{result}\n");
        assert_eq!(names(&other_run), ["fio-json", "fio-text"]);
    }

    /// What a program prints without end is looked through quickly.
    #[test]
    fn millions_of_lines_take_no_time() {
        let mut text = b"y\n".repeat(4 << 20);
        assert!(find_workload(&text).is_empty());
        text.extend_from_slice(TEXT.as_bytes());
        assert_eq!(find_workload(&text).len(), 2);
    }

    #[test]
    fn every_sign_is_of_a_format() {
        assert!(SIGNS.iter().all(|(name, _)| named(name).is_some()));
    }

    #[test]
    fn a_text_without_results_has_none() {
        assert!(find_workload(b"").is_empty());
        assert!(find_workload(b"progress: slow\nall done\n").is_empty());
    }
}
