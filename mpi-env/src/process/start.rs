//! Creation of a process record from the process's environment.
//!
//! Invariant: a failure keeps the job and the rank that the process has joined, so that its report can end the job.
//! Not here: the one record of the C interface (`global`), wire-up of the job (`mpi-wireup`).

use std::sync::Arc;

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_OTHER};
use mpi_errors::{Error, ErrorCodes};
use mpi_fabric::{Endpoint, FabricSettings, Job};
use mpi_net::{Meters, NetSettings};
use mpi_wireup::{Joined, Manager, Spawner};

use crate::process::initial_errhandler::{bad_initial_errhandler, initial_errhandler};
use crate::process::network::{self, OverNetwork};
use crate::record::process::Process;
use crate::record::variables;

/// The reason why no process record exists; each call reports it.
pub struct StartFailure {
    class: i32,
    pub(crate) text: String,
    /// The job and the rank in it, if the process had joined a job before the failure.
    pub(crate) job: Option<(Arc<Job>, u32)>,
    /// The connection to a foreign launcher, which stays open until this process ends: some launchers end all processes when it is
    /// closed, before the failure is reported.
    _manager: Option<Arc<Manager>>,
}

impl From<Error> for StartFailure {
    fn from(error: Error) -> StartFailure {
        StartFailure { class: error.class(), text: error.to_string(), job: None, _manager: None }
    }
}

impl StartFailure {
    pub(crate) fn in_job(error: Error, job: Arc<Job>, rank: u32) -> StartFailure {
        StartFailure { job: Some((job, rank)), ..StartFailure::from(error) }
    }

    pub(super) fn error(&self) -> Error {
        Error::new(self.class, self.text.clone())
    }
}

/// The failure of a process that has joined a job and cannot be connected: its report ends the job, if the memory can be used.
fn in_job_of(joined: &Joined, settings: &'static FabricSettings, error: Error) -> StartFailure {
    let failure = match Endpoint::attach(&joined.attachment, settings) {
        Ok(endpoint) => StartFailure::in_job(error, endpoint.job().clone(), endpoint.rank()),
        Err(_) => error.into(),
    };
    StartFailure { _manager: joined.manager.clone(), ..failure }
}

/// Creates the record of a process from its environment: in the launcher's job if a launcher started the process, else
/// in a job of one process. Under a foreign launcher all processes of the job wait for each other here. Errors:
/// `MPI_ERR_OTHER` if the launcher's environment is not usable, `MPI_ERR_ARG` if file or environment give a variable an
/// invalid value.
pub(super) fn from_environment(codes: Arc<ErrorCodes>) -> std::result::Result<Box<Process>, StartFailure> {
    let settings = FabricSettings::new();
    let (net, meters) = (NetSettings::new(), Meters::default());
    let registry = variables::begin(settings, net)?;
    let joined = mpi_wireup::from_environment(settings.ring_length())
        .map_err(|error| mpi_errors::Error::new(MPI_ERR_OTHER, error.to_string()))?;
    let (endpoint, network) = match &joined {
        Some(joined) => {
            network::attach(joined, settings, net, &meters).map_err(|error| in_job_of(joined, settings, error))?
        }
        None => (Endpoint::alone(settings)?, OverNetwork::default()),
    };
    let (job, rank) = (endpoint.job().clone(), endpoint.rank());
    let made = match bad_initial_errhandler() {
        None => Process::with_registry(endpoint, registry, codes),
        Some(sentence) => Err(mpi_errors::Error::new(MPI_ERR_ARG, sentence)),
    };
    let mut process = made.map_err(|error| StartFailure::in_job(error, job, rank))?;
    meters.count_in(process.net);
    let (source, alone) = network::source(rank, process.size(), net, meters);
    process.engine.set_network_source(&mut process.engine.lock(), source, alone);
    for predefined in [&process.world, &process.comm_self] {
        predefined.errhandler().swap(initial_errhandler());
    }
    if let Some(joined) = joined {
        process.launched = true;
        process.appnum = joined.attachment.appnum as i32;
        process.parent_port = joined.parent;
        process.manager = joined.manager;
        process.on_host = joined.over.map(|over| over.here);
        process.directory = network.directory;
        network.warning.iter().for_each(|sentence| process.warn(sentence));
        if let Some(sentence) = &network.report {
            process.note(sentence);
        }
        if process.manager.is_none() {
            process.spawner = Box::new(Spawner::new(Some(process.job.launcher_pid() as i32)));
        }
    }
    Ok(process)
}
