//! Series as JSON and CSV. A day of many devices has millions of points, so they are written while
//! they are made.

use std::io::{self, Write};

use analysis::{Answer, Group};
use run::Run;
use serde_json::{Value, json};
use surfaces::csv;

use super::{csv_key, key_json};

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

/// Writes `object`, an answer as JSON, and in it the series of all groups as the last of its fields.
pub(crate) fn write_json(
    run: &Run,
    answer: &Answer,
    object: &Value,
    out: &mut dyn Write,
) -> io::Result<()> {
    let object = object.to_string();
    let open = object.strip_suffix('}').unwrap_or(&object);
    let started = json!(run::manifest::rfc3339(run.manifest.started));
    write!(out, "{open},\"started\":{started},\"series\":[")?;
    for (i, group) in answer.groups.iter().enumerate() {
        let gap = if i > 0 { "," } else { "" };
        write!(
            out,
            "{gap}{{\"key\":{},\"points\":[",
            key_json(answer, group)
        )?;
        for (i, point) in points(run, answer, group).enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            serde_json::to_writer(&mut *out, &point)?;
        }
        out.write_all(b"]}")?;
    }
    out.write_all(b"]}")
}

/// Writes a line for each point of each group.
pub(super) fn write_csv(run: &Run, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let mut names = vec![
        "time".to_owned(),
        "seconds".into(),
        "interval (seconds)".into(),
    ];
    names.extend(answer.by.iter().map(|b| b.name.clone()));
    names.push(format!("value ({})", answer.value_unit()));
    writeln!(out, "{}", names.join(","))?;
    for group in &answer.groups {
        let key: String = csv_key(group).map(|field| field + ",").collect();
        let places = group.series.iter().map(|(place, _)| *place as usize);
        for (place, [since, interval, value]) in places.zip(points(run, answer, group)) {
            let time = run::manifest::rfc3339(answer.slots[place].time);
            let value = csv::number(value);
            writeln!(out, "{time},{since},{interval},{key}{value}")?;
        }
    }
    Ok(())
}
