//! Version 6 of IP, and version 4 over sockets of version 6.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::space::{Space, pair};
use super::support::{can_run, scratch};
use super::truth::same;
use super::{HISTOGRAMS, NEEDS, Told, alone, settle, totals};

/// Addresses of a side that ends with that number. The second has two runs of zeros, of which the
/// longer is left out where it is written.
fn addresses(end: usize) -> [String; 2] {
    [format!("fd00::{end}"), format!("fd00::b:0:0:{end}")]
}

/// Two namespaces that have addresses of both versions.
fn pair_of_both(name: &str) -> [Space; 2] {
    let spaces = pair(name);
    for (i, space) in spaces.iter().enumerate() {
        let (mine, peer) = (i + 1, 2 - i);
        let mut script = "echo 0 > /proc/sys/net/ipv6/conf/veth0/disable_ipv6\n".to_owned();
        for address in addresses(mine) {
            script += &format!("ip address add {address}/64 dev veth0 nodad\n");
        }
        for (address, from) in addresses(peer).iter().zip(addresses(mine)) {
            script += &format!(
                "ip neigh replace {address} lladdr 02:00:00:00:00:0{peer} dev veth0 nud permanent
                 ip route add {address}/128 dev veth0 src {from}\n"
            );
        }
        space.run(&script);
    }
    spaces
}

/// `[fd00::2]:7021` without the port; an address of version 4 that is written as one of version 6
/// is what it is.
fn address(peer: &str) -> String {
    let (address, _) = peer.rsplit_once(':').expect("a port");
    let address = address.trim_matches(['[', ']']);
    address
        .strip_prefix("::ffff:")
        .unwrap_or(address)
        .to_owned()
}

#[test]
fn bytes_of_version_6_are_of_the_address_that_they_went_to() {
    let name = "bytes_of_version_6_are_of_the_address_that_they_went_to";
    if can_run(name, NEEDS) {
        let _alone = alone();
        // Whoever connects records, then whoever accepts.
        exchanged(0);
        exchanged(1);
    }
}

fn exchanged(recorder: usize) {
    let spaces = pair_of_both("six");
    let listener = spaces[1].within(|| TcpListener::bind("[::]:7021").expect("binds"));
    let [short, long] = addresses(2);
    let [from_short, from_long] = addresses(1);
    // To where, what each side calls the other, bytes there and back.
    let talks = [
        (
            format!("[{short}]:7021"),
            [&short, &from_short],
            300_000,
            17,
        ),
        (format!("[{long}]:7021"), [&long, &from_long], 5, 70_000),
        (
            "[::ffff:10.9.8.2]:7021".to_owned(),
            [&"10.9.8.2".to_owned(), &"10.9.8.1".to_owned()],
            4_321,
            1_234,
        ),
    ];
    let run = scratch("six").join("run");
    let recording = spaces[recorder].record(&run, HISTOGRAMS);
    let mut streams = Vec::new();
    for (to, _, up, down) in &talks {
        let mut here = spaces[0].within(|| TcpStream::connect(to.as_str()).expect("connects"));
        let (mut there, _) = listener.accept().expect("accepts");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                there.read_exact(&mut vec![0; *up]).expect("receives");
                there.write_all(&vec![1; *down]).expect("answers");
            });
            here.write_all(&vec![2; *up]).expect("sends");
            here.read_exact(&mut vec![0; *down]).expect("receives");
        });
        streams.push((here, there));
    }
    settle();
    recording.end();

    let port = if recorder == 0 { "dport" } else { "sport" };
    let told = Told::all(&spaces[recorder], &format!("{port} = :7021"));
    let names: Vec<String> = told.iter().map(|t| address(&t.peer)).collect();
    let port = ["remote_port", "local_port"][recorder];
    let bytes = totals(
        &run,
        &format!("tcp.bytes by remote, direction where {port} = 7021"),
    );
    assert_eq!(bytes.len(), 6, "{bytes:?}");
    let segments = totals(
        &run,
        &format!("tcp.segments by remote, direction where {port} = 7021"),
    );
    let samples = totals(&run, "tcp.rtt_samples by remote");
    let connects =
        (recorder == 0).then(|| totals(&run, "tcp.connects by remote where remote_port = 7021"));
    let of = |all: &BTreeMap<String, f64>, key: &str| all.get(key).copied().unwrap_or(0.0);
    for (_, peers, up, down) in talks {
        let name = peers[recorder];
        let at = names.iter().position(|n| n == name);
        let at = at.unwrap_or_else(|| panic!("{name} is none of {names:?}"));
        let amounts = [("transmit", up), ("receive", down)];
        for (direction, amount) in amounts {
            let seen = [direction, other(direction)][recorder];
            let key = format!("{name} {seen}");
            same(&key, of(&bytes, &key), amount as f64);
        }
        let [received, sent] = told[at].segments();
        for (seen, expected) in [("receive", received), ("transmit", sent)] {
            let key = format!("{name} {seen}");
            same(&format!("segments, {key}"), of(&segments, &key), expected);
        }
        let round_trips = of(&samples, name);
        assert!(
            0.0 < round_trips && round_trips <= received,
            "{name}: {round_trips} round trips, {received} segments came"
        );
        if let Some(connects) = &connects {
            same(&format!("connects to {name}"), of(connects, name), 1.0);
        }
    }
}

fn other(direction: &str) -> &'static str {
    if direction == "transmit" {
        "receive"
    } else {
        "transmit"
    }
}
