//! A file is opened again and again to write a little each time.

use std::collections::HashMap;

use super::look::Look;
use super::stretch::above;
use super::text::{bytes, count, list, percent, quoted, rate, time};
use super::{Finding, Rule, WORST};
use crate::scan::Slot;

pub(super) const RULE: Rule = Rule {
    name: "open-churn",
    help: "One file is opened many times a second to write a little each time.",
    find,
};

const CAUSES: &[&str] = &[
    "a log or status file that is opened for each line: keep it open instead",
    "a shell loop with `>> file` inside: put the redirection after `done`",
    "a lock or pid file that is written anew for each request",
];

/// Opens of one path per second.
const MANY: f64 = 50.0;
/// Opens in all; less is a start-up.
const ENOUGH: f64 = 100.0;
/// Bytes written per open: less than a page is not worth one.
const TINY: f64 = 4096.0;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let mut paths = look.totals("file.ops by file where op = open");
    // Where no path is known, all files of the kind would be one.
    let is_path = |key: &[String]| key.first().is_some_and(|file| file.starts_with('/'));
    paths.retain(|(key, opens)| *opens >= ENOUGH && is_path(key));
    paths.truncate(WORST);
    if paths.is_empty() {
        return vec![];
    }
    let part = list(
        paths
            .iter()
            .filter_map(|(key, _)| Some(key.first()?.as_str())),
    );
    let totals = |what: &str, test: &str| -> HashMap<Vec<String>, f64> {
        let asked = format!("file.{what} by file where {test}file in {part}");
        look.totals(&asked).into_iter().collect()
    };
    let written = totals("bytes", "op = write and ");
    let spent = totals("time", "");
    let opened = format!("file.ops by file where op = open and file in {part}");
    let Some(opened) = look.series(&opened) else {
        return vec![];
    };
    let found = paths.iter().filter_map(|(key, opens)| {
        let file = key.first()?;
        let churn = Churn {
            opened: opened.of(&[file]),
            each: written.get(key)? / opens,
            spent: *spent.get(key)?,
            opens: *opens,
        };
        churn.finding(look, file)
    });
    found.collect()
}

/// What was done with a path.
struct Churn {
    opened: Vec<(Slot, f64)>,
    opens: f64,
    /// Bytes written per open.
    each: f64,
    /// Seconds of all operations on it.
    spent: f64,
}

impl Churn {
    fn finding(&self, look: &Look<'_>, file: &str) -> Option<Finding> {
        let (each, spent, opens) = (self.each, self.spent, self.opens);
        let stretch = above(&self.opened, MANY)?;
        // Over at least a second, whatever the interval.
        let often = stretch.amount / stretch.seconds.max(1.0) >= MANY;
        if stretch.amount < ENOUGH || !often || each <= 0.0 || each > TINY {
            return None;
        }
        let part = format!("file = {}", quoted(file));
        let commands = format!("file.ops by command where op = open and {part}");
        let who = look
            .largest(&commands)
            .map_or(String::new(), |(name, share)| {
                format!(" {} of the opens were by {name}.", percent(share))
            });
        let sentence = format!(
            "{file} was opened {} times, {}, to write {} each time; opening, writing and the rest \
         took {} each.{who}",
            count(stretch.amount),
            rate(stretch.rate()),
            bytes(each),
            time(spent / opens),
        );
        Some(Finding {
            name: RULE.name,
            score: (spent / look.seconds()).min(1.0),
            sentence,
            from: stretch.from,
            to: stretch.to,
            expression: look.narrowed(
                &format!("file.ops by op, command where {part}"),
                stretch.time(),
            ),
            causes: CAUSES,
        })
    }
}
