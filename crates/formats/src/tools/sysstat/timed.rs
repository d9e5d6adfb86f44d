//! Tables whose lines begin with a time of day: what `sar` and `mpstat` print.
//!
//! A header's time is when the interval of the row after it began, a row's time is when it
//! ended. Tables follow one another, each for the whole day (a file) or for one interval (live).

mod endless;
mod row;
mod stacked;

use std::collections::HashMap;

use jiff::civil::Time;
use run::Word;

use self::stacked::Order;
use super::cut::{self, NAME_CUT, Names};
use super::moments::{Header, Moments, When};
use super::named::{KNOWN, instances, is_header};
use super::rules::System;
use super::table::{Clock, Rows, Table, ends, later, utc};
use super::told::{LeftOut, Told};
use super::when::{Day, HALF_UNTOLD, clock, is_average, lacks_half, time_of_script, with_colons};
use super::{banner, command, of_host, page_of, processors_since};
use crate::echo;
use crate::out::{BACK, Out};
use crate::time::{DateOrder, Refused, Stamp};
use crate::together::Columns;
use crate::tools::aix::configured;
use crate::{Line, fields};

/// The text of a tool.
#[derive(Default)]
pub(crate) struct Timed {
    tool: &'static str,
    pub(crate) moments: Moments,
    day: Day,
    tables: Vec<Table>,
    by_names: HashMap<Vec<u8>, usize>,
    /// Tables that the rows are of: more than one where headers stand below one another.
    current: Vec<usize>,
    /// Which of them the last row was of.
    at: usize,
    order: Order,
    /// The last line was a header.
    in_headers: bool,
    /// Lines are means of the whole text.
    average: bool,
    /// All tables of an interval come before the next.
    live: bool,
    /// Length of the present line.
    here: usize,
    /// Rows of a time that was told before.
    left_out: LeftOut,
    /// The last row, if the name at its end may have lost some of it.
    doubtful: Option<Doubtful>,
}

/// A row whose name, at its end, is new and the beginning of one that is known: where it is the text's
/// last, it was cut.
struct Doubtful {
    line: u64,
    when: When,
    header: usize,
    name: Word,
    values: Vec<f64>,
}

impl Timed {
    /// Of that tool; `live` if it prints one interval after the other in any case.
    pub(crate) fn new(tool: &'static str, live: bool) -> Timed {
        let mut timed = Timed {
            tool,
            live,
            ..Timed::default()
        };
        timed.moments.in_turn = live;
        timed
    }

    pub(crate) fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if let Some(row) = self.doubtful.take() {
            self.moments
                .row(&row.when, row.header, row.name, &row.values);
        }
        let plain = with_colons(line);
        let line = plain.as_deref().unwrap_or(line);
        let astray = self.order.astray;
        let mut seen = self.read(line, out);
        let timed = !line.first().is_some_and(u8::is_ascii_whitespace);
        match seen {
            Line::Noise if timed && self.in_headers => {
                if let Some(table) = self.table().filter(|t| t.together == Columns::default()) {
                    table.together = Columns::of(line);
                }
                seen
            }
            Line::Data if timed => {
                if let Some(table) = self.table() {
                    table.together.row(line);
                }
                seen
            }
            Line::Unknown if !out.is_endless() && !self.average => {
                if let Some(apart) = self.apart(line) {
                    self.order.astray = astray;
                    seen = self.read(&apart, out);
                }
                if seen == Line::Unknown && std::mem::take(&mut self.moments.leaves_out) {
                    out.note("a line is not understood: what has no row may not have been idle");
                }
                seen
            }
            _ => seen,
        }
    }

    /// The table that the last row was of.
    fn table(&mut self) -> Option<&mut Table> {
        let table = *self.current.get(self.at)?;
        self.tables.get_mut(table)
    }

    /// A row with blanks between all its numbers, if they run together.
    fn apart(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        const TIME: &[u8] = b"00:00:00";
        let together = &self.table()?.together;
        match line.strip_prefix(&[b' '; TIME.len()]) {
            // The time is in a row above.
            Some(rest) => {
                let apart = together.apart(&[TIME, rest].concat())?;
                Some(apart[TIME.len()..].to_vec())
            }
            None => together.apart(line),
        }
    }

    fn read(&mut self, line: &[u8], out: &mut Out) -> Line {
        let all: Vec<&[u8]> = fields(line).collect();
        let Some(&first) = all.first() else {
            // Without an end it may be the beginning of a row.
            if !out.is_endless() {
                self.blank(out);
            }
            return Line::Noise;
        };
        let after_blank = std::mem::take(&mut self.order.after_blank);
        self.here = line.trim_ascii_end().len();
        if first.starts_with(b"^C") {
            return Line::Noise;
        }
        if lacks_half(&all) {
            out.refuse(Refused(HALF_UNTOLD.into()));
            return Line::Noise;
        }
        if let Some((time, taken)) = clock(&all) {
            return self.timed(time, &all[taken..], out);
        }
        if out.is_endless() {
            return self.endless(line, &all, out);
        }
        // Of AIX: a line of the configuration follows.
        let changed = line.starts_with(b"System Configuration Changed");
        if changed || self.banner(line, &all, out) || first.starts_with(b"##") {
            return Line::Noise;
        }
        if let Some(arguments) = command(line, self.tool) {
            // Words may follow other flags, as after `-n`; a number after those is the interval.
            let with_value = ["-P", "-I", "-f", "-o", "-s", "-e", "-i", "-N"];
            // `sar -i` chooses records of a file; what it says is in their times.
            if let Some(seconds) = echo::interval(&arguments, &with_value) {
                out.every(seconds);
            }
            self.moments.leaves_out |= echo::has_flag(&arguments, b'z');
            let chosen = echo::value(&arguments, &["-P"]);
            self.moments.place.chosen = chosen.is_some_and(|list| list != b"ALL");
            return Line::Noise;
        }
        if is_average(&all) {
            self.average = true;
            return Line::Noise;
        }
        if !line.first().is_some_and(u8::is_ascii_whitespace) || self.current.is_empty() {
            return time_of_script(line, out);
        }
        if self.average {
            return Line::Noise;
        }
        if self.in_headers && is_header(&all) {
            if self.is_broken(&all) {
                return Line::Unknown;
            }
            let time = self.clock_time();
            self.order.spaced |= after_blank;
            self.header(time, &all, true, out);
            return Line::Noise;
        }
        self.continued(&all, out)
    }

    /// The last of it.
    pub(crate) fn end(&mut self, out: &mut Out) {
        self.left_out.note(out);
        if let Some(row) = self.doubtful.take() {
            out.not_understood(row.line, NAME_CUT);
        }
        if !out.is_endless() {
            self.finish(out);
        }
        self.moments.hand_out(None, out);
    }

    fn clock_time(&self) -> Option<Time> {
        let table = self.tables.get(*self.current.first()?)?;
        table.clock.as_ref().map(|c| c.last)
    }

    /// A line with a time.
    fn timed(&mut self, time: Time, rest: &[&[u8]], out: &mut Out) -> Line {
        // Of a time alone `PM` may be missing.
        if out.is_endless() && !self.ends_whole(rest) {
            return Line::Unknown;
        }
        let below_means = std::mem::take(&mut self.average);
        if self.clock_time() != Some(time) {
            self.finish(out);
        }
        let Some(&first) = rest.first() else {
            return self.idle(time, out);
        };
        let restart = rest
            .iter()
            .take(3)
            .any(|f| f.to_ascii_lowercase().starts_with(b"restart"));
        if restart {
            for clock in self.tables.iter_mut().filter_map(|t| t.clock.as_mut()) {
                clock.from = None;
                clock.when = None;
            }
            let place = &mut self.moments.place;
            place.processors = processors_since(&rest.join(&b' ')).or(place.processors);
            return Line::Noise;
        }
        if first == b"COM" {
            return Line::Noise;
        }
        if is_header(rest) {
            if below_means && self.is_of_another_day(rest, time) {
                out.refuse(Refused(format!(
                    "the same table begins anew in line {}, at {time} again, without the banner that \
                     tells its day\nhint: import each part by itself",
                    out.line_number()
                )));
            }
            self.header(Some(time), rest, false, out);
            return Line::Noise;
        }
        self.in_headers = false;
        let Some(&table) = self.current.first() else {
            return Line::Unknown;
        };
        self.at = 0;
        self.order.astray = false;
        self.tick(table, time, out);
        self.row(table, rest, out)
    }

    /// Whether a table that its means ended begins below them at a time that it told before: not that of
    /// something else, which begins with the same time.
    fn is_of_another_day(&self, names: &[&[u8]], time: Time) -> bool {
        let table = self.by_names.get(&names.join(&b' '));
        let clock = table.and_then(|t| self.tables.get(*t)?.clock.as_ref());
        clock.is_some_and(|c| time != c.first && time < c.last)
    }

    /// Whether names below a header are its end: those of Linux do not stand below one another
    /// where a column names what the row is of.
    fn is_broken(&mut self, names: &[&[u8]]) -> bool {
        let linux = self.moments.place.system == System::Linux;
        let named = |n: &[u8]| KNOWN.iter().any(|k| k.as_bytes() == n);
        let Some(table) = self.current.last().and_then(|t| self.tables.get_mut(*t)) else {
            return false;
        };
        let found = linux && (table.rows == Rows::OfLinux || table.cut.is_some());
        table.broken |= found && !names.iter().any(|n| named(n));
        table.broken
    }

    /// A header: columns of a table, and when the next interval begins.
    fn header(&mut self, time: Option<Time>, names: &[&[u8]], below: bool, out: &mut Out) {
        let key = names.join(&b' ');
        let table = match self.by_names.get(&key) {
            Some(table) => *table,
            None => self.new_table(key, names, out),
        };
        let again = self.current.first() != Some(&table);
        if !below {
            self.current.clear();
        }
        self.current.push(table);
        self.at = 0;
        self.order.astray = false;
        self.in_headers = true;
        let Some(time) = time else { return };
        let day = self.day.date(out);
        let known = self.tables.get(table).and_then(|t| t.clock.clone());
        let mut clock = known.clone().unwrap_or(Clock {
            first: time,
            day,
            last: time,
            moment: None,
            from: None,
            when: None,
        });
        if known.is_some() && time != clock.last {
            if let Some(table) = self.tables.get_mut(table) {
                table.told.again();
            }
            if time == clock.first {
                // The same day once more, of something else.
                clock.day = day;
                clock.moment = None;
            } else {
                clock.day = later(clock.day, clock.last, time);
            }
        } else if known.is_some() && again {
            // Other tables came between: they are printed by interval.
            self.live = true;
        }
        clock.last = time;
        clock.moment = out.local(clock.day.to_datetime(time), clock.moment);
        clock.from = clock.moment;
        clock.when = None;
        if let Some(moment) = clock.moment.filter(|_| self.live) {
            // All of what ended by now came, but for this moment's own tables.
            self.moments.hand_out(utc(moment), out);
        }
        if let Some(table) = self.tables.get_mut(table) {
            table.clock = Some(clock);
        }
    }

    fn new_table(&mut self, key: Vec<u8>, names: &[&[u8]], out: &mut Out) -> usize {
        let cut = match self.moments.place.system {
            System::Linux => cut::of_times(names, self.here),
            _ => None,
        };
        if let Some(cut) = cut {
            cut.note(names, out);
        }
        let names = &names[..cut.map_or(names.len(), |c| c.whole)];
        let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
        let all: Vec<String> = names.iter().map(text).collect();
        let (instances, mut values) = (instances(&all), Vec::new());
        let mut before = String::new();
        let mut times: HashMap<&str, usize> = HashMap::new();
        for name in &all {
            *times.entry(name).or_default() += 1;
        }
        for (i, name) in all
            .iter()
            .enumerate()
            .filter(|(i, _)| !instances.contains(i))
        {
            // `ov` after `proc-sz`, and after others: named with it.
            if times.get(name.as_str()).is_some_and(|n| *n > 1) && i > 0 {
                values.push(format!("{before} {name}"));
            } else {
                before.clone_from(name);
                values.push(name.clone());
            }
        }
        let of: Vec<String> = instances
            .iter()
            .filter_map(|i| all.get(*i).cloned())
            .collect();
        let mut header = Header::new(values, &of);
        header.is_cut = cut.is_some();
        self.moments.headers.push(header);
        self.tables.push(Table {
            header: self.moments.headers.len() - 1,
            instances,
            width: all.len(),
            cut,
            broken: false,
            may_be_blank: all.iter().any(|n| n == "%runocc"),
            ends: ends(names, self.here),
            rows: Rows::of(&of),
            clock: None,
            told: Told::default(),
            together: Columns::default(),
            names: Names::default(),
        });
        self.by_names.insert(key, self.tables.len() - 1);
        self.tables.len() - 1
    }

    /// A row's time comes.
    fn tick(&mut self, table: usize, time: Time, out: &mut Out) {
        let day = self.day.date(out);
        let Some(table) = self.tables.get_mut(table) else {
            return;
        };
        let clock = table.clock.get_or_insert(Clock {
            first: time,
            day,
            last: time,
            moment: None,
            from: None,
            when: None,
        });
        if clock.when.is_some() && clock.last == time {
            return;
        }
        clock.day = later(clock.day, clock.last, time);
        clock.last = time;
        let moment = out.local(clock.day.to_datetime(time), clock.moment);
        if moment < clock.moment {
            // It is of a time that others were told of.
            out.note(BACK);
            (clock.when, clock.from) = (None, None);
            return;
        }
        let passed = moment
            .zip(clock.from)
            .map(|(at, from)| (at - from) as f64 / 1e9);
        clock.when = moment.zip(moment.and_then(utc)).map(|(nanos, at)| When {
            at,
            stamp: Stamp::Epoch(nanos),
            interval: passed.filter(|p| *p > 0.0),
            // Nothing passed since its header: it is of all the time before.
            since_boot: passed == Some(0.0),
        });
        clock.moment = moment;
        clock.from = moment;
    }

    /// The first line of each system's tool.
    fn banner(&mut self, line: &[u8], all: &[&[u8]], out: &mut Out) -> bool {
        let place = &mut self.moments.place;
        if let Some(banner) = banner(line, out) {
            place.system = System::Linux;
            place.page = page_of(&banner.machine);
            place.processors = banner.processors.or(place.processors);
            self.day = Day::new(&banner.date);
        } else if let [b"SunOS" | b"AIX" | b"HP-UX", host, .., date] = all {
            let solaris = all.first() == Some(&&b"SunOS"[..]);
            place.system = if solaris {
                System::Solaris
            } else {
                System::Other
            };
            place.page = all.iter().rev().nth(1).and_then(|machine| page_of(machine));
            // `sar.c` prints month, day and year itself.
            self.day = if solaris {
                Day::in_order(date, DateOrder::Mdy)
            } else {
                Day::new(date)
            };
            // Its `-d` has a line for each device that was active, and none for others.
            self.moments.leaves_out |= all.first() == Some(&&b"HP-UX"[..]);
            of_host(host, out);
        } else if let Some(count) = configured(line, "lcpu") {
            if count >= 1.0 {
                out.has_processors(count as u32);
                place.processors = Some(count as u32);
            }
            place.entitled = configured(line, "ent").filter(|ent| *ent > 0.0);
            return true;
        } else {
            return false;
        }
        for table in &mut self.tables {
            table.clock = None;
            table.told.next();
        }
        self.current.clear();
        self.average = false;
        true
    }
}
