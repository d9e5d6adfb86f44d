//! Whatever was imported, `show` tells something of it, and `get` without an expression lists what
//! the run has numbers of, as `get` with an expression answers.

#![allow(
    clippy::disallowed_methods,
    reason = "looks for the files that are imported"
)]

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{AtEnd, scratch, sonde};

/// One file of each format.
fn files() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/formats/fixtures");
    let dirs = std::fs::read_dir(all).expect("fixtures").flatten();
    let mut found: Vec<PathBuf> = dirs
        .filter_map(|dir| {
            let files = std::fs::read_dir(dir.path()).ok()?.flatten();
            let texts = files.map(|f| f.path());
            texts
                .filter(|p| p.extension().is_some_and(|e| e == "txt"))
                .min()
        })
        .collect();
    found.sort();
    found
}

/// Makes a run of the file; `None` if that is refused.
fn imported(file: &Path, run: &Path) -> Option<()> {
    let mut import = sonde();
    import.arg("import").arg(file).arg("-o").arg(run);
    import.args([
        "--start",
        "2020-01-01",
        "--every",
        "1s",
        "--date-order",
        "dmy",
    ]);
    import
        .output()
        .expect("sonde runs")
        .status
        .success()
        .then_some(())
}

fn told(arguments: &[&str], run: &Path, expressions: &[String]) -> String {
    let (command, flags) = arguments.split_first().expect("a command");
    let mut command_line = sonde();
    command_line
        .arg(command)
        .arg(run)
        .args(flags)
        .args(expressions);
    let output = command_line.output().expect("sonde runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{arguments:?} {}: {error}",
        run.display()
    );
    String::from_utf8(output.stdout).expect("text")
}

fn lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).expect("JSON");
    text.lines().map(line).collect()
}

/// Both are numbers and the same, or none is one.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

/// Compares what is listed of a run with what `get` answers; how many numbers there were.
fn compare(run: &Path) -> usize {
    let mut compared = 0;
    let listed = lines(&told(&["get", "--json"], run, &[]));
    assert!(!listed.is_empty(), "{}: nothing is listed", run.display());
    let statistic = |v: &Value| v["statistic"].as_str().expect("a name").to_owned();
    let ask = |v: &Value| match statistic(v).as_str() {
        // Its numbers have no sum.
        of @ "since_boot.value" => format!("{of} by statistic"),
        of => of.to_owned(),
    };
    let names: Vec<String> = listed.iter().map(ask).collect();
    let answers = lines(&told(&["get", "--json"], run, &names));
    for (one, answer) in listed.iter().zip(&answers) {
        let is_own = !["other.", "since_boot."]
            .iter()
            .any(|s| statistic(one).starts_with(s));
        if is_own {
            assert_eq!(one["unit"], answer["unit"], "{one}");
            assert_eq!(one["kind"], answer["kind"], "{one}");
        }
        // Where instances have no mean in common there is none.
        if !one["mean"].is_null() {
            let group = &answer["groups"][0];
            let kept = ["total", "mean", "min", "max"]
                .iter()
                .all(|f| same(&one[f], &group[f]));
            assert!(kept, "{}: {one} {group}", run.display());
            compared += 1;
        }
    }
    let by = |one: &Value| {
        let dimensions = one["by"].as_array().expect("a list").clone();
        let name = statistic(one);
        let split = |d: &Value| {
            let d = d.as_str().expect("a name");
            match name.split_once(" where ") {
                _ if name == "since_boot.value" && d != "statistic" => {
                    format!("{name} by statistic, {d}")
                }
                Some((of, tests)) => format!("{of} by {d} where {tests}"),
                None => format!("{name} by {d}"),
            }
        };
        dimensions.iter().map(split).collect::<Vec<_>>()
    };
    let split: Vec<String> = listed.iter().flat_map(by).collect();
    if !split.is_empty() {
        told(&["get", "--json"], run, &split);
    }
    compared
}

#[test]
fn what_is_listed_is_what_get_answers() {
    let dir = scratch("import-contents");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let (mut runs, mut compared) = (0, 0);
    for file in files() {
        let run = dir.join(format!("run{runs}"));
        if imported(&file, &run).is_none() {
            continue;
        }
        runs += 1;
        compared += compare(&run);
        std::fs::remove_dir_all(&run).expect("a run");
    }
    assert!(
        runs > 80 && compared > 800,
        "{runs} runs, {compared} numbers"
    );
}

/// What is in memory, and what is made of other devices, only counts where it is named.
#[test]
fn what_is_only_of_other_layers_is_listed() {
    let dir = scratch("import-layers");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    let report = "Device            r/s     w/s     rkB/s     wkB/s   r_await\n\
                  dm-0            10.00    5.00    100.00     50.00      2.00\n\
                  zram0           30.00    5.00    100.00     50.00      2.00\n\n";
    let file = dir.join("iostat.out");
    let head = "Linux 5.10.0 (box) \t11/28/2026 \t_x86_64_\t(2 CPU)\n\n";
    std::fs::write(&file, head.to_owned() + &report.repeat(3)).expect("a file");
    let run = dir.join("run");
    imported(&file, &run).expect("a run");
    assert_eq!(compare(&run), 6);
    let listed = told(&["get"], &run, &[]);
    for layer in ["stacked", "memory"] {
        let statistic = format!("disk.ios where layer = {layer}");
        assert!(listed.contains(&statistic), "{listed}");
    }
}

#[test]
fn the_screen_tells_something_of_every_format() {
    let dir = scratch("import-screens");
    let _clean = AtEnd(|| drop(std::fs::remove_dir_all(&dir)));
    for file in files() {
        let run = dir.join("run");
        if imported(&file, &run).is_none() {
            continue;
        }
        let screen = told(&["show"], &run, &[]);
        let blank = screen.find("\n\n").expect("a part below the head");
        let below = screen[blank..].trim();
        assert!(below.lines().count() > 1, "{}:\n{screen}", file.display());
        assert!(!screen.contains("\n\n\n"), "{}:\n{screen}", file.display());
        // Commands stand on one line, to be copied.
        let long = |l: &&str| l.chars().count() > 80 && !l.contains("sonde get");
        let wide: Vec<&str> = screen.lines().filter(long).collect();
        assert!(wide.is_empty(), "{}: {wide:#?}", file.display());
        std::fs::remove_dir_all(&run).expect("a run");
    }
}
