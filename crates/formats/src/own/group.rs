//! Described columns that are put side by side into a row of the catalog's tables.

use std::collections::BTreeMap;

use run::catalog::{Dimension, Table as CatalogTable};
use toml::Spanned;

use super::column::{Column, Meant, Place, Role, tables};
use super::describe::{Fault, Said};
use crate::out::Shape;

/// Columns that make a row of a table.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) shape: Shape,
    pub(super) words: Vec<Source>,
    /// Which of the described columns, in the shape's order.
    pub(super) values: Vec<usize>,
    /// Its sums are amounts, not rates.
    pub(super) amounts: bool,
    /// It is of all processors, and shares of time are of each.
    pub(super) of_all_processors: bool,
}

/// Where a row's word comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Fixed(String),
    /// The described column of that place.
    Column(usize),
    /// What the name in that column says of the device.
    DiskLayer(usize),
    /// What the name in that column says of the interface.
    NetLayer(usize),
}

/// Puts columns that belong to one row together.
pub(super) fn groups(
    columns: &[Column],
    tool: &str,
    said: &BTreeMap<String, Spanned<Said>>,
) -> Result<Vec<Group>, Fault> {
    let mut found: Vec<(&'static CatalogTable, Group, Vec<&'static str>)> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let Role::Value(value) = &column.role else {
            continue;
        };
        let Some(place) = &value.measure else {
            continue;
        };
        let table = best_table(columns, place);
        let Some(table) = table else {
            let why = "no table of the catalog has all these dimensions together";
            return Err(column.fault(said, why));
        };
        let words = words(columns, place, table, tool).map_err(|why| column.fault(said, why))?;
        let amounts = matches!(value.meant, Meant::Amount | Meant::Counter);
        let of_all_processors = place.subject.name == "cpu"
            && value.scale.percent
            && !columns
                .iter()
                .any(|c| matches!(&c.role, Role::Is(d) if d == "cpu"))
            && !place.words.contains_key("cpu");
        let name = place.measure.name;
        let same = found.iter_mut().find(|(t, g, _)| {
            let level = value.meant == Meant::Level;
            std::ptr::eq(*t, table)
                && g.words == words
                && g.of_all_processors == of_all_processors
                && (g.amounts == amounts || level)
        });
        match same {
            Some((_, _, names)) if names.contains(&name) => {
                let why = format!(
                    "{}.{name} with these words is another column already",
                    place.subject.name
                );
                return Err(column.fault(said, why));
            }
            Some((_, group, names)) => {
                names.push(name);
                group.values.push(at);
            }
            None => {
                let group = Group {
                    shape: Shape::of(table.name, &[name]),
                    words,
                    values: vec![at],
                    amounts,
                    of_all_processors,
                };
                found.push((table, group, vec![name]));
            }
        }
    }
    let whole = |(table, group, names): (&CatalogTable, Group, Vec<&str>)| Group {
        shape: Shape::of(table.name, &names),
        ..group
    };
    Ok(found.into_iter().map(whole).collect())
}

/// The table with all the measure's words that can tell the most instances apart.
fn best_table(columns: &[Column], place: &Place) -> Option<&'static CatalogTable> {
    let is = |d: &str| {
        columns
            .iter()
            .any(|c| matches!(&c.role, Role::Is(name) if name == d))
    };
    let fitting = tables(place).filter(|t| {
        let mut keys = place.words.keys();
        keys.all(|key| t.dimensions.contains(&key.as_str()))
    });
    let told = |t: &&CatalogTable| t.dimensions.iter().filter(|d| is(d)).count();
    // The first of those that are equal: the cheapest.
    fitting.first_max_by(told)
}

/// The first of the largest.
trait FirstMax: Iterator + Sized {
    fn first_max_by<K: Ord>(self, key: impl Fn(&Self::Item) -> K) -> Option<Self::Item> {
        self.fold(None, |best, item| match best {
            Some(best) if key(&best) >= key(&item) => Some(best),
            _ => Some(item),
        })
    }
}

impl<I: Iterator> FirstMax for I {}

fn words(
    columns: &[Column],
    place: &Place,
    table: &CatalogTable,
    tool: &str,
) -> Result<Vec<Source>, String> {
    let is = |name: &str| {
        let wanted = |c: &Column| matches!(&c.role, Role::Is(d) if d == name);
        columns.iter().position(wanted)
    };
    let of_word = |dimension: &&'static Dimension| dimension.number.is_none();
    let dimensions = table.dimensions.iter();
    let dimensions = dimensions.filter_map(|d| place.subject.dimension(d));
    let mut words = Vec::new();
    for dimension in dimensions.filter(of_word) {
        let name = dimension.name;
        let fixed = |text: &str| Source::Fixed(text.to_owned());
        let word = if let Some(text) = place.words.get(name) {
            fixed(text)
        } else if let Some(column) = is(name) {
            Source::Column(column)
        } else {
            match (place.subject.name, name) {
                ("disk", "layer") => is("device").map_or(fixed("disk"), Source::DiskLayer),
                ("net", "layer") => is("interface").map_or(fixed("edge"), Source::NetLayer),
                (_, "op") => fixed("(all)"),
                (_, "cpu" | "device" | "interface") => fixed("all"),
                ("workload", "tool") => fixed(tool),
                ("workload", _) => fixed(""),
                _ => {
                    return Err(format!(
                        "{}.{} needs {name:?}: {} Say it here, as {name} = \"…\", or of another \
                         column, as is = {name:?}",
                        place.subject.name, place.measure.name, dimension.help
                    ));
                }
            }
        };
        words.push(word);
    }
    Ok(words)
}
