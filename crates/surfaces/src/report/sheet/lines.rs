//! The sheet of a statistic by words: a row a group, a chart, and below a row an interval.

use analysis::Answer;
use rust_xlsxwriter::XlsxError;

use super::cells::{self, CHART_ROWS, LINES, Page, TIMES, TOP};
use crate::report::{Panel, Report};

/// Groups that have a row.
const MOST_GROUPS: usize = 200;

/// Values on a sheet: more take longer to open than anyone waits.
const MOST_VALUES: usize = 1_000_000;

/// Rows of a sheet, less what stands above the series.
const MOST_ROWS: usize = 1_048_000;

/// Fills the sheet below its heading.
pub(super) fn fill(page: &mut Page<'_>, report: &Report, panel: &Panel) -> Result<(), XlsxError> {
    let answer = &panel.answer;
    let (columns, groups) = groups(page, answer)?;
    let top = (TOP + groups + 2).max(TOP + CHART_ROWS + 1);
    let mut rows = cells::rows(&answer.slots);
    let cut = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let most = (MOST_VALUES / rows.len().max(1)).clamp(1, MOST_GROUPS);
    let left_out = answer.groups.len().saturating_sub(most);
    if cut + left_out > 0 {
        let text = format!(
            "Not on this sheet: {left_out} smaller groups, {cut} later intervals. \
             A report as .csv has all."
        );
        page.text((top - 1, 0), &text)?;
    }
    cells::times(page, report, &answer.slots, (top, &rows))?;
    let values = answer
        .groups
        .iter()
        .take(most)
        .flat_map(|g| [g.mean, g.max]);
    let scale = cells::scale(answer, &values.collect::<Vec<_>>(), answer.is_rate());
    // Where a slot is: rows of gaps lie between.
    let mut row_of = vec![0; answer.slots.len()];
    for (row, (_, place)) in (top + 1..).zip(&rows) {
        if let Some(place) = place {
            row_of[*place] = row;
        }
    }
    for (column, group) in (TIMES..).zip(answer.groups.iter().take(most)) {
        let name = match cells::key_name(&group.key) {
            name if name.is_empty() => "value".to_owned(),
            name => name,
        };
        let name = cells::with_unit(&name, scale);
        page.heading((top, column), &name, true)?;
        for (place, value) in &group.series {
            let row = row_of[*place as usize];
            if row > 0 {
                page.number((row, column), value / scale.by)?;
            }
        }
    }
    if rows.is_empty() || answer.groups.is_empty() {
        return Ok(());
    }
    let name = page.sheet.name();
    let mut chart = cells::over_time(report, &rows, &name, scale.suffix);
    let x = u16::from(!report.dated);
    let lines = answer.groups.len().min(most).min(LINES);
    for place in 0..lines {
        let range = (top + 1, top + rows.len() as u32);
        let columns = (x, TIMES + place as u16);
        cells::line(&mut chart, &name, (range, columns), place);
    }
    page.sheet.insert_chart(TOP, columns + 1, &chart)?;
    Ok(())
}

/// A row a group with its total, mean, least and greatest: how many columns and rows.
fn groups(page: &mut Page<'_>, answer: &Answer) -> Result<(u16, u32), XlsxError> {
    let rate = answer.is_rate();
    let groups = || answer.groups.iter().take(MOST_GROUPS);
    let values: Vec<f64> = groups().flat_map(|g| [g.mean, g.max]).collect();
    let totals: Vec<f64> = groups().filter_map(|g| g.total).collect();
    let (values, totals) = (
        cells::scale(answer, &values, rate),
        cells::scale(answer, &totals, false),
    );
    let keys = answer.by.len() as u16;
    for (column, by) in (0..).zip(&answer.by) {
        page.heading((TOP, column), &by.name, false)?;
    }
    let mut names = vec![];
    if rate {
        names.push(cells::with_unit("total", totals));
    }
    names.extend(["mean", "min", "max"].map(|n| cells::with_unit(n, values)));
    names.push("intervals".into());
    for (column, name) in (keys..).zip(&names) {
        page.heading((TOP, column), name, true)?;
    }
    for (row, group) in (TOP + 1..).zip(groups()) {
        for (column, key) in (0..).zip(&group.key) {
            let name = cells::key_name(std::slice::from_ref(key));
            page.text((row, column), &name)?;
        }
        let mut numbers = vec![];
        if rate {
            numbers.push(group.total.unwrap_or(f64::NAN) / totals.by);
        }
        numbers.extend([group.mean, group.min, group.max].map(|v| v / values.by));
        numbers.push(group.intervals as f64);
        for (column, value) in (keys..).zip(numbers) {
            page.number((row, column), value)?;
        }
    }
    Ok((keys + names.len() as u16, groups().count() as u32))
}
