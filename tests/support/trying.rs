//! Experiments of a test's own: the journal of settings is in the test's directory, so that
//! tests side by side do not wait for each other.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and look at the clock"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{output, sonde};

/// A directory for an experiment and what belongs to it.
pub(crate) struct Bench {
    pub(crate) dir: PathBuf,
}

impl Bench {
    pub(crate) fn new(name: &str) -> Bench {
        Bench {
            dir: super::support::scratch(name),
        }
    }

    /// Where its experiment is.
    pub(crate) fn experiment(&self) -> PathBuf {
        self.dir.join("experiment")
    }

    /// `sonde try` with those words; a trial is recorded as cheaply as can be.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = sonde();
        command
            .current_dir(&self.dir)
            .env("SONDE_STATE", self.dir.join("state"))
            .arg("try")
            .args(words.iter().take_while(|w| **w != "--"))
            .args(words.contains(&"--").then_some("--record=--detail=samples"))
            .args(words.iter().skip_while(|w| **w != "--"));
        command
    }

    /// A new experiment, of which the result is answered; it must end with `status`.
    pub(crate) fn conduct(&self, words: &[&str], status: i32) -> Value {
        let (options, command) = split(words);
        let all = [
            &["--json", "-q", "-o", "experiment"],
            options,
            &["--"],
            command,
        ]
        .concat();
        let out = output(&mut self.command(&all));
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(status), "{words:?}: {said}");
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {said}"))
    }

    /// How many processes a second a script makes that starts `{n}` of them.
    pub(crate) fn scaled(&self, script: &str) -> Value {
        let mut words = vec!["--scale", "n=1,2,4", "--blocks", "2"];
        words.extend(["-m", "system.forks:higher", "--", "sh", "-c", script]);
        self.conduct(&words, 0)
    }

    /// What `show` says of the experiment.
    pub(crate) fn shown(&self) -> Value {
        let out = output(sonde().arg("show").arg(self.experiment()).arg("--json"));
        serde_json::from_slice(&out.stdout).expect("JSON")
    }

    /// What it must be refused for: status 2, and those words.
    pub(crate) fn refused(&self, words: &[&str], wanted: &str) {
        let out = output(&mut self.command(words));
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(wanted), "{words:?}: {said}");
    }

    /// Starts an experiment in the background.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("sonde runs")
    }

    /// Trials in that state, by the logbook.
    pub(crate) fn in_state(&self, state: &str) -> usize {
        let text = std::fs::read(self.experiment().join("experiment.json")).unwrap_or_default();
        let book: Value = serde_json::from_slice(&text).unwrap_or_default();
        let trials = book["trials"].as_array().cloned().unwrap_or_default();
        let is = |t: &&Value| t["stage"] == "block" && t["state"] == state;
        trials.iter().filter(is).count()
    }
}

fn split<'w>(words: &'w [&'w str]) -> (&'w [&'w str], &'w [&'w str]) {
    let at = words.iter().position(|w| *w == "--").expect("a command");
    (&words[..at], &words[at + 1..])
}

/// The contrast of an arm by the metric at `place`.
pub(crate) fn against<'r>(result: &'r Value, place: usize, arm: &str) -> &'r Value {
    let arms = result["metrics"][place]["arms"].as_array().expect("arms");
    let found = arms.iter().find(|a| a["arm"] == arm);
    &found.unwrap_or_else(|| panic!("no arm {arm}: {result}"))["against"]
}

/// Waits until `done`.
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{what} did not come"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The text of a file without its end of line.
pub(crate) fn file(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.trim().to_owned()
}
