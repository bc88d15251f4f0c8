//! The system's number of the calling thread.
#![allow(unsafe_code)] // a system call

use std::cell::Cell;

/// The number; a system call at the first use in a thread.
pub(super) fn thread_number() -> u32 {
    thread_local!(static NUMBER: Cell<u32> = const { Cell::new(0) });
    NUMBER.with(|number| match number.get() {
        0 => {
            // SAFETY: a plain system call.
            let own = unsafe { libc::gettid() } as u32;
            number.set(own);
            own
        }
        own => own,
    })
}
