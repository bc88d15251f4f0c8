//! Registration of all variables that the engine crates declare, in one registry per process.
//!
//! Invariant: the order of registration is fixed, so indices are the same in every process of a job.

use mpi_coll::Collectives;
use mpi_core::abi::MPI_ERR_ARG;
use mpi_errors::{Error, Result};
use mpi_fabric::statistics::StatisticsSettings;
use mpi_fabric::{FabricInstruments, FabricSettings};
use mpi_io::FileInstruments;
use mpi_net::NetSettings;
use mpi_p2p::{CommInstruments, CommSettings, Engine, PeerInstruments};
use mpi_t::Registry;
use mpi_win::{OneSided, WinInstruments};
use mpi_wireup::RESERVED;

use crate::record::error_settings::ErrorSettings;
use crate::record::memory_settings::MemorySettings;
use crate::record::port_settings::PortSettings;
use crate::tables::infos;

/// The descriptions of the categories.
const CATEGORIES: &[(&str, &str)] = &[
    ("p2p", "Point-to-point messages: queues, traffic, protocols, waiting."),
    (
        "p2p.unexpected",
        "Messages that arrived before a receive was posted. Long queues cost memory and copies: post receives \
         earlier, or slow the sender down.",
    ),
    ("p2p.matching", "Searches that match messages with receives."),
    ("p2p.peers", "Messages and bytes of the program for each process of the communicator."),
    ("p2p.requests", "Operations that have been started and not completed."),
    ("p2p.partitioned", "Partitioned sends and receives: partitions that are ready, that wait, and that arrive."),
    ("process", "What the process is doing."),
    ("p2p.posted", "Receives that wait for their message."),
    ("p2p.traffic", "Messages and bytes that the program sends and receives."),
    (
        "p2p.protocol",
        "Protocols: messages that are sent whole (eager), and messages that are offered first (rendezvous).",
    ),
    ("p2p.events", "Events of messages that arrive, are matched and complete; events of waits."),
    ("p2p.waiting", "Waiting of blocking calls: polls, yields, sleeps."),
    ("fabric", "Moving records between processes over shared memory."),
    ("fabric.queues", "The rings of records between processes."),
    ("fabric.recorder", "The flight recorder: the last calls of a process, readable by other processes."),
    ("fabric.waiting", "Waiting in the fabric: yields, sleeps, wake-ups."),
    ("net", "The network between processes that share no memory."),
    ("stats", "Statistics that are written when the job ends."),
    ("coll", "Collective operations."),
    ("coll.ops", "Reduction operations: number of uses and bytes of data."),
    ("coll.calls", "Number of calls of each collective operation."),
    ("objects", "Communicators, groups, datatypes and other objects: their number and uses."),
    ("objects.events", "Events of objects that are created and freed."),
    ("topo", "Topologies: grids and graphs of processes, their neighbours, and changed orders."),
    ("topo.events", "Events of communicators that are created with a topology."),
    ("errors", "Errors that calls raise, their error handlers, and their reports."),
    ("errors.events", "Events of errors."),
    ("memory", "Memory that the program or the library has allocated."),
    ("file", "Files that processes open together."),
    ("file.traffic", "Bytes read from and written to each file, and the time for it."),
    ("coll.time", "Time spent in each collective operation, measured while a handle exists."),
    ("coll.algorithms", "Algorithms that collective calls choose, counted while a handle exists."),
    ("coll.events", "Events of collective calls that begin and end, with the algorithm chosen."),
    ("coll.data", "Bytes that the program passed to each collective operation."),
    ("win", "One-sided communication."),
    ("win.traffic", "Operations that this process starts on a window, and their bytes."),
    ("win.protocol", "Paths of operations to their target: directly, or as messages that the target applies."),
];

/// Creates a registry with the variables that the process needs before it joins the job. Invalid values become an error
/// only in [`complete`], when the report can end the job.
pub(crate) fn begin(fabric: &'static FabricSettings, net: &'static NetSettings) -> Result<Registry> {
    let registry = Registry::from_surroundings();
    registry.describe_categories(CATEGORIES);
    registry.register_settings(fabric)?;
    registry.register_settings(net)?;
    Ok(registry)
}

/// Adds all other variables of a process over this engine to the registry.
///
/// Errors: `MPI_ERR_ARG` if file or environment give a control variable an invalid value.
pub(crate) fn complete(
    registry: Registry,
    fabric: &'static FabricInstruments,
    engine: &Engine,
    coll: &Collectives,
    one_sided: &OneSided,
    settings: (&'static ErrorSettings, &'static StatisticsSettings, &'static MemorySettings, &'static PortSettings),
) -> Result<Registry> {
    registry.reserve_environment(RESERVED);
    registry.declare::<CommInstruments>()?;
    registry.declare::<PeerInstruments>()?;
    registry.bind_rows(0, engine.sizes())?;
    registry.register(fabric)?;
    registry.register(engine.instruments())?;
    registry.register_events(engine.events().0)?;
    registry.register_events(engine.events().1)?;
    registry.register(engine.calibration())?;
    registry.register(engine.partition_metrics().0)?;
    registry.register_events(engine.partition_metrics().1)?;
    registry.register(coll.instruments())?;
    registry.register(coll.last_algorithms())?;
    registry.bind_rows(0, coll.algorithm_calls())?;
    registry.register_events(coll.events())?;
    registry.register(mpi_t::handle_instruments())?;
    registry.register(registry.instruments())?;
    registry.register(infos::instruments())?;
    registry.declare::<FileInstruments>()?;
    registry.declare::<WinInstruments>()?;
    registry.register_settings(engine.settings())?;
    registry.declare_settings::<CommSettings>()?;
    let busy = coll.refuse_while_under_way();
    registry.register_settings_with(coll.settings(), move |_, _| busy())?;
    registry.register_settings(one_sided.settings())?;
    registry.register_settings(settings.0)?;
    registry.register_settings(settings.1)?;
    registry.register_settings(settings.2)?;
    registry.register_settings(settings.3)?;
    let mut wrong = registry.startup_errors_with_source();
    if wrong.is_empty() {
        return Ok(registry);
    }
    wrong.extend(registry.misspelt_in_file());
    wrong.sort_by_key(|(source, _)| *source);
    let wrong: Vec<_> = wrong.into_iter().map(|(_, sentence)| sentence).collect();
    Err(Error::new(MPI_ERR_ARG, wrong.join("; ")))
}
