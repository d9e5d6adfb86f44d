//! A document as a spreadsheet: its texts and pictures on the first sheet, its numbers on sheets of
//! their own, each with a chart that the spreadsheet draws.

use run::unit::Scale;
use rust_xlsxwriter::{Chart, ChartType, Image, Workbook, XlsxError};

use super::cells::{self, Formats, Page, TOP};
use super::{SheetError, WIDTHS, describe, link};
use crate::part::Part;
use crate::report::document::Document;
use crate::report::figures::{Cell, Column, Figures, Graph};

/// Hundredths of a bar between two.
const GAP: u16 = 80;

/// Rows that a picture takes on a sheet, at its scale.
const PICTURE_ROWS: u32 = 22;

/// How much of its size a picture has there.
const SHRUNK: f64 = 0.8;

/// The file: what `document` says without its tables, and `sheets`.
pub fn bytes(document: &Document, sheets: &[Figures]) -> Result<Vec<u8>, SheetError> {
    let mut book = Workbook::new();
    describe(&mut book, &document.title, document.made)?;
    let formats = Formats::new();
    summary(
        &mut Page::new(book.add_worksheet(), &formats),
        document,
        sheets,
    )?;
    for figures in sheets {
        let sheet = book.add_worksheet();
        sheet.set_name(&figures.name)?;
        fill(&mut Page::new(sheet, &formats), figures)?;
    }
    Ok(book.save_to_buffer()?)
}

fn summary(page: &mut Page<'_>, document: &Document, sheets: &[Figures]) -> Result<(), SheetError> {
    page.sheet.set_name("Summary")?;
    for (column, width) in (0..).zip(WIDTHS) {
        page.widen(column, width)?;
    }
    page.text_as((0, 0), &document.title, &page.formats.title)?;
    page.text_as((1, 0), &document.answer, &page.formats.bold)?;
    let mut row = 3;
    for section in &document.sections {
        let told = section
            .parts
            .iter()
            .filter(|p| !matches!(p, Part::Table(_)));
        let told: Vec<&Part> = told.collect();
        if told.is_empty() {
            continue;
        }
        page.text_as((row, 0), &section.heading, &page.formats.bold)?;
        row += 1;
        for part in told {
            row = super::part(page, row, part)?;
        }
        row += 1;
    }
    for figures in sheets {
        link(page, row, &figures.name, &figures.title)?;
        row += 1;
    }
    row += 1;
    for (_, picture) in document.pictures()? {
        let image = Image::new_from_buffer(&picture)?;
        let image = image.set_scale_width(SHRUNK).set_scale_height(SHRUNK);
        let image = image.set_alt_text(cells::held(&document.title, cells::SHORT));
        page.sheet.insert_image(row, 0, &image)?;
        row += PICTURE_ROWS;
    }
    Ok(())
}

/// Headings with their units, numbers, and the chart beside them.
fn fill(page: &mut Page<'_>, figures: &Figures) -> Result<(), XlsxError> {
    page.text_as((0, 0), &figures.title, &page.formats.title)?;
    page.text((1, 0), &figures.note)?;
    let scales = scales(figures);
    let scaled = || figures.columns.iter().zip(&scales).zip(0..);
    for ((column, scale), place) in scaled() {
        let name = heading(column, *scale);
        page.heading((TOP, place), &name, column.quantity.is_some())?;
    }
    for (row, cells) in (TOP + 1..).zip(&figures.rows) {
        for (cell, ((_, scale), place)) in cells.iter().zip(scaled()) {
            match cell {
                Cell::Text(text) => {
                    page.widen(place, text.chars().count() + 2)?;
                    page.text((row, place), text)?;
                }
                Cell::Number(value) => {
                    page.number((row, place), value / scale.map_or(1.0, |s| s.by))?;
                }
            }
        }
    }
    draw(page, figures, &scales)
}

/// `middle MiB/s`.
fn heading(column: &Column, scale: Option<Scale>) -> String {
    scale.map_or_else(
        || column.name.clone(),
        |scale| cells::with_unit(&column.name, scale),
    )
}

/// The scale of each column of numbers: one a quantity.
fn scales(figures: &Figures) -> Vec<Option<Scale>> {
    let of = |column: &Column| {
        let quantity = column.quantity.as_ref()?;
        let same = |c: &Column| c.quantity.as_ref() == Some(quantity);
        let places = (0..figures.columns.len()).filter(|p| same(&figures.columns[*p]));
        let places: Vec<usize> = places.collect();
        let numbers = figures.rows.iter().flat_map(|row| {
            places.iter().filter_map(|place| match row.get(*place) {
                Some(Cell::Number(value)) => Some(*value),
                _ => None,
            })
        });
        let numbers: Vec<f64> = numbers.collect();
        Some(cells::scale_of(&numbers, quantity.unit, quantity.rate))
    };
    figures.columns.iter().map(of).collect()
}

fn draw(page: &mut Page<'_>, figures: &Figures, scales: &[Option<Scale>]) -> Result<(), XlsxError> {
    let (Some(graph), false) = (figures.graph, figures.rows.is_empty()) else {
        return Ok(());
    };
    let sheet = page.sheet.name();
    let range = (TOP + 1, TOP + figures.rows.len() as u32);
    let name = |place: usize| heading(&figures.columns[place], scales[place]);
    let (mut chart, x, y) = match graph {
        Graph::Bars(x, y) => {
            let mut chart = Chart::new(ChartType::Column);
            cells::bars(&mut chart, &sheet, (range, (x as u16, y as u16)), GAP);
            (chart, x, y)
        }
        Graph::Points(x, y) => {
            let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
            cells::line(&mut chart, &sheet, (range, (x as u16, y as u16)), 0);
            (chart, x, y)
        }
    };
    cells::dress(&mut chart, &sheet, &name(y));
    chart.x_axis().set_name(name(x).as_str());
    // One series: the title says what it is of.
    chart.legend().set_hidden();
    // Below the numbers: their columns are many.
    page.sheet.insert_chart(range.1 + 2, 0, &chart)?;
    Ok(())
}
