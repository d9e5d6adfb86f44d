//! Networks against a transfer whose bytes are known, and against the kernel's counters, in
//! network namespaces of the test's own.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and wait"
)]

#[path = "support/space.rs"]
mod space;
mod support;
mod truth;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use space::{NEEDS, Space, pair};
use support::{can_run, scratch, total};
use truth::{Totals, bounded, same};

/// Sends `bytes` from the first to the second and waits until both have closed.
fn transfer(spaces: &[Space; 2], bytes: usize) {
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7000").expect("binds"));
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("accepts");
            std::io::copy(&mut stream, &mut std::io::sink()).expect("receives")
        });
        spaces[0].within(|| {
            let mut stream = TcpStream::connect("10.9.8.2:7000").expect("connects");
            stream.write_all(&vec![7; bytes]).expect("sends");
            stream.shutdown(std::net::Shutdown::Write).expect("ends");
            let mut rest = Vec::new();
            stream
                .read_to_end(&mut rest)
                .expect("the other side closes");
        });
        assert_eq!(receiver.join().expect("receives"), bytes as u64);
    });
    // The last acknowledgements are on their way.
    std::thread::sleep(Duration::from_millis(300));
}

/// Bytes of the transfer, no multiple of anything.
const PAYLOAD: usize = 30_000_001;

#[test]
fn a_transfer_over_a_pair_agrees_exactly() {
    if !can_run("a_transfer_over_a_pair_agrees_exactly", NEEDS) {
        return;
    }
    let spaces = pair("veth");
    let run = scratch("veth").join("run");
    let before = spaces[0].counters("veth0");
    let retransmits = spaces[0].counter("snmp", "Tcp", "RetransSegs");
    let recording = spaces[0].record(&run, &[]);
    transfer(&spaces, PAYLOAD);
    recording.end();
    let after = spaces[0].counters("veth0");
    let counted: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    // The pair is all that leaves this namespace, so nothing need be named.
    for whole in ["", " where interface = veth0"] {
        let of = |measure: &str| Totals::of(&run, &format!("net.{measure} by direction{whole}"));
        let (bytes, packets) = (of("bytes"), of("packets"));
        same("bytes received", bytes.get("receive"), counted[0]);
        same("packets received", packets.get("receive"), counted[1]);
        same("bytes sent", bytes.get("transmit"), counted[2]);
        same("packets sent", packets.get("transmit"), counted[3]);
    }
    let segments = Totals::of(&run, "tcp.segments by direction").get("transmit");
    let again = spaces[0].counter("snmp", "Tcp", "RetransSegs") - retransmits;
    same("segments sent again", total(&run, "tcp.retransmits"), again);
    // Each packet has Ethernet's 14 bytes, IP's 20 and TCP's 32 with the time stamp; the first one
    // has 8 bytes more of options. A joined packet counts as one.
    let headers = counted[3] * (14.0 + 20.0 + 32.0) + 8.0;
    let least = PAYLOAD as f64 + headers;
    if again == 0.0 {
        same("payload and headers", counted[2], least);
    } else {
        // What was sent again is a large segment at most.
        bounded("payload", least, counted[2], least + again * 65536.0);
    }
    let packets = counted[3];
    assert!(
        segments >= packets,
        "{segments} segments in {packets} packets"
    );
}

/// Counters of TCP by the test's own actions, each so many times.
fn tcp_actions(connections: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = listener.local_addr().expect("an address");
    for _ in 0..connections {
        let mut client = TcpStream::connect(address).expect("connects");
        let (mut server, _) = listener.accept().expect("accepts");
        client.write_all(b"question").expect("sends");
        drop(client);
        server.read_to_end(&mut Vec::new()).expect("receives");
    }
    drop(listener);
    for _ in 0..7 {
        TcpStream::connect(address).expect_err("nobody listens any more");
    }
}

fn udp_actions(datagrams: usize) {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("binds");
    let address = receiver.local_addr().expect("an address");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("binds");
    for _ in 0..datagrams {
        sender.send_to(b"datagram", address).expect("sends");
        receiver.recv(&mut [0; 16]).expect("receives");
    }
    drop(receiver);
    let lonely = UdpSocket::bind("127.0.0.1:0").expect("binds");
    for _ in 0..5 {
        lonely.send_to(b"nobody", address).expect("sends");
    }
}

#[test]
fn tcp_and_udp_count_what_was_done() {
    if !can_run("tcp_and_udp_count_what_was_done", NEEDS) {
        return;
    }
    let space = Space::new("proto");
    let run = scratch("proto").join("run");
    let fields = [
        ("Tcp", "InSegs", "tcp.segments where direction = receive"),
        ("Tcp", "OutSegs", "tcp.segments where direction = transmit"),
        ("Tcp", "ActiveOpens", "tcp.connects"),
        ("Tcp", "PassiveOpens", "tcp.accepts"),
        ("Tcp", "AttemptFails", "tcp.connect_failures"),
        ("Tcp", "EstabResets", "tcp.aborts"),
        ("Tcp", "OutRsts", "tcp.resets_sent"),
        ("Tcp", "RetransSegs", "tcp.retransmits"),
        (
            "Udp",
            "InDatagrams",
            "udp.datagrams where direction = receive and version = 4",
        ),
        (
            "Udp",
            "OutDatagrams",
            "udp.datagrams where direction = transmit and version = 4",
        ),
        ("Udp", "NoPorts", "udp.no_port where version = 4"),
        (
            "Ip",
            "InReceives",
            "ip.packets where direction = receive and version = 4",
        ),
    ];
    let read = || fields.map(|(line, field, _)| space.counter("snmp", line, field));
    let octets = || space.counter("netstat", "IpExt", "InOctets");
    let lo = || space.counters("lo");
    let (before, octets_before, lo_before) = (read(), octets(), lo());
    let recording = space.record(&run, &[]);
    space.within(|| {
        tcp_actions(40);
        udp_actions(1000);
    });
    std::thread::sleep(Duration::from_millis(300));
    recording.end();
    let (after, octets_after, lo_after) = (read(), octets(), lo());
    for (i, (_, field, expression)) in fields.into_iter().enumerate() {
        same(
            &format!("{expression} ({field})"),
            total(&run, expression),
            after[i] - before[i],
        );
    }
    let bytes = total(&run, "ip.bytes where direction = receive and version = 4");
    same("bytes of IP", bytes, octets_after - octets_before);
    let bytes = total(
        &run,
        "net.bytes where interface = lo and direction = receive",
    );
    same("bytes of loopback", bytes, lo_after[0] - lo_before[0]);
    // What was done, whatever the kernel says of it.
    for (expression, done) in [
        ("tcp.connects", 47.0),
        ("tcp.accepts", 40.0),
        ("tcp.connect_failures", 7.0),
        ("udp.datagrams where direction = receive", 1000.0),
        ("udp.datagrams where direction = transmit", 1005.0),
        ("udp.no_port", 5.0),
    ] {
        same(expression, total(&run, expression), done);
    }
}
