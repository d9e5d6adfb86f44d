//! Why a knob cannot be read or set, told with the path and what to do about it.

use std::io;

use rustix::io::Errno;

/// Why a knob cannot be read or set.
#[derive(Clone, Debug, thiserror::Error)]
pub enum KnobError {
    #[error("there is no knob `{name}`: {why}\nhint: {hint}")]
    /// The name is none of a knob.
    Unknown {
        /// As it was given.
        name: String,
        /// What of it is not known.
        why: String,
        /// What there is.
        hint: String,
    },
    #[error("{name}: there is no {path}\nhint: {hint}")]
    /// What would carry the setting is not there.
    Missing {
        /// The knob.
        name: String,
        /// What would have to be there.
        path: String,
        /// Why it may be missing.
        hint: String,
    },
    #[error("{name} = {value}: not a value that it can have\nhint: {allowed}")]
    /// The knob cannot have that value.
    Value {
        /// The knob.
        name: String,
        /// What was asked for.
        value: String,
        /// What it can have.
        allowed: String,
    },
    #[error("{name} is not set by an experiment: {why}")]
    /// It could not be put back.
    OneWay {
        /// The knob.
        name: String,
        /// Why it could not be put back.
        why: String,
    },
    #[error("cannot {doing} {place}: {why}\nhint: {remedy}")]
    /// The kernel refused it.
    Refused {
        /// `read`, or ``write `8` to``.
        doing: String,
        /// The file, or what was asked of the kernel.
        place: String,
        /// The kernel's word for it.
        why: String,
        /// What to do.
        remedy: String,
        /// The kernel's number.
        errno: i32,
    },
}

impl KnobError {
    /// What the kernel answered when `doing` something to `place`.
    pub(crate) fn refused(
        doing: impl Into<String>,
        place: impl Into<String>,
        e: &io::Error,
    ) -> KnobError {
        let errno = e.raw_os_error().unwrap_or(0);
        KnobError::Refused {
            doing: doing.into(),
            place: place.into(),
            why: words(e),
            remedy: remedy(errno).to_owned(),
            errno,
        }
    }

    /// Whether what carries the setting is not there (any more).
    pub(crate) fn is_gone(&self) -> bool {
        const GONE: [Errno; 4] = [Errno::NOENT, Errno::NODEV, Errno::NXIO, Errno::NOTDIR];
        match self {
            KnobError::Missing { .. } => true,
            KnobError::Refused { errno, .. } => GONE.iter().any(|g| g.raw_os_error() == *errno),
            _ => false,
        }
    }
}

/// An error's text with the kernel's short name, without the number.
fn words(e: &io::Error) -> String {
    let text = e.to_string();
    if e.raw_os_error().is_none() {
        return text;
    }
    let text = text.split(" (os error").next().unwrap_or(&text);
    let text = text.to_lowercase();
    let names: [(Errno, &str); 9] = [
        (Errno::PERM, "EPERM"),
        (Errno::ACCESS, "EACCES"),
        (Errno::BUSY, "EBUSY"),
        (Errno::INVAL, "EINVAL"),
        (Errno::ROFS, "EROFS"),
        (Errno::RANGE, "ERANGE"),
        (Errno::OPNOTSUPP, "EOPNOTSUPP"),
        (Errno::NODEV, "ENODEV"),
        (Errno::NOENT, "ENOENT"),
    ];
    let name = names
        .iter()
        .find(|(n, _)| Some(n.raw_os_error()) == e.raw_os_error());
    name.map_or(text.clone(), |(_, name)| format!("{text} ({name})"))
}

/// What to do about a refusal.
fn remedy(errno: i32) -> &'static str {
    let table: [(Errno, &str); 9] = [
        (
            Errno::PERM,
            "this needs root, and may be locked by the kernel's lockdown or a container",
        ),
        (
            Errno::ACCESS,
            "this needs root; a file without write permission cannot be set at all",
        ),
        (
            Errno::BUSY,
            "something uses it: end that, or unmount the device, and try again",
        ),
        (
            Errno::INVAL,
            "the kernel does not take this value here; `sonde knobs` shows what it may be",
        ),
        (
            Errno::RANGE,
            "the value is too large or too small for the kernel",
        ),
        (
            Errno::ROFS,
            "it is mounted read-only, as in many containers: try on the host",
        ),
        (
            Errno::OPNOTSUPP,
            "the driver or the kernel does not support this setting",
        ),
        (
            Errno::NOENT,
            "the device, group or module is not there; `sonde knobs` lists what is",
        ),
        (Errno::NODEV, "the device is not there (any more)"),
    ];
    table
        .iter()
        .find(|(n, _)| n.raw_os_error() == errno)
        .map_or(
            "`sonde knobs NAME` tells what it is and what it may be",
            |(_, r)| r,
        )
}
