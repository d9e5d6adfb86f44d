//! What a row of `zpool iostat` is of: a pool, or what is within one.
//!
//! With `-v` a device stands two columns further in than what it is part of. Where those blanks are
//! gone, as a page has it, the dashed lines tell it, of which one stands above each pool: what
//! follows the pool's row up to the next is within it. With `-H` there are neither.

use std::collections::{HashMap, HashSet};

use super::vdev;
use crate::disk::layer;
use crate::lines::BLANKS_LOST;
use crate::out::Out;

/// A row whose place among the devices is not known before the next.
pub(super) struct Row {
    pub(super) indent: usize,
    pub(super) name: Vec<u8>,
    pub(super) values: Vec<f64>,
    pub(super) is_pool: bool,
}

/// What the header says of rows that are not moved in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// There is no header.
    Unnamed,
    Pools,
    /// Devices that were asked for by name.
    Devices,
}

/// Whether what is in pools is moved in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Untold,
    MovedIn,
    /// The blanks before it are gone.
    Lost,
}

/// Dashed lines below the header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dashes {
    None,
    /// The next row is the first below such a line.
    JustAbove,
    Above,
}

pub(super) struct Place {
    pub(super) rows: Rows,
    /// Names of the report: of rows that are not moved in, and how often each of what is in pools.
    outermost: HashSet<Vec<u8>>,
    times: HashMap<Vec<u8>, u32>,
    pool: Vec<u8>,
    /// What the pool's row has.
    of_pool: Vec<f64>,
    /// The upper header stands at the edge, where the tool has blanks before it.
    pub(super) top_at_edge: bool,
    /// The command line has -v.
    pub(super) is_told_verbose: bool,
    depth: Depth,
    dashes: Dashes,
}

impl Place {
    pub(super) fn new() -> Place {
        Place {
            rows: Rows::Unnamed,
            outermost: HashSet::new(),
            times: HashMap::new(),
            pool: Vec::new(),
            of_pool: Vec::new(),
            top_at_edge: false,
            is_told_verbose: false,
            depth: Depth::Untold,
            dashes: Dashes::None,
        }
    }

    pub(super) fn begin(&mut self) {
        self.outermost.clear();
        self.times.clear();
    }

    pub(super) fn command(&mut self, is_verbose: bool) {
        self.is_told_verbose = is_verbose;
        self.depth = Depth::Untold;
    }

    pub(super) fn header(&mut self, rows: Rows) {
        self.rows = rows;
        self.dashes = Dashes::None;
    }

    pub(super) fn dashes(&mut self) {
        self.dashes = Dashes::JustAbove;
    }

    /// Finds whether the row is a pool's; `Err` says why nobody can tell.
    pub(super) fn seat(&mut self, row: &mut Row, out: &mut Out) -> Result<(), &'static str> {
        let is_first = self.is_just_below();
        if row.indent > 0 {
            self.depth = Depth::MovedIn;
            return Ok(());
        }
        let is_within = self.rows == Rows::Pools && self.is_within(row);
        if self.depth == Depth::MovedIn && self.top_at_edge && is_within {
            return Err(BLANKS_LOST);
        }
        if self.rows == Rows::Pools && self.depth != Depth::MovedIn {
            let is_lined = self.dashes != Dashes::None;
            let is_below = self.is_told_verbose && is_lined || self.is_of_one(row);
            if is_within || !is_first && is_below {
                self.depth = Depth::Lost;
            }
            let is_lost = self.depth == Depth::Lost;
            if is_lost && (!is_lined || is_first && is_within) {
                return Err(BLANKS_LOST);
            }
            let is_other = !is_first && row.name != self.pool;
            if !is_lost && is_other && is_named_as_disk(&row.name) {
                out.note(
                    "rows that are named as disks stand where pools do, and were taken for pools; \
                     were blanks before them lost, they are none",
                );
            }
        }
        row.is_pool = match self.rows {
            Rows::Pools => self.depth != Depth::Lost || is_first,
            Rows::Devices => false,
            // Names and missing sizes have to tell.
            Rows::Unnamed => {
                let sized = row.values.first().is_some_and(|v| !v.is_nan());
                sized && !vdev::is_group(&row.name) && layer(&row.name) == "stacked"
            }
        };
        Ok(())
    }

    /// Whether the row is the first below a dashed line.
    fn is_just_below(&mut self) -> bool {
        let is_first = self.dashes == Dashes::JustAbove;
        if is_first {
            self.dashes = Dashes::Above;
        }
        is_first
    }

    /// Whether a row that is not moved in is of what is in a pool for sure: such names no pool has, and
    /// only what is in a group has I/Os and no size.
    fn is_within(&self, row: &Row) -> bool {
        let (sizes, rates) = row.values.split_at(row.values.len().min(2));
        let is_unsized = sizes.first().is_some_and(|v| v.is_nan());
        let is_reserved = matches!(&row.name[..], [b'c', digit, ..] if digit.is_ascii_digit());
        vdev::is_group(&row.name)
            || is_reserved
            || row.name.contains(&b'/')
            || is_unsized && (self.top_at_edge || rates.iter().any(|v| *v > 0.0))
    }

    /// Whether the row is of the only device of the pool above: it has the same numbers.
    fn is_of_one(&self, row: &Row) -> bool {
        is_named_as_disk(&row.name)
            && !is_named_as_disk(&self.pool)
            && row.values.iter().take(6).eq(self.of_pool.iter().take(6))
    }

    /// Whether the row is the second of its name where each has one in a report.
    pub(super) fn is_again(&self, row: &Row) -> bool {
        let is_listed = match self.rows {
            Rows::Pools => row.is_pool,
            Rows::Devices => true,
            // Groups of one pool are named alike in old releases; a pool may be named as a disk.
            Rows::Unnamed => self.pool.is_empty() || !vdev::is_group(&row.name),
        };
        row.indent == 0 && is_listed && self.outermost.contains(&row.name)
    }

    /// The row is of the report that has begun.
    pub(super) fn take(&mut self, row: &Row) {
        if row.indent == 0 {
            self.outermost.insert(row.name.clone());
        }
        if row.is_pool {
            self.pool.clone_from(&row.name);
            self.of_pool.clone_from(&row.values);
        }
    }

    /// A row of that name, which is not moved in, is not understood.
    pub(super) fn lost(&mut self, name: &[u8]) {
        // What follows is in a pool that is not known.
        if self.is_just_below() || self.depth != Depth::Lost {
            self.pool.clear();
        }
        self.title(name);
    }

    /// Whether the report has a row or a histogram of that name already.
    pub(super) fn is_titled(&self, name: &[u8]) -> bool {
        self.outermost.contains(name)
    }

    pub(super) fn title(&mut self, name: &[u8]) {
        self.outermost.insert(name.to_vec());
    }

    /// The name of what is in a pool. Groups of pools are named alike, and of old releases those of
    /// one; the second of a name is told apart by its number.
    pub(super) fn name(&mut self, row: &Row, is_group: bool, out: &mut Out) -> Vec<u8> {
        let mut full = Vec::new();
        if is_group && !self.pool.is_empty() {
            full.extend_from_slice(&self.pool);
            full.push(b'/');
        }
        let own = if is_group {
            &row.name
        } else {
            vdev::short(&row.name)
        };
        full.extend_from_slice(own);
        let times = self.times.entry(full.clone()).or_default();
        *times += 1;
        if *times > 1 {
            full.extend_from_slice(format!("#{times}").as_bytes());
            if !is_group {
                out.note("devices of one name in a report are told apart as `name`, `name#2`");
            }
        }
        full
    }
}

fn is_named_as_disk(name: &[u8]) -> bool {
    matches!(layer(name), "disk" | "partition")
}
