//! Rows of what a mount counted since the output before.

use super::Mountstats;
use super::reading::{Before, Mount, Total};
use super::sentences::Number;
use crate::out::Out;

impl Mountstats {
    pub(super) fn put_operations(
        &self,
        name: &[u8],
        mount: &Mount,
        before: &Before,
        out: &mut Out,
    ) {
        let known = self.errors_known;
        let name = out.word(name);
        for (op, now) in &mount.operations {
            let words = [name, out.word(op)];
            let (row, vague) = match before {
                Before::Nothing => {
                    let (row, vague) = now.whole(known);
                    out.put_since_boot(&self.ops, &words, &row);
                    if out.is_since_boot() {
                        note_vague(vague, out);
                        continue;
                    }
                    ([f64::NAN; 9], vague)
                }
                Before::Other => ([f64::NAN; 9], false),
                Before::Reading(before) => {
                    let untold = || before.untold(now);
                    match before.operations.get(op).copied().or_else(untold) {
                        Some(before) if before.done.ops == now.done.ops => continue,
                        Some(before) => now.row(&before, known),
                        None => ([f64::NAN; 9], false),
                    }
                }
            };
            note_vague(vague, out);
            out.put_amounts(&self.ops, &words, &row);
        }
        let Before::Reading(before) = before else {
            return;
        };
        for op in before.operations.keys() {
            // Its paragraph was not understood.
            if !mount.operations.contains_key(op) && mount.lost {
                let words = [name, out.word(op)];
                out.put_amounts(&self.ops, &words, &[f64::NAN; 9]);
            }
        }
    }

    /// Bytes, and what has no place in the catalog.
    pub(super) fn put_numbers(&self, name: &[u8], mount: &Mount, before: &Before, out: &mut Out) {
        let name = out.word(name);
        for (number, value) in &mount.numbers {
            let grown = grown(*number, *value, before);
            match *number {
                Number::Bytes(access, layer) => {
                    let words = [
                        name,
                        out.word(access.as_bytes()),
                        out.word(layer.as_bytes()),
                    ];
                    if matches!(before, Before::Nothing) {
                        out.put_since_boot(&self.bytes, &words, &[*value]);
                    }
                    if !out.is_since_boot() {
                        out.put_amounts(&self.bytes, &words, &[grown]);
                    }
                }
                // `--rpc` printed the same.
                Number::Count("RPC requests" | "RPC replies" | "XIDs not found", _)
                    if mount.numbers.contains_key(&Number::Sends) => {}
                Number::Count(column, unit) => {
                    put_other((column, unit), name, [*value, grown], before, out);
                }
                Number::Level(column, unit) => out.other(column, unit, name, *value),
                Number::Mean(column) if matches!(before, Before::Nothing) => {
                    out.other_total(column, "", name, *value);
                }
                _ => {}
            }
        }
    }

    /// Requests: of the server, where they are all of its connections'.
    pub(super) fn put_requests(
        &self,
        name: &[u8],
        mount: &Mount,
        before: &Before,
        alone: bool,
        out: &mut Out,
    ) {
        let told = [
            (Number::Sends, "RPC requests"),
            (Number::Replies, "RPC replies"),
            (Number::BadXids, "XIDs not found"),
        ];
        if !mount.numbers.contains_key(&Number::Sends) {
            return;
        }
        if !alone || mount.server.is_empty() || !mount.tells_all_requests() {
            out.note(
                "requests of a server with several mounts here, or of a mount with several \
                 connections, are kept as those of mounts (RPC requests): whether they are of one \
                 connection or of all is not told",
            );
            let name = out.word(name);
            for (number, column) in told {
                let value = mount.numbers.get(&number).copied().unwrap_or(f64::NAN);
                let grown = grown(number, value, before);
                put_other((column, "count"), name, [value, grown], before, out);
            }
            return;
        }
        let words = [out.word(&mount.server)];
        let backlog = match before {
            Before::Nothing => mount.backlog(),
            Before::Other => None,
            Before::Reading(before) => mount
                .backlog()
                .zip(before.backlog())
                .map(|(now, before)| now.since(before)),
        };
        let backlog = backlog.map_or(f64::NAN, Total::known);
        let value = |number| mount.numbers.get(&number).copied().unwrap_or(f64::NAN);
        let whole = told.map(|(number, _)| value(number));
        if matches!(before, Before::Nothing) {
            let [sends, replies, bad] = whole;
            out.put_since_boot(&self.transport, &words, &[sends, replies, bad, backlog]);
        }
        if !out.is_since_boot() {
            let [sends, replies, bad] = told.map(|(n, _)| grown(n, value(n), before));
            let backlog = if sends.is_nan() { f64::NAN } else { backlog };
            out.put_amounts(&self.transport, &words, &[sends, replies, bad, backlog]);
        }
    }
}

fn note_vague(vague: bool, out: &mut Out) {
    if vague {
        out.note(
            "bytes and times of operations are printed as means since mounting: where their \
             rounding makes more than a hundredth of what there was, they are left out",
        );
    }
}

/// What a counter grew by; NaN where that is not known.
fn grown(number: Number, value: f64, before: &Before) -> f64 {
    match before {
        Before::Reading(before) => {
            let before = before.numbers.get(&number);
            before.map_or(f64::NAN, |before| value - before)
        }
        _ => f64::NAN,
    }
}

/// A counter without a place in the catalog, and what it grew by.
fn put_other(
    (column, unit): (&str, &str),
    mount: run::Word,
    [value, grown]: [f64; 2],
    before: &Before,
    out: &mut Out,
) {
    if matches!(before, Before::Nothing) {
        out.other_total(column, unit, mount, value);
    }
    if !out.is_since_boot() {
        out.other_grown(column, unit, mount, grown);
    }
}
