//! Operations on files against who did them: the test itself, which counts its own calls and
//! looks at its own clock, and fio.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and read clocks"
)]

#[path = "truth/files.rs"]
mod files;
#[path = "support/recorder.rs"]
mod recorder;
mod support;
mod truth;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use files::{ALL_NAMED, Own, alone, observe, observe_with, ops, tables_agree, with_own};
use serde_json::Value;
use sources::{Detail, Host, Look, SOURCES};
use support::{AtEnd, LoopDevice, Need, can_run, output, scratch, succeed, total};
use truth::{Totals, record_script_with, same};

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

/// Two processors that use a new file system at the same moment: whoever comes second does not
/// take it for another one.
#[test]
fn a_file_system_that_two_processors_meet_at_once_is_one() {
    let name = "file-at-once";
    let Some(_alone) = alone(name) else {
        return;
    };
    let dir = scratch(name);
    let all: Vec<(Own, File)> = (0..40)
        .map(|i| {
            let below = dir.join(format!("{i}"));
            std::fs::create_dir(&below).expect("a directory");
            let own = Own::new(&below);
            let file = File::create_new(own.point.join("file")).expect("a file");
            (own, file)
        })
        .collect();
    let (arrived, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let meet = || {
        for (i, (_, file)) in all.iter().enumerate() {
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 * (i + 1) {
                std::hint::spin_loop();
            }
            rustix::fs::fstat(file).expect("it is open");
            left.fetch_add(1, Ordering::SeqCst);
            while left.load(Ordering::SeqCst) < 2 * (i + 1) {
                std::hint::spin_loop();
            }
        }
    };
    let run = observe(&dir, || {
        std::thread::scope(|scope| {
            scope.spawn(meet);
            meet();
        });
    });
    let looked = Totals::of(&run, "file.ops by filesystem where op = stat");
    for (own, _) in &all {
        let point = own.point.display().to_string();
        same(&point, looked.get(&point), 2.0);
    }
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

/// What one did once is named in a short run, beside another that did more to each of many.
#[test]
fn a_short_run_names_every_file() {
    with_own("file-short", |dir, own| {
        let once = own.point.join("once");
        let run = observe_with(dir, &["--every=300ms", "--top=1"], || {
            File::create_new(&once).expect("a file");
            for i in 0..200 {
                let path = own.point.join(format!("{i}"));
                for _ in 0..3 {
                    std::fs::write(&path, b"x").expect("room");
                }
            }
        });
        let counted = ops(&run, &once);
        for op in ["open", "close"] {
            same(op, counted.get(op), 1.0);
        }
        tables_agree(&run, own);
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
        for engine in ["psync", "io_uring", "libaio", "pvsync2"] {
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

/// What a program takes from the memory of its results without a call, as fio can and QEMU does: counted
/// where the kernel was done with it, which takes less time than fio waits.
#[test]
fn results_that_are_taken_without_a_call_are_counted() {
    let name = "file-reaped";
    let programs = ["fio", "losetup", "mkfs.ext4", "mount"].map(Need::Program);
    let Some(_alone) = alone(name).filter(|_| can_run(name, &programs)) else {
        return;
    };
    let dir = scratch(name);
    let device = LoopDevice::new(name, 64 << 20);
    succeed(Command::new("mkfs.ext4").arg("-q").arg(&device.path));
    let point = dir.join("disk");
    std::fs::create_dir(&point).expect("a directory");
    succeed(Command::new("mount").arg(&device.path).arg(&point));
    let _unmount = AtEnd(|| _ = output(Command::new("umount").arg(&point)));
    let file = point.join("file");
    std::fs::write(&file, vec![1; 16 << 20]).expect("room");
    let script = format!(
        "fio --name=truth --filename={} --size=16m --rw=randrw --bs=4k --ioengine=libaio --direct=1 \
         --iodepth=8 --iodepth_batch_complete_min=0 --userspace_reap --thread \
         --output-format=json --eta=never",
        file.display()
    );
    let run = dir.join("run");
    let json = record_script_with(&run, "100ms", &ALL_NAMED, &script);
    let start = json.find('{').expect("fio prints JSON");
    let said: Value = serde_json::from_str(&json[start..]).expect("fio prints JSON");
    let of = |measure: &str, op: &str| {
        let only = format!("where file = \"{}\" and op = {op}", file.display());
        total(&run, &format!("file.{measure} {only}"))
    };
    let mut missing = 0.0;
    for op in ["read", "write"] {
        let number = |key: &str| said["jobs"][0][op][key].as_f64().expect("a number");
        let counted = of("ops", op);
        assert!(number("total_ios") > 1000.0);
        missing += number("total_ios") - counted;
        same(&format!("bytes of {op}"), of("bytes", op), counted * 4096.0);
        let mean = of("time", op) / counted;
        let waited = said["jobs"][0][op]["lat_ns"]["mean"].as_f64().expect("ns") / 1e9;
        assert!(
            (0.2 * waited..waited).contains(&mean),
            "{op}: {mean} s, and fio waited {waited} s"
        );
    }
    // The kernel may leave a program out for a moment, as for ends of I/Os of disks: that is said.
    let unseen = total(&run, "self.unseen where table = file_event");
    assert!(unseen <= 2.0, "{unseen} were not seen");
    // The last of each of its eight places: nobody asks there again.
    let missing = missing - unseen;
    assert!((0.0..=8.0).contains(&missing), "{missing} were not counted");
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
