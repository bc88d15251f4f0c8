//! Tools with the typed interface: each is called by a copy of the adapter (`adapter.h`), which is an ordinary tool.
//!
//! Not here: the interface itself (`mpi_pmpi::interceptor`, `ferrum_stack.h`).

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mpi_pmpi::interceptor::raw;

use crate::functions::Functions;
use crate::generated::NAMES;
use crate::objects::{self, Copies, Loaded};
use crate::table;

/// The variable that a tool defines.
pub(crate) const SYMBOL: &CStr = c"ferrum_interceptor_v1";
/// The file of the adapter, beside the stack library.
const ADAPTER: &str = "libferrum_adapter.so";

type Start = unsafe extern "C" fn(*const raw::Interceptor, c_int, c_int, *const c_void, *const c_void, *const c_void);
type End = unsafe extern "C" fn();

/// An interceptor and its copy of the adapter.
pub(crate) struct Typed {
    interceptor: &'static raw::Interceptor,
    start: Start,
    end: End,
    /// The library's functions that the adapter calls.
    own: [usize; 3],
}

/// The interceptor at the address of a tool's variable.
pub(crate) fn at(address: usize) -> Result<&'static raw::Interceptor, String> {
    if !address.is_multiple_of(align_of::<raw::Interceptor>()) {
        return Err("its variable ferrum_interceptor_v1 is not aligned".into());
    }
    // SAFETY: the tool defines the variable with this type, by ferrum_stack.h, and stays loaded.
    let interceptor = unsafe { &*(address as *const raw::Interceptor) };
    match interceptor.size == size_of::<raw::Interceptor>() {
        true => Ok(interceptor),
        false => Err(format!(
            "the size in its ferrum_interceptor_v1 is {}, but that of this version is {}",
            interceptor.size,
            size_of::<raw::Interceptor>()
        )),
    }
}

/// An interceptor with its own copy of the adapter.
pub(crate) fn load(
    interceptor: &'static raw::Interceptor,
    functions: &Functions,
    copies: &mut Copies,
) -> Result<(Loaded, Typed), String> {
    let path = folder()?.join(ADAPTER);
    let adapter = objects::load(&path, copies).map_err(|why| format!("{}: {why}", path.display()))?;
    let function = |name: &CStr| {
        let found = adapter.own.definition(name);
        found.ok_or_else(|| format!("{} has no {}", path.display(), name.to_string_lossy()))
    };
    let (start, end) = (function(c"ferrum_adapter_start")?, function(c"ferrum_adapter_end")?);
    let own = |name: &[u8]| table::number(name).map_or(0, |number| functions.own[number]);
    let typed = Typed {
        interceptor,
        // SAFETY: the adapter is built with the stack library, and defines them with these types.
        start: unsafe { std::mem::transmute::<usize, Start>(start) },
        // SAFETY: as above.
        end: unsafe { std::mem::transmute::<usize, End>(end) },
        own: [own(b"Type_size_c"), own(b"Comm_rank"), own(b"Comm_test_inter")],
    };
    Ok((adapter, typed))
}

/// The folder of the stack library.
fn folder() -> Result<PathBuf, String> {
    // SAFETY: all bytes 0 are valid in the structure of addresses.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address of this object, and a structure to fill.
    let found = unsafe { libc::dladdr(SYMBOL.as_ptr().cast(), &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return Err("the folder of libferrum_stack.so is not found".into());
    }
    // SAFETY: the object's name, which lives as long as the object.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let folder = Path::new(OsStr::from_bytes(name.to_bytes())).parent().unwrap_or(Path::new("."));
    Ok(folder.to_owned())
}

impl Typed {
    /// Gives the tool its start.
    pub(crate) fn start(&self) {
        let (count, numbers) = (NAMES.len() as c_int, c_int::from(mpi_core::functions::COUNT) + 1);
        let [type_size, comm_rank, comm_test_inter] = self.own.map(|address| address as *const c_void);
        // SAFETY: the adapter's function with its own types; addresses of the library's functions, or null.
        unsafe { (self.start)(self.interceptor, count, numbers, type_size, comm_rank, comm_test_inter) };
    }

    /// Gives the tool its end.
    pub(crate) fn end(&self) {
        // SAFETY: the adapter's function without arguments.
        unsafe { (self.end)() };
    }
}
