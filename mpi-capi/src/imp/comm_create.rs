//! Creation of communicators from communicators, and their hints (MPI-5.0, 7.4.2 and 7.4.4).
//!
//! Invariant: all processes of a call complete its communication before a local step can fail, so no process waits for
//! ever.
//! Not here: agreement on context ids (mpi-comm), attributes (`crate::attributes`).

use mpi_core::{Handle, Info, abi};
use mpi_env::Process;
use mpi_errors::{Error, Result};
use mpi_fabric::layout::MAX_RANKS;

use super::group::group;
use super::info;
use crate::attributes;
use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::Outcome;

/// The hints of a call; none for `MPI_INFO_NULL`.
pub fn hints(word: usize) -> Result<Option<Info>> {
    match word {
        abi::MPI_INFO_NULL => Ok(None),
        _ => info::with("info", word, |info| Some(info.clone())),
    }
}

/// Records the hints of a communicator.
pub fn set_hints(process: &Process, comm: Handle, hints: Option<&Info>) {
    if let Some(hints) = hints {
        process.names_and_hints.get_mut(&mut process.engine.lock()).set_hints(comm.0, hints);
    }
}

/// Creates a duplicate with its parent's attributes.
pub fn duplicate(process: &'static Process, parent: Handle, hints: Option<&Info>, new: Out<usize>) -> Outcome {
    let made = process.comm_dup(parent)?;
    if let Err(raised) = attributes::copy_all(process, parent.0, made.0) {
        // Attributes that were already copied are deleted; the call reports the first error.
        let _ = attributes::delete_all(process, made.0);
        let _ = process.comm_free(made);
        return Err(raised);
    }
    set_hints(process, made, hints);
    new.set(made.0);
    Ok(())
}

/// `MPI_Comm_dup_with_info`
pub fn comm_dup_with_info(cx: CallContext, comm: CommView, info: usize, new: Out<usize>) -> Outcome {
    let hints = hints(info)?;
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    duplicate(process, comm.handle, hints.as_ref(), new)
}

/// `MPI_Comm_idup`
pub fn comm_idup(cx: CallContext, comm: CommView, new: Out<usize>, request: Out<usize>) -> Outcome {
    comm_idup_with_info(cx, comm, abi::MPI_INFO_NULL, new, request)
}

/// `MPI_Comm_idup_with_info`: the attributes are copied at once. If a copy callback fails, the call fails in this
/// process, but the requests of the other processes complete.
pub fn comm_idup_with_info(
    cx: CallContext,
    comm: CommView,
    info: usize,
    new: Out<usize>,
    request: Out<usize>,
) -> Outcome {
    let hints = hints(info)?;
    let process = cx.process;
    drop(cx);
    let (made, started) = process.comm_idup(comm.handle)?;
    if let Err(raised) = attributes::copy_all(process, comm.handle.0, made.0) {
        let _ = attributes::delete_all(process, made.0);
        let _ = process.comm_free(made);
        let _ = process.engine.request_free(&mut process.engine.lock(), started);
        return Err(raised);
    }
    set_hints(process, made, hints.as_ref());
    new.set(made.0);
    request.set(started.0);
    Ok(())
}

/// Bits of a color for the resources of one kind of a host. The number of a host has 13 bits: it is a rank of a job.
const HOST_SHIFT: u32 = 18;

/// The color of the processes of a host that are bound to one of its resources of a kind. Only if more processes than a job has are
/// connected, the number of a host may be larger: then its processes are in no communicator.
fn color_of(host: u32, resource: u32) -> i32 {
    match host < MAX_RANKS {
        true => (host << HOST_SHIFT | resource & ((1 << HOST_SHIFT) - 1)) as i32,
        false => abi::MPI_UNDEFINED,
    }
}

/// `MPI_Comm_create`
pub fn comm_create(cx: CallContext, comm: CommView, of: usize, new: Out<usize>) -> Outcome {
    let of = group(&cx, "group", of)?;
    let process = cx.process;
    drop(cx);
    new.set(process.comm_create(comm.handle, &of)?.0);
    Ok(())
}

/// `MPI_Comm_create_group`
pub fn comm_create_group(cx: CallContext, comm: CommView, of: usize, tag: i32, new: Out<usize>) -> Outcome {
    let of = group(&cx, "group", of)?;
    let process = cx.process;
    drop(cx);
    new.set(process.comm_create_group(comm.handle, &of, tag)?.0);
    Ok(())
}

/// `MPI_Comm_split`
pub fn comm_split(cx: CallContext, comm: CommView, color: i32, key: i32, new: Out<usize>) -> Outcome {
    if color < 0 && color != abi::MPI_UNDEFINED {
        return Err(Error::new(abi::MPI_ERR_ARG, "a color is not negative, or MPI_UNDEFINED")
            .arg("color", &color)
            .into());
    }
    let process = cx.process;
    drop(cx);
    new.set(process.comm_split(comm.handle, color, key)?.0);
    Ok(())
}

/// `MPI_Comm_split_type`: the processes of a host share memory. The kinds of hardware are those that
/// `MPI_Get_hw_resource_info` returns; a process that is not bound to one of the kind gets `MPI_COMM_NULL`.
pub fn comm_split_type(cx: CallContext, comm: CommView, kind: i32, key: i32, info: usize, new: Out<usize>) -> Outcome {
    let hints = hints(info)?;
    let named = |key: &str| hints.as_ref().and_then(|hints| hints.get(key)).map(str::to_owned);
    // Hosts have different colors, and each host has one for each of its resources of a kind.
    let process = cx.process;
    drop(cx);
    let host = process.host_number(comm.handle)?;
    let instance = |resource: String| match resource.as_str() {
        "mpi_shared_memory" => host as i32,
        other => mpi_env::hardware::instance(other).map_or(abi::MPI_UNDEFINED, |instance| color_of(host, instance)),
    };
    let color = match kind {
        abi::MPI_UNDEFINED => abi::MPI_UNDEFINED,
        abi::MPI_COMM_TYPE_SHARED => host as i32,
        abi::MPI_COMM_TYPE_HW_GUIDED => named("mpi_hw_resource_type").map_or(abi::MPI_UNDEFINED, instance),
        abi::MPI_COMM_TYPE_RESOURCE_GUIDED => match (named("mpi_hw_resource_type"), named("mpi_pset_name")) {
            (Some(resource), _) => instance(resource),
            (None, Some(pset)) if pset == "mpi://WORLD" => 0,
            // No process of the other group is in it.
            (None, Some(pset)) if pset == "mpi://SELF" && comm.inter => abi::MPI_UNDEFINED,
            (None, Some(pset)) if pset == "mpi://SELF" => comm.rank as i32,
            _ => abi::MPI_UNDEFINED,
        },
        // `MPI_COMM_TYPE_HW_UNGUIDED` selects the next smaller part of the hardware that processes are bound to. There
        // is none.
        abi::MPI_COMM_TYPE_HW_UNGUIDED => abi::MPI_UNDEFINED,
        other => {
            let rule = "a split type is one of MPI_COMM_TYPE_* or MPI_UNDEFINED";
            return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("split_type", &other).into());
        }
    };
    new.set(process.comm_split(comm.handle, color, key)?.0);
    Ok(())
}

/// `MPI_Comm_set_info`
pub fn comm_set_info(cx: CallContext, comm: CommView, info: usize) -> Outcome {
    let hints = hints(info)?;
    let process = cx.process;
    drop(cx);
    set_hints(process, comm.handle, hints.as_ref());
    Ok(())
}

/// `MPI_Comm_get_info`
pub fn comm_get_info(cx: CallContext, comm: CommView, used: Out<usize>) -> Outcome {
    let known = cx.process.names_and_hints.get(&cx.guard).hints(comm.handle.0);
    used.set(info::insert(known)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_of_the_hosts_of_the_largest_job_have_different_colors() {
        let last = (1 << HOST_SHIFT) - 1;
        let mut colors: Vec<i32> = (0..MAX_RANKS).flat_map(|host| [0, 1, last].map(|it| color_of(host, it))).collect();
        assert!(colors.iter().all(|color| *color >= 0));
        colors.sort_unstable();
        assert!(colors.is_sorted_by(|a, b| a < b));
        assert_eq!(color_of(MAX_RANKS, 0), abi::MPI_UNDEFINED);
    }
}
