//! The functions of libpmix that starting needs, with the layouts and values that the PMIx standard (versions 3 to 5)
//! gives them.
//!
//! Invariant: values from the library are copied and checked before use; a value of another type than requested counts
//! as none. Values that it allocates are few, small and never freed: how to do so differs between its versions.
#![allow(unsafe_code)] // a C library found at run time

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use crate::launcher::LauncherError;

/// The library's return code for success.
const SUCCESS: c_int = 0;
/// The status of `PMIx_Get` for a missing key.
const NOT_FOUND: c_int = -46;
/// The scope of a value: all processes of the job may read it.
const GLOBAL: u8 = 3;
/// Types of values.
const BOOL: u16 = 1;
const STRING: u16 = 3;
const INT: u16 = 6;
const UINT32: u16 = 14;

/// A process's name in the library: `pmix_proc_t`.
#[repr(C)]
#[derive(Clone)]
pub(super) struct Process {
    namespace: [c_char; 256],
    pub(super) rank: u32,
}

/// A value: `pmix_value_t`, whose union has 24 bytes in all versions; in a value of ours a larger one is harmless.
#[repr(C)]
struct Value {
    kind: u16,
    data: Data,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Data {
    string: *const c_char,
    uint32: u32,
    int: c_int,
    space: [u64; 8],
}

/// An attribute of a call: `pmix_info_t`.
#[repr(C)]
struct Info {
    key: [c_char; 512],
    flags: u32,
    value: Value,
}

/// A program to start: `pmix_app_t`.
#[repr(C)]
struct App {
    command: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    directory: *const c_char,
    processes: c_int,
    info: *const Info,
    info_count: usize,
}

type Init = unsafe extern "C" fn(*mut Process, *mut c_void, usize) -> c_int;
type Get = unsafe extern "C" fn(*const Process, *const c_char, *const Info, usize, *mut *const Value) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *const Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Process, usize, *const Info, usize) -> c_int;
type Spawn = unsafe extern "C" fn(*const Info, usize, *const App, usize, *mut c_char) -> c_int;
type Abort = unsafe extern "C" fn(c_int, *const c_char, *const Process, usize) -> c_int;
type Finalize = unsafe extern "C" fn(*const c_void, usize) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

/// A program to start.
pub(super) struct Program {
    /// The program and its arguments.
    pub(super) arguments: Vec<CString>,
    /// `NAME=VALUE`.
    pub(super) environment: Vec<CString>,
    pub(super) directory: Option<CString>,
    pub(super) processes: c_int,
    /// Attributes with texts as values.
    pub(super) info: Vec<(&'static str, CString)>,
}

/// The loaded library. It stays loaded until the process ends.
#[derive(Clone, Copy)]
pub(super) struct Library {
    name: &'static Path,
    init: Init,
    get: Get,
    put: Put,
    commit: Commit,
    fence: Fence,
    /// `None` if the library has none.
    spawn: Option<Spawn>,
    abort: Abort,
    finalize: Finalize,
    error_string: ErrorString,
}

impl Library {
    /// Loads it from a file, or by the system's search when the name has no slash; why not, if not.
    pub(super) fn load(name: &Path) -> Result<Library, String> {
        let text = CString::new(name.as_os_str().as_encoded_bytes()).map_err(|_| "its name has a NUL".to_owned())?;
        // SAFETY: a C string; the library's initialisers are those of a public library that the launcher uses as well.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(last_error());
        }
        // SAFETY: the types are those of the standard's functions of these names.
        unsafe {
            Ok(Library {
                name: Box::leak(name.to_owned().into_boxed_path()),
                init: function(handle, c"PMIx_Init")?,
                get: function(handle, c"PMIx_Get")?,
                put: function(handle, c"PMIx_Put")?,
                commit: function(handle, c"PMIx_Commit")?,
                fence: function(handle, c"PMIx_Fence")?,
                spawn: function(handle, c"PMIx_Spawn").ok(),
                abort: function(handle, c"PMIx_Abort")?,
                finalize: function(handle, c"PMIx_Finalize")?,
                error_string: function(handle, c"PMIx_Error_string")?,
            })
        }
    }

    /// Its file.
    pub(super) fn name(&self) -> std::path::Display<'static> {
        self.name.display()
    }

    /// A sentence about a status.
    pub(super) fn trouble(&self, what: &str, status: c_int) -> LauncherError {
        // SAFETY: the library returns a C string of its own for any number, or NULL.
        let text = unsafe {
            let text = (self.error_string)(status);
            if text.is_null() { "no name".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        LauncherError(format!("the launcher that started this program {what}: {text} ({status}) from {}", self.name()))
    }

    /// `PMIx_Init`: waits for the server; returns the identity of this process.
    pub(super) fn init(&self) -> Result<Process, c_int> {
        let mut own = Process { namespace: [0; 256], rank: 0 };
        // SAFETY: one process name is written; there is no information to pass.
        checked(unsafe { (self.init)(&mut own, ptr::null_mut(), 0) })?;
        own.namespace[255] = 0;
        Ok(own)
    }

    /// `PMIx_Put` and `PMIx_Commit` of a text.
    pub(super) fn put(&self, key: &str, value: &str) -> Result<(), c_int> {
        let (key, text) = (c_string(key), c_string(value));
        let mut data = Data { space: [0; 8] };
        data.string = text.as_ptr();
        let value = Value { kind: STRING, data };
        // SAFETY: a key and a value that are valid during the call, which copies both.
        checked(unsafe { (self.put)(GLOBAL, key.as_ptr(), &value) })?;
        // SAFETY: no arguments.
        checked(unsafe { (self.commit)() })
    }

    /// `PMIx_Get` of a text; `None` if it was not put. The library gets a value of another host when it is requested for the
    /// first time, also after a fence that collects values, so it may have to wait, for as long as the limit.
    pub(super) fn get_text(&self, from: &Process, key: &str, limit: Duration) -> Result<Option<String>, c_int> {
        let key = c_string(key);
        let known = self.get(from, &key, &Info::flag(b"pmix.immediate"));
        let seconds = c_int::try_from(limit.as_secs().max(1)).unwrap_or(c_int::MAX);
        let value = known.or_else(|_| self.get(from, &key, &Info::number(b"pmix.timeout", seconds)));
        match value {
            Ok(value) if value.kind == STRING => {
                // SAFETY: a value of this type has a C string, or NULL.
                let text = unsafe { (!value.data.string.is_null()).then(|| CStr::from_ptr(value.data.string)) };
                Ok(text.map(|text| text.to_string_lossy().into_owned()))
            }
            Ok(_) | Err(NOT_FOUND) => Ok(None),
            Err(status) => Err(status),
        }
    }

    /// `PMIx_Get` of a number.
    pub(super) fn get_number(&self, from: &Process, key: &CStr) -> Result<u32, c_int> {
        // A value that the launcher has not set will not come: without this the library would wait for it.
        match self.get(from, key, &Info::flag(b"pmix.immediate"))? {
            // SAFETY: a value of this type has this number.
            value if value.kind == UINT32 => Ok(unsafe { value.data.uint32 }),
            _ => Err(NOT_FOUND),
        }
    }

    fn get(&self, from: &Process, key: &CStr, how: &Info) -> Result<Value, c_int> {
        let mut value = ptr::null();
        // SAFETY: a name, a key and one piece of information that are valid during the call; one address is written.
        checked(unsafe { (self.get)(from, key.as_ptr(), how, 1, &mut value) })?;
        if value.is_null() {
            return Err(NOT_FOUND);
        }
        // SAFETY: the library reported a value at this address. It is read without its spare bytes, which are only in
        // ours.
        unsafe {
            let kind = (*value).kind;
            let mut data = Data { space: [0; 8] };
            data.space[0] = ptr::addr_of!((*value).data).cast::<u64>().read();
            Ok(Value { kind, data })
        }
    }

    /// `PMIx_Fence` of the whole job, which takes the values that were put to all hosts.
    pub(super) fn fence(&self) -> Result<(), c_int> {
        let collect = Info::flag(b"pmix.collect");
        // SAFETY: no processes named means all of the job; one piece of information that is valid during the call.
        checked(unsafe { (self.fence)(ptr::null(), 0, &collect, 1) })
    }

    /// Whether a process of another job started this one.
    pub(super) fn is_spawned(&self, own: &Process) -> bool {
        self.get(own, c"pmix.parent", &Info::flag(b"pmix.immediate")).is_ok()
    }

    /// `PMIx_Spawn`: starts programs, with these variables beside those of the launcher. `None`: the library has no
    /// such function. The call may keep all that it gets, and change and enlarge the lists of arguments and variables,
    /// so these are memory of the C library, and nothing is freed; a process spawns a few times.
    pub(super) fn spawn(&self, programs: &[Program]) -> Option<Result<(), c_int>> {
        let spawn = self.spawn?;
        let app = |program: &Program| App {
            command: copied(&program.arguments[0]),
            arguments: copied_list(&program.arguments),
            environment: copied_list(&program.environment),
            directory: program.directory.as_ref().map_or(ptr::null(), |text| copied(text)),
            processes: program.processes,
            info: match &*program.info {
                [] => ptr::null(),
                info => Box::leak(info.iter().map(Info::text).collect::<Box<[_]>>()).as_ptr(),
            },
            info_count: program.info.len(),
        };
        let apps = Box::leak(programs.iter().map(app).collect::<Box<[_]>>());
        let mut namespace = [0; 256];
        // SAFETY: programs whose texts and lists live for ever; a name of up to 256 bytes is written.
        let status = unsafe { spawn(ptr::null(), 0, apps.as_ptr(), apps.len(), namespace.as_mut_ptr()) };
        Some(checked(status))
    }

    /// `PMIx_Abort` of the whole job.
    pub(super) fn abort(&self, code: c_int) -> Result<(), c_int> {
        // SAFETY: an empty message; no processes named means all of the job.
        checked(unsafe { (self.abort)(code, c"".as_ptr(), ptr::null(), 0) })
    }

    /// `PMIx_Finalize`.
    pub(super) fn finalize(&self) -> Result<(), c_int> {
        // SAFETY: there is no information to pass.
        checked(unsafe { (self.finalize)(ptr::null(), 0) })
    }
}

impl Process {
    /// The job's name.
    pub(super) fn namespace(&self) -> String {
        let bytes: Vec<u8> = self.namespace.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Another process of the same job.
    pub(super) fn of_rank(&self, rank: u32) -> Process {
        Process { rank, ..self.clone() }
    }
}

impl Info {
    /// A text.
    fn text((name, text): &(&'static str, CString)) -> Info {
        let mut data = Data { space: [0; 8] };
        data.string = copied(text);
        Info { key: Info::key(name.as_bytes()), flags: 0, value: Value { kind: STRING, data } }
    }

    /// A signed number.
    fn number(name: &[u8], number: c_int) -> Info {
        let mut data = Data { space: [0; 8] };
        data.int = number;
        Info { key: Info::key(name), flags: 0, value: Value { kind: INT, data } }
    }

    fn key(name: &[u8]) -> [c_char; 512] {
        let mut key = [0; 512];
        for (to, from) in key.iter_mut().zip(name) {
            *to = *from as c_char;
        }
        key
    }

    /// A flag that is set.
    fn flag(name: &[u8]) -> Info {
        let key = Info::key(name);
        // The flag is the first byte.
        Info {
            key,
            flags: 0,
            value: Value { kind: BOOL, data: Data { space: [u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]); 8] } },
        }
    }
}

fn checked(status: c_int) -> Result<(), c_int> {
    if status == SUCCESS { Ok(()) } else { Err(status) }
}

/// A copy of a text in memory of the C library.
fn copied(text: &CStr) -> *const c_char {
    // SAFETY: a C string. NULL, when there is no memory, is a missing text for the library.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// A list of copies that NULL ends, in memory of the C library; NULL if there is no memory.
fn copied_list(texts: &[CString]) -> *const *const c_char {
    // SAFETY: zeroed memory for one pointer more than there are texts; the others are written within it.
    unsafe {
        let list = libc::calloc(texts.len() + 1, size_of::<*const c_char>()).cast::<*const c_char>();
        if !list.is_null() {
            texts.iter().enumerate().for_each(|(i, text)| *list.add(i) = copied(text));
        }
        list
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text).expect("keys and values have no NUL")
}

/// # Safety
/// `T` has to be the type of the function of this name.
unsafe fn function<T: Copy>(handle: *mut c_void, name: &CStr) -> Result<T, String> {
    // SAFETY: a library's handle and a C string.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if address.is_null() {
        return Err(format!("it has no {}", name.to_string_lossy()));
    }
    const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
    // SAFETY: a function's address as a pointer to a function of its type, as the caller promises.
    Ok(unsafe { std::mem::transmute_copy::<*mut c_void, T>(&address) })
}

fn last_error() -> String {
    // SAFETY: a C string of the thread's own, or NULL.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { "no reason given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// Names without a slash are searched by the system.
pub(super) fn system_name() -> PathBuf {
    PathBuf::from("libpmix.so.2")
}
