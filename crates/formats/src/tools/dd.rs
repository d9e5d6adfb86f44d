//! `dd`: GNU (any locale, with progress), BSD, busybox, and Solaris under `/bin/time`.
//!
//! Neither `dd` nor `time` separates thousands: `1,234 s` of some locales is a little more than a
//! second. The rate on the same line is used to see that a time was read right.
//!
//! A row is of one copy. Where `dd` itself does not tell bytes, they are its whole records
//! times the `bs` of the command line in the text, if there is one.

mod copy;
mod languages;
mod line;

use std::collections::VecDeque;

use self::copy::{Copy, is_later};
use self::languages::with_blanks;
use self::line::{Command, clock, commands, copied, records, tells_copied};
use crate::lines::{ENDED, ends_in_number};
use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::workload::{Done, UNKNOWN, Work, instance};
use crate::{Line, Parser, fields};

pub(crate) const FORMAT: Format = Format {
    name: "dd",
    tool: "dd",
    systems: "Linux, BSD, macOS, Solaris, illumos",
    help: "what dd copied and how long it took, also its progress and that of several copies",
    recognised: "lines `200+0 records in` and `200+0 records out`, or their like in a language",
    yields: &["workload"],
    example: "\
200+0 records in
200+0 records out
209715200 bytes (210 MB, 200 MiB) copied, 0.767176 s, 273 MB/s
",
    recognise,
    parser: || Box::new(Dd::new()),
};

fn recognise(head: &Head) -> u8 {
    let plain = |l: &[u8]| with_blanks(l).unwrap_or_else(|| l.to_vec());
    let lines: Vec<Vec<u8>> = head.lines().map(plain).collect();
    let lines: Vec<Vec<&[u8]>> = lines.iter().map(|l| fields(l).collect()).collect();
    let english = |word: &str| {
        lines.iter().any(|l| {
            records(l).is_some_and(|r| r.name == b"records" && r.direction == word.as_bytes())
        })
    };
    let pair = lines
        .windows(3)
        .any(|w| records(&w[0]).is_some() && records(&w[1]).is_some() && copied(&w[2]).is_some());
    // What `tail -1` left.
    let alone = || {
        let words = [&b"copied,"[..], b"transferred"];
        let is_alone = |l: &&Vec<&[u8]>| l.iter().any(|w| words.contains(w)) && copied(l).is_some();
        lines.iter().find(is_alone).is_some()
    };
    match (english("in") && english("out"), pair) {
        (true, _) => 80,
        (_, true) => 75,
        _ if alone() => 70,
        _ => 0,
    }
}

struct Dd {
    work: Work,
    commands: VecDeque<Command>,
    copy: Option<Copy>,
    /// Bytes and seconds since the copy that runs began, as its progress told.
    progress: Vec<(f64, f64)>,
    /// The same on lines of their own: of progress whose carriage returns are gone, or results without
    /// their records. What comes below tells which.
    alone: Vec<(f64, f64)>,
    /// Of the copy before.
    before: Option<(f64, f64)>,
    /// What may be the present copy's report of before, when a record could not be read.
    earlier: Option<Copy>,
    /// A record could not be read.
    has_failed: bool,
    /// The report that comes was asked for from the terminal, while the copy ran.
    is_asked: bool,
    /// A copy's time is told.
    timed: bool,
    /// Copies of which no time is told: they failed, as it seems.
    untimed: Vec<Copy>,
}

impl Dd {
    fn new() -> Dd {
        Dd {
            work: Work::new("dd"),
            commands: VecDeque::new(),
            copy: None,
            progress: Vec::new(),
            alone: Vec::new(),
            before: None,
            earlier: None,
            has_failed: false,
            is_asked: false,
            timed: false,
            untimed: Vec::new(),
        }
    }

    fn of(job: &[u8]) -> [&[u8]; 3] {
        [job, b"copy", b""]
    }

    fn job(command: &Command) -> Vec<u8> {
        let mut parts = Vec::new();
        for (name, value) in [("if=", &command.from), ("of=", &command.to)] {
            if !value.is_empty() {
                parts.push([name.as_bytes(), value].concat());
            }
        }
        parts.join(&b' ')
    }

    /// Progress: all since the copy began.
    fn progress(&mut self, now: (f64, f64)) {
        let before = self.progress.last().copied().unwrap_or_default();
        if now.0 >= before.0 && now.1 > before.1 {
            self.progress.push(now);
        }
    }

    /// A copy begins: what stands right above it is its progress, if it grew.
    fn alone_is_progress(&mut self, out: &mut Out) {
        let grew = |w: &[(f64, f64)]| w[0].0 < w[1].0 && w[0].1 < w[1].1;
        if self.alone.windows(2).all(grew) {
            for now in std::mem::take(&mut self.alone) {
                self.progress(now);
            }
        } else {
            self.alone_is_results(out);
        }
    }

    /// What stands alone are results, each of a copy.
    fn alone_is_results(&mut self, out: &mut Out) {
        for copied in std::mem::take(&mut self.alone) {
            out.note(
                "results of dd without their records are each taken to be of a copy of its own",
            );
            let copy = Copy {
                command: self.commands.pop_front().unwrap_or_default(),
                copied: Some(copied),
                ..Copy::default()
            };
            self.before = None;
            self.timed = true;
            self.put(&copy, out);
        }
    }

    /// The report of before is of the same copy if that went on: it copied more, and took longer.
    fn settle(&mut self, now: Option<(f64, f64)>, out: &mut Out) {
        let Some(earlier) = self.earlier.take() else {
            return;
        };
        let (Some(then), Some(now)) = (earlier.copied, now) else {
            self.timed = true;
            return self.put(&earlier, out);
        };
        let is_same = if earlier.may_go_on {
            now.0 >= then.0 && now.1 >= then.1
        } else {
            is_later(then, now)
        };
        if !is_same {
            self.timed = true;
            return self.put(&earlier, out);
        }
        self.progress(then);
        if let Some(copy) = &mut self.copy {
            copy.command = earlier.command;
        }
    }

    /// Whether the copy goes on, as progress below its report tells: it is of more, and no command of another
    /// came.
    fn goes_on(&mut self, now: (f64, f64), out: &mut Out) -> bool {
        let is_more = |copy: &Copy| {
            let then = copy.copied.filter(|_| copy.goes_on());
            then.is_some_and(|then| is_later(then, now))
        };
        if !self.commands.is_empty() || !self.copy.as_ref().is_some_and(is_more) {
            return false;
        }
        self.settle(self.copy.as_ref().and_then(|copy| copy.copied), out);
        let copy = self.copy.take().unwrap_or_default();
        self.commands.push_front(copy.command);
        copy.copied.into_iter().for_each(|then| self.progress(then));
        true
    }

    /// The copy whose lines came is whole.
    fn is_over(&mut self, out: &mut Out) {
        self.settle(self.copy.as_ref().and_then(|copy| copy.copied), out);
        let Some(copy) = self.copy.take() else { return };
        // It copied less, or sooner, than what was taken for its progress: that is of other copies.
        let is_of_others = |last: &(f64, f64)| {
            let copied = copy.copied.as_ref();
            copied.is_some_and(|all| all.0 < last.0 || all.1 < last.1)
        };
        if self.progress.last().is_some_and(is_of_others) {
            self.alone = std::mem::take(&mut self.progress);
            self.alone_is_results(out);
        }
        let is_timed = copy.copied.is_some() || copy.timed[0].is_some();
        if is_timed || out.options().every.is_some() {
            self.timed = true;
            self.put(&copy, out);
        } else {
            self.timed |= !self.progress.is_empty();
            self.put_progress(&Dd::job(&copy.command), None, out);
            self.untimed.push(copy);
        }
    }

    /// What its progress told, of a copy with so many records in all if that is known. Progress
    /// does not count them.
    fn put_progress(&mut self, job: &[u8], whole: Option<(f64, f64)>, out: &mut Out) -> (f64, f64) {
        let mut before = (0.0, 0.0);
        for now in std::mem::take(&mut self.progress) {
            let (bytes, time) = (now.0 - before.0, now.1 - before.1);
            let ops = match whole {
                Some((records, all)) if all > 0.0 => records * bytes / all,
                _ => f64::NAN,
            };
            out.sample();
            out.spans(time);
            let done = Done {
                ops,
                bytes,
                time,
                ..UNKNOWN
            };
            self.work.amounts(out, Dd::of(job), done);
            before = now;
        }
        before
    }

    /// A copy of which nothing but progress was told.
    fn progress_is_all(&mut self, out: &mut Out) {
        self.timed |= !self.progress.is_empty();
        let job = Dd::job(self.commands.front().unwrap_or(&Command::default()));
        self.put_progress(&job, None, out);
    }

    fn put(&mut self, copy: &Copy, out: &mut Out) {
        let job = Dd::job(&copy.command);
        let (full, partial) = copy.output.or(copy.input).unwrap_or((f64::NAN, 0.0));
        if !self.progress.is_empty() {
            out.note("dd's progress does not count records: they are spread over it by bytes");
        }
        let all = copy.copied.map(|(bytes, _)| (full + partial, bytes));
        let before = self.put_progress(&job, all, out);
        let job = Dd::of(&job);
        let from_records = copy.command.block.filter(|_| partial == 0.0);
        let bytes = match copy.copied {
            Some((bytes, _)) => bytes - before.0,
            None => from_records.map_or(f64::NAN, |block| block * full),
        };
        // What is left of them after progress.
        let left = match copy.copied {
            Some((all, _)) if all > 0.0 => bytes / all,
            _ => 1.0,
        };
        if let (Some(now), Some(then)) = (copy.copied, self.before)
            && now.0 > then.0
            && now.1 > then.1
        {
            out.note(
                "each report of dd is taken to be of a copy of its own; those of one copy, asked \
                 for with a signal, look the same and would be counted twice",
            );
        }
        self.before = copy.copied;
        let seconds = match copy.copied {
            Some((_, seconds)) => Some((seconds - before.1).max(1e-6)),
            None => copy.timed[0],
        };
        out.sample();
        if let Some(seconds) = seconds {
            out.spans(seconds);
        }
        let done = Done {
            ops: (full + partial) * left,
            bytes,
            time: seconds.unwrap_or(f64::NAN),
            ..UNKNOWN
        };
        self.work.amounts(out, job, done);
        let instance = instance(out, job);
        for (counts, name) in [(copy.input, "in"), (copy.output, "out")] {
            let Some((full, partial)) = counts else {
                continue;
            };
            out.other(&format!("records_{name}.full"), "", instance, full);
            out.other(&format!("records_{name}.partial"), "", instance, partial);
        }
        for (name, seconds) in ["real", "user", "sys"].iter().zip(copy.timed) {
            out.other(name, "s", instance, seconds.unwrap_or(f64::NAN));
        }
    }

    fn records(&mut self, line: &[&[u8]], out: &mut Out) -> bool {
        let Some(found) = records(line) else {
            return false;
        };
        let begun = self.copy.as_ref().is_some_and(|c| c.output.is_none());
        let is_input = match found.direction {
            b"in" => true,
            b"out" => false,
            _ => !begun,
        };
        if is_input {
            let now = self.copy.as_ref().filter(|copy| copy.goes_on());
            let now = now.and_then(|copy| copy.copied);
            if now.is_some() && self.commands.is_empty() {
                self.settle(now, out);
                self.earlier = self.copy.take();
            } else {
                self.is_over(out);
            }
            self.alone_is_progress(out);
            self.copy = Some(Copy {
                command: self.commands.pop_front().unwrap_or_default(),
                line: out.line_number(),
                input: Some((found.full, found.partial)),
                may_go_on: std::mem::take(&mut self.has_failed),
                ..Copy::default()
            });
        } else {
            let copy = self.copy.get_or_insert_default();
            copy.output = Some((found.full, found.partial));
        }
        true
    }

    /// A piece of a line, up to a carriage return; `is_part`: the line has others.
    fn piece(&mut self, piece: &[u8], is_part: bool, out: &mut Out) -> Line {
        let line: Vec<&[u8]> = fields(piece).collect();
        if line.is_empty() {
            return Line::Noise;
        }
        if let [b"load:", _, b"cmd:", b"dd", ..] = line[..] {
            // Of BSD and macOS: ^T.
            self.is_over(out);
            self.is_asked = true;
            return Line::Noise;
        }
        // Of GNU, also of old ones.
        if let [b"dd:", b"error", b"reading", ..] | [b"dd:", b"reading", ..] = line[..] {
            self.has_failed = true;
            return Line::Noise;
        }
        if self.records(&line, out) {
            return Line::Data;
        }
        if let Some(now) = copied(&line)
            && std::mem::take(&mut self.is_asked)
        {
            if let Some(copy) = self.copy.take() {
                self.commands.push_front(copy.command);
            }
            self.progress(now);
            return Line::Data;
        }
        if let Some(now) = copied(&line) {
            match &mut self.copy {
                Some(copy) if copy.waits() => copy.copied = Some(now),
                _ => {
                    let goes_on = self.goes_on(now, out);
                    self.is_over(out);
                    if is_part || goes_on {
                        self.progress(now);
                    } else {
                        self.alone.push(now);
                    }
                }
            }
            return Line::Data;
        }
        if let ([name, time @ ..], Some(copy)) = (&line[..], &mut self.copy)
            && let Some(place) = [&b"real"[..], b"user", b"sys"]
                .iter()
                .position(|n| n == name)
            // BusyBox has a blank within: `0m 1.05s`.
            && (1..=2).contains(&time.len())
            && let Some(time) = clock(&time.concat())
        {
            copy.timed[place] = Some(time);
            return Line::Data;
        }
        // That of GNU: `0.00user 0.12system 0:02.13elapsed 96%CPU (0avgtext+…)k`, and a line below.
        if let ([user, sys, real, share, ..], Some(copy)) = (&line[..], &mut self.copy)
            && let (Some(user), Some(sys)) =
                (user.strip_suffix(b"user"), sys.strip_suffix(b"system"))
            && let Some(real) = real.strip_suffix(b"elapsed")
            && let (Some(user), Some(sys), Some(real)) = (clock(user), clock(sys), clock(real))
            && share.ends_with(b"%CPU")
        {
            copy.timed = [Some(real), Some(user), Some(sys)];
            return Line::Data;
        }
        if line.len() == 3 && line[0].ends_with(b"outputs") && line[2].ends_with(b"swaps") {
            return Line::Noise;
        }
        // That of csh: `0.03u 1.93s 0:09.87 19.8%`.
        if let ([user, sys, real, share, ..], Some(copy)) = (&line[..], &mut self.copy)
            && let (Some(user), Some(sys)) = (user.strip_suffix(b"u"), sys.strip_suffix(b"s"))
            && let (Some(user), Some(sys), Some(real)) = (clock(user), clock(sys), clock(real))
            && share.ends_with(b"%")
        {
            copy.timed = [Some(real), Some(user), Some(sys)];
            return Line::Data;
        }
        if tells_copied(&line)
            && let Some(copy) = &mut self.copy
        {
            copy.is_unread |= copy.waits();
            return Line::Unknown;
        }
        let commands = commands(piece);
        if !commands.is_empty() {
            self.is_over(out);
            self.alone_is_results(out);
            self.progress_is_all(out);
            self.commands = commands.into();
            return Line::Noise;
        }
        let truncated = line.len() == 3 && line[1] == b"truncated";
        if truncated {
            Line::Noise
        } else {
            Line::Unknown
        }
    }
}

impl Parser for Dd {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        let plain = with_blanks(line);
        let line = plain.as_deref().unwrap_or(line);
        let copied = [&b"copied"[..], b"transferred"];
        let of_copy = copied
            .iter()
            .any(|w| memchr::memmem::find(line, w).is_some());
        if ends_in_number(line, if of_copy { ENDED } else { 1 }, out) {
            return Line::Unknown;
        }
        let mut seen = Line::Noise;
        let is_part = line.trim_ascii().contains(&b'\r');
        for piece in line.split(|b| *b == b'\r') {
            match (self.piece(piece, is_part, out), seen) {
                (Line::Unknown, _) | (_, Line::Unknown) => seen = Line::Unknown,
                (Line::Data, _) => seen = Line::Data,
                (Line::Noise, _) => {}
            }
        }
        seen
    }

    /// `copied, 0.5 s, 210 MB/s`, but not a time or a count.
    fn sees_cut(&self, line: &[u8]) -> bool {
        !line
            .last()
            .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
    }

    fn run_ends(&mut self, out: &mut Out) -> bool {
        self.is_over(out);
        self.alone_is_results(out);
        // Of a copy that progress tells of the result comes.
        self.progress.is_empty()
    }

    fn end(&mut self, out: &mut Out) {
        self.is_over(out);
        self.alone_is_results(out);
        self.progress_is_all(out);
        for copy in std::mem::take(&mut self.untimed) {
            if self.timed {
                out.not_understood(copy.line, "a copy of which no time is told: it failed?");
            } else {
                self.put(&copy, out);
            }
        }
    }
}
