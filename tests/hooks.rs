//! Each hook of the kernel that programs wait at: what `doctor` and a run say of it, and that a
//! kernel without it costs only what depends on it.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, wait, and tell why they skip"
)]

mod support;
mod truth;
#[path = "truth/undisturbed.rs"]
mod undisturbed;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use support::{ALL_EVENTS, LoopDevice, Need, can_run, get, output, scratch, sonde, succeed, total};
use undisturbed::{Lacking, alone};

const NEEDS: &[Need] = &[Need::Root, Need::Path("/sys/kernel/btf/vmlinux")];

/// Hooks without which their source has nothing to tell.
const NEEDED: [(&str, &str); 9] = [
    ("bpf-disk", "block_rq_issue"),
    ("bpf-disk", "block_rq_complete"),
    ("bpf-net", "net_dev_start_xmit"),
    ("bpf-net", "netif_receive_skb"),
    ("bpf-tcp", "inet_sock_set_state"),
    ("bpf-tcp", "iter/tcp"),
    ("bpf-cpu", "sched_switch"),
    ("bpf-file", "sys_enter"),
    ("bpf-file", "sys_exit"),
];

/// Those of devices without a queue of requests, which wait until such a device comes.
const OF_BIOS: [&str; 2] = ["block_bio_complete", "block_bio_queue"];

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// What `doctor` says on a kernel that seems to lack these hooks.
fn doctor(without: &str) -> Vec<Value> {
    let mut doctor = sonde();
    doctor.env("SONDE_WITHOUT_HOOKS", without);
    let said = succeed(doctor.args(["doctor", "--json"]));
    list(&serde_json::from_str(&said).expect("JSON")).clone()
}

/// The source of that name.
fn source<'v>(all: &'v [Value], name: &str) -> &'v Value {
    let mut all = all.iter();
    all.find(|s| s["source"] == name).expect("a source")
}

/// The programs of all sources.
fn programs(all: &[Value]) -> Vec<&Value> {
    all.iter().flat_map(|s| list(&s["programs"])).collect()
}

#[test]
fn without_a_hook_only_what_waits_there_is_unsupported() {
    let name = "without_a_hook_only_what_waits_there_is_unsupported";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    let whole = doctor("");
    let is_needed = |hook: &str| NEEDED.iter().any(|(_, needed)| *needed == hook);
    let mut hooks: Vec<&str> = programs(&whole).iter().map(|p| text(p, "hook")).collect();
    hooks.extend(OF_BIOS);
    hooks.sort_unstable();
    hooks.dedup();
    assert!(hooks.len() > 20, "{hooks:?}");
    for (source_name, hook) in NEEDED {
        let all = doctor(hook);
        let state = source(&all, source_name);
        assert_eq!(state["state"], "unsupported", "without {hook}: {state}");
        assert!(text(state, "detail").contains(hook), "{hook}: {state}");
        for other in whole.iter().filter(|s| s["source"] != source_name) {
            let now = source(&all, text(other, "source"));
            assert_eq!(now["state"], other["state"], "without {hook}: {now}");
        }
        assert!(hooks.contains(&hook), "{hook} is none of {hooks:?}");
    }
    // The others together: each is its own loss only, so all are.
    let useful: Vec<&str> = hooks.into_iter().filter(|h| !is_needed(h)).collect();
    for without in useful
        .iter()
        .map(|hook| vec![*hook])
        .chain([useful.clone()])
    {
        let all = doctor(&without.join(","));
        for state in &all {
            let before = source(&whole, text(state, "source"));
            assert_eq!(state["state"], before["state"], "without {without:?}");
        }
        let mut lacking = 0;
        for program in programs(&all) {
            let is_without = without.contains(&text(program, "hook"));
            let wanted = match text(program, "hook") {
                _ if is_without => "unsupported",
                // Not all kernels allow these.
                hook if hook.starts_with("fentry/") => text(
                    programs(&whole)
                        .into_iter()
                        .find(|p| p["hook"] == hook)
                        .expect("as before"),
                    "state",
                ),
                _ => "attached",
            };
            assert_eq!(program["state"], wanted, "without {without:?}: {program}");
            lacking += usize::from(is_without);
        }
        let waiting = without.iter().filter(|hook| OF_BIOS.contains(hook));
        assert!(lacking >= without.len() - waiting.count(), "{without:?}");
    }
}

/// Work for processors, loopback and a disk until it is dropped.
struct Work {
    stop: &'static AtomicBool,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Work {
    fn new(device: &Path) -> Work {
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let device = device.to_owned();
        let on = move || !stop.load(Ordering::Relaxed);
        let reads = std::thread::spawn(move || {
            while on() {
                let mut dd = Command::new("dd");
                dd.args(["of=/dev/null", "bs=4k", "count=500", "iflag=direct"]);
                dd.args(["status=none", &format!("if={}", device.display())]);
                succeed(&mut dd);
            }
        });
        let connects = std::thread::spawn(move || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
            let address = listener.local_addr().expect("an address");
            while on() {
                let mut here = TcpStream::connect(address).expect("connects");
                let (mut there, _) = listener.accept().expect("accepts");
                here.write_all(b"a question").expect("asks");
                there.read_exact(&mut [0; 10]).expect("a question");
                there.write_all(b"an answer").expect("answers");
                here.read_exact(&mut [0; 9]).expect("an answer");
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let threads = vec![reads, connects];
        Work { stop, threads }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

/// Those that work of any kind runs.
const BUSY: [&str; 6] = [
    "disk_issue",
    "disk_complete",
    "net_transmit",
    "net_receive",
    "tcp_change",
    "cpu_switch",
];

/// A program that ran was measured: so many times, each for so long as programs take.
fn is_measured(program: &Value) {
    let number = |field: &str| program[field].as_f64().expect("a number");
    assert_eq!(program["state"], "attached", "{program}");
    let (hits, seconds) = (number("hits"), number("measured_seconds"));
    assert!(hits > 20.0 && hits < 1e7 * seconds, "{program}");
    // Two empty programs take some 50 ns each; an I/O with all it has costs less than 250 ns here,
    // and on a processor that is shared some may take long.
    let each = number("time_seconds") / hits;
    assert!(
        (10e-9..100e-6).contains(&each),
        "{each} s a time: {program}"
    );
    assert!(number("missed") <= hits, "{program}");
}

#[test]
fn programs_say_how_often_they_ran_and_how_long() {
    let name = "programs_say_how_often_they_ran_and_how_long";
    let needs = [NEEDS, &["losetup", "dd"].map(Need::Program)].concat();
    if !can_run(name, &needs) {
        return;
    }
    let _alone = alone();
    let device = LoopDevice::new("measured", 16 << 20);
    let _work = Work::new(&device.path);
    let all = doctor("");
    for busy in BUSY {
        let programs = programs(&all);
        let found = programs.iter().find(|p| p["name"] == busy);
        is_measured(found.unwrap_or_else(|| panic!("no {busy}")));
    }
    // The same for people: a line a program, below its source.
    let said = succeed(sonde().arg("doctor"));
    let mut lines = said.lines().skip_while(|l| !l.starts_with("bpf-net"));
    let line = lines.find(|l| l.trim_start().starts_with("net_dev_start_xmit"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[1], "attached,", "{line}");
    let each: f64 = words[2].parse().expect("nanoseconds a time");
    assert!((10.0..100_000.0).contains(&each), "{line}");
    assert!(words[3..6] == ["ns", "a", "time,"], "{line}");
    let rate: f64 = words[6].parse().expect("times a second");
    assert!(rate > 10.0, "{line}");
    // A run has them too: programs are measured for a tenth of a second of each three.
    let run = scratch("measured").join("run");
    let mut record = sonde();
    record.args(["record", "-q", "--every=250ms", "--for=3s", "-o"]);
    succeed(record.arg(&run));
    let manifest = std::fs::read_to_string(run.join("run.json")).expect("run.json");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    for busy in BUSY {
        let found = list(&manifest["programs"]).iter();
        let found = found.clone().find(|p| p["name"] == busy);
        is_measured(found.unwrap_or_else(|| panic!("no {busy}")));
    }
}

/// Without the right to load programs each source that has some is denied, with what would allow
/// it; with half of the right, too.
#[test]
fn without_the_right_programs_are_denied_with_the_remedy() {
    let name = "without_the_right_programs_are_denied_with_the_remedy";
    let needs = [NEEDS, &[Need::Program("setpriv")]].concat();
    if !can_run(name, &needs) {
        return;
    }
    let _alone = alone();
    let dir = scratch("denied-doctor");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&dir, mode).expect("the directory is ours");
    // The build directory may be where others cannot go.
    let binary = dir.join("sonde");
    std::fs::copy(env!("CARGO_BIN_EXE_sonde"), &binary).expect("a copy");
    let half = ["--inh-caps=+bpf", "--ambient-caps=+bpf"];
    for rights in [&[][..], &half[..]] {
        let mut doctor = Command::new("setpriv");
        doctor.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        doctor.args(rights).arg(&binary);
        let said = succeed(doctor.args(["doctor", "--json"]).current_dir(&dir));
        let all: Value = serde_json::from_str(&said).expect("JSON");
        for name in ["bpf-disk", "bpf-net", "bpf-tcp", "bpf-cpu", "bpf-file"] {
            let state = source(list(&all), name);
            assert_eq!(state["state"], "denied", "{rights:?}: {state}");
            let remedy = text(state, "detail");
            assert!(remedy.contains("sudo sonde"), "{rights:?}: {state}");
            assert!(remedy.contains("CAP_PERFMON"), "{rights:?}: {state}");
            assert_eq!(list(&state["programs"]).len(), 0, "{state}");
        }
        assert_eq!(source(list(&all), "cpu")["state"], "available");
    }
}

/// A run of a kernel that seems to lack these hooks, with work in it.
fn recorded(name: &str, without: &str, device: &LoopDevice) -> PathBuf {
    let run = scratch(name).join("run");
    let mut record = sonde();
    record.env("SONDE_WITHOUT_HOOKS", without);
    record.args(["record", "-q", "--every=250ms", "--events=disk,net,tcp"]);
    record.arg(ALL_EVENTS);
    record.arg("-o").arg(&run).arg("--");
    // Long enough that all work has its turn on a busy machine.
    let script = format!(
        "dd if={} of=/dev/null bs=4k count=4000 iflag=direct status=none; sleep 1",
        device.path.display()
    );
    record.args(["sh", "-c", &script]);
    succeed(&mut record);
    run
}

/// What is asked for of a run, in one line.
fn asked(run: &Path, expression: &str) -> String {
    let out = output(sonde().arg("get").arg(run).arg(expression));
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_missing_hook_would_have_told_is_missing_and_said_to_be() {
    let name = "what_a_missing_hook_would_have_told_is_missing_and_said_to_be";
    let needs = [NEEDS, &["losetup", "dd"].map(Need::Program)].concat();
    if !can_run(name, &needs) {
        return;
    }
    let _alone = alone();
    let device = LoopDevice::new("hooks", 16 << 20);
    let _work = Work::new(&device.path);
    let of = format!("where device = {}", device.name());
    let loopback = "where layer = loopback";
    let all = [
        "sched_wakeup",
        "block_io_start",
        "block_getrq",
        "block_rq_requeue",
        "iomap_dio_rw_begin",
        "net_dev_queue",
        "net_dev_xmit",
        "tcp_probe",
        "tcp_retransmit_skb",
    ];
    let whole = recorded("hooks-none", "", &device);
    let run = recorded("hooks-all", &all.join(","), &device);
    // What does not need them is there in both.
    for expression in [
        "cpu.slices",
        &format!("disk.ios by latency {of}"),
        &format!("disk.bytes by sync {of}"),
        &format!("net.segments by context {loopback}"),
        "tcp.connects by connect_time",
        "tcp.bytes by remote",
    ] {
        for run in [&whole, &run] {
            let answer = get(run, expression);
            let known = list(&answer["groups"]).iter();
            let known = known.filter(|g| g["total"].as_f64() > Some(0.0));
            assert!(known.count() > 0, "{expression}: {answer}");
        }
    }
    for (expression, hook) in [
        ("cpu.waits by wait", "sched_wakeup"),
        ("tcp.rtt_samples by rtt", "tcp_probe"),
    ] {
        let said = asked(&run, expression);
        let words = format!("without the hook `{hook}` (unsupported: ");
        assert!(said.contains(&words), "{expression}: {said}");
        assert!(!said.contains("nothing to say"), "{expression}: {said}");
        assert!(total_of(&whole, expression) > 0.0, "{expression}");
    }
    for (expression, hook) in [
        ("cpu.waits", "sched_wakeup"),
        (&*format!("disk.ios by process {of}"), "block_io_start"),
        (&*format!("disk.requeues {of}"), "block_rq_requeue"),
        (&*format!("disk.ios by file {of}"), "iomap_dio_rw_begin"),
        (
            &*format!("net.segments by stage {loopback}"),
            "net_dev_queue",
        ),
        (&*format!("net.segments by size {loopback}"), "net_dev_xmit"),
        ("tcp.state_changes by state, process", "tcp_retransmit_skb"),
    ] {
        let said = asked(&run, expression);
        let words = format!("without the hook `{hook}` (unsupported: ");
        assert!(said.contains(&words), "{expression}: {said}");
        let said = asked(&whole, expression);
        assert!(!said.contains("without the hook"), "{expression}: {said}");
    }
    // Nobody is named who is not known.
    let who = get(&run, &format!("disk.ios by process {of}"));
    for group in list(&who["groups"]) {
        assert_eq!(group["key"]["process"], "(unknown)", "{who}");
    }
    let queued = format!("net.segments {loopback} and stage = queue");
    assert_eq!(total(&run, &queued), 0.0);
}

#[test]
fn who_made_an_io_is_known_where_only_its_bio_is_told() {
    let name = "who_made_an_io_is_known_where_only_its_bio_is_told";
    let needs = [NEEDS, &["losetup", "dd"].map(Need::Program)].concat();
    if !can_run(name, &needs) {
        return;
    }
    let _alone = alone();
    let device = LoopDevice::new("hooks-bio", 16 << 20);
    let run = recorded("hooks-bio", "block_io_start", &device);
    let of = format!("where device = {}", device.name());
    assert_eq!(total(&run, &format!("disk.ios {of}")), 4000.0);
    for dimension in ["command", "cgroup"] {
        let expression = format!("disk.ios by {dimension} {of}");
        let said = asked(&run, &expression);
        assert!(!said.contains("without the hook"), "{expression}: {said}");
    }
    // An I/O whose end the kernel did not tell is counted, and no event.
    let lacking = Lacking::of(&run, 4000.0);
    for whose in ["command = dd", "cgroup ~ /"] {
        let ios = total(&run, &format!("disk.ios {of} and {whose}"));
        lacking.ios(whose, ios, 4000.0);
    }
}

/// The sum of all groups.
fn total_of(run: &Path, expression: &str) -> f64 {
    let answer = get(run, expression);
    let groups = list(&answer["groups"]).iter();
    groups.filter_map(|g| g["total"].as_f64()).sum()
}
