//! What `bpftrace -f json` prints: a document a line.

use serde_json::{Map, Value};

use super::bpftrace::Bpftrace;
use super::buckets::Bucket;
use super::stamp;
use crate::Line;
use crate::out::Out;

/// Takes a line.
pub(super) fn line(of: &mut Bpftrace, text: &str, out: &mut Out) -> Line {
    let Ok(Value::Object(all)) = serde_json::from_str::<Value>(text) else {
        return Line::Unknown;
    };
    let kind = all.get("type").and_then(Value::as_str).unwrap_or("");
    match (kind, all.get("data")) {
        ("attached_probes" | "error", _) => Line::Noise,
        ("printf" | "cat" | "join" | "strerror", Some(Value::String(text))) => {
            let numbers = text.contains(|c: char| c.is_ascii_digit());
            if numbers { Line::Unknown } else { Line::Noise }
        }
        ("time", Some(Value::String(text))) => {
            let Some(at) = stamp(text) else {
                return Line::Unknown;
            };
            of.mark(at, out);
            Line::Noise
        }
        ("lost_events", _) => {
            out.note("bpftrace says that it lost events: counts are too low");
            Line::Noise
        }
        ("map" | "hist" | "lhist" | "tseries" | "stats", Some(Value::Object(maps))) => {
            maps_of(of, maps, out).map_or(Line::Unknown, |()| Line::Data)
        }
        _ => Line::Unknown,
    }
}

/// Maps by name, each a value, or values by key.
fn maps_of(of: &mut Bpftrace, maps: &Map<String, Value>, out: &mut Out) -> Option<()> {
    // All or nothing of a line.
    let mut found = Vec::new();
    for (name, value) in maps {
        match one(value, out) {
            Some(one) => found.push((name, "", one)),
            None => {
                for (key, value) in value.as_object()? {
                    found.push((name, key.as_str(), one(value, out)?));
                }
            }
        }
    }
    for (name, key, one) in found {
        match one {
            One::Buckets(rows) => of.histogram(name, key, &rows, out),
            One::Numbers(numbers) => of.number(name, key, &numbers, out),
        }
    }
    Some(())
}

enum One<'a> {
    Buckets(Vec<Bucket>),
    Numbers(Vec<(&'a str, f64)>),
}

fn one<'a>(value: &'a Value, out: &mut Out) -> Option<One<'a>> {
    match value {
        Value::Number(number) => Some(One::Numbers(vec![("", number.as_f64()?)])),
        Value::Array(rows) => {
            let rows = rows.iter().map(|row| {
                let of = |name: &str| row.get(name).and_then(Value::as_f64);
                // Both ends are in it.
                let bound = (of("min"), of("max").map(|max| max + 1.0));
                let told = bound.0.is_some() || bound.1.is_some();
                let count = of("count").filter(|_| told)?;
                Some(Bpftrace::bucket(bound, count, out))
            });
            rows.collect::<Option<Vec<_>>>().map(One::Buckets)
        }
        Value::Object(parts)
            if ["count", "average", "total"]
                .iter()
                .all(|p| parts.contains_key(*p)) =>
        {
            let numbers = parts
                .iter()
                .map(|(name, v)| Some((name.as_str(), v.as_f64()?)));
            numbers.collect::<Option<Vec<_>>>().map(One::Numbers)
        }
        _ => None,
    }
}
