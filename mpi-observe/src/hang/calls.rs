//! Recorded calls, as far as all parts of the analysis look at them.

use mpi_fabric::recorder::Call;

/// The name of the function, of a large-count form that of the usual one.
pub(super) fn base_name(call: &Call) -> String {
    let name = call.function_name();
    name.strip_suffix("_c").map_or(name.clone(), str::to_owned)
}

/// Whether a call only looks whether something has come.
pub(super) fn looks(call: &Call) -> bool {
    let name = base_name(call);
    call.ended
        && ["MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status"].iter().any(|look| name.starts_with(look))
}

/// Whether a call waits for requests, or tests them.
pub(super) fn completes_requests(function: &str) -> bool {
    ["MPI_Wait", "MPI_Test"].iter().any(|name| function.starts_with(name))
}

/// Collective operations, which are counted for each communicator.
const COUNTED: [&str; 17] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
];

/// Whether the call is counted among the collective operations of its communicator.
pub(super) fn is_counted(name: &str) -> bool {
    COUNTED.contains(&name)
}

/// Whether the function starts a collective operation that is counted, in any form; its blocking name.
pub(super) fn counted_as(call: &Call) -> Option<String> {
    let name = base_name(call);
    if is_counted(&name) {
        return Some(name);
    }
    let rest = name.strip_prefix("MPI_I")?;
    let mut letters = rest.chars();
    let blocking = format!("MPI_{}{}", letters.next()?.to_ascii_uppercase(), letters.as_str());
    is_counted(&blocking).then_some(blocking)
}
