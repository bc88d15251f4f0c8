//! Generalized requests (MPI-5.0, 13.2).
//!
//! Invariant: no lock of the library is held during a callback of the program. A code that a callback returns is the
//! code of the call that caused the callback.
//! Not here: the order of the callbacks (`mpi_p2p`).

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use mpi_core::{Handle, Status, abi};
use mpi_env::Process;
use mpi_errors::{Error, Result};
use mpi_p2p::Generalized;

use crate::call_context::CallContext;
use crate::check::{Function, Out};
use crate::errors::Outcome;

type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// The callbacks of one request, by address.
struct Callbacks {
    process: &'static Process,
    query: usize,
    free: usize,
    cancel: usize,
    extra_state: usize,
}

impl Callbacks {
    fn extra_state(&self) -> *mut c_void {
        core::ptr::with_exposed_provenance_mut(self.extra_state)
    }

    /// The outcome of a callback that has returned this code.
    fn outcome(&self, which: &str, code: c_int) -> Result<()> {
        if code == abi::MPI_SUCCESS {
            return Ok(());
        }
        let class = self.process.codes.class_of(code).unwrap_or(abi::MPI_ERR_OTHER);
        let text = self.process.codes.string_of(code).filter(|text| !text.is_empty());
        let text = text.map(|text| format!(": {text}")).unwrap_or_default();
        let what = format!("the {which} of the generalized request returned {code}{text}");
        Err(Error::new(class, what).with_code(code))
    }
}

impl Generalized for Callbacks {
    fn query(&self, status: &mut Status) -> Result<()> {
        let address = core::ptr::with_exposed_provenance::<()>(self.query);
        // SAFETY: the program passed a function of this type when it started the request.
        let function = unsafe { core::mem::transmute::<*const (), Query>(address) };
        // SAFETY: the callback gets the program's own pointer and the address of a status, as the standard requires.
        self.outcome("query_fn", unsafe { function(self.extra_state(), status) })
    }

    fn free(&self) -> Result<()> {
        let address = core::ptr::with_exposed_provenance::<()>(self.free);
        // SAFETY: as in `query`.
        let function = unsafe { core::mem::transmute::<*const (), Free>(address) };
        // SAFETY: the callback gets the program's own pointer.
        self.outcome("free_fn", unsafe { function(self.extra_state()) })
    }

    fn cancel(&self, complete: bool) -> Result<()> {
        let address = core::ptr::with_exposed_provenance::<()>(self.cancel);
        // SAFETY: as in `query`.
        let function = unsafe { core::mem::transmute::<*const (), Cancel>(address) };
        // SAFETY: the callback gets the program's own pointer.
        self.outcome("cancel_fn", unsafe { function(self.extra_state(), c_int::from(complete)) })
    }
}

/// `MPI_Grequest_start`
pub fn grequest_start(
    cx: CallContext,
    query: Function,
    free: Function,
    cancel: Function,
    extra_state: *mut c_void,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let (query, free, cancel) = (query.address, free.address, cancel.address);
    let callbacks = Callbacks { process, query, free, cancel, extra_state: extra_state.expose_provenance() };
    request.set(process.engine.start_generalized(&mut guard, Arc::new(callbacks))?.0);
    Ok(())
}

/// `MPI_Grequest_complete`
pub fn grequest_complete(cx: CallContext, request: usize) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    Ok(process.engine.complete_generalized(&mut guard, Handle(request))?)
}
