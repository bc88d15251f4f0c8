//! Announcements: how the processes of a communicator learn the context id of its duplicate without waiting for it
//! (`MPI_Comm_idup`, MPI-5.0, 7.4.2).
//!
//! The duplicates of a communicator are numbered in the order of the calls, which is the same in all its processes;
//! its rank 0 takes an id for each and tells it. A process that has made the call already gets its context the moment
//! the id comes, inside whatever call moves messages then; one that has not finds the id when it does.
//! Invariant: each number of a communicator is announced once, by the process of its rank 0.
//! Not here: taking ids and handles of communicators (the layers above).

use std::collections::HashMap;
use std::fmt;

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_fabric::RecordHead;

use crate::context::ContextSpec;
use crate::core::{Core, Reply};
use crate::engine::Engine;
use crate::request::{Request, Work};
use crate::send::unknown_context;
use crate::transfer::too_many_requests;
use crate::wire;

/// What makes a context of the id that has come; `None` when nobody needs it any more. Called with the process's lock
/// held, so it must take no lock itself.
pub type MakeContext = Box<dyn FnOnce(u32) -> Option<ContextSpec> + Send>;

/// Announced when there is no id: ids are even.
const NO_ID: u64 = u64::MAX;

/// The announcements of one process.
#[derive(Default)]
pub(crate) struct Announcements {
    /// Calls whose id has not come, by context of the parent and number.
    awaited: HashMap<(u32, u32), Awaited>,
    /// Ids that came before the call.
    known: HashMap<(u32, u32), u64>,
}

struct Awaited {
    request: Handle,
    /// World rank of the process that will tell.
    teller: u32,
    make: MakeContext,
}

impl fmt::Debug for Announcements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcements").field("awaited", &self.awaited.len()).field("known", &self.known).finish()
    }
}

impl Engine {
    /// The next duplicate of the communicator with context `parent`: a request that is complete once its context
    /// exists here. In the process of rank 0, `id` is what all are told: the id, or that there is none.
    ///
    /// Errors: `MPI_ERR_COMM` for an unknown parent, `MPI_ERR_OTHER` when there are too many requests. Without an id
    /// the requests of all processes end with `MPI_ERR_OTHER`.
    pub fn duplicate(
        &self,
        guard: &mut Guard<'_>,
        parent: u32,
        id: Option<Option<u32>>,
        make: MakeContext,
    ) -> Result<Handle> {
        let state = self.state.get_mut(guard);
        let core = &mut state.core;
        let request = Request::waiting(parent + 1, Work::Announced);
        let context = core.contexts.get_mut(parent).ok_or_else(|| unknown_context(parent))?;
        let request = core.requests.insert(request).map_err(|_| too_many_requests())?;
        let key = (parent, context.duplicates);
        // Wraps: as many calls are never under way at once.
        context.duplicates = key.1.wrapping_add(1);
        let members = &context.spec.world_ranks;
        let awaited = Awaited { request, teller: members[0], make };
        if let Some(id) = id {
            let told = id.map_or(NO_ID, u64::from);
            let head = RecordHead { kind: wire::CONTEXT, flags: 0, context: parent, tag: key.1 as i32, a: 0, b: told };
            let others = members[1..].iter();
            core.replies.extend(others.map(|dest| Reply { dest: *dest, head, payload: [0; 24], len: 0 }));
            core.settle(key, awaited, told);
            core.flush_replies(&mut state.endpoint);
        } else if let Some(told) = core.announcements.known.remove(&key) {
            core.settle(key, awaited, told);
        } else {
            core.announcements.awaited.insert(key, awaited);
        }
        Ok(request)
    }
}

impl Core {
    /// A process tells the id of a duplicate.
    #[cold]
    pub fn announced(&mut self, from: u32, head: &RecordHead) -> Result<(), NotYet> {
        let (key, told) = ((head.context, head.tag as u32), head.b);
        match self.announcements.awaited.remove(&key) {
            Some(awaited) if awaited.teller == from => self.settle(key, awaited, told),
            Some(awaited) => {
                self.announcements.awaited.insert(key, awaited);
                self.fault(from, "a context id that another process gives out");
            }
            None => match self.contexts.get(head.context) {
                None => return Err(NotYet),
                Some(context) if context.spec.world_ranks[0] == from && head.context & 1 == 0 => {
                    self.announcements.known.insert(key, told);
                }
                Some(_) => self.fault(from, "a context id that another process gives out"),
            },
        }
        Ok(())
    }

    /// Makes the context, and completes the request.
    fn settle(&mut self, (parent, _): (u32, u32), awaited: Awaited, told: u64) {
        let id = u32::try_from(told).ok().filter(|id| id.is_multiple_of(2) && self.contexts.get(*id).is_none());
        match id {
            Some(id) => {
                if let Some(spec) = (awaited.make)(id) {
                    self.contexts.insert(spec);
                    self.replay_early(id);
                }
            }
            None if told == NO_ID => {
                if let Some(request) = self.requests.get_mut(awaited.request) {
                    let text =
                        format!("rank 0 of the communicator with context id {parent} can number no more of them");
                    request.error = Some(Error::new(MPI_ERR_OTHER, text));
                }
            }
            None => self.fault(awaited.teller, "a context id that is none, or that is taken"),
        }
        self.finish(awaited.request);
    }

    /// Forgets ids of duplicates that nobody will ask for: their parent is gone.
    pub fn forget_announced(&mut self, parent: u32) {
        self.announcements.known.retain(|key, _| key.0 != parent);
    }
}

/// The record's communicator has not been made here yet.
pub(crate) struct NotYet;
