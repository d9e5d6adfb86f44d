use super::*;

fn points(workers: &[f64], work: &[f64]) -> Vec<Point> {
    let both = workers.iter().zip(work);
    both.map(|(n, x)| Point {
        workers: *n,
        work: *x,
    })
    .collect()
}

fn near(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found}, not {wanted}");
}

/// SPEC SDM91, a published benchmark of a multiprocessor (Gunther 2007).
fn sdm91() -> Vec<Point> {
    points(
        &[1.0, 18.0, 36.0, 72.0, 108.0, 144.0, 216.0],
        &[64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2],
    )
}

/// A ray tracer, likewise published.
fn ray_tracer() -> Vec<Point> {
    points(
        &[
            1.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 48.0, 64.0,
        ],
        &[
            20.0, 78.0, 130.0, 170.0, 190.0, 200.0, 210.0, 230.0, 260.0, 280.0, 310.0,
        ],
    )
}

#[test]
fn sdm91_has_its_published_parameters() {
    let found = scaling(&sdm91(), 2000, 1).unwrap();
    near(found.usl.alpha, 0.0277, 0.000_05);
    near(found.usl.beta, 0.000_104, 0.000_000_5);
    near(found.usl.gamma, 90.0, 0.05);
    near(found.usl.peak().unwrap(), 96.5, 0.1);
    let bounds = found.bounds.unwrap();
    assert!(bounds.beta.low > 0.0 && bounds.beta.holds(found.usl.beta));
    // Seven points bound it loosely, and above where they begin.
    assert!(
        bounds.peak.holds(96.5) && bounds.peak.low > 50.0,
        "{bounds:?}"
    );
    assert_eq!(found.doubts, []);
}

#[test]
fn the_ray_tracer_has_no_coherency() {
    let found = scaling(&ray_tracer(), 2000, 1).unwrap();
    assert_eq!(found.usl.beta, 0.0);
    near(found.usl.alpha, 0.058, 0.0005);
    // Published with alpha rounded up to 0.058; the least squares are at 0.05777 and 21.849.
    near(found.usl.gamma, 21.9, 0.06);
    assert_eq!(found.usl.peak(), None);
    assert_eq!(found.usl, found.amdahl);
    near(found.usl.limit().unwrap(), 21.9 / 0.058, 1.0);
    assert_eq!(found.doubts, [Doubt::CoherencyUnknown]);
}

/// Its first six points alone make a peak that is not there.
#[test]
fn a_peak_beyond_the_data_is_doubted() {
    let found = scaling(&ray_tracer()[..6], 2000, 1).unwrap();
    near(found.usl.beta, 0.0016, 0.000_05);
    near(found.usl.peak().unwrap(), 24.5, 0.1);
    let beyond = |d: &Doubt| matches!(d, Doubt::PeakBeyond(p, m) if *p > 24.0 && *m == 20.0);
    assert!(found.doubts.iter().any(beyond), "{:?}", found.doubts);
}

#[test]
fn laws_without_noise_are_found_again() {
    for (alpha, beta) in [
        (0.0, 0.0),
        (0.05, 0.0),
        (0.0, 0.001),
        (0.02, 0.0005),
        (0.4, 0.01),
    ] {
        let law = Law {
            gamma: 1234.5,
            alpha,
            beta,
        };
        let workers = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let work = workers.map(|n| law.work(n));
        let found = scaling(&points(&workers, &work), 50, 1).unwrap();
        near(found.usl.gamma, law.gamma, 1e-3);
        near(found.usl.alpha, alpha, 1e-6);
        near(found.usl.beta, beta, 1e-7);
    }
}

#[test]
fn the_knee_is_where_work_by_time_is_greatest() {
    for (alpha, beta) in [(0.03, 0.0001), (0.1, 0.0), (0.0, 0.002), (0.0001, 0.01)] {
        let law = Law {
            gamma: 7.0,
            alpha,
            beta,
        };
        let power = |n: f64| law.work(n).powi(2) / n;
        let knee = law.knee().unwrap();
        assert!(power(knee) > power(knee * 1.01) && power(knee) > power(knee * 0.99));
        assert!(law.peak().is_none_or(|p| p > knee));
    }
    let free = Law {
        gamma: 1.0,
        alpha: 0.0,
        beta: 0.0,
    };
    assert_eq!((free.knee(), free.peak(), free.limit()), (None, None, None));
}

#[test]
fn steps_are_against_the_least_number() {
    let found = steps(&points(
        &[4.0, 1.0, 2.0, 1.0, 1.0],
        &[300.0, 100.0, 180.0, 80.0, 125.0],
    ));
    let [one, two, four] = found[..] else {
        panic!("{found:?}");
    };
    // 80, 100 and 125 are as far apart as factors: their middle is 100.
    let near = |is: f64, wanted: f64| assert!((is / wanted - 1.0).abs() < 1e-12, "{is}");
    for (step, wanted) in [
        (one, [100.0, 1.0, 1.0]),
        (two, [180.0, 1.8, 0.9]),
        (four, [300.0, 3.0, 0.75]),
    ] {
        near(step.work, wanted[0]);
        near(step.speed_up, wanted[1]);
        near(step.efficiency, wanted[2]);
    }
    let from_two = steps(&points(&[2.0, 8.0], &[100.0, 200.0]));
    near(from_two[1].speed_up, 2.0);
    near(from_two[1].efficiency, 0.5);
}

#[test]
fn bad_points_are_left_out_and_few_are_refused() {
    let bad = points(
        &[1.0, 2.0, f64::NAN, 4.0, -1.0, 0.0],
        &[1.0, 2.0, 3.0, 0.0, 5.0, f64::INFINITY],
    );
    assert_eq!(scaling(&bad, 100, 1).unwrap_err(), NoLaw::Few(2));
    assert_eq!(scaling(&[], 100, 1).unwrap_err(), NoLaw::Few(0));
    assert!(steps(&[]).is_empty());
    let three = scaling(&points(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 100, 1).unwrap();
    assert!(three.bounds.is_none());
    assert!(three.doubts.contains(&Doubt::FewSteps(3)), "{three:?}");
    assert!(three.doubts.contains(&Doubt::CoherencyUnknown));
}

#[test]
fn data_that_no_law_describes_are_told() {
    let growing = points(
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
        &[1.0, 2.5, 6.0, 14.0, 33.0, 80.0],
    );
    let found = scaling(&growing, 200, 1).unwrap();
    assert!(found.doubts.contains(&Doubt::MoreThanLinear), "{found:?}");
    let jumping = points(
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
        &[100.0, 10.0, 100.0, 5.0, 200.0, 1.0],
    );
    let found = scaling(&jumping, 200, 1).unwrap();
    let poor = found.doubts.iter().any(|d| matches!(d, Doubt::PoorFit(_)));
    assert!(poor, "{found:?}");
    let huge = points(&[1e-300, 1.0, 1e300, 7.0], &[1e300, 1e-300, 1.0, 1e308]);
    let _ = scaling(&huge, 20, 1);
}
