//! What the Fortran layer (`mpi-capi/fortran`) states about callbacks and attributes, so that its routines call the
//! functions of C by the names that tools see, with the arguments that these have.
//!
//! Invariant: a statement is one thread's, and holds for the call that follows. The language then is a part of the object
//! that the call creates or of the value that it sets, from the first moment on, and ends with it.
//! Not here: calls of procedures (`errors`, `attributes`, `imp::op`).

use core::cell::Cell;
use core::ffi::c_int;

use mpi_core::{Callee, Language, abi};
use mpi_env::Holder;

/// Procedures that the next object of this thread is created with.
#[derive(Clone, Copy)]
struct Stated {
    language: Language,
    procedures: [usize; 2],
}

/// A value of an attribute that this thread sets.
#[derive(Clone, Copy)]
struct StatedValue {
    language: Language,
    keyval: i32,
    word: usize,
}

thread_local! {
    static STATED_VALUE: Cell<StatedValue> =
        const { Cell::new(StatedValue { language: Language::C, keyval: 0, word: 0 }) };
    static STATED: Cell<Stated> = const { Cell::new(Stated { language: Language::C, procedures: [0; 2] }) };
}

/// The function at an address, with the language that was stated for it.
pub fn callee(address: usize) -> Callee {
    let Stated { language, procedures } = STATED.get();
    // The predefined callbacks are no addresses.
    let stated = address > abi::MPI_COMM_DUP_FN && procedures.contains(&address);
    Callee::new(address, if stated { language } else { Language::C })
}

/// States that two procedures, which this thread now creates an object with, are written in Fortran; 0 ends that.
#[unsafe(no_mangle)]
pub extern "C" fn ferrum_fortran_procedures(form: c_int, first: usize, second: usize) {
    STATED.set(Stated { language: Language::from_number(form), procedures: [first, second] });
}

/// The language of a value that this thread sets for a key.
pub fn of_value(keyval: i32, word: usize) -> Language {
    let stated = STATED_VALUE.get();
    // A tool may set other attributes before it passes the call on.
    if (stated.keyval, stated.word) == (keyval, word) { stated.language } else { Language::C }
}

/// States that Fortran sets this value, in a call that this thread now makes; 0 as the form ends that.
#[unsafe(no_mangle)]
pub extern "C" fn ferrum_fortran_attribute(form: c_int, keyval: c_int, word: usize) {
    STATED_VALUE.set(StatedValue { language: Language::from_number(form), keyval, word });
}

/// The value that Fortran gets for an attribute, for which C has got `found`: the integer that Fortran has set, the value
/// of a predefined attribute, or the address that C has set.
///
/// # Safety
/// `found` is what `MPI_Comm_get_attr`, `MPI_Type_get_attr` or `MPI_Win_get_attr` returned for this object and key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_fortran_value(holder: c_int, object: usize, keyval: c_int, found: usize) -> isize {
    let holder = [Holder::Comm, Holder::Type, Holder::Win].get((holder - 1) as usize).copied();
    let place = core::ptr::with_exposed_provenance::<c_int>(found);
    match (holder, keyval) {
        (Some(Holder::Win), abi::MPI_WIN_BASE) => found as isize,
        // SAFETY: C gets the address of an MPI_Aint for this key.
        (Some(Holder::Win), abi::MPI_WIN_SIZE) => unsafe { place.cast::<isize>().read() },
        (Some(Holder::Comm), abi::MPI_TAG_UB..=abi::MPI_UNIVERSE_SIZE)
        | (Some(Holder::Win), abi::MPI_WIN_DISP_UNIT..=abi::MPI_WIN_MODEL) => {
            // SAFETY: C gets the address of an int for these keys.
            unsafe { place.read() as isize }
        }
        _ => {
            let value = mpi_env::joined()
                .and_then(|process| process.attributes.get(&process.engine.lock()).get(object, keyval));
            value.map_or(found as isize, |value| value.word as isize)
        }
    }
}
