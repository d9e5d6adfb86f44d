//! A spreadsheet: a sheet for the summary and one a statistic, with real numbers, units in the
//! headings, and charts of the spreadsheet's own. Texts are written as texts, so that a name
//! that begins with `=` stays a name.

mod cells;
mod figures;
mod lines;
mod spread;

use std::collections::BTreeSet;

use run::unit::{Scale, column_scale};
use run::{Nanos, Unit};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Url, Workbook, XlsxError};

use super::{Panel, Report};
use crate::part::{Part, untied};
use crate::png::PngError;
use crate::table::{Align, Table};
use crate::text::clean;
use cells::{Formats, Page};
pub use figures::bytes as of_figures;

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
    describe(&mut book, &report.title, report.made)?;
    let names = names(report);
    let formats = Formats::new();
    summary(
        &mut Page::new(book.add_worksheet(), &formats),
        report,
        &names,
    )?;
    for (panel, name) in report.panels.iter().zip(&names) {
        let sheet = book.add_worksheet();
        sheet.set_name(name)?;
        let mut page = Page::new(sheet, &formats);
        head(&mut page, panel)?;
        match &panel.spreads {
            Some(spreads) => spread::fill(&mut page, report, panel, spreads)?,
            None => lines::fill(&mut page, report, panel)?,
        }
    }
    Ok(book.save_to_buffer()?)
}

/// Title and time of the file.
fn describe(book: &mut Workbook, title: &str, made: Nanos) -> Result<(), XlsxError> {
    let made = ExcelDateTime::from_timestamp(made.div_euclid(1_000_000_000))?;
    let title = cells::held(&clean(title), cells::SHORT);
    let properties = DocProperties::new().set_title(title);
    book.set_properties(&properties.set_creation_datetime(&made));
    Ok(())
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

/// Writes a line that leads to a sheet, and says what is on it.
fn link(page: &mut Page<'_>, row: u32, name: &str, what: &str) -> Result<(), XlsxError> {
    let link = Url::new(format!("internal:'{name}'!A1"));
    page.sheet.write_url(row, 0, link.set_text(name))?;
    page.text((row, 1), what)
}

/// Columns of the summary's labels and texts, in characters.
const WIDTHS: [usize; 2] = [14, 28];

fn summary(page: &mut Page<'_>, report: &Report, names: &[String]) -> Result<(), SheetError> {
    page.sheet.set_name("Summary")?;
    for (column, width) in (0..).zip(WIDTHS) {
        page.widen(column, width)?;
    }
    page.text_as((0, 0), &report.title, &page.formats.title)?;
    let mut row = 1;
    if report.dated {
        page.heading((row, 0), "started (UTC)", false)?;
        page.time((row, 1), report.started)?;
        row += 1;
    }
    for part in &report.summary {
        row = self::part(page, row, part)?;
    }
    row += 1;
    page.heading((row, 0), "sheet", false)?;
    page.heading((row, 1), "statistic", false)?;
    for (panel, name) in report.panels.iter().zip(names) {
        row += 1;
        link(page, row, name, &panel.answer.text)?;
    }
    Ok(())
}

/// Writes a part of the summary at `row`; the row that follows.
fn part(page: &mut Page<'_>, mut row: u32, part: &Part) -> Result<u32, SheetError> {
    match part {
        Part::Line(line) => page.text((row, 0), line)?,
        Part::Entry { label, text } => {
            page.heading((row, 0), label, false)?;
            page.text((row, 1), &untied(text))?;
        }
        Part::Gap => {}
        Part::Table(table) => {
            // Beside the labels' column, as its texts are.
            let columns = || table.columns().iter().zip(1..);
            // Where a column has amounts, their scale.
            let amounts: Vec<_> = (0..table.columns().len())
                .map(|place| scaled(table, place))
                .collect();
            for (((name, align), column), amounts) in columns().zip(&amounts) {
                let name = match amounts {
                    Some((_, scale)) => cells::with_unit(name, *scale),
                    None => name.clone(),
                };
                page.heading((row, column), &name, *align == Align::Right)?;
            }
            for (place, line) in table.rows().iter().enumerate() {
                row += 1;
                let cells = line.iter().zip(columns()).zip(&amounts);
                for ((text, ((_, align), column)), amounts) in cells {
                    if let Some((values, scale)) = amounts {
                        page.number((row, column), values[place] / scale.by)?;
                        continue;
                    }
                    let format = page.formats.of_text(*align == Align::Right);
                    page.widen(column, text.chars().count() + 1)?;
                    page.text_as((row, column), text, format)?;
                }
            }
        }
    }
    Ok(row + 1)
}

/// The values of a column of a table and their scale, where its texts say amounts.
fn scaled(table: &Table, column: usize) -> Option<(Vec<f64>, Scale)> {
    let amounts = table.amounts(column)?;
    let values: Vec<f64> = amounts.iter().map(|a| a.value).collect();
    let scale = match amounts[0].unit {
        Unit::Count => column_scale(&[], Unit::Count, amounts[0].rate),
        unit => column_scale(&values, unit, amounts[0].rate),
    };
    Some((values, scale))
}

/// The rows above a panel's numbers.
fn head(page: &mut Page<'_>, panel: &Panel) -> Result<(), SheetError> {
    page.text_as((0, 0), &panel.answer.text, &page.formats.title)?;
    page.text((1, 0), panel.answer.help)?;
    page.text((2, 0), &panel.notes.join("; "))?;
    Ok(())
}
