//! Every cell of what is sealed directly is read as it was put, whatever way its column is
//! encoded.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

mod support;

use std::sync::Arc;

use run::read::Values;
use run::rows::{Alike, TableId};
use run::write::Making;
use run::{Manifest, Nanos, Rows, Run, Sink, Word, catalog};
use support::Scratch;

const SECOND: Nanos = 1_000_000_000;

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    /// A column's numbers: of one kind each, some of them not known.
    fn numbers(&mut self, kind: usize, count: usize) -> Vec<f64> {
        let number = |chance: &mut Chance| match kind {
            0 => chance.below(3000) as f64 / 10.0,
            1 => f64::from_bits((chance.0 ^ (chance.0 << 31)) & 0x3fff_ffff_ffff_ffff),
            2 if chance.below(3) == 0 => f64::NAN,
            2 => chance.below(70_000) as f64 * 1024.0,
            3 => 0.0,
            5 => chance.below(200_000) as f64,
            _ => f64::NAN,
        };
        let not_a_number = |v: f64| if v.is_nan() { f64::NAN } else { v };
        (0..count).map(|_| not_a_number(number(self))).collect()
    }
}

/// What was put, and what is to be read.
struct Put {
    making: Making,
    sink: Sink,
    wanted: Rows,
    table: TableId,
    chance: Chance,
    at: Nanos,
}

impl Put {
    fn new(scratch: &Scratch) -> Put {
        let table = TableId::of("disk");
        Put {
            making: Making::begin(&scratch.join("run")).unwrap(),
            sink: Sink::new(),
            wanted: Sink::new().rows(table).clone(),
            table,
            chance: Chance(7),
            at: 1_700_000_000 * SECOND,
        }
    }

    /// The words of a sample with so many devices.
    fn words(&mut self, devices: usize) -> Arc<Vec<Vec<Word>>> {
        let name = |i: usize| format!("c0t{i}d0");
        let names: Vec<Word> = (0..devices).map(|i| self.sink.word(&name(i))).collect();
        let ops = ["read", "write"].map(|op| self.sink.word(op));
        let layer = self.sink.word("disk");
        let op = |i: usize| ops[i / devices];
        Arc::new(vec![
            names.repeat(2),
            vec![layer; 2 * devices],
            (0..2 * devices).map(op).collect(),
        ])
    }

    fn alike(&mut self, words: &Arc<Vec<Vec<Word>>>, samples: usize, kinds: [usize; 5]) {
        let rows = words[0].len() * samples;
        let mut alike = Alike {
            words: Arc::clone(words),
            ..Alike::default()
        };
        for _ in 0..samples {
            self.at += SECOND + self.chance.below(3) as Nanos;
            alike.times.push(self.at);
            alike
                .intervals
                .push(if self.chance.below(9) == 0 { 2.0 } else { 1.0 });
        }
        for kind in kinds {
            alike.values.push(match kind {
                9 => Vec::new(),
                _ => self.chance.numbers(kind, rows),
            });
        }
        alike.spread(&mut self.wanted);
        self.sink.alike_mut(self.table).push(alike);
    }

    fn rows(&mut self, rows: usize, kinds: [usize; 5]) {
        for _ in 0..rows {
            self.at += SECOND * self.chance.below(2) as Nanos;
            let name = format!("sd{}", self.chance.below(300));
            let words = [&name, "disk", "read"].map(|w| self.sink.word(w));
            let values = kinds.map(|kind| self.chance.numbers(kind, 1)[0]);
            self.sink.at(self.at, 0.5);
            self.sink.row(self.table, &words, &values);
        }
        let rows = self.sink.rows(self.table);
        self.wanted.times.extend(&rows.times);
        self.wanted.intervals.extend(&rows.intervals);
        for (to, from) in self.wanted.words.iter_mut().zip(&rows.words) {
            to.extend(from);
        }
        for (to, from) in self.wanted.values.iter_mut().zip(&rows.values) {
            to.extend(from);
        }
    }

    fn take(&mut self) {
        self.making.take(&mut self.sink).unwrap();
        assert!(self.sink.rows(self.table).is_empty());
        assert_eq!(self.sink.count(self.table), 0);
    }

    /// Finishes the run and compares all of it; how many row groups it has.
    fn check(self, scratch: &Scratch) -> usize {
        let mut manifest = Manifest::new("host", 0, 1.0);
        manifest.imported = vec![run::manifest::Imported::default()];
        self.making.finish(&self.sink, &manifest).unwrap();
        let run = Run::open(&scratch.join("run")).unwrap();
        let rows = self.wanted.len() as u64;
        assert_eq!(run.manifest.tables["disk"], rows);
        let (subject, table) = catalog::table("disk").unwrap();
        let names: Vec<&str> = catalog::columns(subject, table).map(|c| c.name()).collect();
        let opened = run.table("disk").unwrap().expect("a table");
        let mut from = 0;
        for part in &opened.parts {
            let (least, most) = part.range.expect("times are told");
            let compare = |batch: &run::Batch<'_>| {
                let rows = from..from + batch.times.len();
                assert_eq!(batch.times, &self.wanted.times[rows.clone()]);
                assert_eq!(batch.intervals, &self.wanted.intervals[rows.clone()]);
                assert!(batch.times.iter().all(|t| (least..=most).contains(t)));
                let (words, numbers) = batch.columns.split_at(self.wanted.words.len());
                for (column, wanted) in words.iter().zip(&self.wanted.words) {
                    let Values::Words { codes, texts } = column else {
                        panic!("no words");
                    };
                    let found = codes.iter().map(|c| Some(texts.get(*c)));
                    let text = |w: &Word| self.sink.words.text(*w);
                    assert!(found.eq(wanted[rows.clone()].iter().map(text)));
                }
                for (column, wanted) in numbers.iter().zip(&self.wanted.values) {
                    let Values::Numbers(found) = column else {
                        panic!("no numbers");
                    };
                    let bits = |v: &f64| v.to_bits();
                    let wanted = wanted[rows.clone()].iter().map(bits);
                    assert!(found.iter().map(bits).eq(wanted));
                }
                from = rows.end;
            };
            opened.read(part, &names, compare).unwrap();
        }
        assert_eq!(from as u64, rows);
        opened.parts.len()
    }
}

#[test]
fn few_rows_and_many_of_all_kinds() {
    let scratch = Scratch::new();
    let mut put = Put::new(&scratch);
    put.rows(3, [0, 1, 2, 3, 4]);
    put.take();
    let words = put.words(9);
    put.alike(&words, 700, [0, 1, 2, 3, 9]);
    put.take();
    put.alike(&words, 5000, [2, 0, 1, 9, 3]);
    put.rows(20_000, [1, 2, 3, 4, 0]);
    put.take();
    let one = put.words(1);
    put.alike(&one, 9000, [2, 2, 9, 9, 9]);
    put.take();
    put.alike(&words, 2, [0, 0, 0, 0, 0]);
    put.alike(&one, 1, [0, 2, 0, 0, 0]);
    put.alike(&words, 900, [0, 0, 2, 9, 0]);
    put.take();
    assert_eq!(put.check(&scratch), 1);
}

/// What one row group learns of a column may not hold in the next.
#[test]
fn more_than_a_row_group() {
    let scratch = Scratch::new();
    let mut put = Put::new(&scratch);
    let words = put.words(50);
    for round in 0..6 {
        let kinds = [[1, 0, 3, 9, 9], [0, 1, 9, 3, 9]][round / 4];
        put.alike(&words, 3000, kinds);
        put.take();
    }
    assert_eq!(put.check(&scratch), 2);
}

/// Different numbers are told apart by two bytes: what has more is stored as it is from then on, in the
/// middle of a row group, also times.
#[test]
fn more_different_numbers_than_have_a_code() {
    let scratch = Scratch::new();
    let mut put = Put::new(&scratch);
    let words = put.words(2);
    for _ in 0..7 {
        put.alike(&words, 10_000, [5, 0, 5, 9, 1]);
        put.take();
    }
    put.rows(9000, [5, 0, 0, 5, 1]);
    put.take();
    assert_eq!(put.check(&scratch), 1);
}

/// Pieces that go to a thread and pieces that do not make one table, also where its rows come
/// out of order.
#[test]
fn rows_that_come_out_of_order() {
    let scratch = Scratch::new();
    let mut put = Put::new(&scratch);
    let words = put.words(4);
    put.alike(&words, 3000, [0, 1, 2, 3, 9]);
    let (alike, sooner) = (put.sink.alike(put.table)[0].clone(), put.at);
    put.take();
    put.rows(10, [0; 5]);
    put.take();
    // The first samples again, and nothing else.
    put.sink.alike_mut(put.table).push(alike.clone());
    put.take();
    let mut rows = Sink::new().rows(put.table).clone();
    alike.spread(&mut rows);
    assert!(sooner <= put.at);
    let mut both: Vec<(Nanos, u64)> = [&put.wanted, &rows]
        .iter()
        .flat_map(|r| r.times.iter().zip(&r.values[0]))
        .map(|(time, value)| (*time, value.to_bits()))
        .collect();
    both.sort_by_key(|(time, _)| *time);
    let mut manifest = Manifest::new("host", 0, 1.0);
    manifest.imported = vec![run::manifest::Imported::default()];
    put.making.finish(&put.sink, &manifest).unwrap();
    let run = Run::open(&scratch.join("run")).unwrap();
    let opened = run.table("disk").unwrap().expect("a table");
    let mut found = Vec::new();
    for part in &opened.parts {
        let read = opened.read(part, &["ios"], |batch| {
            let Values::Numbers(ios) = &batch.columns[0] else {
                panic!("no numbers");
            };
            let bits = ios.iter().map(|v| v.to_bits());
            found.extend(batch.times.iter().copied().zip(bits));
        });
        read.unwrap();
    }
    assert_eq!(found, both);
}
