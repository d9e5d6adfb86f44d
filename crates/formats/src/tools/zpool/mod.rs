//! `zpool iostat` of Solaris, illumos, and `OpenZFS` on Linux, BSD and macOS.
//!
//! ```text
//!               capacity     operations     bandwidth
//! pool        alloc   free   read  write   read  write
//! ----------  -----  -----  -----  -----  -----  -----
//! tank        26.5G  2.15T    174     69   714K   520K
//!   raidz1    26.5G  2.15T    174     69   714K   520K
//!     c0t0d0      -      -    100     29   209K   182K
//! ```
//!
//! Letters are steps of 1,024, of bytes and of operations; times are whole numbers of their
//! unit, rounded down (`zpool-iostat(8)`, `OpenZFS` 0.7 to 2.3). The first report is a mean since
//! the pool was imported, but with `-y`. With `-v` a device stands two columns further in than
//! what it is part of.

mod columns;
mod histogram;
mod known;
mod place;
mod vdev;

use self::columns::{Column, Op, value};
use self::histogram::Histogram;
use self::place::{Place, Row, Rows};
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::time::{Refused, Stamp};
use crate::{Line, Parser, fields, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "zpool-iostat",
    tool: "zpool",
    systems: "Solaris, illumos, Linux, FreeBSD, macOS",
    help: "I/Os, bytes, waits and queues of ZFS pools and their devices; histograms with -w, -r",
    recognised: "the header `pool alloc free read write read write`, or `used avail` for the \
                 first two; of -w and -r `latency read write …` and `req_size ind agg …`; of -H \
                 rows of seven columns divided by tabs",
    yields: &[
        "disk",
        "disk_io",
        "disk_latency",
        "disk_queue_time",
        "disk_service_time",
        "disk_size",
        "distribution",
    ],
    example: "\
              capacity     operations    bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        26.5G  2.15T    174     69   714K   520K
tank        26.5G  2.15T   1.2K      0  13.7M      0
",
    recognise: known::recognise,
    parser: || Box::new(Zpool::new()),
};

/// One of the runs that a loop starts, one after the other.
struct Run {
    /// How many reports each has, and the present one so far.
    all: f64,
    reports: f64,
    since_boot_first: bool,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is said of another thing in the text"
)]
struct Zpool {
    /// Upper header.
    top: Vec<String>,
    columns: Option<Vec<Column>>,
    histogram: Option<Histogram>,
    waiting: Option<Row>,
    place: Place,
    /// The next row begins a report.
    fresh: bool,
    stamp: Option<Stamp>,
    /// The next report is since boot.
    boot_next: bool,
    /// A report has rows that are moved in: with -v the header comes again with each.
    is_verbose: bool,
    run: Option<Run>,
    /// Whether the command line has -l, and -q.
    told: Option<[bool; 2]>,
    /// It has -H.
    is_told_scripted: bool,
    /// What follows is what `zpool status` printed.
    in_status: bool,
    /// Blanks before the header.
    margin: usize,
    /// A word alone on its line, and the line: what a histogram of -H may be of.
    perhaps: Option<(Vec<u8>, u64)>,
    disk: Shape,
    waits: Shape,
}

impl Zpool {
    fn new() -> Zpool {
        Zpool {
            top: Vec::new(),
            columns: None,
            histogram: None,
            waiting: None,
            place: Place::new(),
            fresh: true,
            stamp: None,
            boot_next: true,
            is_verbose: false,
            run: None,
            told: None,
            is_told_scripted: false,
            in_status: false,
            margin: 0,
            perhaps: None,
            disk: Shape::of("disk", &["ios", "bytes", "time"]),
            waits: Shape::of("disk_io", &["ios", "queue", "service"]),
        }
    }

    /// Blanks that stand before the line as before its header.
    fn margin(&self, line: &[u8]) -> usize {
        let blank = line.iter().take(self.margin);
        blank.take_while(|b| b.is_ascii_whitespace()).count()
    }

    /// A command line tells the interval, and begins anew.
    fn command(&mut self, arguments: &[String], in_loop: bool, out: &mut Out) {
        self.flush(None, out);
        if out.samples() > 0 {
            out.broken();
        }
        self.fresh = true;
        self.columns = None;
        self.histogram = None;
        self.in_status = false;
        self.place.command(prompt::has_flag(arguments, 'v'));
        let has = |flag| prompt::has_flag(arguments, flag);
        // Of a histogram rows begin with a bucket.
        self.is_told_scripted = has('H') && !has('w') && !has('r');
        self.told = Some(['l', 'q'].map(|flag| prompt::has_flag(arguments, flag)));
        self.boot_next = !prompt::has_flag(arguments, 'y');
        self.run = prompt::count(arguments).filter(|_| in_loop).map(|all| Run {
            all,
            reports: 0.0,
            since_boot_first: self.boot_next,
        });
        if let Some(seconds) = prompt::interval(arguments) {
            out.every(seconds);
        }
    }

    /// Whether the line is of what `zpool status` printed, from the pool's name to its errors.
    fn status(&mut self, line: &[u8], out: &mut Out) -> bool {
        if line.trim_ascii_start().starts_with(b"pool: ") {
            self.flush(None, out);
            self.in_status = true;
            out.note("what `zpool status` printed has nothing that is measured: it was left out");
        }
        let within = self.in_status;
        self.in_status &= !line.starts_with(b"errors:");
        within
    }

    fn begin(&mut self, out: &mut Out) {
        if let Some(run) = &mut self.run {
            if run.reports >= run.all {
                run.reports = 0.0;
                self.boot_next = run.since_boot_first;
                out.broken();
                if self.stamp.is_none() {
                    out.note(
                        "how long a loop waited between runs of the command is not told: they \
                         stand one behind the other",
                    );
                }
            }
            run.reports += 1.0;
        }
        out.sample_since_boot_first(self.stamp.take());
        if std::mem::take(&mut self.boot_next) {
            out.since_boot();
        }
        self.fresh = false;
        self.place.begin();
    }

    fn header(&mut self, line: &[u8]) -> Line {
        let mut words = fields(line).map(|w| String::from_utf8_lossy(w).into_owned());
        self.place.header(match words.next().as_deref() {
            Some("vdev") => Rows::Devices,
            _ => Rows::Pools,
        });
        let bottom: Vec<String> = words.collect();
        self.columns = columns::columns(&self.top, &bottom);
        self.fresh = true;
        self.histogram = None;
        if self.columns.is_some() {
            Line::Noise
        } else {
            Line::Unknown
        }
    }

    /// Columns of rows without a header, by how many there are.
    fn guess(&mut self, line: &[u8], out: &mut Out) {
        if !line.contains(&b'\t') && !self.is_told_scripted && !known::is_exact(line) {
            return;
        }
        let mut parts = known::parts(line).skip(1);
        let count = parts.clone().count();
        let timed = parts.any(|p| crate::number::seconds(p).is_some());
        match columns::headless(count, timed, self.told) {
            Ok(found) => self.columns = Some(found),
            Err(_) if count < 6 => {}
            Err(why) => out.refuse(Refused(format!(
                "rows of {count} columns without a header: {why}\n\
                 hint: put the two header lines that the command prints without -H above them"
            ))),
        }
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        if self.columns.is_none() {
            self.guess(line, out);
        }
        let Some(columns) = &self.columns else {
            return Line::Unknown;
        };
        let indent = line.iter().take_while(|b| **b == b' ').count();
        let Some((name, texts)) = split(line, columns) else {
            return Line::Unknown;
        };
        // Of `host1: tank` the host's name was not told from the pool's.
        if self.place.rows == Rows::Unnamed && memchr::memmem::find(name, b": ").is_some() {
            return Line::Unknown;
        }
        if vdev::is_class(name) && texts.iter().all(|t| *t == b"-") {
            return Line::Noise;
        }
        let read = columns.iter().zip(&texts).map(|(c, t)| value(c, t));
        let Some(values) = read.collect::<Option<Vec<f64>>>() else {
            return Line::Unknown;
        };
        // A pool's name begins with a letter: it is the rest of a row that was wrapped.
        let is_number = crate::number::scaled(name, 1.0).is_some();
        if indent == 0 && self.place.rows == Rows::Pools && is_number {
            return Line::Unknown;
        }
        let mut row = Row {
            indent,
            name: name.to_vec(),
            values,
            is_pool: false,
        };
        if let Err(why) = self.place.seat(&mut row, out) {
            out.refuse(Refused(why.into()));
        }
        self.is_verbose |= indent > 0;
        self.flush(Some(indent), out);
        if self.fresh || self.place.is_again(&row) {
            self.begin(out);
        }
        self.place.take(&row);
        self.waiting = Some(row);
        Line::Data
    }

    /// Puts the row that waited, now that it is known how far in the next one stands.
    fn flush(&mut self, next: Option<usize>, out: &mut Out) {
        let Some(row) = self.waiting.take() else {
            return;
        };
        let Some(columns) = self.columns.clone() else {
            return;
        };
        let holds = next.is_some_and(|next| next > row.indent);
        let is_group = !row.is_pool && (holds || vdev::is_group(&row.name));
        let layer = if row.is_pool || is_group {
            "stacked"
        } else {
            vdev::leaf_layer(&row.name)
        };
        let name = self.place.name(&row, is_group, out);
        if layer == "stacked" {
            out.note(
                "pools and groups of devices are of the layer `stacked`, which is counted where \
                 it is named only: `disk.bytes where layer = stacked`",
            );
        }
        let device = out.word(&name);
        let layer = out.word(layer.as_bytes());
        self.put(out, [device, layer], &columns, &row.values);
    }

    fn put(&self, out: &mut Out, words: [run::Word; 2], columns: &[Column], values: &[f64]) {
        let of = |wanted: &Column| {
            let at = columns.iter().position(|c| c == wanted);
            at.and_then(|at| values.get(at)).copied()
        };
        let [device, layer] = words;
        for op in [Op::Read, Op::Write] {
            let ios = of(&Column::Ops(op)).unwrap_or(f64::NAN);
            let bytes = of(&Column::Bytes(op)).unwrap_or(f64::NAN);
            if ios.is_nan() && bytes.is_nan() {
                continue;
            }
            // A mean of no I/Os is printed as `-`.
            let time = |wait| match of(&Column::Wait(wait, op)) {
                Some(mean) if mean.is_nan() && ios == 0.0 => 0.0,
                Some(mean) => mean * ios,
                None => f64::NAN,
            };
            let (all, service) = (time("total_wait"), time("disk_wait"));
            let words = [device, layer, out.word(op.name().as_bytes())];
            out.put(&self.disk, &words, &[ios, bytes, all]);
            if !service.is_nan() {
                // Kept by itself it would be told twice.
                let ios = if out.is_since_boot() { f64::NAN } else { ios };
                let queue = (all - service).max(0.0);
                out.put(&self.waits, &words, &[ios, queue, service]);
            }
        }
        for (column, value) in columns.iter().zip(values) {
            let (name, unit) = match column {
                Column::Ops(_) | Column::Bytes(_) => continue,
                Column::Space(name) => ((*name).to_owned(), "B"),
                Column::Wait(wait, op) => (format!("{wait}_{}", op.name()), "s"),
                Column::QueueWait(queue) => (format!("{queue}_wait"), "s"),
                Column::Queue(queue, state) => (format!("{queue}_{state}"), "I/Os"),
                Column::Script(name) => (name.clone(), ""),
            };
            out.other(&name, unit, device, *value);
        }
    }
}

/// The name and the texts of the columns. A name can hold blanks, so they are counted from
/// the end; but of a script's columns nobody knows how many words they hold.
fn split<'a>(line: &'a [u8], columns: &[Column]) -> Option<(&'a [u8], Vec<&'a [u8]>)> {
    if line.contains(&b'\t') {
        let mut parts = line.split(|b| *b == b'\t').map(<[u8]>::trim_ascii);
        let name = parts.next()?;
        let texts: Vec<&[u8]> = parts.collect();
        return (texts.len() == columns.len() && !name.is_empty()).then_some((name, texts));
    }
    let words: Vec<&[u8]> = fields(line).collect();
    if columns.iter().any(|c| matches!(c, Column::Script(_))) {
        let (name, texts) = words.split_first()?;
        let count = columns.len().min(texts.len());
        return (texts.len() >= 6).then(|| (*name, texts[..count].to_vec()));
    }
    let at = words
        .len()
        .checked_sub(columns.len())
        .filter(|at| *at > 0)?;
    let texts = words.get(at..)?.to_vec();
    let first = texts.first()?;
    // Where the columns begin in the line.
    let offset = (first.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let name = line.get(..offset)?.trim_ascii();
    // What stands before them is one name, not numbers that ran over.
    let one = at == 1
        || !words[1..at]
            .iter()
            .any(|w| crate::number::scaled(w, 1.0).is_some() || *w == b"-");
    one.then_some((name, texts))
}

impl Parser for Zpool {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    /// Its name tells whether the row begins a report.
    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let width = self.columns.as_ref().map_or(0, Vec::len);
        let inside = &line[self.margin(line)..];
        let outermost = inside.first().is_some_and(|b| !b.is_ascii_whitespace());
        let name = fields(line).next().unwrap_or_default().to_vec();
        if !outermost || crate::lines::rows_in(line, width) == 0 {
            return;
        }
        self.flush(None, out);
        if self.fresh || self.place.is_titled(&name) {
            self.begin(out);
            out.gap();
        }
        self.place.lost(&name);
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let margin = self.margin(line);
        let line = line[margin..].trim_ascii_end();
        let is_dashed = line.windows(2).any(|w| w == b"--");
        if line.is_empty() || is_dashed && line.iter().all(|b| matches!(b, b'-' | b' ')) {
            if is_dashed {
                self.place.dashes();
            }
            return Line::Noise;
        }
        if let Some(arguments) = prompt::arguments(line, &["zpool", "iostat"]) {
            self.command(&arguments, fields(line).any(|w| w == b"do"), out);
            return Line::Noise;
        }
        if let Some(stamp) = stamp_line::told(line, out) {
            self.flush(None, out);
            self.stamp = Some(stamp);
            self.fresh = true;
            return Line::Noise;
        }
        if columns::is_top(line) {
            self.in_status = false;
            self.place.top_at_edge = !line.starts_with(b" ");
            self.top = fields(line)
                .map(|w| String::from_utf8_lossy(w).into_owned())
                .collect();
            return Line::Noise;
        }
        if columns::is_bottom(line) {
            self.flush(None, out);
            self.in_status = false;
            // Pools stand at the edge; where it was pasted into another text that is further in.
            let blank = line.iter().take_while(|b| b.is_ascii_whitespace());
            self.margin = margin + blank.count();
            if self.stamp.is_some() && out.has_sample() && !self.is_verbose {
                // Below its own times (-T) there is no header again.
                self.boot_next = true;
            }
            return self.header(line);
        }
        if self.status(line, out) {
            return Line::Noise;
        }
        if let Some(seen) = self.histogram_line(line, out) {
            return seen;
        }
        match self.row(line, out) {
            Line::Unknown if line == b"no pools available" => Line::Noise,
            seen => seen,
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.name_above(b"", b"", out);
        self.flush(None, out);
    }
}
