//! Values for variables of libfabric by which its providers on TCP sockets need less memory, and few more system calls, for the
//! packets of this library. They have no counterpart in the hints of `fi_getinfo`.
//!
//! Invariant: a variable that the user has set keeps its value, and so do those of its provider. The variables are in the
//! environment only while libfabric reads them: processes that other threads of the program start in that moment have them too, and no others.
//! Not here: the control variables of this library (`settings`).
#![allow(unsafe_code)] // the list of variables of the C library

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// Bytes of a provider's own buffers: for headers and for what arrives before its receive. Longer data go directly from and to the
/// buffers of this library, or to memory that is allocated for them.
const OWN_BUFFER: usize = 1024;
/// Receives that `ofi_rxm` posts for the messages of all peers; it has memory for 1024 at a time.
const SHARED_RECEIVES: usize = 512;
/// Processes for which providers have room by themselves.
const USUAL_PEERS: u32 = 256;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// What the defaults depend on.
struct Surroundings<'a> {
    /// The version of libfabric, as it reports it.
    version: u32,
    /// The provider that the user wants; empty: any.
    provider: &'a str,
    /// Whether this host has an adapter for `verbs`, which `ofi_rxm` uses with the same variables.
    has_adapter: bool,
    /// Processes of the job.
    peers: u32,
    /// Longest packet in bytes.
    packet: usize,
}

/// The variables to add to those of the environment, as `NAME=value`.
fn additions(around: &Surroundings, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let mut added = Vec::new();
    if around.peers > USUAL_PEERS && !is_set("FI_UNIVERSE_SIZE") {
        added.push(format!("FI_UNIVERSE_SIZE={}", around.peers));
    }
    // Of the versions that have `tcp;ofi_rxm` and no endpoints of `tcp` itself, 1.17 is the one whose messages may be longer than its buffers
    // by default. The limit keeps packets from becoming offers and reads of the provider.
    let over_tcp = around.provider.starts_with("tcp") || around.provider.is_empty() && !around.has_adapter;
    if around.version == version(1, 17) && over_tcp && !is_set("FI_OFI_RXM_") {
        added.push(format!("FI_OFI_RXM_BUFFER_SIZE={OWN_BUFFER}"));
        added.push(format!("FI_OFI_RXM_EAGER_LIMIT={}", around.packet));
        added.push(format!("FI_OFI_RXM_MSG_RX_SIZE={SHARED_RECEIVES}"));
    }
    if around.version > version(1, 17) && !is_set("FI_TCP_MAX_RX_SIZE") {
        added.push(format!("FI_TCP_MAX_RX_SIZE={OWN_BUFFER}"));
    }
    added
}

const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

/// Takes the variables out of the environment again when it is dropped.
pub(crate) struct Defaults {
    /// The texts that were added. They stay in memory: other threads of the program may read them at any time.
    added: Vec<*mut c_char>,
}

impl Defaults {
    /// Adds them to the environment, for packets of `packet` bytes at most; before the first call of libfabric that looks for providers.
    pub(crate) fn set(version: u32, provider: &str, peers: u32, packet: usize) -> Defaults {
        let has_adapter = fs::read_dir("/sys/class/infiniband").is_ok_and(|mut adapters| adapters.next().is_some());
        let before = current().load(Acquire); // pairs with the exchange below
        // SAFETY: the list of the process.
        let variables = unsafe { variables(before) };
        let is_set = |name: &str| variables.iter().any(|variable| text_of(*variable).starts_with(name.as_bytes()));
        let added = additions(&Surroundings { version, provider, has_adapter, peers, packet }, is_set);
        if added.is_empty() {
            return Defaults { added: Vec::new() };
        }
        let texts = added.into_iter().map(|text| CString::new(text).expect("text without a NUL").into_raw());
        let texts: Vec<*mut c_char> = texts.collect();
        // The list stays too. `setenv` would free the old one, which another thread may read.
        let list: Vec<_> = variables.into_iter().chain(texts.iter().copied()).chain([null_mut()]).collect();
        let list = Box::leak(list.into_boxed_slice()).as_mut_ptr();
        // Another list now is one that the program has changed meanwhile.
        let exchanged = current().compare_exchange(before, list, AcqRel, Relaxed).is_ok();
        Defaults { added: if exchanged { texts } else { Vec::new() } }
    }

    /// The limit up to which `ofi_rxm` sends data at once, if the user or [`Defaults::set`] has set it. It connects only processes with
    /// the same one.
    pub(crate) fn eager_limit(&self) -> Option<String> {
        // SAFETY: the list of the process.
        let variables = unsafe { variables(current().load(Acquire)) };
        let value = |variable: &*mut c_char| text_of(*variable).strip_prefix(b"FI_OFI_RXM_EAGER_LIMIT=");
        variables.iter().find_map(value).map(|value| String::from_utf8_lossy(value).into_owned())
    }
}

impl Drop for Defaults {
    fn drop(&mut self) {
        let list = current().load(Acquire);
        if list.is_null() || self.added.is_empty() {
            return;
        }
        // The list may be another one, and changed in place: only what was added leaves it.
        // SAFETY: the list of the process, which ends with NULL; entries move to the front only. A thread that reads it meanwhile finds
        // texts or the end, as while `unsetenv` runs.
        unsafe {
            let (mut from, mut to) = (list, list);
            while !(*from).is_null() {
                if !self.added.contains(&*from) {
                    *to = *from;
                    to = to.add(1);
                }
                from = from.add(1);
            }
            *to = null_mut();
        }
    }
}

/// The C library's pointer to the list of variables.
fn current() -> &'static AtomicPtr<*mut c_char> {
    // SAFETY: a pointer of the C library, which is always there, and aligned.
    unsafe { AtomicPtr::from_ptr(&raw mut environ) }
}

/// The texts of a list.
///
/// # Safety
/// It is NULL, or ends with NULL.
unsafe fn variables(list: *mut *mut c_char) -> Vec<*mut c_char> {
    let mut all = Vec::new();
    if !list.is_null() {
        // SAFETY: the caller's promise: all before the end are texts.
        unsafe {
            while !(*list.add(all.len())).is_null() {
                all.push(*list.add(all.len()));
            }
        }
    }
    all
}

/// A variable with its value.
fn text_of<'a>(variable: *mut c_char) -> &'a [u8] {
    // SAFETY: a C string of the environment, which is used at once.
    unsafe { CStr::from_ptr(variable) }.to_bytes()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// For tests that change the environment.
    static ALONE: Mutex<()> = Mutex::new(());

    fn around(minor: u32, provider: &str) -> Surroundings<'_> {
        Surroundings { version: version(1, minor), provider, has_adapter: false, peers: 4, packet: 69632 }
    }

    #[test]
    fn what_the_user_has_set_stays() {
        assert_eq!(additions(&around(17, ""), |name| name == "FI_OFI_RXM_"), [""; 0]);
        assert_eq!(additions(&around(18, ""), |name| name == "FI_TCP_MAX_RX_SIZE"), [""; 0]);
        let large = Surroundings { peers: 512, ..around(16, "") };
        assert_eq!(additions(&large, |name| name == "FI_UNIVERSE_SIZE"), [""; 0]);
        assert_eq!(additions(&large, |_| false), ["FI_UNIVERSE_SIZE=512"]);
    }

    #[test]
    fn buffers_of_rxm_are_small_over_tcp_only() {
        let due = ["FI_OFI_RXM_BUFFER_SIZE=1024", "FI_OFI_RXM_EAGER_LIMIT=69632", "FI_OFI_RXM_MSG_RX_SIZE=512"];
        let with_adapter = Surroundings { has_adapter: true, ..around(17, "") };
        assert_eq!(additions(&around(17, ""), |_| false), due);
        assert_eq!(additions(&Surroundings { provider: "tcp;ofi_rxm", ..with_adapter }, |_| false), due);
        assert_eq!(additions(&Surroundings { has_adapter: true, ..around(17, "") }, |_| false), [""; 0]);
        assert_eq!(additions(&around(17, "verbs;ofi_rxm"), |_| false), [""; 0]);
        assert_eq!(additions(&around(16, "tcp;ofi_rxm"), |_| false), [""; 0]);
    }

    #[test]
    fn the_environment_has_them_only_meanwhile() {
        let _alone = ALONE.lock();
        let has = || std::env::var_os("FI_UNIVERSE_SIZE");
        let before = has();
        let defaults = Defaults::set(version(1, 5), "", 77_777, 69632);
        assert_eq!(has(), before.clone().or(Some("77777".into())));
        drop(defaults);
        assert_eq!(has(), before);
    }

    #[test]
    fn what_the_program_changes_meanwhile_stays() {
        let _alone = ALONE.lock();
        let has = |name: &str| std::env::var_os(name);
        let defaults = Defaults::set(version(1, 5), "", 66_666, 69632);
        // SAFETY: no other test of this file reads or sets these.
        unsafe {
            std::env::set_var("DEFAULTS_TEST_1", "1");
            std::env::set_var("DEFAULTS_TEST_2", "2");
            std::env::remove_var("DEFAULTS_TEST_1");
        }
        drop(defaults);
        assert_eq!((has("DEFAULTS_TEST_1"), has("DEFAULTS_TEST_2")), (None, Some("2".into())));
        assert_ne!(has("FI_UNIVERSE_SIZE"), Some("66666".into()));
    }
}
