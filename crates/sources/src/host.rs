//! Which host is observed, and what it lets us see.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where the kernel's files are. Tests point it at captured trees.
#[derive(Clone, Debug)]
pub struct Host {
    /// Usually `/`. `proc`, `sys` and the cgroup mounts are found below it.
    pub root: PathBuf,
    /// How many processes a sample names, by each of CPU, disk bytes and memory.
    pub top: usize,
    /// Whether the inventory may hold the arguments of processes.
    pub with_arguments: bool,
    /// How deep to look.
    pub look: Look,
    /// Tracepoints to do without, as on a kernel that lacks them: to test that.
    pub without_hooks: Vec<String>,
}

/// How deep to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Counters that the kernel keeps anyway.
    #[default]
    Samples,
    /// Histograms, kept by programs in the kernel.
    Distributions,
    /// Each event too.
    Events,
}

/// How deep to look, and at what.
#[derive(Clone, Debug)]
pub struct Look {
    /// The level.
    pub detail: Detail,
    /// Subjects of which to tell each event.
    pub events: Vec<String>,
    /// Subjects that are observed only if asked for.
    pub with: Vec<String>,
    /// Room for events that wait to be read, in bytes: a power of two.
    pub ring_bytes: u32,
    /// Share of one processor that events may cost.
    pub event_share: f64,
    /// Events a second to keep at most.
    pub event_rate: f64,
}

impl Default for Look {
    fn default() -> Self {
        Look {
            detail: Detail::default(),
            events: vec![],
            with: vec![],
            // At 300,000 events a second, 70 ms; the reader is woken at a quarter. It is mapped
            // twice, so it counts double as memory.
            ring_bytes: 2 << 20,
            event_share: 0.02,
            event_rate: f64::INFINITY,
        }
    }
}

impl Look {
    /// Whether each event of that subject is to be told.
    pub fn events_of(&self, subject: &str) -> bool {
        self.detail == Detail::Events && self.events.iter().any(|e| e == subject)
    }
}

impl Default for Host {
    fn default() -> Self {
        Host {
            root: PathBuf::from("/"),
            top: 10,
            with_arguments: false,
            look: Look::default(),
            without_hooks: vec![],
        }
    }
}

impl Host {
    /// The host whose file tree is below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Host {
        Host {
            root: root.into(),
            ..Host::default()
        }
    }

    /// `/proc/<name>`.
    pub fn proc(&self, name: &str) -> PathBuf {
        self.root.join("proc").join(name)
    }

    /// `/sys/<name>`.
    pub fn sys(&self, name: &str) -> PathBuf {
        self.root.join("sys").join(name)
    }

    /// An absolute path of the host, below `root`.
    pub fn path(&self, absolute: &Path) -> PathBuf {
        self.root
            .join(absolute.strip_prefix("/").unwrap_or(absolute))
    }
}

/// What a source can give on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It works.
    Available,
    /// This machine does not have it, and needs something to have it.
    Unsupported {
        /// What would be needed.
        needs: String,
    },
    /// It is there, and we may not read it.
    Denied {
        /// The command or setting that would allow it.
        remedy: String,
    },
    /// It is there and went wrong.
    Failed {
        /// What went wrong.
        why: String,
    },
}

impl Availability {
    /// What an error of opening `path` means, when the file's absence means `needs` and a
    /// refusal is mended by `remedy`.
    pub fn of(path: &Path, error: &io::Error, needs: &str, remedy: &str) -> Availability {
        match error.kind() {
            io::ErrorKind::NotFound => Availability::Unsupported {
                needs: needs.into(),
            },
            io::ErrorKind::PermissionDenied => Availability::Denied {
                remedy: remedy.into(),
            },
            _ => Availability::Failed {
                why: format!("{}: {error}", path.display()),
            },
        }
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Availability::Available => write!(f, "available"),
            Availability::Unsupported { needs } => write!(f, "unsupported (needs {needs})"),
            Availability::Denied { remedy } => write!(f, "denied ({remedy})"),
            Availability::Failed { why } => write!(f, "failed ({why})"),
        }
    }
}
