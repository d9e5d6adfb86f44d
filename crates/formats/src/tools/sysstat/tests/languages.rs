//! Times, dates and labels of several languages.

use run::rows::TableId;

use super::{MPSTAT, PIDSTAT, notes, rows, taken, words};

#[test]
fn times_of_day_in_several_languages() {
    for [first, second] in [
        ["23時02分37秒", "23時02分38秒"],
        ["23时02分37秒", "23时02分38秒"],
        ["23시 02분 37초", "23시 02분 38초"],
        ["23.02.37", "23.02.38"],
        ["11:02:37 PM IST", "11:02:38 PM IST"],
        ["11:02:37 μμ", "11:02:38 μμ"],
    ] {
        let text = MPSTAT
            .replace("23:02:37", first)
            .replace("23:02:38", second);
        let (report, sink) = taken("mpstat-linux", &text);
        assert_eq!((report.data, report.unknown), (3, 0), "{first}");
        assert_eq!(words(&sink, "cpu_idle"), ["0", "1"], "{first}");
        let (_, plain) = taken("mpstat-linux", MPSTAT);
        assert_eq!(rows(&sink, "cpu"), rows(&plain, "cpu"), "{first}");
    }
    let mut text = PIDSTAT.to_owned();
    for second in 0..3 {
        let (time, other) = (format!("00:00:0{second}"), format!("00時00分0{second}秒"));
        text = text.replace(&time, &other);
    }
    let (report, sink) = taken("pidstat", &text);
    assert_eq!((report.data, report.unknown), (4, 0), "{text}");
    let (_, plain) = taken("pidstat", PIDSTAT);
    assert_eq!(rows(&sink, "process"), rows(&plain, "process"));
}

#[test]
fn means_of_the_whole_in_several_languages() {
    for label in [
        "Average:",
        "Moyenne :",
        "Trung bình:",
        "平均時間：",
        "Durchschn.:",
    ] {
        let mean = "0         1   20.00    5.00    0.00    0.00   25.00     -  init";
        let text = format!("{PIDSTAT}\n{label}     UID\n{label}        {mean}\n");
        let (report, sink) = taken("pidstat", &text);
        assert_eq!((report.data, report.unknown), (4, 0), "{label}");
        assert!(!notes(&report).contains("not known"), "{label}");
        assert_eq!(rows(&sink, "process").len(), 12, "{label}");
        let text = format!("{MPSTAT}\n{label}  all 1.00\n");
        let (report, _) = taken("mpstat-linux", &text);
        assert_eq!((report.data, report.unknown), (3, 0), "{label}");
    }
}

#[test]
fn a_date_that_ends_as_an_ordinal_number_does() {
    let text = PIDSTAT.replace("11/22/26", "2026.11.22.");
    let (report, sink) = taken("pidstat", &text);
    assert!(!report.relative);
    let times = |sink: &run::Sink| sink.rows(TableId::of("process")).times.clone();
    assert_eq!(times(&sink), times(&taken("pidstat", PIDSTAT).1));
}
