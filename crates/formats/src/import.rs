//! One file on its way in: cut into lines, each of them accounted for.

use run::{Nanos, Sink};

use crate::above::Above;
use crate::around::is_around;
use crate::lines::{LONGEST, clean, is_text, without_mark, without_returns};
use crate::others::{Beside, Held, Others, Owner};
use crate::out::{Came, Out};
use crate::own::Own;
use crate::page::Page;
use crate::prefix::Prefix;
use crate::prompt::{data_behind, is_chatter};
use crate::recognise::Head;
use crate::report::{NotUnderstood, Report};
use crate::sources::Sources;
use crate::time::{Options, Refused, Stamp};
use crate::{Format, Line, Parser, stamp_line};

/// Lines that were not understood and are kept whole.
const KEPT: usize = 100;

const CUT_OFF: &str = "the last line has no end and was left out: the file was cut off";

/// What a file is read as.
#[derive(Clone, Copy)]
pub enum Reading<'a> {
    /// A format of the list.
    Listed(&'static Format),
    /// A table that somebody described.
    Described(&'a Own),
}

impl From<&'static Format> for Reading<'_> {
    fn from(format: &'static Format) -> Self {
        Reading::Listed(format)
    }
}

impl<'a> From<&'a Own> for Reading<'a> {
    fn from(own: &'a Own) -> Self {
        Reading::Described(own)
    }
}

/// A file being imported.
pub struct Import {
    /// Name of its format.
    name: String,
    parser: Box<dyn Parser>,
    out: Out,
    page: Page,
    /// The line above is one that the tool printed.
    below: bool,
    prefix: Prefix,
    /// The last line before any that was understood.
    above: Above,
    /// Lines of other tools are among those of the format.
    others: Option<Others>,
    /// The times of the prefix are those of samples.
    stamped: bool,
    /// A line whose end has not come, and when it began.
    rest: Vec<u8>,
    rest_came: Option<Came>,
    /// When what is fed now came.
    came: Option<Came>,
    /// The line is too long; what comes up to its end is dropped.
    overlong: bool,
    buffer: Vec<u8>,
    /// Of the line that came last, from 1 on.
    number: u64,
    sources: Sources,
    report: Report,
}

impl Import {
    /// Begins a file of that format that begins as `head`.
    pub fn new<'a>(format: impl Into<Reading<'a>>, head: &Head, options: Options) -> Import {
        let format = format.into();
        let is_read = match &format {
            Reading::Listed(format) => (format.recognise)(head) > 0,
            Reading::Described(_) => false,
        };
        // What a tool or a table of one's own has in front is its own.
        let prefix = if is_read {
            head.prefix().clone()
        } else {
            head.prefix().sure()
        };
        let (name, mut parser, out) = match format {
            Reading::Listed(format) => (
                format.name.to_owned(),
                (format.parser)(),
                Out::new(format.tool, options),
            ),
            Reading::Described(own) => (
                own.name().to_owned(),
                own.parser(),
                Out::new(own.name().to_owned(), options),
            ),
        };
        parser.look(head);
        let others = match &format {
            Reading::Listed(format) if !parser.is_binary() => Others::among(format, head),
            _ => None,
        };
        Import {
            name,
            stamped: parser.is_printed_at_once(),
            parser,
            out,
            page: head.page(),
            below: false,
            prefix,
            above: Above::default(),
            others,
            rest: Vec::new(),
            rest_came: None,
            came: None,
            overlong: false,
            buffer: Vec::new(),
            number: 0,
            sources: Sources::default(),
            report: Report::default(),
        }
    }

    /// What becomes of the other formats in the same text ([`together`](crate::together)).
    pub fn beside(&mut self, beside: &Beside) {
        if let Some(others) = &mut self.others {
            others.beside(beside.clone());
        }
    }

    /// What is fed next came at that time, while it was made: reports that tell neither times nor
    /// an interval are of the time when they came. The same time again says that it came
    /// together with what was before it.
    pub fn came(&mut self, at: Nanos) {
        if self.stamped && self.came.is_none_or(|c| c.at != at) {
            self.came = Some(Came { at, alone: true });
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Where the file cannot be imported at all.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Refused> {
        if self.parser.is_binary() {
            self.parser.bytes(bytes, &mut self.out);
            return self.out.refused().map_or(Ok(()), Err);
        }
        if !self.rest.is_empty() || self.overlong {
            let Some(end) = memchr::memchr(b'\n', bytes) else {
                self.hold(bytes);
                return Ok(());
            };
            let tail = &bytes[..end];
            self.hold(tail);
            bytes = &bytes[end + 1..];
            let whole = std::mem::take(&mut self.rest);
            // It came when its beginning did.
            let now = std::mem::replace(&mut self.came, self.rest_came.take());
            let data = self.report.data;
            self.take(&whole, false);
            let ends_in_numbers = self.report.data > data && !tail.trim_ascii().is_empty();
            self.came = now.map(|c| Came {
                alone: c.alone && !ends_in_numbers,
                ..c
            });
            self.rest = whole;
            self.rest.clear();
            self.overlong = false;
            self.out.refused().map_or(Ok(()), Err)?;
        }
        // Asked once of all, not of each line.
        let text = is_text(bytes);
        let mut from = 0;
        while let Some(length) = memchr::memchr(b'\n', &bytes[from..]) {
            self.take(&bytes[from..from + length], text);
            from += length + 1;
            if text {
                from += self.take_rows(&bytes[from..]);
            }
            self.out.refused().map_or(Ok(()), Err)?;
        }
        self.hold(&bytes[from..]);
        Ok(())
    }

    /// Has the parser take at once what is its own for sure, where lines are as the tool printed them and
    /// are counted all the same; how many bytes.
    fn take_rows(&mut self, text: &[u8]) -> usize {
        let as_printed = self.page.is_plain() && matches!(self.prefix, Prefix::None);
        if !as_printed || self.others.is_some() || !self.sources.is_quiet() {
            return 0;
        }
        let taken = self.parser.rows(text, &mut self.out);
        self.number += taken.lines;
        self.report.data += taken.lines;
        if let Some(came) = &mut self.came {
            came.alone &= taken.lines == 0;
        }
        taken.bytes
    }

    /// Keeps what may be the beginning of a line.
    fn hold(&mut self, bytes: &[u8]) {
        if self.rest.is_empty() && !bytes.is_empty() {
            self.rest_came = self.came;
        }
        let room = LONGEST.saturating_sub(self.rest.len());
        self.overlong |= bytes.len() > room;
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Takes a line; one that is `text` has nothing to be cleaned but its end.
    fn take(&mut self, line: &[u8], text: bool) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.number += 1;
        let line = match self.number {
            1 => without_mark(line),
            _ => line,
        };
        let line = if text {
            without_returns(line)
        } else {
            clean(line, &mut buffer)
        };
        self.take_clean(line);
        self.buffer = buffer;
    }

    /// Takes a line that is text: without what stands before it, if it is the tool's.
    fn take_clean(&mut self, line: &[u8]) {
        if self.page.is_added(line, &mut self.below) {
            self.report.noise += 1;
            return;
        }
        let unescaped = self.page.unescaped(line);
        let line = unescaped.as_deref().unwrap_or(line);
        let mut logged = None;
        let line = match &self.prefix {
            Prefix::None => line,
            prefix => {
                if self.stamped {
                    logged = prefix.stamp(line, &mut self.out);
                }
                prefix.strip(line)
            }
        };
        if is_around(line) {
            self.report.noise += 1;
            return;
        }
        if let Some(others) = &mut self.others {
            others.hold(Held {
                number: self.number,
                line: line.to_vec(),
                came: self.came,
                logged,
                overlong: self.overlong,
            });
            self.take_held(false);
            return;
        }
        (self.out.line, self.out.came, self.out.logged) = (self.number, self.came, logged);
        self.read(line, self.overlong);
    }

    /// Takes lines of which it can be told whose they are; `is_last`: no more come.
    fn take_held(&mut self, is_last: bool) {
        while let Some(others) = &mut self.others
            && let Some((held, owner)) = others.next(is_last, self.out.options())
        {
            (self.out.line, self.out.came, self.out.logged) = (held.number, held.came, held.logged);
            match owner {
                Owner::Own => self.read(&held.line, held.overlong),
                Owner::Another => self.not_understood(&held.line),
                Owner::Elsewhere => {}
            }
        }
    }

    /// Has the parser read a line.
    fn read(&mut self, line: &[u8], overlong: bool) {
        let is_heading = match self.sources.look(line, self.out.line) {
            Ok(is_heading) => is_heading,
            Err(why) => {
                self.out.refuse(why);
                true
            }
        };
        let mut seen = if is_heading {
            Line::Noise
        } else {
            Line::Unknown
        };
        if self.report.data == 0 {
            self.out.begins_within(self.above.is_like(line));
        }
        if !is_heading && !overlong && (!self.out.endless || self.parser.sees_cut(line)) {
            seen = self.parser.line(line, &mut self.out);
            if seen == Line::Unknown
                && let Some(rest) = data_behind(line)
            {
                seen = self.parser.line(rest, &mut self.out);
            }
        }
        if seen == Line::Unknown {
            match self.sources.is_one(line, self.out.line) {
                Ok(false) => {}
                Ok(true) => seen = Line::Noise,
                Err(why) => self.out.refuse(why),
            }
        }
        if seen == Line::Unknown
            && !self.out.endless
            && let Ok(Some(stamp)) = stamp_line::script_line(line, self.out.options())
            && (self.begins_run(stamp) || self.out.date_line(stamp, self.report.data == 0))
        {
            seen = Line::Noise;
        } else if seen == Line::Noise
            && may_be_date(line)
            && let Ok(Some(stamp)) = stamp_line::script_line(line, self.out.options())
        {
            // Its parser may know it for a time, or for nothing.
            if self.report.data == 0 {
                self.out.date_above(stamp);
            } else if !self.begins_run(stamp) {
                self.out.date_between(stamp);
            }
        }
        self.out.last = seen;
        match seen {
            Line::Data => {
                self.report.data += 1;
                if let Some(came) = &mut self.came {
                    came.alone = false;
                }
            }
            Line::Noise => self.report.noise += 1,
            Line::Unknown if line.trim_ascii().is_empty() || is_chatter(line) => {
                self.report.noise += 1;
            }
            Line::Unknown => {
                if !self.out.endless {
                    self.parser.lost(line, &mut self.out);
                }
                if self.report.data == 0 {
                    self.above.lost(line);
                }
                self.not_understood(line);
            }
        }
    }

    /// Whether the run above a date is whole, so that another begins there.
    fn begins_run(&mut self, stamp: Stamp) -> bool {
        self.report.data > 0
            && self.out.may_begin_at(stamp)
            && self.parser.run_ends(&mut self.out)
            && self.out.run_begins(stamp)
    }

    fn not_understood(&mut self, line: &[u8]) {
        self.report.unknown += 1;
        if self.report.not_understood.len() < KEPT {
            let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
            self.report.not_understood.push(NotUnderstood {
                line: self.out.line,
                text: text.into_owned(),
            });
        }
    }

    /// From now on, rows of samples that are alike may be handed out as such
    /// ([`Sink::alike`]): for who takes them quickest that way.
    pub fn hand_out_alike(&mut self) {
        self.out.takes_alike();
    }

    /// Rows whose times are known so far; to be taken and cleared.
    pub fn rows(&mut self) -> &mut Sink {
        self.out.rows()
    }

    /// Lines so far whose numbers were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.report.data
    }

    /// Seconds between samples, where they are told already.
    pub fn every(&self) -> Option<f64> {
        self.out.interval()
    }

    /// Samples of which it is not known yet how long their intervals are.
    pub fn waiting(&self) -> usize {
        self.out.waiting()
    }

    /// Whether reports so far have their times from when they came.
    pub fn is_by_arrival(&self) -> bool {
        self.out.is_by_arrival()
    }

    /// When the first interval started and the last ended, so far.
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        self.out.span()
    }

    /// What was read, of an input that was refused in the middle.
    pub fn so_far(&self) -> Report {
        Report {
            samples: self.out.ended(),
            since_boot: self.out.since_boot_samples(),
            span: self.out.span(),
            by_arrival: self.out.is_by_arrival(),
            notes: self.out.notes().cloned().collect(),
            ..self.report.clone()
        }
    }

    /// The input is over. Rows that were held back are among [`Import::rows`] then.
    ///
    /// # Errors
    /// Where the file cannot be imported at all, or has nothing in it.
    pub fn finish(&mut self) -> Result<Report, Refused> {
        self.take_held(true);
        if !self.rest.is_empty() {
            let whole = std::mem::take(&mut self.rest);
            let unknown = self.report.unknown;
            self.came = self.rest_came.take();
            self.out.endless = true;
            self.take(&whole, false);
            self.take_held(true);
            if self.report.unknown > unknown {
                self.out.lacks(CUT_OFF);
                self.report.unknown -= 1;
                self.report.noise += 1;
                self.report
                    .not_understood
                    .retain(|n| n.line < self.out.line);
            }
        }
        self.out.logged = None;
        for note in self.others.iter().flat_map(Others::notes) {
            self.out.lacks(&note);
        }
        self.parser.end(&mut self.out);
        if self.parser.lists_all() || self.out.lacking().any(|n| n == CUT_OFF) {
            self.out.ended_within();
        }
        self.out.end();
        let cut_off = match self.out.lacking().find(|n| *n == CUT_OFF) {
            Some(note) => format!("\nhint: {note}"),
            None => String::new(),
        };
        if let Some(Refused(why)) = self.out.refused() {
            return Err(Refused(format!("{why}{cut_off}")));
        }
        let mut report = std::mem::take(&mut self.report);
        report.data += self.out.record;
        let late = std::mem::take(&mut self.out.unknown);
        report.unknown += late.len() as u64;
        let noise = self.out.unknown_noise;
        report.noise = report.noise.saturating_sub(noise);
        report.data = report.data.saturating_sub(late.len() as u64 - noise);
        let late = late
            .into_iter()
            .map(|(line, text)| NotUnderstood { line, text });
        report.not_understood.extend(late.take(KEPT));
        report.not_understood.sort_by_key(|n| n.line);
        report.not_understood.truncate(KEPT);
        if self.out.ended() == 0 && self.out.since_boot_samples() > 0 {
            self.out
                .note("it has reports since boot only: nothing of it is of an interval");
        }
        report.notes = self.out.notes().cloned().collect();
        report.faults = self.out.lacking().cloned().collect();
        report.samples = self.out.ended();
        report.since_boot = self.out.since_boot_samples();
        report.host = self.out.host_name().map(str::to_owned);
        report.processors = self.out.told_processors();
        report.span = self.out.span();
        report.relative = self.out.is_relative();
        report.from_start = self.out.is_from_start();
        report.by_arrival = self.out.is_by_arrival();
        report.stamped = self.out.is_stamped();
        report.every = self.out.interval();
        if report.span.is_none() || report.data == 0 {
            let unknown = match report.not_understood.first() {
                Some(first) => {
                    let fault = self.out.fault_of(first.line);
                    let fault = fault.map(|what| format!("; {what} cannot be read"));
                    let fault = fault.unwrap_or_default();
                    let (line, text) = (first.line, shortened(&first.text));
                    format!(" that are understood: line {line} is {text}{fault}")
                }
                None => String::new(),
            };
            let why = format!(
                "it looks like {}, and there are no numbers in it{unknown}{cut_off}",
                self.name
            );
            return Err(Refused(why));
        }
        Ok(report)
    }
}

/// Whether a line without numbers to take may be a date and a time of day: it is asked of many.
fn may_be_date(line: &[u8]) -> bool {
    const LONGEST: usize = 60;
    line.len() <= LONGEST && memchr::memchr_iter(b':', line).count() > 1
}

/// The beginning of a line, where it is long: lines of `ps` are.
fn shortened(line: &str) -> String {
    const MOST: usize = 80;
    let line = line.trim();
    match line.char_indices().nth(MOST) {
        None => line.to_owned(),
        Some((at, _)) => format!("{}...", &line[..at]),
    }
}
