//! The table with a line for each sample: `-d`, `-D`, `-t`, `-c`, and without flags.

use super::layout::names;
use super::row::{joined_zeros, layer_of, put_tail, raw_numbers};
use super::{Iostat, Part};
use crate::out::Out;
use crate::{Line, number, scan};

impl Iostat {
    /// A line of it; `None` if it is none.
    pub(super) fn basic(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let place = self.basic?;
        let basic = self.basics.get(place)?;
        let mut values = std::mem::take(&mut self.values);
        values.resize(basic.numbers, 0.0);
        let whole = if basic.raw {
            raw_numbers(line, &mut values)
        } else {
            scan::numbers(line, &mut values) == (basic.numbers, line.len())
                || joined_zeros(line, &mut values)
        };
        if whole {
            self.begin(Part::Basic, out);
            self.open(out);
            self.put_basic(place, &values, out);
        }
        self.values = values;
        whole.then_some(Line::Data)
    }

    fn put_basic(&mut self, place: usize, values: &[f64], out: &mut Out) {
        let Some(basic) = self.basics.get(place) else {
            return;
        };
        let tail = basic.tail.iter().map(|(n, at)| (&**n, values[*at]));
        put_tail(&mut self.cpus, basic.amounts || self.amounts, tail, out);
        for (name, at) in self.devices.iter().zip(&basic.groups) {
            let [first, second, third] = [values[*at], values[*at + 1], values[*at + 2]];
            let (device, layer) = (out.word(name.as_bytes()), layer_of(name.as_bytes(), out));
            let layer = out.word(layer.as_bytes());
            let put = |out: &mut Out, op: &[u8], row: &[f64]| {
                let words = [device, layer, out.word(op)];
                if basic.amounts {
                    out.put_amounts(&self.ops, &words, row);
                } else {
                    out.put(&self.ops, &words, row);
                }
            };
            if basic.columns.first().is_some_and(|c| c.starts_with("rp")) {
                put(out, b"read", &[first, f64::NAN, f64::NAN]);
                put(out, b"write", &[second, f64::NAN, f64::NAN]);
                out.put(&self.busy, &[device, layer], &[third / 100.0]);
            } else {
                // Not told apart.
                let row = [second, first * basic.unit, third * second / 1000.0];
                put(out, b"(all)", &row);
            }
        }
    }

    /// The devices of a basic table are those on the line before.
    pub(super) fn name_devices(&mut self, place: usize, out: &mut Out) {
        let wanted = self.basics.get(place).map_or(0, |b| b.groups.len());
        if let Some((_, mut names)) = self.held.take() {
            names.retain(|n| n != "tty" && n != "cpu");
            self.devices = names;
        }
        if wanted > 0 && self.devices.len() != wanted {
            self.basic = None;
            out.noise_not_understood(0, "the names of the devices are not above this header");
        }
    }

    /// What was thought to be names of devices has no table below it.
    pub(super) fn names_of_nothing(&mut self, out: &mut Out) {
        if let Some((line, names)) = self.held.take() {
            self.report.garbled = true;
            out.noise_not_understood(line, &names.join(" "));
        }
    }

    /// Takes a line that may hold the names of devices, above the table's header.
    pub(super) fn hold_names(&mut self, line: &[u8], out: &Out) -> bool {
        let names = names(line);
        let is_name = |n: &String| {
            n.len() <= 64 && number::number(n.as_bytes()).is_none() && !n.contains(['=', '"', ' '])
        };
        let all = names.iter().all(is_name) && !names.is_empty();
        if all {
            self.held = Some((out.line_number(), names));
        }
        all
    }
}
