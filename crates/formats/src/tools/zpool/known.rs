//! By what a text of `zpool iostat` is known: its headers, its command line, or the rows of `-H`,
//! which has no header.

use std::collections::HashMap;

use super::columns::{self, Column, Op, value};
use super::histogram;
use crate::recognise::Head;
use crate::{Options, number, prompt, stamp_line};

pub(super) fn recognise(head: &Head) -> u8 {
    if head.lines().any(columns::is_bottom) || histogram::is_in(head) {
        return 90;
    }
    if echoed(head) {
        return 80;
    }
    let is_row = |line: &&[u8]| !line.is_empty() && !prompt::is_chatter(line);
    let rows: Vec<&[u8]> = head.lines().filter(is_row).collect();
    let scripted = rows.iter().filter(|row| is_scripted(row)).count();
    let plain = Options::default();
    let stamps = rows
        .iter()
        .filter(|r| !matches!(stamp_line::stamp_line(r, &plain), Ok(None)))
        .count();
    if scripted > 0 && scripted + stamps + 1 >= rows.len() {
        65
    } else if rows.len() > 1 && are_exact(&rows) {
        60
    } else {
        0
    }
}

/// The fields of a row of `-H`: divided by tabs, or by the blanks that a terminal made of them.
pub(super) fn parts(row: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let has_tabs = row.contains(&b'\t');
    row.split(move |b| *b == b'\t' || !has_tabs && *b == b' ')
        .filter(move |part| has_tabs || !part.is_empty())
}

/// The pool and the size of a row of `-Hp`: exact bytes in whole sectors.
fn exact(row: &[u8]) -> Option<(&[u8], u64)> {
    const SECTOR: u64 = 512;
    let mut parts = parts(row);
    let name = parts.next()?;
    let numbers: Vec<u64> = parts.map(number::whole).collect::<Option<_>>()?;
    let [alloc, free, _, _, _, _] = numbers[..] else {
        return None;
    };
    let sectors = alloc % SECTOR == 0 && free % SECTOR == 0;
    let size = alloc.saturating_add(free);
    // No pool is smaller.
    let is_one = name.first().is_some_and(u8::is_ascii_alphabetic) && sectors && size >= 1 << 26;
    is_one.then_some((name, size))
}

pub(super) fn is_exact(row: &[u8]) -> bool {
    exact(row).is_some()
}

/// Whether all are such rows, of pools of which each keeps its size, though not what is free of it.
fn are_exact(rows: &[&[u8]]) -> bool {
    let mut sizes: HashMap<&[u8], u64> = HashMap::new();
    let mut again = false;
    for row in rows {
        let Some((name, size)) = exact(row) else {
            return false;
        };
        let known = sizes.insert(name, size);
        if known.is_some_and(|k| k != size) {
            return false;
        }
        again |= known.is_some();
    }
    again
}

fn echoed(head: &Head) -> bool {
    head.lines()
        .any(|l| prompt::arguments(l, &["zpool", "iostat"]).is_some())
}

/// A row of `-H`: a name, two sizes with a letter or none, and numbers.
fn is_scripted(line: &[u8]) -> bool {
    let parts: Vec<&[u8]> = line.split(|b| *b == b'\t').collect();
    let [name, space @ .., _, _, _, _] = &parts[..] else {
        return false;
    };
    let lettered = |t: &&[u8]| t.last().is_some_and(|b| b"KMGTPE".contains(b)) || **t == *b"-";
    parts.len() >= 7
        && !name.is_empty()
        && crate::number::number(name).is_none()
        && space.iter().take(2).all(lettered)
        && parts[1..].iter().all(|t| {
            value(&Column::QueueWait("scrub"), t)
                .or(value(&Column::Ops(Op::Read), t))
                .is_some()
        })
}
