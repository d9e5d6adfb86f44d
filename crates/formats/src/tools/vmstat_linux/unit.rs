//! The unit of memory and swap.

use super::KIB;
use crate::echo;
use crate::out::Out;

/// What is called so little, in bytes, may be of another unit.
const LITTLE: f64 = 128.0 * KIB * KIB;

pub(super) struct Unit {
    pub(super) bytes: f64,
    /// For columns without a place in the catalog.
    pub(super) name: &'static str,
    /// Whether a command line was there to say otherwise.
    is_told: bool,
}

impl Unit {
    /// What the tool prints where nobody says otherwise.
    pub(super) fn usual() -> Unit {
        Unit {
            bytes: KIB,
            name: "KiB",
            is_told: false,
        }
    }

    /// What these arguments have it print: of the unit's name the first letter counts (`vmstat.c`).
    pub(super) fn of_command(arguments: &[&[u8]]) -> Unit {
        let unit = echo::value(arguments, &["-S", "--unit"]);
        let (bytes, name) = match unit.and_then(<[u8]>::first) {
            Some(b'b' | b'B') => (1.0, "bytes"),
            Some(b'k') => (1000.0, "kB"),
            Some(b'm') => (1e6, "MB"),
            Some(b'M') => (KIB * KIB, "MiB"),
            _ => (KIB, "KiB"),
        };
        Unit {
            bytes,
            name,
            is_told: true,
        }
    }

    /// Says so where free memory and caches are so little that `-S M` may have been asked for: the
    /// columns are named the same.
    pub(super) fn doubt(&self, memory: f64, out: &mut Out) {
        if !self.is_told && memory * self.bytes < LITTLE {
            out.note(
                "free memory and caches are less than 128 MiB if they are in KiB, as vmstat prints \
                 them: of `vmstat -S M`, put that line above its output",
            );
        }
    }
}
