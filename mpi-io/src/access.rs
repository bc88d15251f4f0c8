//! Reading and writing (MPI-5.0, 14.4.2 and 14.4.3), in the default view: positions are bytes, data is as in memory.
//!
//! A buffer without gaps goes to the system as it is, any other in pieces of [`PIECE`] bytes.
//! Invariant: a call ends when all is moved, when the file ends, or with an error; the individual file pointer then
//! stands behind the last byte that was moved, or, after an error, where it was.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;
use std::time::Instant;

use mpi_core::Status;
use mpi_core::abi::{MPI_ERR_ACCESS, MPI_ERR_ARG, MPI_ERR_READ_ONLY};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::fault::Fault;
use crate::file::File;
use crate::shield;

/// Bytes that are packed or unpacked at a time.
const PIECE: usize = 64 * 1024;

/// How far a call came, and what ended it before its time.
type Moved = (u64, Option<Fault>);

impl File {
    /// `MPI_File_read_at`: fewer bytes than there is room for where the file ends; the status tells. Errors:
    /// `MPI_ERR_ARG`, `MPI_ERR_ACCESS` for a file opened for writing only, `MPI_ERR_UNSUPPORTED_OPERATION` for a
    /// sequential one, what the system says.
    pub fn read_at(&self, offset: i64, buffer: RecvBuf<'_>) -> Result<Status> {
        self.check_read()?;
        self.read_from(place(offset)?, buffer)
    }

    /// `MPI_File_write_at`. Errors: `MPI_ERR_ARG`, `MPI_ERR_READ_ONLY` for a file opened for reading only,
    /// `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential one, what the system says.
    pub fn write_at(&self, offset: i64, buffer: SendBuf<'_>) -> Result<Status> {
        self.check_write()?;
        self.check_pointers()?;
        self.write_from(place(offset)?, buffer)
    }

    /// `MPI_File_read`: as [`File::read_at`], at the individual file pointer.
    pub fn read(&self, buffer: RecvBuf<'_>) -> Result<Status> {
        self.check_read()?;
        let mut pointer = self.pointer();
        let status = self.read_from(*pointer, buffer)?;
        *pointer += status.bytes();
        Ok(status)
    }

    /// `MPI_File_write`: as [`File::write_at`], at the individual file pointer.
    pub fn write(&self, buffer: SendBuf<'_>) -> Result<Status> {
        self.check_write()?;
        self.check_pointers()?;
        let mut pointer = self.pointer();
        let status = self.write_from(*pointer, buffer)?;
        *pointer += status.bytes();
        Ok(status)
    }

    fn check_read(&self) -> Result<()> {
        if !self.amode.reads() {
            return Err(self.refusal(MPI_ERR_ACCESS, "it was opened for writing only, with MPI_MODE_WRONLY"));
        }
        self.check_pointers()
    }

    /// Errors when the file was opened for reading only.
    pub(crate) fn check_write(&self) -> Result<()> {
        if self.amode.writes() {
            return Ok(());
        }
        Err(self.refusal(MPI_ERR_READ_ONLY, "it was opened for reading only, with MPI_MODE_RDONLY"))
    }

    fn read_from(&self, at: u64, mut buffer: RecvBuf<'_>) -> Result<Status> {
        fits(at, buffer.bytes())?;
        let began = Instant::now();
        let (bytes, fault) = match buffer.contiguous_mut() {
            Some(room) => self.fill(at, room),
            None => self.scatter(at, &mut buffer),
        };
        let time = began.elapsed();
        let guard = self.engine.lock();
        self.instruments.reads.incr();
        self.instruments.bytes_read.add(bytes);
        self.instruments.time.add_ns(time.as_nanos() as u64);
        drop(guard);
        self.outcome(bytes, fault)
    }

    fn write_from(&self, at: u64, buffer: SendBuf<'_>) -> Result<Status> {
        fits(at, buffer.bytes())?;
        let began = Instant::now();
        // Relaxed: who synchronises afterwards does so behind this call.
        self.dirty.store(true, Ordering::Relaxed);
        let (bytes, fault) = match buffer.contiguous() {
            Some(data) => self.store(at, data),
            None => self.gather(at, &buffer),
        };
        let time = began.elapsed();
        let guard = self.engine.lock();
        self.instruments.writes.incr();
        self.instruments.bytes_written.add(bytes);
        self.instruments.time.add_ns(time.as_nanos() as u64);
        drop(guard);
        self.outcome(bytes, fault)
    }

    fn outcome(&self, bytes: u64, fault: Option<Fault>) -> Result<Status> {
        if let Some(fault) = fault {
            return Err(fault.on_file(&self.name));
        }
        let mut status = Status::EMPTY;
        status.set_bytes(bytes);
        Ok(status)
    }

    /// Reads until the room is full or the file ends.
    fn fill(&self, at: u64, room: &mut [u8]) -> Moved {
        let mut done = 0;
        while done < room.len() {
            match again(|| self.system.read_at(&mut room[done..], at + done as u64)) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) => return (done as u64, Some(error.into())),
            }
        }
        (done as u64, None)
    }

    /// Writes all of the data.
    fn store(&self, at: u64, data: &[u8]) -> Moved {
        let mut done = 0;
        while done < data.len() {
            let write = || self.system.write_at(&data[done..], at + done as u64);
            match again(|| self.shielded(write)) {
                // What takes nothing and says nothing would take nothing for ever.
                Ok(0) => return (done as u64, Some(Fault::from(io::Error::from(io::ErrorKind::WriteZero)))),
                Ok(bytes) => done += bytes,
                Err(error) => return (done as u64, Some(error.into())),
            }
        }
        (done as u64, None)
    }

    /// Makes a call that changes the file; no signal comes of it.
    pub(crate) fn shielded<R>(&self, call: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        if self.regular && shield::file_size_limit().is_none() { call() } else { shield::shielded(call) }
    }

    /// Reads into a buffer with gaps.
    fn scatter(&self, at: u64, buffer: &mut RecvBuf<'_>) -> Moved {
        in_pieces(buffer.bytes(), |done, piece| {
            let (bytes, fault) = self.fill(at + done, piece);
            buffer.unpack(done, &piece[..bytes as usize]);
            (bytes, fault)
        })
    }

    /// Writes from a buffer with gaps.
    fn gather(&self, at: u64, buffer: &SendBuf<'_>) -> Moved {
        in_pieces(buffer.bytes(), |done, piece| {
            let length = buffer.pack(done, piece);
            self.store(at + done, &piece[..length])
        })
    }
}

/// Moves `bytes` bytes through a small piece of memory, until one of the moves ends early.
fn in_pieces(bytes: u64, mut each: impl FnMut(u64, &mut [u8]) -> Moved) -> Moved {
    let mut memory = vec![0; bytes.min(PIECE as u64) as usize];
    let mut done = 0;
    while done < bytes {
        let length = (bytes - done).min(PIECE as u64) as usize;
        let (moved, fault) = each(done, &mut memory[..length]);
        done += moved;
        if fault.is_some() || moved < length as u64 {
            return (done, fault);
        }
    }
    (done, None)
}

/// Makes a call again that a signal interrupted.
pub(crate) fn again<R>(mut call: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn place(offset: i64) -> Result<u64> {
    u64::try_from(offset)
        .map_err(|_| Error::new(MPI_ERR_ARG, "an offset into a file must not be negative").arg("offset", &offset))
}

/// Errors when an access would end beyond what an offset can hold.
fn fits(at: u64, bytes: u64) -> Result<()> {
    match at.checked_add(bytes) {
        Some(end) if end <= i64::MAX as u64 => Ok(()),
        _ => {
            let rule = format!("{bytes} bytes from there on end beyond the last position that a file can have");
            Err(Error::new(MPI_ERR_ARG, rule).arg("offset", &at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_beyond_the_last_position_is_refused() {
        assert!(fits(0, i64::MAX as u64).is_ok() && fits(i64::MAX as u64, 0).is_ok());
        assert_eq!(fits(i64::MAX as u64, 1).expect_err("beyond").class(), MPI_ERR_ARG);
        assert_eq!(place(-1).expect_err("negative").class(), MPI_ERR_ARG);
    }

    #[test]
    fn an_interrupted_call_is_made_again() {
        let mut calls = 0;
        let result = again(|| {
            calls += 1;
            if calls < 3 { Err(io::Error::from_raw_os_error(libc::EINTR)) } else { Ok(calls) }
        });
        assert_eq!(result.expect("the third"), 3);
    }

    #[test]
    fn pieces_end_where_a_move_falls_short() {
        let bytes = 2 * PIECE as u64 + 7;
        assert_eq!(in_pieces(bytes, |_, piece| (piece.len() as u64, None)), (bytes, None));
        let mut seen = Vec::new();
        let short = in_pieces(bytes, |done, piece| {
            seen.push((done, piece.len()));
            (if done == 0 { piece.len() as u64 } else { 5 }, None)
        });
        assert_eq!((short, seen.len()), ((PIECE as u64 + 5, None), 2));
    }
}
