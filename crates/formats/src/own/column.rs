//! What a described column is: a time, a name, or a number with its place in the catalog.

use std::collections::{BTreeMap, BTreeSet};

use run::Unit;
use run::catalog::{self, Detail, Kind, Measure, Subject, Table as CatalogTable};
use toml::Spanned;

use super::describe::{Fault, Said};
use super::unit::{self, Scale};
use super::when::When;

/// A column that is described.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) role: Role,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Role {
    /// When the sample was taken.
    Time(When),
    /// Whose numbers they are: the dimension of that name.
    Is(String),
    /// To be left out.
    Nothing,
    /// A number.
    Value(Value),
}

/// How a number is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// As it stands at the end of the interval.
    Level,
    /// Per second.
    Rate,
    /// So much in the interval.
    Amount,
    /// It grows all the time.
    Counter,
}

#[derive(Debug)]
pub(super) struct Value {
    /// The measure, if the catalog has one.
    pub(super) measure: Option<Place>,
    /// Unit as it is written.
    pub(super) unit: String,
    pub(super) scale: Scale,
    pub(super) meant: Meant,
    /// A mean: the column that says of how many.
    pub(super) times: Option<String>,
    /// Where that column is among those described.
    pub(super) times_at: Option<usize>,
}

/// A measure of the catalog and the words of its row.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) subject: &'static Subject,
    pub(super) measure: &'static Measure,
    pub(super) words: BTreeMap<String, String>,
}

const KEYS: [&str; 6] = ["time", "is", "measure", "unit", "kind", "times"];

/// What `kind` says of a number. Anything else is the dimension of that name, as of memory.bytes.
const KINDS: [&str; 3] = ["rate", "amount", "counter"];

/// The column of that name.
pub(super) fn described(name: &str, said: &Spanned<Said>) -> Result<Column, Fault> {
    let of = said.get_ref();
    let role = if let Some(time) = of.get("time") {
        only(of, "time")?;
        let when = When::of(time.get_ref());
        Role::Time(when.map_err(|why| Fault::new(time, why))?)
    } else if let Some(is) = of.get("is") {
        only(of, "is")?;
        match is.get_ref().as_str() {
            "nothing" => Role::Nothing,
            dimension => Role::Is(dimension.to_owned()),
        }
    } else {
        Role::Value(value(said)?)
    };
    Ok(Column {
        name: name.to_owned(),
        role,
    })
}

/// Nothing else is said than this.
fn only(said: &Said, key: &str) -> Result<(), Fault> {
    match said.iter().find(|(k, _)| *k != key) {
        None => Ok(()),
        Some((other, at)) => Err(Fault::new(
            at,
            format!("{other:?} says nothing of a column that has {key:?}"),
        )),
    }
}

fn value(said: &Spanned<Said>) -> Result<Value, Fault> {
    let of = said.get_ref();
    let place = of.get("measure").map(|m| place(m, of)).transpose()?;
    if place.is_none() {
        only_known(of)?;
    }
    let written = of.get("unit").map_or("", |u| u.get_ref().as_str());
    let scale = match &place {
        None => Scale {
            unit: Unit::Count,
            factor: 1.0,
            rate: written.ends_with("/s"),
            percent: false,
        },
        Some(place) if !of.contains_key("unit") && place.measure.unit != Unit::Count => {
            let why = format!(
                "{}.{} is in {}: say the column's unit, one of {}",
                place.subject.name,
                place.measure.name,
                place.measure.unit,
                unit::names(place.measure.unit)
            );
            return Err(Fault::new(said, why));
        }
        Some(place) => {
            let written = if written.is_empty() { "count" } else { written };
            let at = of.get("unit").map_or(said.span(), Spanned::span).start;
            unit::scale(written, place.measure.unit).map_err(|why| Fault { at, why })?
        }
    };
    let times = of.get("times").map(|t| t.get_ref().clone());
    let meant = meant(said, place.as_ref(), scale, times.is_some())?;
    Ok(Value {
        measure: place,
        unit: written.to_owned(),
        scale,
        meant,
        times,
        times_at: None,
    })
}

/// All that is said of a column without a measure is known. What no measure has either is the
/// word that somebody misspelt.
fn only_known(said: &Said) -> Result<(), Fault> {
    let is_dimension = |key: &str| {
        catalog::CATALOG
            .iter()
            .any(|subject| subject.dimension(key).is_some())
    };
    let unknown = said.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let Some((key, at)) = unknown.min_by_key(|(key, _)| is_dimension(key)) else {
        return Ok(());
    };
    let why = if is_dimension(key) {
        format!("{key:?} is of a measure, and the column has none: say `measure` beside it")
    } else {
        format!(
            "{key:?} is not known: a column has one of time, is or measure, and unit, kind, times"
        )
    };
    Err(Fault::new(at, why))
}

fn meant(
    said: &Spanned<Said>,
    place: Option<&Place>,
    scale: Scale,
    is_mean: bool,
) -> Result<Meant, Fault> {
    let is_sum = place.is_some_and(|p| p.measure.kind == Kind::Sum);
    let is_word = place.is_some_and(|p| p.words.contains_key("kind"));
    let kind = said.get_ref().get("kind").filter(|_| !is_word);
    if is_mean {
        if let Some(kind) = kind {
            let why = "with `times` it is a mean: the other column says the `kind`";
            return Err(Fault::new(kind, why));
        }
        if !is_sum || scale.rate {
            let why = "`times` is for a mean of a sum, as disk.time in ms per I/O";
            return Err(Fault::new(said, why));
        }
        // Settled when the other column is known.
        return Ok(Meant::Rate);
    }
    let allowed = "rate (per second), amount (in the interval), counter (it grows all the time)";
    let told = match kind.map(|k| k.get_ref().as_str()) {
        None => None,
        Some("rate") => Some(Meant::Rate),
        Some("amount") => Some(Meant::Amount),
        Some("counter") => Some(Meant::Counter),
        Some(other) => {
            let at = kind.map_or(said.span(), Spanned::span).start;
            let why = format!("`kind` is {allowed}, not {other:?}");
            return Err(Fault { at, why });
        }
    };
    match (told, place) {
        (Some(told), None) => Ok(told),
        (None, None) => Ok(Meant::Level),
        (told, Some(_)) if is_sum => match (told, scale.rate) {
            (None | Some(Meant::Rate), true) => Ok(Meant::Rate),
            (Some(_), true) => Err(Fault::new(said, "a unit per second is a rate")),
            (Some(told), false) => Ok(told),
            (None, false) => Err(Fault::new(
                said,
                format!("it is a sum: say a unit per second, as KiB/s, or the `kind`: {allowed}"),
            )),
        },
        (told, Some(place)) => {
            let name = format!("{}.{}", place.subject.name, place.measure.name);
            if told.is_some() || scale.rate {
                let why = format!("{name} is a level: it has no `kind` and is not per second");
                return Err(Fault::new(said, why));
            }
            Ok(Meant::Level)
        }
    }
}

/// Tables of samples that have the measure.
pub(super) fn tables(place: &Place) -> impl Iterator<Item = &'static CatalogTable> {
    let name = place.measure.name;
    let of = place.subject.tables.iter();
    of.filter(move |t| t.detail == Detail::Sample && t.measures.contains(&name))
}

fn place(measure: &Spanned<String>, said: &Said) -> Result<Place, Fault> {
    let name = measure.get_ref();
    let found = name.split_once('.').and_then(|(subject, measure)| {
        let subject = catalog::subject(subject)?;
        Some((subject, subject.measure(measure)?))
    });
    let usable = ["other", "since_boot", "self", "distribution"];
    let Some((subject, measure_of)) = found.filter(|(s, _)| !usable.contains(&s.name)) else {
        let subject = name.split('.').next().and_then(catalog::subject);
        let names = match subject {
            Some(s) => s.measures.iter().map(|m| m.name).collect::<Vec<_>>(),
            None => catalog::CATALOG.iter().map(|s| s.name).collect(),
        };
        let of = subject.map_or("subjects", |s| s.name);
        let why = format!(
            "the catalog has no {name:?}; {of}: {}; leave `measure` out to keep it as \
             other.TOOL.COLUMN",
            names.join(", ")
        );
        return Err(Fault::new(measure, why));
    };
    let mut place = Place {
        subject,
        measure: measure_of,
        words: BTreeMap::new(),
    };
    let all: BTreeSet<&str> = tables(&place).flat_map(|t| t.dimensions).copied().collect();
    let is_word = |key: &str, text: &str| match key {
        "kind" => all.contains("kind") && !KINDS.contains(&text),
        _ => !KEYS.contains(&key),
    };
    place.words = said
        .iter()
        .map(|(key, text)| (key.clone(), text.get_ref().clone()))
        .filter(|(key, text)| is_word(key, text))
        .collect();
    for key in place.words.keys() {
        if !all.contains(key.as_str()) {
            let at = &said[key];
            let all: Vec<&str> = all.into_iter().collect();
            let why = format!("{name} has no {key:?}; it can have: {}", all.join(", "));
            return Err(Fault::new(at, why));
        }
    }
    if tables(&place).next().is_none() {
        let why = format!("{name} is kept in histograms or events only, not in tables as this");
        return Err(Fault::new(measure, why));
    }
    Ok(place)
}

/// Times of several columns are read as one, which must be whole.
fn check_times(columns: &[Column], said: &BTreeMap<String, Spanned<Said>>) -> Result<(), Fault> {
    let mut patterns = Vec::new();
    let mut single = 0;
    let mut last = None;
    for column in columns {
        match &column.role {
            Role::Time(When::Pattern(pattern)) => patterns.push(pattern.as_str()),
            Role::Time(_) => single += 1,
            _ => continue,
        }
        last = Some(column);
    }
    let Some(last) = last else { return Ok(()) };
    if single > 0 && single + patterns.len() > 1 {
        let why = "of several columns with times, each needs a pattern: they are read as one";
        return Err(last.fault(said, why));
    }
    if patterns.is_empty() {
        return Ok(());
    }
    let whole = When::Pattern(patterns.join(" ")).check();
    whole.map_err(|why| last.fault(said, why))
}

/// What depends on more than one column.
pub(super) fn check_together(
    columns: &mut [Column],
    said: &BTreeMap<String, Spanned<Said>>,
) -> Result<(), Fault> {
    check_times(columns, said)?;
    let known: BTreeSet<&str> = places(columns)
        .flat_map(|p| tables(p).flat_map(|t| t.dimensions))
        .copied()
        .chain(["instance"])
        .collect();
    for column in columns.iter() {
        if let Role::Is(dimension) = &column.role
            && !known.contains(dimension.as_str())
        {
            let names: Vec<&str> = known.into_iter().collect();
            let why = format!(
                "no measure here has {dimension:?}: `is` can be {}, nothing",
                names.join(", ")
            );
            return Err(column.fault(said, why));
        }
    }
    for i in 0..columns.len() {
        let Role::Value(value) = &columns[i].role else {
            continue;
        };
        let Some(name) = &value.times else { continue };
        let other = columns.iter().position(|c| c.name == *name);
        let meant = other.and_then(|at| match &columns[at].role {
            Role::Value(v) if v.times.is_none() && v.meant != Meant::Level => Some(v.meant),
            _ => None,
        });
        let Some(meant) = meant else {
            let why = format!(
                "`times` names a described column that is a rate, an amount or a counter; {name:?} \
                 is not"
            );
            return Err(columns[i].fault(said, why));
        };
        if let Role::Value(value) = &mut columns[i].role {
            value.meant = meant;
            value.times_at = other;
        }
    }
    Ok(())
}

fn places(columns: &[Column]) -> impl Iterator<Item = &Place> {
    columns.iter().filter_map(|c| match &c.role {
        Role::Value(v) => v.measure.as_ref(),
        _ => None,
    })
}
