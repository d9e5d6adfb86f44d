//! A file that is opened, and recognised by its first bytes.

use std::io::Read;

use formats::{Format, Head};

use super::inputs::{Cut, Input};
use super::packed::first_bytes;
use super::{Known, NotKnown, Wanted};
use crate::failure::Failure;

/// Bytes at a file's beginning by which its format is recognised.
pub(super) const HEAD: usize = 1 << 20;

/// Why a file is not imported.
pub(super) enum Why {
    /// It is of no known format.
    Unknown(String),
    /// It is of a format, or of several, and something is missing.
    Refused(String),
    /// It cannot be read: the disk, the compression, the tool that reads it.
    Unreadable(std::io::Error),
    /// What it was read for failed.
    Failed(Failure),
}

/// A file whose format is known.
pub(super) struct Begun {
    pub(super) text: Box<dyn Read + Send>,
    /// Its first bytes.
    pub(super) first: Vec<u8>,
    pub(super) head: Head,
    pub(super) format: Known,
    pub(super) cut: Cut,
    /// What is to be known of its text.
    pub(super) note: Option<&'static str>,
    /// Formats of which it has outputs in turn, if they are several and none was asked for.
    pub(super) together: Vec<&'static Format>,
}

/// Opens a file and recognises it by its first bytes.
pub(super) fn begin(wanted: &Wanted, input: &Input) -> Result<Begun, Why> {
    let mut text = input.open().map_err(Why::Unreadable)?;
    let first = first_bytes(&mut text, HEAD).map_err(Why::Unreadable)?;
    let head = Head::named(&first, &input.name);
    let together = match wanted.format {
        None => formats::together(&head),
        Some(_) => vec![],
    };
    let format = match (wanted.recognise(&head), &together[..]) {
        (Err(NotKnown { looks_known, .. }), [first, ..]) if looks_known => Ok(Known::Listed(first)),
        (found, _) => found,
    };
    let format = format.map_err(|not| match not {
        NotKnown { why, looks_known } if looks_known => Why::Refused(why),
        NotKnown { why, .. } if wanted.format.is_some() => Why::Unknown(why),
        NotKnown { why, .. } => {
            let behind = result_behind(&first, &mut text);
            behind.map_or(Why::Unknown(why), Why::Refused)
        }
    })?;
    Ok(Begun {
        cut: text.cut(),
        note: text.note,
        text: Box::new(text),
        first,
        head,
        format,
        together,
    })
}

/// Opens a file whose format is known.
pub(super) fn open_as(input: &Input, format: Known) -> Result<Begun, Why> {
    let mut text = input.open().map_err(Why::Unreadable)?;
    let first = first_bytes(&mut text, HEAD).map_err(Why::Unreadable)?;
    Ok(Begun {
        head: Head::named(&first, &input.name),
        cut: text.cut(),
        note: text.note,
        text: Box::new(text),
        first,
        format,
        together: vec![],
    })
}

/// So much of a file of no known format is searched for the result of a benchmark.
const SEARCHED: usize = 32 << 20;

/// What is behind other text, as what a build printed: it is not taken without being asked for, for
/// what is before it would be told line by line.
fn result_behind(first: &[u8], rest: &mut dyn Read) -> Option<String> {
    let mut all = first.to_vec();
    all.extend(first_bytes(rest, SEARCHED).ok()?);
    let found = formats::find_workload(&all);
    let result = found.first()?;
    let before = all.get(..result.bytes.start)?;
    let line = before.split(|b| *b == b'\n').count();
    let name = result.format.name;
    Some(format!(
        "from line {line} on it has what {name} is, behind other text\n\
         hint: --as {name} takes it and tells the lines before"
    ))
}
