//! Intercommunicators (MPI-5.0, 7.6).
//!
//! Invariant: arguments that are significant at the leader are checked by the leader alone, and a wrong one is an error
//! in all processes of the local group.
//! Not here: the handshake of the groups (mpi-comm), duplicates and parts of intercommunicators (`comm_create`).

use core::ffi::c_char;

use mpi_core::{Handle, abi};
use mpi_env::RemoteSide;
use mpi_errors::{Error, HandlerKind, Result, processes_and_ranks};

use super::comm_create::{hints, set_hints};
use super::group::{group, store};
use super::session::{given, string_tag};
use crate::call_context::{CallContext, CommView, LocklessContext};
use crate::check::{self, Out};
use crate::errors::{Outcome, Raised};
use crate::handle_errors::ranks_of;

/// `MPI_Comm_test_inter`
#[inline]
pub fn comm_test_inter(cx: LocklessContext, comm: CommView, flag: Out<i32>) -> Outcome {
    flag.set(i32::from(cx.process.is_intercomm(comm.handle) == Some(true)));
    Ok(())
}

/// `MPI_Comm_remote_size`
pub fn comm_remote_size(_cx: CallContext, comm: CommView, size: Out<i32>) -> Outcome {
    size.set(comm.peers as i32);
    Ok(())
}

/// `MPI_Comm_remote_group`
pub fn comm_remote_group(cx: CallContext, comm: CommView, group: Out<usize>) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let remote = whole.remote().map_or_else(|| whole.group(), |remote| remote.group()).clone();
    store(cx, remote, group)
}

/// The rank of a leader, below `size`. Errors: `MPI_ERR_RANK` with `ranks`, a text of the ranks that there are.
fn leader(name: &'static str, rank: i32, size: u32, ranks: impl FnOnce() -> String) -> Result<u32> {
    match u32::try_from(rank).ok().filter(|rank| *rank < size) {
        Some(rank) => Ok(rank),
        None => Err(Error::new(abi::MPI_ERR_RANK, ranks()).arg(name, &rank)),
    }
}

/// `MPI_Intercomm_create`: the peer communicator and the remote leader are significant at the local leader.
pub fn intercomm_create(
    cx: CallContext,
    local: CommView,
    local_leader: i32,
    peer: usize,
    remote_leader: i32,
    tag: i32,
    new: Out<usize>,
) -> Outcome {
    let local_leader = leader("local_leader", local_leader, local.size, || ranks_of(false, local.size))?;
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    let at_leader = || {
        let mut cx = CallContext::new()?;
        let peer = cx.comm("peer_comm", peer)?;
        let remote = process.is_intercomm(peer.handle) == Some(true);
        let rank = leader("remote_leader", remote_leader, peer.peers, || ranks_of(remote, peer.peers))?;
        Ok((peer.handle, rank, tag))
    };
    new.set(process.intercomm_create(local.handle, local_leader, at_leader)?.0);
    Ok(())
}

/// `MPI_Intercomm_create_from_groups`: the remote group and its leader are significant at the local leader. If the
/// local group is empty, the call is local and there is no communicator; nor is there one if the leader's remote group
/// is empty. A wrong argument that leaves the local group and the string tag usable is an error in all processes of
/// both groups.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn intercomm_create_from_groups(
    cx: CallContext,
    local_group: usize,
    local_leader: i32,
    remote_group: usize,
    remote_leader: i32,
    tag: *const c_char,
    info: usize,
    errhandler: usize,
    new: *mut usize,
) -> Outcome {
    let local = group(&cx, "local_group", local_group);
    let remote = group(&cx, "remote_group", remote_group);
    let process = cx.process;
    drop(cx);
    let handler = given(process, errhandler, HandlerKind::Comm);
    let errhandler = *handler.as_ref().unwrap_or(&Handle(abi::MPI_ERRORS_ARE_FATAL));
    let raised = |error: Error| Raised::to_passed(error, errhandler, HandlerKind::Comm);
    let (bad_handler, handler) = (handler.is_err(), handler.map(|_| ()));
    // Arguments that are not needed to reach the other processes: an error in one of them takes part in the call.
    let (mut hints_found, mut place) = (None, None);
    let make = || {
        let (local, tag) = (local?, string_tag(tag)?);
        let ranks = |size: u32| move || format!("the group has {}", processes_and_ranks(size));
        let others = handler.and_then(|()| {
            hints_found = hints(info)?;
            place = Some(check::out("newintercomm", new)?);
            Ok(())
        });
        if local.size() == 0 {
            return others.map(|()| Handle(abi::MPI_COMM_NULL));
        }
        let local_leader = leader("local_leader", local_leader, local.size(), ranks(local.size()));
        let (local_leader, own) = match (local_leader, others) {
            (Ok(rank), others) => (rank, others),
            (Err(error), others) => (u32::MAX, others.and(Err(error))),
        };
        let at_leader = || {
            let group = remote?;
            // There is no leader of an empty group.
            let leader = match group.size() {
                0 => Ok(0),
                size => leader("remote_leader", remote_leader, size, ranks(size)),
            };
            Ok(RemoteSide { group, leader })
        };
        process.intercomm_create_from_groups(&local, local_leader, own, at_leader, tag.to_bytes(), errhandler)
    };
    let made = match make() {
        Ok(made) => made,
        // A wrong error handler takes no error.
        Err(error) if bad_handler => return Err(error.into()),
        Err(error) => return Err(raised(error)),
    };
    if made.0 != abi::MPI_COMM_NULL {
        set_hints(process, made, hints_found.as_ref());
    }
    if let Some(place) = place {
        place.set(made.0);
    }
    Ok(())
}

/// `MPI_Intercomm_merge`
pub fn intercomm_merge(cx: CallContext, comm: CommView, high: bool, new: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    new.set(process.intercomm_merge(comm.handle, high)?.0);
    Ok(())
}
