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
    let rows: Vec<&[u8]> = head.lines().filter(|l| !l.is_empty()).collect();
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

/// Whether all are rows of `-Hp`: exact bytes in whole sectors, of pools of which each keeps its
/// size, though not what is free of it.
fn are_exact(rows: &[&[u8]]) -> bool {
    const SECTOR: u64 = 512;
    let mut sizes: HashMap<&[u8], u64> = HashMap::new();
    let mut again = false;
    for row in rows {
        let parts: Vec<&[u8]> = row.split(|b| *b == b'\t').collect();
        let [name, numbers @ ..] = &parts[..] else {
            return false;
        };
        let numbers: Option<Vec<u64>> = numbers.iter().map(|n| number::whole(n)).collect();
        let Some([alloc, free, _, _, _, _]) = numbers.as_deref() else {
            return false;
        };
        let named = name.first().is_some_and(u8::is_ascii_alphabetic);
        let sectors = alloc % SECTOR == 0 && free % SECTOR == 0;
        let size = alloc.saturating_add(*free);
        let known = sizes.insert(name, size);
        // No pool is smaller.
        if !named || !sectors || size < 1 << 26 || known.is_some_and(|k| k != size) {
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
