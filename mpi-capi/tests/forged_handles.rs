//! No word that a program passes as a handle can crash the library; each invalid word is an error of the right class.
#![allow(unsafe_code)] // calls the C entry points, as a program would

use std::ffi::{c_int, c_void};
use std::ptr;

use mpi_capi::generated::{coll, comm, datatype, errors, info, p2p, process, tool};
use mpi_core::abi::*;
use mpi_core::{Handle, Kind, Status};

/// Invalid words: null, reserved, forged with each kind, negative.
fn words() -> Vec<usize> {
    let mut words: Vec<usize> = (0..0x300).collect();
    words.extend([4095, 4096, usize::MAX, usize::MAX - 1, 1 << 63, isize::MAX as usize, 0xdead_beef]);
    for bits in 0..=u8::MAX {
        let kind = Kind::from_bits(bits);
        for (index, generation) in [(0, 0), (0, 1), (0, 2), (1, 1), (u32::MAX, 1), (7, u32::MAX)] {
            words.extend(kind.map(|kind| Handle::pack(kind, index, generation).0));
        }
        words.push((bits as usize) << 57 | 1 << 26);
    }
    words
}

fn class_of(code: c_int) -> c_int {
    let mut class = -1;
    // SAFETY: the address of a local variable.
    assert_eq!(unsafe { errors::PMPI_Error_class(code, &mut class) }, MPI_SUCCESS);
    class
}

/// Calls `call` with every word that is not in `valid`; each call must return an error of the class.
fn refuses(class: c_int, valid: &[usize], mut call: impl FnMut(usize) -> c_int) {
    for word in words().into_iter().filter(|word| !valid.contains(word)) {
        assert_eq!(class_of(call(word)), class, "word {word:#x}");
    }
}

#[test]
fn forged_handles_are_errors_of_the_right_class() {
    let (mut number, mut x, mut out) = (0, 0i32, 0usize);
    let buffer = (&raw mut x).cast::<c_void>();
    let datatypes: Vec<usize> = mpi_datatype::predefined::all().map(|(word, _)| word).collect();
    let comms = [MPI_COMM_WORLD, MPI_COMM_SELF];
    let ops: Vec<usize> = (MPI_OP_NULL + 1..0x40).filter(|word| mpi_coll::Op::predefined(*word).is_some()).collect();
    let handlers = [MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN];
    // SAFETY: every pointer is the address of a live local variable or NULL; all other arguments are words, and any
    // word is safe.
    unsafe {
        assert_eq!(process::PMPI_Init(ptr::null_mut(), ptr::null_mut()), MPI_SUCCESS);
        for comm in comms {
            assert_eq!(errors::PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
        }
        refuses(MPI_ERR_COMM, &comms, |word| comm::PMPI_Comm_rank(word, &mut number));
        refuses(MPI_ERR_COMM, &comms, |word| p2p::PMPI_Send(buffer, 1, MPI_INT, 0, 0, word));
        refuses(MPI_ERR_COMM, &comms, |word| coll::PMPI_Barrier(word));
        refuses(MPI_ERR_COMM, &[], |word| comm::PMPI_Comm_free(&mut { word }));
        refuses(MPI_ERR_TYPE, &datatypes, |word| p2p::PMPI_Send(buffer, 1, word, 0, 0, MPI_COMM_SELF));
        refuses(MPI_ERR_TYPE, &datatypes, |word| datatype::PMPI_Type_size(word, &mut number));
        refuses(MPI_ERR_TYPE, &[], |word| datatype::PMPI_Type_free(&mut { word }));
        refuses(MPI_ERR_OP, &ops, |word| {
            coll::PMPI_Allreduce(MPI_IN_PLACE as *const c_void, buffer, 1, MPI_INT, word, MPI_COMM_SELF)
        });
        refuses(MPI_ERR_OP, &[], |word| coll::PMPI_Op_free(&mut { word }));
        refuses(MPI_ERR_REQUEST, &[MPI_REQUEST_NULL], |word| p2p::PMPI_Wait(&mut { word }, ptr::null_mut()));
        refuses(MPI_ERR_REQUEST, &[MPI_REQUEST_NULL], |word| p2p::PMPI_Waitall(1, &mut { word }, ptr::null_mut()));
        refuses(MPI_ERR_REQUEST, &[], |word| p2p::PMPI_Cancel(&mut { word }));
        refuses(MPI_ERR_REQUEST, &[MPI_MESSAGE_NO_PROC], |word| {
            p2p::PMPI_Mrecv(buffer, 1, MPI_INT, &mut { word }, ptr::null_mut::<Status>())
        });
        refuses(MPI_ERR_ERRHANDLER, &handlers, |word| errors::PMPI_Comm_set_errhandler(MPI_COMM_SELF, word));
        refuses(MPI_ERR_ERRHANDLER, &handlers, |word| errors::PMPI_Errhandler_free(&mut { word }));
        refuses(MPI_ERR_INFO, &[MPI_INFO_ENV], |word| info::PMPI_Info_get_nkeys(word, &mut number));
        refuses(MPI_ERR_INFO, &[], |word| info::PMPI_Info_free(&mut { word }));
        tool_handles(buffer, &mut number, &mut out);
        assert_eq!(process::PMPI_Finalize(), MPI_SUCCESS);
    }
}

/// Rules for the handles of the tools interface, which has its own codes.
///
/// # Safety
/// `buffer` has room for an `int`.
unsafe fn tool_handles(buffer: *mut c_void, number: &mut c_int, session: &mut usize) {
    // SAFETY: the caller's promise, and addresses of live variables.
    unsafe {
        assert_eq!(tool::PMPI_T_init_thread(MPI_THREAD_MULTIPLE, number), MPI_SUCCESS);
        assert_eq!(tool::PMPI_T_pvar_session_create(session), MPI_SUCCESS);
        for word in words().into_iter().filter(|word| word != session) {
            let refused = |code: c_int, allowed: &[c_int]| assert!(allowed.contains(&code), "word {word:#x}: {code}");
            let either = [MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_SESSION];
            refused(tool::PMPI_T_pvar_read(*session, word, buffer), &either);
            refused(tool::PMPI_T_pvar_read(word, word, buffer), &either);
            refused(tool::PMPI_T_pvar_readreset(*session, word, buffer), &either);
            refused(tool::PMPI_T_pvar_write(*session, word, buffer), &either);
            refused(tool::PMPI_T_pvar_handle_free(*session, &mut { word }), &either);
            refused(tool::PMPI_T_cvar_read(word, buffer), &either);
            refused(tool::PMPI_T_cvar_handle_free(&mut { word }), &either);
            refused(tool::PMPI_T_pvar_session_free(&mut { word }), &either);
        }
        assert_eq!(tool::PMPI_T_pvar_session_free(session), MPI_SUCCESS);
        assert_eq!(tool::PMPI_T_finalize(), MPI_SUCCESS);
    }
}
