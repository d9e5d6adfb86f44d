//! Whoever is killed, whenever: every setting is what it was at the start.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::collections::BTreeMap;
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;
use support::{
    Disk, Group, Net, Scratch, assert_same, at_work, begun, can_run, guardian_of, put, signal,
    text, turn, wait,
};

/// How often somebody is killed.
const ROUNDS: u64 = 200;

/// The things that are set, and all their settings.
struct Bench {
    disk: Disk,
    net: Net,
    groups: Vec<Group>,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let disk = Disk::new(name);
        // What a scheduler resets must differ from what it resets it to.
        disk.set("scheduler", "mq-deadline");
        disk.set("nr_requests", "77");
        disk.set("iosched/read_expire", "123");
        let groups = ["cpu", "blkio"]
            .map(|c| Group::new(c, name))
            .into_iter()
            .flatten();
        let groups: Vec<Group> = groups.collect();
        for group in &groups {
            // A line that stays while another comes and goes.
            let limit = group.0.join("blkio.throttle.write_iops_device");
            if limit.exists() {
                put(
                    limit,
                    &format!("{} 1000", text(disk.queue().join("../dev"))),
                );
            }
        }
        Bench {
            disk,
            net: Net::new(name),
            groups,
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let mut all = self.disk.settings();
        all.extend(self.net.settings());
        for group in &self.groups {
            for entry in std::fs::read_dir(&group.0).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("cpu.cfs")
                    || name.contains("throttle") && name.ends_with("device")
                {
                    all.insert(entry.path().display().to_string(), text(entry.path()));
                }
            }
        }
        all
    }

    fn knobs(&self) -> Vec<String> {
        let disk = &self.disk.name;
        let number = text(self.disk.queue().join("../dev"));
        let mut knobs = vec![
            format!("disk:{disk}.scheduler=none,kyber,bfq,mq-deadline"),
            format!("disk:{disk}.nr_requests=8,32,64"),
            format!("disk:{disk}.read_ahead_kb=0,512,4096"),
            format!("disk:{disk}.nomerges=0,1,2"),
            "net:v0.mtu=1400,9000".into(),
            "net:v0.txqueuelen=1,500".into(),
            "net:v0.gso_max_size=20000,60000".into(),
            "net:v0.gso=on,off".into(),
            "net:v0.tso=on,off".into(),
            "net:v0.gro=on,off".into(),
            "sysctl:net.ipv4.tcp_slow_start_after_idle=0,1".into(),
            "sysctl:net.ipv4.tcp_rmem=4096 9000 90000".into(),
        ];
        for group in &self.groups {
            if group.0.join("cpu.cfs_quota_us").exists() {
                knobs.push(format!("{}=20000,50000", group.knob("cpu.cfs_quota_us")));
            } else {
                let read = group.knob("blkio.throttle.read_bps_device");
                let write = group.knob("blkio.throttle.write_iops_device");
                knobs.push(format!("{read}={number} 1048576,{number} 2097152"));
                knobs.push(format!("{write}={number} 9,,{number} 77"));
            }
        }
        knobs
    }
}

/// Who is killed, and how.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The experiment, which does not catch the signal.
    Experiment(Signal),
    /// The experiment, which ends itself at the signal.
    Asked,
    /// The guardian; then, after a while, the experiment.
    Guardian,
    /// The experiment, and a moment later the guardian at its work.
    Both,
}

/// A generator for the rounds; its seed is printed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (self.0 >> 33) % n
    }
}

#[test]
fn two_hundred_rounds() {
    if !can_run(
        "killing experiments",
        &["losetup", "ip", "nsenter", "ethtool", "sysctl"],
    ) {
        return;
    }
    let seed: u64 = std::env::var("SONDE_SEED").map_or_else(
        |_| u64::from(std::process::id()),
        |text| text.parse().expect("SONDE_SEED is a number"),
    );
    println!("SONDE_SEED={seed}");
    let mut dice = Dice(seed);
    let scratch = Scratch::new("rounds");
    let bench = Bench::new("rounds");
    let start = bench.settings();
    let knobs = bench.knobs();
    let (mut by_guardian, mut by_next) = (0, 0);
    for round in 0..ROUNDS {
        let victim = match dice.below(6) {
            0 => Victim::Experiment(Signal::INT),
            1 => Victim::Experiment(Signal::TERM),
            2 => Victim::Experiment(Signal::KILL),
            3 => Victim::Asked,
            4 => Victim::Guardian,
            _ => Victim::Both,
        };
        let times = if matches!(victim, Victim::Asked) {
            -1
        } else {
            0
        };
        let when = format!("seed {seed}, round {round}, {victim:?}");
        let mut child = turn(
            Some(&bench.net),
            &scratch.state(),
            dice.below(1 << 30),
            times,
            &knobs,
        )
        .spawn()
        .expect("it runs");
        // A signal may come at any moment, also before the experiment has begun, but not
        // before it can be one.
        if dice.below(5) > 0 {
            begun(&mut child, &scratch);
        }
        pause(dice.below(30_000));
        let guarded = kill(victim, &mut child, &mut dice);
        child.wait().expect("it ends");
        let state = scratch.state().display().to_string();
        wait("the guardian's end", || !watches(&state));
        if guarded {
            by_guardian += 1;
            assert!(
                !scratch.journal().exists(),
                "{when}: the guardian did nothing"
            );
        }
        by_next += u64::from(recovered(&scratch, &when));
        assert_same(&bench.settings(), &start, &when);
        assert!(!scratch.journal().exists(), "{when}: the journal is closed");
    }
    println!("put back by the guardian {by_guardian} times, by who came next {by_next} times");
    assert!(
        by_guardian > ROUNDS / 5,
        "it was killed without a guardian most of the time"
    );
}

/// Kills; whether a guardian was left that has to put everything back.
fn kill(victim: Victim, child: &mut Child, dice: &mut Dice) -> bool {
    let experiment = child.id();
    let guardian = guardian_of(experiment);
    match victim {
        Victim::Experiment(by) => {
            signal(experiment, by);
            guardian.is_some()
        }
        Victim::Asked => {
            signal(experiment, Signal::TERM);
            guardian.is_some()
        }
        Victim::Guardian => {
            let guardian = guardian.inspect(|pid| signal(*pid, Signal::KILL));
            if guardian.is_some() {
                wait("another guardian", || {
                    guardian_of(experiment).is_some_and(|now| Some(now) != guardian)
                        || child.try_wait().is_ok_and(|s| s.is_some())
                });
            }
            pause(dice.below(20_000));
            let another = guardian_of(experiment);
            signal(experiment, Signal::KILL);
            guardian.is_some() && another.is_some()
        }
        Victim::Both => {
            signal(experiment, Signal::KILL);
            pause(dice.below(4_000));
            if let Some(guardian) = guardian {
                signal(guardian, Signal::KILL);
            }
            false
        }
    }
}

/// Puts back what the guardian could not, as any command would; whether there was anything.
fn recovered(scratch: &Scratch, when: &str) -> bool {
    match lab::recover(&scratch.state()) {
        Ok(None) => false,
        Ok(Some(restored)) => {
            assert!(restored.is_whole(), "{when}: {}", restored.complaint());
            true
        }
        Err(e) => panic!("{when}: {e}"),
    }
}

/// Whether a guardian of that journal runs.
fn watches(state: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let mut lines = processes.map(|e| text(e.path().join("cmdline")));
    lines.any(|line| line.contains("(guardian)") && line.contains(state))
}

fn pause(microseconds: u64) {
    std::thread::sleep(Duration::from_micros(microseconds));
}

/// A guardian that is stopped is no guardian; what it would do is done at the next start, and
/// once it goes on it does no harm.
#[test]
fn a_stopped_guardian() {
    if !can_run("a stopped guardian", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("stopped"), Disk::new("stopped"));
    let start = disk.settings();
    let knobs = [format!("disk:{}.read_ahead_kb=0,4096", disk.name)];
    let mut child = turn(None, &scratch.state(), 1, 0, &knobs)
        .spawn()
        .expect("it runs");
    at_work(&mut child);
    let guardian = guardian_of(child.id()).expect("a guardian");
    signal(guardian, Signal::STOP);
    wait("a change", || disk.settings() != start);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(restored.is_whole(), "{}", restored.complaint());
    assert_same(&disk.settings(), &start, "after the recovery");
    disk.set("read_ahead_kb", "64");
    signal(guardian, Signal::CONT);
    wait("the guardian's end", || {
        !watches(&scratch.state().display().to_string())
    });
    assert_eq!(
        disk.get("read_ahead_kb"),
        "64",
        "the guardian came too late and wrote"
    );
}
