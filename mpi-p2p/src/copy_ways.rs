//! Which processes copy a long message directly, and in what chunks.
//!
//! The sender's part of the decision goes into its offer. The receiver decides: it has the buffer, and the offer.
//! Not here: the copying (`copies`, `shared_copy`), messages that are not copied directly (`transfer`).

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::calibration::CHUNK_MAX;
use mpi_fabric::{Endpoint, RegionKey, Registration, Way};

use crate::cvars::{BY_AUTO, BY_BOTH, BY_RECEIVER, BY_SENDER, EngineSettings};
use crate::region_table;
use crate::registration;
use crate::run_table::RunTable;
use crate::wire::{self, Offer};

/// Shortest message of memory with gaps that is copied directly.
pub(crate) const RUNS_FROM: u64 = 32 << 10;
/// Chunks are a quarter of a message, so that both sides end together, and never tiny.
pub(crate) fn chunk_bytes(bytes: u64) -> u64 {
    (bytes.div_ceil(4)).next_multiple_of(4096).clamp(16 << 10, CHUNK_MAX)
}

/// Which processes copy a long message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// It goes in fragments.
    Never,
    ByReceiver,
    BySender,
    ByBoth,
}

/// How the data of a send, which has gaps, is offered: the flags, the region, and what the request keeps for it.
pub(crate) fn offered_with_gaps(
    endpoint: &Endpoint,
    settings: &EngineSettings,
    dest: u32,
    data: &SendBuf<'_>,
) -> (u8, RegionKey, (Registration, Option<RunTable>)) {
    if let Some((region, registration)) = regions_of(endpoint, settings, dest, data) {
        return (wire::REGIONS, region, (registration, None));
    }
    let (ways, table) = ways_of(endpoint, settings, dest, data);
    let (region, registration) = match &table {
        Some(table) => registration::of_table(endpoint, dest, table.words()),
        None => (RegionKey::NONE, Registration::NONE),
    };
    (ways, region, (registration, table))
}

/// How the data of a send, which has gaps, can be copied: the flags of its offer, and the table of its runs if they are
/// long enough to be read by the receiver.
fn ways_of(endpoint: &Endpoint, settings: &EngineSettings, dest: u32, data: &SendBuf<'_>) -> (u8, Option<RunTable>) {
    let bytes = data.bytes();
    let writes = bytes >= RUNS_FROM
        && data.mean_run() >= settings.copy_runs_from.get()
        && dest != endpoint.rank()
        && endpoint.can_copy_runs(dest);
    match writes {
        false => (0, None),
        true if RunTable::suits(data) => {
            (wire::WRITES | wire::LISTED, Some(RunTable::of(data, bytes, chunk_bytes(bytes))))
        }
        true => (wire::WRITES, None),
    }
}

/// The table of the regions of the data of a send, which has gaps, if the receiver can read it so over a network.
fn regions_of(
    endpoint: &Endpoint,
    settings: &EngineSettings,
    dest: u32,
    data: &SendBuf<'_>,
) -> Option<(RegionKey, Registration)> {
    let reads = endpoint.way(dest) == Way::Network
        && endpoint.can_copy(dest)
        && data.mean_run() >= settings.copy_runs_from.get();
    if reads { region_table::register(endpoint, dest, data) } else { None }
}

/// Which processes copy a message between memory in one piece on both sides; `set`: `p2p_single_copy_by`, `both`: whether both
/// processes do where that is not set.
pub(crate) fn copied_whole(set: i32, has_slot: bool, both: bool) -> Copied {
    match set {
        _ if !has_slot => Copied::ByReceiver,
        BY_SENDER => Copied::BySender,
        BY_BOTH => Copied::ByBoth,
        BY_AUTO if both => Copied::ByBoth,
        _ => Copied::ByReceiver,
    }
}

/// Which processes copy the `wanted` bytes of a message between memory of which one side or both have gaps. The
/// kernel passes over many short runs of the process that calls it, but not of the other one; `least`: shortest mean
/// length of its runs.
/// Where both sides can copy, `set` is `p2p_single_copy_by`.
pub(crate) fn copied_in_runs(
    offer: Offer,
    buffer: &RecvBuf<'_>,
    wanted: u64,
    (can_share, set): (bool, i32),
    least: u64,
) -> Copied {
    let contiguous = buffer.address().is_some();
    let receiver_reads = match offer.is_listed() {
        // The chunks of a sender's table are those of the whole message.
        true => can_share && wanted == offer.bytes,
        false => !offer.region.is_none(),
    } && (contiguous || buffer.mean_run() >= least);
    let sender_writes = can_share
        && (contiguous || RunTable::suits(buffer))
        && (offer.ways & wire::WRITES != 0 || !offer.region.is_none());
    match (receiver_reads, sender_writes) {
        (true, true) if set == BY_SENDER => Copied::BySender,
        (true, true) if set == BY_RECEIVER => Copied::ByReceiver,
        (true, true) => Copied::ByBoth,
        (false, true) if offer.ways & wire::WRITES != 0 => Copied::BySender,
        (true, false) if !offer.is_listed() => Copied::ByReceiver,
        _ => Copied::Never,
    }
}
