//! One control group: what is read of it, and what is kept between samples.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::BorrowedFd;

use run::Word;

use super::files::{self, Io, keyed, single};
use super::own::Sums;
use crate::slot::{Budget, Slot};

/// A file of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Version 1, `cpuacct.usage`: nanoseconds, exact.
    Usage,
    /// Version 1, user time as the clock tick samples it.
    UsageUser,
    /// Version 1, the same for system time.
    UsageSystem,
    /// Version 1, `cpu.stat`.
    Throttle,
    /// Version 1, `cpu.cfs_quota_us`.
    Quota,
    /// Version 1, `cpu.cfs_period_us`.
    Period,
    /// Version 1.
    MemoryUsage,
    /// Version 1.
    MemoryLimit,
    /// Version 1.
    Hierarchy,
    /// Version 1, `memory.oom_control`.
    OomControl,
    /// Version 1, bytes by device.
    IoBytes,
    /// Version 1, I/Os by device.
    IoCount,
    /// Both.
    Tasks,
    /// Version 2, `cpu.stat`.
    CpuStat,
    /// Version 2.
    CpuMax,
    /// Version 2.
    MemoryCurrent,
    /// Version 2.
    MemoryMax,
    /// Version 2, `memory.events.local`: its own.
    MemoryEvents,
    /// Version 2.
    IoStat,
    /// Version 2: cpu, io, memory.
    Pressure(u8),
}

impl Item {
    fn name(self) -> &'static [u8] {
        match self {
            Item::Usage => b"cpuacct.usage",
            Item::UsageUser => b"cpuacct.usage_user",
            Item::UsageSystem => b"cpuacct.usage_sys",
            Item::Throttle | Item::CpuStat => b"cpu.stat",
            Item::Quota => b"cpu.cfs_quota_us",
            Item::Period => b"cpu.cfs_period_us",
            Item::MemoryUsage => b"memory.usage_in_bytes",
            Item::MemoryLimit => b"memory.limit_in_bytes",
            Item::Hierarchy => b"memory.use_hierarchy",
            Item::OomControl => b"memory.oom_control",
            Item::IoBytes => b"blkio.throttle.io_service_bytes",
            Item::IoCount => b"blkio.throttle.io_serviced",
            Item::Tasks => b"pids.current",
            Item::CpuMax => b"cpu.max",
            Item::MemoryCurrent => b"memory.current",
            Item::MemoryMax => b"memory.max",
            Item::MemoryEvents => b"memory.events.local",
            Item::IoStat => b"io.stat",
            Item::Pressure(0) => b"cpu.pressure",
            Item::Pressure(1) => b"io.pressure",
            Item::Pressure(_) => b"memory.pressure",
        }
    }

    /// Whether only an administrator changes it.
    pub(super) fn is_setting(self) -> bool {
        use Item::{CpuMax, Hierarchy, MemoryLimit, MemoryMax, Period, Quota};
        matches!(
            self,
            CpuMax | Hierarchy | MemoryLimit | MemoryMax | Period | Quota
        )
    }
}

/// What it takes to read the files of groups.
pub(super) struct Files<'f> {
    /// The mount.
    pub(super) root: BorrowedFd<'f>,
    /// Whether counters are read for the first time.
    pub(super) first: bool,
    pub(super) budget: &'f mut Budget,
    pub(super) buffer: &'f mut [u8],
}

/// A device's counters in a group.
pub(super) struct Device {
    pub(super) number: (u32, u32),
    pub(super) sums: Sums<6>,
    now: Option<Io>,
    /// Version 1: what the children did is not among it.
    alone: bool,
}

/// Counters that are a group's own already, and what grew.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts<const N: usize>(Option<[u64; N]>, pub(super) Option<[u64; N]>)
where
    [u64; N]: Default;

impl<const N: usize> Counts<N>
where
    [u64; N]: Default,
{
    fn read(&mut self, now: [u64; N], first: bool) {
        let zero = if first { now } else { [0; N] };
        let before = self.0.replace(now).unwrap_or(zero);
        let grown = |kind: usize| {
            let back = now[kind] < before[kind];
            now[kind] - if back { 0 } else { before[kind] }
        };
        self.1 = Some(std::array::from_fn(grown));
    }
}

/// A level, and the sum of the children's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    now: Option<u64>,
    children: u64,
}

impl Level {
    /// What is the group's own.
    pub(super) fn own(&mut self, with_children: bool) -> f64 {
        let children = std::mem::take(&mut self.children);
        match self.now {
            Some(now) if with_children => now.saturating_sub(children) as f64,
            Some(now) => now as f64,
            None => f64::NAN,
        }
    }
}

/// A group, as it was last read.
#[allow(
    clippy::struct_excessive_bools,
    reason = "they do not exclude one another"
)]
pub(super) struct Group {
    /// Below the mount point; the root's is empty.
    pub(super) path: Vec<u8>,
    /// The same for the kernel, where the root is `.`.
    pub(super) directory: CString,
    pub(super) parent: usize,
    pub(super) links: u64,
    pub(super) gone: bool,
    pub(super) known: bool,
    /// Items that could not be read, a bit each.
    pub(super) absent: u32,
    pub(super) word: Option<Word>,
    /// Where it is.
    place: Slot,
    slots: Vec<Slot>,
    /// Nanoseconds: all, user, system.
    pub(super) time: Sums<3>,
    time_now: [Option<u64>; 3],
    /// Whether its time grew since the last reading.
    ran: bool,
    /// Nanoseconds, periods, throttled periods.
    pub(super) throttle: Counts<3>,
    quota: Vec<u8>,
    pub(super) processors: f64,
    pub(super) memory: Level,
    pub(super) memory_limit: f64,
    pub(super) hierarchical: bool,
    pub(super) oom_kills: Counts<1>,
    pub(super) tasks: Level,
    pub(super) devices: Vec<Device>,
    /// cpu, io, memory: microseconds of some and full.
    pub(super) pressure: [[Counts<1>; 2]; 3],
}

impl Group {
    pub(super) fn new(path: Vec<u8>, items: usize) -> Group {
        let directory = if path.is_empty() { b"." } else { &path[..] };
        Group {
            directory: CString::new(directory).unwrap_or_default(),
            path,
            parent: 0,
            links: 0,
            gone: false,
            known: false,
            absent: 0,
            word: None,
            place: Slot::default(),
            slots: (0..items).map(|_| Slot::default()).collect(),
            time: Sums::default(),
            time_now: [None; 3],
            ran: true,
            throttle: Counts::default(),
            quota: Vec::new(),
            processors: f64::NAN,
            memory: Level::default(),
            memory_limit: f64::NAN,
            hierarchical: true,
            oom_kills: Counts::default(),
            tasks: Level::default(),
            devices: Vec::new(),
            pressure: [[Counts::default(); 2]; 3],
        }
    }

    /// The number of links of its directory. One that is gone may still tell its last, so the
    /// directory is kept only beside a file that cannot be read any more then.
    pub(super) fn count_links(
        &mut self,
        root: BorrowedFd<'_>,
        budget: &mut Budget,
    ) -> io::Result<u64> {
        let keep = self.slots.iter().any(Slot::is_open);
        let place = &mut self.place;
        let status = place.directory(root, &self.directory, keep, budget)?;
        Ok(u64::from(status.st_nlink as u32))
    }

    pub(super) fn close(&mut self, budget: &mut Budget) {
        self.place.close(budget);
        self.slots.iter_mut().for_each(|s| s.close(budget));
    }

    /// A child's amounts are in this group's counters as well, but for version 1's I/O.
    pub(super) fn add_child(&mut self, child: &Group) {
        self.time.child(child.time.growth());
        self.memory.children += child.memory.now.unwrap_or(0);
        self.tasks.children += child.tasks.now.unwrap_or(0);
        for device in child.devices.iter().filter(|d| !d.alone) {
            self.device(device.number).sums.child(device.sums.growth());
        }
    }

    /// A child is gone, with what it owed.
    pub(super) fn inherit(&mut self, child: &Group) {
        self.time.inherit(&child.time);
        for device in &child.devices {
            self.device(device.number).sums.inherit(&device.sums);
        }
    }

    fn device(&mut self, number: (u32, u32)) -> &mut Device {
        let place = self.devices.iter().position(|d| d.number == number);
        let place = place.unwrap_or_else(|| {
            self.devices.push(Device {
                number,
                sums: Sums::default(),
                now: None,
                alone: false,
            });
            self.devices.len() - 1
        });
        &mut self.devices[place]
    }

    /// Reads one file and takes over what it says.
    pub(super) fn read(
        &mut self,
        files: &mut Files<'_>,
        slot: usize,
        item: Item,
    ) -> io::Result<()> {
        // The path is put where the content will be: neither needs a buffer of its own.
        let (path, content) = files.buffer.split_at_mut(PATH);
        let end = self.path.len();
        let name = item.name();
        if end + name.len() + 2 > PATH {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        path[..end].copy_from_slice(&self.path);
        let from = if end == 0 { 0 } else { end + 1 };
        path[end] = b'/';
        path[from..from + name.len()].copy_from_slice(name);
        path[from + name.len()] = 0;
        let path = CStr::from_bytes_until_nul(path).unwrap_or_default();
        let is_split = matches!(item, Item::UsageUser | Item::UsageSystem);
        let keep = files.budget.is_ample() || !(item.is_setting() || is_split);
        let length = self.slots[slot].read(files.root, path, keep, files.budget, content)?;
        self.take(item, &content[..length], files.first);
        Ok(())
    }

    /// Whether this need not be read: how time is split, where there is none to split.
    pub(super) fn spares(&self, item: Item) -> bool {
        matches!(item, Item::UsageUser | Item::UsageSystem) && !self.ran
    }

    /// Version 1: the parts of the time have been read.
    pub(super) fn end_time(&mut self, first: bool) {
        if let [Some(usage), user, system] = self.time_now {
            let parts = [usage, user.unwrap_or(0), system.unwrap_or(0)];
            self.time.read(parts, first);
        }
    }

    /// What `item` said is not known any more.
    pub(super) fn forget(&mut self, item: Item) {
        match item {
            Item::MemoryUsage | Item::MemoryCurrent => self.memory.now = None,
            Item::MemoryLimit | Item::MemoryMax => self.memory_limit = f64::NAN,
            Item::Tasks => self.tasks.now = None,
            Item::Quota | Item::Period | Item::CpuMax => self.processors = f64::NAN,
            _ => {}
        }
    }

    fn take(&mut self, item: Item, bytes: &[u8], first: bool) {
        match item {
            Item::Usage => {
                let usage = single(bytes);
                self.ran = usage != self.time_now[0];
                self.time_now[0] = usage;
            }
            Item::UsageUser => self.time_now[1] = single(bytes),
            Item::UsageSystem => self.time_now[2] = single(bytes),
            Item::CpuStat => self.take_cpu_stat(bytes, first),
            Item::Throttle => self.take_throttle(bytes, b"throttled_time", 1, first),
            Item::Quota => {
                self.quota.clear();
                self.quota.extend_from_slice(bytes);
            }
            Item::Period => self.processors = files::processors(&self.quota, Some(bytes)),
            Item::CpuMax => self.processors = files::processors(bytes, None),
            Item::MemoryUsage | Item::MemoryCurrent => self.memory.now = single(bytes),
            Item::MemoryLimit | Item::MemoryMax => self.memory_limit = files::limit(bytes),
            Item::Hierarchy => self.hierarchical = single(bytes) != Some(0),
            Item::OomControl | Item::MemoryEvents => {
                if let Some(kills) = keyed(bytes, b"oom_kill") {
                    self.oom_kills.read([kills], first);
                }
            }
            Item::Tasks => self.tasks.now = single(bytes),
            Item::IoStat => {
                for (number, now) in files::io(bytes) {
                    self.device(number).sums.read(now, first);
                }
            }
            Item::IoCount | Item::IoBytes => self.take_io(item, bytes, first),
            Item::Pressure(resource) => {
                let counts = &mut self.pressure[usize::from(resource)];
                for (count, total) in counts.iter_mut().zip(files::pressure(bytes)) {
                    if let Some(total) = total {
                        count.read([total], first);
                    }
                }
            }
        }
    }

    fn take_cpu_stat(&mut self, bytes: &[u8], first: bool) {
        let micro = |key: &[u8]| keyed(bytes, key).map(|us| us * 1000);
        let parts = [micro(b"user_usec"), micro(b"system_usec")];
        if let (Some(mut usage), [Some(user), Some(system)]) = (micro(b"usage_usec"), parts) {
            if self.path.is_empty() {
                // The root's holds stolen time too, which no group used.
                usage = user + system;
            }
            self.time.read([usage, user, system], first);
        }
        self.take_throttle(bytes, b"throttled_usec", 1000, first);
    }

    fn take_throttle(&mut self, bytes: &[u8], time: &[u8], nanos: u64, first: bool) {
        let [time, periods, throttled] =
            [time, b"nr_periods", b"nr_throttled"].map(|key| keyed(bytes, key));
        if let (Some(time), Some(periods), Some(throttled)) = (time, periods, throttled) {
            let now = [time.saturating_mul(nanos), periods, throttled];
            self.throttle.read(now, first);
        }
    }

    /// Version 1: counts first, then bytes, which complete the devices.
    fn take_io(&mut self, item: Item, bytes: &[u8], first: bool) {
        let from = if item == Item::IoCount { 0 } else { 3 };
        for (number, op, value) in files::io_v1(bytes) {
            let device = self.device(number);
            device.alone = true;
            device.now.get_or_insert_default()[from + op] = value;
        }
        if item == Item::IoBytes {
            for device in &mut self.devices {
                if let Some(now) = device.now.take() {
                    device.sums.read(now, first);
                }
            }
        }
    }
}

/// Room for the path of a file; the rest of the buffer is for its content.
pub(super) const PATH: usize = 4096;
