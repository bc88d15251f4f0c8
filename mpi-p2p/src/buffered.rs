//! Buffered sends: room in the attached buffer (MPI-4.1, 3.6).
//!
//! The attached buffer bounds what may be pending; the bytes themselves wait in memory of the library's own, so a
//! program that frees its buffer too early cannot corrupt a message.
//! Invariant: `in_use` is the sum of the sizes, overhead included, of the buffered sends not yet on their way.

use std::collections::HashMap;

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_BUFFER;
use mpi_errors::{Error, Result};

/// Bytes of the buffer that each message takes besides its data; at most `MPI_BSEND_OVERHEAD`.
const OVERHEAD: u64 = 64;

#[derive(Debug, Default)]
pub(crate) struct Buffered {
    attached: Option<Attached>,
    in_use: u64,
    pending: HashMap<Handle, u64>,
}

/// A buffer that the program attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attached {
    /// Address of the buffer, or `MPI_BUFFER_AUTOMATIC`'s.
    pub address: usize,
    /// Its size in bytes; without bound for automatic buffering.
    pub bytes: Option<u64>,
}

impl Buffered {
    pub fn attach(&mut self, buffer: Attached) -> Result<()> {
        if self.attached.is_some() {
            return Err(Error::new(MPI_ERR_BUFFER, "a buffer for buffered sends is attached already"));
        }
        self.attached = Some(buffer);
        Ok(())
    }

    pub fn detach(&mut self) -> Option<Attached> {
        self.attached.take()
    }

    /// Whether all buffered messages are on their way.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Checks that a message has room.
    pub fn check_room(&self, bytes: u64) -> Result<()> {
        let Some(attached) = self.attached else {
            return Err(Error::new(MPI_ERR_BUFFER, "no buffer is attached").hint("Call MPI_Buffer_attach first."));
        };
        match attached.bytes {
            Some(size) if self.in_use + bytes + OVERHEAD > size => {
                let rule = format!(
                    "the attached buffer of {size} bytes holds {} already and has no room for {bytes} more \
                     (each message takes {OVERHEAD} besides its data)",
                    self.in_use
                );
                Err(Error::new(MPI_ERR_BUFFER, rule).hint("Attach a larger buffer with MPI_Buffer_attach."))
            }
            _ => Ok(()),
        }
    }

    pub fn started(&mut self, request: Handle, bytes: u64) {
        self.in_use += bytes + OVERHEAD;
        self.pending.insert(request, bytes + OVERHEAD);
    }

    #[inline]
    pub fn finished(&mut self, request: Handle) {
        if !self.pending.is_empty()
            && let Some(bytes) = self.pending.remove(&request)
        {
            self.in_use -= bytes;
        }
    }
}
