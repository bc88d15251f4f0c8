//! Handles as integers: `MPI_Comm_toint`, `MPI_Comm_fromint`, and the older names `MPI_Comm_c2f` and `MPI_Comm_f2c`,
//! for each kind of handle (MPI-5.0, 19.3.4 and 20.4).
//!
//! The calls return no error code, and programs make them at any time. A predefined handle is its constant. An integer
//! that names no live object of its kind gives the null handle; so does a handle that has no integer: one of an object
//! beyond the slots that an integer can name, or a word that is not a handle.
//! Not here: the integer of a handle (`mpi_core::Handle`), the tables (`mpi-env`).

use core::ffi::c_int;

use mpi_core::{Handle, Kind, abi};
use mpi_env::infos;

fn to_int(word: usize, null: usize) -> c_int {
    Handle(word).to_fortran().unwrap_or(null as c_int)
}

fn from_int(kind: Kind, word: c_int, null: usize) -> usize {
    if let Ok(predefined) = usize::try_from(word) {
        let is_one = Handle(predefined).predefined().is_some_and(|(found, _)| found == kind);
        return if is_one { predefined } else { null };
    }
    let found = match kind {
        // They exist without the process, too.
        Kind::Info => infos::of_int(word),
        _ => mpi_env::joined().and_then(|process| process.handle_of_int(&process.engine.lock(), kind, word)),
    };
    found.map_or(null, |handle| handle.0)
}

macro_rules! forms {
    ($($to:ident, $from:ident: $kind:ident, $null:ident;)*) => {$(
        #[doc = concat!("The integer of a handle; that of `", stringify!($null), "` for a word that has none.")]
        pub fn $to(word: usize) -> c_int {
            to_int(word, abi::$null)
        }

        #[doc = concat!("The handle that an integer names; `", stringify!($null), "` if there is none.")]
        pub fn $from(word: c_int) -> usize {
            from_int(Kind::$kind, word, abi::$null)
        }
    )*};
}

forms! {
    comm_toint, comm_fromint: Comm, MPI_COMM_NULL;
    type_toint, type_fromint: Datatype, MPI_DATATYPE_NULL;
    errhandler_toint, errhandler_fromint: Errhandler, MPI_ERRHANDLER_NULL;
    file_toint, file_fromint: File, MPI_FILE_NULL;
    group_toint, group_fromint: Group, MPI_GROUP_NULL;
    info_toint, info_fromint: Info, MPI_INFO_NULL;
    message_toint, message_fromint: Message, MPI_MESSAGE_NULL;
    op_toint, op_fromint: Op, MPI_OP_NULL;
    request_toint, request_fromint: Request, MPI_REQUEST_NULL;
    session_toint, session_fromint: Session, MPI_SESSION_NULL;
    win_toint, win_fromint: Win, MPI_WIN_NULL;
}
