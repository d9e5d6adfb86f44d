//! The thinnest path through everything: record, ask, show.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use support::{get, scratch, sonde, succeed};

#[test]
fn a_recorded_command_can_be_asked_about() {
    let run = scratch("smoke").join("run");
    let mut record = sonde();
    record
        .arg("record")
        .arg("-o")
        .arg(&run)
        .args(["--every", "100ms", "--", "sleep", "0.35"]);
    succeed(&mut record);
    let answer = get(&run, "self.samples");
    let samples = answer["groups"][0]["total"].as_f64().unwrap();
    assert!((4.0..=6.0).contains(&samples), "{answer}");
    let screen = succeed(sonde().arg("show").arg(&run));
    assert!(screen.contains("ended with status 0"), "{screen}");
}
