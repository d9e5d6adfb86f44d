//! The lines that name the columns.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;

/// A column: a metric, its instance, its unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    pub(super) metric: String,
    pub(super) instance: String,
    pub(super) unit: Option<String>,
    /// A column before it is the same.
    pub(super) again: bool,
}

/// Whether this is the name of a metric: words with points between.
fn is_metric(text: &str) -> bool {
    let part = |p: &str| {
        p.starts_with(|c: char| c.is_ascii_alphabetic())
            && p.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    text.contains('.') && text.split('.').all(part)
}

/// `metric["instance"]` or `host/metric["instance"]`.
fn metric_of(text: &str) -> Option<Column> {
    let (name, instance) = match text.split_once('[') {
        Some((name, rest)) => (name, rest.strip_suffix(']')?.trim_matches('"')),
        None => (text, ""),
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.rsplit(':').next().unwrap_or(name);
    is_metric(name).then(|| Column {
        metric: name.to_owned(),
        instance: instance.to_owned(),
        ..Column::default()
    })
}

/// What the names of the metrics begin with that the kernel tells.
const KERNEL: [&str; 7] = [
    "kernel.", "mem.", "disk.", "network.", "filesys.", "swap.", "hinv.",
];

/// `disk.dev.read_bytes-sda (Kbyte/s)`, parted.
fn unit_of(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(')')?.rsplit_once(" (")
}

/// The columns of `pmrep -o csv`: how many stand before them, what is between, and they.
pub(super) fn csv_header(line: &[u8]) -> Option<(usize, char, Vec<Column>)> {
    let text = std::str::from_utf8(line).ok()?;
    let extended = text.starts_with("Host,Interval,Time");
    let rest = text.strip_prefix("Host,Interval,").unwrap_or(text);
    let rest = rest.strip_prefix("Time")?;
    let between = rest.chars().next().filter(|c| !c.is_alphanumeric())?;
    let rest = rest.get(between.len_utf8()..)?;
    let quoted = format!("\"{between}\"");
    let bare = between.to_string();
    // Early versions have no quotes, as others' tables.
    let is_bare = KERNEL.iter().any(|root| rest.starts_with(root));
    let (rest, end) = match rest.strip_prefix('"') {
        Some(rest) => (rest.strip_suffix('"')?, &quoted),
        None => (Some(rest).filter(|_| is_bare)?, &bare),
    };
    let names = rest.split(end.as_str());
    // Units stand behind all names, or none.
    let with_units = names.clone().all(|name| unit_of(name).is_some());
    let columns = names.map(|name| {
        let unit = unit_of(name).filter(|_| with_units);
        let (name, unit) = unit.map_or((name, None), |(name, unit)| (name, Some(unit)));
        let (metric, instance) = name.split_once('-').unwrap_or((name, ""));
        is_metric(metric).then(|| Column {
            metric: metric.to_owned(),
            instance: instance.to_owned(),
            unit: unit.map(str::to_owned),
            ..Column::default()
        })
    });
    let columns: Option<Vec<Column>> = columns.collect();
    Some((if extended { 3 } else { 1 }, between, columns?))
}

/// `[ 1] - metric["instance"] - unit` of `pmrep -g`, `[ 1] metric["instance"]` of `pmdumptext`.
pub(super) fn numbered(line: &[u8]) -> Option<(usize, Column)> {
    let text = std::str::from_utf8(line).ok()?.strip_prefix('[')?;
    let (place, rest) = text.split_once(']')?;
    let place: usize = place.trim().parse().ok()?;
    let rest = rest.trim();
    let Some(rest) = rest.strip_prefix("- ") else {
        return Some((place, metric_of(rest)?));
    };
    let (name, unit) = match rest.rsplit_once(" - ") {
        Some((name, unit)) if !unit.contains(['"', ']']) => (name, Some(unit.to_owned())),
        _ => (rest, None),
    };
    let column = metric_of(name)?;
    Some((place, Column { unit, ..column }))
}

/// The header of `pmdumptext -H` or `-m`: what is between, and the columns.
pub(super) fn text_header(line: &[u8]) -> Option<(char, Vec<Column>)> {
    let text = std::str::from_utf8(line).ok()?.strip_prefix("Time")?;
    let between = text.chars().next().filter(|c| !c.is_alphanumeric())?;
    let columns: Option<Vec<Column>> = text[between.len_utf8()..]
        .split(between)
        .map(metric_of)
        .collect();
    Some((between, columns?))
}

/// Names of columns that `pmrep` shortened.
pub(super) struct Short {
    /// Each with where it ends.
    pub(super) names: Vec<(String, usize)>,
    /// Where the instances' column ends, which comes before them with `-X`.
    pub(super) instance: Option<usize>,
}

/// Shortened names, `k.a.load d.d.read_bytes`, perhaps below the title of the instances.
pub(super) fn short_names(line: &[u8]) -> Option<Short> {
    if line.first() != Some(&b' ') {
        return None;
    }
    let text = std::str::from_utf8(line).ok().filter(|t| t.is_ascii())?;
    let mut names = Vec::new();
    let mut instance = None;
    let mut at = 0;
    for word in text.split_ascii_whitespace() {
        at += text[at..].find(word)? + word.len();
        let first = word.split('.').next()?;
        // Whoever names the instances may do so by a metric, whole: `-X disk.dev.read`.
        let is_title = !word.contains('.') || is_metric(word);
        if is_metric(word) && first.len() == 1 {
            names.push((word.to_owned(), at));
        } else if names.is_empty() && instance.is_none() && is_title {
            instance = Some(at);
        } else {
            return None;
        }
    }
    (!names.is_empty()).then_some(Short { names, instance })
}

/// `Sun Nov 22 03:13:15` and numbers behind tabs: what `pmdumptext` prints without `-H`.
pub(super) fn nameless(line: &[u8]) -> bool {
    let Some((time, _)) = std::str::from_utf8(line)
        .ok()
        .and_then(|t| t.split_once('\t'))
    else {
        return false;
    };
    date_without_year(time).is_some()
}

/// The day of ` Fri May 17 10:00:00 2024`.
pub(super) fn date_with_year(text: &[u8]) -> Option<Date> {
    let text = std::str::from_utf8(text).ok()?;
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, month, day, _, year, ..] = words[..] else {
        return None;
    };
    let text = format!("{year} {month} {day}");
    BrokenDownTime::parse("%Y %b %d", &text)
        .ok()?
        .to_date()
        .ok()
}

/// `Sun Nov 22 03:13:15`, in a leap year.
pub(super) fn date_without_year(text: &str) -> Option<DateTime> {
    let mut words = text.split_ascii_whitespace();
    let (_, month, day, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let text = format!("2000 {month} {day} {time}");
    let found = BrokenDownTime::parse("%Y %b %d %H:%M:%S", &text).ok()?;
    words.next().is_none().then(|| found.to_datetime().ok())?
}

/// The name, with its number where it came before.
pub(super) fn told_apart(name: String, came: &mut u32) -> String {
    *came += 1;
    match *came {
        1 => name,
        n => format!("{name}#{n}"),
    }
}

/// Columns that are asked for twice have the same numbers: together they would be twice as much.
pub(super) fn once(mut columns: Vec<Column>) -> Vec<Column> {
    let mut came = HashSet::new();
    for column in &mut columns {
        column.again = !came.insert((column.metric.clone(), column.instance.clone()));
    }
    columns
}

/// What `-l` puts between shortened names, whose line begins with the place of the time.
pub(super) fn separator(line: &[u8]) -> Option<u8> {
    let begins = line.first() == Some(&b' ');
    let first = line
        .trim_ascii_start()
        .first()
        .copied()
        .filter(|_| begins)?;
    matches!(first, b'|' | b';' | b',').then_some(first)
}

/// A line whose columns have that between them (`-l`) as one with blanks.
pub(super) fn blanks_between(line: &[u8], between: u8) -> Cow<'_, [u8]> {
    let starts = line
        .first()
        .is_some_and(|b| *b == b' ' || b.is_ascii_digit());
    if starts && memchr::memchr(between, line).is_some() {
        let blank = |b: &u8| if *b == between { b' ' } else { *b };
        line.iter().map(blank).collect::<Vec<u8>>().into()
    } else {
        line.into()
    }
}

/// Whether a line has what `pmrep -m` puts between instances and units, in each column as far as it has
/// room: `{'hostname':'b`.
pub(super) fn are_labels(line: &[u8]) -> bool {
    let mut words = crate::fields(line);
    words.any(|word| word.starts_with(b"{'") || word.starts_with(b"{\"") || word == b"{}")
}
