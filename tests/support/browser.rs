//! `sonde view` at work, and a client that speaks HTTP as it likes.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests run programs and look at the clock"
)]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::sonde;

/// `sonde view ARGUMENTS... --no-open`, started. Killed when dropped, should it still run.
pub(crate) struct View {
    child: Child,
    lines: Receiver<String>,
    /// The address that was printed first.
    pub(crate) address: String,
    cookie: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|l| l.split_once(':'));
        let mut found = lines.filter(|(n, _)| n.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }
}

fn read_lines(stdout: ChildStdout) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

impl View {
    /// Starts it and waits for its address.
    pub(crate) fn start<S: AsRef<OsStr>>(arguments: &[S]) -> View {
        View::start_with(sonde(), arguments)
    }

    /// The same, of a command that has a directory or variables of its own.
    pub(crate) fn start_with<S: AsRef<OsStr>>(mut command: Command, arguments: &[S]) -> View {
        command.arg("view").args(arguments).arg("--no-open");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("sonde runs");
        let lines = read_lines(child.stdout.take().expect("piped"));
        let address = lines.recv_timeout(Duration::from_secs(60));
        let address = address.unwrap_or_else(|_| {
            let _ = child.kill();
            let mut said = String::new();
            let _ = child.stderr.take().map(|mut e| e.read_to_string(&mut said));
            panic!("no address: {said}")
        });
        View {
            child,
            lines,
            address,
            cookie: None,
        }
    }

    /// The same, with a session.
    pub(crate) fn open<S: AsRef<OsStr>>(arguments: &[S]) -> View {
        let mut view = View::start(arguments);
        view.enter();
        view
    }

    /// Takes a session with the address that was printed.
    pub(crate) fn enter(&mut self) {
        let (_, path) = self.address.split_at(self.base().len());
        let path = path.to_owned();
        let answer = self.raw(&request("GET", &path, &self.host(), &[], b""));
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        self.cookie = cookie.split(';').next().map(str::to_owned);
    }

    /// The next address that is printed.
    pub(crate) fn next_address(&self) -> String {
        let line = self.lines.recv_timeout(Duration::from_secs(10));
        line.expect("a fresh address")
    }

    /// `http://127.0.0.1:4711`.
    pub(crate) fn base(&self) -> &str {
        self.address.split("/?").next().expect("an address")
    }

    /// `127.0.0.1:4711`.
    pub(crate) fn host(&self) -> String {
        let base = self.base();
        base.split("//").nth(1).expect("an address").to_owned()
    }

    /// The header with the session.
    pub(crate) fn cookie(&self) -> (&str, &str) {
        ("Cookie", self.cookie.as_deref().expect("a session"))
    }

    /// A connection.
    pub(crate) fn connect(&self) -> TcpStream {
        // By whatever name it calls itself.
        let host = self.host();
        let (_, port) = host.rsplit_once(':').expect("a port");
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a time");
        stream
    }

    /// Sends `bytes` as they are; what comes back.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may have had enough before all was sent.
        let _ = stream.write_all(bytes);
        let mut back = Vec::new();
        let _ = stream.read_to_end(&mut back);
        parse(&back)
    }

    /// A request with the session.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let origin = self.base().to_owned();
        let headers = [self.cookie(), ("Origin", &origin)];
        self.raw(&request(method, path, &self.host(), &headers, body))
    }

    /// `GET /api/v1/...` with the session, which must be answered.
    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", &format!("/api/v1/{path}"), b"");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    /// The same that must be refused; the status and the error.
    pub(crate) fn refused(&self, path: &str) -> (u16, Value) {
        let answer = self.ask("GET", &format!("/api/v1/{path}"), b"");
        assert!(answer.status >= 400, "{path}: {answer:?}");
        (answer.status, answer.json()["error"].clone())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it; its status and what it said on stderr.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        self.signal(Signal::TERM);
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("piped");
        stderr.read_to_string(&mut said).expect("UTF-8");
        (self.child.wait().expect("it ends"), said)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request after which the connection is closed.
pub(crate) fn request(
    method: &str,
    path: &str,
    host: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    text += "\r\n";
    [text.as_bytes(), body].concat()
}

/// A value for an address.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => (b as char).to_string(),
            _ => format!("%{b:02X}"),
        })
        .collect()
}

pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
    let (head, mut body) = match end {
        Some(end) => (&bytes[..end], bytes[end + 4..].to_vec()),
        None => (bytes, vec![]),
    };
    let head = String::from_utf8_lossy(head).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        body = joined(&body);
    }
    Answer {
        status: status.unwrap_or(0),
        head,
        body,
    }
}

/// A body that came in chunks.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = rest.windows(2).position(|w| w == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok();
        let size = size.and_then(|s| usize::from_str_radix(s, 16).ok());
        let Some(size) = size.filter(|s| *s > 0 && end + 2 + s <= rest.len()) else {
            break;
        };
        all.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    all
}
