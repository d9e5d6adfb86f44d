//! The recorded command lives as if it were not recorded: status, output, terminal, signals.
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs, write files and look at the clock"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use recorder::{Recorder, ending, manifest, sleep, wait};
use rustix::process::{Signal, kill_process_group};
use support::{Need, can_run, output, scratch, sonde, total};

/// `sonde record -q -o run -- COMMAND`.
fn record(run: &Path, command: &[&str]) -> Command {
    let mut record = sonde();
    record.args(["record", "-q", "-o"]).arg(run);
    record.arg("--").args(command);
    record
}

fn shell(run: &Path, script: &str) -> Output {
    output(&mut record(run, &["sh", "-c", script]))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn its_status_passes() {
    let dir = scratch("status");
    for (script, status, end) in [
        ("exit 0", 0, "ok"),
        ("exit 3", 3, "exit 3"),
        ("exit 255", 255, "exit 255"),
        ("kill -TERM $$", 143, "signal 15"),
        ("kill -KILL $$", 137, "signal 9"),
        ("kill -SEGV $$", 139, "signal 11"),
    ] {
        let run = dir.join(script.replace(' ', "_"));
        let out = shell(&run, script);
        assert_eq!(out.status.code(), Some(status), "{script}");
        assert_eq!(ending(&run), end, "{script}");
    }
}

#[test]
fn a_command_that_cannot_start_leaves_nothing() {
    let dir = scratch("no-command");
    let plain = dir.join("plain");
    fs::write(&plain, "text").unwrap();
    let plain = plain.to_str().unwrap();
    for (command, status, says) in [
        ("no-such-command-at-all", 127, "there is no such command"),
        ("/no/such/path", 127, "there is no such command"),
        (plain, 126, "may not be executed"),
        ("/", 126, "may not be executed"),
    ] {
        for _ in 0..3 {
            let out = output(&mut record(&dir.join("new/deep/run"), &[command]));
            let said = text(&out.stderr);
            assert_eq!(out.status.code(), Some(status), "{command}: {said}");
            assert!(
                said.contains(says) && said.lines().count() == 1,
                "{command}: {said}"
            );
            assert!(out.stdout.is_empty());
            let left: Vec<_> = fs::read_dir(&dir)
                .unwrap()
                .flatten()
                .map(|e| e.path())
                .collect();
            assert_eq!(left, [PathBuf::from(plain)], "{command}");
        }
    }
}

#[test]
fn its_output_is_kept_to_the_byte() {
    let run = scratch("bytes").join("run");
    // Every byte there is, 10 MB of it, and stderr apart.
    let block: Vec<u8> = (0..=255).collect();
    let all = block.repeat(40_000);
    let input = run.with_file_name("input");
    fs::write(&input, &all).unwrap();
    let script = format!("cat '{}'; printf 'a\\0b' >&2", input.display());
    let out = shell(&run, &script);
    assert!(out.status.success());
    assert!(
        out.stdout == all,
        "{} of {} bytes",
        out.stdout.len(),
        all.len()
    );
    assert_eq!(out.stderr, b"a\0b");
    assert!(fs::read(run.join("stdout")).unwrap() == all);
    assert_eq!(fs::read(run.join("stderr")).unwrap(), b"a\0b");
}

#[test]
fn its_output_is_live() {
    let run = scratch("live-output").join("run");
    let mut command = record(&run, &["sh", "-c", "echo now; read line; echo $line"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 4];
    let mut stdout = child.stdout.take().unwrap();
    // It has not ended: it waits for this.
    stdout.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"now\n");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"what was typed\n")
        .unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "what was typed\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_goes_ends_it() {
    let run = scratch("reader").join("run");
    let mut command = record(&run, &["yes"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    // `yes` gets SIGPIPE, as it would alone.
    assert_eq!(child.wait().unwrap().code(), Some(141));
    assert_eq!(ending(&run), "signal 13");
}

#[test]
fn what_it_leaves_in_the_background_holds_nothing_up() {
    let dir = scratch("background");
    for (name, script) in [
        ("silent", "sleep 30 & echo $! >\"$P\"; echo done; exit 5"),
        (
            "talking",
            "(sleep 0.2; exec yes) & echo $! >\"$P\"; sleep 0.4; exit 5",
        ),
        ("elsewhere", "yes >&2 & echo $! >\"$P\"; echo done; exit 5"),
    ] {
        let pid = dir.join(format!("{name}.pid"));
        let from = Instant::now();
        let mut command = record(&dir.join(name), &["sh", "-c", script]);
        command
            .env("P", &pid)
            .stdout(Stdio::null())
            .stderr(fs::File::create(dir.join("told")).unwrap());
        let status = command.status().unwrap();
        let told = fs::read_to_string(dir.join("told")).unwrap();
        assert!(told.contains("left in the background"), "{name}: {told}");
        let took = from.elapsed().as_secs_f64();
        let left = fs::read_to_string(&pid).unwrap();
        let _ = Command::new("kill")
            .arg(left.trim())
            .stderr(Stdio::null())
            .status();
        assert_eq!(status.code(), Some(5), "{name}");
        assert!(took < 5.0, "{name}: {took} s");
    }
}

#[test]
fn it_goes_on_after_the_time_to_record() {
    let run = scratch("for").join("run");
    let mut command = sonde();
    command
        .args(["record", "--every", "50ms", "--for", "300ms", "-o"])
        .arg(&run);
    command.args(["--", "sh", "-c", "sleep 1; echo late; exit 8"]);
    let from = Instant::now();
    let out = output(&mut command);
    assert!(from.elapsed().as_secs_f64() >= 1.0);
    assert_eq!(out.status.code(), Some(8));
    assert_eq!(text(&out.stdout), "late\n");
    assert!(text(&out.stderr).contains("the command goes on"));
    assert_eq!(fs::read_to_string(run.join("stdout")).unwrap(), "late\n");
    let last = recorder::series(&run, "self.samples").last().unwrap().at;
    assert!((0.3..0.9).contains(&last), "recorded until {last}");
}

#[test]
fn sigterm_is_passed_on() {
    let run = scratch("term").join("run");
    let script = "trap 'echo got it; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let arguments = ["-q", "--every", "50ms", "--", "sh", "-c", script];
    let recorder = Recorder::start(&run, &arguments);
    wait("the command", || {
        fs::metadata(run.join("stdout")).is_ok_and(|m| m.len() > 0)
    });
    recorder.signal(Signal::TERM);
    assert_eq!(recorder.end().0.code(), Some(9));
    assert_eq!(
        fs::read_to_string(run.join("stdout")).unwrap(),
        "ready\ngot it\n"
    );
    assert_eq!(ending(&run), "exit 9");
}

#[test]
fn an_interrupted_recording_is_sealed() {
    // SIGINT to the whole group, as the terminal sends it.
    let dir = scratch("interrupt");
    for (name, command, status, end) in [
        ("command", &["--", "sleep", "30"][..], 130, "signal 2"),
        ("alone", &[][..], 0, "ok"),
    ] {
        let run = dir.join(name);
        let mut record = sonde();
        record
            .args(["record", "-q", "--every", "50ms", "-o"])
            .arg(&run)
            .args(command);
        let mut child = std::os::unix::process::CommandExt::process_group(&mut record, 0)
            .spawn()
            .unwrap();
        wait("samples", || {
            fs::metadata(run.join("journal")).is_ok_and(|m| m.len() > 0)
        });
        sleep(0.2);
        kill_process_group(rustix::process::Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{name}");
        assert_eq!(ending(&run), end, "{name}");
        assert!(total(&run, "self.samples") > 2.0, "{name}");
    }
}

#[test]
fn a_signal_that_was_ignored_stays_so() {
    let run = scratch("nohup").join("run");
    // As under nohup: SIGHUP is ignored before the recorder starts.
    let script = "trap '' HUP; exec \"$S\" record -q --every 50ms -o \"$R\" -- sleep 1";
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env("S", env!("CARGO_BIN_EXE_sonde"))
        .env("R", &run);
    let mut child = command.spawn().unwrap();
    wait("samples", || {
        fs::metadata(run.join("journal")).is_ok_and(|m| m.len() > 0)
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::HUP).unwrap();
    assert_eq!(
        child.wait().unwrap().code(),
        Some(0),
        "SIGHUP reached the command"
    );
}

#[test]
fn a_shared_output_that_does_not_block_loses_nothing() {
    if !can_run("a non-blocking pipe", &[Need::Program("python3")]) {
        return;
    }
    let run = scratch("nonblock").join("run");
    let program = r"
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
p = subprocess.Popen(sys.argv[1:], stdout=w)
os.close(w)
time.sleep(0.3)
n = 0
while True:
    b = os.read(r, 65536)
    if not b: break
    n += len(b)
print(n, p.wait())
";
    let mut python = Command::new("python3");
    python.args([
        "-c",
        program,
        env!("CARGO_BIN_EXE_sonde"),
        "record",
        "-q",
        "-o",
    ]);
    python
        .arg(&run)
        .args(["--", "head", "-c", "3000000", "/dev/zero"]);
    assert_eq!(support::succeed(&mut python), "3000000 0\n");
}

/// Runs `arguments` of sonde on a pseudo-terminal of 40 rows and 100 columns; what came out,
/// and the status. After `keys` are typed, if any, once `after` was seen.
fn on_a_terminal(arguments: &[&str], after: &str, keys: &str) -> (String, i32) {
    let program = r"
import fcntl, os, pty, struct, sys, termios
after, keys = sys.argv[1].encode(), sys.argv[2].encode()
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[3], sys.argv[3:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
out, typed = b'', False
while True:
    try: b = os.read(fd, 65536)
    except OSError: break
    if not b: break
    out += b
    if keys and not typed and after in out:
        os.write(fd, keys); typed = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(out + b'\n%d' % status)
";
    let mut python = Command::new("python3");
    python.args(["-c", program, after, keys, env!("CARGO_BIN_EXE_sonde")]);
    let out = output(python.args(arguments).env_remove("SONDE_RUN"));
    let all = text(&out.stdout);
    let (shown, status) = all.rsplit_once('\n').expect("a status");
    (shown.to_owned(), status.parse().expect("a status"))
}

#[test]
fn it_keeps_its_terminal() {
    if !can_run("a terminal", &[Need::Program("python3")]) {
        return;
    }
    let run = scratch("terminal").join("run");
    let path = run.to_str().unwrap();
    // The window gets its size after the start: wait until it has.
    let script = "test -t 0 && test -t 1 && test -t 2 && echo terminals; \
                  while [ \"$(stty size)\" = '0 0' ]; do sleep 0.05; done; sleep 0.2; \
                  stty size <&1; stty size; exit 4";
    let arguments = ["record", "-q", "-o", path, "--", "sh", "-c", script];
    let (shown, status) = on_a_terminal(&arguments, "", "");
    assert_eq!(status, 4, "{shown}");
    assert_eq!(shown, "terminals\r\n40 100\r\n40 100\r\n");
    // What is kept is what it wrote, before the terminal made two characters of a newline.
    let kept = fs::read_to_string(run.join("stdout")).unwrap();
    assert_eq!(kept, "terminals\n40 100\n40 100\n");
}

#[test]
fn control_c_ends_it_and_the_run_is_sealed() {
    if !can_run("a terminal", &[Need::Program("python3")]) {
        return;
    }
    let run = scratch("control-c").join("run");
    let path = run.to_str().unwrap();
    let script = "trap 'echo cleaned up; exit 11' INT; echo ready; while :; do sleep 0.05; done";
    let arguments = [
        "record", "--every", "50ms", "-o", path, "--", "sh", "-c", script,
    ];
    let (shown, status) = on_a_terminal(&arguments, "ready", "\x03");
    assert_eq!(status, 11, "{shown}");
    assert!(shown.contains("cleaned up"), "{shown}");
    assert_eq!(ending(&run), "exit 11");
}

#[test]
fn the_line_of_progress_is_gone_before_output() {
    if !can_run("a terminal", &[Need::Program("python3")]) {
        return;
    }
    let run = scratch("progress").join("run");
    let path = run.to_str().unwrap();
    let script = "for i in 1 2 3 4; do sleep 0.6; echo line $i; done";
    let arguments = [
        "record", "--every", "100ms", "-o", path, "--", "sh", "-c", script,
    ];
    let (shown, status) = on_a_terminal(&arguments, "", "");
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("samples"), "no progress: {shown:?}");
    for i in 1..=4 {
        assert!(
            shown.contains(&format!("\r\x1b[Kline {i}\r\n")),
            "{shown:?}"
        );
    }
}

#[test]
fn marks_name_phases_and_say_what_is_wrong() {
    let dir = scratch("marks");
    let mark = |name: &str, run: Option<&Path>| {
        let mut mark = sonde();
        mark.args(["mark", name]);
        if let Some(run) = run {
            mark.env("SONDE_RUN", run);
        }
        let out = output(&mut mark);
        (out.status.code(), text(&out.stderr))
    };
    let long = "x".repeat(201);
    let gone = dir.join("gone");
    let cases: [(&str, Option<&Path>, &str); 5] = [
        ("steady", None, "no recording here"),
        ("", None, "1 to 200 bytes"),
        (" ", None, "1 to 200 bytes"),
        (&long, None, "1 to 200 bytes"),
        ("steady", Some(&gone), "does not answer"),
    ];
    for (name, run, says) in cases {
        let (status, said) = mark(name, run);
        assert_eq!(status, Some(2), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
    }
    // The recorder was killed: its socket is still there, and nobody behind it.
    let run = dir.join("killed");
    let recorder = Recorder::start(&run, &["-q", "--every", "50ms", "--for", "1m"]);
    assert_eq!(mark("live", Some(&run)).0, Some(0));
    recorder.kill();
    let (status, said) = mark("steady", Some(&run));
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("does not answer"), "{said}");
}

#[test]
fn a_hundred_marks_are_a_hundred_phases() {
    let run = scratch("hundred").join("run");
    let script = "for i in $(seq 100); do \"$S\" mark p$i || exit 1; done";
    let mut command = record(&run, &["sh", "-c", script]);
    let out = output(command.env("S", env!("CARGO_BIN_EXE_sonde")));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let phases = manifest(&run)["phases"].clone();
    let names: Vec<&str> = phases
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    let wanted: Vec<String> = (1..=100).map(|i| format!("p{i}")).collect();
    assert_eq!(names, wanted);
    // No interval is in two phases: the parts add up to the whole.
    let answer = support::get(&run, "cpu.time by phase");
    let parts: f64 = answer["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["total"].as_f64().unwrap())
        .sum();
    let whole = total(&run, "cpu.time");
    assert!(
        (parts - whole).abs() < 1e-9 * whole.max(1.0),
        "{parts} of {whole}"
    );
    let in_one = support::get(&run, "self.samples where phase = p50");
    assert_eq!(in_one["groups"][0]["total"].as_f64(), Some(1.0), "{in_one}");
    let shown = text(&output(sonde().arg("show").arg(&run)).stdout);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("p24 from"), "{shown}");
    assert!(
        !shown.contains("p25 from") && shown.contains("and 76 more"),
        "{shown}"
    );
}
