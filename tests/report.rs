//! Reports are read by other programs, and say what `sonde get` says.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

#[path = "report/read.rs"]
mod read;
mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use run::Sink;
use run::manifest::{self, Manifest};
use run::rows::TableId;
use run::write::Writer;
use serde_json::Value;
use support::{AtEnd, Need, can_run, get, output, scratch, sonde, succeed};

/// Makes the report `name` of `run`, beside it.
fn report(run: &Path, name: &str, expressions: &[&str]) -> PathBuf {
    let file = run.with_file_name(name);
    let mut command = sonde();
    command.arg("report").arg(run).arg("-o").arg(&file);
    for expression in expressions {
        command.args(["--expr", expression]);
    }
    assert_eq!(succeed(&mut command), "", "nothing is printed");
    file
}

/// Starts of the made runs: 2027-01-15 08:00 UTC.
const START: i64 = 1_800_000_000_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// Names that some form would take for its own.
const HOSTILE: [&str; 6] = [
    "=cmd|' /C calc'!A0",
    "<img src=x onerror=\"alert(1)\">",
    "a,b\"c\"",
    "@SUM(1)\nnew line",
    "`x` | *b* [l](javascript:1)",
    "'; </script>\u{202e}\u{7}ß",
];

/// A run of twelve seconds, without the eighth, with processes and a disk whose I/Os get slow.
fn made(dir: &Path, title: &str) -> PathBuf {
    let path = dir.join("run");
    let mut manifest = Manifest::new("box", START, 1.0);
    manifest.name = title.into();
    let mut writer = Writer::create(&path, &manifest).unwrap();
    let mut sink = Sink::new();
    let process = TableId::of("process");
    for second in (1..=12).filter(|s| *s != 8) {
        sink.at(START + second * SECOND, 1.0);
        sink.row(TableId::of("self"), &[], &[0.0; 7]);
        for (place, name) in HOSTILE.iter().enumerate() {
            let words: Vec<_> = (0..sink.rows(process).words.len())
                .map(|_| sink.word(name))
                .collect();
            let mut values = vec![0.0; sink.rows(process).values.len()];
            values[0] = (place + 1) as f64 * 0.01 * second as f64;
            sink.row(process, &words, &values);
        }
        let words = ["sda", "disk", "read"].map(|w| sink.word(w));
        for step in 0..20 {
            let latency = 0.000_128 * f64::from(1 << (step % 5)) * second as f64;
            let latency = run::grid::floor(latency, run::Unit::Seconds);
            let values = [latency, 7.0, 7.0 * 4096.0];
            sink.row(TableId::of("disk_latency"), &words, &values);
        }
        writer.append(&mut sink, START + second * SECOND);
    }
    manifest.ended = Some(START + 12 * SECOND);
    writer.finish(manifest).unwrap();
    path
}

/// What the made run is asked for.
const ASKED: [&str; 3] = [
    "process.time by process",
    "disk.ios by latency",
    "disk.ios by op, latency where device = sda",
];

fn total_of(run: &Path, expression: &str) -> f64 {
    let groups = &get(run, expression)["groups"];
    let groups = groups.as_array().unwrap().iter();
    groups.map(|g| g["total"].as_f64().unwrap()).sum()
}

#[test]
fn json_is_what_show_and_get_print() {
    let dir = scratch("report-json");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let text = std::fs::read(report(&run, "a.json", &ASKED)).unwrap();
    let found: Value = serde_json::from_slice(&text).unwrap();
    let mut ask = sonde();
    ask.arg("get")
        .arg(&run)
        .args(ASKED)
        .args(["--series", "--json"]);
    let lines = succeed(&mut ask);
    let answers: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(found["answers"].as_array().unwrap(), &answers);
    let show = succeed(sonde().arg("show").arg(&run).arg("--json"));
    let show: Value = serde_json::from_str(&show).unwrap();
    assert_eq!(found["summary"], show);
}

/// Fields of a line of comma-separated values.
fn fields(line: &str) -> Vec<String> {
    let (mut out, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(String::new()),
            c => out.last_mut().unwrap().push(c),
        }
    }
    out
}

#[test]
fn each_value_of_the_csv_can_be_asked_for_again() {
    let dir = scratch("report-csv");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let text = std::fs::read_to_string(report(&run, "a.csv", &ASKED[1..])).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("expr,key,time,seconds,interval,value,unit")
    );
    let mut sums: HashMap<(String, String), f64> = HashMap::new();
    for line in lines {
        let line = fields(line);
        let [expr, key, time, seconds, interval, value, unit] = line.as_slice() else {
            panic!("{line:?}");
        };
        assert_eq!(unit, "count/s");
        let at = manifest::parse_rfc3339(time).unwrap() - START;
        assert_eq!(at as f64 / 1e9, seconds.parse::<f64>().unwrap());
        let amount = value.parse::<f64>().unwrap() * interval.parse::<f64>().unwrap();
        *sums.entry((expr.clone(), key.clone())).or_default() += amount;
    }
    assert!(sums.len() > 60, "{}", sums.len());
    for expr in &ASKED[1..] {
        let of = sums.iter().filter(|s| s.0.0 == *expr);
        let sum: f64 = of.map(|s| s.1).sum();
        assert!((sum - total_of(&run, expr)).abs() < 1e-6, "{expr}");
    }
    // As many as there is patience for: each is a process.
    for ((_, key), sum) in sums.iter().take(12) {
        let total = total_of(&run, &format!("disk.ios where {key}"));
        assert!((sum - total).abs() < 1e-6, "{key}: {sum}, {total}");
    }
}

#[test]
fn hostile_names_stay_names_in_csv() {
    let dir = scratch("report-csv-names");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let file = report(&run, "a.csv", &ASKED[..1]);
    let read = "import csv, json, sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline='')))))";
    if !can_run("hostile names in CSV", &[Need::Program("python3")]) {
        return;
    }
    let rows = succeed(Command::new("python3").args(["-c", read]).arg(&file));
    let rows: Vec<HashMap<String, String>> = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows.len(), 11 * HOSTILE.len());
    for name in HOSTILE {
        let key = format!("process = '{}'", name.replace('\'', "''"));
        let of: Vec<_> = rows.iter().filter(|r| r["key"] == key).collect();
        assert_eq!(of.len(), 11, "{key}");
        let expression = format!("process.time where {key}");
        let sum: f64 = of.iter().map(|r| r["value"].parse::<f64>().unwrap()).sum();
        assert!((sum - total_of(&run, &expression)).abs() < 1e-9, "{key}");
    }
    // No field begins as a formula does.
    for field in rows.iter().flat_map(HashMap::values) {
        assert!(!field.starts_with(['=', '@', '+', '\t']), "{field}");
    }
}

#[test]
fn markdown_has_the_tables_of_get_and_its_pictures() {
    let dir = scratch("report-md");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, HOSTILE[4]);
    let text = std::fs::read_to_string(report(&run, "my report.md", &ASKED)).unwrap();
    assert!(
        text.starts_with("# \\`x\\` \\| \\*b\\* \\[l\\](javascript:1)\n"),
        "{text}"
    );
    let plain = |cell: &str| cell.replace('\\', "").trim().to_owned();
    let rows: Vec<Vec<String>> = text
        .lines()
        .filter(|l| l.starts_with("| "))
        .map(|l| {
            let inner = l.trim_matches('|').replace("\\|", "\u{1}");
            inner
                .split('|')
                .map(|c| plain(&c.replace('\u{1}', "|")))
                .collect()
        })
        .collect();
    // Every row of `get` is there, with the same figures.
    for expression in ASKED {
        let said = succeed(sonde().arg("get").arg(&run).arg(expression));
        for line in said
            .lines()
            .filter(|l| l.ends_with(" 11") || l.starts_with("read "))
        {
            let figures: Vec<&str> = line.split_whitespace().rev().take(4).collect();
            let same = |row: &Vec<String>| {
                row.iter()
                    .rev()
                    .zip(&figures)
                    .all(|(cell, figure)| cell == figure)
            };
            assert!(rows.iter().any(same), "{line}\n{text}");
        }
    }
    for place in [1, 2] {
        assert!(
            text.contains(&format!("](<my%20report-pictures/{place}.png>)")),
            "{text}"
        );
        let picture = dir.join(format!("my report-pictures/{place}.png"));
        assert!(
            std::fs::read(picture)
                .unwrap()
                .starts_with(b"\x89PNG\r\n\x1a\n")
        );
    }
    assert!(
        text.contains("no picture: a heat map has one dimension"),
        "{text}"
    );
    let markup = text.replace("\\<", "").replace("](<my%20report", "");
    assert!(!markup.contains('<'), "{text}");
}

#[test]
fn a_worksheet_chooses_what_is_told() {
    let dir = scratch("report-worksheet");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let sheet = r#"{"v":1,"runs":["a"],"from":2,"to":5,"panels":[
        {"expr":"disk.ios by latency","kind":"fold"},{"expr":"process.time","run":"b"}]}"#;
    std::fs::create_dir(run.join("worksheets")).unwrap();
    std::fs::write(run.join("worksheets/slow.json"), sheet).unwrap();
    let file = dir.join("a.json");
    let ask = |name: &str| {
        let mut command = sonde();
        command
            .arg("report")
            .arg(&run)
            .arg("-o")
            .arg(&file)
            .args(["--worksheet", name]);
        output(&mut command)
    };
    for name in ["slow", run.join("worksheets/slow.json").to_str().unwrap()] {
        let out = ask(name);
        assert!(out.status.success(), "{out:?}");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(
            said.contains("left out, as it is of another run: process.time"),
            "{said}"
        );
        let found: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let answers = found["answers"].as_array().unwrap();
        assert_eq!(answers.len(), 1);
        let expected = total_of(&run, "disk.ios by latency where time in 2s..5s");
        assert_eq!(answers[0]["quantiles"][0]["total"].as_f64(), Some(expected));
        std::fs::remove_file(&file).unwrap();
    }
    let out = ask("fast");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(said.contains("hint: saved in this run: slow"), "{said}");
    std::fs::write(run.join("worksheets/slow.json"), "{}").unwrap();
    assert_eq!(ask("slow").status.code(), Some(2));
    assert!(!file.exists());
}

#[test]
fn what_cannot_be_leaves_nothing_behind() {
    let dir = scratch("report-wrong");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let out = dir.join("out");
    std::fs::create_dir(&out).unwrap();
    for (name, expression, said) in [
        ("a.pdf", "process.time", "hint: there are .html, .eml"),
        ("a", "process.time", "the ending tells no form"),
        ("a.xlsx", "process.tme", "did you mean time?"),
        ("a.csv", "nfs.ops", "this run has no table"),
        ("no/a.csv", "process.time", "No such file or directory"),
    ] {
        let mut command = sonde();
        command
            .arg("report")
            .arg(&run)
            .arg("-o")
            .arg(out.join(name))
            .args(["--expr", expression]);
        let result = output(&mut command);
        let text = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(2), "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
    // A directory is in the place of the text: its pictures are not made either.
    std::fs::create_dir(out.join("a.md")).unwrap();
    let mut command = sonde();
    command
        .arg("report")
        .arg(&run)
        .arg("-o")
        .arg(out.join("a.md"));
    let result = output(command.args(["--expr", "process.time by command"]));
    let text = String::from_utf8_lossy(&result.stderr);
    assert_eq!(result.status.code(), Some(2), "{text}");
    assert!(text.contains("a.md: it is a directory"), "{text}");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn a_full_disk_leaves_the_old_report() {
    if !can_run(
        "a full disk leaves the old report",
        &[Need::Root, Need::Program("mount")],
    ) {
        return;
    }
    let dir = scratch("report-full");
    let small = dir.join("small");
    std::fs::create_dir(&small).unwrap();
    let run = made(&dir, "a");
    succeed(
        Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(&small),
    );
    let _clean = AtEnd(|| {
        let _ = Command::new("umount").arg(&small).status();
        drop(std::fs::remove_dir_all(&dir));
    });
    for ending in ["eml", "xlsx", "json"] {
        let file = small.join(format!("a.{ending}"));
        std::fs::write(&file, "old").unwrap();
        let mut command = sonde();
        command.arg("report").arg(&run).arg("-o").arg(&file);
        for _ in 0..6 {
            command.args(["--expr", ASKED[1]]);
        }
        let result = output(&mut command);
        let text = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(2), "{text}");
        assert!(text.contains("No space left on device"), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(std::fs::read_dir(&small).unwrap().count(), 1, "{ending}");
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_report_takes_the_place_of_a_file_and_keeps_links() {
    let dir = scratch("report-place");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, "a");
    let real = dir.join("real.csv");
    std::fs::write(&real, "old").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&real, mode).unwrap();
    std::os::unix::fs::symlink("real.csv", dir.join("link.csv")).unwrap();
    report(&run, "link.csv", &ASKED[..1]);
    assert!(
        std::fs::symlink_metadata(dir.join("link.csv"))
            .unwrap()
            .is_symlink()
    );
    let text = std::fs::read_to_string(&real).unwrap();
    assert!(text.starts_with("expr,key,time"), "{text}");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&real).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn without_being_asked_it_tells_what_is_worth_a_look() {
    let dir = scratch("report-worth");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = dir.join("run");
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.5";
    let mut record = sonde();
    record.args(["record", "--every", "100ms", "-o"]).arg(&run);
    succeed(record.args(["--", "sh", "-c", work]));
    let found: Value =
        serde_json::from_slice(&std::fs::read(report(&run, "a.json", &[])).unwrap()).unwrap();
    let answers = found["answers"].as_array().unwrap();
    let has = |expr: &str| answers.iter().any(|a| a["expr"] == expr);
    assert!(
        has("cpu.time by mode") && has("process.time by process"),
        "{found}"
    );
    assert!(!has("nfs.ops by op"), "this machine serves none");
    for finding in found["summary"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .take(6)
    {
        assert!(has(finding["expr"].as_str().unwrap()), "{finding}");
    }
    // Every form can be made of it.
    for name in ["a.eml", "a.xlsx", "a.md", "a.csv"] {
        assert!(
            std::fs::metadata(report(&run, name, &[])).unwrap().len() > 2000,
            "{name}"
        );
    }
}
