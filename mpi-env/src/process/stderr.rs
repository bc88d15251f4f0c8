//! The standard error output, for reports and warnings.
//!
//! Not here: what is written (`failing`, `abort`).
#![allow(unsafe_code)] // the system call

/// Writes to the standard error output in one piece, without a lock that another thread may hold in the parent of a
/// forked process. A closed stream is no reason to fail now.
pub(crate) fn say(text: &str) {
    let mut left = text.as_bytes();
    while !left.is_empty() {
        // SAFETY: the bytes are readable.
        match unsafe { libc::write(libc::STDERR_FILENO, left.as_ptr().cast(), left.len()) } {
            written @ 1.. => left = &left[written as usize..],
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}
