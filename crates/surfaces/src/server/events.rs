//! `events`: what happened, one by one, as JSON or CSV.

use std::sync::Arc;

use analysis::listing::{Listing, Value as Told, Wanted, events};
use analysis::quantiles;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use run::Run;
use serde_json::{Value, json};

use super::Serving;
use super::asked::Asked;
use super::picture::Number;
use super::refused::Refused;
use super::runs::since;

/// Events of one answer.
const MOST: usize = 100_000;
const OTHERWISE: usize = 200;

/// Answers with events.
pub(super) async fn list(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Response, Refused> {
    let (run, _) = serving.run(&asked)?;
    let subject = asked.needed("subject")?.to_owned();
    let predicates = asked.text("where").unwrap_or_default().to_owned();
    let order = asked.text("order").unwrap_or_default().to_owned();
    let (from, to) = (asked.number("from")?, asked.number("to")?);
    let most = asked.count("limit", 1..=MOST, OTHERWISE)?;
    let csv = asked.one_of("format", &["json", "csv"])? == Some(1);
    let work = move |bounds: &Arc<_>| {
        let wanted = Wanted {
            subject: &subject,
            predicates: &predicates,
            from,
            to,
            order: &order,
            most,
        };
        let listing = events(&run, &wanted, bounds).map_err(refused)?;
        if csv {
            return Ok((CSV, csv_of(&run, &listing).into_bytes()));
        }
        let heaviest = quantiles::heaviest(&run, listing.table)?;
        let json = json_of(&run, &listing, heaviest);
        Ok(("application/json", json.to_string().into_bytes()))
    };
    let (kind, bytes) = serving.answers.work_out(work).await?;
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    if csv {
        let value = header::HeaderValue::from_static("attachment; filename=\"events.csv\"");
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

const CSV: &str = "text/csv; charset=utf-8";

/// A run that does not have the events is no mistake of who asks: it says what to record.
fn refused(error: analysis::Error) -> Refused {
    let missing = match &error {
        analysis::Error::Problem(problem) => problem.what.starts_with("this run has no table"),
        _ => false,
    };
    let mut refused = Refused::from(error);
    if missing {
        refused.status = StatusCode::CONFLICT;
        refused.at = None;
    }
    refused
}

fn json_of(run: &Run, listing: &Listing, heaviest: f64) -> Value {
    let mut columns = vec![json!({"name": "time", "unit": "seconds", "kind": "time"})];
    columns.extend(listing.fields.iter().map(|field| {
        let kind = if field.number.is_some() {
            "number"
        } else {
            "word"
        };
        json!({"name": field.name, "unit": field.number.map(run::Unit::name), "kind": kind})
    }));
    let rows: Vec<Value> = listing
        .events
        .iter()
        .map(|event| {
            let mut row = vec![json!(since(run, event.time))];
            row.extend(event.values.iter().map(|value| match value {
                Told::Word(word) => json!(word),
                Told::Number(number) => json!(Number(*number)),
            }));
            Value::Array(row)
        })
        .collect();
    json!({
        "columns": columns, "rows": rows, "matched": listing.matched,
        "events": Number(listing.stands_for), "table": listing.table, "sampled": heaviest,
    })
}

fn csv_of(run: &Run, listing: &Listing) -> String {
    let mut text = String::from("time,seconds");
    for field in &listing.fields {
        let unit = field
            .number
            .map_or(String::new(), |u| format!(" ({})", u.name()));
        text += &format!(",{}{unit}", field.name);
    }
    text.push('\n');
    for event in &listing.events {
        text += &run::manifest::rfc3339(event.time);
        text += &format!(",{}", since(run, event.time));
        for value in &event.values {
            text.push(',');
            match value {
                Told::Word(word) => text += &csv_field(word),
                Told::Number(number) if number.is_nan() => {}
                Told::Number(number) => text += &number.to_string(),
            }
        }
        text.push('\n');
    }
    text
}

/// A field as RFC 4180 has it. One that a spreadsheet would take for a formula gets a quote
/// before it: names of processes and files are anybody's.
fn csv_field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fields_are_quoted_and_no_formulas() {
        assert_eq!(super::csv_field("fio"), "fio");
        assert_eq!(super::csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(super::csv_field("=cmd()"), "'=cmd()");
        assert_eq!(super::csv_field("-1"), "'-1");
    }
}
