//! Network namespaces: which one we are in, and doing something inside another.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::KnobError;

/// The number of a namespace's file.
fn number(path: &Path) -> Option<String> {
    std::fs::metadata(path).ok().map(|m| m.ino().to_string())
}

/// The network namespace of this thread.
pub(crate) fn network() -> Option<String> {
    number(Path::new("/proc/thread-self/ns/net"))
}

/// The namespace of another kind (`ipc`, `uts`) of this thread.
pub(crate) fn of_kind(kind: &str) -> Option<String> {
    number(&Path::new("/proc/thread-self/ns").join(kind))
}

/// Does `work` in the network namespace of that number, in a thread that goes with it.
pub(crate) fn inside<T: Send>(
    namespace: &str,
    work: impl FnOnce() -> T + Send,
) -> Result<T, KnobError> {
    let place = || format!("network namespace {namespace}");
    let path = found(namespace).ok_or_else(|| KnobError::Missing {
        name: "what was set in it".into(),
        path: place(),
        hint: "it was removed, and its settings with it".into(),
    })?;
    let refused = |e: std::io::Error| KnobError::refused("enter", place(), &e);
    let file = File::open(path).map_err(refused)?;
    std::thread::scope(|scope| {
        let entered = scope.spawn(move || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(work())
        });
        let panicked = || Err(std::io::Error::other("the thread ended early"));
        entered.join().unwrap_or_else(|_| panicked())
    })
    .map_err(refused)
}

/// A file by which the namespace can be entered: a name that somebody gave it, or a process
/// that is in it.
fn found(namespace: &str) -> Option<PathBuf> {
    let named = ["/run/netns", "/var/run/netns", "/run/docker/netns"].into_iter();
    let named = named.flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
    let of_processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    named
        .map(|e| e.path())
        .chain(of_processes.map(|e| e.path().join("ns/net")))
        .find(|path| number(path).as_deref() == Some(namespace))
}

/// What a person types before a command to have it done in this network namespace: nothing in
/// the machine's own one.
pub(crate) fn command_prefix() -> String {
    let own = network();
    let first = number(Path::new("/proc/1/ns/net"));
    // Another user's processes do not tell theirs.
    if first.is_none() || own == first {
        return String::new();
    }
    let named = std::fs::read_dir("/run/netns")
        .into_iter()
        .flatten()
        .flatten();
    let own = named.map(|e| e.path()).find(|path| number(path) == own);
    let name = own.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    match name {
        Some(name) => format!("ip netns exec {} ", crate::spot::quoted(&name)),
        None => format!("nsenter --net=/proc/{}/ns/net ", std::process::id()),
    }
}
