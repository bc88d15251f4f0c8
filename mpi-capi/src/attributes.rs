//! Calls of the program's attribute callbacks (MPI-5.0, 7.7) when values are copied, replaced or deleted.
//!
//! A callback in Fortran gets integers: the one that Fortran has set, or the address that C has set. One in C gets the
//! address that C has set, or that of Fortran's integer (MPI-5.0, 19.3.7).
//! Invariant: no lock of the library is held during a callback. If a callback fails, the operation stops and returns
//! the callback's code.
//! Not here: the table of keys and values (mpi-env), the functions of the interface (`imp::attribute`).

use core::ffi::{c_int, c_void};

use mpi_core::{Callee, Handle, Language, abi};
use mpi_env::{Attribute, AttributeValue, Process};
use mpi_errors::Error;

use crate::errors::{Outcome, Raised};

type Copy = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;
/// Object, key, extra state, value, new value, flag, error. A procedure with `INTEGER` values uses the first four bytes of
/// the words, which are the low ones.
type FortranCopy =
    unsafe extern "C" fn(*mut c_int, *mut c_int, *mut isize, *mut isize, *mut isize, *mut c_int, *mut c_int);
/// Object, key, value, extra state, error.
type FortranDelete = unsafe extern "C" fn(*mut c_int, *mut c_int, *mut isize, *mut isize, *mut c_int);

#[cfg(target_endian = "big")]
compile_error!("the values of Fortran's INTEGER attributes need the address of the low bytes of a word");

/// Copies the attributes of an object to its duplicate, according to the copy callbacks. A callback may delete and
/// replace other attributes of the object: each is copied as it then is.
pub fn copy_all(process: &Process, from: usize, to: usize) -> Outcome {
    let keys = process.attributes.get(&process.engine.lock()).keys(from);
    for keyval in keys {
        let attribute = process.attributes.get(&process.engine.lock()).of(from, keyval);
        let Some(attribute) = attribute else { continue };
        if let Some(value) = copied(process, from, &attribute)? {
            process.attributes.get_mut(&mut process.engine.lock()).put(to, attribute.keyval, value);
        }
    }
    Ok(())
}

/// The value of the duplicate's attribute; `None` if the callback does not copy it.
fn copied(process: &Process, object: usize, attribute: &Attribute) -> Result<Option<AttributeValue>, Raised> {
    match attribute.of.copy {
        abi::MPI_COMM_NULL_COPY_FN => return Ok(None),
        abi::MPI_COMM_DUP_FN => return Ok(Some(attribute.value)),
        _ => {}
    }
    let callee = Callee(attribute.of.copy);
    let language = callee.language();
    let (value, flag, code) = match language {
        Language::C => copy_in_c(callee, object, attribute),
        _ => copy_in_fortran(callee, object, attribute),
    };
    if code != abi::MPI_SUCCESS {
        return Err(failed(process, "copy", attribute.keyval, code));
    }
    Ok((flag != 0).then_some(AttributeValue::new(value, language)))
}

/// The new value, the flag and the code of a copy callback.
fn copy_in_c(callee: Callee, object: usize, attribute: &Attribute) -> (usize, c_int, c_int) {
    let address = core::ptr::with_exposed_provenance::<()>(callee.address());
    // SAFETY: the program passed a function of this type when it created the key.
    let function = unsafe { core::mem::transmute::<*const (), Copy>(address) };
    let (mut value, mut flag) = (0usize, 0);
    // SAFETY: the callback gets the addresses of a pointer and of an int, as the standard requires.
    let code = unsafe {
        function(
            object,
            attribute.keyval,
            word(attribute.of.extra_state),
            word(attribute.value.in_c()),
            (&raw mut value).cast(),
            &mut flag,
        )
    };
    (value, flag, code)
}

fn copy_in_fortran(callee: Callee, object: usize, attribute: &Attribute) -> (usize, c_int, c_int) {
    let address = core::ptr::with_exposed_provenance::<()>(callee.address());
    // SAFETY: the Fortran layer passed a procedure with these arguments.
    let function = unsafe { core::mem::transmute::<*const (), FortranCopy>(address) };
    let (mut object, mut keyval) = (Handle(object).to_fortran().unwrap_or_default(), attribute.keyval);
    let (mut state, mut value) = (attribute.of.extra_state as isize, attribute.value.word as isize);
    let (mut copy, mut flag, mut code) = (0isize, 0, abi::MPI_SUCCESS);
    // SAFETY: the callback gets the addresses of variables of these types.
    unsafe {
        function(&mut object, &mut keyval, &mut state, &mut value, &mut copy, &mut flag, &mut code);
    }
    let copy = if callee.language() == Language::FortranInteger { copy as i32 as isize } else { copy };
    (copy as usize, flag, code)
}

/// Calls the delete callback for one value. The caller then removes the value.
pub fn delete(process: &Process, object: usize, attribute: &Attribute) -> Outcome {
    if attribute.of.delete == abi::MPI_COMM_NULL_DELETE_FN {
        return Ok(());
    }
    let callee = Callee(attribute.of.delete);
    let code = match callee.language() {
        Language::C => delete_in_c(callee, object, attribute),
        _ => delete_in_fortran(callee, object, attribute),
    };
    match code {
        abi::MPI_SUCCESS => Ok(()),
        code => Err(failed(process, "delete", attribute.keyval, code)),
    }
}

fn delete_in_c(callee: Callee, object: usize, attribute: &Attribute) -> c_int {
    let address = core::ptr::with_exposed_provenance::<()>(callee.address());
    // SAFETY: the program passed a function of this type when it created the key.
    let function = unsafe { core::mem::transmute::<*const (), Delete>(address) };
    // SAFETY: the callback gets the arguments that the standard requires.
    unsafe { function(object, attribute.keyval, word(attribute.value.in_c()), word(attribute.of.extra_state)) }
}

fn delete_in_fortran(callee: Callee, object: usize, attribute: &Attribute) -> c_int {
    let address = core::ptr::with_exposed_provenance::<()>(callee.address());
    // SAFETY: the Fortran layer passed a procedure with these arguments.
    let function = unsafe { core::mem::transmute::<*const (), FortranDelete>(address) };
    let (mut object, mut keyval) = (Handle(object).to_fortran().unwrap_or_default(), attribute.keyval);
    let (mut state, mut value) = (attribute.of.extra_state as isize, attribute.value.word as isize);
    let mut code = abi::MPI_SUCCESS;
    // SAFETY: the callback gets the addresses of variables of these types.
    unsafe { function(&mut object, &mut keyval, &mut value, &mut state, &mut code) };
    code
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
