//! What a run has numbers of: each statistic with its amount over the run, and by what it can be
//! split.

use run::catalog::{Kind, Subject};
use run::read::ReadError;
use run::unit::Unit;
use run::{CATALOG, Run};

use crate::error::Error;
use crate::plan::plan;
use crate::scan::KeyValue;
use crate::syntax::{Test, quoted};
use crate::{Answer, Group, parse, summarise};

/// A statistic that a run has numbers of.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// As an expression names it: `disk.bytes`, `other.iostat.%util`.
    pub statistic: String,
    /// Dimensions by which the run can split it.
    pub by: Vec<&'static str>,
    /// How amounts combine; `None` for a ratio.
    pub kind: Option<Kind>,
    /// The unit of its numbers.
    pub unit: HeldUnit,
    /// Of sums the amount over the run.
    pub total: Option<f64>,
    /// As an [`Answer`] has it. NaN where instances have numbers of which there is no sum.
    pub mean: f64,
    /// Of such instances the least of their means, else the least interval.
    pub min: f64,
    /// Likewise the greatest.
    pub max: f64,
}

/// The unit of a statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum HeldUnit {
    /// Of the catalog.
    Known(Unit),
    /// As another tool printed it.
    Printed(String),
}

/// What `run` has numbers of, of the subjects that are `wanted`, in the catalog's order; and what
/// of it cannot be read.
pub fn contents(run: &Run, wanted: impl Fn(&str) -> bool) -> (Vec<Held>, Vec<ReadError>) {
    let tables = run.tables();
    let has = |table: &str| tables.iter().any(|t| t == table);
    let (mut held, mut damaged) = (Vec::new(), Vec::new());
    let mut ask = |text: &str| match summarise(run, text) {
        Ok(answer) => Some(answer),
        Err(Error::Read(why)) => {
            damaged.push(why);
            None
        }
        Err(_) => None,
    };
    for subject in CATALOG.iter().filter(|s| wanted(s.name)) {
        if !subject.tables.iter().any(|t| has(t.name)) {
            continue;
        }
        match subject.name {
            "other" => {
                let answer = ask("other.value by tool, column, unit, instance");
                held.extend(answer.iter().flat_map(columns));
            }
            "since_boot" => {
                let answer = ask("since_boot.value by statistic, instance");
                held.extend(answer.and_then(|answer| since_boot(&answer)));
            }
            _ => {
                for name in statistics(subject) {
                    let statistic = format!("{}.{name}", subject.name);
                    let Some(answer) = ask(&statistic) else {
                        continue;
                    };
                    let can = |dimension: &&str| {
                        let by = parse(&format!("{statistic} by {dimension}"));
                        by.is_ok_and(|e| plan(&e, &run.manifest, &has).is_ok())
                    };
                    let names = subject.dimensions.iter().map(|d| d.name);
                    let by: Vec<_> = names.filter(can).collect();
                    let whole = answer.groups.first();
                    match whole.and_then(|whole| one(&statistic, &by, &answer, whole)) {
                        Some(whole) => held.push(whole),
                        None => held.extend(elsewhere(&statistic, &by, &mut ask)),
                    }
                }
            }
        }
    }
    damaged.dedup_by_key(|why| why.to_string());
    (held, damaged)
}

/// Names of all that is counted, gauged, or derived of it.
fn statistics(subject: &Subject) -> impl Iterator<Item = &'static str> {
    let measures = subject.measures.iter().map(|m| m.name);
    measures.chain(subject.derived.iter().map(|d| d.name))
}

/// A group of an answer; `None` where it has no number.
fn one(statistic: &str, by: &[&'static str], answer: &Answer, group: &Group) -> Option<Held> {
    group.mean.is_finite().then(|| Held {
        statistic: statistic.to_owned(),
        by: by.to_vec(),
        kind: answer.kind,
        unit: HeldUnit::Known(answer.unit),
        total: group.total,
        mean: group.mean,
        min: group.min,
        max: group.max,
    })
}

/// What is only of layers that do not count unless they are named: of partitions, of what is made of
/// other devices.
fn elsewhere(
    statistic: &str,
    by: &[&'static str],
    ask: &mut impl FnMut(&str) -> Option<Answer>,
) -> Vec<Held> {
    let unless_named = by.iter().find(|dimension| **dimension == "layer");
    let answer = unless_named.and_then(|layer| ask(&format!("{statistic} by {layer}")));
    let Some(answer) = answer else {
        return Vec::new();
    };
    let of_layer = |group: &Group| {
        let statistic = format!("{statistic} where layer = {}", quoted(word(&group.key[0])));
        one(&statistic, by, &answer, group)
    };
    answer.groups.iter().filter_map(of_layer).collect()
}

fn word(key: &KeyValue) -> &str {
    match key {
        KeyValue::Word(word) => word,
        KeyValue::Number(_) => "",
    }
}

/// Columns of tools, in the order of their names.
fn columns(answer: &Answer) -> Vec<Held> {
    let mut sorted: Vec<&Group> = answer.groups.iter().collect();
    let name = |g: &Group| g.key[..3].iter().map(word).collect::<Vec<_>>().join("\0");
    sorted.sort_by_key(|g| name(g));
    let of_column = sorted.chunk_by(|a, b| a.key[..2] == b.key[..2]);
    let held = of_column.flat_map(|groups| {
        let units = groups.chunk_by(|a, b| a.key[2] == b.key[2]);
        let several = units.clone().count() > 1;
        units.map(move |groups| column(groups, several))
    });
    held.collect()
}

/// A column of a tool, in one of `several` units.
fn column(groups: &[&Group], several: bool) -> Held {
    let key = &groups[0].key;
    let (tool, column, unit) = (word(&key[0]), word(&key[1]), word(&key[2]));
    let mut statistic = column_of(tool, column);
    if several {
        // The predicate is one more where the name is not enough.
        let with = if statistic.contains(" where ") {
            "and"
        } else {
            "where"
        };
        statistic += &format!(" {with} unit = {}", quoted(unit));
    }
    let [mean, min, max] = match groups {
        [only] => [only.mean, only.min, only.max],
        // What they are nobody knows: shares have no sum.
        several => {
            let means = || several.iter().map(|g| g.mean);
            let least = means().fold(f64::INFINITY, f64::min);
            [f64::NAN, least, means().fold(f64::NEG_INFINITY, f64::max)]
        }
    };
    let is_named = groups.iter().any(|g| !word(&g.key[3]).is_empty());
    Held {
        statistic,
        by: if is_named { vec!["instance"] } else { vec![] },
        kind: Some(Kind::Level),
        unit: HeldUnit::Printed(unit.to_owned()),
        total: None,
        mean,
        min,
        max,
    }
}

/// How an expression names a column: in quotes where it has to.
fn column_of(tool: &str, column: &str) -> String {
    let is_it = |text: &String| {
        let plain = parse(text).is_ok_and(|e| {
            let words = e.predicates.iter().map(|p| match &p.test {
                Test::In(words) => words[0].text.as_str(),
                _ => "",
            });
            words.eq([tool, column])
        });
        plain && parse(&format!("{text} by instance")).is_ok()
    };
    let plain = format!("other.{tool}.{column}");
    let in_quotes = format!("other.{tool}.{}", quoted(column));
    [plain, in_quotes]
        .into_iter()
        .find(is_it)
        .unwrap_or_else(|| {
            let (tool, column) = (quoted(tool), quoted(column));
            format!("other.value where tool = {tool} and column = {column}")
        })
}

/// All means since boot as one: their numbers have nothing in common.
fn since_boot(answer: &Answer) -> Option<Held> {
    (!answer.groups.is_empty()).then(|| Held {
        statistic: "since_boot.value".to_owned(),
        by: vec!["statistic", "instance"],
        kind: Some(Kind::Level),
        unit: HeldUnit::Printed(String::new()),
        total: None,
        mean: f64::NAN,
        min: f64::NAN,
        max: f64::NAN,
    })
}
