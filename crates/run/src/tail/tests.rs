use super::words::OF_A_WORD;
use super::*;
use crate::read::Values;

const SECOND: Nanos = 1_000_000_000;
const START: Nanos = 1_800_000_000 * SECOND;

/// An observation of a disk whose bytes are the number of the sample, with events.
struct Observed {
    tail: Tail,
    sink: Sink,
}

impl Observed {
    fn new(room: Room) -> Observed {
        let manifest = Manifest::new("host", START, 1.0);
        Observed {
            tail: Tail::new(manifest, room),
            sink: Sink::new(),
        }
    }

    fn sample(&mut self, number: i64) {
        let time = START + number * SECOND;
        let sink = &mut self.sink;
        sink.at(time, 1.0);
        sink.row(
            TableId::of("self"),
            &[],
            &[0.001, 0.0, 1.0, 0.0, 0.0, 0.0, 5e6],
        );
        let words = [sink.word("vda"), sink.word("disk"), sink.word("read")];
        let name = format!("process-{number}");
        let process = sink.word(&name);
        let table = TableId::of("disk");
        let rows = sink.rows_mut(table);
        rows.times.push(time);
        rows.intervals.push(1.0);
        for (at, column) in rows.words.iter_mut().enumerate() {
            column.push(*words.get(at).unwrap_or(&process));
        }
        for column in &mut rows.values {
            column.push(number as f64);
        }
        let rows = sink.events(TableId::of("disk_event"));
        for event in 0..3 {
            rows.times.push(time - 1 - event);
            rows.words
                .iter_mut()
                .for_each(|column| column.push(process));
            rows.values.iter_mut().for_each(|column| column.push(1.0));
        }
        self.tail.append(sink, time);
    }
}

/// Times of a table's rows after `from`, and their first word.
fn rows(run: &Run, table: &str, from: Nanos) -> Vec<(Nanos, String)> {
    let opened = run.table(table).unwrap().unwrap();
    let word = catalog::table(table).unwrap().1.dimensions[0];
    let mut found = vec![];
    let parts = opened.parts.iter();
    for part in parts.filter(|p| p.range.is_none_or(|(_, to)| to > from)) {
        let read = opened.read(part, &[word], |batch| {
            let Values::Words { codes, texts } = &batch.columns[0] else {
                panic!("words");
            };
            for (time, code) in batch.times.iter().zip(*codes) {
                found.push((*time, texts.get(*code).to_owned()));
            }
        });
        read.unwrap();
    }
    found
}

#[test]
fn samples_come_back_in_order_loose_and_packed() {
    let mut observed = Observed::new(Room::default());
    let before = observed.tail.run();
    assert!(before.tables().is_empty());
    assert_eq!(before.ended(), START);
    for number in 1..=150 {
        observed.sample(number);
    }
    let run = observed.tail.run();
    assert_eq!(run.tables(), ["disk", "disk_event", "self"]);
    assert_eq!(run.ended(), START + 150 * SECOND);
    let times: Vec<Nanos> = rows(&run, "disk", 0).iter().map(|r| r.0).collect();
    let wanted: Vec<Nanos> = (1..=150).map(|n| START + n * SECOND).collect();
    assert_eq!(times, wanted);
    assert_eq!(rows(&run, "disk_event", 0).len(), 450);
    // Two minutes are packed; the rest are samples.
    let parts = run.table("disk").unwrap().unwrap().parts.len();
    assert!((20..=40).contains(&parts), "{parts}");
    // A question about the end reads the end.
    let late = rows(&run, "disk", START + 148 * SECOND);
    assert_eq!(late.len(), 2);
    // What was looked at stays, whatever comes after.
    for number in 151..=400 {
        observed.sample(number);
    }
    assert_eq!(rows(&run, "disk", 0).len(), 150);
    assert!(
        rows(&run, "disk_event", 0)
            .iter()
            .all(|r| r.1.starts_with("process-"))
    );
}

#[test]
fn what_is_old_goes_and_what_is_too_much() {
    let mut observed = Observed::new(Room {
        time: 120 * SECOND,
        ..Room::default()
    });
    (1..=1000).for_each(|n| observed.sample(n));
    let kept = rows(&observed.tail.run(), "disk", 0).len();
    assert!((120..=182).contains(&kept), "{kept}");
    assert!(observed.tail.oldest() >= Some(START + 818 * SECOND));
    let mut narrow = Observed::new(Room {
        bytes: 4096,
        ..Room::default()
    });
    for number in 1..=500 {
        narrow.sample(number);
        let held = narrow.tail.held();
        let real: usize = held.pieces.iter().map(|p| p.bytes).sum();
        assert_eq!(held.bytes, real);
        assert!(held.bytes <= 4096 || held.pieces.len() == 1);
    }
    assert!(!rows(&narrow.tail.run(), "disk", 0).is_empty());
}

#[test]
fn what_is_kept_is_a_run_like_any_other() {
    let dir = std::env::temp_dir().join(format!("sonde-tail-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let mut observed = Observed::new(Room {
        time: 100 * SECOND,
        ..Room::default()
    });
    let early = observed.tail.keep(&dir);
    assert!(matches!(early, Err(KeepError::Empty)), "{early:?}");
    (1..=300).for_each(|n| observed.sample(n));
    observed.tail.put_beside("inventory.json", b"{}".to_vec());
    let before = rows(&observed.tail.run(), "disk_event", 0);
    let finished = observed.tail.keep(&dir).unwrap();
    assert_eq!(finished.not_sealed, None);
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.ended(), START + 300 * SECOND);
    let mut after = rows(&run, "disk_event", 0);
    after.sort();
    let mut before = before;
    before.sort();
    assert_eq!(before, after);
    let first = rows(&run, "disk", 0)[0].0;
    assert_eq!(run.manifest.started, first - SECOND);
    assert!(dir.join("inventory.json").exists());
    let again = observed.tail.keep(&dir);
    assert!(matches!(
        again,
        Err(KeepError::Create(CreateError::Exists { .. }))
    ));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Names that come and go: a sink's words are begun anew after so many samples.
fn renewed(after: i64, room: Room, samples: i64) -> Observed {
    let mut observed = Observed::new(room);
    for number in 1..=samples {
        observed.sample(number);
        if number % after == 0 {
            observed.sink = Sink::new();
            observed.tail.renew();
        }
    }
    observed
}

#[test]
fn words_are_those_of_their_rows_whichever_sink_had_them() {
    let observed = renewed(7, Room::default(), 200);
    let run = observed.tail.run();
    for (table, each) in [("disk", 1), ("disk_event", 3)] {
        let found = rows(&run, table, 0);
        assert_eq!(found.len(), 200 * each);
        for (at, (_, word)) in found.iter().enumerate() {
            let wanted = match table {
                "disk" => "vda".to_owned(),
                _ => format!("process-{}", at / each + 1),
            };
            assert_eq!(*word, wanted, "{table} {at}");
        }
    }
}

#[test]
fn words_go_with_the_rows_that_may_have_them() {
    let room = Room {
        time: 120 * SECOND,
        ..Room::default()
    };
    let observed = renewed(50, room, 5000);
    let words = observed.tail.held().words.clone();
    // Of two minutes that are kept, one that is packed, and the sink's before and now.
    let count = words.texts().len();
    assert!(count <= 4 * (182 + 2 * 50), "{count}");
    let counted = words.texts().iter().map(|t| t.len() + OF_A_WORD);
    assert_eq!(words.bytes(), counted.sum::<usize>());
    // What is kept still has its words.
    let found = rows(&observed.tail.run(), "disk_event", 0);
    for (time, word) in &found {
        // An event is some nanoseconds before its sample's end.
        let number = (time - START) / SECOND + 1;
        assert_eq!(*word, format!("process-{number}"));
    }
    assert!(found.len() >= 360);
    let dir = std::env::temp_dir().join(format!("sonde-words-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    observed.tail.keep(&dir).unwrap();
    let kept = rows(&Run::open(&dir).unwrap(), "disk_event", 0);
    assert_eq!(kept.len(), found.len());
    assert!(kept.iter().all(|row| found.contains(row)));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_was_looked_at_keeps_its_words() {
    let room = Room {
        time: 60 * SECOND,
        ..Room::default()
    };
    let mut observed = renewed(20, room, 100);
    let run = observed.tail.run();
    let before = rows(&run, "disk_event", 0);
    observed.sink = Sink::new();
    observed.tail.renew();
    (101..=1000).for_each(|n| observed.sample(n));
    assert_eq!(rows(&run, "disk_event", 0), before);
}

#[test]
fn words_count_as_what_is_kept() {
    let room = Room {
        bytes: 64 << 10,
        ..Room::default()
    };
    let observed = renewed(50, room, 3000);
    assert!(observed.tail.held().words.bytes() > 4 << 10);
    let (kept, most) = (observed.tail.bytes(), (64 << 10) + (16 << 10));
    assert!(kept <= most, "{kept}");
}
