//! Rust types that have a datatype, so that slices of them can be sent and received.
#![allow(unsafe_code)] // the trait is unsafe to implement: received bytes become values of the type

use mpi_core::abi::*;

use crate::datatype::Datatype;
use crate::envelope::Form;
use crate::predefined::predefined;

/// A Rust type with a datatype, so that slices of it are sent, received and combined.
///
/// The derive macro of the same name implements it for structs of elements.
///
/// # Safety
/// All bytes of a value are initialised: the type has no padding. Every bit pattern is a valid value of it: bytes of
/// another process are stored into it unchecked. The datatype's extent is the size of the type, its data lie inside, and
/// it has `BYTES` bytes of data; it is contiguous unless `BYTES` is less than the size.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The handle word of the datatype; `MPI_DATATYPE_NULL` of one that is not predefined.
    const HANDLE: usize;
    /// Bytes of data in one element: its size, less the gaps of the datatype.
    const BYTES: usize = size_of::<Self>();

    /// The datatype.
    fn datatype() -> &'static Datatype {
        predefined(Self::HANDLE).expect("every element type names a predefined datatype")
    }
}

/// The datatype of a struct with these fields: the place of each, the number of its elements, and their type. For the
/// derive macro.
#[doc(hidden)]
pub fn of_fields(fields: &[(usize, usize, &Datatype)]) -> Datatype {
    let lengths: Vec<i64> = fields.iter().map(|(_, length, _)| *length as i64).collect();
    let places: Vec<i64> = fields.iter().map(|(place, ..)| *place as i64).collect();
    let types: Vec<Datatype> = fields.iter().map(|(.., datatype)| (*datatype).clone()).collect();
    let made = Datatype::structure(&lengths, &places, &types, Form::Large);
    made.expect("the fields of a struct are in memory").committed()
}

macro_rules! elements {
    ($($rust:ty => $handle:ident),+ $(,)?) => {
        $(
            // SAFETY: a number without padding of the datatype's size; all its bit patterns are valid.
            unsafe impl Element for $rust {
                const HANDLE: usize = $handle;
            }
        )+
    };
}

elements! {
    i8 => MPI_INT8_T, i16 => MPI_INT16_T, i32 => MPI_INT32_T, i64 => MPI_INT64_T,
    u8 => MPI_UINT8_T, u16 => MPI_UINT16_T, u32 => MPI_UINT32_T, u64 => MPI_UINT64_T,
    i128 => MPI_INTEGER16, isize => MPI_AINT, usize => MPI_UNSIGNED_LONG,
    f32 => MPI_FLOAT, f64 => MPI_DOUBLE, [f32; 2] => MPI_C_FLOAT_COMPLEX, [f64; 2] => MPI_C_DOUBLE_COMPLEX,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_as_large_as_its_datatype() {
        fn agrees<T: Element>() -> bool {
            T::datatype().size() == size_of::<T>() as u64 && T::datatype().is_contiguous()
        }
        let pair = of_fields(&[(0, 3, f64::datatype()), (24, 2, u32::datatype())]);
        assert_eq!((pair.size(), pair.extent(), pair.is_contiguous()), (32, 32, true));
        assert!(agrees::<i8>() && agrees::<u16>() && agrees::<i128>() && agrees::<usize>() && agrees::<[f64; 2]>());
    }
}
