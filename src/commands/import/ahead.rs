//! Reading a file a few pieces ahead of who parses it: the kernel's copying and decompression go
//! on beside the parsing.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Bytes that are read at a time: so few that they are in a processor's cache when they are
/// parsed.
const PIECE: usize = 256 << 10;

/// Pieces that may wait to be parsed.
const WAITING: usize = 2;

/// How long one is waited for before signals are looked at. Only a pipe is waited for so long.
const PATIENCE: Duration = Duration::from_millis(100);

/// A file that a thread of its own reads. Given up before its end, the thread ends with its
/// present piece.
pub(super) struct Ahead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// Those that were parsed, for their room.
    parsed: Sender<Vec<u8>>,
}

/// What became of waiting for a piece.
pub(super) enum Next {
    Piece(Vec<u8>),
    /// It has not come yet.
    NotYet,
    End,
}

impl Ahead {
    pub(super) fn start(from: Box<dyn Read + Send>) -> io::Result<Ahead> {
        let (send, pieces) = sync_channel(WAITING);
        let (parsed, back) = channel();
        std::thread::Builder::new()
            .name("read".into())
            .spawn(move || read(from, &send, &back))?;
        Ok(Ahead { pieces, parsed })
    }

    /// The next piece, if it comes soon.
    pub(super) fn next(&self) -> io::Result<Next> {
        match self.pieces.recv_timeout(PATIENCE) {
            Ok(piece) => piece.map(Next::Piece),
            Err(RecvTimeoutError::Timeout) => Ok(Next::NotYet),
            Err(RecvTimeoutError::Disconnected) => Ok(Next::End),
        }
    }

    /// Takes back a piece, for its room.
    pub(super) fn is_parsed(&self, piece: Vec<u8>) {
        // Nobody reads any more: the file is over.
        let _ = self.parsed.send(piece);
    }
}

fn read(
    mut from: Box<dyn Read + Send>,
    send: &SyncSender<io::Result<Vec<u8>>>,
    back: &Receiver<Vec<u8>>,
) {
    loop {
        let mut piece = back.try_recv().unwrap_or_default();
        piece.resize(PIECE, 0);
        let result = match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                Ok(piece)
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => Err(e),
        };
        let is_over = result.is_err();
        if send.send(result).is_err() || is_over {
            return;
        }
    }
}
