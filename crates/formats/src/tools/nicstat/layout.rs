//! What nicstat's columns are: by a header, or in the lines of `-p`.

use crate::time::{Stamp, time_of_day};
use crate::{fields, number, stamp_line};

/// What the rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Tcp,
    Udp,
    Interfaces,
}

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) of: Of,
    pub(super) names: Vec<String>,
    /// Rows begin with the time, which the header has otherwise.
    pub(super) timed: bool,
}

pub(super) const PARSED: [&str; 11] = [
    "rKB/s", "wKB/s", "rPk/s", "wPk/s", "%Util", "Sat", "IErr", "OErr", "Coll", "NoCP", "Defer",
];
pub(super) const TCP: [&str; 10] = [
    "InKB", "OutKB", "InSeg", "OutSeg", "Reset", "AttF", "%ReTX", "InConn", "OutCon", "Drops",
];
pub(super) const UDP: [&str; 4] = ["InDG", "OutDG", "InErr", "OutErr"];

impl Layout {
    pub(super) fn of(line: &[u8]) -> Option<Layout> {
        let all: Vec<&[u8]> = fields(line).collect();
        let (&first, rest) = all.split_first()?;
        let timed = first == b"Time";
        let rest = if timed {
            rest.strip_prefix(&[&b"Int"[..]])?
        } else {
            time_of_day(first, None)?;
            rest
        };
        let of = match *rest.first()? {
            b"rKB/s" | b"rKb/s" | b"rMbps" if timed => Of::Interfaces,
            b"RdKB" | b"RdMbps" if !timed => Of::Interfaces,
            b"InKB" if !timed => Of::Tcp,
            b"InDG" if !timed => Of::Udp,
            _ => return None,
        };
        let text = |f: &&[u8]| String::from_utf8_lossy(f).into_owned();
        Some(Layout {
            of,
            names: rest.iter().map(text).collect(),
            timed,
        })
    }
}

/// Fields of a line of `-p`: the time, what it is of, its name and numbers.
pub(super) fn parseable(line: &[u8]) -> Option<(Stamp, Of, &[u8], Vec<f64>)> {
    let all: Vec<&[u8]> = line.trim_ascii().split(|b| *b == b':').collect();
    let &[time, ref middle @ ..] = &all[..] else {
        return None;
    };
    let stamp = stamp_line::epoch(time)?;
    let (of, count) = match *middle.first()? {
        b"TCP" => (Of::Tcp, TCP.len()),
        b"UDP" => (Of::Udp, UDP.len()),
        _ => (Of::Interfaces, if middle.len() > 8 { 11 } else { 6 }),
    };
    // Names of interfaces may have colons.
    let (name, numbers) = middle.split_at(middle.len().checked_sub(count)?);
    if name.iter().skip(1).any(|part| part.contains(&b'.')) {
        // More numbers than are known.
        return None;
    }
    let values: Option<Vec<f64>> = numbers.iter().map(|f| number::number(f)).collect();
    let length = name
        .iter()
        .map(|n| n.len() + 1)
        .sum::<usize>()
        .checked_sub(1)?;
    let start = time.len() + 1;
    let name = line.trim_ascii().get(start..start + length)?;
    Some((stamp, of, name, values?))
}
