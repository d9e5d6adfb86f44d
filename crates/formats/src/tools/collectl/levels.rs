//! What there is at the moment, in raw files of `collectl`: sockets, entries of the file systems'
//! caches, free memory by size.
//!
//! ```text
//! sock sockets: used 295
//! sock TCP: inuse 9 orphan 0 tw 0 alloc 12 mem 1
//! fs-ds 86406 62934 45 0 21567 0
//! fs-is 77210 12345
//! fs-fnr 4960 0 9223372036854775807
//! buddy Node 0, zone   Normal    310     42      7
//! ```
//!
//! They are `/proc/net/sockstat`, `/proc/sys/fs/dentry-state`, `inode-nr` and `file-nr`, and
//! `/proc/buddyinfo`, which has the free blocks of 1, 2, 4 … pages.

use crate::number::whole;
use crate::out::Out;
use crate::{Line, fields};

/// Orders that kernels have at most.
const ORDERS: usize = 20;

fn count(word: &[u8]) -> Option<f64> {
    whole(word).map(|n| n as f64)
}

/// `TCP: inuse 9 orphan 0`: names and numbers in turn.
pub(super) fn sockets(line: &[u8], out: &mut Out) -> Line {
    let words: Vec<&[u8]> = fields(line).collect();
    let Some((protocol, pairs)) = words.split_first() else {
        return Line::Unknown;
    };
    let Some(protocol) = protocol.strip_suffix(b":") else {
        return Line::Unknown;
    };
    let told: Option<Vec<(&[u8], f64)>> = pairs
        .chunks(2)
        .map(|pair| match pair {
            [name, number] if count(name).is_none() => Some((*name, count(number)?)),
            _ => None,
        })
        .collect();
    let Some(told) = told.filter(|told| !told.is_empty()) else {
        return Line::Unknown;
    };
    let none = out.word(b"");
    for (name, value) in told {
        let unit = match name {
            b"mem" => "pages",
            b"memory" => "B",
            _ => "count",
        };
        let column = [protocol, b" ", name].concat();
        out.other(&String::from_utf8_lossy(&column), unit, none, value);
    }
    Line::Data
}

/// What the numbers of these files are; some are settings, or always zero.
const FILES: [(&[u8], &[&str]); 3] = [
    (b"fs-ds", &["dentries", "dentries unused"]),
    (b"fs-is", &["inodes", "inodes free"]),
    (b"fs-fnr", &["file handles", "file handles free"]),
];

/// `86406 62934 45 0 21567 0`, below the label of its file.
pub(super) fn caches(label: &[u8], line: &[u8], out: &mut Out) -> Line {
    let names = FILES.iter().find(|(name, _)| *name == label);
    let values: Option<Vec<f64>> = fields(line).map(count).collect();
    let (Some((_, names)), Some(values)) = (names, values) else {
        return Line::Unknown;
    };
    if values.len() < names.len() {
        return Line::Unknown;
    }
    let none = out.word(b"");
    for (name, value) in names.iter().zip(values) {
        out.other(name, "count", none, value);
    }
    Line::Data
}

/// `Node 0, zone   Normal    310     42`: blocks, as columns of `collectl -P` are called.
pub(super) fn free_blocks(line: &[u8], out: &mut Out) -> Line {
    let words: Vec<&[u8]> = fields(line).collect();
    let [b"Node", node, b"zone", zone, blocks @ ..] = &words[..] else {
        return Line::Unknown;
    };
    let blocks: Option<Vec<f64>> = blocks.iter().map(|w| count(w)).collect();
    let (Some(node), Some(blocks)) = (node.strip_suffix(b","), blocks) else {
        return Line::Unknown;
    };
    if blocks.is_empty() || blocks.len() > ORDERS {
        return Line::Unknown;
    }
    let instance = out.word(&[*zone, b"-", node].concat());
    for (order, blocks) in blocks.iter().enumerate() {
        let pages = 1_u64 << order;
        let plural = if pages == 1 { "" } else { "s" };
        out.other(
            &format!("BUD {pages}Page{plural}"),
            "count",
            instance,
            *blocks,
        );
    }
    Line::Data
}
