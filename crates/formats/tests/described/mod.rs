//! Tables that a user describes, and what comes of a text.
#![allow(dead_code, reason = "each test uses a part of it")]

use formats::{Head, Import, Options, Report, own};
use run::Sink;
use run::catalog::{self, Column, columns};
use run::rows::TableId;

pub(crate) fn import(toml: &str, text: &str, options: Options) -> Result<(Report, Sink), String> {
    let own = own(toml).map_err(|e| e.to_string())?;
    let mut import = Import::new(&own, &Head::new(text.as_bytes()), options);
    import.feed(text.as_bytes()).map_err(|e| e.to_string())?;
    let report = import.finish().map_err(|e| e.to_string())?;
    Ok((report, std::mem::take(import.rows())))
}

pub(crate) fn every(seconds: f64) -> Options {
    Options {
        every: Some(seconds),
        ..Options::default()
    }
}

/// The rows of a table as text: seconds, words, values that are known.
pub(crate) fn rows(sink: &Sink, table: &str) -> Vec<String> {
    let (subject, found) = catalog::table(table).expect("a table");
    let rows = sink.rows(TableId::of(table));
    let names: Vec<&str> = columns(subject, found)
        .filter(|c| !matches!(c, Column::Dimension(d) if d.number.is_none()))
        .map(|c| c.name())
        .collect();
    (0..rows.len())
        .map(|i| {
            let word = |w: &Vec<run::Word>| sink.words.text(w[i]).expect("a word").to_owned();
            let words: Vec<String> = rows.words.iter().map(word).collect();
            let values = names.iter().zip(&rows.values);
            let values: Vec<String> = values
                .filter(|(_, v)| !v[i].is_nan())
                .map(|(n, v)| format!("{n}={}", (v[i] * 1e6).round() / 1e6))
                .collect();
            let second = rows.times[i] as f64 / 1e9;
            format!("{second} {} {}", words.join("/"), values.join(" "))
        })
        .collect()
}

pub(crate) const READS: &str = r#"
name = "reads"
separator = "comma"
[column]
at = { time = "iso" }
dev = { is = "device" }
rd = { measure = "disk.ios", op = "read", unit = "count/s" }
"#;
