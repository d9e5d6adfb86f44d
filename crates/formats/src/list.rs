//! The one list of formats.

use crate::recognise::Head;
use crate::{Parser, tools};

/// A format: what a tool prints on a kind of system.
pub struct Format {
    /// Its name, as in `--as`: unique.
    pub name: &'static str,
    /// What prints it; the tool in `other.<tool>.<column>`.
    pub tool: &'static str,
    /// Where it runs.
    pub systems: &'static str,
    /// One sentence: what is in it.
    pub help: &'static str,
    /// How it is recognised, in words.
    pub recognised: &'static str,
    /// Tables of the catalog that it fills (beside `other` and `since_boot`).
    pub yields: &'static [&'static str],
    /// A few lines of it.
    pub example: &'static str,
    /// How sure it is, from 0 (not this) to 100, that a file is of this format.
    pub recognise: fn(&Head) -> u8,
    /// Makes a parser.
    pub parser: fn() -> Box<dyn Parser>,
}

/// All formats, by tool.
pub const FORMATS: &[Format] = &[
    tools::arcstat::FORMAT,
    tools::dladm::FORMAT,
    tools::fsstat::FORMAT,
    tools::inventory::IPADM,
    tools::inventory::MPATHADM,
    tools::inventory::STMSBOOT,
    tools::inventory::ZONECFG,
    tools::ip_link::FORMAT,
    tools::kstat::FORMAT,
    tools::memstat::FORMAT,
    tools::netstat::interfaces::FORMAT,
    tools::netstat::protocols::FORMAT,
    tools::nfsstat::FORMAT,
    tools::nfsstat_m::FORMAT,
    tools::vmstat_linux::FORMAT,
    tools::zones::VFSSTAT,
    tools::zones::ZONEMEMSTAT,
    tools::zonestat::NATIVE,
    tools::zonestat::SCRIPT,
    tools::zpool::FORMAT,
    tools::sysstat::iostat::FORMAT,
    tools::sysstat::iostat_json::FORMAT,
    tools::sysstat::mpstat::FORMAT,
    tools::sysstat::pidstat::FORMAT,
    tools::sysstat::sadf::MPSTAT,
    tools::sysstat::sadf::JSON,
    tools::sysstat::sadf::XML,
    tools::sysstat::sadf_text::FORMAT,
    tools::sysstat::sar::FORMAT,
    tools::vmstat_linux::FORMAT,
    tools::dd::FORMAT,
    tools::filebench::FORMAT,
    tools::fio::json::FORMAT,
    tools::fio::text::FORMAT,
    tools::fio::log::BW,
    tools::fio::log::IOPS,
    tools::fio::log::LAT,
    tools::fio::log::CLAT,
    tools::fio::log::SLAT,
    tools::fio::log::UNNAMED,
    tools::fio::hist::FORMAT,
    tools::iperf3_json::FORMAT,
    tools::iperf_text::IPERF2,
    tools::iperf_text::IPERF3,
    tools::netperf::FORMAT,
    tools::pgbench::FORMAT,
    tools::pgbench::LOG,
    tools::redis_benchmark::FORMAT,
    tools::sysbench::FORMAT,
    tools::uperf::FORMAT,
    tools::vmstat_linux::FORMAT,
    tools::wrk::FORMAT,
];
