//! Rows of latency, and which of them and of bandwidth are of the direction above.

use super::text::{FioText, WHOLE};
use super::text_fields::pairs;
use super::text_job::Direction;
use crate::number::{number, scaled};
use crate::out::Out;
use crate::workload::trimmed;

/// The rows below a direction, in the order in which fio prints them. There may be a table of
/// percentiles of each kind of latency.
const ORDER: [&str; 6] = ["slat", "clat", "lat", "percentiles", "bw", "iops"];

/// Said where rows are left out.
const ORPHANS: &str = "the line of a direction (`read: IOPS=…`) is missing or not understood: rows of \
                                  latency and bandwidth below it belong to no direction and are left out";

/// The rows that came below a direction.
#[derive(Debug, Default)]
pub(super) struct Rows {
    seen: Vec<String>,
    reached: usize,
    /// What comes is of a direction whose line was lost.
    pub(super) are_orphans: bool,
}

impl Rows {
    /// Whether the row of that name is of the direction above: each comes once, in order. One that
    /// does not is of another direction, and so are all that follow it.
    pub(super) fn takes(&mut self, name: &str) -> bool {
        let kind = name.rsplit(' ').next().unwrap_or(name);
        let place = ORDER.iter().position(|row| *row == kind);
        let place = place.unwrap_or(self.reached);
        self.are_orphans |= place < self.reached || self.seen.iter().any(|row| row == name);
        self.reached = place;
        self.seen.push(name.to_owned());
        !self.are_orphans
    }
}

impl FioText {
    /// Whether a row is of the direction above it.
    pub(super) fn is_of_direction(&mut self, name: &str, out: &mut Out) -> bool {
        let is_taken = self.rows.takes(name) && self.op != WHOLE;
        if !is_taken {
            self.rows.are_orphans = true;
            out.lacks(ORPHANS);
        }
        is_taken
    }

    /// `lat (usec): min=3, max=102, avg= 4.97, stdev= 3.76`, or a histogram of them.
    pub(super) fn latency(
        &mut self,
        name: &str,
        unit: &str,
        text: &str,
        out: &mut Out,
    ) -> Option<()> {
        let is_summary = text.contains("avg=");
        let is_left_out = match name {
            "sync" => false,
            "slat" | "clat" | "lat" => {
                is_summary && !self.jobs.is_empty() && !self.is_of_direction(name, out)
            }
            // Of a priority, below those.
            _ => self.rows.are_orphans,
        };
        if is_left_out {
            return Some(());
        }
        let job = self.jobs.last_mut()?;
        let scale = match unit {
            "nsec" => 1e-9,
            "usec" => 1e-6,
            "msec" => 1e-3,
            "sec" => 1.0,
            _ => return None,
        };
        for (key, value) in pairs(text) {
            if !is_summary {
                let value = number(value.strip_suffix('%')?.as_bytes())?;
                let column = format!("latency_{unit}.{key}");
                job.others.push((WHOLE, column, "%".into(), value));
                continue;
            }
            let value = scaled(value.as_bytes(), 1000.0)?;
            let direction = job.directions.last_mut();
            match (name, key, direction) {
                ("lat", "avg", Some(direction)) => direction.lat = Some(value * scale),
                ("clat", "avg", Some(direction)) => direction.clat = Some(value * scale),
                ("sync", "avg", _) => job.directions.push(Direction {
                    op: "sync",
                    lat: Some(value * scale),
                    ..Direction::default()
                }),
                _ => {}
            }
            let op = if name == "sync" { "sync" } else { self.op };
            job.others
                .push((op, format!("{name}.{key}"), unit.to_owned(), value));
        }
        Some(())
    }

    /// `| 1.00th=[   40],  5.00th=[   45],`.
    pub(super) fn percentile_row(&mut self, text: &str) -> Option<()> {
        let (name, unit) = self.percentiles.as_ref()?;
        if self.rows.are_orphans && name != "sync" {
            return Some(());
        }
        let job = self.jobs.last_mut()?;
        let op = if name == "sync" { "sync" } else { self.op };
        // Without its bracket the last one was cut.
        let (whole, _) = text.rsplit_once(']')?;
        for part in whole.split(']') {
            let (share, value) = part.split_once("th=[")?;
            let share = share.trim_start_matches([',', ' ']);
            number(share.as_bytes())?;
            let column = format!("{name}.percentile.{}", trimmed(share));
            let value = scaled(value.trim().as_bytes(), 1000.0)?;
            job.others.push((op, column, unit.clone(), value));
        }
        Some(())
    }
}
