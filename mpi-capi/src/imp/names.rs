//! Published names (MPI-5.0, 11.9.4).
//!
//! Invariant: no call waits for other processes, or reads their state, with the process lock held.
//! Not here: how a name is published and found (`mpi_dynamic::names`).

use core::ffi::{CStr, c_char};

use mpi_core::abi;
use mpi_errors::{Error, Result};

use super::comm_create::hints;
use crate::call_context::CallContext;
use crate::check;
use crate::errors::Outcome;

/// `MPI_Publish_name`. No key of the info object has an effect.
pub fn publish_name(cx: CallContext, service: &CStr, info: usize, port: &CStr) -> Outcome {
    hints(info)?;
    port_of_length(port)?;
    let process = cx.process;
    // The call may wait for other processes, so the lock is released first.
    drop(cx);
    process.publish_name(service.to_bytes(), port.to_bytes())?;
    Ok(())
}

/// `MPI_Unpublish_name`. The port is the one that the service was published with.
pub fn unpublish_name(cx: CallContext, service: &CStr, info: usize, port: &CStr) -> Outcome {
    hints(info)?;
    let process = cx.process;
    // Another thread may be publishing, so the lock is released first.
    drop(cx);
    process.unpublish_name(service.to_bytes(), port.to_bytes())?;
    Ok(())
}

/// `MPI_Lookup_name`
pub fn lookup_name(cx: CallContext, service: &CStr, info: usize, port: *mut c_char) -> Outcome {
    hints(info)?;
    check::pointer("port_name", port)?;
    // The call reads the state of other processes, so the lock is released first.
    let process = cx.process;
    drop(cx);
    let found = process.look_up_name(service.to_bytes())?;
    let text = String::from_utf8_lossy(&found);
    // SAFETY: the program passed MPI_MAX_PORT_NAME characters (MPI-5.0, 11.9.4).
    unsafe { check::store_text(port, abi::MPI_MAX_PORT_NAME as usize, &text) };
    Ok(())
}

/// Refuses the name of a port that no process could get. Errors: `MPI_ERR_PORT`.
fn port_of_length(port: &CStr) -> Result<()> {
    let most = abi::MPI_MAX_PORT_NAME as usize - 1;
    if port.to_bytes().len() <= most {
        return Ok(());
    }
    let rule = format!("the name of a port has at most {most} characters (MPI_MAX_PORT_NAME - 1)");
    Err(Error::new(abi::MPI_ERR_PORT, rule).arg("port_name", &port.to_string_lossy()))
}
