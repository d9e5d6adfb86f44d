//! The types of the running kernel, cut down to those that the programs read.
//!
//! The loader looks each type of a program up among all 150,000 of the kernel, which takes
//! 40 ms an object, and needs 15 MB for them. Here are two short descriptions instead: one of
//! the structs that are read, and one of the hooks that programs wait at, each at its number, by
//! which the kernel is asked for it; what is between them is nameless.
//!
//! The format is that of <https://docs.kernel.org/bpf/btf.html>: a header, types of 12 bytes
//! and what their kind adds, and names. A type's number is its place, from 1 on; 0 is void.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};

use memmap2::{Mmap, MmapOptions};

/// Names of the structs that the programs declare; `build.rs` reads them from the sources.
const STRUCTS: &str = include_str!(concat!(env!("OUT_DIR"), "/structs.txt"));

/// Names of the types by which the kernel knows the hooks of the programs; from there too.
const HOOKS: &str = include_str!(concat!(env!("OUT_DIR"), "/hooks.txt"));

/// What programs read that a module describes, where it is one. Its types are numbered behind the
/// kernel's, and are named behind them.
pub(super) struct Module {
    path: &'static str,
    structs: &'static [&'static [u8]],
}

/// Modules, each of which is known by its place here.
pub(super) const MODULES: [Module; 2] = [
    Module {
        path: "/sys/kernel/btf/nfsd",
        structs: &[b"svc_rqst", b"svc_fh"],
    },
    Module {
        path: "/sys/kernel/btf/nfs",
        structs: &[
            b"rpc_task",
            b"rpc_procinfo",
            b"rpc_clnt",
            b"rpc_xprt",
            b"nfs_pgio_header",
            b"nfs_commit_data",
        ],
    },
];
pub(super) const NFS_SERVER: usize = 0;
pub(super) const NFS_CLIENT: usize = 1;

/// What a tracepoint's type begins with. Iterators and functions are functions.
const TRACEPOINT: &[u8] = b"btf_trace_";

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
    /// The kernel's types, behind which those of a module are numbered.
    base: Option<&'a All<'a>>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// The types and the names of a description.
fn parts(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]) != MAGIC {
        return None;
    }
    let header = word(bytes, 4)? as usize;
    let part = |at: usize| {
        let (start, length) = (word(bytes, at)? as usize, word(bytes, at + 4)? as usize);
        bytes.get(header + start..header + start + length)
    };
    Some((part(8)?, part(16)?))
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

fn beginning(name: &[u8]) -> Option<[u8; 4]> {
    name.first_chunk().copied()
}

/// Names that are looked for.
struct Wanted<'a> {
    structs: HashSet<&'a [u8]>,
    hooks: HashSet<&'a [u8]>,
    /// What those that are functions begin with.
    functions: HashSet<[u8; 4]>,
}

impl<'a> Wanted<'a> {
    fn new(structs: &'a str, hooks: &'a str) -> Wanted<'a> {
        let lines = |text: &'a str| text.lines().map(str::as_bytes).collect::<HashSet<_>>();
        let hooks = lines(hooks);
        let functions = hooks.iter().filter(|h| !h.starts_with(TRACEPOINT));
        Wanted {
            structs: lines(structs),
            functions: functions.filter_map(|h| beginning(h)).collect(),
            hooks,
        }
    }

    fn is_struct(&self, name: &[u8]) -> bool {
        self.structs.contains(until_zero(name))
    }

    /// Where a name ends takes time to find, so how it begins is asked first.
    fn is_tracepoint(&self, name: &[u8]) -> bool {
        name.starts_with(TRACEPOINT) && self.hooks.contains(until_zero(name))
    }

    fn is_function(&self, name: &[u8]) -> bool {
        beginning(name).is_some_and(|b| self.functions.contains(&b))
            && self.hooks.contains(until_zero(name))
    }
}

/// Numbers of the types that were looked for, ascending.
#[derive(Default)]
struct Found {
    structs: Vec<u32>,
    hooks: Vec<u32>,
}

impl<'a> All<'a> {
    /// All types and, from the same pass over them, which are wanted: there are so many that
    /// each pass takes milliseconds.
    fn open(bytes: &'a [u8], wanted: &Wanted<'_>) -> Option<(All<'a>, Found)> {
        let (types, names) = parts(bytes)?;
        let name = |at: usize| names.get(word(types, at)? as usize..);
        let mut found = Found::default();
        let mut starts = vec![0];
        let mut at = 0;
        while at < types.len() {
            let id = starts.len() as u32;
            starts.push(at as u32);
            let info = word(types, at + 4)?;
            let kind = info >> 24 & 31;
            match kind {
                kind::STRUCT | kind::UNION if wanted.is_struct(name(at)?) => {
                    found.structs.push(id);
                }
                kind::TYPEDEF if wanted.is_tracepoint(name(at)?) => found.hooks.push(id),
                kind::FUNC if wanted.is_function(name(at)?) => found.hooks.push(id),
                _ => {}
            }
            at += 12 + extra(kind, (info & 0xffff) as usize);
        }
        let all = All {
            types,
            names,
            starts,
            base: None,
        };
        Some((all, found))
    }

    /// The types of a module, and which of them are structs of these names.
    fn of_module(
        bytes: &'a [u8],
        base: &'a All<'a>,
        wanted: &[&[u8]],
    ) -> Option<(All<'a>, Vec<u32>)> {
        let (types, names) = parts(bytes)?;
        let mut all = All {
            types,
            names,
            starts: Vec::new(),
            base: Some(base),
        };
        let (mut found, mut at) = (Vec::new(), 0);
        while at < types.len() {
            let info = word(types, at + 4)?;
            let kind = info >> 24 & 31;
            if kind == kind::STRUCT && wanted.contains(&all.name(word(types, at)?)) {
                found.push((base.starts.len() + all.starts.len()) as u32);
            }
            all.starts.push(at as u32);
            at += 12 + extra(kind, (info & 0xffff) as usize);
        }
        Some((all, found))
    }

    fn name(&self, at: u32) -> &'a [u8] {
        let before = self.base.map_or(0, |base| base.names.len());
        match (self.base, (at as usize).checked_sub(before)) {
            (Some(base), None) => base.name(at),
            (_, at) => until_zero(at.and_then(|at| self.names.get(at..)).unwrap_or_default()),
        }
    }

    /// The bytes of a type, its kind and how many parts it has.
    fn get(&self, id: u32) -> Option<(&'a [u8], u32, usize)> {
        let before = self.base.map_or(0, |base| base.starts.len());
        let Some(place) = (id as usize).checked_sub(before) else {
            return self.base?.get(id);
        };
        let at = *self.starts.get(place).filter(|_| id > 0)? as usize;
        let info = word(self.types, at + 4)?;
        let (kind, parts) = (info >> 24 & 31, (info & 0xffff) as usize);
        let bytes = self.types.get(at..at + 12 + extra(kind, parts))?;
        Some((bytes, kind, parts))
    }
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

/// A description being written: its types stand behind the place of the header.
struct Description {
    types: Vec<u8>,
    names: Vec<u8>,
}

impl Description {
    /// With room for so many types of the smallest kind.
    fn with_room(types: u32) -> Description {
        let mut all = Vec::with_capacity(HEADER + types as usize * 12 + (64 << 10));
        all.resize(HEADER, 0);
        Description {
            types: all,
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
        let mut out = self.types;
        let types = (out.len() - HEADER) as u32;
        out[..2].copy_from_slice(&MAGIC.to_ne_bytes());
        out[2] = 1;
        let fields = [HEADER as u32, 0, types, types, self.names.len() as u32];
        for (place, field) in out[4..HEADER].chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_ne_bytes());
        }
        out.extend_from_slice(&self.names);
        out
    }
}

/// A type of one of several descriptions, of which the first is the kernel's, by its number there.
type Type = (usize, u32);

/// Those structs with what lies inside them by value, numbered anew.
fn structs(all: &[&All<'_>], mut open: Vec<Type>) -> Option<Vec<u8>> {
    // What a module has of the kernel's is the kernel's.
    let own = |of: usize, id: u32| {
        let is_kernels = (id as usize) < all[0].starts.len();
        (if is_kernels { 0 } else { of }, id)
    };
    let mut wanted = BTreeSet::new();
    while let Some((of, id)) = open.pop() {
        if id == 0 || !wanted.insert((of, id)) {
            continue;
        }
        let (bytes, kind, parts) = all[of].get(id)?;
        for at in inside(kind, parts) {
            open.push(own(of, word(bytes, at)?));
        }
    }
    let numbers: HashMap<Type, u32> = wanted.iter().copied().zip(1..).collect();
    let mut structs = Description::with_room(wanted.len() as u32);
    for (of, id) in &wanted {
        let number = |id| numbers.get(&own(*of, id)).copied().unwrap_or(0);
        structs.add(all[*of], *id, number)?;
    }
    (!wanted.is_empty()).then(|| structs.bytes())
}

/// Those hooks, at their numbers.
fn hooks(all: &All<'_>, found: &[u32]) -> Option<Vec<u8>> {
    let mut hooks = Description::with_room(found.last().copied().unwrap_or(0));
    let mut before = 0;
    for id in found {
        hooks.nameless(*id - before - 1);
        hooks.add(all, *id, |_| 0)?;
        before = *id;
    }
    (!found.is_empty()).then(|| hooks.bytes())
}

/// How many arguments each of those tracepoints gives to programs, by its name.
///
/// The type of a tracepoint is a pointer to a function, whose first parameter is the kernel's own.
fn arguments(all: &All<'_>, found: &[u32]) -> HashMap<String, u32> {
    let of = |id: u32| {
        let (tracepoint, kind, _) = all.get(id)?;
        let name = all.name(word(tracepoint, 0)?).strip_prefix(TRACEPOINT)?;
        let (pointer, pointer_kind, _) = all.get(word(tracepoint, 8)?)?;
        let (_, function_kind, parameters) = all.get(word(pointer, 8)?)?;
        let kinds = [kind, pointer_kind, function_kind];
        let is_that = kinds == [kind::TYPEDEF, kind::PTR, kind::FUNC_PROTO];
        let count = (parameters as u32).checked_sub(1).filter(|_| is_that)?;
        Some((String::from_utf8_lossy(name).into_owned(), count))
    };
    found.iter().filter_map(|id| of(*id)).collect()
}

/// What the programs need to know of a kernel's types, as descriptions of types themselves.
pub(super) struct Reduced {
    /// What programs read.
    pub(super) structs: Vec<u8>,
    /// What they wait at: tracepoints, iterators, functions.
    pub(super) hooks: Vec<u8>,
    /// Arguments of the tracepoints among them, which differ between kernels.
    pub(super) arguments: HashMap<String, u32>,
    /// Of each module, whether what programs read of it is there.
    pub(super) modules: [bool; MODULES.len()],
}

/// Whether those types have all these names.
fn are_named(all: &All<'_>, ids: &[u32], names: &[&[u8]]) -> bool {
    let name = |id: &u32| Some(all.name(word(all.get(*id)?.0, 0)?));
    names
        .iter()
        .all(|n| ids.iter().any(|id| name(id) == Some(n)))
}

/// `None` if `bytes` is not in the format, or has nothing of what the programs need. What of a
/// module is not in the format is left out; where the kernel has it in itself it is there.
fn reduce(
    bytes: &[u8],
    modules: &[Vec<u8>; MODULES.len()],
    wanted: &Wanted<'_>,
) -> Option<Reduced> {
    let (kernel, found) = All::open(bytes, wanted)?;
    let of_modules: Vec<_> = MODULES
        .iter()
        .zip(modules)
        .map(|(module, bytes)| All::of_module(bytes, &kernel, module.structs))
        .collect();
    let mut all = vec![&kernel];
    let mut read: Vec<Type> = found.structs.iter().map(|id| (0, *id)).collect();
    for (types, found) in of_modules.iter().flatten() {
        read.extend(found.iter().map(|id| (all.len(), *id)));
        all.push(types);
    }
    let has = |place: usize| match &of_modules[place] {
        // What the kernel has too, its modules leave to it.
        Some((types, ids)) => {
            let ids = [&ids[..], &found.structs].concat();
            are_named(types, &ids, MODULES[place].structs)
        }
        None => are_named(&kernel, &found.structs, MODULES[place].structs),
    };
    Some(Reduced {
        arguments: arguments(&kernel, &found.hooks),
        hooks: hooks(&kernel, &found.hooks)?,
        modules: std::array::from_fn(has),
        structs: structs(&all, read)?,
    })
}

/// Of the types of the running kernel.
///
/// Reading them takes 8 ms, since the kernel hands out a page at a time; from Linux 6.16 on
/// they can be mapped instead.
///
/// # Errors
/// What it takes to have them, of a kernel that does not describe them or does so otherwise.
pub(super) fn of_this_kernel() -> io::Result<Reduced> {
    let wanted = Wanted::new(STRUCTS, HOOKS);
    let mut file = File::open(KERNEL)?;
    let modules = MODULES.map(|m| std::fs::read(m.path).unwrap_or_default());
    let reduced = if let Ok(bytes) = map(&file) {
        reduce(&bytes, &modules, &wanted)
    } else {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        reduce(&bytes, &modules, &wanted)
    };
    reduced.ok_or_else(|| io::Error::other("of another format"))
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
mod tests;
