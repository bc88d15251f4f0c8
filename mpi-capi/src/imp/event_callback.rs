//! Callbacks of event registrations (MPI-5.0, 15.3.8).
//!
//! Invariant: no lock is held during a callback that the callback's own calls, as its safety level allows them, could
//! need.
//! Not here: the calls of callbacks (mpi-t).

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use mpi_core::{Handle, functions};
use mpi_t::{Dropped, EventCallback, EventInstance, Freed};

use super::event::level;
use crate::imp::tool_info::{new_info, with_info};
use crate::tool_edge::{required, store, with_registry};

type EventFunction = unsafe extern "C" fn(usize, usize, i32, *mut c_void);
type DroppedFunction = unsafe extern "C" fn(i64, usize, c_int, i32, *mut c_void);
type FreeFunction = unsafe extern "C" fn(usize, i32, *mut c_void);

/// `MPI_T_event_register_callback`; NULL removes the level's callback.
pub fn event_register_callback(
    registration: usize,
    safety: i32,
    info: usize,
    user_data: *mut c_void,
    function: usize,
) -> c_int {
    with_registry(functions::MPI_T_EVENT_REGISTER_CALLBACK, |registry| {
        registry.event_handle_get_info(Handle(registration))?;
        let (safety, data) = (level(safety)?, user_data.expose_provenance());
        // Callbacks have no hints, but the word must name an info object.
        with_info(info, |_| Ok(()))?;
        let callback = (function != 0).then(|| {
            let address = core::ptr::with_exposed_provenance::<()>(function);
            // SAFETY: the program passed a function of this type, which is not NULL.
            let function = unsafe { core::mem::transmute::<*const (), EventFunction>(address) };
            let call = move |event: &EventInstance<'_>| {
                let (instance, registration) = (event.handle().0, event.registration().0);
                // SAFETY: the function gets the arguments that the standard requires, and the program's own pointer.
                unsafe { function(instance, registration, event.safety() as i32, pointer(data)) }
            };
            EventCallback { call: Arc::new(call), data }
        });
        registry.event_register_callback(Handle(registration), safety, callback)
    })
}

/// `MPI_T_event_callback_set_info`
pub fn event_callback_set_info(registration: usize, safety: i32, info: usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_CALLBACK_SET_INFO, |registry| {
        registry.event_handle_get_info(Handle(registration))?;
        let safety = level(safety)?;
        with_info(info, |hints| registry.event_callback_set_info(Handle(registration), safety, hints))
    })
}

/// `MPI_T_event_callback_get_info`
pub fn event_callback_get_info(registration: usize, safety: i32, info: *mut usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_CALLBACK_GET_INFO, |registry| {
        registry.event_handle_get_info(Handle(registration))?;
        let hints = registry.event_callback_get_info(Handle(registration), level(safety)?)?;
        store(info, new_info(required("info_used", info)?, || hints)?);
        Ok(())
    })
}

/// `MPI_T_event_set_dropped_handler`; NULL removes it.
pub fn event_set_dropped_handler(registration: usize, function: usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_SET_DROPPED_HANDLER, |registry| {
        let handler = (function != 0).then(|| {
            let address = core::ptr::with_exposed_provenance::<()>(function);
            // SAFETY: the program passed a function of this type, which is not NULL.
            let function = unsafe { core::mem::transmute::<*const (), DroppedFunction>(address) };
            let call = move |dropped: &Dropped| {
                let Dropped { count, registration, source, safety, data } = *dropped;
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                // SAFETY: as for events.
                unsafe { function(count, registration.0, source, safety as i32, pointer(data)) }
            };
            Arc::new(call) as mpi_t::DroppedHandler
        });
        registry.event_set_dropped_handler(Handle(registration), handler)
    })
}

/// `MPI_T_event_handle_free`
pub fn event_handle_free(registration: usize, user_data: *mut c_void, function: usize) -> c_int {
    with_registry(functions::MPI_T_EVENT_HANDLE_FREE, |registry| {
        let data = user_data.expose_provenance();
        let freed = (function != 0).then(|| {
            let address = core::ptr::with_exposed_provenance::<()>(function);
            // SAFETY: the program passed a function of this type, which is not NULL.
            let function = unsafe { core::mem::transmute::<*const (), FreeFunction>(address) };
            // SAFETY: as for events.
            let call = move |freed: &Freed| unsafe {
                function(freed.registration.0, freed.safety as i32, pointer(data));
            };
            Box::new(call) as mpi_t::FreedCallback
        });
        registry.event_handle_free(Handle(registration), freed)
    })
}

/// The program's own pointer.
fn pointer(data: usize) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(data)
}
