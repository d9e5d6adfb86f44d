//! What command lines in the text say of what is below them.

use super::{PIDSTAT, rows, taken};

#[test]
fn an_interval_is_none_of_a_flags_values() {
    for (command, every) in [
        ("# pidstat -u 5 2", 5.0),
        ("[me@box ~]$ pidstat -rup 1234 5 2", 5.0),
        ("[me@box ~]$ sudo pidstat -p 1234 5 2", 5.0),
        ("❯ pidstat -up ALL 2", 2.0),
        ("➜  ~ pidstat 3", 3.0),
        ("+ LC_ALL=C pidstat -C 7 4", 4.0),
        ("time pidstat -hT 7 4", 4.0),
    ] {
        let (report, _) = taken("pidstat", &format!("{command}\n{PIDSTAT}"));
        assert_eq!(report.every, Some(every), "{command}");
        assert_eq!((report.data, report.unknown), (4, 0), "{command}");
    }
}

/// `-I` divides the column `%CPU` alone.
#[test]
fn shares_of_a_process_are_of_one_processor() {
    let (_, plain) = taken("pidstat", PIDSTAT);
    let text = format!("$ pidstat -I 1\n{PIDSTAT}");
    let (_, divided) = taken("pidstat", &text);
    assert_eq!(rows(&divided, "process"), rows(&plain, "process"));
}

#[test]
fn a_prompt_in_brackets_is_no_json() {
    let text = format!("[root@box ~]# iostat -d 1\n{}", super::IOSTAT);
    let (report, _) = taken("iostat-linux", &text);
    assert_eq!((report.data, report.unknown), (3, 0));
    assert_eq!(report.every, Some(1.0));
}

const SAR: &str = "\
Linux 5.10.0 (box) \t11/22/26 \t_x86_64_\t(4 CPU)

11:50:01       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
11:50:02       sda     10.00     80.00     20.00     10.00      0.10      1.00      5.00
11:50:02       sdb     10.00     80.00     20.00     10.00      0.10      1.00      5.00

11:50:02       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
11:50:03       sda     20.00     80.00     20.00     10.00      0.10      1.00      5.00
";

#[test]
fn a_device_that_sar_leaves_out_did_nothing_or_is_not_known() {
    let of_sdb = |text: &str| {
        let (report, sink) = taken("sar", text);
        assert_eq!((report.data, report.unknown), (3, 0), "{text}");
        let all = rows(&sink, "disk_device").into_iter();
        let of: Vec<f64> = all
            .filter(|(w, _)| w[0] == "sdb")
            .map(|(_, v)| v[0])
            .collect();
        of
    };
    assert_eq!(of_sdb(&format!("$ sar -z -d 1\n{SAR}")), [0.05, 0.0]);
    let [told, last] = of_sdb(SAR)[..] else {
        panic!("a row of each interval")
    };
    assert!(told == 0.05 && last.is_nan());
}

/// There, `-d` has a line for each device that was active: with none, the time stands alone.
#[test]
fn idle_devices_of_hp_ux() {
    const TEXT: &str = "\
HP-UX hp1 B.11.31 U ia64    11/22/26

10:00:00   device   %busy   avque   r+w/s  blks/s  avwait  avserv
10:00:05   c2t6d0   40.00    0.50      12     192    5.01   12.34
           c3t0d0   20.00    0.50      12     192    5.01   12.34
10:00:10
10:00:15   c2t6d0   40.00    0.50      12     192    5.01   12.34

Average    c2t6d0   26.67    0.50       8     128    5.01   12.34
";
    let (report, sink) = taken("sar", TEXT);
    assert_eq!(report.unknown, 0);
    assert_eq!(report.samples, 3);
    let all = rows(&sink, "disk_device");
    let busy = |name: &str| -> Vec<f64> {
        let of = all.iter().filter(|(w, _)| w[0] == name);
        of.map(|(_, v)| v[0]).collect()
    };
    assert_eq!(busy("c2t6d0"), [2.0, 0.0, 2.0]);
    assert_eq!(busy("c3t0d0"), [1.0, 0.0, 0.0]);
}

#[test]
fn a_device_whose_row_is_cut_or_not_understood_is_not_idle() {
    let busy_of = |text: &str, name: &str| -> Vec<f64> {
        let (_, sink) = taken("sar", text);
        let all = rows(&sink, "disk_device").into_iter();
        all.filter(|(w, _)| w[0] == name)
            .map(|(_, v)| v[0])
            .collect()
    };
    let text = format!("$ sar -z -d 1\n{SAR}");
    // The file ends within the row of the last.
    let cut = format!("{text}11:50:03       sdb     20.00     8");
    assert_eq!(busy_of(&cut, "sdb"), [0.05]);
    let garbled = format!("{text}11:50:03       sdb     20.00  xx\n");
    assert_eq!(busy_of(&garbled, "sdb"), [0.05]);
    // Of times that only another table tells nothing is known.
    let other = "\n11:50:01     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s\n\
                 11:50:02      eth0     10.00     10.00      1.00      1.00\n";
    let (_, sink) = taken("sar", &format!("{text}{other}"));
    let of_eth0 = |(w, _): &(Vec<String>, Vec<f64>)| w[0] == "eth0";
    assert_eq!(rows(&sink, "net").iter().filter(|r| of_eth0(r)).count(), 2);
}

#[test]
fn commands_that_run_another() {
    for command in [
        "root@box:~# timeout 60 iostat -d 1",
        "$ nice -n 5 iostat -d 1",
        "$ LC_ALL=C taskset -c 1 iostat -d 1",
        "$ while true; do iostat -d 1",
        "ssh db1 iostat -d 1",
    ] {
        let (report, _) = taken("iostat-linux", &format!("{command}\n{}", super::IOSTAT));
        assert_eq!((report.data, report.unknown), (3, 0), "{command}");
        assert_eq!(report.every, Some(1.0), "{command}");
    }
}

/// The shell's prompt came before the row of a tool in the background.
#[test]
fn a_row_behind_a_prompt_is_a_row() {
    let text = super::IOSTAT.replace(
        "\nvda               8.00        60.25",
        "\n[root@box ~]# vda               8.00        60.25",
    );
    let (report, sink) = taken("iostat-linux", &format!("$ iostat -d 1 &\n{text}"));
    assert_eq!((report.data, report.unknown), (3, 0));
    let (_, plain) = taken("iostat-linux", &format!("$ iostat -d 1\n{}", super::IOSTAT));
    // Not known is not equal.
    let text = |sink| format!("{:?}", rows(sink, "disk"));
    assert_eq!(text(&sink), text(&plain));
}
