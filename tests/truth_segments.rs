//! Segments against the counters of the interfaces they pass, in network namespaces of the
//! test's own, and against what the test sent.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and wait"
)]

#[path = "truth_segments/contexts.rs"]
mod contexts;
#[path = "support/space.rs"]
mod space;
mod support;
mod truth;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use serde_json::Value;
use space::{NEEDS, Space, pair};
use support::{can_run, get, note_again, scratch, sonde, total};
use truth::{Totals, ip, same};

const HISTOGRAMS: &[&str] = &["--detail", "distributions"];
/// Ethernet's header, and those of IP and of TCP with the time stamp.
const LINK: f64 = 14.0;
const HEADERS: f64 = LINK + 20.0 + 32.0;

/// What keeps both processors busy is written here, all else reads.
static STORM: RwLock<()> = RwLock::new(());

/// There is no storm while it lives.
fn calm() -> RwLockReadGuard<'static, ()> {
    STORM.read().unwrap_or_else(PoisonError::into_inner)
}

/// A connection from the first namespace to the second.
fn connect(spaces: &[Space; 2]) -> [TcpStream; 2] {
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7000").expect("binds"));
    let here = spaces[0].within(|| TcpStream::connect("10.9.8.2:7000").expect("connects"));
    let (there, _) = listener.accept().expect("accepts");
    for stream in [&here, &there] {
        stream.set_nodelay(true).expect("an option");
    }
    [here, there]
}

/// Writes `count` times `size` bytes, each of which the other side answers with as much.
fn converse(streams: &mut [TcpStream; 2], count: usize, size: usize) {
    let [here, there] = streams;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut buffer = vec![0; size];
            for _ in 0..count {
                there.read_exact(&mut buffer).expect("a question");
                there.write_all(&buffer).expect("answers");
            }
        });
        let mut buffer = vec![3; size];
        for _ in 0..count {
            here.write_all(&buffer).expect("asks");
            here.read_exact(&mut buffer).expect("an answer");
        }
    });
}

/// Writes `bytes`, which the other side reads.
fn pour(streams: &mut [TcpStream; 2], bytes: usize) {
    let [here, there] = streams;
    std::thread::scope(|scope| {
        scope.spawn(|| here.write_all(&vec![7; bytes]).expect("sends"));
        let mut rest = vec![0; bytes];
        there.read_exact(&mut rest).expect("receives");
    });
}

/// The last acknowledgements are on their way.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Buckets of a number dimension: lower end, upper end, total.
fn buckets(run: &Path, expression: &str, dimension: &str) -> Vec<[f64; 3]> {
    let answer = get(run, expression);
    let number = |v: &Value| v.as_f64().expect("a number");
    let groups = answer["groups"].as_array().expect("groups").iter();
    groups
        .map(|g| {
            let bucket = &g["key"][dimension];
            [
                number(&bucket["from"]),
                number(&bucket["to"]),
                number(&g["total"]),
            ]
        })
        .collect()
}

/// Number of a namespace, as its interfaces' names have it.
fn number(space: &Space) -> String {
    let link = space.run("readlink /proc/self/ns/net");
    let number = link.trim().strip_prefix("net:[").expect("a namespace");
    number.trim_end_matches(']').to_owned()
}

#[test]
fn segments_add_up_to_the_counters_of_their_interface() {
    if !can_run("segments_add_up_to_the_counters_of_their_interface", NEEDS) {
        return;
    }
    let _calm = calm();
    for again in 1..=3 {
        let Some(missing) = segments_agree() else {
            return;
        };
        note_again(&format!("the kernel did not tell {missing}, try {again}"));
    }
    panic!("the kernel left segments out three times");
}

/// A load all of whose segments are in the run as they are in the counters; what the kernel ran no
/// program for, as some do not on top of a thread of init.
fn segments_agree() -> Option<String> {
    let spaces = pair("segments");
    let run = scratch("segments").join("run");
    let before = spaces[0].counters("veth0");
    let recording = spaces[0].record(&run, HISTOGRAMS);
    let mut streams = connect(&spaces);
    pour(&mut streams, 20_000_001);
    converse(&mut streams, 200, 3_000);
    drop(streams);
    settle();
    recording.end();
    let after = spaces[0].counters("veth0");
    let counted: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    let [received, sent] = [[counted[0], counted[1]], [counted[2], counted[3]]];
    assert!(sent[0] > 20e6 && received[0] > 600e3, "{counted:?}");
    let told = Totals::of(
        &run,
        "net.segments by direction where stage = driver and interface = veth0",
    );
    for (direction, counted) in [("receive", received[1]), ("transmit", sent[1])] {
        let missing = counted - told.get(direction);
        if missing > 0.0 {
            return Some(format!("{missing} segments, {direction}"));
        }
    }
    // What leaves the namespace counts once, although the other end is seen too.
    for whole in [
        "stage = driver",
        "stage = driver and interface = veth0",
        "size >= 0 and interface = veth0",
        "packets_per_segment >= 1 and interface = veth0",
    ] {
        for (measure, i) in [("bytes", 0), ("segments", 1)] {
            let recorded = Totals::of(&run, &format!("net.{measure} by direction where {whole}"));
            let what = |d: &str| format!("net.{measure} {d} where {whole}");
            same(&what("received"), recorded.get("receive"), received[i]);
            same(&what("sent"), recorded.get("transmit"), sent[i]);
        }
    }
    // There is no queue: all that goes to it goes on at once.
    let queued = total(&run, "net.bytes where stage = queue and interface = veth0");
    same("bytes before the queue", queued, sent[0]);
    // The other end has it the other way round, under the name of its namespace.
    let number = number(&spaces[1]);
    let other = format!("interface = 'veth0@ns-{number}' and stage = driver");
    let there = Totals::of(&run, &format!("net.bytes by direction where {other}"));
    same("bytes sent there", there.get("transmit"), received[0]);
    same("bytes received there", there.get("receive"), sent[0]);
    let layer = get(&run, &format!("net.bytes by layer where {other}"));
    assert_eq!(layer["groups"][0]["key"]["layer"], "virtual", "{layer}");
    contexts_add_up(&run, sent[0] + received[0]);
    None
}

/// The contexts are those that there are, and add up to the whole.
fn contexts_add_up(run: &Path, whole: f64) {
    let answer = get(
        run,
        "net.bytes by context where interface = veth0 and stage = driver",
    );
    let groups = answer["groups"].as_array().expect("groups");
    let mut sum = 0.0;
    for group in groups {
        let context = group["key"]["context"].as_str().expect("a word");
        assert!(
            ["process", "softirq", "ksoftirqd"].contains(&context),
            "{context}"
        );
        sum += group["total"].as_f64().expect("a total");
    }
    same("bytes of all contexts", sum, whole);
    // What a process asks for it sends itself; what comes is delivered by a soft interrupt.
    let of = |part: &str| {
        total(
            run,
            &format!("net.segments where interface = veth0 and {part}"),
        )
    };
    assert!(of("direction = transmit and context = process") >= 200.0);
    same(
        "received by a process",
        of("direction = receive and context = process"),
        0.0,
    );
}

/// With Ethernet's header 1,519 bytes: the last that a bucket of the histogram holds, so that its
/// upper end says that no packet was larger.
const PLAIN_MTU: u16 = 1505;

#[test]
fn without_offload_a_segment_is_a_packet() {
    if !can_run("without_offload_a_segment_is_a_packet", NEEDS) {
        return;
    }
    let _calm = calm();
    let spaces = pair("plain");
    for space in &spaces {
        ip(&format!("-n {} link set veth0 mtu {PLAIN_MTU}", space.0));
    }
    let whole = f64::from(PLAIN_MTU) + LINK;
    let run = scratch("plain").join("run");
    let before = spaces[0].counters("veth0");
    let again = || spaces[0].counter("snmp", "Tcp", "RetransSegs");
    let again_before = again();
    let recording = spaces[0].record(&run, HISTOGRAMS);
    // It learnt of the offload when it connected: the kernel has to cut behind the queue.
    let mut early = connect(&spaces);
    ip(&format!(
        "-n {} link set veth0 gso_max_segs 1 gso_max_size {whole}",
        spaces[0].0
    ));
    pour(&mut early, 3_000_000);
    settle();
    recording.end();
    let after = spaces[0].counters("veth0");
    let part = "interface = veth0 and direction = transmit";
    let sizes = |stage: &str| {
        let expression = format!("net.segments by size where {part} and stage = {stage}");
        buckets(&run, &expression, "size")
    };
    let (driver, queue) = (sizes("driver"), sizes("queue"));
    // Upper ends are one above what they hold.
    let most = driver.iter().map(|b| b[1]).fold(0.0, f64::max);
    same("one above the largest packet", most, whole + 1.0);
    let largest = queue.iter().map(|b| b[0]).fold(0.0, f64::max);
    assert!(largest > 10_000.0, "{queue:?}");
    let segments: f64 = driver.iter().map(|b| b[2]).sum();
    same("segments are packets", segments, after[3] - before[3]);
    same(
        "bytes",
        total(&run, &format!("net.bytes where {part} and size >= 0")),
        after[2] - before[2],
    );
    let joined = total(
        &run,
        &format!("net.segments where {part} and packets_per_segment >= 2"),
    );
    same("segments of several packets", joined, 0.0);
    // 3,000,000 bytes in packets of 1,453, what was sent again, and the few that have no data.
    let full = driver.iter().filter(|b| b[0] <= whole && whole < b[1]);
    let full: f64 = full.map(|b| b[2]).sum();
    let again = again() - again_before;
    assert!(
        (1900.0..=2065.0 + again).contains(&full),
        "{full} full packets, {again} segments were sent again"
    );
}

#[test]
fn the_size_of_a_write_shows_in_its_segments() {
    if !can_run("the_size_of_a_write_shows_in_its_segments", NEEDS) {
        return;
    }
    let _calm = calm();
    let spaces = pair("writes");
    let [small, large] = [1024, 65536].map(|size| {
        let run = scratch(&format!("writes-{size}")).join("run");
        let mut streams = connect(&spaces);
        let recording = spaces[0].record(&run, HISTOGRAMS);
        converse(&mut streams, 500, size);
        settle();
        recording.end();
        run
    });
    // A question is a segment, and carries what was to be acknowledged.
    let size = 1024.0 + HEADERS;
    for direction in ["transmit", "receive"] {
        let part = format!("interface = veth0 and direction = {direction}");
        let found = buckets(
            &small,
            &format!("net.segments by size where {part}"),
            "size",
        );
        let of_size: f64 = found
            .iter()
            .filter(|b| b[0] <= size && size < b[1])
            .map(|b| b[2])
            .sum();
        same(&format!("segments of 1 KiB, {direction}"), of_size, 500.0);
        let bytes = total(&small, &format!("net.bytes where {part} and size >= 1000"));
        same("their bytes", bytes, 500.0 * size);
        let of = |measure: &str| {
            total(
                &large,
                &format!("net.{measure} where {part} and size >= 1000"),
            )
        };
        let mean = of("bytes") / of("segments");
        assert!(mean > 20_000.0, "{direction}: mean segment of {mean} bytes");
        let packets = buckets(
            &large,
            &format!("net.segments by packets_per_segment where {part}"),
            "packets_per_segment",
        );
        assert!(packets.iter().any(|b| b[0] >= 20.0), "{packets:?}");
    }
}

#[test]
fn without_softirqs_nobody_knows_the_context() {
    if !can_run("without_softirqs_nobody_knows_the_context", NEEDS) {
        return;
    }
    let _calm = calm();
    let run = scratch("no-softirq").join("run");
    let mut record = sonde();
    record.args(["record", "-q", "--every", "100ms", "--for", "1s"]);
    record
        .args(HISTOGRAMS)
        .args(["--sources", "net,bpf-net", "-o"]);
    record.arg(&run).env("SONDE_WITHOUT_HOOKS", "softirq_exit");
    let mut recorder = record.spawn().expect("sonde runs");
    while recorder.try_wait().expect("it runs").is_none() {
        // Nobody listens there; the refusal passes loopback too.
        let _ = TcpStream::connect("127.0.0.1:1");
        std::thread::sleep(Duration::from_millis(20));
    }
    let answer = get(&run, "net.segments by context where layer = loopback");
    let groups = answer["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 1, "{answer}");
    assert_eq!(groups[0]["key"]["context"], "(unknown)", "{answer}");
    let manifest = std::fs::read_to_string(run.join("run.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let programs = manifest["programs"].as_array().expect("programs");
    let state = |hook: &str| {
        let mut all = programs.iter();
        all.find(|p| p["hook"] == hook)
            .map(|p| p["state"].as_str().expect("a state").to_owned())
    };
    assert_eq!(state("softirq_exit").as_deref(), Some("unsupported"));
    assert_eq!(state("netif_receive_skb").as_deref(), Some("attached"));
}

/// More pairs of interfaces than there are rows for.
const PAIRS: usize = 120;

/// Bytes and packets sent by all interfaces of a namespace but loopback.
fn sent_by_all(space: &Space) -> [f64; 2] {
    let text = space.run("cat /proc/net/dev");
    let lines = text.lines().filter_map(|l| l.split_once(':'));
    let mut sums = [0.0; 2];
    for (_, numbers) in lines.filter(|(name, _)| name.trim() != "lo") {
        let mut fields = numbers.split_whitespace().skip(8);
        for sum in &mut sums {
            *sum += fields
                .next()
                .map_or(0.0, |f| f.parse::<f64>().expect("a number"));
        }
    }
    sums
}

#[test]
fn interfaces_for_which_there_is_no_room_are_summed() {
    if !can_run("interfaces_for_which_there_is_no_room_are_summed", NEEDS) {
        return;
    }
    let _calm = calm();
    let spaces = [Space::new("many-a"), Space::new("many-b")];
    let mut script = String::new();
    for i in 1..=PAIRS {
        let there = &spaces[1].0;
        script += &format!(
            "ip link add v{i} type veth peer name v{i} netns {there}; ip link set v{i} up
             ip address add 10.8.{i}.1/24 dev v{i}
             ip neigh add 10.8.{i}.2 lladdr 02:00:00:00:00:02 dev v{i}\n"
        );
    }
    spaces[0].run(&script);
    let links: String = (1..=PAIRS)
        .map(|i| format!("ip link set v{i} up\n"))
        .collect();
    spaces[1].run(&links);
    let run = scratch("many").join("run");
    let before = sent_by_all(&spaces[0]);
    let recording = spaces[0].record(&run, HISTOGRAMS);
    let sockets: Vec<UdpSocket> = spaces[0].within(|| {
        let bind = |_| UdpSocket::bind("0.0.0.0:0").expect("binds");
        (0..PAIRS).map(bind).collect()
    });
    for round in 1..=10 {
        for (i, socket) in sockets.iter().enumerate() {
            let address = format!("10.8.{}.2:9", i + 1);
            let bytes = vec![0; (i + 1) * round];
            socket.send_to(&bytes, address).expect("sends");
        }
        // What finds the other side's backlog full is handed over and not counted there.
        std::thread::sleep(Duration::from_millis(20));
    }
    settle();
    recording.end();
    let after = sent_by_all(&spaces[0]);
    let layers = "layer in edge, virtual";
    for (i, measure) in ["bytes", "segments"].into_iter().enumerate() {
        let of = |part: &str| {
            total(
                &run,
                &format!("net.{measure} where stage = driver and {part} and {layers}"),
            )
        };
        // `(other)` holds what passes elsewhere on the machine too: nothing is lost, is all
        // that can be said.
        let counted = after[i] - before[i];
        for direction in ["transmit", "receive"] {
            let recorded = of(&format!("direction = {direction}"));
            assert!(recorded >= counted, "{measure}: {recorded} of {counted}");
        }
        let other = of("direction = transmit and interface = '(other)'");
        assert!(other > 0.0, "there was room for all");
        let named = of("direction = transmit and interface ~ '^v[0-9]+$'");
        assert!(
            0.0 < named && named < counted,
            "{named} of {counted} {measure}"
        );
        assert!(named + other >= counted, "{named} and {other} of {counted}");
    }
}
