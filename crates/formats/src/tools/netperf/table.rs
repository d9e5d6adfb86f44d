//! netperf's classic tables: a header of several lines, a row, and what the other side says.

use super::omni::is_ordinal;
use super::{Netperf, Next};
use crate::Line;
use crate::number::{decimals, number};

/// Where the values of a classic table's row stand.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    time: usize,
    throughput: usize,
    unit: String,
    /// Messages sent and failed stand between the two.
    messages: bool,
    /// Utilisation of both sides' processors and time a unit of work follow: that unit.
    demand: Option<&'static str>,
}

impl Columns {
    /// Of `bytes bytes bytes secs. 10^6bits/s % S % S us/KB us/KB`; UDP's `secs` has no point.
    fn of(words: &[&str]) -> Option<Columns> {
        let time = words.iter().position(|w| matches!(*w, "secs." | "secs"))?;
        let after = &words[time + 1..];
        let (throughput, unit) = match after {
            ["per", "sec", ..] => (time + 1, "Trans/s"),
            _ => {
                let is_unit = |w: &&str| w.contains("its/s") || w.contains("ytes/s");
                let place = after.iter().position(is_unit)?;
                (time + 1 + place, after[place])
            }
        };
        let demands = ["us/KB", "us/Tr"];
        Some(Columns {
            time,
            throughput,
            unit: unit.to_owned(),
            messages: throughput == time + 3,
            demand: demands.into_iter().find(|d| after.contains(d)),
        })
    }
}

impl Netperf {
    pub(super) fn table(&mut self, text: &str) -> Option<Line> {
        // With service demands the unit stands in a field of eight places: `KBytes  /s`.
        let text = text.replace("ytes  /s", "ytes/s");
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(columns) = Columns::of(&words) {
            self.next = Next::TableRow(columns);
        } else if words
            .iter()
            .any(|w| w.contains(|c: char| c.is_ascii_digit()) && !is_ordinal(w))
        {
            // A header has none: a row whose header was not found, or something else.
            return None;
        }
        Some(Line::Noise)
    }

    /// The row of a classic table.
    pub(super) fn table_row(&mut self, columns: &Columns, text: &str) -> Option<()> {
        let values = text.split_whitespace().map(|f| number(f.as_bytes()));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let test = self.test.as_mut()?;
        test.seconds = Some(*values.get(columns.time)?);
        test.throughput = Some(*values.get(columns.throughput)?);
        columns.unit.clone_into(&mut test.unit);
        if columns.messages {
            test.sent = Some((values[columns.time + 1], values[columns.time + 2]));
        }
        let beside = values.get(columns.throughput + 1..).unwrap_or_default();
        // Both demands have as many decimals: the last may have lost some of its own.
        let mut demands = text
            .split_whitespace()
            .rev()
            .map(|f| decimals(f.as_bytes()));
        let is_cut = demands.next() < demands.next();
        if let (Some(unit), [local, remote, local_demand, remote_demand]) = (columns.demand, beside)
        {
            for (column, unit, value) in [
                ("local utilisation", "%", local),
                ("remote utilisation", "%", remote),
                ("local service demand", unit, local_demand),
                ("remote service demand", unit, remote_demand),
            ] {
                // Negative is not measured.
                if *value >= 0.0 && !(column == "remote service demand" && is_cut) {
                    test.others.push((column.to_owned(), unit.into(), *value));
                }
            }
        }
        Some(())
    }

    /// What the other side says, below the row: the sizes of its buffers, and of UDP what it
    /// received.
    pub(super) fn rest(&mut self, text: &str) -> Line {
        let values = text.split_whitespace().map(|f| number(f.as_bytes()));
        let Some(values) = values.collect::<Option<Vec<f64>>>() else {
            // Headings of what -v 2 adds: alignment, and sizes of single sends.
            let headings = [
                "Alignment",
                "Local ",
                "Send ",
                "Maximum",
                "Segment",
                "Size (bytes)",
            ];
            let known = headings.iter().any(|h| text.starts_with(h));
            return if known { Line::Noise } else { Line::Unknown };
        };
        match (&mut self.test, &values[..]) {
            (Some(test), [_, _, messages, throughput, ..])
                if test.sent.is_some() && test.received.is_none() =>
            {
                test.received = Some((*messages, *throughput));
                Line::Data
            }
            _ => Line::Noise,
        }
    }
}
