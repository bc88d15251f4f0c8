//! Calls of the program's attribute callbacks (MPI-5.0, 7.7) when values are copied, replaced or deleted.
//!
//! Invariant: no lock of the library is held during a callback. If a callback fails, the operation stops and returns
//! the callback's code.
//! Not here: the table of keys and values (mpi-env), the functions of the interface (`imp::attribute`).

use core::ffi::{c_int, c_void};

use mpi_core::abi;
use mpi_env::{Attribute, Process};
use mpi_errors::Error;

use crate::errors::{Outcome, Raised};

type Copy = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// Copies the attributes of an object to its duplicate, according to the copy callbacks.
pub fn copy_all(process: &Process, from: usize, to: usize) -> Outcome {
    let all = process.attributes.get(&process.engine.lock()).all(from);
    for attribute in all {
        if let Some(value) = copied(process, from, &attribute)? {
            process.attributes.get_mut(&mut process.engine.lock()).put(to, attribute.keyval, value);
        }
    }
    Ok(())
}

/// The value of the duplicate's attribute; `None` if the callback does not copy it.
fn copied(process: &Process, object: usize, attribute: &Attribute) -> Result<Option<usize>, Raised> {
    match attribute.of.copy {
        abi::MPI_COMM_NULL_COPY_FN => return Ok(None),
        abi::MPI_COMM_DUP_FN => return Ok(Some(attribute.value)),
        _ => {}
    }
    let address = core::ptr::with_exposed_provenance::<()>(attribute.of.copy);
    // SAFETY: the program passed a function of this type when it created the key, or one of the constants above.
    let function = unsafe { core::mem::transmute::<*const (), Copy>(address) };
    let (mut value, mut flag) = (0usize, 0);
    // SAFETY: the callback gets the addresses of a pointer and of an int, as the standard requires.
    let code = unsafe {
        function(
            object,
            attribute.keyval,
            word(attribute.of.extra_state),
            word(attribute.value),
            (&raw mut value).cast(),
            &mut flag,
        )
    };
    if code != abi::MPI_SUCCESS {
        return Err(failed(process, "copy", attribute.keyval, code));
    }
    Ok((flag != 0).then_some(value))
}

/// Calls the delete callback for one value. The caller then removes the value.
pub fn delete(process: &Process, object: usize, attribute: &Attribute) -> Outcome {
    if attribute.of.delete == abi::MPI_COMM_NULL_DELETE_FN {
        return Ok(());
    }
    let address = core::ptr::with_exposed_provenance::<()>(attribute.of.delete);
    // SAFETY: the program passed a function of this type when it created the key, or the constant above.
    let function = unsafe { core::mem::transmute::<*const (), Delete>(address) };
    // SAFETY: the callback gets the arguments that the standard requires.
    let code = unsafe { function(object, attribute.keyval, word(attribute.value), word(attribute.of.extra_state)) };
    match code {
        abi::MPI_SUCCESS => Ok(()),
        code => Err(failed(process, "delete", attribute.keyval, code)),
    }
}

/// Deletes all attributes of an object, in reverse order of setting.
pub fn delete_all(process: &Process, object: usize) -> Outcome {
    loop {
        let last = process.attributes.get(&process.engine.lock()).last(object);
        let Some(attribute) = last else { return Ok(()) };
        delete(process, object, &attribute)?;
        process.attributes.get_mut(&mut process.engine.lock()).take(object, attribute.keyval);
    }
}

fn word(value: usize) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(value)
}

#[cold]
fn failed(process: &Process, which: &str, keyval: i32, code: c_int) -> Raised {
    let class = process.codes.class_of(code).unwrap_or(abi::MPI_ERR_OTHER);
    let text = process.codes.string_of(code).filter(|text| !text.is_empty());
    let text = text.map(|text| format!(": {text}")).unwrap_or_default();
    let what = format!("the program's {which} callback returned {code}{text}");
    Raised::with_code(Error::new(class, what).arg("keyval", &keyval), code)
}
