//! A descriptor that makes a thread that polls return.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Thread-safe.
pub(crate) struct Event(OwnedFd);

impl Event {
    /// # Errors
    /// Those of the system.
    pub(crate) fn new() -> io::Result<Event> {
        // SAFETY: makes a descriptor.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: made above, and owned here alone.
        Ok(Event(unsafe { OwnedFd::from_raw_fd(event) }))
    }

    /// Makes it readable.
    pub(crate) fn set(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes to a descriptor of ours.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Makes it unreadable.
    pub(crate) fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: eight bytes from a descriptor of ours.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}
