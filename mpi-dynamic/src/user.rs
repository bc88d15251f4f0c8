//! The user of this process.
#![allow(unsafe_code)] // a system call

/// Its effective user id.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() }
}
