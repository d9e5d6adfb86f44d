//! Which tables could answer, cheapest first.

use run::catalog::{self, Detail, Stored, Subject, Table};

use crate::syntax::Spanned;

/// A table that could answer, and the measure's column there.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) subject: &'static Subject,
    pub(super) table: &'static Table,
    pub(super) column: &'static str,
    pub(super) caveat: Option<&'static str>,
    /// A dimension, and a word of it of which rows do not count.
    pub(super) without: Option<(&'static str, &'static str)>,
}

impl Candidate {
    /// Whether the table has all of those dimensions.
    pub(super) fn fits(&self, needed: &[&Spanned]) -> bool {
        needed.iter().all(|d| self.table.has_dimension(&d.text))
    }

    /// What the measure is made of, in a table of events.
    pub(super) fn made(&self) -> Option<Stored> {
        let mut made = self.table.made.iter();
        made.find(|(name, _)| *name == self.column).map(|m| m.1)
    }
}

/// Every table that serves `measure` of `subject`, cheapest first.
pub(super) fn candidates(subject: &'static Subject, measure: &str) -> Vec<Candidate> {
    let own = subject.tables.iter().filter_map(|table| {
        let stored = table.measures.iter().copied();
        let mut all = stored.chain(table.made.iter().map(|(name, _)| *name));
        let column = all.find(|m| *m == measure)?;
        Some(Candidate {
            subject,
            table,
            column,
            caveat: None,
            without: None,
        })
    });
    let other = subject
        .also
        .iter()
        .filter(|a| a.measure == measure)
        .filter_map(|a| {
            let (subject, table) = catalog::table(a.table)?;
            Some(Candidate {
                subject,
                table,
                column: a.column,
                caveat: Some(a.caveat),
                without: a.without,
            })
        });
    let mut all: Vec<Candidate> = own.chain(other).collect();
    // A stable sort: within a kind, the order of the catalog. What the kernel counts anyway comes
    // before what a program of ours counts. Tables of other subjects, which count something else or
    // not all of it, come after all own ones, whatever these take to read.
    all.sort_by_key(|c| {
        let detail = match c.table.detail {
            Detail::Sample if !c.table.source.starts_with("bpf-") => 0,
            Detail::Sample => 1,
            Detail::Histogram => 2,
            Detail::Event => 3,
        };
        (c.caveat.is_some(), detail)
    });
    all
}
