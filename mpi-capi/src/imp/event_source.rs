//! Event sources (MPI-5.0, 15.3.8): all sources have the same clock, and deliver their events in its order.

use core::ffi::{c_char, c_int};

use mpi_core::{Info, abi, functions};

use crate::imp::tool_info::new_info;
use crate::tool_edge::{TextOut, required, store, with_registry};

/// Nanoseconds.
const TICKS_PER_SECOND: i64 = 1_000_000_000;

/// `MPI_T_source_get_num`
pub fn source_get_num(count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_SOURCE_GET_NUM, |registry| {
        store(required("num_sources", count)?, registry.source_get_num()?);
        Ok(())
    })
}

/// `MPI_T_source_get_info`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn source_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    description: *mut c_char,
    description_length: *mut c_int,
    ordering: *mut i32,
    ticks_per_second: *mut i64,
    max_ticks: *mut i64,
    info: *mut usize,
) -> c_int {
    with_registry(functions::MPI_T_SOURCE_GET_INFO, |registry| {
        let source = registry.source_get_info(index)?;
        let (name, description) =
            (TextOut::new("name_len", name, name_length)?, TextOut::new("desc_len", description, description_length)?);
        let hints = new_info(info, Info::new)?;
        name.set(source.name);
        description.set(source.description);
        store(ordering, abi::MPI_T_SOURCE_ORDERED);
        store(ticks_per_second, TICKS_PER_SECOND);
        store(max_ticks, i64::MAX);
        store(info, hints);
        Ok(())
    })
}

/// `MPI_T_source_get_timestamp`
pub fn source_get_timestamp(index: c_int, timestamp: *mut i64) -> c_int {
    with_registry(functions::MPI_T_SOURCE_GET_TIMESTAMP, |registry| {
        let now = registry.source_get_timestamp(index)?;
        store(required("timestamp", timestamp)?, i64::try_from(now).unwrap_or(i64::MAX));
        Ok(())
    })
}
