//! Importing stdin: a run that grows with it.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use formats::{Head, Import, Refused, Report};
use run::Manifest;
use run::write::Writer;
use rustix::event::{PollFd, PollFlags, poll};

use super::inputs::{Text, decompressed};
use super::report::{self, Told, imported, lines_and_notes, say};
use super::{Known, Wanted};
use crate::commands::record::signals::Signals;
use crate::failure::Failure;

/// Bytes that are read at a time, and that are looked at before giving up.
const PIECE: usize = 64 << 10;

/// Rows that wait for the disk, in bytes, before reading goes on.
const WAITING: usize = 16 << 20;

pub(super) fn import(wanted: &Wanted) -> Result<ExitCode, Failure> {
    let signals = Signals::catch().map_err(|e| Failure::work(format!("catching signals: {e}")))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let pipe = Pipe {
        signals,
        interrupted: Arc::clone(&interrupted),
    };
    let mut from = Text::new(decompressed(Box::new(pipe)).map_err(Failure::input)?);
    let cut = from.cut();
    let (format, head) = recognised(wanted, &mut from)?;
    let mut import = Import::new(format.reading(), &Head::new(&head), wanted.options.clone());
    let refused = |Refused(why): Refused| Failure::input(format!("stdin: {why}"));
    import.feed(&head).map_err(refused)?;
    let times = if wanted.options.start.is_some() {
        "start"
    } else {
        "text"
    };
    let empty = Report::default();
    let first = manifest_of(wanted, &format, times, &empty, &mut import);
    let mut writer = Writer::create(&wanted.output, &first).map_err(Failure::input)?;
    let result = grow(wanted, &mut import, &mut from, &mut writer, &format, times);
    let report = match result.and_then(|()| import.finish()) {
        Ok(report) => report,
        Err(why) => {
            writer.abandon();
            return Err(refused(why));
        }
    };
    append(&mut import, &mut writer);
    let times = match () {
        () if report.relative => "relative",
        () if report.from_start => "start",
        () => "text",
    };
    let mut manifest = manifest_of(wanted, &format, times, &report, &mut import);
    manifest.ended = report.span.map(|(_, to)| to);
    let mut told = Told::default();
    // Who interrupts it knows that it ends early.
    if cut.is_cut() && !interrupted.load(Ordering::Relaxed) {
        told.problems.push(report::cut_off("stdin"));
    }
    if wanted.strict && (report.unknown > 0 || !told.problems.is_empty()) {
        writer.abandon();
        let lines = report.not_understood.iter();
        let lines = lines.map(|n| report::not_understood("stdin", n));
        let all: Vec<String> = told.problems.into_iter().chain(lines).collect();
        return Err(Failure::input(format!(
            "{}\nnothing was made: --strict",
            all.join("\n")
        )));
    }
    told.tell_problems();
    lines_and_notes("stdin", &report);
    let finished = writer
        .finish(manifest)
        .map_err(|e| Failure::work(format!("{}: {e}", wanted.output.display())))?;
    if let Some(why) = finished.not_sealed {
        return Err(Failure::work(format!("the run is not sealed: {why}")));
    }
    say(wanted, &finished.manifest, &told);
    Ok(told.exit_code())
}

/// Reads until the format is known, or enough to know that it is none.
fn recognised(wanted: &Wanted, from: &mut dyn Read) -> Result<(Known, Vec<u8>), Failure> {
    let mut head = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let n = from.read(&mut piece).map_err(|e| match e.kind() {
            // So little of it came that nothing can be unpacked.
            io::ErrorKind::UnexpectedEof => Failure::input(format!("stdin: {e}")),
            _ => Failure::work(format!("stdin: {e}")),
        })?;
        head.extend_from_slice(&piece[..n]);
        // What the last line is shows when it has ended.
        let whole = head
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |end| end + 1);
        let known = wanted.recognise(&Head::new(if n == 0 { &head } else { &head[..whole] }));
        match known {
            Ok(format) => return Ok((format, head)),
            Err(why) if n == 0 || head.len() > PIECE => {
                return Err(Failure::input(format!("stdin: {why}")));
            }
            Err(_) => {}
        }
    }
}

/// So many samples may wait for the length of their intervals: two times tell it, or a command
/// line before them.
const PATIENCE: usize = 4;

fn grow(
    wanted: &Wanted,
    import: &mut Import,
    from: &mut dyn Read,
    writer: &mut Writer,
    format: &Known,
    times: &'static str,
) -> Result<(), Refused> {
    let mut piece = vec![0; PIECE];
    let mut started = None;
    loop {
        let span = import.span();
        if span.map(|s| s.0) != started {
            started = span.map(|s| s.0);
            let manifest = manifest_of(wanted, format, times, &Report::default(), import);
            writer.update(&Manifest {
                ended: None,
                ..manifest
            });
        }
        // After it: who reads rows finds the start that they are counted from.
        append(import, writer);
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                import.feed(&piece[..n])?;
                if import.waiting() > PATIENCE {
                    return Err(Refused(
                        "the text does not tell how long an interval is, and what comes of a pipe \
                         cannot be read again\nhint: say it, as --every 1s"
                            .into(),
                    ));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Refused(e.to_string())),
        }
    }
}

fn append(import: &mut Import, writer: &mut Writer) {
    while writer.queued() > WAITING {
        std::thread::sleep(Duration::from_millis(1));
    }
    let end = import.span().map_or(0, |(_, to)| to);
    if import.rows().filled().next().is_some() {
        writer.append(import.rows(), end);
    }
}

fn manifest_of(
    wanted: &Wanted,
    format: &Known,
    times: &str,
    report: &Report,
    import: &mut Import,
) -> Manifest {
    let (from, to) = import.span().unwrap_or((0, 0));
    let every = report::interval(import.every(), report.span, report.samples).unwrap_or(1.0);
    let host = wanted.host.as_deref().or(report.host.as_deref());
    let file = imported("stdin", format.name(), times, report);
    let mut manifest = report::manifest(wanted, host, from, to, every, vec![file]);
    if report.span.is_none() {
        manifest.ended = None;
    }
    manifest
}

/// Stdin; a signal to end is its end.
struct Pipe {
    signals: Signals,
    /// A signal came.
    interrupted: Arc<AtomicBool>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // What unpacks it may ask again.
        if self.interrupted.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let stdin = io::stdin();
        loop {
            let fds: Vec<BorrowedFd<'_>> = self.signals.fds().collect();
            let mut wanted: Vec<PollFd<'_>> = fds
                .iter()
                .map(|fd| PollFd::new(fd, PollFlags::IN))
                .collect();
            let input = stdin.as_fd();
            wanted.push(PollFd::new(&input, PollFlags::IN));
            match poll(&mut wanted, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(e) => return Err(e.into()),
            }
            let ready = wanted.last().is_some_and(|p| !p.revents().is_empty());
            drop(wanted);
            drop(fds);
            let ended = self
                .signals
                .come()
                .into_iter()
                .any(|s| s != rustix::process::Signal::WINCH);
            if ended {
                self.interrupted.store(true, Ordering::Relaxed);
                return Ok(0);
            }
            if ready {
                return Ok(rustix::io::read(&stdin, buffer)?);
            }
        }
    }
}
