//! Network namespaces of a test's own, joined by a pair of interfaces, and recording inside.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and look at the clock"
)]

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::support::{Need, succeed};
use super::truth::{ip, recording};

/// What namespaces need.
pub(crate) const NEEDS: &[Need] = &[Need::Root, Need::Program("ip")];

/// A network namespace of the test's own, with loopback up and version 6 of IP off: it
/// would send packets of its own accord. Removed with its interfaces at the end.
pub(crate) struct Space(pub(crate) String);

impl Space {
    pub(crate) fn new(name: &str) -> Space {
        let space = Space(format!("sonde-{}-{name}", std::process::id()));
        ip(&format!("netns add {}", space.0));
        for file in ["all", "default"] {
            let path = format!("/proc/sys/net/ipv6/conf/{file}/disable_ipv6");
            space.run(&format!("if [ -e {path} ]; then echo 1 > {path}; fi"));
        }
        ip(&format!("-n {} link set lo up", space.0));
        space
    }

    /// Runs a shell's `script` inside; its output.
    pub(crate) fn run(&self, script: &str) -> String {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, "sh", "-e", "-c", script]);
        succeed(&mut command)
    }

    /// Does `work` on a thread that is inside.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let file = File::open(Path::new("/run/netns").join(&self.0)).expect("the namespace");
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                    .expect("root enters namespaces");
                work()
            });
            inside.join().expect("the work inside succeeds")
        })
    }

    /// Starts recording inside with more `options`, until [`Recording::end`].
    pub(crate) fn record(&self, run: &Path, options: &[&str]) -> Recording {
        // `cat` says that it runs and ends with its input.
        let inner = recording(run, "100ms", &["sh", "-c", "echo ready; cat"]);
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.0])
            .arg(inner.get_program());
        let mut arguments = inner.get_args();
        command.args(arguments.next()).args(options).args(arguments);
        command.env_remove("SONDE_RUN");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("ip starts");
        let mut ready = [0; 6];
        let stdout = child.stdout.as_mut().expect("a pipe");
        stdout.read_exact(&mut ready).expect("the command starts");
        Recording(child)
    }

    /// The counters of an interface, from its own files: bytes and packets received, then sent.
    pub(crate) fn counters(&self, interface: &str) -> [f64; 4] {
        let files = ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"];
        let paths = files.map(|f| format!("/sys/class/net/{interface}/statistics/{f}"));
        let text = self.run(&format!("cat {}", paths.join(" ")));
        let mut numbers = text.lines().map(|l| l.parse().expect("a number"));
        files.map(|_| numbers.next().expect("a line a file"))
    }

    /// A counter of a protocol, by the names of the line and of the field in `file`.
    pub(crate) fn counter(&self, file: &str, line: &str, field: &str) -> f64 {
        let text = self.run(&format!("cat /proc/net/{file}"));
        let mut lines = text.lines().filter(|l| l.starts_with(&format!("{line}:")));
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let place = names.split_whitespace().position(|n| n == field);
        let value = values.split_whitespace().nth(place.expect("the field"));
        value.expect("a value").parse().expect("a number")
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let _ = Command::new("ip")
            .args(["netns", "delete", &self.0])
            .output();
    }
}

pub(crate) struct Recording(Child);

impl Recording {
    pub(crate) fn end(mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().expect("the recorder ends");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Two namespaces joined by a pair of interfaces, who know each other's address: nobody has
/// to ask for it.
pub(crate) fn pair(name: &str) -> [Space; 2] {
    let spaces = two(name);
    ip(&format!(
        "-n {} link add veth0 type veth peer name veth0 netns {}",
        spaces[0].0, spaces[1].0
    ));
    set_up(&spaces);
    spaces
}

fn two(name: &str) -> [Space; 2] {
    ["a", "b"].map(|side| Space::new(&format!("{name}-{side}")))
}

/// Gives the interfaces their addresses.
fn set_up(spaces: &[Space; 2]) {
    for (i, space) in spaces.iter().enumerate() {
        let (space, mine, peer) = (&space.0, i + 1, 2 - i);
        ip(&format!(
            "-n {space} link set veth0 address 02:00:00:00:00:0{mine}"
        ));
        ip(&format!(
            "-n {space} address add 10.9.8.{mine}/24 dev veth0"
        ));
        ip(&format!("-n {space} link set veth0 up"));
        ip(&format!(
            "-n {space} neigh replace 10.9.8.{peer} lladdr 02:00:00:00:00:0{peer} dev veth0 nud permanent"
        ));
    }
}

/// What a slow link needs beyond [`NEEDS`].
pub(crate) const SLOW_NEEDS: &[Need] = &[Need::Program("python3")];

/// A third namespace, and the program in it that hands frames on.
pub(crate) struct SlowLink {
    program: Child,
    _between: Space,
}

impl Drop for SlowLink {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Two namespaces as those of [`pair`], where each frame is `seconds` on its way: not every kernel
/// has a queue that delays.
pub(crate) fn slow_pair(name: &str, seconds: f64) -> ([Space; 2], SlowLink) {
    let spaces = two(name);
    let between = Space::new(&format!("{name}-m"));
    for (space, end) in spaces.iter().zip(["left", "right"]) {
        ip(&format!(
            "-n {} link add {end} type veth peer name veth0 netns {}",
            between.0, space.0
        ));
        ip(&format!("-n {} link set {end} up", between.0));
    }
    set_up(&spaces);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/slow_link.py");
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &between.0, "python3"]);
    command.arg(script).args(["left", "right"]);
    command.arg(seconds.to_string()).stdout(Stdio::piped());
    let mut program = command.spawn().expect("ip starts");
    let mut ready = [0; 6];
    let stdout = program.stdout.as_mut().expect("a pipe");
    stdout.read_exact(&mut ready).expect("the link works");
    let link = SlowLink {
        program,
        _between: between,
    };
    (spaces, link)
}
