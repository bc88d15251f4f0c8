//! The interface by which debuggers find the processes of a job (the MPIR Process Acquisition Interface, MPI Forum, 2010).
//!
//! A debugger that starts `mpiexec` sets `MPIR_being_debugged` and stops at `MPIR_Breakpoint`, where the table has all ranks.
//! The ranks wait in `MPI_Init` until the debugger sets `MPIR_debug_gate` in each of them (`mpi-capi`). A debugger that
//! attaches to a running `mpiexec` finds the table as well, because it is made for each job.
//! Invariant: a table that was published stays, with all of its texts.
//! Not here: message queues (`mpi-mqs`).
#![allow(unsafe_code)] // names that debuggers look up

use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use mpi_fabric::host;

use super::plan::Plan;

/// `MPIR_DEBUG_SPAWNED`: the table has all processes.
const SPAWNED: i32 = 1;

/// An entry of the table, `MPIR_PROCDESC`.
#[repr(C)]
struct ProcessDescription {
    host_name: *const c_char,
    executable_name: *const c_char,
    pid: c_int,
}

// SAFETY: the names are the interface's, and nothing else of the program has them; a debugger reads and writes the words.
#[unsafe(no_mangle)]
#[used]
static MPIR_being_debugged: AtomicI32 = AtomicI32::new(0);
// SAFETY: as above.
#[unsafe(no_mangle)]
#[used]
static MPIR_debug_state: AtomicI32 = AtomicI32::new(0);
// SAFETY: as above.
#[unsafe(no_mangle)]
#[used]
static MPIR_proctable: AtomicPtr<ProcessDescription> = AtomicPtr::new(ptr::null_mut());
// SAFETY: as above.
#[unsafe(no_mangle)]
#[used]
static MPIR_proctable_size: AtomicI32 = AtomicI32::new(0);
/// Its presence: this process is the starter, and no rank.
// SAFETY: as above.
#[unsafe(no_mangle)]
#[used]
static MPIR_i_am_starter: AtomicI32 = AtomicI32::new(0);
/// Its presence: a debugger may leave processes out, which it does not have to release.
// SAFETY: as above.
#[unsafe(no_mangle)]
#[used]
static MPIR_partial_attach_ok: AtomicI32 = AtomicI32::new(0);

/// Where a debugger stops when the table has changed.
// SAFETY: as above.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn MPIR_Breakpoint() {
    // A function without effect would be left out.
    std::hint::black_box(MPIR_debug_state.load(Ordering::Relaxed));
}

/// Whether a debugger has started this `mpiexec`.
pub(super) fn is_debugged() -> bool {
    MPIR_being_debugged.load(Ordering::Relaxed) != 0
}

/// Publishes the processes of the job, once.
pub(super) fn publish(plan: &Plan<'_>, pids: &[i32]) {
    let host = text(host::name().into_bytes());
    let entry = |(rank, pid): (usize, &i32)| ProcessDescription {
        host_name: host,
        executable_name: text(plan.program_of(rank as u32).as_encoded_bytes().to_vec()),
        pid: *pid,
    };
    let table: Box<[ProcessDescription]> = pids.iter().enumerate().map(entry).collect();
    MPIR_proctable_size.store(pids.len() as i32, Ordering::Relaxed);
    // Release: a debugger stops the process, and sees the whole table with its address.
    MPIR_proctable.store(Box::leak(table).as_mut_ptr(), Ordering::Release);
    MPIR_debug_state.store(SPAWNED, Ordering::Release);
    MPIR_Breakpoint();
}

fn text(bytes: Vec<u8>) -> *const c_char {
    CString::new(bytes).unwrap_or_default().into_raw()
}
