//! Event types and registrations (MPI-5.0, 15.3.8).
//!
//! Not here: callbacks (`event_callback`), instances (`event_instance`), sources (`event_source`).

use core::ffi::{c_char, c_int, c_void};

use mpi_core::{Handle, Info, functions};
use mpi_t::{Bind, EventInfo, TError, TResult};

use crate::imp::tool_info::{new_info, with_info};
use crate::tool_edge::{TextOut, length, object_word, required, store, text, with_registry};

/// `MPI_T_event_get_num`
pub fn event_get_num(count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_EVENT_GET_NUM, |registry| {
        store(required("num_events", count)?, registry.event_get_num()?);
        Ok(())
    })
}

/// `MPI_T_event_get_index`
pub fn event_get_index(name: *const c_char, index: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_EVENT_GET_INDEX, |registry| {
        let index = required("event_index", index)?;
        store(index, registry.event_get_index(text("name", name)?)?);
        Ok(())
    })
}

/// `MPI_T_event_get_info`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn event_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: *mut c_int,
    datatypes: *mut usize,
    displacements: *mut isize,
    count: *mut c_int,
    enumeration: *mut usize,
    info: *mut usize,
    description: *mut c_char,
    description_length: *mut c_int,
    bind: *mut c_int,
) -> c_int {
    with_registry(functions::MPI_T_EVENT_GET_INFO, |registry| {
        let event = registry.event_get_info(index)?;
        let (name, description) =
            (TextOut::new("name_len", name, name_length)?, TextOut::new("desc_len", description, description_length)?);
        let room = room_of(count)?;
        // No event type has hints of its own.
        let hints = new_info(info, Info::new)?;
        name.set(event.definition.name);
        description.set(&event.description);
        store_elements(event, room, datatypes, displacements);
        store(count, event.definition.elements.len() as c_int);
        store(verbosity, event.definition.verbosity as c_int);
        store(enumeration, event.elements.0);
        store(bind, event.definition.bind as c_int);
        store(info, hints);
        Ok(())
    })
}

/// The number of elements that the program has room for.
fn room_of(count: *mut c_int) -> TResult<usize> {
    if count.is_null() {
        return Ok(0);
    }
    // SAFETY: the program passed the address of a number, which is also an input.
    length("num_elements", unsafe { count.read_unaligned() })
}

fn store_elements(event: &EventInfo, room: usize, datatypes: *mut usize, displacements: *mut isize) {
    for (i, element) in event.definition.elements.iter().take(room).enumerate() {
        // The program passed arrays of `room` elements, or NULL.
        store(at(datatypes, i), element.value.datatype());
        store(at(displacements, i), element.displacement as isize);
    }
}

/// The address of an array's element; NULL if there is no array.
fn at<T>(array: *mut T, i: usize) -> *mut T {
    if array.is_null() { array } else { array.wrapping_add(i) }
}

/// `MPI_T_event_handle_alloc`
pub fn event_handle_alloc(index: c_int, object: *mut c_void, info: usize, registration: *mut usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_HANDLE_ALLOC, |registry| {
        let registration = required("event_registration", registration)?;
        let bound = registry.event_get_info(index)?.definition.bind != Bind::NoObject;
        let object = if bound { object_word(object) } else { None };
        let made = with_info(info, |hints| registry.event_handle_alloc(index, object, hints))?;
        store(registration, made.0);
        Ok(())
    })
}

/// `MPI_T_event_handle_set_info`
pub fn event_handle_set_info(registration: usize, info: usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_HANDLE_SET_INFO, |registry| {
        registry.event_handle_get_info(Handle(registration))?;
        with_info(info, |hints| registry.event_handle_set_info(Handle(registration), hints))
    })
}

/// `MPI_T_event_handle_get_info`
pub fn event_handle_get_info(registration: usize, info: *mut usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_HANDLE_GET_INFO, |registry| {
        let hints = registry.event_handle_get_info(Handle(registration))?;
        store(info, new_info(required("info_used", info)?, || hints)?);
        Ok(())
    })
}

/// The level that a word names.
pub(super) fn level(word: i32) -> TResult<mpi_t::Safety> {
    let rule = "a level is one of MPI_T_CB_REQUIRE_*";
    mpi_t::Safety::from_abi(word).ok_or_else(|| TError::INVALID.argument("cb_safety", word, rule))
}
