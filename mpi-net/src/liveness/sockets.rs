//! The silence limit of a connection, the queue of a listener, and the IP address in an address of a provider.

use std::io;
use std::net::{IpAddr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Makes the kernel give a connection up when the other host has been silent for so long.
pub(super) fn watch_silence(stream: &TcpStream, silence: Duration) -> io::Result<()> {
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

/// Lets as many connections wait to be accepted as the system permits. The host of a process that a debugger stops would count as
/// silent for those that find no room.
pub(super) fn lengthen_queue(listener: &TcpListener) {
    // SAFETY: a descriptor that listens. An error leaves the queue as it was.
    unsafe { libc::listen(listener.as_raw_fd(), i32::MAX) };
}

/// The IP address in an address of a provider, if that is one of a socket.
pub(crate) fn ip_of(address: &[u8]) -> Option<IpAddr> {
    let family = i32::from(u16::from_ne_bytes(address.get(..2)?.try_into().ok()?));
    match family {
        libc::AF_INET => {
            let bytes: [u8; 4] = address.get(4..8)?.try_into().ok()?;
            Some(IpAddr::from(bytes)).filter(|ip| !ip.is_unspecified())
        }
        libc::AF_INET6 => {
            let bytes: [u8; 16] = address.get(8..24)?.try_into().ok()?;
            // Addresses of a link need its number, which is another one on each host.
            Some(Ipv6Addr::from(bytes)).filter(|ip| !ip.is_unspecified() && !ip.is_unicast_link_local()).map(IpAddr::V6)
        }
        _ => None,
    }
}
