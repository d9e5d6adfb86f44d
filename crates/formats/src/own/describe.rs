//! The description itself: what its file says, checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::column::{self, Column, Role};
use super::{Begins, Separator, Table, group};
use crate::time::Refused;

/// Values of a column's description, each with its place in the file.
pub(super) type Said = BTreeMap<String, Spanned<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: Spanned<String>,
    separator: Option<Spanned<String>>,
    comment: Option<Spanned<String>>,
    #[serde(default)]
    skip: u64,
    #[serde(default)]
    decimal: Decimal,
    columns: Option<Spanned<Vec<String>>>,
    #[serde(default = "instance")]
    sample: Begins,
    #[serde(default)]
    first: First,
    every: Option<Spanned<Every>>,
    #[serde(default)]
    column: BTreeMap<String, Spanned<Said>>,
}

/// Seconds, or a length of time as `--every` takes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Every {
    Seconds(f64),
    Length(String),
}

impl Every {
    fn seconds(&self) -> Result<f64, String> {
        let seconds = match self {
            Every::Seconds(seconds) => *seconds,
            Every::Length(text) => run::unit::parse_duration(text)
                .map_err(|why| format!("`every`: {why}; it is in seconds, or as \"500ms\""))?,
        };
        let is_length = seconds > 0.0 && seconds < 1e9;
        is_length
            .then_some(seconds)
            .ok_or_else(|| "`every` is in seconds, above 0".into())
    }
}

fn instance() -> Begins {
    Begins::Instance
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Decimal {
    #[default]
    Point,
    Comma,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum First {
    #[default]
    Interval,
    SinceBoot,
}

/// A fault of the description at a place of it.
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) why: String,
}

impl Fault {
    pub(super) fn new<T>(at: &Spanned<T>, why: impl Into<String>) -> Fault {
        Fault {
            at: at.span().start,
            why: why.into(),
        }
    }
}

/// A fault as the user reads it.
fn refused(toml: &str, fault: &Fault) -> Refused {
    let before = toml.as_bytes().get(..fault.at).unwrap_or_default();
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    Refused(format!(
        "the description, line {line}: {}",
        fault.why.trim_end()
    ))
}

/// Reads and checks.
pub(super) fn read(toml: &str) -> Result<Table, Refused> {
    if let Some(at) = toml.find("[columns]").filter(|at| {
        let line = toml[..*at].rsplit('\n').next();
        line.is_some_and(|before| before.trim().is_empty())
    }) {
        let why = "columns are described below `[column]`; `columns = [...]` is the list of their \
                   names, where the text has no header"
            .to_owned();
        return Err(refused(toml, &Fault { at, why }));
    }
    let text: Text = toml::from_str(toml).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start);
        let why = e.message().to_owned();
        refused(toml, &Fault { at, why })
    })?;
    checked(text).map_err(|fault| refused(toml, &fault))
}

fn checked(text: Text) -> Result<Table, Fault> {
    let name = text.name.get_ref();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    if name.is_empty() || !name.bytes().all(plain) {
        let why = "`name` is the tool's name: letters, digits, - and _";
        return Err(Fault::new(&text.name, why));
    }
    let separator = separator(text.separator.as_ref())?;
    let decimal_comma = text.decimal == Decimal::Comma;
    if let Some(comment) = text.comment.as_ref().filter(|c| c.get_ref().is_empty()) {
        return Err(Fault::new(comment, "`comment` is what comments begin with"));
    }
    if let Some(listed) = &text.columns {
        check_listed(listed, &text.column)?;
    }
    let every = text.every.as_ref().map(|every| {
        let seconds = every.get_ref().seconds();
        seconds.map_err(|why| Fault::new(every, why))
    });
    let every = every.transpose()?;
    let mut columns = Vec::new();
    for (name, said) in &text.column {
        columns.push(column::described(name, said)?);
    }
    if !columns.iter().any(|c| matches!(c.role, Role::Value(_))) {
        let why = "no column is described that has numbers: `[column]`, and below it lines as \
                   `NAME = { measure = \"disk.bytes\", unit = \"KiB/s\" }`";
        return Err(Fault::new(&text.name, why));
    }
    column::check_together(&mut columns, &text.column)?;
    let groups = group::groups(&columns, name, &text.column)?;
    Ok(Table {
        name: name.clone(),
        separator,
        comment: text.comment.map(Spanned::into_inner),
        skip: text.skip,
        decimal_comma,
        listed: text.columns.map(Spanned::into_inner),
        begins: text.sample,
        since_boot: text.first == First::SinceBoot,
        every,
        columns,
        groups,
    })
}

fn separator(said: Option<&Spanned<String>>) -> Result<Separator, Fault> {
    let Some(said) = said else {
        return Ok(Separator::Blank);
    };
    Ok(match said.get_ref().as_str() {
        "blank" => Separator::Blank,
        "tab" => Separator::Text("\t".into()),
        "comma" => Separator::Text(",".into()),
        text if !text.is_empty() && !text.chars().any(char::is_alphanumeric) => {
            Separator::Text(text.to_owned())
        }
        other => {
            let why =
                format!("`separator` is blank, tab, comma, or a text as \";\", not {other:?}");
            return Err(Fault::new(said, why));
        }
    })
}

/// Listed columns are different, and those described are among them.
fn check_listed(
    listed: &Spanned<Vec<String>>,
    described: &BTreeMap<String, Spanned<Said>>,
) -> Result<(), Fault> {
    let names = listed.get_ref();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            let why = format!("`columns` has {name:?} twice");
            return Err(Fault::new(listed, why));
        }
    }
    match described.iter().find(|(name, _)| !names.contains(name)) {
        None => Ok(()),
        Some((name, said)) => {
            let why = format!(
                "{name:?} is not among `columns`, which are: {}",
                names.join(", ")
            );
            Err(Fault::new(said, why))
        }
    }
}

impl Column {
    /// The fault of this column, wherever its description stands.
    pub(super) fn fault(
        &self,
        described: &BTreeMap<String, Spanned<Said>>,
        why: impl Into<String>,
    ) -> Fault {
        let at = described.get(&self.name).map_or(0, |s| s.span().start);
        Fault {
            at,
            why: why.into(),
        }
    }
}
