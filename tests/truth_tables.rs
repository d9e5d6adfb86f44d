//! Tables of one subject are of the same things: what several of them tell has one sum in all of
//! them, distributions and events and what the kernel counts itself. Each is asked for by what
//! only it has, so that none answers for another.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, wait, and tell why they skip"
)]

#[path = "truth/files.rs"]
mod files;
#[path = "support/recorder.rs"]
mod recorder;
#[path = "support/space.rs"]
mod space;
mod support;
mod truth;
#[path = "truth/undisturbed.rs"]
mod undisturbed;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use analysis::evaluate;
use analysis::scan::KeyValue;
use run::Run;
use rustix::fs::FlockOperation;
use support::{ALL_EVENTS, LoopDevice, Need, can_run, scratch, total};
use truth::group::Own;
use truth::{DiskLine, OPS, record_script_with, same};
use undisturbed::{alone, undisturbed};

const MIB: u64 = 1 << 20;

/// What tables have in common: a statistic, by what, and each table with the predicates that only
/// it can answer.
struct Alike<'a> {
    statistic: &'a str,
    by: &'a str,
    of: Vec<(&'a str, &'a str)>,
}

fn alike<'a>(statistic: &'a str, by: &'a str, of: &[(&'a str, &'a str)]) -> Alike<'a> {
    let of = of.to_vec();
    Alike { statistic, by, of }
}

/// Totals by the words of the groups; those of nothing are left out, which a sparse table does not
/// have.
fn told(run: &Run, statistic: &str, by: &str, table: &str, tests: &str) -> BTreeMap<String, f64> {
    let text = format!("{statistic} by {by} where {tests}");
    let answer = evaluate(run, &text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(answer.table, table, "{text}");
    let word = |key: &KeyValue| match key {
        KeyValue::Word(word) => word.clone(),
        KeyValue::Number(number) => number.to_string(),
    };
    let groups = answer.groups.iter().map(|group| {
        let key: Vec<String> = group.key.iter().map(word).collect();
        (key.join(", "), group.total.expect("a sum"))
    });
    groups.filter(|(_, total)| *total != 0.0).collect()
}

/// Every table of each of `all` has the same parts, of what `only` keeps; those parts.
fn agree(run: &Path, only: &str, all: &[Alike<'_>]) -> Vec<BTreeMap<String, f64>> {
    let run = Run::open(run).expect("the run opens");
    let each = all.iter().map(|alike| {
        let of = |(table, test): &(&str, &str)| {
            let gap = if test.is_empty() { "" } else { " and " };
            let tests = format!("{only}{gap}{test}");
            told(&run, alike.statistic, alike.by, table, &tests)
        };
        let first = of(&alike.of[0]);
        for other in &alike.of[1..] {
            let found = of(other);
            let what = format!(
                "{} by {} in {}: {found:?}, in {}: {first:?}",
                alike.statistic, alike.by, other.0, alike.of[0].0
            );
            assert!(found.keys().eq(first.keys()), "{what}");
            for (key, amount) in &found {
                same(&what, *amount, first[key]);
            }
        }
        first
    });
    each.collect()
}

/// Nothing was left out of the events.
fn none_dropped(run: &Path) {
    assert_eq!(total(run, "self.dropped"), 0.0, "events were dropped");
}

#[test]
fn tables_of_a_disk_agree_on_what_was_moved_and_what_was_freed() {
    let name = "tables_of_a_disk_agree_on_what_was_moved_and_what_was_freed";
    let programs = ["losetup", "dd", "blkdiscard"].map(Need::Program);
    let needs = [
        &[Need::Root, Need::Path("/sys/kernel/btf/vmlinux")][..],
        &programs,
    ];
    if can_run(name, &needs.concat()) {
        let _alone = alone();
        undisturbed(recorded_disk, |run, (counted, device)| {
            disks_agree(run, counted, device);
        });
    }
}

/// A run in which a disk did all four operations, what the kernel counted, and the disk's name.
fn recorded_disk() -> (PathBuf, (DiskLine, String)) {
    let device = LoopDevice::new("tables", 64 * MIB);
    // Device managers leave a locked one alone.
    let lock = File::open(&device.path).expect("the device opens");
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).expect("the device locks");
    let path = device.path.display();
    let script = format!(
        "dd if=/dev/zero of={path} bs=48k count=101 conv=fsync
         dd if={path} of=/dev/null bs=20k count=99 iflag=direct
         blkdiscard --offset 8MiB --length 3MiB {path}
         blkdiscard --offset 20MiB --length 1MiB {path}"
    );
    let run = scratch("tables-disk").join("run");
    let before = DiskLine::now(&device.name());
    record_script_with(&run, "100ms", &[ALL_EVENTS], &script);
    let counted = DiskLine::now(&device.name()).since(&before);
    (run, (counted, device.name()))
}

fn disks_agree(run: &Path, counted: &DiskLine, device: &str) {
    none_dropped(run);
    let only = format!("device = {device}");
    let events = ("disk_event", "file ~ \"\"");
    let histograms = [
        ("disk_latency", "latency >= 0"),
        ("disk_queue_time", "queue_time >= 0"),
        ("disk_service_time", "service_time >= 0"),
        ("disk_depth", "depth >= 0"),
    ];
    let all = [&[("disk", ""), events][..], &histograms].concat();
    let with_size = [&all[..], &[("disk_size", "size >= 0")]].concat();
    let found = agree(
        run,
        &only,
        &[
            alike("disk.bytes", "op", &with_size),
            alike("disk.ios", "op", &all),
            alike("disk.discarded", "op", &[("disk", ""), events]),
            alike("disk.queue", "op", &[("disk_io", ""), events]),
            alike("disk.service", "op", &[("disk_io", ""), events]),
            alike("disk.random", "op", &[("disk_pattern", ""), events]),
            alike("disk.placed", "op", &[("disk_pattern", ""), events]),
        ],
    );
    let of = |statistic: usize, op: &str| found[statistic].get(op).copied().unwrap_or(0.0);
    for (place, op) in OPS.into_iter().enumerate() {
        let [ios, bytes, ..] = counted.of(place);
        assert!(ios > 0.0, "no {op} was made");
        same(&format!("bytes of {op}"), of(0, op), bytes);
        same(&format!("I/Os of {op}"), of(1, op), ios);
        // Of events, each of which has its nanoseconds, and not of the kernel's milliseconds.
        let (queue, service) = (of(3, op), of(4, op));
        let text = format!("disk.mean_latency where {only} and op = {op}");
        let mean = support::get(run, &text)["groups"][0]["mean"].as_f64();
        let mean = mean.expect("a mean");
        let exact = (queue + service) / ios;
        assert!(
            (mean / exact - 1.0).abs() < 1e-9,
            "{op}: {mean}, not {exact}"
        );
    }
    let freed = (4 * MIB) as f64;
    same("discarded, as counted", counted.discarded(), freed);
    same("discarded", of(2, "discard"), freed);
    assert_eq!(found[2].len(), 1, "only discards free: {:?}", found[2]);
    // What was freed is no traffic, whichever table is asked; nor do its I/Os make the rest small.
    let mean = |tests: &str| {
        let text = format!("disk.mean_size where {only}{tests}");
        support::get(run, &text)["groups"][0]["mean"].as_f64()
    };
    // Of writes without data only the histogram of depths does not tell which they are.
    let (all, placed) = (1, 6);
    for (tests, counted) in [
        ("", placed),
        (" and file ~ \"\"", placed),
        (" and depth >= 0", all),
    ] {
        let moves = of(counted, "read") + of(counted, "write");
        let expected = (of(0, "read") + of(0, "write")) / moves;
        let name = format!("mean size{tests}");
        same(&name, mean(tests).expect("a mean"), expected);
    }
}

/// Writes `bytes` to a namespace from another, where they are answered.
fn converse(spaces: &[space::Space; 2], bytes: usize) {
    let listener = spaces[1].within(|| TcpListener::bind("10.9.8.2:7000").expect("binds"));
    let mut here = spaces[0].within(|| TcpStream::connect("10.9.8.2:7000").expect("connects"));
    let (mut there, _) = listener.accept().expect("accepts");
    std::thread::scope(|scope| {
        scope.spawn(|| here.write_all(&vec![7; bytes]).expect("sends"));
        let mut all = vec![0; bytes];
        there.read_exact(&mut all).expect("receives");
    });
    there.write_all(&[1; 100]).expect("answers");
    here.read_exact(&mut [0; 100]).expect("an answer");
}

#[test]
fn tables_of_an_interface_agree_on_its_segments_and_packets() {
    let name = "tables_of_an_interface_agree_on_its_segments_and_packets";
    if !can_run(name, space::NEEDS) {
        return;
    }
    let spaces = space::pair("tables");
    let run = scratch("tables-net").join("run");
    let before = spaces[0].counters("veth0");
    let recording = spaces[0].record(&run, &["--events=net", ALL_EVENTS]);
    converse(&spaces, 3_000_001);
    // The last acknowledgements are on their way.
    std::thread::sleep(Duration::from_millis(300));
    recording.end();
    let after = spaces[0].counters("veth0");
    none_dropped(&run);
    let only = "interface = veth0";
    let sizes = ("net_size", "size >= 0");
    let packets = ("net_packets", "packets_per_segment >= 0");
    let events = ("net_event", "process ~ \"\"");
    let found = agree(
        &run,
        only,
        &[
            alike(
                "net.bytes",
                "direction",
                &[("net", ""), sizes, packets, events],
            ),
            alike("net.segments", "direction", &[sizes, packets, events]),
            alike(
                "net.segments",
                "direction, context, stage",
                &[sizes, packets, events],
            ),
            alike(
                "net.bytes",
                "direction, context, stage",
                &[sizes, packets, events],
            ),
            alike(
                "net.segments",
                "direction, packets_per_segment",
                &[packets, events],
            ),
            alike("net.segments", "direction, size", &[sizes, events]),
            alike("net.packets", "direction", &[("net", "")]),
        ],
    );
    for (place, direction) in ["receive", "transmit"].into_iter().enumerate() {
        let counted = |i: usize| after[2 * place + i] - before[2 * place + i];
        same(direction, found[0][direction], counted(0));
        // With fewer than 128, each number of packets has a bucket of its own.
        let packets: f64 = found[4]
            .iter()
            .filter_map(|(key, segments)| {
                let each = key.strip_prefix(direction)?.strip_prefix(", ")?;
                Some(each.parse::<f64>().expect("a number") * segments)
            })
            .sum();
        // A virtual link hands whole segments over and counts them so: each becomes packets later.
        same(direction, found[1][direction], found[6][direction]);
        same(direction, found[1][direction], counted(1));
        assert!(found[1][direction] <= packets, "{found:?}");
        assert!(found[1][direction] < packets || direction == "receive");
    }
}

#[test]
fn tables_of_files_agree_on_operations_bytes_and_time() {
    let name = "tables_of_files_agree_on_operations_bytes_and_time";
    files::with_own(name, |dir, own| {
        let run = dir.join("run");
        let options = [
            "--with=file",
            "--sources=bpf-file",
            "--events=file",
            "--top=1000",
            ALL_EVENTS,
        ];
        let script = format!(
            "cd {}
             i=0; while [ $i -lt 200 ]; do echo line >> log; i=$((i+1)); done
             dd if=/dev/zero of=large bs=48k count=50 conv=fsync
             cat log large > both; test -e none || rm both",
            own.point.display()
        );
        record_script_with(&run, "100ms", &options, &script);
        none_dropped(&run);
        let only = format!("filesystem = \"{}\"", own.point.display());
        let paths = ("file_path", "");
        let events = ("file_event", "latency >= 0 and file ~ \"\"");
        let latencies = ("file_latency", "latency >= 0");
        let found = agree(
            &run,
            &only,
            &[
                alike("file.ops", "op", &[paths, latencies, events]),
                alike("file.bytes", "op", &[paths, latencies, events]),
                alike("file.time", "op", &[paths, events]),
                alike("file.ops", "op, file, process", &[paths, events]),
            ],
        );
        let moving = format!("{only} and op in read, write");
        let sizes = ("file_size", "size >= 0");
        let by_size = agree(
            &run,
            &moving,
            &[
                alike("file.ops", "op", &[paths, sizes, events]),
                alike("file.bytes", "op", &[paths, sizes, events]),
            ],
        );
        assert!(found[0]["open"] >= 200.0, "{found:?}");
        assert!(by_size[1]["write"] >= 200.0 * 5.0 + 50.0 * 48.0 * 1024.0);
    });
}

#[test]
fn tables_of_a_group_agree_on_its_slices_and_waits() {
    let name = "tables_of_a_group_agree_on_its_slices_and_waits";
    if !can_run(name, &[Need::Root, Need::Path("/sys/kernel/btf/vmlinux")]) {
        return;
    }
    let Some(group) = Own::needed("tables") else {
        return;
    };
    let run = scratch("tables-cpu").join("run");
    let script = format!(
        "sh -ec '{}; i=0; while [ $i -lt 300 ]; do (:); i=$((i+1)); done; \
         for i in 1 2 3; do timeout 0.3 sh -c \"while :; do :; done\" & done; wait'; sleep 0.2",
        group.enter()
    );
    let options = ["--detail=distributions", "--sources=bpf-cpu"];
    record_script_with(&run, "100ms", &options, &script);
    let only = format!("cgroup = {}", group.name());
    let whole = ("cpu_cgroup", "");
    let (slices, waits) = (("cpu_slice", "slice >= 0"), ("cpu_wait", "wait >= 0"));
    let found = agree(
        &run,
        &only,
        &[
            alike("cpu.time", "cgroup", &[whole, slices]),
            alike("cpu.slices", "cgroup", &[whole, slices]),
            alike("cpu.waits", "cgroup", &[whole, waits]),
            alike("cpu.waited", "cgroup", &[whole, waits]),
        ],
    );
    let least = [0.2, 300.0, 300.0, 0.0];
    for (found, least) in found.iter().zip(least) {
        let only = found.values().next().copied().unwrap_or(0.0);
        assert!(only > least, "{found:?}");
    }
}
