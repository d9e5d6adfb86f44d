//! Labels of the machine as a whole.

use super::others::{MEMORY, PAGING, SERVER, SWAP, generic, put_others};
use super::{Numbers, Record};
use crate::out::{Out, Shape};
use crate::{Line, fields, net, number};

pub(super) struct System {
    cpu: Shape,
    idle: Shape,
    load: Shape,
    interrupt: Shape,
    memory: Shape,
    vm: Shape,
    reclaim: Shape,
    pressure: Shape,
    disk: Shape,
    device: Shape,
    net: Shape,
    tcp: Shape,
    segments: Shape,
    udp: Shape,
    datagrams: Shape,
    ip: Shape,
    packets: Shape,
    nfs: Shape,
    nfsd: Shape,
    nfsd_bytes: Shape,
    /// All processors as one, until it is clear that single ones do not follow.
    total: Option<Numbers>,
    /// Dirty memory, swap, swap used, memory promised.
    state: [f64; 4],
}

impl System {
    pub(super) fn new() -> System {
        System {
            cpu: Shape::of("cpu", &["time"]),
            idle: Shape::of("cpu_idle", &["idle", "iowait", "steal"]),
            load: Shape::of("system", &["load1", "load5", "load15", "context_switches"]),
            interrupt: Shape::of("interrupt", &["count"]),
            memory: Shape::of("memory", &["bytes"]),
            vm: Shape::of(
                "vm",
                &[
                    "swapped_in",
                    "swapped_out",
                    "allocation_stalls",
                    "compaction_stalls",
                    "oom_kills",
                ],
            ),
            reclaim: Shape::of("vm_reclaim", &["scanned"]),
            pressure: Shape::of("pressure", &["stalled"]),
            disk: Shape::of("disk", &["ios", "bytes", "discarded"]),
            device: Shape::of("disk_device", &["busy", "inflight"]),
            net: Shape::of("net", &["packets", "bytes", "capacity"]),
            tcp: Shape::of(
                "tcp",
                &[
                    "connects",
                    "accepts",
                    "established",
                    "retransmits",
                    "receive_errors",
                    "resets_sent",
                ],
            ),
            segments: Shape::of("tcp_segments", &["segments"]),
            udp: Shape::of("udp", &["receive_errors", "no_port"]),
            datagrams: Shape::of("udp_datagrams", &["datagrams"]),
            ip: Shape::of("ip", &["forwarded"]),
            packets: Shape::of("ip_packets", &["packets"]),
            nfs: Shape::of("nfs_bytes", &["bytes"]),
            nfsd: Shape::of(
                "nfsd",
                &["packets", "rpc_errors", "connections", "cache_hits"],
            ),
            nfsd_bytes: Shape::of("nfsd_bytes", &["bytes"]),
            total: None,
            state: [f64::NAN; 4],
        }
    }

    pub(super) fn finish_sample(&mut self, memory_state: &Shape, out: &mut Out) {
        if let Some(total) = self.total.take() {
            self.processor(b"all", &total, out);
        }
        let state = std::mem::replace(&mut self.state, [f64::NAN; 4]);
        if state.iter().any(|v| !v.is_nan()) {
            out.put(memory_state, &[], &state);
        }
    }

    pub(super) fn line(&mut self, record: &Record, out: &mut Out) -> Line {
        let named = matches!(
            record.label,
            b"LVM" | b"MDD" | b"DSK" | b"NFM" | b"NET" | b"IFB" | b"GPU"
        );
        let (name, rest) = if named {
            let end = record.rest.iter().position(u8::is_ascii_whitespace);
            record.rest.split_at(end.unwrap_or(record.rest.len()))
        } else {
            (&b""[..], record.rest)
        };
        let least = least_fields(record.label, name);
        let present = |rest: &[u8]| rest.strip_prefix(b"y").map(<[u8]>::to_vec);
        let numbers = match record.label {
            b"PSI" if rest.starts_with(b"n") => return Line::Noise,
            b"PSI" => present(rest).and_then(|r| Numbers::of(&r)),
            b"GPU" => Numbers::of(skip(rest, 2)),
            // `LLC003 40.5% 1000 500`.
            b"LLC" => {
                let plain = rest.strip_prefix(b"LLC").unwrap_or(rest);
                let plain: Vec<u8> = plain.iter().copied().filter(|b| *b != b'%').collect();
                Numbers::of(&plain)
            }
            _ => Numbers::of(rest),
        };
        let Some(n) = numbers.filter(|n| n.len() >= least) else {
            return Line::Unknown;
        };
        match record.label {
            b"CPU" => {
                if n.at(1) >= 1.0 && n.at(1) < 1e6 {
                    out.has_processors(n.at(1) as u32);
                }
                self.total = Some(n);
            }
            b"cpu" => {
                self.total = None;
                let name = fields(rest).nth(1).unwrap_or_default();
                self.processor(name, &n, out);
            }
            b"CPL" => self.load(&n, out),
            b"MEM" => self.memory(&n, out),
            b"SWP" => {
                let page = n.at(0);
                self.state[1] = n.at(1) * page;
                self.state[2] = (n.at(1) - n.at(2)) * page;
                self.state[3] = n.at(4) * page;
                put_others(out, b"", &n, 0, &SWAP, page);
            }
            b"PAG" => self.paging(&n, out),
            b"PSI" => self.pressure(&n, out),
            b"LVM" | b"MDD" | b"DSK" => self.disk(name, &n, out),
            b"NET" if name == b"upper" => self.protocols(&n, out),
            b"NET" => self.interface(record, name, &n, out),
            b"NFM" => self.mount(name, &n, out),
            b"NFS" => self.server(&n, out),
            label => generic(label, name, &n, out),
        }
        Line::Data
    }

    /// Ticks: hz, number, system, user, nice, idle, wait, irq, softirq, steal, guest.
    fn processor(&self, name: &[u8], n: &Numbers, out: &mut Out) {
        let hz = n.at(0);
        if hz <= 0.0 {
            return;
        }
        let cpu = out.word(name);
        let guest = if n.at(10).is_nan() { 0.0 } else { n.at(10) };
        for (mode, ticks) in [
            ("system", n.at(2)),
            // A guest's time is in it.
            ("user", (n.at(3) - guest).max(0.0)),
            ("nice", n.at(4)),
            ("irq", n.at(7)),
            ("softirq", n.at(8)),
            ("guest", n.at(10)),
        ] {
            if !ticks.is_nan() {
                let mode = out.word(mode.as_bytes());
                out.put_amounts(&self.cpu, &[cpu, mode], &[ticks / hz]);
            }
        }
        let idle = [n.at(5), n.at(6), n.at(9)].map(|ticks| ticks / hz);
        out.put_amounts(&self.idle, &[cpu], &idle);
        out.other("frequency", "MHz", cpu, n.at(11));
        out.other("frequency share", "%", cpu, n.at(12));
        out.other("instructions", "count", cpu, n.at(13));
        out.other("cycles", "count", cpu, n.at(14));
    }

    fn load(&self, n: &Numbers, out: &mut Out) {
        let values = [n.at(1), n.at(2), n.at(3), n.at(4)];
        out.put_amounts(&self.load, &[], &values);
        let words = [out.word(b"hard"), out.word(b"all")];
        out.put_amounts(&self.interrupt, &words, &[n.at(5)]);
    }

    fn memory(&mut self, n: &Numbers, out: &mut Out) {
        let page = n.at(0);
        let reclaimable = n.at(7);
        for (kind, pages) in [
            ("free", n.at(2)),
            ("cache", n.at(3)),
            ("buffers", n.at(4)),
            ("slab_reclaimable", reclaimable),
            ("slab_unreclaimable", n.at(5) - reclaimable),
            ("page_tables", n.at(20)),
        ] {
            if !pages.is_nan() {
                let kind = out.word(kind.as_bytes());
                out.put(&self.memory, &[kind], &[pages * page]);
            }
        }
        self.state[0] = n.at(6) * page;
        put_others(out, b"", n, 0, &MEMORY, page);
        let none = out.word(b"");
        out.other("hugepages", "bytes", none, n.at(13) * n.at(12));
        out.other("hugepages free", "bytes", none, n.at(14) * n.at(12));
    }

    fn paging(&self, n: &Numbers, out: &mut Out) {
        let page = n.at(0);
        let values = [
            n.at(4) * page,
            n.at(5) * page,
            n.at(2),
            n.at_if(7),
            n.at_if(6),
        ];
        out.put_amounts(&self.vm, &[], &values);
        let who = out.word(b"(all)");
        out.put_amounts(&self.reclaim, &[who], &[n.at(1) * page]);
        put_others(out, b"", n, 8, &PAGING, 1.0);
    }

    /// Three means and microseconds of each, behind `y`.
    fn pressure(&self, n: &Numbers, out: &mut Out) {
        for (i, (resource, share)) in [
            ("cpu", "some"),
            ("memory", "some"),
            ("memory", "full"),
            ("io", "some"),
            ("io", "full"),
        ]
        .into_iter()
        .enumerate()
        {
            let words = [out.word(resource.as_bytes()), out.word(share.as_bytes())];
            out.put_amounts(&self.pressure, &words, &[n.at(i * 4 + 3) / 1e6]);
            let instance = out.word(format!("{resource} {share}").as_bytes());
            for (j, column) in ["avg10", "avg60", "avg300"].into_iter().enumerate() {
                out.other(column, "%", instance, n.at(i * 4 + j));
            }
        }
    }

    /// Milliseconds of work, reads, sectors, writes, sectors; discards, sectors, under way, mean
    /// depth while busy.
    fn disk(&self, name: &[u8], n: &Numbers, out: &mut Out) {
        let (device, layer) = (out.word(name), out.disk_layer(name));
        for (op, ios, sectors) in [("read", n.at(1), n.at(2)), ("write", n.at(3), n.at(4))] {
            let words = [device, layer, out.word(op.as_bytes())];
            out.put_amounts(&self.disk, &words, &[ios, sectors * 512.0]);
        }
        let discards = n.at_if(5);
        if !discards.is_nan() {
            let words = [device, layer, out.word(b"discard")];
            let values = [discards, 0.0, n.at_if(6) * 512.0];
            out.put_amounts(&self.disk, &words, &values);
        }
        let values = [n.at(0) / 1000.0, n.at_if(7)];
        out.put_amounts(&self.device, &[device, layer], &values);
        out.other("queue depth while busy", "count", device, n.at_if(8));
    }

    fn protocols(&self, n: &Numbers, out: &mut Out) {
        let all = out.word(b"(all)");
        for (at, direction) in [(0, "receive"), (1, "transmit")] {
            let direction = out.word(direction.as_bytes());
            out.put_amounts(&self.segments, &[direction], &[n.at(at)]);
            out.put_amounts(&self.datagrams, &[direction, all], &[n.at(at + 2)]);
            out.put_amounts(&self.packets, &[direction, all], &[n.at(at + 4)]);
        }
        out.put_amounts(&self.ip, &[all], &[n.at(7)]);
        let none = out.word(b"");
        out.other("IP delivered", "packets", none, n.at(6));
        if n.len() >= 16 {
            out.put_amounts(&self.udp, &[all], &[n.at(8), n.at(9)]);
            let tcp: Vec<f64> = (10..16).map(|at| n.at(at)).collect();
            out.put_amounts(&self.tcp, &[], &tcp);
        }
    }

    /// Received packets and bytes, sent ones, speed in Mbit/s, duplex.
    fn interface(&self, record: &Record, name: &[u8], n: &Numbers, out: &mut Out) {
        let (interface, layer) = (out.word(name), out.word(net::layer(name).as_bytes()));
        let capacity = match n.at(4) {
            speed if speed > 0.0 && layer == out.word(b"edge") => {
                speed * 1e6 / 8.0 * record.seconds
            }
            _ => f64::NAN,
        };
        for (direction, at) in [("receive", 0), ("transmit", 2)] {
            let words = [interface, layer, out.word(direction.as_bytes())];
            out.put_amounts(&self.net, &words, &[n.at(at), n.at(at + 1), capacity]);
        }
    }

    fn mount(&self, name: &[u8], n: &Numbers, out: &mut Out) {
        let mount = out.word(name);
        for (access, layer, at) in [
            ("read", "server", 0),
            ("write", "server", 1),
            ("read", "program", 2),
            ("write", "program", 3),
            ("direct_read", "program", 4),
            ("direct_write", "program", 5),
        ] {
            let words = [
                mount,
                out.word(access.as_bytes()),
                out.word(layer.as_bytes()),
            ];
            out.put_amounts(&self.nfs, &words, &[n.at(at)]);
        }
        out.other("NFM pages read by mmap", "pages", mount, n.at(6));
        out.other("NFM pages written by mmap", "pages", mount, n.at(7));
    }

    fn server(&self, n: &Numbers, out: &mut Out) {
        let errors = n.at(5) + n.at(6) + n.at(7);
        out.put_amounts(&self.nfsd, &[], &[n.at(8), errors, n.at(11), n.at(12)]);
        for (direction, at) in [("read", 3), ("write", 4)] {
            let direction = out.word(direction.as_bytes());
            out.put_amounts(&self.nfsd_bytes, &[direction], &[n.at(at)]);
        }
        put_others(out, b"", n, 0, &SERVER, 1.0);
    }
}

/// Fewest numbers that a line of that label has in any version.
fn least_fields(label: &[u8], name: &[u8]) -> usize {
    match label {
        b"CPU" | b"cpu" => 10,
        b"SWP" | b"DSK" | b"LVM" | b"MDD" | b"NFC" => 5,
        b"PSI" => 20,
        b"NET" if name == b"upper" => 8,
        b"NET" | b"CPL" | b"PAG" | b"MEM" => 6,
        b"NFM" => 8,
        b"NFS" => 15,
        _ => 1,
    }
}

/// What is left after some fields.
fn skip(text: &[u8], count: usize) -> &[u8] {
    let mut rest = text.trim_ascii_start();
    for _ in 0..count {
        let end = rest.iter().position(u8::is_ascii_whitespace);
        rest = end.map_or(&[], |end| rest[end..].trim_ascii_start());
    }
    rest
}

/// Whether a text is one whole number.
pub(super) fn is_whole(text: &[u8]) -> bool {
    number::whole(text).is_some()
}
