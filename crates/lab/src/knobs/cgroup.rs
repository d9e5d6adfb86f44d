//! `cgroup:PATH.FILE`: limits and weights of control groups, version 1 and 2.
//!
//! Some files hold a line a device (`7:0 rbps=1048576`). A line that was not there at the
//! start cannot be taken away by writing what was: it is written with the value that means
//! none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, entries, leads_away};
use crate::KnobError;
use crate::kernel_file::{self, node};
use crate::spot::{Identity, Spot, Values, normal, number, quoted, same};

pub(super) const FAMILY: Family = Family {
    prefix: "cgroup",
    form: "cgroup:PATH.FILE",
    about: "A limit or weight of a control group (version 1 or 2)",
    link: "https://docs.kernel.org/admin-guide/cgroup-v2.html",
    fields: FIELDS,
    open,
    list,
};

const fn known(name: &'static str, about: &'static str) -> Field {
    Field {
        name,
        about,
        reset_by: "",
        rank: 1,
    }
}

const FIELDS: &[Field] = &[
    known(
        "cpu.max",
        "Processor time in each period: `QUOTA PERIOD` in microseconds, or `max PERIOD`",
    ),
    known("cpu.weight", "Share of the processors, 1 to 10000"),
    known(
        "cpu.cfs_quota_us",
        "Processor time in each period, in microseconds; -1 is no limit (version 1)",
    ),
    known(
        "cpu.cfs_period_us",
        "The period, in microseconds (version 1)",
    ),
    known("cpu.shares", "Share of the processors (version 1)"),
    known("cpuset.cpus", "The processors it may use"),
    known(
        "memory.max",
        "The most memory it may have, in bytes, or max",
    ),
    known(
        "memory.high",
        "Memory above which it is slowed down, in bytes, or max",
    ),
    known(
        "memory.limit_in_bytes",
        "The most memory it may have, in bytes; -1 is no limit (version 1)",
    ),
    known(
        "memory.swappiness",
        "Preference of swapping over dropping the page cache (version 1)",
    ),
    known(
        "io.max",
        "Limits a device: `MAJOR:MINOR rbps=N wbps=N riops=N wiops=N`",
    ),
    known(
        "io.weight",
        "Share of the disks: `default N`, or `MAJOR:MINOR N`",
    ),
    known(
        "io.latency",
        "Latency that is protected: `MAJOR:MINOR target=MICROSECONDS`",
    ),
    known(
        "blkio.throttle.read_bps_device",
        "Bytes a second read: `MAJOR:MINOR N`; 0 is no limit (version 1)",
    ),
    known(
        "blkio.throttle.write_bps_device",
        "Bytes a second written: `MAJOR:MINOR N`; 0 is no limit (version 1)",
    ),
    known(
        "blkio.throttle.read_iops_device",
        "Reads a second: `MAJOR:MINOR N`; 0 is no limit (version 1)",
    ),
    known(
        "blkio.throttle.write_iops_device",
        "Writes a second: `MAJOR:MINOR N`; 0 is no limit (version 1)",
    ),
    known("pids.max", "The most processes, or max"),
    known("*", "Another setting of a group"),
];

/// Files with a line a device, by their name's end, and what means that there is none.
const KEYED: &[(&str, &str)] = &[
    ("io.max", "rbps=max wbps=max riops=max wiops=max"),
    ("io.latency", "target=0"),
    ("io.weight", "default"),
    ("io.bfq.weight", "default"),
    ("io.cost.qos", "enable=0"),
    ("io.cost.model", "ctrl=auto"),
    ("_bps_device", "0"),
    ("_iops_device", "0"),
    ("weight_device", "0"),
];

/// What is no setting, by its name or its end behind an asterisk, and why.
const ONE_WAY: &[(&str, &str)] = &[
    ("cgroup.procs", "it moves processes"),
    ("cgroup.threads", "it moves threads"),
    ("tasks", "it moves threads"),
    ("cgroup.kill", "it ends processes"),
    (
        "*.pressure",
        "what is written there is a trigger, not a setting",
    ),
    ("*.failcnt", "it is a counter"),
    ("*.max_usage_in_bytes", "it is a counter"),
    ("*.peak", "it is a counter"),
    (
        "memory.oom_control",
        "it is written in another form than it is read",
    ),
    ("cgroup.type", "the kernel does not take it back"),
    (
        "cgroup.subtree_control",
        "it makes and removes settings of other groups",
    ),
    ("cgroup.event_control", "it is an action, not a setting"),
    ("release_agent", "it names a program that the kernel starts"),
    ("memory.force_empty", "it is an action, not a setting"),
    ("memory.reclaim", "it is an action, not a setting"),
    ("blkio.reset_stats", "it is an action, not a setting"),
];

/// Why `file` is no setting, if it is none.
fn one_way(file: &str) -> Option<&'static (&'static str, &'static str)> {
    ONE_WAY
        .iter()
        .find(|(name, _)| match name.strip_prefix('*') {
            Some(end) => file.ends_with(end) && file != "cgroup.pressure",
            None => *name == file,
        })
}

/// Where hierarchies of control groups are mounted.
fn mounts() -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let found = table.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        matches!(kind, "cgroup" | "cgroup2").then(|| PathBuf::from(point))
    });
    found.collect()
}

/// The group's directory and the file's name. Both may have dots in them, so every dot is
/// tried, in every hierarchy.
fn found(rest: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for mount in mounts() {
        let inside = Path::new(rest)
            .strip_prefix(&mount)
            .ok()
            .and_then(Path::to_str);
        let inside = inside.unwrap_or_else(|| rest.trim_start_matches('/'));
        for (at, _) in format!(".{inside}").match_indices('.') {
            let (group, file) = (inside.get(..at.saturating_sub(1)), inside.get(at..));
            let (Some(group), Some(file)) = (group, file) else {
                continue;
            };
            let safe = group.is_empty() || !leads_away(group.trim_end_matches('/'));
            if !safe
                || file.is_empty()
                || file.contains('/')
                || inside.as_bytes().get(at.wrapping_sub(1)) != Some(&b'.') && at > 0
            {
                continue;
            }
            let dir = mount.join(group);
            if dir.join(file).is_file() {
                found.push((dir, file.to_owned()));
            }
        }
    }
    found.dedup();
    found
}

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let mut places = found(rest);
    let Some((owner, file)) = places.pop() else {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: format!("file of a control group for `{rest}`"),
            hint: "the root group's is cgroup:/.FILE; `sonde knobs cgroup:/PATH` lists a group's"
                .into(),
        });
    };
    if let Some((_, why)) = one_way(&file) {
        return Err(KnobError::OneWay {
            name: name.to_owned(),
            why: (*why).to_owned(),
        });
    }
    if let Some((other, _)) = places.first() {
        return Err(KnobError::Unknown {
            name: name.to_owned(),
            why: "several hierarchies have it".into(),
            hint: format!("give its whole path: cgroup:{}.{file}", other.display()),
        });
    }
    let Some(field) = super::field(FIELDS, &file) else {
        return Err(super::no_field(name, &file, FIELDS));
    };
    let none = KEYED
        .iter()
        .find(|(end, _)| file.ends_with(end))
        .map(|(_, none)| *none);
    let spot = Group {
        path: owner.join(&file),
        owner,
        none,
    };
    Ok(Opened {
        field,
        spot: Arc::new(spot),
    })
}

fn list(rest: &str) -> Vec<String> {
    if rest.is_empty() {
        return Vec::new();
    }
    let mut names = Vec::new();
    for mount in mounts() {
        let inside = Path::new(rest)
            .strip_prefix(&mount)
            .ok()
            .and_then(Path::to_str);
        let group = inside.unwrap_or(rest).trim_matches('/');
        let dir = mount.join(group);
        if !group.is_empty() && leads_away(group) || !dir.is_dir() {
            continue;
        }
        for file in entries(&dir) {
            if one_way(&file).is_none()
                && file.contains('.')
                && super::can_be_written(&dir.join(&file))
            {
                names.push(format!("cgroup:{}.{file}", dir.display()));
            }
        }
    }
    names
}

/// Files that list a group's processors, which lose those that go offline (version 1).
pub(super) fn processor_sets() -> Vec<String> {
    fn collect(dir: &Path, found: &mut Vec<String>) {
        if dir.join("cpuset.cpus").is_file() {
            found.push(format!("cgroup:{}.cpuset.cpus", dir.display()));
        }
        for name in entries(dir) {
            let below = dir.join(name);
            if below.is_dir() {
                collect(&below, found);
            }
        }
    }
    let mut found = Vec::new();
    for mount in mounts()
        .iter()
        .filter(|m| m.join("cgroup.clone_children").exists())
    {
        collect(mount, &mut found);
    }
    found
}

/// A file of a group.
#[derive(Debug)]
struct Group {
    path: PathBuf,
    owner: PathBuf,
    /// What a line is written with to take it away, if the file has a line a device.
    none: Option<&'static str>,
}

/// The lines of a file by their first word. Fields that say that there is no limit are the
/// same as none.
fn lines(text: &str) -> BTreeMap<String, String> {
    let text = normal(text);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let limited = lines.map(|(key, value)| {
        let words = value.split(' ').filter(|w| !w.ends_with("=max"));
        (key.to_owned(), words.collect::<Vec<_>>().join(" "))
    });
    limited.filter(|(_, value)| !value.is_empty()).collect()
}

impl Group {
    /// What has to be written to come from `now` to `wanted`, a line at a time.
    fn steps(&self, now: &str, wanted: &str) -> Vec<String> {
        let Some(none) = self.none else {
            return vec![wanted.to_owned()];
        };
        let (now, wanted) = (lines(now), lines(wanted));
        let extra = now.keys().filter(|key| !wanted.contains_key(*key));
        let extra = extra.map(|key| format!("{key} {none}"));
        let differ = wanted
            .iter()
            .filter(|(key, value)| now.get(*key) != Some(value));
        // A line of fields keeps those that it does not name; a later word takes precedence.
        let before = if none.contains('=') {
            format!("{none} ")
        } else {
            String::new()
        };
        let differ = differ.map(|(key, value)| format!("{key} {before}{value}"));
        extra.chain(differ).collect()
    }
}

impl Spot for Group {
    fn read(&self) -> Result<String, KnobError> {
        kernel_file::read(&self.path).map(|text| normal(&text))
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        let now = if self.none.is_some() {
            self.read()?
        } else {
            String::new()
        };
        let steps = self.steps(&now, value);
        steps
            .iter()
            .try_for_each(|step| kernel_file::write(&self.path, step))
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        Ok(Identity::from([("node".to_owned(), node(&self.owner)?)]))
    }

    fn values(&self) -> Values {
        Values::Text
    }

    fn writable(&self) -> Result<(), KnobError> {
        kernel_file::writable(&self.path)
    }

    fn command(&self, value: &str) -> String {
        if self.none.is_none() {
            return kernel_file::command(&self.path, value);
        }
        let now = self.read().unwrap_or_default();
        let path = self.path.display().to_string();
        let steps = self.steps(&now, value);
        if steps.is_empty() {
            return format!("cat {}  # no line but:{}", quoted(&path), quoted(value));
        }
        let each = steps
            .iter()
            .map(|step| kernel_file::command(&self.path, step));
        each.collect::<Vec<_>>().join("; ")
    }

    fn same(&self, one: &str, other: &str) -> bool {
        // The root of version 1 reads "no limit" as the largest number of pages.
        let unlimited = |text: &str| match number(text) {
            Some(-1) => true,
            Some(n) => n >= i128::from(i64::MAX - (1 << 16)),
            None => false,
        };
        let bytes = self.path.to_string_lossy().ends_with("_in_bytes");
        same(one, other)
            || bytes && unlimited(one) && unlimited(other)
            || self.none.is_some() && lines(one) == lines(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_and_taken_away_one_by_one() {
        let of = |none| Group {
            path: "f".into(),
            owner: ".".into(),
            none,
        };
        let keyed = of(Some("0"));
        assert_eq!(
            keyed.steps("7:0 100\n8:0 5", "7:0 200"),
            ["8:0 0", "7:0 200"]
        );
        assert_eq!(keyed.steps("7:0 100", ""), ["7:0 0"]);
        assert!(keyed.steps("7:0 100", "7:0 100").is_empty());
        let fields = of(Some("rbps=max wbps=max"));
        let steps = fields.steps("7:0 rbps=5 wbps=max", "7:0 rbps=max wbps=9");
        assert_eq!(steps, ["7:0 rbps=max wbps=max wbps=9"]);
        assert!(fields.steps("7:0 rbps=5 wbps=max", "7:0 rbps=5").is_empty());
        assert_eq!(of(None).steps("", "50000 100000"), ["50000 100000"]);
    }
}
