//! Round trips over a link on which each frame is under way for a known time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Instant;

use super::space::{SLOW_NEEDS, slow_pair};
use super::support::{can_run, get, scratch};
use super::{HISTOGRAMS, NEEDS, Told, alone, settle};

/// Seconds that a frame is under way.
const WAY: f64 = 0.02;
const QUESTIONS: usize = 50;
const CONNECTIONS: usize = 5;
/// How far the recorded may be from what it is compared with.
const NEAR: f64 = 0.25;

/// Middle and total of each bucket of a number dimension.
fn buckets(run: &Path, expression: &str, dimension: &str) -> Vec<[f64; 2]> {
    let answer = get(run, expression);
    let groups = answer["groups"].as_array().expect("groups").iter();
    let bucket = |g: &serde_json::Value| {
        let end = |name: &str| g["key"][dimension][name].as_f64().expect("a number");
        let total = g["total"].as_f64().expect("a total");
        [f64::midpoint(end("from"), end("to")), total]
    };
    groups.map(bucket).collect()
}

fn median(mut numbers: Vec<[f64; 2]>) -> f64 {
    numbers.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let whole: f64 = numbers.iter().map(|n| n[1]).sum();
    let mut below = 0.0;
    let half = numbers.iter().find(|n| {
        below += n[1];
        below >= whole / 2.0
    });
    half.expect("numbers")[0]
}

fn near(what: &str, value: f64, expected: f64) {
    assert!(
        (expected * (1.0 - NEAR)..=expected * (1.0 + NEAR)).contains(&value),
        "{what}: recorded {value} s, expected {expected} s"
    );
}

#[test]
fn round_trips_are_those_of_ss_on_either_side() {
    let name = "round_trips_are_those_of_ss_on_either_side";
    if can_run(name, &[NEEDS, SLOW_NEEDS].concat()) {
        let _alone = alone();
        // Whoever connects records, then whoever accepts.
        asked(0);
        asked(1);
    }
}

fn asked(recorder: usize) {
    let (spaces, _link) = slow_pair("far", WAY);
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7031").expect("binds"));
    let run = scratch("far").join("run");
    let recording = spaces[recorder].record(&run, HISTOGRAMS);
    let mut streams = Vec::new();
    let mut connecting = Vec::new();
    for _ in 0..CONNECTIONS {
        let began = Instant::now();
        let here = spaces[0].within(|| TcpStream::connect("10.9.8.2:7031").expect("connects"));
        connecting.push([began.elapsed().as_secs_f64(), 1.0]);
        streams.push((here, listener.accept().expect("accepts").0));
    }
    let (mut here, mut there) = streams.pop().expect("connections");
    let port = here.local_addr().expect("an address").port();
    let filter = [
        format!("sport = :{port}"),
        format!("sport = :7031 and dport = :{port}"),
    ];
    let mut told = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..QUESTIONS {
                there.read_exact(&mut [0]).expect("a question");
                there.write_all(&[1]).expect("answers");
            }
        });
        for _ in 0..QUESTIONS {
            here.write_all(&[2]).expect("asks");
            here.read_exact(&mut [0]).expect("an answer");
            let rtt = Told::of(&spaces[recorder], &filter[recorder]).number("rtt");
            told.push([rtt / 1e3, 1.0]);
        }
    });
    settle();
    recording.end();

    let told = median(told);
    assert!(
        (2.0 * WAY..3.0 * WAY).contains(&told),
        "ss tells {told} s over a link of {WAY} s each way"
    );
    let peer = ["10.9.8.2", "10.9.8.1"][recorder];
    let samples = buckets(
        &run,
        &format!("tcp.rtt_samples by rtt where remote = {peer}"),
        "rtt",
    );
    let all: f64 = samples.iter().map(|s| s[1]).sum();
    assert!(all >= QUESTIONS as f64, "{all} round trips");
    let least = samples.iter().map(|s| s[0]).fold(f64::INFINITY, f64::min);
    assert!(least > 2.0 * WAY * 0.98, "a round trip of {least} s");
    near("the median round trip", median(samples), told);

    if recorder == 1 {
        return;
    }
    let made = buckets(
        &run,
        "tcp.connects by connect_time where remote_port = 7031",
        "connect_time",
    );
    let all: f64 = made.iter().map(|m| m[1]).sum();
    assert!(all == CONNECTIONS as f64, "{made:?}");
    near(
        "the median time to connect",
        median(made),
        median(connecting),
    );
}
