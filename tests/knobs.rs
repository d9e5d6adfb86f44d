//! `sonde knobs`: every family is documented, what it prints is what the kernel has, and what
//! is asked wrongly is told.
#![allow(clippy::disallowed_methods, reason = "tests run programs")]

mod support;

use std::collections::HashSet;
use std::path::Path;

use lab::KNOBS;
use serde_json::Value;
use support::{Need, can_run, output, sonde, succeed};

/// `sonde knobs NAME... --json`.
fn knobs(names: &[&str]) -> Vec<Value> {
    let text = succeed(sonde().arg("knobs").args(names).arg("--json"));
    let list: Value = serde_json::from_str(&text).expect("JSON");
    list.as_array().expect("a list").clone()
}

#[test]
fn families_are_documented() {
    let mut prefixes = HashSet::new();
    for family in KNOBS {
        assert!(prefixes.insert(family.prefix), "{} twice", family.prefix);
        assert!(family.form.starts_with(family.prefix), "{}", family.form);
        assert!(family.link.starts_with("https://"), "{}", family.link);
        assert!(!family.fields.is_empty(), "{}", family.prefix);
        let mut names = HashSet::new();
        for field in family.fields {
            let name = format!("{} {}", family.prefix, field.name);
            assert!(names.insert(field.name), "{name} twice");
            for text in [field.about, family.about] {
                assert!(text.len() > 10 && !text.ends_with('.'), "{name}: {text}");
                let first = text.trim_start_matches('`').chars().next();
                let proper = first.is_some_and(|c| !c.is_lowercase() || text.starts_with('`'));
                assert!(proper, "{name}: {text}");
            }
        }
    }
    let page = include_str!("../docs/reference/knobs.md");
    for family in KNOBS {
        assert!(page.contains(&format!("\n## {}\n", family.prefix)));
    }
}

#[test]
fn the_list_fits_a_terminal() {
    for names in [
        &[][..],
        &["disk"],
        &["net:lo"],
        &["sysctl:vm"],
        &["cgroup:/"],
        &["thp:"],
    ] {
        let out = output(sonde().arg("knobs").args(names));
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        assert!(
            text.lines().count() > 2 || !out.status.success(),
            "{names:?}: {text}"
        );
        for line in text.lines() {
            // A name and a single word cannot be broken.
            let words = line.split_whitespace().count();
            let long = line.chars().count() > 80 && words > 2;
            assert!(!long, "{names:?}: {line}");
        }
    }
}

/// Each knob's value is what its file has, its own words among those allowed.
#[test]
fn values_are_the_kernels() {
    let mut looked = 0;
    for knob in knobs(&["sysctl:vm", "disk", "thp"]) {
        let name = knob["name"].as_str().expect("a name");
        let path = match name.split_once(':').expect("a family") {
            ("sysctl", rest) => Path::new("/proc/sys").join(rest.replace('.', "/")),
            ("disk", rest) => {
                let (disk, setting) = rest.split_once('.').expect("a setting");
                let queue = Path::new("/sys/block")
                    .join(disk)
                    .join("queue")
                    .join(setting);
                if queue.exists() { queue } else { continue }
            }
            (_, rest) => Path::new("/sys/kernel/mm/transparent_hugepage").join(rest),
        };
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let value = knob["value"].as_str().expect("a value");
        if text.contains('[') {
            assert!(
                text.contains(&format!("[{value}]")),
                "{name}: {value}, {text}"
            );
        } else {
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(
                value.split_whitespace().collect::<Vec<_>>(),
                words,
                "{name}"
            );
        }
        if let Some(allowed) = knob["allowed"].as_array() {
            assert!(allowed.contains(&knob["value"]), "{name}: {knob}");
        }
        looked += 1;
    }
    assert!(looked > 20, "{looked} knobs were looked at");
}

#[test]
fn what_is_asked_wrongly_is_told() {
    for (name, told) in [
        ("zork", "knobs do not begin with `zork`"),
        ("disk:nosuch.scheduler", "whole disks are"),
        ("sysctl:vm.nosuch", "/proc/sys/vm/nosuch"),
        ("sysctl:../../etc/passwd", "there is no"),
        ("sysctl:vm.drop_caches", "an action, not a setting"),
        ("net:nosuch.mtu", "interface nosuch"),
        ("module:nosuch.x", "/sys/module/nosuch"),
        ("module:../x.y", "none of its settings"),
        ("cgroup:/../../etc/passwd.x", "control group"),
        ("mount:/nosuch.x", "mounted file system"),
        ("mount:/.noatime", "mount:/.atime"),
        ("file:/etc/hostname", "--allow-file"),
        ("irq:x", "has a number"),
        ("disk:vda.scheduler\nx", "none of its settings"),
        ("cpufreq:../x.y", ""),
        ("smt:x", "none of its settings"),
    ] {
        let out = output(sonde().args(["knobs", name]));
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{name:?}: {said}");
        assert!(said.contains(told), "{name:?}: {said}");
        assert!(!said.contains("panicked"), "{name:?}: {said}");
    }
}

#[test]
fn without_root_it_is_said_what_may_be_set() {
    if !can_run(
        "knobs without root",
        &[Need::Root, Need::Program("setpriv")],
    ) {
        return;
    }
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(env!("CARGO_BIN_EXE_sonde"));
    let text = succeed(command.args(["knobs", "sysctl:vm.swappiness", "--json"]));
    let list: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(list[0]["settable"], false, "{list}");
    let refused = list[0]["refused"].as_str().expect("why");
    assert!(
        refused.contains("/proc/sys/vm/swappiness") && refused.contains("root"),
        "{refused}"
    );
    assert_eq!(knobs(&["sysctl:vm.swappiness"])[0]["settable"], true);
}
