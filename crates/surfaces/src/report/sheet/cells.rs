//! What all sheets have in common: formats of cells, headings, times.

use std::collections::BTreeMap;

use analysis::Answer;
use analysis::scan::{KeyValue, Slot};
use run::unit::{Scale, column_scale};
use run::{Nanos, Unit};
use rust_xlsxwriter::{
    Chart, ChartAxisLabelPosition, ChartFormat, ChartLegendPosition, ChartLine, ChartSeries,
    ChartSolidFill, Format, FormatAlign, Worksheet, XlsxError,
};

use crate::palette::{Rgb, SERIES};
use crate::report::Report;
use crate::text::clean;

/// Characters of a cell: half of what one takes, since some count twice.
const LONGEST: usize = 16_000;

/// Characters of the other texts, likewise.
pub(super) const SHORT: usize = 127;

/// Where the numbers begin, below the heading.
pub(super) const TOP: u32 = 4;

/// Rows that a chart is high.
pub(super) const CHART_ROWS: u32 = 21;

/// Pixels of a chart.
const CHART: (u32, u32) = (720, 400);

/// Lines of a chart; more are not told apart.
pub(super) const LINES: usize = SERIES.len();

/// How cells look.
pub(super) struct Formats {
    pub(super) title: Format,
    pub(super) bold: Format,
    pub(super) plain: Format,
    pub(super) time: Format,
    right: Format,
    bold_right: Format,
    number: Format,
    whole: Format,
}

impl Formats {
    pub(super) fn new() -> Formats {
        let plain = Format::new();
        let right = plain.clone().set_align(FormatAlign::Right);
        Formats {
            title: plain.clone().set_bold().set_font_size(14),
            bold: plain.clone().set_bold(),
            time: plain.clone().set_num_format("yyyy-mm-dd hh:mm:ss.000"),
            bold_right: right.clone().set_bold(),
            // The cell has all digits; these are as many as are worth reading.
            number: plain.clone().set_num_format("[=0]0;[<1]0.0000;#,##0.00"),
            whole: plain.clone().set_num_format("#,##0"),
            plain,
            right,
        }
    }

    /// Of a heading over texts or numbers.
    pub(super) fn heading(&self, right: bool) -> &Format {
        if right { &self.bold_right } else { &self.bold }
    }

    /// Of a text to the left or right.
    pub(super) fn of_text(&self, right: bool) -> &Format {
        if right { &self.right } else { &self.plain }
    }
}

/// The first `most` characters of `text`.
pub(super) fn held(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// A sheet that is being filled. Columns get as wide as their headings.
pub(super) struct Page<'w> {
    pub(super) sheet: &'w mut Worksheet,
    pub(super) formats: &'w Formats,
    widths: BTreeMap<u16, usize>,
}

/// Characters of a column whose heading is shorter.
const LEAST_WIDTH: usize = 10;

/// Characters of a column whose heading is longer.
const MOST_WIDTH: usize = 40;

impl<'w> Page<'w> {
    pub(super) fn new(sheet: &'w mut Worksheet, formats: &'w Formats) -> Page<'w> {
        Page {
            sheet,
            formats,
            widths: BTreeMap::new(),
        }
    }

    /// Makes a column at least so many characters wide.
    pub(super) fn widen(&mut self, column: u16, width: usize) -> Result<(), XlsxError> {
        let known = self.widths.entry(column).or_default();
        let width = width.clamp(LEAST_WIDTH, MOST_WIDTH);
        if width > *known {
            *known = width;
            self.sheet.set_column_width(column, width as f64)?;
        }
        Ok(())
    }

    /// Writes a text, never a formula.
    pub(super) fn text_as(
        &mut self,
        (row, column): (u32, u16),
        text: &str,
        format: &Format,
    ) -> Result<(), XlsxError> {
        let text = held(&clean(text), LONGEST);
        if !text.is_empty() {
            self.sheet
                .write_string_with_format(row, column, text, format)?;
        }
        Ok(())
    }

    /// Writes a text as it comes.
    pub(super) fn text(&mut self, at: (u32, u16), text: &str) -> Result<(), XlsxError> {
        self.text_as(at, text, &self.formats.plain)
    }

    /// Writes the heading of a column of names (to the left) or numbers (to the right).
    pub(super) fn heading(
        &mut self,
        at: (u32, u16),
        text: &str,
        right: bool,
    ) -> Result<(), XlsxError> {
        self.widen(at.1, text.chars().count() + 2)?;
        self.text_as(at, text, self.formats.heading(right))
    }

    /// Writes a number; what is not known stays empty.
    pub(super) fn number(
        &mut self,
        (row, column): (u32, u16),
        value: f64,
    ) -> Result<(), XlsxError> {
        if value.is_finite() {
            let whole = value.fract() == 0.0;
            let format = if whole {
                &self.formats.whole
            } else {
                &self.formats.number
            };
            self.sheet
                .write_number_with_format(row, column, value, format)?;
        }
        Ok(())
    }

    /// Writes a time in UTC.
    pub(super) fn time(&mut self, (row, column): (u32, u16), time: Nanos) -> Result<(), XlsxError> {
        self.widen(column, 23)?;
        self.sheet
            .write_number_with_format(row, column, date(time), &self.formats.time)?;
        Ok(())
    }
}

/// A time as spreadsheets count it: days since the end of 1899, in UTC.
fn date(time: Nanos) -> f64 {
    /// 1970-01-01.
    const EPOCH: f64 = 25_569.0;
    time as f64 / 1e9 / 86_400.0 + EPOCH
}

/// The scale of `values`; of bytes and times the one that reads best, else whole units.
pub(super) fn scale(answer: &Answer, values: &[f64], rate: bool) -> Scale {
    // Numbers of many units have none in common.
    if ["other", "since_boot"].contains(&answer.table) {
        return column_scale(&[], answer.unit, rate);
    }
    scale_of(values, answer.unit, rate)
}

/// The scale of `values` in `unit`; counts are not scaled: a column holds seven digits.
pub(super) fn scale_of(values: &[f64], unit: Unit, rate: bool) -> Scale {
    if unit == Unit::Count {
        return column_scale(&[], unit, rate);
    }
    column_scale(values, unit, rate)
}

/// `mean MiB/s`.
pub(super) fn with_unit(name: &str, scale: Scale) -> String {
    format!("{name} {}", scale.suffix).trim().to_owned()
}

/// A key as the heading of a column.
pub(super) fn key_name(words: &[KeyValue]) -> String {
    let word = |k: &KeyValue| match k {
        KeyValue::Word(word) => word.clone(),
        KeyValue::Number(number) => number.to_string(),
    };
    words.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The rows of a series: the slots, and `None` where time passed between two of them, so that
/// a line is not drawn over it.
pub(super) fn rows(slots: &[Slot]) -> Vec<(Nanos, Option<usize>)> {
    let mut rows = Vec::with_capacity(slots.len());
    for (place, slot) in slots.iter().enumerate() {
        let before = place.checked_sub(1).map(|p| slots[p].time);
        // Sources are read a little before or after the sample's time.
        if let Some(before) = before
            && (slot.from() - before) as f64 / 1e9 > slot.interval / 2.0
        {
            rows.push((before, None));
        }
        rows.push((slot.time, Some(place)));
    }
    rows
}

/// Columns that [`times`] writes.
pub(super) const TIMES: u16 = 3;

/// Writes the columns of times of `rows` from `top` on.
pub(super) fn times(
    page: &mut Page<'_>,
    report: &Report,
    slots: &[Slot],
    (top, rows): (u32, &[(Nanos, Option<usize>)]),
) -> Result<(), XlsxError> {
    for (column, name) in (0..).zip(["time (UTC)", "seconds", "interval s"]) {
        page.heading((top, column), name, true)?;
    }
    for (row, (time, place)) in (top + 1..).zip(rows) {
        if report.dated {
            page.time((row, 0), *time)?;
        }
        page.number((row, 1), report.since(*time))?;
        if let Some(place) = place {
            page.number((row, 2), slots[*place].interval)?;
        }
    }
    Ok(())
}

/// Seconds between two marks of an axis of times.
const STEPS: [f64; 16] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
    21_600.0, 43_200.0,
];

/// Marks of an axis of times, at most.
const MOST_MARKS: f64 = 8.0;

/// The least of [`STEPS`] that gives few enough marks; whole days beyond.
fn step(seconds: f64) -> f64 {
    let fits = STEPS.iter().find(|s| seconds / **s <= MOST_MARKS);
    fits.copied()
        .unwrap_or_else(|| (seconds / MOST_MARKS / 86_400.0).ceil() * 86_400.0)
}

/// An empty chart with its titles, over the time of `rows`.
pub(super) fn over_time(
    report: &Report,
    rows: &[(Nanos, Option<usize>)],
    sheet: &str,
    unit: &str,
) -> Chart {
    let mut chart = Chart::new(rust_xlsxwriter::ChartType::ScatterStraight);
    let [from, to] = [rows.first(), rows.last()].map(|r| r.map_or(report.started, |r| r.0));
    let step = step((to - from) as f64 / 1e9);
    let axis = chart.x_axis();
    if report.dated {
        let days = step / 86_400.0;
        let format = if step >= 21_600.0 {
            "mm-dd hh:mm"
        } else {
            "hh:mm:ss"
        };
        axis.set_name("time (UTC)").set_num_format(format);
        axis.set_min((date(from) / days).floor() * days);
        axis.set_max((date(to) / days).ceil() * days);
        axis.set_major_unit(days);
    } else {
        axis.set_name("seconds").set_major_unit(step);
    }
    dress(&mut chart, sheet, unit);
    chart
}

/// Titles, legend and size. The title is that of the sheet, by its place: a text could be taken
/// for a place itself.
pub(super) fn dress(chart: &mut Chart, sheet: &str, unit: &str) {
    chart.title().set_name((sheet, 0, 0));
    chart.y_axis().set_name(unit);
    // Below the plot also where values lie below zero.
    let axis = chart.x_axis();
    axis.set_label_position(ChartAxisLabelPosition::Low);
    chart.legend().set_position(ChartLegendPosition::Bottom);
    chart.set_width(CHART.0).set_height(CHART.1);
}

/// Rows from and to, columns of x and y.
type Places = ((u32, u32), (u16, u16));

/// A series of those places, named by the heading above it.
fn series(sheet: &str, ((from, to), (x, y)): Places) -> ChartSeries {
    let mut series = ChartSeries::new();
    series
        .set_name((sheet, from - 1, y))
        .set_categories((sheet, from, x, to, x))
        .set_values((sheet, from, y, to, y));
    series
}

fn colour(place: usize) -> u32 {
    let Rgb(r, g, b) = SERIES[place % SERIES.len()];
    u32::from_be_bytes([0, r, g, b])
}

/// Adds a line, the one at `place` of the chart.
pub(super) fn line(chart: &mut Chart, sheet: &str, places: Places, place: usize) {
    let mut line = ChartLine::new();
    line.set_color(colour(place)).set_width(1.5);
    let mut series = series(sheet, places);
    series.set_format(ChartFormat::new().set_line(&line));
    chart.push_series(&series);
}

/// Adds bars, with a gap of so many hundredths of their width between them.
pub(super) fn bars(chart: &mut Chart, sheet: &str, places: Places, gap: u16) {
    let mut fill = ChartSolidFill::new();
    fill.set_color(colour(0));
    let mut series = series(sheet, places);
    series
        .set_format(ChartFormat::new().set_solid_fill(&fill))
        .set_gap(gap);
    chart.push_series(&series);
}
