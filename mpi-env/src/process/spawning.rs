//! Starting processes, and meeting the processes that started this job (MPI-5.0, 11.8).
//!
//! The root of a spawn opens a port, whose name the launcher passes to the new processes. They connect to it in
//! `MPI_Init`, all of them together, while the spawning processes accept.
//!
//! Invariant: a failure at the root is an error in all spawning processes, with the same class; no process of a job
//! that was not started waits.
//! Not here: the launcher's part (`mpi_wireup::Spawner`), the connection (`mpi-dynamic`).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mpi_comm::Exchange;
use mpi_core::Handle;
use mpi_core::abi::{MPI_COMM_NULL, MPI_COMM_WORLD, MPI_ERR_ARG, MPI_ERR_SPAWN};
use mpi_dynamic::Port;
use mpi_errors::{Error, Result};
use mpi_wireup::SpawnedJob;
use mpi_wireup::spawn_request::{MOST_PROCESSES, PARENT_PORT, SpawnProgram, SpawnRequest};

use crate::process::initial_errhandler::check_requested;
use crate::record::process::Process;

const TAG: i32 = 0x7030;
/// How long the root of a spawned job tries to reach the port of those that started it, which wait there.
const PARENT_LIMIT: Duration = Duration::from_secs(60);
/// Name of the communicator with the processes that started this job (MPI-5.0, 7.8).
const PARENT_NAME: &str = "MPI_COMM_PARENT";

/// The outcome of a spawn.
pub struct Spawned {
    /// The intercommunicator with the new processes.
    pub comm: Result<Handle>,
    /// Which of the requested processes were started, in their order, where that is known.
    pub started: Vec<bool>,
}

impl Process {
    /// `MPI_Comm_spawn` and `MPI_Comm_spawn_multiple`: starts processes and connects them with those of `comm`, an
    /// intracommunicator in which the root has this rank. `programs` is called at the root alone. Collective; waits
    /// until the new processes have called `MPI_Init`, with no guard held.
    ///
    /// Errors: in all processes the class of an error of `programs`; `MPI_ERR_SPAWN`: the launcher starts no processes,
    /// a program cannot be started, or the processes have ended without `MPI_Init`, or another launcher has started them
    /// and they have not connected in time; those of a connection.
    pub fn comm_spawn(
        &self,
        comm: Handle,
        root: u32,
        programs: impl FnOnce() -> Result<Vec<SpawnProgram>>,
    ) -> Result<Spawned> {
        let local = self.parent(comm)?;
        let mut started = Vec::new();
        let at_root = (local.rank == root).then(|| self.start_job(programs()?, &mut started));
        let class = match &at_root {
            Some(Err(error)) => error.class(),
            _ => 0,
        };
        let exchange = Exchange::among_all(&self.engine, &local, TAG).starting_at(root as usize);
        let [class, number] = exchange.from_first(|| [class as u64, started.len() as u64])?;
        let mut words: Vec<u64> = started.iter().map(|started| u64::from(*started)).collect();
        words.resize(usize::try_from(number).unwrap_or(0), 0);
        exchange.distribute(&mut words)?;
        let mut started: Vec<bool> = words.iter().map(|word| *word != 0).collect();
        let accept = match at_root {
            Some(Ok(accept)) => Some(accept),
            Some(Err(error)) => return Ok(Spawned { comm: Err(error), started }),
            None if class != 0 => {
                let rule = format!("the root, rank {root}, reports that the processes cannot be started");
                return Ok(Spawned { comm: Err(Error::new(class as i32, rule)), started });
            }
            None => None,
        };
        let (local, mut turns) = (self.parent(comm)?, 0);
        let stream = || {
            let (port, job) = accept.expect("the root has started the job");
            let mut ended = || {
                let rule = "the processes were started, but have ended without calling MPI_Init";
                let ended = self.spawner.has_ended(&job).then(|| Error::new(MPI_ERR_SPAWN, rule));
                let overdue = || job.is_overdue().map(|why| Error::new(MPI_ERR_SPAWN, why));
                ended.or_else(overdue).or_else(|| self.ended_at_times(&local, &mut turns))
            };
            port.accept_unless(&self.engine, None, &mut ended)
        };
        let comm = self.connect_over(comm, root, stream, None);
        if comm.is_err() {
            started.fill(false);
        }
        Ok(Spawned { comm, started })
    }

    /// Starts the processes of a job, which connect to the port.
    fn start_job(&self, programs: Vec<SpawnProgram>, started: &mut Vec<bool>) -> Result<(Port, SpawnedJob)> {
        let failed = |sentence: String| Error::new(MPI_ERR_SPAWN, sentence);
        let number: u64 = programs.iter().map(|program| u64::from(program.processes)).sum();
        if number > MOST_PROCESSES {
            return Err(failed(format!("{number} processes are requested; {MOST_PROCESSES} are the most")));
        }
        programs.iter().try_for_each(check)?;
        // Another launcher chooses the hosts of the new processes, which need not be those of this job.
        let port = Port::open(if self.manager.is_some() { self.widest_reach() } else { self.reach() })?;
        let values = vec![(PARENT_PORT.to_owned(), port.name().to_owned())];
        let request = SpawnRequest { programs, values };
        started.resize(request.processes(), false);
        let job = self.spawner.spawn(&request, self.manager.as_deref()).map_err(|error| failed(error.to_string()))?;
        if !job.result.reason.is_empty() {
            return Err(failed(job.result.reason));
        }
        started.clone_from(&job.result.started);
        Ok((port, job))
    }

    /// Connects with the processes that started this job, if some did. Collective over `MPI_COMM_WORLD`; waits.
    pub(super) fn meet_parent(&self) -> Result<()> {
        let Some(port) = &self.parent_port else { return Ok(()) };
        let limit = Some(Instant::now() + PARENT_LIMIT);
        let world = Handle(MPI_COMM_WORLD);
        // Processes of both jobs may be late, so only reaching the port has a limit.
        let parent = self.connect_over(world, 0, || mpi_dynamic::dial(&self.engine, port, limit), None)?;
        if let Some(comm) = self.comm(&self.engine.lock(), parent) {
            comm.set_name(PARENT_NAME);
        }
        // Relaxed: calls of other threads follow MPI_Init.
        self.parent_comm.store(parent.0, Ordering::Relaxed);
        Ok(())
    }

    /// The intercommunicator with the processes that started this job (`MPI_Comm_get_parent`); `MPI_COMM_NULL` if none
    /// did, or if the program has freed it.
    pub fn comm_parent(&self) -> Handle {
        let parent = Handle(self.parent_comm.load(Ordering::Relaxed));
        let lives = self.comm(&self.engine.lock(), parent).is_some();
        if lives { parent } else { Handle(MPI_COMM_NULL) }
    }
}

/// Checks what the launcher of a program could not tell the caller.
fn check(program: &SpawnProgram) -> Result<()> {
    if program.program.is_empty() {
        return Err(Error::new(MPI_ERR_ARG, "it has to name a program").arg("command", &"empty"));
    }
    let handler = program.info.iter().find(|(key, _)| key == "mpi_initial_errhandler");
    handler.map_or(Ok(()), |(_, value)| check_requested(&value.to_string_lossy()))
}
