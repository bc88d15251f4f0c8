//! The elements of owned data that a layout selects, as a buffer.
//!
//! Invariant: the buffer lies in the memory of the data.
//! Not here: the data and their owners (`owned`, `owned_message`).

use mpi_core::abi::MPI_ERR_BUFFER;
use mpi_datatype::{Datatype, Misplaced, Placed, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

/// One element of the layout's datatype at the beginning of the data; all of them without a layout.
pub(crate) fn selected_to_send<'b>(data: SendBuf<'b>, layout: Option<&Datatype>) -> Result<SendBuf<'b>> {
    let Some(datatype) = layout else { return Ok(data) };
    let selected = data.places(&[first(datatype)]).map_err(misplaced)?;
    Ok(selected.into_iter().next().unwrap_or(data))
}

/// As [`selected_to_send`], to receive into.
pub(crate) fn selected_to_receive<'b>(data: RecvBuf<'b>, layout: Option<&Datatype>) -> Result<RecvBuf<'b>> {
    let Some(datatype) = layout else { return Ok(data) };
    let selected = data.places(&[first(datatype)]).map_err(misplaced)?;
    Ok(selected.into_iter().next().unwrap_or(RecvBuf::empty()))
}

fn first(datatype: &Datatype) -> Placed {
    Placed { at: 0, count: 1, datatype: datatype.clone() }
}

#[cold]
fn misplaced(wrong: Misplaced) -> Error {
    let rule = match wrong {
        Misplaced::Outside(_) => "the layout reaches out of the data",
        Misplaced::Overlapping(_) => "data cannot be received into blocks that overlap",
    };
    Error::new(MPI_ERR_BUFFER, rule)
}
