//! The table that has events themselves, whichever is cheapest for their amounts.

use run::Manifest;
use run::catalog::Detail;

use super::{Planner, ScanPlan, candidates, find_subject};
use crate::error::Problem;
use crate::syntax::Expression;

/// The table of events of `expression`'s subject that has every dimension its predicates name.
pub fn plan_events(
    expression: &Expression,
    manifest: &Manifest,
    has: &dyn Fn(&str) -> bool,
) -> Result<ScanPlan, Problem> {
    let planner = Planner {
        expression,
        subject: find_subject(expression)?,
        manifest,
        has,
    };
    planner.check_dimensions()?;
    planner.events()
}

impl Planner<'_> {
    /// The table that has the events themselves.
    fn events(&self) -> Result<ScanPlan, Problem> {
        let needed = self.needed(&|_| true);
        let name = &self.expression.measure.text;
        let measure = self.subject.measure(name).ok_or_else(|| {
            let what = format!("`{}` has no measure `{name}`", self.subject.name);
            self.problem(self.expression.measure.span, what)
        })?;
        let mut all = candidates(self.subject, measure.name);
        all.retain(|c| c.table.detail == Detail::Event);
        let fitting = || all.iter().filter(|c| c.fits(&needed));
        let recorded = fitting().find(|c| (self.has)(c.table.name));
        match (recorded, fitting().next()) {
            (Some(chosen), _) => self.scan_of(chosen, measure, &|_| true),
            (None, Some(first)) => Err(self.not_recorded(first)),
            (None, None) => Err(self.no_table(self.subject, measure, &all, &needed)),
        }
    }
}
