//! Facts about the host: its name, its addresses, random numbers, and how many cores the calling process may use.

use std::fs;
use std::net::IpAddr;

/// Facts about the host of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// Name of the host, as the kernel gives it.
    pub host: String,
    /// Cores that the job may use (affinity and cgroup quota considered), at least 1.
    pub cores: u32,
    /// Ranks of the job on this host.
    pub ranks: u32,
}

impl HostFacts {
    /// Whether ranks must share cores.
    pub fn oversubscribed(&self) -> bool {
        self.ranks > self.cores
    }
}

/// The kernel's name for this host; `localhost` if it has none.
pub fn name() -> String {
    let mut buffer = [0u8; 256];
    // SAFETY: the buffer is writable for its length.
    let done = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len()) } == 0;
    let text = buffer.split(|b| *b == 0).next().filter(|text| done && !text.is_empty());
    text.map_or_else(|| "localhost".into(), |text| String::from_utf8_lossy(text).into_owned())
}

/// The addresses of the machine's network interfaces; none where the system does not report them.
pub fn addresses() -> Vec<IpAddr> {
    let (mut list, mut addresses) = (std::ptr::null_mut(), Vec::new());
    // SAFETY: the call makes a list, which is freed once below; each entry and its address, if it has one, is valid
    // until then, and an address is of the type that its family names.
    unsafe {
        if libc::getifaddrs(&mut list) != 0 {
            return addresses;
        }
        let mut entry = list;
        while let Some(interface) = entry.as_ref() {
            if let Some(address) = interface.ifa_addr.as_ref() {
                match i32::from(address.sa_family) {
                    libc::AF_INET => {
                        let address = &*interface.ifa_addr.cast::<libc::sockaddr_in>();
                        addresses.push(IpAddr::from(address.sin_addr.s_addr.to_ne_bytes()));
                    }
                    libc::AF_INET6 => {
                        let address = &*interface.ifa_addr.cast::<libc::sockaddr_in6>();
                        addresses.push(IpAddr::from(address.sin6_addr.s6_addr));
                    }
                    _ => {}
                }
            }
            entry = interface.ifa_next;
        }
        libc::freeifaddrs(list);
    }
    addresses
}

/// Whether other hosts may reach an address of this one. Addresses of a link need its number, which is another one on each host.
pub fn is_far(address: &IpAddr) -> bool {
    let of_link = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(address.is_loopback() || address.is_unspecified() || of_link)
}

/// A number that processes have in common if they see each other's process ids and have access to each other, and so may share
/// memory: of this run of the kernel, the namespaces of process ids and users, and the user. Never 0.
pub fn key() -> u64 {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    hash(&[&boot, &namespace("pid"), &user()]).max(1)
}

/// A number that processes have in common if they are of one user, in one user namespace, with one label of the security module: those
/// the kernel most probably grants access to each other's memory.
pub fn access_key() -> u64 {
    hash(&[&user(), &fs::read("/proc/self/attr/current").unwrap_or_default()])
}

/// The user namespace of this process, and the user.
fn user() -> Vec<u8> {
    // SAFETY: no memory is passed.
    let user = unsafe { libc::geteuid() };
    [&namespace("user")[..], &user.to_le_bytes()].concat()
}

/// What identifies a namespace of this process.
fn namespace(kind: &str) -> Vec<u8> {
    fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default().into_os_string().into_encoded_bytes()
}

/// FNV-1a of 64 bits: all builds of the library need the same function.
fn hash(parts: &[&[u8]]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Random words of the kernel, for secrets.
/// # Errors
/// Those of the system.
pub fn random_words<const N: usize>() -> std::io::Result<[u64; N]> {
    let mut words = [0u64; N];
    // SAFETY: the words are writable for their size.
    let got = unsafe { libc::getrandom(words.as_mut_ptr().cast(), size_of_val(&words), 0) };
    if got == size_of_val(&words) as isize { Ok(words) } else { Err(std::io::Error::last_os_error()) }
}

/// Cores that the calling process may use: its affinity mask, cut by its cgroups' CPU quota; at least 1.
pub fn usable_cores() -> u32 {
    let affine = affinity_cores();
    quota_cores().map_or(affine, |quota| quota.min(affine)).max(1)
}

fn affinity_cores() -> u32 {
    affinity().iter().map(|word| word.count_ones()).sum::<u32>().max(1)
}

/// Numbers of the cores that the calling process may run on, in order; empty if the kernel does not report them.
pub fn allowed_cores() -> Vec<u32> {
    let mask = affinity();
    (0..64 * mask.len() as u32).filter(|core| mask[*core as usize / 64] & 1 << (core % 64) != 0).collect()
}

fn affinity() -> [u64; 128] {
    // Machines with more cores than the plain set holds need a longer mask; the kernel refuses one that is too short.
    let mut mask = [0u64; 128];
    // SAFETY: the mask is writable for its size.
    let filled = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) } == 0;
    if filled { mask } else { [0; 128] }
}

/// The tightest quota of the process's cgroups, rounded up to whole cores; `None` if there is none.
pub fn quota_cores() -> Option<u32> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut tightest: Option<u32> = None;
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let quota = if controllers.is_empty() {
            quota_upwards("/sys/fs/cgroup", path, |dir| {
                parse_cpu_max(&fs::read_to_string(dir.to_owned() + "/cpu.max").ok()?)
            })
        } else if controllers.split(',').any(|c| c == "cpu") {
            quota_upwards("/sys/fs/cgroup/cpu", path, |dir| {
                let quota = fs::read_to_string(dir.to_owned() + "/cpu.cfs_quota_us").ok()?;
                let period = fs::read_to_string(dir.to_owned() + "/cpu.cfs_period_us").ok()?;
                parse_cpu_max(&format!("{} {}", quota.trim(), period.trim()))
            })
        } else {
            None
        };
        tightest = tightest.into_iter().chain(quota).min();
    }
    tightest
}

/// The tightest quota of a group and those above it. In a container the path may not exist: then the mount's top does.
fn quota_upwards(mount: &str, path: &str, read: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    let mut path = path.trim_end_matches('/');
    let mut tightest = read(mount);
    while !path.is_empty() {
        tightest = tightest.into_iter().chain(read(&format!("{mount}{path}"))).min();
        path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    tightest
}

/// "QUOTA PERIOD" in microseconds to whole cores, rounded up; `None` for "max", -1 and nonsense.
fn parse_cpu_max(text: &str) -> Option<u32> {
    let mut words = text.split_whitespace();
    let (quota, period): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (quota > 0 && period > 0).then(|| quota.div_ceil(period).min(u32::MAX as u64) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_a_loopback_address_which_others_do_not_reach() {
        let addresses = addresses();
        assert!(addresses.is_empty() || addresses.iter().any(IpAddr::is_loopback), "{addresses:?}");
        let far = |text: &str| is_far(&text.parse().expect("an address"));
        assert!(far("192.168.1.2") && far("2001:db8::1"));
        for near in ["127.0.0.1", "::1", "0.0.0.0", "::", "169.254.1.1", "fe80::1"] {
            assert!(!far(near), "{near}");
        }
    }

    #[test]
    fn quotas_round_up_to_whole_cores() {
        assert_eq!(parse_cpu_max("50000 100000\n"), Some(1));
        assert_eq!(parse_cpu_max("150000 100000"), Some(2));
        assert_eq!(parse_cpu_max("max 100000"), None);
        assert_eq!(parse_cpu_max("-1 100000"), None);
        assert_eq!(parse_cpu_max("100000 0"), None);
        assert_eq!(parse_cpu_max(""), None);
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts() {
        let read = |dir: &str| match dir {
            "/m" => None,
            "/m/a" => Some(2),
            "/m/a/b" => Some(5),
            other => panic!("{other} is not on the way"),
        };
        assert_eq!(quota_upwards("/m", "/a/b", read), Some(2));
        assert_eq!(quota_upwards("/m", "/", |_| Some(7)), Some(7));
    }

    #[test]
    fn this_process_has_a_core_and_a_host_name() {
        assert!(usable_cores() >= 1);
        let allowed = allowed_cores();
        assert_eq!(allowed.len(), affinity_cores() as usize);
        assert!(allowed.is_sorted());
        assert!(!name().is_empty());
    }
}
