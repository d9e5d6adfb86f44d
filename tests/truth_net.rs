//! Networks against a transfer whose bytes are known, and against the kernel's counters, in
//! network namespaces of the test's own.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and wait"
)]

mod support;
mod truth;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use support::{Need, can_run, scratch, succeed, total};
use truth::{Totals, ip, recording, same};

const NEEDS: &[Need] = &[Need::Root, Need::Program("ip")];

/// A network namespace of the test's own, with loopback up and version 6 of IP off: it
/// would send packets of its own accord. Removed with its interfaces at the end.
struct Space(String);

impl Space {
    fn new(name: &str) -> Space {
        let space = Space(format!("sonde-{}-{name}", std::process::id()));
        ip(&format!("netns add {}", space.0));
        for file in ["all", "default"] {
            let path = format!("/proc/sys/net/ipv6/conf/{file}/disable_ipv6");
            space.run(&format!("if [ -e {path} ]; then echo 1 > {path}; fi"));
        }
        ip(&format!("-n {} link set lo up", space.0));
        space
    }

    /// Runs a shell's `script` inside; its output.
    fn run(&self, script: &str) -> String {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, "sh", "-e", "-c", script]);
        succeed(&mut command)
    }

    /// Does `work` on a thread that is inside.
    fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let file = File::open(Path::new("/run/netns").join(&self.0)).expect("the namespace");
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                    .expect("root enters namespaces");
                work()
            });
            inside.join().expect("the work inside succeeds")
        })
    }

    /// Starts recording inside, until [`Recording::end`].
    fn record(&self, run: &Path) -> Recording {
        // `cat` says that it runs and ends with its input.
        let inner = recording(run, "100ms", &["sh", "-c", "echo ready; cat"]);
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.0])
            .arg(inner.get_program());
        command.args(inner.get_args()).env_remove("SONDE_RUN");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("ip starts");
        let mut ready = [0; 6];
        let stdout = child.stdout.as_mut().expect("a pipe");
        stdout.read_exact(&mut ready).expect("the command starts");
        Recording(child)
    }

    /// The counters of an interface, from its own files: bytes and packets received, then sent.
    fn counters(&self, interface: &str) -> [f64; 4] {
        let files = ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"];
        let paths = files.map(|f| format!("/sys/class/net/{interface}/statistics/{f}"));
        let text = self.run(&format!("cat {}", paths.join(" ")));
        let mut numbers = text.lines().map(|l| l.parse().expect("a number"));
        files.map(|_| numbers.next().expect("a line a file"))
    }

    /// A counter of a protocol, by the names of the line and of the field in `file`.
    fn counter(&self, file: &str, line: &str, field: &str) -> f64 {
        let text = self.run(&format!("cat /proc/net/{file}"));
        let mut lines = text.lines().filter(|l| l.starts_with(&format!("{line}:")));
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let place = names.split_whitespace().position(|n| n == field);
        let value = values.split_whitespace().nth(place.expect("the field"));
        value.expect("a value").parse().expect("a number")
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let _ = Command::new("ip")
            .args(["netns", "delete", &self.0])
            .output();
    }
}

struct Recording(Child);

impl Recording {
    fn end(mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().expect("the recorder ends");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Two namespaces joined by a pair of interfaces, who know each other's address: nobody has
/// to ask for it.
fn pair(name: &str) -> [Space; 2] {
    let spaces = [
        Space::new(&format!("{name}-a")),
        Space::new(&format!("{name}-b")),
    ];
    let names = [&spaces[0].0, &spaces[1].0];
    ip(&format!(
        "-n {} link add veth0 type veth peer name veth0 netns {}",
        names[0], names[1]
    ));
    for (i, space) in names.into_iter().enumerate() {
        let (mine, peer) = (i + 1, 2 - i);
        ip(&format!(
            "-n {space} link set veth0 address 02:00:00:00:00:0{mine}"
        ));
        ip(&format!(
            "-n {space} address add 10.9.8.{mine}/24 dev veth0"
        ));
        ip(&format!("-n {space} link set veth0 up"));
        ip(&format!(
            "-n {space} neigh replace 10.9.8.{peer} lladdr 02:00:00:00:00:0{peer} dev veth0 nud permanent"
        ));
    }
    spaces
}

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
    let recording = spaces[0].record(&run);
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
    if again == 0.0 {
        // Each packet has Ethernet's 14 bytes, IP's 20 and TCP's 32 with the time stamp; the
        // first one has 8 bytes more of options. A joined packet counts as one.
        let headers = counted[3] * (14.0 + 20.0 + 32.0) + 8.0;
        same("payload and headers", counted[2], PAYLOAD as f64 + headers);
        assert!(
            segments >= counted[3],
            "{segments} segments in {} packets",
            counted[3]
        );
    }
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
    let recording = space.record(&run);
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
