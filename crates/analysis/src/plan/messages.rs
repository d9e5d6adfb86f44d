//! Why no table answers: what to ask instead, or what to record.

use std::collections::BTreeSet;

use run::catalog::{self, Detail, Measure, Subject, Table};

use super::{Candidate, Planner};
use crate::error::Problem;
use crate::notes::lacking;
use crate::syntax::Spanned;

impl Planner<'_> {
    pub(super) fn no_table(
        &self,
        subject: &'static Subject,
        measure: &Measure,
        all: &[Candidate],
        needed: &[&Spanned],
    ) -> Problem {
        let full = format!("{}.{}", subject.name, measure.name);
        // The word to point at: the first dimension that no table has with the others before.
        let mut have = Vec::new();
        for d in needed {
            have.push(d.text.as_str());
            let some = all
                .iter()
                .any(|c| have.iter().all(|h| c.table.has_dimension(h)));
            if !some {
                let mut offers: Vec<String> = all
                    .iter()
                    .map(|c| match c.table.dimensions {
                        [] => "(whole)".into(),
                        dimensions => dimensions.join(", "),
                    })
                    .collect();
                offers.dedup();
                let together = if have.len() > 1 {
                    " together with the others"
                } else {
                    ""
                };
                let what = format!("{full} is not kept by `{}`{together}", d.text);
                let hint = format!("it is kept by: {}", offers.join("; or by: "));
                return self.problem(d.span, what).hint(hint);
            }
        }
        self.problem(
            self.expression.measure.span,
            format!("{full} is in no table"),
        )
    }

    /// The run does not have the table: says what to record.
    pub(super) fn not_recorded(&self, candidate: &Candidate) -> Problem {
        let span = (
            self.expression.subject.span.0,
            self.expression.measure.span.1,
        );
        let source = candidate.table.source;
        let what = format!(
            "this run has no table `{}`, which would answer it",
            candidate.table.name
        );
        if !self.manifest.imported.is_empty() {
            return self.problem(span, what).hint(self.not_imported());
        }
        if source == "import" {
            return self
                .problem(span, what)
                .hint(imported_only(candidate.subject));
        }
        let state = self.manifest.sources.iter().find(|s| s.name == source);
        let flags = flags(candidate.subject, candidate.table);
        let missing = lacking(self.manifest, candidate.table);
        let hint = match (state, flags) {
            (Some(s), _) if s.state == "available" && missing.is_some() => {
                let why = missing.unwrap_or_default();
                format!("the source `{source}` was recorded, but {why}")
            }
            (Some(s), Some(flags)) if s.state == "available" && self.was_busy(candidate.table) => {
                format!("it is recorded with `{flags}`")
            }
            (Some(s), Some(flags)) if s.state == "available" && is_asked_for(candidate) => format!(
                "the source `{source}` was recorded: it had nothing to say, or was not asked to; \
                 it is recorded with `{flags}`"
            ),
            (Some(s), _) if s.state == "available" => {
                format!("the source `{source}` was recorded and {NOTHING_TO_SAY}")
            }
            (Some(s), _) => format!("the source `{source}` was {}: {}", s.state, s.detail),
            (None, Some(flags)) => format!(
                "it is recorded with `{flags}`, by eBPF, which needs root (`sonde doctor` tells \
                 whether this host has it)"
            ),
            (None, None) => format!(
                "record with the source `{source}` (`sonde doctor` tells whether this host has it)"
            ),
        };
        self.problem(span, what).hint(hint)
    }

    /// Why an imported run lacks a table: what it was made of does not tell it.
    fn not_imported(&self) -> String {
        let files = &self.manifest.imported;
        let formats: BTreeSet<&str> = files.iter().map(|f| f.format.as_str()).collect();
        let formats: Vec<&str> = formats.into_iter().collect();
        let mut hint = format!(
            "the run was imported from {}, which did not tell it (`sonde formats FORMAT` says what \
             a format yields)",
            formats.join(", ")
        );
        if (self.has)("since_boot") {
            hint += "; means since boot are kept apart: `since_boot.value by statistic`";
        }
        hint
    }

    /// Whether another table of the same source has rows, though `table`, of events, has none:
    /// then there were events, and nobody asked to keep them.
    fn was_busy(&self, table: &Table) -> bool {
        let same = |t: &&Table| t.source == table.source && t.detail == Detail::Histogram;
        let mut others = catalog::tables().map(|(_, t)| t).filter(same);
        table.detail == Detail::Event && others.any(|t| (self.has)(t.name))
    }
}

/// What is said of a source that was recorded, and left no rows.
const NOTHING_TO_SAY: &str = "had nothing to say";

/// The same problem, of a run whose journal cannot be read to its end: there the rows may be.
pub(crate) fn of_damaged(mut problem: Problem) -> Problem {
    if problem
        .hint
        .as_ref()
        .is_some_and(|h| h.ends_with(NOTHING_TO_SAY))
    {
        problem.hint = Some(
            "of this run's journal not all can be read: rows of it may be in what is lost".into(),
        );
    }
    problem
}

/// Where rows come from that no source reads.
fn imported_only(subject: &Subject) -> &'static str {
    if subject.name == "workload" {
        "it is what benchmarks say of their own work: the command printed nothing that is known as \
         one's output (`sonde formats` lists them)"
    } else {
        "only imported runs have it (`sonde formats` says what a format yields)"
    }
}

/// Whether a source leaves the table out unless somebody asks for it: a run does not tell for which
/// events it was asked.
fn is_asked_for(candidate: &Candidate) -> bool {
    candidate.table.detail == Detail::Event
}

/// The flags of `sonde record` that fill a table of an eBPF source.
fn flags(subject: &Subject, table: &Table) -> Option<String> {
    let file = subject.name == "file";
    match table.detail {
        Detail::Event if file => Some("--with file --detail events --events file".into()),
        Detail::Event => Some(format!("--detail events --events {}", subject.name)),
        _ if file => Some("--with file".into()),
        _ if table.source.starts_with("bpf-") => Some("--detail distributions".into()),
        _ => None,
    }
}
