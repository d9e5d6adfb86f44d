//! Shares of processors' time, by the names that the tools give them.

use super::moments::{Header, Kind};
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

/// The row of a processor whose clock stood still: sysstat 11.6 prints one zero too few before its `100.00`
/// of idleness, beside shares of guests.
pub(super) fn of_tickless<'a>(
    header: &Header,
    width: usize,
    all: &[&'a [u8]],
) -> Option<Vec<&'a [u8]>> {
    let [name, zeros @ .., b"100.00" | b"100,00"] = all else {
        return None;
    };
    let is_idle = header.kind == Kind::Processors
        && header.names.last().is_some_and(|n| n == "%idle")
        && all.len() + 1 == width
        && zeros.iter().all(|zero| matches!(*zero, b"0.00" | b"0,00"));
    let mut whole = vec![*name, b"0.00"];
    whole.extend(&all[1..]);
    is_idle.then_some(whole)
}
