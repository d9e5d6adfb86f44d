//! Rows that say that nothing is known, of tables in which an interval without a row is zero.

mod support;

use std::sync::Arc;

use analysis::evaluate;
use analysis::window::{Window, window};
use support::{at, runs};

#[test]
fn what_an_imported_report_does_not_tell_is_no_zero() {
    let mut made = runs(&[], |s| {
        for second in 1..=4 {
            s.at(f64::from(second), 1.0);
            s.row("cpu", &["0", "user"], &[0.5]);
            if second == 2 {
                // Its row cannot be read.
                s.row("cpu", &["1", "user"], &[f64::NAN]);
                s.row("cpu", &["1", "system"], &[f64::NAN]);
            } else if second != 3 {
                // In the third it did nothing.
                s.row("cpu", &["1", "user"], &[0.75]);
            }
            // Nobody ever tells this.
            s.row("cpu", &["0", "irq"], &[f64::NAN]);
        }
    });
    made.sealed.manifest.ended = Some(at(4.0));
    let imported = run::manifest::Imported::default();
    made.sealed.manifest.imported.push(imported);
    let run = &made.sealed;
    let text = "cpu.time by cpu";
    let answer = evaluate(run, text).unwrap();
    let numbers = |groups: &[analysis::Group], i: usize| {
        let g: &analysis::Group = &groups[i];
        (g.total, g.mean, g.min, g.max, g.intervals, g.seconds)
    };
    assert_eq!(
        numbers(&answer.groups, 0),
        (Some(2.0), 0.5, 0.5, 0.5, 4, 4.0)
    );
    assert_eq!(
        numbers(&answer.groups, 1),
        (Some(1.5), 0.5, 0.0, 0.75, 3, 3.0)
    );
    assert_eq!(answer.groups[1].series, [(0, 0.75), (2, 0.0), (3, 0.75)]);
    let short = analysis::summarise(run, text).unwrap();
    let asked = Window {
        from: 0.0,
        to: 4.0,
        width: 4,
    };
    let shown = window(run, text, &asked, &Arc::default()).unwrap();
    for i in [0, 1] {
        assert_eq!(numbers(&short.groups, i), numbers(&answer.groups, i));
        assert_eq!(
            numbers(&shown.answer.groups, i).1,
            numbers(&answer.groups, i).1
        );
    }
    // What is never known is no group, and a sum is of what is.
    let modes = evaluate(run, "cpu.time by mode").unwrap();
    assert_eq!(modes.groups.len(), 1);
    assert_eq!(numbers(&modes.groups, 0).0, Some(3.5));
    // A recording leaves out what was nothing.
    assert_eq!(evaluate(&made.killed, text).unwrap().groups[1].intervals, 4);
}

#[test]
fn one_processor_of_many_is_not_all_of_them() {
    let full = |processors: u32| {
        let mut made = runs(&[], |s| {
            for second in 1..=4 {
                s.at(f64::from(second), 1.0);
                s.row("cpu", &["0", "user"], &[1.0]);
                s.row("cpu_idle", &["0"], &[0.0, 0.0, 0.0]);
            }
        });
        let imported = run::manifest::Imported {
            processors: Some(processors),
            ..Default::default()
        };
        made.sealed.manifest.imported.push(imported);
        let limits = analysis::limit::limits(&made.sealed).into_iter();
        limits.map(|l| l.text).collect::<Vec<_>>()
    };
    assert_eq!(full(1), ["processors 100 % busy"]);
    assert_eq!(full(64), ["processor 0 alone 100 % busy"]);
}
