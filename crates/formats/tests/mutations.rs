//! No input makes a parser fall over, take long, or make more rows than there is input: every
//! format is fed its own and others' texts, changed in ways that files get changed.
//!
//! Deterministic: a failure names the format, the text and the number of the change.
#![allow(
    clippy::disallowed_methods,
    reason = "a test measures how long it takes"
)]

mod texts;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use formats::{FORMATS, Format, Head, Import, Options, own};
use texts::{captures, files, here};

/// Rows that a byte of input may make, and those that any input may: a bucket of a histogram
/// is spread over the grid, which has so many.
const ROWS_A_BYTE: usize = 40;
const ROWS_ANYWAY: usize = 200_000;
/// How long one input may take, here and on a busy machine.
const LONGEST: Duration = Duration::from_secs(10);
/// How long all may take; what is left is not tried then.
const BUDGET: Duration = Duration::from_secs(10);
/// The part of a text that is changed.
const KEPT: usize = 6 << 10;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// All examples and fixtures, and the captures if they are here.
fn texts() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = FORMATS.iter().map(Format::example_bytes).collect();
    let is_text = |path: &PathBuf| {
        let is_json = path.extension().is_some_and(|e| e == "json");
        !is_json || path.parent().is_some_and(|dir| dir.ends_with("fio-json"))
    };
    let fixtures = files(&here().join("fixtures")).into_iter();
    for path in fixtures.chain(files(&captures())).filter(is_text) {
        let mut text = std::fs::read(path).unwrap_or_default();
        text.truncate(KEPT);
        texts.push(text);
    }
    texts
}

/// Imports in pieces; how many rows it made.
fn rows_of(mut import: Import, text: &[u8], piece: usize) -> usize {
    let mut rows = 0;
    let mut count = |import: &mut Import| {
        rows += import.rows().filled().map(|(_, r)| r.len()).sum::<usize>();
        import.rows().clear();
    };
    for piece in text.chunks(piece.max(1)) {
        if import.feed(piece).is_err() {
            count(&mut import);
            return rows;
        }
        count(&mut import);
    }
    let _ = import.finish();
    count(&mut import);
    rows
}

fn options(every: f64) -> Options {
    Options {
        every: Some(every),
        start: Some(1_700_000_000_000_000_000),
        ..Options::default()
    }
}

/// Formats that failed, each with the first of its faults.
type Faults = BTreeMap<&'static str, String>;

fn check(faults: &mut Faults, format: &'static Format, text: &[u8], piece: usize, what: &str) {
    if faults.contains_key(format.name) {
        return;
    }
    let started = Instant::now();
    // Now and then an interval that no tool has.
    let every = if text.len().is_multiple_of(5) {
        1e300
    } else {
        1.0
    };
    let import = || Import::new(format, &Head::new(text), options(every));
    let made = std::panic::catch_unwind(|| rows_of(import(), text, piece));
    let took = started.elapsed();
    let most = ROWS_ANYWAY + ROWS_A_BYTE * text.len();
    let fault = match made {
        Err(_) => format!("it fell over: {}", shown(text)),
        Ok(rows) if rows > most => format!("{rows} rows of {} bytes", text.len()),
        Ok(_) if took > LONGEST => format!("{took:?} for {} bytes", text.len()),
        Ok(_) => return,
    };
    faults.insert(format.name, format!("{what}: {fault}"));
}

fn assert_none(faults: &Faults) {
    let texts: Vec<String> = faults.iter().map(|(n, f)| format!("{n}: {f}")).collect();
    assert!(texts.is_empty(), "\n{}", texts.join("\n"));
}

fn shown(text: &[u8]) -> String {
    let text = &text[..text.len().min(600)];
    text.escape_ascii().to_string()
}

const NUMBERS: [&[u8]; 13] = [
    b"9223372036",
    b"0",
    b"-1",
    b"1e308",
    b"-1e308",
    b"99999999999999999999",
    b"9223372036854775807",
    b"18446744073709551615",
    b"4294967296",
    b"0.000000000000000000001",
    b"nan",
    b"+Inf",
    b"99:99:99",
];

/// The text with one of its numbers, lines or bytes changed.
fn changed(text: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut text = text.to_vec();
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let at = random.below(lines.len());
    match random.below(10) {
        0 => text.truncate(random.below(text.len() + 1)),
        1 => {
            // A line twice.
            text = [&lines[..=at.min(lines.len() - 1)], &lines[at..]]
                .concat()
                .concat();
        }
        2 => {
            let after = (at + 1).min(lines.len());
            text = [&lines[..at], &lines[after..]].concat().concat();
        }
        3 => {
            // A line of another text among them.
            let others: Vec<&[u8]> = other.split_inclusive(|b| *b == b'\n').collect();
            let line = others[random.below(others.len())];
            text = [&lines[..at].concat(), line, &lines[at..].concat()].concat();
        }
        4 => {
            for _ in 0..=random.below(6) {
                if !text.is_empty() {
                    let at = random.below(text.len());
                    text[at] =
                        *random.of(&[0, b'-', b'9', b' ', b'\n', 0xff, b',', b'"', b'{', b':']);
                }
            }
        }
        5 => {
            // The same without ends of lines.
            text.retain(|b| *b != b'\n');
        }
        6 => {
            // Two columns run together.
            let blanks: Vec<usize> = (0..text.len()).filter(|i| text[*i] == b' ').collect();
            if !blanks.is_empty() {
                text.remove(blanks[random.below(blanks.len())]);
            }
        }
        _ => {
            for _ in 0..=random.below(4) {
                replace_number(&mut text, random);
            }
        }
    }
    text
}

/// One of the text's numbers becomes a strange one.
fn replace_number(text: &mut Vec<u8>, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    let from = random.below(text.len());
    let Some(start) = text[from..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = from + start;
    let end = text[start..]
        .iter()
        .position(|b| !b.is_ascii_digit() && *b != b'.');
    let end = end.map_or(text.len(), |e| start + e);
    let number = *random.of(&NUMBERS);
    text.splice(start..end, number.iter().copied());
}

/// Inputs that no tool prints.
fn monsters() -> Vec<(&'static str, Vec<u8>)> {
    let megabyte = 1 << 20;
    let nested = [
        vec![b'['; 100_000],
        vec![b'{'; 1000],
        br#"{"a":"#.repeat(20_000),
    ]
    .concat();
    vec![
        ("nothing", Vec::new()),
        ("a megabyte without a newline", vec![b'7'; megabyte]),
        ("blanks", vec![b' '; megabyte / 4]),
        ("newlines", vec![b'\n'; megabyte / 4]),
        ("NULs", vec![0; megabyte / 4]),
        ("a line of many fields", b"1 ".repeat(megabyte / 8)),
        ("many short lines", b"1 2\n".repeat(megabyte / 16)),
        ("deep JSON", nested),
        ("many quotes", b"\"".repeat(megabyte / 16)),
        ("open tags", b"<a\n".repeat(megabyte / 16)),
    ]
}

#[test]
fn changed_texts_make_nothing_fall_over() {
    let started = Instant::now();
    let mut faults = Faults::new();
    let texts = texts();
    // Others than usual, for longer: SONDE_MUTATIONS=SEED,SECONDS.
    let told = std::env::var("SONDE_MUTATIONS").unwrap_or_default();
    let told = told.split_once(',');
    let (seed, budget) = told.map_or((7, BUDGET / 2), |(seed, seconds)| {
        let number = |text: &str| text.parse().expect("SONDE_MUTATIONS=SEED,SECONDS");
        (number(seed), Duration::from_secs(number(seconds)))
    });
    let mut random = Random(seed);
    let mut tried = 0;
    // As it is, each for each format: what one prints is not read as another's.
    for round in 0.. {
        for text in &texts {
            let other = random.of(&texts).clone();
            let recognised = formats::recognise(&Head::new(text)).ok();
            let any = random.of(FORMATS);
            for format in [recognised, Some(any)].into_iter().flatten() {
                let text = match round {
                    0 => text.clone(),
                    _ => changed(text, &other, &mut random),
                };
                if text.is_empty() {
                    continue;
                }
                let piece = *random.of(&[1, 7, 512, 4096, 1 << 20]);
                check(
                    &mut faults,
                    format,
                    &text,
                    piece,
                    &format!("change {tried}"),
                );
                tried += 1;
            }
            if started.elapsed() > budget {
                // At least one round, however slow the machine is.
                if round > 0 {
                    return assert_none(&faults);
                }
            }
        }
    }
    assert_none(&faults);
}

/// What once did.
#[test]
fn numbers_and_shapes_that_nobody_expects() {
    let cases: [(&str, &[u8]); 9] = [
        ("iostat-json", b"[1, 2]"),
        ("sadf-json", b"[{\"sysstat\": 1}]"),
        (
            "fio-bw-log",
            b"500, 1, 0, 0, 0\n18446744073709551615, 1, 0, 0, 0\n",
        ),
        (
            "fio-iops-log",
            b"1, 1, 0, 4096, 0, 0\n18446744073709551615, 1, 0, 4096, 0, 0\n",
        ),
        (
            "fio-json",
            br#"{"fio version": "fio-3.28", "timestamp": 99999999999999999999, "jobs": [
{"jobname": "a", "read": {"io_bytes": 1, "total_ios": 1, "runtime": 1}}]}"#,
        ),
        (
            "pgbench",
            b"progress: 99999999999999999999.0 s, 2187.2 tps, lat 3.6 ms stddev 1.0\n",
        ),
        (
            "iperf3-json",
            br#"{"start": {"timestamp": {"timesecs": 1e300}}, "intervals": [
{"streams": [{"socket": 5, "start": 0, "end": 1e300, "bytes": 1}]}], "end": {}}"#,
        ),
        (
            "uperf",
            b"timestamp_ms:1.0 name:Txn2 nr_bytes:0 nr_ops:0\n\
              timestamp_ms:99999999999999999999.0 name:Txn2 nr_bytes:9 nr_ops:9\n",
        ),
        (
            "gstat",
            b"dT: 1.0s  w: 1.0s\n L(q)  ops/s    r/s\n    1      2      3\n",
        ),
    ];
    let mut faults = Faults::new();
    for (name, text) in cases {
        let format = FORMATS.iter().find(|f| f.name == name).expect(name);
        for piece in [1, 1 << 10] {
            check(&mut faults, format, text, piece, "a known text");
        }
    }
    assert_none(&faults);
}

/// Each of them for each format, also after a beginning that is the format's own.
#[test]
fn monsters_make_nothing_fall_over() {
    let started = Instant::now();
    let mut faults = Faults::new();
    for (i, (name, monster)) in monsters().iter().enumerate() {
        for (j, format) in FORMATS.iter().enumerate() {
            // On a slow machine, some of the pairs.
            if started.elapsed() > BUDGET / 2 && (i + j) % 8 > 0 {
                continue;
            }
            check(&mut faults, format, monster, 1 << 16, name);
            let example = format.example.as_bytes();
            let after = [example, monster, example].concat();
            check(&mut faults, format, &after, 1 << 16, name);
        }
    }
    assert_none(&faults);
}

/// What a user describes meets the same.
#[test]
fn described_tables_do_not_fall_over() {
    let toml = "name = \"t\"\nseparator = \"comma\"\n[column]\nt = { time = \"epoch\" }\n\
                d = { is = \"device\" }\nv = { measure = \"disk.ios\", op = \"read\", kind = \"counter\" }\n\
                w = { measure = \"disk.time\", op = \"read\", unit = \"ms\", times = \"v\" }\n";
    let own = own(toml).expect("a description");
    let text = b"t,d,v,w,x\n1,sda,5,6,7\n2,sda,6,\"6\",7\n2,sdb,99,1,-\n3,sda,1,2,3\n";
    let mut random = Random(11);
    for round in 0..3000 {
        let changed = changed(text, text, &mut random);
        let changed = if round % 2 == 0 {
            changed
        } else {
            self::changed(&changed, text, &mut random)
        };
        let import = Import::new(&own, &Head::new(&changed), options(1e9));
        assert!(rows_of(import, &changed, 13) <= ROWS_A_BYTE * changed.len());
        let toml = self::changed(toml.as_bytes(), text, &mut random);
        let _ = formats::own(&String::from_utf8_lossy(&toml));
    }
}
