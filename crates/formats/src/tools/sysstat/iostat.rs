//! `iostat` of Linux as text: sysstat 7 to 12 with `-c -d -x -k -m -t -y -z -p -N -h -s -n` and
//! `--human`, `--pretty`, `--dec`; and `cifsiostat`, which prints such a table of mounts.
//!
//! The first report is a mean since boot, unless the command line in the text has `-y`. A device
//! that is missing in a report did nothing, where `-z` leaves such out: the command line tells,
//! or else that no row of zeros is among the text.

mod between;
mod spaced;

use std::collections::HashMap;

use self::spaced::Spacing;
use super::cut::{self, Cut, NAME_CUT, Names};
use super::device::{Column, Disks};
use super::missing::Missing;
use super::mounts::mount;
use super::outputs::Outputs;
use super::shares::put_processors;
use super::told::{LeftOut, told_twice};
use super::when::Day;
use crate::cpu::Cpu;
use crate::echo;
use crate::lines::{last_is_whole, rows_in};
use crate::list::Format;
use crate::number::number;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::together::Columns;
use crate::{Line, Parser, fields};

/// Zeros are filled in for that many devices at most: more are not remembered.
const REMEMBERED: usize = 4096;

pub(crate) const FORMAT: Format = Format {
    name: "iostat-linux",
    tool: "iostat",
    systems: "Linux",
    help: "block devices and processors, of sysstat 7 to 12 with all flags",
    recognised: "a header line `Device …` with `tps`, `r/s` or `kB_read/s`, or `avg-cpu: %user …`",
    yields: &["cpu", "cpu_idle", "disk", "disk_device"],
    example: "\
Linux 5.8.0-53-generic (box) \t12/02/2021 \t_x86_64_\t(2 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.38    0.04    0.44    0.04    0.00   99.10

Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util
sda              2.65    102.40    2.80    131.00     0.36    0.42    0.00   0.41

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    0.50    0.00    0.00   98.50

Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util
sda              2.00      8.00    4.00     64.00     0.50    0.25    0.00   0.20
",
    recognise,
    parser: || Box::new(Iostat::new()),
};

/// The words before a table of processors or of devices.
fn is_device(word: &[u8]) -> bool {
    matches!(word, b"Device" | b"Device:" | b"device" | b"device:")
}

fn is_header(names: &[&[u8]]) -> bool {
    let known: [&[u8]; 7] = [
        b"tps",
        b"r/s",
        b"w/s",
        b"d/s",
        b"f/s",
        b"kB_read/s",
        b"rrqm/s",
    ];
    let device = |n: Option<&&[u8]>| n.is_some_and(|n| is_device(n));
    names.len() > 2
        && (device(names.first()) || device(names.last()))
        && names.iter().any(|n| known.contains(n))
}

fn recognise(head: &Head) -> u8 {
    if head.bytes().trim_ascii_start().starts_with(b"{") {
        return 0;
    }
    let devices = head.headers().any(|l| {
        // The others' (macOS, Solaris) headers have `device` in small letters, and no `%util`.
        let names: Vec<&[u8]> = fields(l).collect();
        let ends = [names.first(), names.last()];
        is_header(&names) && ends.iter().flatten().any(|n| n.starts_with(b"Device"))
    });
    let processors = head
        .lines()
        .any(|l| l.starts_with(b"avg-cpu:") && memchr::memmem::find(l, b"%user").is_some());
    let mounts = [
        &["rBlk_nor/s", "wBlk_nor/s"][..],
        &["rkB_nor/s"],
        &["fo/s", "fc/s", "fd/s"],
    ];
    let mounts = mounts.iter().any(|columns| head.any_fields(columns));
    if devices || processors || mounts {
        90
    } else {
        0
    }
}

enum Table {
    None,
    Processors(Vec<String>),
    Devices(Vec<Column>, Place),
    /// Mounted directories of servers of NFS (`-n`, sysstat 7 to 10) or CIFS, which have no place in
    /// the catalog.
    Mounts(Vec<String>),
}

/// Where the name of the device is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    First,
    Last,
}

struct Iostat {
    table: Table,
    day: Day,
    cpu: Cpu,
    disks: Disks,
    /// The first report is since boot.
    since_boot: bool,
    /// The time line of a report of which nothing came: of its own, unless a banner follows.
    stamp: Option<Stamp>,
    times: Times,
    /// First columns of the tables that the present sample has.
    has: Vec<String>,
    /// Devices in the order that they came, and whether they are in the present table.
    devices: Vec<(Vec<u8>, bool)>,
    /// Their places there.
    places: HashMap<Vec<u8>, usize>,
    /// Columns of the present table of devices.
    columns: Vec<Column>,
    /// Where it lost its end.
    cut: Option<Cut>,
    /// Names at the ends of rows, and a row and its number whose name may have lost its end.
    names: Names,
    doubtful: Option<(u64, Vec<u8>)>,
    /// Headers of which that was said.
    cut_headers: Vec<Vec<u8>>,
    /// Its columns, for rows whose numbers run together.
    together: Columns,
    /// The header that they are of.
    together_of: Vec<u8>,
    /// A device whose numbers are on the next line.
    pending: Option<Vec<u8>>,
    /// No report came since the last banner.
    fresh: bool,
    /// The only device there is came again below one header: each row is a report.
    is_alone: bool,
    missing: Missing,
    outputs: Outputs,
    left_out: LeftOut,
    spacing: Spacing,
}

/// Times that stand before reports.
#[derive(Default)]
struct Times {
    /// That of the next report, which a script printed.
    told: Option<Stamp>,
    /// One came before the first report.
    lead: bool,
    /// A banner or a command line stands above: the first report is whole.
    whole: bool,
}

impl Iostat {
    fn new() -> Iostat {
        Iostat {
            table: Table::None,
            day: Day::default(),
            cpu: Cpu::new(),
            disks: Disks::new(),
            since_boot: true,
            stamp: None,
            times: Times::default(),
            has: Vec::new(),
            devices: Vec::new(),
            places: HashMap::new(),
            columns: Vec::new(),
            cut: None,
            names: Names::default(),
            doubtful: None,
            cut_headers: Vec::new(),
            together: Columns::default(),
            together_of: Vec::new(),
            pending: None,
            fresh: true,
            is_alone: false,
            missing: Missing::default(),
            outputs: Outputs::default(),
            left_out: LeftOut::default(),
            spacing: Spacing::default(),
        }
    }

    fn begins(&mut self, out: &mut Out) {
        if self.fresh && self.since_boot {
            out.since_boot();
        }
        self.fresh = false;
        self.has.clear();
    }

    /// Begins the report whose time line came.
    fn begin_stamped(&mut self, out: &mut Out) {
        if let Some(stamp) = self.stamp.take() {
            out.sample_once(Some(stamp));
            self.begins(out);
        }
    }

    /// A table's header came: it begins a report, unless one was begun that has no such table.
    fn header(&mut self, first: &str, out: &mut Out) {
        self.end_devices(out);
        self.spacing.is_header = true;
        let again = self.has.iter().any(|h| h == first);
        let after = first == "avg-cpu:" && !self.has.is_empty();
        let told = self.times.told.take();
        if self.stamp.is_some() {
            self.begin_stamped(out);
        } else if again || after || !out.has_sample() || self.fresh || told.is_some() {
            if told.is_some() && !self.fresh {
                out.refuse(Refused(
                    "times stand before its reports which iostat did not print, and no banner: \
                     whether each was printed by a run of its own, and is since boot, is not known\n\
                     hint: if one iostat printed all, remove the times and say --every"
                        .into(),
                ));
            }
            out.sample_once(told);
            self.begins(out);
        }
        self.has.push(first.to_owned());
    }

    /// The table of devices is over: those that were left out did nothing.
    fn end_devices(&mut self, out: &mut Out) {
        self.pending = None;
        if self.columns.is_empty() {
            return;
        }
        let columns = std::mem::take(&mut self.columns);
        let all_there = self.devices.iter().all(|(_, there)| *there);
        let idle = self.missing.is_idle();
        if !all_there && idle && !out.is_since_boot() {
            out.note(
                "devices that a report leaves out did nothing in it, as `iostat -z` says: they \
                 are zero there",
            );
            for (name, _) in self.devices.iter().filter(|(_, there)| !there) {
                self.disks.put_idle(out, name, &columns);
            }
        }
        for (_, there) in &mut self.devices {
            *there = false;
        }
    }

    fn device(&mut self, line: &[u8], columns: &[Column], place: Place, out: &mut Out) -> Line {
        let mut all: Vec<&[u8]> = fields(line).collect();
        // With -h of sysstat 10 and 11 the name has a line of its own, as have long ones.
        if let ([name], Place::First) = (&all[..], place) {
            self.pending = Some(name.to_vec());
            return Line::Noise;
        }
        let pending = self.pending.take();
        if let Some(cut) = self.cut {
            let length = line.trim_ascii_end().len();
            match cut.row(&all, length).filter(|_| pending.is_none()) {
                Some(whole) => all = whole.to_vec(),
                None => return Line::Unknown,
            }
        }
        let name = match (&pending, place) {
            (Some(name), _) if all.len() == columns.len() => name.as_slice(),
            (_, Place::Last) => all.pop().unwrap_or_default(),
            (_, Place::First) => all.remove(0),
        };
        let values = columns.iter().zip(&all).map(|(c, f)| c.value(f));
        let values: Option<Vec<f64>> = values.collect();
        let Some(values) = values.filter(|v| v.len() == columns.len() && all.len() == v.len())
        else {
            return Line::Unknown;
        };
        let nothing = values.iter().all(|v| *v == 0.0);
        self.missing.idle_seen |= nothing && !out.is_since_boot();
        match self.places.get(name) {
            Some(_) if self.is_only_one() => {
                self.is_alone = true;
                out.sample_once(None);
                self.begins(out);
                self.has.extend(columns.first().map(|c| c.name.clone()));
            }
            Some(at) if self.devices[*at].1 => out.refuse(told_twice(name, out)),
            None if self.is_alone => out.refuse(told_twice(&self.devices[0].0, out)),
            Some(at) => self.devices[*at].1 = true,
            None if self.devices.len() < REMEMBERED => {
                self.places.insert(name.to_vec(), self.devices.len());
                self.devices.push((name.to_vec(), true));
            }
            None => out.note("there are more devices than are remembered"),
        }
        self.disks.put(out, name, columns.iter().zip(values));
        Line::Data
    }

    /// Whether the device that comes has a row below the same header already, and is the only one in the
    /// text, without shares of processors beside it.
    fn is_only_one(&self) -> bool {
        let one = matches!(self.devices[..], [(_, true)]);
        one && self.has.len() == 1 && self.stamp.is_none()
    }

    /// Another line follows: the name at the end of the row above it is whole.
    fn take_doubtful(&mut self, out: &mut Out) {
        let Some((number, line)) = self.doubtful.take() else {
            return;
        };
        if let Table::Devices(columns, place) = std::mem::replace(&mut self.table, Table::None) {
            if self.device(&line, &columns, place, out) == Line::Unknown {
                self.missing.garbled = true;
                out.not_understood(number, &String::from_utf8_lossy(&line));
            }
            self.table = Table::Devices(columns, place);
        }
    }

    fn processors(&mut self, line: &[u8], names: &[String], out: &mut Out) -> Line {
        let value = |f: &[u8]| number(f.strip_suffix(b"%").unwrap_or(f));
        let all: Vec<&[u8]> = fields(line).collect();
        let all = match self.cut {
            Some(cut) => cut.row(&all, line.trim_ascii_end().len()),
            None => Some(&all[..]),
        };
        let values: Option<Vec<f64>> = all.and_then(|a| a.iter().map(|f| value(f)).collect());
        let Some(values) = values.filter(|v| v.len() == names.len()) else {
            return Line::Unknown;
        };
        put_processors(&self.cpu, names.iter().map(String::as_str).zip(values), out);
        Line::Data
    }

    /// The last line, which has no end: it is taken if it is a row whose last number is whole. Of a
    /// name at the end nobody knows how long it was, nor of a time.
    fn endless(&mut self, line: &[u8], all: &[&[u8]], out: &mut Out) -> Line {
        let table = std::mem::replace(&mut self.table, Table::None);
        let whole = !self.outputs.told && all.get(1..).is_some_and(last_is_whole);
        let seen = match table {
            Table::Processors(columns) if whole => self.processors(line, &columns, out),
            Table::Devices(columns, Place::First) if whole => {
                self.device(line, &columns, Place::First, out)
            }
            Table::Mounts(columns) if whole => mount(all, &columns, out),
            _ => Line::Unknown,
        };
        // Rows may have been lost with its end.
        self.missing.garbled = true;
        seen
    }

    /// The columns of a header, without what is left of the last one.
    fn whole<'a, 'b>(&mut self, names: &'b [&'a [u8]], out: &mut Out) -> &'b [&'a [u8]] {
        let Some(cut) = self.cut else {
            return names;
        };
        let header = names.join(&b' ');
        if !self.cut_headers.contains(&header) {
            cut.note(names, out);
            self.cut_headers.push(header);
        }
        &names[..cut.whole]
    }

    fn command(&mut self, arguments: &[&[u8]], out: &mut Out) {
        // What it says is of the reports to come.
        out.broken();
        (self.fresh, self.times.whole) = (true, true);
        // A number after `-p` is the interval: it takes names only.
        let with_value = ["-g", "-j", "-o", "-f", "+f"];
        if let Some(seconds) = echo::interval(arguments, &with_value) {
            out.every(seconds);
        }
        self.since_boot = !echo::has_flag(arguments, b'y');
        self.missing.leaves_out = Some(echo::has_flag(arguments, b'z'));
    }
}

impl Parser for Iostat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let names: Vec<&[u8]> = fields(line).collect();
        self.take_doubtful(out);
        if !names.is_empty() {
            self.below_header(&names, out);
        }
        if out.is_endless() {
            return self.endless(line, &names, out);
        }
        let Some(&first) = names.first() else {
            self.blank(out);
            return Line::Noise;
        };
        let owned = |names: &[&[u8]]| -> Vec<String> {
            let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
            names.iter().map(text).collect()
        };
        if self.outputs.told {
            return self.left_out(line, &names, out);
        }
        if first == b"avg-cpu:" {
            self.header("avg-cpu:", out);
            self.cut = cut::of_processors(&names[1..], line.trim_ascii_end().len());
            let columns = self.whole(&names[1..], out);
            self.table = Table::Processors(owned(columns));
            return Line::Noise;
        }
        if is_header(&names) {
            let place = if is_device(first) {
                Place::First
            } else {
                Place::Last
            };
            self.cut = match place {
                Place::First => cut::of_devices(&names, line.trim_ascii_end().len()),
                Place::Last => None,
            };
            let columns = match place {
                Place::First => &self.whole(&names, out)[1..],
                Place::Last => &names[..names.len() - 1],
            };
            let columns: Vec<Column> = owned(columns).iter().map(|n| Column::of(n)).collect();
            self.header(&columns[0].name, out);
            self.columns.clone_from(&columns);
            if self.together_of != line {
                self.together = Columns::of(line);
                line.clone_into(&mut self.together_of);
            }
            self.table = Table::Devices(columns, place);
            return Line::Noise;
        }
        if first == b"Filesystem:" || first == b"Filesystem" {
            self.header("Filesystem:", out);
            self.table = Table::Mounts(owned(&names[1..]));
            return Line::Noise;
        }
        let seen = match std::mem::replace(&mut self.table, Table::None) {
            Table::Processors(columns) => self.processors(line, &columns, out),
            Table::Devices(columns, place) => {
                let is_stump = |name: &&[u8]| self.names.is_stump(name);
                if place == Place::Last
                    && names.len() == columns.len() + 1
                    && names.last().is_some_and(is_stump)
                {
                    self.doubtful = Some((out.line_number(), line.to_vec()));
                    self.table = Table::Devices(columns, place);
                    return Line::Data;
                }
                let mut seen = self.device(line, &columns, place, out);
                if seen == Line::Data {
                    self.together.row(line);
                } else if seen == Line::Unknown
                    && let Some(apart) = self.together.apart(line)
                {
                    seen = self.device(&apart, &columns, place, out);
                }
                if seen == Line::Unknown && self.ends_table(line, out) {
                    return Line::Noise;
                }
                self.missing.garbled |= seen == Line::Unknown;
                self.table = Table::Devices(columns, place);
                seen
            }
            Table::Mounts(columns) => {
                let seen = mount(&names, &columns, out);
                self.table = Table::Mounts(columns);
                seen
            }
            Table::None => self.between(line, out),
        };
        if seen == Line::Unknown || first == b"Linux" {
            self.appended(line, seen, out)
        } else {
            seen
        }
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    /// Rows before any header: the text begins in the middle of a report, of which the first is
    /// not there.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let before = matches!(self.table, Table::None) && out.samples() == 0 && !self.times.whole;
        let numbers = fields(line).skip(1).all(|f| number(f).is_some());
        if before && numbers && rows_in(line, 3) > 0 {
            self.fresh = false;
        }
    }

    fn end(&mut self, out: &mut Out) {
        if let Some((number, _)) = self.doubtful.take() {
            out.not_understood(number, NAME_CUT);
        }
        // A blank line ends a report: of one without it, what has no row may not have come.
        self.missing.garbled |= !self.columns.is_empty();
        self.end_devices(out);
        self.begin_stamped(out);
        self.left_out.note(out);
    }
}
