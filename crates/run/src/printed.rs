//! When the command's output came: `stdout.times` and `stderr.times` beside what it printed.
//!
//! A record is 16 bytes: the end of a piece of the output, in bytes from the output's beginning
//! (unsigned), and the time at which that piece was there (signed, nanoseconds since 1970 on the
//! run's clock), both little-endian. A piece begins where the one before ends. Its bytes came at
//! its time, or less than the spacing of records before it; what lies after the last record has
//! no known time. So a recorder that was killed, or whose disk was full, leaves times unknown,
//! and never wrong ones.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::Nanos;

/// What the file of times adds to the name of its output.
pub const TIMES: &str = ".times";

/// Bytes of a record.
const RECORD: usize = 16;

/// The spacing of the first records; each [`RECORDS_OF_A_SPACING`] later ones have it doubled, so
/// that a day of chatter takes 8 MB.
const SPACING: Nanos = 10_000_000;

/// Records after which the spacing doubles.
const RECORDS_OF_A_SPACING: u64 = 1 << 16;

/// A piece of output that was there at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the output up to its end.
    pub end: u64,
    /// When it was there.
    pub at: Nanos,
}

impl Piece {
    /// As it stands in the file.
    pub fn bytes(self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&self.end.to_le_bytes());
        bytes[8..].copy_from_slice(&self.at.to_le_bytes());
        bytes
    }

    fn read(bytes: [u8; RECORD]) -> Piece {
        let (end, at) = bytes.split_at(8);
        Piece {
            end: u64::from_le_bytes(end.try_into().expect("half of sixteen")),
            at: Nanos::from_le_bytes(at.try_into().expect("half of sixteen")),
        }
    }
}

/// Makes pieces of output that comes, no more often than records may.
#[derive(Debug, Default)]
pub struct Pieces {
    made: u64,
    /// Before it no piece is made.
    next: Nanos,
    waiting: Option<Piece>,
}

impl Pieces {
    /// Output up to `end` was there at `at`; answers with a piece that is to be written.
    pub fn came(&mut self, end: u64, at: Nanos) -> Option<Piece> {
        let piece = Piece { end, at };
        let before = self.take(at);
        if before.is_some() || at < self.next {
            self.waiting = Some(piece);
            return before;
        }
        self.made(at);
        Some(piece)
    }

    /// When what waits is to be asked for with [`Pieces::take`].
    pub fn due(&self) -> Option<Nanos> {
        self.waiting.map(|_| self.next)
    }

    /// The piece that waits, if it may be written at `now`.
    pub fn take(&mut self, now: Nanos) -> Option<Piece> {
        if now < self.next {
            return None;
        }
        let piece = self.waiting.take()?;
        self.made(now);
        Some(piece)
    }

    /// The last piece: no more output will come.
    pub fn end(&mut self) -> Option<Piece> {
        self.waiting.take()
    }

    fn made(&mut self, at: Nanos) {
        // 2^20 spacings are three hours; no file gets there.
        let doubled = (self.made / RECORDS_OF_A_SPACING).min(20);
        self.made += 1;
        self.next = at + (SPACING << doubled);
    }
}

/// The times of an output, read where they are asked for.
#[derive(Debug)]
pub struct Times {
    file: File,
    count: u64,
}

impl Times {
    /// Those of the output `stream` of the run in `dir`, if they were recorded.
    pub fn open(dir: &Path, stream: &str) -> io::Result<Option<Times>> {
        match File::open(dir.join(format!("{stream}{TIMES}"))) {
            Ok(file) => Times::of(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Those in an open file, if there are any.
    pub fn of(file: File) -> io::Result<Option<Times>> {
        // A record that is not yet whole is none.
        let count = file.metadata()?.len() / RECORD as u64;
        Ok((count > 0).then_some(Times { file, count }))
    }

    fn piece(&self, index: u64) -> io::Result<Piece> {
        let mut bytes = [0; RECORD];
        self.file.read_exact_at(&mut bytes, index * RECORD as u64)?;
        Ok(Piece::read(bytes))
    }

    /// The first piece that is not `before`, of pieces in order.
    fn first(&self, before: impl Fn(Piece) -> bool) -> io::Result<u64> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.piece(middle)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The pieces in which the bytes from `from` to `to` lie, in order. Where records
    /// contradict one another, those before are told.
    pub fn between(&self, from: u64, to: u64) -> io::Result<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        for index in self.first(|p| p.end <= from)?..self.count {
            let piece = self.piece(index)?;
            if pieces
                .last()
                .is_some_and(|b| piece.end <= b.end || piece.at < b.at)
            {
                break;
            }
            pieces.push(piece);
            if piece.end >= to {
                break;
            }
        }
        Ok(pieces)
    }

    /// When the first `to` bytes were there; none if that is not known.
    pub fn when(&self, to: u64) -> io::Result<Option<Nanos>> {
        let index = self.first(|p| p.end < to)?;
        if index == self.count {
            return Ok(None);
        }
        self.piece(index).map(|p| Some(p.at))
    }

    /// Where the output begins that was there at `time` or later; none if none was.
    pub fn offset_at(&self, time: Nanos) -> io::Result<Option<u64>> {
        let index = self.first(|p| p.at < time)?;
        if index == self.count {
            return Ok(None);
        }
        match index {
            0 => Ok(Some(0)),
            _ => self.piece(index - 1).map(|p| Some(p.end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn piece(end: u64, at: Nanos) -> Piece {
        Piece { end, at: at * MS }
    }

    #[test]
    fn a_piece_alone_is_made_at_once() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.came(5, 100 * MS), Some(piece(5, 100)));
        assert_eq!(pieces.due(), None);
        assert_eq!(pieces.came(9, 110 * MS), Some(piece(9, 110)));
        assert_eq!(pieces.end(), None);
    }

    #[test]
    fn pieces_that_come_fast_are_one_within_the_spacing() {
        let mut pieces = Pieces::default();
        pieces.came(5, 100 * MS);
        assert_eq!(pieces.came(6, 101 * MS), None);
        assert_eq!(pieces.came(7, 109 * MS), None);
        assert_eq!(pieces.due(), Some(110 * MS));
        assert_eq!(pieces.take(109 * MS), None);
        assert_eq!(pieces.take(110 * MS), Some(piece(7, 109)));
        assert_eq!(pieces.due(), None);
        // Nobody asked in time: what comes later is not part of what waits.
        assert_eq!(pieces.came(8, 111 * MS), None);
        assert_eq!(pieces.came(9, 500 * MS), Some(piece(8, 111)));
        assert_eq!(pieces.due(), Some(510 * MS));
        assert_eq!(pieces.end(), Some(piece(9, 500)));
    }

    #[test]
    fn a_day_of_chatter_has_a_bound() {
        let mut pieces = Pieces::default();
        let mut written = 0;
        for ms in 0..86_400_000 {
            written += u64::from(pieces.came(ms as u64 + 1, ms * MS).is_some());
        }
        assert!(written * RECORD as u64 <= 8_000_000, "{written} records");
    }

    fn times(name: &str, pieces: &[Piece], more: &[u8]) -> Option<Times> {
        let dir = std::env::temp_dir().join(format!("sonde-times-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut bytes: Vec<u8> = pieces.iter().flat_map(|p| p.bytes()).collect();
        bytes.extend(more);
        crate::write::write_durably(&dir.join("stdout.times"), &bytes).unwrap();
        let times = Times::open(&dir, "stdout").unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        times
    }

    #[test]
    fn times_are_found_by_place_and_places_by_time() {
        let all = [piece(4, 10), piece(9, 20), piece(12, 500)];
        let times = times("found", &all, b"half").unwrap();
        assert_eq!(times.between(0, 100).unwrap(), all);
        assert_eq!(times.between(4, 9).unwrap(), all[1..2]);
        assert_eq!(times.between(3, 5).unwrap(), all[..2]);
        assert_eq!(times.between(12, 20).unwrap(), []);
        assert_eq!(times.when(4).unwrap(), Some(10 * MS));
        assert_eq!(times.when(5).unwrap(), Some(20 * MS));
        assert_eq!(times.when(13).unwrap(), None);
        assert_eq!(times.offset_at(0).unwrap(), Some(0));
        assert_eq!(times.offset_at(10 * MS + 1).unwrap(), Some(4));
        assert_eq!(times.offset_at(500 * MS).unwrap(), Some(9));
        assert_eq!(times.offset_at(501 * MS).unwrap(), None);
    }

    #[test]
    fn what_contradicts_itself_is_not_told() {
        let odd = [piece(4, 10), piece(9, 20), piece(7, 30), piece(20, 40)];
        let times = times("odd", &odd, &[]).unwrap();
        assert_eq!(times.between(0, 20).unwrap(), odd[..2]);
        assert!(
            super::Times::open(Path::new("/nowhere"), "stdout")
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn an_empty_file_has_no_times() {
        assert!(times("empty", &[], b"half a record").is_none());
    }
}
