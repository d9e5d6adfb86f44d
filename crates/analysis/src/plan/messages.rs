//! Why no table answers: what to ask instead, or what to record.

use run::catalog::{Detail, Measure, Subject};

use super::{Candidate, Planner};
use crate::error::Problem;
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
                .any(|c| have.iter().all(|h| c.table.dimensions.contains(h)));
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
        let state = self.manifest.sources.iter().find(|s| s.name == source);
        let hint = match state {
            Some(s) if s.state == "available" => {
                format!("the source `{source}` was recorded and had nothing to say")
            }
            Some(s) => format!("the source `{source}` was {}: {}", s.state, s.detail),
            None if candidate.table.detail != Detail::Sample => {
                "distributions are recorded by eBPF, which this version does not have yet".into()
            }
            None => format!(
                "record with the source `{source}` (`sonde doctor` tells whether this host has it)"
            ),
        };
        self.problem(span, what).hint(hint)
    }
}
