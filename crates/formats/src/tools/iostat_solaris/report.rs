//! The rows of one report of devices, which are put together at its end.

use std::collections::HashMap;

use run::Word;

use super::layout::{
    ACTIVE, ACTIVE_TIME, BUSY, Layout, READ_SIZE, READS, WAIT, WAIT_BUSY, WAIT_TIME, WHOLE_TIME,
    WRITE_SIZE, WRITES,
};
use crate::disk::layer;
use crate::out::{Out, Shape};

struct Device {
    name: Vec<u8>,
    word: Word,
    layer: Word,
    /// The report it was in last.
    seen: u64,
}

/// Devices, and the rows of the present report.
pub(super) struct Report {
    devices: Vec<Device>,
    by_name: HashMap<Vec<u8>, usize>,
    /// Number of the report.
    number: u64,
    /// Devices of the rows, and their numbers one after the other.
    rows: Vec<usize>,
    numbers: Vec<f64>,
    /// Whether a row without any activity was printed.
    pub(super) idle_seen: bool,
    /// A line of the present report is not understood: it may be a row of any device.
    pub(super) garbled: bool,
    ops: Shape,
    device: Shape,
    queues: Shape,
    other: Shape,
    /// Words of every report, once they are known: of operations, and of `%w`.
    often: Option<[Word; 6]>,
    words: [Vec<Word>; 4],
    columns: [Vec<f64>; 3],
}

impl Report {
    pub(super) fn new() -> Report {
        Report {
            devices: Vec::new(),
            by_name: HashMap::new(),
            number: 1,
            rows: Vec::new(),
            numbers: Vec::new(),
            idle_seen: false,
            garbled: false,
            ops: Shape::of("disk", &["ios", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy", "depth_time"]),
            queues: Shape::of("disk_io", &["queue", "service"]),
            other: Shape::of("other", &["value"]),
            often: None,
            words: [const { Vec::new() }; 4],
            columns: [const { Vec::new() }; 3],
        }
    }

    /// Devices came or went: those known are not taken for idle.
    pub(super) fn forget(&mut self) {
        self.devices.clear();
        self.by_name.clear();
        self.rows.clear();
        self.numbers.clear();
        self.idle_seen = false;
    }

    /// The place of the device of that name, if it is known. Mostly it is the one after the one
    /// before.
    fn find(&self, name: &[u8]) -> Option<usize> {
        let next = self.rows.last().map_or(0, |last| last + 1);
        match self.devices.get(next) {
            Some(device) if device.name == name => Some(next),
            _ => self.by_name.get(name).copied(),
        }
    }

    /// Whether the name may be the beginning of a longer one.
    pub(super) fn is_cut(&self, name: &[u8]) -> bool {
        self.find(name).is_none() && self.devices.iter().any(|d| d.name.starts_with(name))
    }

    /// Whether a row of this device begins the next report.
    pub(super) fn begins(&self, place: usize) -> bool {
        self.rows.first() == Some(&place)
    }

    /// The place of the device of that name, which may be new.
    pub(super) fn place(&mut self, name: &[u8], out: &mut Out) -> usize {
        if let Some(place) = self.find(name) {
            return place;
        }
        let (word, layer) = (out.word(name), out.word(layer(name).as_bytes()));
        self.by_name.insert(name.to_vec(), self.devices.len());
        self.devices.push(Device {
            name: name.to_vec(),
            word,
            layer,
            seen: 0,
        });
        self.devices.len() - 1
    }

    /// Takes a row of the device of that place.
    pub(super) fn row(&mut self, place: usize, numbers: &[f64]) {
        if let Some(device) = self.devices.get_mut(place) {
            device.seen = self.number;
        }
        self.rows.push(place);
        self.numbers.extend_from_slice(numbers);
        self.idle_seen = self.idle_seen || numbers.iter().all(|n| *n == 0.0);
    }

    /// Devices that are known and have no row in this report.
    pub(super) fn missing(&self) -> usize {
        let here = self.devices.iter().filter(|d| d.seen == self.number);
        self.devices.len() - here.count()
    }

    /// Rows of zeros for those.
    fn add_idle(&mut self, layout: &Layout) {
        for (place, device) in self.devices.iter().enumerate() {
            if device.seen != self.number {
                let from = self.numbers.len();
                self.rows.push(place);
                self.numbers.resize(from + layout.numbers, 0.0);
                // What was counted since boot is not told.
                for (_, other) in &layout.others {
                    self.numbers[from + other] = f64::NAN;
                }
            }
        }
    }

    /// The report is over: puts its rows. `idle`: devices without a row had nothing to do.
    pub(super) fn close(&mut self, layout: Option<&Layout>, idle: bool, out: &mut Out) {
        if let Some(layout) = layout {
            if idle {
                self.add_idle(layout);
            }
            if !self.rows.is_empty() {
                self.put(layout, out);
            }
        }
        self.rows.clear();
        self.numbers.clear();
        self.number += 1;
    }

    fn put(&mut self, layout: &Layout, out: &mut Out) {
        let mut devices = std::mem::take(&mut self.words);
        devices.iter_mut().for_each(Vec::clear);
        let of = |r: &usize| self.devices.get(*r);
        devices[0].extend(self.rows.iter().filter_map(of).map(|d| d.word));
        devices[1].extend(self.rows.iter().filter_map(of).map(|d| d.layer));
        let mut columns = std::mem::take(&mut self.columns);
        if layout.places[READS].is_some() {
            self.put_ops(layout, &mut devices, &mut columns, out);
            self.put_device(layout, &devices, &mut columns, out);
        }
        self.put_others(layout, &mut devices, &mut columns, out);
        self.words = devices;
        self.columns = columns;
    }

    fn often(&mut self, out: &mut Out) -> [Word; 6] {
        let words = [&b"read"[..], b"write", b"(all)", b"iostat", b"%w", b"%"];
        *self.often.get_or_insert_with(|| words.map(|w| out.word(w)))
    }

    /// The numbers of a column.
    fn column(&self, layout: &Layout, which: usize) -> impl Iterator<Item = f64> + Clone {
        // One that is not there is unknown.
        let place = layout.places[which].unwrap_or(usize::MAX);
        let rows = self.numbers.chunks_exact(layout.numbers.max(1));
        rows.map(move |row| row.get(place).copied().unwrap_or(f64::NAN))
    }

    /// Reads, writes, and the times of both.
    fn put_ops(
        &mut self,
        layout: &Layout,
        words: &mut [Vec<Word>; 4],
        columns: &mut [Vec<f64>; 3],
        out: &mut Out,
    ) {
        let count = self.rows.len();
        let [devices, layers, ops, _] = words;
        for column in [&mut *devices, layers] {
            column.extend_from_within(..count);
            column.extend_from_within(..count);
        }
        for op in &self.often(out)[..3] {
            ops.resize(ops.len() + count, *op);
        }
        let [ios, bytes, time] = columns;
        let column = |which| self.column(layout, which);
        for (to, read, write, unit) in [
            (&mut *ios, READS, WRITES, 1.0),
            (bytes, READ_SIZE, WRITE_SIZE, layout.unit),
        ] {
            to.clear();
            to.extend(column(read).map(|v| v * unit));
            to.extend(column(write).map(|v| v * unit));
        }
        // Of a mean over reads and writes in milliseconds, the times of all added up.
        let added = |to: &mut Vec<f64>, which: usize| {
            let (reads, writes) = ios.split_at(count.min(ios.len()));
            let both = reads.iter().zip(writes).map(|(r, w)| (r + w) / 1000.0);
            to.extend(column(which).zip(both).map(|(mean, ios)| mean * ios));
        };
        time.clear();
        time.resize(2 * count, f64::NAN);
        if layout.places[WAIT_TIME].is_some() {
            let (mut queue, mut service) = (Vec::with_capacity(count), Vec::with_capacity(count));
            added(&mut queue, WAIT_TIME);
            added(&mut service, ACTIVE_TIME);
            time.extend(queue.iter().zip(&service).map(|(q, s)| q + s));
            let words: [&[Word]; 3] = [&devices[..count], &layers[..count], &ops[2 * count..]];
            put_columns(
                &self.queues,
                &words,
                &[&queue, &service],
                layout.amounts,
                out,
            );
        } else {
            added(time, WHOLE_TIME);
        }
        ios.resize(3 * count, f64::NAN);
        bytes.resize(3 * count, f64::NAN);
        let words: [&[Word]; 3] = [devices, layers, ops];
        put_columns(&self.ops, &words, &[ios, bytes, time], layout.amounts, out);
        devices.truncate(count);
        layers.truncate(count);
    }

    fn put_device(
        &self,
        layout: &Layout,
        words: &[Vec<Word>; 4],
        columns: &mut [Vec<f64>; 3],
        out: &mut Out,
    ) {
        let [busy, depth, _] = columns;
        busy.clear();
        busy.extend(self.column(layout, BUSY).map(|v| v / 100.0));
        depth.clear();
        let waiting = self.column(layout, WAIT);
        depth.extend(waiting.zip(self.column(layout, ACTIVE)).map(|(w, a)| w + a));
        out.put_columns(&self.device, &[&words[0], &words[1]], &[busy, depth]);
    }

    /// What has no place in the catalog.
    fn put_others(
        &mut self,
        layout: &Layout,
        words: &mut [Vec<Word>; 4],
        columns: &mut [Vec<f64>; 3],
        out: &mut Out,
    ) {
        let [_, _, _, tool, wait, percent] = self.often(out);
        let wait = layout.places[WAIT_BUSY].map(|p| (wait, percent, p));
        let other = |(name, place): &(String, usize)| {
            let unit = out.word(unit_of(name).as_bytes());
            (out.word(name.as_bytes()), unit, *place)
        };
        let counts: Vec<(Word, Word, usize)> = layout.others.iter().map(other).collect();
        let count = self.rows.len();
        let [devices, tools, names, units] = words;
        let [values, ..] = columns;
        for (name, unit, place) in wait.into_iter().chain(counts) {
            for (column, word) in [(&mut *tools, tool), (names, name), (units, unit)] {
                column.clear();
                column.resize(count, word);
            }
            values.clear();
            let rows = self.numbers.chunks_exact(layout.numbers.max(1));
            values.extend(rows.filter_map(|r| r.get(place)));
            out.put_columns(&self.other, &[tools, names, units, devices], &[values]);
        }
    }
}

/// The unit of a column that has no place in the catalog.
fn unit_of(column: &str) -> &'static str {
    match column {
        "s/w" | "h/w" | "trn" | "tot" => "errors since boot",
        _ => "",
    }
}

/// Rows whose sums are per second, or amounts of the interval.
fn put_columns(
    shape: &Shape,
    words: &[&[Word]; 3],
    values: &[&Vec<f64>],
    amounts: bool,
    out: &mut Out,
) {
    if amounts {
        for i in 0..words[0].len() {
            let row: Vec<f64> = values.iter().map(|c| c[i]).collect();
            out.put_amounts(shape, &words.map(|c| c[i]), &row);
        }
    } else {
        let values: Vec<&[f64]> = values.iter().map(|c| c.as_slice()).collect();
        out.put_columns(shape, words, &values);
    }
}
