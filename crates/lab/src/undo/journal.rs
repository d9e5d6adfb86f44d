//! The undo journal: what every knob of an experiment was, durable before the first write.
//!
//! It is written beside its place, made durable and renamed, so that it is whole or not there.
//! It is never read as a program: a knob's name is parsed as a user's would be.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::state::{journal_path, make};
use crate::knobs::{Allow, Knob};
use crate::spot::Identity;
use crate::{KnobError, kernel_file};

/// The format's number.
const VERSION: u32 = 1;
/// A journal of ten thousand knobs is smaller.
const LONGEST: u64 = 64 << 20;

/// All that is to be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Of the format.
    pub(crate) version: u32,
    /// Tells this experiment from all others.
    pub(crate) id: String,
    /// The boot in which the values were read.
    pub(crate) boot: String,
    /// The process that experiments.
    pub(crate) pid: u32,
    /// What it does, for people.
    pub(crate) what: String,
    /// The knobs.
    pub(crate) entries: Vec<Entry>,
}

/// A knob as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) knob: String,
    /// What carries it.
    pub(crate) identity: Identity,
    /// Its value at the start.
    pub(crate) was: String,
    /// What a person types to put it back.
    pub(crate) command: String,
    /// Whether the value outlives a restart of the machine.
    pub(crate) lasts: bool,
    /// Lower ones are put back first.
    pub(crate) rank: u8,
}

impl Entry {
    /// What `knob` is now.
    pub(crate) fn of(knob: &Knob) -> Result<Entry, KnobError> {
        let was = knob.read()?;
        Ok(Entry {
            knob: knob.name().to_owned(),
            identity: knob.identity()?,
            command: knob.command(&was),
            was,
            lasts: knob.lasts(),
            rank: knob.rank(),
        })
    }

    /// The knob, if this machine still has it.
    pub(crate) fn open(&self) -> Result<Knob, KnobError> {
        // It was allowed when the journal was written.
        Knob::open(&self.knob, Allow { files: true })
    }
}

impl Journal {
    /// A journal of this boot and process.
    pub(crate) fn new(what: &str, entries: Vec<Entry>) -> io::Result<Journal> {
        let mut random = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        Ok(Journal {
            version: VERSION,
            id: format!("{:016x}", u64::from_ne_bytes(random)),
            boot: boot()?,
            pid: std::process::id(),
            what: what.to_owned(),
            entries,
        })
    }

    /// The journal in `state`, if there is one.
    pub(crate) fn read(state: &Path) -> io::Result<Option<Journal>> {
        let mut options = OpenOptions::new();
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let path = journal_path(state);
        let file = match options
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(path)
        {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let owner = file.metadata()?.uid();
        let own = rustix::process::geteuid().as_raw();
        if owner != own && owner != 0 {
            // Root must not write what another user made up.
            let text = format!("it belongs to user {owner}, not to user {own}");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        let mut bytes = Vec::new();
        file.take(LONGEST).read_to_end(&mut bytes)?;
        let journal: Journal = serde_json::from_slice(&bytes)?;
        if journal.version != VERSION {
            let text = format!(
                "its format is {}, this program knows {VERSION}",
                journal.version
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(Some(journal))
    }

    /// Writes it in the place of any that is there; durable when this returns.
    pub(crate) fn write(&self, state: &Path) -> io::Result<()> {
        make(state)?;
        let new = state.join("undo.json.new");
        let written = self.write_new(&new).and_then(|()| {
            std::fs::rename(&new, journal_path(state))?;
            durable_names(state)
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    fn write_new(&self, path: &Path) -> io::Result<()> {
        // What a killed process may have left; a link there is not followed.
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(path)?;
        file.write_all(&text)?;
        file.sync_all()
    }

    /// Removes the journal in `state`: all is put back.
    pub(crate) fn remove(state: &Path) -> io::Result<()> {
        std::fs::remove_file(journal_path(state))?;
        durable_names(state)
    }

    /// Whether the machine was started anew since.
    pub(crate) fn is_of_another_boot(&self) -> bool {
        boot().is_ok_and(|now| now != self.boot)
    }
}

/// Makes the names in a directory durable, and its own name.
fn durable_names(state: &Path) -> io::Result<()> {
    File::open(state)?.sync_all()?;
    match state.parent() {
        // The directory may be new.
        Some(above) if !above.as_os_str().is_empty() => File::open(above)?.sync_all(),
        _ => Ok(()),
    }
}

/// A text that is another after each start of the machine.
fn boot() -> io::Result<String> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    kernel_file::read(path).map_err(io::Error::other)
}
