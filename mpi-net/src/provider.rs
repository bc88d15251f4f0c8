//! One endpoint of a provider of libfabric: opening it, sends, receives, reads and writes, its completion queue.
//!
//! Invariant: the objects are used by one thread at a time, as the requested threading model demands; the caller holds the
//! lock around the value. They are closed in the order of their dependence.
//! Not here: registered memory (`regions`), what is sent (`packet`), whose turn it is (`network`).

mod choice;
mod regions;

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{self, null_mut};

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};

use choice::{choose, find};
pub(crate) use regions::Registered;

use crate::ffi;
use crate::library::Library;

/// Longest address of a provider, in bytes.
pub(crate) const ADDRESS: usize = 256;
/// The first key that is requested for a region: `cxi` reserves smaller ones for a few regions that stay.
const FIRST_KEY: u64 = 100;

/// Calls a function of a table of an object; `-ENOSYS` where the provider has none.
macro_rules! call {
    ($object:expr, $ops:ident . $name:ident ( $($argument:expr),* )) => {
        match (*(*$object).$ops).$name {
            Some(function) => function($($argument),*) as i64,
            None => -i64::from(libc::ENOSYS),
        }
    };
}
use call;

/// What an operation is, in memory of its own until it completes. Its first member is the provider's.
#[repr(C)]
pub(crate) struct Operation {
    context: ffi::fi_context2,
    pub(crate) kind: Kind,
    /// The number of the buffer; of a copy whether it is done: 1, or a negative error number.
    pub(crate) number: i64,
}

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of a packet, from the buffer with the number.
    Send,
    /// Of a packet, to the buffer with the number.
    Receive,
    /// Of data, from or to a peer's memory.
    Copy,
}

// SAFETY: words for the provider, which any thread may call.
unsafe impl Send for Operation {}

impl Operation {
    pub(crate) fn new(kind: Kind, number: i64) -> Operation {
        // SAFETY: words for the provider, for which all values are valid.
        Operation { context: unsafe { std::mem::zeroed() }, kind, number }
    }
}

/// An operation that has ended.
pub(crate) struct Completion {
    /// The context of its operation.
    pub(crate) operation: *mut Operation,
    pub(crate) bytes: usize,
    /// 0, or the positive error number.
    pub(crate) error: i32,
}

/// What a provider was opened as.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) provider: String,
    /// Whether packets of one sender arrive in their order.
    pub(crate) ordered: bool,
    /// Whether memory of a peer can be read and written.
    pub(crate) remote_access: bool,
    pub(crate) inject_bytes: usize,
    pub(crate) longest: usize,
    mr_mode: u32,
}

/// The endpoint.
pub(crate) struct Provider {
    library: Library,
    pub(crate) facts: Facts,
    fabric: *mut ffi::fid_fabric,
    domain: *mut ffi::fid_domain,
    av: *mut ffi::fid_av,
    cq: *mut ffi::fid_cq,
    endpoint: *mut ffi::fid_ep,
    /// Readable when the completion queue may have something; -1 if the provider has no such descriptor.
    pub(crate) descriptor: i32,
    next_key: u64,
    /// Memory that stays registered until the provider is closed.
    kept: Registered,
}

// SAFETY: the objects of the library may be used by any thread, one at a time.
unsafe impl Send for Provider {}

impl Provider {
    /// Opens an endpoint of the provider of this name; of the first one that suits if it is empty.
    /// # Errors
    /// `MPI_ERR_OTHER`: libfabric has no such provider, or it cannot be opened.
    pub(crate) fn open(library: Library, name: &str, peers: u32) -> Result<Provider> {
        let mut last = 0;
        for (remote, ordered) in [(true, true), (true, false), (false, true), (false, false)] {
            match find(library, name, remote, ordered) {
                Ok(infos) => match choose(&infos, name) {
                    Some(info) => return Provider::with(library, info, remote, ordered, peers),
                    None => last = -i64::from(libc::ENODATA),
                },
                Err(error) => last = error,
            }
        }
        let which = if name.is_empty() { "has no provider".into() } else { format!("has no provider {name:?}") };
        Err(Error::new(
            MPI_ERR_OTHER,
            format!(
                "libfabric {} {which} with reliable datagrams that connects hosts: {}; fi_info -t FI_EP_RDM lists those of this \
                 host, FERRUM_NET_PROVIDER chooses one",
                library.version(),
                library.text(last)
            ),
        ))
    }

    fn with(library: Library, info: *mut ffi::fi_info, remote: bool, ordered: bool, peers: u32) -> Result<Provider> {
        // SAFETY: the library filled in the description and its parts, which live as long as the list of the caller.
        let (facts, fabric_attr, av_type) = unsafe {
            let info = &*info;
            let (domain, tx) = (&*info.domain_attr, &*info.tx_attr);
            let provider = text((*info.fabric_attr).prov_name);
            let facts = Facts {
                provider,
                ordered,
                remote_access: remote && domain.mr_key_size <= 8,
                inject_bytes: tx.inject_size,
                longest: (*info.ep_attr).max_msg_size,
                mr_mode: domain.mr_mode as u32,
            };
            (facts, info.fabric_attr, domain.av_type)
        };
        let mut this = Provider {
            library,
            facts,
            fabric: null_mut(),
            domain: null_mut(),
            av: null_mut(),
            cq: null_mut(),
            endpoint: null_mut(),
            descriptor: -1,
            next_key: FIRST_KEY,
            kept: Registered::NONE,
        };
        let mut av = ffi::fi_av_attr {
            type_: av_type,
            rx_ctx_bits: 0,
            count: peers as usize,
            ep_per_node: 0,
            name: ptr::null(),
            map_addr: null_mut(),
            flags: 0,
        };
        let mut cq = ffi::fi_cq_attr {
            size: 0,
            flags: 0,
            format: ffi::FI_CQ_FORMAT_MSG,
            wait_obj: ffi::FI_WAIT_FD,
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: null_mut(),
        };
        // SAFETY: descriptions of the library and objects that it has made, each before those that depend on it.
        unsafe {
            let opened = (library.fabric)(fabric_attr, &mut this.fabric, null_mut());
            this.check("open", opened.into())?;
            let opened = call!(this.fabric, ops.domain(this.fabric, info, &mut this.domain, null_mut()));
            this.check("open a domain", opened)?;
            let opened = call!(this.domain, ops.av_open(this.domain, &mut av, &mut this.av, null_mut()));
            this.check("open a table of addresses", opened)?;
            let mut opened = call!(this.domain, ops.cq_open(this.domain, &mut cq, &mut this.cq, null_mut()));
            if opened != 0 {
                cq.wait_obj = ffi::FI_WAIT_NONE;
                opened = call!(this.domain, ops.cq_open(this.domain, &mut cq, &mut this.cq, null_mut()));
            }
            this.check("open a completion queue", opened)?;
            let opened = call!(this.domain, ops.endpoint(this.domain, info, &mut this.endpoint, null_mut()));
            this.check("open an endpoint", opened)?;
            let fid = &raw mut (*this.endpoint).fid;
            let bound = call!(fid, ops.bind(fid, &raw mut (*this.av).fid, 0));
            this.check("bind the table of addresses", bound)?;
            let which = u64::from(ffi::FI_TRANSMIT | ffi::FI_RECV);
            let bound = call!(fid, ops.bind(fid, &raw mut (*this.cq).fid, which));
            this.check("bind the completion queue", bound)?;
            let enabled = call!(fid, ops.control(fid, ffi::FI_ENABLE as c_int, null_mut()));
            this.check("enable the endpoint", enabled)?;
            let mut descriptor: c_int = -1;
            let queue = &raw mut (*this.cq).fid;
            let place = (&raw mut descriptor).cast();
            if cq.wait_obj == ffi::FI_WAIT_FD && call!(queue, ops.control(queue, ffi::FI_GETWAIT as c_int, place)) == 0
            {
                this.descriptor = descriptor;
            }
        }
        Ok(this)
    }

    fn check(&self, what: &str, status: i64) -> Result<()> {
        match status {
            0 => Ok(()),
            status => Err(Error::new(
                MPI_ERR_OTHER,
                format!("provider {} of libfabric cannot {what}: {}", self.facts.provider, self.library.text(status)),
            )),
        }
    }

    /// The version of the library.
    pub(crate) fn library_version(&self) -> String {
        self.library.version()
    }

    /// The text of an error number.
    pub(crate) fn text(&self, error: i64) -> String {
        self.library.text(error)
    }

    /// The address of the endpoint.
    pub(crate) fn address(&self) -> Result<Vec<u8>> {
        let mut address = [0u8; ADDRESS];
        let mut bytes = ADDRESS;
        // SAFETY: an open endpoint; at most `bytes` bytes are written.
        let status = unsafe {
            let fid = &raw mut (*self.endpoint).fid;
            call!(self.endpoint, cm.getname(fid, address.as_mut_ptr().cast(), &mut bytes))
        };
        self.check("report its address", status)?;
        Ok(address[..bytes.min(ADDRESS)].to_vec())
    }

    /// Enters the address of a peer; its number.
    pub(crate) fn insert(&mut self, address: &[u8]) -> Result<u64> {
        let mut padded = [0u8; ADDRESS];
        padded[..address.len()].copy_from_slice(address);
        let mut number = 0;
        // SAFETY: an open table; one address is read, from memory as long as any has, and one number is written.
        let entered =
            unsafe { call!(self.av, ops.insert(self.av, padded.as_ptr().cast(), 1, &mut number, 0, null_mut())) };
        match entered {
            1 => Ok(number),
            status => self
                .check("use the address of a peer", if status < 0 { status } else { -i64::from(libc::EINVAL) })
                .map(|()| 0),
        }
    }

    /// Ends the use of a peer's address. Nothing is under way to it.
    pub(crate) fn remove(&mut self, mut number: u64) {
        // SAFETY: an open table; one number is read. A provider without the function keeps the address.
        let _ = unsafe { call!(self.av, ops.remove(self.av, &mut number, 1, 0)) };
    }

    /// Sends; the bytes are free again when the operation completes, or at once if that is null. The status: 0, or a negative error
    /// number.
    ///
    /// # Safety
    /// The memory and the operation stay until it completes; both belong to the provider until then.
    pub(crate) unsafe fn send(&mut self, to: u64, data: &[u8], region: Registered, operation: *mut Operation) -> i64 {
        let at = data.as_ptr().cast();
        // SAFETY: an open endpoint; the caller's promise.
        unsafe {
            match operation.is_null() {
                true => call!(self.endpoint, msg.inject(self.endpoint, at, data.len(), to)),
                false => {
                    call!(
                        self.endpoint,
                        msg.send(self.endpoint, at, data.len(), region.descriptor(), to, operation.cast())
                    )
                }
            }
        }
    }

    /// Posts a receive from any peer.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn receive(
        &mut self,
        at: *mut u8,
        bytes: usize,
        region: Registered,
        operation: *mut Operation,
    ) -> i64 {
        let any = u64::MAX; // FI_ADDR_UNSPEC
        // SAFETY: an open endpoint; the caller's promise.
        unsafe {
            call!(self.endpoint, msg.recv(self.endpoint, at.cast(), bytes, region.descriptor(), any, operation.cast()))
        }
    }

    /// Reads from a peer's memory, or writes to it.
    ///
    /// # Safety
    /// As [`Self::send`]; `at` is writable for a read.
    pub(crate) unsafe fn copy(
        &mut self,
        peer: u64,
        writes: bool,
        (at, bytes): (*mut u8, usize),
        region: Registered,
        (key, address): (u64, u64),
        operation: *mut Operation,
    ) -> i64 {
        let (endpoint, context) = (self.endpoint, operation.cast());
        // SAFETY: an open endpoint; the caller's promise.
        unsafe {
            match writes {
                false => call!(
                    endpoint,
                    rma.read(endpoint, at.cast(), bytes, region.descriptor(), peer, address, key, context)
                ),
                true => {
                    let (mut descriptor, data) =
                        (region.descriptor(), ffi::iovec { iov_base: at.cast(), iov_len: bytes });
                    let place = ffi::fi_rma_iov { addr: address, len: bytes, key };
                    let message = ffi::fi_msg_rma {
                        msg_iov: &data,
                        desc: &mut descriptor,
                        iov_count: 1,
                        addr: peer,
                        rma_iov: &place,
                        rma_iov_count: 1,
                        context,
                        data: 0,
                    };
                    // Complete when the peer's memory has the data, not when the data has left this process.
                    call!(endpoint, rma.writemsg(endpoint, &message, ffi::FI_DELIVERY_COMPLETE.into()))
                }
            }
        }
    }

    /// Takes completions, and lets the provider make progress. Ended operations go to `each`. Returns an error of the queue itself, as a
    /// negative number.
    pub(crate) fn poll(&mut self, mut each: impl FnMut(Completion)) -> i64 {
        const MOST: usize = 16;
        // SAFETY: plain numbers and addresses.
        let mut entries: [ffi::fi_cq_msg_entry; MOST] = unsafe { std::mem::zeroed() };
        // SAFETY: an open queue of this format; at most so many entries are written.
        let got = unsafe { call!(self.cq, ops.read(self.cq, entries.as_mut_ptr().cast(), MOST)) };
        if got == -i64::from(ffi::FI_EAGAIN) {
            return 0;
        }
        if got == -i64::from(ffi::FI_EAVAIL) {
            // SAFETY: plain numbers and addresses.
            let mut entry: ffi::fi_cq_err_entry = unsafe { std::mem::zeroed() };
            // SAFETY: an open queue; one entry is written.
            let got = unsafe { call!(self.cq, ops.readerr(self.cq, &mut entry, 0)) };
            if got > 0 {
                each(Completion {
                    operation: entry.op_context.cast(),
                    bytes: entry.len,
                    error: if entry.err == 0 { libc::EIO } else { entry.err },
                });
            }
            return if got == -i64::from(ffi::FI_EAGAIN) { 0 } else { got.min(0) };
        }
        for entry in entries.iter().take(got.max(0) as usize) {
            each(Completion { operation: entry.op_context.cast(), bytes: entry.len, error: 0 });
        }
        got.min(0)
    }

    /// Whether a thread may sleep until the descriptor is readable.
    pub(crate) fn may_sleep(&mut self) -> bool {
        if self.descriptor < 0 {
            return false;
        }
        // SAFETY: open objects; a list of one.
        unsafe {
            let mut queue = &raw mut (*self.cq).fid;
            call!(self.fabric, ops.trywait(self.fabric, &mut queue, 1)) == 0
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let kept = std::mem::replace(&mut self.kept, Registered::NONE);
        // An endpoint with regions that belong to it is not closed; others may still use theirs until it is.
        if self.facts.mr_mode & ffi::FI_MR_ENDPOINT != 0 {
            self.end(kept);
            close(self.endpoint.cast());
        } else {
            close(self.endpoint.cast());
            self.end(kept);
        }
        close(self.cq.cast());
        close(self.av.cast());
        close(self.domain.cast());
        close(self.fabric.cast());
    }
}

/// Closes an object, whose first member is its `fid`; does nothing for NULL.
fn close(object: *mut ffi::fid) {
    if !object.is_null() {
        // SAFETY: an open object, closed once. An error leaves it open, which the end of the process does not.
        let _ = unsafe { call!(object, ops.close(object)) };
    }
}

fn text(text: *const std::ffi::c_char) -> String {
    // SAFETY: a C string of the library, or NULL.
    if text.is_null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() }
}
