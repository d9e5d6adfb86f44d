//! What a command line (`dtrace -n '…'`) tells of the histograms it prints: which clause prints
//! them, and whether it clears or normalizes them.
//!
//! `clear(@)` sets counts to 0 and `trunc(@)` removes them; `trunc(@, 10)` keeps the ten largest as
//! they are. `normalize(@, 5)` divides what is printed, and cuts it to a whole number.

/// Probes, and what is done when they fire.
struct Clause {
    probes: String,
    actions: String,
}

/// The program of a command line; no clauses where it is in a file of its own.
pub(super) struct Script {
    clauses: Vec<Clause>,
    /// What becomes of all its histograms; `None` where it does not tell, or not of all the same.
    pub(super) fate: Option<Fate>,
    /// What their printed counts are to be multiplied by; `None` where nobody can tell.
    pub(super) normal: Option<f64>,
}

/// What becomes of histograms once they were printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Cleared,
    /// They go on to count; of so many keys only, the largest.
    Kept(Option<usize>),
}

impl Script {
    pub(super) fn of(command: &str) -> Script {
        let clause = |part: &str| {
            let (probes, actions) = part.split_once('{')?;
            Some(Clause {
                probes: probes.trim().to_owned(),
                actions: actions.to_owned(),
            })
        };
        let mut script = Script {
            clauses: command.split('}').filter_map(clause).collect(),
            fate: None,
            normal: None,
        };
        script.fate = script.fate_of_all();
        script.normal = script.normal_of_all();
        script
    }

    /// Whether the probe of that name prints aggregations.
    pub(super) fn prints(&self, probe: &str) -> bool {
        self.does(probe, "printa")
    }

    /// Whether the probe of that name ends the script.
    pub(super) fn exits(&self, probe: &str) -> bool {
        self.does(probe, "exit")
    }

    fn does(&self, probe: &str, function: &str) -> bool {
        let names = |c: &&Clause| c.probes.split([' ', ',', ':', '\'']).any(|w| w == probe);
        let mut clauses = self.clauses.iter().filter(names);
        clauses.any(|c| !calls(&c.actions, function).is_empty())
    }

    fn fate_of_all(&self) -> Option<Fate> {
        alike(self.histograms().iter().map(|name| self.fate_of(name)))?
    }

    fn fate_of(&self, name: &str) -> Option<Fate> {
        let timed = |c: &&Clause| c.probes.contains("tick-") || c.probes.contains("profile-");
        let prints = |c: &&Clause| {
            calls(&c.actions, "printa")
                .iter()
                .any(|a| a.contains(&name))
        };
        let clears = |c: &&Clause| {
            let cleared = calls(&c.actions, "clear").iter().any(|a| a[0] == name);
            let removed = |a: &Vec<&str>| a[0] == name && a.get(1).is_none_or(|n| *n == "0");
            cleared || calls(&c.actions, "trunc").iter().any(removed)
        };
        let printing: Vec<&Clause> = self.clauses.iter().filter(timed).filter(prints).collect();
        let clearing: Vec<&Clause> = self.clauses.iter().filter(clears).collect();
        if printing.is_empty() {
            return None;
        }
        if clearing.is_empty() {
            let mut cut = self.clauses.iter().flat_map(|c| calls(&c.actions, "trunc"));
            let cut = cut.find(|a| a[0] == name);
            let most = cut.and_then(|a| a.get(1)?.trim_start_matches('-').parse().ok());
            return Some(Fate::Kept(most));
        }
        let together = |c: &&Clause| printing.iter().all(|p| p.probes == c.probes);
        clearing.iter().any(together).then_some(Fate::Cleared)
    }

    fn normal_of_all(&self) -> Option<f64> {
        let names = self.histograms();
        if names.is_empty() {
            return Some(1.0);
        }
        alike(names.iter().map(|name| self.normal_of(name)))?
    }

    /// What that histogram was divided by.
    fn normal_of(&self, name: &str) -> Option<f64> {
        let all = |function: &str| {
            let clauses = self.clauses.iter();
            let calls = clauses.flat_map(|c| calls(&c.actions, function));
            calls.filter(|a| a[0] == name).collect::<Vec<_>>()
        };
        let divisor = |arguments: &Vec<&str>| {
            let factors = arguments.get(1)?.split('*');
            let number = |w: &str| w.trim().parse::<u32>().ok().map(f64::from);
            factors.map(number).product::<Option<f64>>()
        };
        let normalized = all("normalize");
        if normalized.is_empty() {
            return Some(1.0);
        }
        if !all("denormalize").is_empty() {
            return None;
        }
        let normal = alike(normalized.iter().map(divisor))?;
        normal.filter(|normal| *normal > 0.0)
    }

    /// Whether it prints counts or sums again and again and never clears them.
    pub(super) fn keeps_counts(&self) -> bool {
        let mut names = ["count(", "sum("].into_iter().flat_map(|f| self.set_by(f));
        names.any(|name| matches!(self.fate_of(name), Some(Fate::Kept(_))))
    }

    /// The aggregations that are histograms.
    fn histograms(&self) -> Vec<&str> {
        self.set_by("quantize(")
    }

    /// The aggregations that are set so, as `@name[key] = quantize(…`.
    fn set_by(&self, function: &str) -> Vec<&str> {
        let mut names = Vec::new();
        for clause in &self.clauses {
            for (at, _) in clause.actions.match_indices(function) {
                // `lquantize`, `llquantize`.
                let before = clause.actions[..at].trim_end_matches('l').trim_end();
                let assigned = before.strip_suffix('=');
                let name = assigned.and_then(|b| Some(aggregation(&b[b.rfind('@')?..])));
                names.extend(name);
            }
        }
        names
    }
}

/// The one value of all, if there is one.
fn alike<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// `@name` of `@name[key]`.
fn aggregation(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '@';
    &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())]
}

/// The arguments of each call of that function; there is at least one, perhaps empty.
fn calls<'a>(actions: &'a str, function: &str) -> Vec<Vec<&'a str>> {
    let call = |at: usize| {
        let (before, rest) = actions.split_at(at);
        let longer = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let inner = rest[function.len()..].trim_start().strip_prefix('(')?;
        let mut open = 1;
        let end = inner.find(|c| {
            open += i32::from(c == '(') - i32::from(c == ')');
            open == 0
        })?;
        let arguments = inner[..end].split(',').map(str::trim).collect();
        (!longer).then_some(arguments)
    };
    let places = actions.match_indices(function);
    places.filter_map(|(at, _)| call(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(actions: &str) -> Script {
        Script::of(&format!(
            "# dtrace -n 'io:::start {{ @b[execname] = quantize(args[0]->b_bcount); @n = count(); }} \
             tick-5s {{ {actions} }}'"
        ))
    }

    #[test]
    fn what_becomes_of_histograms() {
        for (actions, fate) in [
            ("printa(@b);", Some(Fate::Kept(None))),
            ("printa(@b); clear(@n);", Some(Fate::Kept(None))),
            ("printa(@b); trunc(@b, 10);", Some(Fate::Kept(Some(10)))),
            ("printa(@b); trunc(@b, 0);", Some(Fate::Cleared)),
            ("printa(\"%@d\\n\", @b); clear( @b );", Some(Fate::Cleared)),
            ("printa(@n);", None),
            ("exit(0);", None),
            ("printa(@b); } tick-60s { clear(@b);", None),
            ("printa(@b); } tick-5s { clear(@b);", Some(Fate::Cleared)),
        ] {
            assert_eq!(ticks(actions).fate, fate, "{actions}");
        }
        assert_eq!(Script::of("# dtrace -s x.d").fate, None);
        assert!(ticks("printa(@n);").keeps_counts() && !ticks("printa(@b);").keeps_counts());
        assert!(!ticks("printa(@n); clear(@n);").keeps_counts());
    }

    #[test]
    fn what_counts_were_divided_by() {
        for (actions, normal) in [
            ("printa(@b);", Some(1.0)),
            ("normalize(@b, 5); printa(@b);", Some(5.0)),
            ("normalize(@b, 2 * 30); printa(@b);", Some(60.0)),
            ("normalize(@n, 5); printa(@b);", Some(1.0)),
            (
                "normalize(@b, (timestamp - start) / 1000); printa(@b);",
                None,
            ),
            ("normalize(@b, 5); denormalize(@b); printa(@b);", None),
            ("normalize(@b, 0); printa(@b);", None),
        ] {
            assert_eq!(ticks(actions).normal, normal, "{actions}");
        }
    }

    #[test]
    fn probes_that_print_or_end_it() {
        let script = ticks("printa(@b); } tick-60s { exit(0);");
        assert!(script.prints("tick-5s") && !script.prints("tick-60s") && !script.prints("tick-5"));
        assert!(script.exits("tick-60s") && !script.exits("tick-5s"));
    }
}
