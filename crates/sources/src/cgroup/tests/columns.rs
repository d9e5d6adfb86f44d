//! Every table and column that the source fills, from files as the kernel writes them.

use run::catalog;

use super::*;

/// The rows of a table as text: words, then values.
fn table(out: &Sink, name: &str) -> Vec<String> {
    let rows = out.rows(TableId::of(name));
    let of = |row: usize| {
        let words = rows.words.iter().map(|c| out.words.text(c[row]).unwrap());
        let words: Vec<&str> = words.collect();
        let values: Vec<f64> = rows.values.iter().map(|c| c[row]).collect();
        format!("{} {values:?}", words.join(" "))
    };
    (0..rows.len()).map(of).collect()
}

/// Fails unless each table that is the source's, and no other, has rows.
fn all_are_filled(out: &Sink) {
    let filled: Vec<&str> = out.filled().map(|(_, rows)| rows.table.name).collect();
    let of_source = catalog::tables().filter(|(_, t)| t.source == ENTRY.name);
    let expected: Vec<&str> = of_source.map(|(_, t)| t.name).collect();
    assert_eq!(filled, expected);
}

/// Version 2: usage, user, system in microseconds; periods, throttled ones, microseconds.
fn cpu_stat(time: [u64; 3], throttle: [u64; 3]) -> (&'static str, String) {
    let [usage, user, system] = time;
    let [periods, throttled, micros] = throttle;
    let text = format!(
        "usage_usec {usage}\nuser_usec {user}\nsystem_usec {system}\nnice_usec 0\n\
         nr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {micros}\n\
         nr_bursts 0\nburst_usec 0\n"
    );
    ("cpu.stat", text)
}

/// Microseconds in which some and all tasks were stalled.
fn pressure(file: &'static str, [some, full]: [u64; 2]) -> (&'static str, String) {
    let text = format!(
        "some avg10=0.34 avg60=0.63 avg300=0.66 total={some}\n\
         full avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
    );
    (file, text)
}

/// Reads, writes, discards and their bytes.
fn io_line(device: &str, ios: [u64; 3], bytes: [u64; 3]) -> String {
    let [reads, writes, discards] = ios;
    let [read, written, discarded] = bytes;
    format!(
        "{device} rbytes={read} wbytes={written} rios={reads} wios={writes} \
         dbytes={discarded} dios={discards}\n"
    )
}

/// Bytes, the limit, and processes killed in the group alone and with its children.
fn memory(now: u64, limit: &str, [kills, all]: [u64; 2]) -> [(&'static str, String); 4] {
    let events = |kills| format!("low 0\nhigh 0\nmax 7\noom 3\noom_kill {kills}\n");
    [
        ("memory.current", format!("{now}\n")),
        ("memory.max", format!("{limit}\n")),
        ("memory.events.local", events(kills)),
        ("memory.events", events(all)),
    ]
}

fn line(file: &'static str, text: &str) -> (&'static str, String) {
    (file, format!("{text}\n"))
}

/// What the groups of version 2 say at the `n`th reading: `/`, `/a`, `/a/b`, `/c`; and `/new`, of
/// which the first reading knows nothing. Counters hold the children's, too.
fn unified_reading(tree: &Unified, n: u64) {
    // The root's time has what the hypervisor took; it has no limits.
    let root_io = io_line(
        "254:0",
        [7 + n * 9, 5 + n * 2, n],
        [n << 16, n << 13, n << 12],
    ) + &io_line("8:16", [0, n, 0], [0, n * 512, 0]);
    tree.put(
        "cg",
        &[
            cpu_stat(
                [
                    5_000_000 + n * 3_000_000,
                    1_000_000 + n * 800_000,
                    400_000 + n * 250_000,
                ],
                [0; 3],
            ),
            line("io.stat", root_io.trim_end()),
            pressure("cpu.pressure", [90 + n * 600_000, 0]),
            pressure("io.pressure", [90 + n * 50_000, 80 + n * 40_000]),
            pressure("memory.pressure", [0, 0]),
        ],
    );
    let a_io = io_line(
        "254:0",
        [3 + n * 6, 5 + n * 2, n],
        [n << 15, n << 13, n << 12],
    ) + &io_line("8:16", [0, n, 0], [0, n * 512, 0]);
    tree.put(
        "cg/a",
        &[
            cpu_stat(
                [
                    500_000 + n * 500_000,
                    400_000 + n * 375_000,
                    100_000 + n * 125_000,
                ],
                [10 + n * 20, 4 + n * 5, 1000 + n * 250_000],
            ),
            line("cpu.max", "150000 100000"),
            line("io.stat", a_io.trim_end()),
            line("pids.current", "5"),
            pressure("cpu.pressure", [70 + n * 400_000, 60 + n * 100_000]),
            pressure("io.pressure", [70 + n * 50_000, 60 + n * 30_000]),
            pressure("memory.pressure", [70 + n * 2, 60 + n]),
        ],
    );
    tree.put(
        "cg/a",
        &memory(100 + n * 20, "4096", [2 + n * 3, 9 + n * 99]),
    );
    tree.put(
        "cg/a/b",
        &[
            cpu_stat(
                [
                    100_000 + n * 250_000,
                    50_000 + n * 125_000,
                    50_000 + n * 125_000,
                ],
                [0; 3],
            ),
            line("cpu.max", "max 100000"),
            line(
                "io.stat",
                io_line("254:0", [1 + n, 0, 0], [n * 4096, 0, 0]).trim_end(),
            ),
            line("pids.current", "2"),
            pressure("cpu.pressure", [7, 6]),
        ],
    );
    tree.put("cg/a/b", &memory(40 + n * 10, "max", [7, 7 + n]));
    tree.put(
        "cg/c",
        &[
            cpu_stat([0; 3], [3, 0, 0]),
            line("cpu.max", "20000 100000"),
            line("pids.current", "0"),
        ],
    );
    tree.put("cg/c", &memory(0, "1048576", [0, 0]));
    if n > 0 {
        tree.put(
            "cg/new",
            &[
                cpu_stat([50_000, 50_000, 0], [2, 1, 500_000]),
                line("cpu.max", "max 100000"),
                line("pids.current", "1"),
            ],
        );
        tree.put("cg/new", &memory(5, "max", [1, 1]));
    }
}

#[test]
fn every_column_of_version_2_is_what_the_files_say() {
    let tree = Unified::new("cgroup-columns");
    unified_reading(&tree, 0);
    let mut source = open(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);

    unified_reading(&tree, 1);
    sample(&mut *source, &mut out);
    all_are_filled(&out);
    assert_eq!(
        table(&out, "cgroup_cpu"),
        [
            "/ user [0.375]",
            "/ system [0.125]",
            "/a user [0.25]",
            "/a/b user [0.125]",
            "/a/b system [0.125]",
            "/new user [0.05]",
        ]
    );
    assert_eq!(
        table(&out, "cgroup_throttle"),
        [
            "/ [0.0, 0.0, 0.0, NaN]",
            "/a [0.25, 20.0, 5.0, 1.5]",
            "/c [0.0, 0.0, 0.0, 0.2]",
            "/new [0.5, 2.0, 1.0, NaN]",
        ]
    );
    assert_eq!(
        table(&out, "cgroup_memory"),
        [
            "/ [NaN, NaN, NaN]",
            "/a [70.0, 4096.0, 3.0]",
            "/a/b [50.0, NaN, 0.0]",
            "/c [0.0, 1048576.0, 0.0]",
            "/new [5.0, NaN, 1.0]",
        ]
    );
    assert_eq!(
        table(&out, "cgroup_tasks"),
        [
            "/ [NaN]",
            "/a [3.0]",
            "/a/b [2.0]",
            "/c [0.0]",
            "/new [1.0]"
        ]
    );
    assert_eq!(
        table(&out, "cgroup_io"),
        [
            "/ vda disk read [3.0, 32768.0]",
            "/ vda disk write [0.0, 0.0]",
            "/ 8:16 disk read [0.0, 0.0]",
            "/ 8:16 disk write [0.0, 0.0]",
            "/a vda disk read [5.0, 28672.0]",
            "/a vda disk write [2.0, 8192.0]",
            "/a vda disk discard [1.0, 4096.0]",
            "/a 8:16 disk write [1.0, 512.0]",
            "/a/b vda disk read [1.0, 4096.0]",
        ]
    );
    assert_eq!(
        table(&out, "cgroup_pressure"),
        [
            "/ cpu some [0.6]",
            "/ cpu full [0.0]",
            "/ io some [0.05]",
            "/ io full [0.04]",
            "/ memory some [0.0]",
            "/ memory full [0.0]",
            "/a cpu some [0.4]",
            "/a cpu full [0.1]",
            "/a io some [0.05]",
            "/a io full [0.03]",
            "/a memory some [2e-6]",
            "/a memory full [1e-6]",
        ]
    );
}

#[test]
fn limits_that_change_are_seen() {
    let tree = Unified::new("cgroup-limits");
    unified_reading(&tree, 1);
    let mut source = open(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    // They are looked at in turn: after eight samples, each has been.
    tree.put(
        "cg/a",
        &[line("cpu.max", "max 100000"), line("memory.max", "max")],
    );
    tree.put(
        "cg/c",
        &[
            line("cpu.max", "50000 100000"),
            line("memory.max", "2097152"),
        ],
    );
    for _ in 0..8 {
        sample(&mut *source, &mut out);
    }
    assert_eq!(
        table(&out, "cgroup_throttle"),
        ["/ [0.0, 0.0, 0.0, NaN]", "/c [0.0, 0.0, 0.0, 0.5]"]
    );
    assert_eq!(
        table(&out, "cgroup_memory"),
        [
            "/ [NaN, NaN, NaN]",
            "/a [70.0, NaN, 0.0]",
            "/a/b [50.0, NaN, 0.0]",
            "/c [0.0, 2097152.0, 0.0]",
            "/new [5.0, NaN, 0.0]",
        ]
    );
}

/// Version 1's time of a group: nanoseconds, and those of each mode as the tick samples them.
fn cpuacct([usage, user, system]: [u64; 3]) -> [(&'static str, String); 3] {
    [
        line("cpuacct.usage", &usage.to_string()),
        line("cpuacct.usage_user", &user.to_string()),
        line("cpuacct.usage_sys", &system.to_string()),
    ]
}

/// Version 1's limit: microseconds of a period of 100 ms; periods, throttled ones, nanoseconds.
fn cpu(quota: &str, [periods, throttled, nanos]: [u64; 3]) -> [(&'static str, String); 3] {
    let stat = format!(
        "nr_periods {periods}\nnr_throttled {throttled}\nthrottled_time {nanos}\n\
         nr_bursts 0\nburst_time 0"
    );
    [
        line("cpu.cfs_quota_us", quota),
        line("cpu.cfs_period_us", "100000"),
        line("cpu.stat", &stat),
    ]
}

/// Version 1's memory: bytes, the limit, processes killed.
fn memory_v1(now: u64, limit: u64, kills: u64) -> [(&'static str, String); 4] {
    let oom = format!("oom_kill_disable 0\nunder_oom 0\noom_kill {kills}");
    [
        line("memory.usage_in_bytes", &now.to_string()),
        line("memory.limit_in_bytes", &limit.to_string()),
        line("memory.use_hierarchy", "1"),
        line("memory.oom_control", &oom),
    ]
}

/// Version 1's I/O of a device: reads, writes, discards.
fn blkio(ios: [u64; 3], bytes: [u64; 3]) -> [(&'static str, String); 2] {
    let text = |[read, write, discard]: [u64; 3]| {
        let total = read + write + discard;
        format!(
            "254:0 Read {read}\n254:0 Write {write}\n254:0 Sync {total}\n254:0 Async 0\n\
             254:0 Discard {discard}\n254:0 Total {total}\nTotal {total}\n"
        )
    };
    [
        ("blkio.throttle.io_serviced", text(ios)),
        ("blkio.throttle.io_service_bytes", text(bytes)),
    ]
}

/// What version 1 writes where there is no limit.
const NONE: u64 = 9_223_372_036_854_771_712;

/// What the groups of version 1 say at the `n`th reading: `/`, `/a`, `/a/b`. Time, memory and tasks
/// hold the children's, too; throttling, kills and I/O do not.
fn separate_reading(tree: &Unified, n: u64) {
    let ms = 1_000_000;
    tree.put(
        "time",
        &cpuacct([900 * ms + n * 1000 * ms, 80 + n * 30, 20 + n * 10]),
    );
    tree.put(
        "time/a",
        &cpuacct([100 * ms + n * 600 * ms, 30 + n * 15, 5 + n * 5]),
    );
    tree.put(
        "time/a/b",
        &cpuacct([50 * ms + n * 200 * ms, 5 + n * 5, 5 + n * 5]),
    );
    tree.put("time", &cpu("-1", [0; 3]));
    tree.put(
        "time/a",
        &cpu("20000", [10 + n * 5, 4 + n * 3, 7 + n * 250 * ms]),
    );
    tree.put("time/a/b", &cpu("-1", [0; 3]));
    tree.put("mem", &memory_v1(9000 + n, NONE, 1 + n));
    tree.put("mem/a", &memory_v1(500, 4096, 2 + n * 2));
    tree.put("mem/a/b", &memory_v1(200, NONE, 0));
    // The root has none.
    tree.put("pids", &[]);
    tree.put("pids/a", &[line("pids.current", "5")]);
    tree.put("pids/a/b", &[line("pids.current", "2")]);
    tree.put("blk", &blkio([9 + n * 2, n, 0], [n << 13, n << 12, 0]));
    tree.put("blk/a", &blkio([3 + n * 4, 0, 0], [n << 14, 0, 0]));
    tree.put(
        "blk/a/b",
        &blkio([1 + n * 8, n * 16, n], [n << 15, n << 16, n << 12]),
    );
}

#[test]
fn every_column_of_version_1_is_what_the_files_say() {
    let tree = Unified::new("cgroup-columns-v1");
    write(
        &tree.0.join("proc/self/mountinfo"),
        "1 2 0:3 / /time rw - cgroup c rw,cpu,cpuacct\n1 2 0:4 / /mem rw - cgroup c rw,memory\n\
         1 2 0:5 / /pids rw - cgroup c rw,pids\n1 2 0:6 / /blk rw - cgroup c rw,blkio\n",
    );
    separate_reading(&tree, 0);
    let mut source = open(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);

    // An amount that was taken off the parent's would be missing in the second interval, too.
    for n in 1..3 {
        separate_reading(&tree, n);
        sample(&mut *source, &mut out);
        assert_eq!(
            table(&out, "cgroup_cpu"),
            [
                "/ user [0.3]",
                "/ system [0.1]",
                "/a user [0.4]",
                "/a/b user [0.1]",
                "/a/b system [0.1]",
            ]
        );
        assert_eq!(
            table(&out, "cgroup_throttle"),
            ["/ [0.0, 0.0, 0.0, NaN]", "/a [0.25, 5.0, 3.0, 0.2]"]
        );
        assert_eq!(
            table(&out, "cgroup_memory"),
            [
                "/ [NaN, NaN, 1.0]",
                "/a [300.0, 4096.0, 2.0]",
                "/a/b [200.0, NaN, 0.0]",
            ]
        );
        assert_eq!(
            table(&out, "cgroup_tasks"),
            ["/ [NaN]", "/a [3.0]", "/a/b [2.0]"]
        );
        assert_eq!(
            table(&out, "cgroup_io"),
            [
                "/ vda disk read [2.0, 8192.0]",
                "/ vda disk write [1.0, 4096.0]",
                "/a vda disk read [4.0, 16384.0]",
                "/a/b vda disk read [8.0, 32768.0]",
                "/a/b vda disk write [16.0, 65536.0]",
                "/a/b vda disk discard [1.0, 4096.0]",
            ]
        );
    }
}
