//! `libfabric.so.1`, loaded at run time: the few functions that it exports.
//!
//! Everything else that it offers is in tables of functions of its objects (`provider`).
//! Invariant: it is loaded once, by a process that needs a network, and stays loaded.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};

use crate::ffi;

type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const ffi::fi_info, *mut *mut ffi::fi_info) -> c_int;
type FreeInfo = unsafe extern "C" fn(*mut ffi::fi_info);
type DupInfo = unsafe extern "C" fn(*const ffi::fi_info) -> *mut ffi::fi_info;
type Fabric = unsafe extern "C" fn(*mut ffi::fi_fabric_attr, *mut *mut ffi::fid_fabric, *mut c_void) -> c_int;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;
type Version = unsafe extern "C" fn() -> u32;

/// The version of the interface that these definitions have: 1.17. Later libraries serve earlier versions.
pub const INTERFACE: u32 = 1 << 16 | 17;
/// The oldest library that is used: 1.5, which has all that is needed in today's form.
const OLDEST: u32 = 1 << 16 | 5;
/// The name that the system searches.
const NAME: &str = "libfabric.so.1";
/// Where it is searched besides: folders of MPI and network packages.
const FOLDERS: [&str; 4] = ["/usr/local/lib", "/usr/local/lib64", "/opt/amazon/efa/lib64", "/opt/amazon/efa/lib"];

/// The loaded library.
#[derive(Clone, Copy)]
pub struct Library {
    pub(crate) get_info: GetInfo,
    pub(crate) free_info: FreeInfo,
    pub(crate) dup_info: DupInfo,
    pub(crate) fabric: Fabric,
    strerror: StrError,
    version: u32,
}

impl Library {
    /// Loads the library: `name`, or if that is empty the first one found.
    /// # Errors
    /// `MPI_ERR_OTHER`: it is not found, or too old; with a sentence that says what to install.
    pub fn load(name: &str) -> Result<Library> {
        if !name.is_empty() {
            return Library::open(Path::new(name)).map_err(|why| {
                Error::new(
                    MPI_ERR_OTHER,
                    format!(
                        "the control variable net_library (FERRUM_NET_LIBRARY) is {name:?}, but that cannot be used: {why}; \
                         set it to the file of libfabric.so.1, or leave it empty"
                    ),
                )
            });
        }
        let mut reasons = Vec::new();
        for name in candidates() {
            match Library::open(&name) {
                Ok(library) => return Ok(library),
                Err(why) => reasons.push(why),
            }
        }
        Err(Error::new(
            MPI_ERR_OTHER,
            format!(
                "this job needs a network, for which this library uses libfabric, but libfabric.so.1 is not found ({}); install \
                 it (Debian: libfabric1, Red Hat: libfabric), or set FERRUM_NET_LIBRARY to its file",
                reasons.join("; ")
            ),
        ))
    }

    fn open(name: &Path) -> std::result::Result<Library, String> {
        let text = CString::new(name.as_os_str().as_encoded_bytes()).map_err(|_| "its name has a NUL".to_owned())?;
        // SAFETY: a C string; the initialisers are those of a public library.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(last_error());
        }
        // SAFETY: the types are those of the functions in the headers of all versions 1.x and 2.x.
        let (library, version) = unsafe {
            let version: Version = function(handle, c"fi_version")?;
            let library = Library {
                get_info: function(handle, c"fi_getinfo")?,
                free_info: function(handle, c"fi_freeinfo")?,
                dup_info: function(handle, c"fi_dupinfo")?,
                fabric: function(handle, c"fi_fabric")?,
                strerror: function(handle, c"fi_strerror")?,
                version: 0,
            };
            (library, version())
        };
        if version < OLDEST {
            return Err(format!(
                "{} has version {}.{}, needed is 1.5",
                name.display(),
                version >> 16,
                version & 0xffff
            ));
        }
        Ok(Library { version, ..library })
    }

    /// Its version, such as `1.17`.
    pub fn version(&self) -> String {
        format!("{}.{}", self.version >> 16, self.version & 0xffff)
    }

    /// The same as a number: that before the point in the upper half.
    pub(crate) fn version_number(&self) -> u32 {
        self.version
    }

    /// The version of the interface to request.
    pub(crate) fn interface(&self) -> u32 {
        self.version.min(INTERFACE)
    }

    /// The text of an error number, which may be negative.
    pub fn text(&self, error: i64) -> String {
        let number = error.unsigned_abs() as c_int;
        // SAFETY: the function returns a C string of its own for any number, or NULL.
        unsafe {
            let text = (self.strerror)(number);
            if text.is_null() { format!("error {number}") } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        }
    }
}

fn candidates() -> Vec<PathBuf> {
    let below = FOLDERS.iter().map(|folder| Path::new(folder).join(NAME)).filter(|name| name.exists());
    mapped_by_parents().into_iter().chain([PathBuf::from(NAME)]).chain(below).collect()
}

/// The library as the process that started this one has it loaded.
fn mapped_by_parents() -> Option<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", std::os::unix::process::parent_id())).ok()?;
    let names = maps.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    let is_library =
        |name: &PathBuf| name.file_name().is_some_and(|file| file.to_string_lossy().starts_with("libfabric.so.1"));
    names.into_iter().find(|name| is_library(name) && name.exists())
}

fn last_error() -> String {
    // SAFETY: the result is a C string or NULL.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { "no reason is given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// # Safety
/// `F` is the type of the function of this name.
unsafe fn function<F: Copy>(handle: *mut c_void, name: &CStr) -> std::result::Result<F, String> {
    // SAFETY: a handle of `dlopen`, and a C string.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if address.is_null() {
        return Err(format!("it has no function {}", name.to_string_lossy()));
    }
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: the caller's promise; a pointer to a function has the size of an address.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_a_sentence() {
        let error = Library::load("/nowhere/libfabric.so.1").err().expect("it is missing").to_string();
        assert!(error.contains("net_library") && error.contains("/nowhere/libfabric.so.1"), "{error}");
        let error = Library::load("libc.so.6").err().expect("it is another library").to_string();
        assert!(error.contains("fi_version"), "{error}");
    }
}
