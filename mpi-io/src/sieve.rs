//! Data sieving: strided accesses of one process by few long system calls, which move the gaps too.
//!
//! A read reads a range of the file and picks the data out of it. A write reads a range, stores the data in it and
//! writes it back; the gaps would undo what others write meanwhile, so each write through the file handle locks its range
//! meanwhile, as do writes through other handles (`openers`), unless `MPI_MODE_UNIQUE_OPEN` or a hint excludes those.
//! Invariant: memory is bounded by the hints, whatever the gaps are; a range ends with a data byte, so that a write
//! never makes the file longer than its data do.
//! Not here: accesses without gaps (`access`), the hints (`buffering`).

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::{io, mem};

use crate::atomicity::Locked;
use crate::buffering::Choice;
use crate::fault::Fault;
use crate::file::File;
use crate::moved::Moved;
use crate::view::View;
use crate::window::{Window, of_length};

/// The copying that costs as much time as a short system call, in bytes.
const CALL_BYTES: u64 = 4096;

/// A range of the file, and the data bytes in it.
struct Range {
    from: u64,
    length: u64,
    data: u64,
}

impl Range {
    /// The range that begins with the data byte `at` and has no more than `most` bytes and `data` data bytes.
    fn at(view: &View, at: u64, data: u64, most: u64) -> Range {
        let from = view.run(at).0;
        let end = view.bytes_below(from + most).clamp(at + 1, at + data);
        Range { from, length: view.run(end - 1).0 + 1 - from, data: end - at }
    }

    /// System calls that move the data alone, about.
    fn calls(&self, view: &View) -> u64 {
        self.data.div_ceil(view.mean_run())
    }
}

impl File {
    /// Whether strided writes write back the gaps, and all writes lock their ranges; the same in all processes.
    pub(crate) fn writes_back(&self) -> bool {
        // Relaxed: see `set_view`.
        let safe = || self.amode.is_unique() || self.region_locked.load(Ordering::Relaxed);
        let automatic = || self.strided.load(Ordering::Relaxed) && safe();
        match self.buffering().ds_write {
            // Where locks do not reach all hosts, their processes would undo each other's writes.
            _ if self.hosts.as_ref().is_some_and(|hosts| !hosts.locks) => false,
            Choice::Enable => self.regular,
            Choice::Automatic => self.regular && automatic(),
            Choice::Disable => false,
        }
    }

    /// Whether [`File::writes_back`] may hold; `false` is certain, and takes no lock.
    pub(crate) fn may_write_back(&self) -> bool {
        // Relaxed: collective calls change them, while no accesses are under way.
        self.strided.load(Ordering::Relaxed) || self.writes_back_always.load(Ordering::Relaxed)
    }

    /// The lock of a range that is written, where a process may write back gaps. Atomic accesses have one already.
    pub(crate) fn lock_write(&self, from: u64, length: u64) -> io::Result<Option<Locked<'_>>> {
        if self.is_atomic() || !(self.must_lock || self.writes_back()) {
            return Ok(None);
        }
        self.turns.lock(&self.system, from, length, true).map(Some)
    }

    /// Reads data bytes from `at` on, by ranges where that is faster, until the room is full or the file ends.
    pub(crate) fn fill_sieving(&self, view: &View, at: u64, room: &mut [u8]) -> Moved {
        let hints = self.sieving();
        let mut memory = self.sieve_memory();
        let mut done = 0;
        while done < room.len() {
            let here = at + done as u64;
            let range = Range::at(view, here, (room.len() - done) as u64, hints.read_bytes);
            let room = &mut room[done..done + range.data as usize];
            let sieves = match hints.read {
                Choice::Automatic => range.length < range.calls(view) * CALL_BYTES,
                Choice::Enable => range.calls(view) > 1,
                Choice::Disable => false,
            };
            let (moved, fault) = if sieves {
                let memory = of_length(&mut memory, range.length);
                let (got, fault) = self.fill_run(range.from, memory);
                let data = view.bytes_below(range.from + got).clamp(here, here + range.data) - here;
                Window::new(memory, range.from).data(view, here, data).pack(0, room);
                (data, fault)
            } else {
                self.fill_runs(view, here, room)
            };
            done += moved as usize;
            if fault.is_some() || moved < range.data {
                self.keep_sieve_memory(memory);
                return (done as u64, fault);
            }
        }
        self.keep_sieve_memory(memory);
        (done as u64, None)
    }

    /// Writes the data to the view's places from `at` on, by ranges where that is faster. For a file that may be read,
    /// each with its lock.
    pub(crate) fn store_sieving(&self, view: &View, at: u64, data: &[u8]) -> Moved {
        let most = self.sieving().write_bytes;
        let mut memory = self.sieve_memory();
        let mut done = 0;
        while done < data.len() {
            let here = at + done as u64;
            let range = Range::at(view, here, (data.len() - done) as u64, most);
            let data = &data[done..done + range.data as usize];
            let sieves = match self.buffering().ds_write {
                Choice::Enable => range.calls(view) > 1 && range.data < range.length,
                // Read and written, so it is moved twice.
                _ => 2 * range.length < range.calls(view) * CALL_BYTES,
            };
            let locked = self.lock_write(range.from, range.length);
            let (moved, fault) = if let Err(error) = &locked {
                (0, Some(Fault::of(error.raw_os_error().unwrap_or(libc::ENOLCK))))
            } else if sieves {
                let memory = of_length(&mut memory, range.length);
                match self.fill_run(range.from, memory) {
                    (_, Some(fault)) => (0, Some(fault)),
                    (got, None) => {
                        // Gaps behind the end of the file read as zeros once data follow them.
                        memory[got as usize..].fill(0);
                        Window::new(memory, range.from).room(view, here, range.data).unpack(0, data);
                        let (stored, fault) = self.store_run(range.from, memory);
                        let end = view.bytes_below(range.from + stored).clamp(here, here + range.data);
                        (end - here, fault)
                    }
                }
            } else {
                self.store_runs(view, here, data)
            };
            done += moved as usize;
            if fault.is_some() {
                self.keep_sieve_memory(memory);
                return (done as u64, fault);
            }
        }
        self.keep_sieve_memory(memory);
        (done as u64, None)
    }

    /// The memory of the last access; empty for the first one, and for a second thread.
    fn sieve_memory(&self) -> Vec<u8> {
        mem::take(&mut *self.sieve.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep_sieve_memory(&self, memory: Vec<u8>) {
        *self.sieve.lock().unwrap_or_else(PoisonError::into_inner) = memory;
    }
}
