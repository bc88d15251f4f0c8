//! All that can be set of a process: what every crate declares, in one place, so that `mpiexec` knows names and values
//! before anything starts.
//!
//! Invariant: a process registers the same variables (a test of `mpi-env` compares the names).
//! Not here: performance variables, which only a process has (`mpi-env`).

use mpi_coll::CollSettings;
use mpi_errors::Result;
use mpi_fabric::FabricSettings;
use mpi_p2p::{CommSettings, EngineSettings};
use mpi_t::{Registry, SETTINGS, SETTINGS_READ, Settings};
use mpi_win::WinSettings;

use crate::error_settings::ErrorSettings;
use crate::statistics::StatisticsSettings;
use crate::{settings, wireup};

/// The environment variable that names the initial error handler; `mpiexec --initial-errhandler` sets it.
pub const INITIAL_ERRHANDLER: &str = "FERRUM_INITIAL_ERRHANDLER";

/// Environment variables that parts of the library read beside those of control variables.
pub const RESERVED: &[&str] = &[
    INITIAL_ERRHANDLER,
    wireup::JOB_FD,
    wireup::JOB_ID,
    wireup::RANK,
    wireup::SIZE,
    wireup::APPNUM,
    wireup::INFO_ENV_VARIABLES[0].1,
    wireup::INFO_ENV_VARIABLES[1].1,
    wireup::INFO_ENV_VARIABLES[2].1,
    wireup::INFO_ENV_VARIABLES[3].1,
    wireup::INFO_ENV_VARIABLES[4].1,
    SETTINGS,
    SETTINGS_READ,
    settings::PATIENCE,
    "FERRUM_PMIX_LIBRARY",
];

/// What of it `mpiexec` itself follows.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// How the processes are connected.
    pub fabric: &'static FabricSettings,
    /// What is written at the end.
    pub statistics: &'static StatisticsSettings,
    /// How errors are told.
    pub errors: &'static ErrorSettings,
}

/// Names of the variables that `mpiexec` follows where the ranks cannot, so that they are one for the whole job.
pub fn of_job() -> impl Iterator<Item = &'static str> {
    StatisticsSettings::definitions().into_iter().map(|definition| definition.name).chain(["fabric_ring_bytes"])
}

/// Registers all control variables of a process that is not there: each has the value that it would begin with.
/// # Errors
/// `MPI_ERR_OTHER` when two have one name.
pub fn register(registry: &Registry) -> Result<Known> {
    let (fabric, statistics) = (FabricSettings::new(), StatisticsSettings::new());
    registry.reserve_environment(RESERVED);
    let known = Known { fabric, statistics, errors: ErrorSettings::new() };
    registry.register_settings(known.fabric)?;
    registry.register_settings(EngineSettings::new())?;
    registry.declare_settings::<CommSettings>()?;
    registry.register_settings(CollSettings::new())?;
    registry.register_settings(WinSettings::new())?;
    registry.register_settings(known.errors)?;
    registry.register_settings(known.statistics)?;
    Ok(known)
}
