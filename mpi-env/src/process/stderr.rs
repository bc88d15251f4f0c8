//! The standard error output, for reports and warnings.
//!
//! Not here: the texts (`failing`, `abort`).
#![allow(unsafe_code)] // calls `write` directly

/// Writes a text to the standard error output without buffering. Takes no lock, because in a child of `fork` a thread
/// of the parent may hold it. Ignores a closed stream.
pub(crate) fn print(text: &str) {
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
