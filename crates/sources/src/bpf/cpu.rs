//! Processor time of control groups as distributions, from the kernel's scheduler
//! (`cpu.bpf.c`).
//!
//! At each switch the group of the task that leaves is charged with what the task ran, as the
//! kernel itself counts it (`sum_exec_runtime`). So the time of a group is that of its own
//! counter, short-lived tasks included. The idle task is charged to nobody. Slices under way
//! are counted as far as they are, in the bucket of their length so far; as a slice each
//! counts when it ends. A wait is counted when it ends, to the group that then runs.
//!
//! <https://docs.kernel.org/scheduler/index.html>

mod groups;
mod left;
mod processors;

use std::io;

use aya::maps::{Array, MapData, MapError, RingBuf};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word, grid};
use rustix::time::{ClockId, clock_gettime};

use super::attach::Hook;
use super::control::Control;
use super::load::{Constant, Lanes, Loaded, load, processors};
use super::who::{Who, group_hierarchy, group_subsystem};
use crate::read::{fields, lines};
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use groups::{GROUPS, Groups, Kind};
use processors::{Part, Processors};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-cpu",
    help: "processor time of control groups: how long tasks ran at a time, and waited to",
    reads: "tracepoints sched:sched_switch, sched_wakeup, sched_wakeup_new, cgroup:cgroup_attach_task, cgroup_rmdir; the list of tasks once",
    link: "https://docs.kernel.org/scheduler/index.html",
    detail: Detail::Distributions,
    open,
};

const SWITCH: &str = "cpu_switch";
const HOOKS: [Hook; 6] = [
    // Before groups are met.
    Hook::useful("cpu_gone", "cgroup_rmdir"),
    Hook::useful("cpu_wakeup", "sched_wakeup"),
    Hook::useful("cpu_new", "sched_wakeup_new"),
    Hook::needed(SWITCH, "sched_switch"),
    Hook::useful("cpu_move", "cgroup_attach_task"),
    Hook::useful("cpu_first", "iter/task"),
];

/// Room for names that wait to be read: of some 190 groups that are new at once.
const RING_BYTES: u32 = 128 << 10;
/// Pages of the histograms: a group uses some 24, when all of its tasks differ.
const PAGES_OF_GROUP: u32 = 24;
const MOST_PAGES: u32 = 9728;

struct Cpu {
    loaded: Loaded,
    ring: RingBuf<MapData>,
    who: Who,
    processors: Processors,
    groups: Groups,
    control: Control,
    losses: Array<MapData, [u64; 8]>,
    /// Whether the beginning of each wait is seen.
    waits: bool,
    /// Slices and waits that are in no histogram.
    beyond: u64,
    others: Option<Word>,
    rows: Cells,
    total: TableId,
    slice: TableId,
    wait: TableId,
}

/// What the program could not keep, since it was loaded.
#[derive(Default)]
struct Losses {
    names: u64,
    /// Slices of groups that have no place.
    groups: u64,
    /// Slices of which the wait before is not known.
    waits: u64,
    unseen: u64,
}

/// What the cells of a group grew by in an interval: cell, count, nanoseconds.
#[derive(Default)]
struct Cells {
    slices: Vec<(Option<u32>, u64, u64)>,
    waits: Vec<(Option<u32>, u64, u64)>,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let lanes = Lanes::of_this_machine();
    let processors = processors();
    let pages = pages_of(&std::fs::read(host.proc("cgroups")).unwrap_or_default());
    let constants = [
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_pages", pages),
        Constant::Word("group_subsystem", group_subsystem(host)),
        Constant::Word("group_hierarchy", group_hierarchy(host)),
    ];
    let sizes = [
        ("cpus", processors),
        ("firsts", processors),
        ("cuts", processors),
        ("pages", pages),
        ("free_pages", pages),
        ("ring", RING_BYTES),
        // Only names of groups are told.
        ("told_processes", 1),
        ("told_files", 1),
    ];
    let mut loaded = load(host, super::object!("cpu"), &sizes, &constants, &HOOKS)?;
    Ok(Box::new(Cpu {
        ring: loaded.ring()?,
        who: Who::new(host),
        processors: Processors::new(&mut loaded)?,
        groups: Groups::new(&mut loaded)?,
        control: Control::of(&mut loaded)?,
        losses: loaded.array("losses")?,
        waits: loaded.attached("cpu_wakeup") && loaded.attached("cpu_new"),
        beyond: 0,
        others: None,
        rows: Cells::default(),
        total: TableId::of("cpu_cgroup"),
        slice: TableId::of("cpu_slice"),
        wait: TableId::of("cpu_wait"),
        loaded,
    }))
}

/// Pages for the groups that there are, and for as many that may come. From `/proc/cgroups`:
/// `cpuacct 3 14 1`, the third field being the number of groups.
fn pages_of(cgroups: &[u8]) -> u32 {
    let groups = lines(cgroups)
        .filter_map(|l| std::str::from_utf8(fields(l).nth(2)?).ok()?.parse().ok())
        .max();
    (groups.unwrap_or(0_u32).clamp(32, 1 << 12) * 2 * PAGES_OF_GROUP).min(MOST_PAGES)
}

impl Source for Cpu {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        self.learn_names(out);
        self.read(interval.is_some(), out).map_err(io::Error::other)
    }

    fn drain(&mut self, _offset: Nanos, out: &mut Sink) -> u64 {
        self.learn_names(out);
        0
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(Lost {
            table: "cpu_slice",
            dropped: 0,
            unseen: self.beyond + self.losses().groups,
        })
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        let remarks = self.remarks();
        let mut programs = self.loaded.measured(seconds);
        if let Some(switch) = programs.iter_mut().find(|p| p.name == SWITCH) {
            switch.detail = remarks;
        }
        programs
    }
}

impl Cpu {
    /// Takes the names of groups that wait in the ring.
    fn learn_names(&mut self, out: &mut Sink) {
        while let Some(record) = self.ring.next() {
            self.who.take(&record, out);
        }
    }

    fn read(&mut self, write: bool, out: &mut Sink) -> Result<(), MapError> {
        let interval = self.control.turn()?;
        self.groups.learn_left()?;
        let mut parts = Vec::new();
        self.processors.cut(now(), |part| parts.push(part))?;
        let due = self.groups.due(self.processors.held());
        let mut places = self.groups.charged(interval)?;
        places.extend(&due);
        places.extend(parts.iter().map(|p| p.place.min(GROUPS)));
        places.sort_unstable();
        places.dedup();
        let mut named = Vec::with_capacity(places.len());
        for place in places {
            if let Some(word) = self.word_at(place, out)? {
                named.push((word, place));
            }
        }
        // Those that nobody knows have one name, and so has a group that was made anew.
        named.sort_by_key(|(group, _)| *group);
        for same in named.chunk_by(|a, b| a.0 == b.0) {
            self.rows.slices.clear();
            self.rows.waits.clear();
            for (_, place) in same {
                self.gather(*place, &parts)?;
            }
            if write {
                self.write(same[0].0, out);
            }
        }
        due.into_iter()
            .try_for_each(|place| self.groups.free(place))
    }

    /// The name of the group at that place, if it is somebody's.
    fn word_at(&mut self, place: usize, out: &mut Sink) -> Result<Option<Word>, MapError> {
        if place < GROUPS {
            let id = self.groups.id(place)?;
            return Ok(id.map(|id| self.who.group_word(id, out)));
        }
        Ok(Some(
            *self
                .others
                .get_or_insert_with(|| out.word("(other groups)")),
        ))
    }

    /// Adds what grew at that place to the cells.
    fn gather(&mut self, place: usize, parts: &[Part]) -> Result<(), MapError> {
        let rows = &mut self.rows;
        for part in parts.iter().filter(|p| p.place.min(GROUPS) == place) {
            let cell = grid::index(part.length);
            rows.slices.push((Some(cell), 0, part.time));
        }
        self.groups.growth(place, |g| {
            let cells = match g.kind {
                Kind::Slice => &mut rows.slices,
                Kind::Wait => &mut rows.waits,
            };
            cells.push((g.cell, g.count, g.time));
        })
    }

    /// The rows of a group.
    fn write(&mut self, group: Word, out: &mut Sink) {
        let (slices, time, lost) = histogram(&mut self.rows.slices, |cell, count, seconds| {
            out.row(self.slice, &[group], &[cell, seconds, count]);
        });
        self.beyond += lost;
        let (waits, waited, lost) = histogram(&mut self.rows.waits, |cell, count, seconds| {
            if self.waits {
                out.row(self.wait, &[group], &[cell, count, seconds]);
            }
        });
        self.beyond += lost;
        if slices > 0.0 || time > 0.0 || waits > 0.0 {
            let [waits, waited] = if self.waits {
                [waits, waited]
            } else {
                [f64::NAN; 2]
            };
            out.row(self.total, &[group], &[time, slices, waits, waited]);
        }
    }

    /// What the program could not keep.
    fn losses(&self) -> Losses {
        let mut all = Losses::default();
        for lane in 0..self.losses.len() {
            if let Ok(lost) = self.losses.get(&lane, 0) {
                all.names += lost[0];
                all.groups += lost[1];
                all.waits += lost[2];
                all.unseen += lost[3];
            }
        }
        all
    }

    /// What could not be kept, in words; empty if nothing was lost.
    fn remarks(&self) -> String {
        let Losses {
            names,
            groups,
            waits,
            unseen,
        } = self.losses();
        let mut lost = Vec::new();
        if self.beyond > 0 {
            lost.push(format!(
                "{} slices and waits are in no histogram: its memory is full",
                self.beyond
            ));
        }
        if groups > 0 {
            lost.push(format!(
                "{groups} slices are those of (other groups): there are too many groups"
            ));
        }
        if waits > 0 && self.waits {
            lost.push(format!("of {waits} slices the wait before is not known"));
        }
        if unseen > 0 {
            lost.push(format!("{unseen} switches were not told by the kernel"));
        }
        if names > 0 {
            lost.push(format!("{names} names of groups came too fast"));
        }
        lost.join("; ")
    }
}

/// Adds up what cells grew by: tells each cell's value, count and seconds, in order. Answers
/// with all counts and seconds, and the count of what has no cell.
fn histogram(
    cells: &mut [(Option<u32>, u64, u64)],
    mut each: impl FnMut(f64, f64, f64),
) -> (f64, f64, u64) {
    cells.sort_unstable_by_key(|c| c.0);
    let (mut all, mut nanoseconds, mut lost) = (0, 0, 0);
    for same in cells.chunk_by(|a, b| a.0 == b.0) {
        let count: u64 = same.iter().map(|c| c.1).sum();
        let time: u64 = same.iter().map(|c| c.2).sum();
        all += count;
        nanoseconds += time;
        match same[0].0 {
            Some(cell) => each(
                grid::lower(cell) as f64 / 1e9,
                count as f64,
                time as f64 / 1e9,
            ),
            None => lost += count,
        }
    }
    (all as f64, nanoseconds as f64 / 1e9, lost)
}

/// Nanoseconds by the clock of the programs, which stands while the machine sleeps.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_grow_with_the_groups() {
        let few = b"#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuacct\t3\t1\t1\n";
        assert_eq!(pages_of(few), 1536);
        let many = b"cpuset\t3\t1\t1\ncpuacct\t3\t500\t1\n";
        assert_eq!(pages_of(many), MOST_PAGES);
        assert_eq!(pages_of(b"cpuacct 3 100 1\ncpu 3\n\xff \xff \xff\n"), 4800);
        assert_eq!(pages_of(b""), 1536);
    }

    #[test]
    fn cells_add_up() {
        let mut cells = vec![
            (Some(200), 0, 7),
            (None, 3, 11),
            (Some(5), 2, 10),
            (Some(200), 1, 400),
        ];
        let mut told = Vec::new();
        let sums = histogram(&mut cells, |cell, count, seconds| {
            told.push((cell, count, seconds));
        });
        assert_eq!(sums, (6.0, 428e-9, 3));
        assert_eq!(told, [(5e-9, 2.0, 10e-9), (288e-9, 1.0, 407e-9)]);
    }
}
