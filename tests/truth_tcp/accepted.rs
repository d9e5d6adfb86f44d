//! The side that accepts: the other side is another process, in whose time much of it happens.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::space::{Space, pair};
use super::support::{can_run, scratch, total};
use super::truth::{Totals, same};
use super::{EVENTS, HISTOGRAMS, NEEDS, Told, alone, is_this_process, settle, totals};

const NAME: &str = "accepted::accepted_connections_are_those_of_who_reads_them";
const ADDRESS: &str = "10.9.8.2:7011";
/// Set in the process that connects.
const INSIDE: &str = "SONDE_TEST_INSIDE";

/// One thing to do over a connection, which is made if there is none of that name.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    up: usize,
    down: usize,
    ends: bool,
}

/// The other side: reads a step a line and answers with the port of its connection.
fn connect_as_told() {
    let mut streams: BTreeMap<String, TcpStream> = BTreeMap::new();
    for line in std::io::stdin().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<usize>().expect("a number");
        let new = || TcpStream::connect(ADDRESS).expect("connects");
        let stream = streams.entry(words[0].to_owned()).or_insert_with(new);
        stream.write_all(&vec![1; number(1)]).expect("sends");
        let mut answer = vec![0; number(2)];
        stream.read_exact(&mut answer).expect("receives");
        let port = stream.local_addr().expect("an address").port();
        if words[3] == "true" {
            stream.shutdown(Shutdown::Write).expect("ends");
            stream.read_to_end(&mut answer).expect("the other ends");
            streams.remove(words[0]);
        }
        println!("\nport {port}");
    }
}

/// This side, and the process that is the other.
struct Talk {
    listener: TcpListener,
    streams: BTreeMap<&'static str, TcpStream>,
    process: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn new(spaces: &[Space; 2]) -> Talk {
        let listener = spaces[1].within(|| TcpListener::bind(ADDRESS).expect("binds"));
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &spaces[0].0]);
        command.arg(std::env::current_exe().expect("a program"));
        command
            .args(["--exact", NAME, "--nocapture"])
            .env(INSIDE, "1");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("ip starts");
        let stdout = process.stdout.take().expect("a pipe");
        Talk {
            listener,
            streams: BTreeMap::new(),
            stdin: process.stdin.take().expect("a pipe"),
            lines: BufReader::new(stdout).lines(),
            process,
        }
    }

    /// Does it on both sides; the other's port.
    fn step(&mut self, step: Step) -> u16 {
        let Step {
            name,
            up,
            down,
            ends,
        } = step;
        writeln!(self.stdin, "{name} {up} {down} {ends}").expect("tells");
        let stream = self
            .streams
            .entry(name)
            .or_insert_with(|| self.listener.accept().expect("accepts").0);
        stream.read_exact(&mut vec![0; up]).expect("receives");
        stream.write_all(&vec![2; down]).expect("sends");
        if ends {
            let rest = stream.read(&mut [0]).expect("the other ends");
            assert_eq!(rest, 0, "more came than was sent");
            self.streams.remove(name);
        }
        let port = self.lines.find_map(|line| {
            let line = line.expect("a line");
            line.strip_prefix("port ")?.parse().ok()
        });
        port.expect("a port")
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Made and ended while recording: bytes there, and back.
const SIZES: [(&str, usize, usize); 4] = [
    ("question", 1, 0),
    ("answer", 0, 1),
    ("page", 100, 20_000),
    ("upload", 3_000_000, 77),
];

#[test]
fn accepted_connections_are_those_of_who_reads_them() {
    if std::env::var_os(INSIDE).is_some() {
        return connect_as_told();
    }
    if can_run(NAME, NEEDS) {
        let _alone = alone();
        for look in [HISTOGRAMS, EVENTS] {
            accepted(look);
        }
    }
}

fn accepted(look: &[&str]) {
    let spaces = pair("accepted");
    let mut talk = Talk::new(&spaces);
    let step = |name, up, down, ends| Step {
        name,
        up,
        down,
        ends,
    };
    // One was accepted before and lasts; one is accepted later and lasts.
    let early = talk.step(step("early", 5_000, 100, false));
    settle();
    let told = |port: u16| Told::of(&spaces[1], &format!("sport = :7011 and dport = :{port}"));
    let early_before = told(early).segments();
    let opens = || spaces[1].counter("snmp", "Tcp", "PassiveOpens");
    let opens_before = opens();
    let run = scratch("accepted").join("run");
    let recording = spaces[1].record(&run, look);
    let ports = SIZES.map(|(name, up, down)| talk.step(step(name, up, down, true)));
    let late = talk.step(step("late", 4_000, 9_000, false));
    talk.step(step("late", 70_000, 1, false));
    talk.step(step("early", 12_345, 678, false));
    settle();
    // The other side acknowledges when it comes to it.
    let waits = |port: &u16| told(*port).number("unacked") > 0.0;
    let by = Instant::now() + Duration::from_secs(10);
    while [early, late].iter().any(waits) {
        assert!(Instant::now() < by, "nothing is acknowledged");
        settle();
    }
    recording.end();
    let opened = opens() - opens_before;
    same("connections accepted", opened, 5.0);

    let only = "local_port = 7011 and remote = 10.9.8.1";
    let of = |measure: &str, port: u16| {
        let by = format!("tcp.{measure} by direction where {only} and remote_port = {port}");
        let found = Totals::of(&run, &by);
        [found.get("receive"), found.get("transmit")]
    };
    let both = |what: &str, found: [f64; 2], expected: [f64; 2]| {
        same(&format!("{what}, received"), found[0], expected[0]);
        same(&format!("{what}, sent"), found[1], expected[1]);
    };
    for ((name, up, down), port) in SIZES.into_iter().zip(ports) {
        both(name, of("bytes", port), [up as f64, down as f64]);
    }
    both("early", of("bytes", early), [12_345.0, 678.0]);
    both("late", of("bytes", late), [74_000.0, 9_001.0]);
    let now = told(early).segments();
    let grown = [now[0] - early_before[0], now[1] - early_before[1]];
    both("segments of early", of("segments", early), grown);
    both(
        "segments of late",
        of("segments", late),
        told(late).segments(),
    );

    let states = Totals::of(&run, "tcp.state_changes by state");
    let ended = SIZES.len() as f64;
    let expected = [
        ("SYN_RECV to ESTABLISHED", opened),
        ("ESTABLISHED to CLOSE_WAIT", ended),
        ("CLOSE_WAIT to LAST_ACK", ended),
        ("LAST_ACK to CLOSE", ended),
        ("SYN_SENT to ESTABLISHED", 0.0),
    ];
    for (state, expected) in expected {
        same(state, states.get(state), expected);
    }
    same("accepts", total(&run, "tcp.accepts"), opened);
    let samples = total(&run, "tcp.rtt_samples where remote = 10.9.8.1");
    let segments = total(
        &run,
        "tcp.segments where direction = receive and remote ~ .",
    );
    assert!(
        (20.0..=segments).contains(&samples),
        "{samples} round trips of {segments} segments"
    );
    whose(&run, only);
    if look == EVENTS {
        let only = "local_port = 7011";
        let states = Totals::of(&run, &format!("tcp.state_changes by state where {only}"));
        // They have their own port by then; before it is that of the listening socket.
        for (state, expected) in expected {
            same(&format!("{state}, events"), states.get(state), expected);
        }
    }
}

/// This process read it all. What comes may be counted before it is read for the first time.
fn whose(run: &Path, only: &str) {
    let who = totals(run, &format!("tcp.bytes by process where {only}"));
    let whole: f64 = who.values().sum();
    let (mine, others): (Vec<_>, Vec<_>) = who.iter().partition(|(name, _)| is_this_process(name));
    let mine: f64 = mine.into_iter().map(|(_, bytes)| bytes).sum();
    assert!(
        others.iter().all(|(name, _)| *name == "(unknown)"),
        "{who:?}"
    );
    assert!(mine >= 0.95 * whole, "{who:?}");
    let commands = totals(run, &format!("tcp.bytes by command where {only}"));
    let known = commands.keys().filter(|name| *name != "(unknown)");
    assert!(known.clone().count() == 1, "{commands:?}");
    assert!(
        known.clone().all(|n| n.starts_with("truth_tcp")),
        "{commands:?}"
    );
}
