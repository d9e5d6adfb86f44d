//! The types of the running kernel, cut down to those that the programs read.
//!
//! The loader looks each type of a program up among all 150,000 of the kernel, which takes
//! 40 ms an object, and needs 15 MB for them. Here all but the structs that are read, and the
//! hooks, become nameless; each keeps its number, by which the kernel is asked for a hook.
//!
//! The format is that of <https://docs.kernel.org/bpf/btf.html>: a header, types of 12 bytes
//! and what their kind adds, and names. A type's number is its place, from 1 on; 0 is void.

/// Names of the structs that the programs declare; `build.rs` reads them from the sources.
pub(super) const NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/structs.txt"));

use std::collections::HashSet;

const MAGIC: u16 = 0xeb9f;
const HEADER: usize = 24;

mod kind {
    pub(super) const INT: u32 = 1;
    pub(super) const PTR: u32 = 2;
    pub(super) const ARRAY: u32 = 3;
    pub(super) const STRUCT: u32 = 4;
    pub(super) const UNION: u32 = 5;
    pub(super) const ENUM: u32 = 6;
    pub(super) const FWD: u32 = 7;
    pub(super) const TYPEDEF: u32 = 8;
    pub(super) const FUNC: u32 = 12;
    pub(super) const FUNC_PROTO: u32 = 13;
    pub(super) const VAR: u32 = 14;
    pub(super) const DATASEC: u32 = 15;
    pub(super) const FLOAT: u32 = 16;
    pub(super) const DECL_TAG: u32 = 17;
    pub(super) const ENUM64: u32 = 19;
}

/// All types, as the kernel shows them.
struct All<'a> {
    types: &'a [u8],
    names: &'a [u8],
    /// Where each type starts, by its number; 0 is not there.
    starts: Vec<u32>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Bytes that follow the 12 of a type of that kind with that many parts.
fn extra(kind: u32, parts: usize) -> usize {
    match kind {
        kind::INT | kind::VAR | kind::DECL_TAG => 4,
        kind::ARRAY => 12,
        kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => parts * 12,
        kind::ENUM | kind::FUNC_PROTO => parts * 8,
        _ => 0,
    }
}

impl<'a> All<'a> {
    fn open(bytes: &'a [u8]) -> Option<All<'a>> {
        if u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]) != MAGIC {
            return None;
        }
        let header = word(bytes, 4)? as usize;
        let part = |at: usize| {
            let (start, length) = (word(bytes, at)? as usize, word(bytes, at + 4)? as usize);
            bytes.get(header + start..header + start + length)
        };
        let (types, names) = (part(8)?, part(16)?);
        let mut starts = vec![0];
        let mut at = 0;
        while at < types.len() {
            starts.push(at as u32);
            let info = word(types, at + 4)?;
            at += 12 + extra(info >> 24 & 31, (info & 0xffff) as usize);
        }
        Some(All {
            types,
            names,
            starts,
        })
    }

    fn name(&self, at: u32) -> &'a [u8] {
        let rest = self.names.get(at as usize..).unwrap_or_default();
        let end = rest.iter().position(|b| *b == 0).unwrap_or(0);
        &rest[..end]
    }

    /// The bytes of a type, its kind and how many parts it has.
    fn get(&self, id: u32) -> Option<(&'a [u8], u32, usize)> {
        let at = *self.starts.get(id as usize).filter(|_| id > 0)? as usize;
        let info = word(self.types, at + 4)?;
        let (kind, parts) = (info >> 24 & 31, (info & 0xffff) as usize);
        let bytes = self.types.get(at..at + 12 + extra(kind, parts))?;
        Some((bytes, kind, parts))
    }
}

/// The types to keep: the structs, with what lies inside them by value, and the hooks.
fn wanted(all: &All<'_>, names: &[&str]) -> Option<Vec<bool>> {
    let names: HashSet<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
    let mut keep = vec![false; all.starts.len()];
    let mut open = Vec::new();
    for id in 1..all.starts.len() as u32 {
        let at = all.starts[id as usize] as usize;
        let kind = word(all.types, at + 4)? >> 24 & 31;
        if !matches!(
            kind,
            kind::STRUCT | kind::UNION | kind::TYPEDEF | kind::FUNC
        ) {
            continue;
        }
        let name = word(all.types, at)?;
        if kind == kind::TYPEDEF || kind == kind::FUNC {
            // Only its start is looked at: where it ends takes time to find.
            let rest = all.names.get(name as usize..).unwrap_or_default();
            keep[id as usize] = is_hook(kind, rest);
        } else if name > 0 && names.contains(all.name(name)) {
            open.push(id);
        }
    }
    while let Some(id) = open.pop() {
        if id == 0 || std::mem::replace(keep.get_mut(id as usize)?, true) {
            continue;
        }
        let (bytes, kind, parts) = all.get(id)?;
        match kind {
            // Pointers are the same size whatever they point to.
            kind::PTR
            | kind::INT
            | kind::FLOAT
            | kind::FWD
            | kind::ENUM
            | kind::ENUM64
            | kind::FUNC_PROTO => {}
            kind::ARRAY => open.extend([word(bytes, 12)?, word(bytes, 16)?]),
            kind::STRUCT | kind::UNION => {
                for part in 0..parts {
                    open.push(word(bytes, 12 + part * 12 + 4)?);
                }
            }
            // Names, qualifiers and tags of another type.
            _ => open.push(word(bytes, 8)?),
        }
    }
    Some(keep)
}

/// Whether a program can be attached there: a tracepoint, or an iterator.
fn is_hook(kind: u32, name: &[u8]) -> bool {
    (kind == kind::TYPEDEF && name.starts_with(b"btf_trace_"))
        || (kind == kind::FUNC && name.starts_with(b"bpf_iter_"))
}

/// Types and hooks that are wanted, in their places; all others are nameless declarations.
/// `None` if `bytes` is not in the format.
pub(super) fn reduced(bytes: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let all = All::open(bytes)?;
    let keep = wanted(&all, names)?;
    let last = keep.iter().rposition(|k| *k)?;
    let mut types = Vec::with_capacity(last * 12);
    let mut texts = vec![0_u8];
    for (id, keep) in keep.iter().enumerate().take(last + 1).skip(1) {
        if !keep {
            types.extend_from_slice(&0_u32.to_ne_bytes());
            types.extend_from_slice(&(kind::FWD << 24).to_ne_bytes());
            types.extend_from_slice(&0_u32.to_ne_bytes());
            continue;
        }
        let (bytes, kind, parts) = all.get(id as u32)?;
        let start = types.len();
        types.extend_from_slice(bytes);
        // Where names stand: of the type, and of its parts.
        let width = match kind {
            kind::STRUCT | kind::UNION | kind::ENUM64 => 12,
            kind::ENUM => 8,
            _ => 0,
        };
        let named = (0..parts)
            .filter(|_| width > 0)
            .map(|part| 12 + part * width);
        for at in std::iter::once(0).chain(named) {
            let name = all.name(word(bytes, at)?);
            let mut place = 0;
            if !name.is_empty() {
                place = texts.len() as u32;
                texts.extend_from_slice(name);
                texts.push(0);
            }
            types[start + at..start + at + 4].copy_from_slice(&place.to_ne_bytes());
        }
        // What a pointer or a hook points to is not kept.
        if kind == kind::PTR || is_hook(kind, all.name(word(bytes, 0)?)) {
            types[start + 8..start + 12].copy_from_slice(&0_u32.to_ne_bytes());
        }
    }
    let lengths = [types.len() as u32, texts.len() as u32];
    let mut out = Vec::with_capacity(HEADER + types.len() + texts.len());
    out.extend_from_slice(&MAGIC.to_ne_bytes());
    out.extend_from_slice(&[1, 0]);
    for field in [HEADER as u32, 0, lengths[0], lengths[0], lengths[1]] {
        out.extend_from_slice(&field.to_ne_bytes());
    }
    out.extend_from_slice(&types);
    out.extend_from_slice(&texts);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aya::{Btf, Endianness};

    #[test]
    fn the_reduced_types_can_be_read_and_are_few() {
        let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            return; // A kernel without; what loads programs says so.
        };
        let reduced = reduced(&bytes, &["request", "task_struct"]).unwrap();
        assert!(reduced.len() < bytes.len() / 2, "{}", reduced.len());
        Btf::parse(&reduced, Endianness::default()).unwrap();
        let all = All::open(&bytes).unwrap();
        let found = All::open(&reduced).unwrap();
        let mut names = (1..found.starts.len() as u32).filter_map(|id| {
            let (bytes, kind, _) = found.get(id)?;
            (kind == kind::STRUCT).then(|| found.name(word(bytes, 0).unwrap()))
        });
        assert!(names.any(|n| n == b"request"));
        // A hook keeps its number.
        let hook = |all: &All<'_>| {
            (1..all.starts.len() as u32).find(|id| {
                let name = all.get(*id).and_then(|(bytes, ..)| word(bytes, 0));
                name.is_some_and(|n| all.name(n) == b"btf_trace_block_rq_issue")
            })
        };
        assert!(hook(&all).is_some());
        assert_eq!(hook(&found), hook(&all));
    }

    #[test]
    fn what_is_no_description_is_refused() {
        assert!(reduced(b"", &["request"]).is_none());
        assert!(reduced(&[0; 100], &["request"]).is_none());
        let mut cut = vec![0x9f, 0xeb, 1, 0];
        for field in [24_u32, 0, 900, 900, 10] {
            cut.extend_from_slice(&field.to_ne_bytes());
        }
        assert!(reduced(&cut, &["request"]).is_none());
    }
}
