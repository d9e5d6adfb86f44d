//! The kernel, its clock sources, and the limits of the recorder.

use serde_json::Value;

use super::leaf::{Dir, Fields, Form, Leaf, bounded, leaf};
use super::secret::{command_line_words, mask_words};
use crate::Host;
use crate::read::{lines, text};

/// Below `/proc/sys/kernel`. `/proc/version` is not read: it names who built it, and where.
pub(super) const KERNEL: &[Leaf] = &[
    leaf("release", "osrelease", Form::Text),
    leaf("version", "version", Form::Text),
    leaf("tainted", "tainted", Form::Number),
];

/// Below `/sys/devices/system/clocksource/clocksource0`.
pub(super) const CLOCK: &[Leaf] = &[
    leaf("source", "current_clocksource", Form::Text),
    leaf("available", "available_clocksource", Form::Text),
];

/// The section `kernel`.
pub(super) fn kernel(host: &Host) -> Value {
    let mut fields = Fields::default();
    fields.leaves(&Dir::new(host.proc("sys/kernel")), KERNEL);
    let line = bounded(&host.proc("cmdline"), 1 << 16).map(|(bytes, _)| {
        let line = text(&bytes).into_owned();
        mask_words(command_line_words(&line)).join(" ")
    });
    fields.put("command_line", line);
    let lockdown = Dir::new(host.sys("kernel/security"));
    fields.leaves(&lockdown, &[leaf("lockdown", "lockdown", Form::Choice)]);
    fields.put("distribution", distribution(host));
    fields.into()
}

/// `PRETTY_NAME="Debian GNU/Linux 12"` in `/etc/os-release`.
fn distribution(host: &Host) -> Option<String> {
    let etc = Dir::new(host.root.join("etc"));
    let release = etc.text("os-release")?;
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches(['"', '\'']).to_owned())
}

/// The section `clock`.
pub(super) fn clock(host: &Host) -> Value {
    let mut fields = Fields::default();
    let dir = Dir::new(host.sys("devices/system/clocksource/clocksource0"));
    fields.leaves(&dir, CLOCK);
    fields.into()
}

/// Names of `/proc/self/limits` and ours.
pub(super) const LIMITS: &[(&str, &str)] = &[
    ("Max open files", "open_files"),
    ("Max locked memory", "locked_memory_bytes"),
    ("Max processes", "processes"),
    ("Max address space", "address_space_bytes"),
];

/// The section `limits`.
///
/// ```text
/// Limit                     Soft Limit           Hard Limit           Units
/// Max open files            1024                 1048576              files
/// Max locked memory         unlimited            unlimited            bytes
/// ```
pub(super) fn limits(host: &Host) -> Value {
    let mut fields = Fields::default();
    let Some((bytes, _)) = bounded(&host.proc("self/limits"), 1 << 16) else {
        return fields.into();
    };
    for line in lines(&bytes).map(text) {
        for (theirs, ours) in LIMITS {
            let Some(rest) = line.strip_prefix(theirs) else {
                continue;
            };
            let mut values = rest.split_whitespace().map(super::leaf::plain);
            let mut limit = Fields::default();
            limit.put("soft", values.next());
            limit.put("hard", values.next());
            fields.nest(*ours, limit);
        }
    }
    fields.into()
}
