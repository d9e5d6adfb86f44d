//! The only place that reads clocks.
//!
//! A run's time is the wall clock at its start plus the time that passed since
//! (`CLOCK_BOOTTIME`: it does not step, and goes on while the machine sleeps). So times in a
//! run never jump, whoever sets the clock meanwhile; a jump is noticed and told.

use std::os::fd::BorrowedFd;

use run::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

fn read(clock: ClockId) -> Nanos {
    let t = clock_gettime(clock);
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// The wall clock, now.
pub(crate) fn wall() -> Nanos {
    read(ClockId::Realtime)
}

/// Time since the machine started, asleep too: for lengths, as it does not step.
pub(crate) fn since_boot() -> Nanos {
    read(ClockId::Boottime)
}

/// Processor time of this process so far, in seconds.
pub(crate) fn own_cpu() -> f64 {
    read(ClockId::ProcessCPUTime) as f64 / 1e9
}

/// Processor time of this thread so far, in seconds.
pub(crate) fn own_thread_cpu() -> f64 {
    read(ClockId::ThreadCPUTime) as f64 / 1e9
}

/// The clock of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunClock {
    /// Wall clock minus time since boot, at the run's start.
    offset: Nanos,
    /// The same as last seen; it differs from `offset` after a step.
    seen: Nanos,
}

/// A smaller change of the wall clock is the clock being steered, not set.
const STEP: Nanos = 50_000_000;

impl RunClock {
    /// Starts now.
    pub(crate) fn start() -> RunClock {
        let offset = wall() - read(ClockId::Boottime);
        RunClock {
            offset,
            seen: offset,
        }
    }

    /// Now, on the run's clock.
    pub(crate) fn now(&self) -> Nanos {
        read(ClockId::Boottime) + self.offset
    }

    /// Waits for `time`, or until one of `fds` can be read; answers whether anything but the
    /// time may have come.
    pub(crate) fn wait_until(&self, time: Nanos, fds: &[BorrowedFd<'_>]) -> bool {
        let left = (time - self.now()).max(0);
        let wait = Timespec {
            tv_sec: left / 1_000_000_000,
            tv_nsec: left % 1_000_000_000,
        };
        let wanted = fds.iter().map(|fd| PollFd::new(fd, PollFlags::IN));
        // Interrupted: the caller looks at everything.
        poll(&mut wanted.collect::<Vec<_>>(), Some(&wait)) != Ok(0)
    }

    /// The run's clock less `CLOCK_MONOTONIC`, which programs in the kernel read, as it is a
    /// quarter cheaper. It stands while the machine sleeps; the run's clock does not: events that
    /// were told before it slept and are read after it come late by as long as that was. Which
    /// they are is not known, as in the programs' clock there is no gap.
    pub(crate) fn less_monotonic(&self) -> Nanos {
        // Somebody else may run between the two readings, which makes it too small.
        let tries = (0..3).map(|_| self.now() - read(ClockId::Monotonic));
        tries.max().unwrap_or(self.offset)
    }

    /// How far the wall clock was set since last asked, in seconds, if it was.
    pub(crate) fn step(&mut self) -> Option<f64> {
        let offset = wall() - read(ClockId::Boottime);
        let by = offset - self.seen;
        if by.abs() < STEP {
            return None;
        }
        self.seen = offset;
        Some(by as f64 / 1e9)
    }
}
