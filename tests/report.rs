//! Reports are read by other programs, and say what `sonde get` says.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

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

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/report")
        .join(name)
}

/// What the script `name` prints of `file`.
fn read_by(name: &str, file: &Path) -> Option<Value> {
    let python = support::python::python(
        include_str!("report/requirements.txt"),
        &script("requirements.txt"),
    )?;
    let text = succeed(Command::new(python).arg(script(name)).arg(file));
    Some(serde_json::from_str(&text).expect("JSON"))
}

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
fn a_mail_is_read_and_its_pictures_decoded() {
    let dir = scratch("report-eml");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let title =
        "Größe: a\r\nBcc: x@example.org <b>, 日本語の長い名前の長い名前の長い名前の長い名前";
    let run = made(&dir, title);
    let Some(mail) = read_by("mail.py", &report(&run, "a.eml", &ASKED)) else {
        return;
    };
    assert_eq!(mail["defects"], serde_json::json!([]), "{mail}");
    assert_eq!(mail["bare"], 0, "each line ends with CR LF");
    assert!(mail["longest"].as_u64() <= Some(998), "{}", mail["longest"]);
    let headers = mail["headers"].as_object().unwrap();
    assert_eq!(headers["Subject"], title.replace("\r\n", "  "));
    assert_eq!(headers["X-Unsent"], "1");
    assert!(headers.contains_key("Date") && headers.contains_key("MIME-Version"));
    assert!(!headers.contains_key("Bcc"), "{headers:?}");
    let structure = [
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "image/png",
    ];
    assert_eq!(mail["structure"], serde_json::json!(structure));
    // Each picture is shown where it belongs, and is one.
    let sources: Vec<&str> = mail["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s.as_str().unwrap())
        .collect();
    let pictures = mail["pictures"].as_object().unwrap();
    assert_eq!(sources.len(), 2);
    for source in sources {
        let picture = &pictures[source.strip_prefix("cid:").unwrap()];
        assert_eq!(picture["size"], serde_json::json!([1000, 480]));
        assert!(picture["colours"].as_u64() > Some(20), "{picture}");
    }
    // It takes the fonts and sizes of whoever reads, and nothing of a name is markup.
    let of = |name: &str| -> Vec<String> { serde_json::from_value(mail[name].clone()).unwrap() };
    let tags = [
        "b", "body", "br", "head", "hr", "html", "img", "meta", "p", "table", "td", "th", "title",
        "tr",
    ];
    assert!(
        of("tags").iter().all(|t| tags.contains(&t.as_str())),
        "{:?}",
        of("tags")
    );
    assert!(
        !of("attributes")
            .iter()
            .any(|a| a == "onerror" || a == "size" || a == "face")
    );
    assert!(
        of("styles")
            .iter()
            .all(|s| !s.contains("font") && !s.contains("color")),
        "{:?}",
        of("styles")
    );
    let rows: Vec<Vec<String>> = serde_json::from_value(mail["rows"].clone()).unwrap();
    for name in HOSTILE {
        let cell = name
            .replace('\n', " ")
            .replace(['\u{202e}', '\u{7}'], "\u{fffd}");
        let same =
            |row: &&Vec<String>| row[0].replace('\u{fffd}', "") == cell.replace('\u{fffd}', "");
        // In the summary, and with its numbers below.
        let found: Vec<_> = rows.iter().filter(same).collect();
        let told = found
            .iter()
            .any(|row| row.last().is_some_and(|c| c == "11"));
        assert!(told, "{name}: {found:?}");
        let begin: String = cell.chars().take(5).collect();
        assert!(mail["text"].as_str().unwrap().contains(&begin), "{mail}");
    }
}

/// The rows of a sheet from the one on that begins with `first`, up to an empty one.
fn below<'v>(sheet: &'v Value, first: &str) -> Vec<&'v Vec<Value>> {
    let rows = sheet["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r.as_array().unwrap());
    rows.skip_while(|r| r[0] != first)
        .take_while(|r| !r[0].is_null())
        .collect()
}

#[test]
fn a_spreadsheet_has_real_numbers_times_and_charts() {
    let dir = scratch("report-xlsx");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, HOSTILE[0]);
    let Some(book) = read_by("sheet.py", &report(&run, "a.xlsx", &ASKED)) else {
        return;
    };
    assert_eq!(book["title"], HOSTILE[0]);
    let sheets = book["sheets"].as_object().unwrap();
    let names: Vec<&String> = sheets.keys().collect();
    assert_eq!(
        names,
        ["Summary", "1 process.time", "2 disk.ios", "3 disk.ios"]
    );
    assert!(!book.to_string().contains("\"formula\""), "{book}");
    let summary = sheets["Summary"]["rows"].as_array().unwrap();
    assert_eq!(summary[0][0], HOSTILE[0]);
    assert_eq!(summary[1][1]["date"].as_f64(), Some(1.8e9));
    processes(&run, &sheets["1 process.time"]);
    latencies(&run, &sheets["2 disk.ios"]);
}

fn processes(run: &Path, sheet: &Value) {
    let groups = below(sheet, "process");
    let said = get(run, ASKED[0]);
    let said = said["groups"].as_array().unwrap();
    assert_eq!(groups.len(), said.len() + 1);
    assert_eq!(groups[0][1], "total s");
    assert_eq!(groups[0][2], "mean ms/s");
    for (row, group) in groups[1..].iter().zip(said) {
        let close = |cell: &Value, value: &Value, by: f64| {
            let (cell, value) = (cell.as_f64().unwrap(), value.as_f64().unwrap() / by);
            assert!(
                (cell - value).abs() <= value.abs() * 1e-12,
                "{cell}, {value}"
            );
        };
        close(&row[1], &group["total"], 1.0);
        close(&row[2], &group["mean"], 1e-3);
        close(&row[4], &group["max"], 1e-3);
        assert_eq!(row[5], 11);
    }
    // A row an interval, and one without values for the second that was not sampled.
    let series = below(sheet, "time (UTC)");
    assert_eq!(series.len(), 1 + 12);
    let blank: Vec<usize> = (1..=12).filter(|r| series[*r][3].is_null()).collect();
    assert_eq!(blank, [8]);
    for (row, second) in [(1, 1), (7, 7), (9, 9), (12, 12)] {
        assert_eq!(
            series[row][0]["date"].as_f64(),
            Some(1.8e9 + f64::from(second))
        );
        assert_eq!(series[row][1].as_f64(), Some(f64::from(second)));
        // The largest: 60 ms a second more each second.
        let value = series[row][3].as_f64().unwrap();
        assert!((value - 60.0 * f64::from(second)).abs() < 1e-9, "{value}");
    }
    let chart = &sheet["charts"][0];
    assert_eq!(chart["kind"], "ScatterChart");
    assert_eq!(chart["time"], "hh:mm:ss");
    let lines = chart["series"].as_array().unwrap();
    assert_eq!(lines.len(), HOSTILE.len());
    assert_eq!(lines[0]["x"], "'1 process.time'!$A$28:$A$39");
    assert_eq!(lines[0]["y"], "'1 process.time'!$D$28:$D$39");
    assert_eq!(lines[0]["name"], "'1 process.time'!$D$27");
}

fn latencies(run: &Path, sheet: &Value) {
    let said = &get(run, ASKED[1])["quantiles"][0];
    let groups = below(sheet, "count");
    assert_eq!(groups[0][2], "p50 ms");
    assert_eq!(groups[1][0].as_f64(), said["total"].as_f64());
    let p50 = groups[1][2].as_f64().unwrap();
    assert!(
        (p50 - said["p50"].as_f64().unwrap() * 1e3).abs() < 1e-9,
        "{p50}"
    );
    let kinds: Vec<&Value> = sheet["charts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["kind"])
        .collect();
    assert_eq!(kinds, ["ScatterChart", "BarChart"]);
    assert_eq!(sheet["pictures"], 1, "the heat map");
    let series = below(sheet, "time (UTC)");
    let counts: f64 = series[1..].iter().filter_map(|r| r[3].as_f64()).sum();
    assert_eq!(Some(counts), said["total"].as_f64());
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

/// What a browser without a network makes of `file`: the page's elements once it has drawn.
fn opened(file: &Path) -> String {
    let mut chromium = Command::new("unshare");
    chromium.args([
        "--net",
        "timeout",
        "60",
        "chromium",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=8000",
        "--dump-dom",
    ]);
    succeed(chromium.arg(format!("file://{}", file.display())))
}

/// What is between `from` and the first `to` after it.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text.split_once(from).map_or("", |t| t.1);
    rest.split_once(to).map_or("", |t| t.0)
}

#[test]
fn a_page_opens_from_disk_without_a_network() {
    let dir = scratch("report-html");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = made(&dir, HOSTILE[5]);
    let file = dir.join("a.html");
    let mut command = sonde();
    command.arg("report").arg(&run).arg("-o").arg(&file);
    let out = output(command.args(["--expr", ASKED[0], "--expr", ASKED[1]]));
    if String::from_utf8_lossy(&out.stderr).contains("built without its page") {
        assert!(!file.exists());
        assert!(!can_run(
            "the page of a report",
            &[Need::Path("web/dist/index.html")]
        ));
        return;
    }
    assert!(out.status.success(), "{out:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.len() < 3_000_000, "{} bytes", text.len());
    // Nothing is loaded, and a name ends no element.
    for address in [
        "src=\"/",
        "href=\"/",
        "src=\"http",
        "href=\"http",
        "url(http",
    ] {
        assert!(!text.contains(address), "{address}");
    }
    let carried = between(&text, "id=\"sonde-report\">", "</script>");
    let found: Value = serde_json::from_str(carried).unwrap();
    assert_eq!(found["runs"]["runs"][0]["title"], HOSTILE[5]);
    for expression in &ASKED[..2] {
        let answer = &found["answers"][format!("a|{expression}")];
        let sum: f64 = match answer["groups"].as_array() {
            Some(groups) => groups.iter().map(|g| g["total"].as_f64().unwrap()).sum(),
            None => answer["heat"]["total"].as_f64().unwrap(),
        };
        assert!(
            (sum - total_of(&run, expression)).abs() < 1e-6,
            "{expression}"
        );
    }
    let needs = [
        Need::Program("chromium"),
        Need::Program("unshare"),
        Need::Root,
    ];
    if !can_run("a page opens from disk", &needs) {
        return;
    }
    let page = opened(&file);
    let page = &page[..page.find("id=\"sonde-report\"").unwrap()];
    // What `get` says stands beside the picture.
    assert!(page.contains("4.20"), "{page}");
    for name in ["a,b\"c\"", "&lt;img src=x onerror="] {
        assert!(page.contains(name), "{name}: {page}");
    }
    assert!(!page.contains("<img src=x"), "{page}");
    assert!(page.contains("<canvas"), "{page}");
    for wrong in ["Cannot read", "not in this report", "was refused"] {
        assert!(!page.contains(wrong), "{wrong}: {page}");
    }
}
