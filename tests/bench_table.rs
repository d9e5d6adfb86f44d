//! The table of the measurements (`bench/table.sh`): what misses its target, and what became
//! worse since the newest kept run of the same machine.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and write files"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of kept runs, gone with the value.
struct Kept(PathBuf);

impl Kept {
    fn new(name: &str) -> Kept {
        let name = format!("sonde-table-{}-{name}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir(&dir).expect("a directory");
        Kept(dir)
    }

    /// Adds a run: a name, its machine's processor, the hour it was made, lines of name, value, target.
    fn add(&self, name: &str, processor: &str, hour: u32, results: &[[&str; 3]]) -> PathBuf {
        let dir = self.0.join(name);
        std::fs::create_dir(&dir).expect("a directory");
        let machine = format!("date: 2026-01-01T{hour:02}:00:00Z\nprocessor: {processor}\n");
        std::fs::write(dir.join("machine.txt"), machine).expect("a file");
        let lines = results
            .iter()
            .map(|[n, v, t]| format!("{n}\tms\t{v}\t{t}\n"));
        std::fs::write(dir.join("results.tsv"), lines.collect::<String>()).expect("a file");
        dir
    }

    /// The table of a run, and whether it met its targets.
    fn table(&self, run: &Path) -> (String, bool) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/table.sh");
        let out = Command::new(script).arg(run).arg(&self.0).output();
        let out = out.expect("the script starts");
        assert!(out.stderr.is_empty(), "{out:?}");
        let text = String::from_utf8(out.stdout).expect("text");
        (text, out.status.success())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The words of a line of the table.
fn line<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = text.lines().map(|l| l.split_whitespace().collect());
    let mut found = lines.filter(|words: &Vec<&str>| words.first() == Some(&name));
    found
        .next_back()
        .unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[test]
fn each_kind_of_target_can_be_missed() {
    for (value, target, good) in [
        ("6", "<= 6", true),
        ("6.1", "<= 6", false),
        ("500", ">= 500", true),
        ("0", ">= 500", false),
        ("-2.9", "within 3", true),
        ("-3.1", "within 3", false),
        ("3.1", "within 3", false),
        // What could not be measured is not below a limit.
        ("", "<= 6", false),
        ("nan", "<= 6", false),
        ("-nan", "within 3", false),
        ("1e-3", "<= 6", true),
        ("6", "about 6", false),
        ("7", "-", true),
    ] {
        let kept = Kept::new("targets");
        let run = kept.add(
            "now",
            "A",
            1,
            &[["a.fine", "1", "<= 1"], ["b.one", value, target]],
        );
        let (text, met) = kept.table(&run);
        assert_eq!(met, good, "{value} {target}: {text}");
        assert_eq!(text.contains("MISSED"), !good, "{value} {target}: {text}");
        assert!(line(&text, "a.fine").contains(&"met"), "{text}");
    }
}

#[test]
fn what_became_worse_is_told_beside_the_newest_of_the_same_machine() {
    let kept = Kept::new("worse");
    let of = |time, rate| {
        [
            ["a.time", time, "<= 100"],
            ["b.rate", rate, ">= 1"],
            ["c.told", time, "-"],
        ]
    };
    // By their dates: `dev10` comes before `dev9` in a list of names.
    kept.add("dev9", "A", 9, &of("50", "50"));
    kept.add("dev10", "A", 10, &of("10", "10"));
    kept.add("other", "B", 11, &of("1", "1"));
    for (name, time, rate, worse) in [
        ("same", "12", "9", vec![]),
        ("slower", "13", "10", vec!["a.time"]),
        ("less", "10", "7", vec!["b.rate"]),
        ("better", "1", "90", vec![]),
    ] {
        let run = kept.add(name, "A", 12, &of(time, rate));
        let (text, met) = kept.table(&run);
        assert!(met, "worse is told, and misses nothing: {text}");
        let told = text.lines().filter_map(|l| l.strip_prefix("WORSE "));
        let told: Vec<&str> = told.map(|l| l.split(':').next().unwrap_or(l)).collect();
        assert_eq!(told, worse, "{name}: {text}");
        let ratio = format!("{:.2}", time.parse::<f64>().expect("a number") / 10.0);
        assert!(line(&text, "c.told").contains(&ratio.as_str()), "{text}");
        assert!(worse.is_empty() || text.contains("10 in dev10"), "{text}");
        std::fs::remove_dir_all(run).expect("gone");
    }
    // What the newest did not measure is beside an older one; what nobody did has nothing beside it.
    kept.add("part", "A", 11, &[["a.time", "10", "<= 100"]]);
    let run = kept.add(
        "now",
        "A",
        12,
        &[["b.rate", "5", ">= 1"], ["d.new", "5", "<= 9"]],
    );
    let (text, _) = kept.table(&run);
    assert!(line(&text, "b.rate").contains(&"0.50"), "{text}");
    assert_eq!(line(&text, "d.new"), ["d.new", "5", "<=", "9", "met", "ms"]);
}

/// Examples that the scripts run, by `--example`, by path, or by `parsed` of bench/import.sh.
fn examples_of(script: &str) -> Vec<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = |rest: &'_ str| rest.find(|c| !plain(c)).unwrap_or(rest.len());
    let behind = ["--example ", "release/examples/", "$(parsed "];
    let found = behind.iter().flat_map(|mark| script.split(mark).skip(1));
    found
        .map(|rest| &rest[..name(rest)])
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn what_measurements_run_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = |dir: &Path| std::fs::read_dir(dir).expect("a folder").flatten();
    let mut homes = vec![root.join("examples")];
    homes.extend(folder(&root.join("crates")).map(|c| c.path().join("examples")));
    let is_there = |name: &str| {
        let forms = [format!("{name}.rs"), format!("{name}/main.rs")];
        homes
            .iter()
            .any(|home| forms.iter().any(|form| home.join(form).is_file()))
    };
    let mut seen = 0;
    for script in
        folder(&root.join("bench")).filter(|f| f.path().extension().is_some_and(|e| e == "sh"))
    {
        let text = std::fs::read_to_string(script.path()).expect("a script");
        for example in examples_of(&text) {
            seen += 1;
            assert!(is_there(example), "{}: {example}", script.path().display());
        }
    }
    assert!(seen >= 6, "{seen}");
}
