//! Numbers in columns, as numbers: comma-separated values, and sheets of a spreadsheet.

use run::Unit;

use crate::csv::{field, number};

/// A table that a program reads.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Name of its sheet.
    pub name: String,
    /// A few words: what it is of.
    pub title: String,
    /// What its reader has to know.
    pub note: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, a cell a column.
    pub rows: Vec<Vec<Cell>>,
    /// What a spreadsheet draws of it.
    pub graph: Option<Graph>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Of what it has numbers: columns of the same have the same unit.
    pub quantity: Option<Quantity>,
}

/// What a number is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// An expression, or other words.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Whether it is per second.
    pub rate: bool,
}

/// What stands in a row of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A number in the base unit of its column; NaN: it is not known.
    Number(f64),
}

/// What to draw, by places of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graph {
    /// A bar a row: names, heights.
    Bars(usize, usize),
    /// Points joined by lines: across, upwards.
    Points(usize, usize),
}

impl Column {
    /// Of texts.
    pub fn of_text(name: &str) -> Column {
        Column {
            name: name.to_owned(),
            quantity: None,
        }
    }

    /// Of numbers.
    pub fn of_number(name: &str, quantity: Quantity) -> Column {
        Column {
            name: name.to_owned(),
            quantity: Some(quantity),
        }
    }
}

impl Quantity {
    /// A number without a unit.
    pub fn count() -> Quantity {
        Quantity {
            name: String::new(),
            unit: Unit::Count,
            rate: false,
        }
    }
}

/// The table as comma-separated values; numbers in base units, as short as reads back the same.
pub fn csv(figures: &Figures) -> String {
    let names = figures.columns.iter().map(|c| field(&c.name));
    let mut text = format!("{}\n", names.collect::<Vec<_>>().join(","));
    for row in &figures.rows {
        let cells = row.iter().map(|cell| match cell {
            Cell::Text(text) => field(text),
            Cell::Number(value) if value.is_infinite() => String::new(),
            Cell::Number(value) => number(*value),
        });
        text += &format!("{}\n", cells.collect::<Vec<_>>().join(","));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_empty() {
        let figures = Figures {
            columns: vec![
                Column::of_text("a,b"),
                Column::of_number("n", Quantity::count()),
            ],
            rows: [0.1, f64::NAN, f64::INFINITY]
                .map(|v| vec![Cell::Text("x\"y".into()), Cell::Number(v)])
                .to_vec(),
            ..Figures::default()
        };
        assert_eq!(
            csv(&figures),
            "\"a,b\",n\n\"x\"\"y\",0.1\n\"x\"\"y\",\n\"x\"\"y\",\n"
        );
    }
}
