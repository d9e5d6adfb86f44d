//! Segments that are sent again: events, tables and the kernel count the same ones.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use super::space::{Space, pair};
use super::support::{Need, can_run, scratch, total};
use super::truth::{ip, same};
use super::{EVENTS, NEEDS, Told, alone, is_this_process, settle, totals};

/// Sends the frames of `spaces[side]` to the other's address, or to nobody's.
fn lead(spaces: &[Space; 2], side: usize, to: &str) {
    let peer = 2 - side;
    ip(&format!(
        "-n {} neigh replace 10.9.8.{peer} lladdr 02:00:00:00:00:{to} dev veth0 nud permanent",
        spaces[side].0
    ));
}

fn again(space: &Space) -> f64 {
    space.counter("snmp", "Tcp", "RetransSegs")
}

/// All that can be asked of segments sent again are those that the kernel counted.
fn all_are(run: &Path, counted: f64, port: &str) {
    for expression in [
        "tcp.retransmits".to_owned(),
        format!("tcp.retransmits where {port}"),
        format!("tcp.retransmits where {port} and state = retransmit"),
    ] {
        same(&expression, total(run, &expression), counted);
    }
}

fn wait(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// One call of the kernel sends as much again as the window takes, in one large buffer.
#[test]
fn each_segment_of_a_large_buffer_is_sent_again() {
    if !can_run("sent_again::each_segment_of_a_large_buffer", NEEDS) {
        return;
    }
    let _alone = alone();
    let spaces = pair("again");
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7041").expect("binds"));
    let mut here = spaces[0].within(|| TcpStream::connect("10.9.8.2:7041").expect("connects"));
    let (mut there, _) = listener.accept().expect("accepts");
    // The window is wide then.
    pour(&mut here, &mut there, 3_000_000, || {});
    let of_socket = || {
        let told = Told::of(&spaces[0], "dport = :7041");
        let retrans = told.fields.get("retrans").cloned().unwrap_or_default();
        let total = retrans.rsplit('/').next().and_then(|n| n.parse().ok());
        total.unwrap_or(0.0)
    };
    let before_of_socket: f64 = of_socket();
    let run = scratch("again").join("run");
    let before = again(&spaces[0]);
    let recording = spaces[0].record(&run, EVENTS);
    for _ in 0..3 {
        lead(&spaces, 0, "99");
        pour(&mut here, &mut there, 1_000_000, || {
            wait(100);
            lead(&spaces, 0, "02");
        });
    }
    settle();
    recording.end();
    let counted = again(&spaces[0]) - before;
    // A buffer of one segment would be one call a segment.
    assert!(counted >= 100.0, "{counted} segments were sent again");
    all_are(&run, counted, "remote_port = 7041");
    same("by the socket", of_socket() - before_of_socket, counted);
}

fn pour(here: &mut TcpStream, there: &mut TcpStream, bytes: usize, meanwhile: impl FnOnce()) {
    std::thread::scope(|scope| {
        scope.spawn(|| here.write_all(&vec![7; bytes]).expect("sends"));
        scope.spawn(|| there.read_exact(&mut vec![0; bytes]).expect("receives"));
        meanwhile();
    });
}

/// The timer runs out while the segment still waits in our own queue: the kernel tries, and sends
/// nothing.
#[test]
fn what_waits_in_a_queue_is_not_sent_again() {
    let needs = [NEEDS, &[Need::Program("tc")]].concat();
    if !can_run(
        "sent_again::what_waits_in_a_queue_is_not_sent_again",
        &needs,
    ) {
        return;
    }
    let _alone = alone();
    let spaces = pair("queued");
    // One segment is one buffer, which the queue keeps whole.
    spaces[0].run("ip link set veth0 gso_max_segs 1");
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7042").expect("binds"));
    let mut here = spaces[0].within(|| TcpStream::connect("10.9.8.2:7042").expect("connects"));
    let (mut there, _) = listener.accept().expect("accepts");
    let run = scratch("queued").join("run");
    let before = again(&spaces[0]);
    let recording = spaces[0].record(&run, EVENTS);
    // So that there are events.
    drop(spaces[0].within(|| TcpStream::connect("10.9.8.2:7042").expect("connects")));
    settle();
    // A segment takes more than a second, after the first two.
    let slow = "tc qdisc add dev veth0 root tbf rate 8kbit burst 3100 limit 1000000";
    spaces[0].run(slow);
    pour(&mut here, &mut there, 10_000, || {
        wait(2_500);
        spaces[0].run("tc qdisc change dev veth0 root tbf rate 800mbit burst 100k limit 1000000");
    });
    settle();
    recording.end();
    let counted = again(&spaces[0]) - before;
    all_are(&run, counted, "remote_port = 7042");
}

/// A first step, by whoever connects.
#[test]
fn first_steps_sent_again_belong_to_who_connects() {
    if !can_run("sent_again::first_steps_sent_again", NEEDS) {
        return;
    }
    let _alone = alone();
    let spaces = pair("first");
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7043").expect("binds"));
    let run = scratch("first").join("run");
    let before = again(&spaces[0]);
    let recording = spaces[0].record(&run, EVENTS);
    lead(&spaces, 0, "99");
    let here = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait(1_500);
            lead(&spaces, 0, "02");
        });
        spaces[0].within(|| TcpStream::connect("10.9.8.2:7043").expect("connects"))
    });
    let (mut there, _) = listener.accept().expect("accepts");
    let mut here = here;
    pour(&mut here, &mut there, 1_000, || {});
    settle();
    recording.end();
    let counted = again(&spaces[0]) - before;
    assert!(counted >= 2.0, "{counted} segments were sent again");
    all_are(&run, counted, "remote_port = 7043");
    let who = totals(&run, "tcp.retransmits by process where state = retransmit");
    assert!(
        who.len() == 1 && who.keys().all(|name| is_this_process(name)),
        "{who:?}"
    );
}

/// A second step, by whoever accepts: the listening socket sends it again.
#[test]
fn second_steps_sent_again_are_events_too() {
    if !can_run("sent_again::second_steps_sent_again", NEEDS) {
        return;
    }
    let _alone = alone();
    let spaces = pair("second");
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7044").expect("binds"));
    let run = scratch("second").join("run");
    let before = again(&spaces[1]);
    let recording = spaces[1].record(&run, EVENTS);
    lead(&spaces, 1, "99");
    let mut here = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait(1_500);
            lead(&spaces, 1, "01");
        });
        spaces[0].within(|| TcpStream::connect("10.9.8.2:7044").expect("connects"))
    });
    let (mut there, _) = listener.accept().expect("accepts");
    pour(&mut here, &mut there, 1_000, || {});
    settle();
    recording.end();
    let counted = again(&spaces[1]) - before;
    assert!(counted >= 1.0, "{counted} segments were sent again");
    all_are(&run, counted, "local_port = 7044 and remote = 10.9.8.1");
}
