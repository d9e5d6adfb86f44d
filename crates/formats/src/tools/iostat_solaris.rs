//! `iostat` of Solaris and illumos, with any of its flags.
//!
//! ```text
//!      cpu
//!  us sy wt id
//!   1  2  0 97
//!                     extended device statistics
//!     r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
//!     0.0    0.9    0.8    3.8  0.0  0.0    0.0    0.5   0   0 c0t1d0
//! ```
//!
//! K is 1,024 and M 1,048,576 bytes; `wait` and `actv` are mean queue lengths; service times
//! are in milliseconds, a mean of reads and writes (illumos, `iostat(8)`). The first report is a
//! mean since boot, and so is one after devices came or went. `-z` leaves out rows of devices
//! that did nothing. The amounts of `-I` are those of the interval.

mod basic;
mod errors;
mod layout;
mod report;
mod row;

use self::errors::line_of_errors;
use self::layout::{Basic, Layout};
use self::report::Report;
use self::row::{joined_zeros, name_after, put_tail, raw_row};
use super::solaris::{Between, CHANGED, between, blank_or_unknown, sample};
use crate::cpu::AllCpus;
use crate::disk::is_beginning;
use crate::lines::rows_in;
use crate::list::Format;
use crate::out::{Out, Shape};
use crate::prompt::is_chatter;
use crate::recognise::Head;
use crate::time::{Refused, Stamp};
use crate::{Line, Parser, Taken, echo, fields, number, scan};

pub(crate) const FORMAT: Format = Format {
    name: "iostat-solaris",
    tool: "iostat",
    systems: "Solaris, illumos",
    help: "devices (-x, -n, -e, -p, -C, -d, -D), terminals, processors; errors with -E",
    recognised: "a header with `wait actv`, `kps tps serv`, `s/w h/w trn tot` or only `us sy wt id`",
    yields: &["disk", "disk_device", "disk_io", "cpu", "cpu_idle"],
    example: "\
                    extended device statistics
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
    0.3    0.2    6.4    0.0  0.0  0.0    0.3    1.7   0   0 c1t0d0
   71.1   29.2  154.5  172.3  0.0  0.1    0.0    0.7   0   2 c0t0d0
                    extended device statistics
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
    0.0    0.0    0.0    0.0  0.0  0.0    0.0    0.0   0   0 c1t0d0
   69.8   29.2  145.0  172.3  0.0  0.1    0.0    0.9   0   2 c0t0d0
",
    recognise,
    parser: || Box::new(Iostat::new()),
};

fn recognise(head: &Head) -> u8 {
    let mut sure = 0;
    for line in head.headers() {
        let found = if Layout::of(line).is_some() || line_of_errors(line) {
            90
        } else {
            match Basic::of(line) {
                Some(basic) if !basic.groups.is_empty() => 85,
                Some(_) => 70,
                None => 0,
            }
        };
        sure = sure.max(found);
    }
    sure
}

/// Parts of a report, in their order. A part that is not after the one before begins the next
/// report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Nothing,
    Stamp,
    Basic,
    Title,
    Devices,
    Errors,
}

/// A line that was seen before, and will be again in every report.
#[derive(Clone, Copy)]
enum Known {
    Title,
    Layout(usize),
    Basic(usize),
    /// Titles of terminals and processors.
    Nothing,
}

struct Iostat {
    known: Vec<(Vec<u8>, Known)>,
    layouts: Vec<Layout>,
    basics: Vec<Basic>,
    /// The table whose rows come.
    layout: Option<usize>,
    basic: Option<usize>,
    part: Part,
    /// How often the header of devices came, since the tool began.
    headers: usize,
    /// The report is a sample of [`Out`] already.
    open: bool,
    stamp: Option<Stamp>,
    report: Report,
    /// The next report is since boot.
    since_boot: bool,
    /// `-z`, where a command line tells.
    leaves_out: Option<bool>,
    /// Where it does not say when devices come and go (`-s`), and leaves none out, the rows tell: so many had
    /// the report before.
    had: Option<usize>,
    /// `-I`, as far as is known.
    amounts: bool,
    /// Names that may be those of the basic table's devices, and the line they were on.
    held: Option<(u64, Vec<String>)>,
    devices: Vec<String>,
    values: Vec<f64>,
    /// The first device with errors, and the present one.
    errors: Option<(Vec<u8>, Vec<u8>)>,
    cpus: AllCpus,
    ops: Shape,
    busy: Shape,
}

impl Iostat {
    fn new() -> Iostat {
        Iostat {
            known: Vec::new(),
            layouts: Vec::new(),
            basics: Vec::new(),
            layout: None,
            basic: None,
            part: Part::Nothing,
            headers: 0,
            open: false,
            stamp: None,
            report: Report::new(),
            since_boot: true,
            leaves_out: None,
            had: None,
            amounts: false,
            held: None,
            devices: Vec::new(),
            values: Vec::new(),
            errors: None,
            cpus: AllCpus::new(),
            ops: Shape::of("disk", &["ios", "bytes", "time"]),
            busy: Shape::of("disk_device", &["busy"]),
        }
    }

    // ---- reports ----

    /// A part of a report begins.
    fn begin(&mut self, part: Part, out: &mut Out) {
        if part <= self.part {
            self.close(out);
        }
        self.part = part;
    }

    /// There are numbers: the report is a sample.
    fn open(&mut self, out: &mut Out) {
        if self.open {
            return;
        }
        self.open = true;
        sample(&mut self.stamp, out);
        if std::mem::replace(&mut self.since_boot, false) {
            out.since_boot();
        }
    }

    /// The report is over.
    fn close(&mut self, out: &mut Out) {
        // With -z there may be no row at all.
        if matches!(self.part, Part::Title | Part::Devices) {
            self.open(out);
        }
        if self.open {
            self.put(out);
        }
        self.open = false;
        self.part = Part::Nothing;
    }

    fn put(&mut self, out: &mut Out) {
        let missing = self.part >= Part::Devices && !out.is_since_boot();
        let garbled = std::mem::take(&mut self.report.garbled);
        let known = self.report.known();
        let had = self.had.as_mut().map(|had| std::mem::replace(had, known));
        let has_changed = |had: usize| had > 0 && (self.report.missing() > 0 || known > had);
        if missing && !garbled && had.is_some_and(has_changed) {
            // `iostat.c` forgets what it read before, whether it says so or not.
            out.since_boot();
            out.note(CHANGED);
            let layout = self.layout.and_then(|l| self.layouts.get(l));
            self.report.close(layout, false, out);
            self.report.forget();
            self.had = Some(0);
            return;
        }
        let missing = missing && !garbled && self.report.missing() > 0;
        let idle = missing
            && match self.leaves_out {
                Some(told) => told,
                None if self.report.idle_seen => false,
                None => {
                    out.note(
                        "rows of devices that came before are missing; no idle device has a row, \
                         so they are taken for idle, as -z leaves them out",
                    );
                    true
                }
            };
        let layout = self.layout.and_then(|l| self.layouts.get(l));
        self.report.close(layout, idle, out);
    }

    // ---- rows of devices ----

    /// A row of the table of devices; `None` if it is none.
    fn row(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let place = self.layout?;
        let layout = self.layouts.get(place)?;
        let tail = layout.tail.len();
        let mut values = [0.0; scan::MOST];
        let (name, count) = if layout.raw {
            raw_row(line, layout, &mut values)?
        } else if layout.name_first {
            let end = line.iter().position(u8::is_ascii_whitespace)?;
            let (name, rest) = line.split_at(end);
            let all = layout.numbers + tail;
            let (count, at) = scan::numbers(rest, values.get_mut(..all)?);
            let joined = layout.numbers < count && count < all;
            if at == rest.len() && joined && joined_zeros(rest, values.get_mut(..all)?) {
                (name, all)
            } else {
                (at == rest.len()).then_some((name, count))?
            }
        } else {
            let (count, at) = scan::numbers(line, &mut values[..layout.numbers]);
            (name_after(line.get(at..)?)?, count)
        };
        if name.is_empty() && tail > 0 && count == tail {
            // The first device is idle and left out; what follows its row is there.
            self.open(out);
            let layout = &self.layouts[place];
            put_tail(
                &mut self.cpus,
                layout.amounts,
                layout.tail(&values[..tail]),
                out,
            );
            return Some(Line::Data);
        }
        if name.is_empty() || !(count == layout.numbers || count == layout.numbers + tail) {
            return None;
        }
        let device = self.report.place(name, out);
        let is_cut = self.report.has(device) && is_beginning(name);
        if is_cut {
            out.refuse(Refused(format!(
                "a report has two rows of {}: names of devices were cut, as at the width of a terminal\n\
                 hint: have them whole, as iostat prints them into a file",
                String::from_utf8_lossy(name)
            )));
            return Some(Line::Data);
        }
        // Someone left the headers out: the first device comes again, or with -z any that was before.
        let is_next = self.headers == 1 && self.report.goes_back(device);
        if is_next || self.report.begins(device) {
            self.close(out);
            self.part = Part::Devices;
        }
        self.open(out);
        let layout = &self.layouts[place];
        self.report.row(device, &values[..layout.numbers]);
        if count > layout.numbers {
            let tail = layout.tail(&values[layout.numbers..count]);
            put_tail(&mut self.cpus, layout.amounts, tail, out);
        }
        Some(Line::Data)
    }

    // ---- all other lines ----

    fn header(&mut self, known: Known, out: &mut Out) -> Line {
        match known {
            Known::Nothing => {}
            Known::Title => self.begin(Part::Title, out),
            Known::Layout(place) => {
                if self.part != Part::Title {
                    self.begin(Part::Devices, out);
                }
                self.part = Part::Devices;
                self.headers += 1;
                self.layout = Some(place);
                self.amounts = self.layouts.get(place).is_some_and(|l| l.amounts);
            }
            Known::Basic(place) => {
                if self.part > Part::Stamp {
                    self.close(out);
                }
                self.basic = Some(place);
                self.layout = None;
                self.name_devices(place, out);
            }
        }
        Line::Noise
    }

    fn unlike_before(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Line::Noise;
        }
        let has = |t: &[u8]| memchr::memmem::find(text, t).is_some();
        let title = has(b"extended device statistics")
            || has(b"extended disk statistics")
            || has(b"---- errors ---")
            || text == b"errors";
        if title {
            self.begin(Part::Title, out);
            return self.title(text, out);
        }
        let known = if let Some(layout) = Layout::of(line) {
            self.layouts.push(layout);
            Some(Known::Layout(self.layouts.len() - 1))
        } else if let Some(basic) = Basic::of(line) {
            self.basics.push(basic);
            Some(Known::Basic(self.basics.len() - 1))
        } else if fields(line).all(|f| f == b"tty" || f == b"cpu") {
            Some(Known::Nothing)
        } else {
            None
        };
        if let Some(known) = known {
            if self.known.len() < 16 {
                self.known.push((line.to_vec(), known));
            }
            return self.header(known, out);
        }
        if let Some(seen) = self.errors(line, out) {
            return seen;
        }
        self.between_or_names(line, out)
    }

    /// The title of extended statistics, perhaps with a remark.
    fn title(&mut self, text: &[u8], out: &mut Out) -> Line {
        if let Some(at) = memchr::memmem::find(text, b"<--") {
            let remark: Vec<&[u8]> = fields(&text[at + 3..]).collect();
            match remark[..] {
                [b"since", b"boot"] => self.since_boot = true,
                [b"past", b"second"] => {
                    self.since_boot = false;
                    out.every(1.0);
                }
                [b"past", count, b"seconds"] => {
                    self.since_boot = false;
                    if let Some(count) = number::number(count) {
                        out.every(count);
                    }
                }
                _ => {}
            }
        } else if self.known.len() < 16 && !text.is_empty() {
            // Only titles without a remark are the same each time.
            self.title_seen(text);
        }
        Line::Noise
    }

    /// Words above the header of the devices are its title in another language.
    fn heading_of_devices(&mut self, out: &mut Out) {
        let words = |names: &[String]| !names.iter().any(|n| n.contains(|c: char| c.is_numeric()));
        match &self.held {
            // Below a title that is known it is something else.
            Some((_, names)) if words(names) && self.part != Part::Title => {
                self.held = None;
                self.begin(Part::Title, out);
            }
            _ => self.names_of_nothing(out),
        }
    }

    fn title_seen(&mut self, text: &[u8]) {
        if !self.known.iter().any(|(line, _)| line == text) {
            self.known.push((text.to_vec(), Known::Title));
        }
    }

    /// A row of the basic table whose numbers run together; `None` if it is none.
    fn apart(&mut self, line: &[u8], out: &mut Out) -> Option<Line> {
        let basic = self.basics.get(self.basic?)?;
        if basic.raw || out.is_endless() {
            return None;
        }
        let apart = basic.together.apart(line)?;
        self.basic(&apart, out)
    }

    fn between_or_names(&mut self, line: &[u8], out: &mut Out) -> Line {
        if echo::command(line, "iostat").is_some() {
            self.close(out);
        }
        match between(line, "iostat", &["-T", "-l"], out) {
            Some(Between::Command) => {
                self.report.forget();
                self.headers = 0;
                self.since_boot = true;
                if let Some(arguments) = echo::command(line, "iostat") {
                    self.leaves_out = Some(echo::has_flag(&arguments, b'z'));
                    let is_silent = echo::has_flag(&arguments, b's');
                    self.had = (is_silent && self.leaves_out == Some(false)).then_some(0);
                    self.amounts = echo::has_flag(&arguments, b'I');
                }
                return Line::Noise;
            }
            Some(Between::Change) => {
                self.close(out);
                self.report.forget();
                self.since_boot = true;
                out.note(CHANGED);
                return Line::Noise;
            }
            Some(Between::Stamp(stamp)) => {
                self.begin(Part::Stamp, out);
                self.stamp = Some(stamp);
                return Line::Noise;
            }
            Some(Between::Chatter) => return Line::Noise,
            None => {}
        }
        if is_chatter(line) || self.hold_names(line, out) {
            return Line::Noise;
        }
        blank_or_unknown(line)
    }
}

impl Parser for Iostat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if self.part == Part::Devices
            && let Some(seen) = self.row(line, out)
        {
            self.report.garbled |= seen == Line::Unknown;
            return seen;
        }
        let trimmed = line.trim_ascii();
        let known = self.known.iter().find(|(l, k)| match k {
            Known::Title => l == trimmed,
            _ => l == line,
        });
        let known = known.map(|(_, k)| *k);
        let device = |k: Option<Known>| matches!(k, Some(Known::Layout(_)));
        if self.held.is_some() && (device(known) || Layout::of(line).is_some()) {
            self.heading_of_devices(out);
        } else if self.held.is_some() && known.is_none() && Basic::of(line).is_none() {
            self.names_of_nothing(out);
        }
        if let Some(known) = known {
            return self.header(known, out);
        }
        if let Some(seen) = self.basic(line, out) {
            if seen == Line::Data
                && let Some(basic) = self.basic.and_then(|b| self.basics.get_mut(b))
            {
                basic.together.row(line);
            }
            return seen;
        }
        let mut seen = self.unlike_before(line, out);
        if seen == Line::Unknown {
            seen = self.apart(line, out).unwrap_or(seen);
        }
        self.report.garbled |= seen == Line::Unknown;
        seen
    }

    fn rows(&mut self, text: &[u8], _: &mut Out) -> Taken {
        let layout = self.layout.and_then(|place| self.layouts.get(place));
        match layout {
            Some(layout) if self.open && self.part == Part::Devices && layout.is_behind() => {
                self.report.plain_rows(text, layout.numbers)
            }
            _ => Taken::default(),
        }
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let basic = self.basic.filter(|_| self.layout.is_none());
        let Some(basic) = basic.and_then(|place| self.basics.get(place)) else {
            return;
        };
        for _ in 0..rows_in(line, basic.numbers) {
            self.begin(Part::Basic, out);
            self.open(out);
            out.gap();
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.names_of_nothing(out);
        if self.open {
            self.put(out);
        }
    }
}
