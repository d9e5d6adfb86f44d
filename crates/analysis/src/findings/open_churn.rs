//! A file is opened again and again to write a little each time.

use super::look::Look;
use super::stretch::above;
use super::text::{bytes, count, percent, quoted, rate, time};
use super::{Finding, Rule};

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
/// Paths looked at, the most opened first.
const PATHS: usize = 5;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let opened = look.totals("file.ops by file where op = open").into_iter();
    let often = opened.filter(|(_, opens)| *opens >= ENOUGH).take(PATHS);
    often
        .filter_map(|(key, opens)| churn(look, key.first()?, opens))
        .collect()
}

fn churn(look: &Look<'_>, file: &str, opens: f64) -> Option<Finding> {
    // Where no path is known, all files of the kind would be one.
    if !file.starts_with('/') {
        return None;
    }
    let part = format!("file = {}", quoted(file));
    let opened = format!("file.ops where op = open and {part}");
    let stretch = above(&*look.answer(&opened)?, MANY)?;
    // Over at least a second, whatever the interval.
    if stretch.amount < ENOUGH || stretch.amount / stretch.seconds.max(1.0) < MANY {
        return None;
    }
    let each = look.total(&format!("file.bytes where op = write and {part}"))? / opens;
    if each <= 0.0 || each > TINY {
        return None;
    }
    let spent = look.total(&format!("file.time where {part}"))?;
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
