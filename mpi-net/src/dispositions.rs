//! The actions for signals, which providers of libfabric replace when it looks for them: some end the process with code 1 at
//! SIGTERM or SIGSEGV. The program's own stay in force.
//!
//! Not here: which signals threads of the library block (`mpi_fabric::signal_mask`).
#![allow(unsafe_code)] // sigaction

use std::ptr;

/// Number of signals and one: the highest is 64 on Linux.
const SIGNALS: usize = 65;

/// The actions of the time at which the value was made, which come into force again when it is dropped.
pub(crate) struct Dispositions([Option<libc::sigaction>; SIGNALS]);

impl Dispositions {
    /// Reads those of the process.
    pub fn keep() -> Dispositions {
        Dispositions(std::array::from_fn(|signal| current(signal as i32)))
    }
}

impl Drop for Dispositions {
    fn drop(&mut self) {
        for (signal, kept) in self.0.iter().enumerate() {
            let (Some(kept), Some(now)) = (kept, current(signal as i32)) else { continue };
            if kept.sa_sigaction != now.sa_sigaction || kept.sa_flags != now.sa_flags {
                // SAFETY: an action that was in force in this process, whose handler is still there: libfabric, which may have
                // replaced it, is loaded after it and never unloaded.
                unsafe { libc::sigaction(signal as i32, kept, ptr::null_mut()) };
            }
        }
    }
}

/// The action for a signal; none for a number that is not one, or that the C library uses itself.
fn current(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: zeroed memory is a valid action, which the call fills in.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, ptr::null(), &mut action) == 0).then_some(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn handler(_: libc::c_int) {}

    #[test]
    fn an_action_that_was_replaced_comes_back() {
        let before = current(libc::SIGUSR2).expect("a signal").sa_sigaction;
        let kept = Dispositions::keep();
        // SAFETY: a handler that does nothing.
        unsafe { libc::signal(libc::SIGUSR2, handler as *const () as libc::sighandler_t) };
        assert_ne!(current(libc::SIGUSR2).expect("a signal").sa_sigaction, before);
        drop(kept);
        assert_eq!(current(libc::SIGUSR2).expect("a signal").sa_sigaction, before);
    }
}
