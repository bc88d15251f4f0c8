//! Error classes and codes that the program adds (MPI-5.0, 9.5): allowed at any time, from any thread.
//!
//! Not here: their table (mpi-errors), the texts of the library's own codes (`errhandler`).

use core::ffi::CStr;

use mpi_core::abi;
use mpi_errors::{AddedCodes, Error, Result};

use crate::check::Out;
use crate::errors::Outcome;

fn added() -> Result<&'static AddedCodes> {
    match mpi_env::forked() {
        None => Ok(&mpi_env::codes().added),
        Some(error) => Err(error),
    }
}

/// `MPI_Add_error_class`
pub fn add_error_class(class: Out<i32>) -> Outcome {
    class.set(added()?.add_class()?);
    Ok(())
}

/// `MPI_Add_error_code`
pub fn add_error_code(class: i32, code: Out<i32>) -> Outcome {
    code.set(added()?.add_code(class)?);
    Ok(())
}

/// `MPI_Add_error_string`
pub fn add_error_string(code: i32, text: &CStr) -> Outcome {
    let limit = abi::MPI_MAX_ERROR_STRING as usize - 1;
    let text = text.to_string_lossy();
    if text.len() > limit {
        let rule = format!("the text of an error code has at most {limit} bytes");
        let length = format!("{} long", mpi_errors::counted(text.len(), "byte"));
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("string", &length).into());
    }
    Ok(added()?.set_text(code, &text)?)
}

/// `MPI_Remove_error_class`
pub fn remove_error_class(class: i32) -> Outcome {
    Ok(added()?.remove_class(class)?)
}

/// `MPI_Remove_error_code`
pub fn remove_error_code(code: i32) -> Outcome {
    Ok(added()?.remove_code(code)?)
}

/// `MPI_Remove_error_string`
pub fn remove_error_string(code: i32) -> Outcome {
    Ok(added()?.remove_text(code)?)
}
