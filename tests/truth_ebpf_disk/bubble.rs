//! A latency bubble, as in `docs/guides/latency-bubble.md`: it is seen in the queue, is as
//! long as the scheduler's patience, is found, and is gone with it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{LoopDevice, can_run, scratch, sonde, succeed};
use crate::truth::record_script_with;
use crate::{Bucket, LOOK, NEEDS, alone, buckets, fio_first, sum};

/// Far more than is read: only holes are. A stream that came to the end would begin anew, and
/// the sorted queue with it.
const BYTES: u64 = 1 << 40;

/// A deep stream and, far behind it, four lone readers; the scheduler passes a read over for at
/// most `patience` milliseconds.
fn recorded(device: &LoopDevice, patience: u32) -> PathBuf {
    for (setting, value) in [
        ("scheduler", "mq-deadline".to_owned()),
        ("nr_requests", "1024".to_owned()),
        ("nomerges", "2".to_owned()),
        ("iosched/read_expire", patience.to_string()),
    ] {
        device.set(setting, &value);
    }
    let run = scratch(&format!("bubble-{patience}")).join("run");
    let job = "ioengine=libaio time_based runtime=6 \
               name=stream rw=read bs=128k iodepth=256 offset=1g \
               name=lone numjobs=4 rw=randread norandommap bs=4k iodepth=1 size=1g thinktime=5ms";
    record_script_with(&run, "100ms", LOOK, &fio_first(&device.path, job));
    run
}

/// I/Os that took longer than `seconds`, by a number.
fn above(run: &Path, device: &LoopDevice, number: &str, seconds: f64) -> Vec<Bucket> {
    let part = format!("where device = {}", device.name());
    let all = buckets(run, &format!("disk.ios by {number} {part}"));
    assert!(sum(&all) > 5000.0, "only {} I/Os", sum(&all));
    all.into_iter().filter(|b| b.from >= seconds).collect()
}

/// Sentences of the bubbles that `sonde show` finds on the device.
fn found(run: &Path, device: &LoopDevice) -> Vec<String> {
    let text = succeed(sonde().arg("show").arg(run).arg("--json"));
    let shown: Value = serde_json::from_str(&text).expect("JSON");
    let findings = shown["findings"].as_array().expect("a list").iter();
    findings
        .filter(|f| f["name"] == "latency-bubble")
        .map(|f| f["sentence"].as_str().expect("a sentence").to_owned())
        .filter(|s| s.contains(&format!(" reads of {} took ", device.name())))
        .collect()
}

#[test]
fn a_bubble_is_in_the_queue_is_found_and_goes_with_the_setting() {
    let name = "a_bubble_is_in_the_queue_is_found_and_goes_with_the_setting";
    if !can_run(name, NEEDS) {
        return;
    }
    let _alone = alone();
    let device = LoopDevice::sparse("bubble", BYTES);
    let bubble = recorded(&device, 1000);
    let waited = above(&bubble, &device, "queue_time", 0.5);
    assert!((1.0..100.0).contains(&sum(&waited)), "{waited:?}");
    let longest = waited.last().expect("some").to;
    assert!(longest < 1.5, "it waited {longest} s");
    let served = above(&bubble, &device, "service_time", 0.5);
    assert!(served.is_empty(), "the device took long: {served:?}");
    let told = found(&bubble, &device);
    assert_eq!(told.len(), 1, "{told:?} of {waited:?}");
    for words in [
        "in the scheduler's queue, not in the device",
        "has scheduler mq-deadline, nr_requests 1024",
    ] {
        assert!(told[0].contains(words), "no `{words}` in {told:?}");
    }

    let gone = recorded(&device, 20);
    let waited = above(&gone, &device, "latency", 0.5);
    assert!(waited.is_empty(), "still {waited:?}");
    let told = found(&gone, &device);
    assert!(told.is_empty(), "still {told:?}");
}
