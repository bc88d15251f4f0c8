//! `-host` and `-arch`: whether a name means this machine, decided without a query to any server.

use std::ffi::OsStr;
use std::net::IpAddr;

use mpi_fabric::host;

use super::os;
use super::refusal::Refusal;
use crate::args::hosts_of;

/// Checks a list of hosts that the parser has accepted: all of them have to be this machine.
pub(super) fn check_host(hosts: &OsStr) -> Result<(), Refusal> {
    match hosts_of(hosts).iter().all(|host| is_local(&host.name)) {
        true => Ok(()),
        false => Err(Refusal::OtherHost { host: hosts.into(), name: host::name() }),
    }
}

/// Whether a name or address is that of this machine.
pub(super) fn is_local(name: &str) -> bool {
    is_local_name(name, &host::name()) || is_local_address(name)
}

/// Checks an architecture's name.
pub(super) fn check_arch(arch: &OsStr) -> Result<(), Refusal> {
    let own = os::machine();
    let same = arch.to_str().is_some_and(|name| usual_name(name) == usual_name(&own));
    if same { Ok(()) } else { Err(Refusal::OtherArch { arch: arch.into(), own }) }
}

/// Whether a name is one of every machine for itself, or this machine's; with or without the domain.
fn is_local_name(name: &str, own: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let qualified = |name: &str| name.contains('.');
    let name = name.trim_end_matches('.');
    if name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case("localhost.localdomain") {
        return true;
    }
    // Two domains that are both given have to be the same.
    let same =
        if qualified(name) && qualified(own) { name.eq_ignore_ascii_case(own) } else { short(name) == short(own) };
    !name.is_empty() && name.parse::<IpAddr>().is_err() && same
}

fn is_local_address(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.parse().is_ok_and(|address: IpAddr| address.is_loopback() || host::addresses().contains(&address))
}

fn usual_name(arch: &str) -> String {
    match arch.to_ascii_lowercase().as_str() {
        "amd64" | "x86-64" | "x64" => "x86_64".into(),
        "arm64" => "aarch64".into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_names_are_accepted() {
        for name in ["localhost", "LOCALHOST", "localhost.localdomain", "node7", "node7.cluster.org", "NODE7", "node7."]
        {
            assert!(is_local_name(name, "node7"), "{name}");
        }
        assert!(is_local_name("node7", "node7.cluster.org"));
        for name in ["node8", "node70", "", "node7.other.org", "10.1.2.3"] {
            assert!(!is_local_name(name, "node7.cluster.org"), "{name}");
        }
    }

    #[test]
    fn a_job_that_is_spawned_is_on_this_host() {
        assert!(check_host(OsStr::new("localhost:2")).is_ok());
        assert_eq!(check_host(OsStr::new("localhost,ferrari")).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn own_addresses_are_accepted_and_others_are_not() {
        for address in ["127.0.0.1", "127.9.9.9", "::1", "[::1]"] {
            assert!(is_local_address(address), "{address}");
        }
        assert!(!is_local_address("192.0.2.1") && !is_local_address("node7"));
    }

    #[test]
    fn a_list_is_local_if_all_of_it_is() {
        assert!(check_host(OsStr::new("localhost, 127.0.0.1")).is_ok());
        let refused = check_host(OsStr::new("localhost,no-such-host.invalid")).unwrap_err();
        assert!(refused.to_string().contains("write localhost") && refused.exit_code() == 2);
    }

    #[test]
    fn architectures_have_several_names() {
        assert!(check_arch(OsStr::new(std::env::consts::ARCH)).is_ok());
        assert_eq!(usual_name("AMD64"), usual_name("x86_64"));
        assert!(check_arch(OsStr::new("rs6000")).is_err());
    }
}
