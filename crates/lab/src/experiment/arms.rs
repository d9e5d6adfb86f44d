//! The arms of an experiment: combinations of values, or one factor changed at a time.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{DesignError, Factor, Kind};

/// More arms than this are a search, not an experiment.
const MOST: usize = 100;

/// Letters of an arm's name: it is a directory's name too.
const LONGEST_NAME: usize = 48;

/// Which arms factors make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Every value with every other.
    #[default]
    Combinations,
    /// The baseline with one value changed.
    OneAtATime,
}

/// What an arm is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What there is now; all others are compared with it.
    Baseline,
    /// The same once more (A/A): if it differs from the baseline, nothing may be claimed.
    Again,
    /// A change.
    Change,
}

/// One combination of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name, as in `trials/003-NAME`.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// Value by the factor's name.
    pub values: BTreeMap<String, String>,
}

impl Arm {
    fn of(role: Role, factors: &[Factor], values: &[&str]) -> Arm {
        let pairs = factors.iter().zip(values);
        Arm {
            name: String::new(),
            role,
            values: pairs
                .map(|(f, v)| (f.name.clone(), (*v).to_owned()))
                .collect(),
        }
    }
}

/// The arms of `factors`: the baseline first, then the baseline once more if `again`, then the
/// changes in the order of the values.
///
/// # Errors
/// With a factor twice, one arm only, or more than a hundred.
pub fn arms(factors: &[Factor], design: Design, again: bool) -> Result<Vec<Arm>, DesignError> {
    let mut seen = BTreeSet::new();
    if let Some(twice) = factors.iter().find(|f| !seen.insert(&f.name)) {
        return Err(DesignError::Twice(twice.name.clone()));
    }
    let base: Vec<&str> = factors.iter().map(|f| f.base.as_str()).collect();
    let changes = match design {
        Design::Combinations => combinations(factors)?,
        Design::OneAtATime => one_at_a_time(factors, &base),
    };
    let changes: Vec<Vec<&str>> = changes.into_iter().filter(|v| *v != base).collect();
    if changes.is_empty() {
        return Err(DesignError::OneArm(text_of(factors, &base)));
    }
    let count = changes.len() + 1 + usize::from(again);
    if count > MOST {
        return Err(DesignError::TooMany(count, MOST));
    }
    let mut arms = vec![Arm::of(Role::Baseline, factors, &base)];
    if again {
        arms.push(Arm::of(Role::Again, factors, &base));
    }
    arms.extend(changes.iter().map(|v| Arm::of(Role::Change, factors, v)));
    name(&mut arms, factors);
    Ok(arms)
}

/// The arms that confirm what a search found: the baseline, itself once more if `again`, and
/// the winner.
///
/// # Errors
/// If the winner is the baseline.
pub fn of_winner(factor: &Factor, value: &str, again: bool) -> Result<Vec<Arm>, DesignError> {
    let one = Factor {
        values: vec![value.to_owned()],
        ..factor.clone()
    };
    arms(&[one], Design::Combinations, again)
}

fn combinations(factors: &[Factor]) -> Result<Vec<Vec<&str>>, DesignError> {
    let all = factors
        .iter()
        .try_fold(1_usize, |n, f| n.checked_mul(f.values.len()));
    let all = all.unwrap_or(usize::MAX);
    if all > MOST {
        return Err(DesignError::TooMany(all, MOST));
    }
    let mut rows: Vec<Vec<&str>> = vec![vec![]];
    for factor in factors {
        rows = rows
            .into_iter()
            .flat_map(|row| {
                factor.values.iter().map(move |value| {
                    let mut longer = row.clone();
                    longer.push(value.as_str());
                    longer
                })
            })
            .collect();
    }
    Ok(rows)
}

fn one_at_a_time<'f>(factors: &'f [Factor], base: &[&'f str]) -> Vec<Vec<&'f str>> {
    let mut rows = Vec::new();
    for (place, factor) in factors.iter().enumerate() {
        for value in &factor.values {
            let mut row = base.to_vec();
            row[place] = value;
            rows.push(row);
        }
    }
    rows
}

fn text_of(factors: &[Factor], values: &[&str]) -> String {
    let pairs = factors.iter().zip(values);
    let texts: Vec<String> = pairs.map(|(f, v)| format!("{}={v}", f.name)).collect();
    texts.join(" ")
}

/// Gives each arm a name of its own: its values, or with several factors those that differ from
/// the baseline, each after the last parts of its factor's name.
fn name(arms: &mut [Arm], factors: &[Factor]) {
    let mut taken = BTreeSet::new();
    for arm in arms {
        let wanted = match arm.role {
            Role::Baseline => "baseline".to_owned(),
            Role::Again => "baseline-again".to_owned(),
            Role::Change => change_name(arm, factors),
        };
        let mut name = wanted.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        arm.name = name;
    }
}

fn change_name(arm: &Arm, factors: &[Factor]) -> String {
    if let [only] = factors {
        return plain(&arm.values[&only.name]);
    }
    let parts: Vec<String> = factors
        .iter()
        .filter(|f| f.kind == Kind::Parameter || arm.values[&f.name] != f.base)
        .map(|f| format!("{}={}", short(f, factors), arm.values[&f.name]))
        .collect();
    plain(&parts.join("+"))
}

/// The last parts of a factor's name, as many as tell it from the others.
fn short<'f>(factor: &'f Factor, factors: &[Factor]) -> &'f str {
    let is_alone = |end: &&str| factors.iter().filter(|f| f.name.ends_with(end)).count() == 1;
    let name = factor.name.as_str();
    let mut ends = name
        .rmatch_indices(['.', '/', ':'])
        .map(|(at, _)| &name[at + 1..]);
    ends.find(is_alone).unwrap_or(name)
}

/// Letters that need no quotes in a shell, and no escape in a path.
fn plain(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._=+-".contains(c) => c,
        _ => '_',
    };
    let name: String = text.chars().map(plain).take(LONGEST_NAME).collect();
    // A path of dots is another directory, and a name that begins with `-` an option.
    match name.chars().next() {
        Some('.' | '-') | None => format!("_{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(kind: Kind, text: &str) -> Factor {
        Factor::parse(kind, text).unwrap()
    }

    fn names(arms: &[Arm]) -> Vec<&str> {
        arms.iter().map(|a| a.name.as_str()).collect()
    }

    #[test]
    fn the_present_setting_is_always_the_baseline() {
        let set = factor(Kind::Setting, "disk:vda.scheduler=none,mq-deadline,bfq");
        let found = arms(&[set.clone().present("none")], Design::Combinations, true).unwrap();
        assert_eq!(
            names(&found),
            ["baseline", "baseline-again", "mq-deadline", "bfq"]
        );
        assert_eq!(found[0].values["disk:vda.scheduler"], "none");
        let other = arms(&[set.present("kyber")], Design::Combinations, false).unwrap();
        assert_eq!(names(&other), ["baseline", "none", "mq-deadline", "bfq"]);
    }

    #[test]
    fn all_combinations_or_one_at_a_time() {
        let both = [
            factor(Kind::Setting, "disk:vda.scheduler=none,bfq").present("none"),
            factor(Kind::Parameter, "jobs=1,4"),
        ];
        let all = arms(&both, Design::Combinations, false).unwrap();
        assert_eq!(
            names(&all),
            [
                "baseline",
                "jobs=4",
                "scheduler=bfq+jobs=1",
                "scheduler=bfq+jobs=4"
            ]
        );
        let one = arms(&both, Design::OneAtATime, false).unwrap();
        assert_eq!(names(&one), ["baseline", "scheduler=bfq+jobs=1", "jobs=4"]);
    }

    #[test]
    fn factors_that_share_a_last_part_are_told_apart() {
        let both = ["vda", "loop0"].map(|disk| {
            let text = format!("disk:{disk}.scheduler=none,kyber");
            factor(Kind::Setting, &text).present("none")
        });
        let all = arms(&both, Design::OneAtATime, false).unwrap();
        assert_eq!(
            names(&all),
            ["baseline", "vda.scheduler=kyber", "loop0.scheduler=kyber"]
        );
    }

    #[test]
    fn one_arm_is_nothing_to_compare() {
        let same = factor(Kind::Setting, "disk:vda.scheduler=none").present("none");
        let error = arms(&[same], Design::Combinations, true).unwrap_err();
        assert!(error.to_string().contains("one arm only"), "{error}");
        assert!(arms(&[], Design::Combinations, true).is_err());
        let one = factor(Kind::Parameter, "a=1,2");
        assert_eq!(
            arms(&[one.clone(), one], Design::Combinations, true),
            Err(DesignError::Twice("a".into()))
        );
    }

    #[test]
    fn too_many_are_refused_without_making_them() {
        let values: Vec<String> = (0..50).map(|i| i.to_string()).collect();
        let many: Vec<Factor> = (0..30)
            .map(|i| factor(Kind::Parameter, &format!("n{i}={}", values.join(","))))
            .collect();
        assert!(matches!(
            arms(&many, Design::Combinations, true),
            Err(DesignError::TooMany(..))
        ));
    }

    #[test]
    fn names_are_safe_in_a_path_and_differ() {
        let odd = factor(Kind::Parameter, "path=/a/b,../x,-rf,é,_");
        let found = arms(&[odd], Design::Combinations, false).unwrap();
        let names = names(&found);
        assert_eq!(names, ["baseline", "_.._x", "_-rf", "_", "_-2"]);
    }
}
