//! TCP by connection, through eBPF (`tcp.bpf.c`): bytes and segments, how long connecting took,
//! round-trip times, changes of state. Of this network namespace, as all of the subject.
//!
//! The kernel's socket counts its bytes and segments; they are read at each sample and when the
//! connection ends, so that a connection shorter than an interval counts in full. Bytes are
//! those of data: the kernel's own figures (`tcpi_bytes_acked`, `tcpi_bytes_received`) count the
//! first and the last step of a connection as a byte each, and these do not.
//!
//! <https://docs.kernel.org/bpf/bpf_iterators.html>

mod connections;
mod events;
mod remotes;

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;

use aya::maps::{Array, MapData};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word};

use super::attach::Hook;
use super::cells::Rows;
use super::control::Control;
use super::load::{Constant, Hooks, Lanes, Loaded, load};
use super::losses::Losses;
use super::ring::Ring;
use super::who::{EXEC, group_subsystem};
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use connections::{Amounts, CHUNK_WORDS, CHUNKS, Connections, PLACES};
use remotes::{Remotes, TableOfRemotes};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-tcp",
    help: "TCP connections: bytes, time to connect, round-trip times, changes of state, each as an \
           event",
    reads: "tracepoints sock:inet_sock_set_state, tcp:tcp_probe, tcp_rcv_space_adjust, \
            tcp_retransmit_skb, tcp_retransmit_synack; iterator iter/tcp",
    link: "https://docs.kernel.org/bpf/bpf_iterators.html",
    detail: Detail::Distributions,
    open,
};

const HOOKS: [Hook; 3] = [
    Hook::needed("tcp_change", "inet_sock_set_state"),
    Hook::useful("tcp_segment", "tcp_probe"),
    Hook::useful("tcp_read", "tcp_rcv_space_adjust"),
];
const EVENT_HOOKS: [Hook; 2] = [
    Hook::useful("tcp_again", "tcp_retransmit_skb"),
    Hook::useful("tcp_answer_again", "tcp_retransmit_synack"),
];
/// Counts all connections before a sample.
const EACH: &str = "tcp_each";

/// Rows for distributions by remote address; the first two are those of all others.
const ROWS: u32 = 128;

/// States by their number in the kernel.
pub(super) const STATES: [&str; 16] = [
    "NONE",
    "ESTABLISHED",
    "SYN_SENT",
    "SYN_RECV",
    "FIN_WAIT1",
    "FIN_WAIT2",
    "TIME_WAIT",
    "CLOSE",
    "CLOSE_WAIT",
    "LAST_ACK",
    "LISTEN",
    "CLOSING",
    "NEW_SYN_RECV",
    "BOUND_INACTIVE",
    "STATE_14",
    "STATE_15",
];

/// Numbers of a line of `others`, and of `changes`.
type Others = [u64; 8];
type Changes = [u64; 256];

struct Tcp {
    loaded: Loaded,
    losses: Losses,
    /// Whether it is known that something came in.
    sees_segments: bool,
    /// Segments received and changes of state when the connections were last looked at.
    activity: Option<u64>,
    chunks: Array<MapData, [u64; CHUNK_WORDS]>,
    touched: Array<MapData, [u32; CHUNKS]>,
    remotes_map: Array<MapData, TableOfRemotes>,
    others_map: Array<MapData, Others>,
    changes_map: Array<MapData, Changes>,
    control: Control,
    rows: Rows,
    lanes: u32,
    connections: Connections,
    remotes: Remotes,
    others: Amounts,
    changes: Box<Changes>,
    states: TableId,
    ring: Ring,
    /// Of the run's clock to that of events, as told last.
    offset: Nanos,
    /// Events that a sample took.
    taken: u64,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let lanes = Lanes::of_this_machine();
    let with_events = host.look.events_of("tcp");
    let path = host.proc("self/ns/net");
    let space = std::fs::metadata(&path)
        .map_err(|e| Availability::of(&path, &e, "a mounted /proc", "mount -t proc proc /proc"))?;
    let mut hooks = HOOKS.to_vec();
    hooks.push(EXEC);
    if with_events {
        hooks.extend(EVENT_HOOKS);
    }
    let ring = if with_events {
        host.look.ring_bytes / 2
    } else {
        // Names of processes and groups come this way too.
        1 << 18
    };
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_rows", ROWS),
        Constant::Flag("with_events", with_events),
        Constant::Word("group_subsystem", group_subsystem(host)),
        // Namespaces' numbers are of 32 bits in the kernel.
        Constant::Word("own_space", space.ino() as u32),
    ];
    let sizes = [
        ("rows", ROWS * lanes.count),
        ("others", lanes.count),
        ("changes", lanes.count),
        ("told_again", if with_events { PLACES } else { 1 }),
        ("ring", ring),
        ("told_files", 1),
    ];
    let known = Hooks::of_this_kernel();
    let mut loaded = load(host, super::object!("tcp"), &sizes, &constants, &hooks)?;
    // After the hooks: what begins meanwhile is seen from its start.
    loaded.iterator(host, EACH, "tcp", known.types()?)?;
    Ok(Box::new(Tcp {
        chunks: loaded.array("connections")?,
        touched: loaded.array("touched")?,
        remotes_map: loaded.array("remotes")?,
        others_map: loaded.array("others")?,
        changes_map: loaded.array("changes")?,
        control: Control::of(&mut loaded)?,
        rows: Rows::new(loaded.array("rows")?, lanes.count),
        lanes: lanes.count,
        connections: Connections::new(host.top * 10),
        remotes: Remotes::new(),
        others: Amounts::default(),
        changes: Box::new([0; 256]),
        states: TableId::of("tcp_state"),
        ring: Ring::new(host, loaded.ring()?),
        offset: 0,
        taken: 0,
        losses: loaded.losses()?,
        sees_segments: loaded.attached("tcp_segment"),
        activity: None,
        loaded,
    }))
}

impl Source for Tcp {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        self.look_at_each()?;
        // Before the turn: a mark of the next interval would look like none of late.
        let touched = self.touched.get(&0, 0).map_err(io::Error::other)?;
        let table = self.remotes_map.get(&0, 0).map_err(io::Error::other)?;
        let past = self.control.interval();
        self.control.turn().map_err(io::Error::other)?;
        for (chunk, last) in touched.into_iter().enumerate() {
            if past.wrapping_sub(last) > 1 {
                continue;
            }
            let key = chunk as u32;
            let words = self.chunks.get(&key, 0).map_err(io::Error::other)?;
            self.connections.take(chunk, &words, interval.is_none());
        }
        // Names of those who have the connections.
        self.taken += events::drain(&mut self.ring, self.offset, out);
        let others = self.others_grown()?;
        let write = interval.is_some();
        self.connections
            .report(others, &mut self.ring.who, write, out);
        self.remotes
            .report(&table, past, &mut self.rows, write, out);
        self.report_changes(write, out)
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        self.offset = offset;
        std::mem::take(&mut self.taken) + events::drain(&mut self.ring, offset, out)
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        Some(self.ring.ready())
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        self.loaded.measured(seconds)
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(self.losses.read("tcp_event"))
    }

    fn one_in(&mut self, n: u32) {
        self.control.one_in(n);
    }
}

impl Tcp {
    /// Has the program read every connection. That takes 2 ms, as the kernel looks through its
    /// whole table, so not while nothing came in and no connection changed its state: then none
    /// acknowledged or received anything.
    fn look_at_each(&mut self) -> io::Result<()> {
        let mut now = self.losses.marks();
        for lane in 0..self.lanes {
            let line = self.changes_map.get(&lane, 0).map_err(io::Error::other)?;
            now = line.iter().fold(now, |sum, n| sum.wrapping_add(*n));
        }
        if !self.sees_segments || self.activity != Some(now) {
            self.loaded.iterate(EACH)?;
            self.activity = Some(now);
        }
        Ok(())
    }

    /// What connections without a place did, that ended since this was asked last.
    fn others_grown(&mut self) -> io::Result<Amounts> {
        let mut now = Amounts::default();
        for lane in 0..self.lanes {
            let line = self.others_map.get(&lane, 0).map_err(io::Error::other)?;
            now.add(&Amounts {
                sent: line[0],
                received: line[1],
                segments_sent: line[2],
                segments_received: line[3],
                retransmits: line[4],
            });
        }
        let before = std::mem::replace(&mut self.others, now);
        Ok(now.since(&before))
    }

    fn report_changes(&mut self, write: bool, out: &mut Sink) -> io::Result<()> {
        let mut now = Box::new([0_u64; 256]);
        for lane in 0..self.lanes {
            let line = self.changes_map.get(&lane, 0).map_err(io::Error::other)?;
            for (sum, count) in now.iter_mut().zip(line) {
                *sum = sum.wrapping_add(count);
            }
        }
        for (pair, (now, before)) in now.iter().zip(self.changes.iter()).enumerate() {
            let grown = now.wrapping_sub(*before);
            if grown > 0 && write {
                let word = state_word(pair, out);
                out.row(self.states, &[word], &[grown as f64]);
            }
        }
        self.changes = now;
        Ok(())
    }
}

/// `SYN_SENT to ESTABLISHED`, of the old state times 16 and the new.
fn state_word(pair: usize, out: &mut Sink) -> Word {
    out.word(&format!(
        "{} to {}",
        STATES[pair >> 4 & 15],
        STATES[pair & 15]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_by_both_states() {
        let mut out = Sink::new();
        let word = state_word(2 << 4 | 1, &mut out);
        assert_eq!(out.words.text(word), Some("SYN_SENT to ESTABLISHED"));
        let word = state_word(255, &mut out);
        assert_eq!(out.words.text(word), Some("STATE_15 to STATE_15"));
    }
}
