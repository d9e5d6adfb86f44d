//! A control group of a test's own.

use std::path::{Path, PathBuf};

/// Where groups with processor time are, which file tells it, and its unit in seconds.
const HIERARCHIES: [(&str, &str, f64); 4] = [
    ("/sys/fs/cgroup/cpuacct", "cpuacct.usage", 1e-9),
    ("/sys/fs/cgroup/cpu,cpuacct", "cpuacct.usage", 1e-9),
    ("/sys/fs/cgroup", "cpu.stat", 1e-6),
    ("/sys/fs/cgroup/unified", "cpu.stat", 1e-6),
];

/// A group of the test's own, removed when dropped.
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

    /// Seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        let text = std::fs::read_to_string(self.dir.join(self.file)).expect("a counter");
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
        let _ = std::fs::remove_dir(&self.dir);
    }
}
