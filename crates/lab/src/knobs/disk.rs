//! `disk:DEV.FIELD`: a disk's queue and its scheduler.
//!
//! A change of the scheduler gives `nr_requests` the new scheduler's default, replaces all of
//! `iosched/` and, with bfq, switches write-back throttling off: they are journaled with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, entries, field, leads_away, no_field};
use crate::KnobError;
use crate::kernel_file::{self, FileSpot, Holds};
use crate::spot::Identity;

pub(super) const FAMILY: Family = Family {
    prefix: "disk",
    form: "disk:DEV.FIELD",
    about: "A disk's queue, its scheduler and what that is set to",
    link: "https://docs.kernel.org/admin-guide/abi-stable.html#abi-sys-block-disk-queue-scheduler",
    fields: FIELDS,
    open,
    list,
};

const FIELDS: &[Field] = &[
    Field {
        name: "scheduler",
        about: "Who decides which request is served next",
        reset_by: "",
        rank: 0,
    },
    Field {
        name: "nr_requests",
        about: "Requests that may wait in the scheduler, or be at the device if there is none",
        reset_by: "a change of scheduler",
        rank: 2,
    },
    Field {
        name: "read_ahead_kb",
        about: "The most that is read ahead of a sequential reader, in KiB",
        reset_by: "",
        rank: 1,
    },
    Field {
        name: "max_sectors_kb",
        about: "The largest request that is sent to the device, in KiB",
        reset_by: "another medium or file behind the device",
        rank: 1,
    },
    Field {
        name: "nomerges",
        about: "0 joins neighbouring requests, 1 only when that is simple, 2 never",
        reset_by: "",
        rank: 1,
    },
    Field {
        name: "rq_affinity",
        about: "Where a completion is handled: 0 anywhere, 1 near the submitter, 2 on its processor",
        reset_by: "",
        rank: 1,
    },
    Field {
        name: "wbt_lat_usec",
        about: "Read latency that write-back is throttled for, in microseconds; 0 is off, -1 the default",
        reset_by: "a change to or from the scheduler bfq",
        rank: 2,
    },
    Field {
        name: "write_cache",
        about: "What the kernel takes the device's cache for: `write back` sends flushes, `write through` does not",
        reset_by: "another medium or file behind the device",
        rank: 1,
    },
    Field {
        name: "queue_depth",
        about: "Commands that are sent to a SCSI device at once",
        reset_by: "the driver, when the device says that its queue is full",
        rank: 1,
    },
    Field {
        name: "iosched/*",
        about: "A setting of the scheduler in use",
        reset_by: "a change of scheduler",
        rank: 2,
    },
];

const QUEUE_DEPTH: &str = "queue_depth";

/// What the files hold. What is not here holds a number.
const HOLDS: &[(&str, Holds)] = &[
    ("scheduler", Holds::Choice),
    // BLKDEV_MIN_RQ: of less the kernel makes 4.
    ("nr_requests", Holds::Numbers(4, i64::MAX)),
    ("read_ahead_kb", Holds::Numbers(0, i64::MAX)),
    ("max_sectors_kb", Holds::Numbers(1, i64::MAX)),
    ("nomerges", Holds::Words(&["0", "1", "2"])),
    ("rq_affinity", Holds::Words(&["0", "1", "2"])),
    ("wbt_lat_usec", Holds::Numbers(-1, i64::MAX)),
    (
        "write_cache",
        Holds::Words(&["write back", "write through"]),
    ),
];

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let rest = rest.strip_prefix("/dev/").unwrap_or(rest);
    let (device, setting) = rest.split_once('.').unwrap_or((rest, ""));
    let missing = |path: &Path, hint: &str| KnobError::Missing {
        name: name.to_owned(),
        path: path.display().to_string(),
        hint: hint.to_owned(),
    };
    // As the kernel does in sysfs.
    let device = device.replace('/', "!");
    let disk = Path::new("/sys/block").join(&device);
    if leads_away(&device) || !disk.join("queue").exists() {
        let hint = format!("whole disks are {}", disks().join(" "));
        return Err(missing(&disk, &hint));
    }
    let generic = setting.starts_with("iosched/");
    let found = field(FIELDS, if generic { "iosched/*" } else { setting });
    let found = found.ok_or_else(|| no_field(name, setting, FIELDS))?;
    if generic && leads_away(setting) {
        return Err(no_field(name, setting, FIELDS));
    }
    let holds = HOLDS.iter().find(|(n, _)| *n == setting);
    let companions = if setting == "scheduler" {
        disturbed(&device, &disk)
    } else {
        Vec::new()
    };
    let spot = FileSpot {
        path: disk.join(place(setting)),
        holds: holds.map_or(
            if generic { Holds::Plain } else { Holds::Number },
            |(_, h)| *h,
        ),
        owner: disk.join("queue"),
        more: identity(&disk),
        companions,
        write: if setting == "scheduler" {
            write_scheduler
        } else {
            kernel_file::write
        },
    };
    Ok(Opened {
        field: found,
        spot: Arc::new(spot),
    })
}

/// The file of a setting, below the disk's directory.
fn place(setting: &str) -> PathBuf {
    let dir = if setting == QUEUE_DEPTH {
        "device"
    } else {
        "queue"
    };
    Path::new(dir).join(setting)
}

/// What a change of scheduler disturbs.
fn disturbed(device: &str, disk: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for setting in ["nr_requests", "wbt_lat_usec"] {
        if disk.join("queue").join(setting).exists() {
            names.push(format!("disk:{device}.{setting}"));
        }
    }
    let own = entries(disk.join("queue/iosched")).into_iter();
    names.extend(own.map(|s| format!("disk:{device}.iosched/{s}")));
    names
}

/// Gives the device all its tags again before it gets a scheduler.
///
/// Without one `nr_requests` is how many of the device's tags are used. A scheduler has tags of
/// its own, and `nr_requests` then tells of those; but the device keeps to the few it had, also
/// when it later is without a scheduler again and `nr_requests` says the default. No file tells
/// it then, and writing the default does nothing, for that is what the file says already. Even
/// `none` written where `none` is makes it so. Seen with Linux 6.18: `nr_requests` 128, never
/// more than 8 under way.
fn write_scheduler(file: &Path, value: &str) -> Result<(), KnobError> {
    let now = kernel_file::read(file)?;
    let now = kernel_file::chosen(&now);
    if now == value {
        return Ok(());
    }
    let tags = file.with_file_name("../mq/0/nr_tags");
    if now == "none" && tags.exists() {
        let requests = file.with_file_name("nr_requests");
        let all = kernel_file::read(&tags)?;
        if !crate::spot::same(&kernel_file::read(&requests)?, &all) {
            kernel_file::write(&requests, &all)?;
        }
    }
    kernel_file::write(file, value)
}

/// What a device says of itself; the directory's node tells the rest.
fn identity(disk: &Path) -> Identity {
    let mut identity = Identity::new();
    for (name, file) in [
        ("device number", "dev"),
        ("serial", "serial"),
        ("serial", "device/serial"),
        ("wwid", "wwid"),
        ("wwid", "device/wwid"),
    ] {
        if let Ok(text) = kernel_file::read(&disk.join(file)) {
            let text = crate::spot::normal(&text);
            if !text.is_empty() {
                identity.insert(name.into(), text);
            }
        }
    }
    identity
}

fn disks() -> Vec<String> {
    entries("/sys/block")
}

fn list(rest: &str) -> Vec<String> {
    let (wanted, _) = rest.split_once('.').unwrap_or((rest, ""));
    let mut names = Vec::new();
    for device in disks() {
        let disk = Path::new("/sys/block").join(&device);
        // Without a name only disks that have something in them.
        let size = kernel_file::read(&disk.join("size"));
        if !device.starts_with(wanted) || wanted.is_empty() && size.is_ok_and(|s| s == "0") {
            continue;
        }
        for known in FIELDS {
            if known.name == "iosched/*" {
                let own = entries(disk.join("queue/iosched")).into_iter();
                names.extend(own.map(|s| format!("disk:{device}.iosched/{s}")));
            } else if disk.join(place(known.name)).exists() {
                names.push(format!("disk:{device}.{}", known.name));
            }
        }
    }
    names.retain(|n| n["disk:".len()..].starts_with(rest));
    names
}
