//! What a reader should know of an answer beside its numbers: what they leave out, and what may
//! be among what has no name.

mod edges;
mod elsewhere;
mod hooks;
mod others;
mod unknown;

use std::sync::Arc;

use run::catalog::{self, Subject};
use run::{Manifest, Run};

use crate::answer::{Answer, Group, planned, summarise};
use crate::error::Error;
use crate::exact::exact_of;
use crate::mixed;
use crate::plan::{Plan, ScanPlan};
use crate::quantiles::heaviest;
use crate::syntax::{Expression, Predicate, parse};

pub(crate) use hooks::lacking;

/// What sources write where they know no name.
const UNKNOWN: &str = "(unknown)";

/// How the groups begin of what has no row of its own: what is beyond the room of a table is added
/// up there.
const OTHER: &str = "(other";

/// Whether a word names one thing, and not many together or what is not known.
pub(crate) fn is_name(word: &str) -> bool {
    !word.is_empty() && word != UNKNOWN && !word.starts_with(OTHER)
}

/// Sentences on what `answer` lacks or may lack: what the kernel's hooks that were missing would
/// have told, what has no name, what may be among the others.
///
/// # Errors
/// Where a table cannot be read.
pub fn of(run: &Run, answer: &Answer) -> Result<Vec<String>, Error> {
    let asked = Asked {
        run,
        answer,
        expression: parse(&answer.text)?,
        plan: planned(run, &answer.text, &Arc::default())?,
    };
    let mut all = asked.hooks();
    all.extend(asked.unknown()?);
    all.extend(asked.others()?);
    all.extend(asked.edges());
    all.extend(asked.established());
    all.extend(asked.rounded());
    all.extend(asked.elsewhere()?);
    let added = mixed::added(run, &asked.expression, answer.table)?;
    if added > 1 {
        all.push(format!(
            "numbers of {added} instances are added up, whatever they are of: `by instance` tells each"
        ));
    }
    Ok(all)
}

/// That events were sampled, where some were.
///
/// # Errors
/// Where the table cannot be read.
pub fn sampled(run: &Run, answer: &Answer) -> Result<Option<String>, Error> {
    let heaviest = heaviest(run, answer.table)?;
    Ok((heaviest > 1.0)
        .then(|| format!("some events stand for up to {heaviest:.0}: amounts are estimates")))
}

/// An answer, and what was asked.
struct Asked<'r> {
    run: &'r Run,
    answer: &'r Answer,
    expression: Expression,
    plan: Plan,
}

impl Asked<'_> {
    fn manifest(&self) -> &Manifest {
        &self.run.manifest
    }

    /// The subject of the table that answered.
    fn subject(&self) -> Option<&'static Subject> {
        catalog::table(self.plan.over.table.name).map(|(subject, _)| subject)
    }

    /// All that is read.
    fn scans(&self) -> impl Iterator<Item = &ScanPlan> {
        std::iter::once(&self.plan.over).chain(&self.plan.under)
    }

    /// That attempts to connect which failed are not among connections by what is known of these.
    fn established(&self) -> Option<String> {
        let asked = self.expression.measure.text.as_str();
        let of_table = self.plan.over.table.name;
        (asked == "connects" && of_table.starts_with("tcp_")).then(|| {
            "connections that were established: attempts that failed are `tcp.connect_failures`"
                .to_owned()
        })
    }

    /// That intervals in which I/Os took no time had few.
    fn rounded(&self) -> Option<String> {
        let is_rounded = exact_of(&self.plan, self.manifest()).is_some();
        let took_nothing = |g: &Group| g.intervals > 0 && g.min == 0.0;
        (is_rounded && self.answer.groups.iter().any(took_nothing)).then(|| {
            "the kernel counts this time in whole milliseconds: of an interval with few I/Os it has 0, \
             or too much"
                .to_owned()
        })
    }

    /// The same asked by the dimensions `by`, with those of the predicates that `keep` accepts and
    /// those that `more` says.
    fn instead(
        &self,
        measure: &str,
        by: &[&str],
        keep: &dyn Fn(&Predicate) -> bool,
        more: &[String],
    ) -> Result<Answer, Error> {
        let expression = &self.expression;
        let kept = expression.predicates.iter().filter(|p| keep(p));
        let kept = kept.map(|p| expression.text[p.dimension.span.0..p.span.1].to_owned());
        let tests: Vec<String> = kept.chain(more.iter().cloned()).collect();
        let mut text = format!("{}.{measure} by {}", expression.subject.text, by.join(", "));
        if !tests.is_empty() {
            text += &format!(" where {}", tests.join(" and "));
        }
        summarise(self.run, &text)
    }
}
