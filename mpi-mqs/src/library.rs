//! The functions of the interface.
//!
//! Invariant: the words that the debugger stores with an image and a process are boxes made here, and it returns them once
//! for their end.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use mpi_core::abi::MPI_ANY_TAG;
use mpi_observe::queues::{self, CommQueues, ProcessMemory, Queues, SendState};

use crate::interface::{
    Address, BasicCallbacks, COMPATIBILITY, Communicator, END_OF_LIST, FIRST_USER_CODE, ImageCallbacks, MATCHED,
    NO_INFORMATION, OK, Opaque, PENDING, PENDING_RECEIVES, PENDING_SENDS, PendingOperation, ProcessCallbacks,
    UNEXPECTED_MESSAGES, Word,
};

/// The process's memory cannot be read, or is damaged.
const UNREADABLE: c_int = FIRST_USER_CODE;
/// A call that does not fit those before it.
const MISUSED: c_int = FIRST_USER_CODE + 1;

static BASIC: AtomicPtr<BasicCallbacks> = AtomicPtr::new(ptr::null_mut());

/// What is kept of an image.
struct ImageInfo {
    callbacks: ImageCallbacks,
}

/// What is kept of a process.
struct ProcessInfo {
    callbacks: ProcessCallbacks,
    /// Address of the word with the address of the map.
    symbol: Address,
    queues: Queues,
    /// The communicators as the debugger sees them: index in the list, and whether it is the library's own side.
    comms: Vec<(usize, bool)>,
    comm: usize,
    operations: Vec<PendingOperation>,
    operation: usize,
}

/// The memory of a process as the debugger reads it.
struct DebuggersMemory<'p> {
    process: *mut Opaque,
    callbacks: &'p ProcessCallbacks,
}

impl ProcessMemory for DebuggersMemory<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        let fetch = self.callbacks.fetch_data.ok_or_else(|| io::Error::other("the debugger reads no memory"))?;
        for (i, part) in into.chunks_mut(1 << 20).enumerate() {
            let at = address.wrapping_add((i as u64) << 20);
            // SAFETY: the debugger's function stores as many bytes as are requested, which the part has.
            let code = unsafe { fetch(self.process, at, part.len() as c_int, part.as_mut_ptr().cast()) };
            if code != OK {
                return Err(io::Error::other(format!("the debugger cannot read at {at:#x}")));
            }
        }
        Ok(())
    }
}

fn basic() -> Option<&'static BasicCallbacks> {
    // SAFETY: null, or the table that the debugger keeps as long as it uses the library.
    unsafe { BASIC.load(Ordering::Acquire).as_ref() }
}

/// The debugger's functions for everything.
/// # Safety
/// The table stays valid, as the interface demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_setup_basic_callbacks(callbacks: *const BasicCallbacks) {
    BASIC.store(callbacks.cast_mut(), Ordering::Release);
}

/// The name of this library.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_version_string() -> *const c_char {
    concat!("Ferrum MPI message queues ", env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_version_compatibility() -> c_int {
    COMPATIBILITY
}

/// The bytes of an address in the interface.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_dll_taddr_width() -> c_int {
    size_of::<Address>() as c_int
}

/// The text of a code.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_dll_error_string(code: c_int) -> *const c_char {
    let text = match code {
        OK => c"no error",
        NO_INFORMATION => c"no information: MPI is not initialised in this process",
        END_OF_LIST => c"the end of the list",
        UNREADABLE => c"the queues of the process cannot be read",
        MISUSED => c"a function of the message queue library was called too early",
        _ => c"unknown code",
    };
    text.as_ptr()
}

/// A new image.
/// # Safety
/// Both are the debugger's, as the interface demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_setup_image(image: *mut Opaque, callbacks: *const ImageCallbacks) -> c_int {
    // SAFETY: the caller's promise.
    let Some(callbacks) = (unsafe { callbacks.as_ref() }) else { return MISUSED };
    let Some(put) = basic().and_then(|basic| basic.put_image_info) else { return MISUSED };
    let info = Box::into_raw(Box::new(ImageInfo { callbacks: *callbacks }));
    // SAFETY: the debugger's own function and image.
    unsafe { put(image, info.cast()) };
    OK
}

/// The address of the word that leads to the queues, if the image has it.
fn find_symbol(image: *mut Opaque) -> Option<Address> {
    let get = basic()?.get_image_info?;
    // SAFETY: the debugger's own function and image; what it returns was stored by `mqs_setup_image`.
    let info = unsafe { get(image).cast::<ImageInfo>().as_ref() }?;
    let (find, mut address) = (info.callbacks.find_symbol?, 0);
    // SAFETY: the debugger's own function; the name ends with a zero and is not changed, and the address is stored here.
    let code = unsafe { find(image, c"ferrum_queue_map".as_ptr().cast_mut(), &mut address) };
    (code == OK && address != 0).then_some(address)
}

/// Whether an image has the library.
/// # Safety
/// As `mqs_setup_image`; `message` may be stored to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_image_has_queues(image: *mut Opaque, message: *mut *const c_char) -> c_int {
    if let Some(_address) = find_symbol(image) {
        return OK;
    }
    if !message.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *message = c"%s does not use Ferrum MPI".as_ptr() };
    }
    NO_INFORMATION
}

/// The image's end.
/// # Safety
/// The word was stored by `mqs_setup_image`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_destroy_image_info(info: *mut c_void) {
    if !info.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(info.cast::<ImageInfo>()) });
    }
}

/// A new process.
/// # Safety
/// Both are the debugger's, as the interface demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_setup_process(process: *mut Opaque, callbacks: *const ProcessCallbacks) -> c_int {
    // SAFETY: the caller's promise.
    let Some(callbacks) = (unsafe { callbacks.as_ref() }) else { return MISUSED };
    let Some(put) = basic().and_then(|basic| basic.put_process_info) else { return MISUSED };
    let Some(image) = callbacks.get_image else { return MISUSED };
    // SAFETY: the debugger's own function and process.
    let Some(symbol) = find_symbol(unsafe { image(process) }) else { return NO_INFORMATION };
    let info = ProcessInfo {
        callbacks: *callbacks,
        symbol,
        queues: Queues::default(),
        comms: Vec::new(),
        comm: 0,
        operations: Vec::new(),
        operation: 0,
    };
    // SAFETY: the debugger's own function and process.
    unsafe { put(process, Box::into_raw(Box::new(info)).cast()) };
    OK
}

/// The process's end.
/// # Safety
/// The word was stored by `mqs_setup_process`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_destroy_process_info(info: *mut c_void) {
    if !info.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(info.cast::<ProcessInfo>()) });
    }
}

/// Calls a function with what is kept of a process.
fn with_process(process: *mut Opaque, work: impl FnOnce(&mut ProcessInfo) -> c_int) -> c_int {
    let Some(get) = basic().and_then(|basic| basic.get_process_info) else { return MISUSED };
    // SAFETY: the debugger's own function and process; what it returns was stored by `mqs_setup_process`. The debugger calls
    // from one thread at a time.
    match unsafe { get(process).cast::<ProcessInfo>().as_mut() } {
        Some(info) => work(info),
        None => MISUSED,
    }
}

/// Whether the process has called `MPI_Init`.
/// # Safety
/// The process was set up; `message` may be stored to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_process_has_queues(process: *mut Opaque, message: *mut *const c_char) -> c_int {
    let code = with_process(process, |info| match map_of(process, info) {
        Ok(Some(_)) => OK,
        Ok(None) => NO_INFORMATION,
        Err(_) => UNREADABLE,
    });
    if code != OK && !message.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *message = mqs_dll_error_string(code) };
    }
    code
}

fn map_of(process: *mut Opaque, info: &ProcessInfo) -> io::Result<Option<u64>> {
    let mut word = [0; 8];
    DebuggersMemory { process, callbacks: &info.callbacks }.read(info.symbol, &mut word)?;
    Ok(Some(u64::from_ne_bytes(word)).filter(|map| *map != 0))
}

/// Reads the communicators and queues again.
/// # Safety
/// The process was set up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_update_communicator_list(process: *mut Opaque) -> c_int {
    with_process(process, |info| {
        let found = match map_of(process, info) {
            Ok(Some(map)) => queues::read(&DebuggersMemory { process, callbacks: &info.callbacks }, map),
            Ok(None) => return NO_INFORMATION,
            Err(_) => return UNREADABLE,
        };
        let Ok(found) = found else { return UNREADABLE };
        let internal = |comm: &CommQueues| {
            let sends = found.sends.iter().any(|send| send.context == comm.context + 1);
            sends || !comm.internal_posted.is_empty() || !comm.internal_unexpected.is_empty()
        };
        let sides = |(at, comm)| std::iter::once((at, false)).chain(internal(comm).then_some((at, true)));
        info.comms = found.comms.iter().enumerate().flat_map(sides).collect();
        info.queues = found;
        (info.comm, info.operation) = (0, 0);
        info.operations.clear();
        OK
    })
}

/// Begins with the first communicator.
/// # Safety
/// The process was set up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_setup_communicator_iterator(process: *mut Opaque) -> c_int {
    with_process(process, |info| {
        info.comm = 0;
        info.operations.clear();
        if info.comms.is_empty() { END_OF_LIST } else { OK }
    })
}

/// The next communicator.
/// # Safety
/// The process was set up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_next_communicator(process: *mut Opaque) -> c_int {
    with_process(process, |info| {
        info.comm = info.comm.saturating_add(1);
        info.operations.clear();
        if info.comm < info.comms.len() { OK } else { END_OF_LIST }
    })
}

fn current(info: &ProcessInfo) -> Option<(&CommQueues, bool)> {
    let (at, internal) = info.comms.get(info.comm)?;
    Some((info.queues.comms.get(*at)?, *internal))
}

/// The facts of the communicator.
/// # Safety
/// The process was set up, and the result may be stored to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_get_communicator(process: *mut Opaque, result: *mut Communicator) -> c_int {
    with_process(process, |info| {
        let Some((comm, internal)) = current(info).filter(|_| !result.is_null()) else { return MISUSED };
        let mut name = match comm.name.as_str() {
            "" => format!("context id {}", comm.context),
            name => name.to_owned(),
        };
        if internal {
            name += " (collectives)";
        }
        let facts = Communicator {
            unique_id: Address::from(comm.context) + Address::from(internal),
            local_rank: Word::from(comm.rank),
            size: comm.world_ranks.len() as Word,
            name: text(&name),
        };
        // SAFETY: the caller's promise.
        unsafe { result.write(facts) };
        OK
    })
}

/// World ranks of the communicator.
/// # Safety
/// The process was set up, and the array has as many elements as the communicator processes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_get_comm_group(process: *mut Opaque, ranks: *mut c_int) -> c_int {
    with_process(process, |info| {
        let Some((comm, _)) = current(info).filter(|_| !ranks.is_null()) else { return MISUSED };
        for (i, rank) in comm.world_ranks.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { ranks.add(i).write(*rank as c_int) };
        }
        OK
    })
}

/// Begins with the first operation of a class of the communicator.
/// # Safety
/// The process was set up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_setup_operation_iterator(process: *mut Opaque, class: c_int) -> c_int {
    with_process(process, |info| {
        let Some((comm, internal)) = current(info) else { return MISUSED };
        info.operations = match class {
            PENDING_SENDS => sends(&info.queues, comm, internal),
            PENDING_RECEIVES => receives(comm, internal),
            UNEXPECTED_MESSAGES => unexpected(comm, internal),
            _ => return NO_INFORMATION,
        };
        info.operation = 0;
        if info.operations.is_empty() { END_OF_LIST } else { OK }
    })
}

/// The next operation.
/// # Safety
/// The process was set up, and the result may be stored to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_next_operation(process: *mut Opaque, result: *mut PendingOperation) -> c_int {
    with_process(process, |info| {
        let Some(next) = info.operations.get(info.operation).filter(|_| !result.is_null()) else { return END_OF_LIST };
        info.operation += 1;
        // SAFETY: the caller's promise; the source is a value of the type.
        unsafe { ptr::copy_nonoverlapping(next, result, 1) };
        OK
    })
}

fn operation(comm: &CommQueues, rank: i32, tag: i32, bytes: u64) -> PendingOperation {
    let local = Word::from(rank.max(-1));
    let world =
        usize::try_from(rank).ok().and_then(|rank| comm.world_ranks.get(rank)).map_or(-1, |rank| Word::from(*rank));
    let (wild, tag) = (tag == MPI_ANY_TAG, Word::from(tag));
    PendingOperation {
        status: PENDING,
        desired_local_rank: local,
        desired_global_rank: world,
        tag_wild: c_int::from(wild),
        desired_tag: tag,
        desired_length: bytes as Word,
        system_buffer: 0,
        buffer: 0,
        actual_local_rank: local,
        actual_global_rank: world,
        actual_tag: tag,
        actual_length: bytes as Word,
        extra_text: [[0; 64]; 5],
    }
}

fn sends(queues: &Queues, comm: &CommQueues, internal: bool) -> Vec<PendingOperation> {
    let of_comm = queues.sends.iter().filter(|send| send.context == comm.context + u32::from(internal));
    let made = of_comm.map(|send| {
        let rank = comm.world_ranks.iter().position(|world| *world == send.to).map_or(-1, |rank| rank as i32);
        let mut made = operation(comm, rank, send.tag, send.bytes);
        made.tag_wild = 0;
        let (status, what) = match send.state {
            SendState::Room => (PENDING, "waits for room on the way to the receiver"),
            SendState::Match => (PENDING, "waits for a receive"),
            SendState::Transfer => (MATCHED, "the receiver takes the data"),
        };
        made.status = status;
        made.extra_text[0] = text(what);
        made
    });
    made.collect()
}

fn receives(comm: &CommQueues, internal: bool) -> Vec<PendingOperation> {
    let posted = if internal { &comm.internal_posted } else { &comm.posted };
    let made = posted.iter().map(|receive| {
        let mut made = operation(comm, receive.source, receive.tag, receive.bytes.unwrap_or(0));
        made.buffer = receive.buffer;
        made
    });
    made.collect()
}

fn unexpected(comm: &CommQueues, internal: bool) -> Vec<PendingOperation> {
    let messages = if internal { &comm.internal_unexpected } else { &comm.unexpected };
    let made = messages.iter().map(|message| {
        let mut made = operation(comm, message.source, message.tag, message.bytes);
        made.system_buffer = 1;
        made
    });
    made.collect()
}

/// A text in a field, cut to its length and ended by a zero.
fn text(text: &str) -> [u8; 64] {
    let mut field = [0; 64];
    let mut end = text.len().min(63);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    field[..end].copy_from_slice(&text.as_bytes()[..end]);
    field
}
