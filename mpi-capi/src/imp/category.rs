//! Categories of variables (MPI-5.0, 15.3.9).

use core::ffi::{c_char, c_int};

use mpi_core::functions;

use crate::tool_edge::{TextOut, required, store, store_all, text, with_registry};

/// `MPI_T_category_get_num`
pub fn category_get_num(count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_NUM, |registry| {
        store(required("num_cat", count)?, registry.category_get_num()?);
        Ok(())
    })
}

/// `MPI_T_category_get_info`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn category_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    description: *mut c_char,
    description_length: *mut c_int,
    cvars: *mut c_int,
    pvars: *mut c_int,
    categories: *mut c_int,
) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_INFO, |registry| {
        let info = registry.category_get_info(index)?;
        let (name, description) =
            (TextOut::new("name_len", name, name_length)?, TextOut::new("desc_len", description, description_length)?);
        name.set(info.name());
        description.set(info.description());
        let counts = info.counts();
        store(cvars, counts.0);
        store(pvars, counts.1);
        store(categories, counts.2);
        Ok(())
    })
}

/// `MPI_T_category_get_index`
pub fn category_get_index(name: *const c_char, index: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_INDEX, |registry| {
        let index = required("cat_index", index)?;
        store(index, registry.category_get_index(text("name", name)?)?);
        Ok(())
    })
}

/// `MPI_T_category_get_cvars`
pub fn category_get_cvars(index: c_int, room: c_int, indices: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_CVARS, |registry| {
        store_all(indices, room, &registry.category_get_cvars(index)?)
    })
}

/// `MPI_T_category_get_pvars`
pub fn category_get_pvars(index: c_int, room: c_int, indices: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_PVARS, |registry| {
        store_all(indices, room, &registry.category_get_pvars(index)?)
    })
}

/// `MPI_T_category_get_categories`
pub fn category_get_categories(index: c_int, room: c_int, indices: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_CATEGORIES, |registry| {
        store_all(indices, room, &registry.category_get_categories(index)?)
    })
}

/// `MPI_T_category_get_num_events`
pub fn category_get_num_events(index: c_int, count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_NUM_EVENTS, |registry| {
        let count = required("num_events", count)?;
        store(count, registry.category_get_events(index)?.len() as c_int);
        Ok(())
    })
}

/// `MPI_T_category_get_events`
pub fn category_get_events(index: c_int, room: c_int, indices: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_GET_EVENTS, |registry| {
        store_all(indices, room, &registry.category_get_events(index)?)
    })
}

/// `MPI_T_category_changed`
pub fn category_changed(stamp: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CATEGORY_CHANGED, |registry| {
        store(required("stamp", stamp)?, registry.category_changed()?);
        Ok(())
    })
}
