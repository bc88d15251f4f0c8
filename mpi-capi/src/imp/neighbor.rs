//! Collective operations of neighbourhoods in all forms (MPI-5.0, 8.6).

use core::ffi::c_void;

use super::coll_forms::{Form, begin, block, operations};
use super::coll_number::Number;
use super::neighbor_args as arguments;
use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::Outcome;

operations! {
    arguments;
    neighbor_allgather [C] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
    ): block neighbor_allgather, ineighbor_allgather, neighbor_allgather_init;
    neighbor_alltoall [C] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
    ): block neighbor_alltoall, ineighbor_alltoall, neighbor_alltoall_init;
    neighbor_allgatherv [C, D] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        displs: *const D,
        recvtype: usize,
    ): block neighbor_allgatherv, ineighbor_allgatherv, neighbor_allgatherv_init;
    neighbor_alltoallv [C, D] (
        sendbuf: *const c_void,
        sendcounts: *const C,
        sdispls: *const D,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        rdispls: *const D,
        recvtype: usize,
    ): block neighbor_alltoallv, ineighbor_alltoallv, neighbor_alltoallv_init;
    neighbor_alltoallw [C, D] (
        sendbuf: *const c_void,
        sendcounts: *const C,
        sdispls: *const D,
        sendtypes: *const usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        rdispls: *const D,
        recvtypes: *const usize,
    ): block neighbor_alltoallw, ineighbor_alltoallw, neighbor_alltoallw_init;
}
