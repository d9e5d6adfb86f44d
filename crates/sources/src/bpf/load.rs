//! Loading and attaching the programs, and what the kernel says of them.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use aya::maps::{Array, MapData, RingBuf};
use aya::programs::{BtfTracePoint, Iter, ProgramError};
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, Endianness, Pod, VerifierLogLevel};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::chroot;
use run::manifest::Program;

use super::types;
use crate::{Availability, Host, Lost};

/// A program and the hook it waits at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    /// Name of the function in the object.
    pub(super) program: &'static str,
    /// Name of the kernel's tracepoint. `iter/task`: it runs once for each task, after those
    /// before it are attached.
    pub(super) event: &'static str,
    /// Whether without it the source has nothing to tell.
    pub(super) needed: bool,
}

impl Hook {
    pub(super) const fn needed(program: &'static str, event: &'static str) -> Hook {
        Hook {
            program,
            event,
            needed: true,
        }
    }

    pub(super) const fn useful(program: &'static str, event: &'static str) -> Hook {
        Hook {
            needed: false,
            ..Hook::needed(program, event)
        }
    }
}

/// What names a list of the kernel instead of a tracepoint.
const LIST: &str = "iter/";

/// What REMEDY says is what it takes to load anything.
const REMEDY: &str = "sudo sonde, or the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE";

/// A short description of this kernel's types, found once.
struct Types(OnceLock<Result<Btf, String>>);

impl Types {
    const fn unread() -> Types {
        Types(OnceLock::new())
    }

    fn get(&self, reduce: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Result<&Btf, Availability> {
        let read = || {
            let few = types::of_this_kernel(reduce).map_err(|e| e.to_string())?;
            let few = few.ok_or("of another format")?;
            Btf::parse(&few, Endianness::default()).map_err(|e| e.to_string())
        };
        let types = self.0.get_or_init(read);
        types.as_ref().map_err(|why| Availability::Unsupported {
            needs: format!("a kernel that describes its types, CONFIG_DEBUG_INFO_BTF ({why})"),
        })
    }
}

/// What programs read, by which the loader fits them to this kernel.
fn kernel_structs() -> Result<&'static Btf, Availability> {
    static STRUCTS: Types = Types::unread();
    STRUCTS.get(|bytes| types::structs(bytes, &types::NAMES.lines().collect::<Vec<_>>()))
}

/// What programs can wait at.
pub(super) fn kernel_hooks() -> Result<&'static Btf, Availability> {
    static HOOKS: Types = Types::unread();
    HOOKS.get(types::hooks)
}

/// What loads objects. There is one for all.
static LOADER: Mutex<Option<EbpfLoader<'static>>> = Mutex::new(None);

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
    let mut loader = LOADER.lock().unwrap_or_else(PoisonError::into_inner);
    let loader = loader.get_or_insert_with(new_loader);
    // After the loader: somebody else may be finding them meanwhile.
    loader
        .btf(Some(kernel_structs()?))
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
    loader.load(object).map_err(|e| refused(&e))
}

/// An object whose programs are attached. Dropping it detaches them and frees its maps; the
/// kernel does the same when the process dies.
pub(super) struct Loaded {
    ebpf: Ebpf,
    programs: Vec<Attached>,
}

struct Attached {
    state: Program,
    /// `/proc/self/fdinfo` of the program.
    info: Option<File>,
    /// Hits and nanoseconds as last read.
    before: [u64; 2],
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
        let processors = aya::util::nr_cpus().map_or(64, |n| n as u32);
        let count = processors.next_power_of_two().min(8);
        Lanes {
            count,
            shared: processors > count,
        }
    }
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
    let types = kernel_hooks()?;
    let mut programs = Vec::new();
    for hook in wanted {
        let attached = attach(host, &mut ebpf, *hook, types);
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

fn attach(host: &Host, ebpf: &mut Ebpf, hook: Hook, types: &Btf) -> Attached {
    let mut state = Program {
        name: hook.program.into(),
        hook: hook.event.into(),
        state: "attached".into(),
        ..Program::default()
    };
    let absent = host.without_hooks.iter().any(|h| h == hook.event);
    let result = if absent {
        Err(("unsupported", "left out as asked".to_owned()))
    } else if let Some(list) = hook.event.strip_prefix(LIST) {
        run_once(ebpf, hook.program, list, types).map(|()| None)
    } else {
        try_attach(ebpf, hook, types)
    };
    let mut info = None;
    match result {
        Ok(file) => info = file,
        Err((name, detail)) => {
            state.state = name.into();
            state.detail = detail;
        }
    }
    Attached {
        state,
        info,
        before: [0; 2],
    }
}

type Refusal = (&'static str, String);

fn try_attach(ebpf: &mut Ebpf, hook: Hook, types: &Btf) -> Result<Option<File>, Refusal> {
    let program: &mut BtfTracePoint = ebpf
        .program_mut(hook.program)
        .ok_or_else(|| ("failed", "not in the object".to_owned()))?
        .try_into()
        .map_err(|e: ProgramError| failed(&e))?;
    program
        .load(hook.event, types)
        .map_err(|e| refusal(e, "tracepoint"))?;
    program.attach().map_err(|e| failed(&e))?;
    let fd = program.fd().map_err(|e| failed(&e))?.as_fd().as_raw_fd();
    Ok(File::open(format!("/proc/self/fdinfo/{fd}")).ok())
}

/// Runs a program once for each entry of a list of the kernel.
fn run_once(ebpf: &mut Ebpf, name: &str, list: &str, types: &Btf) -> Result<(), Refusal> {
    let program: &mut Iter = ebpf
        .program_mut(name)
        .ok_or_else(|| ("failed", "not in the object".to_owned()))?
        .try_into()
        .map_err(|e: ProgramError| failed(&e))?;
    program.load(list, types).map_err(|e| refusal(e, "list"))?;
    let link = program.attach().map_err(|e| failed(&e))?;
    let link = program.take_link(link).map_err(|e| failed(&e))?;
    let mut file = link.into_file().map_err(|e| failed(&e))?;
    std::io::copy(&mut file, &mut std::io::sink()).map_err(|e| failed(&e))?;
    program.unload().map_err(|e| failed(&e))
}

fn failed(error: &dyn std::fmt::Display) -> Refusal {
    ("failed", error.to_string())
}

/// Why the kernel did not take a program for a hook of that kind.
fn refusal(error: ProgramError, kind: &str) -> Refusal {
    match error {
        ProgramError::Btf(_) => ("unsupported", format!("this kernel has no such {kind}")),
        ProgramError::LoadError { io_error, .. }
            if io_error.kind() == std::io::ErrorKind::PermissionDenied
                && io_error.raw_os_error() == Some(1) =>
        {
            ("denied", REMEDY.into())
        }
        other => failed(&other),
    }
}

/// Reads `file` to its end. An iterator that writes nothing ends a reading after a million
/// things and goes on with the next.
fn read_through(file: &mut File) -> std::io::Result<()> {
    let mut buffer = [0; 64];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
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

    /// What the object could not keep.
    pub(super) fn losses(&mut self) -> Result<Losses, Availability> {
        Ok(Losses(self.array("losses")?))
    }

    /// Loads a program that [`iterate`](Loaded::iterate) runs for each thing of a kind, as
    /// `tcp`.
    pub(super) fn iterator(
        &mut self,
        name: &'static str,
        kind: &str,
        types: &Btf,
    ) -> Result<(), Availability> {
        let failed = |e: &dyn std::fmt::Display| Availability::Failed {
            why: format!("iter/{kind}: {e}"),
        };
        let program = self.iterator_of(name).map_err(|e| failed(&e))?;
        program.load(kind, types).map_err(|e| match e {
            ProgramError::Btf(_) => Availability::Unsupported {
                needs: format!("a kernel with the iterator iter/{kind} (Linux 5.9)"),
            },
            other => failed(&other),
        })?;
        let fd = program.fd().map_err(|e| failed(&e))?.as_fd().as_raw_fd();
        self.programs.push(Attached {
            state: Program {
                name: name.into(),
                hook: format!("iter/{kind}"),
                state: "attached".into(),
                ..Program::default()
            },
            info: File::open(format!("/proc/self/fdinfo/{fd}")).ok(),
            before: [0; 2],
        });
        Ok(())
    }

    fn iterator_of(&mut self, name: &str) -> std::io::Result<&mut Iter> {
        let program = self.ebpf.program_mut(name);
        let program = program.ok_or_else(|| std::io::Error::other("not in the object"))?;
        program.try_into().map_err(std::io::Error::other)
    }

    /// Runs the program of that name for each thing that there is now.
    pub(super) fn iterate(&mut self, name: &str) -> std::io::Result<()> {
        let program = self.iterator_of(name)?;
        let link = program.attach().map_err(std::io::Error::other)?;
        let link = program.take_link(link).map_err(std::io::Error::other)?;
        read_through(&mut link.into_file().map_err(std::io::Error::other)?)
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

    /// Reads what the kernel counted of the programs. While it measures them
    /// (`kernel.bpf_stats_enabled`), hits and their time grow.
    pub(super) fn read_programs(&mut self, measured_seconds: f64) {
        let mut text = String::new();
        for program in &mut self.programs {
            let Some(info) = &mut program.info else {
                continue;
            };
            text.clear();
            let read = info.rewind().and_then(|()| info.read_to_string(&mut text));
            if read.is_err() {
                continue;
            }
            let field = |name: &str| {
                let line = text.lines().find_map(|l| l.strip_prefix(name));
                line.and_then(|v| v.trim().parse::<u64>().ok()).unwrap_or(0)
            };
            let now = [field("run_cnt:"), field("run_time_ns:")];
            let state = &mut program.state;
            state.missed = field("recursion_misses:");
            state.hits += now[0].saturating_sub(program.before[0]);
            state.time_seconds += now[1].saturating_sub(program.before[1]) as f64 / 1e9;
            state.measured_seconds += measured_seconds;
            program.before = now;
        }
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

/// What a program could not keep (`struct lost`).
pub(super) struct Losses(Array<MapData, [u64; 8]>);

impl Losses {
    /// What a program counts beside them, for its source alone.
    pub(super) fn marks(&self) -> u64 {
        let lanes = (0..self.0.len()).filter_map(|lane| self.0.get(&lane, 0).ok());
        lanes.fold(0, |sum, lane| sum.wrapping_add(lane[2]))
    }

    /// All so far.
    pub(super) fn read(&self, table: &'static str) -> Lost {
        let mut lost = Lost {
            table,
            ..Lost::default()
        };
        for lane in (0..self.0.len()).filter_map(|lane| self.0.get(&lane, 0).ok()) {
            lost.dropped += lane[0];
            lost.unseen += lane[1];
        }
        lost
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
            if !name.ends_with(".c") && !name.ends_with(".h") {
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
