use super::*;

/// Searches until the end: how many trials it took, and the best.
fn golden(search: &mut Golden, curve: impl FnMut(f64) -> f64) -> (usize, f64) {
    let mut curve = curve;
    let mut trials = 0;
    while let Some(at) = search.next() {
        search.tell(curve(at));
        trials += 1;
        assert!(trials < 100, "no end: {:?}", search.tried());
    }
    (trials, search.best().map_or(f64::NAN, |b| b.0))
}

fn whole(low: f64, high: f64, aim: Aim) -> Golden {
    Golden::new(low, high, Grid::Whole, aim, 0.02).unwrap()
}

#[test]
fn a_single_top_is_found_wherever_it_is() {
    for top in [1.0, 2.0, 3.0, 10.0, 35.0, 100.0, 999.0, 1000.0_f64] {
        let curve = |at: f64| -(at.ln() - top.ln()).powi(2);
        let (trials, best) = golden(&mut whole(1.0, 1000.0, Aim::Higher), curve);
        assert!((best / top).ln().abs() < 0.2, "{best} for {top}");
        assert!(trials <= 14, "{trials}");
        let cost = |at: f64| 5.0 + (at.ln() - top.ln()).powi(2);
        let (_, least) = golden(&mut whole(1.0, 1000.0, Aim::Lower), cost);
        assert!((least / top).ln().abs() < 0.2, "{least} for {top}");
    }
}

#[test]
fn every_proposal_is_new_and_in_the_range() {
    for (low, high) in [
        (0.0, 3.0),
        (1.0, 2.0),
        (4.0, 9.0),
        (0.0, 4096.0),
        (-5.0, 5.0),
    ] {
        let mut search = whole(low, high, Aim::Higher);
        let mut seen = Vec::new();
        let mut random = Random::new(3);
        golden(&mut search, |at| {
            assert!((low..=high).contains(&at) && at == at.round(), "{at}");
            assert!(!seen.contains(&at), "{at} again");
            seen.push(at);
            random.normal()
        });
        assert!(seen.contains(&low) && seen.contains(&high));
    }
}

#[test]
fn noise_leads_astray_no_further_than_it_must() {
    // The top is twice as high as the ends; trials differ by 3 %.
    let mut random = Random::new(11);
    let near = (0..200).filter(|_| {
        let mut search = Golden::new(1.0, 256.0, Grid::Real, Aim::Higher, 0.05).unwrap();
        let (_, best) = golden(&mut search, |at| {
            let off = (at / 32.0).ln() / 32_f64.ln();
            (2.0 - off * off) * (1.0 + 0.03 * random.normal())
        });
        // Within 3 % of the top.
        let off = (best / 32.0).ln() / 32_f64.ln();
        off * off < 0.06
    });
    let near = near.count();
    assert!(near >= 170, "{near} of 200");
}

#[test]
fn trials_that_fail_are_the_worst_and_no_end() {
    let mut search = whole(1.0, 100.0, Aim::Lower);
    let (_, best) = golden(
        &mut search,
        |at| if at > 40.0 { f64::NAN } else { 1.0 / at },
    );
    assert!((25.0..=40.0).contains(&best), "{best}");
    let mut search = whole(1.0, 100.0, Aim::Lower);
    golden(&mut search, |_| f64::NAN);
    assert_eq!(search.best(), None);
    assert!(search.tried().iter().all(|t| t.1.is_nan()));
    search.tell(1.0);
    assert_eq!(search.best(), None);
}

#[test]
fn ranges_without_an_inside_are_refused() {
    for (low, high) in [
        (1.0, 1.0),
        (2.0, 1.0),
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
        (0.4, 0.6),
    ] {
        let found = Golden::new(low, high, Grid::Whole, Aim::Higher, 0.05);
        assert_eq!(found.err(), Some(NoSearch::Empty), "{low} {high}");
    }
    let large = Golden::new(0.0, 1e18, Grid::Whole, Aim::Higher, 0.05);
    assert_eq!(large.err(), Some(NoSearch::Large));
    assert!(Halving::new(1, 2, Aim::Higher, 1).is_err());
}

fn halving(search: &mut Halving, mut curve: impl FnMut(usize) -> f64) -> usize {
    let mut trials = 0;
    while let Some(candidate) = search.next() {
        search.tell(curve(candidate));
        trials += 1;
        assert!(trials < 1000, "no end");
    }
    trials
}

#[test]
fn the_best_of_many_is_found_although_trials_differ() {
    let mut right = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut search = Halving::new(9, 1, Aim::Higher, seed).unwrap();
        let trials = halving(&mut search, |c| {
            let truth = if c == 6 { 1.10 } else { 1.0 };
            truth * (1.0 + 0.03 * random.normal())
        });
        assert_eq!(trials, Halving::trials(9, 1));
        right += usize::from(search.best().unwrap().0 == 6);
    }
    assert!(right >= 180, "{right} of 200");
}

#[test]
fn turns_are_taken_and_the_worse_half_leaves() {
    let mut search = Halving::new(4, 2, Aim::Lower, 5).unwrap();
    let mut order = Vec::new();
    halving(&mut search, |c| {
        order.push(c);
        c as f64
    });
    for turn in order[..8].chunks(4) {
        let mut turn = turn.to_vec();
        turn.sort_unstable();
        assert_eq!(turn, [0, 1, 2, 3]);
    }
    assert_eq!(order.len(), Halving::trials(4, 2));
    assert!(order[8..].iter().all(|c| *c < 2), "{order:?}");
    assert_eq!(search.best(), Some((0, 0.0)));
}

#[test]
fn candidates_that_fail_leave() {
    let mut search = Halving::new(4, 2, Aim::Higher, 5).unwrap();
    let mut fails = 0;
    halving(&mut search, |c| {
        if c == 3 {
            fails += 1;
            f64::NAN
        } else {
            c as f64
        }
    });
    assert_eq!((fails, search.best()), (1, Some((2, 2.0))));
    let mut search = Halving::new(3, 1, Aim::Higher, 5).unwrap();
    assert_eq!(halving(&mut search, |_| f64::NAN), 3);
    assert_eq!(search.best(), None);
}
