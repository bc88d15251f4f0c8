//! The choice of a provider among those of the library, and of its address.

use super::*;

/// A list of descriptions, freed with the value.
pub(super) struct Infos {
    pub(super) library: Library,
    pub(super) first: *mut ffi::fi_info,
}

impl Drop for Infos {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: a list of the library, freed once.
            unsafe { (self.library.free_info)(self.first) };
        }
    }
}

/// Descriptions of endpoints that suit. Errors: a negative number of the library.
pub(super) fn find(library: Library, name: &str, remote: bool, ordered: bool) -> std::result::Result<Infos, i64> {
    // SAFETY: NULL requests an empty description, with all of its parts, of the library's own size.
    let hints = Infos { library, first: unsafe { (library.dup_info)(ptr::null()) } };
    if hints.first.is_null() {
        return Err(-i64::from(libc::ENOMEM));
    }
    // SAFETY: the library made the description and its parts. The name is freed by the library together with it, so it
    // comes from the C library's allocator.
    unsafe {
        let hints = &mut *hints.first;
        hints.caps = u64::from(if remote { ffi::FI_MSG | ffi::FI_RMA } else { ffi::FI_MSG });
        hints.mode = ffi::FI_CONTEXT | ffi::FI_CONTEXT2;
        (*hints.ep_attr).type_ = ffi::FI_EP_RDM;
        let domain = &mut *hints.domain_attr;
        domain.threading = ffi::FI_THREAD_DOMAIN;
        domain.resource_mgmt = ffi::FI_RM_ENABLED;
        let regions = ffi::FI_MR_VIRT_ADDR | ffi::FI_MR_ALLOCATED | ffi::FI_MR_PROV_KEY | ffi::FI_MR_ENDPOINT;
        domain.mr_mode = (ffi::FI_MR_LOCAL | regions) as c_int;
        if ordered {
            (*hints.tx_attr).msg_order = u64::from(ffi::FI_ORDER_SAS);
            (*hints.rx_attr).msg_order = u64::from(ffi::FI_ORDER_SAS);
        }
        if let (false, Ok(name)) = (name.is_empty(), CString::new(name)) {
            (*hints.fabric_attr).prov_name = libc::strdup(name.as_ptr());
        }
    }
    let mut infos = Infos { library, first: null_mut() };
    // SAFETY: a description of the library; one address is written.
    let status =
        unsafe { (library.get_info)(library.interface(), ptr::null(), ptr::null(), 0, hints.first, &mut infos.first) };
    if status == 0 && !infos.first.is_null() { Ok(infos) } else { Err(status.into()) }
}

/// The first provider of a list that connects hosts, at the address that others most likely reach.
pub(super) fn choose(infos: &Infos, name: &str) -> Option<*mut ffi::fi_info> {
    let next = |info: &*mut ffi::fi_info| {
        // SAFETY: a member of the list.
        let next = unsafe { (**info).next };
        (!next.is_null()).then_some(next)
    };
    let all: Vec<_> = std::iter::successors((!infos.first.is_null()).then_some(infos.first), next).collect();
    // SAFETY: members of the list with all of their parts.
    let provider = |info: &*mut ffi::fi_info| unsafe { text((*(**info).fabric_attr).prov_name) };
    let leaves_host = |info: &&*mut ffi::fi_info| {
        let provider = provider(info);
        let is_one_of = |others: &[&str]| provider.split(';').any(|part| others.contains(&part));
        // The last ones are for those who name them.
        !is_one_of(&["shm", "sm2"]) && (!name.is_empty() || !is_one_of(&["lnx", "udp", "net", "sockets"]))
    };
    let first = all.iter().find(leaves_host)?;
    let of_first = all.iter().filter(|info| provider(info) == provider(first));
    of_first.min_by_key(|info| reach(**info)).copied()
}

/// How likely others reach an address, most likely first.
fn reach(info: *mut ffi::fi_info) -> u32 {
    // SAFETY: a description of the library; an address of `src_addrlen` bytes, or NULL. Its family comes first.
    unsafe {
        let info = &*info;
        if info.src_addr.is_null() || info.src_addrlen < size_of::<libc::sockaddr_in>() {
            return 0;
        }
        match (*info.src_addr.cast::<libc::sockaddr>()).sa_family as c_int {
            libc::AF_INET => {
                let address = ptr::read_unaligned(info.src_addr.cast::<libc::sockaddr_in>());
                if u32::from_be(address.sin_addr.s_addr) >> 24 == 127 { 2 } else { 0 }
            }
            libc::AF_INET6 => {
                let address = ptr::read_unaligned(info.src_addr.cast::<libc::sockaddr_in6>());
                let bytes = address.sin6_addr.s6_addr;
                if bytes == std::net::Ipv6Addr::LOCALHOST.octets() || bytes[..2] == [0xfe, 0x80] { 3 } else { 1 }
            }
            _ => 0,
        }
    }
}
