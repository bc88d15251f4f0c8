//! The effect of an accumulation on elements (MPI-5.0, 12.3.4).
//!
//! Invariant: elements are changed by one accumulation at a time, because the caller holds the lock of their memory
//! (`accumulate`).

use mpi_coll::{Op, Reducer};
use mpi_core::abi::{MPI_ERR_OP, MPI_NO_OP, MPI_OP_NULL, MPI_REPLACE};
use mpi_datatype::{Datatype, RecvBuf};
use mpi_errors::{Error, Result};

use crate::basic::Basic;

/// Elements of a type with gaps that are combined at a time.
const AT_ONCE: u64 = 128;
/// The largest extent of a predefined type with gaps.
const EXTENT: usize = 32;

/// A predefined operation prepared for one predefined type.
pub(crate) enum Combine {
    /// `MPI_REPLACE`
    Replace,
    /// Any other.
    With(Reducer<'static>),
}

impl Combine {
    /// The operation with this word. Errors: `MPI_ERR_OP` for a user's operation, for `MPI_NO_OP`, which changes
    /// nothing and needs a call that also fetches, and for one that the type does not have.
    pub fn new(op: usize, basic: Basic) -> Result<Combine> {
        if op == MPI_REPLACE {
            return Ok(Combine::Replace);
        }
        match Op::predefined(op) {
            Some(builtin) if op != MPI_NO_OP => Ok(Combine::With(builtin.on(basic.datatype, basic.handle)?)),
            _ => Err(refused(op)),
        }
    }

    /// The same for a call that also fetches: there `MPI_NO_OP` is one too, and there is nothing to combine.
    pub fn fetching(op: usize, basic: Basic) -> Result<Option<Combine>> {
        if op == MPI_NO_OP { Ok(None) } else { Combine::new(op, basic).map(Some) }
    }

    /// [`Combine::on_any`] for a call that also fetches.
    pub fn fetching_on_any(nothing: bool, op: usize, basic: Basic) -> Result<Option<Combine>> {
        if op == MPI_NO_OP { Ok(None) } else { Combine::on_any(nothing, op, basic).map(Some) }
    }

    /// [`Combine::new`], where `nothing` is whether no element is combined: then any predefined operation serves.
    pub fn on_any(nothing: bool, op: usize, basic: Basic) -> Result<Combine> {
        match Combine::new(op, basic) {
            Err(_) if nothing && op != MPI_NO_OP && Op::predefined(op).is_some() => Ok(Combine::Replace),
            combine => combine,
        }
    }

    /// Combines packed data with the elements of `into` from packed byte `at` on. Both are whole elements of the basic
    /// type.
    pub fn apply(&self, into: &mut RecvBuf<'_>, at: u64, basic: Basic, data: &[u8]) {
        let reducer = match self {
            Combine::Replace => {
                into.unpack(at, data);
                return;
            }
            Combine::With(reducer) => reducer,
        };
        let size = basic.datatype.size();
        if basic.datatype.is_contiguous()
            && let Some(elements) = into.contiguous_mut()
        {
            let elements = &mut elements[at as usize..];
            let length = data.len().min(elements.len());
            reducer.apply(&data[..length], &mut elements[..length], length as u64 / size);
            return;
        }
        for (step, data) in data.chunks((AT_ONCE * size) as usize).enumerate() {
            through_scratch(reducer, into, at + step as u64 * AT_ONCE * size, basic.datatype, data);
        }
    }
}

/// Combines up to [`AT_ONCE`] elements in memory on the stack, where they lie as their type has them.
fn through_scratch(reducer: &Reducer<'static>, into: &mut RecvBuf<'_>, at: u64, basic: &Datatype, data: &[u8]) {
    let (mut ours, mut theirs) = ([0; AT_ONCE as usize * EXTENT], [0; AT_ONCE as usize * EXTENT]);
    let mut packed = [0; AT_ONCE as usize * EXTENT];
    let packed = &mut packed[..data.len()];
    let length = into.pack(at, packed);
    let count = length as u64 / basic.size();
    let (new, old) = (RecvBuf::over(&mut ours, count, basic), RecvBuf::over(&mut theirs, count, basic));
    let (Some(mut new), Some(mut old)) = (new, old) else { return };
    new.unpack(0, data);
    old.unpack(0, packed);
    let (Some(from), Some(elements)) = (new.native_mut(), old.native_mut()) else { return };
    reducer.apply(from, elements, count);
    old.pack(0, packed);
    into.unpack(at, packed);
}

#[cold]
fn refused(op: usize) -> Error {
    let (name, rule) = match op {
        MPI_OP_NULL => ("MPI_OP_NULL".to_owned(), "an operation is needed"),
        MPI_NO_OP => ("MPI_NO_OP".to_owned(), "an accumulation that changes nothing needs a call that also fetches"),
        _ => (format!("{op:#x}"), "accumulations take the predefined operations only"),
    };
    Error::new(MPI_ERR_OP, rule).arg("op", &name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_INT, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_SHORT_INT, MPI_SUM};
    use mpi_datatype::predefined;

    fn basic(handle: usize) -> Basic {
        Basic::predefined(handle).expect("predefined")
    }

    #[test]
    fn pairs_are_combined_across_pieces_and_padding_stays() {
        let pairs = 1000usize;
        let (kind, mut memory) = (basic(MPI_SHORT_INT), vec![0xAAu8; pairs * 8]);
        let mut data = Vec::new();
        for at in 0..pairs {
            memory[at * 8..at * 8 + 2].copy_from_slice(&5i16.to_ne_bytes());
            memory[at * 8 + 4..at * 8 + 8].copy_from_slice(&1i32.to_ne_bytes());
            data.extend_from_slice(&((at % 10) as i16).to_ne_bytes());
            data.extend_from_slice(&2i32.to_ne_bytes());
        }
        let mut into = RecvBuf::over(&mut memory, pairs as u64, kind.datatype).expect("room");
        let combine = Combine::new(MPI_MAXLOC, kind).expect("defined");
        let (first, second) = data.split_at(6 * 300);
        combine.apply(&mut into, 0, kind, first);
        combine.apply(&mut into, 6 * 300, kind, second);
        for at in 0..pairs {
            let pair = &memory[at * 8..at * 8 + 8];
            let (value, index) = if at % 10 > 5 { ((at % 10) as i16, 2) } else { (5, 1) };
            assert_eq!(pair[..2], value.to_ne_bytes(), "{at}");
            assert_eq!((&pair[2..4], i32::from_ne_bytes(pair[4..].try_into().expect("four"))), (&[0xAA; 2][..], index));
        }
    }

    #[test]
    fn every_type_with_gaps_fits_into_the_scratch_memory() {
        let gaps = predefined::all().filter(|(_, datatype)| !datatype.is_contiguous());
        assert_eq!(gaps.map(|(_, datatype)| datatype.extent()).max(), Some(EXTENT as i64));
        assert_eq!(basic(MPI_LONG_DOUBLE_INT).datatype.extent(), EXTENT as i64);
    }

    #[test]
    fn only_predefined_operations_that_change_something_are_taken() {
        for op in [MPI_OP_NULL, MPI_NO_OP, 1 << 60, MPI_MAXLOC] {
            assert_eq!(Combine::new(op, basic(MPI_INT)).err().expect("refused").class(), MPI_ERR_OP, "{op:#x}");
        }
        assert!(Combine::new(MPI_SUM, basic(MPI_INT)).is_ok() && Combine::new(MPI_REPLACE, basic(MPI_INT)).is_ok());
    }
}
