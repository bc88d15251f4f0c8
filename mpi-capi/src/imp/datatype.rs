//! Datatypes as objects: size, bounds, commit, duplicates, names; addresses (MPI-5.0, 5.1).
//!
//! Not here: constructors (`type_create`), what they were given (`type_contents`), packing (`pack`).

use core::ffi::{CStr, c_char, c_void};

use mpi_core::{Handle, abi};
use mpi_datatype::predefined;
use mpi_errors::Error;

use crate::attributes;
use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, CountOut, Out};
use crate::errors::Outcome;
use crate::handle_errors::bad_type;

/// `MPI_Type_size`
pub fn type_size(_cx: CallContext, datatype: TypeRef, size: CountOut) -> Outcome {
    size.set(datatype.size() as i64);
    Ok(())
}

/// `MPI_Type_size_x`
pub fn type_size_x(_cx: CallContext, datatype: TypeRef, size: Out<i64>) -> Outcome {
    size.set(datatype.size() as i64);
    Ok(())
}

/// `MPI_Type_get_extent`
pub fn type_get_extent(_cx: CallContext, datatype: TypeRef, lower_bound: CountOut, extent: CountOut) -> Outcome {
    lower_bound.set(datatype.lower_bound());
    extent.set(datatype.extent());
    Ok(())
}

/// `MPI_Type_get_extent_x`
pub fn type_get_extent_x(_cx: CallContext, datatype: TypeRef, lower_bound: Out<i64>, extent: Out<i64>) -> Outcome {
    lower_bound.set(datatype.lower_bound());
    extent.set(datatype.extent());
    Ok(())
}

/// `MPI_Type_get_true_extent`
pub fn type_get_true_extent(_cx: CallContext, datatype: TypeRef, lower_bound: CountOut, extent: CountOut) -> Outcome {
    lower_bound.set(datatype.true_lower_bound());
    extent.set(datatype.true_extent());
    Ok(())
}

/// `MPI_Type_get_true_extent_x`
pub fn type_get_true_extent_x(_cx: CallContext, datatype: TypeRef, lower_bound: Out<i64>, extent: Out<i64>) -> Outcome {
    lower_bound.set(datatype.true_lower_bound());
    extent.set(datatype.true_extent());
    Ok(())
}

/// `MPI_Type_commit`: predefined datatypes are committed.
pub fn type_commit(cx: CallContext, datatype: Out<usize>) -> Outcome {
    let word = datatype.get();
    cx.datatype("datatype", word)?;
    let CallContext { process, mut guard, .. } = cx;
    if predefined(word).is_none() {
        process.type_commit(&mut guard, Handle(word))?;
    }
    Ok(())
}

/// `MPI_Type_dup`
pub fn type_dup(cx: CallContext, datatype: TypeRef, new: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let made = process.type_create(&mut guard, datatype.dup())?;
    drop(guard);
    if let Err(raised) = attributes::copy_all(process, datatype.word(), made.0) {
        // Attributes that were already copied are deleted; the call reports the first error.
        let _ = attributes::delete_all(process, made.0);
        let _ = process.type_free(&mut process.engine.lock(), made);
        return Err(raised);
    }
    new.set(made.0);
    Ok(())
}

/// `MPI_Type_free`
pub fn type_free(cx: CallContext, datatype: Out<usize>) -> Outcome {
    let word = datatype.get();
    if predefined(word).is_some() {
        let rule = "a predefined datatype cannot be freed";
        return Err(Error::new(abi::MPI_ERR_TYPE, rule).arg("datatype", &Handle(word)).into());
    }
    if word == abi::MPI_DATATYPE_NULL {
        return Err(bad_type("datatype", word).into());
    }
    if cx.datatype("datatype", word)?.is_selected() {
        let rule = "a datatype of MPI_Type_create_f90_real, _complex or _integer cannot be freed";
        return Err(Error::new(abi::MPI_ERR_TYPE, rule).arg("datatype", &Handle(word)).into());
    }
    let process = cx.process;
    drop(cx);
    attributes::delete_all(process, word)?;
    process.type_free(&mut process.engine.lock(), Handle(word))?;
    datatype.set(abi::MPI_DATATYPE_NULL);
    Ok(())
}

/// `MPI_Type_set_name`; a program may also rename predefined types.
pub fn type_set_name(cx: CallContext, datatype: TypeRef, name: &CStr) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let mut text = name.to_string_lossy().into_owned();
    let mut end = text.len().min(abi::MPI_MAX_OBJECT_NAME as usize - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    process.names_and_hints.get_mut(&mut guard).set_type_name(datatype.word(), text);
    Ok(())
}

/// `MPI_Type_get_name`: a predefined type initially has its official name; other types initially have none.
pub fn type_get_name(cx: CallContext, datatype: usize, name: *mut c_char, length: Out<i32>) -> Outcome {
    let text = match datatype {
        abi::MPI_DATATYPE_NULL => "MPI_DATATYPE_NULL",
        _ => {
            let word = cx.datatype("datatype", datatype)?.word();
            let given = cx.process.names_and_hints.get(&cx.guard).type_name(word);
            given.or_else(|| predefined(word).map(|found| found.name())).unwrap_or_default()
        }
    };
    // SAFETY: the program passed MPI_MAX_OBJECT_NAME characters (MPI-5.0, 7.8).
    let stored = unsafe { check::store_text(name, abi::MPI_MAX_OBJECT_NAME as usize, text) };
    length.set(stored as i32);
    Ok(())
}

/// `MPI_Get_address`
pub fn get_address(_cx: CallContext, location: *const c_void, address: Out<isize>) -> Outcome {
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
