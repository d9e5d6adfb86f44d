//! Texts that are cut, broken, or there twice.

mod echoes;
mod languages;
mod places;

use jiff::tz::TimeZone;
use run::Sink;
use run::rows::TableId;

use crate::{DateOrder, Head, Import, Options, Report, recognise};

/// What becomes of a text that is recognised as that format.
fn import(format: &str, text: &str) -> Result<(Report, Sink), String> {
    let head = Head::new(text.as_bytes());
    let found = recognise(&head).map_err(|e| e.to_string())?;
    assert_eq!(found.name, format);
    let options = Options {
        dates: Some(DateOrder::Mdy),
        zone: TimeZone::UTC,
        ..Options::default()
    };
    let mut import = Import::new(found, &head, options);
    import.feed(text.as_bytes()).map_err(|e| e.to_string())?;
    let report = import.finish().map_err(|e| e.to_string())?;
    Ok((report, std::mem::take(import.rows())))
}

fn taken(format: &str, text: &str) -> (Report, Sink) {
    import(format, text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// The lines, of each so many characters.
fn cut(text: &str, width: usize) -> String {
    let line = |l: &str| format!("{}\n", &l[..l.len().min(width)]);
    text.lines().map(line).collect()
}

/// The lines, broken after so many characters.
fn broken(text: &str, width: usize) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let (mut line, mut rest) = (line, "");
        if line.len() > width {
            (line, rest) = line.split_at(width);
        }
        all += &format!("{line}\n");
        if !rest.is_empty() {
            all += &format!("{rest}\n");
        }
    }
    all
}

/// Rows of a table: words, and values.
fn rows(sink: &Sink, table: &str) -> Vec<(Vec<String>, Vec<f64>)> {
    let rows = sink.rows(TableId::of(table));
    let text = |w| sink.words.text(w).unwrap_or_default().to_owned();
    (0..rows.len())
        .map(|i| {
            (
                rows.words.iter().map(|w| text(w[i])).collect(),
                rows.values.iter().map(|v| v[i]).collect(),
            )
        })
        .collect()
}

/// All words of the rows of a table.
fn words(sink: &Sink, table: &str) -> Vec<String> {
    let mut all: Vec<String> = rows(sink, table).into_iter().flat_map(|(w, _)| w).collect();
    all.sort();
    all.dedup();
    all
}

fn notes(report: &Report) -> String {
    report.notes.join("\n")
}

const IOSTAT: &str = "\
Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
vda             511.88     16938.03     40020.46         0.00   43062865  101745000          0

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
vda               8.00        50.25       536.73         0.00         50        536          0

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
vda               8.00        60.25       546.73         0.00         60        546          0
";

#[test]
fn a_header_of_devices_that_lost_its_end_has_no_last_column() {
    let timed = IOSTAT.replace("\n\nDev", "\n\n11/22/26 00:00:01\nDev");
    let mut second = 0;
    let timed: String = timed
        .lines()
        .map(|l| {
            if l.starts_with("11/22") {
                second += 1;
                format!("11/22/26 00:00:0{second}\n")
            } else {
                format!("{l}\n")
            }
        })
        .collect();
    for width in [39, 42, 44, 46, 47, 48, 60, 72, 83, 93] {
        let (report, sink) = taken("iostat-linux", &cut(&timed, width));
        assert!(
            notes(&report).contains("line 4: the header lost its end"),
            "{width}"
        );
        let others = words(&sink, "other");
        for other in others {
            let known = ["iostat", "kB_read", "kB_wrtn", "KiB", "vda", ""];
            assert!(known.contains(&other.as_str()), "{width}: {other}");
        }
        let disk = rows(&sink, "disk");
        let has = |op: &str| disk.iter().any(|(w, _)| w[2] == op);
        assert!(has("(all)"), "{width}");
        assert_eq!(has("write"), width > 48, "{width}");
        assert_eq!(report.unknown, 0, "{width}");
    }
    let (report, _) = taken("iostat-linux", &timed);
    assert!(!notes(&report).contains("lost its end"));
}

#[test]
fn a_header_of_processors_that_lost_its_end_has_no_last_column() {
    const TEXT: &str = "\
Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)

11/22/26 00:00:01
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.38    0.04    0.44    0.04    0.00   99.10

11/22/26 00:00:02
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    0.50    0.00    0.00   98.50
";
    for width in [50, 51, 54] {
        let (report, sink) = taken("iostat-linux", &cut(TEXT, width));
        assert!(notes(&report).contains("lost its end"), "{width}");
        assert!(sink.rows(TableId::of("other")).is_empty(), "{width}");
        assert_eq!(rows(&sink, "cpu").len(), 3, "{width}");
        assert!(rows(&sink, "cpu_idle")[0].1[0].is_nan(), "{width}");
    }
}

#[test]
fn a_number_of_an_extended_report_that_lost_its_end_is_not_taken() {
    const TEXT: &str = "\
Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %util
vda            374.92   6938.03     4.91   1.30    1.84    18.50  137.27    693.25    24.81   2.80

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %util
vda              3.92    693.03     4.91   1.30    1.84    18.50  137.27    693.25    24.81   2.80
";
    let (report, sink) = taken("iostat-linux", &cut(&format!("$ iostat -x 1\n{TEXT}"), 80));
    assert!(notes(&report).contains("`wkB`"), "{}", notes(&report));
    assert!(!words(&sink, "other").iter().any(|w| w == "wkB"));
    let write = rows(&sink, "disk")
        .into_iter()
        .find(|(w, _)| w[2] == "write");
    let (_, values) = write.expect("a row");
    assert!((values[0] - 137.27).abs() < 1e-9 && values[1].is_nan());
}

const SAR: &str = "\
Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)

00:00:01    kbmemfree   kbavail kbmemused  %memused kbbuffers  kbcached  kbcommit   %commit
00:00:02      1234560   2345670    345670     12.50      1230    123450   1234560     25.00
00:00:03      1234560   2345670    345670     12.50      1230    123450   1234560     25.00

00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
00:00:02        all      1.00      0.00      0.00      0.00      0.00     99.00
00:00:03        all      1.00      0.00      0.00      0.00      0.00     99.00

00:00:01      rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil IFACE
00:00:02        10.00     20.00     30.00     40.00      0.00      0.00      0.00      0.00 eth0
00:00:02        11.00     21.00     31.00     41.00      0.00      0.00      0.00      0.00 lo
";

#[test]
fn a_header_of_sar_that_lost_its_end_has_no_last_column() {
    for width in 70..92 {
        let (report, sink) = taken("sar", &cut(SAR, width));
        let others = words(&sink, "other");
        let stump = |w: &String| {
            w.starts_with("kbcomm") || w.starts_with("%co") && w != "%commit" || *w == "kbco"
        };
        assert!(!others.iter().any(stump), "{width}: {others:?}");
        // Its name is lost: no interface is known.
        assert!(sink.rows(TableId::of("net")).is_empty(), "{width}");
        assert_eq!(report.unknown, 2, "{width}");
        assert!(notes(&report).contains("line 11: the header"), "{width}");
    }
    let (report, sink) = taken("sar", &cut(SAR, 80));
    assert!(notes(&report).contains("line 3: the header lost its end after `kbcommi`"));
    assert_eq!(rows(&sink, "cpu_idle").len(), 2);
    // What is left of `%system` is a column of others.
    let short = cut(SAR, 46);
    assert!(short.contains("   %sys\n"), "{short}");
    let (report, sink) = taken("sar", &short);
    assert!(
        notes(&report).contains("after `%sys`"),
        "{}",
        notes(&report)
    );
    assert!(!words(&sink, "other").iter().any(|w| w == "%sys"));
    let (report, _) = taken("sar", SAR);
    assert!(!notes(&report).contains("lost its end"));
    assert_eq!(report.unknown, 0);
}

const MPSTAT: &str = "\
Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)

23:02:37     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
23:02:38     all   10.00    0.00    5.00    0.00    0.00    0.00    0.00    0.00    0.00   85.00
23:02:38       0   20.00    0.00   10.00    0.00    0.00    0.00    0.00    0.00    0.00   70.00
23:02:38       1    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00  100.00
";

#[test]
fn broken_lines_of_mpstat_are_not_understood() {
    let (report, sink) = taken("mpstat-linux", &broken(MPSTAT, 80));
    assert_eq!(report.unknown, 4, "{:?}", report.not_understood);
    assert!(notes(&report).contains("line 3: the header lost its end after `%guest`"));
    let others = words(&sink, "other");
    for lost in ["%guest", "%gnice", "%idle"] {
        assert!(!others.iter().any(|w| w == lost), "{lost}");
    }
    let (report, _) = taken("mpstat-linux", MPSTAT);
    assert_eq!((report.unknown, report.data), (0, 3));
}

#[test]
fn processors_without_their_last_columns_are_told_of() {
    let (report, sink) = taken("mpstat-linux", &cut(MPSTAT, 80));
    assert!(sink.rows(TableId::of("cpu")).is_empty());
    assert!(
        notes(&report).contains("without `%idle`"),
        "{}",
        notes(&report)
    );
}

#[test]
fn a_row_that_repeats_a_time_is_not_understood() {
    const TEXT: &str = "\
Linux 6.1.0 (a) \t10/25/26 \t_x86_64_\t(2 CPU)

02:40:00        CPU     %user     %nice   %system   %iowait    %steal     %idle
02:50:00        all      1.00      0.00      0.00      0.00      0.00     99.00
02:50:00        all      3.00      0.00      0.00      0.00      0.00     97.00
03:00:00        all      4.00      0.00      0.00      0.00      0.00     96.00
";
    let (report, sink) = taken("sar", TEXT);
    assert_eq!((report.data, report.unknown), (2, 1));
    assert_eq!(report.not_understood[0].line, 5);
    let wanted = "1 row from line 5 on left out: a row above";
    assert!(notes(&report).contains(wanted), "{}", notes(&report));
    assert_eq!(rows(&sink, "cpu_idle").len(), 2);
}

#[test]
fn what_atopsar_prints_is_of_no_known_format() {
    const TEXT: &str = "
box  6.1.0-13-amd64  #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)  x86_64  2026/11/22

-------------------------- analysis date: 2026/11/22 --------------------------

23:02:37  cpu  %usr %nice %sys %irq %softirq  %steal %guest  %wait %idle  _cpu_
23:02:38  all    12     0    5    0        0       0      0      1   182
            0     6     0    3    0        0       0      0      0    91
            1     6     0    2    0        0       0      0      1    91
";
    let refused = import("sar", TEXT).expect_err("no format");
    assert!(refused.contains("no known format"), "{refused}");
}

const PIDSTAT: &str = "\
Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)

00:00:00      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
00:00:01        0         1   10.00    5.00    0.00    0.00   15.00     0  init
00:00:01        0         2   20.00    0.00    0.00    0.00   20.00     1  worker

00:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
00:00:02        0         1   30.00    5.00    0.00    0.00   35.00     0  init
00:00:02        0         2   40.00    0.00    0.00    0.00   40.00     1  worker
";

#[test]
fn a_process_whose_row_is_cut_is_not_known() {
    let end = PIDSTAT.len();
    for lost in [2, 10, 20, 40, 60] {
        let (report, sink) = taken("pidstat", &PIDSTAT[..end - lost]);
        let last = |(w, v): &(Vec<String>, Vec<f64>)| w[0] == "worker[2]" && v[0].is_nan();
        let all = rows(&sink, "process");
        let gaps = all.iter().filter(|r| last(r)).count();
        assert_eq!(gaps, 3, "{lost}: {all:?}");
        assert_eq!(all.len(), 12, "{lost}: {all:?}");
        assert!(notes(&report).contains("not known"), "{lost}");
    }
    let (report, sink) = taken("pidstat", &PIDSTAT[..end - 1]);
    assert!(rows(&sink, "process").iter().all(|(_, v)| !v[0].is_nan()));
    assert_eq!(report.data, 4);
}

#[test]
fn seconds_since_1970_of_pidstat() {
    let text = PIDSTAT.replace("00:00:00 ", "1795305600 ");
    let text = text.replace("00:00:01 ", "1795305601 ");
    let text = text.replace("00:00:02 ", "1795305602 ");
    let (report, sink) = taken("pidstat", &text);
    assert_eq!((report.data, report.unknown), (4, 0));
    let times = &sink.rows(TableId::of("process")).times;
    assert_eq!(times.last(), Some(&1_795_305_602_000_000_000));
}

#[test]
fn an_output_that_is_there_twice_counts_once() {
    let report_of = |second: u32| {
        format!(
            "11/22/26 00:00:0{second}\n\
             Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
             vda            {second:>7}.00        50.25       536.73         50        536\n\n"
        )
    };
    let banner = "Linux 6.1.0 (box) \t11/22/26 \t_x86_64_\t(2 CPU)\n\n";
    let iostat: String = (1..5).map(report_of).collect();
    let iostat = format!("{banner}{iostat}");
    let epoch = PIDSTAT.replace("00:00:0", "179530560");
    for (format, text, table) in [
        ("iostat-linux", iostat.as_str(), "disk"),
        ("pidstat", PIDSTAT, "process"),
        ("pidstat", epoch.as_str(), "process"),
    ] {
        let (once, first) = taken(format, text);
        let (twice, both) = taken(format, &format!("{text}{text}"));
        let text_of = |sink: &Sink| format!("{:?}", rows(sink, table));
        assert_eq!(text_of(&first), text_of(&both), "{format}");
        assert_eq!(
            (twice.data, twice.unknown),
            (once.data, once.data),
            "{format}"
        );
        assert!(
            notes(&twice).contains("left out: an output above"),
            "{format}"
        );
        // What follows it is taken.
        let next = text
            .replace("11/22/26", "11/23/26")
            .replace("17953056", "17953156");
        let (twice, _) = taken(format, &format!("{text}{next}"));
        assert_eq!((twice.data, twice.unknown), (2 * once.data, 0), "{format}");
    }
}

#[test]
fn outputs_of_two_hosts_are_refused() {
    for (format, text) in [
        ("iostat-linux", IOSTAT),
        ("pidstat", PIDSTAT),
        ("sar", SAR),
        ("mpstat-linux", MPSTAT),
    ] {
        let other = text.replace("(box)", "(b)");
        let refused = import(format, &format!("{text}\n{other}")).expect_err(format);
        assert!(refused.contains("two hosts, box and"), "{refused}");
        assert!(refused.contains("on, b\n"), "{refused}");
    }
}
