//! The functions of the library, and those that a tool defines, by their numbers in the table.

use std::ffi::{CStr, CString};

use crate::generated::NAMES;
use crate::image::Image;
use crate::table;

/// The functions behind the stack.
pub(crate) struct Functions {
    /// What calls reach: the functions of a tool that is preloaded or linked behind the stack, or the library's.
    pub(crate) reached: Vec<usize>,
    /// The library's own.
    pub(crate) own: Vec<usize>,
}

impl Functions {
    /// Those of a library.
    pub(crate) fn new(library: &Image) -> Functions {
        let mut own = vec![0; NAMES.len()];
        for (name, address) in library.definitions() {
            if let Some(number) = name.to_bytes().strip_prefix(b"PMPI_").and_then(table::number) {
                own[number] = address;
            }
        }
        let next = |name: &str| {
            let name = CString::new(format!("MPI_{name}")).unwrap_or_default();
            // SAFETY: a C string; the caller is this object.
            unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize }
        };
        let reached = NAMES.iter().zip(&own).map(|(name, own)| match next(name) {
            0 => *own,
            found => found,
        });
        Functions { reached: reached.collect(), own }
    }
}

/// The functions of MPI that an object defines, by their numbers.
pub(crate) fn defined(image: &Image) -> Vec<usize> {
    let mut defines = vec![0; NAMES.len()];
    let bare = |name: &CStr| name.to_bytes().strip_prefix(b"MPI_").and_then(table::number);
    for (name, address) in image.definitions() {
        if let Some(number) = bare(name) {
            defines[number] = address;
        }
    }
    defines
}
