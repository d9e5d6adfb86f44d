//! Devices, interfaces, groups and processes that come and go while recording: what they did
//! is in the run, once.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use recorder::{Recorder, diskstats, series, sleep, write_blocks};
use rustix::process::Signal;
use support::{AtEnd, LoopDevice, Need, can_run, get, scratch, succeed, total};
use truth::group::Own;

/// Records at 100 ms while `meanwhile` happens.
fn recorded(name: &str, sources: &str, meanwhile: impl FnOnce()) -> PathBuf {
    let run = scratch(name).join("run");
    let recorder = Recorder::start(&run, &["-q", "--every", "100ms", "--sources", sources]);
    sleep(0.3);
    meanwhile();
    sleep(0.3);
    recorder.signal(Signal::INT);
    let (status, said) = recorder.end();
    assert!(status.success(), "{said}");
    run
}

/// No interval has more than was possible: a counter that starts or vanishes gives no peak.
fn no_rate_above(run: &Path, expression: &str, most: f64) {
    for p in series(run, expression) {
        let amount = p.value * p.interval;
        assert!(
            amount <= most + 0.5 && p.value >= 0.0,
            "{expression}: {p:?}"
        );
    }
}

#[test]
fn a_disk_that_comes_and_goes() {
    if !can_run("a loop device", &[Need::Root, Need::Program("losetup")]) {
        return;
    }
    let mut seen = (String::new(), 0);
    let run = recorded("disk", "disk", || {
        let device = LoopDevice::new("churn", 8 << 20);
        let before = diskstats(&device.name());
        sleep(0.25);
        write_blocks(&device.path, 700);
        let after = diskstats(&device.name());
        // The sample after its last write sees it.
        sleep(0.25);
        seen = (device.name(), (after[6] - before[6]) * 512);
    });
    let (name, bytes) = seen;
    assert_eq!(bytes, 700 * 4096);
    let expression = format!("disk.bytes where device = {name} and op = write");
    assert_eq!(total(&run, &expression), bytes as f64);
    no_rate_above(&run, &expression, bytes as f64);
}

#[test]
fn an_interface_that_comes_and_goes() {
    let needs = [Need::Root, Need::Program("ip"), Need::Program("python3")];
    if !can_run("a pair of interfaces", &needs) {
        return;
    }
    let name = format!("sv{}", std::process::id());
    let space = format!("sonde-test-{}", std::process::id());
    let ip = |arguments: &str| {
        succeed(Command::new("ip").args(arguments.split_whitespace()));
    };
    ip(&format!("netns add {space}"));
    let _gone = AtEnd(|| {
        let _ = Command::new("ip").args(["link", "delete", &name]).output();
        let _ = Command::new("ip")
            .args(["netns", "delete", &space])
            .output();
    });
    let counted = |counter: &str| -> f64 {
        let path = format!("/sys/class/net/{name}/statistics/{counter}");
        fs::read_to_string(path).unwrap().trim().parse().unwrap()
    };
    let mut seen = (0.0, 0.0);
    let run = recorded("interface", "net", || {
        ip(&format!(
            "link add {name} type veth peer name peer netns {space}"
        ));
        // Nothing but our frames: no neighbour discovery.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
        ip(&format!("-n {space} link set peer up"));
        ip(&format!("link set {name} up"));
        sleep(0.25);
        let program = "import socket,sys\n\
                       s=socket.socket(socket.AF_PACKET,socket.SOCK_RAW)\n\
                       s.bind((sys.argv[1],0x88b5))\n\
                       f=b'\\xff'*6+b'\\x02'*6+b'\\x88\\xb5'+bytes(986)\n\
                       for i in range(100): s.send(f)";
        succeed(Command::new("python3").args(["-c", program, &name]));
        sleep(0.25);
        seen = (counted("tx_bytes"), counted("tx_packets"));
        ip(&format!("link delete {name}"));
    });
    assert_eq!(seen, (100_000.0, 100.0), "what was sent");
    for (measure, amount) in [("bytes", seen.0), ("packets", seen.1)] {
        let expression = format!("net.{measure} where interface = {name} and direction = transmit");
        assert_eq!(total(&run, &expression), amount, "{measure}");
        no_rate_above(&run, &expression, amount);
    }
}

#[test]
fn a_group_that_dies() {
    let Some(first) = Own::needed("dies") else {
        return;
    };
    let name = first.name();
    drop(first);
    let mut used = 0.0;
    let run = recorded("group", "cgroup", || {
        for _ in 0..2 {
            // Once more under the same name: another group, its counters from zero.
            let group = Own::new("dies").unwrap();
            assert_eq!(group.name(), name);
            let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
            let script = format!("{}; {burn}", group.enter());
            succeed(Command::new("sh").args(["-c", &script]));
            sleep(0.25);
            used += group.seconds();
        }
    });
    let time = total(&run, &format!("cgroup.time where cgroup = {name}"));
    assert!(used > 0.05, "the burner did nothing: {used} s");
    assert!((time - used).abs() <= 0.01 * used, "{time} s of {used} s");
    no_rate_above(&run, &format!("cgroup.time where cgroup = {name}"), used);
}

#[test]
fn a_process_that_comes_and_goes() {
    let mut pid = 0;
    let run = recorded("process", "process,cpu", || {
        let script = "while :; do :; done";
        let mut burner: Child = Command::new("timeout")
            .args(["1", "sh", "-c", script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        pid = burner.id();
        burner.wait().unwrap();
    });
    let answer = get(&run, "process.time by process where process ~ '^sh\\['");
    let groups = answer["groups"].as_array().unwrap();
    let most = groups
        .iter()
        .map(|g| g["total"].as_f64().unwrap())
        .fold(0.0, f64::max);
    // It had at most a second, and on a busy machine less; what it did after its last sample
    // is its parent's.
    assert!((0.2..=1.05).contains(&most), "{answer}");
    let named = total(&run, "process.time");
    let all = total(&run, "cpu.time");
    // Ticks of 10 ms for each process and each processor.
    assert!(
        named <= all + 0.2,
        "{named} s of processes on {all} s of processors ({pid})"
    );
}
