//! What is compared: a statistic of a run as one number, and which way is better.

use run::Run;
use run::Unit;
use run::catalog::Kind;

use crate::answer::{Answer, summarise};
use crate::error::Error;
use crate::plan;
use crate::quantiles;
use crate::stats::{Aim, Margin};

/// A statistic that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// As written: `p99 disk.ios by latency:lower`.
    pub text: String,
    /// The expression alone.
    pub expression: String,
    /// A quantile of its number dimension.
    pub quantile: Option<f64>,
    /// Which way is better.
    pub aim: Aim,
    /// What difference is too small to matter.
    pub margin: Margin,
}

/// What a metric is of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The number: a rate, a level, a ratio or a quantile; NaN if the run cannot tell.
    pub value: f64,
    /// Its unit; of a rate, per second.
    pub unit: Unit,
    /// Whether it is per second.
    pub per_second: bool,
}

/// In the place of an expression: how long the run took, in seconds.
pub const ELAPSED: &str = "elapsed";

/// Words in a statistic of which less is better.
const LESS: [&str; 14] = [
    "latency",
    "time",
    "wait",
    "seconds",
    "errors",
    "retransmits",
    "dropped",
    "stalled",
    "queue",
    "service",
    "faults",
    "steal",
    "requeues",
    "ratio",
];

impl Metric {
    /// Whether more of it is more work done.
    pub fn is_throughput(&self) -> bool {
        self.aim == Aim::Higher && self.quantile.is_none()
    }

    /// Reads `[pN ]EXPRESSION[:higher|:lower]`.
    ///
    /// Without a word on it, less is better of quantiles and of times, errors and the like, and
    /// more of the rest.
    ///
    /// # Errors
    /// Where there is no expression, or the quantile is none.
    pub fn parse(text: &str) -> Result<Metric, String> {
        let trimmed = text.trim();
        let (rest, told) = match trimmed.rsplit_once(':') {
            Some((rest, "higher")) => (rest, Some(Aim::Higher)),
            Some((rest, "lower")) => (rest, Some(Aim::Lower)),
            _ => (trimmed, None),
        };
        let (quantile, expression) = match rest.strip_prefix('p').and_then(|r| r.split_once(' ')) {
            Some((number, expression)) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                let percent: f64 = number
                    .parse()
                    .map_err(|_| format!("`p{number}` is no quantile, as p50, p99 or p99.9"))?;
                if !(percent > 0.0 && percent < 100.0) {
                    return Err(format!("`p{number}` is not between p0 and p100"));
                }
                (Some(percent / 100.0), expression.trim())
            }
            _ => (None, rest.trim()),
        };
        if expression.is_empty() {
            return Err("there is no expression".into());
        }
        let statistic = expression.split_whitespace().next().unwrap_or_default();
        let measure = statistic.split_once('.').map_or("", |(_, m)| m);
        let less =
            quantile.is_some() || expression == ELAPSED || LESS.iter().any(|w| measure.contains(w));
        Ok(Metric {
            text: trimmed.to_owned(),
            expression: expression.to_owned(),
            quantile,
            aim: told.unwrap_or(if less { Aim::Lower } else { Aim::Higher }),
            margin: if quantile.is_some_and(|q| q > 0.5) {
                Margin::TAIL
            } else {
                Margin::THROUGHPUT
            },
        })
    }

    /// Whether some run could be asked for it: all that the catalog knows is checked.
    ///
    /// # Errors
    /// The place of the fault in the expression, and names that are near.
    pub fn check(&self) -> Result<(), Error> {
        if self.expression == ELAPSED && self.quantile.is_none() {
            return Ok(());
        }
        let plan = plan::in_some_run(&crate::parse(&self.expression)?)?;
        let numbers = plan.by.iter().filter(|by| by.number.is_some()).count();
        let spread = numbers == 1 && plan.kind == Some(Kind::Sum);
        if self.quantile.is_some() && !spread {
            return Err(self.no_quantile());
        }
        Ok(())
    }

    fn no_quantile(&self) -> Error {
        let whole = (0, self.expression.len());
        let what = "a quantile needs a sum by one number, as disk.ios by latency";
        crate::Problem::at(&self.expression, whole, what).into()
    }

    /// The same without what was measured in the phase `name`. What a benchmark says of its own
    /// work is of its whole life, and stays; so does an expression that names phases itself.
    #[must_use]
    pub fn without_phase(&self, name: &str) -> Metric {
        let Ok(parsed) = crate::parse(&self.expression) else {
            return self.clone();
        };
        let own = self.expression.starts_with("workload.");
        let named = parsed
            .predicates
            .iter()
            .any(|p| p.dimension.text == "phase");
        if own || named || self.expression == ELAPSED {
            return self.clone();
        }
        let word = if parsed.predicates.is_empty() {
            "where"
        } else {
            "and"
        };
        Metric {
            expression: format!("{} {word} phase != {name}", self.expression),
            ..self.clone()
        }
    }

    /// The metric of a run.
    ///
    /// # Errors
    /// Where the run cannot answer the expression.
    pub fn of(&self, run: &Run) -> Result<Value, Error> {
        if self.expression == ELAPSED && self.quantile.is_none() {
            return Ok(Value {
                value: (run.ended() - run.manifest.started) as f64 / 1e9,
                unit: Unit::Seconds,
                per_second: false,
            });
        }
        let answer = summarise(run, &self.expression)?;
        let Some(q) = self.quantile else {
            return Ok(whole(&answer));
        };
        let spreads = quantiles::of(run, &answer)?;
        let Some(spreads) = spreads else {
            return Err(self.no_quantile());
        };
        let value = match &spreads.groups[..] {
            [one] => one.whole.quantile(q).unwrap_or(f64::NAN),
            [] => f64::NAN,
            _ => {
                return Err(crate::Problem::at(
                    &self.expression,
                    (0, self.expression.len()),
                    "a quantile is of one group: leave the other dimensions out",
                )
                .into());
            }
        };
        Ok(Value {
            value,
            unit: spreads.unit,
            per_second: false,
        })
    }
}

/// All groups of an answer as one number; an answer by something adds, or has none.
fn whole(answer: &Answer) -> Value {
    let value = match &answer.groups[..] {
        [one] => one.mean,
        [] => f64::NAN,
        many if answer.kind.is_some() => many.iter().map(|g| g.mean).sum(),
        _ => f64::NAN,
    };
    Value {
        value,
        unit: answer.unit,
        per_second: answer.is_rate(),
    }
}

/// What is compared if nothing is named, in order: what the workload says of itself; else disks
/// and networks, and what they cost of the processors.
pub const WORKLOAD: [&str; 5] = [
    "workload.ops",
    "workload.bytes",
    "p50 workload.ops by latency",
    "p99 workload.ops by latency",
    "p99.9 workload.ops by latency",
];

/// The same of a run without a workload that tells of itself.
pub const MACHINE: [&str; 7] = [
    "disk.bytes",
    "disk.ios",
    "p50 disk.ios by latency where op in read, write",
    "p99 disk.ios by latency where op in read, write",
    "net.bytes",
    "cpu.utilisation:lower",
    "cpu.seconds_per_disk_gb",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_a_quantile_and_a_side() {
        let metric = Metric::parse("p99.9 disk.ios by latency where op = read:lower").unwrap();
        assert_eq!(metric.quantile.map(|q| (q * 1000.0).round()), Some(999.0));
        assert_eq!(metric.expression, "disk.ios by latency where op = read");
        assert_eq!((metric.aim, metric.margin), (Aim::Lower, Margin(0.05)));
        let bytes = Metric::parse("disk.bytes").unwrap();
        assert_eq!((bytes.aim, bytes.margin), (Aim::Higher, Margin(0.02)));
        assert_eq!(Metric::parse("disk.mean_latency").unwrap().aim, Aim::Lower);
        assert_eq!(
            Metric::parse("disk.mean_latency:higher").unwrap().aim,
            Aim::Higher
        );
        // A value with a colon is no side.
        let other = Metric::parse("net.bytes where interface = a:b").unwrap();
        assert_eq!(other.expression, "net.bytes where interface = a:b");
        let elapsed = Metric::parse("elapsed").unwrap();
        assert_eq!(elapsed.aim, Aim::Lower);
        elapsed.check().unwrap();
        let said = |text: &str| {
            let error = Metric::parse(text).unwrap().check().unwrap_err();
            error.to_string()
        };
        for (text, wanted) in [
            ("disk..", "disk.."),
            ("dsk.bytes", "disk"),
            ("disk.byts", "bytes"),
            ("disk.bytes by devise", "device"),
            ("disk.bytes where devise = vda", "device"),
            ("p99 disk.ios by latncy:higher", "latency"),
            ("p99 disk.ios", "a sum by one number"),
            ("p99 cpu.utilisation by mode", "a sum by one number"),
        ] {
            assert!(said(text).contains(wanted), "{text}: {}", said(text));
        }
        for name in WORKLOAD.iter().chain(&MACHINE) {
            Metric::parse(name).unwrap().check().unwrap();
        }
        for wrong in [
            "",
            ":lower",
            "p100 disk.ios by latency",
            "p0 x.y",
            "p9x9 a.b",
        ] {
            assert!(Metric::parse(wrong).is_err(), "{wrong}");
        }
        for (whole, wanted) in [
            ("disk.bytes", "disk.bytes where phase != warm-up"),
            (
                "disk.ios by op where op = read",
                "disk.ios by op where op = read and phase != warm-up",
            ),
            ("workload.ops", "workload.ops"),
            ("elapsed", "elapsed"),
            ("cpu.time where phase = b", "cpu.time where phase = b"),
        ] {
            let metric = Metric::parse(whole).unwrap().without_phase("warm-up");
            assert_eq!(metric.expression, wanted);
            metric.check().unwrap();
        }
        for default in WORKLOAD.iter().chain(&MACHINE) {
            let metric = Metric::parse(default).unwrap();
            crate::parse(&metric.expression).unwrap();
        }
    }
}
