//! Loading and attaching the programs, and what the kernel says of them.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use aya::maps::{Array, MapData, RingBuf};
use aya::programs::{BtfTracePoint, Iter, ProgramError};
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, Endianness, Pod, VerifierLogLevel};
use run::manifest::Program;

use super::types;
use crate::{Availability, Host, Lost};

/// A program and the hook it waits at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    /// Name of the function in the object.
    pub(super) program: &'static str,
    /// Name of the kernel's tracepoint.
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

/// What REMEDY says is what it takes to load anything.
const REMEDY: &str = "sudo sonde, or the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE";

/// The types of the running kernel that the programs need. Sources that open at the same time
/// share them; nobody keeps them.
pub(super) fn kernel_types() -> Result<Arc<Btf>, Availability> {
    static SHARED: Mutex<Weak<Btf>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = shared.upgrade() {
        return Ok(there);
    }
    let unsupported = |why: &dyn std::fmt::Display| Availability::Unsupported {
        needs: format!("a kernel that describes its types, CONFIG_DEBUG_INFO_BTF ({why})"),
    };
    let bytes = std::fs::read("/sys/kernel/btf/vmlinux").map_err(|e| unsupported(&e))?;
    let names: Vec<&str> = types::NAMES.lines().collect();
    let few = types::reduced(&bytes, &names).ok_or_else(|| unsupported(&"of another format"))?;
    drop(bytes);
    let there = Btf::parse(&few, Endianness::default()).map_err(|e| unsupported(&e))?;
    let there = Arc::new(there);
    *shared = Arc::downgrade(&there);
    Ok(there)
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
    hooks: &[Hook],
) -> Result<Loaded, Availability> {
    // It reads all types by itself, 20 MB for a moment; so first, before there is more, and one
    // source at a time.
    let mut loader = {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loader = EbpfLoader::new();
        loader.btf(None);
        loader
    };
    let types = kernel_types()?;
    loader.btf(Some(&types));
    loader.verifier_log_level(VerifierLogLevel::DISABLE);
    for (map, size) in sizes {
        loader.map_max_entries(map, *size);
    }
    let flags: Vec<(&'static str, u8)> = constants
        .iter()
        .filter_map(|c| match c {
            Constant::Flag(name, value) => Some((*name, u8::from(*value))),
            Constant::Word(..) => None,
        })
        .collect();
    for (name, value) in &flags {
        loader.override_global(name, value, true);
    }
    for constant in constants {
        if let Constant::Word(name, value) = constant {
            loader.override_global(name, value, true);
        }
    }
    let mut ebpf = loader.load(object).map_err(|e| refused(&e))?;
    let mut programs = Vec::new();
    for hook in hooks {
        let attached = attach(host, &mut ebpf, *hook, &types);
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
    let failed = |e: &dyn std::fmt::Display| ("failed", e.to_string());
    let program: &mut BtfTracePoint = ebpf
        .program_mut(hook.program)
        .ok_or_else(|| ("failed", "not in the object".to_owned()))?
        .try_into()
        .map_err(|e: ProgramError| failed(&e))?;
    program.load(hook.event, types).map_err(|e| match e {
        ProgramError::Btf(_) => ("unsupported", "this kernel has no such tracepoint".into()),
        ProgramError::LoadError { io_error, .. }
            if io_error.kind() == std::io::ErrorKind::PermissionDenied
                && io_error.raw_os_error() == Some(1) =>
        {
            ("denied", REMEDY.into())
        }
        other => failed(&other),
    })?;
    program.attach().map_err(|e| failed(&e))?;
    let fd = program.fd().map_err(|e| failed(&e))?.as_fd().as_raw_fd();
    Ok(File::open(format!("/proc/self/fdinfo/{fd}")).ok())
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

    /// What the object could not keep: reads it lane by lane.
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
            let read = std::io::Seek::rewind(info).and_then(|()| info.read_to_string(&mut text));
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

    /// What became of each program.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().map(|p| &p.state)
    }
}

/// What a program could not keep (`struct lost`).
pub(super) struct Losses(Array<MapData, [u64; 8]>);

impl Losses {
    /// All so far.
    pub(super) fn read(&self, table: &'static str, lanes: u32) -> Lost {
        let mut lost = Lost {
            table,
            ..Lost::default()
        };
        for lane in (0..lanes).filter_map(|lane| self.0.get(&lane, 0).ok()) {
            lost.dropped += lane[0];
            lost.unseen += lane[1];
        }
        lost
    }
}
