//! Lists that `printa` prints: a line a key, with the numbers of one or several aggregations.

use std::collections::HashSet;

use super::histogram::Pace;
use super::{echoed, stamp};
use crate::number;
use crate::out::Out;
use crate::recognise::Head;

/// Whether all lines are indented rows that begin with a name and end with a whole number, but for
/// times and the script's command line.
pub(super) fn looks_like(head: &Head) -> bool {
    let mut rows = 0;
    for line in head.lines().filter(|l| !l.trim_ascii().is_empty()) {
        let text = String::from_utf8_lossy(line);
        let is_script = |words: Vec<&str>| words[0] == "dtrace" || text.contains(".d");
        if stamp(&text).is_some() || echoed(&text).is_some_and(is_script) {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        // A line of other blanks than ASCII's has none.
        let name = words.first().copied().unwrap_or_default();
        let named = name.starts_with(char::is_alphabetic) && !name.ends_with(':');
        if !text.starts_with(' ') || !named || words.len() < 2 || !is_row(&text) {
            return false;
        }
        rows += 1;
    }
    rows >= 5
}

/// Whether a line can be of a list: keys, then at least one number.
pub(super) fn is_row(text: &str) -> bool {
    let mut words = text.split_whitespace().rev();
    words.next().is_some_and(|last| whole(last).is_some()) && words.nth(9).is_none()
}

fn whole(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let all = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    all.then(|| number::number(word.as_bytes())).flatten()
}

/// Whether a line is a frame of a stack: a module, a backtick and a function, or an address.
pub(super) fn is_frame(text: &str) -> bool {
    let word = text.trim();
    let frame = word.contains('`') || word.contains("+0x") || word.starts_with("0x");
    frame && !word.contains(char::is_whitespace)
}

/// Puts the number that stands below a stack; its frames are one key, from the outermost on.
pub(super) fn put_stack(
    frames: &[String],
    row: &str,
    script: &str,
    pace: &mut Pace,
    out: &mut Out,
) -> bool {
    let Some(value) = whole(row.trim()) else {
        return false;
    };
    let outermost_first: Vec<&str> = frames.iter().rev().map(|frame| frame.trim()).collect();
    let stack = outermost_first.join(";");
    let nth = pace.begin(&format!("{script}\0\0{stack}"), out);
    let name = match nth {
        1 => "value".to_owned(),
        _ => format!("value ({nth})"),
    };
    let instance = out.word(stack.as_bytes());
    out.other(&name, "", instance, value);
    true
}

/// Where the columns of a line end: those of an aggregation end at the same places.
fn layout(text: &str) -> usize {
    text.trim_end().len()
}

/// Whether rows with as many words are of one list though they end at several places: keys that
/// are too long move what is behind them, and a script's own format may align nothing.
fn are_one(rows: &[(u64, String)]) -> bool {
    let aligned = rows.chunk_by(|(_, a), (_, b)| layout(a) == layout(b));
    let lists = aligned.filter(|rows| rows.len() > 1).count();
    let gap = |text: &str| {
        let before = text
            .trim_end()
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        before.len() - before.trim_end().len()
    };
    let joined = rows.iter().all(|(_, text)| gap(text) == 1);
    let key = |text: &str| {
        let (key, _) = text.trim_end().rsplit_once(char::is_whitespace)?;
        Some(key.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let mut seen = HashSet::new();
    (lists < 2 || joined) && rows.iter().all(|(_, text)| seen.insert(key(text)))
}

/// Puts the rows below a heading, or none, into `other`.
pub(super) fn put(
    lines: &[(u64, String)],
    script: &str,
    heading: &str,
    pace: &mut Pace,
    out: &mut Out,
) {
    let split = |(_, text): &(u64, String)| -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    };
    // Aggregations stand one after the other; keys of other types are of other widths.
    let mut rest = lines;
    let mut list = 0u32;
    while let Some(first) = rest.first() {
        let columns = split(first).len();
        let alike = |l: &&(u64, String)| split(l).len() == columns;
        let count = rest.iter().take_while(alike).count().max(1);
        let count = if are_one(&rest[..count]) {
            count
        } else {
            let same = |l: &&(u64, String)| alike(l) && layout(&l.1) == layout(&first.1);
            rest.iter().take_while(same).count().max(1)
        };
        let (block, after) = rest.split_at(count);
        rest = after;
        list += 1;
        let rows: Vec<Vec<String>> = block.iter().map(split).collect();
        let named = !rows.iter().all(|r| whole(&r[0]).is_some());
        if !named && columns > 2 {
            out.refuse(crate::Refused(
                "which columns of its list are keys and which are counts is not told\n\
                 hint: describe the columns in a file, as --as my.toml"
                    .into(),
            ));
            return;
        }
        let name = match (heading, list) {
            (_, 1) => heading.to_owned(),
            ("", _) => format!("list {list}"),
            _ => format!("{heading} {list}"),
        };
        put_block(&rows, &name, script, pace, out);
    }
}

/// A block of rows of one list: the first columns that tell them apart are keys.
fn put_block(rows: &[Vec<String>], list: &str, script: &str, pace: &mut Pace, out: &mut Out) {
    let columns = rows[0].len();
    let text_columns = rows
        .iter()
        .filter_map(|r| r.iter().rposition(|w| whole(w).is_none()))
        .max();
    let least = text_columns.map_or(1, |last| last + 1).min(columns - 1);
    let tells_apart = |keys: &usize| {
        let mut seen = HashSet::new();
        rows.iter().all(|r| seen.insert(&r[..*keys]))
    };
    let keys = (least..columns).find(tells_apart).unwrap_or(columns - 1);
    for row in rows {
        let instance = row[..keys].join(" ");
        let nth = pace.begin(&format!("{script}\0{list}\0{instance}"), out);
        let instance = out.word(instance.as_bytes());
        for (column, value) in row.iter().enumerate().skip(keys) {
            let Some(value) = whole(value) else { continue };
            let mut name = match columns - keys {
                1 => "value".to_owned(),
                _ => format!("column {}", column + 1),
            };
            if !list.is_empty() {
                name = format!("{list} {name}");
            }
            if nth > 1 {
                name = format!("{name} ({nth})");
            }
            out.other(&name, "", instance, value);
        }
    }
}
