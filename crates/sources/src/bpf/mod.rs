//! What the kernel tells of each I/O, packet, time slice and file operation, through eBPF.
//!
//! Each source here is a program in C (`<name>.bpf.c`) and a file of the same name that
//! loads it and makes rows of what it counted. [`load`], [`attach`] and [`control`] have what they
//! share on the way in, [`ring`], [`who`], [`cells`] and [`losses`] on the way out.

mod address;
mod attach;
mod cells;
mod control;
pub mod cpu;
pub mod disk;
mod entries;
pub mod file;
mod load;
mod losses;
mod mounts;
pub mod net;
pub mod nfs;
pub mod nfs_client;
mod rest;
mod ring;
pub mod tcp;
mod told;
mod types;
mod who;

/// Compiled by `build.rs`.
macro_rules! object {
    ($name:literal) => {
        aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/", $name, ".o"))
    };
}
use object;

/// Where programs can be attached, for all who attach some while this lives.
pub struct Prepared(#[expect(dead_code, reason = "held, not read")] load::Hooks);

/// Finds out where programs can be attached: to be done while they are being read. Whoever needs it
/// gets the error.
pub fn prepare() -> Prepared {
    Prepared(load::Hooks::of_this_kernel())
}

/// While this lives, the kernel measures the time of all programs (`kernel.bpf_stats_enabled`
/// for as long as somebody holds it).
pub struct Measuring(#[expect(dead_code, reason = "held, not read")] std::os::fd::OwnedFd);

/// Starts measuring, where that is allowed.
pub fn measure() -> Option<Measuring> {
    aya::sys::enable_stats(aya::sys::Stats::RunTime)
        .ok()
        .map(Measuring)
}
