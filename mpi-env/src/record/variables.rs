//! Registration of all variables that the engine crates declare, in one registry per process.
//!
//! Invariant: the order of registration is fixed, so indices are the same in every process of a job.

use mpi_coll::Collectives;
use mpi_core::abi::MPI_ERR_ARG;
use mpi_errors::{Error, Result};
use mpi_fabric::statistics::StatisticsSettings;
use mpi_fabric::{FabricInstruments, FabricSettings};
use mpi_io::FileInstruments;
use mpi_p2p::{CommInstruments, CommSettings, Engine, PeerInstruments};
use mpi_t::Registry;
use mpi_win::{OneSided, WinInstruments};
use mpi_wireup::RESERVED;

use crate::record::error_settings::ErrorSettings;
use crate::tables::infos;

/// The descriptions of the categories.
const CATEGORIES: &[(&str, &str)] = &[
    ("p2p", "Point-to-point messages: queues, traffic, protocols, waiting."),
    (
        "p2p.unexpected",
        "Messages that arrived before a receive was posted. Long queues cost memory and copies: post receives \
         earlier, or slow the sender down.",
    ),
    ("p2p.matching", "What it takes to find the receive of a message, and the message of a receive."),
    ("p2p.peers", "Messages and bytes of the program by process of the communicator."),
    ("p2p.requests", "Operations that have been started and not completed."),
    ("process", "What the process is doing."),
    ("p2p.posted", "Receives that wait for their message."),
    ("p2p.traffic", "Messages and bytes of the program, each way."),
    ("p2p.protocol", "Which way messages go: whole at once, or offered first and copied once."),
    ("p2p.events", "Messages as they come, are matched and complete; waits."),
    ("p2p.waiting", "What blocking calls do until their message comes: poll, yield, sleep."),
    ("fabric", "Moving records between processes over shared memory."),
    ("fabric.queues", "The queues of records between processes."),
    ("fabric.recorder", "The flight recorder: the last calls of a process, for those who look at it from outside."),
    ("fabric.waiting", "What waiting costs: yields, sleeps, wake-ups."),
    ("stats", "What is written about the job when it ends."),
    ("coll", "Collective operations."),
    ("coll.ops", "Reduction operations: how often each is used, and on how much data."),
    ("coll.calls", "How often each collective operation was called."),
    ("objects", "Communicators, groups, datatypes and other objects: how many there are, how they are used."),
    ("objects.events", "Objects that come and go."),
    ("errors", "Errors that calls raise, who is given them, and how they are told."),
    ("errors.events", "Errors as they are raised."),
    ("memory", "Memory that the program or the library has."),
    ("file", "Files that processes open together."),
    ("file.traffic", "What is read from and written to each file, and how long that takes."),
    ("coll.time", "Time spent in each collective operation, taken while somebody watches."),
    ("coll.algorithms", "Which algorithms collective calls choose, told while somebody watches."),
    ("coll.events", "Collective calls as they begin and end, with the algorithm chosen."),
    ("coll.data", "Bytes that the program gave to each collective operation."),
    ("win", "One-sided communication."),
    ("win.traffic", "Operations that this process starts on a window, and their bytes."),
    ("win.protocol", "How operations reach their target: directly, or as messages that it carries out."),
];

/// Creates a registry with the variables that the process needs before it joins the job. Invalid values become an error
/// only in [`complete`], when the report can end the job.
pub(crate) fn begin(fabric: &'static FabricSettings) -> Result<Registry> {
    let registry = Registry::from_surroundings();
    registry.describe_categories(CATEGORIES);
    registry.register_settings(fabric)?;
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
    told: (&'static ErrorSettings, &'static StatisticsSettings),
) -> Result<Registry> {
    registry.reserve_environment(RESERVED);
    registry.declare::<CommInstruments>()?;
    registry.declare::<PeerInstruments>()?;
    registry.bind_rows(0, engine.sizes())?;
    registry.register(fabric)?;
    registry.register(engine.instruments())?;
    registry.register_events(engine.events().0)?;
    registry.register_events(engine.events().1)?;
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
    registry.register_settings(told.0)?;
    registry.register_settings(told.1)?;
    let mut wrong = registry.startup_errors_with_source();
    if wrong.is_empty() {
        return Ok(registry);
    }
    wrong.extend(registry.misspelt_in_file());
    wrong.sort_by_key(|(source, _)| *source);
    let wrong: Vec<_> = wrong.into_iter().map(|(_, sentence)| sentence).collect();
    Err(Error::new(MPI_ERR_ARG, wrong.join("; ")))
}
