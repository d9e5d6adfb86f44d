//! `thp` and `thp:FIELD`: huge pages that the kernel uses by itself.

use std::path::Path;
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, entries, field, leads_away, no_field};
use crate::KnobError;
use crate::kernel_file::{self, FileSpot, Holds};
use crate::spot::Identity;

pub(super) const FAMILY: Family = Family {
    prefix: "thp",
    form: "thp or thp:FIELD",
    about: "Transparent huge pages",
    link: "https://docs.kernel.org/admin-guide/mm/transhuge.html",
    fields: &[
        Field {
            name: "enabled",
            about: "Whether memory of programs gets huge pages; the same as `thp` alone",
            reset_by: "",
            rank: 1,
        },
        Field {
            name: "defrag",
            about: "Whether a program waits while the kernel makes room for a huge page",
            reset_by: "",
            rank: 1,
        },
        Field {
            name: "shmem_enabled",
            about: "Whether shared memory and tmpfs get huge pages",
            reset_by: "",
            rank: 1,
        },
        Field {
            name: "*",
            about: "Another setting of huge pages, such as khugepaged/scan_sleep_millisecs",
            reset_by: "",
            rank: 1,
        },
    ],
    open,
    list,
};

const DIR: &str = "/sys/kernel/mm/transparent_hugepage";

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let setting = if rest.is_empty() { "enabled" } else { rest };
    if leads_away(setting) {
        return Err(no_field(name, setting, FAMILY.fields));
    }
    let path = Path::new(DIR).join(setting);
    if !path.is_file() {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: path.display().to_string(),
            hint: "`sonde knobs thp` lists what this kernel has".into(),
        });
    }
    let found = field(FAMILY.fields, setting).ok_or_else(|| no_field(name, setting, &[]))?;
    let spot = FileSpot {
        path,
        holds: Holds::Choice,
        owner: DIR.into(),
        more: Identity::new(),
        companions: Vec::new(),
        write: kernel_file::write,
    };
    Ok(Opened {
        field: found,
        spot: Arc::new(spot),
    })
}

fn list(rest: &str) -> Vec<String> {
    let mut names = Vec::new();
    for entry in entries(DIR) {
        if Path::new(DIR).join(&entry).is_dir() {
            // Many, and of little use: only for who asks.
            if !rest.is_empty() {
                let below = entries(Path::new(DIR).join(&entry)).into_iter();
                names.extend(below.map(|b| format!("{entry}/{b}")));
            }
        } else {
            names.push(entry);
        }
    }
    names.retain(|n| n.starts_with(rest) && super::can_be_written(&Path::new(DIR).join(n)));
    names.iter().map(|n| format!("thp:{n}")).collect()
}
