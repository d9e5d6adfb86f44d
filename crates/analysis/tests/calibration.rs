//! Statements about simulated runs whose truth is known are wrong as rarely as promised.
//!
//! `CALIBRATION_ROUNDS` (300) says how many comparisons a cheap cell has;
//! `bench/calibration.sh` runs the same cells with many more.

#[path = "calibration/mod.rs"]
mod cells;

fn rounds() -> usize {
    let told = std::env::var("CALIBRATION_ROUNDS").ok();
    told.and_then(|t| t.parse().ok()).unwrap_or(300)
}

/// The cells whose names begin so, each within its bounds but for chance: three standard
/// deviations, which one cell in some 700 exceeds. The comparisons are the same every time.
fn check(prefix: &str) {
    let cells = cells::cells();
    let mut checked = 0;
    for cell in cells.iter().filter(|c| c.name.starts_with(prefix)) {
        let rounds = (rounds() / cell.dear).max(20);
        let share = cell.share(rounds);
        assert!(
            cell.allows(share, rounds, 3.0),
            "{}: {share} of {rounds}, not within {:?} ({})",
            cell.name,
            cell.within,
            cell.about
        );
        checked += 1;
    }
    assert!(checked > 0, "no cells are called {prefix}…");
}

#[test]
fn false_alarms_are_as_rare_as_promised() {
    check("alarms.");
}

#[test]
fn intervals_hold_the_truth_as_often_as_promised() {
    check("covered.");
}

#[test]
fn true_differences_are_found() {
    check("found.");
}

#[test]
fn equivalence_is_rarely_claimed_wrongly() {
    check("equivalent.");
}

#[test]
fn steady_runs_are_called_steady_and_warm_ups_end_where_they_do() {
    check("unsteady.");
    check("settled.");
    check("flagged.");
}

#[test]
fn names_are_unique_and_each_is_of_a_kind_that_is_checked() {
    let kinds = [
        "alarms.",
        "covered.",
        "found.",
        "equivalent.",
        "unsteady.",
        "settled.",
        "flagged.",
    ];
    let mut seen = std::collections::HashSet::new();
    for cell in cells::cells() {
        assert!(seen.insert(cell.name), "{} twice", cell.name);
        assert!(
            kinds.iter().any(|k| cell.name.starts_with(k)),
            "{}",
            cell.name
        );
        assert!(cell.within.0 < cell.within.1 && cell.dear > 0);
    }
}
