//! A recorder that is killed, at any moment, leaves a run that opens.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;

use recorder::{Recorder, check_cover, diskstats, ending, now, series, sleep, wait, write_blocks};
use rustix::process::Signal;
use support::{LoopDevice, Need, can_run, scratch, sonde, succeed, total};

#[test]
fn a_killed_recorder_loses_at_most_the_last_second() {
    // Just before a whole second the sample of the one before is as old as it gets; several
    // times, since what is written may depend on how far a recording is.
    let whole = [2.9, 3.9, 4.9].map(|after| ("1s", 1.0, after));
    for (every, seconds, after) in whole.into_iter().chain([("10ms", 0.01, 2.4)]) {
        let run = scratch(&format!("kill-{every}-{after}")).join("run");
        let begun = now().ceil();
        let recorder = Recorder::start(&run, &["-q", "--every", every, "--for", "1m"]);
        sleep((begun + after - now()).max(0.0));
        let killed = now();
        recorder.kill();

        assert_eq!(ending(&run), "recorder killed");
        let screen = succeed(sonde().arg("show").arg(&run));
        assert!(screen.contains("recorder killed"), "{screen}");
        let points = series(&run, "self.samples");
        let started = recorder::manifest(&run)["started"]
            .as_str()
            .unwrap()
            .to_owned();
        let started: jiff::Timestamp = started.parse().unwrap();
        let started = started.as_nanosecond() as f64 / 1e9;
        let last = points.last().expect("samples").at + started;
        assert!(last <= killed, "{every}: ended after the kill");
        // What is sampled is written a moment later, on a busy machine some more.
        assert!(
            killed - last < 1.0 + 0.3,
            "{every}: lost {} of {after} s",
            killed - last
        );
        // Each sample once, none between them lost: ticks are whole multiples of the interval.
        let ticks = |at: f64| ((at + started) / seconds + 1e-4).floor();
        let passed = ticks(points.last().unwrap().at) - ticks(points[0].at) + 1.0;
        let missed = total(&run, "self.missed");
        let samples = total(&run, "self.samples");
        assert_eq!(samples, points.len() as f64, "{every}");
        assert!(
            samples <= passed && samples + missed >= passed,
            "{every}: {samples} samples, {missed} missed, {passed} ticks"
        );
    }
}

#[test]
fn what_was_counted_before_a_kill_is_exact() {
    if !can_run(
        "sums before a kill",
        &[Need::Root, Need::Program("losetup")],
    ) {
        return;
    }
    let device = LoopDevice::new("kill", 8 << 20);
    let run = scratch("kill-sums").join("run");
    let arguments = ["-q", "--every", "50ms", "--sources", "disk", "--for", "1m"];
    let before = diskstats(&device.name());
    let recorder = Recorder::start(&run, &arguments);
    write_blocks(&device.path, 500);
    let after = diskstats(&device.name());
    // All of it is durable a second after it was sampled.
    sleep(1.4);
    recorder.kill();
    let of = |statistic: &str| {
        let name = device.name();
        total(
            &run,
            &format!("{statistic} where device = {name} and op = write"),
        )
    };
    // Writes completed and sectors written: fields 5 and 7 after the name.
    assert_eq!(of("disk.ios"), (after[4] - before[4]) as f64);
    assert_eq!(of("disk.bytes"), ((after[6] - before[6]) * 512) as f64);
    assert_eq!(of("disk.bytes"), 500.0 * 4096.0, "what dd wrote");
}

#[test]
fn a_recorder_killed_while_sealing_loses_nothing() {
    let dir = scratch("kill-sealing");
    let mut killed = 0;
    for round in 0..24 {
        let run = dir.join(format!("run-{round}"));
        let recorder = Recorder::spawn(&run, &["-q", "--every", "10ms", "--for", "300ms"]);
        let reserve = run.join(".reserve");
        wait("a recorder", || reserve.exists());
        // It goes when the last sample is durable and sealing begins.
        wait("sealing", || !reserve.exists());
        sleep(f64::from(round) * 0.002);
        recorder.kill();
        let end = ending(&run);
        killed += u32::from(end == "recorder killed" || end == "ok, not sealed");
        let points = series(&run, "self.samples");
        let last = points.last().expect("samples").at;
        assert!(
            (0.3..0.5).contains(&last),
            "round {round}: ended at {last} ({end})"
        );
        check_cover(&points);
        let out = sonde().arg("show").arg(&run).output().unwrap();
        assert!(out.status.success(), "round {round}: {out:?}");
        assert!(out.stderr.is_empty(), "round {round}: {out:?}");
    }
    assert!(killed > 0, "no kill came while sealing");
}

#[test]
fn a_live_run_is_read_while_it_grows() {
    let run = scratch("live").join("run");
    let recorder = Recorder::start(&run, &["-q", "--every", "20ms", "--for", "1m"]);
    let mut seen = 0.0;
    for _ in 0..3 {
        sleep(1.1);
        assert_eq!(ending(&run), "recording");
        let samples = total(&run, "self.samples");
        assert!(samples >= seen + 20.0, "{samples} after {seen}");
        seen = samples;
    }
    // Opened again and again while it is sealed.
    recorder.signal(Signal::TERM);
    let mut end = String::new();
    for _ in 0..2000 {
        end = ending(&run);
        assert!(["recording", "ok"].contains(&end.as_str()), "{end}");
        if end == "ok" {
            break;
        }
    }
    assert_eq!(end, "ok");
    assert!(recorder.end().0.success());
    assert!(total(&run, "self.samples") > seen);
}
