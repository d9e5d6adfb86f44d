//! What a text tells of each moment. `sar` prints one table of the whole day after the other:
//! their rows are gathered by time and handed out in its order.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use run::Word;

use super::device::Column;
use super::place::{Place, Told};
use crate::out::Out;
use crate::time::Stamp;

/// What a table is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Processors,
    Softnet,
    Devices,
    /// Interrupts by processor: all of them.
    Interrupts,
    /// By processor: each line, or each kind of soft interrupt.
    Lines,
    SoftLines,
    /// By line, all processors or each.
    ByLine,
    /// An inventory.
    Inventory,
    /// Of processes (`-x` and `-X` of sysstat 4 to 7), which have a number and no name.
    Processes,
    Plain,
}

/// The columns of a table that have numbers, and what it is of.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    pub(crate) kind: Kind,
    /// Its rows are of NUMA nodes.
    pub(crate) of_nodes: bool,
    /// Of devices, as `iostat` knows them.
    pub(crate) columns: Vec<Column>,
    /// It lost its end, and with that perhaps more columns.
    pub(crate) is_cut: bool,
    /// Its rows are of what may be idle and then left out.
    may_lack: bool,
}

impl Header {
    /// Of the names of its numbers and those of what the rows are of.
    pub(crate) fn new(names: Vec<String>, instances: &[String]) -> Header {
        let has = |name: &str| names.iter().any(|n| n == name);
        let of = |name: &str| instances.iter().any(|n| n.eq_ignore_ascii_case(name));
        let shares = has("%idle") && (has("%usr") || has("%user"));
        let of_nodes = of("NODE") && !of("CPU");
        let kind = if of("PID") || of("PPID") {
            Kind::Processes
        } else if shares && !of_nodes {
            Kind::Processors
        } else if has("squeezd/s") || has("squeezed/s") {
            Kind::Softnet
        } else if of("DEV") || of("device") && has("%busy") {
            Kind::Devices
        } else if of("INTR") {
            Kind::ByLine
        } else if has("idvendor") {
            Kind::Inventory
        } else if of("CPU") && has("intr/s") {
            Kind::Interrupts
        } else if of("CPU") && (has("NET_RX/s") || has("TIMER/s")) {
            Kind::SoftLines
        } else if of("CPU") && names.iter().all(|n| n.ends_with("/s")) {
            Kind::Lines
        } else {
            Kind::Plain
        };
        let columns = match kind {
            Kind::Devices => names.iter().map(|n| Column::of(n)).collect(),
            _ => Vec::new(),
        };
        Header {
            names,
            kind,
            of_nodes,
            columns,
            is_cut: false,
            may_lack: kind == Kind::Devices || of("IFACE"),
        }
    }
}

struct Row {
    header: usize,
    instance: Word,
    /// Where its values begin.
    at: usize,
}

struct Moment {
    stamp: Stamp,
    interval: Option<f64>,
    since_boot: bool,
    /// Processors there were then: they may come and go.
    processors: Option<u32>,
    entitled: Option<f64>,
    rows: Vec<Row>,
    /// Headers of tables that told of nothing.
    idle: Vec<usize>,
    values: Vec<f64>,
}

/// When rows are from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct When {
    pub(crate) at: DateTime,
    pub(crate) stamp: Stamp,
    pub(crate) interval: Option<f64>,
    pub(crate) since_boot: bool,
}

/// Gathers rows by time.
#[derive(Default)]
pub(crate) struct Moments {
    pub(crate) place: Place,
    pub(crate) headers: Vec<Header>,
    by_time: BTreeMap<DateTime, Moment>,
    /// The interval before.
    interval: Option<f64>,
    /// What did nothing in an interval has no row in it.
    pub(crate) leaves_out: bool,
    /// Each report has the same tables, one below the other.
    pub(crate) in_turn: bool,
    /// What had a row so far, by header, where such are left out.
    known: BTreeMap<usize, Vec<Word>>,
    listed: Listed,
    /// Headers that the moment had rows of which was handed out last.
    before: Vec<usize>,
}

/// What the rows of a table are of that came last, and those of the moment before.
#[derive(Default)]
struct Listed {
    header: usize,
    at: Option<DateTime>,
    now: Vec<Word>,
    before: Vec<Word>,
}

impl Listed {
    fn row(&mut self, header: usize, at: DateTime, instance: Word) {
        if self.header != header {
            (self.header, self.at) = (header, None);
            self.now.clear();
        }
        if self.at != Some(at) {
            self.at = Some(at);
            self.before = std::mem::take(&mut self.now);
        }
        self.now.push(instance);
    }

    /// Whether the moment before had more.
    fn lacks(&self) -> bool {
        self.before
            .iter()
            .any(|instance| !self.now.contains(instance))
    }
}

impl Moments {
    /// A moment in which a table told of nothing.
    pub(crate) fn nothing(&mut self, when: &When, header: usize) {
        self.begin(when);
        if let Some(moment) = self.by_time.get_mut(&when.at) {
            moment.idle.push(header);
        }
    }

    fn begin(&mut self, when: &When) {
        let place = &self.place;
        let moment = self.by_time.entry(when.at).or_insert_with(|| Moment {
            stamp: when.stamp,
            interval: when.interval,
            since_boot: when.since_boot,
            processors: place.processors,
            entitled: place.entitled,
            rows: Vec::new(),
            idle: Vec::new(),
            values: Vec::new(),
        });
        moment.interval = moment.interval.or(when.interval);
    }

    /// Adds a row. Rows of one time may come from many tables.
    pub(crate) fn row(&mut self, when: &When, header: usize, instance: Word, values: &[f64]) {
        self.begin(when);
        if self.headers.get(header).is_some_and(|h| h.may_lack) {
            self.listed.row(header, when.at, instance);
        }
        let Some(moment) = self.by_time.get_mut(&when.at) else {
            return;
        };
        moment.rows.push(Row {
            header,
            instance,
            at: moment.values.len(),
        });
        moment.values.extend_from_slice(values);
    }

    /// Hands out what is from before `end`, or all.
    pub(crate) fn hand_out(&mut self, end: Option<DateTime>, out: &mut Out) {
        self.hand_out_until(end, false, out);
    }

    /// Hands out a report, which is `whole` or ends with the text. Whether it has anything.
    pub(crate) fn hand_out_report(&mut self, whole: bool, out: &mut Out) -> bool {
        let found = !self.by_time.is_empty();
        self.hand_out_until(None, whole, out);
        found
    }

    fn hand_out_until(&mut self, end: Option<DateTime>, whole: bool, out: &mut Out) {
        let later = match end {
            Some(end) => self.by_time.split_off(&end),
            None => BTreeMap::new(),
        };
        let all = std::mem::replace(&mut self.by_time, later);
        // The text ends in rows of a table that lists all there is: those that it lacks were cut off.
        let is_over = end.is_none() && !whole && !self.leaves_out && out.ends_in_rows();
        let lacking = self.listed.at.filter(|_| is_over && self.listed.lacks());
        let last = all.keys().last().copied();
        let now = (self.place.processors, self.place.entitled);
        if self.leaves_out {
            let whole = all
                .iter()
                .filter(|(at, _)| !(out.is_endless() && Some(**at) == last));
            self.know(whole.map(|(_, moment)| moment));
        }
        for (at, mut moment) in all {
            // Of the last, rows may have been cut off.
            let ends = !whole && end.is_none() && Some(at) == last;
            let is_cut = out.is_endless() && Some(at) == last;
            if self.leaves_out && !moment.since_boot && !is_cut {
                self.add_idle(&mut moment);
            }
            let interval = moment.interval.or(self.interval);
            self.interval = interval;
            if moment.since_boot {
                out.sample_at(moment.stamp);
                out.since_boot();
            } else if let Some(seconds) = interval {
                if moment.interval.is_none() {
                    out.note(
                        "the text does not tell when some intervals began, as after a restart: \
                         they are taken to be as long as those before",
                    );
                }
                out.sample_at(moment.stamp);
                out.spans(seconds);
            } else {
                // It gets the interval of the one after it.
                out.broken();
                out.sample_at(moment.stamp);
            }
            self.has((moment.processors, moment.entitled), out);
            let mut now: Vec<usize> = moment.rows.iter().map(|row| row.header).collect();
            now.dedup();
            // A report may end with one of its tables, too.
            let lacks_tables =
                ends && self.in_turn && self.before.iter().any(|header| !now.contains(header));
            let lacks = lacks_tables || lacking == Some(at);
            self.before = now;
            self.fill(&moment, ends, lacks, out);
        }
        self.has(now, out);
    }

    /// So many processors are what rows are of, from now on.
    fn has(&mut self, (processors, entitled): (Option<u32>, Option<f64>), out: &mut Out) {
        (self.place.processors, self.place.entitled) = (processors, entitled);
        if let Some(count) = processors {
            out.has_processors(count);
        }
    }

    /// What may be left out of other moments than these: what has its first row late was idle before, too.
    fn know<'a>(&mut self, moments: impl Iterator<Item = &'a Moment>) {
        let told = moments.filter(|moment| !moment.since_boot);
        for row in told.flat_map(|moment| &moment.rows) {
            let may_lack = self.headers.get(row.header).is_some_and(|h| h.may_lack);
            let known = self.known.entry(row.header).or_default();
            if may_lack && !known.contains(&row.instance) {
                known.push(row.instance);
            }
        }
    }

    /// Zeros of what is known and has no row in the moment.
    fn add_idle(&self, moment: &mut Moment) {
        for (&header, known) in &self.known {
            let told = moment.rows.iter().any(|r| r.header == header);
            if !told && !moment.idle.contains(&header) {
                continue;
            }
            let width = self.headers.get(header).map_or(0, |h| h.names.len());
            for &instance in known {
                let is_there = |r: &Row| r.header == header && r.instance == instance;
                if !moment.rows.iter().any(is_there) {
                    let at = moment.values.len();
                    moment.values.resize(at + width, 0.0);
                    moment.rows.push(Row {
                        header,
                        instance,
                        at,
                    });
                }
            }
        }
    }

    /// Puts the rows of a moment where they belong; the text may end within those of the last, or in
    /// those that this moment lacks.
    fn fill(&mut self, moment: &Moment, ends: bool, lacks: bool, out: &mut Out) {
        let rows: Vec<Told> = moment
            .rows
            .iter()
            .filter_map(|row| {
                let header = self.headers.get(row.header)?;
                let name = out.words().text(row.instance)?.as_bytes().to_vec();
                let values = moment.values.get(row.at..row.at + header.names.len())?;
                Some(Told {
                    header,
                    name,
                    values,
                })
            })
            .collect();
        self.place.fill(&rows, ends, lacks, out);
    }
}
