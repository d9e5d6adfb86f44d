//! Events of segments and connections against the histograms of the same time, as the sources
//! hand them over, and against what the test did.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and wait"
)]

#[path = "support/space.rs"]
mod space;
mod support;
mod truth;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use run::Sink;
use run::rows::TableId;
use sources::{Detail, Host, Look, SOURCES, Source};
use space::{NEEDS, pair};
use support::{can_run, succeed};
use truth::same;

/// The source of that name, which tells events.
fn open(name: &str) -> Box<dyn Source> {
    let host = Host {
        look: Look {
            detail: Detail::Events,
            events: vec!["net".into(), "tcp".into()],
            ..Look::default()
        },
        ..Host::default()
    };
    let entry = SOURCES.iter().find(|e| e.name == name).expect("a source");
    (entry.open)(&host).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// A row: its words and its numbers, by column.
type Row = (Vec<String>, Vec<f64>);

fn rows(out: &Sink, table: &str) -> Vec<Row> {
    let rows = out.rows(TableId::of(table));
    let text = |w| out.words.text(w).expect("a word").to_owned();
    (0..rows.len())
        .map(|i| {
            let words = rows.words.iter().map(|c| text(c[i])).collect();
            (words, rows.values.iter().map(|c| c[i]).collect())
        })
        .collect()
}

/// What the source tells of `work`: its first reading before, its second after.
fn observe(source: &mut dyn Source, work: impl FnOnce()) -> Sink {
    let mut out = Sink::new();
    source.drain(0, &mut out);
    source.sample(None, &mut out).expect("reads");
    // What came between the two readings is in neither.
    source.drain(0, &mut out);
    out.clear();
    work();
    std::thread::sleep(Duration::from_millis(300));
    source.drain(0, &mut out);
    out.at(1, 1.0);
    source.sample(Some(1.0), &mut out).expect("reads");
    source.drain(0, &mut out);
    out
}

/// Set in the process that this test starts in a namespace: a source looks at the namespace
/// of its process.
const INSIDE: &str = "SONDE_TEST_INSIDE";

/// Runs the test of that name again in a namespace, which another answers: so many
/// connections, so many questions of so many bytes each.
fn inside(name: &str, connections: usize, questions: usize, size: usize) {
    let spaces = pair(&name[10..14]);
    let listener = spaces[1].within(|| TcpListener::bind(ADDRESS).expect("binds"));
    let this = std::env::current_exe().expect("a program");
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &spaces[0].0]).arg(this);
    command
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..connections {
                let (mut there, _) = listener.accept().expect("accepts");
                let mut buffer = vec![0; size];
                for _ in 0..questions {
                    there.read_exact(&mut buffer).expect("a question");
                    there.write_all(&buffer).expect("answers");
                }
            }
        });
        succeed(&mut command);
    });
}

const ADDRESS: &str = "10.9.8.2:7004";

/// Asks `count` times over one connection.
fn ask(count: usize, size: usize) {
    let mut here = TcpStream::connect(ADDRESS).expect("connects");
    let mut buffer = vec![5; size];
    for _ in 0..count {
        here.write_all(&buffer).expect("asks");
        here.read_exact(&mut buffer).expect("an answer");
    }
}

#[test]
fn events_of_segments_are_those_of_the_histogram() {
    let name = "events_of_segments_are_those_of_the_histogram";
    if !can_run(name, NEEDS) {
        return;
    }
    if std::env::var_os(INSIDE).is_none() {
        return inside(name, 1, 100, 5_000);
    }
    let mut source = open("bpf-net");
    let out = observe(&mut *source, || ask(100, 5_000));
    let events: Vec<Row> = rows(&out, "net_event");
    let of = |rows: &[Row], part: &[&str], number: usize| -> f64 {
        let is_part = |r: &&Row| part.iter().all(|p| r.0.iter().any(|w| w == p));
        rows.iter().filter(is_part).map(|r| r.1[number]).sum()
    };
    let sizes = rows(&out, "net_size");
    let packets = rows(&out, "net_packets");
    for direction in ["receive", "transmit"] {
        for stage in ["driver", "queue"] {
            let part = ["veth0", "edge", direction, stage];
            let what = |n: &str| format!("{n} at {part:?}");
            let segments = of(&events, &part, 2);
            same(&what("segments"), segments, of(&sizes, &part, 1));
            same(&what("bytes"), of(&events, &part, 0), of(&sizes, &part, 2));
            same(
                &what("segments by packets"),
                segments,
                of(&packets, &part, 1),
            );
            same(
                &what("bytes by packets"),
                of(&events, &part, 0),
                of(&packets, &part, 2),
            );
            let there_are = direction == "transmit" || stage == "driver";
            assert_eq!(segments >= 100.0, there_are, "{}", what("segments"));
        }
    }
    // Questions are sent by this program, in its own time.
    let sent = ["veth0", "transmit", "driver", "process"];
    let is_sent = |r: &&Row| sent.iter().all(|p| r.0.iter().any(|w| w == p));
    let mut mine = events.iter().filter(is_sent);
    assert!(mine.clone().count() >= 100);
    assert!(mine.all(|r| r.0[6].starts_with("truth_net_event") && r.0[7].starts_with('/')));
}

#[test]
fn events_of_connections_are_the_changes_of_state() {
    let name = "events_of_connections_are_the_changes_of_state";
    if !can_run(name, NEEDS) {
        return;
    }
    if std::env::var_os(INSIDE).is_none() {
        return inside(name, 30, 1, 10);
    }
    let mut source = open("bpf-tcp");
    let out = observe(&mut *source, || (0..30).for_each(|_| ask(1, 10)));
    let events = rows(&out, "tcp_event");
    let states = rows(&out, "tcp_state");
    assert!(states.len() >= 4, "{states:?}");
    for (words, numbers) in &states {
        let of_state = events.iter().filter(|e| e.0[6] == words[0]);
        same(&words[0], of_state.count() as f64, numbers[0]);
    }
    let connected: Vec<&Row> = events
        .iter()
        .filter(|e| e.0[6] == "SYN_SENT to ESTABLISHED")
        .collect();
    assert_eq!(connected.len(), 30);
    for (words, numbers) in connected {
        assert_eq!((&*words[0], &*words[1]), ("10.9.8.2", "7004"));
        assert!(words[4].starts_with("truth_net_event"), "{words:?}");
        assert!(0.0 < numbers[0] && numbers[0] < 10.0, "{numbers:?}");
    }
    let others = events.iter().filter(|e| e.0[6] == "CLOSE to SYN_SENT");
    assert!(
        others
            .clone()
            .all(|e| e.1[0].is_nan() && e.0[4] != "(unknown)")
    );
    assert_eq!(others.count(), 30);
}
