//! A small `/proc`, and this host's.

#![allow(
    clippy::disallowed_methods,
    reason = "tests make files and processes, and measure the time"
)]
#![allow(clippy::disallowed_macros, reason = "a skipped test says why")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use run::rows::TableId;

use super::*;

/// A folder that goes away, whatever happens.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let path = std::env::temp_dir().join(format!("sonde-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("proc")).unwrap();
        Tree(path)
    }

    /// `times`: own user, own system, children's user, children's system ticks.
    fn process(&self, pid: u32, command: &str, parent: u32, times: [u64; 4], io: [u64; 2]) {
        let dir = self.0.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&dir).unwrap();
        let [a, b, c, d] = times;
        let minor = c + d;
        let stat = format!(
            "{pid} ({command}) S {parent} 1 1 0 -1 0 1 {minor} 0 0 {a} {b} {c} {d} 20 0 2 0 1{pid} 1 {pid} 0\n"
        );
        write(&dir, "stat", &stat);
        let io = format!("read_bytes: {}\nwrite_bytes: {}\n", io[0], io[1]);
        write(&dir, "io", &io);
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes in place, so that files kept open see it.
fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).unwrap();
}

/// `name mode` → value, of one table.
fn rows(out: &Sink, table: &str, column: usize) -> Vec<(String, f64)> {
    let rows = out.rows(TableId::of(table));
    let text =
        |column: &Vec<run::Word>, row: usize| out.words.text(column[row]).unwrap().to_owned();
    (0..rows.len())
        .map(|row| {
            let mut key = text(&rows.words[0], row);
            if let Some(last) = rows.words.get(2) {
                key = format!("{key} {}", text(last, row));
            }
            (key, rows.values[column][row])
        })
        .collect()
}

fn value(rows: &[(String, f64)], key: &str) -> Option<f64> {
    rows.iter().find(|(k, _)| k == key).map(|(_, v)| *v)
}

fn sum(rows: &[(String, f64)]) -> f64 {
    rows.iter().map(|(_, v)| v).sum()
}

fn sample(source: &mut Processes, out: &mut Sink) {
    out.clear();
    source.sample(Some(1.0), out).unwrap();
}

#[test]
fn parts_sum_to_the_whole() {
    let tree = Tree::new("process-sum");
    for pid in 1..=40 {
        tree.process(pid, "p", 0, [100, 100, 0, 0], [0, 0]);
    }
    let mut host = Host::at(&tree.0);
    host.top = 2;
    let mut source = processes(&host).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);
    for pid in 1..=40 {
        let grown = u64::from(pid);
        tree.process(pid, "p", 0, [100 + grown, 101, 0, 0], [grown * 512, 512]);
    }
    sample(&mut source, &mut out);
    // 1 + 2 + … + 40 = 820 ticks of user time, 40 of system time.
    let time = rows(&out, "process", 0);
    assert!((sum(&time) - 8.60).abs() < 1e-9, "{time:?}");
    assert_eq!(value(&time, "p[40@1.40] user"), Some(0.40));
    assert_eq!(value(&time, "p[38@1.38] user"), None);
    assert_eq!(time.len(), 6, "two named, (other): {time:?}");
    let memory = rows(&out, "process_memory", 1);
    assert_eq!(sum(&memory), 820.0 * rustix::param::page_size() as f64);
    assert_eq!(sum(&rows(&out, "process_memory", 2)), 80.0);
    let io = rows(&out, "process_io", 0);
    assert_eq!(sum(&io), 860.0 * 512.0);
    assert_eq!(value(&io, "(other) write"), Some(38.0 * 512.0));
    sample(&mut source, &mut out);
    let time = rows(&out, "process", 0);
    assert_eq!(value(&time, "(other) user"), Some(0.0), "always there");
    assert_eq!(sum(&time), 0.0);
}

#[test]
fn a_child_that_ends_is_counted_once() {
    let tree = Tree::new("process-exit");
    tree.process(1, "init", 0, [0, 0, 0, 0], [0, 0]);
    tree.process(5, "make", 1, [0, 0, 0, 0], [0, 0]);
    let mut source = processes(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    tree.process(9, "cc) (1", 5, [60, 5, 0, 0], [4096, 0]);
    sample(&mut source, &mut out);
    let time = rows(&out, "process", 0);
    assert_eq!(value(&time, "cc) (1[9@0.19] user"), Some(0.60));
    assert_eq!(
        value(&rows(&out, "process_io", 0), "cc) (1[9@0.19] read"),
        Some(4096.0)
    );
    // It ends with 65 and 5 ticks, beside one that nobody saw with 7 and 1. The two read
    // 8192 and 512 bytes.
    std::fs::remove_dir_all(tree.0.join("proc/9")).unwrap();
    tree.process(5, "make", 1, [1, 0, 72, 6], [8704, 0]);
    sample(&mut source, &mut out);
    let time = rows(&out, "process", 0);
    assert_eq!(value(&time, "(exited) user"), Some(0.12));
    assert_eq!(value(&time, "(exited) system"), Some(0.01));
    assert_eq!(
        value(&rows(&out, "process_io", 0), "make[5@0.15] read"),
        Some(4608.0)
    );
    assert!((sum(&time) - 0.14).abs() < 1e-9);
}

#[test]
fn a_reused_number_is_another_process() {
    let tree = Tree::new("process-reuse");
    tree.process(1, "init", 0, [0, 0, 0, 0], [0, 0]);
    tree.process(7, "old", 1, [500, 0, 0, 0], [0, 0]);
    let mut source = processes(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let path = tree.0.join("proc/7");
    std::fs::remove_dir_all(&path).unwrap();
    tree.process(7, "new", 1, [3, 0, 0, 0], [0, 0]);
    let stat = std::fs::read_to_string(path.join("stat")).unwrap();
    write(&path, "stat", &stat.replace(" 0 17 1 ", " 0 99 1 "));
    sample(&mut source, &mut out);
    let time = rows(&out, "process", 0);
    assert_eq!(value(&time, "new[7@0.99] user"), Some(0.03));
    assert!((sum(&time) - 0.03).abs() < 1e-9);
}

#[test]
fn nonsense_is_left_out() {
    let tree = Tree::new("process-nonsense");
    tree.process(1, "init", 0, [0, 0, 0, 0], [0, 0]);
    for (pid, text) in [(2, ""), (3, "3 (x"), (4, "\0\u{1}")] {
        let dir = tree.0.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&dir).unwrap();
        write(&dir, "stat", text);
    }
    std::fs::create_dir_all(tree.0.join("proc/99999999999")).unwrap();
    let mut source = processes(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    sample(&mut source, &mut out);
    assert_eq!(source.live.len(), 1);
}

/// A shell that does as it is told; its children are nobody else's.
struct Shell(Child, BufReader<ChildStdout>);

impl Shell {
    fn new() -> Shell {
        let mut command = Command::new("sh");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Shell(child, answers)
    }

    fn tell(&mut self, script: &str) {
        let input = self.0.stdin.as_mut().unwrap();
        writeln!(input, "{script}\necho done").unwrap();
        let mut answer = String::new();
        self.1.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }

    /// Ticks of the children it has waited for, as the kernel says.
    fn waited_for(&self) -> u64 {
        let bytes = std::fs::read(format!("/proc/{}/stat", self.0.id())).unwrap();
        let stat = stat::parse(&bytes).unwrap();
        stat.reaped[0] + stat.reaped[1]
    }

    /// Ticks of its children, alive and ended, in the last interval.
    fn counted(&self, source: &Processes) -> u64 {
        let id = self.0.id();
        let of = |p: &Process| {
            let alive = if p.parent == id { p.spent } else { [0; IO] };
            let ended = if p.pid == id { p.growth } else { [0; KINDS] };
            alive[0] + alive[1] + ended[0] + ended[1]
        };
        source.live.iter().map(of).sum()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Children that nobody saw alive and others that were seen: together exactly what the
/// kernel says the shell's children used.
#[test]
fn children_are_counted_once() {
    let burn = "(i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done)";
    let mut shell = Shell::new();
    let mut source = processes(&Host::default()).unwrap();
    let mut out = Sink::new();
    shell.tell("true");
    source.sample(None, &mut out).unwrap();
    let mut counted = 0;
    for round in 0..6 {
        if round % 2 == 0 {
            shell.tell(&[burn; 3].join("; "));
        } else {
            shell.tell(&format!("{burn} & "));
            std::thread::sleep(std::time::Duration::from_millis(40));
            sample(&mut source, &mut out);
            counted += shell.counted(&source);
            shell.tell("wait");
        }
        sample(&mut source, &mut out);
        counted += shell.counted(&source);
    }
    let used = shell.waited_for();
    assert!(used > 20, "the children ran: {used}");
    assert_eq!(counted, used);
}

/// What the kernel's own tasks used is taken from their clocks while that says enough: nothing
/// that their `stat` told before a sample is missing in it.
#[test]
fn tasks_of_the_kernel_are_behind_by_nothing() {
    let mut source = processes(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let told = |pid: u32| {
        let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        stat::parse(&bytes).filter(|s| s.is_kernel).map(|s| s.own)
    };
    let mut compared = 0;
    for _ in 0..30 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        let pids = source.live.iter().map(|p| p.pid);
        let before: Vec<_> = pids.filter_map(|pid| Some((pid, told(pid)?))).collect();
        sample(&mut source, &mut out);
        for (pid, told) in before {
            let Some(place) = ended::find(&source.live, pid) else {
                continue;
            };
            let own = source.live[place].own;
            let has_all = own.iter().zip(told).all(|(own, told)| *own >= told);
            assert!(has_all, "{pid}: {own:?}, and {told:?} was told");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// A thread's number is given out in the same turn, and is no process's.
#[test]
fn a_thread_is_no_process() {
    let own = std::process::id();
    assert!(is_process(own));
    let thread = std::thread::spawn(|| {
        let number = rustix::thread::gettid().as_raw_nonzero().get();
        (number, is_process(u32::try_from(number).unwrap()))
    });
    let (number, counts) = thread.join().unwrap();
    assert_ne!(u32::try_from(number), Ok(own));
    assert!(!counts);
    assert!(!is_process(1 << 22), "more than any number");
    assert!(!is_process(u32::MAX));
}

/// Processes that come and go are found and forgotten without listing all.
#[test]
fn new_numbers_are_asked_for_one_by_one() {
    let mut numbering = Numbering::open(&Host::default()).unwrap();
    let mut buffer = [0; 4096];
    assert_eq!(numbering.since(&mut buffer), None, "not known yet");
    let mut source = processes(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    // The next samples are none of those that list all.
    source.turn = 1;
    let mut shell = Shell::new();
    let pid = shell.0.id();
    let since = numbering.since(&mut buffer).unwrap();
    assert!(since.contains(&pid), "{pid} is not in {since:?}");
    sample(&mut source, &mut out);
    assert!(source.live.iter().any(|p| p.pid == pid));
    assert!(source.pids.is_sorted() && source.pids.contains(&pid));
    shell.0.kill().unwrap();
    shell.0.wait().unwrap();
    sample(&mut source, &mut out);
    assert!(source.live.iter().all(|p| p.pid != pid));
    assert!(!source.pids.contains(&pid));
}
