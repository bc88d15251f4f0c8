//! The layout of error codes: `serial << 14 | class` for an error (an instance), with a serial from 1 to 65535.
//!
//! Invariant: `MPI_ERR_LASTCODE < instance code <= LAST_INSTANCE_CODE`, and the low 14 bits are the class. Codes that
//! programs add are larger.

use mpi_core::abi::MPI_ERR_LASTCODE;

/// The largest code of an instance.
pub const LAST_INSTANCE_CODE: i32 = (1 << 30) - 1;

pub(crate) const CLASS_BITS: u32 = 14;
pub(crate) const CLASS_MASK: i32 = (1 << CLASS_BITS) - 1;
pub(crate) const LAST_SERIAL: u32 = (1 << 16) - 1;

const _: () = assert!(MPI_ERR_LASTCODE == CLASS_MASK);
const _: () = assert!(LAST_INSTANCE_CODE as u32 == LAST_SERIAL << CLASS_BITS | CLASS_MASK as u32);
