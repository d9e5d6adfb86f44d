//! What rules may look at: answers to expressions, the manifest, settings of the machine.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use run::catalog::{Detail, Kind};
use run::manifest::Imported;
use run::read::ReadError;
use run::{Manifest, Nanos, Run};

use super::bars::Bars;
use super::series::Series;
use crate::answer::{Group, summarise};
use crate::gather::Rules;
use crate::limit::{Limit, limits};
use crate::notes::is_name;
use crate::plan::{Plan, plan};
use crate::scan::{self, KeyValue, Slot};
use crate::syntax::parse;
use crate::{Answer, Error};

/// A setting of the inventory as text, by the keys that lead to it: `["block", "sda",
/// "scheduler"]`. `None` where it is not known.
pub type Settings<'r> = dyn Fn(&[&str]) -> Option<String> + 'r;

/// A run and what is known of its machine. An expression is answered once, however many ask.
pub struct Look<'r> {
    run: &'r Run,
    settings: &'r Settings<'r>,
    ended: Nanos,
    tables: OnceCell<Vec<String>>,
    limits: OnceCell<Vec<Limit>>,
    answers: RefCell<HashMap<String, Option<Rc<Answer>>>>,
    series: RefCell<HashMap<String, Option<Rc<Series>>>>,
    problems: RefCell<Vec<String>>,
}

impl<'r> Look<'r> {
    /// At `run`, on a machine with `settings`.
    pub fn new(run: &'r Run, settings: &'r Settings<'r>) -> Look<'r> {
        Look {
            run,
            settings,
            ended: run.ended(),
            tables: OnceCell::new(),
            limits: OnceCell::new(),
            answers: RefCell::default(),
            series: RefCell::default(),
            problems: RefCell::default(),
        }
    }

    /// The run.
    pub fn run(&self) -> &'r Run {
        self.run
    }

    /// What `run.json` says.
    pub(super) fn manifest(&self) -> &'r Manifest {
        &self.run.manifest
    }

    /// Start and end of the run.
    pub(super) fn whole(&self) -> (Nanos, Nanos) {
        let started = self.run.manifest.started;
        (started, self.ended.max(started))
    }

    /// Length of the run in seconds; never zero, because it is divided by.
    pub(super) fn seconds(&self) -> f64 {
        let (from, to) = self.whole();
        (to.saturating_sub(from) as f64 / 1e9).max(1e-9)
    }

    /// A setting of the machine.
    pub(super) fn setting(&self, path: &[&str]) -> Option<String> {
        (self.settings)(path)
    }

    /// A setting that is a number.
    pub(super) fn number(&self, path: &[&str]) -> Option<f64> {
        let number: f64 = self.setting(path)?.parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// What the run was bound by, see [`limits`].
    pub fn limits(&self) -> &[Limit] {
        self.limits.get_or_init(|| limits(self.run))
    }

    /// Tables that could not be read, a message each.
    pub fn problems(&self) -> Vec<String> {
        self.problems.borrow().clone()
    }

    /// The answer, without its series; `None` where the run does not have it.
    pub fn summary(&self, text: &str) -> Option<Rc<Answer>> {
        if let Some(known) = self.answers.borrow().get(text) {
            return known.clone();
        }
        let answer = self
            .plan(text)
            .and_then(|_| self.kept(summarise(self.run, text)))
            .map(Rc::new);
        let mut answers = self.answers.borrow_mut();
        answers.insert(text.to_owned(), answer.clone());
        answer
    }

    /// Planned first: of a run that was not sealed, every question reads the whole journal.
    fn plan(&self, text: &str) -> Option<Plan> {
        let tables = self.tables.get_or_init(|| self.run.tables());
        let has = |t: &str| tables.iter().any(|x| x == t);
        plan(&parse(text).ok()?, &self.run.manifest, &has).ok()
    }

    fn kept<T>(&self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Error::Read(e @ (ReadError::Table { .. } | ReadError::Io { .. }))) => {
                let text = e.to_string();
                let mut problems = self.problems.borrow_mut();
                if !problems.contains(&text) {
                    problems.push(text);
                }
                None
            }
            // The run does not have it.
            Err(_) => None,
        }
    }

    /// Amounts over the run by group, in no order: without the intervals, which a wide
    /// histogram or thousands of paths would make large.
    fn amounts(&self, text: &str) -> Option<Vec<(Vec<KeyValue>, f64)>> {
        let plan = self.plan(text)?;
        let rules = Rules {
            kind: Kind::Sum,
            ratio: None,
            shortest: 0.0,
            unknown: false,
            grid: None,
        };
        debug_assert_eq!(plan.kind, Some(Kind::Sum), "{text}");
        if plan.over.table.detail == Detail::Event {
            // An imported run may have events and no histograms of them.
            let cells = scan::scan(self.run, &plan.over).map_err(Error::Read);
            let groups = self.kept(cells)?.groups.into_iter();
            return Some(
                groups
                    .map(|g| (g.key, g.amounts.values.iter().sum()))
                    .collect(),
            );
        }
        let cells = scan::totals(self.run, &plan.over, None, &rules);
        let cells = self.kept(cells.map_err(Error::Read))?;
        let groups = cells.groups.into_iter();
        let known = groups.filter(|g| g.amounts.amount.is_finite());
        Some(known.map(|g| (g.key, g.amounts.amount)).collect())
    }

    /// Amounts by interval of each group of a sum. To be asked of few groups.
    pub(super) fn series(&self, text: &str) -> Option<Rc<Series>> {
        if let Some(known) = self.series.borrow().get(text) {
            return known.clone();
        }
        let read = self.plan(text).and_then(|plan| {
            debug_assert_eq!(plan.kind, Some(Kind::Sum), "{text}");
            let cells = scan::scan(self.run, &plan.over).map_err(Error::Read);
            let cells = self.kept(cells)?;
            let groups = cells.groups.into_iter().map(|g| (g.key, g.amounts));
            Some(Rc::new(Series {
                slots: cells.slots,
                groups: groups.collect(),
                sparse: plan.over.table.sparse,
            }))
        });
        let mut known = self.series.borrow_mut();
        known.insert(text.to_owned(), read.clone());
        read
    }

    /// Amounts by interval, all groups added.
    pub(super) fn whole_series(&self, text: &str) -> Option<Vec<(Slot, f64)>> {
        Some(self.series(text)?.of(&[]))
    }

    /// Totals over the run by words, largest first; none where the run does not have it.
    pub(super) fn totals(&self, text: &str) -> Vec<(Vec<String>, f64)> {
        let groups = self.amounts(text).unwrap_or_default();
        let mut found: Vec<_> = groups
            .into_iter()
            .map(|(key, amount)| (key.iter().map(word).collect::<Vec<_>>(), amount))
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found
    }

    /// The total over the run; `None` where the run does not have the table, zero where the
    /// table has no such row.
    pub(super) fn total(&self, text: &str) -> Option<f64> {
        // Not `sum`, which makes -0 of nothing.
        let all = self.amounts(text)?;
        Some(all.iter().fold(0.0, |sum, (_, amount)| sum + amount))
    }

    /// The largest part of a total by one word, and its share; `None` where that part has no
    /// name.
    pub(super) fn largest(&self, text: &str) -> Option<(String, f64)> {
        let parts = self.totals(text);
        let sum: f64 = parts.iter().map(|(_, amount)| amount).sum();
        let (key, amount) = parts.into_iter().next()?;
        let name = key.into_iter().next()?;
        (sum > 0.0 && is_name(&name)).then(|| (name, amount / sum))
    }

    /// The mean of the only group; `None` where there is none.
    pub(super) fn mean(&self, text: &str) -> Option<f64> {
        let answer = self.summary(text)?;
        let mean = answer.groups.first()?.mean;
        mean.is_finite().then_some(mean)
    }

    /// Amounts over the run by words and, last, one number: a distribution for each
    /// combination of the words.
    pub(super) fn bars(&self, text: &str) -> Vec<Bars> {
        let Some(unit) = self
            .plan(text)
            .and_then(|p| p.by.last().and_then(|d| d.number))
        else {
            return vec![];
        };
        Bars::split(self.amounts(text).unwrap_or_default(), unit)
    }

    /// Whether the run has what would answer it.
    pub(super) fn knows(&self, text: &str) -> bool {
        self.plan(text).is_some()
    }

    /// The first of `expressions` that the run can answer; the last if none.
    pub(super) fn answerable<'e>(&self, expressions: &[&'e str]) -> &'e str {
        let found = expressions.iter().find(|e| self.knows(e));
        found.or(expressions.last()).copied().unwrap_or_default()
    }

    /// Whether [`processors`](Look::processors) is more than a guess: what was imported may tell of all as
    /// one.
    pub(super) fn knows_processors(&self) -> bool {
        let count = self.processors();
        let told = |i: &Imported| i.processors.is_some_and(|n| f64::from(n) == count);
        let is_all =
            |group: &Group| matches!(group.key.first(), Some(KeyValue::Word(w)) if w == "all");
        let by_cpu = self.summary("cpu.utilisation by cpu");
        self.manifest().imported.iter().any(told)
            || by_cpu.is_some_and(|a| !a.groups.iter().any(is_all))
    }

    /// Logical processors seen, or where that was not recorded, those of the inventory; at
    /// least one.
    pub(super) fn processors(&self) -> f64 {
        let by_cpu = self.summary("cpu.utilisation by cpu");
        let seen = by_cpu.map(|a| a.groups.len()).filter(|n| *n > 0);
        let threads = || (self.settings)(&["cpu", "threads"])?.parse().ok();
        seen.or_else(threads).unwrap_or(1).max(1) as f64
    }

    /// `expression` for the time from and to only, unless that is most of the run.
    pub(super) fn narrowed(&self, expression: &str, (from, to): (Nanos, Nanos)) -> String {
        let (started, _) = self.whole();
        if to.saturating_sub(from) as f64 / 1e9 >= 0.9 * self.seconds() {
            return expression.to_owned();
        }
        let tested = parse(expression).is_ok_and(|e| !e.predicates.is_empty());
        let word = if tested { "and" } else { "where" };
        // Both ends upwards: an interval belongs to a time if it ends after its start and not
        // after its end, and no interval is shorter than a millisecond.
        // What began before the run (a wait, the first reading) begins with it.
        let at = |time: Nanos| ((time - started).max(0) as f64 / 1e6).ceil() / 1e3;
        let (from, to) = (at(from), at(to));
        format!("{expression} {word} time in {from}s..{to}s")
    }
}

pub(super) fn word(key: &KeyValue) -> String {
    match key {
        KeyValue::Word(word) => word.clone(),
        KeyValue::Number(number) => number.to_string(),
    }
}
