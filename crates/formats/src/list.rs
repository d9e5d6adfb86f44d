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

impl Format {
    /// The example as a file has it. That of a binary format is printed as hexadecimal digits
    /// after `0x`.
    pub fn example_bytes(&self) -> Vec<u8> {
        let Some(digits) = self.example.strip_prefix("0x") else {
            return self.example.as_bytes().to_vec();
        };
        let digits: Vec<u32> = digits.chars().filter_map(|c| c.to_digit(16)).collect();
        let byte = |pair: &[u32]| pair.iter().fold(0, |sum, digit| sum << 4 | digit) as u8;
        digits.chunks(2).map(byte).collect()
    }
}

/// All formats, by tool.
pub const FORMATS: &[Format] = &[
    tools::ab::FORMAT,
    tools::arcstat::FORMAT,
    tools::atop::FORMAT,
    tools::blktrace::binary::FORMAT,
    tools::blktrace::text::FORMAT,
    tools::blktrace::events::FORMAT,
    tools::bsd::gstat::FORMAT,
    tools::bsd::iostat::FORMAT,
    tools::bsd::vmstat::FORMAT,
    tools::trace::counts::CACHESTAT,
    tools::collectl::plot::FORMAT,
    tools::collectl::raw::FORMAT,
    tools::dd::FORMAT,
    tools::displays::ATOP,
    tools::displays::AVERAGES,
    tools::displays::COLLECTL,
    tools::displays::DSTAT,
    tools::displays::FREE,
    tools::displays::IFSTAT_IPROUTE,
    tools::displays::IFTOP,
    tools::displays::SLABTOP,
    tools::displays::TOP_BUSYBOX,
    tools::displays::TOP_TOYBOX,
    tools::displays::UPTIME,
    tools::dladm::FORMAT,
    tools::dlstat::DLSTAT,
    tools::dstat::FORMAT,
    tools::ethtool::FORMAT,
    tools::filebench::FORMAT,
    tools::fio::hist::FORMAT,
    tools::fio::json::FORMAT,
    tools::fio::log::BW,
    tools::fio::log::CLAT,
    tools::fio::log::IOPS,
    tools::fio::log::LAT,
    tools::fio::log::SLAT,
    tools::fio::log::UNNAMED,
    tools::fio::terse::FORMAT,
    tools::fio::text::FORMAT,
    tools::dlstat::FLOWSTAT,
    tools::fsstat::FORMAT,
    tools::ganglia::FORMAT,
    tools::ifstat::FORMAT,
    tools::inventory::IPADM,
    tools::inventory::MPATHADM,
    tools::inventory::STMSBOOT,
    tools::inventory::ZONECFG,
    tools::iostat_aix::FORMAT,
    tools::iostat_hpux::FORMAT,
    tools::iostat_solaris::FORMAT,
    tools::iotop::FORMAT,
    tools::ip_link::FORMAT,
    tools::iperf2_csv::FORMAT,
    tools::iperf3_json::FORMAT,
    tools::iperf_text::IPERF2,
    tools::iperf_text::IPERF3,
    tools::kstat::FORMAT,
    tools::memstat::FORMAT,
    tools::memtier::FORMAT,
    tools::memtier_json::FORMAT,
    tools::mountstats::FORMAT,
    tools::mountstats_text::FORMAT,
    tools::mpstat_solaris::FORMAT,
    tools::netperf::FORMAT,
    tools::netstat::interfaces::FORMAT,
    tools::netstat::protocols::FORMAT,
    tools::nfsiostat::FORMAT,
    tools::nfsstat::FORMAT,
    tools::nfsstat_m::FORMAT,
    tools::nicstat::FORMAT,
    tools::nmon::FORMAT,
    tools::nstat::FORMAT,
    tools::pcp::FORMAT,
    tools::pgbench::FORMAT,
    tools::pgbench::LOG,
    tools::pgbench_aggregate::FORMAT,
    tools::proc::FORMAT,
    tools::prometheus::FORMAT,
    tools::prstat::FORMAT,
    tools::ps::FORMAT,
    tools::redis_benchmark::FORMAT,
    tools::ss::FORMAT,
    tools::stress_ng::FORMAT,
    tools::trace::counts::SYSCOUNT,
    tools::sysbench::FORMAT,
    tools::sysstat::iostat::FORMAT,
    tools::sysstat::iostat_json::FORMAT,
    tools::sysstat::mpstat::FORMAT,
    tools::sysstat::pidstat::FORMAT,
    tools::sysstat::pidstat_json::FORMAT,
    tools::sysstat::sadf::JSON,
    tools::sysstat::sadf::MPSTAT,
    tools::sysstat::sadf::XML,
    tools::sysstat::sadf_text::FORMAT,
    tools::sysstat::sar::FORMAT,
    tools::top::FORMAT,
    tools::trace::bcc::FORMAT,
    tools::trace::bpftrace::FORMAT,
    tools::trace::connections::TCPACCEPT,
    tools::trace::connections::TCPCONNECT,
    tools::trace::connections::TCPLIFE,
    tools::trace::connections::TCPRETRANS,
    tools::trace::connections::TCPTOP,
    tools::trace::dtrace::FORMAT,
    tools::trace::file_events::FSSLOWER,
    tools::trace::file_events::OPENSNOOP,
    tools::trace::file_events::TCPCONNLAT,
    tools::trace::interrupts::FORMAT,
    tools::trace::io_events::BIOSNOOP,
    tools::trace::io_events::IOSNOOP,
    tools::trace::io_pattern::BIOPATTERN,
    tools::trace::io_pattern::BIOTOP,
    tools::trace::io_pattern::FILETOP,
    tools::trace::io_pattern::IOPATTERN,
    tools::trace::io_pattern::IOTOP,
    tools::trace::io_pattern::RWTOP_DTRACE,
    tools::uperf::FORMAT,
    tools::trace::counts::VFSSTAT,
    tools::vm_stat::FORMAT,
    tools::vmstat_aix::AIX,
    tools::vmstat_aix::HPUX,
    tools::vmstat_linux::FORMAT,
    tools::vmstat_solaris::FORMAT,
    tools::wrk::FORMAT,
    tools::zones::VFSSTAT,
    tools::zones::ZIOSTAT,
    tools::zones::ZONEMEMSTAT,
    tools::zonestat::NATIVE,
    tools::zonestat::SCRIPT,
    tools::zonestat_parseable::FORMAT,
    tools::zpool::FORMAT,
];
