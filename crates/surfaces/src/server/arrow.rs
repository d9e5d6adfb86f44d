//! The series of an answer as an Arrow stream: time, interval, a column a dimension, value.

use std::collections::HashMap;
use std::sync::Arc;

use analysis::scan::KeyValue;
use analysis::window::Pictured;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, TimestampNanosecondArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use axum::http::StatusCode;
use run::Run;
use run::catalog::Kind;

use super::picture::told;
use super::refused::Refused;

/// A column of values, growing.
enum Growing {
    Words(Vec<String>),
    Numbers(Vec<f64>),
}

/// The answer as a stream of one batch. Of heat maps the value is the amount in the column. How
/// many groups are left out is `others` in the schema's metadata.
pub(super) fn stream(run: &Run, pictured: &Pictured, top: usize) -> Result<Vec<u8>, Refused> {
    let answer = &pictured.answer;
    let is_heat = answer.by.iter().any(|by| by.number.is_some());
    let mut times = Vec::new();
    let mut intervals = Vec::new();
    let mut values = Vec::new();
    let mut keys: Vec<Growing> = answer
        .by
        .iter()
        .map(|by| match by.number {
            Some(_) => Growing::Numbers(vec![]),
            None => Growing::Words(vec![]),
        })
        .collect();
    let all = answer.groups.len();
    let shown = if is_heat { all } else { told(all, top) };
    for (place, group) in answer.groups.iter().enumerate().take(shown) {
        for (column, shown) in pictured.series(place).iter().enumerate() {
            let seconds = pictured.observed[column].0;
            let value = if is_heat && answer.kind == Some(Kind::Sum) {
                shown.mean * seconds
            } else {
                shown.mean
            };
            if value.is_nan() || (is_heat && value == 0.0) {
                continue;
            }
            times.push(pictured.grid.edge(column as u32 + 1));
            intervals.push(seconds);
            values.push(value);
            for (growing, key) in keys.iter_mut().zip(&group.key) {
                match (growing, key) {
                    (Growing::Words(all), KeyValue::Word(word)) => all.push(word.clone()),
                    (Growing::Words(all), KeyValue::Number(v)) => all.push(v.to_string()),
                    (Growing::Numbers(all), KeyValue::Number(v)) => all.push(*v),
                    (Growing::Numbers(all), KeyValue::Word(_)) => all.push(f64::NAN),
                }
            }
        }
    }
    let named = |name: &str, kind: DataType, unit: &str| {
        let field = Field::new(name, kind, false);
        let unit = HashMap::from([("unit".to_owned(), unit.to_owned())]);
        field.with_metadata(unit)
    };
    let utc = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let mut fields = vec![
        named("time", utc, "nanoseconds"),
        named("interval", DataType::Float64, "seconds"),
    ];
    let times = TimestampNanosecondArray::from(times).with_timezone("UTC");
    let mut columns: Vec<ArrayRef> = vec![Arc::new(times), Arc::new(Float64Array::from(intervals))];
    for (by, growing) in answer.by.iter().zip(keys) {
        let unit = by.number.map_or("", run::Unit::name);
        let (kind, array): (DataType, ArrayRef) = match growing {
            Growing::Words(all) => (DataType::Utf8, Arc::new(StringArray::from(all))),
            Growing::Numbers(all) => (DataType::Float64, Arc::new(Float64Array::from(all))),
        };
        fields.push(named(&by.name, kind, unit));
        columns.push(array);
    }
    let unit = if is_heat {
        answer.unit.name()
    } else {
        answer.value_unit()
    };
    fields.push(named("value", DataType::Float64, unit));
    columns.push(Arc::new(Float64Array::from(values)));
    let about = HashMap::from([
        ("expr".to_owned(), answer.text.clone()),
        ("run".to_owned(), run.manifest.id.clone()),
        ("others".to_owned(), (all - shown).to_string()),
    ]);
    let schema = Arc::new(Schema::new_with_metadata(fields, about));
    let failed = |e: arrow_schema::ArrowError| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, e);
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(failed)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).map_err(failed)?;
    writer.write(&batch).map_err(failed)?;
    writer.into_inner().map_err(failed)
}
