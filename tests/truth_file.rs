//! Operations on files against who did them: the test itself, which counts its own calls and
//! looks at its own clock, and fio.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and read clocks"
)]

#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use recorder::{Recorder, manifest};
use rustix::process::Signal;
use serde_json::Value;
use sources::{Detail, Host, Look, SOURCES};
use support::{AtEnd, Need, can_run, get, output, scratch, sonde, succeed, total};
use truth::{Totals, record_script_with, same};

const SEEN: [&str; 3] = [
    "--with=file",
    "--sources=bpf-file",
    "--detail=distributions",
];
/// Everything has a name of its own.
const ALL_NAMED: [&str; 4] = [SEEN[0], SEEN[1], SEEN[2], "--top=1000"];

/// A file system in memory that nobody else uses, below `dir`.
struct Own {
    point: PathBuf,
}

impl Own {
    fn new(dir: &Path) -> Own {
        let point = dir.join("own");
        std::fs::create_dir(&point).expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64m", "sonde-test"]);
        succeed(mount.arg(&point));
        Own { point }
    }

    /// `where filesystem = …`.
    fn only(&self) -> String {
        format!("where filesystem = \"{}\"", self.point.display())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        output(Command::new("umount").arg("--lazy").arg(&self.point));
    }
}

/// Whether the test can run: function `f` with a directory of its own and a file system there.
fn with_own(name: &str, f: impl FnOnce(&Path, &Own)) {
    if let Some(_alone) = alone(name) {
        let dir = scratch(name);
        f(&dir, &Own::new(&dir));
    }
}

/// One test at a time: a recorder sees the files of all, and has places for so many only.
fn alone(name: &str) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let needs = [Need::Root, Need::Path("/sys/kernel/btf/vmlinux")];
    can_run(name, &needs).then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records while `work` runs in this process.
fn observe(dir: &Path, work: impl FnOnce()) -> PathBuf {
    observe_with(dir, &["--every=100ms", "--top=1000"], work)
}

fn observe_with(dir: &Path, options: &[&str], work: impl FnOnce()) -> PathBuf {
    let run = dir.join("run");
    let recorder = Recorder::start(&run, &[&SEEN[..], options].concat());
    work();
    recorder.signal(Signal::INT);
    let (status, said) = recorder.end();
    assert!(status.success(), "{said}");
    run
}

/// The calls of each operation on one file.
fn ops(run: &Path, file: &Path) -> Totals {
    let file = file.display();
    Totals::of(run, &format!("file.ops by op where file = \"{file}\""))
}

/// Words of the groups of an expression, with their totals.
fn groups(run: &Path, expression: &str) -> Vec<(String, f64)> {
    let answer = get(run, expression);
    let groups = answer["groups"].as_array().expect("groups").iter();
    groups
        .map(|g| {
            let key = g["key"].as_object().expect("a key");
            let word = key.values().next().and_then(Value::as_str);
            let total = g["total"].as_f64().expect("a total");
            (word.expect("a word").to_owned(), total)
        })
        .collect()
}

/// Every table says the same of a file system that nobody else uses.
fn tables_agree(run: &Path, own: &Own) {
    let only = own.only();
    for op in ["open", "close", "read", "write"] {
        let only = format!("{only} and op = {op}");
        for measure in ["ops", "bytes"] {
            let whole: f64 = total(run, &format!("file.{measure} {only}"));
            for by in ["latency", "size"] {
                if by == "size" && ["open", "close"].contains(&op) {
                    continue;
                }
                let parts = get(run, &format!("file.{measure} by {by} {only}"));
                let parts = parts["groups"].as_array().expect("groups").iter();
                let sum: f64 = parts.map(|g| g["total"].as_f64().expect("a total")).sum();
                same(&format!("{measure} of {op} by {by}"), sum, whole);
            }
        }
    }
}

/// The case of a log that is opened for each line, and of one that is kept open.
#[test]
fn a_file_opened_a_thousand_times_and_one_opened_once() {
    with_own("file-thousand", |dir, own| {
        let (often, once) = (own.point.join("often.log"), own.point.join("once.log"));
        let append = || {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            options
        };
        let run = observe(dir, || {
            for i in 0..1000 {
                let mut file = append().open(&often).expect("a file");
                file.write_all(&vec![b'x'; i % 300 + 1]).expect("room");
            }
            let mut file = append().open(&once).expect("a file");
            for _ in 0..1000 {
                file.write_all(b"a line\n").expect("room");
            }
        });
        let written: usize = (0..1000).map(|i| i % 300 + 1).sum();
        let counted = ops(&run, &often);
        for op in ["open", "write", "close"] {
            same(op, counted.get(op), 1000.0);
        }
        let counted = ops(&run, &once);
        for (op, times) in [("open", 1.0), ("write", 1000.0), ("close", 1.0)] {
            same(op, counted.get(op), times);
        }
        let bytes = |file: &Path| {
            let file = file.display();
            total(&run, &format!("file.bytes where file = \"{file}\""))
        };
        same("bytes", bytes(&often), written as f64);
        same(
            "bytes",
            bytes(&often),
            std::fs::metadata(&often).unwrap().len() as f64,
        );
        same("bytes", bytes(&once), 7000.0);
        tables_agree(&run, own);
    });
}

/// Four at once, on all processors.
#[test]
fn calls_of_many_threads_are_all_counted() {
    with_own("file-threads", |dir, own| {
        let path = own.point.join("shared");
        let run = observe(dir, || {
            let file = File::create_new(&path).expect("a file");
            std::thread::scope(|scope| {
                for thread in 0..4_u64 {
                    let file = &file;
                    scope.spawn(move || {
                        for i in 0..5000 {
                            file.write_at(b"0123456789", (thread * 5000 + i) * 10)
                                .expect("room");
                        }
                    });
                }
            });
        });
        same("writes", ops(&run, &path).get("write"), 20_000.0);
        let only = own.only();
        same(
            "bytes",
            total(&run, &format!("file.bytes {only}")),
            200_000.0,
        );
        tables_agree(&run, own);
    });
}

/// More files in an interval than the program keeps apart: the sum is exact all the same.
#[test]
fn what_finds_no_place_is_summed() {
    with_own("file-many", |dir, own| {
        let run = observe_with(dir, &["--every=3s", "--top=1"], || {
            for i in 0..20_000 {
                File::create_new(own.point.join(format!("{i}"))).expect("a file");
            }
        });
        let only = own.only();
        same(
            "opens",
            total(&run, &format!("file.ops {only} and op = open")),
            20_000.0,
        );
        let other = format!("file.ops {only} and op = open and file = \"(other)\"");
        assert!(total(&run, &other) > 3_000.0);
        tables_agree(&run, own);
    });
}

/// Processes that live for a millisecond, each with its own count.
#[test]
fn short_processes_are_named_and_kept_apart() {
    with_own("file-short", |dir, own| {
        let run = dir.join("run");
        let file = own.point.join("shared");
        let show = file.display();
        let script = format!(
            "i=0
             while [ $i -lt 60 ]; do
                 i=$((i + 1))
                 dd if=/dev/zero of={show} bs=1k count=$i conv=notrunc status=none & echo $! $i
                 wait
             done"
        );
        let text = record_script_with(&run, "100ms", &ALL_NAMED, &script);
        let expression = format!("file.ops by process where file = \"{show}\" and op = write");
        let counted = groups(&run, &expression);
        assert_eq!(counted.len(), 60, "{counted:?}");
        for line in text.lines() {
            let (pid, writes) = line.split_once(' ').expect("two numbers");
            let found = counted
                .iter()
                .find(|c| c.0.starts_with(&format!("dd[{pid}@")));
            let found = found.unwrap_or_else(|| panic!("no dd[{pid}@…] in {counted:?}"));
            same(&found.0, found.1, writes.parse().expect("a number"));
        }
    });
}

/// Names that would break a terminal, a path or a record.
#[test]
fn hostile_names_are_whole_and_on_one_line() {
    with_own("file-names", |dir, own| {
        let long = "x".repeat(255);
        let mut deep = PathBuf::new();
        (0..30).for_each(|i| deep.push(format!("{i}{}", "d".repeat(100))));
        let mut deeper = PathBuf::new();
        (0..80).for_each(|i| deeper.push(format!("e{i}")));
        let raw: [(&[u8], &str); 4] = [
            (b"new\nline", "new\\nline"),
            (b"\x1b[31mred", "\\u{1b}[31mred"),
            (b"\xff\xfe bad \"quoted\"", "\\xff\\xfe bad \"quoted\""),
            (long.as_bytes(), &long),
        ];
        let at = own.point.display();
        let mut expected: Vec<String> =
            raw.iter().map(|(_, text)| format!("{at}/{text}")).collect();
        expected.push(format!("{at}/{}/leaf", deep.display()));
        let run = observe(dir, || {
            for (name, _) in raw {
                let path = own.point.join(std::ffi::OsStr::from_bytes(name));
                std::fs::write(path, "1").expect("a file");
            }
            for path in [&deep, &deeper] {
                let path = own.point.join(path);
                std::fs::create_dir_all(&path).expect("directories");
                std::fs::write(path.join("leaf"), "1").expect("a file");
            }
        });
        let counted = groups(
            &run,
            &format!("file.ops by file {} and op = write", own.only()),
        );
        for name in &expected {
            let found = counted.iter().find(|c| c.0 == *name);
            same(name, found.unwrap_or_else(|| panic!("{counted:?}")).1, 1.0);
        }
        let cut = counted
            .iter()
            .find(|c| c.0.starts_with(&format!("{at}/…/e")));
        let cut = &cut.unwrap_or_else(|| panic!("{counted:?}")).0;
        assert!(cut.ends_with("/e78/e79/leaf"), "{cut}");
        assert_eq!(counted.len(), expected.len() + 1);
    });
}

/// A file has the name that it has now, and what only a name is known of has that.
#[test]
fn names_that_change_and_names_that_lead_nowhere() {
    with_own("file-renamed", |dir, own| {
        let (draft, real) = (own.point.join("draft"), own.point.join("real"));
        let missing = own.point.join("missing");
        let run = observe(dir, || {
            std::fs::write(&draft, "1").expect("a file");
            std::fs::rename(&draft, &real).expect("renamed");
            for _ in 0..5 {
                drop(File::open(&real).expect("a file"));
            }
            for _ in 0..30 {
                assert!(File::open(&missing).is_err());
                assert!(std::fs::metadata(&missing).is_err());
            }
            // Relative to a directory that is open.
            let from = File::open(&own.point).expect("a directory");
            for _ in 0..7 {
                let flags = rustix::fs::OFlags::RDONLY;
                let mode = rustix::fs::Mode::empty();
                assert!(rustix::fs::openat(&from, "no/such", flags, mode).is_err());
            }
            std::fs::remove_file(&real).expect("gone");
        });
        same("opens", ops(&run, &draft).get("open"), 1.0);
        same("renames", ops(&run, &draft).get("rename"), 1.0);
        same("opens", ops(&run, &real).get("open"), 5.0);
        same("unlinks", ops(&run, &real).get("unlink"), 1.0);
        let counted = ops(&run, &missing);
        same("failed opens", counted.get("open-failed"), 30.0);
        same("opens", counted.get("open"), 0.0);
        same("stats", counted.get("stat"), 30.0);
        let relative = own.point.join("no/such");
        same("failed opens", ops(&run, &relative).get("open-failed"), 7.0);
    });
}

/// The time of calls that take milliseconds, by the test's own clock.
#[test]
fn latency_is_what_the_caller_waits() {
    with_own("file-latency", |dir, own| {
        let path = own.point.join("large");
        let mut buffer = vec![7_u8; 16 << 20];
        std::fs::write(&path, &buffer).expect("room");
        let mut waited = 0.0;
        let run = observe(dir, || {
            let file = File::open(&path).expect("a file");
            for _ in 0..40 {
                let from = Instant::now();
                file.read_exact_at(&mut buffer, 0).expect("its bytes");
                waited += from.elapsed().as_secs_f64();
            }
        });
        let only = format!("{} and op = read", own.only());
        let recorded = total(&run, &format!("file.time {only}"));
        assert!(
            (0.95 * waited..=waited).contains(&recorded),
            "recorded {recorded} s, waited {waited} s"
        );
        same("reads", total(&run, &format!("file.ops {only}")), 40.0);
        same(
            "bytes",
            total(&run, &format!("file.bytes {only}")),
            40.0 * buffer.len() as f64,
        );
        tables_agree(&run, own);
    });
}

/// Each fsync of a file on a disk.
#[test]
fn every_fsync_is_counted_with_its_time() {
    let name = "file-fsync";
    let Some(_alone) = alone(name) else {
        return;
    };
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _remove = AtEnd(|| _ = std::fs::remove_file(&path));
    let mut waited = 0.0;
    let run = observe(&scratch(name), || {
        let file = File::create_new(&path).expect("a file");
        for i in 0..25 {
            file.write_all_at(&[1; 4096], i * 4096).expect("room");
            let from = Instant::now();
            if i % 2 == 0 {
                file.sync_all().expect("synced");
            } else {
                file.sync_data().expect("synced");
            }
            waited += from.elapsed().as_secs_f64();
        }
    });
    same("fsyncs", ops(&run, &path).get("fsync"), 25.0);
    let only = format!("where file = \"{}\" and op = fsync", path.display());
    let recorded = total(&run, &format!("file.time {only}"));
    assert!(
        (0.8 * waited - 1e-3..=waited).contains(&recorded),
        "recorded {recorded} s, waited {waited} s"
    );
}

/// fio counts its own reads and writes, through system calls and past them.
#[test]
fn fio_agrees_with_and_without_system_calls() {
    with_own("file-fio", |dir, own| {
        if !can_run("file-fio", &[Need::Program("fio")]) {
            return;
        }
        for engine in ["psync", "io_uring", "pvsync2"] {
            let run = dir.join(engine);
            let file = own.point.join(engine);
            std::fs::write(&file, vec![1; 8 << 20]).expect("room");
            let script = format!(
                "fio --name=truth --filename={} --size=8m --rw=randrw --bs=4k --ioengine={engine} \
                 --iodepth=8 --thread --loops=2 --output-format=json --eta=never",
                file.display()
            );
            let json = record_script_with(&run, "100ms", &ALL_NAMED, &script);
            let start = json.find('{').expect("fio prints JSON");
            let said: Value = serde_json::from_str(&json[start..]).expect("fio prints JSON");
            let file = file.display();
            for op in ["read", "write"] {
                let of = |measure: &str| {
                    let only = format!("where file = \"{file}\" and op = {op}");
                    total(&run, &format!("file.{measure} {only}"))
                };
                let number = |key: &str| said["jobs"][0][op][key].as_f64().expect("a number");
                assert!(number("total_ios") > 1000.0);
                same(&format!("{engine} {op}s"), of("ops"), number("total_ios"));
                same(
                    &format!("{engine} bytes of {op}"),
                    of("bytes"),
                    number("io_bytes"),
                );
            }
        }
    });
}

/// Events, as the source hands them on.
#[test]
fn every_call_is_an_event() {
    with_own("file-events", |_, own| {
        let host = Host {
            look: Look {
                detail: Detail::Events,
                events: vec!["file".into()],
                with: vec!["file".into()],
                ..Look::default()
            },
            ..Host::default()
        };
        let entry = SOURCES.iter().find(|e| e.name == "bpf-file").expect("it");
        let mut source = (entry.open)(&host).unwrap_or_else(|why| panic!("{why}"));
        let mut out = run::Sink::new();
        source.sample(None, &mut out).expect("a reading");
        source.drain(0, &mut out);
        out.clear();
        let path = own.point.join("events");
        let mut file = File::create_new(&path).expect("a file");
        for _ in 0..50 {
            file.write_all(b"0123456789").expect("room");
        }
        drop(file);
        assert!(source.drain(0, &mut out) >= 52);
        let rows = out.rows(run::rows::TableId::of("file_event"));
        let text = |column: usize, row: usize| out.words.text(rows.words[column][row]).unwrap();
        let mine: Vec<usize> = (0..rows.len())
            .filter(|row| text(1, *row) == path.to_string_lossy())
            .collect();
        let ops: Vec<&str> = mine.iter().map(|row| text(0, *row)).collect();
        assert_eq!(ops.len(), 52, "{ops:?}");
        assert_eq!((ops[0], ops[1], ops[51]), ("open", "write", "close"));
        for row in mine {
            assert_eq!(text(2, row), own.point.to_string_lossy());
            assert!(text(3, row).contains(&format!("[{}@", std::process::id())));
            let size = if text(0, row) == "write" { 10.0 } else { 0.0 };
            assert_eq!(rows.values[1][row], size);
            assert!(rows.values[0][row] > 0.0 && rows.values[0][row] < 1.0);
            assert_eq!(rows.values[2][row], 1.0);
        }
    });
}

/// Nobody pays for what nobody asked for.
#[test]
fn files_are_observed_only_when_asked_for() {
    let Some(_alone) = alone("file-asked") else {
        return;
    };
    let run = scratch("file-asked").join("run");
    succeed(
        sonde()
            .args([
                "record",
                "-q",
                "--detail=distributions",
                "--for=200ms",
                "-o",
            ])
            .arg(&run),
    );
    let sources = manifest(&run)["sources"].clone();
    let names: Vec<&str> = sources
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert!(
        names.contains(&"cpu") && !names.contains(&"bpf-file"),
        "{names:?}"
    );
    let said = output(sonde().arg("get").arg(&run).arg("file.ops"));
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("--with file"), "{said}");
    let doctor: Value =
        serde_json::from_str(&succeed(sonde().args(["doctor", "--json"]))).expect("JSON");
    let line = doctor
        .as_array()
        .expect("a list")
        .iter()
        .find(|s| s["source"] == "bpf-file");
    let line = line.expect("a line");
    assert_eq!(
        (&line["state"], &line["detail"]),
        (&"available".into(), &"with --with file".into())
    );
    let refused = output(sonde().args(["record", "--sources=bpf-file", "--for=100ms"]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--with file"));
}

/// A kernel without a hook lacks only what hangs on it.
#[test]
fn a_missing_hook_costs_only_what_needs_it() {
    let Some(_alone) = alone("file-hooks") else {
        return;
    };
    let dir = scratch("file-hooks");
    for (hook, state) in [
        ("io_uring_complete", "available"),
        ("sys_exit", "unsupported"),
    ] {
        let run = dir.join(hook);
        let mut record = sonde();
        record.args(["record", "-q", "--for=200ms"]).args(SEEN);
        record.arg("-o").arg(&run).env("SONDE_WITHOUT_HOOKS", hook);
        succeed(&mut record);
        let sources = manifest(&run)["sources"].clone();
        assert_eq!(sources[0]["state"], state, "without {hook}: {sources}");
    }
}
