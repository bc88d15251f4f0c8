//! Where other hosts reach the front, and the names of hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use mpi_fabric::host;

/// A listener on all addresses of this machine.
pub(super) fn listen() -> std::io::Result<TcpListener> {
    // An address of IPv6 takes connections of IPv4 too, where the system has both.
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))
}

/// The addresses at which other hosts may reach this machine.
pub(super) fn addresses() -> Vec<IpAddr> {
    let mut far: Vec<IpAddr> = host::addresses().into_iter().filter(host::is_far).collect();
    far.sort_by_key(IpAddr::is_ipv6);
    if far.is_empty() { vec![Ipv4Addr::LOCALHOST.into()] } else { far }
}

/// Whether two names are of one host, with or without its domain.
pub(super) fn same_host(one: &str, other: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    match one.contains('.') && other.contains('.') {
        true => one.eq_ignore_ascii_case(other),
        false => short(one) == short(other),
    }
}
