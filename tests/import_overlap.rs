//! `sonde import` of files that tell of the same time.

#![allow(
    clippy::disallowed_methods,
    reason = "makes the files that are imported"
)]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::fs;

use importing::{import, manifest, said, total};
use support::scratch;

/// Of two files that overlap, the one with fewer rows is taken where the other has none.
#[test]
fn what_only_one_of_two_files_tells_is_kept() {
    let dir = scratch("import-overlap");
    let text = |from: usize, to: usize, user: &str, idle: &str| {
        let mut text = "Linux 6.1.0 (box) \t2024-03-08 \t_x86_64_\t(2 CPU)\n\n".to_owned();
        text += &format!(
            "10:00:{from:02}     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  \
             %guest  %gnice   %idle\n"
        );
        for at in from + 1..=to {
            text += &format!(
                "10:00:{at:02}     all   {user}    0.00    0.00    0.00    0.00    0.00    0.00    \
                 0.00    0.00   {idle}\n"
            );
        }
        text
    };
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    fs::write(files.join("a.txt"), text(1, 5, " 1.00", "99.00")).unwrap();
    fs::write(files.join("b.txt"), text(3, 6, "50.00", "50.00")).unwrap();
    fs::write(files.join("c.txt"), text(2, 4, "90.00", "10.00")).unwrap();
    let out = import(&dir, &["files", "--tz", "UTC", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    // Four seconds at 1 %, one at 50 %, of two processors.
    let user = total(&dir, "run", "cpu.time where mode = user");
    assert!((user - 2.0 * (0.04 + 0.5)).abs() < 1e-9, "{user}");
    let notes = manifest(&dir, "run")["imported"].to_string();
    assert!(
        notes.contains("2 of its 3 rows of `cpu_idle` are left out")
            && notes.contains("files/a.txt tells the same time; the others are kept")
            && notes.contains("its rows of `cpu`, `cpu_idle` are left out"),
        "{notes}"
    );
}

/// A file that is there twice counts once, whatever it is of.
#[test]
fn the_same_text_counts_once() {
    let dir = scratch("import-twice");
    let text = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
                0.000000    supervise      1810   xvda1   W 13057920   4096      0.80\n\
                0.500000    supervise      1810   xvda1   W 13057928   4096      1.80\n\
                1.000000    supervise      1810   xvda1   R 13057936   8192      2.80\n";
    for place in ["files/a", "files/b"] {
        fs::create_dir_all(dir.join(place)).unwrap();
        fs::write(dir.join(place).join("biosnoop.txt"), text).unwrap();
    }
    let out = import(&dir, &["files", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    assert!((total(&dir, "run", "disk.ios") - 3.0).abs() < 1e-9);
    let imported = &manifest(&dir, "run")["imported"];
    assert_eq!(imported.as_array().map(Vec::len), Some(1), "{imported}");
    assert!(
        imported
            .to_string()
            .contains("b/biosnoop.txt has the same text"),
        "{imported}"
    );
}

/// A table of `vmstat -at`, so that there are columns without a place in the catalog.
fn vmstat(minutes: std::ops::Range<u32>, seconds: &[u32], idle: u32) -> String {
    let mut text = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free  inact active   si   so    bi    bo   in   cs us sy id wa st                 UTC
"
    .to_owned();
    let user = 100 - idle;
    for minute in minutes {
        for second in seconds {
            text += &format!(
                " 1  0      0 2794716 295968 312724    0    0     1     3   29   57 {user:2}  0 {idle:3}  0  \
                 0 2021-09-16 20:{minute:02}:{second:02}\n"
            );
        }
    }
    text
}

/// Columns that have no place in the catalog count once, too.
#[test]
fn columns_of_two_files_are_not_added() {
    let dir = scratch("import-columns");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    fs::write(files.join("a.txt"), vmstat(10..11, &[0, 1, 2, 3, 4, 5], 90)).unwrap();
    fs::write(files.join("b.txt"), vmstat(10..11, &[1, 2, 3], 90)).unwrap();
    let out = import(
        &dir,
        &["files", "--tz", "UTC", "--processors", "1", "-o", "run"],
    );
    assert!(out.status.success(), "{}", said(&out));
    let mean = importing::mean(&dir, "run", "other.vmstat.active");
    assert!((mean - 312_724.0).abs() < 1e-6, "{mean}\n{}", said(&out));
}

/// Rows of a second count before those of minutes beside them, and what the one does not tell of the
/// other has.
#[test]
fn the_finer_of_two_counts() {
    let dir = scratch("import-finer");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    // Idle by the minute for 50 of them, and busy by the second for four.
    fs::write(files.join("long.txt"), vmstat(0..50, &[0], 95)).unwrap();
    fs::write(
        files.join("short.txt"),
        vmstat(20..21, &[10, 11, 12, 13, 14], 0),
    )
    .unwrap();
    let out = import(
        &dir,
        &["files", "--tz", "UTC", "--processors", "1", "-o", "run"],
    );
    assert!(out.status.success(), "{}", said(&out));
    let busy = importing::greatest(&dir, "run", "cpu.utilisation");
    assert!((busy - 1.0).abs() < 1e-9, "{busy}");
}

/// In a pause between two runs of a tool it tells nothing: another file's rows of that time count.
#[test]
fn what_is_told_of_a_pause_counts() {
    let dir = scratch("import-pause");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    let two = vmstat(0..1, &[0, 1, 2, 3, 4, 5], 90) + &vmstat(30..31, &[0, 1, 2, 3, 4, 5], 90);
    fs::write(files.join("two.txt"), two).unwrap();
    fs::write(files.join("within.txt"), vmstat(15..16, &[0, 1, 2, 3], 0)).unwrap();
    let out = import(
        &dir,
        &["files", "--tz", "UTC", "--processors", "1", "-o", "run"],
    );
    assert!(out.status.success(), "{}", said(&out));
    let busy = importing::greatest(&dir, "run", "cpu.utilisation");
    assert!((busy - 1.0).abs() < 1e-9, "{busy}\n{}", said(&out));
}

/// What fio's jobs did counts once where the sum of all is logged, too.
#[test]
fn the_sum_of_jobs_does_not_count_beside_them() {
    let dir = scratch("import-sums");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    let log = |rate: u32| format!("500, {rate}, 0, 0, 0\n1000, {rate}, 0, 0, 0\n");
    for (name, rate) in [
        ("j_bw.1.log", 1000),
        ("j_bw.2.log", 3000),
        ("agg-read_bw.log", 4000),
    ] {
        fs::write(files.join(name), log(rate)).unwrap();
    }
    let out = import(&dir, &["files", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(total(&dir, "run", "workload.bytes"), 4000.0 * 1024.0);
    let notes = manifest(&dir, "run")["imported"].to_string();
    assert!(
        notes.contains("agg-read_bw.log has the sum of all jobs"),
        "{notes}"
    );
    // Alone it is what there is.
    let out = import(&dir, &["files/agg-read_bw.log", "-o", "sum"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(total(&dir, "sum", "workload.bytes"), 4000.0 * 1024.0);
}

/// What stood in counters at a moment, told by two files: neither is added to the other.
#[test]
fn readings_in_files_of_their_own_are_not_added() {
    let dir = scratch("import-readings");
    let reading = |opened: u32, established: u32| {
        format!(
            "Tcp:\n    {opened} active connection openings\n    {established} connections established\n"
        )
    };
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    fs::write(files.join("netstat.before"), reading(10, 3)).unwrap();
    fs::write(files.join("netstat.after"), reading(25, 4)).unwrap();
    let out = import(&dir, &["files", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    let since_boot = |run: &str, statistic: &str| {
        let question = format!("since_boot.value where statistic = {statistic}");
        support::get(&dir.join(run), &question)["groups"][0]["mean"].as_f64()
    };
    // Of one of them, the first by name.
    assert_eq!(since_boot("run", "tcp.connects"), Some(25.0));
    assert_eq!(since_boot("run", "tcp.established"), Some(4.0));
    let notes = manifest(&dir, "run")["imported"].to_string();
    assert!(
        notes.contains("`since_boot` are left out: files/netstat.after has such")
            && notes.contains("cat FIRST SECOND | sonde import - --every LENGTH"),
        "{notes}"
    );
    // As that says.
    let both = reading(10, 3) + &reading(25, 4);
    fs::write(dir.join("both"), both).unwrap();
    let out = import(&dir, &["both", "--every", "1m", "-o", "grown"]);
    assert!(out.status.success(), "{}", said(&out));
    assert!((total(&dir, "grown", "tcp.connects") - 15.0).abs() < 1e-9);
}

/// The means since boot of two tools that watched the same: not their sum.
#[test]
fn means_since_boot_of_two_tools_are_not_added() {
    let dir = scratch("import-since-boot");
    let files = dir.join("files");
    fs::create_dir_all(&files).unwrap();
    let vmstat = " kthr      memory            page            disk          faults      cpu\n \
                  r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 s3   in   sy   cs us sy id\n \
                  0 0 0 800000 400000  1   2  0  0  0  0  0  0  0  0  0  100  200  300 20 10 70\n \
                  0 0 0 800000 400000  1   2  0  0  0  0  0  0  0  0  0  100  200  300 30 10 60\n";
    let iostat = "     cpu\n us sy wt id\n 20 10  0 70\n     cpu\n us sy wt id\n 30 10  0 60\n";
    fs::write(files.join("vmstat.out"), vmstat).unwrap();
    fs::write(files.join("iostat.out"), iostat).unwrap();
    let options = ["files", "--every", "1s", "--processors", "1", "-o", "run"];
    let out = import(&dir, &options);
    assert!(out.status.success(), "{}", said(&out));
    let question = "since_boot.value where statistic = cpu.time and instance ~ user";
    let value = support::get(&dir.join("run"), question)["groups"][0]["mean"].as_f64();
    assert!((value.unwrap() - 0.2).abs() < 1e-9, "{value:?}");
}
