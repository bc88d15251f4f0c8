//! Registered memory.
//!
//! Invariant: a region that was made is ready for use: where regions belong to endpoints, it is bound to the endpoint and enabled.

use super::*;

/// Registered memory.
#[derive(Clone, Copy)]
pub(crate) struct Registered {
    region: *mut ffi::fid_mr,
    pub(crate) key: u64,
}

// SAFETY: as for `Provider`.
unsafe impl Send for Registered {}
// SAFETY: the address is passed on only.
unsafe impl Sync for Registered {}

impl Registered {
    /// Stands for memory that needs no registration.
    pub(crate) const NONE: Registered = Registered { region: null_mut(), key: 0 };

    pub(super) fn descriptor(self) -> *mut c_void {
        // SAFETY: a region of the provider, which is closed only with its memory.
        if self.region.is_null() { null_mut() } else { unsafe { (*self.region).mem_desc } }
    }
}

impl Provider {
    /// Whether memory that this process sends from or reads to has to be registered.
    pub(crate) fn registers_local(&self) -> bool {
        self.facts.mr_mode & ffi::FI_MR_LOCAL != 0
    }

    /// Whether peers name registered memory by its address; otherwise by the offset in it.
    pub(crate) fn by_address(&self) -> bool {
        self.facts.mr_mode & ffi::FI_MR_VIRT_ADDR != 0
    }

    /// Registers memory for local operations, or for peers to read and write it.
    ///
    /// # Safety
    /// The memory stays until [`Self::end`].
    pub(crate) unsafe fn register(&mut self, at: *mut u8, bytes: usize, access: u64) -> Result<Registered> {
        let wanted = self.next_key;
        self.next_key += 1;
        let endpoint = if self.facts.mr_mode & ffi::FI_MR_ENDPOINT == 0 { null_mut() } else { self.endpoint };
        // SAFETY: an open domain, and an endpoint of it that is enabled; the caller's promise.
        let made = unsafe { make(self.domain, endpoint, (at, bytes), access, wanted) };
        made.or_else(|status| self.check("register memory", status).map(|()| Registered::NONE))
    }

    /// Keeps a registration until the provider is closed. Only one is kept.
    pub(crate) fn keep(&mut self, registered: Registered) {
        self.kept = registered;
    }

    /// Ends a registration.
    pub(crate) fn end(&mut self, registered: Registered) {
        close(registered.region.cast());
    }
}

/// Makes a region, for an endpoint if that is not NULL. Errors: a negative number of the library.
///
/// # Safety
/// The objects are open. The memory stays until the region is closed.
unsafe fn make(
    domain: *mut ffi::fid_domain,
    endpoint: *mut ffi::fid_ep,
    (at, bytes): (*mut u8, usize),
    access: u64,
    wanted: u64,
) -> std::result::Result<Registered, i64> {
    let mut region = null_mut();
    // SAFETY: the caller's promise; one address is written. The region is made before it is bound.
    unsafe {
        let fid = &raw mut (*domain).fid;
        let made = call!(domain, mr.reg(fid, at.cast(), bytes, access, 0, wanted, 0, &mut region, null_mut()));
        if made != 0 {
            return Err(made);
        }
        if !endpoint.is_null() {
            let fid = &raw mut (*region).fid;
            let mut status = call!(fid, ops.bind(fid, &raw mut (*endpoint).fid, 0));
            if status == 0 {
                status = call!(fid, ops.control(fid, ffi::FI_ENABLE as c_int, null_mut()));
            }
            if status != 0 {
                close(fid);
                return Err(status);
            }
        }
        // The key is known when the region is enabled.
        Ok(Registered { region, key: (*region).key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::mem::zeroed;

    thread_local! {
        /// What the provider of the test was called for, and the status of its next binding.
        static CALLS: RefCell<(Vec<&'static str>, c_int)> = const { RefCell::new((Vec::new(), 0)) };
    }

    fn called(what: &'static str) -> c_int {
        CALLS.with_borrow_mut(|(calls, status)| {
            calls.push(what);
            if what == "bind" { *status } else { 0 }
        })
    }

    unsafe extern "C" fn reg(
        domain: *mut ffi::fid,
        _: *const c_void,
        bytes: usize,
        _: u64,
        _: u64,
        key: u64,
        _: u64,
        region: *mut *mut ffi::fid_mr,
        _: *mut c_void,
    ) -> c_int {
        assert_eq!((bytes, key), (8, 5));
        // SAFETY: the domain's context is the region of the test.
        unsafe { *region = (*domain).context.cast() };
        called("reg")
    }

    unsafe extern "C" fn bind(region: *mut ffi::fid, endpoint: *mut ffi::fid, flags: u64) -> c_int {
        // SAFETY: the region's context is the endpoint of the test.
        assert_eq!((unsafe { (*region).context }, flags), (endpoint.cast(), 0));
        called("bind")
    }

    unsafe extern "C" fn control(region: *mut ffi::fid, command: c_int, _: *mut c_void) -> c_int {
        assert_eq!(command, ffi::FI_ENABLE as c_int);
        // SAFETY: the fid is the first member of the region of the test.
        unsafe { (*region.cast::<ffi::fid_mr>()).key = 77 };
        called("enable")
    }

    unsafe extern "C" fn close(_: *mut ffi::fid) -> c_int {
        called("close")
    }

    /// The result of a registration, and what the provider was called for.
    fn registered(for_endpoint: bool, bound: c_int) -> (std::result::Result<u64, i64>, Vec<&'static str>) {
        CALLS.set((Vec::new(), bound));
        // SAFETY: tables and objects of C, for which zeros are valid.
        unsafe {
            let mut table = ffi::fi_ops_mr { reg: Some(reg), ..zeroed() };
            let mut ops = ffi::fi_ops { bind: Some(bind), control: Some(control), close: Some(close), ..zeroed() };
            let (mut endpoint, mut region): (ffi::fid_ep, ffi::fid_mr) = (zeroed(), zeroed());
            let mut domain: ffi::fid_domain = zeroed();
            (region.fid.ops, region.fid.context, region.key) = (&mut ops, (&raw mut endpoint).cast(), 5);
            (domain.mr, domain.fid.context) = (&mut table, (&raw mut region).cast());
            let mut memory = [0u8; 8];
            let endpoint = if for_endpoint { &raw mut endpoint } else { null_mut() };
            let made = make(&mut domain, endpoint, (memory.as_mut_ptr(), memory.len()), 1, 5);
            (made.map(|region| region.key), CALLS.take().0)
        }
    }

    #[test]
    fn a_region_of_an_endpoint_is_bound_and_enabled() {
        assert_eq!(registered(false, 0), (Ok(5), vec!["reg"]));
        assert_eq!(registered(true, 0), (Ok(77), vec!["reg", "bind", "enable"]));
    }

    #[test]
    fn a_region_that_cannot_be_bound_is_closed() {
        assert_eq!(registered(true, -libc::EINVAL), (Err(-i64::from(libc::EINVAL)), vec!["reg", "bind", "close"]));
    }
}
