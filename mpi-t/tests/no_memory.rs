//! Without address space for handles, initialization fails, every call fails, and it can be tried again.
//!
//! One test alone: the limit is that of the whole operating-system process.
#![allow(unsafe_code)] // sets a limit of the process

use mpi_t::{Registry, TError};

/// Limits the address space of the process until dropped.
struct Limited(libc::rlimit);

impl Limited {
    fn to(bytes: libc::rlim_t) -> Limited {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the call stores into the struct passed.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut before) }, 0);
        let limit = libc::rlimit { rlim_cur: bytes, ..before };
        // SAFETY: a soft limit below the hard one; what is mapped stays.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        Limited(before)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // SAFETY: the previous limit.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &self.0) };
    }
}

#[test]
fn without_address_space_initialization_fails_and_can_be_tried_again() {
    let registry = Registry::with_environment([]);
    for _ in 0..2 {
        // Nothing is allocated between here and the end of the limit.
        let limited = Limited::to(1 << 16);
        let outcomes = (registry.init_thread(), registry.finalize(), registry.pvar_get_num());
        drop(limited);
        let none = || TError::NOT_INITIALIZED;
        assert_eq!(outcomes, (Err(TError::MEMORY), Err(none()), Err(none())));
    }
    registry.init_thread().expect("address space");
    let session = registry.pvar_session_create().expect("room");
    registry.pvar_session_free(session).expect("live");
    registry.finalize().expect("initialized once");
    assert_eq!(registry.finalize(), Err(TError::NOT_INITIALIZED));
}
