//! The types of the running kernel, cut down to those that the programs read.
//!
//! The loader looks each type of a program up among all 150,000 of the kernel, which takes
//! 40 ms an object, and needs 15 MB for them. Here are two short descriptions instead: one of
//! the structs that are read, and one of the hooks, each at its number, by which the kernel is
//! asked for it; what is between them is nameless.
//!
//! The format is that of <https://docs.kernel.org/bpf/btf.html>: a header, types of 12 bytes
//! and what their kind adds, and names. A type's number is its place, from 1 on; 0 is void.

/// Names of the structs that the programs declare; `build.rs` reads them from the sources.
pub(super) const NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/structs.txt"));

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};

use memmap2::{Mmap, MmapOptions};

/// Where the kernel describes its types.
const KERNEL: &str = "/sys/kernel/btf/vmlinux";

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

fn until_zero(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|b| *b == 0).unwrap_or(0);
    &name[..end]
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
        until_zero(self.names.get(at as usize..).unwrap_or_default())
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

/// The types that have a name of their own and are of one of those kinds: number and start of
/// the name. Where it ends takes time to find.
fn named<'a>(all: &All<'a>, kinds: &[u32]) -> impl Iterator<Item = (u32, &'a [u8])> {
    let of = |id: usize| {
        let at = all.starts[id] as usize;
        let kind = word(all.types, at + 4)? >> 24 & 31;
        let name = word(all.types, at)?;
        let rest = all.names.get(name as usize..)?;
        (name > 0 && kinds.contains(&kind)).then_some((id as u32, rest))
    };
    (1..all.starts.len()).filter_map(of)
}

/// Where the numbers of the types stand that are part of a type of that kind.
fn inside(kind: u32, parts: usize) -> Vec<usize> {
    match kind {
        // Pointers are the same size whatever they point to.
        kind::PTR
        | kind::INT
        | kind::FLOAT
        | kind::FWD
        | kind::ENUM
        | kind::ENUM64
        | kind::FUNC_PROTO => Vec::new(),
        kind::ARRAY => vec![12, 16],
        kind::STRUCT | kind::UNION => (0..parts).map(|part| 12 + part * 12 + 4).collect(),
        // Names, qualifiers and tags of another type.
        _ => vec![8],
    }
}

/// A description being written.
struct Description {
    types: Vec<u8>,
    names: Vec<u8>,
}

impl Description {
    /// With room for so many types of the smallest kind.
    fn with_room(types: u32) -> Description {
        Description {
            types: Vec::with_capacity(types as usize * 12),
            names: vec![0],
        }
    }

    /// So many declarations without a name, each of which stands for anything.
    fn nameless(&mut self, count: u32) {
        let mut one = [0; 12];
        one[4..8].copy_from_slice(&(kind::FWD << 24).to_ne_bytes());
        for _ in 0..count {
            self.types.extend_from_slice(&one);
        }
    }

    /// Type `id` of `all`, with its names; `number` gives the types inside it theirs.
    fn add(&mut self, all: &All<'_>, id: u32, number: impl Fn(u32) -> u32) -> Option<()> {
        let (bytes, kind, parts) = all.get(id)?;
        let start = self.types.len();
        self.types.extend_from_slice(bytes);
        let set = |types: &mut Vec<u8>, at: usize, word: u32| {
            types[start + at..start + at + 4].copy_from_slice(&word.to_ne_bytes());
        };
        // Of the type, and of its parts.
        let width = match kind {
            kind::STRUCT | kind::UNION | kind::ENUM64 => 12,
            kind::ENUM => 8,
            _ => 0,
        };
        let parts_named = if width > 0 { parts } else { 0 };
        let named = (0..parts_named).map(|part| 12 + part * width);
        for at in std::iter::once(0).chain(named) {
            let name = all.name(word(bytes, at)?);
            let mut place = 0;
            if !name.is_empty() {
                place = self.names.len() as u32;
                self.names.extend_from_slice(name);
                self.names.push(0);
            }
            set(&mut self.types, at, place);
        }
        for at in inside(kind, parts) {
            set(&mut self.types, at, number(word(bytes, at)?));
        }
        // What it points to is not kept.
        if kind == kind::PTR {
            set(&mut self.types, 8, 0);
        }
        Some(())
    }

    fn bytes(self) -> Vec<u8> {
        let lengths = [self.types.len() as u32, self.names.len() as u32];
        let mut out = Vec::with_capacity(HEADER + self.types.len() + self.names.len());
        out.extend_from_slice(&MAGIC.to_ne_bytes());
        out.extend_from_slice(&[1, 0]);
        for field in [HEADER as u32, 0, lengths[0], lengths[0], lengths[1]] {
            out.extend_from_slice(&field.to_ne_bytes());
        }
        out.extend_from_slice(&self.types);
        out.extend_from_slice(&self.names);
        out
    }
}

/// The structs of those names with what lies inside them by value, numbered anew. `None` if
/// `bytes` is not in the format.
pub(super) fn structs(bytes: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let all = All::open(bytes)?;
    let names: HashSet<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
    let of_those = named(&all, &[kind::STRUCT, kind::UNION])
        .filter(|(_, name)| names.contains(until_zero(name)));
    let mut open: Vec<u32> = of_those.map(|(id, _)| id).collect();
    let mut wanted = BTreeSet::new();
    while let Some(id) = open.pop() {
        if id == 0 || !wanted.insert(id) {
            continue;
        }
        let (bytes, kind, parts) = all.get(id)?;
        for at in inside(kind, parts) {
            open.push(word(bytes, at)?);
        }
    }
    let numbers: HashMap<u32, u32> = wanted.iter().copied().zip(1..).collect();
    let mut structs = Description::with_room(wanted.len() as u32);
    for id in &wanted {
        structs.add(&all, *id, |id| numbers.get(&id).copied().unwrap_or(0))?;
    }
    (!wanted.is_empty()).then(|| structs.bytes())
}

/// What a program can wait at, tracepoints and iterators, at their numbers. `None` if `bytes`
/// is not in the format.
pub(super) fn hooks(bytes: &[u8]) -> Option<Vec<u8>> {
    let all = All::open(bytes)?;
    let of_kind = |kind, prefix: &'static [u8]| {
        named(&all, [kind].as_slice())
            .filter(|(_, name)| name.starts_with(prefix))
            .map(|(id, _)| id)
            .collect::<Vec<u32>>()
    };
    let mut found = of_kind(kind::TYPEDEF, b"btf_trace_");
    found.extend(of_kind(kind::FUNC, b"bpf_iter_"));
    found.sort_unstable();
    let mut hooks = Description::with_room(found.last().copied().unwrap_or(0));
    let mut before = 0;
    for id in &found {
        hooks.nameless(*id - before - 1);
        hooks.add(&all, *id, |_| 0)?;
        before = *id;
    }
    (!found.is_empty()).then(|| hooks.bytes())
}

/// What `reduce` makes of the types of the running kernel.
///
/// Reading them takes 8 ms, since the kernel hands out a page at a time; from Linux 6.16 on
/// they can be mapped instead.
pub(super) fn of_this_kernel<T>(reduce: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
    let mut file = File::open(KERNEL)?;
    if let Ok(bytes) = map(&file) {
        return Ok(reduce(&bytes));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(reduce(&bytes))
}

/// A mapping of our own: the kernel refuses one that is shared.
#[allow(
    unsafe_code,
    reason = "maps a file that the kernel never changes, to read it"
)]
fn map(file: &File) -> io::Result<Mmap> {
    unsafe { MmapOptions::new().map_copy_read_only(file) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aya::{Btf, Endianness};

    #[test]
    fn the_reduced_types_can_be_read_and_are_few() {
        let Ok(bytes) = std::fs::read(KERNEL) else {
            return; // A kernel without; what loads programs says so.
        };
        let structs = structs(&bytes, &["request", "task_struct"]).unwrap();
        let hooks = hooks(&bytes).unwrap();
        assert!(structs.len() < bytes.len() / 20, "{}", structs.len());
        assert!(hooks.len() < bytes.len() / 2, "{}", hooks.len());
        for of in [&structs, &hooks] {
            Btf::parse(of, Endianness::default()).unwrap();
        }
        let all = All::open(&bytes).unwrap();
        let structs = All::open(&structs).unwrap();
        let named = |all: &All<'_>, wanted: &[u8]| {
            let of_that_name = |id: &u32| {
                let (bytes, kind, _) = all.get(*id).unwrap();
                kind == kind::STRUCT && all.name(word(bytes, 0).unwrap()) == wanted
            };
            (1..all.starts.len() as u32).find(of_that_name).unwrap()
        };
        // A struct has the same fields, in the same places and of the same kinds.
        let fields = |all: &All<'_>| {
            let (bytes, _, parts) = all.get(named(all, b"request")).unwrap();
            let field = |part: usize| {
                let at = |place| word(bytes, 12 + part * 12 + place).unwrap();
                let kind = all.get(at(4)).map(|(_, kind, _)| kind);
                (all.name(at(0)).to_vec(), kind, at(8))
            };
            (0..parts).map(field).collect::<Vec<_>>()
        };
        assert!(fields(&all).len() > 10);
        assert_eq!(fields(&structs), fields(&all));
        // A hook keeps its number.
        let hook = |all: &All<'_>| {
            (1..all.starts.len() as u32).find(|id| {
                let name = all.get(*id).and_then(|(bytes, ..)| word(bytes, 0));
                name.is_some_and(|n| all.name(n) == b"btf_trace_block_rq_issue")
            })
        };
        assert!(hook(&all).is_some());
        assert_eq!(hook(&All::open(&hooks).unwrap()), hook(&all));
    }

    #[test]
    fn the_types_of_new_kernels_are_mapped() {
        let release = rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned();
        let mut numbers = release
            .split(['.', '-'])
            .map_while(|n| n.parse::<u32>().ok());
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let Ok(file) = File::open(KERNEL) else {
            return; // A kernel without; what loads programs says so.
        };
        if version >= (6, 16) {
            assert_eq!(&map(&file).unwrap()[..], std::fs::read(KERNEL).unwrap());
        }
    }

    #[test]
    fn what_is_no_description_is_refused() {
        for bytes in [&[][..], &[0; 100]] {
            assert!(structs(bytes, &["request"]).is_none());
            assert!(hooks(bytes).is_none());
        }
        let mut cut = vec![0x9f, 0xeb, 1, 0];
        for field in [24_u32, 0, 900, 900, 10] {
            cut.extend_from_slice(&field.to_ne_bytes());
        }
        assert!(structs(&cut, &["request"]).is_none());
        assert!(hooks(&cut).is_none());
    }
}
