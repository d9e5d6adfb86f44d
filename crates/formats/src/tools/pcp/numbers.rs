//! Rows of numbers: their time, whose they are, and what they say.

use std::collections::HashMap;

use super::header::{Column, date_without_year, told_apart};
use super::place::Rows;
use super::zone::east_of;
use super::{Kind, Pcp};
use crate::Line;
use crate::number::{number, scaled};
use crate::out::Out;
use crate::own::when;
use crate::stamp_line;
use crate::time::{Refused, Stamp, time_of_day};

/// Said of counters under the units of rates.
const RAW: &str = "its first row has whole numbers for all that is per second, where a rate is not known yet: they \
                   are counters, as pmdumptext -r prints them under the units of rates\n\
                   hint: pmdumptext without -r";

impl Pcp {
    pub(super) fn stamp(&mut self, text: &str, out: &mut Out) -> Option<Stamp> {
        let text = text.trim();
        if let Some((at, zone)) = text.rsplit_once(" UTC") {
            return Some(Stamp::Zoned(at.parse().ok()?, east_of(zone)?));
        }
        if let Some(stamp) = stamp_line::epoch(text.as_bytes()).or_else(|| when::iso(text)) {
            return Some(self.zone.of(stamp));
        }
        if let Some(time) = time_of_day(text.as_bytes(), None) {
            return Some(self.zone.of(Stamp::Clock(time)));
        }
        let Some(at) = date_without_year(text) else {
            // As `-f` has it: `23.11.2026 10:00:01`.
            return stamp_line::told(text.as_bytes(), out).map(|stamp| self.zone.of(stamp));
        };
        let first = *self.first.get_or_insert(at);
        let mut seconds = at.duration_since(first).as_secs_f64();
        if seconds < -86_400.0 * 180.0 {
            // The next year.
            seconds += 366.0 * 86_400.0;
        }
        Some(Stamp::Elapsed(seconds))
    }

    /// Whether these are the first numbers of `pmdumptext -r`, whose units are those of rates all the same: a
    /// rate is not known in the first row, and counters are whole numbers.
    fn is_raw(&self, numbers: &[f64]) -> bool {
        let is_rate = |c: &Column| c.unit.as_ref().is_some_and(|u| u.ends_with(" / second"));
        let columns = self.columns.iter().zip(numbers);
        let mut rates = columns
            .filter(|(c, _)| is_rate(c))
            .map(|(_, n)| *n)
            .peekable();
        rates.peek().is_some() && rates.all(|n| n.fract() == 0.0)
    }

    /// The time and the instance's name that stand before the numbers of a row. Both may have blanks
    /// in them, and `-f` says how the time looks: it is the longest one that ends at a gap.
    fn time_and_name<'a>(&mut self, text: &'a str, out: &mut Out) -> Option<(&'a str, &'a str)> {
        // One blank may be all that is between (`-l`).
        for gap in ["  ", " "] {
            for (at, _) in text
                .rmatch_indices(' ')
                .filter(|(at, _)| text[*at..].starts_with(gap))
            {
                let (time, name) = text.split_at(at);
                let is_end = !time.ends_with(' ') && time.contains(':');
                if is_end && self.stamp(time, out).is_some() {
                    return Some((time, name.trim()));
                }
            }
        }
        let (time, name) = text.split_once(' ')?;
        Some((time, name.trim()))
    }

    pub(super) fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line).into_owned();
        let mut across = String::new();
        let (time, values): (String, Vec<&str>) = match self.kind {
            Kind::Unknown => return Line::Unknown,
            Kind::Separated(between, before) => {
                let all: Vec<&str> = text.split(between).collect();
                let Some(values) = all.get(before..) else {
                    return Line::Unknown;
                };
                let time = all[before - 1].to_owned();
                (
                    time,
                    values.iter().map(|v| v.trim().trim_matches('"')).collect(),
                )
            }
            Kind::Blank => {
                let all: Vec<&str> = text.split_ascii_whitespace().collect();
                let Some(before) = all.len().checked_sub(self.columns.len()) else {
                    return Line::Unknown;
                };
                let values = all[before..].to_vec();
                let mut time = all[..before].join(" ");
                if let Some(end) = self.across {
                    let parted = text.get(..end).and_then(|t| self.time_and_name(t, out));
                    let Some((at, name)) = parted else {
                        return Line::Unknown;
                    };
                    (time, across) = (at.to_owned(), name.to_owned());
                }
                (time, values)
            }
        };
        if values.len() != self.columns.len() {
            return Line::Unknown;
        }
        let stamp = match time.as_str() {
            "" => None,
            time => match self.stamp(time, out) {
                Some(stamp) => Some(stamp),
                None => {
                    out.fault("the time", time.as_bytes());
                    return Line::Unknown;
                }
            },
        };
        let numbers: Option<Vec<f64>> = values.iter().map(|v| value(v)).collect();
        let Some(numbers) = numbers else {
            let fault = values.iter().find(|v| value(v).is_none());
            out.fault("the value", fault.map_or(b"", |f| f.as_bytes()));
            return Line::Unknown;
        };
        if !std::mem::replace(&mut self.begun, true) && self.is_raw(&numbers) {
            out.refuse(Refused(RAW.into()));
        }
        match stamp {
            Some(stamp) if self.across.is_some() => out.sample_once_or_same(stamp),
            _ => out.sample_once(stamp),
        }
        if self.across.is_some() {
            if self.came.0 != stamp || stamp.is_none() {
                self.came = (stamp, HashMap::new());
            }
            let name = told_apart(across.clone(), self.came.1.entry(across).or_default());
            for column in &mut self.columns {
                name.clone_into(&mut column.instance);
            }
        }
        let mut rows = Rows::default();
        for (column, number) in self.columns.iter().zip(numbers) {
            if number.is_nan() || column.again {
                continue;
            }
            if column.metric.is_empty() {
                out.note(
                    "lines of its header are missing: what the columns are of that they name is not \
                     known",
                );
                continue;
            }
            let unit = column.unit.as_deref();
            let placed = unit
                .is_some_and(|unit| rows.take(&column.metric, &column.instance, unit, number, out));
            if !placed {
                let instance = out.word(column.instance.as_bytes());
                out.other(&column.metric, unit.unwrap_or_default(), instance, number);
            }
        }
        rows.put(out);
        Line::Data
    }
}

/// A value; NaN where there is none.
fn value(text: &str) -> Option<f64> {
    match text {
        "" | "N/A" | "?" | "!" | "xxx" | "NaN" | "inf" | "-inf" | "~" => Some(f64::NAN),
        // `4.10K` is a thousand of the unit, also of bytes. `3.` is of `pmval`, in as many places.
        _ => {
            let text = text.strip_suffix('.').unwrap_or(text).as_bytes();
            number(text).or_else(|| scaled(text, 1000.0))
        }
    }
}
