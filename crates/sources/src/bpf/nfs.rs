//! The NFS server through eBPF (`nfs.bpf.c`): each operation, for which client, on which file.
//!
//! Its tracepoints are those of the modules `nfsd` and `sunrpc`, which have to be there when
//! recording begins. What `/proc/net/rpc/nfsd` counts is counted here too, and as often
//! (`docs/decisions/0021-nfs-events.md`). The client (`nfs_client.rs`) counts in the same way.
//!
//! <https://docs.kernel.org/trace/events.html>

pub(super) mod known;

use std::io;
use std::os::fd::BorrowedFd;

use aya::maps::{Array, MapData};
use run::manifest::Program;
use run::rows::{Rows as Appended, TableId};
use run::{Nanos, Sink, Word, grid};

use super::attach::Hook;
use super::cells::Rows;
use super::control::Control;
use super::entries::{Counts, Entry as Counted, Room};
use super::load::{Constant, Lanes, Loaded, describes, load};
use super::losses::Losses;
use super::rest::{Rest, Rests, SUM_WORDS, values};
use super::ring::Ring;
use super::types::NFS_SERVER;
use super::who::{Who, u32_at, u64_at};
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use known::{CLIENTS, Clients, Known, Names, OPS, OpNames};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-nfs",
    help: "NFS server: operations by client and file, how long, how many bytes; each as an event",
    reads: "tracepoints sunrpc:svc_process, svc_stats_latency, nfsd:nfsd_compound, \
            nfsd_compound_status, nfsd_fh_verify, nfsd_read_io_done, nfsd_write_io_done",
    link: "https://docs.kernel.org/trace/events.html",
    detail: Detail::Distributions,
    open,
};

/// What ends an operation comes first.
const HOOKS: [Hook; 7] = [
    Hook::needed("nfs_answered", "svc_stats_latency"),
    Hook::useful("nfs_operation", "nfsd_compound_status"),
    Hook::useful("nfs_compound", "nfsd_compound"),
    Hook::useful("nfs_read", "nfsd_read_io_done"),
    Hook::useful("nfs_written", "nfsd_write_io_done"),
    Hook::useful("nfs_looks", "nfsd_fh_verify"),
    Hook::needed("nfs_begin", "svc_process"),
];

/// What the two sides of NFS do not share.
pub(super) struct Side {
    /// The programs, and where they wait.
    pub(super) object: &'static [u8],
    pub(super) hooks: &'static [Hook],
    /// Whose events are told.
    pub(super) subject: &'static str,
    /// How operations and who is at the other side are called.
    pub(super) names: Names,
    pub(super) by_file: &'static str,
    pub(super) latency: &'static str,
    pub(super) event: &'static str,
    /// Appends an event: its operation, who is at the other side, its file.
    pub(super) push: fn(&mut Appended, Nanos, [Word; 3], Record<'_>),
}

const SERVER: Side = Side {
    object: super::object!("nfs"),
    hooks: &HOOKS,
    subject: "nfsd",
    names: Names::SERVER,
    by_file: "nfsd_file",
    latency: "nfsd_latency",
    event: "nfsd_event",
    push: |rows, time, words, record| {
        rows.event(
            time,
            words,
            [record.latency(), record.bytes(), record.weight()],
        );
    },
};

/// Two rows an operation.
const ROWS: u32 = 128;
/// Bytes of `struct nfs_event`.
const SIZE: usize = 64;

/// A `struct nfs_event`.
pub(super) struct Record<'r>(&'r [u8; SIZE]);

/// Entries with a name of their own, for each process that a sample names.
const NAMED: usize = 10;

type OpRows = [u32; OPS];

struct Nfs {
    side: &'static Side,
    loaded: Loaded,
    losses: Losses,
    names: Array<MapData, OpNames>,
    clients: Array<MapData, Clients>,
    rest: Rests<{ OPS * SUM_WORDS }>,
    op_rows: Array<MapData, OpRows>,
    control: Control,
    counts: Counts,
    rows: Rows,
    ring: Ring,
    known: Option<Known>,
    room: Room,
    /// Of the run's clock to that of events, as told last.
    offset: Nanos,
    /// Events that a sample took.
    taken: u64,
    /// How often something came to them, then.
    marks: u64,
    by_file: TableId,
    latency: TableId,
    event: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    // Loading programs takes a while, which a host that serves nothing need not spend.
    let path = host.proc("net/rpc/nfsd");
    let needs = "the NFS server's module (modprobe nfsd; starting the server loads it)";
    std::fs::metadata(&path).map_err(|e| Availability::of(&path, &e, needs, "run as root"))?;
    if !describes(NFS_SERVER)? {
        return Err(Availability::Unsupported {
            needs: "a kernel that describes its modules' types, CONFIG_DEBUG_INFO_BTF_MODULES, \
                    and the module nfsd from before the recording began"
                .into(),
        });
    }
    open_side(host, &SERVER)
}

/// Loads the programs of that side.
pub(super) fn open_side(host: &Host, side: &'static Side) -> Result<Box<dyn Source>, Availability> {
    let lanes = Lanes::of_this_machine();
    let with_events = host.look.events_of(side.subject);
    let ring = if with_events {
        host.look.ring_bytes / 2
    } else {
        1 << 18
    };
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_rows", ROWS),
        Constant::Flag("with_events", with_events),
    ];
    let sizes = [("rows", ROWS * lanes.count), ("ring", ring)];
    let mut loaded = load(host, side.object, &sizes, &constants, side.hooks)?;
    Ok(Box::new(Nfs {
        side,
        names: loaded.array("op_names")?,
        clients: loaded.array("clients")?,
        rest: Rests::new(loaded.array("nfs_rest")?),
        op_rows: loaded.array("op_rows")?,
        control: Control::of(&mut loaded)?,
        counts: Counts::of(&mut loaded)?,
        rows: Rows::new(loaded.array("rows")?, lanes.count),
        ring: Ring::new(host, loaded.ring()?),
        known: None,
        room: Room::new(host.top * NAMED),
        offset: 0,
        taken: 0,
        marks: 0,
        by_file: TableId::of(side.by_file),
        latency: TableId::of(side.latency),
        event: TableId::of(side.event),
        losses: loaded.losses()?,
        loaded,
    }))
}

impl Source for Nfs {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let mut entries = self.counts.turn(&mut self.control)?;
        let mut known = self.known(out)?;
        self.taken += self.take_records(&mut known, out);
        let mut others = self.rest_grown()?;
        // What is in a histogram is in one of them, a moment later: the next sample sees it.
        let any = !entries.is_empty() || !others.is_empty();
        let named = interval.map_or(0, |_| self.room.take(&mut entries));
        others.take(&entries[named..]);
        if interval.is_some() {
            self.tell(&entries[..named], others, &known, out);
        }
        let read = if any {
            self.histograms(&known, interval.is_some(), out)
        } else {
            Ok(())
        };
        self.known = Some(known);
        read
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        self.offset = offset;
        let mut taken = std::mem::take(&mut self.taken);
        if let Ok(mut known) = self.known(out) {
            taken += self.take_records(&mut known, out);
            self.known = Some(known);
        }
        taken
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        Some(self.ring.ready())
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        self.loaded.measured(seconds)
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(self.losses.read(self.side.event))
    }

    fn one_in(&mut self, n: u32) {
        self.control.one_in(n);
    }
}

impl Nfs {
    /// Operations and clients, as far as the program has met them.
    fn known(&mut self, out: &mut Sink) -> io::Result<Known> {
        let names = self.side.names;
        let mut known = self.known.take().unwrap_or_else(|| Known::new(names, out));
        let names = self.names.get(&0, 0).map_err(io::Error::other)?;
        let clients = self.clients.get(&0, 0).map_err(io::Error::other)?;
        known.read(&names, &clients, out);
        Ok(known)
    }

    /// Takes all that waits in the ring; answers with the number of events.
    fn take_records(&mut self, known: &mut Known, out: &mut Sink) -> u64 {
        let (table, offset, push) = (self.event, self.offset, self.side.push);
        let (names, clients) = (&self.names, &self.clients);
        self.ring.drain(out, |record: &[u8; SIZE], _, who, out| {
            let record = Record(record);
            let (op, client) = (record.half(4), record.half(6));
            // The program may have met them since its tables were read.
            if !known.knows(op, client)
                && let (Ok(names), Ok(clients)) = (names.get(&0, 0), clients.get(&0, 0))
            {
                known.read(&names, &clients, out);
            }
            let file = file_word(who, u64_at(record.0, 32), known, out);
            let words = [known.op(op), known.client(client), file];
            let time = u64_at(record.0, 8) as Nanos + offset;
            push(out.events(table), time, words, record);
        })
    }

    /// What the program could not keep apart, since it was read last.
    fn rest_grown(&mut self) -> io::Result<Rest> {
        // Before they are read: what comes meanwhile is read again the next time.
        let marks = self.losses.marks();
        if marks == self.marks {
            return Ok(Rest::default());
        }
        self.marks = marks;
        self.rest.grown(0..CLIENTS)
    }

    /// Rows by operation, other side and file.
    fn tell(&mut self, named: &[Counted], others: Rest, known: &Known, out: &mut Sink) {
        for entry in named {
            let file = file_word(&mut self.ring.who, entry.file, known, out);
            let words = [known.op(entry.op), known.client(entry.filesystem), file];
            out.row(self.by_file, &words, &values(entry.sums));
        }
        for ((client, op), sums) in others.in_order() {
            let words = [known.op(op), known.client(client), known.other()];
            out.row(self.by_file, &words, &values(sums));
        }
    }

    /// Rows by operation and latency.
    fn histograms(&mut self, known: &Known, write: bool, out: &mut Sink) -> io::Result<()> {
        let op_rows = self.op_rows.get(&0, 0).map_err(io::Error::other)?;
        let own = op_rows.iter().enumerate().filter(|(_, first)| **first > 0);
        let own = own.map(|(op, first)| (known.op(op), first - 1));
        // The last are those of operations that found none.
        for (op, first) in own.chain([(known.other(), ROWS - 2)]) {
            for (cell, ops, bytes) in self.rows.with_bytes(first, Some(first + 1)) {
                if write {
                    let value = grid::lower(cell) as f64 / 1e9;
                    out.row(self.latency, &[op], &[value, ops, bytes]);
                }
            }
        }
        Ok(())
    }
}

/// The path of a file; what looks at none has none.
fn file_word(who: &mut Who, file: u64, known: &Known, out: &mut Sink) -> Word {
    if file == 0 {
        known.none()
    } else {
        who.file_word(file, out)
    }
}

impl Record<'_> {
    fn half(&self, at: usize) -> usize {
        usize::from(u16::from_ne_bytes([self.0[at], self.0[at + 1]]))
    }

    fn seconds(&self, at: usize) -> f64 {
        u64_at(self.0, at) as f64 / 1e9
    }

    pub(super) fn latency(&self) -> f64 {
        self.seconds(16)
    }

    pub(super) fn bytes(&self) -> f64 {
        u64_at(self.0, 24) as f64
    }

    pub(super) fn weight(&self) -> f64 {
        f64::from(u32_at(self.0, 40))
    }

    pub(super) fn round_trip(&self) -> f64 {
        self.seconds(48)
    }

    pub(super) fn queue(&self) -> f64 {
        self.seconds(56)
    }
}
