use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;

const NAN: f64 = f64::NAN;

fn file(case: &str, name: &str) -> PathBuf {
    format!(
        "{}/fixtures/ip/{case}/proc/net/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
    .into()
}

/// The rows between two captures.
fn between(first: &str, second: &str) -> Sink {
    let root = format!("{}/fixtures/ip/{first}", env!("CARGO_MANIFEST_DIR"));
    let mut ip = new(&Host::at(root)).unwrap();
    let mut out = Sink::new();
    ip.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);
    ip.snmp = Kept::open(file(second, "snmp")).unwrap();
    ip.netstat = Kept::open(file(second, "netstat")).ok();
    ip.snmp6 = Kept::open(file(second, "snmp6")).ok();
    ip.sample(Some(1.0), &mut out).unwrap();
    out
}

/// Words and values of each row of `table`.
fn rows(out: &Sink, table: &str) -> Vec<(String, Vec<f64>)> {
    let rows = out.rows(TableId::of(table));
    (0..rows.len())
        .map(|i| {
            let words = rows.words.iter().map(|w| out.words.text(w[i]).unwrap());
            let values = rows.values.iter().map(|v| v[i]).collect();
            (words.collect::<Vec<_>>().join(" "), values)
        })
        .collect()
}

#[track_caller]
fn check(out: &Sink, table: &str, expected: &[(&str, &[f64])]) {
    let got = rows(out, table);
    assert_eq!(got.len(), expected.len(), "{table}: {got:?}");
    for ((words, values), (expected_words, expected)) in got.iter().zip(expected) {
        let same = values
            .iter()
            .zip(*expected)
            .all(|(a, b)| a == b || a.is_nan() && b.is_nan());
        assert_eq!(words, expected_words);
        assert!(
            same && values.len() == expected.len(),
            "{table} {words}: {values:?}"
        );
    }
}

#[test]
fn every_measure_has_its_counter() {
    let out = between("first", "second");
    let tcp = [
        5.0, 1.0, 2.0, 3.0, 4.0, // retransmits, connects, accepts, connect_failures, aborts
        7.0, 6.0, 7.0, 6.0, 5.0, // resets_sent, receive_errors, timeouts, fast, lost
        // dsacks 9 + 10; duplicates, out_of_order, listen_overflows, listen_drops
        19.0, 2.0, 13.0, 3.0, 4.0,
        // backlog_drops; memory_drops 16 + 14 + 12; zero_windows, syn_cookies, established
        11.0, 42.0, 15.0, 1.0, 6.0,
    ];
    check(&out, "tcp", &[("", &tcp)]);
    check(
        &out,
        "tcp_segments",
        &[("receive", &[300.0]), ("transmit", &[400.0])],
    );
    check(
        &out,
        "udp_datagrams",
        &[
            ("receive 4", &[50.0]),
            ("transmit 4", &[60.0]),
            ("receive 6", &[3.0]),
            ("transmit 6", &[4.0]),
        ],
    );
    check(
        &out,
        "udp",
        &[("4", &[2.0, 3.0, 4.0, 5.0]), ("6", &[0.0, 0.0, 1.0, 0.0])],
    );
    check(
        &out,
        "ip_packets",
        &[
            ("receive 4", &[100.0, 50000.0]),
            ("transmit 4", &[45.0, 60000.0]),
            ("receive 6", &[4.0, 600.0]),
            ("transmit 6", &[5.0, 700.0]),
        ],
    );
    // forwarded, discards received and sent, no_route 2 + 3 and 1 + 2, reassembly, fragments
    check(
        &out,
        "ip",
        &[
            ("4", &[5.0, 1.0, 2.0, 5.0, 4.0, 5.0]),
            ("6", &[0.0, 0.0, 0.0, 3.0, 0.0, 0.0]),
        ],
    );
}

#[test]
fn an_old_kernel_leaves_gaps() {
    let out = between("old-first", "old-second");
    let tcp = &rows(&out, "tcp")[0].1;
    assert_eq!((tcp[1], tcp[18]), (1.0, 1.0));
    // One of the three counters of memory_drops is there; CurrEstab is below zero.
    assert!(tcp[16].is_nan() && tcp[19].is_nan());
    assert!(rows(&out, "udp")[0].1.iter().all(|v| v.is_nan()));
    // A packet was forwarded: what was sent cannot be told.
    let received: (&str, &[f64]) = ("receive 4", &[100.0, 50000.0]);
    check(&out, "ip_packets", &[received, ("transmit 4", &[NAN, NAN])]);
    let out = between("old-first", "old-third");
    check(
        &out,
        "ip_packets",
        &[received, ("transmit 4", &[40.0, 60000.0])],
    );
}

#[test]
fn garbage_is_not_taken_for_counters() {
    let mut pairs = Pairs::new(&["Tcp InSegs", "Tcp OutSegs"]);
    for (text, expected) in [
        (&b"Tcp: InSegs OutSegs\nTcp: 7 8\n"[..], [Some(7), Some(8)]),
        (b"Tcp: OutSegs InSegs\nTcp: 7 8\n", [Some(8), Some(7)]),
        (b"Tcp: InSegs OutSegs\nUdp: 7 8\n", [None, None]),
        (b"Tcp: InSegs OutSegs\nTcp: 7\n", [Some(7), None]),
        (b"Tcp: InSegs OutSegs\nTcp: -7 8\n", [None, Some(8)]),
        (b"Tcp: InSegs OutSegs\n", [None, None]),
        (b"Tcp\n7\n\n\n:\n:", [None, None]),
    ] {
        let mut values = [None; 2];
        pairs.take(text, &mut values);
        assert_eq!(values, expected, "{}", String::from_utf8_lossy(text));
    }
    let mut names = Names::new(&["Udp6InErrors"]);
    let mut values = [None];
    names.take(b"Udp6InErrorsToo 4\nUdp6InErrors x\n", &mut values);
    assert_eq!(values, [None]);
}

/// A connection and datagrams over loopback, against what must at least have been counted;
/// other programs may add to it.
#[test]
fn loopback_traffic_is_counted() {
    let udp = UdpSocket::bind("127.0.0.1:0").and_then(|udp| {
        udp.connect(udp.local_addr()?)?;
        Ok(udp)
    });
    let (Ok(listener), Ok(udp)) = (TcpListener::bind("127.0.0.1:0"), udp) else {
        assert!(std::env::var_os("CI").is_none(), "no loopback");
        let _ = writeln!(std::io::stderr(), "skipped: loopback is down");
        return;
    };
    let mut ip = new(&Host::default()).unwrap();
    let mut out = Sink::new();
    ip.sample(None, &mut out).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let mut block = [1_u8; 500];
    for _ in 0..200 {
        client.write_all(&block).unwrap();
        server.read_exact(&mut block).unwrap();
        udp.send(&block).unwrap();
        udp.recv(&mut block).unwrap();
    }
    ip.sample(Some(1.0), &mut out).unwrap();
    let tcp = &rows(&out, "tcp")[0].1;
    assert!(tcp[1] >= 1.0 && tcp[2] >= 1.0 && tcp[19] >= 2.0, "{tcp:?}");
    // Each block is read before the next is sent, so each is a segment.
    for (direction, segments) in rows(&out, "tcp_segments") {
        assert!(
            (200.0..100_000.0).contains(&segments[0]),
            "{direction} {segments:?}"
        );
    }
    for (direction, datagrams) in &rows(&out, "udp_datagrams")[..2] {
        assert!(
            (200.0..100_000.0).contains(&datagrams[0]),
            "{direction} {datagrams:?}"
        );
    }
    for (direction, packets) in &rows(&out, "ip_packets")[..2] {
        // A segment has at least 552 bytes with its headers, a datagram 528.
        let least = 200.0 * (552.0 + 528.0);
        assert!(
            packets[0] >= 400.0 && packets[1] >= least,
            "{direction} {packets:?}"
        );
    }
}
