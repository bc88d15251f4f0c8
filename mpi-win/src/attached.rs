//! Memory that the program attaches to a window without memory of its own (MPI-5.0, 12.2.4).
//!
//! A displacement in such a window is an address of the target's. Only the target knows its pieces, so all operations go
//! to its service as records, which checks them.
//! Invariant: no two pieces overlap, and each has bytes. Places without bytes are remembered only to be detached.
//! Not here: buffers of the memory (`memory`), the calls of the program (`attach`).

use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_core::abi::{MPI_ERR_BASE, MPI_ERR_RMA_ATTACH};
use mpi_errors::{Error, Result};

use crate::basic::inside;
use crate::elements::Elements;

/// The pieces of one process's memory. Thread-safe.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    pieces: Mutex<Pieces>,
}

#[derive(Debug, Default)]
struct Pieces {
    /// Address and bytes, by address.
    pieces: Vec<(u64, u64)>,
    /// Addresses where no bytes were attached, once for each time.
    empty: Vec<u64>,
}

impl Attached {
    /// Adds a piece, which the caller has checked to be memory. One of no bytes overlaps with none. Errors:
    /// `MPI_ERR_RMA_ATTACH`.
    pub fn add(&self, base: u64, bytes: u64) -> Result<()> {
        let Pieces { pieces, empty } = &mut *self.pieces();
        if bytes == 0 {
            empty.push(base);
            return Ok(());
        }
        let place = pieces.partition_point(|(other, _)| *other <= base);
        let before = place.checked_sub(1).map(|before| pieces[before]).filter(|(at, length)| at + length > base);
        let after = pieces.get(place).copied().filter(|(at, _)| base + bytes > *at);
        if let Some((at, length)) = before.or(after) {
            let rule = format!("{} from {at:#x} on are attached already", mpi_errors::counted(length, "byte"));
            let base = format_args!("{base:#x}").to_string();
            return Err(Error::new(MPI_ERR_RMA_ATTACH, rule).arg("base", &base).arg("size", &bytes));
        }
        pieces.insert(place, (base, bytes));
        Ok(())
    }

    /// Removes the piece that begins at an address; where one of no bytes does too, that one first, so that no bytes
    /// become inaccessible too early. Errors: `MPI_ERR_BASE`.
    pub fn remove(&self, base: u64) -> Result<()> {
        let Pieces { pieces, empty } = &mut *self.pieces();
        if let Some(place) = empty.iter().position(|at| *at == base) {
            empty.swap_remove(place);
        } else if let Ok(place) = pieces.binary_search_by_key(&base, |(at, _)| *at) {
            pieces.remove(place);
        } else {
            let base = format_args!("{base:#x}").to_string();
            return Err(Error::new(MPI_ERR_BASE, "no memory that begins there is attached").arg("base", &base));
        }
        Ok(())
    }

    /// Whether all bytes of these elements, the first at address `offset`, are attached.
    pub fn have(&self, offset: u64, elements: &Elements<'_>) -> bool {
        if elements.bytes() == 0 {
            return true;
        }
        let Pieces { pieces, .. } = &*self.pieces();
        let holds = |address: u64, bytes: u64| {
            let before = pieces.partition_point(|(at, _)| *at <= address).checked_sub(1);
            before.is_some_and(|before| {
                let (at, length) = pieces[before];
                address.checked_add(bytes).is_some_and(|end| end <= at + length)
            })
        };
        let (datatype, count) = (elements.datatype(), elements.count);
        let as_a_whole = pieces
            .iter()
            .any(|(at, length)| offset.checked_sub(*at).is_some_and(|within| inside(within, count, datatype, *length)));
        if as_a_whole {
            return true;
        }
        // Data with gaps may lie in several pieces, or begin below the address of the first element.
        let mut all = inside(offset, count, datatype, i64::MAX as u64);
        if all {
            datatype.each_run(0, elements.bytes(), |at, length| {
                all = offset.checked_add_signed(at).is_some_and(|address| holds(address, length));
                all
            });
        }
        all
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        // Each change is complete when made.
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_no_bytes_exclude_none_and_are_detached_like_others() {
        let attached = Attached::default();
        for (base, bytes) in [(0, 0), (0, 0), (8192, 0), (8192, 64), (8200, 0), (8256, 16)] {
            attached.add(base, bytes).expect("nothing overlaps");
        }
        for (base, bytes) in [(8200, 8), (8000, 193), (8191, 2), (8271, 1)] {
            assert_eq!(attached.add(base, bytes).expect_err("overlaps").class(), MPI_ERR_RMA_ATTACH, "{base}");
        }
        for base in [0, 0, 8192, 8192, 8200, 8256] {
            attached.remove(base).expect("attached");
            assert_eq!(attached.add(8193, 1).is_err(), attached.pieces().pieces.iter().any(|(at, _)| *at == 8192));
            let _ = attached.remove(8193);
        }
        for base in [0, 8192, 8200, 8256] {
            assert_eq!(attached.remove(base).expect_err("detached").class(), MPI_ERR_BASE, "{base}");
        }
    }
}
