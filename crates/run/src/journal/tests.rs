//! What was committed reads back; what was cut or damaged is noticed.

use super::*;
use crate::rows::TableId;

fn scratch(name: &str) -> File {
    let path = std::env::temp_dir().join(format!("sonde-{name}-{}", std::process::id()));
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    file
}

/// A row of `device` at `time`.
fn sample_row(sink: &mut Sink, time: i64, device: &str) {
    sink.at(time, 1.0);
    let words = [sink.word(device), sink.word("disk")];
    let table = TableId::of("disk_device");
    sink.row(table, &words, &[time as f64, 2.0, f64::NAN]);
}

/// A sample of two devices at `time`.
fn sample(sink: &mut Sink, time: i64) {
    sink.clear();
    for device in ["sda", "sdb"] {
        sample_row(sink, time, device);
    }
}

/// Rows of `disk_device` that can be read; an error counts as a cut.
fn read_all(file: &File) -> (Vec<(i64, String, f64)>, End) {
    let mut rows = Vec::new();
    let end = read(
        file,
        |t| (t == "disk_device").then_some(Columns::All),
        |block, words| {
            for (i, &time) in block.times.iter().enumerate() {
                let device = words[block.words[0][i] as usize].to_string();
                rows.push((time, device, block.numbers[0].real()[i]));
            }
        },
    );
    (rows, end.unwrap_or(End::Cut))
}

fn write(journal: &mut Journal, sink: &mut Sink, from: &mut usize, time: i64) {
    sample(sink, time);
    append(journal, sink, from);
    journal.commit().unwrap();
}

/// Appends the rows of `sink` and its words from number `from` on.
fn append(journal: &mut Journal, sink: &Sink, from: &mut usize) {
    let (mut words, mut rows) = (Vec::new(), Vec::new());
    encode_words(sink, *from, &mut words);
    *from = sink.words.texts().len();
    encode_rows(sink, &mut rows);
    journal.append(&words, &rows).unwrap();
}

#[test]
fn what_was_committed_reads_back_and_a_cut_loses_only_the_end() {
    let file = scratch("journal");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let (mut sink, mut from) = (Sink::new(), 0);
    let mut lengths = Vec::new();
    for time in 1..=5 {
        write(&mut journal, &mut sink, &mut from, time);
        lengths.push(journal.written());
    }
    let (rows, end) = read_all(&file);
    assert_eq!(end, End::Whole);
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[9], (5, "sdb".into(), 5.0));
    // Cut at every byte: whole samples up to the cut, never an error.
    for length in (0..=lengths[4]).rev() {
        file.set_len(length).unwrap();
        let (rows, end) = read_all(&file);
        assert_ne!(end, End::Damaged, "cut at {length}");
        let whole = lengths.iter().filter(|&&l| l <= length).count();
        assert!(
            rows.len() >= whole * 2,
            "cut at {length}: {} rows",
            rows.len()
        );
        assert!(rows.iter().all(|(t, _, v)| *t as f64 == *v));
    }
}

#[test]
fn after_a_failed_write_the_next_frame_stands_alone() {
    let file = scratch("journal-frame");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let (mut sink, mut from) = (Sink::new(), 0);
    write(&mut journal, &mut sink, &mut from, 1);
    // What a failed commit leaves behind.
    journal.encoder = None;
    journal.compressed.clear();
    write(&mut journal, &mut sink, &mut from, 3);
    let (rows, end) = read_all(&file);
    assert_eq!(end, End::Whole);
    assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), [1, 1, 3, 3]);
    assert_eq!(rows[3].1, "sdb");
}

/// Rows that outgrow the compressor's table begin a frame, before and after a commit, and the
/// words of the frames before are known in it.
#[test]
fn samples_that_outgrow_the_table_begin_another_frame() {
    for committed in [true, false] {
        let file = scratch("journal-outgrown");
        let mut journal = Journal::new(file.try_clone().unwrap());
        let (mut sink, mut from) = (Sink::new(), 0);
        let mut expected = Vec::new();
        for (time, rows) in [(1, 1), (2, 200), (3, 2_000), (4, 1)] {
            sink.clear();
            for row in 0..rows {
                sample_row(&mut sink, time, &format!("d{}", row % 300));
                expected.push((time, format!("d{}", row % 300), time as f64));
            }
            append(&mut journal, &sink, &mut from);
            if committed {
                journal.commit().unwrap();
            }
        }
        assert_eq!(
            journal.places, PLACES[1],
            "2,000 rows are more than any table"
        );
        journal.commit().unwrap();
        assert_eq!(read_all(&file), (expected, End::Whole), "{committed}");
    }
}

#[test]
fn damage_is_noticed() {
    let file = scratch("journal-damage");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let (mut sink, mut from) = (Sink::new(), 0);
    for time in 1..=3 {
        write(&mut journal, &mut sink, &mut from, time);
    }
    let last = journal.written();
    for offset in (0..last).step_by(7) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        file.write_all_at(&[byte[0] ^ 0x55], offset).unwrap();
        let (rows, _) = read_all(&file);
        assert!(rows.iter().all(|(t, d, v)| {
            *t as f64 == *v && (d == "sda" || d == "sdb") && (1..=3).contains(t)
        }));
        file.write_all_at(&byte, offset).unwrap();
    }
}

/// What was written of events: time, process, offset, queue time, weight.
type Event = (i64, String, f64, f64, f64);

/// Events of two tenths of a second; some times go back, some numbers are not known.
fn events(sink: &mut Sink, time: i64) -> Vec<Event> {
    let table = TableId::of("disk_event");
    sink.clear();
    let mut written = Vec::new();
    for i in 0..40 {
        let process = format!("p[{}@{time}]", i % 3);
        let words: Vec<_> = (0..10)
            .map(|c| sink.word(if c == 6 { &process } else { "sda" }))
            .collect();
        let at = time * 1_000 + [0, 70, 35][i as usize % 3];
        let queue = f64::from(i * 1_001) / 1e9;
        let offset = if time == 2 && i == 7 {
            f64::NAN
        } else {
            f64::from(i * 4096)
        };
        let rows = sink.events(table);
        rows.times.push(at);
        for (column, word) in rows.words.iter_mut().zip(words) {
            column.push(word);
        }
        let values = [queue, 1e-4, 4096.0, offset, -4096.0, 512.0, 3.0, 2.0];
        for (column, value) in rows.values.iter_mut().zip(values) {
            column.push(value);
        }
        written.push((at, process, offset, queue, 2.0));
    }
    written
}

fn read_events(file: &File, columns: Columns<'_>) -> (Vec<Event>, End) {
    let mut rows = Vec::new();
    let end = read(
        file,
        |t| (t == "disk_event").then_some(columns),
        |block, words| {
            assert!(block.intervals.is_empty());
            let number = |name: &str| {
                let place = block.schema.numbers.iter().position(|c| c == name);
                block.numbers[place.unwrap()].real()
            };
            let [offset, queue, weight] = ["offset", "queue_time", "weight"].map(number);
            for (i, &time) in block.times.iter().enumerate() {
                let process = words[block.words[6][i] as usize].to_string();
                rows.push((time, process, offset[i], queue[i], weight[i]));
            }
        },
    );
    (rows, end.unwrap_or(End::Cut))
}

/// As text, because what is not known equals nothing.
fn text(events: &[Event]) -> String {
    format!("{events:?}")
}

#[test]
fn events_read_back_and_a_cut_loses_only_the_end() {
    let file = scratch("journal-events");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let (mut sink, mut from) = (Sink::new(), 0);
    let (mut written, mut lengths) = (Vec::new(), Vec::new());
    for time in 1..=3 {
        written.extend(events(&mut sink, time));
        let (mut words, mut rows) = (Vec::new(), Vec::new());
        encode_words(&sink, from, &mut words);
        from = sink.words.texts().len();
        encode_rows(&sink, &mut rows);
        journal.append(&words, &rows).unwrap();
        journal.commit().unwrap();
        lengths.push(journal.written());
    }
    let wanted = ["process", "offset", "queue_time", "weight"];
    for columns in [Columns::All, Columns::Only(&wanted)] {
        let (rows, end) = read_events(&file, columns);
        assert_eq!((text(&rows), end), (text(&written), End::Whole));
    }
    // Cut at every byte: whole blocks up to the cut, and nothing that was not written.
    for length in (0..=lengths[2]).rev() {
        file.set_len(length).unwrap();
        let (rows, _) = read_events(&file, Columns::All);
        let whole = lengths.iter().filter(|&&l| l <= length).count();
        assert!(rows.len() >= whole * 40, "cut at {length}");
        assert_eq!(text(&rows), text(&written[..rows.len()]), "cut at {length}");
    }
}

#[test]
fn many_events_are_several_blocks() {
    const EVENTS: i64 = (events::MOST_ROWS as i64) * 2 + 17;
    let mut sink = Sink::new();
    let words = [sink.word("sda")];
    let rows = sink.events(TableId::of("disk_event"));
    for i in 0..EVENTS {
        rows.times.push(i);
        rows.words.iter_mut().for_each(|c| c.push(words[0]));
        rows.values.iter_mut().for_each(|c| c.push(i as f64));
    }
    let file = scratch("journal-many");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let (mut words, mut rows) = (Vec::new(), Vec::new());
    encode_words(&sink, 0, &mut words);
    encode_rows(&sink, &mut rows);
    journal.append(&words, &rows).unwrap();
    journal.commit().unwrap();
    let (mut blocks, mut next) = (0, 0);
    let visit = |block: RowsBlock<'_>, _: &[std::sync::Arc<str>]| {
        blocks += 1;
        for (time, offset) in block.times.iter().zip(&*block.numbers[3].real()) {
            assert_eq!((*time, *offset), (next, next as f64));
            next += 1;
        }
    };
    let end = read(&file, |_| Some(Columns::All), visit).unwrap();
    assert_eq!((end, blocks, next), (End::Whole, 3, EVENTS));
}

/// Without its words a block of rows would refer to nothing.
#[test]
fn a_damaged_kind_is_damage() {
    let mut sink = Sink::new();
    events(&mut sink, 2);
    let mut rows = Vec::new();
    encode_rows(&sink, &mut rows);
    let read = |bytes: &[u8]| read::read_own(bytes, |_| Some(Columns::All), |_| ());
    assert!(read(&rows));
    let kind = rows[0];
    for other in (0..=255).filter(|other| *other != kind) {
        rows[0] = other;
        assert!(!read(&rows), "{other}");
    }
}

/// A block's length that was damaged reaches beyond the end of the file, as that of a block which was cut.
#[test]
fn a_length_that_was_damaged_is_no_cut() {
    let mut sink = Sink::new();
    sample(&mut sink, 1);
    let mut rows = Vec::new();
    encode_rows(&sink, &mut rows);
    let ends = [0, 1].map(|more| {
        let file = scratch("journal-length");
        let mut journal = Journal::new(file.try_clone().unwrap());
        let (mut words, mut rows) = (Vec::new(), rows.clone());
        encode_words(&sink, 0, &mut words);
        rows[1] += more;
        rows.truncate(rows.len() - 1);
        journal.append(&words, &rows).unwrap();
        journal.commit().unwrap();
        read_all(&file).1
    });
    assert_eq!(ends, [End::Cut, End::Damaged]);
}

/// A file whose words were lost, with a checksum that is right.
#[test]
fn rows_without_their_words_are_damage() {
    let file = scratch("journal-without-words");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let mut sink = Sink::new();
    events(&mut sink, 2);
    let mut rows = Vec::new();
    encode_rows(&sink, &mut rows);
    journal.append(&[], &rows).unwrap();
    journal.commit().unwrap();
    let (found, end) = read_events(&file, Columns::All);
    assert!(found.is_empty());
    assert_eq!(end, End::Damaged);
}

#[test]
fn a_damaged_block_of_events_is_never_read_as_another() {
    let file = scratch("journal-events-damage");
    let mut journal = Journal::new(file.try_clone().unwrap());
    let mut sink = Sink::new();
    let written = events(&mut sink, 2);
    let (mut words, mut rows) = (Vec::new(), Vec::new());
    encode_words(&sink, 0, &mut words);
    encode_rows(&sink, &mut rows);
    journal.append(&words, &rows).unwrap();
    journal.commit().unwrap();
    for offset in 0..journal.written() {
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        file.write_all_at(&[byte[0] ^ 0x55], offset).unwrap();
        let (rows, _) = read_events(&file, Columns::All);
        assert!(rows.is_empty() || text(&rows) == text(&written));
        file.write_all_at(&byte, offset).unwrap();
    }
    // A payload whose checksum is right and whose content is not.
    let schema: Vec<TableSchema> = catalog::tables().map(|(s, t)| table_schema(s, t)).collect();
    let payload = &rows[9..];
    let mut all = |_: &str| Some(Columns::All);
    let mut broken = 0;
    for at in 0..payload.len() {
        for flip in [0x01, 0xff] {
            let mut wrong = payload.to_vec();
            wrong[at] ^= flip;
            let read = events::decode(&wrong, &schema, &mut all);
            broken += usize::from(matches!(read, read::Payload::Damaged));
        }
        let read = events::decode(&payload[..at], &schema, &mut all);
        assert!(matches!(read, read::Payload::Damaged), "cut at {at}");
    }
    assert!(broken > 0, "a wrong width is noticed");
}
