//! Blocks of a collective operation that have lengths, places and types of their own (`MPI_Alltoallw` and others).
//!
//! Invariant: the types of empty blocks are not looked at, because there may be none.
//! Not here: blocks of equal length (`coll_args`).

use core::ffi::c_void;

use mpi_coll::{Buffers, recv_list, send_list};
use mpi_core::abi::{MPI_BOTTOM, MPI_ERR_ARG};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use super::coll_number::Number;
use crate::call_context::{CallContext, TypeRef};
use crate::check;
use crate::fortran_section;

/// The names of the arguments for the blocks that are sent: of the buffer, the counts and the types.
pub const SENDS: [&str; 4] = ["sendbuf", "sendcounts", "sendtype", "sendtypes"];
/// The same for those that are received.
pub const RECVS: [&str; 4] = ["recvbuf", "recvcounts", "recvtype", "recvtypes"];

/// No program has memory below this address (Linux, `vm.mmap_min_addr`).
const LOWEST_MEMORY: i64 = 65_536;

/// The types of blocks.
#[derive(Clone, Copy)]
pub enum Types {
    /// One type; displacements count in its extent.
    One(usize),
    /// A type for each block; displacements count in bytes.
    Each(*const usize),
}

/// Blocks, as unchecked arguments of the program.
pub struct Blocks<'a, C, D> {
    names: [&'static str; 4],
    counts: &'a [C],
    displacements: &'a [D],
    types: TypeList<'a>,
    displacements_name: &'static str,
}

enum TypeList<'a> {
    One(usize),
    Each(&'a [usize]),
}

impl<'a, C: Number, D: Number> Blocks<'a, C, D> {
    /// So many blocks. Errors: `MPI_ERR_ARG` for an array that is NULL.
    pub fn new(
        names: [&'static str; 4],
        number: u32,
        counts: *const C,
        (displacements_name, displacements): (&'static str, *const D),
        types: Types,
    ) -> Result<Blocks<'a, C, D>> {
        let number = number as usize;
        Ok(Blocks {
            names,
            counts: check::list(names[1], counts, number)?,
            displacements: check::list(displacements_name, displacements, number)?,
            types: match types {
                Types::One(datatype) => TypeList::One(datatype),
                Types::Each(types) => TypeList::Each(check::list(names[3], types, number)?),
            },
            displacements_name,
        })
    }

    /// The buffers to send from.
    pub fn send(&self, cx: &CallContext, base: *const c_void) -> Result<Buffers<SendBuf<'static>>> {
        self.each(cx, base, send_list(), SendBuf::empty, |start, count, datatype| {
            fortran_section::send_block(cx, self.names[0], (base, start), count, datatype)
        })
    }

    /// The buffers to receive into.
    pub fn recv(&self, cx: &CallContext, base: *mut c_void) -> Result<Buffers<RecvBuf<'static>>> {
        self.each(cx, base, recv_list(), RecvBuf::empty, |start, count, datatype| {
            fortran_section::recv_block(cx, self.names[0], (base, start), count, datatype)
        })
    }

    fn each<B>(
        &self,
        cx: &CallContext,
        base: *const c_void,
        mut list: Vec<B>,
        empty: impl Fn() -> B,
        make: impl Fn(i64, u64, &TypeRef) -> Result<B>,
    ) -> Result<Buffers<B>> {
        let one = match self.types {
            TypeList::One(datatype) => Some(cx.datatype(self.names[2], datatype)?),
            TypeList::Each(_) => None,
        };
        let block = |index: usize| {
            let count = check::count(self.names[1], self.counts[index].wide())?;
            if count == 0 {
                return Ok(empty());
            }
            let (own, unit);
            let datatype = match (&one, &self.types) {
                (Some(datatype), _) => {
                    unit = datatype.extent();
                    datatype
                }
                (None, TypeList::Each(types)) => {
                    own = cx.datatype(self.names[3], types[index])?;
                    unit = 1;
                    &own
                }
                (None, TypeList::One(_)) => return Ok(empty()),
            };
            let displacement = self.displacements[index].wide();
            let bytes = displacement.checked_mul(unit).ok_or_else(|| self.too_far(displacement))?;
            // From MPI_BOTTOM, which is NULL, displacements are addresses.
            if check::is_no_memory(base) && (base as usize != MPI_BOTTOM || bytes < LOWEST_MEMORY) {
                check::no_data(self.names[0], base, count, datatype)?;
            }
            make(bytes, count, datatype)
        };
        list.reserve_exact(self.counts.len());
        for index in 0..self.counts.len() {
            list.push(block(index).map_err(|error: Error| error.in_element(index))?);
        }
        Ok(Buffers::Each(list))
    }

    #[cold]
    fn too_far(&self, displacement: i64) -> Error {
        let rule = "no memory reaches that far";
        Error::new(MPI_ERR_ARG, rule).arg(self.displacements_name, &displacement)
    }
}
