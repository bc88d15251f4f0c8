//! Name, text and advice for every error class of the ABI (MPI-5.0, sections 9.4 and 15.3.10).
//!
//! Invariant: the table contains each class of the ABI once, in ascending order.
//! Not here: the error of one call ([`crate::Error`]).

use std::fmt;

use mpi_core::abi::*;

use crate::ErrorClass;

/// The official name of a class (`"MPI_ERR_RANK"`), or `None` if the ABI has no such class.
#[inline]
pub fn name(class: i32) -> Option<&'static str> {
    find(class).map(|row| row.1)
}

/// A sentence that describes the class, without its name, or `None` if the ABI has no such class.
pub fn text(class: i32) -> Option<&'static str> {
    find(class).map(|row| &row.2[row.1.len() + ": ".len()..])
}

/// Advice for a user when an error of this class ends a program; `None` if there is no general advice.
pub fn advice(class: i32) -> Option<&'static str> {
    Some(match class {
        MPI_ERR_RANK | MPI_ERR_ROOT => "Compare the rank with what MPI_Comm_size gives for this communicator.",
        MPI_ERR_TRUNCATE => {
            "The side that gets the data needs room for all of it. MPI_Probe and MPI_Get_count give the length of a \
             message; check that sender and receiver use the same tag for the same data. In one-sided calls compare count \
             and datatype of both sides."
        }
        MPI_ERR_COMM => "Check that the communicator was created, and not freed, by this process before the call.",
        MPI_ERR_TYPE => "Check that the datatype was made, and not freed, by this process before the call.",
        MPI_ERR_WIN | MPI_ERR_FILE | MPI_ERR_SESSION | MPI_ERR_GROUP | MPI_ERR_INFO => {
            "Check that the object was made, and not freed, by this process before the call."
        }
        MPI_ERR_REQUEST => "Check that the request is used once: completion sets it to MPI_REQUEST_NULL.",
        MPI_ERR_BUFFER => "Check the address, and that the memory was allocated before the call.",
        MPI_ERR_TAG => "Use a tag between 0 and the value of the attribute MPI_TAG_UB.",
        MPI_ERR_COUNT | MPI_ERR_VALUE_TOO_LARGE => "For more than 2147483647 elements use the _c form of the call.",
        MPI_ERR_NO_MEM => "Free memory, or run fewer processes on this host.",
        MPI_ERR_INTERN => "This is a defect of the library. Please report it with this text.",
        MPI_ERR_PROC_ABORTED => "Look at the output of the process that ended first.",
        _ => return None,
    })
}

/// All classes of the ABI with their names, in ascending order.
pub fn all() -> impl Iterator<Item = (i32, &'static str)> {
    TABLE.iter().map(|row| (row.0, row.1))
}

/// The text of a class as a code: `MPI_ERR_RANK: the rank does not exist in the communicator`; `None` if the ABI has no
/// such class.
#[inline]
pub fn code_text(class: i32) -> Option<&'static str> {
    find(class).map(|row| row.2)
}

/// Whether the ABI has this class.
#[inline]
pub const fn exists(class: i32) -> bool {
    place(class).is_some()
}

/// The position of a class in the table: first the classes of MPI calls, then those of the tools interface, each range
/// without a gap.
#[inline]
const fn place(class: i32) -> Option<usize> {
    match class {
        MPI_SUCCESS..=MPI_ERR_ABI => Some(class as usize),
        MPI_T_ERR_CANNOT_INIT..=MPI_T_ERR_PVAR_NO_ATOMIC => {
            Some((class - MPI_T_ERR_CANNOT_INIT + MPI_ERR_ABI + 1) as usize)
        }
        _ => None,
    }
}

#[inline]
fn find(class: i32) -> Option<&'static Row> {
    place(class).map(|at| &TABLE[at])
}

/// A class, its name, and its text as a code: the name, a colon, a sentence.
type Row = (i32, &'static str, &'static str);

macro_rules! table {
    ($($class:ident: $text:literal,)*) => {
        const TABLE: &[Row] = &[$(($class, stringify!($class), concat!(stringify!($class), ": ", $text)),)*];
    };
}

// Every class is at the position that `place` returns.
const _: () = {
    let mut at = 0;
    while at < TABLE.len() {
        assert!(matches!(place(TABLE[at].0), Some(found) if found == at));
        at += 1;
    }
    assert!(matches!(place(MPI_T_ERR_PVAR_NO_ATOMIC), Some(last) if last + 1 == TABLE.len()));
};

table! {
    MPI_SUCCESS: "there was no error",
    MPI_ERR_BUFFER: "the buffer address is null or cannot be used here",
    MPI_ERR_COUNT: "the count is negative or too large",
    MPI_ERR_TYPE: "the datatype is null, was freed, is not committed, or does not fit this call",
    MPI_ERR_TAG: "the tag is negative or above the upper bound of tags",
    MPI_ERR_COMM: "the communicator is null, was freed, or does not fit this call",
    MPI_ERR_RANK: "the rank does not exist in the communicator",
    MPI_ERR_REQUEST: "the request is null, was freed, or does not fit this call",
    MPI_ERR_ROOT: "the root does not exist in the communicator",
    MPI_ERR_GROUP: "the group is null, was freed, or does not fit this call",
    MPI_ERR_OP: "the operation is null, was freed, or is not defined on this datatype",
    MPI_ERR_TOPOLOGY: "the topology of the communicator does not fit this call",
    MPI_ERR_DIMS: "the dimensions cannot be used",
    MPI_ERR_ARG: "an argument is invalid in a way no other class describes",
    MPI_ERR_UNKNOWN: "the error is unknown",
    MPI_ERR_TRUNCATE: "the message is longer than the receive buffer",
    MPI_ERR_OTHER: "the error is a known one that no class describes; the text of its code has more details",
    MPI_ERR_INTERN: "the library reached a state that should be impossible; this is a defect of the library",
    MPI_ERR_PENDING: "the request is neither complete nor in error yet",
    MPI_ERR_IN_STATUS: "at least one request failed; see the error fields of the statuses",
    MPI_ERR_ACCESS: "permission to the file was denied",
    MPI_ERR_AMODE: "the access mode of the file does not fit this call",
    MPI_ERR_ASSERT: "the assertion argument is invalid",
    MPI_ERR_BAD_FILE: "the file name is invalid",
    MPI_ERR_BASE: "the base address is invalid",
    MPI_ERR_CONVERSION: "a data conversion function failed",
    MPI_ERR_DISP: "the displacement is invalid",
    MPI_ERR_DUP_DATAREP: "a data representation of this name is defined already",
    MPI_ERR_FILE_EXISTS: "the file exists already",
    MPI_ERR_FILE_IN_USE: "the file is open in some process",
    MPI_ERR_FILE: "the file handle is null or was closed",
    MPI_ERR_INFO_KEY: "the info key is empty or too long",
    MPI_ERR_INFO_NOKEY: "the info object has no such key",
    MPI_ERR_INFO_VALUE: "the info value is empty, too long, or not usable for its key",
    MPI_ERR_INFO: "the info object is null or was freed",
    MPI_ERR_IO: "an input or output operation failed",
    MPI_ERR_KEYVAL: "the key value is invalid or was freed",
    MPI_ERR_LOCKTYPE: "the lock type is invalid",
    MPI_ERR_NAME: "the service name is not published",
    MPI_ERR_NO_MEM: "there is not enough memory",
    MPI_ERR_NOT_SAME: "a collective argument differs between processes",
    MPI_ERR_NO_SPACE: "there is not enough space on the device",
    MPI_ERR_NO_SUCH_FILE: "the file does not exist",
    MPI_ERR_PORT: "the port name is invalid",
    MPI_ERR_QUOTA: "the quota is exceeded",
    MPI_ERR_READ_ONLY: "the file or file system can only be read",
    MPI_ERR_RMA_ATTACH: "the memory cannot be attached to the window",
    MPI_ERR_RMA_CONFLICT: "accesses to the window conflict",
    MPI_ERR_RMA_RANGE: "the target memory is not part of the window",
    MPI_ERR_RMA_SHARED: "the memory cannot be shared between the processes of the window",
    MPI_ERR_RMA_SYNC: "the synchronization of the window does not allow this call",
    MPI_ERR_SERVICE: "the service name is not known",
    MPI_ERR_SIZE: "the size is invalid",
    MPI_ERR_SPAWN: "the processes could not be started",
    MPI_ERR_UNSUPPORTED_DATAREP: "the data representation is not supported",
    MPI_ERR_UNSUPPORTED_OPERATION: "the operation is not supported on this object",
    MPI_ERR_WIN: "the window is null, was freed, or does not fit this call",
    MPI_ERR_RMA_FLAVOR: "the flavor of the window does not allow this call",
    MPI_ERR_PROC_ABORTED: "a process of the communication has aborted",
    MPI_ERR_VALUE_TOO_LARGE: "the value does not fit the type of the output argument; the _c form of the call has a wider one",
    MPI_ERR_SESSION: "the session is null or was finalized",
    MPI_ERR_ERRHANDLER: "the error handler is null, was freed, or belongs to another kind of object",
    MPI_ERR_ABI: "the call contradicts the application binary interface in use",
    MPI_T_ERR_CANNOT_INIT: "the tool interface cannot be initialized now",
    MPI_T_ERR_NOT_ACCESSIBLE: "the tool interface function cannot be used now",
    MPI_T_ERR_NOT_INITIALIZED: "the tool interface is not initialized; call MPI_T_init_thread first",
    MPI_T_ERR_NOT_SUPPORTED: "the tool interface does not support this request",
    MPI_T_ERR_MEMORY: "the tool interface has no memory left",
    MPI_T_ERR_INVALID: "an argument of the tool interface call is invalid",
    MPI_T_ERR_INVALID_INDEX: "the index names no variable, category, event, or enumeration item",
    MPI_T_ERR_INVALID_ITEM: "the item index of the enumeration is out of range",
    MPI_T_ERR_INVALID_SESSION: "the session is null, was freed, or is not a performance experiment session",
    MPI_T_ERR_INVALID_HANDLE: "the handle is null, was freed, belongs to another session, is of another kind, or the object that it is bound to was freed",
    MPI_T_ERR_INVALID_NAME: "there is no variable, category or event type of this name, or, to one that adds it, there is one already or it cannot be one",
    MPI_T_ERR_OUT_OF_HANDLES: "no further handle can be allocated",
    MPI_T_ERR_OUT_OF_SESSIONS: "no further session can be created",
    MPI_T_ERR_CVAR_SET_NOT_NOW: "the control variable cannot be set at this time",
    MPI_T_ERR_CVAR_SET_NEVER: "the control variable can never be set by a program",
    MPI_T_ERR_PVAR_NO_WRITE: "the performance variable cannot be written or reset",
    MPI_T_ERR_PVAR_NO_STARTSTOP: "the performance variable is always active and cannot be started or stopped",
    MPI_T_ERR_PVAR_NO_ATOMIC: "the performance variable cannot be read and reset in one step",
}

/// The official name; of a class that the program added, its number.
impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match name(self.number()) {
            Some(name) => f.pad(name),
            None => write!(f, "error class {}", self.number()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_in_the_enum() {
        for (class, name) in all().filter(|(class, _)| *class != MPI_SUCCESS && *class != MPI_ERR_LASTCODE) {
            let kind = ErrorClass::of(class);
            assert!(!matches!(kind, ErrorClass::Added(_)), "{name}");
            assert_eq!(kind.number(), class, "{name}");
            assert_eq!(kind.to_string(), name);
        }
        assert_eq!(ErrorClass::of(1 << 20), ErrorClass::Added(1 << 20));
        assert_eq!(ErrorClass::Added(1 << 20).to_string(), "error class 1048576");
    }

    #[test]
    fn the_table_ascends_so_that_searching_works() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(all().count(), TABLE.len());
    }

    #[test]
    fn every_class_between_success_and_abi_has_a_text() {
        for class in (0..=MPI_ERR_ABI).chain(MPI_T_ERR_CANNOT_INIT..=MPI_T_ERR_PVAR_NO_ATOMIC) {
            assert!(text(class).is_some_and(|text| text.len() > 10), "{class}");
        }
        assert_eq!((name(63), text(-1), name(MPI_ERR_LASTCODE)), (None, None, None));
    }

    #[test]
    fn texts_differ() {
        let mut texts: Vec<_> = TABLE.iter().map(|row| row.2).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), TABLE.len());
    }
}
