//! `mount:POINT.OPTION`: options of a mounted file system, changed by mounting it again.
//!
//! The kernel shows only options that are not at their default. One that it does not show and
//! whose default is not in [`DEFAULTS`] could not be put back, so it is no knob.

use std::ffi::CString;
use std::io;
use std::sync::Arc;

use rustix::mount::{MountFlags, mount_remount};

use super::mount_options::{Mount, PER_MOUNT, SUPERBLOCK};
use super::{Allow, Family, Field, Opened};
use crate::spot::{Identity, Spot, Values, number, quoted};
use crate::{KnobError, capability};

pub(super) const FAMILY: Family = Family {
    prefix: "mount",
    form: "mount:POINT.OPTION",
    about: "An option of a mounted file system",
    link: "https://man7.org/linux/man-pages/man8/mount.8.html",
    fields: &[
        Field {
            name: ATIME,
            about: "When reading a file writes its time of access",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
        Field {
            name: "lazytime",
            about: "Whether times of files stay in memory for a day",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
        Field {
            name: "sync",
            about: "Whether every write waits for the disk",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
        Field {
            name: "commit",
            about: "How often the journal is committed, in seconds (ext4, btrfs)",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
        Field {
            name: "barrier",
            about: "Whether the disk's cache is flushed; off loses data when power fails (ext4, btrfs)",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
        Field {
            name: "discard",
            about: "Whether freed blocks are told to the disk at once",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
        Field {
            name: "*",
            about: "Another option of this file system",
            reset_by: "the file system being mounted again",
            rank: 1,
        },
    ],
    open,
    list,
};

const ATIME: &str = "atime";

/// What an option is when the kernel does not show it, by file system.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("ext4", "commit", "5"),
    ("ext4", "barrier", "on"),
    ("ext4", "discard", "off"),
    ("ext4", "auto_da_alloc", "on"),
    ("xfs", "discard", "off"),
    ("btrfs", "commit", "30"),
    ("btrfs", "barrier", "on"),
    ("btrfs", "autodefrag", "off"),
    ("btrfs", "flushoncommit", "off"),
    ("btrfs", "compress", "no"),
    ("tmpfs", "huge", "never"),
];

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let Some((mount, option)) = Mount::named(rest) else {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: format!("mounted file system for `{rest}`"),
            hint: "a name is the mount point, a dot and the option: mount:/data.commit".into(),
        });
    };
    if let Some(plain) = option.strip_prefix("no") {
        let plain = if plain == "diratime" { ATIME } else { plain };
        return Err(KnobError::Unknown {
            name: name.to_owned(),
            why: "options are named without `no`".into(),
            hint: format!("mount:{}.{plain}", mount.point),
        });
    }
    if option == "ro" || option == "rw" {
        return Err(KnobError::OneWay {
            name: name.to_owned(),
            why: "what fails while a file system is read-only is not undone".into(),
        });
    }
    let spot = MountOption {
        mount,
        option: option.clone(),
    };
    spot.read()?;
    let Some(field) = super::field(FAMILY.fields, &option) else {
        return Err(super::no_field(name, &option, FAMILY.fields));
    };
    Ok(Opened {
        field,
        spot: Arc::new(spot),
    })
}

fn list(rest: &str) -> Vec<String> {
    let mut names = Vec::new();
    for mount in Mount::all() {
        // Without a name those that are on a disk.
        let asked = !rest.is_empty() && rest.starts_with(&mount.point);
        if !(asked || rest.is_empty() && mount.source.starts_with("/dev/")) {
            continue;
        }
        let shown = mount
            .superblock
            .iter()
            .map(|o| o.split('=').next().unwrap_or(o));
        let shown = shown.map(|o| o.strip_prefix("no").unwrap_or(o));
        let known = DEFAULTS.iter().filter(|(kind, _, _)| *kind == mount.kind);
        let mut options: Vec<&str> = vec![ATIME, "lazytime", "sync"];
        options.extend(known.map(|(_, option, _)| *option));
        options.extend(shown.filter(|o| !matches!(*o, "rw" | "ro")));
        for (at, option) in options.iter().enumerate() {
            let name = format!("mount:{}.{option}", mount.point);
            if !options[..at].contains(option) && name["mount:".len()..].starts_with(rest) {
                names.push(name);
            }
        }
    }
    names.dedup();
    names
}

#[derive(Debug)]
struct MountOption {
    mount: Mount,
    option: String,
}

/// Of `option`, `nooption` and `option=value` in `listed`, the value: `on`, `off` or text.
fn value_in(listed: &[String], option: &str) -> Option<String> {
    listed.iter().find_map(|shown| {
        let (name, value) = shown.split_once('=').unwrap_or((shown, ""));
        if name == option {
            return Some(if shown.contains('=') { value } else { "on" }.to_owned());
        }
        (name.strip_prefix("no") == Some(option)).then(|| "off".to_owned())
    })
}

/// An option's text for the kernel.
fn text_of(option: &str, value: &str) -> String {
    match value {
        "on" => option.to_owned(),
        "off" => format!("no{option}"),
        value => format!("{option}={value}"),
    }
}

impl MountOption {
    fn place(&self) -> String {
        format!("option {} of {}", self.option, self.mount.point)
    }

    fn default(&self) -> Option<&'static str> {
        let known = DEFAULTS
            .iter()
            .find(|(k, o, _)| *k == self.mount.kind && *o == self.option);
        known.map(|(_, _, value)| *value)
    }

    fn value(&self, mount: &Mount) -> Option<String> {
        if self.option == ATIME {
            return Some(mount.access_time().to_owned());
        }
        if SUPERBLOCK.iter().any(|(name, _)| *name == self.option) {
            let on = mount.superblock.contains(&self.option);
            return Some(if on { "on" } else { "off" }.to_owned());
        }
        value_in(&mount.superblock, &self.option).or_else(|| self.default().map(str::to_owned))
    }

    /// Mounts it again with one option changed.
    fn remount(&self, value: &str) -> io::Result<()> {
        let now = self.mount.now().ok_or(io::ErrorKind::NotFound)?;
        let mut flags = now.flags(PER_MOUNT, &now.own);
        if self.option == ATIME {
            flags -= MountFlags::NOATIME | MountFlags::RELATIME | MountFlags::STRICTATIME;
            flags |= match value {
                "noatime" => MountFlags::NOATIME,
                "strictatime" => MountFlags::STRICTATIME,
                _ => MountFlags::RELATIME,
            };
            return again(&now.point, flags | MountFlags::BIND, "");
        }
        if now.own.iter().any(|o| o == "ro") && !now.superblock.iter().any(|o| o == "ro") {
            // The one flag would make the whole file system read-only.
            return Err(io::Error::other(
                "a read-only view of a writable file system",
            ));
        }
        flags |= now.flags(SUPERBLOCK, &now.superblock);
        if let Some((_, flag)) = SUPERBLOCK.iter().find(|(name, _)| *name == self.option) {
            flags.set(*flag, value == "on");
            return again(&now.point, flags, &now.text_without(&self.option).join(","));
        }
        let changed = text_of(&self.option, value);
        let mut all = now.text_without(&self.option);
        all.push(changed.clone());
        match again(&now.point, flags, &all.join(",")) {
            // Not every file system takes back what it shows.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) => {
                again(&now.point, flags, &changed)?;
            }
            other => other?,
        }
        let then = now.text_without(&self.option);
        match self.mount.now() {
            Some(after) if after.text_without(&self.option) == then => Ok(()),
            _ => Err(io::Error::other(
                "mounting it again changed other options too",
            )),
        }
    }
}

fn again(point: &str, flags: MountFlags, data: &str) -> io::Result<()> {
    let data = CString::new(data)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "settings are changed here, journaled"
    )]
    mount_remount(point, flags, data.as_c_str())?;
    Ok(())
}

impl Spot for MountOption {
    fn read(&self) -> Result<String, KnobError> {
        let missing = |path: String, hint: &str| KnobError::Missing {
            name: format!("mount:{}.{}", self.mount.point, self.option),
            path,
            hint: hint.to_owned(),
        };
        let now = self.mount.now();
        let now = now.ok_or_else(|| missing(self.mount.point.clone(), "it was unmounted"))?;
        self.value(&now).ok_or_else(|| {
            let path = format!("option `{}` in /proc/self/mountinfo", self.option);
            missing(path, "what the kernel does not show could not be put back")
        })
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        self.remount(value)
            .map_err(|e| KnobError::refused(format!("write `{value}` to"), self.place(), &e))
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        let now = self.mount.now();
        let now = now.ok_or_else(|| {
            KnobError::refused("find", self.place(), &io::ErrorKind::NotFound.into())
        })?;
        Ok(now.identity())
    }

    fn values(&self) -> Values {
        let words = |list: &[&str]| Values::Words(list.iter().map(|w| (*w).to_owned()).collect());
        match self.value(&self.mount).as_deref() {
            _ if self.option == ATIME => words(&["relatime", "noatime", "strictatime"]),
            Some("on" | "off") => words(&["on", "off"]),
            Some(text) if number(text).is_some() => Values::Number,
            _ => Values::Text,
        }
    }

    fn writable(&self) -> Result<(), KnobError> {
        capability::need(capability::SYS_ADMIN, "set", &self.place())
    }

    fn command(&self, value: &str) -> String {
        let option = match self.option.as_str() {
            ATIME => format!("bind,{value}"),
            "sync" if value == "off" => "async".to_owned(),
            option => text_of(option, value),
        };
        format!(
            "mount -o remount,{} {}",
            quoted(&option),
            quoted(&self.mount.point)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_three_forms() {
        let listed = ["rw", "commit=30", "nobarrier", "discard"].map(str::to_owned);
        for (option, value) in [
            ("commit", Some("30")),
            ("barrier", Some("off")),
            ("discard", Some("on")),
            ("stripe", None),
        ] {
            assert_eq!(value_in(&listed, option).as_deref(), value, "{option}");
            if let Some(value) = value {
                assert!(listed.contains(&text_of(option, value)), "{option}");
            }
        }
    }
}
