//! What typed tools register for the end of the process: destructors of static objects and functions of `atexit`.
//!
//! Invariant: what a typed tool registers after it was loaded runs after the `end` of all typed tools, the last one
//! first. So objects that a call has made are still there in `end`. What its constructors register at load time comes
//! later still, in the system's own list, which the stack has entered after them.
//! Not here: which references lead here (`stack`), the order of the tools' ends.

use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

type Function = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    fn __cxa_atexit(function: Option<Function>, argument: *mut c_void, object: *mut c_void) -> c_int;
}

/// A function with its argument.
struct Handler {
    function: Function,
    argument: usize,
}

static HANDLERS: Mutex<Vec<Handler>> = Mutex::new(Vec::new());
/// Whether the handlers have run; the system keeps those that come later.
static OVER: AtomicBool = AtomicBool::new(false);

/// What `__cxa_atexit` of a typed tool leads to.
///
/// # Safety
/// As `__cxa_atexit`.
pub(crate) unsafe extern "C" fn register(
    function: Option<Function>,
    argument: *mut c_void,
    object: *mut c_void,
) -> c_int {
    let Some(known) = function else { return -1 };
    match HANDLERS.lock() {
        Ok(mut handlers) if !OVER.load(Ordering::Relaxed) => {
            handlers.push(Handler { function: known, argument: argument as usize });
            0
        }
        // SAFETY: the caller's contract.
        _ => unsafe { __cxa_atexit(function, argument, object) },
    }
}

/// Runs the handlers, those included that a handler registers.
pub(crate) fn run() {
    loop {
        let Ok(mut handlers) = HANDLERS.lock() else { return };
        let Some(Handler { function, argument }) = handlers.pop() else {
            OVER.store(true, Ordering::Relaxed);
            return;
        };
        drop(handlers);
        // SAFETY: a function that its owner has registered with this argument; tools are not unloaded.
        unsafe { function(argument as *mut c_void) };
    }
}
