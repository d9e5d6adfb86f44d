//! What the command printed, in parts, and when each line of it came.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use run::Nanos;
use run::printed::{Piece, Times};
use serde_json::{Value, json};

use super::Serving;
use super::asked::Asked;
use super::refused::Refused;

/// Bytes of output in one answer.
const MOST: usize = 1 << 20;

/// Bytes before a time in which the beginning of its line is looked for.
const LINE: u64 = 4096;

/// What the command printed.
pub(super) async fn output(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Json<Value>, Refused> {
    let names = ["stdout", "stderr"];
    let stream = names[asked.one_of("stream", &names)?.unwrap_or(0)];
    let most = Most {
        bytes: asked.count("limit", 1..=MOST, 64 << 10)?,
        lines: asked.count("lines", 1..=MOST, MOST)?,
    };
    let Some(path) = serving.shown(&asked)?.path() else {
        return Ok(Json(Part::default().told(0)));
    };
    let (run, _) = serving.run(&asked)?;
    let started = run.manifest.started;
    let start = if let Some(seconds) = asked.number("from")? {
        Start::Time(started.saturating_add((seconds * 1e9) as Nanos))
    } else if asked.text("before").is_some() {
        Start::Before(asked.count("before", 0..=usize::MAX, 0)? as u64)
    } else {
        Start::At(asked.count("offset", 0..=usize::MAX, 0)? as u64)
    };
    let part = Part::read(path, stream, start, most).map_err(|e| {
        let text = format!("cannot read {}: {e}", path.join(stream).display());
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    })?;
    Ok(Json(part.told(started)))
}

/// Where a part of an output begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// At this byte.
    At(u64),
    /// At a line, such that it ends before this byte.
    Before(u64),
    /// At the line that was being printed at this time; at the end if none came later.
    Time(Nanos),
}

/// What a part may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

/// A part of an output.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    bytes: Vec<u8>,
    /// Where it begins, in bytes.
    offset: u64,
    /// Bytes of the whole output so far.
    total: u64,
    /// When its bytes came; none where that was not recorded.
    pieces: Option<Vec<Piece>>,
}

impl Part {
    /// At most so much of the output `stream` of the run in `dir`: whole lines, and whole
    /// characters where a line is longer.
    pub(super) fn read(dir: &Path, stream: &str, start: Start, most: Most) -> io::Result<Part> {
        let file = match File::open(dir.join(stream)) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Part::default()),
            Err(e) => return Err(e),
        };
        let total = file.metadata()?.len();
        let times = Times::open(dir, stream)?;
        let limit = most.bytes as u64;
        let (mut offset, length) = match start {
            Start::At(offset) => (offset.min(total), limit),
            Start::Before(end) => {
                let end = end.min(total);
                (end.saturating_sub(limit), end.min(limit))
            }
            Start::Time(time) => {
                let found = times.as_ref().map(|t| t.offset_at(time)).transpose()?;
                // Without times, all of it.
                let offset = found.map_or(Some(0), |found| found).unwrap_or(total);
                (beginning_of_line(&file, offset.min(total))?, limit)
            }
        };
        let mut bytes = vec![0; length.min(total - offset) as usize];
        // The file may have been cut since.
        let read = read_at(&file, &mut bytes, offset)?;
        bytes.truncate(read);
        if matches!(start, Start::Before(_)) {
            let beginning = beginning_of_last(&bytes, most.lines, offset == 0);
            bytes.drain(..beginning);
            offset += beginning as u64;
        } else {
            let goes_on = offset + (bytes.len() as u64) < total;
            bytes.truncate(end_of_first(&bytes, most.lines, goes_on));
        }
        let end = offset + bytes.len() as u64;
        let pieces = times.map(|times| times.between(offset, end)).transpose()?;
        Ok(Part {
            bytes,
            offset,
            total,
            pieces,
        })
    }

    /// As the page reads it; times are seconds since the run `started`.
    pub(super) fn told(&self, started: Nanos) -> Value {
        json!({
            "text": String::from_utf8_lossy(&self.bytes),
            "offset": self.offset,
            "next": self.offset + self.bytes.len() as u64,
            "total": self.total,
            "lines": self.lines(started),
        })
    }

    /// From which line on which time holds. A line's time is that of its first byte.
    fn lines(&self, started: Nanos) -> Option<Vec<Value>> {
        let mut pieces = self.pieces.as_ref()?.iter().peekable();
        let mut told: Vec<Value> = Vec::new();
        let mut before = None;
        let ends = self.bytes.split_inclusive(|b| *b == b'\n');
        let mut begin = self.offset;
        for (number, line) in ends.enumerate() {
            while pieces.next_if(|p| p.end <= begin).is_some() {}
            let at = pieces.peek().map(|p| p.at);
            if before != Some(at) {
                let seconds = at.map(|at| at.saturating_sub(started) as f64 / 1e9);
                told.push(json!({"line": number, "at": seconds}));
                before = Some(at);
            }
            begin += line.len() as u64;
        }
        Some(told)
    }
}

/// Fills `into` as far as the file goes; how many bytes that were.
fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match file.read_at(&mut into[read..], offset + read as u64) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(read)
}

/// Where the line begins that has the byte at `offset`, if that is not far.
fn beginning_of_line(file: &File, offset: u64) -> io::Result<u64> {
    let from = offset.saturating_sub(LINE);
    let mut before = vec![0; (offset - from) as usize];
    let read = read_at(file, &mut before, from)?;
    let line = before[..read].iter().rposition(|b| *b == b'\n');
    Ok(match line {
        Some(line) => from + line as u64 + 1,
        None if from == 0 => 0,
        None => offset,
    })
}

/// Where the first `lines` lines end; if the output `goes_on`, a line that is cut belongs to the
/// next part, and of a line that is longer than a part the character that is cut.
fn end_of_first(bytes: &[u8], lines: usize, goes_on: bool) -> usize {
    let ends = || (0..bytes.len()).filter(|i| bytes[*i] == b'\n');
    if let Some(end) = ends().nth(lines - 1) {
        return end + 1;
    }
    match ends().next_back() {
        _ if !goes_on => bytes.len(),
        Some(end) => end + 1,
        None => match std::str::from_utf8(bytes) {
            Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => e.valid_up_to(),
            _ => bytes.len(),
        },
    }
}

/// Where the last `lines` lines begin. Unless it is at the output's beginning, the first line is
/// taken to be cut, and is left out if it is not all there is.
fn beginning_of_last(bytes: &[u8], lines: usize, at_beginning: bool) -> usize {
    let inner = bytes.len().saturating_sub(1);
    let begins = || (0..inner).filter(|i| bytes[*i] == b'\n').map(|i| i + 1);
    match begins().rev().nth(lines - 1) {
        Some(begin) => begin,
        None if at_beginning => 0,
        None => begins().next().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::write::write_durably;

    const EVERYTHING: Most = Most {
        bytes: MOST,
        lines: MOST,
    };

    /// A directory with an output and its times.
    struct Printed(std::path::PathBuf);

    impl Printed {
        fn new(name: &str, text: &[u8], pieces: &[(u64, Nanos)]) -> Printed {
            let name = format!("sonde-printed-{name}-{}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&dir).unwrap();
            write_durably(&dir.join("stdout"), text).unwrap();
            let pieces = pieces.iter();
            let times: Vec<u8> = pieces
                .flat_map(|&(end, at)| Piece { end, at }.bytes())
                .collect();
            write_durably(&dir.join("stdout.times"), &times).unwrap();
            Printed(dir)
        }

        fn part(&self, start: Start, bytes: usize) -> Value {
            self.lines(start, bytes, MOST)
        }

        fn lines(&self, start: Start, bytes: usize, lines: usize) -> Value {
            let part = Part::read(&self.0, "stdout", start, Most { bytes, lines }).unwrap();
            part.told(1_000_000_000)
        }
    }

    impl Drop for Printed {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn parts_are_of_whole_lines_and_characters() {
        let of = |text: &str| Printed::new("parts", text.as_bytes(), &[]);
        let printed = of("aäöü\nb\n");
        let text = |start, limit| printed.part(start, limit)["text"].clone();
        assert_eq!(text(Start::At(0), 100), "aäöü\nb\n");
        assert_eq!(text(Start::At(0), 9), "aäöü\n");
        assert_eq!(text(Start::At(0), 4), "aä");
        assert_eq!(text(Start::At(3), 4), "öü");
        assert_eq!(text(Start::At(99), 4), "");
        assert_eq!(text(Start::Before(10), 5), "b\n");
        assert_eq!(text(Start::Before(8), 100), "aäöü\n");
        assert_eq!(printed.part(Start::At(0), 9)["next"], 8);
        assert_eq!(printed.part(Start::At(0), 9)["lines"], Value::Null);
    }

    #[test]
    fn lines_are_counted_from_where_a_part_begins_or_ends() {
        let printed = Printed::new("counted", b"\n\nc\nd\n", &[]);
        let text = |start, lines| printed.lines(start, 100, lines)["text"].clone();
        assert_eq!(text(Start::At(0), 2), "\n\n");
        assert_eq!(text(Start::At(0), 9), "\n\nc\nd\n");
        assert_eq!(text(Start::Before(6), 1), "d\n");
        assert_eq!(text(Start::Before(6), 3), "\nc\nd\n");
        assert_eq!(text(Start::Before(4), 2), "\nc\n");
        assert_eq!(text(Start::Before(6), 9), "\n\nc\nd\n");
    }

    #[test]
    fn what_is_no_text_is_gone_on_from_where_its_bytes_end() {
        let printed = Printed::new("binary", b"\xff\xfe\x00\xff\xff\xff", &[]);
        let part = printed.part(Start::At(0), 3);
        assert_eq!((&part["next"], &part["total"]), (&json!(3), &json!(6)));
        assert_eq!(printed.part(Start::At(3), 3)["next"], 6);
    }

    #[test]
    fn lines_have_the_times_of_their_first_bytes() {
        let second = 1_000_000_000;
        // `one` at 1 s; `tw` at 2 s, the rest of that line and `three` at 3 s; `four` is not known.
        let pieces = [(4, 2 * second), (6, 3 * second), (14, 4 * second)];
        let printed = Printed::new("lines", b"one\ntwo\nthree\nfour\nfive\n", &pieces);
        let all = printed.part(Start::At(0), 100);
        let line = |line: usize, at: Option<f64>| json!({"line": line, "at": at});
        let wanted = [
            line(0, Some(1.0)),
            line(1, Some(2.0)),
            line(2, Some(3.0)),
            line(3, None),
        ];
        assert_eq!(all["lines"], json!(wanted));
        let from = |seconds: i64| {
            let part = printed.part(Start::Time(second + seconds * second), 6);
            part["text"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            [from(0), from(2), from(3), from(4)],
            ["one\n", "two\n", "two\n", ""]
        );
    }

    #[test]
    fn no_output_is_an_empty_part() {
        let nothing =
            Part::read(Path::new("/nowhere"), "stdout", Start::At(0), EVERYTHING).unwrap();
        assert_eq!(nothing, Part::default());
    }
}
