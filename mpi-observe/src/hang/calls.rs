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
