//! Changing settings for an experiment, and putting them back whatever happens.

pub(crate) mod guardian;
pub(crate) mod journal;
pub(crate) mod recover;
pub(crate) mod restore;
pub(crate) mod state;

use std::io;
use std::path::{Path, PathBuf};

use guardian::Guardian;
use journal::{Entry, Journal};
use recover::{RecoverError, own, recover_locked};
use restore::{Restored, put_back};
use state::{Lock, journal_path, make};

use crate::KnobError;
use crate::knobs::{Allow, Knob};

/// Why an experiment did not begin. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    #[error("another experiment is under way{}\nhint: wait for its end, or end it", of(.0.as_ref()))]
    /// Another experiment is at it: its process, and what it does.
    Open(Option<(u32, String)>),
    #[error("settings of an earlier experiment could not be put back:\n{}\nhint: put them back, then: sonde try --recover", .0.complaint())]
    /// An earlier one could not be undone.
    Unrestored(Restored),
    #[error(transparent)]
    /// Whether an earlier one was undone is not known.
    Recover(#[from] RecoverError),
    #[error(
        "cannot write the undo journal {path}: {why}; nothing was changed\nhint: SONDE_STATE=DIR names another place"
    )]
    /// The values could not be made durable.
    Journal {
        /// The journal.
        path: PathBuf,
        /// What is wrong.
        why: io::Error,
    },
    #[error("cannot start the guardian that would put settings back: {0}; nothing was changed")]
    /// There would be nobody to put settings back.
    Guardian(io::Error),
    #[error(transparent)]
    /// A knob cannot be read.
    Knob(#[from] KnobError),
}

fn of(live: Option<&(u32, String)>) -> String {
    live.map_or_else(String::new, |(pid, what)| {
        format!(": {what} (process {pid})")
    })
}

/// Why a setting was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("{0} is not of this experiment")]
    /// It was not named when the experiment began.
    NotJournaled(String),
    #[error(transparent)]
    /// It cannot be written.
    Knob(#[from] KnobError),
    #[error(
        "{knob} = {wanted}: the kernel keeps `{kept}`\nhint: ask for a value that it keeps as it is"
    )]
    /// The kernel made another value of it.
    Kept {
        /// The knob.
        knob: String,
        /// What was written.
        wanted: String,
        /// What is read.
        kept: String,
    },
}

/// An open undo journal with a guardian beside it. When it is dropped, settings go back.
#[derive(Debug)]
pub struct Experiment {
    state: PathBuf,
    journal: Journal,
    guardian: Option<Guardian>,
    /// Let go of last.
    _lock: Lock,
}

impl Experiment {
    /// Opens the journal in the directory `state`: what each of `knobs`, and what they
    /// disturb, is now. It is durable, and the guardian watches, when this returns; nothing is
    /// changed yet. `what` tells people what is done.
    pub fn begin(state: &Path, what: &str, knobs: &[Knob]) -> Result<Experiment, BeginError> {
        let journal_error = |why| BeginError::Journal {
            path: journal_path(state),
            why,
        };
        make(state).map_err(journal_error)?;
        let lock = match own(state) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(BeginError::Open(None)),
            Err(RecoverError::Live { pid, what }) => {
                return Err(BeginError::Open(Some((pid, what))));
            }
            Err(RecoverError::Journal { why, .. }) if !journal_path(state).exists() => {
                return Err(journal_error(why));
            }
            Err(e) => return Err(e.into()),
        };
        if let Some(restored) = recover_locked(state, &lock)?
            && restored.failed.iter().any(|f| !f.gone)
        {
            return Err(BeginError::Unrestored(restored));
        }
        let journal = Journal::new(what, entries(knobs)?).map_err(journal_error)?;
        journal.write(state).map_err(journal_error)?;
        let guardian = Guardian::start(state, &journal.id).map_err(|e| {
            let _ = Journal::remove(state);
            BeginError::Guardian(e)
        })?;
        Ok(Experiment {
            state: state.to_owned(),
            journal,
            guardian: Some(guardian),
            _lock: lock,
        })
    }

    /// Sets one knob of the experiment and looks whether the kernel kept the value.
    pub fn set(&mut self, knob: &Knob, value: &str) -> Result<(), SetError> {
        if !self.journal.entries.iter().any(|e| e.knob == knob.name()) {
            return Err(SetError::NotJournaled(knob.name().to_owned()));
        }
        knob.write(value)?;
        kept(knob, value)
    }

    /// Sets the knobs of an arm, in the order in which they do not disturb each other, and
    /// looks at all of them at the end. Knobs that are not named stay as they are: an arm
    /// begins with [`Experiment::put_back`].
    pub fn set_all(&mut self, arm: &[(Knob, String)]) -> Result<(), SetError> {
        let mut ordered: Vec<&(Knob, String)> = arm.iter().collect();
        ordered.sort_by_key(|(knob, _)| knob.rank());
        for (knob, value) in &ordered {
            self.set(knob, value)?;
        }
        ordered
            .iter()
            .try_for_each(|(knob, value)| kept(knob, value))
    }

    /// Sets every value that will be asked for once and puts it back: what the kernel refuses
    /// or keeps differently is an error before the first trial, not after the last.
    pub fn rehearse(&mut self, arms: &[Vec<(Knob, String)>]) -> Result<(), SetError> {
        for arm in arms {
            let set = self.set_all(arm);
            self.put_back();
            set?;
        }
        Ok(())
    }

    /// What the kernel keeps of a value: some it rounds. The knob is put back.
    pub fn keeps(&mut self, knob: &Knob, value: &str) -> Result<String, SetError> {
        let set = self.set(knob, value);
        self.put_back();
        match set {
            Ok(()) => Ok(value.to_owned()),
            Err(SetError::Kept { kept, .. }) => Ok(kept),
            Err(why) => Err(why),
        }
    }

    /// The values at the start, by knob.
    pub fn start_values(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.journal.entries.iter();
        entries.map(|e| (e.knob.as_str(), e.was.as_str()))
    }

    /// Puts every knob back to what it was at the start. The journal stays open.
    pub fn put_back(&mut self) -> Restored {
        put_back(&self.journal.entries)
    }

    /// Puts everything back and closes the journal. What could not be put back stays in it.
    pub fn end(mut self) -> Restored {
        self.close()
    }

    fn close(&mut self) -> Restored {
        let Some(guardian) = self.guardian.take() else {
            return Restored::default();
        };
        let restored = self.put_back();
        let closed = if restored.is_whole() {
            Journal::remove(&self.state)
        } else {
            let lost = |e: &Entry| restored.failed.iter().any(|f| f.knob == e.knob && !f.gone);
            self.journal.entries.retain(lost);
            if self.journal.entries.is_empty() {
                Journal::remove(&self.state)
            } else {
                self.journal.write(&self.state)
            }
        };
        // A journal that stays is read again at the next start; there it does no harm.
        drop(closed);
        guardian.dismiss();
        restored
    }
}

impl Drop for Experiment {
    fn drop(&mut self) {
        self.close();
    }
}

/// An entry for each knob, and for those that they disturb.
fn entries(knobs: &[Knob]) -> Result<Vec<Entry>, KnobError> {
    let mut all: Vec<Entry> = Vec::new();
    let mut add = |knob: &Knob| -> Result<(), KnobError> {
        if all.iter().all(|e| e.knob != knob.name()) {
            all.push(Entry::of(knob)?);
        }
        Ok(())
    };
    for knob in knobs {
        knob.writable()?;
        add(knob)?;
        for name in knob.companions() {
            // One that cannot be read or written now cannot be disturbed in a way that shows.
            let companion = Knob::parse(&name, Allow { files: true });
            if let Ok(companion) = companion
                && companion.writable().is_ok()
            {
                add(&companion)?;
            }
        }
    }
    Ok(all)
}

/// Whether `knob` reads as `value`.
fn kept(knob: &Knob, value: &str) -> Result<(), SetError> {
    let kept = knob.read()?;
    if knob.same(&kept, value) {
        return Ok(());
    }
    Err(SetError::Kept {
        knob: knob.name().to_owned(),
        wanted: value.to_owned(),
        kept,
    })
}
