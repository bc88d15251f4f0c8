//! Datatypes as objects: size, extent, duplicates; addresses (MPI-5.0, 5.1).

use core::ffi::c_void;

use mpi_core::{Handle, abi};
use mpi_datatype::predefined;
use mpi_errors::Error;

use crate::check::{CountOut, Out};
use crate::cx::{Cx, TypeRef, bad_type};
use crate::errors::Outcome;

/// `MPI_Type_size`
pub fn type_size(_cx: Cx, datatype: TypeRef, size: CountOut) -> Outcome {
    size.set(datatype.size() as i64);
    Ok(())
}

/// `MPI_Type_size_x`
pub fn type_size_x(_cx: Cx, datatype: TypeRef, size: Out<i64>) -> Outcome {
    size.set(datatype.size() as i64);
    Ok(())
}

/// `MPI_Type_get_extent`
pub fn type_get_extent(_cx: Cx, datatype: TypeRef, lower_bound: CountOut, extent: CountOut) -> Outcome {
    lower_bound.set(datatype.lower_bound());
    extent.set(datatype.extent());
    Ok(())
}

/// `MPI_Type_get_extent_x`
pub fn type_get_extent_x(_cx: Cx, datatype: TypeRef, lower_bound: Out<i64>, extent: Out<i64>) -> Outcome {
    lower_bound.set(datatype.lower_bound());
    extent.set(datatype.extent());
    Ok(())
}

/// `MPI_Type_dup`
pub fn type_dup(cx: Cx, datatype: TypeRef, new: Out<usize>) -> Outcome {
    let Cx { process, mut guard, .. } = cx;
    new.set(process.type_dup(&mut guard, &datatype)?.0);
    Ok(())
}

/// `MPI_Type_free`
pub fn type_free(cx: Cx, datatype: Out<usize>) -> Outcome {
    let Cx { process, mut guard, .. } = cx;
    let word = datatype.get();
    if predefined(word).is_some() {
        let rule = "a predefined datatype cannot be freed";
        return Err(Error::new(abi::MPI_ERR_TYPE, rule).arg("datatype", &format_args!("{word:#x}")).into());
    }
    if word == abi::MPI_DATATYPE_NULL {
        return Err(bad_type("datatype", word).into());
    }
    process.type_free(&mut guard, Handle(word))?;
    datatype.set(abi::MPI_DATATYPE_NULL);
    Ok(())
}

/// `MPI_Get_address`
pub fn get_address(_cx: Cx, location: *const c_void, address: Out<isize>) -> Outcome {
    address.set(location as isize);
    Ok(())
}

/// `MPI_Aint_add`
#[inline]
pub fn aint_add(base: isize, displacement: isize) -> isize {
    base.wrapping_add(displacement)
}

/// `MPI_Aint_diff`
#[inline]
pub fn aint_diff(first: isize, second: isize) -> isize {
    first.wrapping_sub(second)
}
