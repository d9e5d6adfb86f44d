//! Counters in lines of many: `diskstats`, `net/dev`, `stat`; and `loadavg`.

use crate::counters::Counters;
use crate::number::{number, whole};
use crate::out::{Out, Shape};
use crate::time::Refused;
use crate::{Line, net, numbers};
use run::Nanos;

/// Ticks a second, as the kernel's text interface counts on every architecture but Alpha.
const HZ: f64 = 100.0;

pub(super) struct Counted {
    pub(super) counters: Counters,
    /// When the machine was started.
    booted: Option<u64>,
    disk: Shape,
    device: Shape,
    net: Shape,
    cpu: Shape,
    idle: Shape,
    system: Shape,
    interrupt: Shape,
    /// All processors as one: used where no single ones follow.
    total: Option<Vec<f64>>,
    /// Switches, forks; running, blocked; three loads, tasks.
    machine: [f64; 8],
}

/// `major minor name` and 4, 11, 15 or 17 numbers, perhaps more on a later kernel.
pub(super) fn is_disk(all: &[&[u8]]) -> bool {
    let count = all.len();
    if count < 7 || !(count == 7 || count >= 14) {
        return false;
    }
    let number = |at: usize| all.get(at).is_some_and(|t| whole(t).is_some());
    // Those stand at that place in logs of `pgbench`.
    let failure = matches!(
        all[2],
        b"skipped" | b"failed" | b"serialization" | b"deadlock"
    );
    let named = all[2].first().is_some_and(u8::is_ascii_alphabetic) && !failure;
    number(0) && number(1) && named && (3..count).all(number)
}

/// Name and 16 numbers of a line of `net/dev`; the first may follow the colon at once.
pub(super) fn interface(line: &[u8]) -> Option<(&[u8], Vec<f64>)> {
    let line = line.trim_ascii();
    let at = line.iter().rposition(|b| *b == b':')?;
    let (name, rest) = (&line[..at], &line[at + 1..]);
    let n = numbers(crate::fields(rest))?;
    // `19:25` is a time.
    let named = name.iter().any(|b| !b.is_ascii_digit() && *b != b':');
    let sound = n.len() == 16 && named && !name.contains(&b' ');
    sound.then_some((name, n))
}

pub(super) fn is_stat(first: &[u8]) -> bool {
    let cpu = first.strip_prefix(b"cpu");
    cpu.is_some_and(|n| n.iter().all(u8::is_ascii_digit))
        || matches!(
            first,
            b"intr"
                | b"ctxt"
                | b"btime"
                | b"processes"
                | b"procs_running"
                | b"procs_blocked"
                | b"softirq"
                | b"page"
                | b"swap"
        )
}

/// `0.23 0.22 0.09 1/112 1935`: loads, tasks; and how many of these run.
pub(super) fn loads(all: &[&[u8]]) -> Option<([f64; 4], f64)> {
    let &[a, b, c, tasks, last] = all else {
        return None;
    };
    whole(last)?;
    let slash = tasks.iter().position(|b| *b == b'/')?;
    let (running, tasks) = (number(&tasks[..slash])?, number(&tasks[slash + 1..])?);
    Some(([number(a)?, number(b)?, number(c)?, tasks], running))
}

impl Counted {
    pub(super) fn new() -> Counted {
        Counted {
            counters: Counters::default(),
            booted: None,
            disk: Shape::of("disk", &["ios", "merges", "bytes", "time", "discarded"]),
            device: Shape::of("disk_device", &["busy", "depth_time", "inflight"]),
            net: Shape::of(
                "net",
                &[
                    "bytes",
                    "packets",
                    "errors",
                    "drops",
                    "overruns",
                    "multicast",
                    "collisions",
                ],
            ),
            cpu: Shape::of("cpu", &["time"]),
            idle: Shape::of("cpu_idle", &["idle", "iowait", "steal"]),
            system: Shape::of(
                "system",
                &[
                    "context_switches",
                    "forks",
                    "runnable",
                    "blocked",
                    "load1",
                    "load5",
                    "load15",
                    "tasks",
                ],
            ),
            interrupt: Shape::of("interrupt", &["count"]),
            total: None,
            machine: [f64::NAN; 8],
        }
    }

    pub(super) fn disk(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let Some(mut n) = numbers(all[3..].iter().copied()) else {
            return Line::Unknown;
        };
        if matches!(n.len(), 12..=14 | 16) {
            // No kernel prints so many: 11, and from 4.18 on 15, from 5.5 on 17.
            n.pop();
            out.lacks(
                "lines of /proc/diskstats were cut, as at a width: their last number is left out",
            );
        }
        // The only one that is no counter.
        let inflight = n.get_mut(8).map_or(f64::NAN, std::mem::take);
        if n.len() == 4 {
            // A partition before Linux 2.6.25.
            let nan = f64::NAN;
            n = vec![n[0], nan, n[1], nan, n[2], nan, n[3], nan];
        }
        let key = [b"disk ", all[2]].concat();
        let (n, first) = self.counters.grown_together_or_whole(&key, n, out);
        let (device, layer) = (out.word(all[2]), out.disk_layer(all[2]));
        let at = |place: usize| n.get(place).copied().unwrap_or(f64::NAN);
        let io = |p: usize| {
            [
                at(p),
                at(p + 1),
                at(p + 2) * 512.0,
                at(p + 3) / 1000.0,
                f64::NAN,
            ]
        };
        let mut ops = vec![("read", io(0)), ("write", io(4))];
        if n.len() >= 15 {
            let [ios, merges, bytes, time, _] = io(11);
            ops.push(("discard", [ios, merges, 0.0, time, bytes]));
        }
        if n.len() >= 17 {
            ops.push(("flush", [at(15), 0.0, 0.0, at(16) / 1000.0, f64::NAN]));
        }
        for (op, values) in ops {
            let words = [device, layer, out.word(op.as_bytes())];
            put_grown(out, &self.disk, &words, &values, first);
        }
        if n.len() >= 11 {
            let values = [at(9) / 1000.0, at(10) / 1000.0, inflight];
            put_grown(out, &self.device, &[device, layer], &values, first);
        }
        Line::Data
    }

    pub(super) fn interface(&mut self, name: &[u8], n: &[f64], out: &mut Out) {
        let key = [b"net ", name].concat();
        let (n, first) = self.counters.grown_together_or_whole(&key, n.to_vec(), out);
        let (interface, layer) = (out.word(name), out.word(net::layer(name).as_bytes()));
        let nan = f64::NAN;
        for (direction, values) in [
            ("receive", [n[0], n[1], n[2], n[3], n[4], n[7], nan]),
            ("transmit", [n[8], n[9], n[10], n[11], n[12], nan, n[13]]),
        ] {
            let words = [interface, layer, out.word(direction.as_bytes())];
            put_grown(out, &self.net, &words, &values, first);
        }
        if !first {
            for (column, at) in [
                ("frame errors", 5),
                ("received compressed", 6),
                ("carrier errors", 14),
                ("sent compressed", 15),
            ] {
                out.other_grown(column, "packets", interface, n[at]);
            }
        }
    }

    pub(super) fn stat(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let Some(n) = numbers(all[1..].iter().copied()).filter(|n| !n.is_empty()) else {
            return Line::Unknown;
        };
        match all[0] {
            b"ctxt" => self.machine[0] = n[0],
            b"processes" => self.machine[1] = n[0],
            b"procs_running" => self.machine[2] = n[0],
            b"procs_blocked" => self.machine[3] = n[0],
            b"page" | b"swap" => return Line::Noise,
            b"intr" | b"softirq" => {
                let (n, first) = self.counters.grown_or_whole(all[0], vec![n[0]], out);
                let level: &[u8] = if all[0] == b"intr" { b"hard" } else { b"soft" };
                let words = [out.word(level), out.word(b"all")];
                put_grown(out, &self.interrupt, &words, &n, first);
            }
            _ if n.len() < 4 => return Line::Unknown,
            b"cpu" => self.total = Some(n),
            name => {
                self.total = None;
                self.processor(name, &name[3..], n, out);
            }
        }
        Line::Data
    }

    /// `btime 1760000000`: when the machine was started. After the reading `above` it was started anew, and
    /// all counters with it; before that its clock was set.
    pub(super) fn booted(&mut self, all: &[&[u8]], above: Option<Nanos>, out: &mut Out) -> Line {
        let Some(time) = all.get(1).copied().and_then(whole) else {
            return Line::Unknown;
        };
        let is_later = |above: Nanos| time as f64 * 1e9 > above as f64;
        if self
            .booted
            .replace(time)
            .is_some_and(|before| time > before)
            && above.is_some_and(is_later)
        {
            out.refuse(Refused(format!(
                "the machine was started anew between two readings, as btime at line {} tells: what was \
                 counted above and below is of two boots\n\
                 hint: import what is above and what is below by themselves",
                out.line_number()
            )));
        }
        Line::Noise
    }

    /// Ticks: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest nice.
    fn processor(&mut self, key: &[u8], name: &[u8], n: Vec<f64>, out: &mut Out) {
        out.note("ticks of /proc/stat are taken for hundredths of a second");
        let (n, first) = self.counters.grown_or_whole(key, n, out);
        let at = |place: usize| n.get(place).copied().unwrap_or(f64::NAN);
        let known = |value: f64| if value.is_nan() { 0.0 } else { value };
        let cpu = out.word(name);
        for (mode, ticks) in [
            // Time of guests is in that of user and nice.
            ("user", (at(0) - known(at(8))).max(0.0)),
            ("nice", (at(1) - known(at(9))).max(0.0)),
            ("system", at(2)),
            ("irq", at(5)),
            ("softirq", at(6)),
            ("guest", at(8)),
            ("guest_nice", at(9)),
        ] {
            if !ticks.is_nan() {
                let words = [cpu, out.word(mode.as_bytes())];
                put_grown(out, &self.cpu, &words, &[ticks / HZ], first);
            }
        }
        let idle = [at(3), at(4), at(7)].map(|ticks| ticks / HZ);
        put_grown(out, &self.idle, &[cpu], &idle, first);
    }

    pub(super) fn load(&mut self, loads: &[f64; 4], running: f64) {
        self.machine[4..].copy_from_slice(loads);
        // `procs_running` of `stat` is the same.
        if self.machine[2].is_nan() {
            self.machine[2] = running;
        }
    }

    pub(super) fn finish_reading(&mut self, out: &mut Out) {
        if let Some(total) = self.total.take() {
            self.processor(b"cpu", b"all", total, out);
        }
        let machine = std::mem::replace(&mut self.machine, [f64::NAN; 8]);
        if machine.iter().all(|v| v.is_nan()) {
            return;
        }
        let (grown, first) = self
            .counters
            .grown_or_whole(b"machine", machine[..2].to_vec(), out);
        let mut values = machine;
        if first {
            let mut whole = [f64::NAN; 8];
            whole[..2].copy_from_slice(&grown);
            out.put_since_boot(&self.system, &[], &whole);
            values[..2].fill(f64::NAN);
        } else {
            values[..2].copy_from_slice(&grown);
        }
        if values.iter().any(|v| !v.is_nan()) {
            out.put_amounts(&self.system, &[], &values);
        }
    }
}

/// A row of what grew, or of what there was since boot.
pub(crate) fn put_grown(
    out: &mut Out,
    shape: &Shape,
    words: &[run::Word],
    values: &[f64],
    first: bool,
) {
    if first {
        out.put_since_boot(shape, words, values);
    } else {
        out.put_amounts(shape, words, values);
    }
}
