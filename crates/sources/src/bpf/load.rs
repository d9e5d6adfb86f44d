//! Loading objects: their maps, their constants, and their programs with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;

use aya::maps::{Array, MapData, Queue, RingBuf};
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, Endianness, Pod, VerifierLogLevel};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::chroot;
use run::manifest::Program;

use super::attach::{Attached, Hook, REMEDY, attach, iterate, iterator, load_all};
use super::losses::Losses;
use super::types;
use crate::{Availability, Host};

fn unsupported(why: &str) -> Availability {
    Availability::Unsupported {
        needs: format!("a kernel that describes its types, CONFIG_DEBUG_INFO_BTF ({why})"),
    }
}

fn parse(few: &[u8]) -> Result<Btf, String> {
    Btf::parse(few, Endianness::default()).map_err(|e| e.to_string())
}

/// What was found with [`structs`] and is for [`Hooks`].
static HOOKS_FOUND: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Tracepoints, and how many arguments each gives to programs.
static ARGUMENTS: OnceLock<HashMap<String, u32>> = OnceLock::new();

/// How many arguments the tracepoint of that name gives to programs; `None` if this kernel has none
/// such.
pub(super) fn arguments(event: &str) -> Option<u32> {
    let _ = structs();
    ARGUMENTS.get()?.get(event).copied()
}

/// Of each module whether its types are described.
static DESCRIBED: OnceLock<[bool; types::MODULES.len()]> = OnceLock::new();

/// Whether the kernel, or that module, tells the types that programs read of it.
///
/// # Errors
/// Where it tells none at all.
pub(super) fn describes(module: usize) -> Result<bool, Availability> {
    structs()?;
    Ok(DESCRIBED.get().is_some_and(|is| is[module]))
}

/// What programs read, by which the loader fits them to this kernel.
fn structs() -> Result<&'static Btf, Availability> {
    static STRUCTS: OnceLock<Result<Btf, String>> = OnceLock::new();
    let read = || {
        let reduced = types::of_this_kernel().map_err(|e| e.to_string())?;
        *HOOKS_FOUND.lock().unwrap_or_else(PoisonError::into_inner) = Some(reduced.hooks);
        let _ = ARGUMENTS.set(reduced.arguments);
        let _ = DESCRIBED.set(reduced.modules);
        parse(&reduced.structs)
    };
    let structs = STRUCTS.get_or_init(read);
    structs.as_ref().map_err(|why| unsupported(why))
}

/// What programs can wait at. It is 4 MB, so it is kept for as long as somebody has it, and read
/// again for those who come later.
pub(super) struct Hooks(Arc<Result<Btf, String>>);

impl Hooks {
    /// Takes 10 ms, in which others can load objects.
    pub(super) fn of_this_kernel() -> Hooks {
        static HOOKS: Mutex<Weak<Result<Btf, String>>> = Mutex::new(Weak::new());
        let mut kept = HOOKS.lock().unwrap_or_else(PoisonError::into_inner);
        let hooks = kept.upgrade().unwrap_or_else(|| {
            let read = Arc::new(Hooks::read());
            *kept = Arc::downgrade(&read);
            read
        });
        Hooks(hooks)
    }

    fn read() -> Result<Btf, String> {
        let _ = structs();
        let mut found = HOOKS_FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        match found.take() {
            Some(found) => parse(&found),
            None => parse(&types::of_this_kernel().map_err(|e| e.to_string())?.hooks),
        }
    }

    pub(super) fn types(&self) -> Result<&Btf, Availability> {
        self.0.as_ref().as_ref().map_err(|why| unsupported(why))
    }
}

/// What loads objects, while nobody does: as many as load some at the same time.
static LOADERS: Mutex<Vec<EbpfLoader<'static>>> = Mutex::new(Vec::new());

/// A loader that does not know the types of the kernel yet.
///
/// Making one reads them all by itself, whatever it is given afterwards: 37 ms and 20 MB, a
/// third of what recording adds to the start of the command. It does so by path, and does
/// without where there is no such file. So it is made on a thread with a file tree of its own,
/// `/proc`, that has none; the thread ends then. Where that is not allowed it takes longer.
fn new_loader() -> EbpfLoader<'static> {
    let make = || {
        if unshare(CloneFlags::CLONE_FS).is_ok() {
            let _ = chroot("/proc");
        }
        EbpfLoader::new()
    };
    match std::thread::Builder::new()
        .spawn(make)
        .map(JoinHandle::join)
    {
        Ok(Ok(loader)) => loader,
        _ => EbpfLoader::new(),
    }
}

/// Maps that several objects have (`who.h`), and how large they are if nobody says otherwise:
/// the loader remembers what it was told for the object before.
const SHARED_MAPS: [(&str, u32); 5] = [
    ("ring", 1 << 18),
    ("told_processes", 8192),
    ("told_groups", 8192),
    ("told_files", 8192),
    ("losses", 8),
];

/// Reads the object and makes its maps.
fn load_object(
    object: &[u8],
    sizes: &[(&'static str, u32)],
    constants: &[Constant],
) -> Result<Ebpf, Availability> {
    let structs = structs()?;
    let waiting = || LOADERS.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = waiting().pop();
    let mut loader = kept.unwrap_or_else(new_loader);
    loader
        .btf(Some(structs))
        .verifier_log_level(VerifierLogLevel::DISABLE);
    for (map, size) in SHARED_MAPS.iter().chain(sizes) {
        loader.map_max_entries(map, *size);
    }
    let ring = SHARED_MAPS
        .iter()
        .chain(sizes)
        .rfind(|(map, _)| *map == "ring");
    let wake = Constant::Word("wake_bytes", ring.map_or(0, |(_, size)| size / 4));
    for constant in constants.iter().chain([&wake]) {
        // The loader holds on to them; there are few.
        match constant {
            Constant::Flag(name, value) => {
                let value: &'static u8 = if *value { &1 } else { &0 };
                loader.override_global(name, value, false);
            }
            Constant::Word(name, value) => {
                let value: &'static u32 = Box::leak(Box::new(*value));
                loader.override_global(name, value, false);
            }
        }
    }
    let loaded = loader.load(object).map_err(|e| refused(&e));
    waiting().push(loader);
    loaded
}

/// An object whose programs are attached. Dropping it detaches them and frees its maps; the
/// kernel does the same when the process dies.
pub(super) struct Loaded {
    ebpf: Ebpf,
    programs: Vec<Attached>,
}

/// How the programs spread what they count over the processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    /// How many there are: a power of two.
    pub(super) count: u32,
    /// Whether processors share them, so that additions are atomic.
    pub(super) shared: bool,
}

impl Lanes {
    /// More than eight would take more memory than the contention is worth.
    pub(super) fn of_this_machine() -> Lanes {
        let processors = processors();
        let count = processors.next_power_of_two().min(8);
        Lanes {
            count,
            shared: processors > count,
        }
    }
}

/// How many processors the machine can have: their numbers are below that.
pub(super) fn processors() -> u32 {
    aya::util::nr_cpus().map_or(64, |n| n as u32)
}

/// A constant of an object: its name and its value.
pub(super) enum Constant {
    /// A `u32` or `int`.
    Word(&'static str, u32),
    /// A `bool`.
    Flag(&'static str, bool),
}

/// Loads `object` with these sizes of maps and constants, and attaches its programs.
///
/// A hook that this kernel lacks, or refuses, costs only what depends on it.
pub(super) fn load(
    host: &Host,
    object: &[u8],
    sizes: &[(&'static str, u32)],
    constants: &[Constant],
    wanted: &[Hook],
) -> Result<Loaded, Availability> {
    let mut ebpf = load_object(object, sizes, constants)?;
    let known = Hooks::of_this_kernel();
    let types = known.types()?;
    let mut programs = Vec::new();
    let loaded = load_all(host, &mut ebpf, wanted, types);
    for (hook, loaded) in wanted.iter().zip(loaded) {
        let attached = attach(&mut ebpf, *hook, loaded);
        if hook.needed && attached.state.state != "attached" {
            let why = format!("{}: {}", hook.event, attached.state.detail);
            return Err(match attached.state.state.as_str() {
                "denied" => Availability::Denied {
                    remedy: REMEDY.into(),
                },
                "unsupported" => Availability::Unsupported {
                    needs: format!("the kernel's tracepoint {}", hook.event),
                },
                _ => Availability::Failed { why },
            });
        }
        programs.push(attached);
    }
    Ok(Loaded { ebpf, programs })
}

/// What an error of loading says of this host.
fn refused(error: &EbpfError) -> Availability {
    let mut causes = String::new();
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    let mut denied = false;
    while let Some(e) = cause {
        let io = e.downcast_ref::<std::io::Error>();
        denied |= io.is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
        causes = format!("{causes}{}{e}", if causes.is_empty() { "" } else { ": " });
        cause = e.source();
    }
    if denied {
        Availability::Denied {
            remedy: REMEDY.into(),
        }
    } else {
        Availability::Failed { why: causes }
    }
}

impl Loaded {
    /// An array of the object.
    ///
    /// # Errors
    /// Where the object has no such map, or its values are of another size.
    pub(super) fn array<V: Pod>(&mut self, name: &str) -> Result<Array<MapData, V>, Availability> {
        let failed = |why: String| Availability::Failed {
            why: format!("map {name}: {why}"),
        };
        let map = self
            .ebpf
            .take_map(name)
            .ok_or_else(|| failed("not in the object".into()))?;
        Array::try_from(map).map_err(|e| failed(e.to_string()))
    }

    /// A queue of the object.
    ///
    /// # Errors
    /// As [`array`](Loaded::array).
    pub(super) fn queue(&mut self, name: &str) -> Result<Queue<MapData, u32>, Availability> {
        let failed = |why: String| Availability::Failed {
            why: format!("map {name}: {why}"),
        };
        let map = self.ebpf.take_map(name);
        let map = map.ok_or_else(|| failed("not in the object".into()))?;
        Queue::try_from(map).map_err(|e| failed(e.to_string()))
    }

    /// Sets the only value of an array, which the object keeps: programs that are attached later
    /// need it too.
    pub(super) fn set(&mut self, name: &str, value: u32) -> Result<(), Availability> {
        let failed = |why: String| Availability::Failed {
            why: format!("map {name}: {why}"),
        };
        let map = self.ebpf.map_mut(name);
        let map = map.ok_or_else(|| failed("not in the object".into()))?;
        let mut array = Array::try_from(map).map_err(|e| failed(e.to_string()))?;
        array.set(0, value, 0).map_err(|e| failed(e.to_string()))
    }

    /// What the object could not keep.
    pub(super) fn losses(&mut self) -> Result<Losses, Availability> {
        Ok(Losses::new(self.array("losses")?))
    }

    /// Attaches more of its programs.
    pub(super) fn attach(&mut self, host: &Host, hooks: &[Hook]) -> Result<(), Availability> {
        let known = Hooks::of_this_kernel();
        let types = known.types()?;
        let loaded = load_all(host, &mut self.ebpf, hooks, types);
        for (hook, loaded) in hooks.iter().zip(loaded) {
            self.programs.push(attach(&mut self.ebpf, *hook, loaded));
        }
        Ok(())
    }

    /// Loads a program that [`iterate`](Loaded::iterate) runs for each thing of a kind, as
    /// `tcp`.
    pub(super) fn iterator(
        &mut self,
        host: &Host,
        name: &'static str,
        kind: &str,
        types: &Btf,
    ) -> Result<(), Availability> {
        self.programs
            .push(iterator(host, &mut self.ebpf, name, kind, types)?);
        Ok(())
    }

    /// Runs the program of that name for each thing that there is now.
    pub(super) fn iterate(&mut self, name: &str) -> std::io::Result<()> {
        iterate(&mut self.ebpf, name)
    }

    /// The ring of the object.
    pub(super) fn ring(&mut self) -> Result<RingBuf<MapData>, Availability> {
        let failed = |why: String| Availability::Failed { why };
        let map = self
            .ebpf
            .take_map("ring")
            .ok_or_else(|| failed("no ring in the object".into()))?;
        RingBuf::try_from(map).map_err(|e| failed(format!("the ring: {e}")))
    }

    /// What became of each program. `seconds`: how long the kernel has measured their time
    /// since this was asked last.
    pub(super) fn measured(&mut self, seconds: f64) -> Vec<Program> {
        for program in &mut self.programs {
            program.read(seconds);
        }
        self.programs().cloned().collect()
    }

    /// Whether the program of that name is attached.
    pub(super) fn attached(&self, name: &str) -> bool {
        let mut states = self.programs();
        states.any(|p| p.name == name && p.state == "attached")
    }

    /// What became of each program.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().map(|p| &p.state)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    /// The loader keeps sizes by the name of the map: what two objects call alike must be the
    /// same map, from one header, and be sized by both or by none.
    #[test]
    fn maps_that_share_a_name_are_the_same() {
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bpf");
        for file in std::fs::read_dir(sources).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !path.extension().is_some_and(|e| e == "c" || e == "h") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for map in text.lines().filter_map(|l| l.strip_prefix("MAP(")) {
                let map = map.split(',').next().unwrap().to_owned();
                files.entry(map).or_default().push(name.clone());
            }
        }
        assert!(files.len() > 10, "{files:?}");
        for (map, files) in files {
            assert!(files.len() == 1, "{map} is in {files:?}");
        }
    }
}
