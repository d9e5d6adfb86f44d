//! The bytes of a journal, decompressed.
//!
//! A journal's last frame has no end while it is written, and none if the recorder was
//! killed. A block of it that is whole ends at a block's header; anything else was cut or
//! damaged, and the library's own reader tells both alike as "unexpected end".

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Bytes read at a time.
const READ: usize = 256 << 10;

/// Bytes of a block's header (RFC 8878, 3.1.1.2): what the decoder asks for between blocks.
const BLOCK_HEADER: usize = 3;

/// Reads from the start of a file at an offset of its own, so that several can share it.
pub(crate) struct Frames<'a> {
    file: &'a File,
    offset: u64,
    length: u64,
    decoder: Decoder<'static>,
    input: Vec<u8>,
    used: usize,
    /// Bytes that the decoder wants next; 0 between frames.
    wants: usize,
}

impl<'a> Frames<'a> {
    /// Of what is in `file` now.
    pub(crate) fn open(file: &'a File) -> io::Result<Frames<'a>> {
        Ok(Frames {
            file,
            offset: 0,
            length: file.metadata()?.len(),
            decoder: Decoder::new()?,
            input: Vec::new(),
            used: 0,
            wants: 0,
        })
    }

    /// Whether the end that was read is one between blocks.
    pub(crate) fn ended_whole(&self) -> bool {
        self.wants == 0 || self.wants == BLOCK_HEADER
    }

    /// Whether all that the file has was taken: what is missing then was cut off.
    pub(crate) fn is_used_up(&self) -> bool {
        self.offset >= self.length && self.used == self.input.len()
    }

    fn fill(&mut self) -> io::Result<()> {
        let left = self.length.saturating_sub(self.offset);
        self.input.resize(READ.min(left as usize), 0);
        let n = self.file.read_at(&mut self.input, self.offset)?;
        self.input.truncate(n);
        self.offset += n as u64;
        self.used = 0;
        Ok(())
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.used == self.input.len() {
                self.fill()?;
            }
            let mut input = InBuffer::around(&self.input[self.used..]);
            let mut out = OutBuffer::around(&mut *buffer);
            let exhausted = input.src.is_empty();
            if !(exhausted && self.wants == 0) {
                self.wants = self.decoder.run(&mut input, &mut out)?;
            }
            let (taken, made) = (input.pos(), out.pos());
            self.used += taken;
            if made > 0 || exhausted {
                return Ok(made);
            }
        }
    }
}
