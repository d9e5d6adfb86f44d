//! TCP connections against what the test sent and received, in network namespaces of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and wait"
)]

#[path = "support/recorder.rs"]
mod recorder;
#[path = "support/space.rs"]
mod space;
mod support;
mod truth;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use recorder::series;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::Value;
use space::{NEEDS, Space, pair};
use support::{can_run, get, note_again, scratch, total};
use truth::{Totals, same};

/// One keeps the machine busy, another has a second for its work.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const HISTOGRAMS: &[&str] = &["--detail", "distributions"];

fn listen(space: &Space, port: u16) -> TcpListener {
    let address = format!("10.9.8.2:{port}");
    space.within(|| TcpListener::bind(address).expect("binds"))
}

fn connect(space: &Space, port: u16) -> TcpStream {
    space.within(|| TcpStream::connect(format!("10.9.8.2:{port}")).expect("connects"))
}

/// The last acknowledgements are on their way.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Totals by the words of some dimensions, joined.
fn totals(run: &Path, expression: &str) -> BTreeMap<String, f64> {
    let answer = get(run, expression);
    let word = |v: &Value| v.as_str().expect("a word").to_owned();
    let groups = answer["groups"].as_array().expect("groups").iter();
    groups
        .map(|g| {
            let key = g["key"].as_object().expect("a key");
            let words: Vec<String> = key.values().map(word).collect();
            (words.join(" "), g["total"].as_f64().expect("a total"))
        })
        .collect()
}

/// Sends and receives so much over a connection to `listener`, and closes both ends; the port
/// of this side.
fn exchange(space: &Space, listener: &TcpListener, port: u16, up: usize, down: usize) -> u16 {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut there, _) = listener.accept().expect("accepts");
            let got = std::io::copy(&mut there, &mut std::io::sink()).expect("receives");
            assert_eq!(got, up as u64);
            there.write_all(&vec![1; down]).expect("sends");
        });
        let mut here = connect(space, port);
        let own = here.local_addr().expect("an address").port();
        here.write_all(&vec![2; up]).expect("sends");
        here.shutdown(Shutdown::Write).expect("ends");
        let mut rest = Vec::new();
        here.read_to_end(&mut rest).expect("receives");
        assert_eq!(rest.len(), down);
        own
    })
}

#[test]
fn bytes_of_connections_are_those_that_were_sent() {
    if !can_run("bytes_of_connections_are_those_that_were_sent", NEEDS) {
        return;
    }
    let spaces = pair("bytes");
    let listener = listen(&spaces[1], 7001);
    // One that is there before the recording counts from its start on, one that is there after
    // it counts until its end.
    let mut early = connect(&spaces[0], 7001);
    let (mut early_there, _) = listener.accept().expect("accepts");
    early.write_all(&[1; 5_000]).expect("sends");
    early_there.read_exact(&mut [0; 5_000]).expect("receives");
    settle();
    let run = scratch("bytes").join("run");
    let recording = spaces[0].record(&run, HISTOGRAMS);
    let sizes = [(1, 0), (0, 1), (100, 20_000), (3_000_000, 77)];
    let ports = sizes.map(|(up, down)| exchange(&spaces[0], &listener, 7001, up, down));
    early.write_all(&[2; 12_345]).expect("sends");
    early_there.read_exact(&mut [0; 12_345]).expect("receives");
    early_there.write_all(&[3; 678]).expect("sends");
    early.read_exact(&mut [0; 678]).expect("receives");
    settle();
    recording.end();
    let by_port = totals(
        &run,
        "tcp.bytes by local_port, direction where remote_port = 7001",
    );
    let of = |port: u16, direction: &str| {
        let found = by_port.get(&format!("{port} {direction}"));
        found.copied().unwrap_or(0.0)
    };
    for ((up, down), port) in sizes.into_iter().zip(ports) {
        same(&format!("sent of {up}"), of(port, "transmit"), up as f64);
        same(
            &format!("received of {down}"),
            of(port, "receive"),
            down as f64,
        );
    }
    let early_port = early.local_addr().expect("an address").port();
    same(
        "sent over the early one",
        of(early_port, "transmit"),
        12_345.0,
    );
    same("received over it", of(early_port, "receive"), 678.0);
    let who = totals(&run, "tcp.bytes by command where remote = 10.9.8.2");
    let names: Vec<&String> = who.keys().collect();
    assert!(
        names.len() == 1 && names[0].starts_with("truth_conn"),
        "{who:?}"
    );
    // Segments are those of the interface, but for what is no connection's: none here.
    assert!(total(&run, "tcp.segments where remote = 10.9.8.2") > 100.0);
}

/// How many short connections.
const COUNT: usize = 1000;

#[test]
fn a_thousand_short_connections_are_all_counted() {
    if !can_run("a_thousand_short_connections_are_all_counted", NEEDS) {
        return;
    }
    let spaces = pair("short");
    let listener = listen(&spaces[1], 7002);
    let run = scratch("short").join("run");
    let before = spaces[0].counter("snmp", "Tcp", "ActiveOpens");
    let recording = spaces[0].record(&run, HISTOGRAMS);
    let from = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..COUNT {
                let (mut there, _) = listener.accept().expect("accepts");
                there.read_to_end(&mut Vec::new()).expect("receives");
                there.write_all(b"answer").expect("sends");
            }
        });
        spaces[0].within(|| {
            for _ in 0..COUNT {
                let mut here = TcpStream::connect("10.9.8.2:7002").expect("connects");
                here.write_all(b"question").expect("sends");
                here.shutdown(Shutdown::Write).expect("ends");
                here.read_to_end(&mut Vec::new()).expect("receives");
            }
        });
    });
    let took = from.elapsed().as_secs_f64();
    settle();
    recording.end();
    let opened = spaces[0].counter("snmp", "Tcp", "ActiveOpens") - before;
    same("connections opened", opened, COUNT as f64);
    let connects = total(
        &run,
        "tcp.connects where remote = 10.9.8.2 and remote_port = 7002",
    );
    same("connects", connects, COUNT as f64);
    let changes = Totals::of(&run, "tcp.state_changes by state");
    for state in [
        "CLOSE to SYN_SENT",
        "SYN_SENT to ESTABLISHED",
        "ESTABLISHED to FIN_WAIT1",
    ] {
        same(state, changes.get(state), COUNT as f64);
    }
    // Most of them are in `(other)`, and none is lost.
    let bytes = Totals::of(&run, "tcp.bytes by direction");
    same("bytes sent", bytes.get("transmit"), (8 * COUNT) as f64);
    same("bytes received", bytes.get("receive"), (6 * COUNT) as f64);
    let answer = get(
        &run,
        "tcp.connects by connect_time where remote_port = 7002",
    );
    let groups = answer["groups"].as_array().expect("groups").iter();
    let least = groups.map(|g| {
        let from = g["key"]["connect_time"]["from"].as_f64().expect("a number");
        from * g["total"].as_f64().expect("a total")
    });
    let least: f64 = least.sum();
    assert!(0.0 < least && least < took, "{least} s of {took} s");
}

#[test]
fn a_slow_link_shows_in_times_to_connect_and_in_round_trips() {
    let name = "a_slow_link_shows_in_times_to_connect_and_in_round_trips";
    if !can_run(name, NEEDS) {
        return;
    }
    let spaces = pair("slow");
    let listener = listen(&spaces[1], 7003);
    // Nobody answers for the other side's address at first: the first step waits and is sent
    // again after a second.
    spaces[0].run("ip link set veth0 down");
    let run = scratch("slow").join("run");
    spaces[0].run(
        "ip link set veth0 up; \
         ip neigh replace 10.9.8.2 lladdr 02:00:00:00:00:99 dev veth0 nud permanent",
    );
    let recording = spaces[0].record(&run, HISTOGRAMS);
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            spaces[0]
                .run("ip neigh replace 10.9.8.2 lladdr 02:00:00:00:00:02 dev veth0 nud permanent");
        });
        exchange(&spaces[0], &listener, 7003, 100, 100);
    });
    let took = began.elapsed().as_secs_f64();
    settle();
    recording.end();
    let answer = get(
        &run,
        "tcp.connects by connect_time where remote_port = 7003",
    );
    let groups = answer["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 1, "{answer}");
    let from = groups[0]["key"]["connect_time"]["from"]
        .as_f64()
        .expect("a number");
    assert!(
        (0.9..took).contains(&from),
        "connecting took {from} s of {took} s"
    );
    let again = total(&run, "tcp.retransmits where remote_port = 7003");
    same("segments sent again", again, 1.0);
    // Round trips of the connection itself took no such time.
    let answer = get(&run, "tcp.rtt_samples by rtt where remote = 10.9.8.2");
    let rtts = answer["groups"].as_array().expect("groups");
    let longest = rtts
        .iter()
        .map(|g| g["key"]["rtt"]["to"].as_f64().expect("a number"));
    let longest = longest.fold(0.0, f64::max);
    assert!(
        0.0 < longest && longest < 0.5,
        "a round trip of {longest} s"
    );
}

/// Segments come without a pause, also while a sample is taken: none of its intervals goes
/// without the times of its round trips.
#[test]
fn round_trips_of_a_busy_connection_are_in_each_interval() {
    let name = "round_trips_of_a_busy_connection_are_in_each_interval";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    let spaces = pair("steady");
    let listener = listen(&spaces[1], 7005);
    let run = scratch("steady").join("run");
    let rounds = AtomicU64::new(0);
    let mut here = connect(&spaces[0], 7005);
    let (mut there, _) = listener.accept().expect("accepts");
    let until_end = here.try_clone().expect("another handle");
    let (before, after) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut byte = [0; 1];
            while there.read(&mut byte).is_ok_and(|n| n > 0) {
                there.write_all(&byte).expect("answers");
            }
        });
        scope.spawn(|| {
            let mut byte = [7; 1];
            while here.write_all(&byte).is_ok() && here.read(&mut byte).is_ok_and(|n| n > 0) {
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let before = rounds.load(Ordering::Relaxed);
        let recording = spaces[0].record(&run, HISTOGRAMS);
        let begun = rounds.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(2));
        let ends = rounds.load(Ordering::Relaxed);
        recording.end();
        let after = rounds.load(Ordering::Relaxed);
        until_end.shutdown(Shutdown::Write).expect("ends");
        ((ends - begun) as f64, (after - before) as f64)
    });
    // Each answer is a segment, and nearly all segments are answers.
    let samples = total(&run, "tcp.rtt_samples where remote = 10.9.8.2");
    assert!(
        (before * 0.95..after * 1.05).contains(&samples),
        "{samples} samples of {before} to {after} round trips"
    );
    let rtts = series(&run, "tcp.rtt_samples where remote = 10.9.8.2");
    let segments = series(
        &run,
        "tcp.segments where remote = 10.9.8.2 and direction = receive",
    );
    // They are read one after the other, on a busy machine with a pause between.
    assert!(rtts.len() > 2, "{rtts:?}");
    for (rtts, segments) in rtts.iter().zip(&segments) {
        assert!(
            rtts.value > 0.3 * segments.value,
            "{rtts:?}, where {segments:?} came"
        );
    }
}

/// So many under way at once that several want the same place in the program's table.
#[test]
fn a_thousand_connects_under_way_at_once_are_all_timed() {
    let name = "a_thousand_connects_under_way_at_once_are_all_timed";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    for again in 1..=3 {
        // What the kernel runs no program for it counts nowhere: here many connections at once
        // are done in one go, and on some kernels that may come on top of a thread of init, for
        // which no program is run. All it did tell are timed, each time.
        let told = connect_at_once();
        if told == COUNT as f64 {
            return;
        }
        note_again(&format!(
            "the kernel told {told} of {COUNT} connections, try {again}"
        ));
    }
    panic!("the kernel left connections out three times");
}

/// A thousand connects at once, all of them timed that the kernel told, which is the answer.
fn connect_at_once() -> f64 {
    let spaces = pair("at-once");
    let listener = listen(&spaces[1], 7004);
    // They come all at once: nobody is turned away because the queue is full.
    rustix::net::listen(&listener, 4096).expect("a longer queue");
    // The usual limit of open files is 1,024.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum.map(|most| most.min(8192));
    setrlimit(Resource::Nofile, limit).expect("less than the most");
    // Nobody answers for the other side's address at first: each first step is sent again after
    // a second, when all are under way.
    let answer_at = |host: &str| {
        spaces[0].run(&format!(
            "ip neigh replace 10.9.8.2 lladdr 02:00:00:00:00:{host} dev veth0 nud permanent"
        ));
    };
    answer_at("99");
    let run = scratch("at-once").join("run");
    let recording = spaces[0].record(&run, HISTOGRAMS);
    let began = Instant::now();
    let there: SocketAddrV4 = "10.9.8.2:7004".parse().expect("an address");
    let sockets: Vec<OwnedFd> = spaces[0].within(|| {
        let connect = |_| {
            let socket = socket_with(
                AddressFamily::INET,
                SocketType::STREAM,
                SocketFlags::NONBLOCK,
                None,
            );
            let socket = socket.expect("a socket");
            let tried = rustix::net::connect(&socket, &there);
            assert_eq!(tried, Err(rustix::io::Errno::INPROGRESS));
            socket
        };
        (0..COUNT).map(connect).collect()
    });
    let all_began = began.elapsed().as_secs_f64();
    assert!(all_began < 0.8, "{all_began} s to begin all");
    answer_at("02");
    for _ in 0..COUNT {
        drop(listener.accept().expect("accepts"));
    }
    let took = began.elapsed().as_secs_f64();
    settle();
    drop(sockets);
    settle();
    recording.end();
    let only = "where remote_port = 7004";
    let told = Totals::of(&run, "tcp.state_changes by state").get("SYN_SENT to ESTABLISHED");
    let timed = total(&run, &format!("tcp.connects {only}"));
    same("connects", timed, told);
    let answer = get(&run, &format!("tcp.connects by connect_time {only}"));
    for group in answer["groups"].as_array().expect("groups") {
        let from = group["key"]["connect_time"]["from"]
            .as_f64()
            .expect("a number");
        assert!(
            (0.9..took).contains(&from),
            "connecting took {from} s of {took} s"
        );
    }
    let unseen = total(&run, "self.unseen where table = tcp_event");
    same("connects that could not be followed", unseen, 0.0);
    told
}
