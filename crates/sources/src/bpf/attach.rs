//! Attaching programs to their hooks, and what the kernel says of them afterwards.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use aya::programs::{BtfTracePoint, Iter, Program as Loadable, ProgramError, ProgramFd};
use aya::{Btf, Ebpf};
use run::manifest::Program;

use crate::{Availability, Host};

/// A program and the hook it waits at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    /// Name of the function in the object.
    pub(super) program: &'static str,
    /// Name of the kernel's tracepoint; `fentry/NAME`: of a function. `iter/task`: it runs once
    /// for each task, after those before it are attached.
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

/// What names a list of the kernel instead of a tracepoint, or a function.
const LIST: &str = "iter/";
const FUNCTION: &str = "fentry/";

/// What it takes to load anything.
pub(super) const REMEDY: &str =
    "sudo sonde, or the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE";

/// A program and what became of it.
pub(super) struct Attached {
    pub(super) state: Program,
    /// `/proc/self/fdinfo` of the program.
    info: Option<File>,
    /// Hits and nanoseconds as last read.
    before: [u64; 2],
}

impl Attached {
    /// Reads what the kernel counted of it. While it measures programs
    /// (`kernel.bpf_stats_enabled`), hits and their time grow.
    pub(super) fn read(&mut self, measured_seconds: f64) {
        let Some(info) = &mut self.info else {
            return;
        };
        let mut text = String::new();
        let read = info.rewind().and_then(|()| info.read_to_string(&mut text));
        if read.is_err() {
            return;
        }
        let field = |name: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(name));
            line.and_then(|v| v.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        let now = [field("run_cnt:"), field("run_time_ns:")];
        let state = &mut self.state;
        state.missed = field("recursion_misses:");
        state.hits += now[0].saturating_sub(self.before[0]);
        state.time_seconds += now[1].saturating_sub(self.before[1]) as f64 / 1e9;
        state.measured_seconds += measured_seconds;
        self.before = now;
    }
}

/// What became of a program that the kernel did not take, and why.
pub(super) type Refusal = (&'static str, String);

/// Loads the programs of `hooks`, unless the host is to do without: what became of each.
///
/// The kernel takes milliseconds to check one, so there are as many at a time as processors.
pub(super) fn load_all(
    host: &Host,
    ebpf: &mut Ebpf,
    hooks: &[Hook],
    types: &Btf,
) -> Vec<Result<(), Refusal>> {
    let mut programs: HashMap<&str, &mut Loadable> = ebpf.programs_mut().collect();
    let found: Vec<_> = hooks
        .iter()
        .map(|hook| (hook, programs.remove(hook.program)))
        .collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(found.len());
    let waiting = Mutex::new(found.into_iter().enumerate());
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let work = || {
        std::iter::from_fn(next)
            .map(|(place, (hook, program))| (place, load(host, *hook, program, types)))
            .collect::<Vec<_>>()
    };
    let mut loaded = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut loaded = work();
        for other in others {
            loaded.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        loaded
    });
    loaded.sort_by_key(|(place, _)| *place);
    loaded.into_iter().map(|(_, loaded)| loaded).collect()
}

fn load(
    host: &Host,
    hook: Hook,
    program: Option<&mut Loadable>,
    types: &Btf,
) -> Result<(), Refusal> {
    if host.without_hooks.iter().any(|h| h == hook.event) {
        return Err(("unsupported", "left out as asked".to_owned()));
    }
    match program.ok_or_else(not_there)? {
        Loadable::Iter(program) => {
            let list = hook.event.strip_prefix(LIST).unwrap_or(hook.event);
            program.load(list, types).map_err(|e| refusal(e, "list"))
        }
        // Not all kernels allow it, nor to who may attach to tracepoints.
        Loadable::FEntry(program) => {
            let function = hook.event.strip_prefix(FUNCTION).unwrap_or(hook.event);
            let loaded = program.load(function, types);
            loaded.map_err(|e| match refusal(e, "function") {
                ("denied", _) => (
                    "denied",
                    "this kernel allows no hooks at functions (as under lockdown)".to_owned(),
                ),
                other => other,
            })
        }
        // Of modules: by name, for what describes their arguments is the module's.
        Loadable::RawTracePoint(program) => program.load().map_err(|e| refusal(e, "tracepoint")),
        program => {
            let program: &mut BtfTracePoint =
                program.try_into().map_err(|e: ProgramError| failed(&e))?;
            let loaded = program.load(hook.event, types);
            loaded.map_err(|e| refusal(e, "tracepoint"))
        }
    }
}

/// Attaches the program of a hook, if it was [loaded](load_all).
pub(super) fn attach(ebpf: &mut Ebpf, hook: Hook, loaded: Result<(), Refusal>) -> Attached {
    let mut state = Program {
        name: hook.program.into(),
        hook: hook.event.into(),
        state: "attached".into(),
        ..Program::default()
    };
    let mut info = None;
    match loaded.and_then(|()| try_attach(ebpf, hook)) {
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

fn not_there() -> Refusal {
    ("failed", "not in the object".to_owned())
}

/// What the kernel tells of a program that is loaded.
fn info_of(fd: Result<&ProgramFd, ProgramError>) -> Result<Option<File>, Refusal> {
    let fd = fd.map_err(|e| failed(&e))?.as_fd().as_raw_fd();
    Ok(File::open(format!("/proc/self/fdinfo/{fd}")).ok())
}

/// With what the kernel tells of the program, unless it ran and is over.
fn try_attach(ebpf: &mut Ebpf, hook: Hook) -> Result<Option<File>, Refusal> {
    match ebpf.program_mut(hook.program).ok_or_else(not_there)? {
        Loadable::Iter(program) => run_once(program).map(|()| None),
        Loadable::FEntry(program) => {
            program.attach().map_err(|e| failed(&e))?;
            info_of(program.fd())
        }
        Loadable::RawTracePoint(program) => {
            program.attach(hook.event).map_err(|e| match &e {
                ProgramError::SyscallError(call)
                    if call.io_error.kind() == std::io::ErrorKind::NotFound =>
                {
                    let why = "this kernel has no such tracepoint";
                    ("unsupported", why.to_owned())
                }
                other => failed(other),
            })?;
            info_of(program.fd())
        }
        program => {
            let program: &mut BtfTracePoint =
                program.try_into().map_err(|e: ProgramError| failed(&e))?;
            program.attach().map_err(|e| failed(&e))?;
            info_of(program.fd())
        }
    }
}

/// Runs a program once for each entry of a list of the kernel.
fn run_once(program: &mut Iter) -> Result<(), Refusal> {
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
        // Of the verifier nothing was asked, so that loading is quick.
        ProgramError::LoadError { io_error, .. } => (
            "failed",
            format!("the kernel refused the program: {io_error}"),
        ),
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

/// Loads a program that [`iterate`] runs for each thing of a kind, as `tcp`, unless the host is to
/// do without.
pub(super) fn iterator(
    host: &Host,
    ebpf: &mut Ebpf,
    name: &'static str,
    kind: &str,
    types: &Btf,
) -> Result<Attached, Availability> {
    let hook = format!("{LIST}{kind}");
    let failed = |e: &dyn std::fmt::Display| Availability::Failed {
        why: format!("{hook}: {e}"),
    };
    let unsupported = || Availability::Unsupported {
        needs: format!("a kernel with the iterator {hook} (Linux 5.9)"),
    };
    if host.without_hooks.contains(&hook) {
        return Err(unsupported());
    }
    let program = iterator_of(ebpf, name).map_err(|e| failed(&e))?;
    program.load(kind, types).map_err(|e| match e {
        ProgramError::Btf(_) => unsupported(),
        other => failed(&other),
    })?;
    let fd = program.fd().map_err(|e| failed(&e))?.as_fd().as_raw_fd();
    Ok(Attached {
        state: Program {
            name: name.into(),
            hook,
            state: "attached".into(),
            ..Program::default()
        },
        info: File::open(format!("/proc/self/fdinfo/{fd}")).ok(),
        before: [0; 2],
    })
}

fn iterator_of<'a>(ebpf: &'a mut Ebpf, name: &str) -> std::io::Result<&'a mut Iter> {
    let program = ebpf.program_mut(name);
    let program = program.ok_or_else(|| std::io::Error::other("not in the object"))?;
    program.try_into().map_err(std::io::Error::other)
}

/// Runs the program of that name for each thing that there is now.
pub(super) fn iterate(ebpf: &mut Ebpf, name: &str) -> std::io::Result<()> {
    let program = iterator_of(ebpf, name)?;
    let link = program.attach().map_err(std::io::Error::other)?;
    let link = program.take_link(link).map_err(std::io::Error::other)?;
    read_through(&mut link.into_file().map_err(std::io::Error::other)?)
}
