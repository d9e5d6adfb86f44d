//! An answer as a table that a person reads, with what stands around it.

use analysis::quantiles::Spreads;
use analysis::scan::KeyValue;
use analysis::{Answer, Group};
use run::Run;
use run::unit::{Scale, column_digits, column_scale};
use surfaces::table::{Align, Table, wrapped};

use super::spread;
use crate::output;

/// What stands in place of a table without rows.
pub(super) const NOTHING: &str = "no rows: nothing matches, or nothing was observed";

/// A table and what its reader has to know.
pub(crate) struct Shown {
    /// A line above the table: the unit that its columns share.
    pub(crate) head: Option<String>,
    /// A row a group.
    pub(crate) table: Table,
    /// Sentences on the numbers.
    pub(crate) notes: Vec<String>,
}

impl Shown {
    /// As text, as wide as the terminal.
    pub(super) fn text(&self) -> String {
        let width = usize::from(output::terminal_size().map_or(200, |s| s.0));
        let mut text: String = self.head.iter().map(|h| format!("{h}\n")).collect();
        text += &self.table.render(width);
        for note in &self.notes {
            text += &wrapped("note: ", note, width);
        }
        text
    }
}

/// The table of `answer`: of a number dimension the quantiles, else totals and means.
pub(crate) fn of(run: &Run, answer: &Answer, spreads: Option<&Spreads>) -> Shown {
    match spreads {
        Some(spreads) => spread::shown(run, answer, spreads),
        None => totals(run, answer).0,
    }
}

/// A row a group with its total, mean, least and greatest; and the scale of the last three.
pub(super) fn totals(run: &Run, answer: &Answer) -> (Shown, Scale) {
    let rate = answer.is_rate();
    let groups = answer.groups.iter();
    let of_values: Vec<f64> = groups.clone().flat_map(|g| [g.mean, g.max]).collect();
    let of_totals: Vec<f64> = groups.filter_map(|g| g.total).collect();
    // Numbers of many units have none in common.
    let mixed = ["other", "since_boot"].contains(&answer.table);
    let values = if mixed {
        column_scale(&[], answer.unit, rate)
    } else {
        column_scale(&of_values, answer.unit, rate)
    };
    let totals = column_scale(&of_totals, answer.unit, false);
    let mut table = Table::new();
    for by in &answer.by {
        table.column(&by.name, Align::Left);
    }
    if rate {
        table.column(&with_unit("total", totals.suffix), Align::Right);
    }
    for name in ["mean", "min", "max"] {
        table.column(&with_unit(name, values.suffix), Align::Right);
    }
    table.column("intervals", Align::Right);
    // What cannot be read is told where it is asked for.
    let units = analysis::mixed::units(run, answer).unwrap_or_default();
    if units.is_some() {
        table.column("unit", Align::Words);
    }
    let shown = |value: f64, scale: Scale| column_digits(value, scale, answer.unit);
    for (place, group) in answer.groups.iter().enumerate() {
        let mut row = key_text(answer, group);
        if rate {
            row.push(shown(group.total.unwrap_or(f64::NAN), totals));
        }
        row.extend([group.mean, group.min, group.max].map(|v| shown(v, values)));
        row.push(group.intervals.to_string());
        row.extend(units.iter().map(|units| output::one_line(&units[place])));
        table.row(row);
    }
    let notes = notes(run, answer);
    let shown = Shown {
        head: None,
        table,
        notes,
    };
    (shown, values)
}

fn notes(run: &Run, answer: &Answer) -> Vec<String> {
    let mut notes: Vec<String> = answer.caveat.iter().map(|c| (*c).to_owned()).collect();
    notes.extend(sampled(run, answer));
    notes.extend(missing(run, answer));
    notes
}

/// That events were sampled, if any were.
pub(super) fn sampled(run: &Run, answer: &Answer) -> Option<String> {
    analysis::notes::sampled(run, answer).unwrap_or_default()
}

/// What is not in the answer, as far as it is known: events, rows, what has no name.
pub(super) fn missing(run: &Run, answer: &Answer) -> impl Iterator<Item = String> {
    let dropped = analysis::dropped::note(run, answer, None);
    let lost = analysis::dropped::lost_note(run, answer);
    // What cannot be read is told where it is asked for.
    let counted = [dropped, lost].into_iter();
    let counted = counted.filter_map(Result::unwrap_or_default);
    counted.chain(analysis::notes::of(run, answer).unwrap_or_default())
}

/// A group's key for a person: `vda, read`.
pub(crate) fn key_text(answer: &Answer, group: &Group) -> Vec<String> {
    let text = |(key, by): (&KeyValue, &analysis::plan::ByDimension)| match key {
        KeyValue::Word(word) => output::one_line(word),
        KeyValue::Number(lower) => {
            let unit = by.number.unwrap_or(run::Unit::Count);
            let (from, to) = run::grid::bounds(*lower, unit);
            let amount = |v| run::unit::amount(v, unit, false);
            format!("{} .. {}", amount(from), amount(to))
        }
    };
    group.key.iter().zip(&answer.by).map(text).collect()
}

/// A column's name with its unit.
pub(super) fn with_unit(name: &str, suffix: &str) -> String {
    format!("{name} {suffix}").trim_end().to_owned()
}
