//! Segments of each interface as distributions and events, from the kernel's network
//! tracepoints (`net.bpf.c`).
//!
//! queue (before the queueing discipline) → driver, and driver (after joining) → receive. Sizes
//! count the link's header where the interface's own counters do, so that on a virtual link the
//! bytes of the driver's stage are those of `/proc/net/dev`. Hardware that cuts or joins
//! segments counts the headers of each packet; here a segment has its own only.
//!
//! <https://docs.kernel.org/networking/segmentation-offloads.html>

mod events;
mod interfaces;

use std::io;
use std::os::fd::BorrowedFd;

use aya::maps::{Array, MapData};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink, Word, grid};

use super::attach::Hook;
use super::cells::{Grown, Rows};
use super::control::Control;
use super::load::{Constant, Lanes, Loaded, load, processors};
use super::losses::Losses;
use crate::{Availability, Detail, Entry, Host, Lost, Source};
use events::Events;
use interfaces::{Interfaces, Known, TableOfInterfaces, WAYS_AND_CONTEXTS};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "bpf-net",
    help: "segments of each interface: size, packets each becomes, in whose time; each as an event",
    reads: "tracepoints net:net_dev_queue, net_dev_start_xmit, net_dev_xmit, netif_receive_skb, \
            irq:softirq_entry, softirq_exit",
    link: "https://docs.kernel.org/networking/segmentation-offloads.html",
    detail: Detail::Distributions,
    open,
};

/// Ways a segment passes, in the program's order. What the driver gave back is taken off what it
/// was handed.
const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;
const QUEUE: usize = 2;
const RETURNED: usize = 3;
const CONTEXTS: usize = 3;
/// The place among them of soft interrupts.
const SOFTIRQ: usize = 1;

/// Cells of a row: sizes, then numbers of packets, then the bytes of those.
const SIZES: usize = 1024;
const PACKETS: usize = 512;

/// Softirqs first: what is counted before they are seen would be taken for a process's.
const HOOKS: [Hook; 6] = [
    Hook::useful("net_softirq_entry", "softirq_entry"),
    Hook::useful("net_softirq_exit", "softirq_exit"),
    Hook::needed("net_transmit", "net_dev_start_xmit"),
    Hook::needed("net_receive", "netif_receive_skb"),
    Hook::useful("net_queue", "net_dev_queue"),
    Hook::useful("net_returned", "net_dev_xmit"),
];
const SOFTIRQS: [&str; 2] = ["softirq_entry", "softirq_exit"];

/// The fixed words of the rows.
#[derive(Clone, Copy)]
struct Fixed {
    /// By way: direction and stage.
    ways: [[Word; 2]; 3],
    contexts: [Word; CONTEXTS],
    /// Whether these are known.
    with_contexts: bool,
}

struct Net {
    loaded: Loaded,
    losses: Losses,
    table: Array<MapData, TableOfInterfaces>,
    control: Control,
    rows: Rows,
    interfaces: Interfaces,
    /// Whether the kernel tells of softirqs; otherwise nobody knows whose time it is.
    with_contexts: bool,
    owed: Vec<Owed>,
    fixed: Option<Fixed>,
    sizes: TableId,
    packets: TableId,
    events: Option<Events>,
}

/// What a driver gave back, and is not yet taken off what it was handed.
struct Owed {
    row: u32,
    cell: u32,
    amount: Grown,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    let lanes = Lanes::of_this_machine();
    let with_events = host.look.events_of("net");
    let here = std::fs::read_dir(host.sys("class/net")).map_or(0, Iterator::count);
    // Mostly a way and context or two an interface; one of ours may have its other end in
    // another namespace. The first rows are those of all that there is no room for.
    let rows = (8 * here as u32).clamp(64, 180) + WAYS_AND_CONTEXTS as u32;
    let constants = [
        Constant::Word("lanes", lanes.count),
        Constant::Word("lane_mask", lanes.count - 1),
        Constant::Flag("lanes_shared", lanes.shared),
        Constant::Word("all_rows", rows),
        Constant::Flag("with_events", with_events),
        Constant::Word("own_space", interfaces::own_space(host) as u32),
        Constant::Word("group_subsystem", super::who::group_subsystem(host)),
    ];
    let room = |with: u32, without| if with_events { with } else { without };
    let sizes = [
        ("rows", rows * lanes.count),
        ("softirqs", processors()),
        ("ring", room(host.look.ring_bytes / 2, 4096)),
        ("told_processes", room(8192, 1)),
        ("told_groups", room(8192, 1)),
        ("told_files", 1),
    ];
    let mut hooks = HOOKS.to_vec();
    if with_events {
        hooks.push(super::who::EXEC);
    }
    let mut loaded = load(host, super::object!("net"), &sizes, &constants, &hooks)?;
    let attached = |hook: &str| {
        let mut programs = loaded.programs();
        programs.any(|p| p.hook == hook && p.state == "attached")
    };
    Ok(Box::new(Net {
        with_contexts: SOFTIRQS.iter().all(|h| attached(h)),
        table: loaded.array("interfaces")?,
        control: Control::of(&mut loaded)?,
        rows: Rows::new(loaded.array("rows")?, lanes.count),
        interfaces: Interfaces::new(host),
        owed: Vec::new(),
        fixed: None,
        sizes: TableId::of("net_size"),
        packets: TableId::of("net_packets"),
        events: if with_events {
            Some(Events::new(host, loaded.ring()?))
        } else {
            None
        },
        losses: loaded.losses()?,
        loaded,
    }))
}

impl Source for Net {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let table = self.table.get(&0, 0).map_err(io::Error::other)?;
        let past = self.control.interval();
        self.control.turn().map_err(io::Error::other)?;
        self.interfaces.take(&table, interval, out);
        let fixed = self.fixed(out);
        for place in self.interfaces.touched(&table, past) {
            if let Some(known) = self.interfaces.known(place) {
                self.report(known, interfaces::rows(&table, place), fixed, interval, out);
            }
        }
        Ok(())
    }

    fn gather(&mut self) -> io::Result<bool> {
        let table = self.table.get(&0, 0).map_err(io::Error::other)?;
        for row in interfaces::rows_touched(&table, self.control.interval()) {
            self.rows.gather(row);
        }
        Ok(true)
    }

    fn drain(&mut self, offset: Nanos, out: &mut Sink) -> u64 {
        let fixed = self.fixed(out);
        let Some(events) = &mut self.events else {
            return 0;
        };
        let (table, interfaces) = (&self.table, &mut self.interfaces);
        events.drain(offset, fixed, out, |place, out| {
            if interfaces.known(place).is_none()
                && let Ok(table) = table.get(&0, 0)
            {
                interfaces.take(&table, None, out);
            }
            interfaces.known(place)
        })
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(Events::ready)
    }

    fn measured(&mut self, seconds: f64) -> Vec<Program> {
        self.loaded.measured(seconds)
    }

    fn lost(&mut self) -> Option<Lost> {
        Some(self.losses.read("net_event"))
    }

    fn one_in(&mut self, n: u32) {
        self.control.one_in(n);
    }
}

impl Net {
    fn fixed(&mut self, out: &mut Sink) -> Fixed {
        let with_contexts = self.with_contexts;
        let names = if with_contexts {
            ["process", "softirq", "ksoftirqd"]
        } else {
            ["(unknown)"; CONTEXTS]
        };
        *self.fixed.get_or_insert_with(|| {
            let [receive, transmit] = ["receive", "transmit"].map(|w| out.word(w));
            let [driver, queue] = ["driver", "queue"].map(|w| out.word(w));
            Fixed {
                ways: [[receive, driver], [transmit, driver], [transmit, queue]],
                contexts: names.map(|n| out.word(n)),
                with_contexts,
            }
        })
    }

    /// Rows of an interface, which has these rows in the kernel.
    fn report(
        &mut self,
        known: Known,
        rows: [u32; WAYS_AND_CONTEXTS],
        fixed: Fixed,
        interval: Option<f64>,
        out: &mut Sink,
    ) {
        for (context, word) in fixed.contexts.into_iter().enumerate() {
            let row = |way: usize| rows[way * CONTEXTS + context].checked_sub(1);
            // Before what was handed over: what is given back was counted there.
            if let (Some(handed), Some(returned)) = (row(TRANSMIT), row(RETURNED)) {
                let owed = &mut self.owed;
                self.rows.growth(returned, |cell, amount| {
                    owed.push(Owed {
                        row: handed,
                        cell: cell as u32,
                        amount,
                    });
                });
            }
            for way in [RECEIVE, TRANSMIT, QUEUE] {
                let Some(row) = row(way) else {
                    continue;
                };
                let [direction, stage] = fixed.ways[way];
                let words = [known.name, known.layer, direction, word, stage];
                let cells = self.grown(row);
                if interval.is_some() {
                    self.write(&cells, &words, out);
                }
            }
        }
    }

    /// What the cells of a row grew by, less what the driver gave back.
    fn grown(&mut self, row: u32) -> Vec<(usize, Grown)> {
        let mut cells = Vec::new();
        self.rows.growth(row, |cell, grown| {
            cells.push((cell, grown));
        });
        if self.owed.is_empty() {
            return cells;
        }
        for (cell, grown) in &mut cells {
            self.owed.retain(|owed| {
                let is_this = owed.row == row && owed.cell as usize == *cell;
                let taken = is_this.then(|| less(*cell, *grown, owed.amount)).flatten();
                if let Some(rest) = taken {
                    *grown = rest;
                }
                taken.is_none()
            });
        }
        cells.retain(|(_, grown)| *grown != Grown::default());
        cells
    }

    fn write(&self, cells: &[(usize, Grown)], words: &[Word], out: &mut Sink) {
        let bytes_of = |packets: usize| {
            let at = SIZES + PACKETS + packets;
            cells.iter().find(|c| c.0 == at).map_or(0, |c| c.1.whole())
        };
        for (cell, grown) in cells.iter().copied() {
            if cell < SIZES {
                let size = grid::lower(cell as u32) as f64;
                let segments = grown.count as f64;
                let values = [size, segments, segments * size + grown.amount as f64];
                out.row(self.sizes, words, &values);
            } else if cell < SIZES + PACKETS {
                let packets = cell - SIZES;
                let size = grid::lower(packets as u32) as f64;
                let values = [size, grown.whole() as f64, bytes_of(packets) as f64];
                out.row(self.packets, words, &values);
            }
        }
    }
}

/// What is left of a cell's growth; `None` if that is less than what is taken off. A cell of
/// sizes holds two numbers.
fn less(cell: usize, grown: Grown, owed: Grown) -> Option<Grown> {
    if cell < SIZES {
        return Some(Grown {
            count: grown.count.checked_sub(owed.count)?,
            amount: grown.amount.checked_sub(owed.amount)?,
        });
    }
    let rest = grown.whole().checked_sub(owed.whole())?;
    Some(Grown {
        count: rest,
        amount: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_off_only_where_it_was_handed_over() {
        let of = |count: u64, amount: u64| Grown { count, amount };
        assert_eq!(less(700, of(3, 90), of(1, 30)), Some(of(2, 60)));
        assert_eq!(less(700, of(1, 30), of(1, 30)), Some(of(0, 0)));
        assert_eq!(less(700, of(3, 10), of(1, 30)), None);
        assert_eq!(less(700, of(0, 90), of(1, 30)), None);
        assert_eq!(less(SIZES + 1, of(5, 0), of(7, 0)), None);
        let rest = less(SIZES + PACKETS, of(3, 1 << 8), of(7, 0));
        assert_eq!(rest.map(Grown::whole), Some((1 << 40) - 4));
    }
}
