//! What goes into a run comes out of it: sealed, and from the journal of a killed recorder.

mod support;

use std::fs::File;
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use run::read::Life;
use run::rows::TableId;
use run::write::Writer;
use run::{Run, Sink};
use support::{Cell, START, Scratch, keep_as_killed, manifest, row, rows};

/// Writes what `fill` makes for each of `samples`; the sealed run, and the same one killed.
fn both(scratch: &Scratch, samples: i64, fill: impl Fn(&mut Sink, i64)) -> [Run; 2] {
    let (sealed, killed) = (scratch.join("sealed"), scratch.join("killed"));
    let mut writer = Writer::create(&sealed, &manifest()).unwrap();
    keep_as_killed(&sealed, &killed);
    let mut sink = Sink::new();
    for sample in 1..=samples {
        sink.at(START + sample, 1.0);
        fill(&mut sink, sample);
        writer.append(&mut sink, START + sample);
    }
    let finished = writer.finish(manifest()).unwrap();
    assert_eq!(
        (finished.not_sealed, finished.manifest.loss.len()),
        (None, 0)
    );
    assert!(!sealed.join("journal").exists());
    let open = |path: &Path| Run::open(path).unwrap();
    let runs = [open(&sealed), open(&killed)];
    assert_eq!(
        runs.each_ref().map(|r| r.life),
        [Life::Complete, Life::Killed]
    );
    runs
}

#[test]
fn every_kind_of_column_reads_back() {
    let scratch = Scratch::new();
    let runs = both(&scratch, 2, |sink, sample| {
        let words = ["sda", "disk", "read"].map(|w| sink.word(w));
        let n = sample as f64;
        sink.row(
            TableId::of("disk"),
            &words,
            &[7.0 * n, 2e15 + n, f64::NAN, 0.1 * n, 0.0],
        );
        sink.row(
            TableId::of("disk_latency"),
            &words,
            &[0.001 * n, n, 4096.0 * n],
        );
        sink.row(TableId::of("disk_latency"), &words, &[0.002, 3.0, 0.0]);
        sink.at(START + sample, 1.5);
        let device = [sink.word("sda"), sink.word("disk")];
        sink.row(TableId::of("disk_device"), &device, &[f64::NAN, -0.5, 2.5]);
    });
    let disk = ["device", "layer", "op", "ios", "bytes", "merges", "time"];
    let words = ["sda", "disk", "read"];
    for run in &runs {
        let (one, two) = (START + 1, START + 2);
        let expected = [
            row(one, 1.0, &words, &[7.0, 2e15 + 1.0, f64::NAN, 0.1]),
            row(two, 1.0, &words, &[14.0, 2e15 + 2.0, f64::NAN, 0.2]),
        ];
        assert_eq!(rows(run, "disk", &disk), expected);
        let expected = [
            row(one, 1.0, &["read"], &[0.001, 1.0]),
            row(one, 1.0, &["read"], &[0.002, 3.0]),
            row(two, 1.0, &["read"], &[0.002, 2.0]),
            row(two, 1.0, &["read"], &[0.002, 3.0]),
        ];
        assert_eq!(
            rows(run, "disk_latency", &["op", "latency", "ios"]),
            expected
        );
        // A level of a count may be a fraction.
        let expected = [one, two].map(|t| row(t, 1.5, &["sda"], &[f64::NAN, -0.5, 2.5]));
        let device = ["device", "busy", "depth_time", "inflight"];
        assert_eq!(rows(run, "disk_device", &device), expected);
        // In any order, and only some.
        let some = rows(run, "disk", &["bytes", "op"]);
        assert_eq!(some[0].2[1], Cell::Word("read".into()));
        // A column of another version.
        let missing = rows(run, "disk", &["colour"]);
        assert_eq!(missing[1].2, [Cell::Number(f64::NAN)]);
    }
}

#[test]
fn fractions_of_whole_measures_are_rounded_alike() {
    let scratch = Scratch::new();
    let runs = both(&scratch, 3, |sink, sample| {
        let words = ["sda", "disk", "read"].map(|w| sink.word(w));
        let values = [sample as f64 + 0.5, -0.6, 1.0, 0.0, 0.0];
        sink.row(TableId::of("disk"), &words, &values);
    });
    for run in &runs {
        let ios: Vec<_> = rows(run, "disk", &["ios", "bytes"]);
        let expected = [2.0, 3.0, 4.0].map(|v| vec![Cell::Number(v), Cell::Number(-1.0)]);
        assert_eq!(ios.into_iter().map(|r| r.2).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_is_not_known_is_null_in_the_file() {
    let scratch = Scratch::new();
    let runs = both(&scratch, 3, |sink, sample| {
        let words = ["sda", "disk", "read"].map(|w| sink.word(w));
        let bytes = if sample == 2 { f64::NAN } else { 5.0 };
        sink.row(
            TableId::of("disk"),
            &words,
            &[1.0, bytes, f64::NAN, bytes, 0.0],
        );
    });
    let file = File::open(runs[0].path().join("disk.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batch = reader.next().unwrap().unwrap();
    let nulls = |name: &str| batch.column_by_name(name).unwrap().null_count();
    let names = ["timestamp", "device", "ios", "bytes", "merges", "time"];
    assert_eq!(names.map(nulls), [0, 0, 0, 1, 3, 1]);
    assert_eq!(batch.num_rows(), 3);
}

#[test]
fn many_words_keep_their_rows() {
    const EACH: i64 = 1000;
    let scratch = Scratch::new();
    let runs = both(&scratch, 50, |sink, sample| {
        for i in 0..EACH {
            let number = (sample - 1) * EACH + i;
            let words = [
                sink.word(&format!("p[{number}@1]")),
                sink.word("p"),
                sink.word("user"),
            ];
            sink.row(TableId::of("process"), &words, &[number as f64]);
        }
    });
    for run in &runs {
        let all = rows(run, "process", &["process", "time"]);
        assert_eq!(all.len(), 50_000);
        for (i, (_, _, cells)) in all.iter().enumerate() {
            let expected = [Cell::Word(format!("p[{i}@1]")), Cell::Number(i as f64)];
            assert_eq!(cells[..], expected);
        }
    }
}

#[test]
fn words_with_any_text_survive() {
    let texts = [
        "",
        " ",
        "a\nb",
        "\"'`,;:",
        "naïve ☃ 名",
        "\u{0}x",
        "(none)",
        "NaN",
    ];
    let scratch = Scratch::new();
    let runs = both(&scratch, 2, |sink, _| {
        for text in texts {
            let words = [sink.word(text)];
            sink.row(TableId::of("memory"), &words, &[1.0]);
        }
    });
    for run in &runs {
        let all = rows(run, "memory", &["kind"]);
        let expected = texts.map(|t| vec![Cell::Word(t.into())]);
        assert_eq!(all.len(), 2 * texts.len());
        for (i, (_, _, cells)) in all.iter().enumerate() {
            assert_eq!(*cells, expected[i % texts.len()]);
        }
    }
}

#[test]
fn a_large_table_has_parts_in_order_of_time() {
    const ROWS: i64 = 1_100_000;
    const EACH: i64 = 10_000;
    let scratch = Scratch::new();
    let runs = both(&scratch, ROWS / EACH, |sink, sample| {
        let group = [sink.word("/a")];
        for i in 0..EACH {
            let number = ((sample - 1) * EACH + i) as f64;
            sink.row(TableId::of("cgroup_tasks"), &group, &[number]);
        }
    });
    let sealed = runs[0].table("cgroup_tasks").unwrap().unwrap();
    let ranges: Vec<_> = sealed.parts.iter().map(|p| p.range.unwrap()).collect();
    // A part is 2^20 rows: sample 105 is in both.
    let last = START + ROWS / EACH;
    assert_eq!(ranges, [(START + 1, START + 105), (START + 105, last)]);
    for run in &runs {
        let mut next = 0.0;
        let opened = run.table("cgroup_tasks").unwrap().unwrap();
        for part in &opened.parts {
            let read = opened.read(part, &["processes"], |batch| {
                let run::read::Values::Numbers(values) = &batch.columns[0] else {
                    panic!("processes are numbers");
                };
                for value in values.iter() {
                    assert_eq!(*value, next);
                    next += 1.0;
                }
            });
            read.unwrap();
        }
        assert_eq!(next, ROWS as f64);
    }
}

/// Columns of `disk_event` that the tests look at.
const EVENT: [&str; 6] = [
    "process",
    "queue_time",
    "offset",
    "distance",
    "depth",
    "weight",
];

/// An event: nanoseconds in the queue, offset, weight.
fn event(sink: &mut Sink, time: i64, process: &str, [queue, offset, weight]: [f64; 3]) {
    let words: Vec<_> = (0..10)
        .map(|c| sink.word(if c == 6 { process } else { "x" }))
        .collect();
    let rows = sink.events(TableId::of("disk_event"));
    rows.times.push(time);
    rows.words
        .iter_mut()
        .zip(words)
        .for_each(|(c, w)| c.push(w));
    let distance = 4096.0 - offset;
    let values = [
        queue / 1e9,
        0.25,
        4096.0,
        offset,
        distance,
        0.0,
        32.0,
        weight,
    ];
    rows.values
        .iter_mut()
        .zip(values)
        .for_each(|(c, v)| c.push(v));
}

#[test]
fn events_read_back_exactly() {
    const EACH: i64 = 5000;
    let scratch = Scratch::new();
    let make = |number: i64| {
        // A clock step: the fourth sample is before the third.
        let sample = number / EACH;
        let time = START + number * 100 - if sample == 3 { 1_500_000 } else { 0 };
        let process = format!("p[{}@1]", number % 7);
        let queue = ((number * 7919) % 1_000_003) as f64;
        let offset = (number * 8192) as f64;
        (time, process, [queue, offset, (1 + number % 3) as f64])
    };
    let runs = both(&scratch, 5, |sink, sample| {
        for i in 0..EACH {
            let (time, process, values) = make((sample - 1) * EACH + i);
            event(sink, time, &process, values);
        }
    });
    for run in &runs {
        let all = rows(run, "disk_event", &EVENT);
        assert_eq!(all.len() as i64, 5 * EACH);
        for (number, found) in all.iter().enumerate() {
            let (time, process, [queue, offset, weight]) = make(number as i64);
            let numbers = [queue / 1e9, offset, 4096.0 - offset, 32.0, weight];
            assert_eq!(*found, row(time, 0.0, &[&process], &numbers), "{number}");
        }
    }
    let sealed = runs[0].table("disk_event").unwrap().unwrap();
    let range = sealed.parts[0].range.unwrap();
    assert_eq!(range, (START, START + (5 * EACH - 1) * 100));
}

/// More distinct paths than a dictionary of a row group may hold.
#[test]
fn events_of_very_many_files_keep_them() {
    const EACH: i64 = 20_000;
    let scratch = Scratch::new();
    let path = |number: i64| format!("/srv/{:040}/{number}", number * 7919);
    let runs = both(&scratch, 6, |sink, sample| {
        for i in 0..EACH {
            let number = (sample - 1) * EACH + i;
            event(sink, START + number, &path(number), [0.0, 0.0, 1.0]);
        }
    });
    for run in &runs {
        let all = rows(run, "disk_event", &["process", "command"]);
        assert_eq!(all.len() as i64, 6 * EACH);
        for (number, found) in all.iter().enumerate() {
            let number = number as i64;
            let words = [path(number), "x".into()];
            let words = words.each_ref().map(String::as_str);
            assert_eq!(*found, row(START + number, 0.0, &words, &[]));
        }
    }
}

#[test]
fn what_is_not_known_of_an_event_stays_so() {
    let scratch = Scratch::new();
    let runs = both(&scratch, 2, |sink, sample| {
        event(sink, START + 5, "a", [f64::NAN, 0.0, 1.0]);
        let far = if sample == 1 { f64::NAN } else { 3e18 };
        event(sink, START + 6, "a", [1.5, far, 1.0]);
    });
    for run in &runs {
        let all = rows(run, "disk_event", &["queue_time", "offset"]);
        let numbers: Vec<_> = all.into_iter().map(|r| r.2).collect();
        let expected = [
            [f64::NAN, 0.0],
            [2e-9, f64::NAN],
            [f64::NAN, 0.0],
            [2e-9, 3e18],
        ];
        assert_eq!(numbers, expected.map(|e| e.map(Cell::Number).to_vec()));
    }
}

#[test]
fn times_of_events_are_decimal_seconds_for_other_readers() {
    let scratch = Scratch::new();
    let runs = both(&scratch, 1, |sink, _| {
        event(sink, START, "a", [1_234_567_891.0, 0.0, 1.0]);
        event(sink, START, "a", [f64::NAN, 0.0, 1.0]);
    });
    let file = File::open(runs[0].path().join("disk_event.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert!(batch.column_by_name("interval").is_none());
    let queue = batch.column_by_name("queue_time").unwrap();
    assert_eq!(queue.data_type().to_string(), "Decimal128(18, 9)");
    let queue = queue.as_primitive::<Decimal128Type>();
    assert_eq!(queue.value_as_string(0), "1.234567891");
    assert_eq!(queue.null_count(), 1);
}

#[test]
fn tables_without_rows_are_not_there() {
    let scratch = Scratch::new();
    let runs = both(&scratch, 2, |_, _| {});
    for run in &runs {
        assert!(run.tables().is_empty());
        assert!(rows(run, "disk", &["ios"]).is_empty());
        assert!(run.table("no such table").unwrap().is_none());
        assert_eq!(run.ended(), START);
    }
    let files: Vec<_> = std::fs::read_dir(runs[0].path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, ["run.json"]);
}

#[test]
fn a_run_can_be_read_while_it_grows() {
    let scratch = Scratch::new();
    let path = scratch.join("run");
    let mut writer = Writer::create(&path, &manifest()).unwrap();
    let mut sink = Sink::new();
    let mut sample = |writer: &mut Writer, time: i64| {
        sink.at(START + time, 1.0);
        sink.row(TableId::of("self"), &[], &[time as f64; 7]);
        writer.append(&mut sink, START + time);
    };
    sample(&mut writer, 1);
    // What was given is durable within a second.
    for _ in 0..300 {
        if writer.written() > 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let early = Run::open(&path).unwrap();
    assert_eq!((early.life, early.ended()), (Life::Live, START + 1));
    assert_eq!(rows(&early, "self", &["samples"]).len(), 1);
    sample(&mut writer, 2);
    writer.finish(manifest()).unwrap();
    // Opened before it was sealed, it still reads, now to its end.
    let expected = [1.0, 2.0].map(|v| row(START + v as i64, 1.0, &[], &[v]));
    assert_eq!(rows(&early, "self", &["samples"]), expected);
    let late = Run::open(&path).unwrap();
    assert_eq!(late.life, Life::Complete);
    assert_eq!(rows(&late, "self", &["samples"]), expected);
}

#[test]
fn a_recording_without_its_journal_says_so() {
    let scratch = Scratch::new();
    let path = scratch.join("run");
    let writer = Writer::create(&path, &manifest()).unwrap();
    let text = std::fs::read(path.join("run.json")).unwrap();
    writer.abandon();
    std::fs::create_dir(&path).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test writes files")]
    std::fs::write(path.join("run.json"), text).unwrap();
    let error = Run::open(&path).unwrap_err().to_string();
    assert!(error.contains("journal"), "{error}");
}
