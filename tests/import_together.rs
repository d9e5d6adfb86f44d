//! A file with outputs of several tools, as a script leaves that runs them in turn: each is read
//! where it can be said when it was.

#![allow(
    clippy::disallowed_methods,
    reason = "makes the files that are imported"
)]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::fs;
use std::path::Path;

use importing::{import, manifest, said, total};
use serde_json::Value;
use support::{scratch, sonde};

const VMSTAT: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0      0 500000   2000 300000    0    0   999   999  100  200  1  1 98  0  0
 1  0      0 500000   2000 300000    0    0     4     8  100  300  1  1 98  0  0
";

const IOSTAT: &str = "\
Linux 6.1.0 (box) \t11/27/26 \t_x86_64_\t(2 CPU)

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
sda             500.00     16000.00        40.00         0.00       1000       2000          0


Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
sda               8.00        16.00        40.00         0.00         16         40          0

";

const FREE: &str = "              total        used        free      shared  buff/cache   available
Mem:        8000000     1000000     5000000        8000     2000000     6500000
Swap:             0           0           0
";

const MPSTAT: &str = "\
Linux 6.1.0 (box) \t11/27/26 \t_x86_64_\t(2 CPU)

15:50:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
15:50:02     all    1.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00   98.00
15:50:03     all    2.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00   97.00
";

/// What a loop prints that runs these, ten seconds apart.
fn looped(times: u32, outputs: &[&str]) -> String {
    let one = |n| {
        format!(
            "Fri Nov 27 15:50:{:02} UTC 2026\n{}",
            n * 10,
            outputs.concat()
        )
    };
    (0..times).map(one).collect()
}

/// What was found, by name.
fn formats(imported: &Value) -> Vec<&str> {
    let files = imported["imported"].as_array().expect("files").iter();
    let mut found: Vec<&str> = files
        .map(|f| f["format"].as_str().expect("a name"))
        .collect();
    found.sort_unstable();
    found
}

/// Imports `text` as the run of that name: all of these formats are found, and each line is of one. The
/// manifest.
fn all_is_read(dir: &Path, run: &str, text: &str, options: &[&str], found: &[&str]) -> Value {
    let file = format!("{run}.txt");
    fs::write(dir.join(&file), text).unwrap();
    let out = import(dir, &[&[&file, "-o", run][..], options].concat());
    assert!(out.status.success(), "{run}: {}", said(&out));
    let told = manifest(dir, run);
    assert_eq!(formats(&told), found, "{run}");
    let files = told["imported"].as_array().expect("files");
    let is_whole = |f: &Value| f["not_understood"] == 0;
    assert!(files.iter().all(is_whole), "{run}: {files:?}");
    told
}

/// What was said, without the ends of its lines.
fn flat(out: &std::process::Output) -> String {
    said(out).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_is_read_where_dates_stand_between() {
    let dir = scratch("together-dates");
    for (name, outputs) in [
        ("a", &[VMSTAT, IOSTAT, FREE][..]),
        ("b", &[IOSTAT, FREE, VMSTAT]),
        ("c", &[FREE, IOSTAT, VMSTAT]),
    ] {
        fs::write(dir.join(name), looped(3, outputs)).unwrap();
        let run = format!("{name}.run");
        let out = import(&dir, &[name, "--every", "1s", "--tz", "UTC", "-o", &run]);
        assert!(out.status.success(), "{}", said(&out));
        let told = manifest(&dir, &run);
        assert_eq!(formats(&told), ["iostat-linux", "vmstat-linux"], "{name}");
        // Reports since boot are not among them; each is of a second.
        assert_eq!(
            total(&dir, &run, "system.context_switches"),
            900.0,
            "{name}"
        );
        assert_eq!(total(&dir, &run, "vm.paged_in"), 3.0 * 4096.0, "{name}");
        assert_eq!(total(&dir, &run, "disk.ios"), 24.0, "{name}");
        assert_eq!(
            total(&dir, &run, "disk.bytes"),
            3.0 * 56.0 * 1024.0,
            "{name}"
        );
        assert_eq!(told["started"], "2026-11-27T15:50:00.000000000Z", "{name}");
        // From the first date to a second after the last.
        assert_eq!(told["ended"], "2026-11-27T15:50:21.000000000Z", "{name}");
        // Lines of `free` are told once, and all others are somebody's.
        let counted = |field: &str| -> u64 {
            let files = told["imported"].as_array().expect("files").iter();
            files.map(|f| f[field].as_u64().expect("a number")).sum()
        };
        assert_eq!(counted("not_understood"), 9, "{name}");
        assert_eq!(counted("lines"), 12, "{name}");
        assert!(
            flat(&out).contains("and not read: it is what free makes of /proc/meminfo"),
            "{}",
            said(&out)
        );
        assert!(said(&out).contains("imported 1 file"), "{}", said(&out));
    }
    // All of it can be asked for, and one alone.
    let strict = import(&dir, &["a", "--every", "1s", "--strict", "-o", "strict"]);
    assert_eq!(strict.status.code(), Some(2));
    assert!(
        said(&strict).contains("a:15: not understood"),
        "{}",
        said(&strict)
    );
    let out = import(&dir, &["a", "--as", "iostat", "--every", "1s", "-o", "one"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(formats(&manifest(&dir, "one")), ["iostat-linux"]);
    // What comes is read for one.
    let piped = sonde()
        .args([
            "import", "-", "--as", "iostat", "--every", "1s", "-o", "piped",
        ])
        .current_dir(&dir)
        .stdin(fs::File::open(dir.join("a")).unwrap())
        .output()
        .expect("sonde runs");
    assert!(piped.status.success(), "{}", said(&piped));
    assert!(
        flat(&piped).contains("and not read: standard input is read once, for one tool"),
        "{}",
        said(&piped)
    );
    // Beside other files, too.
    fs::create_dir(dir.join("files")).unwrap();
    fs::write(dir.join("files/loop"), looped(3, &[VMSTAT, IOSTAT])).unwrap();
    fs::write(dir.join("files/mpstat"), MPSTAT).unwrap();
    let out = import(
        &dir,
        &["files", "--every", "1s", "--tz", "UTC", "-o", "both"],
    );
    assert!(out.status.success(), "{}", said(&out));
    let told = manifest(&dir, "both");
    assert_eq!(
        formats(&told),
        ["iostat-linux", "mpstat-linux", "vmstat-linux"]
    );
    assert_eq!(told["name"], "2 imported files");
    fs::remove_dir_all(dir).unwrap();
}

/// Of outputs without times nobody can say whether they are of the same time.
#[test]
fn one_is_read_where_nothing_tells_when() {
    let dir = scratch("together-untimed");
    fs::write(
        dir.join("session"),
        format!("$ vmstat 1 2\n{VMSTAT}$ free\n{FREE}"),
    )
    .unwrap();
    let out = import(&dir, &["session", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(formats(&manifest(&dir, "run")), ["vmstat-linux"]);
    assert!(
        flat(&out)
            .contains("4 lines are of free, from line 6 on, and not read: it is what free makes"),
        "{}",
        said(&out)
    );
    // Which one is meant is asked.
    fs::write(dir.join("two"), format!("{VMSTAT}{IOSTAT}")).unwrap();
    let out = import(&dir, &["two", "--every", "1s", "-o", "two.run"]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(said(&out).contains("outputs of both"), "{}", said(&out));
    assert!(!dir.join("two.run").exists());
    fs::remove_dir_all(dir).unwrap();
}

const DD: &str = "\
2000+0 records in
2000+0 records out
2097152000 bytes (2.1 GB, 2.0 GiB) copied, 2 s, 1.0 GB/s
";

const SYSBENCH: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 1
Initializing random number generator from current time


Prime numbers limit: 10000

Initializing worker threads...

Threads started!

CPU speed:
    events per second:   500.00

General statistics:
    total time:                          4.0000s
    total number of events:              2000
";

/// A result of three lines does not lose any to what is printed next.
#[test]
fn benchmarks_are_read_beside_others() {
    let dir = scratch("together-benchmarks");
    for (name, outputs) in [
        ("a", &[DD, VMSTAT, SYSBENCH][..]),
        ("b", &[SYSBENCH, DD, VMSTAT]),
        ("c", &[VMSTAT, SYSBENCH, DD]),
    ] {
        let told = all_is_read(
            &dir,
            name,
            &looped(2, outputs),
            &["--every", "1s", "--tz", "UTC"],
            &["dd", "sysbench", "vmstat-linux"],
        );
        let of = |job| format!("workload.ops where tool = {job}");
        assert_eq!(total(&dir, name, &of("dd")), 4000.0, "{name}");
        assert_eq!(total(&dir, name, &of("sysbench")), 4000.0, "{name}");
        assert_eq!(total(&dir, name, "system.context_switches"), 600.0);
        // The second result of sysbench is of the second date.
        assert_eq!(told["ended"], "2026-11-27T15:50:14.000000000Z", "{name}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// sysstat's tools have the same banner, and `iostat -t` its date between that and its first header.
#[test]
fn tools_of_one_package_are_told_apart() {
    let dir = scratch("together-sysstat");
    let banner = "Linux 6.1.0 (box) \t11/27/26 \t_x86_64_\t(2 CPU)\n\n";
    let sar = |n| {
        format!(
            "{banner}15:{n}0:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
             15:{n}0:01        all      1.00      0.00      1.00      0.00      0.00     98.00\n\
             15:{n}0:02        all      3.00      0.00      1.00      0.00      0.00     96.00\n\
             Average:        all      2.00      0.00      1.00      0.00      0.00     97.00\n"
        )
    };
    let pidstat = |n| {
        format!(
            "{banner}15:{n}0:02      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n\
             15:{n}0:03        0        12   50.00    0.00    0.00    0.00   50.00     1  work\n\n\
             Average:      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n\
             Average:        0        12   50.00    0.00    0.00    0.00   50.00     -  work\n"
        )
    };
    let iostat = |n| {
        let report = |second, tps| {
            format!(
                "11/27/26 15:{n}0:0{second}\n\
                 avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           \
                 9.00    0.00    9.00    0.00    0.00   82.00\n\n\
                 Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n\
                 sda             {tps}.00       160.00        40.00         0.00       1000       2000          0\n\n\n"
            )
        };
        format!("{banner}{}{}", report(3, 500), report(4, 8))
    };
    let text: String = (1..4)
        .map(|n| [sar(n), pidstat(n), iostat(n)].concat())
        .collect();
    let options = ["--tz", "UTC", "--date-order", "mdy"];
    let found = ["iostat-linux", "pidstat", "sar"];
    all_is_read(&dir, "run", &text, &options, &found);
    // The first report of each `iostat` is since boot.
    assert_eq!(total(&dir, "run", "disk.ios"), 24.0);
    assert_eq!(total(&dir, "run", "process.time"), 1.5);
    fs::remove_dir_all(dir).unwrap();
}

/// Files of `/proc` have no heading, and rows of processes more words than numbers.
#[test]
fn rows_without_a_heading_are_whose_they_are() {
    let dir = scratch("together-rows");
    let disks = |n| {
        format!(
            "   8       0 sda {n}00 0 {n}600 10 0 0 0 0 0 10 10 0 0 0 0 0 0\n   \
                8       1 sda1 {n}0 0 {n}00 10 0 0 0 0 0 10 10 0 0 0 0 0 0\n"
        )
    };
    let links = |n| {
        format!(
            "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    \
                link/ether 08:00:27:aa:bb:cc brd ff:ff:ff:ff:ff:ff\n    \
                RX: bytes  packets  errors  dropped overrun mcast\n    \
                {n}000       {n}0       0       1       0       2\n    \
                TX: bytes  packets  errors  dropped carrier collsns\n    \
                {n}000       {n}0       0       0       0       0\n"
        )
    };
    let text: String = (1..4)
        .map(|n| format!("Fri Nov 27 15:50:{n}0 UTC 2026\n{}{}", disks(n), links(n)))
        .collect();
    all_is_read(&dir, "counters", &text, &[], &["ip-link", "proc"]);
    let of_disk = total(&dir, "counters", "disk.ios where device = sda");
    assert_eq!(of_disk, 200.0);
    assert_eq!(total(&dir, "counters", "net.packets"), 40.0);

    let ps = "\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.0 168000 12000 ?        Ss   10:00   0:01 init
root           2  0.0  0.0      0     0 ?        S    10:00   0:00 kthreadd
root           3  0.0  0.0      0     0 ?        S    10:00   0:00 rcu_gp
root           4  0.0  0.0      0     0 ?        S    10:00   0:00 kworker/0:0
root           5  0.0  0.0      0     0 ?        S    10:00   0:00 kworker/0:1
root           6  0.0  0.0      0     0 ?        S    10:00   0:00 kworker/0:2
root           7  0.0  0.0      0     0 ?        S    10:00   0:00 kworker/0:3
root           8  0.0  0.0      0     0 ?        S    10:00   0:00 kworker/0:4
root           9  0.0  0.0      0     0 ?        S    10:00   0:00 kworker/0:5
";
    let top = |n| {
        format!(
            "top - 15:50:{n}0 up 16:53,  0 user,  load average: 0.96, 1.45, 1.50\n\
             Tasks:  74 total,   1 running,  73 sleeping,   0 stopped,   0 zombie\n\
             %Cpu(s):  0.0 us, 50.0 sy,  0.0 ni, 50.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n\
             MiB Mem :  24105.6 total,  16788.1 free,    560.2 used,   6757.3 buff/cache\n\
             MiB Swap:      0.0 total,      0.0 free,      0.0 used.  23545.4 avail Mem\n\n    \
                PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n      \
                  1 root      20   0  168000  12000   8000 S   0.0   0.0   0:01.00 init\n"
        )
    };
    let text: String = (1..4)
        .map(|n| format!("2026-11-27T15:50:{n}0\n{ps}{}", top(n)))
        .collect();
    let options = ["--tz", "UTC"];
    all_is_read(&dir, "processes", &text, &options, &["ps", "top"]);
    fs::remove_dir_all(dir).unwrap();
}

/// A command line is of what it printed: its interval is none of the output's above it.
#[test]
fn a_command_line_between_two_tools_is_of_the_lower_one() {
    let dir = scratch("import-together-commands");
    let header = VMSTAT.split_inclusive('\n').take(2).collect::<String>();
    let rows = VMSTAT.split_inclusive('\n').skip(2).collect::<String>();
    let text = format!(
        "Fri Nov 27 15:50:00 UTC 2026\n$ vmstat 10 2\n{header}{rows}$ iostat 5 2\n{IOSTAT}\
         $ vmstat 1 2\n{header}{rows}"
    );
    all_is_read(
        &dir,
        "commands",
        &text,
        &[],
        &["iostat-linux", "vmstat-linux"],
    );
    // 300 a second, of ten seconds and of one.
    assert_eq!(total(&dir, "commands", "system.context_switches"), 3300.0);
    let alone = format!(
        "$ uptime\n 10:00:00 up 10 days, load average: 0.10, 0.20, 0.30\n$ vmstat 5 2\n{header}{rows}"
    );
    fs::write(dir.join("alone.txt"), alone).unwrap();
    let out = import(&dir, &["alone.txt", "-o", "alone"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(total(&dir, "alone", "system.context_switches"), 1500.0);
}
