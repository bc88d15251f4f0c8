//! Errors of invalid ranks and handles (MPI-5.0, 9.4).
//!
//! Not here: checks that need no process (`check`).

use mpi_core::{Handle, Kind, abi};
use mpi_env::{Object, Process};
use mpi_errors::{Error, HandlerKind, processes_and_ranks};

/// The error of a rank that the communicator, or the remote group of the intercommunicator, does not have.
#[cold]
pub fn bad_rank((process, comm): (&Process, Handle), size: u32, name: &'static str, rank: i32) -> Error {
    if rank == abi::MPI_ANY_SOURCE {
        let rule = "MPI_ANY_SOURCE is the source of a receive or a probe only";
        return Error::new(abi::MPI_ERR_RANK, rule).arg(name, &"MPI_ANY_SOURCE").hint("Pass the rank of one process.");
    }
    Error::new(abi::MPI_ERR_RANK, ranks_of(process.is_intercomm(comm) == Some(true), size)).arg(name, &rank)
}

/// A text with the ranks of a communicator, or of an intercommunicator's remote group.
pub fn ranks_of(remote: bool, size: u32) -> String {
    let what = if remote { "the remote group of the intercommunicator" } else { "the communicator" };
    format!("{what} has {}", processes_and_ranks(size))
}

/// The error of an intercommunicator where an intracommunicator is needed, or the reverse.
#[cold]
pub fn wrong_comm(name: &'static str, word: usize, intra: bool) -> Error {
    let rule = match intra {
        true => "that is an intercommunicator, and the call takes intracommunicators only",
        false => "that is an intracommunicator, and the call takes intercommunicators only",
    };
    let value = match word {
        abi::MPI_COMM_WORLD => "MPI_COMM_WORLD".to_owned(),
        abi::MPI_COMM_SELF => "MPI_COMM_SELF".to_owned(),
        _ => format!("{word:#x}"),
    };
    let error = Error::new(abi::MPI_ERR_COMM, rule).arg(name, &value);
    match intra {
        true => error.hint("MPI_Intercomm_merge gives an intracommunicator of the processes of both groups."),
        false => error,
    }
}

/// The error of a root that the communicator does not have.
#[cold]
pub fn bad_root(size: u32, name: &'static str, rank: i32) -> Error {
    Error::new(abi::MPI_ERR_ROOT, format!("a root is a rank from 0 to {}", size.saturating_sub(1))).arg(name, &rank)
}

/// The error of a word that is not a communicator.
#[cold]
pub fn bad_comm(name: &'static str, word: usize) -> Error {
    if let Some(predefined) = [(abi::MPI_COMM_WORLD, "MPI_COMM_WORLD"), (abi::MPI_COMM_SELF, "MPI_COMM_SELF")]
        .iter()
        .find_map(|(of, called)| (*of == word).then_some(called))
    {
        let rule = "the predefined communicators can be used between MPI_Init and MPI_Finalize only";
        return Error::new(abi::MPI_ERR_COMM, rule).arg(name, predefined);
    }
    bad_handle(name, word, abi::MPI_ERR_COMM, Kind::Comm, (abi::MPI_COMM_NULL, "MPI_COMM_NULL", "communicator"))
}

/// The error of a word that is not a live object of a kind with error handlers.
#[cold]
pub fn bad_object(name: &'static str, object: Object) -> Error {
    let word = object.handle.0;
    match object.kind {
        HandlerKind::Comm => bad_comm(name, word),
        HandlerKind::Win => {
            bad_handle(name, word, abi::MPI_ERR_WIN, Kind::Win, (abi::MPI_WIN_NULL, "MPI_WIN_NULL", "window"))
        }
        HandlerKind::File => {
            bad_handle(name, word, abi::MPI_ERR_FILE, Kind::File, (abi::MPI_FILE_NULL, "MPI_FILE_NULL", "file"))
        }
        HandlerKind::Session => {
            let null = (abi::MPI_SESSION_NULL, "MPI_SESSION_NULL", "session");
            bad_handle(name, word, abi::MPI_ERR_SESSION, Kind::Session, null)
        }
    }
}

/// The error of a word that is not a datatype.
#[cold]
pub fn bad_type(name: &'static str, word: usize) -> Error {
    bad_handle(name, word, abi::MPI_ERR_TYPE, Kind::Datatype, (abi::MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL", "datatype"))
}

/// The error of a word that is not a reduction operation.
#[cold]
pub fn bad_op(name: &'static str, word: usize) -> Error {
    bad_handle(name, word, abi::MPI_ERR_OP, Kind::Op, (abi::MPI_OP_NULL, "MPI_OP_NULL", "operation"))
}

/// The error of a word that is not an error handler.
#[cold]
pub fn bad_errhandler(name: &'static str, word: usize) -> Error {
    let null = (abi::MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL", "error handler");
    bad_handle(name, word, abi::MPI_ERR_ERRHANDLER, Kind::Errhandler, null)
}

/// Advice for a handle of another kind than the argument.
const WRONG_KIND: &str =
    "Check the order of the arguments, and that the handle was declared with the type of the argument.";

/// The error of a word that is not a live handle of its kind: the null handle, a freed handle, a handle of another
/// kind, or no handle. The texts are the name of the null handle and the noun for the kind.
#[cold]
pub fn bad_handle(
    name: &'static str,
    word: usize,
    class: i32,
    kind: Kind,
    (null, null_name, called): (usize, &str, &str),
) -> Error {
    if word == null {
        return Error::new(class, format!("a handle of a live {called} is needed")).arg(name, &null_name);
    }
    if let Some((found, predefined)) = Handle(word).predefined() {
        let rule = format!("{word:#x} is {predefined}, {}", found.noun_with_article());
        let rule = if found == kind { format!("{rule} that this call does not take") } else { rule };
        return Error::new(class, rule).arg(name, &format_args!("{word:#x}")).hint(WRONG_KIND);
    }
    let why = match Handle(word).kind() {
        Some(found) if found == kind => {
            let history = mpi_env::joined()
                .map_or_else(|| "it was freed".to_owned(), |process| process.freed.describe(Handle(word)));
            format!("no {called} has that handle any more: {history}")
        }
        Some(found) => {
            let rule = format!("that is the handle of {}", found.noun_with_article());
            return Error::new(class, rule).arg(name, &format_args!("{word:#x}")).hint(WRONG_KIND);
        }
        None => format!("no {called} has that handle"),
    };
    Error::new(class, why).arg(name, &format_args!("{word:#x}"))
}
