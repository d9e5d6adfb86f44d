//! A spreadsheet: a sheet for the summary and one a statistic, with real numbers, units in the
//! headings, and charts of the spreadsheet's own. Texts are written as texts, so that a name
//! that begins with `=` stays a name.

mod cells;
mod lines;
mod spread;

use std::collections::BTreeSet;

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Url, Workbook, Worksheet, XlsxError};

use super::{Panel, Report};
use crate::part::{Part, untied};
use crate::png::PngError;
use crate::table::Align;
use crate::text::clean;
use cells::Formats;

/// Why a spreadsheet could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// Its parts do not fit together: a fault of this program.
    #[error("the spreadsheet could not be written: {0}")]
    Writing(#[from] XlsxError),
    /// A picture in it.
    #[error(transparent)]
    Picture(#[from] PngError),
}

/// The file.
pub fn bytes(report: &Report) -> Result<Vec<u8>, SheetError> {
    let mut book = Workbook::new();
    let made = ExcelDateTime::from_timestamp(report.made.div_euclid(1_000_000_000))?;
    let title = clean(&report.title);
    let properties = DocProperties::new().set_title(cells::held(&title, cells::SHORT));
    book.set_properties(&properties.set_creation_datetime(&made));
    let names = names(report);
    let formats = Formats::new();
    summary(book.add_worksheet(), report, &names, &formats)?;
    for (panel, name) in report.panels.iter().zip(&names) {
        let sheet = book.add_worksheet();
        sheet.set_name(name)?;
        head(sheet, panel, &formats)?;
        match &panel.spreads {
            Some(spreads) => spread::fill(sheet, report, panel, spreads, &formats)?,
            None => lines::fill(sheet, report, panel, &formats)?,
        }
    }
    Ok(book.save_to_buffer()?)
}

/// A name a panel, of at most 31 characters, none twice: `2 disk.bytes`.
fn names(report: &Report) -> Vec<String> {
    let mut used = BTreeSet::from(["summary".to_owned()]);
    let name = |(place, panel): (usize, &Panel)| {
        let statistic = panel.answer.text.split_whitespace().next().unwrap_or("");
        let kept = |c: &char| c.is_alphanumeric() || "._- ".contains(*c);
        let statistic: String = statistic.chars().filter(kept).take(24).collect();
        let name = format!("{} {statistic}", place + 1);
        used.insert(name.to_lowercase());
        name
    };
    report.panels.iter().enumerate().map(name).collect()
}

/// Columns of the summary's labels and texts, in characters.
const WIDTHS: [f64; 2] = [14.0, 28.0];

fn summary(
    sheet: &mut Worksheet,
    report: &Report,
    names: &[String],
    formats: &Formats,
) -> Result<(), SheetError> {
    sheet.set_name("Summary")?;
    for (column, width) in (0..).zip(WIDTHS) {
        sheet.set_column_width(column, width)?;
    }
    let mut row = 0;
    cells::text(sheet, (row, 0), &report.title, &formats.title)?;
    row += 1;
    if report.dated {
        cells::text(sheet, (row, 0), "started (UTC)", &formats.bold)?;
        sheet.write_number_with_format(row, 1, cells::date(report.started), &formats.time)?;
        row += 1;
    }
    for part in &report.summary {
        row = self::part(sheet, row, part, formats)?;
    }
    row += 1;
    cells::text(sheet, (row, 0), "sheet", &formats.bold)?;
    cells::text(sheet, (row, 1), "statistic", &formats.bold)?;
    for (panel, name) in report.panels.iter().zip(names) {
        row += 1;
        let link = Url::new(format!("internal:'{name}'!A1"));
        sheet.write_url(row, 0, link.set_text(name.as_str()))?;
        cells::text(sheet, (row, 1), &panel.answer.text, &formats.plain)?;
    }
    Ok(())
}

/// Writes a part of the summary at `row`; the row that follows.
fn part(
    sheet: &mut Worksheet,
    mut row: u32,
    part: &Part,
    formats: &Formats,
) -> Result<u32, SheetError> {
    match part {
        Part::Line(line) => cells::text(sheet, (row, 0), line, &formats.plain)?,
        Part::Entry { label, text } => {
            cells::text(sheet, (row, 0), label, &formats.bold)?;
            cells::text(sheet, (row, 1), &untied(text), &formats.plain)?;
        }
        Part::Gap => {}
        Part::Table(table) => {
            // Beside the labels' column, as its texts are.
            let columns = || table.columns().iter().zip(1..);
            for ((name, align), column) in columns() {
                cells::text(
                    sheet,
                    (row, column),
                    name,
                    formats.heading(*align == Align::Right),
                )?;
            }
            for line in table.rows() {
                row += 1;
                for (text, ((_, align), column)) in line.iter().zip(columns()) {
                    let format = formats.of_text(*align == Align::Right);
                    cells::text(sheet, (row, column), text, format)?;
                }
            }
        }
    }
    Ok(row + 1)
}

/// The rows above a panel's numbers.
fn head(sheet: &mut Worksheet, panel: &Panel, formats: &Formats) -> Result<(), SheetError> {
    cells::text(sheet, (0, 0), &panel.answer.text, &formats.title)?;
    cells::text(sheet, (1, 0), panel.answer.help, &formats.plain)?;
    cells::text(sheet, (2, 0), &panel.notes.join("; "), &formats.plain)?;
    Ok(())
}
