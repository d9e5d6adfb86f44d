//! What the programs in the kernel tell of block I/O, against instruments that know nothing
//! of them: `/proc/diskstats` as the test reads it, fio, and a disk that sleeps and counts.
//!
//! While another recorder attaches to a tracepoint, the kernel may leave out a program there
//! for a moment. So that what is compared exactly is exact, the tests here run one at a time.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write settings and look at the clock"
)]

#[path = "truth_ebpf_disk/bubble.rs"]
mod bubble;
#[path = "truth_ebpf_disk/churn.rs"]
mod churn;
#[path = "truth_ebpf_disk/coming.rs"]
mod coming;
#[path = "truth_ebpf_disk/depth.rs"]
mod depth;
#[path = "truth_ebpf_disk/errors.rs"]
mod errors;
#[path = "truth_ebpf_disk/exact.rs"]
mod exact;
#[path = "truth_ebpf_disk/hung.rs"]
mod hung;
#[path = "truth_ebpf_disk/kinds.rs"]
mod kinds;
#[path = "truth_ebpf_disk/lacking.rs"]
mod lacking;
#[path = "truth_ebpf_disk/life.rs"]
mod life;
#[path = "truth_ebpf_disk/places.rs"]
mod places;
#[path = "support/recorder.rs"]
mod recorder;
#[path = "truth_ebpf_disk/requeued.rs"]
mod requeued;
#[path = "truth_ebpf_disk/seeks.rs"]
mod seeks;
#[path = "truth_ebpf_disk/slow.rs"]
mod slow;
#[path = "support/slow_fuse.rs"]
mod slow_fuse;
mod support;
mod truth;
#[path = "truth/undisturbed.rs"]
mod undisturbed;
#[path = "truth_ebpf_disk/weighed.rs"]
mod weighed;
#[path = "truth_ebpf_disk/who.rs"]
mod who;

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde_json::Value;
use support::{LoopDevice, Need, get};
use undisturbed::{alone, undisturbed};

const MIB: u64 = 1 << 20;
const NEEDS: &[Need] = &[
    Need::Root,
    Need::Path("/sys/kernel/btf/vmlinux"),
    Need::Program("losetup"),
    Need::Program("fio"),
    Need::Program("chrt"),
];
const NEEDS_FUSE: &[Need] = &[
    Need::Root,
    Need::Path("/sys/kernel/btf/vmlinux"),
    Need::Path("/dev/fuse"),
    Need::Program("losetup"),
    Need::Program("fio"),
    Need::Program("chrt"),
];
const NEEDS_ZRAM: &[Need] = &[Need::Path(ZRAM)];
/// How deep the recordings of these tests look.
const LOOK: &[&str] = &["--detail", "distributions"];
/// Each I/O as an event too, however many they are.
const EVENTS: &[&str] = &["--event-budget", "10000%"];

/// Where devices of memory come from, which have no requests.
const ZRAM: &str = "/sys/class/zram-control";

/// Such a device, of the test's own.
struct Zram {
    name: String,
    path: PathBuf,
}

impl Zram {
    /// A device of a size as the kernel has it: `64M`.
    fn new(size: &str) -> Zram {
        let number = std::fs::read_to_string(format!("{ZRAM}/hot_add")).expect("a new device");
        let name = format!("zram{}", number.trim());
        let path = Path::new("/dev").join(&name);
        let device = Zram { name, path };
        std::fs::write(format!("/sys/block/{}/disksize", device.name), size).expect("a size");
        recorder::wait("the device", || device.path.exists());
        device
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = std::fs::write(format!("/sys/block/{}/reset", self.name), "1");
        let number = self.name.trim_start_matches("zram");
        let _ = std::fs::write(format!("{ZRAM}/hot_remove"), number);
    }
}

/// A loop device over tmpfs that nobody else reads: device managers leave a locked one alone.
fn quiet_device(name: &str) -> (File, LoopDevice) {
    let device = LoopDevice::new(name, 64 * MIB);
    let file = File::open(&device.path).expect("the device opens");
    rustix::fs::flock(&file, FlockOperation::LockExclusive).expect("the device locks");
    (file, device)
}

/// A direct fio job on a device; `options` as in `rw=read bs=4k`. They may name several jobs.
fn fio(target: &Path, options: &str) -> Vec<String> {
    let mut arguments = vec!["fio".to_owned(), format!("--filename={}", target.display())];
    let fixed = "direct=1 thread output-format=json";
    let named = options.contains("name=");
    let name = if named { "" } else { "name=truth" };
    let words = [fixed, options, name].into_iter();
    arguments.extend(
        words
            .flat_map(str::split_whitespace)
            .map(|w| format!("--{w}")),
    );
    arguments
}

/// The same as a line of shell, before all others who want a processor: how long a job waits for
/// one when its I/O is done is no time of the disk, nor may it fall behind with the next.
fn fio_first(target: &Path, options: &str) -> String {
    format!("chrt --fifo 50 {}", fio(target, options).join(" "))
}

/// `script`, and after it reads that use each request of `device` twice: an I/O of which the kernel
/// did not tell the end is found, and counted as unseen, when its request is used again.
fn swept(script: &str, device: &Path) -> String {
    let all =
        "rw=randread bs=4k ioengine=libaio iodepth=512 iodepth_batch=512 size=16m io_size=16m";
    let all = fio(device, all).join(" ");
    format!("{script}\n{all} >&2\n{all} >&2")
}

/// A bucket of a breakdown by a number; its ends are NaN where that number is not known.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    from: f64,
    to: f64,
    total: f64,
}

/// The answer to `disk.MEASURE by NUMBER …`, in order.
fn buckets(run: &Path, expression: &str) -> Vec<Bucket> {
    let answer = get(run, expression);
    let number = |v: &Value| v.as_f64().expect("a number");
    let end = |key: &Value, name: &str| match &key[name] {
        Value::Null => f64::NAN,
        end => number(end),
    };
    let groups = answer["groups"].as_array().expect("groups").iter();
    let mut buckets: Vec<Bucket> = groups
        .map(|group| {
            let key = group["key"].as_object().expect("a key").values().next();
            let key = key.expect("one dimension");
            Bucket {
                from: end(key, "from"),
                to: end(key, "to"),
                total: number(&group["total"]),
            }
        })
        .collect();
    buckets.sort_by(|a, b| a.from.total_cmp(&b.from));
    buckets
}

/// All of them together.
fn sum(buckets: &[Bucket]) -> f64 {
    buckets.iter().map(|b| b.total).sum()
}

/// The value below which `share` of the amount is, evenly spread within a bucket.
fn quantile(buckets: &[Bucket], share: f64) -> f64 {
    let mut left = sum(buckets) * share;
    for bucket in buckets {
        if left <= bucket.total {
            return bucket.from + (bucket.to - bucket.from) * left / bucket.total;
        }
        left -= bucket.total;
    }
    panic!("nothing was counted");
}
