//! What events may cost, and what the programs in the kernel do.

use std::collections::BTreeMap;

use run::catalog::{self, Detail};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink};
use sources::{Host, Look, Lost};

use super::sampler::Observed;

/// Keeps the cost of events within what the user allows: over it they are told one in N, each
/// with its weight, until there is room again.
pub(super) struct Budget {
    /// Processor time that taking events took in this interval, in seconds.
    pub(super) spent: f64,
    /// Events taken in this interval.
    pub(super) taken: u64,
    one_in: u32,
    /// The greatest that was.
    most: u32,
    look: Look,
    table: TableId,
    /// What was lost of each table until the last sample.
    before: Vec<Lost>,
}

/// An event costs so many times what taking it from the ring does: encoding and compressing are
/// the rest (`perf record` of 177,000 events a second: 0.9 of 3.4 % of a core is the taking).
const KEEPING: f64 = 4.0;

impl Budget {
    pub(super) fn new(host: &Host) -> Budget {
        Budget {
            spent: 0.0,
            taken: 0,
            one_in: 1,
            most: 1,
            look: host.look.clone(),
            table: TableId::of("self_events"),
            before: vec![],
        }
    }

    /// Whether the table has events, and they are told: nothing else is sampled.
    fn is_told(&self, table: &str) -> bool {
        catalog::table(table).is_some_and(|(subject, table)| {
            table.detail == Detail::Event && self.look.events_of(subject.name)
        })
    }

    /// Writes what was lost in this interval, if there was anything.
    pub(super) fn tell(&mut self, lost: Lost, sink: &mut Sink) {
        let known = self.before.iter_mut().find(|l| l.table == lost.table);
        let before = match known {
            Some(known) => std::mem::replace(known, lost),
            None => {
                self.before.push(lost);
                Lost::default()
            }
        };
        let dropped = lost.dropped.saturating_sub(before.dropped);
        let unseen = lost.unseen.saturating_sub(before.unseen);
        let one_in = if self.is_told(lost.table) {
            self.one_in
        } else {
            1
        };
        if dropped + unseen > 0 || one_in > 1 {
            let table = sink.word(lost.table);
            let values = [dropped as f64, unseen as f64, f64::from(one_in)];
            sink.row(self.table, &[table], &values);
        }
    }

    /// Tables that were sampled, and how many events a row stands for at most.
    pub(super) fn sampled(&self) -> BTreeMap<String, u32> {
        let told = |l: &&Lost| self.most > 1 && self.is_told(l.table);
        let tables = self.before.iter().filter(told);
        tables.map(|l| (l.table.to_owned(), self.most)).collect()
    }

    /// What was lost of each table, all in all.
    pub(super) fn lost(&self) -> &[Lost] {
        &self.before
    }

    /// At the end of an interval of that many seconds: answers with the N of the next, if it
    /// changes.
    pub(super) fn next(&mut self, seconds: f64) -> Option<u32> {
        let seconds = seconds.max(1e-3);
        let cost = std::mem::take(&mut self.spent) * KEEPING / seconds / self.look.event_share;
        let rate = std::mem::take(&mut self.taken) as f64 / seconds / self.look.event_rate;
        // What it would be with every event told, against what it may be.
        let over = cost.max(rate) * f64::from(self.one_in);
        let wanted = over.ceil().clamp(1.0, 1e6) as u32;
        // Back to more events only when there is clearly room, so that it does not swing.
        let change = wanted > self.one_in || f64::from(wanted) < 0.7 * f64::from(self.one_in);
        if !change {
            return None;
        }
        self.one_in = wanted;
        self.most = self.most.max(wanted);
        Some(wanted)
    }
}

/// Short spells in which the kernel measures the programs: measuring costs some 50 ns each
/// time one runs, so it is on for one sample in many.
#[derive(Default)]
pub(super) struct Spells {
    pub(super) last: Nanos,
    samples: u64,
    measuring: Option<sources::bpf::Measuring>,
}

/// One sample in so many is measured; the first is the third, when things have settled.
const MEASURED_EVERY: u64 = 30;

impl Spells {
    /// At each sample.
    pub(super) fn next(&mut self, time: Nanos, observed: &mut [Observed]) {
        let seconds = (time - self.last) as f64 / 1e9;
        self.last = time;
        self.samples += 1;
        if self.measuring.take().is_some() {
            read(observed, seconds);
        } else if self.samples % MEASURED_EVERY == 2 {
            read(observed, 0.0);
            self.measuring = sources::bpf::measure();
        }
    }

    /// At the end.
    pub(super) fn end(&mut self, observed: &mut [Observed]) -> Vec<Program> {
        self.measuring = None;
        read(observed, 0.0)
    }
}

fn read(observed: &mut [Observed], seconds: f64) -> Vec<Program> {
    let sources = observed.iter_mut().filter_map(|o| o.source.as_mut());
    sources.flat_map(|s| s.measured(seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget of so many events a second, those of disks.
    fn budget(rate: f64) -> Budget {
        let look = Look {
            detail: sources::Detail::Events,
            events: vec!["disk".into()],
            event_rate: rate,
            ..Look::default()
        };
        Budget::new(&Host {
            look,
            ..Host::default()
        })
    }

    fn lost(table: &'static str, unseen: u64) -> Lost {
        Lost {
            table,
            unseen,
            ..Lost::default()
        }
    }

    /// What is no table of events, and one of a subject whose events are not told.
    const NOT_TOLD: [&str; 2] = ["cpu_slice", "net_event"];

    #[test]
    fn only_tables_whose_events_are_told_are_sampled() {
        let mut budget = budget(100.0);
        let mut sink = Sink::new();
        budget.taken = 1000;
        assert_eq!(budget.next(1.0), Some(10));
        budget.tell(lost("disk_event", 0), &mut sink);
        for table in NOT_TOLD {
            budget.tell(lost(table, 0), &mut sink);
        }
        let table = TableId::of("self_events");
        assert_eq!(sink.rows(table).len(), 1);
        for table in NOT_TOLD {
            budget.tell(lost(table, 3), &mut sink);
        }
        // Dropped, unseen, one in.
        let unseen = [0.0, 3.0, 3.0];
        assert_eq!(sink.rows(table).values[1..], [unseen, [10.0, 1.0, 1.0]]);
        assert_eq!(
            budget.sampled(),
            BTreeMap::from([("disk_event".to_owned(), 10)])
        );
    }
}
