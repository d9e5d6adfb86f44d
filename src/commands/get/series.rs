//! Series as JSON and CSV. A day of many devices has millions of points, so they are printed in
//! pieces, not made whole first.

use analysis::{Answer, Group};
use run::Run;
use serde_json::{Value, json};

use super::{csv_key, key_json};
use crate::output;
use surfaces::csv;

pub(super) const STARTED: &str = "started";
pub(super) const SERIES: &str = "series";

/// Bytes that are printed at once.
const PIECE: usize = 256 << 10;

/// Text on its way to stdout.
#[derive(Default)]
struct Pieces {
    text: String,
}

impl Pieces {
    fn put(&mut self, text: &str) {
        self.text += text;
        if self.text.len() >= PIECE {
            self.print();
        }
    }

    fn print(&mut self) {
        output::data(&self.text);
        self.text.clear();
    }
}

/// When the run began, from which its seconds count.
pub(super) fn started(run: &Run) -> Value {
    json!(run::manifest::rfc3339(run.manifest.started))
}

/// Seconds since the run began and the length of the interval, and the value.
fn points<'a>(
    run: &'a Run,
    answer: &'a Answer,
    group: &'a Group,
) -> impl Iterator<Item = [f64; 3]> + 'a {
    group.series.iter().map(|(place, value)| {
        let slot = &answer.slots[*place as usize];
        let since = (slot.time - run.manifest.started) as f64 / 1e9;
        [since, slot.interval, *value]
    })
}

/// The series of a group, whole.
pub(super) fn of(run: &Run, answer: &Answer, group: &Group) -> Value {
    let points: Vec<[f64; 3]> = points(run, answer, group).collect();
    json!({"key": key_json(answer, group), "points": points})
}

/// Prints `object` and in it the series of all groups, as the last of its fields.
pub(super) fn print_json(run: &Run, answer: &Answer, object: &Value) {
    let object = object.to_string();
    let open = object.strip_suffix('}').unwrap_or(&object);
    let mut pieces = Pieces::default();
    let started = started(run);
    pieces.put(&format!("{open},\"{STARTED}\":{started},\"{SERIES}\":["));
    for (i, group) in answer.groups.iter().enumerate() {
        let gap = if i > 0 { "," } else { "" };
        let key = key_json(answer, group);
        pieces.put(&format!("{gap}{{\"key\":{key},\"points\":["));
        for (i, point) in points(run, answer, group).enumerate() {
            let gap = if i > 0 { "," } else { "" };
            pieces.put(gap);
            pieces.put(&json!(point).to_string());
        }
        pieces.put("]}");
    }
    pieces.put("]}\n");
    pieces.print();
}

/// Prints a line for each point of each group.
pub(super) fn print_csv(run: &Run, answer: &Answer) {
    let mut names = vec![
        "time".to_owned(),
        "seconds".into(),
        "interval (seconds)".into(),
    ];
    names.extend(answer.by.iter().map(|b| b.name.clone()));
    names.push(format!("value ({})", answer.value_unit()));
    let mut pieces = Pieces::default();
    pieces.put(&(names.join(",") + "\n"));
    for group in &answer.groups {
        let key: String = csv_key(group).map(|field| field + ",").collect();
        for ((place, _), [since, interval, value]) in
            group.series.iter().zip(points(run, answer, group))
        {
            let time = run::manifest::rfc3339(answer.slots[*place as usize].time);
            let value = csv::number(value);
            pieces.put(&format!("{time},{since},{interval},{key}{value}\n"));
        }
    }
    pieces.print();
}
