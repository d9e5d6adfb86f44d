//! `sonde try` with real settings of loop devices, interfaces and groups of this test's own:
//! they are what the arm says while a trial runs, and what they were when it is over.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

#[path = "support/space.rs"]
mod space;
mod support;
#[path = "truth/mod.rs"]
mod truth;
#[path = "support/trying.rs"]
mod trying;

use std::path::Path;

use serde_json::Value;
use support::{AtEnd, LoopDevice, Need, can_run};
use trying::{Bench, against, file};

const LOOP: &[Need] = &[Need::Root, Need::Program("losetup")];

/// The setting of a device in the inventory of each trial that counts, by arm.
fn during(bench: &Bench, result: &Value, device: &str, setting: &str) -> Vec<(String, String)> {
    let trials = result["trials"].as_array().expect("trials").iter();
    trials
        .filter(|t| t["stage"] == "block" && t["state"] == "done")
        .map(|t| {
            let run = bench.dir.join(t["run"].as_str().expect("a path"));
            let text = std::fs::read(run.join("inventory.json")).expect("an inventory");
            let inventory: Value = serde_json::from_slice(&text).expect("JSON");
            let found = &inventory["block"][device][setting];
            let found = found
                .as_str()
                .map_or_else(|| found.to_string(), str::to_owned);
            (t["arm"].as_str().expect("a name").to_owned(), found)
        })
        .collect()
}

#[test]
fn schedulers_and_depths_are_set_for_each_trial_and_put_back() {
    if !can_run(
        "schedulers_and_depths_are_set_for_each_trial_and_put_back",
        LOOP,
    ) {
        return;
    }
    let device = LoopDevice::new("try-depth", 8 << 20);
    let bench = Bench::new("try-depth");
    let names = ["scheduler", "nr_requests"].map(|n| device.queue(n));
    let before = names.each_ref().map(|n| file(n));
    let set = |name: &str, values: &str| format!("disk:{}.{name}={values}", device.name());
    let (scheduler, depth) = (
        set("scheduler", "none,mq-deadline"),
        set("nr_requests", "4,32,100"),
    );
    let read = format!("if={}", device.path.display());
    let words = [
        "--set",
        &scheduler,
        "--set",
        &depth,
        "--blocks",
        "1",
        "--no-aa",
        "-m",
        "elapsed",
        "--",
        "dd",
        &read,
        "of=/dev/null",
        "bs=64k",
        "iflag=direct",
    ];
    let result = bench.conduct(&words, 0);
    assert_eq!(names.each_ref().map(|n| file(n)), before);
    let schedulers = during(&bench, &result, &device.name(), "scheduler");
    let depths = during(&bench, &result, &device.name(), "nr_requests");
    assert_eq!(schedulers.len(), 7, "{schedulers:?}");
    for ((arm, scheduler), (_, depth)) in schedulers.iter().zip(&depths) {
        let wanted = if arm.contains("mq-deadline") {
            "mq-deadline"
        } else {
            "none"
        };
        assert!(scheduler.contains(wanted), "{arm}: {scheduler}");
        for wanted in ["4", "32", "100"] {
            if arm.ends_with(&format!("nr_requests={wanted}")) {
                assert_eq!(depth, wanted, "{arm}");
            }
        }
    }
    assert!(!bench.dir.join("state/undo.json").exists());
}

#[test]
fn reading_ahead_is_found_to_be_much_better() {
    if !can_run("reading_ahead_is_found_to_be_much_better", LOOP) {
        return;
    }
    let disk = ReadAhead::new("try-ahead", 64 << 20, "0");
    let result = disk.conduct("--set", "0,4096", &["-m", "elapsed"]);
    for metric in [0, 1] {
        let found = against(&result, metric, "4096");
        assert_eq!(found["verdict"], "better", "{found}");
    }
    // What is read at once without reading ahead is the same each time, whoever else is busy.
    let again = against(&result, 0, "baseline-again");
    assert_eq!(again["verdict"], "equivalent", "{again}");
    assert_eq!(result["advice"]["arm"], "4096");
}

/// A loop device that is read in sequence, by how far is read ahead.
struct ReadAhead {
    device: LoopDevice,
    bench: Bench,
    /// What it is at first, in KiB.
    before: &'static str,
}

impl ReadAhead {
    fn new(name: &str, size: u64, before: &'static str) -> ReadAhead {
        let device = LoopDevice::new(name, size);
        device.set("read_ahead_kb", before);
        ReadAhead {
            device,
            bench: Bench::new(name),
            before,
        }
    }

    /// An experiment with these values, `how` they are taken; the size of a read is measured.
    fn conduct(&self, how: &str, values: &str, more: &[&str]) -> Value {
        let name = self.device.name();
        let values = format!("disk:{name}.read_ahead_kb={values}");
        let path = self.device.path.display();
        let (flush, read) = (format!("blockdev --flushbufs {path}"), format!("if={path}"));
        let size = format!("disk.mean_size where device = {name} and op = read:higher");
        let mut words = vec![
            how,
            &values,
            "--blocks",
            "6",
            "--prepare",
            &flush,
            "-m",
            &size,
        ];
        words.extend(more);
        words.extend(["--", "dd", &read, "of=/dev/null", "bs=4k"]);
        let result = self.bench.conduct(&words, 0);
        let after = file(&self.device.queue("read_ahead_kb"));
        assert_eq!(after, self.before, "it was not put back");
        result
    }
}

/// Fixed work of a processor, in a group that may use a twentieth of one or all of it.
#[test]
fn a_throttled_group_is_found_to_be_slower() {
    let v1 = Path::new("/sys/fs/cgroup/cpu");
    let v2 = Path::new("/sys/fs/cgroup/cgroup.controllers");
    if !can_run("a_throttled_group_is_found_to_be_slower", &[Need::Root]) {
        return;
    }
    let name = format!("sonde-test-{}-try", std::process::id());
    let (group, limit, value) = if v1.exists() {
        (v1.join(&name), "cpu.cfs_quota_us", "5000")
    } else {
        assert!(v2.exists(), "no control groups");
        (
            Path::new("/sys/fs/cgroup").join(&name),
            "cpu.max",
            "5000 100000",
        )
    };
    std::fs::create_dir(&group).expect("root makes groups");
    let _gone = AtEnd(|| {
        let _ = std::fs::remove_dir(&group);
    });
    let before = file(&group.join(limit));
    let bench = Bench::new("try-throttled");
    let set = format!("cgroup:{}.{limit}={value}", group.display());
    let script = format!(
        "echo $$ > {}/cgroup.procs; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done",
        group.display()
    );
    let words = [
        "--set", &set, "--blocks", "6", "--no-aa", "-m", "elapsed", "--", "sh", "-c", &script,
    ];
    let result = bench.conduct(&words, 0);
    assert_eq!(file(&group.join(limit)), before);
    let arms = result["arms"].as_array().expect("arms");
    let slower = arms[1]["name"].as_str().expect("a name");
    let found = against(&result, 0, slower);
    assert_eq!(found["verdict"], "worse", "{found}");
    assert!(found["ratio"].as_f64().expect("a ratio") > 1.5, "{found}");
    assert_eq!(result["advice"]["what"], "keep");
}

/// How large packets are follows from whether the interface takes joined ones (TSO), how much may
/// be joined (the size of GSO) and the MTU, whatever else the machine does. GSO itself, off, does
/// not: since 4.17 TCP always joins, and what the interface does not take is taken apart right
/// before it, so that it gets the same packets. That is a truth too: they are equivalent.
#[test]
fn packets_follow_joining_and_the_mtu() {
    let needs = [space::NEEDS, &[Need::Program("iperf3")]].concat();
    if !can_run("packets_follow_joining_and_the_mtu", &needs) {
        return;
    }
    let spaces = space::pair("try");
    spaces[1].run("iperf3 -s -D >/dev/null 2>&1; sleep 0.2");
    let _ended = AtEnd(|| {
        spaces[1].run(
            "for p in $(ip netns pids $(ip netns identify $$)); do \
                       grep -qx iperf3 /proc/$p/comm && kill $p; done; true",
        );
    });
    let conduct = |set: &str| between(&spaces[0], set);
    spaces[0].run("ethtool -K veth0 gso on tso on >/dev/null");
    let tso = conduct("net:veth0.tso=on,off");
    let found = against(&tso, 0, "off");
    assert_eq!(found["verdict"], "worse", "{found}");
    let size = conduct("net:veth0.gso_max_size=8000");
    let found = against(&size, 0, "8000");
    assert_eq!(found["verdict"], "worse", "{found}");
    assert!(found["ratio"].as_f64().expect("a ratio") < 0.5, "{found}");
    spaces[0].run("ethtool -K veth0 gso on tso off >/dev/null");
    let gso = conduct("net:veth0.gso=on,off");
    let found = against(&gso, 0, "off");
    assert_eq!(found["verdict"], "equivalent", "{found}");
    assert_eq!(gso["advice"]["what"], "keep");
    spaces[0].run("ethtool -K veth0 gso off tso off >/dev/null");
    spaces[1].run("ip link set veth0 mtu 9000");
    let mtu = conduct("net:veth0.mtu=1500,9000");
    let found = against(&mtu, 0, "9000");
    assert_eq!(found["verdict"], "better", "{found}");
    assert!(found["ratio"].as_f64().expect("a ratio") > 3.0, "{found}");
    assert!(spaces[0].run("ip link show veth0").contains("mtu 1500"));
}

/// An experiment in a namespace: 20 MB to the other one, by how large its packets are.
fn between(space: &space::Space, set: &str) -> Value {
    let bench = Bench::new(&format!("try-net-{}", set.len()));
    let words = [
        env!("CARGO_BIN_EXE_sonde"),
        "try",
        "--json",
        "-q",
        "-o",
        "experiment",
        "--record=--detail=samples",
        "--set",
        set,
        "--blocks",
        "6",
        "--no-aa",
        "-m",
        "net.mean_packet where interface = veth0 and direction = transmit:higher",
        "--",
        "iperf3",
        "-c",
        "10.9.8.2",
        "-n",
        "20M",
    ];
    let quoted: Vec<String> = words.iter().map(|w| format!("'{w}'")).collect();
    let place = bench.dir.display();
    let script = format!("cd {place}; SONDE_STATE={place}/state {}", quoted.join(" "));
    let text = space.run(&script);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Values of a disk's reading ahead, searched as a list: the trials of the search are not counted, and
/// what is confirmed is compared in fresh blocks.
#[test]
fn values_without_an_order_are_searched_by_halves_and_confirmed() {
    if !can_run(
        "values_without_an_order_are_searched_by_halves_and_confirmed",
        LOOP,
    ) {
        return;
    }
    let disk = ReadAhead::new("try-halves", 64 << 20, "0");
    let result = disk.conduct("--search", "0,4,1024,8,4096", &["--seed", "4"]);
    let found = result["search"]["found"].as_str().expect("a value");
    assert!(["1024", "4096"].contains(&found), "{found}");
    let trials = result["trials"].as_array().expect("trials");
    let of = |stage: &str| trials.iter().filter(|t| t["stage"] == stage).count();
    // Five once, three twice, two four times; then two baselines and the winner, six times each.
    assert_eq!((of("search"), of("block")), (5 + 3 * 2 + 2 * 4, 18));
    assert_eq!(result["trials_done"], 18);
    let verdict = against(&result, 0, found);
    assert_eq!(verdict["verdict"], "better", "{verdict}");
    assert_eq!(verdict["blocks"], 6, "a trial of the search was counted");
    assert_eq!(result["advice"]["arm"], found);
}

/// The kernel keeps reading ahead in whole pages: a range is searched by what it keeps.
#[test]
fn a_range_is_searched_by_the_values_that_the_kernel_keeps() {
    if !can_run(
        "a_range_is_searched_by_the_values_that_the_kernel_keeps",
        LOOP,
    ) {
        return;
    }
    let disk = ReadAhead::new("try-kept", 16 << 20, "32");
    let result = disk.conduct("--search", "4..1000", &[]);
    let trials = result["trials"].as_array().expect("trials").iter();
    let searched: Vec<f64> = trials
        .filter(|t| t["stage"] == "search")
        .map(|t| {
            t["arm"]
                .as_str()
                .expect("a name")
                .parse()
                .expect("a number")
        })
        .collect();
    assert!(searched.len() > 3, "{searched:?}");
    assert!(searched.iter().all(|v| v % 4.0 == 0.0), "{searched:?}");
    let found = result["search"]["found"].as_f64().expect("a value");
    assert!(searched.contains(&found), "{found} of {searched:?}");
    assert_eq!(
        against(&result, 0, &format!("{found}"))["verdict"],
        "better"
    );
}
