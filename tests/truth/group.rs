//! A control group of a test's own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::{Need, can_run};

/// Where groups with processor time are, which file tells it, and its unit in seconds.
const HIERARCHIES: [(&str, &str, f64); 4] = [
    ("/sys/fs/cgroup/cpuacct", "cpuacct.usage", 1e-9),
    ("/sys/fs/cgroup/cpu,cpuacct", "cpuacct.usage", 1e-9),
    ("/sys/fs/cgroup", "cpu.stat", 1e-6),
    ("/sys/fs/cgroup/unified", "cpu.stat", 1e-6),
];

/// Where groups are that I/O is charged to, and a file that tells it of a group.
const OF_IO: [(&str, &str); 3] = [
    ("/sys/fs/cgroup/blkio", "blkio.throttle.io_serviced"),
    ("/sys/fs/cgroup", "io.stat"),
    ("/sys/fs/cgroup/unified", "io.stat"),
];

/// A group of the test's own, removed when dropped with those directly below it.
pub(crate) struct Own {
    pub(crate) dir: PathBuf,
    file: &'static str,
    unit: f64,
}

impl Own {
    /// `None` where no hierarchy counts processor time.
    pub(crate) fn new(name: &str) -> Option<Own> {
        let (top, file, unit) = HIERARCHIES
            .into_iter()
            .find(|(top, file, _)| Path::new(top).join(file).exists())?;
        let dir = Path::new(top).join(format!("sonde-test-{}-{name}", std::process::id()));
        std::fs::create_dir(&dir).expect("root makes groups");
        Some(Own { dir, file, unit })
    }

    /// The same for a test that needs it: where it cannot be, the test says so, and fails in CI.
    pub(crate) fn needed(name: &str) -> Option<Own> {
        if !can_run(name, &[Need::Root]) {
            return None;
        }
        let own = Own::new(name);
        if own.is_none() {
            let group = Need::Path("a control group that counts processor time");
            can_run(name, &[group]);
        }
        own
    }

    /// A group that I/O is charged to; `None` where no hierarchy does that.
    pub(crate) fn of_io(name: &str) -> Option<Own> {
        OF_IO.into_iter().find_map(|(top, file)| {
            let top = Path::new(top);
            // Groups of version 2 charge it where the one above says so.
            let controllers = std::fs::read_to_string(top.join("cgroup.controllers"));
            if controllers.is_ok_and(|c| c.split_whitespace().any(|c| c == "io")) {
                let _ = std::fs::write(top.join("cgroup.subtree_control"), "+io");
            }
            let dir = top.join(format!("sonde-test-{}-{name}", std::process::id()));
            std::fs::create_dir(&dir).ok()?;
            let unit = 1.0;
            let own = Own { dir, file, unit };
            own.dir.join(file).exists().then_some(own)
        })
    }

    /// Seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds_of(&self.dir)
    }

    /// Seconds so far of a group below.
    pub(crate) fn seconds_of(&self, group: &Path) -> f64 {
        let text = std::fs::read_to_string(group.join(self.file)).expect("a counter");
        let field = text.split_whitespace().find_map(|f| f.parse::<f64>().ok());
        field.expect("a number") * self.unit
    }

    /// The file that tells them, and its unit in seconds.
    pub(crate) fn counter(&self) -> (PathBuf, f64) {
        (self.dir.join(self.file), self.unit)
    }

    /// The command with which a shell moves itself into it.
    pub(crate) fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.dir.display())
    }

    /// Its name in a run.
    pub(crate) fn name(&self) -> String {
        format!("/{}", self.dir.file_name().expect("a name").display())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // Processes leave a moment after they were killed.
        for _ in 0..100 {
            let below = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
            for entry in below.filter(|e| e.path().is_dir()) {
                let _ = std::fs::remove_dir(entry.path());
            }
            if std::fs::remove_dir(&self.dir).is_ok() || !self.dir.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
