//! Statistics agree with an independent implementation: `SciPy`, and statsmodels.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;

use std::path::Path;
use std::process::Command;

use analysis::stats::bootstrap::{Batches, Runs, bootstrap};
use analysis::stats::scaling::{Point, scaling};
use analysis::stats::{
    Aim, Aligned, Estimate, Interval, Margin, Paired, Random, Unpaired, Verdict, holm, judge, trend,
};
use serde_json::{Value, json};
use support::{AtEnd, scratch, succeed};

const REQUIREMENTS: &str = include_str!("statistics/requirements.txt");

/// Normal numbers; where `coarse`, on a grid, so that there are ties and zeros.
fn sample(random: &mut Random, n: usize, shift: f64, coarse: bool) -> Vec<f64> {
    let number = |_| {
        let value = shift + random.normal();
        if coarse {
            (value * 2.0).round() / 2.0
        } else {
            value
        }
    };
    (0..n).map(number).collect()
}

fn ends(interval: Interval) -> [Option<f64>; 2] {
    [interval.low, interval.high].map(|v| v.is_finite().then_some(v))
}

fn paired(random: &mut Random) -> Value {
    let (n, shift) = (1 + random.below(12), random.normal());
    let coarse = random.below(2) == 0;
    let d = sample(random, n, shift, coarse);
    let found = Paired::new(&d);
    json!({
        "d": d,
        "p": found.chance(),
        "estimate": found.estimate(),
        "interval": ends(found.interval(0.95)),
        "t_p": found.t_chance(),
        "t": ends(found.t_interval(0.95)),
    })
}

fn sides(random: &mut Random) -> Value {
    let (m, n, shift) = (1 + random.below(6), 1 + random.below(6), random.normal());
    let coarse = random.below(2) == 0;
    let a = sample(random, m, 0.0, coarse);
    let b = sample(random, n, shift, coarse);
    let found = Unpaired::new(&a, &b);
    json!({
        "a": a,
        "b": b,
        "p": found.chance(),
        "estimate": found.estimate(),
        "interval": ends(found.interval(0.95)),
    })
}

fn several(random: &mut Random) -> Value {
    let p: Vec<f64> = (0..=random.below(9))
        .map(|_| random.uniform().powi(2))
        .collect();
    json!({"p": p, "adjusted": holm(&p)})
}

fn tost(random: &mut Random) -> Value {
    let margin = Margin(0.02);
    let spread = 0.04 * random.uniform();
    let n = 5 + random.below(8);
    let d: Vec<f64> = (0..n).map(|_| 0.006 + spread * random.normal()).collect();
    let estimate = Estimate::paired(&Paired::new(&d), margin);
    let verdict = judge(&estimate, estimate.chance, Aim::Higher, margin);
    json!({"d": d, "margin": margin.0, "equivalent": verdict == Verdict::Equivalent})
}

fn drawn(random: &mut Random) -> Value {
    let n = 10 + random.below(20);
    let d = sample(random, n, 0.3, false);
    let run = |level: f64| Batches::Means(vec![level.exp()]);
    let runs = Runs::Blocks(d.iter().map(|d| [run(0.0), run(*d)]).collect());
    let draws = bootstrap(&runs, &[0.5], 20_000, 1, 2).expect("enough blocks");
    json!({"d": d, "interval": ends(draws.intervals(0.95)[0])})
}

fn drift(random: &mut Random) -> Value {
    let (n, coarse) = (4 + random.below(12), random.below(3) == 0);
    let value = sample(random, n, 0.0, coarse);
    let time: Vec<f64> = (0..n).map(|i| i as f64 + 0.9 * random.uniform()).collect();
    let points: Vec<(f64, f64)> = time.iter().copied().zip(value.iter().copied()).collect();
    let found = trend(&points).expect("four points");
    json!({"time": time, "value": value, "slope": found.slope, "p": found.chance})
}

fn law(random: &mut Random) -> Value {
    let workers = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 32.0];
    let (alpha, beta) = (
        0.2 * random.uniform().powi(2),
        0.004 * random.uniform().powi(3),
    );
    let mut points = Vec::new();
    for n in workers {
        let ideal = 50.0 * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0));
        let work = ideal * (1.0 + 0.05 * random.normal());
        points.push(Point { workers: n, work });
    }
    let found = scaling(&points, 0, 1).expect("enough points").usl;
    let work: Vec<f64> = points.iter().map(|p| p.work).collect();
    json!({"workers": workers, "work": work, "law": [found.gamma, found.alpha, found.beta]})
}

/// Blocks of the arm and one or two runs of the baseline.
fn aligned(random: &mut Random) -> Value {
    let (n, shift) = (3 + random.below(3), random.normal());
    let coarse = random.below(3) == 0;
    let blocks: Vec<(Vec<f64>, f64)> = (0..n)
        .map(|_| {
            let baselines = 1 + usize::from(random.below(4) > 0);
            let arm = sample(random, 1, shift, coarse)[0];
            (sample(random, baselines, 0.0, coarse), arm)
        })
        .collect();
    let found = Aligned::new(&blocks);
    json!({
        "blocks": blocks,
        "p": found.chance(),
        "estimate": found.estimate(),
        "interval": if coarse { [None; 2] } else { ends(found.interval(0.95)) },
    })
}

fn middles(random: &mut Random) -> Value {
    let n = 7 + random.below(4);
    let d = sample(random, n, 0.4, false);
    json!({"d": d, "p": Paired::new(&d).in_middles().chance()})
}

#[test]
fn random_samples_come_out_as_in_scipy() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statistics/requirements.txt");
    let Some(python) = support::python::python(REQUIREMENTS, &file) else {
        return;
    };
    let dir = scratch("statistics");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let mut random = Random::new(20_260_601);
    let mut many = |count: usize, one: fn(&mut Random) -> Value| -> Vec<Value> {
        (0..count).map(|_| one(&mut random)).collect()
    };
    let cases = json!({
        "paired": many(400, paired),
        "sides": many(400, sides),
        "holm": many(200, several),
        "tost": many(300, tost),
        "drawn": many(20, drawn),
        "trend": many(200, drift),
        "scaling": many(60, law),
        "aligned": many(150, aligned),
        "middles": many(50, middles),
    });
    let path = dir.join("cases.json");
    std::fs::write(&path, serde_json::to_vec(&cases).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statistics/check.py");
    let text = succeed(Command::new(python).arg(script).arg(&path));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["count"], 0, "{:#}", found["problems"]);
    for (kind, least) in [
        ("signed rank", 400),
        ("rank sum", 400),
        ("Hodges-Lehmann", 800),
        ("signed-rank interval", 200),
        ("rank-sum interval", 100),
        ("t", 600),
        ("Holm", 500),
        ("TOST", 300),
        ("bootstrap", 40),
        ("trend", 250),
        ("scaling", 60),
        ("aligned ranks", 150),
        ("aligned-rank interval", 150),
        ("middles of steps", 50),
    ] {
        let checked = found["checked"][kind].as_u64().unwrap_or(0);
        assert!(checked >= least, "{kind}: {checked} checked");
    }
    // What is claimed must be claimed sometimes, and not always.
    let claimed = |v: &&Value| v["equivalent"] == true;
    let equivalent = cases["tost"]
        .as_array()
        .unwrap()
        .iter()
        .filter(claimed)
        .count();
    assert!((30..270).contains(&equivalent), "{equivalent} of 300");
}
