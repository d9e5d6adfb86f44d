//! The rows of one report of devices, which are put together at its end.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use run::Word;

use super::layout::{
    ACTIVE, ACTIVE_TIME, BUSY, Layout, READ_SIZE, READS, WAIT, WAIT_BUSY, WAIT_TIME, WHOLE_TIME,
    WRITE_SIZE, WRITES,
};
use super::row::layer_of;
use crate::out::{Out, Shape};
use crate::{Taken, scan};

/// Devices without a row that may stand between two with one before a name is looked up.
const NEAR: usize = 6;

/// So many devices are kept in the order in which they are printed. It is dear to keep, and only
/// makes finding them quicker.
const ORDERED: usize = 1000;

struct Device {
    name: Vec<u8>,
    /// The last eight bytes of the name.
    end: u64,
    word: Word,
    layer: Word,
    /// The report it was in last, and its row there.
    seen: u64,
    row: usize,
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
    /// Devices that have a row.
    here: usize,
    /// Whether a row without any activity was printed.
    pub(super) idle_seen: bool,
    /// A line of the present report is not understood: it may be a row of any device.
    pub(super) garbled: bool,
    ops: Shape,
    device: Shape,
    queues: Shape,
    other: Shape,
    /// The rows in the order in which they are put.
    order: Vec<usize>,
    /// Their numbers in that order, a column after the other; the last is of what is not known.
    by_column: Vec<f64>,
    /// Words of reports in which all devices are.
    words: Option<Arc<ReportWords>>,
    columns: [Vec<f64>; 5],
}

impl Report {
    pub(super) fn new() -> Report {
        Report {
            devices: Vec::new(),
            by_name: HashMap::new(),
            number: 1,
            rows: Vec::new(),
            numbers: Vec::new(),
            here: 0,
            idle_seen: false,
            garbled: false,
            ops: Shape::of("disk", &["ios", "bytes", "time"]),
            device: Shape::of("disk_device", &["busy", "depth_time"]),
            queues: Shape::of("disk_io", &["queue", "service"]),
            other: Shape::of("other", &["value"]),
            order: Vec::new(),
            by_column: Vec::new(),
            words: None,
            columns: [const { Vec::new() }; 5],
        }
    }

    /// Devices came or went: those known are not taken for idle.
    pub(super) fn forget(&mut self) {
        self.devices.clear();
        self.by_name.clear();
        self.words = None;
        self.rows.clear();
        self.numbers.clear();
        self.here = 0;
        self.idle_seen = false;
    }

    /// The place of the device whose name and a line feed are in `text` from `at` on, and where they end, if
    /// it is one of those that mostly come next and has no row yet.
    #[inline]
    fn follows(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let next = self.rows.last().map_or(0, |last| last + 1);
        let near = self.devices.get(next..)?.iter().take(NEAR);
        for (device, place) in near.zip(next..) {
            let length = device.name.len();
            let end = at + length;
            let is_it = text.get(end) == Some(&b'\n')
                && last_eight(text.get(..end)?, length) == Some(device.end)
                && (length <= 8 || text.get(at..end) == Some(&device.name));
            if is_it {
                return (device.seen != self.number).then_some((place, end + 1));
            }
        }
        None
    }

    /// Takes the rows that the text begins with, as long as they are of `count` plain numbers and devices
    /// that are known.
    pub(super) fn plain_rows(&mut self, text: &[u8], count: usize) -> Taken {
        let mut taken = Taken::default();
        // Room is made once for all of them.
        let mut from = self.numbers.len();
        let more = self.devices.len().saturating_sub(self.rows.len());
        self.numbers.resize(from + more * count, 0.0);
        while let Some(room) = self.numbers.get_mut(from..from + count)
            && let Some(at) = scan::plain(&text[taken.bytes..], room)
        {
            let Some((place, end)) = self.follows(text, taken.bytes + at) else {
                break;
            };
            self.takes(place, from..from + count);
            from += count;
            taken.lines += 1;
            taken.bytes = end;
        }
        self.numbers.truncate(from);
        taken
    }

    /// The place of the device of that name, if it is known.
    fn find(&self, name: &[u8]) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Whether a row of this device begins the next report.
    pub(super) fn begins(&self, place: usize) -> bool {
        self.rows.first() == Some(&place)
    }

    /// Whether the present report has a row of this device.
    pub(super) fn has(&self, place: usize) -> bool {
        let device = self.devices.get(place);
        device.is_some_and(|device| device.seen == self.number)
    }

    /// Whether this device is printed before the last one of the present report, or is that one: reports
    /// have all in the same order.
    pub(super) fn goes_back(&self, place: usize) -> bool {
        let in_order = self.devices.len() < ORDERED;
        self.has(place) || in_order && self.rows.last().is_some_and(|last| *last > place)
    }

    /// The place of the device of that name, which may be new.
    pub(super) fn place(&mut self, name: &[u8], out: &mut Out) -> usize {
        if let Some(place) = self.find(name) {
            return place;
        }
        // Where it is printed it will be printed again: after the one before it.
        let last = self.devices.len();
        let at = match self.rows.last() {
            _ if last >= ORDERED => last,
            Some(before) => before + 1,
            None => 0,
        };
        if at < last {
            let moved = self.rows.iter_mut().chain(self.by_name.values_mut());
            moved
                .filter(|place| **place >= at)
                .for_each(|place| *place += 1);
        }
        let padded = [&[0; 8], name].concat();
        let layer = layer_of(name, out);
        let device = Device {
            name: name.to_vec(),
            end: last_eight(&padded, name.len()).unwrap_or_default(),
            word: out.word(name),
            layer: out.word(layer.as_bytes()),
            seen: 0,
            row: 0,
        };
        self.devices.insert(at, device);
        self.by_name.insert(name.to_vec(), at);
        self.words = None;
        at
    }

    /// Takes a row of the device of that place.
    pub(super) fn row(&mut self, place: usize, numbers: &[f64]) {
        let from = self.numbers.len();
        self.numbers.extend_from_slice(numbers);
        self.takes(place, from..self.numbers.len());
    }

    /// Those numbers are a row of the device of that place.
    #[inline]
    fn takes(&mut self, place: usize, numbers: Range<usize>) {
        if let Some(device) = self.devices.get_mut(place) {
            self.here += usize::from(device.seen != self.number);
            device.seen = self.number;
            device.row = self.rows.len();
        }
        self.rows.push(place);
        self.idle_seen = self.idle_seen || self.numbers[numbers].iter().all(|n| *n == 0.0);
    }

    /// Devices that are known and have no row in this report.
    pub(super) fn known(&self) -> usize {
        self.devices.len()
    }

    pub(super) fn missing(&self) -> usize {
        self.devices.len() - self.here
    }

    /// Rows of zeros for those.
    fn add_idle(&mut self, layout: &Layout) {
        for (place, device) in self.devices.iter_mut().enumerate() {
            if device.seen != self.number {
                self.here += 1;
                device.seen = self.number;
                device.row = self.rows.len();
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
        self.here = 0;
        self.number += 1;
    }

    fn put(&mut self, layout: &Layout, out: &mut Out) {
        let words = self.words(layout, out);
        self.turn(layout);
        let mut columns = std::mem::take(&mut self.columns);
        if layout.places[READS].is_some() {
            self.put_ops(layout, &words, &mut columns, out);
            self.put_device(layout, &words, &mut columns, out);
        }
        self.put_others(layout, &words, &mut columns, out);
        self.columns = columns;
    }

    /// The words of the rows, in whose order the numbers are to be put: that of the devices where
    /// each has one, so that it is the same in each report.
    fn words(&mut self, layout: &Layout, out: &mut Out) -> Arc<ReportWords> {
        let all = self.missing() == 0 && self.rows.len() == self.devices.len();
        self.order.clear();
        if !all {
            self.order.extend(0..self.rows.len());
            let devices = self
                .rows
                .iter()
                .filter_map(|place| self.devices.get(*place));
            return Arc::new(ReportWords::new(devices, layout, out));
        }
        self.order.extend(self.devices.iter().map(|d| d.row));
        if let Some(words) = &self.words
            && words.are_of(self.devices.len(), layout)
        {
            return Arc::clone(words);
        }
        let words = Arc::new(ReportWords::new(self.devices.iter(), layout, out));
        self.words = Some(Arc::clone(&words));
        words
    }

    /// Puts the numbers of the rows by column.
    fn turn(&mut self, layout: &Layout) {
        let (width, count) = (layout.numbers, self.order.len());
        self.by_column.clear();
        self.by_column.resize((width + 1) * count, f64::NAN);
        let columns = self.by_column.chunks_exact_mut(count.max(1));
        for (i, column) in columns.take(width).enumerate() {
            for (to, row) in column.iter_mut().zip(&self.order) {
                *to = self.numbers[row * width + i];
            }
        }
    }

    /// The numbers of a column, of each row in order; one that is not there is unknown.
    fn column(&self, layout: &Layout, which: usize) -> &[f64] {
        self.numbers_at(layout, layout.places[which].unwrap_or(layout.numbers))
    }

    fn numbers_at(&self, layout: &Layout, place: usize) -> &[f64] {
        let count = self.order.len();
        let from = place.min(layout.numbers) * count;
        &self.by_column[from..from + count]
    }

    /// Reads, writes, and the times of both.
    fn put_ops(
        &self,
        layout: &Layout,
        words: &ReportWords,
        columns: &mut [Vec<f64>; 5],
        out: &mut Out,
    ) {
        let count = self.order.len();
        let [ios, bytes, time, queue, service] = columns;
        let column = |which| self.column(layout, which);
        for (to, read, write, unit) in [
            (&mut *ios, READS, WRITES, 1.0),
            (bytes, READ_SIZE, WRITE_SIZE, layout.unit),
        ] {
            to.clear();
            to.extend(column(read).iter().map(|v| v * unit));
            to.extend(column(write).iter().map(|v| v * unit));
        }
        // Of a mean over reads and writes in milliseconds, the times of all added up.
        let added = |to: &mut Vec<f64>, which: usize| {
            let (reads, writes) = ios.split_at(count.min(ios.len()));
            let both = reads.iter().zip(writes).map(|(r, w)| (r + w) / 1000.0);
            to.extend(column(which).iter().zip(both).map(|(mean, ios)| mean * ios));
        };
        time.clear();
        time.resize(2 * count, f64::NAN);
        if layout.places[WAIT_TIME].is_some() {
            queue.clear();
            service.clear();
            added(queue, WAIT_TIME);
            added(service, ACTIVE_TIME);
            time.extend(queue.iter().zip(&*service).map(|(q, s)| q + s));
            put_columns(&self.queues, &words.both, &[queue, service], layout, out);
        } else {
            added(time, WHOLE_TIME);
        }
        ios.resize(3 * count, f64::NAN);
        bytes.resize(3 * count, f64::NAN);
        put_columns(&self.ops, &words.ops, &[ios, bytes, time], layout, out);
    }

    fn put_device(
        &self,
        layout: &Layout,
        words: &ReportWords,
        columns: &mut [Vec<f64>; 5],
        out: &mut Out,
    ) {
        let [busy, depth, ..] = columns;
        busy.clear();
        busy.extend(self.column(layout, BUSY).iter().map(|v| v / 100.0));
        depth.clear();
        let both = [WAIT, ACTIVE].map(|which| self.column(layout, which));
        depth.extend(both[0].iter().zip(both[1]).map(|(w, a)| w + a));
        out.put_columns(&self.device, &words.devices, &[busy, depth]);
    }

    /// What has no place in the catalog.
    fn put_others(
        &self,
        layout: &Layout,
        words: &ReportWords,
        columns: &mut [Vec<f64>; 5],
        out: &mut Out,
    ) {
        let [values, ..] = columns;
        values.clear();
        for (_, _, place) in others(layout) {
            values.extend_from_slice(self.numbers_at(layout, place));
        }
        if !values.is_empty() {
            out.put_columns(&self.other, &words.others, &[values]);
        }
    }
}

/// The last eight bytes of a name of that length at the end of `line`, or all it has: names are mostly
/// told apart by them.
fn last_eight(line: &[u8], length: usize) -> Option<u64> {
    let last = u64::from_le_bytes(*line.last_chunk()?);
    Some(last >> (8 * 8_usize.saturating_sub(length).min(7)))
}

/// Words of the rows of a report, by table. They are the same in each report that has the same
/// devices.
struct ReportWords {
    count: usize,
    /// Names of the layout's columns that have no place in the catalog.
    names: Vec<String>,
    ops: Arc<Vec<Vec<Word>>>,
    both: Arc<Vec<Vec<Word>>>,
    devices: Arc<Vec<Vec<Word>>>,
    others: Arc<Vec<Vec<Word>>>,
}

impl ReportWords {
    fn new<'d>(
        devices: impl Iterator<Item = &'d Device> + Clone,
        layout: &Layout,
        out: &mut Out,
    ) -> ReportWords {
        let names: Vec<Word> = devices.clone().map(|d| d.word).collect();
        let layers: Vec<Word> = devices.map(|d| d.layer).collect();
        let count = names.len();
        let ops = [&b"read"[..], b"write", b"(all)"].map(|op| vec![out.word(op); count]);
        let both = vec![names.clone(), layers.clone(), ops[2].clone()];
        let mut columns = [const { Vec::new() }; 3];
        for (name, unit, _) in others(layout) {
            let all = [&b"iostat"[..], name.as_bytes(), unit.as_bytes()];
            for (column, word) in columns.iter_mut().zip(all) {
                column.resize(column.len() + count, out.word(word));
            }
        }
        let [tools, columns, units] = columns;
        let instances = names.repeat(others(layout).count());
        ReportWords {
            count,
            names: others(layout).map(|(name, ..)| name.to_owned()).collect(),
            ops: Arc::new(vec![names.repeat(3), layers.repeat(3), ops.concat()]),
            both: Arc::new(both),
            devices: Arc::new(vec![names, layers]),
            others: Arc::new(vec![tools, columns, units, instances]),
        }
    }

    /// Whether they are those of so many devices with that layout.
    fn are_of(&self, count: usize, layout: &Layout) -> bool {
        self.count == count && others(layout).map(|(name, ..)| name).eq(&self.names)
    }
}

/// Columns that have no place in the catalog: name, unit and place.
fn others(layout: &Layout) -> impl Iterator<Item = (&str, &'static str, usize)> + Clone {
    let wait = layout.places[WAIT_BUSY].map(|place| ("%w", "%", place));
    let rest = layout.others.iter();
    wait.into_iter()
        .chain(rest.map(|(name, place)| (name.as_str(), unit_of(name), *place)))
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
    words: &Arc<Vec<Vec<Word>>>,
    values: &[&Vec<f64>],
    layout: &Layout,
    out: &mut Out,
) {
    if layout.amounts {
        for i in 0..values.first().map_or(0, |c| c.len()) {
            let row: Vec<f64> = values.iter().map(|c| c[i]).collect();
            let words: Vec<Word> = words.iter().map(|c| c[i]).collect();
            out.put_amounts(shape, &words, &row);
        }
    } else {
        let values: Vec<&[f64]> = values.iter().map(|c| c.as_slice()).collect();
        out.put_columns(shape, words, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_end_alike_are_told_apart() {
        let names = [
            "c0t5000C500A0d0",
            "c1t5000C500A0d0",
            "5000C500A0d0",
            "500A0d0",
            "00A0d0",
            "d0",
        ];
        let mut out = Out::new("iostat", crate::Options::default());
        let mut report = Report::new();
        for name in names {
            let place = report.place(name.as_bytes(), &mut out);
            report.row(place, &[1.0]);
        }
        report.close(None, false, &mut out);
        for (place, name) in names.iter().enumerate() {
            let line = format!("    0.0    0.9 {name}\n");
            assert_eq!(
                report.follows(line.as_bytes(), 15),
                Some((place, line.len()))
            );
        }
        for name in ["c2t5000C500A0d0", "0d0", "d1", "", "d0 "] {
            let line = format!("    0.0    0.9 {name}\n");
            assert_eq!(report.follows(line.as_bytes(), 15), None, "{name}");
        }
        let short = report.follows(b"d0\n", 0);
        assert_eq!(short, None, "a line of less than eight");
        let cut = report.follows(b"    0.0    0.9 d0", 15);
        assert_eq!(cut, None, "no end");
    }
}
