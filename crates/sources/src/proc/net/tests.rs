use super::*;
use std::io::Write;
use std::net::UdpSocket;

fn host(case: &str) -> Host {
    Host::at(format!(
        "{}/fixtures/net/{case}",
        env!("CARGO_MANIFEST_DIR")
    ))
}

/// Interface, layer and direction of each row, with its values.
fn rows(out: &Sink) -> Vec<(String, Vec<f64>)> {
    let rows = out.rows(TableId::of("net"));
    (0..rows.len())
        .map(|i| {
            let words = rows.words.iter().map(|w| out.words.text(w[i]).unwrap());
            let values = rows.values.iter().map(|v| v[i]).collect();
            (words.collect::<Vec<_>>().join(" "), values)
        })
        .collect()
}

fn same(got: &[f64], expected: &[f64]) -> bool {
    let pairs = got.iter().zip(expected);
    got.len() == expected.len()
        && pairs
            .into_iter()
            .all(|(a, b)| a == b || a.is_nan() && b.is_nan())
}

fn line(name: &str, receive: [u64; 8], transmit: [u64; 8]) -> String {
    let numbers = receive.iter().chain(&transmit).map(u64::to_string);
    format!("{name}: {}\n", numbers.collect::<Vec<_>>().join(" "))
}

const NAN: f64 = f64::NAN;

#[test]
fn names_may_hold_colons_and_lack_a_space() {
    let old = b"eth0:1:123 2 3 4 5 6 7 8 11 12 13 14 15 16 17 18";
    let (name, counters) = parse_line(old).unwrap();
    assert_eq!(name, b"eth0:1");
    assert_eq!(counters[0], [123, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(counters[1], [11, 12, 13, 14, 15, 16, 17, 18]);
    assert!(parse_line(b" face |bytes packets").is_none());
    assert!(parse_line(b"eth0: 1 2 3").is_none());
    assert!(parse_line(b": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16").is_none());
}

#[test]
fn speeds_that_are_none() {
    assert_eq!(rate("1000"), 125e6);
    for none in ["-1", "0", "65535", "4294967295", "", "fast"] {
        assert!(rate(none).is_nan(), "{none}");
    }
}

#[test]
fn a_row_per_direction_with_what_it_has() {
    let mut net = new(&host("server")).unwrap();
    let mut out = Sink::new();
    net.sample(None, &mut out).unwrap();
    assert!(rows(&out).is_empty());
    let text = line(
        "eno1",
        [1100, 12, 1, 3, 3, 4, 5, 9],
        [2500, 24, 7, 8, 9, 13, 11, 12],
    ) + &line(
        "veth1",
        [3000, 30, 0, 0, 0, 0, 0, 0],
        [4000, 40, 0, 0, 0, 0, 0, 0],
    ) + &line("dummy9", [0; 8], [0; 8]);
    net.take(text.as_bytes(), Some(2.0), &mut out);
    let rows = rows(&out);
    let expected: [(&str, [f64; 8]); 4] = [
        // 1000 Mbit/s for 2 s are 250 MB.
        (
            "eno1 edge receive",
            [100.0, 2.0, 0.0, 1.0, 0.0, 3.0, NAN, 250e6],
        ),
        (
            "eno1 edge transmit",
            [500.0, 4.0, 0.0, 0.0, 0.0, NAN, 3.0, 250e6],
        ),
        (
            "veth1 virtual receive",
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NAN, NAN],
        ),
        (
            "veth1 virtual transmit",
            [0.0, 0.0, 0.0, 0.0, 0.0, NAN, 0.0, NAN],
        ),
    ];
    assert_eq!(rows.len(), expected.len(), "{rows:?}");
    for (got, (words, values)) in rows.iter().zip(&expected) {
        assert_eq!(got.0, *words);
        assert!(same(&got.1, values), "{got:?}");
    }
}

#[test]
fn a_container_has_its_way_out_as_edge() {
    let mut net = new(&host("container")).unwrap();
    let mut out = Sink::new();
    net.sample(None, &mut out).unwrap();
    net.sample(Some(1.0), &mut out).unwrap();
    let layers: Vec<String> = rows(&out).into_iter().map(|r| r.0).collect();
    assert_eq!(
        layers,
        [
            "eth0 edge receive",
            "eth0 edge transmit",
            "docker0 virtual receive",
            "docker0 virtual transmit",
            "veth5 virtual receive",
            "veth5 virtual transmit",
        ]
    );
}

#[test]
fn what_appears_counts_from_zero_only_if_it_is_new() {
    let mut net = new(&host("server")).unwrap();
    let mut out = Sink::new();
    let first = line("eno1", [9; 8], [9; 8]);
    net.take(first.as_bytes(), None, &mut out);
    // eno1 has number 2; veth1 is 8, so newer; eth0 (6) has hardware; `moved` is unknown.
    let more = first
        + &line("eth0", [5000; 8], [5000; 8])
        + &line("veth1", [70; 8], [80; 8])
        + &line("moved", [6000; 8], [6000; 8]);
    net.take(more.as_bytes(), Some(1.0), &mut out);
    let bytes = |out: &Sink| -> Vec<(String, f64)> {
        let rows = rows(out).into_iter();
        rows.filter(|r| !r.0.starts_with("eno1"))
            .map(|r| (r.0, r.1[0]))
            .collect()
    };
    let (receive, transmit) = ("veth1 virtual receive", "veth1 virtual transmit");
    assert_eq!(
        bytes(&out),
        [(receive.to_owned(), 70.0), (transmit.to_owned(), 80.0)]
    );
    out.clear();
    net.take(more.as_bytes(), Some(1.0), &mut out);
    assert_eq!(bytes(&out).len(), 6);
    assert!(bytes(&out).iter().all(|b| b.1 == 0.0));
}

#[test]
fn a_renamed_interface_goes_on_under_its_new_name() {
    let mut net = new(&host("server")).unwrap();
    let mut out = Sink::new();
    let one = |name: &str, bytes: u64| line(name, [bytes; 8], [9; 8]);
    net.take(
        (one("eno1", 9) + &one("veth1", 1000)).as_bytes(),
        None,
        &mut out,
    );
    // Wherever in the file it stands then.
    let after = one("renamed", 1300) + &one("eno1", 9);
    net.take(after.as_bytes(), Some(1.0), &mut out);
    let bytes = |out: &Sink| -> Vec<(String, f64)> {
        let rows = rows(out).into_iter();
        rows.filter(|r| r.0.ends_with("receive") && !r.0.starts_with("eno1"))
            .map(|r| (r.0, r.1[0]))
            .collect()
    };
    let expected = |amount| [("renamed virtual receive".to_owned(), amount)];
    assert_eq!(bytes(&out), expected(300.0));
    out.clear();
    let later = one("eno1", 9) + &one("renamed", 1301);
    net.take(later.as_bytes(), Some(1.0), &mut out);
    assert_eq!(bytes(&out), expected(1.0));
}

#[test]
fn an_interface_made_anew_has_no_amounts() {
    let full = u64::from(u32::MAX);
    let before = [
        [1000, 10, 0, 0, 0, 0, 0, 0],
        [full - 9, 20, 0, 0, 0, 0, 0, 0],
    ];
    let wrapped = [[1500, 11, 0, 0, 0, 0, 0, 0], [5, 21, 0, 0, 0, 0, 0, 0]];
    assert_eq!(amounts(&before, &wrapped)[1][0], 15.0);
    assert_eq!(amounts(&before, &wrapped)[0][0], 500.0);
    // Received more than before in bytes, less in packets: nothing is to be trusted.
    let anew = [[1500, 3, 0, 0, 0, 0, 0, 0], [5, 1, 0, 0, 0, 0, 0, 0]];
    assert!(
        amounts(&before, &anew)
            .as_flattened()
            .iter()
            .all(|a| a.is_nan())
    );
}

/// Loopback traffic of a known size against the interface's own counters in `/sys`, which
/// the kernel prints by another way. Other programs use loopback too: tried a few times.
#[test]
fn loopback_agrees_with_the_counters_in_sys() {
    let folder = "/sys/class/net/lo/statistics";
    let counter =
        |name: &str| -> Option<f64> { once(format!("{folder}/{name}").as_ref())?.parse().ok() };
    let counters = || Some([counter("rx_bytes")?, counter("rx_packets")?]);
    if counters().is_none() {
        assert!(std::env::var_os("CI").is_none(), "no {folder}");
        let _ = writeln!(std::io::stderr(), "skipped: no {folder}");
        return;
    }
    let mut net = new(&Host::default()).unwrap();
    let mut out = Sink::new();
    let (from, to) = (
        UdpSocket::bind("127.0.0.1:0"),
        UdpSocket::bind("127.0.0.1:0"),
    );
    let reached = from.and_then(|from| {
        let to = to?;
        from.connect(to.local_addr()?)?;
        Ok((from, to))
    });
    let Ok((from, to)) = reached else {
        assert!(std::env::var_os("CI").is_none(), "no loopback");
        let _ = writeln!(std::io::stderr(), "skipped: loopback is down");
        return;
    };
    let mut payload = [7_u8; 1000];
    let agreed = (0..20).any(|_| {
        let before = counters().unwrap();
        net.take(&std::fs::read("/proc/net/dev").unwrap(), None, &mut out);
        for _ in 0..100 {
            from.send(&payload).unwrap();
            to.recv(&mut payload).unwrap();
        }
        out.clear();
        net.sample(Some(1.0), &mut out).unwrap();
        let after = counters().unwrap();
        let seen = rows(&out);
        let receive = seen.iter().find(|r| r.0 == "lo loopback receive").unwrap();
        let transmit = seen.iter().find(|r| r.0 == "lo loopback transmit").unwrap();
        // 1000 bytes after 8 of UDP and 20 of IP; loopback leaves its own header out.
        let sent = [100.0 * 1028.0, 100.0];
        let moved = [after[0] - before[0], after[1] - before[1]];
        assert!(
            receive.1[0] >= sent[0] && receive.1[1] >= sent[1],
            "{receive:?} {moved:?}"
        );
        moved == sent && receive.1[..2] == sent && transmit.1[..2] == sent
    });
    assert!(agreed);
}
