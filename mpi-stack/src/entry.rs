//! What the assembly of the entry points calls: where a first call continues, and what `dlsym` returns to a tool.

use std::ffi::{CStr, c_char, c_void};

use crate::fatal::fatal;
use crate::generated::NAMES;
use crate::{stack, table};

/// The first call of a function before the stack is complete: the address to continue at.
#[unsafe(no_mangle)]
extern "C" fn ferrum_stack_resolve(number: usize) -> usize {
    match stack::first_call(number) {
        Some(address) => address,
        None => {
            let name = NAMES.get(number).copied().unwrap_or("?");
            fatal(&format!("MPI_{name} is called, but no MPI library of this process has it"))
        }
    }
}

/// What a tool gets from `dlsym`: the next tool's function for `PMPI_X`, and for `MPI_X` after the tool
/// (`RTLD_NEXT`); null where the system's function decides. `caller` is an address in the code of the tool.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn ferrum_stack_symbol(handle: *mut c_void, name: *const c_char, caller: usize) -> usize {
    if name.is_null() {
        return 0;
    }
    // SAFETY: the caller's contract is that of dlsym.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let found = match (name.strip_prefix(b"PMPI_"), name.strip_prefix(b"MPI_")) {
        (Some(bare), _) => table::number(bare),
        (_, Some(bare)) if handle == libc::RTLD_NEXT => table::number(bare),
        _ => None,
    };
    found.and_then(|number| stack::next_of(caller, number)).unwrap_or(0)
}
