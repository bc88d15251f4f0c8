//! Calls as the flight recorder has them, in words.
//!
//! Not here: the recorder (mpi-fabric), what processes do (`mpiexec`).

use mpi_core::functions;
use mpi_fabric::recorder::{Call, REFUSED};

/// The name of a call's function.
pub fn name(call: &Call) -> String {
    functions::name(call.function).map_or_else(|| format!("function {}", call.function), str::to_owned)
}

/// A call in words. What a function leaves of peer, tag and count depends on what it has.
pub fn describe(call: &Call) -> String {
    let name = name(call);
    let mut text = name.clone();
    if call.peer == REFUSED {
        return text + ", which was refused";
    }
    let has = |part: &str| name.to_ascii_lowercase().contains(part);
    let (receives, sends) = (has("recv") && !has("sendrecv") || has("probe"), has("send"));
    let rooted = !receives && !sends && call.peer >= 0;
    match call.peer {
        peer if receives && peer >= 0 => text += &format!(" from rank {peer}"),
        -1 if receives && !has("mrecv") => text += " from any rank",
        peer if sends && peer >= 0 => text += &format!(" to rank {peer}"),
        peer if rooted => text += &format!(" with root {peer}"),
        _ => {}
    }
    if (receives || sends) && !has("mrecv") {
        text += &if call.tag == mpi_core::abi::MPI_ANY_TAG {
            " with any tag".into()
        } else {
            format!(" with tag {}", call.tag)
        };
    }
    text
}
