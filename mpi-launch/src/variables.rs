//! The control variables of a job's processes, which `mpiexec` checks and uses before it starts a process.
//!
//! Invariant: a value that a process of this release would refuse is refused here with the same sentence.
//! Not here: the descriptions (`catalog`), the sources of the values (`mpiexec`).

use mpi_errors::Result;
use mpi_fabric::FabricSettings;
use mpi_fabric::statistics::StatisticsSettings;
use mpi_t::{Registry, Settings, Value};

use crate::generated::CATALOG;

/// The variables that `mpiexec` itself uses.
#[derive(Debug, Clone, Copy)]
pub struct Followed {
    /// Settings of the fabric.
    pub fabric: &'static FabricSettings,
    /// Settings of the statistics at the end.
    pub statistics: &'static StatisticsSettings,
    /// Whether failures are reported as JSON.
    pub json: bool,
}

/// Names of the variables that `mpiexec` uses where the ranks cannot, so that they are one for the whole job.
pub fn of_job() -> impl Iterator<Item = &'static str> {
    StatisticsSettings::definitions().into_iter().map(|definition| definition.name).chain(["fabric_ring_bytes"])
}

/// Registers all control variables of a process; each has its initial value, or the one from outside.
/// # Errors
/// `MPI_ERR_OTHER` when two have one name.
pub fn register(registry: &Registry) -> Result<Followed> {
    let (fabric, statistics) = (FabricSettings::new(), StatisticsSettings::new());
    registry.reserve_environment(mpi_wireup::RESERVED);
    registry.register_settings(fabric)?;
    registry.register_settings(statistics)?;
    let here = [FabricSettings::definitions(), StatisticsSettings::definitions()].concat();
    let others = CATALOG.cvars.iter().filter(|row| here.iter().all(|own| own.name != row.definition.name));
    registry.register_definitions(others.map(|row| (row.definition, row.value())))?;
    let json = registry.cvar_value("error_format") == Some(Value::I32(1));
    Ok(Followed { fabric, statistics, json })
}
