//! Puts the rows of one moment of `sar` and `mpstat` where they belong.

use super::device::{Column, Device};
use super::moments::{Header, Kind};
use super::rules::{System, apply};
use super::shares::share;
use super::sheet::Sheet;
use super::unit_of;
use crate::cpu::UNKNOWN;
use crate::disk::layer;
use crate::out::Out;

/// A row of a table.
pub(crate) struct Told<'a> {
    pub(crate) header: &'a Header,
    pub(crate) name: Vec<u8>,
    pub(crate) values: &'a [f64],
}

/// Puts rows into the catalog's tables.
#[derive(Default)]
pub(crate) struct Place {
    pub(crate) system: System,
    /// Of the machine, where it is known.
    pub(crate) processors: Option<u32>,
    /// Processors that a partition of AIX is entitled to, where it shares them.
    pub(crate) entitled: Option<f64>,
    /// Bytes of a page of memory, where it is known.
    pub(crate) page: Option<f64>,
    /// The command line says of which processors there are rows.
    pub(crate) chosen: bool,
    /// Processors of which there are rows, and whether those are all.
    present: (Vec<Vec<u8>>, bool),
    sheet: Sheet,
    /// Shares of the present moment cannot be.
    has_gaps: bool,
}

/// Whether a row is of all processors: `all`, `-1` in files for machines, `-` of AIX, `system`
/// of HP-UX, nothing where there is one row only.
fn is_all(name: &[u8]) -> bool {
    matches!(name, b"all" | b"-1" | b"-" | b"system" | b"")
}

/// The row of AIX on what a partition is entitled to and did not use.
const UNUSED: &[u8] = b"U";

/// How many processors the rows of that kind tell of, and whether one is of all.
fn told_of(rows: &[Told], kind: Kind) -> (usize, bool) {
    let of = rows.iter().filter(|r| r.header.kind == kind);
    let mut names: Vec<&[u8]> = of.map(|r| r.name.as_slice()).collect();
    let told = names.len();
    names.retain(|n| !is_all(n));
    let all = names.len() < told;
    names.retain(|n| *n != UNUSED);
    names.sort_unstable();
    names.dedup();
    (names.len(), all)
}

impl Place {
    /// All rows of one moment, which is the last where the text `ends`, and of which some are missing
    /// where it `lacks` them.
    pub(crate) fn fill(&mut self, rows: &[Told], ends: bool, lacks: bool, out: &mut Out) {
        let lacks_processors = self.lacks_processors(rows);
        let cut = ends && lacks_processors;
        if cut {
            out.lacks(
                "the last report has not all processors that those above it have: it was cut off, \
                 and its shares are left out",
            );
        }
        // Where the text ends within a row, others may follow.
        let may_follow = ends && out.is_endless();
        let present = self.are_all(rows, may_follow);
        let enough =
            |count: usize| count > 0 && self.processors.is_none_or(|n| count >= n as usize);
        // Of the first processors alone, with more to follow, nothing is told: the row of all is.
        let (told, all) = told_of(rows, Kind::Processors);
        let more_follow = may_follow && all && !present && !enough(told);
        // Each processor, where all are there; all as one where that is told.
        let by_each = |kind| match told_of(rows, kind) {
            (count, true) => enough(count) || kind == Kind::Processors && present,
            (_, false) => true,
        };
        let (cpus, softnet) = (by_each(Kind::Processors), by_each(Kind::Softnet));
        let complete = |kind| enough(told_of(rows, kind).0);
        let (lines, soft) = (complete(Kind::Lines), complete(Kind::SoftLines));
        for row in rows {
            match row.header.kind {
                Kind::Processors if cut || more_follow && !is_all(&row.name) => {}
                Kind::Processors => self.processor(row, cpus, lines, out),
                Kind::Softnet => self.softnet(row, softnet, out),
                Kind::Devices => self.device(row, out),
                Kind::Interrupts => self.interrupts(row, lines, out),
                Kind::Lines => self.lines(b"hard", row, lines, out),
                Kind::SoftLines => self.lines(b"soft", row, soft, out),
                Kind::ByLine => self.by_line(row, out),
                Kind::Inventory => {}
                Kind::Processes => {
                    for (column, value) in row.header.names.iter().zip(row.values) {
                        self.other(row, column, *value, out);
                    }
                }
                Kind::Plain => {
                    let names = &row.header.names;
                    apply(
                        self.system,
                        names,
                        row.values,
                        &row.name,
                        self.page,
                        &mut self.sheet,
                        out,
                    );
                }
            }
        }
        // Lines whose columns were cut off are none of the rest.
        let of_lines = |r: &Told| r.header.kind == Kind::Lines && r.header.is_cut;
        if lines && !rows.iter().any(of_lines) {
            self.local(rows, out);
        }
        if std::mem::take(&mut self.has_gaps) || lacks || lacks_processors {
            // They are no zeros.
            self.sheet.hand_out_with_gaps(out);
        } else {
            self.sheet.hand_out_known(out);
        }
    }

    /// Whether rows are missing of processors that the moment before had.
    fn lacks_processors(&self, rows: &[Told]) -> bool {
        let of_kind = |r: &&Told| r.header.kind == Kind::Processors;
        let names = || rows.iter().filter(of_kind).map(|r| &r.name);
        let missing = |name: &Vec<u8>| names().all(|n| n != name);
        // Rows of all processors alone may be of another table.
        let some = names().any(|n| self.present.0.contains(n));
        some && self.present.0.iter().any(missing)
    }

    /// Whether the rows of processors are of all that are online: the banner counts those that are
    /// not, too. They are until their mean is not what is told of all.
    fn are_all(&mut self, rows: &[Told], more_may_follow: bool) -> bool {
        // Shares of all are weighted by ticks, of which a processor may have one more.
        const WITHIN: f64 = 1.0;
        let of = |all: bool| {
            let of_kind = rows.iter().filter(|r| r.header.kind == Kind::Processors);
            of_kind.filter(move |r| is_all(&r.name) == all && r.name != UNUSED)
        };
        let names: Vec<Vec<u8>> = of(false).map(|r| r.name.clone()).collect();
        let Some(all) = of(true).next().filter(|_| names.len() > 1 && !self.chosen) else {
            return false;
        };
        if self.present.0 != names {
            if more_may_follow {
                return false;
            }
            self.present = (names, true);
        }
        let count = self.present.0.len() as f64;
        let mean = |at: usize| of(false).filter_map(|r| r.values.get(at)).sum::<f64>() / count;
        let differs = |at: usize| (mean(at) - all.values[at]).abs() > WITHIN;
        let shares = all.header.names.iter().enumerate();
        let mut shares = shares.filter(|(_, name)| name.starts_with('%'));
        self.present.1 &= !shares.any(|(at, _)| differs(at));
        self.present.1
    }

    fn other(&mut self, row: &Told, column: &str, value: f64, out: &mut Out) {
        let unit = match column {
            "physc" => "processors",
            "MHz" => "MHz",
            "avwait" | "avserv" => "ms",
            _ => unit_of(column),
        };
        self.sheet.other(out, column, unit, &row.name, value);
    }

    fn processor(&mut self, row: &Told, by_each: bool, by_line: bool, out: &mut Out) {
        let all = is_all(&row.name);
        // What others tell finer is their sum: it is left out.
        let taken = all != by_each && !(self.entitled.is_some() && row.name == UNUSED);
        let mut shares = UNKNOWN;
        for (column, value) in row.header.names.iter().zip(row.values) {
            let is_share = share(&mut shares, column.trim_start_matches('%'));
            match is_share {
                Some(place) if taken => *place = value / 100.0,
                Some(_) if all => {}
                None if column == "intr/s" && all && !by_line => {
                    self.sheet
                        .set(out, "interrupt", &[b"hard", b"all"], "count", *value);
                }
                _ => self.other(row, column, *value, out),
            }
        }
        if !taken {
            return;
        }
        let (shares, can_be) = shares.possible(all, out);
        self.has_gaps |= !can_be;
        let cpu = if all { b"all" } else { &row.name[..] };
        let consumed = consumed(row);
        let count = match self.entitled {
            // Shares are of what a logical processor consumed of the real ones; of all, of what
            // the partition is entitled to, or of what it consumed where that is more.
            Some(entitled) if all => entitled.max(consumed),
            _ if !consumed.is_nan() => consumed,
            _ if all => out.processors(),
            _ => 1.0,
        };
        for (mode, share) in [
            ("user", shares.user),
            ("nice", shares.nice),
            ("system", shares.system),
            ("irq", shares.irq),
            ("softirq", shares.softirq),
            ("guest", shares.guest),
            ("guest_nice", shares.guest_nice),
        ] {
            let words = [cpu, mode.as_bytes()];
            self.sheet.set(out, "cpu", &words, "time", share * count);
        }
        for (measure, share) in [
            ("idle", shares.idle),
            ("iowait", shares.iowait),
            ("steal", shares.steal),
        ] {
            self.sheet
                .set(out, "cpu_idle", &[cpu], measure, share * count);
        }
    }

    fn softnet(&mut self, row: &Told, by_each: bool, out: &mut Out) {
        let all = is_all(&row.name);
        let cpu: &[u8] = if all { b"all" } else { &row.name };
        for (column, value) in row.header.names.iter().zip(row.values) {
            let measure = match column.as_str() {
                "total/s" => "packets",
                "dropd/s" => "drops",
                "squeezd/s" => "squeezes",
                "rx_rps/s" => "steered",
                "flw_lim/s" => "flow_limited",
                _ => "",
            };
            if measure.is_empty() || (!all && !by_each) {
                self.other(row, column, *value, out);
            } else if all != by_each {
                self.sheet.set(out, "softnet", &[cpu], measure, *value);
            }
        }
    }

    fn device(&mut self, row: &Told, out: &mut Out) {
        let of = |name: &str| {
            let place = row.header.names.iter().position(|n| n == name);
            place.and_then(|p| row.values.get(p)).copied()
        };
        // On Solaris the queue is the mean of the interval, as Little's law has it.
        let more = [
            of("avwait")
                .zip(of("avserv"))
                .map(|(a, b)| (Column::of("await"), a + b)),
            of("avque")
                .filter(|_| self.system == System::Solaris)
                .map(|v| (Column::of("aqu-sz"), v)),
        ];
        let columns = row.header.columns.iter().zip(row.values.iter().copied());
        let mut others = Vec::new();
        let more = more.iter().flatten().map(|(c, v)| (c, *v));
        let amounts = columns.map(|(c, v)| (c, c.amount(v)));
        let device = Device::of(amounts.chain(more), |column, _, value| {
            others.push((column.to_owned(), value));
        });
        let did_nothing = of("r+w/s") == Some(0.0);
        for (column, value) in others {
            if did_nothing && value == 0.0 && matches!(&*column, "avque" | "avwait" | "avserv") {
                // A mean of no I/O is none.
                continue;
            }
            if !(column == "avque" && self.system == System::Solaris) {
                let unit = Column::of(&column).unit();
                let unit = if matches!(&*column, "avwait" | "avserv") {
                    "ms"
                } else {
                    unit
                };
                self.sheet.other(out, &column, unit, &row.name, value);
            }
        }
        // Sysstat 4 and 5: `dev8-1` is the second disk, and partitions are not told.
        let names = row.header.names.iter().map(String::as_str);
        let counts_disks =
            names.clone().eq(["tps", "sect/s"]) || names.eq(["tps", "rd_sec/s", "wr_sec/s"]);
        let known = layer_of(&row.name, counts_disks, out);
        let name = row.name.as_slice();
        let layer = out.disk_layer_of(name, known).as_bytes();
        for (op, values) in device.rows() {
            let words = [name, layer, op.as_bytes()];
            let measures = ["ios", "bytes", "merges", "time", "discarded"];
            for (measure, value) in measures.into_iter().zip(values) {
                self.sheet.set(out, "disk", &words, measure, value);
            }
        }
        if let Some([busy, depth]) = device.state() {
            self.sheet
                .set(out, "disk_device", &[name, layer], "busy", busy);
            self.sheet
                .set(out, "disk_device", &[name, layer], "depth_time", depth);
        }
    }

    fn interrupts(&mut self, row: &Told, by_line: bool, out: &mut Out) {
        for (column, value) in row.header.names.iter().zip(row.values) {
            if column == "intr/s" && is_all(&row.name) && !by_line {
                self.sheet
                    .set(out, "interrupt", &[b"hard", b"all"], "count", *value);
            } else {
                self.other(row, column, *value, out);
            }
        }
    }

    /// Interrupts of a processor by line; added up where all processors are there. Hard ones with
    /// a name are kept by name: some are counted twice (`CAL` has the `TLB` of some kernels).
    fn lines(&mut self, level: &[u8], row: &Told, complete: bool, out: &mut Out) {
        for (column, value) in row.header.names.iter().zip(row.values) {
            let kind = column.strip_suffix("/s").unwrap_or(column);
            let adds = level == b"soft" || is_numbered(kind);
            if complete && adds && !is_all(&row.name) {
                self.sheet
                    .add(out, "interrupt", &[level, kind.as_bytes()], "count", *value);
            } else {
                self.other(row, column, *value, out);
            }
        }
    }

    /// What the total has beyond lines with a number, where both are there, as a recording has it.
    fn local(&mut self, rows: &[Told], out: &mut Out) {
        /// Of so many per second both may differ, for each number is rounded.
        const WITHIN: f64 = 0.5;
        let of_line = |row: &Told| -> f64 {
            let all = row.header.names.iter().zip(row.values);
            let numbered = all.filter(|(name, _)| is_numbered(name.trim_end_matches("/s")));
            numbered.map(|(_, value)| value).sum()
        };
        let lines = rows.iter().filter(|r| r.header.kind == Kind::Lines);
        let numbered: f64 = lines.filter(|r| !is_all(&r.name)).map(of_line).sum();
        let total = rows.iter().filter(|r| is_all(&r.name)).find_map(|row| {
            let place = row.header.names.iter().position(|n| n == "intr/s");
            let of_kind = matches!(row.header.kind, Kind::Interrupts | Kind::Processors);
            place.filter(|_| of_kind).and_then(|at| row.values.get(at))
        });
        if let Some(local) = total.map(|total| total - numbered)
            && local > -WITHIN
        {
            let words: [&[u8]; 2] = [b"hard", b"local"];
            self.sheet
                .set(out, "interrupt", &words, "count", local.max(0.0));
        }
    }

    /// Interrupts by line, of `sar -I`: their sum is told as `sum`.
    fn by_line(&mut self, row: &Told, out: &mut Out) {
        for (column, value) in row.header.names.iter().zip(row.values) {
            let of_all = matches!(column.as_str(), "intr/s" | "all");
            if of_all && row.name == b"sum" {
                self.sheet
                    .set(out, "interrupt", &[b"hard", b"all"], "count", *value);
                continue;
            }
            let mut instance = row.name.clone();
            if column != "intr/s" {
                instance.push(b' ');
                instance.extend_from_slice(column.as_bytes());
            }
            self.sheet.other(out, "intr/s", "1/s", &instance, *value);
        }
    }
}

/// Whether a line of interrupts is of a device: those of the machine have a name.
fn is_numbered(kind: &str) -> bool {
    !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_digit())
}

/// Processors of the machine that the row's consumed, as AIX tells it.
fn consumed(row: &Told) -> f64 {
    let place = row.header.names.iter().position(|n| n == "physc");
    place.map_or(f64::NAN, |at| row.values[at])
}

/// Both numbers of `dev8-16`.
fn numbers_of(name: &[u8]) -> Option<(u64, u64)> {
    let rest = name.strip_prefix(b"dev")?;
    let at = memchr::memchr(b'-', rest)?;
    let (major, minor) = (&rest[..at], &rest[at + 1..]);
    crate::number::whole(major).zip(crate::number::whole(minor))
}

/// The layer of a device of `iostat`, which names one by numbers where a kernel 2.4 counted it in
/// `/proc/stat`: the second is that of the driver's disk, and partitions are not there.
pub(super) fn layer_in_iostat(name: &[u8]) -> &'static str {
    match numbers_of(name) {
        Some((2 | 3 | 8 | 11, _)) => "disk",
        _ => layer(name),
    }
}

/// The layer of a device. `dev8-16` is named by its major and minor number, or where the tool
/// `counts_disks` by the disk's place among its driver's; those of disks of
/// SCSI are fixed, others are given out as they come and tell nothing.
fn layer_of(name: &[u8], counts_disks: bool, out: &mut Out) -> &'static str {
    let numbers = numbers_of(name);
    let whole = |minor: u64, each: u64| {
        if counts_disks || minor.is_multiple_of(each) {
            "disk"
        } else {
            "partition"
        }
    };
    match numbers {
        None => layer(name),
        Some((8 | 65..=71 | 128..=135, minor)) => whole(minor, 16),
        Some((3 | 22 | 33 | 34, minor)) => whole(minor, 64),
        Some((1, _)) => "memory",
        Some((7 | 9 | 147, _)) => "stacked",
        Some((2 | 11, _)) => "disk",
        Some(_) => {
            out.note(
                "names as dev253-0 do not tell whether a device is a disk or made of others: \
                 their layer is unknown; `sar -p` prints the names",
            );
            "unknown"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Options;

    #[test]
    fn devices_by_number() {
        let mut out = Out::new("sar", Options::default());
        for (name, layer) in [
            ("dev8-0", "disk"),
            ("dev8-16", "disk"),
            ("dev8-17", "partition"),
            ("dev65-32", "disk"),
            ("dev9-0", "stacked"),
            ("dev253-0", "unknown"),
            ("sda", "disk"),
            ("dev", "stacked"),
            ("dev8-x", "stacked"),
        ] {
            assert_eq!(layer_of(name.as_bytes(), false, &mut out), layer, "{name}");
        }
        assert_eq!(layer_of(b"dev8-1", true, &mut out), "disk");
        assert_eq!(layer_in_iostat(b"dev8-1"), "disk");
        assert_eq!(layer_in_iostat(b"dm-1"), "stacked");
    }
}
