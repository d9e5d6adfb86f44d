//! `cpufreq` and `smt`: how fast processors run, and how many threads each runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, entries, field, leads_away, no_field};
use crate::KnobError;
use crate::kernel_file::{self, FileSpot, Holds, node};
use crate::spot::{Identity, Spot, Values, number, same};

const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
const SMT_CONTROL: &str = "/sys/devices/system/cpu/smt/control";

/// What sets the clock of processors.
pub(super) const CPUFREQ: Family = Family {
    prefix: "cpufreq",
    form: "cpufreq or cpufreq:[POLICY.]FIELD",
    about: "The clock of the processors, of all of them or of a policy's",
    link: "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
    fields: &[
        Field {
            name: "scaling_governor",
            about: "Who chooses the clock; the same as `cpufreq` alone",
            reset_by: "a processor that goes offline and comes back, with some drivers",
            rank: 1,
        },
        Field {
            name: "scaling_min_freq",
            about: "The lowest clock that may be chosen, in kHz",
            reset_by: "a change of governor, with some drivers",
            rank: 2,
        },
        Field {
            name: "scaling_max_freq",
            about: "The highest clock that may be chosen, in kHz",
            reset_by: "a change of governor, with some drivers",
            rank: 2,
        },
        Field {
            name: "energy_performance_preference",
            about: "What the processor itself prefers when it chooses",
            reset_by: "a change of governor",
            rank: 2,
        },
        Field {
            name: "boost",
            about: "Whether clocks above the nominal one are used",
            reset_by: "",
            rank: 1,
        },
    ],
    open: open_cpufreq,
    list: list_cpufreq,
};

/// Simultaneous multithreading.
pub(super) const SMT: Family = Family {
    prefix: "smt",
    form: "smt",
    about: "Whether each core runs more than one thread",
    link: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    fields: &[Field {
        name: "*",
        about: "`on` or `off`; off takes the second threads offline, which moves their interrupts",
        reset_by: "",
        rank: 0,
    }],
    open: open_smt,
    list: |rest| {
        if rest.is_empty() && can_smt() {
            vec!["smt".into()]
        } else {
            vec![]
        }
    },
};

fn can_smt() -> bool {
    kernel_file::read(Path::new(SMT_CONTROL)).is_ok_and(|v| v == "on" || v == "off")
}

fn open_smt(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    if !rest.is_empty() {
        return Err(no_field(name, rest, SMT.fields));
    }
    if !can_smt() {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: format!("`on` or `off` in {SMT_CONTROL}"),
            hint: "the processors of this machine run one thread each, or do not let it be set"
                .into(),
        });
    }
    // The processors' interrupts are moved, and control groups of version 1 lose processors.
    let interrupts = super::irq::names().into_iter().map(|n| format!("irq:{n}"));
    let spot = FileSpot {
        path: SMT_CONTROL.into(),
        holds: Holds::Words(&["on", "off"]),
        owner: "/sys/devices/system/cpu/smt".into(),
        more: Identity::new(),
        companions: interrupts.chain(super::cgroup::processor_sets()).collect(),
        write: kernel_file::write,
    };
    let field = &SMT.fields[0];
    Ok(Opened {
        field,
        spot: Arc::new(spot),
    })
}

fn open_cpufreq(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let (policy, setting) = match rest.split_once('.') {
        Some((policy, setting)) => (Some(policy), setting),
        None if rest.is_empty() => (None, "scaling_governor"),
        None => (None, rest),
    };
    let fields = CPUFREQ.fields;
    let found = field(fields, setting).ok_or_else(|| no_field(name, setting, fields))?;
    let missing = |path: PathBuf| KnobError::Missing {
        name: name.to_owned(),
        path: path.display().to_string(),
        hint: "the clock is not this kernel's to set, as in most virtual machines".into(),
    };
    let owners: Vec<PathBuf> = match (setting, policy) {
        ("boost", None) => vec![POLICIES.into()],
        (_, Some(policy)) if leads_away(policy) => return Err(no_field(name, policy, fields)),
        (_, Some(policy)) => vec![Path::new(POLICIES).join(policy)],
        (_, None) => policies(),
    };
    let places: Vec<PathBuf> = owners.iter().map(|o| o.join(setting)).collect();
    match places.iter().find(|p| !p.exists()) {
        Some(path) => return Err(missing(path.clone())),
        None if places.is_empty() => return Err(missing(POLICIES.into())),
        None => {}
    }
    Ok(Opened {
        field: found,
        spot: Arc::new(Policies {
            owners,
            setting: setting.to_owned(),
        }),
    })
}

fn policies() -> Vec<PathBuf> {
    let names = entries(POLICIES)
        .into_iter()
        .filter(|n| n.starts_with("policy"));
    names.map(|n| Path::new(POLICIES).join(n)).collect()
}

fn list_cpufreq(rest: &str) -> Vec<String> {
    let first = policies().into_iter().next();
    let has = |setting: &str| {
        let own = first.as_ref().is_some_and(|p| p.join(setting).exists());
        own || Path::new(POLICIES).join(setting).exists() && setting == "boost"
    };
    let settings = CPUFREQ.fields.iter().map(|f| f.name);
    let found = settings.filter(|s| has(s) && s.starts_with(rest));
    found.map(|s| format!("cpufreq:{s}")).collect()
}

/// The same file of several policies. Where they differ, the value names each:
/// `policy0=powersave policy4=performance`.
#[derive(Debug)]
struct Policies {
    owners: Vec<PathBuf>,
    setting: String,
}

impl Policies {
    fn names(&self) -> impl Iterator<Item = (String, PathBuf)> {
        self.owners.iter().map(|owner| {
            let name = owner
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            (name, owner.join(&self.setting))
        })
    }

    /// The value of one policy in a text for all.
    fn part<'v>(value: &'v str, policy: &str) -> &'v str {
        let mut words = value.split_whitespace();
        let own = words.find_map(|w| w.strip_prefix(policy)?.strip_prefix('='));
        own.unwrap_or(value)
    }
}

impl Spot for Policies {
    fn read(&self) -> Result<String, KnobError> {
        let mut values = Vec::new();
        for (name, path) in self.names() {
            values.push((name, kernel_file::read(&path)?));
        }
        let first = values.first().map(|(_, v)| v.clone()).unwrap_or_default();
        if values.iter().all(|(_, v)| *v == first) {
            return Ok(first);
        }
        let each = values.iter().map(|(name, value)| format!("{name}={value}"));
        Ok(each.collect::<Vec<_>>().join(" "))
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        self.names()
            .try_for_each(|(name, path)| kernel_file::write(&path, Self::part(value, &name)))
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        let nodes = self.owners.iter().map(|o| node(o));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        Ok(Identity::from([("node".to_owned(), nodes.join(" "))]))
    }

    fn values(&self) -> Values {
        let choices = match self.setting.as_str() {
            "scaling_governor" => "scaling_available_governors",
            "energy_performance_preference" => "energy_performance_available_preferences",
            _ => return Values::Text,
        };
        let first = self
            .owners
            .first()
            .map(|o| kernel_file::read(&o.join(choices)));
        match first {
            // A text for each policy is allowed too, once they differ.
            Some(Ok(words)) if self.read().is_ok_and(|v| !v.contains('=')) => {
                Values::Words(kernel_file::choices(&words))
            }
            _ => Values::Text,
        }
    }

    fn writable(&self) -> Result<(), KnobError> {
        self.names()
            .try_for_each(|(_, path)| kernel_file::writable(&path))
    }

    fn command(&self, value: &str) -> String {
        let each = self.names();
        let each = each.map(|(name, path)| kernel_file::command(&path, Self::part(value, &name)));
        each.collect::<Vec<_>>().join("; ")
    }

    fn same(&self, one: &str, other: &str) -> bool {
        self.names()
            .all(|(name, _)| same(Self::part(one, &name), Self::part(other, &name)))
            && number(one).is_some() == number(other).is_some()
    }
}
