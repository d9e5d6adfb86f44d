//! In whose time segments pass when there are so many that the kernel leaves them to its thread.

use std::net::UdpSocket;
use std::sync::PoisonError;
use std::time::Duration;

use super::space::{NEEDS, Space};
use super::support::{can_run, note_again, scratch};
use super::truth::{Totals, same};
use super::{HISTOGRAMS, STORM, settle};

/// Seconds of a processor that the threads of soft interrupts have had (`/proc/PID/stat`, in steps
/// of 10 ms).
fn time_of_threads() -> f64 {
    let mut ticks = 0.0;
    for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
        let text = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((name, fields)) = text.rsplit_once(") ") else {
            continue;
        };
        if name.contains("(ksoftirqd/") {
            let number = |f: &str| f.parse::<f64>().expect("a number");
            ticks += fields.split(' ').skip(11).take(2).map(number).sum::<f64>();
        }
    }
    ticks / 100.0
}

/// Two bridges joined by two pairs of interfaces: a frame for everybody goes round and round.
fn ring() -> Space {
    let space = Space::new("ring");
    let mut script = String::new();
    for bridge in ["br0", "br1"] {
        script += &format!(
            "ip link add {bridge} type bridge stp_state 0 mcast_snooping 0
             ip link set {bridge} up\n"
        );
    }
    for pair in [0, 1] {
        script += &format!("ip link add p{pair} type veth peer name q{pair}\n");
        for (end, bridge) in [("p", "br0"), ("q", "br1")] {
            script += &format!(
                "ip link set {end}{pair} up
                 [ {end}{pair} = q1 ] || ip link set {end}{pair} master {bridge}\n"
            );
        }
    }
    script += "ip address add 10.7.0.1/24 dev br0\n";
    space.run(&script);
    space
}

#[test]
fn a_storm_passes_in_the_time_of_the_kernels_thread() {
    let name = "contexts::a_storm_passes_in_the_time_of_the_kernels_thread";
    if !can_run(name, NEEDS) {
        return;
    }
    let _storm = STORM.write().unwrap_or_else(PoisonError::into_inner);
    for again in 1..=6 {
        // What the kernel runs no program for counts nowhere: on some kernels that is a soft
        // interrupt on top of a thread of init, so a storm is short.
        let Some(missing) = storm() else {
            return;
        };
        note_again(&format!("the kernel did not tell {missing}, try {again}"));
    }
    panic!("the kernel left segments out six times");
}

/// A storm, all of whose segments have a context that the kernel told; what it did not.
fn storm() -> Option<String> {
    let space = ring();
    let run = scratch("storm").join("run");
    let before = space.counters("p0");
    let recording = space.record(&run, HISTOGRAMS);
    let threads_before = time_of_threads();
    // The ring is closed, something is sent to everybody, and the ring is opened.
    space.run("ip link set q1 master br1");
    space.within(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").expect("binds");
        socket.set_broadcast(true).expect("an option");
        socket.send_to(&[1], "10.7.0.255:9").expect("sends");
    });
    std::thread::sleep(Duration::from_millis(150));
    space.run("ip link set q1 nomaster");
    let by_threads = time_of_threads() - threads_before;
    settle();
    recording.end();
    let after = space.counters("p0");
    let counted: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    assert!(counted[3] > 2_000.0, "it is no storm: {counted:?}");
    assert!(by_threads > 0.02, "the threads had {by_threads} s");
    let all = [
        ("bytes", "receive", counted[0]),
        ("segments", "receive", counted[1]),
        ("bytes", "transmit", counted[2]),
        ("segments", "transmit", counted[3]),
    ];
    let mut missing = None;
    for (measure, direction, counted) in all {
        let part = format!("interface = p0 and stage = driver and direction = {direction}");
        let expression = format!("net.{measure} by context where {part}");
        let contexts = Totals::of(&run, &expression);
        let [process, softirq, thread] =
            ["process", "softirq", "ksoftirqd"].map(|c| contexts.get(c));
        same(&expression, process + softirq + thread, contexts.sum());
        assert!(
            thread > 0.1 * counted,
            "{direction}: {process} {measure} by processes, {softirq} in soft interrupts, {thread} by threads, {counted} in all"
        );
        let sum = contexts.sum();
        if sum < counted {
            missing = Some(format!("{} {measure}, {direction}", counted - sum));
        } else {
            same(&expression, sum, counted);
        }
    }
    missing
}
