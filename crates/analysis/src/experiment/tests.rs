//! Experiments whose truth is known.

use super::*;
use crate::compare::Joint;
use crate::stats::Random;

const PLACES: Places = Places {
    baseline: 0,
    again: Some(1),
};

/// A metric whose arms are so many times the baseline, with that noise, in `blocks` blocks that
/// drift by 5 % each.
fn measured(text: &str, ratios: &[f64], noise: f64, blocks: usize, seed: u64) -> Measured {
    let mut random = Random::new(seed);
    let values = ratios
        .iter()
        .map(|ratio| {
            (0..blocks)
                .map(|b| 100.0 * ratio * (0.05 * b as f64 + noise * random.normal()).exp())
                .collect()
        })
        .collect();
    Measured {
        metric: Metric::parse(text).unwrap(),
        unit: None,
        declared: true,
        values,
        missing: None,
    }
}

fn advice(all: &[Measured]) -> Advice {
    advise(&outcome(all, PLACES, Plan::Fixed), all, PLACES)
}

#[test]
fn a_large_difference_is_taken_in_spite_of_drift() {
    let all = [
        measured("disk.bytes", &[1.0, 1.0, 1.3, 0.8], 0.01, 8, 1),
        measured("p99 disk.ios by latency", &[1.0, 1.0, 0.7, 1.0], 0.01, 8, 2),
    ];
    let found = outcome(&all, PLACES, Plan::Fixed);
    assert_eq!(found.joint(2), Joint::Better);
    assert_eq!(found.joint(3), Joint::Worse);
    assert_eq!(
        advice(&all),
        Advice::Take {
            arm: 2,
            close: vec![]
        }
    );
    let ratio = found.of(2).next().unwrap().compared.estimate.ratio;
    assert!((ratio - 1.3).abs() < 0.02, "{ratio}");
    let t = found.of(2).next().unwrap().by_t;
    assert!(t.holds(1.3) && !t.holds(1.2), "{t:?}");
    assert!(found.is_decided() && found.unsound().next().is_none());
}

#[test]
fn the_same_is_kept_and_two_winners_are_close() {
    let same = [measured("disk.bytes", &[1.0, 1.0, 1.0, 1.001], 0.003, 8, 3)];
    assert_eq!(advice(&same), Advice::Keep);
    let two = [measured("disk.bytes", &[1.0, 1.0, 1.3, 1.301], 0.01, 8, 4)];
    let Advice::Take { close, .. } = advice(&two) else {
        panic!("{:?}", advice(&two));
    };
    assert_eq!(close.len(), 1);
}

#[test]
fn nothing_is_claimed_if_the_baseline_differs_from_itself() {
    let all = [measured("disk.bytes", &[1.0, 1.2, 1.5], 0.01, 8, 5)];
    assert_eq!(advice(&all), Advice::Unsound);
}

#[test]
fn two_aims_that_conflict_are_a_choice_on_the_front() {
    let all = [
        measured("disk.bytes", &[1.0, 1.0, 1.3, 0.7], 0.01, 8, 6),
        measured("p99 disk.ios by latency", &[1.0, 1.0, 2.0, 3.0], 0.01, 8, 7),
    ];
    assert_eq!(advice(&all), Advice::Choice(vec![0, 2]));
}

#[test]
fn better_by_one_needs_the_other_to_be_not_inferior() {
    let wide = |ratio: f64, seed| {
        [
            measured("disk.bytes", &[1.0, 1.0, 1.3], 0.01, 8, seed),
            measured(
                "p99 disk.ios by latency",
                &[1.0, 1.0, ratio],
                0.2,
                8,
                seed + 1,
            ),
        ]
    };
    // Far below, though too noisy to be called better among two: not inferior.
    assert!(matches!(
        advice(&wide(0.6, 10)),
        Advice::Take { arm: 2, .. }
    ));
    assert!(matches!(advice(&wide(1.0, 20)), Advice::Undecided(_)));
}

#[test]
fn few_blocks_and_odd_numbers_conclude_nothing() {
    let one = [measured("disk.bytes", &[1.0, 1.0, 2.0], 0.01, 1, 1)];
    assert_eq!(advice(&one), Advice::TooFew);
    let five = [measured("disk.bytes", &[1.0, 1.0, 2.0], 0.01, 5, 1)];
    assert!(matches!(advice(&five), Advice::Undecided(_)));
    let none = [measured("disk.bytes", &[1.0, 1.0, 2.0], 0.01, 0, 1)];
    assert_eq!(advice(&none), Advice::TooFew);
    for odd in [0.0, f64::NAN, -1.0, f64::INFINITY] {
        let mut some = measured("disk.bytes", &[1.0, 1.0, 2.0], 0.01, 8, 1);
        some.values[2][3] = odd;
        let all = [some];
        let found = outcome(&all, PLACES, Plan::Fixed);
        let _ = (advice(&all), front(&all, PLACES), level(&all[0].values[2]));
        let runs = found.of(2).next().unwrap().compared.estimate.runs;
        // A trial that is missing leaves its block out; one without a ratio all of them.
        let wanted = if odd.is_finite() { 0 } else { 7 };
        assert_eq!(runs, wanted, "{odd}");
    }
    let zeros = [Measured {
        values: vec![vec![0.0; 8]; 3],
        ..measured("disk.bytes", &[1.0; 3], 0.0, 8, 1)
    }];
    assert_eq!(advice(&zeros), Advice::Keep);
}

#[test]
fn what_is_not_declared_concludes_nothing() {
    let all = [
        measured("disk.bytes", &[1.0, 1.0, 1.0], 0.003, 8, 8),
        Measured {
            declared: false,
            ..measured("cpu.utilisation", &[1.0, 1.0, 3.0], 0.003, 8, 9)
        },
    ];
    let found = outcome(&all, PLACES, Plan::Fixed);
    assert_eq!(found.exploratory.len(), 1);
    assert_eq!(found.exploratory[0].compared.verdict, Verdict::Descriptive);
    assert_eq!(advice(&all), Advice::Keep);
}

#[test]
fn looks_stop_early_only_where_it_is_clear() {
    let clear = [measured("disk.bytes", &[1.0, 1.0, 2.0], 0.01, 6, 11)];
    let found = outcome(&clear, PLACES, Plan::Looks);
    assert!(found.is_decided(), "{found:?}");
    let unclear = [measured("disk.bytes", &[1.0, 1.0, 1.04], 0.04, 6, 12)];
    assert!(!outcome(&unclear, PLACES, Plan::Looks).is_decided());
    let early = [measured("disk.bytes", &[1.0, 1.0, 2.0], 0.01, 1, 13)];
    assert!(!outcome(&early, PLACES, Plan::Looks).is_decided());
}

#[test]
fn an_arm_has_a_level_with_its_interval() {
    let found = level(&[1.0, 2.0, f64::NAN, 4.0, 2.0, 2.0, 2.1]);
    assert_eq!((found.value, found.trials), (2.0, 6));
    assert!(found.interval.low < 2.0 && found.interval.high > 2.0);
    assert!(level(&[]).value.is_nan());
    assert_eq!(level(&[0.0, 0.0]).value, 0.0);
}

/// Nobody changed anything: something is taken, or the baseline is said to differ from itself,
/// in no more than one of twenty experiments each.
#[test]
fn equals_are_seldom_told_apart() {
    let (mut taken, mut unsound) = (0, 0);
    let all = 1000;
    for seed in 0..all {
        let same = [
            measured("disk.bytes", &[1.0; 4], 0.03, 8, 2 * seed),
            measured("p99 disk.ios by latency", &[1.0; 4], 0.1, 8, 2 * seed + 1),
        ];
        match advice(&same) {
            Advice::Take { .. } | Advice::Choice(_) => taken += 1,
            Advice::Unsound => unsound += 1,
            _ => {}
        }
    }
    // Five in a hundred, and three deviations of that count.
    let most = all / 20 + 21;
    assert!(taken <= most && unsound <= most, "{taken}, {unsound}");
}
