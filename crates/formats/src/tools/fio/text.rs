//! fio's own text, of fio 2 and fio 3.
//!
//! Counts of I/Os are exact (`issued rwts`); bytes are as printed, with three or four digits.
//! fio 2 prints KB for 1,024 bytes, fio 3 KiB for that and kB for 1,000.

use std::collections::BTreeMap;

use super::text_fields::{ctime, pairs};
use super::text_job::{Direction, Job};
use super::text_part::SUMS;
use super::text_rows::Rows;
use crate::lines::{ENDED, ends_in_number};
use crate::list::Format;
use crate::number::{number, scaled};
use crate::out::Out;
use crate::recognise::{BEGINNING, Head};
use crate::time::Stamp;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser};

pub(crate) const FORMAT: Format = Format {
    name: "fio-text",
    tool: "fio",
    systems: "all that fio runs on",
    help: "fio's results as text: I/Os, bytes and times of each job and direction",
    recognised: "a line `NAME: (groupid=0, jobs=1): err= 0: pid=…`, or `NAME: (g=0): rw=…` of one that begins; of \
                 what was pasted `Run status group 0 (all jobs):`, or `read: IOPS=…, BW=…`",
    yields: &["workload"],
    example: "\
rr: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

rr: (groupid=0, jobs=1): err= 0: pid=7817: Sun Nov 22 02:49:54 2026
  read: IOPS=5137, BW=20.1MiB/s (21.0MB/s)(40.2MiB/2001msec)
    clat (nsec): min=1492, max=4615.6k, avg=70872.27, stdev=130589.77
     lat (nsec): min=1532, max=4615.9k, avg=70930.94, stdev=130598.96
  cpu          : usr=1.25%, sys=21.05%, ctx=11832, majf=0, minf=14
     issued rwts: total=10280,0,0,0 short=0,0,0,0 dropped=0,0,0,0
",
    recognise,
    parser: || Box::new(FioText::new()),
};

fn recognise(head: &Head) -> u8 {
    if head.contains("\"fio version\"") {
        return 0;
    }
    // Above its results, which may not have come yet, and above fio's other forms.
    let begins = || head.contains(": (g=") && head.contains("): rw=") && head.contains("ioengine=");
    match () {
        () if head.contains(": (groupid=") && head.contains("jobs=") => 94,
        () if begins() => BEGINNING,
        () if head.contains("Run status group ") && head.contains(" (all jobs):") => 80,
        () if head.contains(": IOPS=") && head.contains(", BW=") && head.contains("msec)") => 80,
        () => 0,
    }
}

/// Said of fio 2's sizes.
pub(super) const KB_UNTOLD: &str = "fio 2 prints KB for 1,024 bytes unless kb_base=1000 was said, which this \
                                    text does not tell: they are taken for 1,024";

/// The name of what sums up the jobs of all clients.
const ALL_CLIENTS: &str = "All clients";

/// A job's values: of one direction, or of it as a whole.
pub(super) const WHOLE: &str = "";

pub(super) struct FioText {
    work: Work,
    pub(super) jobs: Vec<Job>,
    /// Of the sums that come.
    pub(super) group: i64,
    /// What the lines are of: a direction, or the whole job.
    pub(super) op: &'static str,
    /// What came of a direction.
    pub(super) rows: Rows,
    /// Whose percentiles come: name and unit.
    pub(super) percentiles: Option<(String, String)>,
    /// Device, column, value.
    disks: Vec<(String, String, f64)>,
    in_disks: bool,
    /// End of what has no time.
    elapsed: f64,
    /// Bytes of a KB that fio 2 prints.
    pub(super) kilo: f64,
}

impl FioText {
    fn new() -> FioText {
        FioText {
            work: Work::new("fio"),
            jobs: Vec::new(),
            group: 0,
            op: WHOLE,
            rows: Rows::default(),
            percentiles: None,
            disks: Vec::new(),
            in_disks: false,
            elapsed: 0.0,
            kilo: 1024.0,
        }
    }

    /// `name: (groupid=0, jobs=1): err= 0: pid=7817: Sun Nov 22 02:49:54 2026`.
    fn header(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (client, text) = match text.strip_prefix('<') {
            Some(rest) => rest.split_once("> ")?,
            None => ("", text),
        };
        let (name, rest) = text.split_once(": (groupid=")?;
        let (group, rest) = rest.split_once(',')?;
        let err = rest.split_once("err=")?.1.split(':').next()?;
        let pid = rest.split_once("pid=").map_or("", |(_, p)| p);
        let (pid, printed) = pid.split_once(':').unwrap_or((pid, ""));
        let error: i64 = err.split('(').next()?.trim().parse().ok()?;
        if error != 0 {
            out.note(&format!("fio's job {name} ended with error {error}"));
        }
        let job = Job {
            client: client.to_owned(),
            name: name.trim().to_owned(),
            group: group.trim().parse().ok()?,
            pid: pid.trim().to_owned(),
            printed: ctime(printed),
            issued: [f64::NAN; 4],
            ..Job::default()
        };
        // With --status-interval it comes again, with all since it started.
        let same = |j: &Job| {
            (&j.client, &j.name, j.group, &j.pid) == (&job.client, &job.name, job.group, &job.pid)
        };
        if !job.pid.is_empty() && self.jobs.iter().any(same) {
            out.note(
                "reports of --status-interval are each since the start: only the last is \
                 taken; with --output-format=json each interval is",
            );
            self.jobs.retain(|j| !same(j));
        }
        self.jobs.push(job);
        self.op = WHOLE;
        self.rows = Rows::default();
        self.in_disks = false;
        Some(())
    }

    /// The line of a direction: where it is not understood, the rows below it are of none.
    fn direction(&mut self, op: &'static str, text: &str, out: &mut Out) -> Option<()> {
        let seen = self.begins(op, text, out);
        self.rows = Rows::default();
        self.rows.are_orphans = seen.is_none();
        seen
    }

    /// `read: IOPS=5137, BW=20.1MiB/s (21.0MB/s)(40.2MiB/2001msec)`, or of fio 2
    /// `read : io=1024.0MB, bw=94326KB/s, iops=23581, runt= 11117msec`.
    fn begins(&mut self, op: &'static str, text: &str, out: &mut Out) -> Option<()> {
        let pairs = pairs(text);
        let of = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        let (size, runtime, step) = match of("io") {
            Some(size) => {
                let runtime = of("runt").or(of("runtime"))?;
                if self.kilo == 1024.0 {
                    out.note(KB_UNTOLD);
                }
                (size, runtime.strip_suffix("msec")?, self.kilo)
            }
            None => {
                let total = text.split('(').find(|p| p.contains("msec)"))?;
                let (size, rest) = total.split_once('/')?;
                (size, rest.split_once("msec)")?.0, 1000.0)
            }
        };
        // `io=1,024MB` may be of a wrapper that groups digits.
        let is_size = size.ends_with(|c: char| c.is_ascii_alphabetic());
        let is_grouped = of("io").is_some() && size.contains(',');
        (is_size && !is_grouped).then_some(())?;
        let step = if size.contains('i') { 1024.0 } else { step };
        let job = match self.jobs.last() {
            Some(job) if !job.is_part => self.jobs.last_mut()?,
            _ => self.part(op, 0),
        };
        job.directions.push(Direction {
            op,
            bytes: scaled(size.as_bytes(), step)?,
            runtime: number(runtime.trim().as_bytes())? / 1000.0,
            ..Direction::default()
        });
        for (name, value) in pairs.iter().filter(|(n, _)| matches!(*n, "IOPS" | "iops")) {
            let value = scaled(value.as_bytes(), 1000.0)?;
            let column = name.to_ascii_lowercase();
            job.others.push((op, column, "1/s".into(), value));
        }
        self.op = op;
        Some(())
    }

    /// `issued rwts: total=10280,10243,0,335 short=…`, or of fio 2
    /// `issued    : total=r=262144/w=0/d=0, short=…`.
    fn issued(&mut self, text: &str) -> Option<()> {
        let job = self.jobs.last_mut()?;
        let total = text.split_once("total=")?.1;
        let total = total.split_whitespace().next()?.trim_end_matches(',');
        for (place, part) in total.split([',', '/']).enumerate() {
            let digits = part.rsplit('=').next()?;
            *job.issued.get_mut(place)? = number(digits.as_bytes())?;
        }
        Some(())
    }

    /// `errors    : total=7, first_error=5/<Input/output error>`, where the job goes on after them.
    fn errors(&mut self, text: &str) -> Option<()> {
        let job = self.jobs.last_mut()?;
        let pairs = pairs(text);
        let (_, total) = pairs.iter().find(|(key, _)| *key == "total")?;
        job.errors = number(total.as_bytes())?;
        Some(())
    }

    /// `vda: ios=9785/10025, merge=0/0, ticks=542/12215, in_queue=12774, util=29.27%`.
    fn disk(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let (name, values) = text.split_once(": ")?;
        values.trim_start().starts_with("ios=").then_some(())?;
        let mut all = pairs(values);
        // The last is a share: without its sign it may lack digits.
        if !values.trim_end().ends_with('%') {
            all.pop();
            out.note("a line of its disks lost its end: what stood there is left out");
        }
        for (key, value) in all {
            let parts: Vec<&str> = value.trim_end_matches('%').split('/').collect();
            for (part, op) in parts.iter().zip(["read", "write"]) {
                let value = number(part.as_bytes())?;
                let column = match parts.len() {
                    1 => format!("disk_util.{key}"),
                    _ => format!("disk_util.{op}_{key}"),
                };
                self.disks.push((name.trim().to_owned(), column, value));
            }
        }
        Some(())
    }

    /// Any line of a job.
    fn of_job(&mut self, text: &str, out: &mut Out) -> Option<()> {
        let text = text.trim_start();
        if let Some(row) = text.strip_prefix('|') {
            return self.percentile_row(row);
        }
        self.percentiles = None;
        let (label, rest) = text.split_once(':')?;
        // The unit is last: `clat prio 2/0 (50.50% of IOs) percentiles (usec)`.
        let (name, unit) = match label.rsplit_once('(') {
            Some((name, unit)) => (name.trim(), unit.split(')').next()?),
            None => (label.trim(), ""),
        };
        // fio 2 pads it: `bw (KB  /s)`.
        let unit: String = unit.split_whitespace().collect();
        let unit = unit.as_str();
        if let Some(of) = name.strip_suffix(" percentiles") {
            if matches!(of, "slat" | "clat" | "lat") && !self.jobs.is_empty() {
                self.is_of_direction(name, out);
            }
            let of = of.split_once(" (").map_or(of, |(of, _)| of);
            self.percentiles = Some((of.to_owned(), unit.to_owned()));
            return Some(());
        }
        match name {
            "read" | "READ" => self.direction("read", rest, out),
            "write" => self.direction("write", rest, out),
            "trim" => self.direction("trim", rest, out),
            "mixed" => self.direction("mixed", rest, out),
            "slat" | "clat" | "lat" | "sync" if !unit.is_empty() => {
                self.latency(name, unit, rest, out)
            }
            _ if name.contains(" prio ") && !unit.is_empty() => self.latency(name, unit, rest, out),
            "fsync/fdatasync/sync_file_range" | "Description" => Some(()),
            "errors" => self.errors(rest),
            _ if name.starts_with("issued") => self.issued(rest),
            "bw" | "iops" if !self.jobs.is_empty() && !self.is_of_direction(name, out) => Some(()),
            "bw" | "iops" | "cpu" | "IO depths" | "submit" | "complete" | "latency"
            | "steadystate" => {
                if !matches!(name, "bw" | "iops") {
                    self.op = WHOLE;
                }
                self.plain(name, unit, rest)
            }
            _ => None,
        }
    }

    /// Values that are kept as they are.
    fn plain(&mut self, name: &str, unit: &str, text: &str) -> Option<()> {
        let op = self.op;
        let job = self.jobs.last_mut()?;
        for (key, value) in pairs(text) {
            let unit = match (value.ends_with('%'), key, name) {
                (true, ..) => "%",
                (_, "samples", _) => "",
                (_, _, "bw") => unit,
                (_, _, "iops") => "1/s",
                _ => "",
            };
            // Of fio 2 and the text of targets: what is no number is a setting.
            let Some(value) = scaled(value.trim_end_matches('%').as_bytes(), 1000.0) else {
                continue;
            };
            let column = format!("{}.{key}", name.replace(' ', "_"));
            job.others.push((op, column, unit.to_owned(), value));
        }
        Some(())
    }

    /// Hands out the jobs of a run.
    fn run_is_over(&mut self, out: &mut Out) {
        let mut jobs = std::mem::take(&mut self.jobs);
        let is_sum = |j: &Job| j.name == ALL_CLIENTS && j.client.is_empty();
        if jobs.iter().any(is_sum) && !jobs.iter().all(is_sum) {
            out.note(super::ALL_CLIENTS);
            jobs.retain(|j| !is_sum(j));
        }
        // Sums are printed with the jobs of other groups.
        let printed = jobs.iter().find_map(|job| job.printed);
        for job in jobs.iter_mut().filter(|job| job.is_part) {
            job.printed = printed;
        }
        let mut groups: BTreeMap<i64, f64> = BTreeMap::new();
        let runtime = |job: &Job| job.directions.iter().map(|d| d.runtime).fold(0.0, f64::max);
        for job in &jobs {
            let longest = groups.entry(job.group).or_default();
            *longest = longest.max(runtime(job));
        }
        if groups.len() > 1 {
            out.note(super::IN_TURN);
        }
        let total: f64 = groups.values().sum();
        let mut names: BTreeMap<(String, String), u32> = BTreeMap::new();
        for job in &jobs {
            let after: f64 = groups
                .range(job.group.saturating_add(1)..)
                .map(|(_, s)| s)
                .sum();
            // The jobs of a group began together.
            let after = after + groups[&job.group] - runtime(job);
            let times = names
                .entry((job.client.clone(), job.name.clone()))
                .or_default();
            *times += 1;
            let name = match times {
                1 => job.name.clone(),
                n => format!("{}#{n}", job.name),
            };
            let end = match job.printed {
                Some(at) => {
                    let before = jiff::SignedDuration::from_secs_f64(after);
                    Stamp::Civil(at.checked_sub(before).unwrap_or(at))
                }
                None => Stamp::Elapsed(self.elapsed + total - after),
            };
            self.put(job, &name, end, out);
        }
        if jobs.iter().any(|j| j.printed.is_none()) {
            self.elapsed += total;
        }
        for (device, column, value) in std::mem::take(&mut self.disks) {
            if out.has_sample() {
                let device = out.word(device.as_bytes());
                let unit = match column.rsplit(['.', '_']).next() {
                    Some("util") => "%",
                    Some("ticks" | "queue") => "ms",
                    _ => "",
                };
                out.other(&column, unit, device, value);
            }
        }
    }

    fn put(&self, job: &Job, name: &str, end: Stamp, out: &mut Out) {
        let spans = job.directions.iter().map(|d| d.runtime).fold(0.0, f64::max);
        if spans <= 0.0 {
            return;
        }
        out.sample_beside(end);
        out.spans(spans);
        let of = |op: &'static str| [name.as_bytes(), op.as_bytes(), job.client.as_bytes()];
        let parts = job
            .directions
            .iter()
            .any(|d| matches!(d.op, "read" | "write" | "trim"));
        let mut current = spans;
        out.note("fio's text has three or four digits of the bytes; its JSON has all");
        for direction in &job.directions {
            if direction.op == "mixed" && parts {
                out.note(super::MIXED);
                continue;
            }
            let ops = match direction.op {
                "read" => job.issued[0],
                "write" => job.issued[1],
                "trim" => job.issued[2],
                // fio counts those of fdatasync elsewhere: there were some, for they took time.
                "sync" if job.issued[3] == 0.0 => f64::NAN,
                "sync" => job.issued[3],
                _ => job.issued[..3].iter().sum(),
            };
            let ops = if job.is_part {
                job.by_rate(direction, out)
            } else {
                ops
            };
            super::ran_for(direction.runtime, &mut current, end, out);
            if direction.lat.is_none() && direction.clat.is_some() {
                out.note(super::COMPLETION);
            }
            let mean = direction.lat.or(direction.clat).unwrap_or(f64::NAN);
            let done = Done {
                ops,
                bytes: direction.bytes,
                time: mean * ops,
                ..UNKNOWN
            };
            self.work.amounts(out, of(direction.op), done);
        }
        if job.errors > 0.0 {
            let errors = job.errors;
            let done = Done { errors, ..UNKNOWN };
            self.work.amounts(out, of("(all)"), done);
        }
        for (op, column, unit, value) in &job.others {
            let instance = instance(out, of(op));
            out.other(column, unit, instance, *value);
        }
    }
}

impl Parser for FioText {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if ends_in_number(line, ENDED, out) {
            return Line::Unknown;
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Unknown;
        };
        let trimmed = text.trim();
        if trimmed.contains("kb_base=1000") {
            self.kilo = 1000.0;
            if !trimmed.contains(": (g") {
                return Line::Noise;
            }
        }
        if trimmed.contains(": (groupid=") {
            // That of all clients is the sum of the lines above it.
            let is_sum = trimmed.starts_with(ALL_CLIENTS);
            if !is_sum && self.jobs.iter().any(|job| job.is_part) {
                self.run_is_over(out);
            }
            let seen = self.header(trimmed, out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        // `2.0.8` is all that these said of themselves.
        let bare = trimmed
            .strip_prefix("2.0.")
            .and_then(|n| n.parse::<u8>().ok());
        if trimmed.starts_with("fio-") || bare.is_some() || trimmed.contains(": (g=") {
            if !self.jobs.is_empty() {
                self.run_is_over(out);
            }
            self.in_disks = false;
            return Line::Noise;
        }
        if trimmed.starts_with("Disk stats") {
            self.in_disks = true;
            return Line::Noise;
        }
        if let Some((_, op)) = SUMS.iter().find(|(sum, _)| trimmed.starts_with(sum)) {
            // Of jobs of the group, or of lines of their rates, of which nobody knows the group.
            let has_parts = |job: &Job| {
                let is_of_group = !job.is_part && job.group == self.group;
                is_of_group || job.is_part && !job.others.is_empty()
            };
            if self.jobs.iter().any(has_parts) {
                return Line::Noise;
            }
            let seen = self.sum(op, trimmed, out);
            return seen.map_or(Line::Unknown, |()| Line::Data);
        }
        if super::is_chatter(line) {
            self.group(trimmed);
            return Line::Noise;
        }
        let seen = if self.in_disks {
            self.disk(trimmed, out)
        } else {
            self.of_job(text, out)
        };
        seen.map_or(Line::Unknown, |()| Line::Data)
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }

    fn end(&mut self, out: &mut Out) {
        self.run_is_over(out);
    }
}
