//! The queue of a listener, and the IP address in an address of a provider.

use std::net::{IpAddr, Ipv6Addr, TcpListener};
use std::os::fd::AsRawFd;

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
