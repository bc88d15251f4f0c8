//! Handles of communicators, datatypes and operations, and the functions that create and free such objects.
//!
//! Invariant: the tables hold no predefined objects; a look-up compares the predefined words first.
//! Not here: error handlers (`mpi_errors::Errhandlers`), requests (`mpi-p2p`).

use std::ops::Deref;
use std::sync::Arc;

use mpi_coll::Op;
use mpi_comm::{Comm, CommSpec, agree_on_context, unregister};
use mpi_core::abi::*;
use mpi_core::{Guard, Handle, Table};
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

use crate::record::process::Process;
use crate::tables::freed::Freed;

/// A communicator that stays alive without the guard, for collectives, which release the lock. A predefined
/// communicator is never freed and needs no reference count.
#[derive(Debug, Clone)]
pub enum CommRef<'p> {
    /// `MPI_COMM_WORLD` or `MPI_COMM_SELF`.
    Predefined(&'p Comm),
    /// Any other communicator.
    Own(Arc<Comm>),
}

impl Deref for CommRef<'_> {
    type Target = Comm;

    #[inline]
    fn deref(&self) -> &Comm {
        match self {
            CommRef::Predefined(comm) => comm,
            CommRef::Own(comm) => comm,
        }
    }
}

impl Process {
    /// The communicator that a handle names, usable without the guard; `None` as for [`Process::comm`].
    #[inline]
    pub fn comm_ref(&self, guard: &Guard<'_>, handle: Handle) -> Option<CommRef<'_>> {
        match handle.0 {
            MPI_COMM_WORLD if self.has_world() => Some(CommRef::Predefined(&self.world)),
            MPI_COMM_SELF if self.has_world() => Some(CommRef::Predefined(&self.comm_self)),
            _ => self.comms.get(guard).get(handle).map(|comm| CommRef::Own(comm.clone())),
        }
    }

    /// The communicator that a handle names; `None` for a null, freed, forged or wrong-kind word, and for predefined
    /// communicators outside the world model.
    #[inline]
    pub fn comm<'p>(&'p self, guard: &'p Guard<'_>, handle: Handle) -> Option<&'p Arc<Comm>> {
        match handle.0 {
            MPI_COMM_WORLD if self.has_world() => Some(&self.world),
            MPI_COMM_SELF if self.has_world() => Some(&self.comm_self),
            _ => self.comms.get(guard).get(handle),
        }
    }

    /// As [`Process::comm`], for calls that need its facts alone.
    #[inline(always)] // each branch loads the address that it needs
    pub fn comm_facts<'p>(&'p self, guard: &'p Guard<'_>, handle: Handle) -> Option<&'p Comm> {
        match handle.0 {
            MPI_COMM_WORLD if self.has_world() => Some(&*self.world),
            MPI_COMM_SELF if self.has_world() => Some(&*self.comm_self),
            _ => self.comms.get(guard).get(handle).map(|comm| &**comm),
        }
    }

    /// The handle of the communicator with this context id, for point-to-point messages, for collectives, or for
    /// messages within the local group of an intercommunicator. Searches all communicators.
    pub fn handle_of_context(&self, guard: &Guard<'_>, context: u32) -> Option<Handle> {
        let even = context & !1;
        let predefined = [&self.world, &self.comm_self].into_iter();
        let mut all = predefined.chain(self.comms.get(guard).iter().map(|(_, comm)| comm));
        all.find(|comm| [comm.context(), comm.local().context()].contains(&even)).map(|comm| comm.handle())
    }

    /// `MPI_Comm_dup`. Collective; waits, with no guard held. Errors: `MPI_ERR_COMM`, `MPI_ERR_NO_MEM`, and
    /// `MPI_ERR_OTHER` when no context ids are left.
    pub fn comm_dup(&self, handle: Handle) -> Result<Handle> {
        let parent = self.parent(handle)?;
        let context = agree_on_context(&self.engine, &parent, &self.context_ids)?;
        let guard = &mut self.engine.lock();
        self.adopt(guard, CommSpec::duplicate(&parent, context))
    }

    /// `MPI_Comm_disconnect`: [`Process::comm_free`] once no operation of the communicator is under way here. Waits,
    /// with no guard held. Errors: as there; `MPI_ERR_COMM` also for a duplicate whose request is not complete.
    pub fn comm_disconnect(&self, handle: Handle) -> Result<()> {
        let comm = self.parent(handle)?;
        self.engine.wait_for_operations(self.engine.lock(), comm.context())?;
        // The bridge stays until a later call: a process that has left one is lost for the others, of which some may be in
        // the last collective call on the communicator still.
        self.comm_free(handle)?;
        drop(comm);
        self.engine.record_jobs(&self.engine.lock());
        Ok(())
    }

    /// `MPI_Comm_free`: the handle is stale from here on; operations under way complete. Errors: `MPI_ERR_COMM`, also
    /// for a predefined communicator.
    pub fn comm_free(&self, handle: Handle) -> Result<()> {
        let guard = &mut self.engine.lock();
        if matches!(handle.0, MPI_COMM_WORLD | MPI_COMM_SELF) {
            return Err(Error::new(MPI_ERR_COMM, "a predefined communicator cannot be freed"));
        }
        let comm = self.comms.get_mut(guard).remove(handle).ok_or_else(|| no_comm(handle))?;
        self.facts.clear(handle);
        self.errhandler_cache.remove(handle);
        self.errhandlers.get_mut(guard).detach(comm.errhandler().get());
        self.names_and_hints.get_mut(guard).remove(handle.0);
        self.on_comm_freed(guard, handle, comm.instruments());
        unregister(&self.engine, guard, &comm);
        self.leaving.get_mut(guard).push((comm.context(), comm.instruments()));
        self.retire_left(guard);
        drop(comm);
        self.engine.release_peers(guard);
        Ok(())
    }

    /// Retires the instruments of freed communicators that the engine no longer writes.
    pub(crate) fn retire_left(&self, guard: &mut Guard<'_>) {
        let mut leaving = std::mem::take(self.leaving.get_mut(guard));
        leaving.retain(|(context, instruments)| {
            let in_use = self.engine.check_context(guard, *context).is_ok();
            if !in_use {
                instruments.retire_in_job(&self.memory);
            }
            in_use
        });
        *self.leaving.get_mut(guard) = leaving;
    }

    /// A handle of a datatype that the program constructs or duplicates. Errors: `MPI_ERR_NO_MEM`.
    pub fn type_create(&self, guard: &mut Guard<'_>, datatype: Datatype) -> Result<Handle> {
        let bytes = datatype.size();
        let handle = insert(self.datatypes.get_mut(guard), datatype, "datatypes")?;
        self.on_datatype_created(guard, handle, bytes);
        Ok(handle)
    }

    /// `MPI_Type_commit` of a datatype that is not predefined. Errors: `MPI_ERR_TYPE`.
    pub fn type_commit(&self, guard: &mut Guard<'_>, handle: Handle) -> Result<()> {
        match self.datatypes.get_mut(guard).get_mut(handle) {
            Some(datatype) => {
                datatype.commit();
                Ok(())
            }
            None => Err(Error::new(MPI_ERR_TYPE, "no datatype has that handle")),
        }
    }

    /// Keeps a datatype's handle, which a pending operation passes to a function of the program, until
    /// [`Process::release_type`], also when the program frees the datatype.
    pub fn hold_type(&self, guard: &mut Guard<'_>, handle: Handle) {
        self.held_types.get_mut(guard).entry(handle).or_default().holds += 1;
    }

    /// Ends a hold of a datatype's handle, and the handle if the program has freed the datatype.
    pub fn release_type(&self, guard: &mut Guard<'_>, handle: Handle) {
        let Some(held) = self.held_types.get_mut(guard).get_mut(&handle) else { return };
        held.holds -= 1;
        if held.holds > 0 {
            return;
        }
        let freed = held.freed;
        self.held_types.get_mut(guard).remove(&handle);
        if freed {
            drop(self.datatypes.get_mut(guard).remove(handle));
            self.metrics.counts.datatypes.follow(self.datatypes.get(guard).len() as u64);
        }
    }

    /// `MPI_Type_free`; pending operations complete. Errors: `MPI_ERR_TYPE`.
    pub fn type_free(&self, guard: &mut Guard<'_>, handle: Handle) -> Result<()> {
        if let Some(held) = self.held_types.get_mut(guard).get_mut(&handle) {
            if held.freed {
                return Err(Error::new(MPI_ERR_TYPE, self.freed.describe(handle)).arg("datatype", &handle));
            }
            held.freed = true;
            self.on_datatype_freed(guard, handle);
            self.names_and_hints.get_mut(guard).remove(handle.0);
            return Ok(());
        }
        remove(self.datatypes.get_mut(guard), &self.freed, handle, MPI_ERR_TYPE, "datatype")?;
        self.on_datatype_freed(guard, handle);
        self.names_and_hints.get_mut(guard).remove(handle.0);
        Ok(())
    }

    /// `MPI_Op_create`. Errors: `MPI_ERR_NO_MEM`.
    pub fn op_create(&self, guard: &mut Guard<'_>, op: Op) -> Result<Handle> {
        let handle = insert(self.ops.get_mut(guard), op, "operations")?;
        self.metrics.counts.operations.follow(self.ops.get(guard).len() as u64);
        Ok(handle)
    }

    /// `MPI_Op_free`; pending operations complete. Errors: `MPI_ERR_OP`.
    pub fn op_free(&self, guard: &mut Guard<'_>, handle: Handle) -> Result<()> {
        remove(self.ops.get_mut(guard), &self.freed, handle, MPI_ERR_OP, "op")?;
        self.on_demand.op_freed(guard, handle);
        self.metrics.counts.operations.follow(self.ops.get(guard).len() as u64);
        Ok(())
    }
}

fn insert<T>(table: &mut Table<T>, value: T, what: &str) -> Result<Handle> {
    table.insert(value).map_err(|_| too_many(what))
}

fn remove<T>(table: &mut Table<T>, freed: &Freed, handle: Handle, class: i32, name: &'static str) -> Result<()> {
    if table.remove(handle).is_some() {
        return Ok(());
    }
    let why = match table.was_freed(handle) {
        true => freed.describe(handle),
        false => "no object of this kind has that handle".to_owned(),
    };
    Err(Error::new(class, why).arg(name, &handle))
}

#[cold]
fn too_many(what: &str) -> Error {
    Error::new(MPI_ERR_NO_MEM, format!("there are too many {what}"))
}

#[cold]
pub(crate) fn no_comm(handle: Handle) -> Error {
    Error::new(MPI_ERR_COMM, "no communicator has that handle").arg("comm", &handle)
}
