//! The sheet of a statistic by words: a row a group, a chart, and below a row an interval.

use analysis::Answer;
use analysis::scan::KeyValue;
use run::unit::Scale;
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
    let beyond = |most: usize| answer.groups.len().saturating_sub(most);
    let mut missing = Vec::new();
    if beyond(MOST_GROUPS) > 0 {
        let groups = beyond(MOST_GROUPS);
        missing.push(format!("Not in the table above: {groups} smaller groups."));
    }
    if cut + beyond(most) > 0 {
        let groups = beyond(most);
        missing.push(format!(
            "Not in the series below: {groups} smaller groups, {cut} later intervals."
        ));
    }
    if !missing.is_empty() {
        missing.push("A report as .csv has all.".into());
        page.text((top - 1, 0), &missing.join(" "))?;
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

/// Of each dimension that is a number, the scale of its values.
fn key_scales(answer: &Answer) -> Vec<Option<Scale>> {
    let by = answer.by.iter().enumerate();
    let scales = by.map(|(place, by)| {
        let values = answer.groups.iter().take(MOST_GROUPS);
        let values = values.filter_map(|group| match group.key.get(place) {
            Some(KeyValue::Number(value)) => Some(*value),
            _ => None,
        });
        let values: Vec<f64> = values.collect();
        by.number.map(|unit| cells::scale_of(&values, unit, false))
    });
    scales.collect()
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
    let scales = key_scales(answer);
    for ((column, by), scale) in (0..).zip(&answer.by).zip(&scales) {
        match scale {
            Some(scale) => {
                let name = cells::with_unit(&by.name, *scale);
                page.heading((TOP, column), &name, true)?;
            }
            None => page.heading((TOP, column), &by.name, false)?,
        }
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
        for ((column, key), scale) in (0..).zip(&group.key).zip(&scales) {
            match (key, scale) {
                (KeyValue::Number(value), Some(scale)) => {
                    page.number((row, column), value / scale.by)?;
                }
                _ => page.text((row, column), &cells::key_name(std::slice::from_ref(key)))?,
            }
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
