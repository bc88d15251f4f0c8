//! Accesses in the data representation `external32` (MPI-5.0, 14.5.2): data are converted in pieces on their way.
//!
//! Invariant: elements are converted whole; the bytes of an element that the file's end divides are dropped.
//! Not here: the conversion itself (`mpi_datatype::external32`), accesses without one (`access`).

use mpi_datatype::external32::{pack_part, unpack_part};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};

use crate::file::File;
use crate::moved::{Moved, PIECE};
use crate::view::View;

/// The least memory for converted data: more than an element has.
const LEAST: usize = 64;

impl File {
    /// Reads `bytes` bytes of the view from `at` on and converts them. Returns what was read, and the bytes stored in
    /// memory, packed.
    pub(crate) fn read_converted(
        &self,
        view: &View,
        at: u64,
        bytes: u64,
        buffer: &mut RecvBuf<'_>,
        datatype: &Datatype,
    ) -> (Moved, u64) {
        let mut memory = vec![0; bytes.clamp(LEAST as u64, PIECE as u64) as usize];
        // Bytes at the start of `memory` are part of an element whose other bytes come next.
        let (mut read, mut stored, mut kept) = (0, 0, 0);
        while read < bytes {
            let length = (bytes - read).min((memory.len() - kept) as u64) as usize;
            let (got, fault) = self.fill(view, at + read, &mut memory[kept..kept + length]);
            read += got;
            let all = kept + got as usize;
            let (used, native) = unpack_part(buffer, datatype, stored, &memory[..all]);
            stored += native;
            memory.copy_within(used..all, 0);
            kept = all - used;
            if fault.is_some() || got < length as u64 {
                return ((read, fault), stored);
            }
        }
        ((read, None), stored)
    }

    /// Converts the data and writes them to the view's places from `at` on. Returns what was written.
    pub(crate) fn write_converted(&self, view: &View, at: u64, buffer: &SendBuf<'_>, datatype: &Datatype) -> Moved {
        let mut memory = vec![0; buffer.bytes().clamp(LEAST as u64, PIECE as u64) as usize];
        let (mut packed, mut written) = (0, 0);
        while packed < buffer.bytes() {
            let mut filled = 0;
            loop {
                let (native, external) = pack_part(buffer, datatype, packed, &mut memory[filled..]);
                (packed, filled) = (packed + native, filled + external);
                if native == 0 {
                    break;
                }
            }
            let (moved, fault) = self.store(view, at + written, &memory[..filled]);
            written += moved;
            if fault.is_some() || filled == 0 {
                return (written, fault);
            }
        }
        (written, None)
    }
}
