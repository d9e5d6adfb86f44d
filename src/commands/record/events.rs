//! What events may cost, and what the programs in the kernel do.

use std::collections::BTreeMap;

use run::catalog::{self, Detail};
use run::manifest::Program;
use run::rows::TableId;
use run::{Nanos, Sink};
use sources::{Look, Lost};

use super::sampler::Observed;

/// How often it is looked whether events keep to their budget: each interval, and each second
/// where intervals are longer.
fn period(every: f64) -> Nanos {
    (every.min(1.0) * 1e9) as Nanos
}

/// Keeps the cost of events within what the user allows: over it they are told one in N, each
/// with its weight, until there is room again.
pub(super) struct Budget {
    /// Processor time that taking events took since `since`, in seconds.
    pub(super) spent: f64,
    /// Events taken since then.
    pub(super) taken: u64,
    since: Nanos,
    period: Nanos,
    one_in: u32,
    /// The greatest that was since the last sample.
    greatest: u32,
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
    /// For samples `every` so many seconds.
    pub(super) fn new(look: &Look, every: f64) -> Budget {
        Budget {
            spent: 0.0,
            taken: 0,
            since: 0,
            period: period(every),
            one_in: 1,
            greatest: 1,
            most: 1,
            look: look.clone(),
            table: TableId::of("self_events"),
            before: vec![],
        }
    }

    /// Forgets what came before: it belongs to no interval.
    pub(super) fn begin(&mut self, started: Nanos) {
        (self.spent, self.taken, self.since) = (0.0, 0, started);
    }

    /// Whether the table has events, and they are told: nothing else is sampled.
    fn is_told(&self, table: &str) -> bool {
        catalog::table(table).is_some_and(|(subject, table)| {
            table.detail == Detail::Event && self.look.events_of(subject.name)
        })
    }

    /// At each sample: writes what was lost in this interval, where there was anything.
    pub(super) fn tell(&mut self, lost: impl IntoIterator<Item = Lost>, sink: &mut Sink) {
        for lost in lost {
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
                self.greatest
            } else {
                1
            };
            if dropped + unseen > 0 || one_in > 1 {
                let table = sink.word(lost.table);
                let values = [dropped as f64, unseen as f64, f64::from(one_in)];
                sink.row(self.table, &[table], &values);
            }
        }
        self.greatest = self.one_in;
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

    /// When [`next`](Budget::next) is to be asked if nothing else happens: while events are
    /// sampled too few may come to wake anybody.
    pub(super) fn due(&self) -> Nanos {
        if self.one_in > 1 {
            self.since + self.period
        } else {
            Nanos::MAX
        }
    }

    /// After events were taken: answers with the N from now on, if it changes.
    pub(super) fn next(&mut self, now: Nanos) -> Option<u32> {
        // Samples come a little early or late; shortly after one, little says little.
        if now - self.since < self.period / 4 * 3 {
            return None;
        }
        let seconds = (now - self.since) as f64 / 1e9;
        self.since = now;
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
        self.greatest = self.greatest.max(wanted);
        self.most = self.most.max(wanted);
        Some(wanted)
    }
}

/// Short spells in which the kernel measures the programs. Measuring costs some 50 ns each time one
/// runs: so it is on for a thirtieth of the time, and that of each few seconds. (Of a load of two seconds
/// a second of each half minute took some 4 % of the I/Os, or nothing: decision 0011.)
pub(super) struct Spells {
    /// From the start to the first: when things have settled.
    settling: Nanos,
    /// When the next begins, or the present one ends.
    due: Nanos,
    measuring: Option<(Nanos, sources::bpf::Measuring)>,
}

/// How long a spell is.
const MEASURED: Nanos = 100_000_000;
/// From the end of a spell to the next.
const UNMEASURED: Nanos = 29 * MEASURED;

impl Spells {
    /// For samples `every` so many seconds.
    pub(super) fn new(every: f64) -> Spells {
        Spells {
            settling: period(every),
            due: Nanos::MAX,
            measuring: None,
        }
    }

    /// The recording starts.
    pub(super) fn begin(&mut self, started: Nanos) {
        self.due = started + self.settling;
    }

    /// When [`next`](Spells::next) is to be called if nothing else happens.
    pub(super) fn due(&self) -> Nanos {
        self.due
    }

    /// Begins a spell or ends it, if it is time.
    pub(super) fn next(&mut self, now: Nanos, observed: &mut [Observed]) {
        if now < self.due {
            return;
        }
        if self.measuring.is_some() {
            self.end(now, observed);
            self.due = now + UNMEASURED;
            return;
        }
        self.due = Nanos::MAX;
        // Where there are no programs there is nothing to measure, nor where it is not allowed.
        if !read(observed, 0).is_empty()
            && let Some(measuring) = sources::bpf::measure()
        {
            self.measuring = Some((now, measuring));
            self.due = now + MEASURED;
        }
    }

    /// Ends a spell if there is one; answers with what is known of the programs.
    pub(super) fn end(&mut self, now: Nanos, observed: &mut [Observed]) -> Vec<Program> {
        let began = self.measuring.take().map_or(now, |(began, _)| began);
        read(observed, now - began)
    }
}

fn read(observed: &mut [Observed], measured: Nanos) -> Vec<Program> {
    let sources = observed.iter_mut().filter_map(|o| o.source.as_mut());
    sources
        .flat_map(|s| s.measured(measured as f64 / 1e9))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    /// A budget of so many events of disks a second, with samples every ten.
    fn budget(rate: f64) -> Budget {
        let look = Look {
            detail: sources::Detail::Events,
            events: vec!["disk".into()],
            event_rate: rate,
            ..Look::default()
        };
        Budget::new(&look, 10.0)
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
        assert_eq!(budget.next(SECOND), Some(10));
        let of = |unseen| NOT_TOLD.map(|table| lost(table, unseen));
        budget.tell([lost("disk_event", 0)].into_iter().chain(of(0)), &mut sink);
        let table = TableId::of("self_events");
        assert_eq!(sink.rows(table).len(), 1);
        budget.tell(of(3), &mut sink);
        // Dropped, unseen, one in.
        let unseen = [0.0, 3.0, 3.0];
        assert_eq!(sink.rows(table).values[1..], [unseen, [10.0, 1.0, 1.0]]);
        assert_eq!(
            budget.sampled(),
            BTreeMap::from([("disk_event".to_owned(), 10)])
        );
    }

    #[test]
    fn a_second_within_a_long_interval_is_enough_to_adapt() {
        let mut budget = budget(100.0);
        budget.begin(SECOND);
        assert_eq!(budget.due(), Nanos::MAX);
        budget.taken = 900;
        // Too soon to tell.
        assert_eq!(budget.next(SECOND + SECOND / 2), None);
        budget.taken += 1100;
        assert_eq!(budget.next(2 * SECOND), Some(20));
        assert_eq!(budget.due(), 3 * SECOND);
        // Few come; nobody would wake.
        budget.taken = 1;
        assert_eq!(budget.next(budget.due()), Some(1));
        assert_eq!(budget.due(), Nanos::MAX);
        // The interval's row tells the greatest that was, the next row what is.
        let mut sink = Sink::new();
        budget.tell([lost("disk_event", 1)], &mut sink);
        budget.tell([lost("disk_event", 2)], &mut sink);
        let rows = sink.rows(TableId::of("self_events"));
        assert_eq!(rows.values[2], [20.0, 1.0]);
    }

    #[test]
    fn spells_are_for_programs() {
        let mut spells = Spells::new(3600.0);
        spells.begin(5 * SECOND);
        assert_eq!(spells.due(), 6 * SECOND);
        // Nothing is in the kernel: nothing is measured, and nobody wakes for it.
        spells.next(6 * SECOND, &mut []);
        assert!(spells.measuring.is_none());
        assert_eq!(spells.due(), Nanos::MAX);
    }
}
