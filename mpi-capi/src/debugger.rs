//! What debuggers look up in a process of a job: the gate of `MPI_Init`, the library that reads message queues, and the
//! address of the map of the queues.
//!
//! Invariant: nothing here changes while a program runs without a debugger, but for the words that `MPI_Init` stores.
//! Not here: the table of processes (`mpi-launch`), reading queues (`mpi-mqs`).

use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};
use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest path of the library that reads message queues, its final zero included.
const PATH_BYTES: usize = 4096;
/// The name of that library, beside this one.
const QUEUE_LIBRARY: &str = "libferrum_mqs.so";

/// A debugger sets it to 1 when it has attached to this process, which its launcher has told to wait.
#[unsafe(no_mangle)]
pub static MPIR_debug_gate: AtomicI32 = AtomicI32::new(0);

/// The path of the library that reads message queues, ended by a zero; empty before `MPI_Init`.
#[unsafe(no_mangle)]
pub static MPIR_dll_name: [AtomicU8; PATH_BYTES] = [const { AtomicU8::new(0) }; PATH_BYTES];

/// Address of the map of the queues (`mpi_fabric::queue_map`); 0 before `MPI_Init`.
#[unsafe(no_mangle)]
pub static ferrum_queue_map: AtomicU64 = AtomicU64::new(0);

/// Stores what debuggers look up, and waits for the debugger that has started the job, if one has. For the end of `MPI_Init`.
pub fn announce() {
    if let Ok(process) = mpi_env::join_job() {
        ferrum_queue_map.store(process.queue_map(), Ordering::Release);
    }
    let path = beside_this_library().unwrap_or_else(|| PathBuf::from(QUEUE_LIBRARY));
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() < PATH_BYTES {
        MPIR_dll_name.iter().zip(bytes).for_each(|(place, byte)| place.store(*byte, Ordering::Relaxed));
    }
    if std::env::var_os(mpi_wireup::DEBUGGER_GATE).is_some() {
        while MPIR_debug_gate.load(Ordering::Acquire) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The path of the library of queues, if this library is a file.
fn beside_this_library() -> Option<PathBuf> {
    // SAFETY: all zeros is a value of the struct of addresses.
    let mut found: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: the address is that of a static of this library, and `found` may be written.
    let known = unsafe { libc::dladdr((&raw const MPIR_debug_gate).cast(), &mut found) };
    if known == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of a library that is loaded ends with a zero, and stays while it is.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    path.parent().map(|folder| folder.join(QUEUE_LIBRARY))
}
