//! The sheet of a statistic by a number: quantiles of each group, their course over time, the
//! distribution, and the heat map as a picture, which spreadsheets cannot draw themselves.

use analysis::quantiles::{Bucket, Distribution, SHOWN, Spread, Spreads};
use run::Unit;
use run::unit::Scale;
use rust_xlsxwriter::{Chart, ChartType, Image, XlsxError};

use super::SheetError;
use super::cells::{self, CHART_ROWS, Page, TIMES, TOP};
use crate::png;
use crate::report::{PICTURE, Panel, Report};

/// Groups whose course and distribution are told.
const MOST_GROUPS: usize = 8;

/// The numbers of a distribution besides its amount, in the order of the columns.
const NUMBERS: usize = SHOWN.len() + 2;

/// The columns that one chart takes.
const CHART_COLUMNS: u16 = 12;

/// Fills the sheet below its heading.
pub(super) fn fill(
    page: &mut Page<'_>,
    report: &Report,
    panel: &Panel,
    spreads: &Spreads,
) -> Result<(), SheetError> {
    let columns = groups(page, panel, spreads)?;
    let groups = spreads.groups.len() as u32;
    let top = (TOP + groups + 2).max(TOP + CHART_ROWS + 1);
    let Some(first) = spreads.groups.first() else {
        return Ok(());
    };
    let last = course(page, (report, panel), spreads, top)?;
    let mut column = columns + 1;
    if let Some(chart) = last.chart {
        page.sheet.insert_chart(TOP, column, &chart)?;
        column += CHART_COLUMNS;
    }
    let chart = distribution(page, panel, spreads, (top, last.columns + 1))?;
    if !first.whole.buckets.is_empty() {
        page.sheet.insert_chart(TOP, column, &chart)?;
        column += CHART_COLUMNS;
    }
    if let Some(chart) = &panel.chart {
        let picture = png::picture(chart, PICTURE.0, PICTURE.1)?;
        let image = Image::new_from_buffer(&picture)?;
        let image = image.set_scale_width(0.8).set_scale_height(0.8);
        let image = image.set_alt_text(cells::held(&panel.answer.text, cells::SHORT));
        page.sheet.insert_image(TOP, column, &image)?;
    }
    Ok(())
}

/// Mean, quantiles, greatest; NaN where there are too few events.
fn numbers(spreads: &Spreads, spread: &Distribution) -> [f64; NUMBERS] {
    let mean = spread.mean().filter(|_| spreads.has_mean());
    let [a, b, c, d] = SHOWN.map(|(_, q)| spread.quantile(q));
    [mean, a, b, c, d, spread.max()].map(|v| v.unwrap_or(f64::NAN))
}

/// Their headings.
fn names(scale: Scale) -> [String; NUMBERS] {
    let [a, b, c, d] = SHOWN.map(|s| s.0);
    ["mean", a, b, c, d, "max"].map(|n| cells::with_unit(n, scale))
}

/// The scale that suits the quantiles of all groups.
fn scale(spreads: &Spreads) -> Scale {
    let known = spreads
        .groups
        .iter()
        .flat_map(|s| numbers(spreads, &s.whole));
    cells::scale_of(&known.collect::<Vec<_>>(), spreads.unit, false)
}

/// `count` or `total MiB`, and its scale.
fn amount(panel: &Panel, spreads: &Spreads) -> (String, Scale) {
    let totals: Vec<f64> = spreads.groups.iter().map(|s| s.whole.total).collect();
    let scale = cells::scale(&panel.answer, &totals, false);
    let name = if panel.answer.unit == Unit::Count {
        "count"
    } else {
        "total"
    };
    (cells::with_unit(name, scale), scale)
}

/// A row a group: how many columns.
fn groups(page: &mut Page<'_>, panel: &Panel, spreads: &Spreads) -> Result<u16, XlsxError> {
    let words = panel.answer.by.iter().filter(|b| b.number.is_none());
    let words: Vec<&str> = words.map(|b| b.name.as_str()).collect();
    let (what, total) = amount(panel, spreads);
    let scale = scale(spreads);
    for (column, name) in (0..).zip(&words) {
        page.heading((TOP, column), name, false)?;
    }
    let keys = words.len() as u16;
    page.heading((TOP, keys), &what, true)?;
    for (column, name) in (keys + 1..).zip(names(scale)) {
        page.heading((TOP, column), &name, true)?;
    }
    for (row, spread) in (TOP + 1..).zip(&spreads.groups) {
        for (column, word) in (0..).zip(&spread.key) {
            page.text((row, column), word)?;
        }
        page.number((row, keys), spread.whole.total / total.by)?;
        for (column, value) in (keys + 1..).zip(numbers(spreads, &spread.whole)) {
            page.number((row, column), value / scale.by)?;
        }
    }
    Ok(keys + 1 + NUMBERS as u16)
}

/// How far the columns reach, and the chart of them.
struct Course {
    columns: u16,
    chart: Option<Chart>,
}

/// Amount and quantiles of each interval; the chart shows those of the largest group.
fn course(
    page: &mut Page<'_>,
    (report, panel): (&Report, &Panel),
    spreads: &Spreads,
    top: u32,
) -> Result<Course, XlsxError> {
    let slots = &panel.answer.slots;
    let rows = cells::rows(slots);
    cells::times(page, report, slots, (top, &rows))?;
    let scale = scale(spreads);
    let total = amount(panel, spreads).1;
    let mut column = TIMES;
    for spread in spreads.groups.iter().take(MOST_GROUPS) {
        headings(page, panel, spreads, spread, (top, column))?;
        for (row, (_, place)) in (top + 1..).zip(&rows) {
            let Some(place) = place else { continue };
            let at = spread
                .intervals
                .binary_search_by_key(&(*place as u32), |i| i.0);
            let Ok(at) = at else { continue };
            let one = &spread.intervals[at].1;
            page.number((row, column), one.total / total.by)?;
            for (column, value) in (column + 1..).zip(numbers(spreads, one)) {
                page.number((row, column), value / scale.by)?;
            }
        }
        column += 1 + NUMBERS as u16;
    }
    let name = page.sheet.name();
    let range = (top + 1, top + rows.len() as u32);
    let unit = cells::with_unit(&spreads.name, scale);
    let mut chart = cells::over_time(report, &rows, &name, &unit);
    if spreads.unit == Unit::Seconds {
        chart.y_axis().set_log_base(10);
    }
    let x = u16::from(!report.dated);
    for place in 0..SHOWN.len() {
        // After the amount and the mean.
        let y = TIMES + 2 + place as u16;
        cells::line(&mut chart, &name, (range, (x, y)), place);
    }
    Ok(Course {
        columns: column,
        chart: (!rows.is_empty()).then_some(chart),
    })
}

fn headings(
    page: &mut Page<'_>,
    panel: &Panel,
    spreads: &Spreads,
    spread: &Spread,
    (row, mut column): (u32, u16),
) -> Result<(), XlsxError> {
    let key = spread.key.join(", ");
    let what = amount(panel, spreads).0;
    for name in std::iter::once(what).chain(names(scale(spreads))) {
        let name = format!("{key} {name}");
        page.heading((row, column), name.trim(), true)?;
        column += 1;
    }
    Ok(())
}

/// The buckets with something in them, and how much; the chart shows the largest group.
fn distribution(
    page: &mut Page<'_>,
    panel: &Panel,
    spreads: &Spreads,
    (top, left): (u32, u16),
) -> Result<Chart, XlsxError> {
    let scale = scale(spreads);
    let (what, total) = amount(panel, spreads);
    let name = page.sheet.name();
    let mut chart = Chart::new(ChartType::Column);
    let mut column = left;
    for (place, spread) in spreads.groups.iter().take(MOST_GROUPS).enumerate() {
        let key = spread.key.join(", ");
        let of = |text: &str| format!("{key} {text}").trim().to_owned();
        let names = ["from", "to"]
            .map(|end| of(&cells::with_unit(&format!("{} {end}", spreads.name), scale)));
        for (column, name) in (column..).zip(names.into_iter().chain([of(&what)])) {
            page.heading((top, column), &name, true)?;
        }
        let buckets = tiled(&spread.whole.buckets, spreads.unit);
        for (row, (least, most, amount)) in (top + 1..).zip(&buckets) {
            let values = [least / scale.by, most / scale.by, amount / total.by];
            for (column, value) in (column..).zip(values) {
                page.number((row, column), value)?;
            }
        }
        if place == 0 && !buckets.is_empty() {
            let columns = (column, column + 2);
            let buckets = buckets.len() as u32;
            cells::bars(&mut chart, &name, ((top + 1, top + buckets), columns), 0);
        }
        column += 4;
    }
    cells::dress(&mut chart, &name, &what);
    chart
        .x_axis()
        .set_name(cells::with_unit(&format!("{}, from", spreads.name), scale).as_str());
    Ok(chart)
}

/// Rows of empty buckets between two that are not.
const MOST_EMPTY: usize = 500;

/// Least, most and amount of each bucket, with the empty ones between them: bars stand as far
/// apart as their buckets do.
fn tiled(buckets: &[Bucket], unit: Unit) -> Vec<(f64, f64, f64)> {
    let mut rows: Vec<(f64, f64, f64)> = Vec::with_capacity(buckets.len());
    let mut next = f64::INFINITY;
    for bucket in buckets {
        let key = bucket.cell.key;
        for _ in 0..MOST_EMPTY {
            // The bounds of whole numbers of nanoseconds, in seconds.
            if next >= key - key.abs() * 1e-12 || next < 0.0 {
                break;
            }
            let upper = run::grid::bounds(next, unit).1;
            rows.push((next, upper, 0.0));
            next = upper;
        }
        rows.push((bucket.least, bucket.most, bucket.cell.amount));
        next = run::grid::bounds(key, unit).1;
    }
    rows
}
