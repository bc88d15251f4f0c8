//! Processes of other jobs: started by this one, connected through ports, found by published names (MPI-5.0, chapter 11).
//!
//! Invariant: a port is closed and a name withdrawn when its value is dropped.
//! Not here: starting and connecting processes (`mpi_env`, `mpi_dynamic`), messages between the groups (`intercomm`).

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::marker::PhantomData;

use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_ARG};
use mpi_core::functions;
use mpi_env::{PortToUse, Process, SpawnProgram};

use crate::call::{Call, CallName};
use crate::{Communicator, Error, Hints, Intercomm, Result, Single, ThreadUse, World};

const SPAWN: CallName = CallName::new("Communicator::spawn", functions::MPI_COMM_SPAWN_MULTIPLE);
const PARENT: CallName = CallName::new("World::parent", functions::MPI_COMM_GET_PARENT);
const ACCEPT: CallName = CallName::new("Communicator::accept", functions::MPI_COMM_ACCEPT);
const CONNECT_TO: CallName = CallName::new("Communicator::connect_to", functions::MPI_COMM_CONNECT);
const DISCONNECT: CallName = CallName::new("Intercomm::disconnect", functions::MPI_COMM_DISCONNECT);
const OPEN: CallName = CallName::new("World::open_port", functions::MPI_OPEN_PORT);
const PUBLISH: CallName = CallName::new("Port::publish", functions::MPI_PUBLISH_NAME);
const LOOK_UP: CallName = CallName::new("World::lookup_name", functions::MPI_LOOKUP_NAME);

/// A program that [`Communicator::spawn`] starts, with its arguments.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let worker = mpi::Program::new("./worker").processes(4).argument("--fast");
/// let workers = world.spawn(0, &[worker])?;
/// workers.process(0).send(&[1.5], 0)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    program: SpawnProgram,
}

impl Program {
    /// One process of a program: a path, or a name that is searched for in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Program {
        let program = program.as_ref().to_owned();
        Program { program: SpawnProgram { processes: 1, program, ..SpawnProgram::default() } }
    }

    /// So many processes.
    pub fn processes(mut self, number: u32) -> Program {
        self.program.processes = number;
        self
    }

    /// One more argument.
    pub fn argument(mut self, argument: impl AsRef<OsStr>) -> Program {
        self.program.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Hints: `wdir`, `path`, `host`, `arch`, `file`, `soft` and `mpi_initial_errhandler`; others have no effect.
    pub fn hints(mut self, hints: &Hints) -> Program {
        let pairs = hints.iter().map(|(key, value)| (key.to_owned(), OsString::from(value)));
        self.program.info.extend(pairs);
        self
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Starts the processes of programs as a job of their own, whose ranks follow the order of the programs, and makes an
    /// intercommunicator of this communicator's processes and the new ones, which get it by [`World::parent`]. All
    /// processes call it; the programs of `root` count. Waits until the new processes have initialized MPI.
    ///
    /// Errors, in all processes: `MPI_ERR_SPAWN` when a program cannot be started, or its processes end without initializing MPI;
    /// `MPI_ERR_ARG` for no programs, or one with no processes; `MPI_ERR_ROOT`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn spawn(&self, root: u32, programs: &[Program]) -> Result<Intercomm<'_, M>> {
        self.call(SPAWN, |call| {
            self.check_root(root)?;
            drop(call.enter(root as i32, 0, 0));
            let programs = || {
                let wrong = programs.is_empty() || programs.iter().any(|program| program.program.processes == 0);
                let rule = "at least one program is needed, and each needs a process";
                let all = programs.iter().map(|program| program.program.clone()).collect();
                if wrong { Err(Error::new(MPI_ERR_ARG, rule)) } else { Ok(all) }
            };
            let spawned = call.process.comm_spawn(self.handle(), root, programs)?;
            Ok(Intercomm { both: self.made(spawned.comm?, "intercommunicator")? })
        })
    }

    /// Waits at a port until another group [connects](Communicator::connect_to) it, and makes an intercommunicator of both. All
    /// processes call it; `root` passes the port, the others `None`.
    ///
    /// Errors, in all processes: `MPI_ERR_PORT` when the root passes none; `MPI_ERR_ROOT`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn accept(&self, root: u32, port: Option<&Port<'_, M>>) -> Result<Intercomm<'_, M>> {
        self.call(ACCEPT, |call| {
            self.check_root(root)?;
            drop(call.enter(root as i32, 0, 0));
            let place = || port.map(|port| without_limit(&port.name)).ok_or_else(no_port);
            let made = call.process.comm_accept(self.handle(), root, place)?;
            Ok(Intercomm { both: self.made(made, "intercommunicator")? })
        })
    }

    /// Connects with the group that [accepts](Communicator::accept) at the port with this name, and makes an
    /// intercommunicator of both. All processes call it, and wait for the other group; the name that `root` passes counts.
    ///
    /// Errors, in all processes: `MPI_ERR_PORT` for a name without an open port; `MPI_ERR_ROOT`, `MPI_ERR_NO_MEM`,
    /// `MPI_ERR_OTHER`.
    pub fn connect_to(&self, root: u32, port_name: &str) -> Result<Intercomm<'_, M>> {
        self.call(CONNECT_TO, |call| {
            self.check_root(root)?;
            drop(call.enter(root as i32, 0, 0));
            let made = call.process.comm_connect(self.handle(), root, || Ok(without_limit(port_name)))?;
            Ok(Intercomm { both: self.made(made, "intercommunicator")? })
        })
    }
}

impl<M: ThreadUse> World<M> {
    /// The intercommunicator with the processes that [spawned](Communicator::spawn) this job; `None` if none did, or once
    /// it was dropped.
    pub fn parent(&self) -> Result<Option<Intercomm<'_, M>>> {
        self.call(PARENT, |call| {
            let parent = call.process.comm_parent();
            let made = (parent.0 != MPI_COMM_NULL).then(|| self.made(parent, "intercommunicator"));
            Ok(made.transpose()?.map(|both| Intercomm { both }))
        })
    }

    /// Opens a port, at which groups of this job accept others. Errors: `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn open_port(&self) -> Result<Port<'_, M>> {
        self.call(OPEN, |call| {
            let name = call.process.open_port()?;
            Ok(Port { process: call.process, name, services: Vec::new(), world: PhantomData })
        })
    }

    /// The name of the port that a process of this user has [published](Port::publish) for a service on this host, or on one with which
    /// it shares the folder of the control variable `net_names_folder`. Errors: `MPI_ERR_NAME` when no process has; `MPI_ERR_OTHER`.
    pub fn lookup_name(&self, service: &str) -> Result<String> {
        self.call(LOOK_UP, |call| {
            let name = call.process.look_up_name(service.as_bytes())?;
            Ok(String::from_utf8_lossy(&name).into_owned())
        })
    }
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// Waits until all messages of this process in it have ended, and frees it: the two groups are independent again,
    /// unless they have another communicator in common. All processes of both groups call it (`MPI_Comm_disconnect`).
    pub fn disconnect(mut self) -> Result<()> {
        let handle = self.handle();
        let process = self.both.process;
        Call::run(process, self.both.comm.context(), DISCONNECT, |call| {
            drop(call.enter(-1, 0, 0));
            process.comm_disconnect(handle)
        })?;
        self.both.frees = false;
        Ok(())
    }
}

/// A place where groups of this job accept others. Dropping it closes it, and withdraws the names that were published for
/// it.
pub struct Port<'w, M: ThreadUse = Single> {
    process: &'static Process,
    name: String,
    services: Vec<String>,
    world: PhantomData<&'w World<M>>,
}

impl<M: ThreadUse> Port<'_, M> {
    /// Its name, by which other groups connect to it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Publishes the port as that of a service: processes of this user find it by [`World::lookup_name`]. Errors:
    /// `MPI_ERR_SERVICE` when a process has published the service; `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn publish(&mut self, service: &str) -> Result<()> {
        Call::run(self.process, 0, PUBLISH, |call| {
            call.process.publish_name(service.as_bytes(), self.name.as_bytes())?;
            self.services.push(service.to_owned());
            Ok(())
        })
    }
}

impl<M: ThreadUse> fmt::Debug for Port<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("name", &self.name).field("services", &self.services).finish()
    }
}

impl<M: ThreadUse> Drop for Port<'_, M> {
    fn drop(&mut self) {
        for service in &self.services {
            // Published by this value alone.
            let _ = self.process.unpublish_name(service.as_bytes(), self.name.as_bytes());
        }
        // Open until here.
        let _ = self.process.close_port(&self.name);
    }
}

/// A port to use without a time limit.
fn without_limit(name: &str) -> PortToUse {
    PortToUse { name: name.to_owned(), deadline: None }
}

fn no_port() -> Error {
    let rule = "this process is the root, which has to pass the port";
    Error::new(mpi_core::abi::MPI_ERR_PORT, rule).arg("port", &"None")
}
