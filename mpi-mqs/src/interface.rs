//! The types of the interface, in the layout of C.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};

/// An address in the process.
pub type Address = c_ulong;
/// A word of the process.
pub type Word = c_long;

/// Success.
pub const OK: c_int = 0;
/// There is nothing to be had.
pub const NO_INFORMATION: c_int = 1;
/// The list is at its end.
pub const END_OF_LIST: c_int = 2;
/// The first of the codes that the library chooses.
pub const FIRST_USER_CODE: c_int = 100;
/// The version of the interface, without the functions for spawned processes.
pub const COMPATIBILITY: c_int = 2;

/// `mqs_pending_sends`
pub const PENDING_SENDS: c_int = 0;
/// `mqs_pending_receives`
pub const PENDING_RECEIVES: c_int = 1;
/// `mqs_unexpected_messages`
pub const UNEXPECTED_MESSAGES: c_int = 2;

/// `mqs_st_pending`
pub const PENDING: c_int = 0;
/// `mqs_st_matched`
pub const MATCHED: c_int = 1;

/// Something of the debugger's.
pub type Opaque = c_void;

/// `mqs_target_type_sizes`
#[derive(Debug, Default)]
#[repr(C)]
pub struct TypeSizes {
    /// Of `short`.
    pub short: c_int,
    /// Of `int`.
    pub int: c_int,
    /// Of `long`.
    pub long: c_int,
    /// Of `long long`.
    pub long_long: c_int,
    /// Of a pointer.
    pub pointer: c_int,
    /// Of `bool`; old debuggers do not fill it.
    pub boolean: c_int,
    /// Of `size_t`; old debuggers do not fill it.
    pub size: c_int,
}

/// `mqs_basic_callbacks`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct BasicCallbacks {
    /// Allocates.
    pub malloc: Option<unsafe extern "C" fn(usize) -> *mut c_void>,
    /// Frees.
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Prints.
    pub prints: Option<unsafe extern "C" fn(*const c_char)>,
    /// The text of a code of the debugger's.
    pub error_string: Option<unsafe extern "C" fn(c_int) -> *mut c_char>,
    /// Stores a word with an image.
    pub put_image_info: Option<unsafe extern "C" fn(*mut Opaque, *mut c_void)>,
    /// Returns it.
    pub get_image_info: Option<unsafe extern "C" fn(*mut Opaque) -> *mut c_void>,
    /// Stores a word with a process.
    pub put_process_info: Option<unsafe extern "C" fn(*mut Opaque, *mut c_void)>,
    /// Returns it.
    pub get_process_info: Option<unsafe extern "C" fn(*mut Opaque) -> *mut c_void>,
}

/// `mqs_image_callbacks`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImageCallbacks {
    /// The sizes of types.
    pub get_type_sizes: Option<unsafe extern "C" fn(*mut Opaque, *mut TypeSizes)>,
    /// The address of a function.
    pub find_function: Option<unsafe extern "C" fn(*mut Opaque, *mut c_char, c_int, *mut Address) -> c_int>,
    /// The address of a variable.
    pub find_symbol: Option<unsafe extern "C" fn(*mut Opaque, *mut c_char, *mut Address) -> c_int>,
    /// A type by its name.
    pub find_type: Option<unsafe extern "C" fn(*mut Opaque, *mut c_char, c_int) -> *mut Opaque>,
    /// The offset of a field.
    pub field_offset: Option<unsafe extern "C" fn(*mut Opaque, *mut c_char) -> c_int>,
    /// The size of a type.
    pub sizeof: Option<unsafe extern "C" fn(*mut Opaque) -> c_int>,
}

/// `mqs_process_callbacks`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProcessCallbacks {
    /// The process's rank in `MPI_COMM_WORLD`.
    pub get_global_rank: Option<unsafe extern "C" fn(*mut Opaque) -> c_int>,
    /// The image of a process.
    pub get_image: Option<unsafe extern "C" fn(*mut Opaque) -> *mut Opaque>,
    /// Reads memory.
    pub fetch_data: Option<unsafe extern "C" fn(*mut Opaque, Address, c_int, *mut c_void) -> c_int>,
    /// Converts what was read.
    pub target_to_host: Option<unsafe extern "C" fn(*mut Opaque, *const c_void, *mut c_void, c_int)>,
}

/// `mqs_communicator`
#[derive(Debug)]
#[repr(C)]
pub struct Communicator {
    /// What distinguishes it.
    pub unique_id: Address,
    /// The process's rank.
    pub local_rank: Word,
    /// Its size.
    pub size: Word,
    /// Its name.
    pub name: [u8; 64],
}

/// `mqs_pending_operation`
#[derive(Debug)]
#[repr(C)]
pub struct PendingOperation {
    /// Pending, matched or complete.
    pub status: c_int,
    /// Rank of the other process in the communicator; -1: any.
    pub desired_local_rank: Word,
    /// The same in `MPI_COMM_WORLD`.
    pub desired_global_rank: Word,
    /// Whether it takes any tag.
    pub tag_wild: c_int,
    /// The tag.
    pub desired_tag: Word,
    /// Length of the buffer.
    pub desired_length: Word,
    /// Whether the data are in memory of the library.
    pub system_buffer: c_int,
    /// Where the data are.
    pub buffer: Address,
    /// As above of the message, where one is matched, and of a send.
    pub actual_local_rank: Word,
    /// See above.
    pub actual_global_rank: Word,
    /// See above.
    pub actual_tag: Word,
    /// See above.
    pub actual_length: Word,
    /// Lines for people.
    pub extra_text: [[u8; 64]; 5],
}

const _: () = assert!(size_of::<Communicator>() == 88 && size_of::<PendingOperation>() == 416);
