//! Copies of the libraries that several tools share, where those call MPI.
//!
//! The dynamic linker loads a library once. One that calls `PMPI_X` needs to be there once for each tool that uses it,
//! because its calls go to the functions behind that tool. So the second tool gets a copy of it, in memory, and the
//! references of the tool that lead to the library are changed to the copy.
//! Invariant: a reference changes only if the dynamic linker would lead it to a library that was copied.
//! Not here: which references call MPI (`stack`).

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use crate::image::Image;
use crate::objects::{self, Copies, Loaded};

/// The definitions of shared libraries with those of their copies.
#[derive(Default)]
pub(crate) struct Helpers {
    /// By name: the address in the library and in the copy.
    definitions: HashMap<CString, (usize, usize)>,
}

impl Helpers {
    /// Copies what a tool shares with `earlier` tools and what calls MPI, itself or through another such library. Returns
    /// the copies too.
    pub(crate) fn copy(
        tool: &Loaded,
        earlier: &[&Image],
        copies: &mut Copies,
    ) -> Result<(Helpers, Vec<Loaded>), String> {
        let mut helpers = Helpers::default();
        let mut loaded = Vec::new();
        for library in shared(&tool.with_it, earlier) {
            let name = library.path().to_string_lossy();
            let copy = objects::load_copy(library.path(), copies);
            let copy = copy.map_err(|why| format!("{name}, which it shares with another tool: {why}"))?;
            let others: HashMap<&CStr, usize> = copy.own.definitions().collect();
            for (name, address) in library.definitions() {
                if let Some(other) = others.get(name) {
                    helpers.definitions.insert(name.to_owned(), (address, *other));
                }
            }
            loaded.push(copy);
        }
        Ok((helpers, loaded))
    }

    /// The address in the copy, for a reference by this name of an object that was loaded with a handle.
    pub(crate) fn own(&self, handle: usize, name: &[u8]) -> Option<usize> {
        if self.definitions.is_empty() {
            return None;
        }
        let name = CString::new(name).ok()?;
        let (shared, own) = *self.definitions.get(&name)?;
        (objects::resolved(handle, &name) == shared).then_some(own)
    }
}

/// Those of the libraries on which objects depend, directly or not, that call MPI or depend on one that does.
fn shared<'a>(objects: &[Image], libraries: &[&'a Image]) -> Vec<&'a Image> {
    let mut calling: Vec<&Image> = libraries.iter().copied().filter(|library| library.calls_mpi()).collect();
    if calling.is_empty() {
        return calling;
    }
    grow(&mut calling, libraries, |library, calling| calling.iter().any(|other| library.needs(other)));
    let mut used: Vec<&Image> =
        libraries.iter().copied().filter(|each| objects.iter().any(|o| o.needs(each))).collect();
    grow(&mut used, libraries, |library, used| used.iter().any(|other| other.needs(library)));
    used.retain(|library| calling.iter().any(|other| other.is(library)));
    used
}

/// Adds those of the libraries that fit to what is in the list, until none does.
fn grow<'a>(list: &mut Vec<&'a Image>, libraries: &[&'a Image], fits: impl Fn(&Image, &[&Image]) -> bool) {
    loop {
        let absent = |each: &&&Image| !list.iter().any(|known| known.is(each));
        let Some(next) = libraries.iter().filter(absent).find(|each| fits(each, list)) else { return };
        list.push(next);
    }
}
