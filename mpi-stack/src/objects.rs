//! The loaded objects of the process, and the loading of a tool as an object of its own.
//!
//! Invariant: every instance of a tool is a separately loaded object, also of a file that is loaded already.

use std::ffi::{CStr, CString, c_int, c_void};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::image::Image;

/// All objects that are loaded now.
pub(crate) fn all() -> Vec<Image> {
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, list: *mut c_void) -> c_int {
        // SAFETY: the list of `all`, which waits; the dynamic linker's own structure.
        let (list, info) = unsafe { (&mut *list.cast::<Vec<Image>>(), &*info) };
        // SAFETY: tools and the library are not unloaded: no handle is closed.
        list.extend(unsafe { Image::new(info) });
        0
    }
    let mut list: Vec<Image> = Vec::new();
    // SAFETY: `each` gets the list that lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut list).cast()) };
    list
}

/// A loaded tool.
pub(crate) struct Loaded {
    /// The tool's own object.
    pub(crate) own: Image,
    /// The objects that were loaded with it, itself included.
    pub(crate) with_it: Vec<Image>,
    /// The dynamic linker's handle.
    pub(crate) handle: usize,
}

/// Files that keep their descriptors until all tools are loaded, so that no two copies have one name.
#[derive(Default)]
pub(crate) struct Copies(Vec<OwnedFd>);

/// Loads a file as an object of its own.
pub(crate) fn load(path: &Path, copies: &mut Copies) -> Result<Loaded, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let before = all();
    // SAFETY: a C string; without loading anything.
    let present = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if present.is_null() {
        // The reason why the file was not there.
        dl_error();
        return open(&name, &before);
    }
    // SAFETY: the handle that was just counted.
    unsafe { libc::dlclose(present) };
    load_copy(path, copies)
}

/// Loads a copy of a file, which is loaded already.
pub(crate) fn load_copy(path: &Path, copies: &mut Copies) -> Result<Loaded, String> {
    let before = all();
    let copy = copy(path).map_err(|error| format!("it cannot be copied into memory: {error}"))?;
    let name = CString::new(format!("/proc/self/fd/{}", copy.as_raw_fd())).map_err(|error| error.to_string())?;
    copies.0.push(copy);
    open(&name, &before)
}

fn open(name: &CStr, before: &[Image]) -> Result<Loaded, String> {
    // Lazy: a function that the library does not have is an error only if the tool calls it.
    // SAFETY: loads a shared object, as the user has requested; its constructors run.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(dl_error());
    }
    let with_it: Vec<Image> = all().into_iter().filter(|image| before.iter().all(|other| !image.is(other))).collect();
    let mut dynamic: *mut LinkMap = std::ptr::null_mut();
    // SAFETY: stores the address of the object's link map.
    let found = unsafe { libc::dlinfo(handle, RTLD_DI_LINKMAP, (&raw mut dynamic).cast()) };
    if found != 0 || dynamic.is_null() {
        return Err(dl_error());
    }
    // SAFETY: the link map of an object that stays loaded.
    let section = unsafe { (*dynamic).dynamic };
    let own = with_it.iter().find(|image| image.contains(section)).cloned();
    let own = own.ok_or("the system has loaded it as a part of another object")?;
    Ok(Loaded { own, with_it, handle: handle as usize })
}

/// Where a reference by this name of an object that was loaded with a handle leads; 0 for nowhere.
pub(crate) fn resolved(handle: usize, name: &CStr) -> usize {
    // The program and the libraries that were loaded with it come first.
    // SAFETY: a C string; the caller is this object, which was loaded with the program.
    let global = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    if global != 0 {
        return global;
    }
    // SAFETY: a handle that is never closed, and a C string.
    unsafe { libc::dlsym(handle as *mut c_void, name.as_ptr()) as usize }
}

/// The first fields of the dynamic linker's record of an object.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const libc::c_char,
    dynamic: usize,
}

const RTLD_DI_LINKMAP: c_int = 2;

fn dl_error() -> String {
    // SAFETY: null or a C string that lives until the next call of this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker names no reason".into();
    }
    // SAFETY: not null.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A file's contents in a file that exists in memory only.
fn copy(path: &Path) -> io::Result<OwnedFd> {
    let contents = fs::read(path)?;
    let name = path.file_name().and_then(|name| CString::new(name.as_bytes()).ok()).unwrap_or_default();
    // SAFETY: a C string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nothing else owns.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    io::Write::write_all(&mut fs::File::from(fd.try_clone()?), &contents)?;
    Ok(fd)
}
