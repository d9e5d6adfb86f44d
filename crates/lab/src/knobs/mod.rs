//! The settings an experiment may change: [`KNOBS`] is the one list of their families.
//!
//! To add a knob: a line in its family's fields. To add a family: a file here and a line in
//! [`KNOBS`]. `sonde knobs`, the reference page and the tests come from the list.

mod cgroup;
mod cpu;
mod disk;
mod file;
mod irq;
mod module;
mod mount;
mod mount_options;
mod net;
mod sysctl;
mod thp;

use std::sync::Arc;

use crate::KnobError;
use crate::spot::{Identity, Spot, Values};

/// Settings of one kind, named alike.
#[derive(Debug)]
pub struct Family {
    /// What the name begins with: `disk`.
    pub prefix: &'static str,
    /// How names are made: `disk:DEV.FIELD`.
    pub form: &'static str,
    /// One sentence: what is set.
    pub about: &'static str,
    /// Where the kernel documents it.
    pub link: &'static str,
    /// The settings that are described. An asterisk is any other.
    pub fields: &'static [Field],
    /// Finds the spot of the name's part behind the colon.
    open: fn(name: &str, rest: &str, allow: Allow) -> Result<Opened, KnobError>,
    /// Names of this machine's knobs that begin with the given part behind the colon.
    list: fn(rest: &str) -> Vec<String>,
}

/// A setting of a family.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// The last part of the name: `nr_requests`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What else changes it; empty if nothing is known.
    pub reset_by: &'static str,
    /// Lower ones are set and put back first, as they change the higher.
    rank: u8,
}

/// What a family found for a name.
pub(crate) struct Opened {
    field: &'static Field,
    spot: Arc<dyn Spot>,
}

/// All families, in the order of the reference.
pub const KNOBS: &[Family] = &[
    disk::FAMILY,
    net::FAMILY,
    sysctl::FAMILY,
    cgroup::FAMILY,
    module::FAMILY,
    mount::FAMILY,
    thp::FAMILY,
    cpu::CPUFREQ,
    cpu::SMT,
    irq::FAMILY,
    file::FAMILY,
];

/// What the user allows beyond the named settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// Any file, by `file:PATH`.
    pub files: bool,
}

/// One setting of this machine.
#[derive(Clone, Debug)]
pub struct Knob {
    name: String,
    opened: Found,
}

#[derive(Clone, Debug)]
struct Found {
    family: &'static Family,
    field: &'static Field,
    spot: Arc<dyn Spot>,
}

impl Knob {
    /// The knob of that name, such as `disk:vda.scheduler`, if this machine has it.
    pub fn parse(text: &str, allow: Allow) -> Result<Knob, KnobError> {
        let knob = Knob::open(text, allow)?;
        knob.read()?;
        Ok(knob)
    }

    /// The same, though its file need not be there now: `disk:vda.iosched/read_expire` comes
    /// and goes with the scheduler.
    pub(crate) fn open(text: &str, allow: Allow) -> Result<Knob, KnobError> {
        let (prefix, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some(family) = KNOBS.iter().find(|f| f.prefix == prefix) else {
            let forms: Vec<&str> = KNOBS.iter().map(|f| f.form).collect();
            return Err(KnobError::Unknown {
                name: text.into(),
                why: format!("knobs do not begin with `{prefix}`"),
                hint: format!("they are {}", forms.join(", ")),
            });
        };
        let Opened { field, spot } = (family.open)(text, rest, allow)?;
        Ok(Knob {
            name: text.to_owned(),
            opened: Found {
                family,
                field,
                spot,
            },
        })
    }

    /// As it was given to [`Knob::parse`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The family it belongs to.
    pub fn family(&self) -> &'static Family {
        self.opened.family
    }

    /// The present value, in the form in which it is set.
    pub fn read(&self) -> Result<String, KnobError> {
        self.opened.spot.read()
    }

    /// Whether `value` may be set, as far as that can be told without setting it: it can have
    /// that value, and this process may write it.
    pub fn check(&self, value: &str) -> Result<(), KnobError> {
        let values = self.values();
        if !values.allow(value) {
            return Err(KnobError::Value {
                name: self.name.clone(),
                value: value.to_owned(),
                allowed: format!("it takes {}", values.described()),
            });
        }
        self.opened.spot.writable()
    }

    /// The words it takes, where it takes only some.
    pub fn allowed(&self) -> Option<Vec<String>> {
        match self.values() {
            Values::Words(words) => Some(words),
            _ => None,
        }
    }

    /// What it can be set to.
    pub fn values(&self) -> Values {
        self.opened.spot.values()
    }

    /// What it does.
    pub fn about(&self) -> &'static str {
        self.opened.field.about
    }

    /// What else changes it, if anything is known to.
    pub fn reset_by(&self) -> Option<&'static str> {
        let text = self.opened.field.reset_by;
        (!text.is_empty()).then_some(text)
    }

    /// What a person types into a root shell to set `value`.
    pub fn command(&self, value: &str) -> String {
        self.opened.spot.command(value)
    }

    /// Whether two texts mean the same value of it.
    pub fn same(&self, one: &str, other: &str) -> bool {
        self.opened.spot.same(one, other)
    }

    pub(crate) fn write(&self, value: &str) -> Result<(), KnobError> {
        self.opened.spot.write(value)
    }

    pub(crate) fn put_back(&self, value: &str) -> Result<(), KnobError> {
        self.opened.spot.put_back(value)
    }

    pub(crate) fn is_back(&self, now: &str, was: &str) -> bool {
        self.opened.spot.is_back(now, was)
    }

    pub(crate) fn identity(&self) -> Result<Identity, KnobError> {
        self.opened.spot.identity()
    }

    pub(crate) fn writable(&self) -> Result<(), KnobError> {
        self.opened.spot.writable()
    }

    pub(crate) fn companions(&self) -> Vec<String> {
        self.opened.spot.companions()
    }

    pub(crate) fn lasts(&self) -> bool {
        self.opened.spot.lasts()
    }

    pub(crate) fn rank(&self) -> u8 {
        self.opened.field.rank
    }
}

/// Names of this machine's knobs that begin with `start`, a whole name or the front of one.
/// Without a colon: of every family that begins so, those that are worth a look.
pub fn names(start: &str) -> Vec<String> {
    match start.split_once(':') {
        Some((prefix, rest)) => {
            let family = KNOBS.iter().find(|f| f.prefix == prefix);
            family.map(|f| (f.list)(rest)).unwrap_or_default()
        }
        None => {
            let families = KNOBS.iter().filter(|f| f.prefix.starts_with(start));
            families.flat_map(|f| (f.list)("")).collect()
        }
    }
}

/// The field of that name; the one called `*` takes what no other does.
fn field(fields: &'static [Field], name: &str) -> Option<&'static Field> {
    let exact = fields.iter().find(|f| f.name == name);
    exact.or_else(|| fields.iter().find(|f| f.name == "*"))
}

/// The error for a field that there is not.
fn no_field(name: &str, field: &str, fields: &[Field]) -> KnobError {
    let known: Vec<&str> = fields
        .iter()
        .map(|f| f.name)
        .filter(|n| *n != "*")
        .collect();
    KnobError::Unknown {
        name: name.to_owned(),
        why: if field.is_empty() {
            "which of its settings?".to_owned()
        } else {
            format!("`{field}` is none of its settings")
        },
        hint: format!("there are {}", known.join(", ")),
    }
}

/// The names in a directory, in order; none if it cannot be read.
fn entries(dir: impl AsRef<std::path::Path>) -> Vec<String> {
    let found = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = found
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Whether a part of a name would lead out of its directory.
fn leads_away(part: &str) -> bool {
    part.starts_with('/')
        || part
            .split('/')
            .any(|p| p.is_empty() || p == "." || p == "..")
}

/// Whether anyone may write the file: sysfs shows what cannot be set beside what can.
fn can_be_written(path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    const WRITE: u32 = 0o222;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.mode() & WRITE != 0)
}
