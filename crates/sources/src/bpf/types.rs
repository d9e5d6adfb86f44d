//! The types of the running kernel, cut down to those that the programs read.
//!
//! The loader looks each type of a program up among all 150,000 of the kernel, which takes
//! 40 ms an object, and keeps 15 MB while it does. Of the few structs that are read a small
//! set of types is made here (in 3 ms), with which it takes under 1 ms.
//!
//! The format is that of <https://docs.kernel.org/bpf/btf.html>: a header, types of 12 bytes
//! and what their kind adds, and names. A type's number is its place, from 1 on; 0 is void.

use std::collections::HashMap;

/// Names of the structs that the programs declare; `build.rs` reads them from the sources.
pub(super) const NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/structs.txt"));

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

/// What is kept, renumbered.
#[derive(Default)]
struct Kept {
    numbers: HashMap<u32, u32>,
    order: Vec<u32>,
}

impl Kept {
    /// The new number of a type, which is kept from now on.
    fn number(&mut self, id: u32) -> u32 {
        if id == 0 {
            return 0;
        }
        *self.numbers.entry(id).or_insert_with(|| {
            self.order.push(id);
            self.order.len() as u32
        })
    }
}

/// The structs called `names`, with all that lies inside them; what they point to is void.
/// `None` if `bytes` is not in the format.
pub(super) fn reduced(bytes: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let all = All::open(bytes)?;
    let mut kept = Kept::default();
    for id in 1..all.starts.len() as u32 {
        let at = all.starts[id as usize] as usize;
        let info = word(all.types, at + 4)?;
        if matches!(info >> 24 & 31, kind::STRUCT | kind::UNION) {
            let name = all.name(word(all.types, at)?);
            if !name.is_empty() && names.iter().any(|n| n.as_bytes() == name) {
                kept.number(id);
            }
        }
    }
    let mut types = Vec::new();
    let mut texts = vec![0_u8];
    let mut next = 0;
    while next < kept.order.len() {
        let (bytes, kind, parts) = all.get(kept.order[next])?;
        next += 1;
        let start = types.len();
        types.extend_from_slice(bytes);
        let mut set = |at: usize, value: u32| {
            types[start + at..start + at + 4].copy_from_slice(&value.to_ne_bytes());
        };
        let mut text = |at: u32| {
            let name = all.name(at);
            if name.is_empty() {
                return 0;
            }
            let place = texts.len() as u32;
            texts.extend_from_slice(name);
            texts.push(0);
            place
        };
        set(0, text(word(bytes, 0)?));
        match kind {
            // Pointers are the same size whatever they point to.
            kind::PTR => set(8, 0),
            kind::ARRAY => {
                set(12, kept.number(word(bytes, 12)?));
                set(16, kept.number(word(bytes, 16)?));
            }
            kind::STRUCT | kind::UNION => {
                for part in 0..parts {
                    let at = 12 + part * 12;
                    set(at, text(word(bytes, at)?));
                    set(at + 4, kept.number(word(bytes, at + 4)?));
                }
            }
            kind::ENUM | kind::ENUM64 => {
                let size = if kind == kind::ENUM { 8 } else { 12 };
                for part in 0..parts {
                    let at = 12 + part * size;
                    set(at, text(word(bytes, at)?));
                }
            }
            kind::INT | kind::FLOAT | kind::FWD => {}
            // Not inside a struct.
            kind::FUNC | kind::FUNC_PROTO | kind::VAR | kind::DATASEC | kind::DECL_TAG => {
                return None;
            }
            // Names, qualifiers and tags of another type.
            _ => set(8, kept.number(word(bytes, 8)?)),
        }
    }
    let mut out = Vec::with_capacity(HEADER + types.len() + texts.len());
    out.extend_from_slice(&MAGIC.to_ne_bytes());
    out.extend_from_slice(&[1, 0]);
    for field in [
        HEADER as u32,
        0,
        types.len() as u32,
        types.len() as u32,
        texts.len() as u32,
    ] {
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
        assert!(reduced.len() < bytes.len() / 5, "{}", reduced.len());
        Btf::parse(&reduced, Endianness::default()).unwrap();
        let found = All::open(&reduced).unwrap();
        let mut names = (1..found.starts.len() as u32).filter_map(|id| {
            let (bytes, kind, _) = found.get(id)?;
            (kind == kind::STRUCT).then(|| found.name(word(bytes, 0).unwrap()))
        });
        assert!(names.any(|n| n == b"request"));
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
