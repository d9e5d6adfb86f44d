//! Tables that a user describes.

mod described;

use described::{READS, every, import, rows};
use formats::{Options, own};

const FROBSTAT: &str = r##"
name = "frobstat"
comment = "#"
[column]
time = { time = "%H:%M:%S" }
dev = { is = "device" }
"rd/s" = { measure = "disk.ios", op = "read", unit = "count/s" }
rMB = { measure = "disk.bytes", op = "read", unit = "MB/s" }
lat = { measure = "disk.time", op = "read", unit = "ms", times = "rd/s" }
busy = { measure = "disk.busy", unit = "%" }
heat = { unit = "C" }
"##;

#[test]
fn every_kind_of_column() {
    let text = "\
# frobstat 0.1
# time dev rd/s rMB lat busy heat spare
10:00:00 sda 100 2 5 50 41 7
10:00:00 sda1 1 0.5 - 0 40 8
10:00:02 sda 200 4.5 2.5 25 42 9
10:00:02 sda1 x 4.5 2.5 25 42 9
10:00:02 sda 1 1 1 1 1 1
10:00:02 sdb 1 1 1 1
";
    let (report, sink) = import(FROBSTAT, text, Options::default()).unwrap();
    assert_eq!((report.data, report.unknown), (3, 3), "{report:?}");
    assert_eq!(
        rows(&sink, "disk"),
        [
            // 2 s at 100/s; 2 MB/s; 100/s × 5 ms.
            "36000 sda/disk/read ios=200 bytes=4000000 time=1",
            "36000 sda1/partition/read ios=2 bytes=1000000",
            "36002 sda/disk/read ios=400 bytes=9000000 time=1",
        ]
    );
    assert_eq!(
        rows(&sink, "disk_device"),
        [
            "36000 sda/disk busy=1",
            "36000 sda1/partition busy=0",
            "36002 sda/disk busy=0.5",
        ]
    );
    assert_eq!(
        rows(&sink, "other"),
        [
            "36000 frobstat/heat/C/sda value=41",
            "36000 frobstat/spare//sda value=7",
            "36000 frobstat/heat/C/sda1 value=40",
            "36000 frobstat/spare//sda1 value=8",
            "36002 frobstat/heat/C/sda value=42",
            "36002 frobstat/spare//sda value=9",
        ]
    );
}

#[test]
fn counters_grow_and_are_set_to_zero() {
    let toml = r#"
name = "tick"
separator = ";"
decimal = "comma"
columns = ["at", "if", "rx", "errs", "jobs"]
[column]
at = { time = "epoch" }
if = { is = "interface" }
rx = { measure = "net.bytes", direction = "receive", unit = "KiB", kind = "counter" }
errs = { measure = "net.errors", direction = "receive", kind = "counter" }
jobs = { kind = "counter", unit = "jobs" }
"#;
    let text = "100;eth0;1.000,5;3;10\n110;eth0;1.002,5;3;30\n140;eth0;10;4;60\n";
    let mut options = every(10.0);
    let (report, sink) = import(toml, text, options.clone()).unwrap();
    assert_eq!((report.data, report.unknown), (3, 0), "{report:?}");
    assert_eq!(
        rows(&sink, "net"),
        [
            "110 eth0/edge/receive bytes=2048 errors=0",
            // Set to zero meanwhile: not known.
            "140 eth0/edge/receive errors=1",
        ]
    );
    // Per second over the true time, though samples are said to be 10 s apart.
    assert_eq!(
        rows(&sink, "other"),
        [
            "110 tick/jobs/jobs/s/eth0 value=2",
            "140 tick/jobs/jobs/s/eth0 value=1"
        ]
    );
    assert_eq!(
        rows(&sink, "since_boot"),
        [
            "100 net.bytes/eth0 edge receive value=1024512",
            "100 net.errors/eth0 edge receive value=3",
            "100 other.tick.jobs/eth0 value=10",
        ]
    );
    options.every = None;
    assert!(import(toml, text, options).is_ok());
}

#[test]
fn samples_without_times() {
    let of = |more: &str| {
        format!(
            "name = \"t\"\nskip = 1\n{more}\ncolumns = [\"d\", \"r\"]\n[column]\n\
             d = {{ is = \"device\" }}\n\
             r = {{ measure = \"disk.ios\", op = \"read\", kind = \"amount\" }}\n"
        )
    };
    let text = "banner\na 1\nb 2\n\na 3\n\nb 4\n";
    let at = |more: &str| {
        let (_, sink) = import(&of(more), text, every(1.0)).unwrap();
        let all = rows(&sink, "disk");
        all.iter()
            .map(|r| r.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // b of the third report is taken for one of the second: it is said how to do better.
    assert_eq!(at(""), ["1", "1", "2", "2"]);
    assert_eq!(at("sample = \"blank\""), ["1", "1", "2", "3"]);
    assert_eq!(at("sample = \"line\""), ["1", "2", "3", "4"]);
    assert_eq!(at("every = 5\nsample = \"blank\""), ["1", "1", "2", "3"]);
    let none = import(&of(""), text, Options::default()).unwrap_err();
    assert!(none.contains("--every"), "{none}");
    let (_, sink) = import(&of("every = 5"), text, Options::default()).unwrap();
    assert_eq!(rows(&sink, "disk")[2], "10 a/disk/read ios=3");
    let (report, sink) = import(&of("first = \"since-boot\""), text, every(1.0)).unwrap();
    assert_eq!((report.samples, report.since_boot), (1, 1));
    assert_eq!(
        rows(&sink, "since_boot")[0],
        "0 disk.ios/a disk read value=1"
    );
}

#[test]
fn a_lost_line_that_is_a_sample_leaves_a_gap() {
    let of = |sample: &str| {
        format!(
            "name = \"t\"\n{sample}\ncolumns = [\"d\", \"r\"]\n[column]\n\
             d = {{ is = \"device\" }}\n\
             r = {{ measure = \"disk.ios\", op = \"read\", kind = \"amount\" }}\n"
        )
    };
    let text = "a 1\na 2\na 3x\na 4\nnothing of it\na 5\n";
    for sample in ["", "sample = \"line\""] {
        let (report, sink) = import(&of(sample), text, every(1.0)).unwrap();
        assert_eq!((report.samples, report.unknown), (4, 2));
        let at = [(1, 1), (2, 2), (4, 4), (5, 5)];
        let wanted = at.map(|(time, ios)| format!("{time} a/disk/read ios={ios}"));
        assert_eq!(rows(&sink, "disk"), wanted);
    }
}

/// All rows of a device before those of the next.
#[test]
fn rows_may_be_sorted_by_name() {
    let text = "at,dev,rd\n\
                1970-01-01 00:01:40,sda,1\n1970-01-01 00:01:50,sda,2\n1970-01-01 00:02:00,sda,3\n\
                1970-01-01 00:01:40,sdb,4\n1970-01-01 00:01:50,sdb,5\n1970-01-01 00:02:00,sdb,6\n";
    let (report, sink) = import(READS, text, Options::default()).unwrap();
    assert_eq!((report.data, report.unknown), (6, 0), "{report:?}");
    let told = report
        .notes
        .iter()
        .any(|n| n.contains("not sorted by time"));
    assert!(told, "{report:?}");
    let mut found = rows(&sink, "disk");
    found.sort();
    assert_eq!(
        found,
        [
            "100 sda/disk/read ios=10",
            "100 sdb/disk/read ios=40",
            "110 sda/disk/read ios=20",
            "110 sdb/disk/read ios=50",
            "120 sda/disk/read ios=30",
            "120 sdb/disk/read ios=60",
        ]
    );
    // The same device again is told twice.
    let again = text.replace("sdb", "sda");
    let (report, sink) = import(READS, &again, Options::default()).unwrap();
    assert_eq!(rows(&sink, "disk").len(), 3, "{report:?}");
    let both = format!("{text}{}", text.split_once('\n').unwrap().1);
    let (report, sink) = import(READS, &both, Options::default()).unwrap();
    assert_eq!(rows(&sink, "disk").len(), 6, "{report:?}");
}

/// A tool that goes from one to the next: an interval is that of the same one.
#[test]
fn each_row_may_have_a_time_of_its_own() {
    let text = "at,dev,rd\n\
                1970-01-01 00:01:40.100,sda,1\n1970-01-01 00:01:40.103,sdb,4\n\
                1970-01-01 00:01:45.100,sda,2\n1970-01-01 00:01:45.101,sdb,5\n\
                1970-01-01 00:01:45.102,sdc,7\n\
                1970-01-01 00:01:50.100,sda,3\n1970-01-01 00:01:50.101,sdb,?\n\
                1970-01-01 00:01:55.101,sdb,6\n";
    let (report, sink) = import(READS, text, Options::default()).unwrap();
    assert_eq!((report.data, report.unknown), (7, 1), "{report:?}");
    assert_eq!(
        rows(&sink, "disk"),
        [
            "100.1 sda/disk/read ios=5",
            // Nothing is before it: it is as long as the next.
            "100.103 sdb/disk/read ios=20",
            "105.1 sda/disk/read ios=10",
            "105.101 sdb/disk/read ios=24.99",
            "105.102 sdc/disk/read ios=35",
            "110.1 sda/disk/read ios=15",
            "115.101 sdb/disk/read ios=30",
        ]
    );
    // Names that never come again: an interval is the time from row to row.
    let text = "at,dev,rd\n1970-01-01 00:01:40,sda,1\n1970-01-01 00:01:45,sdb,2\n\
                1970-01-01 00:01:55,sdc,3\n";
    let (_, sink) = import(READS, text, Options::default()).unwrap();
    let once = [
        "100 sda/disk/read ios=5",
        "105 sdb/disk/read ios=10",
        "115 sdc/disk/read ios=30",
    ];
    assert_eq!(rows(&sink, "disk"), once);
    // Devices that are idle are left out: the tool printed all the same.
    let text = "at,dev,rd\n1970-01-01 00:01:40,sda,1\n1970-01-01 00:01:45,sda,2\n\
                1970-01-01 00:01:50,sdb,3\n1970-01-01 00:02:00,sda,4\n1970-01-01 00:02:05,sdb,5\n";
    let (_, sink) = import(READS, text, Options::default()).unwrap();
    let idle = [
        "100 sda/disk/read ios=5",
        "105 sda/disk/read ios=10",
        "110 sdb/disk/read ios=15",
        "120 sda/disk/read ios=40",
        "125 sdb/disk/read ios=25",
    ];
    assert_eq!(rows(&sink, "disk"), idle);
}

/// Counters of such rows grew since the row before of the same name.
#[test]
fn counters_may_have_times_of_their_own() {
    let toml = "name = \"c\"\nseparator = \",\"\n[column]\nt = { time = \"epoch\" }\n\
                if = { is = \"instance\" }\nrx = { kind = \"counter\", unit = \"pages\" }\n";
    let text = "t,if,rx\n100.1,eth0,1000\n100.2,eth1,5000\n110.1,eth0,2000\n110.2,eth1,9000\n\
                120.1,eth0,3000\n";
    let (_, sink) = import(toml, text, Options::default()).unwrap();
    let grown = [
        "110.1 c/rx/pages/s/eth0 value=100",
        "110.2 c/rx/pages/s/eth1 value=400",
        "120.1 c/rx/pages/s/eth0 value=100",
    ];
    assert_eq!(rows(&sink, "other"), grown);
    let totals = [
        "100.1 other.c.rx/eth0 value=1000",
        "100.2 other.c.rx/eth1 value=5000",
    ];
    assert_eq!(rows(&sink, "since_boot"), totals);
}

/// Of times of day nobody knows whether those that go back are of the next day.
#[test]
fn rows_by_name_need_a_date() {
    let toml = READS.replace("\"iso\"", "\"%H:%M:%S\"");
    let text = "at,dev,rd\n10:00:00,sda,1\n10:30:00,sda,2\n10:00:00,sdb,4\n10:30:00,sdb,5\n";
    let why = import(&toml, text, Options::default()).unwrap_err();
    assert!(why.contains("sort its rows by time"), "{why}");
    let midnight = "at,dev,rd\n23:00:00,sda,1\n23:00:00,sdb,2\n00:00:00,sda,4\n00:00:00,sdb,5\n";
    let (_, sink) = import(&toml, midnight, Options::default()).unwrap();
    assert_eq!(rows(&sink, "disk").len(), 4);
}

/// The time of a row that is lost is the end of an interval.
#[test]
fn an_interval_does_not_reach_over_a_lost_row() {
    let text = "at,dev,rd\n1970-01-01 00:01:40,sda,1\n1970-01-01 00:01:50,sda,2\n\
                1970-01-01 00:02:00,sda,?\n1970-01-01 00:02:10,sda,4\n";
    let (report, sink) = import(READS, text, Options::default()).unwrap();
    assert_eq!((report.data, report.unknown), (3, 1), "{report:?}");
    let told = report
        .notes
        .iter()
        .any(|n| n.contains("line 4 has \"?\" in the column rd"));
    assert!(told, "{report:?}");
    assert_eq!(
        rows(&sink, "disk"),
        [
            "100 sda/disk/read ios=10",
            "110 sda/disk/read ios=20",
            "130 sda/disk/read ios=40",
        ]
    );
}

#[test]
fn shares_of_processors() {
    let toml = "name = \"p\"\n[column]\nusr = { measure = \"cpu.time\", mode = \"user\", unit = \"%\" }\n\
                idle = { measure = \"cpu.idle\", unit = \"%\" }\n";
    let mut options = every(10.0);
    options.processors = Some(4);
    let (_, sink) = import(toml, "usr idle\n25 75\n", options).unwrap();
    assert_eq!(rows(&sink, "cpu"), ["10 all/user time=10"]);
    assert_eq!(rows(&sink, "cpu_idle"), ["10 all idle=30"]);
}

/// Each fault names its line and what is allowed.
#[test]
fn faults_of_a_description() {
    let with = |line: &str| format!("name = \"t\"\n[column]\nx = {{ unit = \"\" }}\n{line}\n");
    for (toml, line, says) in [
        ("name = 1\n".to_owned(), 1, "string"),
        ("nme = \"t\"\n".to_owned(), 1, "name"),
        ("name = \"t\"\n".to_owned(), 1, "[column]"),
        ("name = \"a b\"\n".to_owned(), 1, "letters"),
        (
            "name = \"t\"\nseparator = \"x\"\n[column]\nx.unit=\"\"\n".to_owned(),
            2,
            "comma",
        ),
        ("name = \"t\"\ndecimal = \"dot\"\n".to_owned(), 2, "`point`"),
        (
            "name = \"t\"\nevery = 0\n[column]\nx.unit=\"\"\n".to_owned(),
            2,
            "seconds",
        ),
        (
            "name = \"t\"\ncolumns = [\"a\"]\n[column]\nx.unit=\"\"\n".to_owned(),
            4,
            "among",
        ),
        (with("y = { time = \"noon\" }"), 4, "epoch-ms"),
        (with("y = { time = \"%H\" , unit = \"s\" }"), 4, "unit"),
        (with("y = { is = \"device\" }"), 4, "instance"),
        (with("y = { measure = \"disk.byte\" }"), 4, "bytes"),
        (with("y = { measure = \"dsk.bytes\" }"), 4, "disk"),
        (with("y = { measure = \"disk.bytes\" }"), 4, "KiB"),
        (
            with("y = { measure = \"disk.bytes\", unit = \"KB/s\" }"),
            4,
            "kB or KiB",
        ),
        (
            with("y = { measure = \"disk.bytes\", unit = \"kB\" }"),
            4,
            "counter",
        ),
        (
            with("y = { measure = \"disk.bytes\", unit = \"ms\" }"),
            4,
            "KiB",
        ),
        (
            with("y = { measure = \"disk.bytes\", unit = \"B/s\", opp = \"r\" }"),
            4,
            "op",
        ),
        (
            with("y = { measure = \"system.load1\", unit = \"count/s\" }"),
            4,
            "level",
        ),
        (
            with("y = { measure = \"cpu.time\", unit = \"%\" }"),
            4,
            "mode",
        ),
        (
            with("y = { measure = \"disk.time\", unit = \"ms\", times = \"z\" }"),
            4,
            "\"z\"",
        ),
        (with("y = { what = \"disk.time\" }"), 4, "measure"),
        (with("y = { kind = \"sum\" }"), 4, "amount"),
    ] {
        let why = own(&toml).err().map(|e| e.to_string()).unwrap_or_default();
        let right = why.contains(&format!("line {line}:")) && why.contains(says);
        assert!(right, "{toml}\n{why}");
    }
}

#[test]
fn a_text_without_the_header_is_refused() {
    let why = import(FROBSTAT, "time dev rd/s\n1 2 3\n", every(1.0)).unwrap_err();
    assert!(
        why.contains("the nearest lacks: busy, heat, lat, rMB"),
        "{why}"
    );
}

/// What the guide shows is so.
#[test]
fn the_guide_tells_the_truth() {
    let guide = include_str!("../../../docs/guides/import-your-own.md");
    let between = |from: &str, to: &str| {
        let start = guide.find(from).expect("a block") + from.len();
        let end = guide[start..].find(to).expect("its end") + start;
        &guide[start..end]
    };
    let toml = between("lagmeter.toml <<'END'\n", "END\n");
    assert!(toml.lines().count() <= 10, "ten lines are promised");
    let text = between("lagmeter.out <<'END'\n", "END\n");
    let (report, sink) = import(toml, text, Options::default()).unwrap();
    assert_eq!(report.unknown, 0, "{report:?}");
    let mut found = String::new();
    for table in ["disk", "disk_device", "other"] {
        for row in rows(&sink, table) {
            found.push_str(&format!("{table} {row}\n"));
        }
    }
    assert_eq!(between("```text\n", "```"), found);
}

/// `kind` is what a number is, or the dimension of that name where it says something else.
#[test]
fn memory_has_kinds() {
    let toml = r#"
name = "agent"
columns = ["at", "free", "cache"]
[column]
at = { time = "epoch" }
free = { measure = "memory.bytes", kind = "free", unit = "KiB" }
cache = { measure = "memory.bytes", kind = "file", unit = "KiB" }
"#;
    let (_, sink) = import(toml, "100 8 2\n101 7 3\n", Options::default()).unwrap();
    assert_eq!(
        rows(&sink, "memory"),
        [
            "100 file bytes=2048",
            "100 free bytes=8192",
            "101 file bytes=3072",
            "101 free bytes=7168",
        ]
    );
    let wrong = toml.replace("\"free\", unit", "\"counter\", unit");
    let why = import(&wrong, "", Options::default()).unwrap_err();
    assert!(why.contains("it has no `kind`"), "{why}");
}

/// What is told is what a person did wrong.
#[test]
fn faults_are_told_as_what_they_are() {
    let of =
        |column: &str| format!("name = \"x\"\n[column]\nat = {{ time = \"epoch\" }}\n{column}\n");
    let fault = |toml: &str, text: &str| import(toml, text, Options::default()).unwrap_err();
    let why = fault(
        &of("kb = { mesure = \"disk.bytes\", device = \"sda\" }"),
        "",
    );
    assert!(why.contains("line 4: \"mesure\" is not known"), "{why}");
    let why = fault(&of("kb = { device = \"sda\", unit = \"s\" }"), "");
    assert!(why.contains("say `measure` beside it"), "{why}");
    let why = fault("name = \"x\"\n[columns]\nat = { time = \"epoch\" }\n", "");
    assert!(
        why.contains("line 2: columns are described below `[column]`"),
        "{why}"
    );
    let load = of("load = { unit = \"1\" }");
    let why = fault(&load, "#at load\n100 1\n101 2\n");
    assert!(why.contains("say `comment = \"#\"`"), "{why}");
    let sums = of("n = { measure = \"disk.ios\", op = \"read\", unit = \"count/s\" }");
    let why = fault(&sums, "at n\n100 1\n101 2\n98 3\n");
    assert!(why.contains("its times go back"), "{why}");
}

/// What is behind the times looks like `/proc/loadavg`: they are no logger's.
#[test]
fn a_column_of_times_is_the_tables_own() {
    let toml = r#"
name = "loads"
columns = ["when", "one", "five", "fifteen", "tasks", "last"]
[column]
when = { time = "epoch" }
one = { measure = "system.load1", unit = "count" }
"#;
    let line = |i: u32| format!("17145576{i:02} 0.{i:02} 0.10 0.20 1/200 12{i:02}\n");
    let text: String = (1..7).map(line).collect();
    let (report, sink) = import(toml, &text, Options::default()).expect("a table");
    assert_eq!((report.data, report.unknown), (6, 0));
    assert!(!rows(&sink, "system").is_empty());
}
