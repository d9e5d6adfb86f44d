//! A report of an experiment says in every form what `sonde show` says of it.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;
#[path = "support/trying.rs"]
mod trying;

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Need, can_run, output, sonde, succeed};
use trying::{Bench, against, until};

/// Makes the report `name` of the bench's experiment, beside it.
fn report(bench: &Bench, name: &str) -> PathBuf {
    let file = bench.dir.join(name);
    let mut command = sonde();
    command.arg("report").arg(bench.experiment());
    let said = succeed(command.arg("-o").arg(&file));
    assert_eq!(said, "", "nothing is printed");
    file
}

fn text(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(report(bench, name)).expect("a report")
}

/// The words of `text`, however its lines are broken.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `show` recommends: the last paragraph of its text.
fn conclusion(bench: &Bench) -> String {
    let shown = succeed(sonde().arg("show").arg(bench.experiment()));
    let last = shown.trim_end().rsplit("\n\n").next().expect("a paragraph");
    flat(last)
}

/// Two arms that differ, and one that fails in every block but the first two.
fn with_a_crash(name: &str) -> Bench {
    let bench = Bench::new(name);
    let script = "[ {s} != 9 ] || { n=$(cat count 2>/dev/null); n=$((n+1)); echo $n >count; \
                  [ $n -lt 3 ] || { echo '<b>no</b>' >&2; exit 3; }; exit 0; }; sleep {s}";
    let words = [
        "--param",
        "s=0.4,0.05,9",
        "--blocks",
        "8",
        "--keep-going",
        "-m",
        "elapsed",
        "-m",
        "memory.available:higher",
        "--",
        "sh",
        "-c",
        script,
    ];
    bench.conduct(&words, 0);
    bench
}

#[test]
fn every_form_has_the_same_result() {
    let bench = with_a_crash("report-tried");
    json_is_what_show_prints(&bench);
    csv_has_the_numbers_of_json(&bench);
    the_page_says_what_show_says(&bench);
    markdown_has_its_picture_beside_it(&bench);
    a_mail_has_table_and_picture(&bench);
    a_spreadsheet_has_real_numbers(&bench);
    a_run_is_wanted_elsewhere(&bench);
    it_is_listed(&bench);
}

fn json_is_what_show_prints(bench: &Bench) {
    let shown = succeed(sonde().arg("show").arg(bench.experiment()).arg("--json"));
    assert_eq!(text(bench, "a.json"), shown);
}

/// The same but for the last digit, which a reader of JSON may round.
fn same(one: Option<f64>, other: Option<f64>) {
    match (one, other) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-14 * b.abs(), "{a} is not {b}"),
        (a, b) => assert_eq!(a, b),
    }
}

fn csv_has_the_numbers_of_json(bench: &Bench) {
    let shown = bench.shown();
    let csv = text(bench, "a.csv");
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    let metrics = shown["metrics"].as_array().expect("metrics");
    let arms = metrics[0]["arms"].as_array().expect("arms").len();
    assert_eq!((rows.len(), arms), (metrics.len() * 4, 4), "{csv}");
    let mut told = 0;
    for (place, row) in rows.iter().enumerate() {
        let (metric, arm) = (&metrics[place / arms], place % arms);
        let arm = &metric["arms"][arm];
        let cell = |name: &str| row[head.iter().position(|h| *h == name).expect(name)];
        assert_eq!(cell("metric"), metric["metric"]);
        assert_eq!(cell("arm"), arm["arm"]);
        assert_eq!(cell("unit"), metric["unit"]);
        let against = &arm["against"];
        for (name, number) in [
            ("middle", &arm["middle"]),
            ("low_95", &arm["interval"][0]),
            ("high_95", &arm["interval"][1]),
            ("ratio", &against["ratio"]),
            ("ratio_low_95", &against["interval"][0]),
            ("ratio_high_95", &against["interval"][1]),
            ("p", &against["p"]),
            ("p_adjusted", &against["p_adjusted"]),
        ] {
            same(cell(name).parse().ok(), number.as_f64());
            told += u32::from(number.is_number());
        }
        assert_eq!(cell("verdict"), against["verdict"].as_str().unwrap_or(""));
    }
    assert!(told > 40, "{told} numbers");
}

fn the_page_says_what_show_says(bench: &Bench) {
    let page = text(bench, "a.html");
    // It asks nobody for anything.
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"));
    for wrong in ["<script", "src=", "href=", "url(", "@import", "<b>no</b>"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    let plain = page.replace("&nbsp;", " ").replace("&#39;", "'");
    let plain = plain.replace("&gt;", ">").replace("&lt;", "<");
    let conclusion = conclusion(bench);
    assert!(plain.contains(&conclusion), "{conclusion}: {plain}");
    let shown = bench.shown();
    let seed = format!("seed {}", shown["seed"]);
    let trials = shown["trials"].as_array().expect("trials").clone();
    let runs = trials.iter().map(|t| t["run"].as_str().expect("a run"));
    let runs = runs.map(|r| r.rsplit_once("trials/").expect("a trial").1.to_owned());
    for wanted in runs.chain([
        seed,
        "s = 0.4, 0.05, 9 (baseline: 0.4)".into(),
        "<td align=\"left\" class=\"good\">better</td>".into(),
        "<td align=\"left\" class=\"bad\">failed</td>".into(),
        "the command ended with status 3".into(),
        "none was changed".into(),
        "elapsed (less is better)".into(),
    ]) {
        assert!(
            page.contains(&wanted) || plain.contains(&wanted),
            "{wanted}"
        );
    }
    // One drawing for a wide window, one for a narrow one.
    assert_eq!(page.matches("<svg ").count(), 2);
    if can_run("a page opens from disk", &[Need::Program("chromium")]) {
        let mut open = Command::new("chromium");
        open.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
        open.arg(format!("--user-data-dir={}", bench.dir.join("c").display()));
        let opened = succeed(open.arg(bench.dir.join("a.html")));
        assert_eq!(
            opened.matches("<tr>").count(),
            page.matches("<tr>").count(),
            "all rows are parsed"
        );
    }
}

fn markdown_has_its_picture_beside_it(bench: &Bench) {
    let said = text(bench, "a.md");
    let conclusion = conclusion(bench);
    assert!(said.replace('\\', "").contains(&conclusion), "{said}");
    assert!(said.contains("| 0.05 | 8 |"), "{said}");
    let (_, target) = said.split_once("](<").expect("a picture");
    let (target, _) = target.split_once(">)").expect("its end");
    let picture = std::fs::read(bench.dir.join(target)).expect("the picture");
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
}

/// What a script of the reports' tests prints of `file`.
fn read_by(name: &str, file: &Path) -> Option<Value> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report");
    let python = support::python::python(
        include_str!("report/requirements.txt"),
        &scripts.join("requirements.txt"),
    )?;
    let text = succeed(Command::new(python).arg(scripts.join(name)).arg(file));
    Some(serde_json::from_str(&text).expect("JSON"))
}

fn a_mail_has_table_and_picture(bench: &Bench) {
    let Some(mail) = read_by("mail.py", &report(bench, "a.eml")) else {
        return;
    };
    assert_eq!(mail["defects"], serde_json::json!([]), "{mail}");
    let subject = mail["headers"]["Subject"].as_str().expect("a subject");
    assert!(subject.starts_with("Experiment: sh -c"), "{subject}");
    let conclusion = conclusion(bench);
    let plain = mail["text"].as_str().expect("a text");
    assert!(flat(plain).contains(&conclusion), "{plain}");
    let rows: Vec<Vec<String>> = serde_json::from_value(mail["rows"].clone()).expect("rows");
    let better = |r: &Vec<String>| r[0] == "0.05" && r.last().is_some_and(|v| v == "better");
    assert!(rows.iter().any(better), "{rows:?}");
    let source = mail["sources"][0].as_str().expect("a picture");
    let picture = &mail["pictures"][source.trim_start_matches("cid:")];
    assert_eq!(picture["size"][0], 1000);
    assert!(picture["colours"].as_u64() > Some(20), "{picture}");
}

fn a_spreadsheet_has_real_numbers(bench: &Bench) {
    let Some(book) = read_by("sheet.py", &report(bench, "a.xlsx")) else {
        return;
    };
    let shown = bench.shown();
    let sheets = book["sheets"].as_object().expect("sheets");
    let names: Vec<&String> = sheets.keys().collect();
    let wanted = ["Summary", "1 elapsed", "2 memory.availablehigher"];
    assert!(names.iter().zip(wanted).all(|(n, w)| *n == w), "{names:?}");
    let rows = |sheet: &str| sheets[sheet]["rows"].as_array().expect("rows").clone();
    let summary = Value::from(rows("Summary")).to_string();
    assert!(summary.contains(&conclusion(bench)), "{summary}");
    assert_eq!(sheets["Summary"]["pictures"], 1);
    let elapsed = rows("1 elapsed");
    let at = elapsed.iter().position(|r| r[0] == "arm").expect("a head");
    let head = elapsed[at].as_array().expect("a row");
    assert_eq!(head[4], "middle ms", "{head:?}");
    let arms = shown["metrics"][0]["arms"].as_array().expect("arms");
    for (row, arm) in elapsed[at + 1..].iter().zip(arms) {
        assert_eq!(row[0], arm["arm"]);
        let middle = row[4].as_f64().expect("a number");
        let expected = arm["middle"].as_f64().expect("a number") * 1e3;
        assert!((middle - expected).abs() < 1e-9 * expected, "{row}");
    }
    assert_eq!(
        sheets["1 elapsed"]["charts"].as_array().map(Vec::len),
        Some(1)
    );
    let trials = rows("Trials");
    let failed = trials.iter().filter(|r| r[4] == "failed").count();
    assert_eq!(Some(failed as u64), shown["trials_failed"].as_u64());
}

fn a_run_is_wanted_elsewhere(bench: &Bench) {
    let refused = |words: &[&str], wanted: &str| {
        let out = output(sonde().current_dir(&bench.dir).args(words));
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(wanted), "{words:?}: {said}");
        assert!(said.contains("hint: "), "{words:?}: {said}");
    };
    let report = ["report", "experiment", "-o"];
    let with = |more: &[&'static str]| [&report[..], more].concat();
    refused(&with(&["b.pdf"]), "the ending tells no form");
    for option in ["--expr", "--worksheet"] {
        let words = with(&["b.html", option, "cpu.time"]);
        refused(&words, "is for a run, and experiment is an experiment");
        refused(&words, "sonde report experiment/trials/");
    }
    assert!(!bench.dir.join("b.html").exists());
    for words in [
        &["get", "experiment", "cpu.time"][..],
        &["plot", "experiment", "cpu.time"],
        &["view", "experiment", "--no-open"],
    ] {
        refused(words, "is an experiment, not a run");
        refused(words, "its trials are runs, for example experiment/trials/");
    }
}

fn it_is_listed(bench: &Bench) {
    let list = |dir: &str, json: bool| {
        let mut command = sonde();
        command.current_dir(&bench.dir).args(["list", dir]);
        succeed(if json {
            command.arg("--json")
        } else {
            &mut command
        })
    };
    let around = list(".", false);
    assert!(around.contains("experiment ") && around.contains("recommended: 0.05"));
    assert!(!around.contains("trials/"), "{around}");
    let inside = list("experiment", false);
    assert!(inside.contains("recommended: 0.05"), "{inside}");
    let failed = inside.lines().filter(|l| l.contains(" failed  2")).count();
    assert_eq!(Some(failed as u64), bench.shown()["trials_failed"].as_u64());
    let objects: Vec<Value> = serde_json::from_str(&list("experiment", true)).expect("JSON");
    assert_eq!(objects[0]["advice"], bench.shown()["advice"]);
    assert!(objects[1..].iter().all(|o| o["run"].is_string()));
    assert!(objects.len() > 20, "{}", objects.len());
}

#[test]
fn an_unfinished_one_says_so() {
    let bench = Bench::new("report-cut");
    let words = ["--param", "s=0.3,0.31", "--blocks", "6", "-m", "elapsed"];
    let rest = ["-o", "experiment", "-q", "--", "sleep", "{s}"];
    let mut child = bench.start(&[&words[..], &rest].concat());
    until("a second block", || bench.in_state("done") >= 4);
    // Nobody wrote yet how it ends.
    assert!(text(&bench, "running.html").contains("of 6 blocks"));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    for name in ["a.html", "a.md"] {
        let said = text(&bench, name);
        assert!(said.contains("interrupted"), "{said}");
        assert!(said.contains(&conclusion(&bench)), "{said}");
    }
    for name in ["a.eml", "a.xlsx", "a.csv"] {
        assert!(std::fs::metadata(report(&bench, name)).expect("it").len() > 300);
    }
    let around = succeed(sonde().arg("list").arg(&bench.dir));
    assert!(around.contains("interrupted (SIGINT)"), "{around}");
}

#[test]
fn of_scaling_it_has_the_curve_and_the_doubts() {
    let bench = Bench::new("report-scale");
    let script = "for i in $(seq {n}); do sleep 0.05 & done; wait";
    let result = bench.scaled(script);
    let page = text(&bench, "a.html");
    for wanted in ["How work grows", "efficiency", "DOUBT", ">USL<", ">Amdahl<"] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    let Some(book) = read_by("sheet.py", &report(&bench, "a.xlsx")) else {
        return;
    };
    let growth = &book["sheets"]["Growth"];
    assert_eq!(growth["charts"].as_array().map(Vec::len), Some(1));
    let steps = result["scaling"]["steps"].as_array().expect("steps");
    let rows = growth["rows"].as_array().expect("rows");
    let at = rows.iter().position(|r| r[0] == "at once").expect("a head");
    for (row, step) in rows[at + 1..].iter().zip(steps) {
        assert_eq!(row[0].as_f64(), step["workers"].as_f64());
        same(row[2].as_f64(), step["speed_up"].as_f64());
    }
}

#[test]
fn of_a_search_it_has_the_proposal() {
    let bench = Bench::new("report-search");
    let words = [
        "--search",
        "s=0.3,0.2,0.05",
        "--blocks",
        "6",
        "--no-aa",
        "-m",
        "elapsed",
        "--",
        "sleep",
        "{s}",
    ];
    let result = bench.conduct(&words, 0);
    assert_eq!(result["search"]["found"], "0.05");
    assert_eq!(against(&result, 0, "0.05")["verdict"], "better");
    let page = text(&bench, "a.html");
    for wanted in ["and proposes s = 0.05", "search 1", "Recommended: 0.05"] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
}
