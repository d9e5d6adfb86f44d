//! Small hierarchies made of ordinary files, and this host's own.

#![allow(
    clippy::disallowed_methods,
    reason = "tests make groups and processes, and measure the time"
)]
#![allow(clippy::disallowed_macros, reason = "a skipped test says why")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use run::rows::TableId;

use super::*;

mod columns;
mod limits;

/// Folders that go away, whatever happens; the last made first.
struct Made(Vec<PathBuf>);

impl Made {
    fn dir(&mut self, path: PathBuf) -> PathBuf {
        std::fs::create_dir(&path).unwrap();
        self.0.push(path.clone());
        path
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // A group goes as soon as its last task is reaped.
            for _ in 0..50 {
                if std::fs::remove_dir(path).is_ok() || !path.exists() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

/// The words of a row, joined → one measure.
fn rows(out: &Sink, table: &str, column: usize) -> Vec<(String, f64)> {
    let rows = out.rows(TableId::of(table));
    let key = |row: usize| {
        let words = rows.words.iter().map(|c| out.words.text(c[row]).unwrap());
        words.collect::<Vec<_>>().join(" ")
    };
    (0..rows.len())
        .map(|row| (key(row), rows.values[column][row]))
        .collect()
}

fn value(rows: &[(String, f64)], key: &str) -> Option<f64> {
    rows.iter().find(|(k, _)| k == key).map(|(_, v)| *v)
}

fn sum(rows: &[(String, f64)]) -> f64 {
    rows.iter().map(|(_, v)| v).sum()
}

/// A tree of ordinary files that looks like a version 2 mount, `cg`.
struct Unified(PathBuf);

impl Unified {
    fn new(name: &str) -> Unified {
        let root = std::env::temp_dir().join(format!("sonde-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("proc/self")).unwrap();
        std::fs::create_dir_all(root.join("cg")).unwrap();
        std::fs::create_dir_all(root.join("sys/dev/block/254:0")).unwrap();
        write(
            &root.join("proc/self/mountinfo"),
            "1 2 0:3 / /cg rw - cgroup2 cgroup2 rw\n",
        );
        write(
            &root.join("sys/dev/block/254:0/uevent"),
            "MAJOR=254\nDEVNAME=vda\n",
        );
        write(&root.join("cg/cgroup.controllers"), "cpu io memory pids\n");
        Unified(root)
    }

    /// Writes files of a group, which is made if it is new.
    fn put(&self, group: &str, files: &[(&str, String)]) {
        let dir = self.0.join(group);
        std::fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            write(&dir.join(name), text);
        }
    }

    /// Microseconds of user time, bytes read, bytes of memory.
    fn group(&self, path: &str, user: u64, read: u64, memory: u64) {
        let dir = self.0.join("cg").join(path);
        std::fs::create_dir_all(&dir).unwrap();
        write(
            &dir.join("cpu.stat"),
            &format!("usage_usec {user}\nuser_usec {user}\nsystem_usec 0\n"),
        );
        write(
            &dir.join("io.stat"),
            &format!("254:0 rbytes={read} wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n"),
        );
        if !path.is_empty() {
            write(&dir.join("memory.current"), &memory.to_string());
            write(&dir.join("memory.max"), "max\n");
            write(&dir.join("pids.current"), "1\n");
        }
    }
}

impl Drop for Unified {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn sample(source: &mut dyn Source, out: &mut Sink) {
    out.clear();
    source.sample(Some(1.0), out).unwrap();
}

#[test]
fn own_amounts_sum_to_the_roots() {
    let tree = Unified::new("cgroup-own");
    tree.group("", 1_000_000, 0, 0);
    tree.group("a\nb", 500_000, 0, 100);
    tree.group("a\nb/c", 200_000, 0, 30);
    let mut source = open(&Host::at(&tree.0)).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    assert_eq!(out.filled().count(), 0);

    tree.group("", 1_900_000, 9000, 0);
    tree.group("a\nb", 1_200_000, 8000, 100);
    tree.group("a\nb/c", 700_000, 4096, 30);
    // New in this interval.
    tree.group("d", 100_000, 0, 5);
    sample(&mut *source, &mut out);
    let time = rows(&out, "cgroup_cpu", 0);
    assert_eq!(value(&time, "/ user"), Some(0.1));
    assert_eq!(value(&time, "/a\\nb user"), Some(0.2));
    assert_eq!(value(&time, "/a\\nb/c user"), Some(0.5));
    assert_eq!(value(&time, "/d user"), Some(0.1));
    assert!((sum(&time) - 0.9).abs() < 1e-12);
    let bytes = rows(&out, "cgroup_io", 1);
    assert_eq!(value(&bytes, "/ vda disk read"), Some(1000.0));
    assert_eq!(value(&bytes, "/a\\nb vda disk read"), Some(3904.0));
    assert_eq!(sum(&bytes), 9000.0);
    let memory = rows(&out, "cgroup_memory", 0);
    assert_eq!(value(&memory, "/a\\nb"), Some(70.0));
    assert!(value(&memory, "/").unwrap().is_nan(), "the root has none");
    assert!(
        rows(&out, "cgroup_memory", 1)
            .iter()
            .all(|(_, v)| v.is_nan())
    );

    // c used 200000 more and is gone: with 150000 of its parent's own they are the parent's.
    std::fs::remove_dir_all(tree.0.join("cg/a\nb/c")).unwrap();
    tree.group("", 2_250_000, 9000, 0);
    tree.group("a\nb", 1_550_000, 8000, 60);
    sample(&mut *source, &mut out);
    let time = rows(&out, "cgroup_cpu", 0);
    assert_eq!(value(&time, "/a\\nb user"), Some(0.35));
    assert!((sum(&time) - 0.35).abs() < 1e-12, "{time:?}");
    assert_eq!(value(&rows(&out, "cgroup_memory", 0), "/a\\nb/c"), None);
}

#[test]
fn without_a_hierarchy_it_says_what_it_needs() {
    let tree = Unified::new("cgroup-none");
    write(
        &tree.0.join("proc/self/mountinfo"),
        "1 2 0:3 / /proc rw - proc proc rw\n",
    );
    let answer = open(&Host::at(&tree.0)).err().unwrap();
    assert!(matches!(answer, Availability::Unsupported { .. }));
}

#[test]
fn each_resource_is_read_where_it_is() {
    let tree = Unified::new("cgroup-hybrid");
    let text = b"1 2 0:3 / /cg rw - cgroup2 c rw\n1 2 0:4 / /v1 rw - cgroup c rw,cpu,cpuacct\n\
        1 2 0:5 / /mem rw - cgroup c rw,memory\n";
    let mounts = mounts::parse(text);
    let host = Host::at(&tree.0);
    let places = |items: &str| {
        write(&tree.0.join("cg/cgroup.controllers"), items);
        let of = |(m, i): (&Mount, Vec<Item>)| (m.point.clone(), i.len());
        chosen(&host, &mounts)
            .into_iter()
            .map(of)
            .collect::<Vec<_>>()
    };
    let path = PathBuf::from;
    assert_eq!(
        places("\n"),
        [(path("/v1"), 6), (path("/mem"), 4), (path("/cg"), 3)]
    );
    assert_eq!(places("cpu memory\n"), [(path("/cg"), 8)]);
    assert_eq!(places("memory\n"), [(path("/v1"), 6), (path("/cg"), 6)]);
}

/// A hierarchy of this host.
#[derive(Clone)]
struct Hierarchy {
    root: PathBuf,
    /// Whether it is of version 2.
    unified: bool,
}

/// Where a test may make groups that have what `controller` does: version 1 if it is there, else
/// version 2, which counts time even in groups without a controller.
fn hierarchy(controller: &str) -> Option<Hierarchy> {
    let text = std::fs::read("/proc/self/mountinfo").unwrap();
    let given = |m: &Mount| {
        let given = std::fs::read_to_string(m.point.join("cgroup.subtree_control"));
        given.is_ok_and(|all| all.split_whitespace().any(|c| c == controller))
    };
    let has = |m: &&Mount| match &m.controllers {
        Some(all) => all.iter().any(|c| c == controller),
        None => controller == "cpuacct" || given(m),
    };
    let mounts = mounts::parse(&text);
    let found = || mounts.iter().filter(has);
    let first = found().find(|m| m.controllers.is_some());
    let mount = first.or_else(|| found().next())?;
    Some(Hierarchy {
        root: mount.point.clone(),
        unified: mount.controllers.is_none(),
    })
}

/// The hierarchies of these controllers, if a test may make groups there. In CI they must be there
/// for root.
fn hierarchies<const N: usize>(controllers: [&str; N]) -> Option<[Hierarchy; N]> {
    let root = rustix::process::geteuid().is_root();
    let found = controllers.map(hierarchy);
    if root && found.iter().all(Option::is_some) {
        return Some(found.map(Option::unwrap));
    }
    let needs = format!("groups with {}", controllers.join(", "));
    assert!(
        !root || std::env::var_os("CI").is_none(),
        "no {needs} to test on"
    );
    eprintln!("skipped: needs root and {needs}");
    None
}

/// Runs a shell script in a group, whose name is an argument, whatever it holds.
fn run_in(group: &Path, script: &str) {
    let enter = format!("echo $$ > \"$0/cgroup.procs\"; {script}");
    let status = Command::new("sh")
        .arg("-c")
        .arg(enter)
        .arg(group)
        .status()
        .unwrap();
    assert!(status.success());
}

impl Hierarchy {
    /// Seconds that the kernel charged a group.
    fn usage(&self, group: &Path) -> f64 {
        if !self.unified {
            return number(group, "cpuacct.usage", "") / 1e9;
        }
        if group == self.root {
            // Its `usage_usec` has stolen time, too.
            let parts = ["user_usec", "system_usec"].map(|key| number(group, "cpu.stat", key));
            return (parts[0] + parts[1]) / 1e6;
        }
        number(group, "cpu.stat", "usage_usec") / 1e6
    }
}

/// What stands in a file of a group, after `key` if there is one.
fn number(group: &Path, file: &str, key: &str) -> f64 {
    let text = std::fs::read_to_string(group.join(file)).unwrap();
    let found = text.lines().find_map(|line| line.strip_prefix(key));
    let found = found.unwrap_or_else(|| panic!("no {key} in {file}: {text}"));
    found.trim().parse().unwrap()
}

const BURN: &str = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done";

#[test]
fn time_is_what_the_kernel_charged() {
    let Some([tree]) = hierarchies(["cpuacct"]) else {
        return;
    };
    let root = &tree.root;
    let mut made = Made(Vec::new());
    let id = std::process::id();
    // The kernel refuses only line ends.
    let mut hostile = format!("sonde-é \t'){id}").into_bytes();
    hostile.push(0xff);
    let group = made.dir(root.join(OsStr::from_bytes(&hostile)));
    let shown = format!("/sonde-é \\t'){id}\\xff");
    let mut source = open(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let (before, root_before) = (tree.usage(&group), tree.usage(root));
    let mut counted = 0.0;
    let short = "i=0; while [ $i -lt 2000 ]; do (:); i=$((i+1)); done";
    for script in [BURN, BURN, short] {
        run_in(&group, script);
        sample(&mut *source, &mut out);
        let time = rows(&out, "cgroup_cpu", 0);
        counted += value(&time, &format!("{shown} user")).unwrap_or(0.0);
        counted += value(&time, &format!("{shown} system")).unwrap_or(0.0);
    }
    let charged = tree.usage(&group) - before;
    assert!(charged > 0.05, "{charged}");
    assert!(
        (counted - charged).abs() <= charged * 0.01,
        "{counted} of {charged}"
    );
    assert!(tree.usage(root) - root_before >= counted);
}

#[test]
fn a_group_that_ends_is_not_lost() {
    let Some([tree]) = hierarchies(["cpuacct"]) else {
        return;
    };
    let root = &tree.root;
    let mut made = Made(Vec::new());
    let parent = made.dir(root.join(format!("sonde-parent-{}", std::process::id())));
    let shown = format!("/sonde-parent-{}", std::process::id());
    let mut source = open(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let root_before = tree.usage(root);
    let (mut counted, mut all) = (0.0, 0.0);
    for round in 0..4 {
        let child = made.dir(parent.join(format!("child{}", round % 2)));
        if round != 1 {
            sample(&mut *source, &mut out);
            all += sum(&rows(&out, "cgroup_cpu", 0));
            counted += below(&out, &shown);
        }
        run_in(&child, BURN);
        if round != 2 {
            sample(&mut *source, &mut out);
            all += sum(&rows(&out, "cgroup_cpu", 0));
            counted += below(&out, &shown);
        }
        run_in(&child, BURN);
        remove(&child);
        made.0.pop();
    }
    sample(&mut *source, &mut out);
    counted += below(&out, &shown);
    all += sum(&rows(&out, "cgroup_cpu", 0));
    let root_after = tree.usage(root);
    let charged = tree.usage(&parent);
    assert!(charged > 0.2, "{charged}");
    assert!((counted - charged).abs() < 1e-6, "{counted} of {charged}");
    // The root goes on while it is read: other processes run.
    let whole = root_after - root_before;
    assert!(
        (all - whole).abs() <= whole * 0.01 + 0.01,
        "{all} of {whole}"
    );
}

/// Time of a group and those below.
fn below(out: &Sink, name: &str) -> f64 {
    let all = rows(out, "cgroup_cpu", 0);
    let of = all.iter().filter(|(key, _)| key.starts_with(name));
    of.map(|(_, v)| v).sum()
}

fn remove(group: &Path) {
    for _ in 0..100 {
        if std::fs::remove_dir(group).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} stays", group.display());
}
