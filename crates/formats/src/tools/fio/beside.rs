//! What fio prints beside its JSON where more than one format was asked for
//! (`--output-format=json,normal,terse`): the same jobs, told again.
//!
//! Which they are is told by their names, and how many I/Os or KiB they did: text of another run
//! is not taken for them.

use std::collections::HashMap;

use super::terse;
use crate::number::number;
use crate::out::Out;

/// I/Os and KiB of a job in all directions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    ios: f64,
    kib: f64,
}

/// A job's text, or its line of terse output.
#[derive(Debug)]
struct Again {
    name: String,
    lines: Vec<(u64, String)>,
    sums: Sums,
}

#[derive(Debug, Default)]
pub(super) struct Beside {
    told: HashMap<String, Vec<Sums>>,
    again: Vec<Again>,
    /// Lines are of the last job.
    open: bool,
}

impl Beside {
    /// A job of a JSON document: I/Os and bytes of each direction.
    pub(super) fn told(&mut self, name: &str, directions: impl Iterator<Item = (f64, f64)>) {
        let mut sums = Sums { ios: 0.0, kib: 0.0 };
        for (ios, bytes) in directions {
            sums.ios += ios;
            sums.kib += (bytes / 1024.0).floor();
        }
        self.told.entry(name.to_owned()).or_default().push(sums);
        self.open = false;
    }

    /// Whether the line outside of JSON is of such output.
    pub(super) fn line(&mut self, text: &str, out: &Out) -> bool {
        let unknown = Sums {
            ios: f64::NAN,
            kib: f64::NAN,
        };
        let begun = match terse::job_of(text) {
            Some((name, kib)) => Some((name, Sums { kib, ..unknown }, false)),
            None => text
                .split_once(": (groupid=")
                .map(|(name, _)| (name.trim(), unknown, true)),
        };
        if let Some((name, sums, open)) = begun {
            self.open = open;
            self.again.push(Again {
                name: name.to_owned(),
                lines: Vec::new(),
                sums,
            });
        } else {
            let around = ["Run status", "Disk stats"];
            self.open &= text.trim().is_empty()
                || text.starts_with("  ") && text.contains(['=', '|', ':'])
                || around.iter().any(|a| text.starts_with(a));
            if !self.open {
                return false;
            }
        }
        let Some(job) = self.again.last_mut() else {
            return false;
        };
        if let Some((_, rest)) = text.split_once("total=")
            && text.trim_start().starts_with("issued")
        {
            // `total=10280,10243,0,335`, or of fio 2 `total=r=262144/w=0/d=0,`: syncs are last.
            let counts = rest.split_whitespace().next().unwrap_or_default();
            let counts = counts.trim_end_matches(',').split([',', '/']).take(3);
            let count = |part: &str| number(part.rsplit('=').next()?.as_bytes());
            job.sums.ios = counts.map(|c| count(c).unwrap_or(f64::NAN)).sum();
        }
        job.lines.push((out.line_number(), text.to_owned()));
        true
    }

    pub(super) fn end(&mut self, out: &mut Out) {
        for job in std::mem::take(&mut self.again) {
            let told = self.told.get(&job.name).map_or(&[][..], Vec::as_slice);
            // Of the sum over clients only the text's parts are compared.
            let sum = job.name == "All clients" && !self.told.is_empty();
            // Each direction's KiB are cut to whole ones.
            let same = |t: &Sums| t.ios == job.sums.ios || (t.kib - job.sums.kib).abs() <= 3.0;
            if sum || told.iter().any(same) {
                out.note(
                    "fio's text or terse output beside its JSON tells of the same jobs and was \
                     left out",
                );
                continue;
            }
            for (line, text) in job.lines.iter().filter(|(_, t)| !t.trim().is_empty()) {
                out.not_understood(*line, text);
            }
        }
    }
}
