//! Limits set on a group of this host, against the kernel's own files.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

use super::*;

/// Bytes of memory that the group may use.
const MEMORY: u64 = 64 << 20;

/// A group of the test's own under each of three controllers, which goes with the test. Where
/// hierarchies are one, so are the groups.
struct Limited {
    shown: String,
    cpu: PathBuf,
    memory: PathBuf,
    pids: PathBuf,
    /// Whether each is of version 2.
    unified: [bool; 2],
    _made: Made,
}

impl Limited {
    /// A fifth of a processor, in periods of 100 ms.
    fn new([cpu, memory, pids]: [Hierarchy; 3]) -> Limited {
        let name = format!("sonde-limits-{}", std::process::id());
        let mut made = Made(Vec::new());
        let mut group = |tree: &Hierarchy| {
            let dir = tree.root.join(&name);
            if dir.exists() { dir } else { made.dir(dir) }
        };
        let limited = Limited {
            shown: format!("/{name}"),
            cpu: group(&cpu),
            memory: group(&memory),
            pids: group(&pids),
            unified: [cpu.unified, memory.unified],
            _made: made,
        };
        if cpu.unified {
            write(&limited.cpu.join("cpu.max"), "20000 100000");
        } else {
            write(&limited.cpu.join("cpu.cfs_period_us"), "100000");
            write(&limited.cpu.join("cpu.cfs_quota_us"), "20000");
        }
        let file = ["memory.limit_in_bytes", "memory.max"][usize::from(memory.unified)];
        write(&limited.memory.join(file), &MEMORY.to_string());
        limited
    }

    /// What the kernel says: seconds throttled, periods, throttled periods.
    fn throttle(&self) -> [f64; 3] {
        let (time, unit) = if self.unified[0] {
            ("throttled_usec ", 1e6)
        } else {
            ("throttled_time ", 1e9)
        };
        let of = |key| number(&self.cpu, "cpu.stat", key);
        [of(time) / unit, of("nr_periods "), of("nr_throttled ")]
    }

    /// The same once nothing changes any more: a period ends after the last task slept.
    fn settled(&self) -> [f64; 3] {
        loop {
            let before = self.throttle();
            std::thread::sleep(Duration::from_millis(350));
            if self.throttle() == before {
                return before;
            }
        }
    }

    /// Bytes charged now.
    fn charged(&self) -> f64 {
        let file = ["memory.usage_in_bytes", "memory.current"][usize::from(self.unified[1])];
        number(&self.memory, file, "")
    }
}

/// A shell in the group, which burns each time it is told to; killed when dropped.
struct Burner(Child);

impl Burner {
    fn new(group: &Limited) -> Burner {
        let script = format!(
            "for g; do echo $$ > \"$g/cgroup.procs\"; done; \
             while read -r line; do {BURN}; {BURN}; echo done; done"
        );
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &script, "sh"]);
        shell.args([&group.cpu, &group.memory, &group.pids]);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        Burner(shell.spawn().unwrap())
    }

    fn burn(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        let mut said = String::new();
        let out = self.0.stdout.as_mut().unwrap();
        BufReader::with_capacity(1, out)
            .read_line(&mut said)
            .unwrap();
        assert_eq!(said, "done\n");
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn limits_and_throttling_are_the_kernels() {
    let Some(trees) = hierarchies(["cpu", "memory", "pids"]) else {
        return;
    };
    let group = Limited::new(trees);
    let mut burner = Burner::new(&group);
    let mut source = open(&Host::default()).unwrap();
    let mut out = Sink::new();
    // What was throttled before the first reading is not of the interval.
    burner.burn();
    let before = group.settled();
    assert!(before[2] > 0.0, "{before:?}");
    source.sample(None, &mut out).unwrap();
    burner.burn();
    let after = group.settled();
    let charged = group.charged();
    sample(&mut *source, &mut out);
    assert_eq!(group.throttle(), after, "it ran while it was read");
    let of = |table: &str, column: usize| {
        let all = rows(&out, table, column);
        value(&all, &group.shown).unwrap_or_else(|| panic!("{} in {all:?}", group.shown))
    };

    let [seconds, periods, throttled] = [0, 1, 2].map(|i| after[i] - before[i]);
    assert!(seconds > 0.05 && throttled >= 1.0 && periods >= throttled);
    let told = of("cgroup_throttle", 0);
    assert!((told - seconds).abs() < 1e-9, "{told} s of {seconds} s");
    assert_eq!(of("cgroup_throttle", 1), periods);
    assert_eq!(of("cgroup_throttle", 2), throttled);
    assert_eq!(of("cgroup_throttle", 3), 0.2, "processors");

    // The kernel may give back pages that it holds in reserve, whenever it likes.
    let (most, least) = (charged.max(group.charged()), charged.min(group.charged()));
    let told = of("cgroup_memory", 0);
    assert!((least..=most).contains(&told) && told > 0.0, "{told} bytes");
    assert_eq!(of("cgroup_memory", 1), MEMORY as f64);
    assert_eq!(of("cgroup_memory", 2), 0.0, "processes killed");

    let tasks = std::fs::read_to_string(group.pids.join("cgroup.procs")).unwrap();
    assert_eq!(tasks.trim(), burner.0.id().to_string());
    assert_eq!(of("cgroup_tasks", 0), 1.0);
}
