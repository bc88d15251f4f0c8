//! TCP connections between hosts: how long the other one may be silent, and which errors a listener does not survive.
//!
//! Not here: what goes over them (`mpi-net`, `mpi-dynamic`).

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Makes the kernel give a connection up when the other host has been silent for so long. The other kernel answers for a
/// process that computes, or has not accepted yet.
/// # Errors
/// Those of the system.
pub fn watch_silence(stream: &TcpStream, silence: Duration) -> io::Result<()> {
    let seconds = i32::try_from(silence.as_secs()).unwrap_or(i32::MAX / 1000);
    let probe = (seconds / 3).clamp(1, 30);
    let options = [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, probe),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, probe),
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, seconds.saturating_mul(1000)),
    ];
    for (level, option, value) in options {
        // SAFETY: a number that is valid during the call.
        let set = unsafe {
            libc::setsockopt(stream.as_raw_fd(), level, option, (&raw const value).cast(), size_of::<i32>() as u32)
        };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Whether an error of accepting is one of the socket that listens: it accepts no connection ever again.
pub fn is_of_listener(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBADF | libc::EINVAL | libc::ENOTSOCK | libc::EOPNOTSUPP | libc::EFAULT))
}
