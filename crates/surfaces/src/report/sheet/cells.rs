//! What all sheets have in common: formats of cells, headings, times.

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

/// Writes a text, never a formula.
pub(super) fn text(
    sheet: &mut Worksheet,
    (row, column): (u32, u16),
    text: &str,
    format: &Format,
) -> Result<(), XlsxError> {
    let text = held(&clean(text), LONGEST);
    if !text.is_empty() {
        sheet.write_string_with_format(row, column, text, format)?;
    }
    Ok(())
}

/// Writes a number; what is not known stays empty.
pub(super) fn number(
    sheet: &mut Worksheet,
    (row, column): (u32, u16),
    value: f64,
    formats: &Formats,
) -> Result<(), XlsxError> {
    if value.is_finite() {
        let whole = value.fract() == 0.0;
        let format = if whole {
            &formats.whole
        } else {
            &formats.number
        };
        sheet.write_number_with_format(row, column, value, format)?;
    }
    Ok(())
}

/// A time as spreadsheets count it: days since the end of 1899, in UTC.
pub(super) fn date(time: Nanos) -> f64 {
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
        // Intervals of one sample differ by less than a tenth.
        if let Some(before) = before
            && (slot.from() - before) as f64 / 1e9 > slot.interval / 10.0
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
    sheet: &mut Worksheet,
    report: &Report,
    slots: &[Slot],
    (top, rows): (u32, &[(Nanos, Option<usize>)]),
    formats: &Formats,
) -> Result<(), XlsxError> {
    for (column, name) in (0..).zip(["time (UTC)", "seconds", "interval s"]) {
        text(sheet, (top, column), name, formats.heading(true))?;
    }
    sheet.set_column_width(0, 23)?;
    for (row, (time, place)) in (top + 1..).zip(rows) {
        if report.dated {
            sheet.write_number_with_format(row, 0, date(*time), &formats.time)?;
        }
        number(sheet, (row, 1), report.since(*time), formats)?;
        if let Some(place) = place {
            number(sheet, (row, 2), slots[*place].interval, formats)?;
        }
    }
    Ok(())
}

/// An empty chart with its titles, over the time of `rows`.
pub(super) fn over_time(
    report: &Report,
    rows: &[(Nanos, Option<usize>)],
    sheet: &str,
    unit: &str,
) -> Chart {
    let mut chart = Chart::new(rust_xlsxwriter::ChartType::ScatterStraight);
    let ends = [rows.first(), rows.last()].map(|r| r.map_or(report.started, |r| r.0));
    if report.dated {
        let [from, to] = ends.map(date);
        let long = to - from > 1.0;
        let format = if long { "mm-dd hh:mm" } else { "hh:mm:ss" };
        let axis = chart.x_axis();
        axis.set_name("time (UTC)").set_num_format(format);
        if from < to {
            axis.set_min(from).set_max(to);
        }
    } else {
        chart.x_axis().set_name("seconds");
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

/// Adds bars without gaps between them.
pub(super) fn bars(chart: &mut Chart, sheet: &str, places: Places) {
    let mut fill = ChartSolidFill::new();
    fill.set_color(colour(0));
    let mut series = series(sheet, places);
    series
        .set_format(ChartFormat::new().set_solid_fill(&fill))
        .set_gap(0);
    chart.push_series(&series);
}
