//! Names with anything in them: text stays on its line, JSON and CSV stay what they are, and
//! every name can be asked for.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use recorder::{ending, manifest};
use support::{AtEnd, LoopDevice, Need, can_run, get, output, scratch, sonde, succeed};
use truth::group::Own;

/// Names of at most 15 bytes (the kernel keeps no more of a process's name).
const NAMES: [&str; 10] = [
    "two words",
    "a:b,c;d",
    "say \"hi\" 'x'",
    "über-größe",
    "line\nbreak",
    "\x1b[31mred\x07",
    "tab\tcr\r",
    "a)b (c) R 1",
    "\u{202e}back",
    "=1+1",
];

/// A value of an expression, in quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name as it is recorded: what does not print is escaped.
fn escaped(name: &str) -> String {
    let unsafe_char = |c: char| c.is_control() || c == '\u{202e}';
    name.chars()
        .map(|c| {
            if unsafe_char(c) {
                c.escape_default().to_string()
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// No character that draws on a terminal or leaves its line.
fn is_clean(text: &str) -> bool {
    !text
        .chars()
        .any(|c| (c != '\n' && c.is_control()) || ('\u{2028}'..='\u{202e}').contains(&c))
}

/// The first fields of the rows of a CSV text, as Python's reader has them.
fn first_fields(csv: &str) -> Vec<String> {
    let program = "import csv,io,json,sys\n\
                   text=io.TextIOWrapper(sys.stdin.buffer,encoding='utf-8',newline='')\n\
                   rows=list(csv.reader(text,strict=True))\n\
                   assert len({len(r) for r in rows})==1, rows\n\
                   print(json.dumps([r[0] for r in rows[1:]]))";
    let mut python = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, csv.as_bytes()).unwrap();
    drop(stdin);
    let out = python.wait_with_output().unwrap();
    assert!(out.status.success(), "{csv}");
    serde_json::from_slice(&out.stdout).unwrap()
}

/// All ways to ask about `subject` of `run`: clean text, and in JSON, CSV and by `where`
/// exactly the `wanted` names.
fn check(run: &Path, statistic: &str, dimension: &str, is: impl Fn(&str, &str) -> bool) {
    let by = format!("{statistic} by {dimension}");
    for extra in [&[][..], &["--series"]] {
        let text = succeed(sonde().arg("get").arg(run).arg(&by).args(extra));
        assert!(is_clean(&text), "{text:?}");
    }
    let screen = succeed(sonde().arg("show").arg(run));
    assert!(is_clean(&screen), "{screen:?}");
    let answer = get(run, &by);
    let keys: Vec<String> = answer["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["key"][dimension].as_str().unwrap().to_owned())
        .collect();
    let csv = succeed(sonde().arg("get").arg(run).args([&by, "--csv"]));
    assert_eq!(first_fields(&csv), keys, "{csv}");
    for name in NAMES {
        let found: Vec<&String> = keys.iter().filter(|k| is(k, name)).collect();
        assert_eq!(found.len(), 1, "{name:?} in {keys:?}");
        let expression = format!("{by} where {dimension} = {}", quoted(found[0]));
        let one = get(run, &expression);
        assert_eq!(one["groups"].as_array().unwrap().len(), 1, "{one}");
        assert_eq!(one["groups"][0]["key"][dimension], found[0].as_str());
        let same = answer["groups"]
            .as_array()
            .unwrap()
            .iter()
            .find(|g| g["key"][dimension] == found[0].as_str());
        assert_eq!(one["groups"][0]["total"], same.unwrap()["total"]);
        let text = output(sonde().arg("get").arg(run).arg(&expression)).stdout;
        assert!(is_clean(&String::from_utf8(text).unwrap()));
    }
}

#[test]
fn processes() {
    if !can_run("process names", &[Need::Program("python3")]) {
        return;
    }
    let dir = scratch("process-names");
    // Each names itself, and works long enough to be among the busiest.
    let program = "import json,os,sys,time\n\
                   for name in json.loads(sys.argv[1]):\n\
                   \x20 if os.fork()==0:\n\
                   \x20  open('/proc/self/comm','w').write(name)\n\
                   \x20  t=time.process_time()\n\
                   \x20  while time.process_time()-t<0.2: pass\n\
                   \x20  time.sleep(60)\n\
                   time.sleep(60)";
    let names = serde_json::to_string(&NAMES).unwrap();
    let run = dir.join("run");
    let mut record = sonde();
    record.args([
        "record", "-q", "--every", "200ms", "--top", "50", "--for", "4s", "-o",
    ]);
    record
        .arg(&run)
        .args(["--", "timeout", "5", "python3", "-c", program, &names]);
    let mut group = std::os::unix::process::CommandExt::process_group(&mut record, 0)
        .spawn()
        .unwrap();
    let pid = rustix::process::Pid::from_child(&group);
    let _end = AtEnd(move || {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    });
    group.wait().unwrap();
    // `name[pid@start]`.
    check(&run, "process.time", "process", |key, name| {
        key.rsplit_once('[')
            .is_some_and(|(comm, _)| comm == escaped(name))
    });
}

#[test]
fn control_groups() {
    if !can_run("names of groups", &[Need::Program("python3")]) {
        return;
    }
    let Some(parent) = Own::needed("names") else {
        return;
    };
    // A group's name has no newline: the kernel refuses it.
    for name in NAMES {
        fs::create_dir(parent.dir.join(name.replace('\n', "_"))).unwrap();
    }
    let run = scratch("group-names").join("run");
    // Each group has something to do.
    let script = "for g in \"$P\"/*/; do sh -c 'echo $$ >\"$0/cgroup.procs\"; i=0; \
                  while [ $i -lt 30000 ]; do i=$((i+1)); done' \"$g\"; done; sleep 0.2";
    let mut record = sonde();
    record
        .args(["record", "-q", "--every", "100ms", "-o"])
        .arg(&run);
    record
        .args(["--", "sh", "-c", script])
        .env("P", &parent.dir);
    succeed(&mut record);
    check(&run, "cgroup.time", "cgroup", |key, name| {
        key.rsplit_once('/')
            .is_some_and(|(_, last)| last == escaped(&name.replace('\n', "_")))
    });
}

#[test]
fn what_the_user_names() {
    let top = scratch("user-names");
    let long = "ü".repeat(100);
    for (place, name) in NAMES.into_iter().chain([long.as_str()]).enumerate() {
        // Longer than a socket's path may be.
        let deep = top.join(format!("{place}{}", "d".repeat(120)));
        let run = deep.join(name);
        let note = format!("key={name}");
        let mut record = sonde();
        record.args([
            "record", "--every", "50ms", "--name", name, "--note", &note, "-o",
        ]);
        record
            .arg(&run)
            .args(["--", "sh", "-c", "\"$S\" mark \"$N\"; sleep 0.1", name]);
        record.env("S", env!("CARGO_BIN_EXE_sonde")).env("N", name);
        let out = output(&mut record);
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.success(), "{name:?}: {said}");
        assert!(is_clean(&said), "{said:?}");
        let kept = manifest(&run);
        assert_eq!(kept["name"], name);
        assert_eq!(kept["notes"]["key"], name);
        assert_eq!(kept["phases"][0]["name"], name.trim(), "{name:?}");
        assert_eq!(ending(&run), "ok");
        let screen = succeed(sonde().arg("show").arg(&run));
        assert!(is_clean(&screen), "{screen:?}");
        assert!(
            screen
                .lines()
                .all(|l| l.chars().count() <= 80 || name.len() > 80),
            "{screen}"
        );
        let list = succeed(sonde().arg("list").arg(&deep));
        assert!(is_clean(&list) && list.lines().count() == 2, "{list:?}");
        let in_phase = format!("self.samples where phase = {}", quoted(name.trim()));
        assert!(support::total(&run, &in_phase) >= 1.0, "{name:?}");
        // What is said about it when it is damaged stays on its line, too.
        fs::remove_file(run.join("self.parquet")).unwrap();
        let out = output(sonde().arg("get").arg(&run).arg("self.samples"));
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.code() == Some(2) && is_clean(&said), "{said:?}");
        assert_eq!(said.lines().count(), 2, "{said}");
    }
}

#[test]
fn words_on_the_command_line() {
    let dir = scratch("argument-names");
    let run = dir.join("run");
    let mut record = sonde();
    record
        .args(["record", "-q", "--every", "50ms", "--for", "100ms", "-o"])
        .arg(&run);
    succeed(&mut record);
    for name in NAMES {
        for arguments in [
            &["get", "run", name][..],
            &["get", "run", &format!("cpu.time by {name}")],
            &[
                "get",
                "run",
                &format!("cpu.time where cpu ~ {}", quoted(&format!("[{name}"))),
            ],
            &[
                "get",
                "run",
                &format!("cpu.time where time > {}", quoted(name)),
            ],
            &["get", name, "cpu.time"],
            &["show", name],
            &["list", name],
            &["catalog", name],
            &["record", "--every", name],
            &["record", "--sources", name],
            &["record", "--note", name],
            &["record", "--", name],
            &[name],
        ] {
            let out = output(sonde().args(arguments).current_dir(&dir));
            let said = String::from_utf8(out.stderr).unwrap();
            let status = out.status.code().unwrap();
            assert!(
                status == 2 || status == 127,
                "{arguments:?}: {status} {said}"
            );
            assert!(is_clean(&said), "{arguments:?}: {said:?}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "something was left");
}

#[test]
fn what_backs_a_device() {
    if !can_run("a device's file", &[Need::Root, Need::Program("losetup")]) {
        return;
    }
    for name in [
        "two words",
        "a:b,c",
        "say \"hi\"",
        "line\nbreak",
        "\x1b[31mred",
    ] {
        let device = LoopDevice::new(name, 1 << 20);
        let run = scratch("backing").join("run");
        let mut record = sonde();
        record
            .args(["record", "-q", "--every", "50ms", "--for", "300ms", "-o"])
            .arg(&run);
        succeed(&mut record);
        let text = fs::read(run.join("inventory.json")).unwrap();
        let inventory: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert!(inventory.to_string().contains(&device.name()), "{name:?}");
        let screen = succeed(sonde().arg("show").arg(&run));
        assert!(is_clean(&screen), "{screen:?}");
    }
}

/// The kernel tells mounts up to one for which there is no room: what is told at once may be short, and
/// more may follow.
#[test]
fn mounts_behind_long_names() {
    let needs = [Need::Root, Need::Program("unshare"), Need::Program("mount")];
    if !can_run("mounts_behind_long_names", &needs) {
        return;
    }
    let at = scratch("long-mounts");
    let run = at.join("run");
    // Short and nearly as long as a page by turns, so that a short one is alone with its page.
    let script = "long=$(printf '/%0250d' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
        for n in 1 2 3; do
            mkdir -p $PWD/$n/short $PWD/$n$long
            mount -t tmpfs -o size=1G short $PWD/$n/short
            mount -t tmpfs -o size=1G long $PWD/$n$long
        done
        exec \"$@\"";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-ec", script, "sh"]);
    unshare.arg(env!("CARGO_BIN_EXE_sonde")).current_dir(&at);
    unshare.args(["record", "-q", "--sources=filesystem", "-o"]);
    unshare.arg(&run).args(["--", "true"]);
    succeed(unshare.env_remove("SONDE_RUN"));
    let answer = get(&run, "filesystem.size by mount");
    let sizes = answer["groups"].as_array().expect("a list");
    let ours = sizes.iter().filter(|g| {
        let mount = g["key"]["mount"].as_str().expect("a name");
        mount.starts_with(&at.display().to_string())
    });
    assert_eq!(ours.count(), 6, "{answer}");
}
