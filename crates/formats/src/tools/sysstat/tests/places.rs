//! Rows whose place depends on what stands beside them.

use super::{PIDSTAT, notes, rows, taken, words};

/// Processor time of a mode, in all rows.
fn time_of(text: &str, mode: &str) -> Vec<(String, f64)> {
    let (report, sink) = taken("mpstat-linux", text);
    assert_eq!(report.unknown, 0);
    let all = rows(&sink, "cpu").into_iter().filter(|(w, _)| w[1] == mode);
    all.map(|(w, v)| (w[0].clone(), v[0])).collect()
}

/// The banner counts all four.
#[test]
fn processors_that_are_offline_have_no_part_in_all() {
    const TEXT: &str = "\
Linux 5.10.0 (box) \t2022-12-31 \t_x86_64_\t(4 CPU)

10:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle
10:00:01     all   50.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   40.00
10:00:01       0   60.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   30.00
10:00:01       2   40.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   50.00

";
    let of = |n: &str, value| (n.to_owned(), value);
    assert_eq!(time_of(TEXT, "user"), [of("0", 0.6), of("2", 0.4)]);
    // Those two are not all: `all` is of four.
    let text = TEXT.replace("50.00    0.00", "45.00    0.00");
    assert_eq!(time_of(&text, "user"), [of("all", 1.8)]);
    // What the command line chose is not all.
    let chosen = format!("$ mpstat -P 0,2 1\n{TEXT}");
    assert_eq!(time_of(&chosen, "user"), [of("all", 2.0)]);
    // Processors count ticks, and one may have one more.
    let text = TEXT.replace("50.00    0.00", "50.25    0.00");
    assert_eq!(time_of(&text, "user"), [of("0", 0.6), of("2", 0.4)]);
    // More rows may have followed.
    let end = TEXT.len() - 2;
    assert_eq!(time_of(&TEXT[..end], "user"), [of("all", 2.0)]);
}

/// The end of a line is where a text may be cut, too.
#[test]
fn a_last_report_without_all_processors_was_cut() {
    const TEXT: &str = "\
Linux 5.10.0 (box) \t2022-12-31 \t_x86_64_\t(2 CPU)

10:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle
10:00:01     all   50.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   40.00
10:00:01       0   60.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   30.00
10:00:01       1   40.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   50.00

10:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle
10:00:02     all   20.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   70.00
10:00:02       0   30.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   60.00
";
    let of = |n: &str, value| (n.to_owned(), value);
    let (known, unknown): (Vec<_>, Vec<_>) = time_of(TEXT, "user")
        .into_iter()
        .partition(|(_, time)| !time.is_nan());
    assert_eq!(known, [of("0", 0.6), of("1", 0.4)]);
    // What they did in the second is said not to be known: it would be nothing.
    let names: Vec<&str> = unknown.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["0", "1"]);
    let (report, _) = taken("mpstat-linux", TEXT);
    assert!(notes(&report).contains("it was cut off"));
    // Of what was told before nothing is missing.
    let whole = format!(
        "{TEXT}{}",
        TEXT.lines().last().unwrap().replace(" 0   30", " 1   10")
    );
    let (report, _) = taken("mpstat-linux", &format!("{whole}\n"));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

#[test]
fn one_process_is_not_the_machine() {
    const TEXT: &str = "\
Linux 2.4.21 (box) \t2005-03-15

00:00:00          PID  minflt/s  majflt/s     %user   %system   nswap/s   CPU
00:10:00         1234     10.00     77.00      0.50      0.10      0.00     0
00:20:00         1234     11.00     78.00      0.60      0.10      0.00     1
";
    let (report, sink) = taken("sar", TEXT);
    assert_eq!((report.data, report.unknown), (2, 0));
    assert!(!notes(&report).contains("lost its end"));
    assert!(rows(&sink, "vm").is_empty());
    assert!(words(&sink, "other").contains(&"majflt/s".to_owned()));
}

#[test]
fn a_banner_may_have_no_host() {
    let text = OF_ONE.replace(" (box)", "");
    let (report, sink) = taken("mpstat-linux", &text);
    assert_eq!((report.data, report.unknown), (2, 0));
    assert_eq!((report.host, report.processors), (None, Some(2)));
    let (_, expected) = taken("mpstat-linux", OF_ONE);
    let times = |sink: &run::Sink| sink.rows(run::rows::TableId::of("cpu")).times.clone();
    assert_eq!(times(&sink), times(&expected));
}

#[test]
fn the_devices_of_sysstat_4_have_sectors_both_ways() {
    const TEXT: &str = "\
Linux 2.4.9 (box) \t2002-10-15

00:00:00          DEV       tps    sect/s
00:10:00       dev8-0      5.00    100.00
00:20:00       dev8-0      6.00    110.00
";
    let (report, sink) = taken("sar", TEXT);
    assert!(!notes(&report).contains("lost its end"));
    let all = rows(&sink, "disk");
    let of: Vec<_> = all.iter().map(|(w, v)| (&*w[2], v[0], v[1])).collect();
    let wanted = |tps: f64, sectors: f64| ("(all)", tps * 600.0, sectors * 512.0 * 600.0);
    assert_eq!(of, [wanted(5.0, 100.0), wanted(6.0, 110.0)]);
}

#[test]
fn the_devices_of_sysstat_5_have_three_columns() {
    const TEXT: &str = "\
Linux 2.4.21 (box) \t2005-03-15

00:00:00          DEV       tps  rd_sec/s  wr_sec/s
00:10:00       dev8-0      5.00    100.00    200.00
00:20:00       dev8-0      6.00    110.00    200.00
";
    let (report, sink) = taken("sar", TEXT);
    assert!(!notes(&report).contains("lost its end"));
    let written: Vec<f64> = rows(&sink, "disk")
        .into_iter()
        .filter(|(w, _)| w[2] == "write")
        .map(|(_, v)| v[1])
        .collect();
    assert_eq!(written, [200.0 * 512.0 * 600.0; 2]);
}

/// A script that starts the tool again and again may print the time, which the tool does, too.
#[test]
fn the_time_that_a_script_prints_is_told_twice() {
    let again = |text: &str| format!("Sun Nov 22 10:00:00 UTC 2026\n{text}");
    let (report, sink) = taken("pidstat", &again(PIDSTAT));
    assert_eq!((report.data, report.unknown), (4, 0));
    let (_, expected) = taken("pidstat", PIDSTAT);
    assert_eq!(rows(&sink, "process"), rows(&expected, "process"));
    let (report, _) = taken("mpstat-linux", &again(OF_ONE));
    assert_eq!((report.data, report.unknown), (2, 0));
}

const OF_ONE: &str = "\
Linux 5.10.0 (box) \t2022-12-31 \t_x86_64_\t(2 CPU)

10:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle
10:00:01     all   50.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   40.00
10:00:02     all   40.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00   50.00
";

/// Other tools print lines with times, too.
#[test]
fn the_table_of_another_tool_ends_that_of_processes() {
    let other = "
00:00:02     CPU    %usr   %nice    %sys   %idle
00:00:03     all   50.00    0.00   10.00   40.00
00:00:04     all   50.00    0.00   10.00   40.00
";
    let (plain, expected) = taken("pidstat", PIDSTAT);
    let (report, sink) = taken("pidstat", &format!("{PIDSTAT}{other}"));
    assert_eq!((report.data, report.unknown), (4, 3));
    assert_eq!(report.samples, plain.samples);
    assert_eq!(rows(&sink, "process"), rows(&expected, "process"));
    // Nor does an interrupt or a prompt lack anything.
    let text = format!("{PIDSTAT}^C\n[me@box ~]$ exit\n");
    let (report, _) = taken("pidstat", &text);
    assert_eq!((report.data, report.unknown), (4, 0));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

#[test]
fn a_mount_point_may_have_blanks() {
    const TEXT: &str = "\
Linux 5.10.0 (box) \t2023-04-21 \t_x86_64_\t(4 CPU)

10:00:01  MBfsfree  MBfsused   %fsused  %ufsused     Ifree     Iused    %Iused MOUNTPOINT
10:10:01     25000      5000     16.67     21.67   1900000    100000      5.00 /my disk
10:20:01     24000      6000     20.00     25.00   1900000    100000      5.00 /
";
    let (report, sink) = taken("sar", TEXT);
    assert_eq!((report.data, report.unknown), (2, 0));
    assert!(words(&sink, "other").contains(&"/my disk".to_owned()));
}

#[test]
fn what_sadf_says_of_comments_and_restarts_is_no_data() {
    const TEXT: &str = "\
vm\t1\t2026-11-23 05:39:52 UTC\tall\t%user\t1.00
vm\t1\t2026-11-23 05:39:52 UTC\tall\t%idle\t99.00
vm\t-1\t2026-11-23 05:39:52 UTC\tCOM hello; a b
vm\t-1\t2026-11-23 05:39:53 UTC\tLINUX-RESTART\t(2 CPU)
vm\t1\t2026-11-23 05:39:54 UTC\tall\t%user\t2.00
";
    let (report, _) = taken("sadf-text", TEXT);
    assert_eq!((report.data, report.unknown), (3, 0));
}
