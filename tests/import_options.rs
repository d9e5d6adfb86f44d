//! What the options of `sonde import` say, and which files of a directory are taken.

#![allow(
    clippy::disallowed_methods,
    reason = "makes the files that are imported"
)]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use importing::{VMSTAT, import, manifest, said, total};
use support::scratch;

/// With its times, in UTC.
const STAMPED: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free  inact active   si   so    bi    bo   in   cs us sy id wa st                 UTC
 2  0      0 2794716 295968 312724    0    0     1     3   29   57  0  0 99  0  0 2021-09-16 20:33:13
 0  0      0 2794716 295968 312744    0    0     0   100   41   84  0  0 100  0  0 2021-09-16 20:33:18
 0  0      0 2794716 295968 312752    0    0     0   200   41   84  0  0 100  0  0 2021-09-16 20:33:23
";

const SAR: &str = "Linux 6.1.0 (box) \t04/03/12 \t_x86_64_\t(4 CPU)\n\n\
    20:40:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
    20:40:10        all     25.00      0.00      0.00      0.00      0.00     75.00\n";

/// What has no date begins at zero, and says so; the host is the one that is told.
#[test]
fn without_any_date_a_run_is_relative() {
    let dir = scratch("import-relative");
    let files = dir.join("files");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("a.out"), VMSTAT).unwrap();
    let cpus = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n  0   22   0    8   \
        285  114  360    1    1    5    0   768    3   1   0  96\n";
    fs::write(files.join("b.out"), cpus.repeat(3)).unwrap();
    for path in ["files/a.out", "files"] {
        let run = format!("{}.run", path.replace('/', "-"));
        let out = import(&dir, &[path, "--every", "5s", "--host", "db1", "-o", &run]);
        assert!(out.status.success(), "{}", said(&out));
        let made = manifest(&dir, &run);
        assert_eq!(made["host"], "db1");
        assert_eq!(made["started"], "1970-01-01T00:00:00.000000000Z", "{made}");
        let imported = made["imported"].as_array().unwrap();
        assert_eq!(imported.len(), if path == "files" { 2 } else { 1 });
        assert!(imported.iter().all(|i| i["times"] == "relative"), "{made}");
    }
    // Without the option it is not known.
    let out = import(&dir, &["files/a.out", "--every", "5s", "-o", "unknown.run"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(manifest(&dir, "unknown.run")["host"], "unknown");
}

/// Hidden files are files; what is no text is of no format; links to directories are not followed,
/// and what is not taken is told.
#[test]
fn all_files_of_a_directory_are_looked_at() {
    let dir = scratch("import-all-files");
    let files = dir.join("files");
    fs::create_dir_all(dir.join("elsewhere")).unwrap();
    fs::create_dir(&files).unwrap();
    fs::write(files.join(".hidden"), STAMPED).unwrap();
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = (0..5000).map(|_| noise()).collect();
    fs::write(files.join("core"), noise).unwrap();
    let out = import(&dir, &["files", "-o", "run", "--json"]);
    assert!(out.status.success(), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["imported"][0]["file"], "files/.hidden");
    assert_eq!(told["unknown"][0]["file"], "files/core");
    assert_eq!(told["imported"].as_array().unwrap().len(), 1);
    // A file of no format is an error where all is to be understood.
    let out = import(&dir, &["files", "-o", "strict", "--strict"]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(
        said(&out).contains("files/core: it is of no known format"),
        "{}",
        said(&out)
    );
    assert!(!dir.join("strict").exists());

    // The same text would count once.
    let more = STAMPED.replace("20:33", "20:34");
    fs::write(dir.join("elsewhere/more"), more).unwrap();
    symlink("../elsewhere", files.join("link")).unwrap();
    symlink("../elsewhere/more", files.join("other")).unwrap();
    let out = import(&dir, &["files", "-o", "linked", "--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let problem = "files/link: a link to a directory, which is not followed";
    assert_eq!(told["problems"], serde_json::json!([problem]));
    assert!(said(&out).contains(problem), "{}", said(&out));
    // A link to a file is that file.
    assert_eq!(told["imported"].as_array().unwrap().len(), 2);
}

/// A file with times of day and no date beside one with both: midnight may be between them.
#[test]
fn files_around_midnight_are_of_neighbouring_days() {
    let dir = scratch("import-midnight");
    let iostat = |times: [&str; 2]| {
        let report = "                    extended device statistics\n    r/s    w/s   kr/s   kw/s \
            wait actv wsvc_t asvc_t  %w  %b device\n   12.3    8.1  410.2   96.4  0.0  0.1    0.0    \
            4.9   0   3 c0t0d0\n";
        times.map(|time| format!("{time} 2012\n{report}")).concat()
    };
    let nicstat = |times: [&str; 2]| {
        let rows = times.map(|time| {
            format!(
                "{time}  e1000g0     9.1    31.2    62.1    24.6   150.0  1300.0  0.03   0.00\n"
            )
        });
        let header =
            "    Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat\n";
        format!("{header}{}", rows.concat())
    };
    for (name, dated, clocks, started, ended) in [
        (
            "after",
            ["Sun Mar  4 23:59:58", "Mon Mar  5 00:00:08"],
            ["00:00:02", "00:00:12"],
            "2012-03-04T23:59:58",
            "2012-03-05T00:00:12",
        ),
        (
            "before",
            ["Mon Mar  5 00:00:02", "Mon Mar  5 00:00:12"],
            ["23:59:58", "00:00:08"],
            "2012-03-04T23:59:58",
            "2012-03-05T00:00:12",
        ),
    ] {
        let files = dir.join(name);
        fs::create_dir(&files).unwrap();
        fs::write(files.join("iostat.out"), iostat(dated)).unwrap();
        fs::write(files.join("nicstat.out"), nicstat(clocks)).unwrap();
        let run = format!("{name}.run");
        let out = import(&dir, &[name, "--tz", "+09:00", "-o", &run]);
        assert!(out.status.success(), "{}", said(&out));
        let made = manifest(&dir, &run);
        let utc = |text: &str| {
            let local: jiff::civil::DateTime = text.parse().unwrap();
            let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(9));
            local.to_zoned(zone).unwrap().timestamp()
        };
        let told = |field: &str| {
            made[field]
                .as_str()
                .unwrap()
                .parse::<jiff::Timestamp>()
                .unwrap()
        };
        assert_eq!(told("started"), utc(started), "{name}: {made}");
        assert_eq!(told("ended"), utc(ended), "{name}: {made}");
    }
}

/// One tells its zone, the other is in that of the option: they stand side by side.
#[test]
fn files_of_two_zones_are_of_one_time() {
    let dir = scratch("import-two-zones");
    let files = dir.join("files");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("a.out"), STAMPED).unwrap();
    // Ten seconds later, in a zone five hours east.
    let iostat = |second: u32, reads: u32| {
        format!(
            "Fri Sep 17 01:33:{second:02} 2021\n                    extended device statistics\n    r/s    \
             w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n  {reads:5}.0    0.0   80.0    0.0  \
             0.0  0.0    0.0    0.1   0   1 c0t0d0\n"
        )
    };
    let text = [iostat(18, 1), iostat(23, 4)].concat();
    fs::write(files.join("b.out"), text).unwrap();
    let out = import(&dir, &["files", "--tz", "+05:00", "-o", "run"]);
    assert!(out.status.success(), "{}", said(&out));
    let made = manifest(&dir, "run");
    assert_eq!(made["started"], "2021-09-16T20:33:13.000000000Z", "{made}");
    assert_eq!(made["ended"], "2021-09-16T20:33:23.000000000Z", "{made}");
    assert_eq!(total(&dir, "run", "disk.ios"), 20.0);
    assert_eq!(total(&dir, "run", "vm.paged_out"), 300.0 * 5.0 * 1024.0);
}

/// A date of three numbers is read in the order that is told, and refused without.
#[test]
fn dates_are_read_in_the_order_that_is_told() {
    let dir = scratch("import-date-order");
    fs::write(dir.join("sar.txt"), SAR).unwrap();
    for (order, day) in [
        ("dmy", "2012-03-04"),
        ("mdy", "2012-04-03"),
        ("ymd", "2004-03-12"),
    ] {
        let arguments = ["sar.txt", "-o", order, "--date-order", order, "--tz", "UTC"];
        let out = import(&dir, &arguments);
        assert!(out.status.success(), "{}", said(&out));
        let started = manifest(&dir, order)["started"].to_string();
        assert!(started.contains(&format!("{day}T20:40:00")), "{started}");
    }
    for (date, orders) in [
        (
            "04/03/12",
            "--date-order dmy or --date-order mdy or --date-order ymd",
        ),
        ("13/03/04", "--date-order dmy or --date-order ymd"),
    ] {
        fs::write(dir.join("open.txt"), SAR.replace("04/03/12", date)).unwrap();
        let out = import(&dir, &["open.txt", "-o", "open"]);
        assert_eq!(out.status.code(), Some(2), "{}", said(&out));
        let text = said(&out);
        assert!(text.contains(&format!("hint: say {orders}\n")), "{text}");
    }
    // A year that is to come is none: it is the day.
    fs::write(dir.join("open.txt"), SAR.replace("04/03/12", "31/03/12")).unwrap();
    let out = import(&dir, &["open.txt", "-o", "past", "--tz", "UTC"]);
    assert!(out.status.success(), "{}", said(&out));
    let started = manifest(&dir, "past")["started"].to_string();
    assert!(started.contains("2012-03-31T20:40:00"), "{started}");
}

/// What is cut off or was mended is not all that there was.
#[test]
fn strict_lets_nothing_pass_that_is_not_whole() {
    let dir = scratch("import-strict");
    let cut_line = &VMSTAT[..VMSTAT.len() - 30];
    let json = "{\"sysstat\": {\"hosts\": [{\"nodename\": \"box\", \"number-of-cpus\": 2, \"date\": \
        \"2021-09-16\", \"statistics\": [{\"timestamp\": \"2021-09-16T20:33:13Z\", \"disk\": \
        [{\"disk_device\": \"sda\", \"r/s\": 1.00, \"w/s\": 2.00, \"rkB/s\": 3.00, \"wkB/s\": 4.00}]},\
        {\"timestamp\": \"2021-09-16T20:33:18Z\", \"disk\": [{\"disk_device\": \"sda\", \"r/s\": \
        1.00, \"w/s\": 2.00, \"rkB/s\": 3.00, \"wkB/s\": 4.00}]}";
    let xml = include_str!("../crates/formats/fixtures/ganglia/one-host.txt");
    let xml = &xml[..xml.find("mem_free").expect("an element") + 12];
    let sadf = include_str!("../crates/formats/fixtures/sadf-xml/every-report.txt");
    let sadf_cut = &sadf[..sadf.rfind("<memfree>").expect("an element") + 12];
    // Between two reports, where the next day's document begins.
    let end = sadf.find("</timestamp>").expect("a report") + "</timestamp>".len();
    let sadf_within = sadf[..end].to_owned() + "\n" + &sadf.replace("2026-11-22", "2026-11-23");
    let json_within = format!(
        "{json}\n{}]}}]}}}}\n",
        json.replace("2021-09-16", "2021-09-17")
    );
    for (name, text, why) in [
        ("line", cut_line, "the file was cut off"),
        ("json", json, "mended"),
        (
            "json-within",
            &json_within,
            "a JSON document is not at its end",
        ),
        ("xml", xml, "it was cut off"),
        ("sadf", sadf_cut, "the XML has no end"),
        (
            "sadf-within",
            &sadf_within,
            "an XML document is not at its end",
        ),
    ] {
        fs::write(dir.join(name), text).unwrap();
        let out = import(&dir, &[name, "--every", "5s", "-o", &format!("{name}.run")]);
        assert!(out.status.success(), "{name}: {}", said(&out));
        assert!(said(&out).contains(why), "{name}: {}", said(&out));
        let out = import(&dir, &[name, "--every", "5s", "-o", "strict", "--strict"]);
        assert_eq!(out.status.code(), Some(2), "{name}: {}", said(&out));
        let text = said(&out);
        assert!(
            text.contains(why) && text.contains("nothing was made: --strict"),
            "{text}"
        );
        assert!(!dir.join("strict").exists());
        // The same of a pipe.
        let command = format!("cat {name} | \"$SONDE\" import --every 5s -o strict --strict -");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(&dir);
        let out = shell
            .env("SONDE", env!("CARGO_BIN_EXE_sonde"))
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(2), "{name}: {}", said(&out));
        assert!(said(&out).contains(why), "{name}: {}", said(&out));
    }
    fs::write(dir.join("whole"), VMSTAT).unwrap();
    let out = import(
        &dir,
        &["whole", "--every", "5s", "-o", "whole.run", "--strict"],
    );
    assert!(out.status.success(), "{}", said(&out));
}

/// `sonde import <(zcat x)`, and the result of a benchmark behind what a build printed.
#[test]
fn what_is_taken_in_another_way_is_told_how() {
    let dir = scratch("import-other-way");
    fs::write(dir.join("x"), VMSTAT).unwrap();
    let mut shell = Command::new("bash");
    shell
        .args(["-c", "\"$SONDE\" import --every 1s -o run <(cat x)"])
        .current_dir(&dir);
    let out = shell
        .env("SONDE", env!("CARGO_BIN_EXE_sonde"))
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(said(&out).contains("| sonde import -"), "{}", said(&out));

    let built = "cc -O2 -c file.c -o file.o\n".repeat(5000);
    let fio = r#"{
  "fio version" : "fio-3.33", "timestamp_ms" : 1795315792201,
  "jobs" : [ { "jobname" : "a", "read" : { "io_bytes" : 4096, "io_kbytes" : 4,
    "runtime" : 1000, "total_ios" : 1 } } ]
}
"#;
    let files = dir.join("files");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("build.log"), format!("{built}{fio}")).unwrap();
    fs::write(files.join("notes"), &built).unwrap();
    fs::write(files.join("vmstat"), STAMPED).unwrap();
    let out = import(&dir, &["files", "-o", "run", "--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", said(&out));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(told["refused"][0]["file"], "files/build.log");
    let why = told["refused"][0]["why"].as_str().unwrap();
    assert!(
        why.contains("from line 5001 on") && why.contains("--as fio-json"),
        "{why}"
    );
    assert_eq!(told["unknown"][0]["file"], "files/notes");
    let out = import(&dir, &["files/build.log", "--as", "fio-json", "-o", "fio"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(total(&dir, "fio", "workload.ops"), 1.0);
}
