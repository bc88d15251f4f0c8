//! Errors of refused handles, sessions and other words, with reasons, made without memory.
//!
//! Invariant: all of this is async-signal-safe. Not here: the checks (`access`, `pool`, `registry`).

use mpi_core::handle::Kind;
use mpi_core::{Handle, abi};

use crate::TError;

/// A word that is no live session.
#[cold]
pub(crate) fn session(word: usize) -> TError {
    let error = TError::INVALID_SESSION;
    match word {
        abi::MPI_T_PVAR_SESSION_NULL => {
            error.argument("session", "MPI_T_PVAR_SESSION_NULL", "a live session is needed")
        }
        _ if Handle(word).kind() == Some(Kind::PvarSession) => {
            error.argument("session", Handle(word), "no session has that handle any more: it was freed")
        }
        _ => error.argument("session", Handle(word), "that is not a handle of a session"),
    }
}

/// A word that is no live handle of a session that is live.
#[cold]
pub(crate) fn pvar_handle(word: usize) -> TError {
    let error = TError::INVALID_HANDLE;
    match word {
        abi::MPI_T_PVAR_HANDLE_NULL => error.argument("handle", "MPI_T_PVAR_HANDLE_NULL", "a live handle is needed"),
        abi::MPI_T_PVAR_ALL_HANDLES => {
            error.argument("handle", "MPI_T_PVAR_ALL_HANDLES", "this call is for one handle at a time")
        }
        _ if Handle(word).kind() == Some(Kind::Pvar) => {
            let rule = "this session has no such handle: it was freed, or allocated in another session";
            error.argument("handle", Handle(word), rule)
        }
        _ => error.argument("handle", Handle(word), "that is not a handle of a performance variable"),
    }
}

/// A handle whose object was freed.
#[cold]
pub(crate) fn object_freed(word: usize) -> TError {
    TError::INVALID_HANDLE.argument("handle", Handle(word), "the object that it is bound to was freed")
}

/// A word that is no live handle of a kind other than those above.
#[cold]
pub(crate) fn other(argument: &'static str, word: Handle, kind: Kind, stale: &'static str) -> TError {
    let (null, null_name, not_one) = match kind {
        Kind::Cvar => {
            (abi::MPI_T_CVAR_HANDLE_NULL, "MPI_T_CVAR_HANDLE_NULL", "that is not a handle of a control variable")
        }
        Kind::Enum => (abi::MPI_T_ENUM_NULL, "MPI_T_ENUM_NULL", "that is not a handle of an enumeration"),
        Kind::EventInstance => (0, "0x0", "that is not a handle of an event instance"),
        _ => (0, "0x0", "that is not a handle of an event registration"),
    };
    let error = TError::INVALID_HANDLE;
    match word {
        Handle(word) if word == null => error.argument(argument, null_name, "a live handle is needed"),
        _ if word.kind() == Some(kind) => error.argument(argument, word, stale),
        _ => error.argument(argument, word, not_one),
    }
}
