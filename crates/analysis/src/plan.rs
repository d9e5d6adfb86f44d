//! From an expression to the tables that answer it.
//!
//! Every name is checked against the catalog. Of the tables that have the measure and every
//! dimension named, the planner takes the cheapest that the run has. `host`, `phase` and
//! `time` are dimensions of everything: they come from the manifest, not from columns.

use run::catalog::{self, Derived, Detail, Kind, Measure, Subject, Table, Under};
use run::unit::Unit;
use run::{CATALOG, Manifest, Nanos};

use crate::error::{Problem, near_or_all};
use crate::syntax::{Expression, Predicate, Spanned, Test};

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
    /// The phase it is in.
    Phase(Test),
    /// Never: the host is another one.
    Never,
}

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
        let over = planner.scan(subject, m, &|_| true)?;
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
    })
}

fn find_subject(expression: &Expression) -> Result<&'static Subject, Problem> {
    let name = &expression.subject.text;
    catalog::subject(name).ok_or_else(|| {
        let what = format!("there is no subject `{name}`");
        Problem::at(&expression.text, expression.subject.span, what)
            .hint(near_or_all(name, CATALOG.iter().map(|s| s.name)))
    })
}

/// A table that could answer, and the measure's column there.
#[derive(Clone, Copy)]
struct Candidate {
    subject: &'static Subject,
    table: &'static Table,
    column: &'static str,
    caveat: Option<&'static str>,
}

/// Every table that serves `measure` of `subject`, cheapest first.
fn candidates(subject: &'static Subject, measure: &str) -> Vec<Candidate> {
    let own = subject.tables.iter().filter_map(|table| {
        let column = table.measures.iter().find(|m| **m == measure)?;
        Some(Candidate {
            subject,
            table,
            column,
            caveat: None,
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
            })
        });
    let mut all: Vec<Candidate> = own.chain(other).collect();
    // A stable sort: within a kind, the order of the catalog, own tables first.
    all.sort_by_key(|c| match c.table.detail {
        Detail::Sample => 0,
        Detail::Histogram => 1,
        Detail::Event => 2,
    });
    all
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
        for d in self.named() {
            if EVERYWHERE.contains(&d.text.as_str()) || self.subject.dimension(&d.text).is_some() {
                continue;
            }
            let what = format!("`{}` has no dimension `{}`", self.subject.name, d.text);
            let names = self
                .subject
                .dimensions
                .iter()
                .map(|d| d.name)
                .chain(EVERYWHERE);
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
        let over = self.scan(subject, measure, &|_| true)?;
        let under = match d.under {
            Under::Elapsed => vec![ScanPlan {
                seconds: true,
                kind: Kind::Sum,
                ..over.clone()
            }],
            Under::Sum(names) => {
                let parts: Vec<_> = names.iter().map(|name| find(name)).collect();
                // Below the line stands one sum. It is taken over the dimensions that all of
                // its parts have: with idle time, which has no mode, a mode's share would
                // otherwise be one of its own time and the idle time only.
                let has = |dimension: &str| {
                    parts.iter().all(|(subject, measure)| {
                        let all = candidates(subject, measure.name);
                        all.iter().any(|c| c.table.dimensions.contains(&dimension))
                    })
                };
                let mut under = Vec::with_capacity(parts.len());
                for (subject, measure) in &parts {
                    under.push(self.scan(subject, measure, &has)?);
                }
                under
            }
        };
        Ok((over, under))
    }

    /// Chooses the table for `measure` of `subject` with the named dimensions that `keep`
    /// accepts.
    fn scan(
        &self,
        subject: &'static Subject,
        measure: &'static Measure,
        keep: &dyn Fn(&str) -> bool,
    ) -> Result<ScanPlan, Problem> {
        let needed: Vec<&Spanned> = self
            .named()
            .filter(|d| !EVERYWHERE.contains(&d.text.as_str()) && keep(&d.text))
            .collect();
        let all = candidates(subject, measure.name);
        let fits = |c: &&Candidate| {
            needed
                .iter()
                .all(|d| c.table.dimensions.contains(&d.text.as_str()))
        };
        let fitting: Vec<&Candidate> = all.iter().filter(fits).collect();
        let Some(first) = fitting.first() else {
            return Err(self.no_table(subject, measure, &all, &needed));
        };
        let Some(chosen) = fitting.iter().find(|c| (self.has)(c.table.name)) else {
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
            kind: measure.kind,
            by,
            tests: vec![],
            times: vec![],
            caveat: chosen.caveat,
        };
        for p in &e.predicates {
            match p.dimension.text.as_str() {
                "time" => scan.times.push(self.time_check(p)?),
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
                            Some(unit) => self.number_check(p, unit)?,
                            None => Check::Word(self.word_test(p)?),
                        };
                        scan.tests.push((d.name, check));
                    }
                }
            }
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
                let span = self.expression.subject.span;
                let value = Spanned {
                    text: u.value.into(),
                    span,
                };
                scan.tests
                    .push((dimension, Check::Word(Test::In(vec![value]))));
            }
        }
    }

    fn no_table(
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
    fn not_recorded(&self, candidate: &Candidate) -> Problem {
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
            None if source == "bpf-file" => "record with `--with file`".into(),
            None if candidate.table.detail != Detail::Sample => {
                "distributions are recorded by eBPF, which this version does not have yet".into()
            }
            None => format!(
                "record with the source `{source}` (`sonde doctor` tells whether this host has it)"
            ),
        };
        self.problem(span, what).hint(hint)
    }

    /// A test whose values are texts.
    fn word_test(&self, p: &Predicate) -> Result<Test, Problem> {
        match &p.test {
            Test::In(_) | Test::NotIn(_) | Test::Matches(..) => Ok(p.test.clone()),
            // A word that looks like a range (`2..3`) or is compared as a number.
            Test::Compare(..) | Test::Range(..) => Err(self
                .problem(
                    p.span,
                    format!("`{}` is a word, not a number", p.dimension.text),
                )
                .hint("words are tested with =  !=  ~  !~  in a, b")),
        }
    }

    fn number_check(&self, p: &Predicate, unit: Unit) -> Result<Check, Problem> {
        let in_unit = |amount: run::unit::Amount, span: (usize, usize)| match amount.unit {
            Some(u) if u == unit => Ok(amount.value),
            // Seconds are seldom meant by a bare number; bytes and counts always.
            None if unit != Unit::Seconds || amount.value == 0.0 => Ok(amount.value),
            // Of the run's time people speak in seconds, as of --from and --every.
            None if p.dimension.text == "time" => Ok(amount.value),
            None => Err(self
                .problem(span, format!("`{}` needs a unit", p.dimension.text))
                .hint("for example 500us, 10ms, 2s")),
            Some(u) => Err(self.problem(
                span,
                format!("`{}` is in {unit}, this value in {u}", p.dimension.text),
            )),
        };
        let mut listed = Vec::new();
        let test = match &p.test {
            Test::Compare(order, a) => {
                let value = in_unit(*a, p.span)?;
                Test::Compare(*order, run::unit::Amount { value, unit: None })
            }
            Test::Range(a, b) => {
                let low = run::unit::Amount {
                    value: in_unit(*a, p.span)?,
                    unit: None,
                };
                let high = run::unit::Amount {
                    value: in_unit(*b, p.span)?,
                    unit: None,
                };
                Test::Range(low, high)
            }
            Test::In(values) | Test::NotIn(values) => {
                for v in values {
                    let amount = run::unit::parse_amount(&v.text)
                        .map_err(|e| self.problem(v.span, e.to_string()))?;
                    // A value stands for the bucket that holds it.
                    listed.push(run::grid::floor(in_unit(amount, v.span)?, unit));
                }
                p.test.clone()
            }
            Test::Matches(..) => {
                let what = format!("`{}` is a number, not a word", p.dimension.text);
                return Err(self
                    .problem(p.span, what)
                    .hint("numbers: <  <=  >  >=  =  in 1ms..2ms"));
            }
        };
        Ok(Check::Number(test, listed))
    }

    /// Times are seconds since the run's start.
    fn time_check(&self, p: &Predicate) -> Result<TimeCheck, Problem> {
        use crate::syntax::Order::{AtLeast, AtMost, Less, More};
        let Check::Number(test, _) = self.number_check(p, Unit::Seconds)? else {
            unreachable!("number_check makes number checks")
        };
        let at = |seconds: f64| {
            self.manifest
                .started
                .saturating_add((seconds * 1e9).min(9e18) as Nanos)
        };
        match test {
            Test::Range(a, b) => Ok(TimeCheck::Within(at(a.value), at(b.value))),
            Test::Compare(Less | AtMost, a) => Ok(TimeCheck::Within(Nanos::MIN, at(a.value))),
            Test::Compare(More | AtLeast, a) => Ok(TimeCheck::Within(at(a.value), Nanos::MAX)),
            _ => Err(self
                .problem(p.span, "time is tested with `in`, `<` or `>`")
                .hint("for example: where time in 10s..40s (since the run's start)")),
        }
    }
}

/// Whether the word `value` passes `test`.
pub fn holds(test: &Test, value: &str) -> bool {
    match test {
        Test::In(words) => words.iter().any(|w| w.text == value),
        Test::NotIn(words) => words.iter().all(|w| w.text != value),
        Test::Matches(regex, wanted) => regex.is_match(value) == *wanted,
        Test::Compare(..) | Test::Range(..) => false,
    }
}

/// Whether the number `value` passes `test` (`listed`: the values of `=` and `in`).
pub fn holds_number(test: &Test, listed: &[f64], value: f64) -> bool {
    match test {
        Test::In(_) => listed.iter().any(|v| same_bucket(*v, value)),
        Test::NotIn(_) => !listed.iter().any(|v| same_bucket(*v, value)),
        Test::Compare(order, bound) => order.holds(value, bound.value),
        Test::Range(low, high) => low.value <= value && value <= high.value,
        Test::Matches(..) => false,
    }
}

/// Whether two lower bounds are the same, but for the rounding of their base unit. Buckets are
/// never closer than a billionth of a second, or a 64th.
fn same_bucket(a: f64, b: f64) -> bool {
    (a - b).abs() <= a.abs() * 1e-6
}
