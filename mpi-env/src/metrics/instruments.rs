//! The variables and events of objects (MPI-5.0, 15.3.7 and 15.3.8).
//!
//! Not here: their storage (`objects`), the code that changes them (`updates`).

use mpi_t::Verbosity::UserBasic;
use mpi_t::{Counter, Level, SourceDef, WatchedCounter};

mpi_t::instruments! {
    /// The objects of one process.
    pub struct ObjectInstruments: NoObject, verbosity: UserDetail {
        /// Number of communicators that the program created and has not freed, duplicates under way included.
        pub communicators: Level =
            { name: "objects_communicators", class: Level, type: u64, unit: "communicators", category: "objects" }
            { name: "objects_communicators", class: HighWatermark, type: u64, unit: "communicators",
              category: "objects", doc: "Greatest number of communicators that the program had at once." },
        /// Number of groups that the program created and has not freed; the empty group is not counted.
        pub groups: Level =
            { name: "objects_groups", class: Level, type: u64, unit: "groups", category: "objects" },
        /// Number of datatypes that the program created and has not freed.
        pub datatypes: Level =
            { name: "objects_datatypes", class: Level, type: u64, unit: "datatypes", category: "objects" }
            { name: "objects_datatypes", class: HighWatermark, type: u64, unit: "datatypes", category: "objects",
              doc: "Greatest number of datatypes that the program had at once." },
        /// Number of windows that the program created and has not freed.
        pub windows: Level =
            { name: "objects_windows", class: Level, type: u64, unit: "windows", category: "objects" },
        /// Number of reduction operations that the program created and has not freed.
        pub operations: Level =
            { name: "objects_operations", class: Level, type: u64, unit: "operations", category: "objects" },
        /// Number of error handlers of the program to which the program or an object still refers. Updated when one is
        /// created or freed.
        pub errhandlers: Level =
            { name: "objects_errhandlers", class: Level, type: u64, unit: "error handlers", category: "objects" },
        /// Number of sessions that were initialized and not finalized.
        pub sessions: Level =
            { name: "objects_sessions", class: Level, type: u64, unit: "sessions", category: "objects" },
        /// Number of files that the program opened and has not closed.
        pub files: Level =
            { name: "objects_files", class: Level, type: u64, unit: "files", category: "objects" }
            { name: "objects_files", class: HighWatermark, type: u64, unit: "files", category: "objects",
              doc: "Greatest number of files that the program had open at once." },
        /// Number of errors that calls raised, whatever their error handler did. MPI_T calls raise none.
        pub errors: Counter =
            { name: "errors_raised", class: Counter, type: u64, unit: "errors", category: "errors",
              verbosity: UserBasic },
        /// Bytes of memory that the program has from MPI_Alloc_mem and has not freed, by the requested sizes.
        pub alloc_mem: Level =
            { name: "memory_alloc_mem", class: Level, type: u64, unit: "bytes", category: "memory" }
            { name: "memory_alloc_mem", class: HighWatermark, type: u64, unit: "bytes", category: "memory",
              doc: "Greatest number of bytes that the program had from MPI_Alloc_mem at once." },
        /// Bytes of memory_alloc_mem that are shared memory, from which receivers copy messages themselves
        /// (memory_share_alloc_mem), by the requested sizes.
        pub alloc_mem_shared: Level =
            { name: "memory_alloc_mem_shared", class: Level, type: u64, unit: "bytes", category: "memory" }
            { name: "memory_alloc_mem_shared", class: HighWatermark, type: u64, unit: "bytes", category: "memory",
              doc: "Greatest number of bytes of shared memory that the program had from MPI_Alloc_mem at once." },
        /// Number of calls of MPI_Alloc_mem that succeeded.
        pub alloc_mem_calls: Counter =
            { name: "memory_alloc_mem_calls", class: Counter, type: u64, unit: "calls", category: "memory" },
    }
}

mpi_t::instruments! {
    /// One error handler.
    pub struct ErrhandlerInstruments: Errhandler, verbosity: UserAll {
        /// Number of errors that were passed to this error handler, by calls that failed and by MPI_X_call_errhandler.
        pub calls: Counter =
            { name: "errors_handler_calls", class: Counter, type: u64, unit: "errors", category: "errors" },
    }
}

mpi_t::instruments! {
    /// One datatype.
    pub struct DatatypeInstruments: Datatype, verbosity: UserAll {
        /// Number of calls that had this datatype as an argument. For a predefined datatype only calls that begin while
        /// a handle of this variable for it exists are counted.
        pub uses: WatchedCounter =
            { name: "objects_datatype_uses", class: Counter, type: u64, unit: "calls", category: "objects" },
    }
}

/// Objects and errors.
static LIBRARY: SourceDef = SourceDef {
    name: "library",
    description: "Objects that are created and freed, and errors, in the calling thread.",
};

mpi_t::events! {
    /// Events of objects and errors.
    pub struct ObjectEvents: NoObject, from: LIBRARY {
        /// A communicator was created: its handle, the program's rank in it, and its number of processes.
        pub comm_made(comm: u64, rank: u32, size: u32) =
            { name: "objects_comm_made", category: "objects.events", at: MpiRestricted },
        /// A communicator was freed: its handle, which is stale now.
        pub comm_freed(comm: u64) = { name: "objects_comm_freed", category: "objects.events", at: MpiRestricted },
        /// A datatype was created: its handle, and the bytes of its data.
        pub datatype_made(datatype: u64, bytes: u64) =
            { name: "objects_datatype_made", category: "objects.events", at: MpiRestricted },
        /// A datatype was freed: its handle, which is stale now.
        pub datatype_freed(datatype: u64) =
            { name: "objects_datatype_freed", category: "objects.events", at: MpiRestricted },
        /// A call failed, and its error handler is about to be called: the error's class and code, and the handle of
        /// the object with that error handler.
        pub error_raised(error_class: i32, error_code: i32, object: u64) =
            { name: "errors_error_raised", category: "errors.events", at: None, verbosity: UserBasic },
    }
}
