//! Processor time of control groups against the group's own counter.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and write files"
)]

mod support;
mod truth;

use std::path::PathBuf;

use support::{AtEnd, Need, can_run, scratch, total};
use truth::group::Own;
use truth::{Totals, record_script_with};

/// Runs `script` in a group of its own while it is recorded; what was recorded of the group,
/// and what its own counter grew by.
fn burn(name: &str, script: &str) -> Option<(PathBuf, f64, f64)> {
    let needs = [Need::Root, Need::Path("/sys/fs/cgroup")];
    if !can_run(name, &needs) {
        return None;
    }
    let Some(group) = Own::new(name) else {
        can_run(
            name,
            &[Need::Path("a control group that counts processor time")],
        );
        return None;
    };
    let run = scratch(name).join("run");
    let enter = group.enter() + "; ";
    let before = group.seconds();
    // What the group's files tell, not the scheduler.
    let samples = ["--detail", "samples"];
    record_script_with(&run, "100ms", &samples, &(enter + script));
    let counted = group.seconds() - before;
    let expression = format!("cpu.time by cgroup where cgroup = {}", group.name());
    let recorded = Totals::of(&run, &expression).get(&group.name());
    let by_mode = total(
        &run,
        &format!("cgroup.time where cgroup = {}", group.name()),
    );
    assert!(
        (recorded - by_mode).abs() <= 1e-9,
        "{recorded} and {by_mode}"
    );
    Some((run, recorded, counted))
}

/// Nothing but the group's tasks counts, and they are over when the last sample is taken: not
/// the 1 % that is promised but the counter itself, to its own unit.
fn agrees(recorded: f64, counted: f64) {
    assert!(
        (recorded - counted).abs() <= 2e-6,
        "recorded {recorded} s, the group's counter says {counted} s"
    );
}

#[test]
fn a_burner_has_the_time_of_its_groups_counter() {
    let name = "a_burner_has_the_time_of_its_groups_counter";
    let burner = "timeout 2 dd if=/dev/zero of=/dev/null bs=64k status=none || true";
    let Some((_, recorded, counted)) = burn(name, burner) else {
        return;
    };
    assert!(counted > 0.1, "it burned {counted} s only");
    agrees(recorded, counted);
}

#[test]
fn two_thousand_short_processes_are_all_counted() {
    let name = "two_thousand_short_processes_are_all_counted";
    // A process of about a millisecond: a shell that counts.
    let short = "sh -c 'i=0; while [ $i -lt 500 ]; do i=$((i+1)); done'";
    let script = format!("i=0; while [ $i -lt 2000 ]; do {short}; i=$((i+1)); done");
    let Some((run, recorded, counted)) = burn(name, &script) else {
        return;
    };
    let forks = total(&run, "system.forks");
    assert!(forks >= 2000.0, "{forks} forks");
    let each = counted / 2000.0;
    assert!((0.3e-3..6e-3).contains(&each), "a process took {each} s");
    agrees(recorded, counted);
}

/// A group without tasks is charged nothing, however many children it has: they and it are not
/// read at one moment.
#[test]
fn a_group_without_tasks_is_charged_nothing() {
    let name = "a_group_without_tasks_is_charged_nothing";
    if !can_run(name, &[Need::Root, Need::Path("/sys/fs/cgroup")]) {
        return;
    }
    let Some(group) = Own::new("empty") else {
        can_run(
            name,
            &[Need::Path("a control group that counts processor time")],
        );
        return;
    };
    let children: Vec<PathBuf> = (0..5000)
        .map(|i| group.dir.join(format!("c{i:04}")))
        .collect();
    for child in &children {
        std::fs::create_dir(child).expect("root makes groups");
    }
    let _end = AtEnd(|| {
        for child in &children {
            let _ = std::fs::remove_dir(child);
        }
    });
    // One at each end of the list burns a second, and is ended before the recording is.
    let burn = |i: usize| {
        let procs = children[i].join("cgroup.procs");
        format!(
            "(sh -c 'echo $$ >{}; ulimit -t 1; while :; do :; done') & ",
            procs.display()
        )
    };
    let run = scratch("empty").join("run");
    let script = format!("{}{}wait; sleep 1.5", burn(0), burn(4999));
    record_script_with(&run, "500ms", &["--detail", "samples"], &script);
    let own = Totals::of(&run, "cgroup.time by cgroup").get(&group.name());
    let burned = Totals::of(
        &run,
        &format!("cgroup.time by cgroup where cgroup ~ {}/c", group.name()),
    )
    .sum();
    assert!(burned > 1.5, "{burned} s");
    assert_eq!(own, 0.0, "of {burned} s");
}
