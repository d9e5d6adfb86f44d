//! `docs/reference/json.md` says what the commands print: every field printed is on the page
//! with its type, and every field on the page is printed by something.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use analysis::stats::Random;
use run::manifest::Manifest;
use run::rows::TableId;
use run::{Sink, write::Writer};
use serde_json::Value;
use support::disk_runs::{Second, failing};
use support::{AtEnd, scratch, sonde, succeed};

/// Fields of a section of the page, by path, with their types.
fn documented(command: &str) -> BTreeMap<String, String> {
    let page = include_str!("../docs/reference/json.md");
    let heading = format!("## `sonde {command} ");
    let section = page.split_once(&heading).expect("a section").1;
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|l| l.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let kinds = cells[2].replace(", *opt*", "");
        (cells[1].trim_matches('`').to_owned(), kinds)
    })
    .collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Checks `value`, which is at `path`, and all in it; notes the paths met in `seen`.
fn check(page: &BTreeMap<String, String>, path: &str, value: &Value, seen: &mut BTreeSet<String>) {
    if let Some(kinds) = page.get(path) {
        let kind = kind(value);
        let fits = kinds == kind || kinds.split(" or ").any(|k| k == kind);
        assert!(fits, "`{path}` is {kind}, the page says {kinds}: {value}");
        seen.insert(path.to_owned());
    }
    match value {
        // Described on a page or in a section of their own.
        Value::Object(_)
            if [
                "manifest",
                "summary",
                "answers[]",
                "distributions.*.quantiles[]",
            ]
            .contains(&path) => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let gap = if path.is_empty() { "" } else { "." };
                let own = format!("{path}{gap}{name}");
                let any = format!("{path}{gap}*");
                let is_any = page
                    .keys()
                    .any(|p| *p == any || p.starts_with(&format!("{any}.")));
                let path = if page.contains_key(&own) { own } else { any };
                assert!(
                    page.contains_key(&path) || is_any,
                    "`{path}` ({name}) is not on the page"
                );
                check(page, &path, value, seen);
            }
        }
        Value::Array(items) => {
            for item in items {
                check(page, &format!("{path}[]"), item, seen);
            }
        }
        _ => assert!(page.contains_key(path), "`{path}` is not on the page"),
    }
}

/// All of `answers` together are what the page says of `command`.
fn compare(command: &str, answers: &[Value]) {
    let page = documented(command);
    let mut seen = BTreeSet::new();
    for answer in answers {
        check(&page, "", answer, &mut seen);
    }
    let missing: Vec<&String> = page.keys().filter(|p| !seen.contains(*p)).collect();
    assert!(missing.is_empty(), "{command} never prints {missing:?}");
}

fn parse(text: &str) -> Vec<Value> {
    let stream = serde_json::Deserializer::from_str(text).into_iter();
    stream.map(|v| v.expect("JSON")).collect()
}

/// A short real run.
fn record(run: &Path) {
    let mut record = sonde();
    record.args(["record", "--every", "100ms", "-o"]).arg(run);
    record.args([
        "--",
        "sh",
        "-c",
        "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.3",
    ]);
    succeed(&mut record);
}

/// The same run with rows of a histogram instead.
fn histogram(recorded: &Path, dir: &Path) -> PathBuf {
    let text = std::fs::read(recorded.join("run.json")).unwrap();
    let manifest = Manifest {
        sampled: None,
        ..serde_json::from_slice(&text).unwrap()
    };
    let path = dir.join("histogram");
    let mut writer = Writer::create(&path, &manifest).unwrap();
    let mut sink = Sink::new();
    let time = manifest.started + 100_000_000;
    sink.at(time, 0.1);
    let words = ["sda", "disk", "read"].map(|w| sink.word(w));
    sink.row(TableId::of("disk_latency"), &words, &[0.001, 5.0, 20480.0]);
    // An event that stands for three.
    let table = TableId::of("disk_event");
    let words = vec![words[0]; sink.rows(table).words.len()];
    let mut values = vec![1.0; sink.rows(table).values.len()];
    *values.last_mut().unwrap() = 3.0;
    sink.row(table, &words, &values);
    // And two for which there was no room.
    let lost = [sink.word("disk_event")];
    sink.row(TableId::of("self_events"), &lost, &[2.0, 0.0, 3.0]);
    // And a connection that has no name.
    let other = [sink.word("(other)")];
    sink.row(TableId::of("tcp_rtt"), &other, &[0.001, 5.0]);
    writer.append(&mut sink, time);
    writer.finish(manifest).unwrap();
    path
}

#[test]
fn get_prints_what_the_page_says() {
    let dir = scratch("json-get");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = dir.join("run");
    record(&run);
    let ask = |run: &Path, series: bool, expressions: &[&str]| {
        let mut get = sonde();
        get.arg("get").arg(run).arg("--json").args(expressions);
        if series {
            get.arg("--series");
        }
        parse(&succeed(&mut get))
    };
    let histogram = histogram(&run, &dir);
    let expressions = [
        "cpu.time by cpu, mode",
        "cpu.time by process",
        "memory.available",
        "cpu.utilisation",
        "disk.mean_latency by device",
    ];
    let mut answers = ask(&run, true, &expressions);
    assert_eq!(answers.len(), expressions.len());
    answers.push(with_a_loss(&run));
    answers.extend(ask(&histogram, true, &["disk.ios by latency"]));
    answers.extend(ask(&histogram, true, &["disk.ios by op, latency"]));
    let sampled = ask(&histogram, true, &["disk.ios by process where layer = sda"]);
    assert_eq!(sampled[0]["stands_for"], 3.0);
    assert_eq!(sampled[0]["dropped"], 2.0);
    answers.extend(sampled);
    answers.extend(ask(
        &histogram,
        false,
        &["tcp.rtt_samples where remote = 10.0.0.9"],
    ));
    compare("get", &answers);
    // Without an expression.
    let mut listed = ask(&run, false, &[]);
    let import = "crates/formats/fixtures/dstat-csv/several-devices.txt";
    let other = dir.join("imported");
    let mut command = sonde();
    command.args(["import", "--start", "2020-01-01"]);
    succeed(
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(import))
            .arg("-o")
            .arg(&other),
    );
    listed.extend(ask(&other, false, &[]));
    compare("get RUN --json`", &listed);
    // Without `--series` there is none.
    let plain = &ask(&run, false, &["self.samples"])[0];
    assert!(plain.get("series").is_none() && plain.get("started").is_none());
}

/// An answer of the run, had its disk been full for a moment.
fn with_a_loss(run: &Path) -> Value {
    let path = run.join("run.json");
    let whole = std::fs::read(&path).expect("a manifest");
    let mut manifest: Value = serde_json::from_slice(&whole).expect("JSON");
    let at = manifest["started"].clone();
    manifest["loss"] = serde_json::json!([{"from": at, "to": at, "rows": 7, "why": "full"}]);
    std::fs::write(&path, manifest.to_string()).expect("room");
    let mut get = sonde();
    get.arg("get").arg(run).args(["self.samples", "--json"]);
    let answer = parse(&succeed(&mut get)).remove(0);
    std::fs::write(&path, whole).expect("room");
    assert_eq!(answer["lost_rows"], 7);
    answer
}

#[test]
fn report_writes_what_the_page_says() {
    let dir = scratch("json-report");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = dir.join("run");
    record(&run);
    let file = dir.join("report.json");
    succeed(sonde().arg("report").arg(&run).arg("-o").arg(&file));
    compare("report", &parse(&std::fs::read_to_string(&file).unwrap()));
}

/// The same run with a group that its limit holds back: a finding.
fn throttled(recorded: &Path, dir: &Path) -> PathBuf {
    let text = std::fs::read(recorded.join("run.json")).unwrap();
    let manifest: Manifest = serde_json::from_slice(&text).unwrap();
    let path = dir.join("throttled");
    let mut writer = Writer::create(&path, &manifest).unwrap();
    let mut sink = Sink::new();
    let time = manifest.started + 1_000_000_000;
    sink.at(time, 1.0);
    let words = [sink.word("/web")];
    let values = [0.5, 20.0, 15.0, 1.0];
    sink.row(TableId::of("cgroup_throttle"), &words, &values);
    sink.row(
        TableId::of("self"),
        &[],
        &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    );
    writer.append(&mut sink, time);
    writer.finish(manifest).unwrap();
    path
}

#[test]
fn show_prints_what_the_page_says() {
    let dir = scratch("json-show");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = dir.join("run");
    record(&run);
    let show = |run: &Path| {
        let out = support::output(sonde().arg("show").arg(run).arg("--json"));
        parse(std::str::from_utf8(&out.stdout).unwrap())
    };
    let mut answers = show(&run);
    let found = show(&throttled(&run, &dir));
    assert_eq!(found[0]["findings"][0]["name"], "throttled", "{found:?}");
    answers.extend(found);
    std::fs::write(run.join("memory_state.parquet"), "damaged").unwrap();
    answers.extend(show(&run));
    // One tells a histogram, the other quantiles.
    for text in ["fio-json/every-field", "fio-text/version-2"] {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/formats/fixtures");
        let imported = dir.join(text.replace('/', "-"));
        let mut import = sonde();
        import
            .arg("import")
            .arg(fixtures.join(format!("{text}.txt")));
        succeed(import.arg("-o").arg(&imported));
        answers.extend(show(&imported));
    }
    compare("show", &answers);
}

#[test]
fn list_prints_what_the_page_says() {
    let dir = scratch("json-list");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    record(&dir.join("run"));
    let mut tried = sonde();
    tried.env("SONDE_STATE", dir.join("state"));
    tried.args(["try", "--param", "n=1,2", "--blocks", "1", "-m", "elapsed"]);
    tried.args(["-q", "-o"]).arg(dir.join("experiment"));
    succeed(tried.args(["--", "sh", "-c", "sleep 0.2 # {n}"]));
    // Three arms, of which none is to be taken: what can be, `show` of an experiment tells.
    let list = succeed(sonde().arg("list").arg(&dir).arg("--json"));
    compare("list", &parse(&list));
}

#[test]
fn knobs_prints_what_the_page_says() {
    compare("knobs", &parse(&succeed(sonde().args(["knobs", "--json"]))));
}

#[test]
fn doctor_prints_what_the_page_says() {
    compare(
        "doctor",
        // A program that is not attached says why.
        &parse(&succeed(
            sonde()
                .env("SONDE_WITHOUT_HOOKS", "block_rq_merge")
                .args(["doctor", "--json"]),
        )),
    );
}

#[test]
fn an_experiment_prints_what_the_page_says() {
    let dir = scratch("json-try");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let conduct = |name: &str, words: &[&str]| {
        let place = dir.join(name);
        let mut command = sonde();
        command.args([
            "try",
            "-q",
            "--json",
            "--record=--detail=samples",
            "-m",
            "system.forks:higher",
        ]);
        command.arg("-o").arg(&place).args(words);
        succeed(&mut command);
        parse(&succeed(sonde().arg("show").arg(&place).arg("--json")))
    };
    // Processor time of so little would now and then be no tick, and no law be found.
    let work = ["--", "sh", "-c", "for i in $(seq {n}0); do /bin/true; done"];
    let mut answers = conduct(
        "a",
        &[&["--param", "n=1,2", "--blocks", "2"], &work[..]].concat(),
    );
    answers.extend(conduct(
        "b",
        &[&["--scale", "n=1,2,3,4", "--blocks", "1"], &work[..]].concat(),
    ));
    answers.extend(conduct(
        "c",
        &[&["--search", "n=1..3", "--blocks", "1"], &work[..]].concat(),
    ));
    answers.extend(conduct(
        "d",
        &[&["--search", "n=1,2", "--blocks", "1"], &work[..]].concat(),
    ));
    // What takes chance or time to come about.
    let mut other = answers[0].clone();
    other["front"] = serde_json::json!(["baseline"]);
    other["advice"]["close"] = serde_json::json!(["2"]);
    answers.push(other);
    // Bounds that few trials may not give.
    let mut scaled = answers[1].clone();
    for bounds in ["alpha_interval", "beta_interval"] {
        assert!(scaled["scaling"].get(bounds).is_some(), "{bounds}");
        scaled["scaling"][bounds] = serde_json::json!([0.0, 0.1]);
    }
    answers.push(scaled);
    compare("try", &answers);
}

/// Twelve runs in turns, each slower than the one before, on machines that differ; one is far
/// off, and one more of each side failed.
fn sides(dir: &Path) -> [Vec<PathBuf>; 2] {
    let mut random = Random::new(3);
    let mut run = |name: String, place: usize, status: i32| {
        let level = 0.95_f64.powi(place as i32) * if place == 6 { 9.0 } else { 1.0 };
        let second = |random: &mut Random| {
            let bytes = 1e8 * level * (1.0 + 0.01 * random.normal());
            let latency = |_| (1e-4 * (0.1 * random.normal()).exp(), 1.0);
            let latencies = (0..100).map(latency).collect();
            Second { bytes, latencies }
        };
        let all: Vec<Second> = (0..24).map(|_| second(&mut random)).collect();
        let path = failing(dir, &name, place as i64 * 100, &all, Some(status));
        let facts = format!("{{\"kernel\": {{\"release\": \"{}\"}}}}", place % 2);
        std::fs::write(path.join("inventory.json"), facts).unwrap();
        path
    };
    [0, 1].map(|side| {
        let mut runs: Vec<PathBuf> = (0..6)
            .map(|i| run(format!("{side}-{i}"), 2 * i + side, 0))
            .collect();
        runs.push(run(format!("{side}-failed"), side, 1));
        runs
    })
}

#[test]
fn compare_prints_what_the_page_says() {
    let dir = scratch("json-compare");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let [a, b] = sides(&dir);
    let ask = |a: &[PathBuf], b: &[PathBuf], metrics: &[&str]| {
        let mut command = sonde();
        command
            .arg("compare")
            .args(a)
            .arg("--vs")
            .args(b)
            .arg("--json");
        for metric in metrics {
            command.args(["-m", metric]);
        }
        parse(&succeed(&mut command))
    };
    let mut answers = ask(&a, &b, &["disk.bytes", "p50 disk.ios by latency"]);
    let differing = answers[0]["differences"].as_array().map(Vec::len);
    assert!(differing > Some(0), "{}", answers[0]);
    answers.extend(ask(&b, &a, &["disk.bytes"]));
    compare("compare", &answers);
}

/// Names of all fields in `value`, but for those that are data.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name.clone());
                if !["tables", "footers", "notes"].contains(&name.as_str()) {
                    names(value, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_manifest_is_in_the_format() {
    use run::manifest::{Change, ClockStep, Command, Imported, Loss, Phase, TextLine};
    let dir = scratch("json-manifest");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let run = dir.join("run");
    record(&run);
    let text = std::fs::read(run.join("run.json")).unwrap();
    let mut manifest: Manifest = serde_json::from_slice(&text).unwrap();
    // What this recording happened not to have.
    let at = manifest.started;
    let why = String::from("why");
    manifest.notes.insert("a".into(), "b".into());
    manifest.clock.steps.push(ClockStep {
        at,
        by_seconds: 1.0,
    });
    manifest.phases.push(Phase {
        name: why.clone(),
        from: at,
    });
    manifest.loss.push(Loss {
        from: at,
        to: at,
        rows: 1,
        why: why.clone(),
        table: Some("disk_event".into()),
    });
    let (before, after) = (Some(why.clone()), Some(why.clone()));
    manifest.changes.push(Change {
        path: why,
        before,
        after,
    });
    manifest.imported.push(Imported {
        host: Some("host".into()),
        processors: Some(4),
        notes: vec!["note".into()],
        first_not_understood: vec![TextLine::default()],
        ..Imported::default()
    });
    let arguments = vec!["true".into()];
    manifest.command = Some(Command {
        arguments,
        status: Some(0),
        signal: Some(9),
    });
    // Its names are those of tables.
    manifest.sampled = Some(BTreeMap::new());
    let page = include_str!("../docs/reference/run-format.md");
    let section = page.split_once("## `run.json`").unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let mut found = BTreeSet::new();
    names(&serde_json::to_value(&manifest).unwrap(), &mut found);
    assert!(found.len() > 35, "{found:?}");
    let missing: Vec<_> = found
        .iter()
        .filter(|n| !section.contains(&format!("`{n}`")))
        .collect();
    assert!(missing.is_empty(), "not in run-format.md: {missing:?}");
    // And the other way round: what the page lists at the start of a row exists.
    let rows = section
        .lines()
        .filter_map(|l| l.strip_prefix("| `")?.split('`').next());
    let gone: Vec<_> = rows.filter(|r| !found.contains(*r)).collect();
    assert!(gone.is_empty(), "not in a manifest: {gone:?}");
}
