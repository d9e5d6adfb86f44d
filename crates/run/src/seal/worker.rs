//! A thread that writes one table.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::SealError;
use super::direct::Writing;
use crate::rows::{Alike, Rows, empty};

/// Pieces that wait for the thread; who makes them waits if there are more.
const WAITING: usize = 1;

/// Rows of one table: those of samples that are alike, then the others.
pub(super) type Piece = (Vec<Alike>, Rows);

/// Empties a piece; its room stays.
pub(super) fn clear(piece: &mut Piece) {
    empty(&mut piece.0);
    piece.1.clear();
}

enum Message {
    /// Rows, and the words that came since the piece before.
    Rows(Piece, Vec<Arc<str>>),
    /// There are no more; the last words.
    End(Vec<Arc<str>>),
}

type Finished = Result<Option<(&'static str, u64, u32)>, SealError>;

/// The thread, as who makes the rows sees it. Dropped before its end it gives the table up.
pub(super) struct Worker {
    send: Option<SyncSender<Message>>,
    /// Pieces that are done with, for their room.
    back: Receiver<Piece>,
    thread: Option<JoinHandle<Finished>>,
    /// Words that it knows.
    known: usize,
}

impl Worker {
    pub(super) fn start(writing: Writing) -> Result<Worker, SealError> {
        let (send, receive) = sync_channel(WAITING);
        let (give, back) = channel();
        let thread = std::thread::Builder::new()
            .name("seal".into())
            .spawn(move || work(writing, &receive, &give))?;
        Ok(Worker {
            send: Some(send),
            back,
            thread: Some(thread),
            known: 0,
        })
    }

    /// The words that it does not know yet; they are to be sent next.
    pub(super) fn unknown(&mut self, texts: &[Arc<str>]) -> Vec<Arc<str>> {
        let new = texts.get(self.known..).unwrap_or_default().to_vec();
        self.known += new.len();
        new
    }

    /// Rows to fill, empty and with room, if it has given some back.
    pub(super) fn empty(&self) -> Option<Piece> {
        self.back.try_recv().ok()
    }

    /// Hands rows on.
    pub(super) fn push(&mut self, rows: Piece, new: Vec<Arc<str>>) -> Result<(), SealError> {
        self.send(Message::Rows(rows, new))
    }

    /// There are no more rows: it is to finish the file.
    pub(super) fn end(&mut self, texts: &[Arc<str>]) -> Result<(), SealError> {
        let new = self.unknown(texts);
        self.send(Message::End(new))
    }

    fn send(&mut self, message: Message) -> Result<(), SealError> {
        let sent = self.send.as_ref().is_some_and(|s| s.send(message).is_ok());
        // It ends before it is told to only for an error.
        if sent { Ok(()) } else { self.join().map(drop) }
    }

    /// The table's name, rows and the sum of its footer, when it was told that this is the end.
    pub(super) fn finished(mut self) -> Result<(&'static str, u64, u32), SealError> {
        let done = self.join()?;
        done.ok_or_else(|| std::io::Error::other("a table was given up").into())
    }

    fn join(&mut self) -> Finished {
        self.send = None;
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => Ok(None),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.send = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(mut writing: Writing, receive: &Receiver<Message>, give: &Sender<Piece>) -> Finished {
    let mut texts = Vec::new();
    for message in receive {
        match message {
            Message::Rows(mut piece, new) => {
                texts.extend(new);
                writing.push(&piece, &texts)?;
                clear(&mut piece);
                // Nobody takes it when no more rows are made.
                let _ = give.send(piece);
            }
            Message::End(new) => {
                texts.extend(new);
                return writing.finish(&texts).map(Some);
            }
        }
    }
    Ok(None)
}
