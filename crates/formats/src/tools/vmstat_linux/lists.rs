//! Lists of what there is or was counted at one moment: of `-s`, `-D`, `-f` and `-m`.

use crate::time::Refused;
use crate::{fields, number};

/// Of -m.
pub(super) const SLABS: &str = "the kernel's slab caches (vmstat -m)";

/// What the line says that is no report over time, of `-s`, `-m`, `-D` or `-f`.
pub(super) fn list_of(line: &[u8]) -> Option<&'static str> {
    let all: Vec<&[u8]> = fields(line).collect();
    match all[..] {
        [b"Cache", b"Num", b"Total", b"Size", b"Pages"] => Some(SLABS),
        [_, b"K", b"total", b"memory"] | [_, b"boot", b"time"] => {
            Some("counters since boot (vmstat -s)")
        }
        [count, b"total", b"reads"] if number::whole(count).is_some() => {
            Some("counters of all disks (vmstat -D)")
        }
        [count, b"forks"] if number::whole(count).is_some() => Some("forks since boot (vmstat -f)"),
        _ => None,
    }
}

/// Why a list beside other reports is not read, or at all.
pub(super) fn refused(list: &str) -> Refused {
    let why = match list {
        SLABS => {
            "of which nothing has a place in a run\n\
             hint: Slab, SReclaimable and SUnreclaim of /proc/meminfo can be imported"
        }
        _ => "and reports over time: import them one by one",
    };
    Refused(format!("it has {list}, {why}"))
}

pub(super) fn one_alone() -> Refused {
    Refused(
        "it has a list of counters since boot (vmstat -s, -D or -f) at one moment: a single reading \
         has no rates\nhint: print it again and again, with the time before it"
            .into(),
    )
}
