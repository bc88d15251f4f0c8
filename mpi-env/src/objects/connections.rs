//! Connections with other jobs by handle: ports, `MPI_Comm_accept`, `MPI_Comm_connect`, `MPI_Comm_join` (MPI-5.0, 11.8),
//! published names (11.9.4).
//!
//! Invariant: a port is open from when the program gets its name until it closes the port, or the process ends.
//! Not here: ports themselves, the handshake, how a name is published and found (`mpi-dynamic`).

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use mpi_comm::{Comm, CommSpec, Connection, RemoteSpec};
use mpi_core::Handle;
use mpi_core::abi::{MPI_ERR_PORT, MPI_ERR_PROC_ABORTED};
use mpi_dynamic::{Port, Reach, connect_over, dial, join_over};
use mpi_errors::{Error, Result};

use crate::record::process::Process;

/// Turns of a wait for a connection, of a millisecond each, between two checks of whether the processes that wait still run.
const CHECKS: u32 = 100;

/// A port as a call names it at its root.
#[derive(Debug)]
pub struct PortToUse {
    /// Its name.
    pub name: String,
    /// The deadline of the call, if it has one.
    pub deadline: Option<Instant>,
}

impl Process {
    /// `MPI_Open_port`: the name of a new port. Errors: `MPI_ERR_OTHER`.
    pub fn open_port(&self) -> Result<String> {
        let port = Port::open(self.widest_reach())?;
        let name = port.name().to_owned();
        self.ports.lock().insert(name.clone(), Arc::new(port));
        Ok(name)
    }

    /// Who is to reach this process for certain: other hosts too if its job has several, or was spawned by one that has.
    pub(crate) fn reach(&self) -> Reach {
        let of_parent = self.parent_port.as_deref().map_or(Reach::Host, mpi_dynamic::reach_of);
        if self.directory.is_some() { Reach::Hosts } else { of_parent }
    }

    /// As [`Self::reach`], and other hosts where this one has a network, unless the program's settings exclude them.
    pub(crate) fn widest_reach(&self) -> Reach {
        match self.reach() {
            Reach::Host if self.port_settings.on_network.get() => Reach::Any,
            reach => reach,
        }
    }

    /// `MPI_Close_port`. Errors: `MPI_ERR_PORT` for a name that this process has not open.
    pub fn close_port(&self, name: &str) -> Result<()> {
        let port = self.ports.lock().remove(name).ok_or_else(|| not_open(name))?;
        port.close();
        Ok(())
    }

    /// `MPI_Publish_name`. Waits for other processes, with no guard held. Errors: `MPI_ERR_SERVICE` when a process has published
    /// the service; `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn publish_name(&self, service: &[u8], port: &[u8]) -> Result<()> {
        self.published.publish(service, port, self.names_folder().as_deref())
    }

    /// `MPI_Unpublish_name`. Errors: `MPI_ERR_SERVICE` for what this process has not published with the port;
    /// `MPI_ERR_OTHER`.
    pub fn unpublish_name(&self, service: &[u8], port: &[u8]) -> Result<()> {
        self.published.unpublish(service, port)
    }

    /// `MPI_Lookup_name`: the port of a service. Reads the state of other processes, with no guard held. Errors: `MPI_ERR_NAME`
    /// when no process has published it; `MPI_ERR_OTHER`.
    pub fn look_up_name(&self, service: &[u8]) -> Result<Vec<u8>> {
        mpi_dynamic::look_up(service, self.names_folder().as_deref())
    }

    /// The folder of names that several hosts share, if there is one.
    fn names_folder(&self) -> Option<PathBuf> {
        Some(self.port_settings.names_folder.get()).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// `MPI_Comm_accept`: an intercommunicator of `comm` and the next group that connects to the port, which `place`
    /// returns at the root. Collective over `comm`; waits, with no guard held. Errors: `MPI_ERR_PORT`, also after the time
    /// limit; `MPI_ERR_PROC_ABORTED` when a process of `comm` has ended; and as [`Process::connect_over`].
    pub fn comm_accept(&self, comm: Handle, root: u32, place: impl FnOnce() -> Result<PortToUse>) -> Result<Handle> {
        self.connect_by(comm, root, place, |PortToUse { name, deadline }| {
            let port = self.ports.lock().get(name).cloned().ok_or_else(|| not_open(name))?;
            let (local, mut turns) = (self.parent(comm)?, 0u32);
            port.accept_unless(&self.engine, *deadline, || self.ended_at_times(&local, &mut turns))
        })
    }

    /// The error of a call of a communicator's processes of which one has ended, in some of the turns of a wait.
    pub(crate) fn ended_at_times(&self, comm: &Comm, turns: &mut u32) -> Option<Error> {
        *turns = turns.wrapping_add(1);
        turns.is_multiple_of(CHECKS).then(|| self.ended_of(comm)).flatten()
    }

    /// The error of a call of a communicator's processes of which one has ended.
    fn ended_of(&self, comm: &Comm) -> Option<Error> {
        let guard = self.engine.lock();
        let mut members = (0u32..).zip(comm.group().world_ranks().iter());
        let (rank, _) = members.find(|(_, member)| !self.engine.is_alive(&guard, **member))?;
        let rule = format!("the process with rank {rank} of the communicator has ended");
        Some(Error::new(MPI_ERR_PROC_ABORTED, rule))
    }

    /// `MPI_Comm_connect`: an intercommunicator of `comm` and the group that accepts at the port, which `place` returns at
    /// the root. Collective over `comm`; waits, with no guard held. Errors: `MPI_ERR_PORT`, also after the time limit, and
    /// as [`Process::connect_over`].
    pub fn comm_connect(&self, comm: Handle, root: u32, place: impl FnOnce() -> Result<PortToUse>) -> Result<Handle> {
        self.connect_by(comm, root, place, |PortToUse { name, deadline }| dial(&self.engine, name, *deadline))
    }

    /// An intercommunicator of `comm` and the group at the other end of what `open` opens at the root.
    fn connect_by(
        &self,
        comm: Handle,
        root: u32,
        place: impl FnOnce() -> Result<PortToUse>,
        open: impl FnOnce(&PortToUse) -> Result<OwnedFd>,
    ) -> Result<Handle> {
        let is_root = self.parent(comm)?.rank() == root;
        let place = is_root.then(place).transpose();
        let deadline = place.as_ref().ok().and_then(|place| place.as_ref()?.deadline);
        let stream = || match place? {
            Some(place) => open(&place),
            None => unreachable!("only the root has a stream"),
        };
        self.connect_over(comm, root, stream, deadline)
    }

    /// An intercommunicator of `comm` and the group of the process at the other end of the root's stream, which `stream`
    /// returns at the root; its error is one in all processes. Collective over both groups; waits, with no guard held.
    /// Errors: those of [`mpi_dynamic::connect_over`], `MPI_ERR_COMM`, `MPI_ERR_NO_MEM`.
    pub fn connect_over(
        &self,
        comm: Handle,
        root: u32,
        stream: impl FnOnce() -> Result<OwnedFd>,
        deadline: Option<Instant>,
    ) -> Result<Handle> {
        let local = self.parent(comm)?;
        let stream = (local.rank() == root).then(stream);
        let made = connect_over(&self.engine, &local, root, stream, deadline, &self.context_ids)?;
        self.connected_with(&local, made, local.errhandler().get())
    }

    /// `MPI_Comm_join`: an intercommunicator of this process and the one at the other end of a socket. Waits, with no
    /// guard held. Errors: `MPI_ERR_ARG` for what is no connected stream socket, and as [`Process::connect_over`].
    pub fn comm_join(&self, socket: i32) -> Result<Handle> {
        // Sessions have no handle of it, but the process alone is its group for them too.
        let local = &self.comm_self;
        let made = join_over(&self.engine, local, socket, &self.context_ids)?;
        self.connected_with(local, made, local.errhandler().get())
    }

    /// The intercommunicator of a local communicator's processes and a group that they are connected with.
    pub(crate) fn connected_with(&self, local: &Comm, made: Connection, errhandler: Handle) -> Result<Handle> {
        let Connection { context, remote } = made;
        let (group, rank, name) = (local.group().clone(), local.rank, String::new());
        let remote = Some(RemoteSpec { group: remote, internal_meters: self.internal_meters(group.size()) });
        let guard = &mut self.engine.lock();
        self.adopt(guard, CommSpec { context, group, remote, rank, name, errhandler, topology: None })
    }
}

#[cold]
fn not_open(name: &str) -> Error {
    Error::new(MPI_ERR_PORT, "this process has no open port with that name").arg("port_name", &format_args!("{name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::Endpoint;
    use mpi_t::Value;

    #[test]
    fn ports_stay_on_the_host_where_the_variable_says_so() {
        let endpoint = Endpoint::world_of_one().expect("memory");
        let process = Process::new(endpoint).expect("variables have different names");
        let registry = &process.registry;
        registry.init_thread().expect("address space");
        let index = registry.cvar_get_index("net_ports").expect("a variable");
        let (handle, _) = registry.cvar_handle_alloc(index, None).expect("no object");
        let reach = || mpi_dynamic::reach_of(&process.open_port().expect("a socket"));
        registry.cvar_write(handle, &Value::I32(0)).expect("it can be written");
        assert_eq!(reach(), Reach::Host);
        registry.cvar_write(handle, &Value::I32(1)).expect("it can be written");
        let has_network = mpi_fabric::host::addresses().iter().any(mpi_fabric::host::is_far);
        assert_eq!(reach(), if has_network { Reach::Hosts } else { Reach::Host });
    }
}
