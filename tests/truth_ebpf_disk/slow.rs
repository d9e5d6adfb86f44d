//! Latency of a disk of which each sleep is known.

use std::path::Path;
use std::time::Duration;

use run::grid;
use serde_json::Value;

use crate::slow_fuse::{Delay, SlowDisk};
use crate::support::{Awake, can_run, scratch};
use crate::truth::record_script_with;
use crate::undisturbed::Lacking;
use crate::{
    Bucket, LOOK, MIB, NEEDS_FUSE, alone, buckets, fio, fio_first, quantile, sum, undisturbed,
};

#[test]
fn exactly_those_that_slept_are_in_the_tail() {
    if !can_run("exactly_those_that_slept_are_in_the_tail", NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("tail", 64 * MIB);
    disk.sleeps(Delay::OneIn(1000, Duration::from_millis(50)));
    let run = scratch("tail").join("run");
    let job = "rw=randread bs=4k ioengine=psync number_ios=16000 norandommap size=64m";
    record_script_with(&run, "100ms", LOOK, &fio(&disk.path, job).join(" "));
    let (reads, slept) = disk.counted();
    assert!(reads >= 16_000 && slept >= 16, "{slept} of {reads} slept");
    let all = format!("disk.ios by latency where device = {}", disk.name());
    let lacking = Lacking::of(&run, reads as f64);
    lacking.ios("reads", sum(&buckets(&run, &all)), reads as f64);
    let tail = buckets(&run, &format!("{all} and latency > 40ms"));
    lacking.ios("reads above 40 ms", sum(&tail), slept as f64);
    assert!(!tail.is_empty(), "none of {slept} is in the tail");
    for bucket in tail {
        assert!(
            bucket.to > 0.05 && bucket.from < 0.08,
            "a sleep of 50 ms took {bucket:?}"
        );
    }
}

/// fio's completion latencies, in seconds. It has them in buckets of the same grid, and names each by
/// its middle; a percentile as it prints it would be as coarse.
fn completions(fio: &str) -> Vec<Bucket> {
    let start = fio.find('{').expect("fio prints JSON");
    let all: Value = serde_json::from_str(&fio[start..]).expect("fio prints JSON");
    let bins = all["jobs"][0]["read"]["clat_ns"]["bins"].as_object();
    let mut buckets: Vec<Bucket> = bins
        .expect("fio prints bins")
        .iter()
        .map(|(middle, count)| {
            let step = grid::index(middle.parse().expect("nanoseconds"));
            Bucket {
                from: grid::lower(step) as f64 / 1e9,
                to: grid::upper(step) as f64 / 1e9,
                total: count.as_f64().expect("a count"),
            }
        })
        .collect();
    buckets.sort_by(|a, b| a.from.total_cmp(&b.from));
    buckets
}

/// By fio's clock a read takes 30 to 36 µs longer here: the system call, and waking fio. That is 3 %
/// of 1.1 ms, so the disk takes little longer.
#[test]
fn percentiles_of_some_milliseconds_are_those_of_fio() {
    let name = "percentiles_of_some_milliseconds_are_those_of_fio";
    percentiles_agree(name, Fio::Sleeps, Delay::Spread([1.2, 1.8], 25, [6.0, 6.3]));
}

#[test]
fn percentiles_are_those_of_fio() {
    let name = "percentiles_are_those_of_fio";
    percentiles_agree(
        name,
        Fio::Sleeps,
        Delay::Spread([5.0, 15.0], 25, [50.0, 52.5]),
    );
}

/// Half a millisecond is little beside waking fio. So it does not sleep, but looks for the result all the
/// time in the memory that it has in common with the kernel, and lets everybody else go first.
#[test]
fn percentiles_of_half_a_millisecond_are_those_of_fio() {
    let name = "percentiles_of_half_a_millisecond_are_those_of_fio";
    percentiles_agree(
        name,
        Fio::Looks,
        Delay::Spread([0.5, 0.7], 25, [12.0, 12.6]),
    );
}

/// How fio waits for a read.
#[derive(Clone, Copy, PartialEq)]
enum Fio {
    Sleeps,
    Looks,
}

fn percentiles_agree(name: &str, waits: Fio, delay: Delay) {
    if !can_run(name, NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new(name, 64 * MIB);
    // Waking fio takes 50 µs where the processor sleeps too, as in a virtual machine, and four
    // times that if its host is busy: no time of the disk. So no processor sleeps. The 99th
    // percentile is among the slow ones, which are no accident.
    let _awake = (waits == Fio::Sleeps).then(Awake::new);
    disk.sleeps(delay);
    let record = || {
        let run = scratch(name).join("run");
        let said = record_script_with(&run, "100ms", LOOK, &reads(&disk.path, waits));
        let completions = completions(&said);
        assert!(sum(&completions) > 400.0, "{} reads", sum(&completions));
        (run, completions)
    };
    undisturbed(record, |run, completions| {
        let part = format!("where device = {}", disk.name());
        let latency = buckets(run, &format!("disk.ios by latency {part}"));
        for share in [0.5, 0.99] {
            let (seen, expected) = (quantile(&latency, share), quantile(completions, share));
            eprintln!("quantile {share}: {seen} s, fio says {expected} s");
            assert!(
                (seen - expected).abs() <= 0.03 * expected,
                "quantile {share}: {seen} s, fio says {expected} s"
            );
        }
    });
}

/// The command of fio's reads.
fn reads(device: &Path, waits: Fio) -> String {
    let job = "rw=randread bs=4k time_based runtime=6 output-format=json+";
    match waits {
        Fio::Sleeps => fio_first(device, &format!("{job} ioengine=psync")),
        Fio::Looks => {
            let job = format!(
                "{job} ioengine=libaio iodepth=1 iodepth_batch_complete_min=0 userspace_reap"
            );
            format!("chrt --idle 0 {}", fio(device, &job).join(" "))
        }
    }
}
