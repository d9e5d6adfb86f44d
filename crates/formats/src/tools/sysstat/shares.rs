//! Shares of processors' time, by the names that the tools give them.

use crate::cpu::{Cpu, Shares, UNKNOWN};
use crate::out::Out;

/// Shares of all processors, by the names of their columns.
pub(super) fn put_processors<'a>(
    cpu: &Cpu,
    values: impl Iterator<Item = (&'a str, f64)>,
    out: &mut Out,
) {
    let mut shares = UNKNOWN;
    let empty = out.word(b"");
    for (name, value) in values {
        match share(&mut shares, name.trim_start_matches('%')) {
            Some(place) => *place = value / 100.0,
            None => out.other(name, "%", empty, value),
        }
    }
    cpu.put_all(out, &shares);
}

/// The place of a share of that name.
pub(super) fn share<'a>(shares: &'a mut Shares, name: &str) -> Option<&'a mut f64> {
    Some(match name {
        "user" | "usr" => &mut shares.user,
        "nice" => &mut shares.nice,
        "system" | "sys" => &mut shares.system,
        "iowait" | "wio" => &mut shares.iowait,
        "irq" => &mut shares.irq,
        "soft" => &mut shares.softirq,
        "steal" => &mut shares.steal,
        "guest" => &mut shares.guest,
        "gnice" => &mut shares.guest_nice,
        "idle" => &mut shares.idle,
        _ => return None,
    })
}
