//! Results of benchmarks in the captured output of a command: what a script prints, `fio`'s
//! JSON after other lines, two copies of `dd`.

use std::collections::BTreeMap;
use std::ops::Range;

use run::{Nanos, Sink};

use crate::list::Format;
use crate::recognise::{BEGINNING, Head, named};
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
    // Before the text: a line of it has the version, too.
    ("fio-terse", &["3;fio-", "4;fio-", "5;fio-"]),
    ("fio-text", &[": (g=", ": (groupid=", "fio-2.", "fio-3."]),
    (
        "dd",
        &[
            " records in",
            " Datensätze ein",
            " enregistrements lus",
            " records gelezen",
            " kirjet sisse",
            " zapisa primljeno",
            " kayıt girdi",
            " записів прочитано",
            " 레코드 입력함",
            "レコード入力",
            "记录了",
            "输入了 ",
        ],
    ),
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
    // Of the old layout, which has no header, those at the usual port.
    (
        "iperf2-csv",
        &["time,srcaddress,srcport,dstaddr,dstport,", ",5001,"],
    ),
    ("netperf", &[" TEST from ", "THROUGHPUT="]),
    ("sysbench", &["sysbench 0.", "sysbench 1."]),
    ("ab", &["This is ApacheBench"]),
    ("stress-ng", &["stress-ng: "]),
    ("wrk", &["s test @ ", "m test @ ", "h test @ "]),
    (
        "pgbench",
        &["progress: ", "transaction type: ", "pgbench ("],
    ),
    ("memtier", &["[RUN #", " Connections per thread"]),
    ("redis-benchmark", &["====== ", " requests per second"]),
    ("uperf", &[" running profile:", "timestamp_ms:"]),
    (
        "filebench",
        &["Filebench Version ", "Per-Operation Breakdown"],
    ),
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
        // With --output-format=normal,json or normal,terse fio tells of a run twice; another run
        // would begin with the description of its jobs.
        let again = *name == "fio-text"
            && found
                .last()
                .is_some_and(|(last, _)| matches!(*last, "fio-json" | "fio-terse"))
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
        let has_results =
            |f: &&'static Format| head().is_some_and(|head| (f.recognise)(&head) > BEGINNING);
        let format = format.filter(has_results);
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

/// Imports such a part of what a command printed.
///
/// What has no time of its own is taken to have ended when the last line of it was there whose
/// numbers were taken; `came` says when the text up to a place was.
///
/// # Errors
/// Where it cannot be imported at all, or has nothing in it.
pub fn import_embedded(
    part: &Embedded,
    text: &[u8],
    came: impl Fn(usize) -> Nanos,
    options: &Options,
) -> Result<(Report, Sink), Refused> {
    let bytes = text.get(part.bytes.clone()).unwrap_or_default();
    let import = |options: Options| {
        let mut import = Import::new(part.format, &Head::new(bytes), options);
        // Where the last line of numbers ends: other programs' lines may follow.
        let (mut fed, mut last) = (0, 0);
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let taken = import.taken();
            import.feed(line)?;
            fed += line.len();
            if import.taken() > taken {
                last = fed;
            }
        }
        let report = import.finish()?;
        let last = if last == 0 { fed } else { last };
        Ok((report, std::mem::take(import.rows()), last))
    };
    let (report, rows, last) = import(options.clone())?;
    match report.span {
        Some((_, end)) if report.relative => {
            let ended = came(part.bytes.start + last);
            // Its times count from the start, though its first interval may begin later.
            let took = end.saturating_sub(options.start.unwrap_or(0));
            let start = Some(ended.saturating_sub(took));
            let (report, rows, _) = import(Options {
                start,
                ..options.clone()
            })?;
            Ok((report, rows))
        }
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
        let (_, rows) = import_embedded(&found[1], TEXT.as_bytes(), |_| ended, &options).unwrap();
        let rows = rows.rows(TableId::of("workload"));
        assert_eq!(rows.times, [ended - 250_000_000, ended]);
        let (_, rows) = import_embedded(&found[0], TEXT.as_bytes(), |_| ended, &options).unwrap();
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
        let (report, rows) =
            import_embedded(&found[0], text.as_bytes(), |_| ended, &options).unwrap();
        assert_eq!(report.unknown, 2);
        let rows = rows.rows(TableId::of("workload"));
        assert_eq!(rows.times, [ended - 250_000_000, ended]);
    }

    /// What a script prints after a result, perhaps much later, is no part of it.
    #[test]
    fn a_result_ends_when_its_last_line_came() {
        let found = find_workload(TEXT.as_bytes());
        let options = Options::default();
        let came = |upto: usize| upto as Nanos * 1_000_000_000;
        let (_, rows) = import_embedded(&found[1], TEXT.as_bytes(), came, &options).unwrap();
        let last = came(TEXT.find("bye").unwrap());
        let rows = rows.rows(TableId::of("workload"));
        assert_eq!(rows.times, [last - 250_000_000, last]);
    }

    /// Of a text that is cut at the front the first report is not of the run's first interval.
    #[test]
    fn a_result_without_its_beginning_ends_in_time() {
        let text = "progress: 110.0 s, 1000.0 tps, lat 2.000 ms stddev 0.500\n\
                    progress: 120.0 s, 500.0 tps, lat 4.000 ms stddev 0.600\n";
        let found = find_workload(text.as_bytes());
        let ended = 1_000_000_000_000;
        let options = Options::default();
        let (_, rows) = import_embedded(&found[0], text.as_bytes(), |_| ended, &options).unwrap();
        let rows = rows.rows(TableId::of("workload"));
        assert_eq!(rows.times, [ended - 10_000_000_000, ended]);
    }

    /// Each benchmark that prints text is found.
    #[test]
    fn results_of_other_tools_and_languages_are_found() {
        for (name, text) in [
            (
                "uperf",
                "Starting 1 processes running profile:p ...   0.00 seconds\n\
                       Txn2     1.00GB /   5.00(s) =     1.72Gb/s       10000op/s\n",
            ),
            (
                "filebench",
                "12.345: Run took 10 seconds...\n12.346: Per-Operation Breakdown\n\
                           readfile1   100ops   10ops/s  1.2mb/s   0.1ms/op [0.00ms -  5.51ms]\n",
            ),
            (
                "iperf2-csv",
                "20240301120001,192.0.2.1,40612,192.0.2.7,5001,3,0.0-1.0,117964800,943718400\n",
            ),
            (
                "dd",
                "3+0 Datensätze ein\n3+0 Datensätze aus\n\
                    3145728 Bytes (3,1 MB, 3,0 MiB) kopiert, 0,5 s, 6,3 MB/s\n",
            ),
            (
                "dd",
                "输入了 3+0 块记录\n输出了 3+0 块记录\n\
                    3145728 字节 (3.1 MB, 3.0 MiB) 已复制，0.5 s，6.3 MB/s\n",
            ),
        ] {
            let text = format!("begins\n{text}ends\n");
            let found = find_workload(text.as_bytes());
            let names: Vec<&str> = found.iter().map(|f| f.format.name).collect();
            assert_eq!(names, [name], "{text}");
            let options = Options::default();
            let (report, _) =
                import_embedded(&found[0], text.as_bytes(), |_| 1_000_000_000_000, &options)
                    .unwrap();
            assert_eq!(report.samples, 1, "{text}");
        }
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
