//! Tables of text: one unit a column, numbers to the right, names shortened in the middle.

use run::Unit;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Words, to the left as names, which are never shortened.
    Words,
    /// Numbers.
    Right,
}

/// What the text of a cell says, for who has numbers and units of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// In `unit`; NaN where nothing is known.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Whether it is by the second.
    pub rate: bool,
}

/// A text, and the amount that it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The amount; names have none.
    pub amount: Option<Amount>,
}

impl Cell {
    /// A name.
    pub fn name(text: String) -> Cell {
        Cell { text, amount: None }
    }

    /// `text`, which says `value`.
    pub fn amount(text: String, value: f64, unit: Unit, rate: bool) -> Cell {
        let amount = Some(Amount { value, unit, rate });
        Cell { text, amount }
    }
}

/// A table to print.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    /// As long as the rows; empty for rows of texts.
    amounts: Vec<Vec<Option<Amount>>>,
}

/// A name column is not shortened below this.
const LEAST_NAME: usize = 12;

impl Table {
    /// A table without columns.
    pub fn new() -> Table {
        Table::default()
    }

    /// Adds a column.
    pub fn column(&mut self, name: &str, align: Align) {
        self.columns.push((name.to_owned(), align));
    }

    /// Adds a row, a text a column.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
        self.amounts.push(vec![]);
    }

    /// Adds a row of texts that say amounts.
    pub fn row_of(&mut self, cells: Vec<Cell>) {
        self.amounts.push(cells.iter().map(|c| c.amount).collect());
        self.rows.push(cells.into_iter().map(|c| c.text).collect());
    }

    /// Names of the columns and where their texts stand.
    pub fn columns(&self) -> &[(String, Align)] {
        &self.columns
    }

    /// The rows, a text a column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The amounts of a column, a row each, where all its texts say one, in one unit.
    pub fn amounts(&self, column: usize) -> Option<Vec<Amount>> {
        let of_row = |row: &Vec<Option<Amount>>| row.get(column).copied().flatten();
        let amounts: Vec<Amount> = self.amounts.iter().map(of_row).collect::<Option<_>>()?;
        let kind = |a: &Amount| (a.unit, a.rate);
        let same = amounts.iter().all(|a| kind(a) == kind(&amounts[0]));
        (same && !amounts.is_empty()).then_some(amounts)
    }

    /// Keeps the first `most` rows; how many went.
    pub fn keep(&mut self, most: usize) -> usize {
        let gone = self.rows.len().saturating_sub(most);
        self.rows.truncate(most);
        self.amounts.truncate(most);
        gone
    }

    /// The table, each line ended; names are shortened to fit `width`.
    pub fn render(&self, width: usize) -> String {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, (name, _))| {
                let cells = self.rows.iter().filter_map(|r| r.get(i));
                cells
                    .map(|c| c.chars().count())
                    .max()
                    .unwrap_or(0)
                    .max(name.chars().count())
            })
            .collect();
        self.shorten(&mut widths, width);
        let names: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
        let mut text = self.line(&names, &widths);
        for row in &self.rows {
            text += &self.line(row, &widths);
        }
        text
    }

    /// Takes from the widest name column until the line fits.
    fn shorten(&self, widths: &mut [usize], width: usize) {
        let gaps = 2 * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let names = widths
                .iter_mut()
                .zip(&self.columns)
                .filter(|(_, c)| c.1 == Align::Left);
            match names.map(|(w, _)| w).filter(|w| **w > LEAST_NAME).max() {
                Some(widest) => *widest -= 1,
                None => return,
            }
        }
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (i, cell) in cells.iter().enumerate() {
            let (Some(&width), Some((_, align))) = (widths.get(i), self.columns.get(i)) else {
                break;
            };
            if i > 0 {
                line += "  ";
            }
            let cell = shortened(cell, width);
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            match align {
                Align::Left | Align::Words => line.extend([cell.as_str(), pad.as_str()]),
                Align::Right => line.extend([pad.as_str(), cell.as_str()]),
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// `text` after `head`, in lines of at most `width` columns, the further ones indented below
/// it; each line ended. A word that is longer has a line of its own.
pub fn wrapped(head: &str, text: &str, width: usize) -> String {
    let indent = head.chars().count();
    let mut out = head.to_owned();
    let mut at = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if at > indent && at + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            at = indent;
        }
        if at > indent {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out.push('\n');
    out
}

/// `text` in at most `width` characters; what is left out is in its middle, as `…`.
pub fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width == 0 {
        return text.to_owned();
    }
    let kept = width - 1;
    let head = kept.div_ceil(2);
    let front: String = text.chars().take(head).collect();
    let back: String = text.chars().skip(length - (kept - head)).collect();
    format!("{front}…{back}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_long_names_are_shortened() {
        let mut table = Table::new();
        table.column("process", Align::Left);
        table.column("CPU s", Align::Right);
        table.row(vec![
            "a-process-with-a-very-long-name[12345]".into(),
            "1.5".into(),
        ]);
        table.row(vec!["b".into(), "12".into()]);
        let text = table.render(30);
        assert_eq!(
            text,
            "process                  CPU s\na-process-w…name[12345]    1.5\nb                           12\n"
        );
        assert!(table.render(200).contains("very-long"));
    }

    #[test]
    fn a_column_has_amounts_where_all_its_rows_have() {
        let mut table = Table::new();
        for name in ["disk", "read"] {
            table.column(name, Align::Right);
        }
        let read = |value| Cell::amount("-".into(), value, Unit::Bytes, true);
        table.row_of(vec![Cell::name("sda".into()), read(1.0)]);
        table.row_of(vec![Cell::name("sdb".into()), read(2.0)]);
        assert_eq!(table.amounts(0), None);
        let values = |table: &Table| table.amounts(1).map(|a| a.iter().map(|a| a.value).sum());
        assert_eq!(values(&table), Some(3.0));
        assert_eq!((table.keep(1), values(&table)), (1, Some(1.0)));
        table.row(vec!["sdc".into(), "3".into()]);
        assert_eq!(values(&table), None);
    }

    #[test]
    fn shortening_keeps_both_ends() {
        assert_eq!(shortened("abcdefgh", 5), "ab…gh");
        assert_eq!(shortened("abc", 5), "abc");
        assert_eq!(shortened("éèêëē", 3), "é…ē");
    }
}
