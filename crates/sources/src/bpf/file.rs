//! Files as programs use them: every system call that works on one (`file.bpf.c`).
//!
//! Opened only with `--with file`: the hooks are those of all system calls, and put each of
//! them on the kernel's slower path. `docs/concepts/files.md` says what is counted and what
//! it costs.
//!
//! <https://docs.kernel.org/trace/events.html>

mod events;
mod names;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use aya::maps::{Array, MapData, RingBuf};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word, grid};

use super::attach::Hook;
use super::cells::Rows;
use super::control::Control;
use super::entries::{Counts, Entry as Counted, Room, largest, without_files};
use super::load::{Constant, Lanes, Loaded, arguments, load};
use super::losses::Losses;
use super::rest::{Rest, Rests, SUM_WORDS, values};
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use events::{Events, Known};
use names::Names;

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-file",
    help: "operations on files: which file, who, how long, how many bytes",
    reads: "tracepoints raw_syscalls:sys_enter, sys_exit, io_uring:io_uring_submit_req (Linux 6.0: \
            io_uring_submit_sqe), io_uring_complete, sched:sched_process_exec; functions \
            aio_prep_rw, aio_complete_rw, or where the kernel allows none tracepoints \
            iomap:iomap_dio_rw_begin, iomap_dio_complete",
    link: "https://docs.kernel.org/trace/events.html",
    detail: Detail::Distributions,
    open,
};

const FILESYSTEMS: usize = 256;
const OTHER_FS: usize = 0;
const BY_NAME: usize = 1;
const OPS: usize = 16;
/// The order of `enum op`.
const NAMES: [&str; OPS] = [
    "(unknown)",
    "open",
    "open-failed",
    "close",
    "read",
    "write",
    "copy",
    "fsync",
    "stat",
    "access",
    "list",
    "unlink",
    "rename",
    "truncate",
    "allocate",
    "(unknown)",
];
/// Those of `moves_bytes`, which have four rows.
const MOVES_BYTES: std::ops::RangeInclusive<usize> = 4..=6;
/// Rows of cells: for some four file systems with all operations.
const ROWS: u32 = 96;
/// Numbers of a file system in the program's map: its key, then the rows of two operations
/// each.
const FILESYSTEM_WORDS: usize = 1 + OPS / 2;
/// Entries with a name of their own, for each process that a sample names.
const NAMED: usize = 10;
/// The ring has to hold names only, where there are no events.
const RING_OF_NAMES: u32 = 1 << 20;

type Filesystems = [u64; FILESYSTEMS * FILESYSTEM_WORDS];

const HOOKS: [Hook; 4] = [
    Hook::needed("file_enter", "sys_enter"),
    Hook::needed("file_exit", "sys_exit"),
    super::who::EXEC,
    Hook::useful("file_complete", "io_uring_complete"),
];

/// Where requests of `io_uring` begin: it had another name until Linux 6.2, and the request is its
/// first argument where it has two.
fn submit_hook() -> Hook {
    const BEFORE: &str = "io_uring_submit_sqe";
    if arguments(BEFORE) == Some(2) {
        Hook::useful("file_submit_sqe", BEFORE)
    } else {
        Hook::useful("file_submit", "io_uring_submit_req")
    }
}

/// Where the kernel does what `libaio` asks for. At functions all of it is seen; where none can be
/// hooked, direct I/O at tracepoints.
const FUNCTIONS: [Hook; 2] = [
    Hook::useful("file_taken_on", "fentry/aio_prep_rw"),
    Hook::useful("file_done", "fentry/aio_complete_rw"),
];
const DIRECT: [Hook; 2] = [
    Hook::useful("file_direct", "iomap_dio_rw_begin"),
    Hook::useful("file_direct_end", "iomap_dio_complete"),
];

struct Files {
    loaded: Loaded,
    losses: Losses,
    filesystems: Array<MapData, Filesystems>,
    others: Rests<{ OPS * SUM_WORDS }>,
    control: Control,
    counts: Counts,
    rows: Rows,
    ring: RingBuf<MapData>,
    names: Names,
    events: Events,
    with_events: bool,
    room: Room,
    /// How many processes are named.
    top: usize,
    /// The run's clock less the program's, as heard last.
    offset: Nanos,
    /// Events that a sample took.
    taken: u64,
    tables: [TableId; 3],
    words: Option<Words>,
}

/// Words that are needed again and again.
struct Words {
    ops: [Word; OPS],
    other: Word,
    /// That of a file system which was not there when they were named last.
    unmet: Word,
    filesystems: [Word; FILESYSTEMS],
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Availability::Unsupported {
            needs: "an x86-64 machine: elsewhere system calls have other numbers".into(),
        });
    }
    let lanes = Lanes::of_this_machine();
    let with_events = host.look.events_of("file");
    let ring = if with_events {
        host.look.ring_bytes / 2
    } else {
        RING_OF_NAMES
    };
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_rows", ROWS),
        Constant::Flag("with_events", with_events),
        Constant::Word("group_subsystem", super::who::group_subsystem(host)),
    ];
    let sizes = [("rows", ROWS * lanes.count), ("ring", ring)];
    let mut hooks = HOOKS.to_vec();
    hooks.push(submit_hook());
    hooks.extend(FUNCTIONS);
    let mut loaded = load(host, super::object!("file"), &sizes, &constants, &hooks)?;
    if !FUNCTIONS.iter().all(|hook| loaded.attached(hook.program)) {
        loaded.attach(host, &DIRECT)?;
    }
    Ok(Box::new(Files {
        filesystems: loaded.array("filesystems")?,
        others: Rests::new(loaded.array("path_sums")?),
        control: Control::of(&mut loaded)?,
        counts: Counts::of(&mut loaded)?,
        rows: Rows::new(loaded.array("rows")?, lanes.count),
        ring: loaded.ring()?,
        names: Names::new(host),
        events: Events::new(),
        with_events,
        room: Room::new(host.top * NAMED),
        top: host.top,
        offset: 0,
        taken: 0,
        tables: ["file_path", "file_latency", "file_size"].map(TableId::of),
        words: None,
        losses: loaded.losses()?,
        loaded,
    }))
}

impl Source for Files {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let mut entries = self.counts.turn(&mut self.control)?;
        self.taken += self.take_records(out);
        self.names.refresh();
        let known = self.filesystems.get(&0, 0).map_err(io::Error::other)?;
        self.name_filesystems(&known, out);
        let places = devices(&known).map(|(place, _)| place);
        let mut rest = self
            .others
            .grown([OTHER_FS, BY_NAME].into_iter().chain(places))?;
        let named = interval.map_or(0, |_| self.room.take(&mut entries));
        let mut by_process = without_files(&entries[named..]);
        let told = interval.map_or(0, |_| largest(&mut by_process, self.top * NAMED));
        rest.take(&by_process[told..]);
        if interval.is_some() {
            self.tell([&entries[..named], &by_process[..told]], rest, out);
        }
        self.histograms(&known, interval.is_some(), out);
        self.names.turn();
        Ok(())
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        self.offset = offset;
        if self.with_events {
            // Events may be of file systems that were not there when the last sample was taken.
            self.names.refresh();
            if let Ok(known) = self.filesystems.get(&0, 0) {
                self.name_filesystems(&known, out);
            }
        }
        std::mem::take(&mut self.taken) + self.take_records(out)
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        Some(self.ring.as_fd())
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        self.loaded.measured(seconds)
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(self.losses.read("file_event"))
    }

    fn one_in(&mut self, n: u32) {
        self.control.one_in(n);
    }
}

impl Files {
    /// Takes all that waits in the ring; answers with the number of events.
    fn take_records(&mut self, out: &mut Sink) -> u64 {
        let words = self.words.get_or_insert_with(|| Words::new(out));
        let mut taken = 0;
        while let Some(record) = self.ring.next() {
            // The program may have met the file system since its places were read last.
            if events::filesystem(&record).is_some_and(|place| !words.has_met(place))
                && let Ok(known) = self.filesystems.get(&0, 0)
            {
                self.names.refresh();
                words.name_filesystems(&known, &self.names, out);
            }
            let known = Known {
                ops: &words.ops,
                filesystems: &words.filesystems,
            };
            let is_event = self
                .events
                .take(&record, self.offset, &mut self.names, &known, out);
            taken += u64::from(is_event);
        }
        taken
    }

    fn name_filesystems(&mut self, known: &[u64], out: &mut Sink) {
        let words = self.words.get_or_insert_with(|| Words::new(out));
        words.name_filesystems(known, &self.names, out);
    }

    /// Rows of `file_path`: of files with their names, of processes whose files are too many, and of what
    /// else there was.
    fn tell(&mut self, [named, by_process]: [&[Counted]; 2], rest: Rest, out: &mut Sink) {
        let Some(words) = &self.words else {
            return;
        };
        for (place, entry) in named.iter().chain(by_process).enumerate() {
            let file = if place < named.len() {
                out.word(&self.names.path(entry.file))
            } else {
                words.other
            };
            let process = self.names.process(entry.pid, entry.start);
            let [process, command] = process.map(|n| out.word(n));
            let group = out.word(self.names.group(entry.group));
            let (op, filesystem) = words.of(entry.op, entry.filesystem);
            let row = [op, file, filesystem, process, command, group];
            out.row(self.tables[0], &row, &values(entry.sums));
        }
        for ((filesystem, op), sums) in rest.in_order() {
            let (op, filesystem) = words.of(op, filesystem);
            let other = words.other;
            let row = [op, other, filesystem, other, other, other];
            out.row(self.tables[0], &row, &values(sums));
        }
    }

    /// Rows of `file_latency` and `file_size`.
    fn histograms(&mut self, known: &[u64], write: bool, out: &mut Sink) {
        let Some(words) = &self.words else {
            return;
        };
        let [_, latency, size] = self.tables;
        for place in 0..FILESYSTEMS {
            for op in 0..OPS {
                let Some(first) = first_row(known, place, op) else {
                    continue;
                };
                let (op_word, filesystem) = words.of(op, place);
                let mut tell = |table, unit: f64, cells: Vec<(u32, f64, f64)>| {
                    for (cell, ops, bytes) in cells {
                        let value = grid::lower(cell) as f64 * unit;
                        out.row(table, &[op_word, filesystem], &[value, ops, bytes]);
                    }
                };
                let moves = MOVES_BYTES.contains(&op);
                let cells = self.rows.with_bytes(first, moves.then_some(first + 1));
                if write {
                    tell(latency, 1e-9, cells);
                }
                if moves {
                    let cells = self.rows.with_bytes(first + 2, Some(first + 3));
                    if write {
                        tell(size, 1.0, cells);
                    }
                }
            }
        }
    }
}

impl Words {
    fn new(out: &mut Sink) -> Words {
        let unmet = out.word(names::UNKNOWN);
        let mut filesystems = [unmet; FILESYSTEMS];
        filesystems[OTHER_FS] = out.word("(other)");
        filesystems[BY_NAME] = out.word("(by name)");
        Words {
            ops: NAMES.map(|n| out.word(n)),
            other: out.word("(other)"),
            unmet,
            filesystems,
        }
    }

    /// Whether the file system at `place` had one when they were named last.
    fn has_met(&self, place: usize) -> bool {
        self.filesystems.get(place) != Some(&self.unmet)
    }

    /// File systems by where they are mounted now.
    fn name_filesystems(&mut self, known: &[u64], names: &Names, out: &mut Sink) {
        for (place, device) in devices(known) {
            self.filesystems[place] = out.word(names.mount(device));
        }
    }

    fn of(&self, op: usize, filesystem: usize) -> (Word, Word) {
        (
            self.ops[op % OPS],
            self.filesystems[filesystem % FILESYSTEMS],
        )
    }
}

/// The file systems that the program met: place and device number.
fn devices(known: &[u64]) -> impl Iterator<Item = (usize, u32)> {
    let keys = known.iter().step_by(FILESYSTEM_WORDS).enumerate();
    keys.filter(|(_, key)| **key != 0)
        .map(|(place, key)| (place, (key - 1) as u32))
}

/// The first row of an operation, if it has any; two numbers share a word of 64 bits.
fn first_row(known: &[u64], place: usize, op: usize) -> Option<u32> {
    let word = known[place * FILESYSTEM_WORDS + 1 + op / 2];
    ((word >> (32 * (op % 2))) as u32).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_as_the_program_keeps_it() {
        let mut known = vec![0; FILESYSTEMS * FILESYSTEM_WORDS];
        let place = 7 * FILESYSTEM_WORDS;
        known[place] = (254 << 20 | 3) + 1;
        // Operations 4 and 5.
        known[place + 3] = 1 | 5 << 32;
        assert_eq!(devices(&known).collect::<Vec<_>>(), [(7, 254 << 20 | 3)]);
        assert_eq!(first_row(&known, 7, 4), Some(0));
        assert_eq!(first_row(&known, 7, 5), Some(4));
        assert_eq!(first_row(&known, 7, 6), None);
        assert_eq!(first_row(&known, 8, 4), None);
    }
}
