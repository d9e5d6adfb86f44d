//! The text of an expression: `subject.measure [by dim, …] [where dim op value and …]`.
//!
//! Operators: `=`, `!=`, `~` and `!~` (regular expression, found anywhere), `<`, `<=`, `>`,
//! `>=`, `in a, b, c` (list), `in 10ms..1s` (range, both ends included). A value with
//! spaces or commas stands in `"double"` or `'single'` quotes. `other.<tool>.<column>` is short
//! for two predicates, and a `side` of NFS for its subject. But for that this module checks no names,
//! which is the planner's; it looks them up for what to say of a mistake.

mod sides;

use regex::Regex;
use run::Unit;
use run::catalog::{self, Subject};
use run::unit::{Amount, parse_amount};

use crate::error::Problem;

/// A word of the text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The word.
    pub text: String,
    /// Byte range in the expression.
    pub span: (usize, usize),
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// As written.
    pub text: String,
    /// The word before the point.
    pub subject: Spanned,
    /// The word after the point.
    pub measure: Spanned,
    /// Dimensions to split by.
    pub by: Vec<Spanned>,
    /// What to keep; all must hold.
    pub predicates: Vec<Predicate>,
}

/// `dim op value`.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// The dimension.
    pub dimension: Spanned,
    /// What must hold for it.
    pub test: Test,
    /// Where the value stands.
    pub span: (usize, usize),
}

/// What must hold for a value.
#[derive(Clone, Debug)]
pub enum Test {
    /// One of these texts (numbers are read by the planner, which knows units).
    In(Vec<Spanned>),
    /// None of these texts.
    NotIn(Vec<Spanned>),
    /// The regular expression is found in it, or, with `false`, is not.
    Matches(Regex, bool),
    /// Compared with an amount.
    Compare(Order, Amount),
    /// Between two amounts, both included.
    Range(Amount, Amount),
}

/// A comparison of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Order {
    /// Whether `value op bound`.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Order::Less => value < bound,
            Order::AtMost => value <= bound,
            Order::More => value > bound,
            Order::AtLeast => value >= bound,
        }
    }
}

/// A name as a value of an expression.
pub(crate) fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    // A range (`1..2`) is no word.
    if !name.is_empty() && name.chars().all(plain) && !name.contains("..") {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// Reads an expression.
pub fn parse(text: &str) -> Result<Expression, Problem> {
    let mut p = Parser {
        text,
        at: 0,
        subject: None,
    };
    let (subject, measure) = p.statistic()?;
    p.subject = catalog::subject(&subject.text);
    let column = p.column(&subject, &measure)?;
    let mut expression = Expression {
        text: text.to_owned(),
        subject,
        measure,
        by: vec![],
        predicates: vec![],
    };
    if let Some((tool, column)) = column {
        expression.measure.text = "value".into();
        for (dimension, value) in [("tool", tool), ("column", column)] {
            let span = value.span;
            expression.predicates.push(Predicate {
                dimension: Spanned {
                    text: dimension.to_owned(),
                    span,
                },
                test: Test::In(vec![value]),
                span,
            });
        }
    }
    if p.keyword("by") {
        expression.by.push(p.dimension("a dimension after `by`")?);
        while p.symbol(",") {
            let next = p.dimension("a dimension after the comma")?;
            expression.by.push(next);
        }
    }
    if p.keyword("where") {
        expression.predicates.push(p.predicate()?);
        while p.keyword("and") {
            expression.predicates.push(p.predicate()?);
        }
    }
    p.skip_space();
    if p.at < text.len() {
        let span = p.word_span();
        let expected = match (expression.by.is_empty(), expression.predicates.is_empty()) {
            (true, true) => "`by` or `where`",
            (false, true) => "`,` or `where`",
            _ => "`and`",
        };
        return Err(Problem::at(text, span, format!("expected {expected} here")).hint(FORM));
    }
    sides::choose(&mut expression)?;
    Ok(expression)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// What is asked about, once that is read and if there is such a one.
    subject: Option<&'static Subject>,
}

/// What an expression looks like.
const FORM: &str = "an expression is: subject.measure [by dim, ...] [where dim op value and ...]";

/// How a word is tested.
pub(crate) const WORDS: &str = "words are tested with =  !=  ~  !~  in a, b";

/// How amounts of a unit are written.
pub(crate) fn amounts(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "times: ns us ms s m h d, for example 500us, 10ms, 2s",
        Unit::Bytes => "sizes: B KiB MiB GiB TiB, or kB MB GB TB, for example 4KiB",
        Unit::Count => "counts have no unit: for example 512, 10k, 1e6",
        Unit::Ratio => "shares: for example 35%, or 0.35",
        Unit::Joules => "energies: for example 5J",
        Unit::Celsius => "temperatures: for example 60C",
    }
}

const KEYWORDS: [&str; 4] = ["by", "where", "and", "in"];

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The range of the word here, for an error.
    fn word_span(&self) -> (usize, usize) {
        let length = self
            .rest()
            .find(char::is_whitespace)
            .unwrap_or(self.rest().len());
        (self.at, self.at + length)
    }

    fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::at(self.text, self.word_span(), what)
    }

    fn name_length(&self) -> usize {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        self.rest()
            .find(|c| !is_name(c))
            .unwrap_or(self.rest().len())
    }

    fn keyword(&mut self, word: &str) -> bool {
        self.skip_space();
        let found = &self.rest()[..self.name_length()] == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn name(&mut self, expected: &str) -> Result<Spanned, Problem> {
        self.skip_space();
        let length = self.name_length();
        let word = &self.rest()[..length];
        if length == 0 || KEYWORDS.contains(&word) {
            return Err(self.problem(format!("expected {expected} here")));
        }
        let span = (self.at, self.at + length);
        self.at += length;
        Ok(Spanned {
            text: word.to_owned(),
            span,
        })
    }

    fn statistic(&mut self) -> Result<(Spanned, Spanned), Problem> {
        let hint = "for example: disk.bytes by device; `sonde catalog` lists all statistics";
        let subject = self
            .name("a statistic (subject.measure)")
            .map_err(|p| p.hint(hint))?;
        if !self.rest().starts_with('.') {
            let what = format!("`{}` is not a statistic: it has no measure", subject.text);
            return Err(Problem::at(self.text, subject.span, what).hint(hint));
        }
        self.at += 1;
        if self.name_length() == 0 {
            return Err(self
                .problem("expected a measure after the point")
                .hint(hint));
        }
        let measure = self
            .name("a measure after the point")
            .map_err(|p| p.hint(hint))?;
        Ok((subject, measure))
    }

    /// The column of `other.<tool>.<column>`, which stands for `other.value where tool = … and
    /// column = …`: tools name their columns as they like (`%util`, `r/s`), in quotes if with
    /// blanks.
    fn column(
        &mut self,
        subject: &Spanned,
        tool: &Spanned,
    ) -> Result<Option<(Spanned, Spanned)>, Problem> {
        if subject.text != "other" || !self.rest().starts_with('.') {
            return Ok(None);
        }
        self.at += 1;
        let column = self.value()?;
        Ok(Some((tool.clone(), column)))
    }

    fn predicate(&mut self) -> Result<Predicate, Problem> {
        let dimension = self.dimension("a dimension to test")?;
        self.skip_space();
        let from = self.at;
        let test = self.test(&dimension.text)?;
        Ok(Predicate {
            dimension,
            test,
            span: (from, self.at),
        })
    }

    /// The name of a dimension; without one, those that there are.
    fn dimension(&mut self, expected: &str) -> Result<Spanned, Problem> {
        let subject = self.subject;
        self.name(expected).map_err(|problem| match subject {
            Some(subject) => {
                let names: Vec<&str> = subject.dimensions.iter().map(|d| d.name).collect();
                let names = [names.as_slice(), &["phase", "host"]].concat();
                problem.hint(format!("dimensions: {}", names.join(", ")))
            }
            None => problem.hint(FORM),
        })
    }

    /// What amounts a dimension is compared with, if it is known.
    fn amounts_of(&self, dimension: &str) -> Option<&'static str> {
        match dimension {
            "time" => return Some(amounts(Unit::Seconds)),
            "phase" | "host" => return Some(WORDS),
            _ => {}
        }
        let dimension = self.subject?.dimension(dimension)?;
        Some(dimension.number.map_or(WORDS, amounts))
    }

    fn test(&mut self, dimension: &str) -> Result<Test, Problem> {
        if self.keyword("in") {
            return self.list_or_range();
        }
        // Longer operators first.
        for (symbol, order) in [
            ("<=", Order::AtMost),
            (">=", Order::AtLeast),
            ("<", Order::Less),
            (">", Order::More),
        ] {
            if self.symbol(symbol) {
                let value = self.value()?;
                let amount = self.amount(&value).map_err(|problem| {
                    let hint = self.amounts_of(dimension);
                    hint.map_or(problem.clone(), |hint| problem.hint(hint))
                })?;
                return Ok(Test::Compare(order, amount));
            }
        }
        for (symbol, wanted) in [("!~", false), ("~", true)] {
            if self.symbol(symbol) {
                let value = self.value()?;
                let regex = Regex::new(&value.text).map_err(|e| {
                    // The regex crate's message draws the expression again; its last line says why.
                    let message = e.to_string();
                    let why = message
                        .lines()
                        .last()
                        .unwrap_or("")
                        .trim_start_matches("error: ");
                    let what = format!("not a regular expression: {why}");
                    Problem::at(self.text, value.span, what).hint(
                        r"\ before one of . * + ? ( ) [ ] { } | ^ $ \ takes it as it stands, as in a\.b; `=` tests for a whole text",
                    )
                })?;
                return Ok(Test::Matches(regex, wanted));
            }
        }
        if self.symbol("!=") {
            return Ok(Test::NotIn(vec![self.value()?]));
        }
        if self.symbol("==") || self.symbol("=") {
            return Ok(Test::In(vec![self.value()?]));
        }
        Err(self
            .problem("expected an operator here")
            .hint("operators: =  !=  ~  !~  <  <=  >  >=  in a, b  in 10ms..1s"))
    }

    fn list_or_range(&mut self) -> Result<Test, Problem> {
        self.skip_space();
        let word = self.rest().split([' ', ',']).next().unwrap_or("");
        // `(other)` is a word, `(read, write)` a list as other languages have it.
        if word.starts_with('(') && !word.ends_with(')') {
            return Err(self
                .problem("a list stands without parentheses")
                .hint("for example: where op in read, write"));
        }
        let first = self.value()?;
        if let Some((low, high)) = first.text.split_once("..") {
            let part = |text: &str, offset: usize| Spanned {
                text: text.to_owned(),
                span: (first.span.0 + offset, first.span.0 + offset + text.len()),
            };
            let (low, high) = (part(low, 0), part(high, low.len() + 2));
            if let (Ok(a), Ok(b)) = (self.amount(&low), self.amount(&high)) {
                // `10..40s` means seconds at both ends.
                let (mut a, mut b) = (a, b);
                if a.unit.is_none() && b.unit.is_some() {
                    a = self.amount(&Spanned {
                        text: format!("{}{}", low.text, unit_of(&high.text)),
                        span: low.span,
                    })?;
                } else if b.unit.is_none() && a.unit.is_some() && a.value != 0.0 {
                    b = self.amount(&Spanned {
                        text: format!("{}{}", high.text, unit_of(&low.text)),
                        span: high.span,
                    })?;
                }
                if a.value > b.value {
                    let hint = format!("the smaller comes first: in {}..{}", high.text, low.text);
                    return Err(
                        Problem::at(self.text, first.span, "this range is empty").hint(hint)
                    );
                }
                return Ok(Test::Range(a, b));
            }
        }
        let mut values = vec![first];
        while self.symbol(",") {
            values.push(self.value()?);
        }
        Ok(Test::In(values))
    }

    /// A text within `quote`s, which stand here.
    fn quoted(&mut self, quote: char) -> Result<Spanned, Problem> {
        let rest = self.rest();
        let mut text = String::new();
        let mut at = 1;
        loop {
            let Some(length) = rest[at..].find(quote) else {
                return Err(self.problem("this quote is never closed"));
            };
            text += &rest[at..at + length];
            at += length + 1;
            if !rest[at..].starts_with(quote) {
                break;
            }
            text.push(quote);
            at += 1;
        }
        let span = (self.at, self.at + at);
        self.at = span.1;
        Ok(Spanned { text, span })
    }

    fn amount(&self, value: &Spanned) -> Result<Amount, Problem> {
        parse_amount(&value.text).map_err(|e| Problem::at(self.text, value.span, e.to_string()))
    }

    /// A quoted text, or what stands up to the next space or comma. A doubled quote within
    /// quotes stands for itself.
    fn value(&mut self) -> Result<Spanned, Problem> {
        self.skip_space();
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            let end = self.text.len();
            return Err(Problem::at(self.text, (end, end), "expected a value here"));
        };
        if first == '"' || first == '\'' {
            return self.quoted(first);
        }
        let length = rest
            .find(|c: char| c.is_whitespace() || c == ',')
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(self.problem("expected a value here"));
        }
        let span = (self.at, self.at + length);
        self.at = span.1;
        Ok(Spanned {
            text: rest[..length].to_owned(),
            span,
        })
    }
}

/// The letters at the end of an amount.
fn unit_of(amount: &str) -> &str {
    let digits = amount.trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
    &amount[digits.len()..]
}

#[cfg(test)]
mod tests;
