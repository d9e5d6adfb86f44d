//! Puts the numbers of a described table's row where they belong.

use run::Word;

use super::Table;
use super::column::{Meant, Role};
use super::field::is_missing;
use super::group::{Group, Source};
use super::table::{Reader, Row, Use, sum_of_mean};
use crate::out::Out;
use crate::time::Refused;
use crate::{disk, net};

impl Reader {
    pub(super) fn put(&mut self, row: &Row, instance: &[u8], out: &mut Out) {
        let table = self.table.clone();
        let counted: Vec<usize> = self
            .values()
            .filter(|(_, v)| v.meant == Meant::Counter && v.times.is_none())
            .map(|(at, _)| at)
            .collect();
        let now: Vec<f64> = counted.iter().map(|at| row.numbers[*at]).collect();
        let grown = self.counters.grown(instance, &now, out);
        let is_first = grown.is_none();
        let mut numbers = row.numbers.clone();
        for (i, at) in counted.iter().enumerate() {
            if let Some(grown) = &grown {
                numbers[*at] = grown[i];
            }
        }
        // A mean times what a counter grew by.
        for (at, value) in self.values() {
            if let Some(of) = value.times_at
                && value.meant == Meant::Counter
            {
                let mean = row.numbers[at] / row.numbers[of];
                numbers[at] = sum_of_mean(mean, numbers[of]);
            }
        }
        for (nth, group) in table.groups.iter().enumerate() {
            if group.values.iter().all(|at| numbers[*at].is_nan()) {
                continue;
            }
            let words = words_of(group, row, out);
            self.tell_apart(nth, &words, instance, out);
            put_group(&table, group, &words, &numbers, is_first, out);
        }
        let word = out.word(instance);
        for (at, value) in self.values().filter(|(_, v)| v.measure.is_none()) {
            let (name, number) = (&table.columns[at].name, numbers[at]);
            let unit = row.unit(at, &value.unit);
            match value.meant {
                Meant::Counter if is_first => out.other_total(name, unit, word, number),
                Meant::Counter => out.other_grown(name, unit, word, number),
                _ => out.other(name, unit, word, number),
            }
        }
        let layout = self.layout.iter().flatten().zip(&row.fields);
        for (used, text) in layout {
            let Use::Other(name) = used else { continue };
            match table.number(text) {
                Some(number) => out.other(name, "", word, number),
                None if is_missing(text) => {}
                None => out.note(&format!(
                    "the column {name} has texts and is not described: it is left out"
                )),
            }
        }
    }

    /// Two rows of one time that have the same words in a table would be added there, though the text tells
    /// them apart.
    fn tell_apart(&mut self, group: usize, words: &[Word], instance: &[u8], out: &mut Out) {
        let now = (self.begun, instance.to_vec());
        let Some((sample, other)) = self.told.insert((group, words.to_vec()), now) else {
            return;
        };
        // Where all times of one instance come first, those of the next are the same ones.
        if other == instance || sample != self.begun && !self.by_instance {
            return;
        }
        let values = self.table.groups[group].values.iter();
        let names: Vec<&str> = values.map(|at| &*self.table.columns[*at].name).collect();
        let [one, two] = [&other[..], instance].map(String::from_utf8_lossy);
        out.refuse(Refused(format!(
            "line {}: no word of the measure tells {two:?} from {one:?}, which is of the same time: the numbers \
             of both would be added in the column {}\n\
             hint: name them by a dimension of the measure, as is = \"device\", or leave `measure` out to keep \
             them apart",
            out.line_number(),
            names.join(", ")
        )));
    }
}

/// The words of the row that the group's columns make.
fn words_of(group: &Group, row: &Row, out: &mut Out) -> Vec<Word> {
    let word = |source: &Source, out: &mut Out| -> Word {
        match source {
            Source::Fixed(text) => out.word(text.as_bytes()),
            Source::Column(at) => out.word(row.text(*at)),
            Source::DiskLayer(at) => {
                let name = row.text(*at);
                let layer = out.disk_layer_of(name, disk::layer_of_own(name));
                out.word(layer.as_bytes())
            }
            Source::NetLayer(at) => out.word(net::layer(row.text(*at)).as_bytes()),
        }
    };
    group.words.iter().map(|s| word(s, out)).collect()
}

fn put_group(
    table: &Table,
    group: &Group,
    words: &[Word],
    numbers: &[f64],
    is_first: bool,
    out: &mut Out,
) {
    let of = if group.of_all_processors {
        out.processors()
    } else {
        1.0
    };
    let meant = |at: usize| match &table.columns[at].role {
        Role::Value(value) => value.meant,
        _ => Meant::Level,
    };
    let mut values = Vec::new();
    let mut totals = Vec::new();
    for at in &group.values {
        let is_total = is_first && meant(*at) == Meant::Counter;
        let value = numbers[*at] * of;
        values.push(if is_total { f64::NAN } else { value });
        totals.push(if is_total { value } else { f64::NAN });
    }
    if totals.iter().any(|v| !v.is_nan()) {
        out.put_since_boot(&group.shape, words, &totals);
    }
    if values.iter().all(|v| v.is_nan()) {
        return;
    }
    if group.amounts {
        out.put_amounts(&group.shape, words, &values);
    } else {
        out.put(&group.shape, words, &values);
    }
}
