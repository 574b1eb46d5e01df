//! Recordings: a stream kept as it came, to be served again later.
//!
//! # Why not `.tracy` files
//!
//! The profiler's own file is its memory written down: tables, orders and packed fields that change
//! with nearly every release, each gated by the version of the program that wrote it. A writer of
//! ours would copy all of what the server derives (child lists, statistics orders, thread
//! compression, context switches, symbol maps), be right for one release, and break quietly with
//! the next. The *stream* is the interface that Tracy keeps in step itself: a client and a server
//! of one protocol number understand each other by design. So what is kept is what the client said,
//! byte for byte, with the questions that it answered. Served again ([`Server`](crate::Server)), any
//! Tracy of that protocol makes of it what it would have made of the program: it opens in the
//! profiler, and `tracy-capture` turns it into a `.tracy` file that later releases convert.
//! Everything that was sent is in it, whatever this crate's own model keeps, but for machine code,
//! which nobody asks the client for: the profiler shows sources and callstacks, and no disassembly.
//! (Tracy's own server, built with its asserts, was served recordings of the test programs, and counted what
//! this crate counts.)
//!
//! # The file
//!
//! Eight bytes `ZCTRACY1`, then records until the end of the file: one byte of kind, a
//! little-endian `u32` length, and so many bytes.
//!
//! | kind | bytes |
//! |---|---|
//! | `W` | the welcome message, with an on-demand client's addition; once, first |
//! | `F` | one frame's LZ4 block, as it came |
//! | `Q` | questions, 13 bytes each, as they were sent |
//! | `E` | empty: the client said by itself that it was done, and everything was answered |
//!
//! A file that was cut anywhere is good up to its last whole record.

use std::io::{self, Write};

use crate::welcome::Welcome;

pub(crate) const MAGIC: [u8; 8] = *b"ZCTRACY1";
pub(crate) const WELCOME: u8 = b'W';
pub(crate) const FRAME: u8 = b'F';
pub(crate) const QUESTIONS: u8 = b'Q';
pub(crate) const END: u8 = b'E';

/// Writes a recording.
pub(crate) struct Recorder {
    to: Box<dyn Write + Send>,
}

impl Recorder {
    pub(crate) fn new(mut to: Box<dyn Write + Send>, welcome: &Welcome) -> io::Result<Self> {
        to.write_all(&MAGIC)?;
        let mut recorder = Self { to };
        recorder.write(WELCOME, &welcome.to_bytes())?;
        Ok(recorder)
    }

    pub(crate) fn frame(&mut self, block: &[u8]) -> io::Result<()> {
        self.write(FRAME, block)
    }

    pub(crate) fn questions(&mut self, questions: &[u8]) -> io::Result<()> {
        self.write(QUESTIONS, questions)
    }

    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.write(END, &[])
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn write(&mut self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.to.write_all(&[kind])?;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(bytes)
    }
}
