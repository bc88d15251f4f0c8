//! Data representations of the program (MPI-5.0, 14.5.3).
//!
//! Invariant: no lock of the library is held during a callback. A code that a callback returns is an error of class
//! `MPI_ERR_CONVERSION`.
//! Not here: accesses that call the functions (mpi-io).

use core::ffi::{CStr, c_int, c_void};
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use mpi_core::abi;
use mpi_errors::{Error, Result};
use mpi_io::Conversions;

use crate::call_context::CallContext;
use crate::check::Function;
use crate::errors::Outcome;

/// `MPI_Datarep_conversion_function`
type Convert = unsafe extern "C" fn(*mut c_void, usize, c_int, *mut c_void, i64, *mut c_void) -> c_int;
/// `MPI_Datarep_conversion_function_c`
type ConvertLarge = unsafe extern "C" fn(*mut c_void, usize, i64, *mut c_void, i64, *mut c_void) -> c_int;
/// `MPI_Datarep_extent_function`
type Extent = unsafe extern "C" fn(usize, *mut isize, *mut c_void) -> c_int;

/// The functions of one representation.
struct Functions {
    read: Option<Function>,
    write: Option<Function>,
    extent: Function,
    extra_state: usize,
}

impl Functions {
    fn extra_state(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.extra_state)
    }
}

fn outcome(which: &str, code: c_int) -> Result<()> {
    if code == abi::MPI_SUCCESS {
        return Ok(());
    }
    let rule = format!("the {which} function of the data representation returned {code}");
    Err(Error::new(abi::MPI_ERR_CONVERSION, rule))
}

impl Conversions for Functions {
    fn extent(&self, datatype: usize) -> Result<i64> {
        let address = with_exposed_provenance::<()>(self.extent.address);
        // SAFETY: the program passed a function of this type when it registered the representation.
        let function = unsafe { core::mem::transmute::<*const (), Extent>(address) };
        let mut extent = 0;
        // SAFETY: the callback gets a handle, the address of the result and the program's own pointer.
        outcome("extent", unsafe { function(datatype, &mut extent, self.extra_state()) })?;
        Ok(extent as i64)
    }

    fn converts(&self, writing: bool) -> bool {
        if writing { self.write.is_some() } else { self.read.is_some() }
    }

    unsafe fn convert(&self, writing: bool, memory: usize, datatype: usize, items: u64, file: &mut [u8]) -> Result<()> {
        let (function, which) = if writing { (self.write, "write") } else { (self.read, "read") };
        let Some(function) = function else { return Ok(()) };
        let (user, file) = (with_exposed_provenance_mut::<c_void>(memory), file.as_mut_ptr().cast::<c_void>());
        let address = with_exposed_provenance::<()>(function.address);
        let code = if function.large {
            // SAFETY: the program passed a function of this type to MPI_Register_datarep_c.
            let function = unsafe { core::mem::transmute::<*const (), ConvertLarge>(address) };
            // SAFETY: the caller's promise on both memories; the rest are numbers and the program's own pointer.
            unsafe { function(user, datatype, items as i64, file, 0, self.extra_state()) }
        } else {
            let items = c_int::try_from(items).map_err(|_| {
                let rule = "an element has too many basic elements for a function that counts in int";
                Error::new(abi::MPI_ERR_CONVERSION, rule).arg("datarep", &"registered by MPI_Register_datarep")
            })?;
            // SAFETY: the program passed a function of this type to MPI_Register_datarep.
            let function = unsafe { core::mem::transmute::<*const (), Convert>(address) };
            // SAFETY: as above.
            unsafe { function(user, datatype, items, file, 0, self.extra_state()) }
        };
        outcome(which, code)
    }
}

/// `MPI_Register_datarep`
pub fn register_datarep(
    cx: CallContext,
    name: &CStr,
    read: Option<Function>,
    write: Option<Function>,
    extent: Function,
    extra_state: *mut c_void,
) -> Outcome {
    let functions = Functions { read, write, extent, extra_state: extra_state.expose_provenance() };
    Ok(cx.process.io.register(name.to_string_lossy().into_owned(), Box::new(functions))?)
}
