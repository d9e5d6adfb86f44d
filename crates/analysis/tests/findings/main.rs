//! Each finding speaks where it should, with the right numbers, and is silent where it nearly
//! should.

mod bound;
mod disk;
mod files;
mod machine;
mod net;
mod script;

use std::collections::HashSet;

use analysis::findings::{FINDINGS, Finding};
use script::{Cases, Script, at, findings};

/// Every rule's cases.
const CASES: &[&Cases] = &[
    &bound::BOUND,
    &disk::LATENCY_BUBBLE,
    &disk::FAILED,
    &disk::QUEUE_FULL,
    &disk::RANDOM,
    &files::FSYNC,
    &files::OPEN_CHURN,
    &net::SMALL_SEGMENTS,
    &net::RETRANSMITS,
    &machine::THROTTLED,
    &machine::RUN_QUEUE,
    &machine::PROCESS_FLOOD,
    &machine::OBSERVER,
];

fn of(all: Vec<Finding>, name: &str) -> Vec<Finding> {
    all.into_iter().filter(|f| f.name == name).collect()
}

#[test]
fn findings_say_what_happened() {
    for (cases, case) in CASES
        .iter()
        .flat_map(|c| c.fires.iter().map(move |f| (c, f)))
    {
        let what = format!("{}, {}", cases.name, case.what);
        let found = of(findings(case.settings, case.script), cases.name);
        let [finding] = found.as_slice() else {
            panic!("{what}: {found:#?}");
        };
        for words in case.says {
            assert!(
                finding.sentence.contains(words),
                "{what}: no `{words}` in {}",
                finding.sentence
            );
        }
        let time = (at(case.time.0), at(case.time.1));
        assert_eq!((finding.from, finding.to), time, "{what}");
        assert_eq!(finding.expression, case.expression, "{what}");
        well_formed(finding);
    }
}

#[test]
fn near_misses_are_silent() {
    for (cases, case) in CASES
        .iter()
        .flat_map(|c| c.silent.iter().map(move |s| (c, s)))
    {
        let found = of(findings(case.settings, case.script), cases.name);
        assert_eq!(found, [], "{}, {}", cases.name, case.what);
    }
}

/// What every rule must have.
#[test]
fn rules_are_complete() {
    let page = include_str!("../../../../docs/concepts/findings.md");
    let mut names = HashSet::new();
    let mut helps = HashSet::new();
    for rule in FINDINGS {
        let name = rule.name;
        assert!(names.insert(name), "{name} twice");
        assert!(helps.insert(rule.help), "{name}: its help twice");
        assert!(
            rule.help.ends_with('.') && rule.help.contains(' '),
            "{name}"
        );
        let cases = CASES.iter().find(|c| c.name == name);
        let cases = cases.unwrap_or_else(|| panic!("{name} has no cases"));
        assert!(
            !cases.fires.is_empty(),
            "{name} has no case that triggers it"
        );
        assert!(!cases.silent.is_empty(), "{name} has no near miss");
        let section = page.split(&format!("\n## `{name}`\n")).nth(1);
        let section = section.unwrap_or_else(|| panic!("{name} is not in findings.md"));
        let section = section.split("\n## ").next().unwrap();
        assert!(
            section.contains(rule.help),
            "{name}: its help is not on the page"
        );
    }
    assert_eq!(
        CASES.len(),
        FINDINGS.len(),
        "cases of a rule that is not there"
    );
}

/// Causes are on the page too, and scores are shares.
fn well_formed(f: &Finding) {
    let page = include_str!("../../../../docs/concepts/findings.md");
    let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!((0.0..=1.0).contains(&f.score), "{}: {}", f.name, f.score);
    assert!(f.from <= f.to, "{}", f.name);
    assert!(f.sentence.ends_with('.'), "{}", f.sentence);
    for never in ["NaN", "inf", "  ", "-0 "] {
        assert!(!f.sentence.contains(never), "{}", f.sentence);
    }
    assert!(!f.causes.is_empty(), "{}: no causes", f.name);
    // A control group's I/O is held back before it is a request: no latency has that wait.
    let of_groups = |cause: &&&str| cause.contains("control group");
    let of_groups = f.causes.iter().find(of_groups);
    assert!(
        f.name != "latency-bubble" || of_groups.is_none(),
        "{of_groups:?}"
    );
    for cause in f.causes {
        assert!(
            flat.contains(cause),
            "{}: `{cause}` is not in findings.md",
            f.name
        );
    }
}

/// Runs in which nothing stands out, of all shapes.
#[test]
fn quiet_runs_have_no_findings() {
    let idle = |every: f64, intervals: u32, gap: bool| {
        move |s: &mut Script| {
            s.manifest.every_seconds = every;
            for n in 1..=intervals {
                if gap && (intervals / 3..intervals / 2).contains(&n) {
                    continue;
                }
                s.at(f64::from(n) * every, every).cpus([0.01, 0.02], every);
                machine::quiet(s, every);
            }
        }
    };
    let shapes: [(&str, f64, u32, bool); 5] = [
        ("a minute", 1.0, 60, false),
        ("one interval", 1.0, 1, false),
        ("10 ms", 0.01, 500, false),
        ("one of 10 ms", 0.01, 1, false),
        ("with a gap", 1.0, 60, true),
    ];
    for (what, every, intervals, gap) in shapes {
        assert_eq!(findings(&[], idle(every, intervals, gap)), [], "{what}");
    }
}

/// The first and last rows only: nothing to divide by must not harm.
#[test]
fn strange_numbers_do_no_harm() {
    let strange = |s: &mut Script| {
        for (n, value) in [f64::NAN, 0.0, -1.0, f64::MAX, f64::INFINITY]
            .into_iter()
            .enumerate()
        {
            let n = n as f64 + 1.0;
            s.at(n, if n < 3.0 { 0.0 } else { 1.0 });
            for (subject, table) in run::catalog::tables().filter(|(_, t)| t.name != "self") {
                let columns: Vec<_> = run::catalog::columns(subject, table).collect();
                let words = columns.iter().filter(
                    |c| matches!(c, run::catalog::Column::Dimension(d) if d.number.is_none()),
                );
                let words: Vec<&str> = words.map(run::catalog::Column::name).collect();
                let values = vec![value; columns.len() - words.len()];
                s.row(table.name, &words, &values);
            }
        }
    };
    // Whatever is found, finding it does not panic.
    let setting = |_: &[&str]| Some("1".to_owned());
    script::with_runs(strange, |run| {
        let look = analysis::findings::Look::new(run, &setting);
        for f in analysis::findings::find(&look) {
            assert!(f.score >= 0.0, "{f:?}");
        }
    });
}
