//! Importing stdin: a run that grows with it.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use formats::{Beside, Head, Import, Refused, Report, may_have_prefix};
use run::write::Writer;
use run::{Manifest, Nanos};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};

use super::converted::kind;
use super::inputs::Text;
use super::packed::{TAR_HEADER, ZIP, decompressed, is_tar};
use super::report::{self, Told, imported, lines_and_notes, say};
use super::{Known, Wanted};
use crate::clock::RunClock;
use crate::commands::record::signals::Signals;
use crate::failure::Failure;
use crate::output;

/// Bytes that are read at a time, and that are looked at before giving up.
const PIECE: usize = 64 << 10;

/// Rows that wait for the disk, in bytes, before reading goes on.
const WAITING: usize = 16 << 20;

pub(super) fn import(wanted: &Wanted) -> Result<ExitCode, Failure> {
    let signals = Signals::catch().map_err(|e| Failure::work(format!("catching signals: {e}")))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let arrived = Arc::new(AtomicI64::new(NEVER));
    let pipe = Pipe {
        signals,
        interrupted: Arc::clone(&interrupted),
        clock: RunClock::start(),
        arrived: Arc::clone(&arrived),
    };
    let text = decompressed(Box::new(pipe)).map_err(Failure::input)?;
    let text = Text::new(text.from);
    let cut = text.cut();
    let mut from = Coming {
        text,
        arrived,
        // What was told of another time is no time of coming.
        counts: is_live() && (wanted.options.start.is_none() || wanted.starts_now),
    };
    let (format, pieces) = recognised(wanted, &mut from)?;
    let head: Vec<u8> = pieces.iter().flat_map(|p| &p.bytes).copied().collect();
    let mut import = Import::new(format.reading(), &Head::new(&head), wanted.options.clone());
    import.beside(&Beside {
        rest: "standard input is read once, for one tool; of a file all are read where dates tell \
               when they were",
        ..Beside::default()
    });
    let refused = |Refused(why): Refused| Failure::input(format!("stdin: {why}"));
    for piece in &pieces {
        feed(&mut import, &piece.bytes, piece.came).map_err(refused)?;
    }
    let empty = Report::default();
    let first = manifest_of(wanted, &format, &empty, &mut import);
    let mut writer = Writer::create(&wanted.output, &first).map_err(Failure::input)?;
    let result = grow(wanted, &mut import, &mut from, &mut writer, &format);
    let mut told = Told::default();
    let report = match result.and_then(|()| import.finish()) {
        Ok(report) => report,
        // What came cannot be had again.
        Err(why) if import.so_far().samples > 0 && !wanted.strict => {
            told.problems.push(format!(
                "stdin: {why}\n(what came before that is kept; what follows is not read)"
            ));
            import.so_far()
        }
        Err(why) => {
            writer.abandon();
            return Err(refused(why));
        }
    };
    append(&mut import, &mut writer);
    let mut manifest = manifest_of(wanted, &format, &report, &mut import);
    manifest.ended = report.span.map(|(_, to)| to);
    // Who interrupts it knows that it ends early.
    if cut.is_cut() && !interrupted.load(Ordering::Relaxed) {
        told.problems.push(report::cut_off("stdin"));
    }
    let faults = report::faults("stdin", &report);
    if wanted.strict && !(faults.is_empty() && told.problems.is_empty()) {
        writer.abandon();
        let all: Vec<String> = told.problems.into_iter().chain(faults).collect();
        return Err(Failure::input(format!(
            "{}\nnothing was made: --strict",
            all.join("\n")
        )));
    }
    told.tell_problems();
    lines_and_notes("stdin", "stdin", &report);
    let finished = writer
        .finish(manifest)
        .map_err(|e| Failure::work(format!("{}: {e}", wanted.output.display())))?;
    if let Some(why) = finished.not_sealed {
        return Err(Failure::work(format!("the run is not sealed: {why}")));
    }
    // What could not be written is missing in the run, and is not in the pipe any more.
    for loss in &finished.manifest.loss {
        let lost = format!("stdin: {} rows are lost: {}", loss.rows, loss.why);
        output::message(&lost);
        told.problems.push(lost);
    }
    say(wanted, &finished.manifest, &told);
    Ok(told.exit_code())
}

/// Whether stdin is what somebody writes meanwhile, and no file.
fn is_live() -> bool {
    let kind = fstat(io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(
        kind,
        Ok(FileType::Fifo | FileType::Socket | FileType::CharacterDevice)
    )
}

/// Nothing has come yet.
const NEVER: Nanos = Nanos::MIN;

/// Text, and when it came.
struct Coming {
    text: Text,
    /// When what was read last was there.
    arrived: Arc<AtomicI64>,
    /// That tells when a report was made.
    counts: bool,
}

impl Coming {
    fn read(&mut self, to: &mut [u8]) -> io::Result<(usize, Option<Nanos>)> {
        let count = self.text.read(to)?;
        let arrived = self.arrived.load(Ordering::Relaxed);
        Ok((count, (self.counts && arrived != NEVER).then_some(arrived)))
    }
}

/// Text that came together.
struct Piece {
    bytes: Vec<u8>,
    came: Option<Nanos>,
}

fn feed(import: &mut Import, bytes: &[u8], came: Option<Nanos>) -> Result<(), Refused> {
    if let Some(at) = came {
        import.came(at);
    }
    import.feed(bytes)
}

/// Reads until the format is known, or enough to know that it is none.
fn recognised(wanted: &Wanted, from: &mut Coming) -> Result<(Known, Vec<Piece>), Failure> {
    let mut head = Vec::new();
    let mut pieces = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let (n, came) = from.read(&mut piece).map_err(|e| match e.kind() {
            // So little of it came that nothing can be unpacked.
            io::ErrorKind::UnexpectedEof => Failure::input(format!("stdin: {e}")),
            _ => Failure::work(format!("stdin: {e}")),
        })?;
        let bytes = piece[..n].to_vec();
        head.extend_from_slice(&bytes);
        pieces.push(Piece { bytes, came });
        if let Some(why) = not_of_a_pipe(&head) {
            return Err(Failure::input(format!("stdin: {why}")));
        }
        // Perhaps it is one of those.
        if n > 0 && head.len() < TAR_HEADER && head.contains(&0) {
            continue;
        }
        // What the last line is shows when it has ended.
        let whole = head
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |end| end + 1);
        let known = wanted.recognise(&Head::new(if n == 0 { &head } else { &head[..whole] }));
        match known {
            // What a logger puts before each line shows when some have come.
            Ok(_) if n > 0 && may_have_prefix(&head[..whole]) => {}
            Ok(format) => return Ok((format, pieces)),
            Err(not) if n == 0 || head.len() > PIECE => {
                return Err(Failure::input(format!("stdin: {}", not.why)));
            }
            Err(_) => {}
        }
    }
}

/// Why what begins so is not read from a pipe: its members would be one text, or its own tool has to
/// read it.
fn not_of_a_pipe(head: &[u8]) -> Option<&'static str> {
    if is_tar(head) {
        Some(
            "it is an archive of tar, whose files would be taken for one\n\
             hint: unpack it and import the directory, or give the file: sonde import NAME.tar",
        )
    } else if head.starts_with(ZIP) {
        Some(
            "it is an archive of zip, whose files would be taken for one\n\
             hint: unpack it and import the directory, or give the file: sonde import NAME.zip",
        )
    } else if kind(head).is_some() {
        Some(
            "only its own tool reads it (sadf, atop, pmrep), and not from a pipe\n\
             hint: give the file: sonde import NAME",
        )
    } else {
        None
    }
}

/// So many samples may wait for the length of their intervals: two times tell it, or a command
/// line before them.
const PATIENCE: usize = 4;

fn grow(
    wanted: &Wanted,
    import: &mut Import,
    from: &mut Coming,
    writer: &mut Writer,
    format: &Known,
) -> Result<(), Refused> {
    let mut piece = vec![0; PIECE];
    let mut started = None;
    loop {
        let span = import.span();
        if span.map(|s| s.0) != started {
            started = span.map(|s| s.0);
            let manifest = manifest_of(wanted, format, &Report::default(), import);
            writer.update(&Manifest {
                ended: None,
                ..manifest
            });
        }
        // After it: who reads rows finds the start that they are counted from.
        append(import, writer);
        match from.read(&mut piece) {
            Ok((0, _)) => return Ok(()),
            Ok((n, came)) => {
                feed(import, &piece[..n], came)?;
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

fn manifest_of(wanted: &Wanted, format: &Known, report: &Report, import: &mut Import) -> Manifest {
    let times = match () {
        () if report.by_arrival || import.is_by_arrival() => "arrival",
        () if report.relative => "relative",
        // Before it is over it is not known.
        () if report.from_start || report.span.is_none() && wanted.options.start.is_some() => {
            "start"
        }
        () => "text",
    };
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
    clock: RunClock,
    /// When what was read last was there.
    arrived: Arc<AtomicI64>,
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
                self.arrived.store(self.clock.now(), Ordering::Relaxed);
                return Ok(rustix::io::read(&stdin, buffer)?);
            }
        }
    }
}
