//! From an expression to the tables that answer it.
//!
//! Every name is checked against the catalog. Of the tables that have the measure and every
//! dimension named, the planner takes the cheapest that the run has. `host`, `phase` and
//! `time` are dimensions of everything: they come from the manifest, not from columns.

mod candidates;
mod checks;
mod events;
mod messages;

use std::sync::Arc;

use run::catalog::{self, Derived, Detail, Kind, Measure, Stored, Subject, Table, Under};
use run::unit::Unit;
use run::{CATALOG, Manifest, Nanos};

use crate::bounds::Bounds;
use crate::error::{Problem, near_or_all};
use crate::syntax::{Expression, Spanned, Test};

use candidates::{Candidate, candidates};
use checks::cuts;
pub use checks::{holds, holds_number};
pub use events::plan_events;
pub(crate) use messages::of_damaged;

/// What is to be read, and what to make of it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The expression, as written.
    pub text: String,
    /// Unit of the amounts, or of the ratio.
    pub unit: Unit,
    /// How amounts combine; `None` for a ratio.
    pub kind: Option<Kind>,
    /// One sentence on the statistic.
    pub help: &'static str,
    /// The dimensions of the groups.
    pub by: Vec<ByDimension>,
    /// The amounts, or what is above the line.
    pub over: ScanPlan,
    /// What is below the line: its scans add.
    pub under: Vec<ScanPlan>,
    /// A ratio is multiplied by this.
    pub times: f64,
    /// A table in which what is above the line is exact.
    pub exact: Option<&'static str>,
}

/// A dimension of the groups.
#[derive(Clone, Debug)]
pub struct ByDimension {
    /// Its name.
    pub name: String,
    /// For a number, its unit.
    pub number: Option<Unit>,
}

/// One table to read.
#[derive(Clone, Debug)]
pub struct ScanPlan {
    /// The table.
    pub table: &'static Table,
    /// What to add up; without it only the sampled intervals are wanted.
    pub column: Option<&'static str>,
    /// Add up the length of the interval of each row that has a value, not the value.
    pub seconds: bool,
    /// Of a table of events: what the amount is made of.
    pub made: Option<Stored>,
    /// How amounts combine.
    pub kind: Kind,
    /// Dimensions to group by, by their place in [`Plan::by`].
    pub by: Vec<(usize, Key)>,
    /// What must hold for the column of that name.
    pub tests: Vec<(&'static str, Check)>,
    /// What must hold for the time of an interval.
    pub times: Vec<TimeCheck>,
    /// Why its sums may differ from other tables of the same statistic.
    pub caveat: Option<&'static str>,
    /// Words that hold because the expression says nothing of their dimensions.
    pub implied: Vec<(&'static str, &'static str)>,
    /// The table is one of another subject than the expression's.
    pub is_of_another: bool,
    /// What reading it may take.
    pub bounds: Arc<Bounds>,
}

/// Where the value of a group's dimension comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A word column.
    Word(&'static str),
    /// A number column.
    Number(&'static str),
    /// The phase of the interval.
    Phase,
    /// The host's name.
    Host,
}

/// A test of a column's value.
#[derive(Clone, Debug)]
pub enum Check {
    /// Of a word.
    Word(Test),
    /// Of a number, amounts already in its base unit: the test, and listed values.
    Number(Test, Vec<f64>),
}

/// A test of an interval.
#[derive(Clone, Debug)]
pub enum TimeCheck {
    /// Its end is after the first and not after the second.
    Within(Nanos, Nanos),
    /// Of events, in less than an interval: they themselves happened after the first and not
    /// after the second.
    Exactly(Nanos, Nanos),
    /// The phase it is in.
    Phase(Test),
    /// Never: the host is another one.
    Never,
}

/// What a histogram cannot tell.
const CUT: &str = "a histogram has whole buckets, at most 1.6 % wide: a bound of `where` within \
                   a bucket counts as that bucket's far end";

/// The recorder's own source, and its table of every sample.
const OWN: &str = "self";

/// The dimensions that everything has.
const EVERYWHERE: [&str; 3] = ["host", "phase", "time"];

/// Chooses the tables for `expression` in a run with `manifest` and tables `has`.
pub fn plan(
    expression: &Expression,
    manifest: &Manifest,
    has: &dyn Fn(&str) -> bool,
) -> Result<Plan, Problem> {
    let subject = find_subject(expression)?;
    let planner = Planner {
        expression,
        subject,
        manifest,
        has,
    };
    planner.check_dimensions()?;
    let name = &expression.measure.text;
    let by = planner.by_dimensions();
    let text = expression.text.clone();
    if let Some(m) = subject.measure(name) {
        let over = planner.scan(subject, m, None, &|_| true)?;
        let (unit, kind) = (m.unit, Some(m.kind));
        return Ok(Plan {
            text,
            unit,
            kind,
            help: m.help,
            by,
            over,
            under: vec![],
            times: 1.0,
            exact: None,
        });
    }
    let Some(d) = subject.derived.iter().find(|d| d.name == name) else {
        let names = subject.measures.iter().map(|m| m.name);
        let names = names.chain(subject.derived.iter().map(|d| d.name));
        let what = format!("`{}` has no measure `{name}`", subject.name);
        return Err(Problem::at(&expression.text, expression.measure.span, what)
            .hint(near_or_all(name, names)));
    };
    let (over, under) = planner.derived(d)?;
    Ok(Plan {
        text,
        unit: d.unit,
        kind: None,
        help: d.help,
        by,
        over,
        under,
        times: d.times,
        exact: d.exact,
    })
}

/// The plan in a run that has every table: what no run can answer is an error, as where a name is
/// not in the catalog.
///
/// # Errors
/// With the place of the fault, and names that are near.
pub fn in_some_run(expression: &Expression) -> Result<Plan, Problem> {
    plan(expression, &Manifest::new("", 0, 1.0), &|_| true)
}

fn find_subject(expression: &Expression) -> Result<&'static Subject, Problem> {
    let name = &expression.subject.text;
    catalog::subject(name).ok_or_else(|| {
        let what = format!("there is no subject `{name}`");
        Problem::at(&expression.text, expression.subject.span, what)
            .hint(near_or_all(name, CATALOG.iter().map(|s| s.name)))
    })
}

struct Planner<'a> {
    expression: &'a Expression,
    subject: &'static Subject,
    manifest: &'a Manifest,
    has: &'a dyn Fn(&str) -> bool,
}

impl Planner<'_> {
    fn problem(&self, span: (usize, usize), what: impl Into<String>) -> Problem {
        Problem::at(&self.expression.text, span, what)
    }

    /// Dimensions named in `by` and `where`, in order.
    fn named(&self) -> impl Iterator<Item = &Spanned> {
        let e = self.expression;
        e.by.iter().chain(e.predicates.iter().map(|p| &p.dimension))
    }

    fn check_dimensions(&self) -> Result<(), Problem> {
        for (place, d) in self.named().enumerate() {
            if EVERYWHERE.contains(&d.text.as_str()) || self.subject.dimension(&d.text).is_some() {
                continue;
            }
            let what = format!("`{}` has no dimension `{}`", self.subject.name, d.text);
            let names = self
                .subject
                .dimensions
                .iter()
                .map(|d| d.name)
                .chain(EVERYWHERE)
                // A breakdown by it is refused below.
                .filter(|name| *name != "time" || place >= self.expression.by.len());
            return Err(self.problem(d.span, what).hint(near_or_all(&d.text, names)));
        }
        let by = &self.expression.by;
        if let Some(time) = by.iter().find(|d| d.text == "time") {
            return Err(self
                .problem(time.span, "a breakdown by time is the series itself")
                .hint("leave `by time` out; `sonde get --series` and `sonde plot` show it"));
        }
        for (i, d) in by.iter().enumerate() {
            if by[..i].iter().any(|other| other.text == d.text) {
                return Err(self.problem(d.span, format!("`{}` is named twice", d.text)));
            }
        }
        Ok(())
    }

    fn by_dimensions(&self) -> Vec<ByDimension> {
        let number = |name: &str| self.subject.dimension(name).and_then(|d| d.number);
        let of = |d: &Spanned| ByDimension {
            name: d.text.clone(),
            number: number(&d.text),
        };
        self.expression.by.iter().map(of).collect()
    }

    fn derived(&self, d: &'static Derived) -> Result<(ScanPlan, Vec<ScanPlan>), Problem> {
        let find = |full: &str| -> (&'static Subject, &'static Measure) {
            let (s, m) = full
                .split_once('.')
                .expect("the catalog's tests check names");
            let subject = catalog::subject(s).expect("the catalog's tests check names");
            (
                subject,
                subject.measure(m).expect("the catalog's tests check names"),
            )
        };
        let (subject, measure) = find(d.over);
        let mut parts = vec![(subject, measure)];
        if let Under::Sum(names) = d.under {
            parts.extend(names.iter().map(|name| find(name)));
        }
        let mut only = self.shared(&parts);
        if let Some(or) = d.or {
            // Events are read for it only where nothing else has either.
            let is_dear = |table: Option<&Table>| table.is_none_or(|t| t.detail == Detail::Event);
            let instead = [parts[0], find(or)];
            let other = self.shared(&instead);
            if is_dear(only) && (only.is_none() || !is_dear(other)) {
                (only, parts) = (other, instead.to_vec());
            }
        }
        let mut over = self.scan(subject, measure, only, &|_| true)?;
        let mut under = match d.under {
            Under::Elapsed => vec![ScanPlan {
                seconds: true,
                kind: Kind::Sum,
                ..over.clone()
            }],
            Under::Sum(_) => {
                let parts = &parts[1..];
                // Below the line stands one sum. Where it may be of the whole it is taken over the
                // dimensions that all of its parts have: with idle time, which has no mode, a mode's
                // share would otherwise be one of its own time and the idle time only.
                let has = |dimension: &str| {
                    !d.of_whole
                        || parts.iter().all(|(subject, measure)| {
                            let all = candidates(subject, measure.name);
                            all.iter().any(|c| c.table.has_dimension(dimension))
                        })
                };
                let mut under = Vec::with_capacity(parts.len());
                for (subject, measure) in parts {
                    under.push(self.scan(subject, measure, only, &has)?);
                }
                under
            }
        };
        if let Some((dimension, words)) = d.without {
            let scans = std::iter::once(&mut over).chain(&mut under);
            for scan in scans.filter(|s| s.table.has_dimension(dimension)) {
                let words = words.iter().map(|word| self.implied(word)).collect();
                scan.tests
                    .push((dimension, Check::Word(Test::NotIn(words))));
            }
        }
        Ok((over, under))
    }

    /// A word that stands in no expression.
    fn implied(&self, word: &str) -> Spanned {
        Spanned {
            text: word.into(),
            span: self.expression.subject.span,
        }
    }

    /// Whether the run has the table, or has none because it had nothing to say: what the recorder
    /// itself lost is always known.
    fn is_recorded(&self, table: &Table) -> bool {
        let is_own = table.sparse && table.source == OWN && self.manifest.imported.is_empty();
        (self.has)(table.name) || (is_own && (self.has)(OWN))
    }

    /// The dimensions named that a table must have, of those that `keep` accepts.
    fn needed(&self, keep: &dyn Fn(&str) -> bool) -> Vec<&Spanned> {
        let column = |d: &&Spanned| !EVERYWHERE.contains(&d.text.as_str()) && keep(&d.text);
        self.named().filter(column).collect()
    }

    /// The cheapest recorded table that has all of `parts` by all that is named, and of which none needs a
    /// caveat if there is one. A ratio of two tables may be of two different things: bytes charged to who
    /// dirtied a page, by I/Os of who wrote it back.
    fn shared(&self, parts: &[(&'static Subject, &'static Measure)]) -> Option<&'static Table> {
        let needed = self.needed(&|_| true);
        let all = parts.iter().map(|(subject, m)| candidates(subject, m.name));
        let all: Vec<Vec<Candidate>> = all.collect();
        let serves = |name: &str, plain: bool| {
            let is_one = |c: &Candidate| c.table.name == name && !(plain && c.caveat.is_some());
            all.iter().all(|of_part| of_part.iter().any(is_one))
        };
        let mut tables = all.first()?.iter();
        let tables = tables
            .by_ref()
            .filter(|c| self.is_recorded(c.table) && c.fits(&needed));
        let tables: Vec<&'static Table> = tables.map(|c| c.table).collect();
        let find = |plain: bool| tables.iter().find(|table| serves(table.name, plain));
        find(true).or_else(|| find(false)).copied()
    }

    /// Chooses the table for `measure` of `subject` with the named dimensions that `keep`
    /// accepts; it is `only` that one, if there is one.
    fn scan(
        &self,
        subject: &'static Subject,
        measure: &'static Measure,
        only: Option<&'static Table>,
        keep: &dyn Fn(&str) -> bool,
    ) -> Result<ScanPlan, Problem> {
        let needed = self.needed(keep);
        let all = candidates(subject, measure.name);
        let fitting: Vec<&Candidate> = all.iter().filter(|c| c.fits(&needed)).collect();
        let Some(first) = fitting.first() else {
            return Err(self.no_table(subject, measure, &all, &needed));
        };
        let mut recorded = fitting.iter().filter(|c| self.is_recorded(c.table));
        // Intervals do not tell what is shorter than they are.
        let is_of_events = |c: &&&Candidate| c.table.detail == Detail::Event;
        let chosen = match only {
            Some(table) => recorded.find(|c| c.table.name == table.name),
            None if self.has_short_time()? => {
                let found = recorded.clone().find(is_of_events);
                found.or_else(|| recorded.next())
            }
            None => recorded.next(),
        };
        let Some(chosen) = chosen else {
            return Err(self.not_recorded(first));
        };
        self.scan_of(chosen, measure, keep)
    }

    fn scan_of(
        &self,
        chosen: &Candidate,
        measure: &'static Measure,
        keep: &dyn Fn(&str) -> bool,
    ) -> Result<ScanPlan, Problem> {
        let e = self.expression;
        let mut by = Vec::new();
        for (place, d) in e.by.iter().enumerate() {
            let key = match d.text.as_str() {
                "phase" => Key::Phase,
                "host" => Key::Host,
                name if !keep(name) => continue,
                name => match chosen.subject.dimension(name) {
                    Some(d) if d.number.is_some() => Key::Number(d.name),
                    Some(d) => Key::Word(d.name),
                    None => continue,
                },
            };
            by.push((place, key));
        }
        let mut scan = ScanPlan {
            table: chosen.table,
            column: Some(chosen.column),
            seconds: false,
            made: chosen.made(),
            kind: measure.kind,
            by,
            tests: vec![],
            times: vec![],
            caveat: chosen.caveat,
            implied: vec![],
            is_of_another: chosen.subject.name != self.expression.subject.text,
            bounds: Arc::default(),
        };
        for p in &e.predicates {
            match p.dimension.text.as_str() {
                "time" => {
                    let check = self.time_check(p)?;
                    let short = self.is_short(&check);
                    scan.times.push(match check {
                        TimeCheck::Within(from, to)
                            if short && chosen.table.detail == Detail::Event =>
                        {
                            TimeCheck::Exactly(from, to)
                        }
                        check => check,
                    });
                }
                "phase" => scan.times.push(TimeCheck::Phase(self.word_test(p)?)),
                "host" => {
                    if !holds(&self.word_test(p)?, &self.manifest.host) {
                        scan.times.push(TimeCheck::Never);
                    }
                }
                name if !keep(name) => {}
                name => {
                    if let Some(d) = chosen.subject.dimension(name) {
                        let check = match d.number {
                            Some(unit) => self.number_check(p, unit, chosen.table.detail)?,
                            None => Check::Word(self.word_test(p)?),
                        };
                        if let (Check::Number(test, _), Some(unit)) = (&check, d.number)
                            && chosen.table.detail == Detail::Histogram
                            && cuts(test, unit)
                        {
                            scan.caveat = Some(CUT);
                        }
                        scan.tests.push((d.name, check));
                    }
                }
            }
        }
        if let Some((dimension, word)) = chosen.without {
            let word = self.implied(word);
            scan.tests
                .push((dimension, Check::Word(Test::NotIn(vec![word]))));
        }
        self.imply(chosen, &mut scan);
        Ok(scan)
    }

    /// Adds the predicates that hold unless the expression says otherwise.
    fn imply(&self, chosen: &Candidate, scan: &mut ScanPlan) {
        for u in chosen.subject.unless_named {
            // A breakdown still counts everything once; only a predicate picks an instance.
            let of = |d: &Spanned| u.dimensions.contains(&d.text.as_str());
            let e = self.expression;
            if e.predicates.iter().any(|p| of(&p.dimension))
                || e.by.iter().any(|d| d.text == u.dimension)
            {
                continue;
            }
            if let Some(dimension) = chosen.table.dimensions.iter().find(|d| **d == u.dimension) {
                scan.implied.push((u.dimension, u.value));
                let value = self.implied(u.value);
                scan.tests
                    .push((dimension, Check::Word(Test::In(vec![value]))));
            }
        }
    }
}
