//! Agreement on the context ids of communicators that are created without messages of the program: `MPI_Comm_idup`
//! and `MPI_Comm_create_from_group` (MPI-5.0, 7.4.2), `MPI_Intercomm_create_from_groups` (MPI-5.0, 7.6.2).
//!
//! One process of the new communicator, the provider, takes an id and sends it to the others under a key that all of
//! them compute: for a duplicate its parent and its number among the parent's duplicates, because the calls have the
//! same order everywhere; for a communicator without a parent a digest of its group and of the program's tag. The
//! processes are providers in turn, by the number of the call, so that the shares of all are used alike. A process that
//! has made the call already gets its context when the id arrives, inside whatever call makes progress then; one that
//! has not finds the id when it makes the call.
//! Invariant: ids of one key are sent, and found, in the order of the calls.
//! Not here: taking ids and handles of communicators (the layers above).

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_fabric::{Payload, RecordHead};

use crate::context::{PENDING_CONTEXT, SHARED_IDS, unknown_context};
use crate::core::{Core, Reply, State};
use crate::engine::Engine;
use crate::pending_contexts::{Awaited, Key, MakeContext, NO_ID, take};
use crate::request::{Request, Work};
use crate::wire;

impl Engine {
    /// Registers the next duplicate of the communicator with context `parent`: a request that is complete once its
    /// context exists here. In the process that [`Engine::duplicate_provider`] returns, `id` is the id for all
    /// processes, or `None` if its share is used up.
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
        let context = state.core.contexts.get_mut(parent).ok_or_else(|| unknown_context(parent))?;
        let number = context.duplicates;
        // Wraps: as many calls are never under way at once.
        context.duplicates = number.wrapping_add(1);
        let members = context.spec.members().clone();
        let provider = provider_of(&members, number, parent >= SHARED_IDS);
        state.agree(Key::Duplicate(parent, number), parent + 1, (provider, &members), id, make)
    }

    /// Creates a communicator of the processes `members` (world ranks), which need no parent communicator; `digest`
    /// identifies it in all of them. Otherwise as [`Engine::duplicate`]; `id` is given in the process that
    /// [`Engine::named_provider`] names.
    pub fn named(
        &self,
        guard: &mut Guard<'_>,
        digest: [u64; 2],
        members: &[u32],
        id: Option<Option<u32>>,
        make: MakeContext,
    ) -> Result<Handle> {
        let state = self.state.get_mut(guard);
        let calls = state.core.context_agreement.named_calls.entry(digest).or_insert(0);
        let provider = provider_of_named(members, digest, *calls);
        *calls = calls.wrapping_add(1);
        state.agree(Key::Named(provider, digest), PENDING_CONTEXT, (provider, members), id, make)
    }

    /// World rank of the process that gives the id of the next duplicate of a communicator; `None` for an unknown one.
    pub fn duplicate_provider(&self, guard: &Guard<'_>, parent: u32) -> Option<u32> {
        let context = self.state.get(guard).core.contexts.get(parent)?;
        Some(provider_of(context.spec.members(), context.duplicates, parent >= SHARED_IDS))
    }

    /// World rank of the process that gives the id of the next communicator with this digest.
    pub fn named_provider(&self, guard: &Guard<'_>, digest: [u64; 2], members: &[u32]) -> u32 {
        let calls = self.state.get(guard).core.context_agreement.named_calls.get(&digest);
        provider_of_named(members, digest, calls.copied().unwrap_or(0))
    }
}

/// Each member in turn gives the id of a duplicate. Where the communicator has a block of ids, for processes of several jobs,
/// it is always the first: it takes the ids of that block.
fn provider_of(members: &[u32], number: u32, spans_jobs: bool) -> u32 {
    members[if spans_jobs { 0 } else { number as usize % members.len() }]
}

/// The same for a communicator without a parent; the digest decides which process begins.
fn provider_of_named(members: &[u32], digest: [u64; 2], calls: u32) -> u32 {
    members[(digest[0].wrapping_add(u64::from(calls)) % members.len() as u64) as usize]
}

impl State {
    fn agree(
        &mut self,
        key: Key,
        context: u32,
        (provider, members): (u32, &[u32]),
        id: Option<Option<u32>>,
        make: MakeContext,
    ) -> Result<Handle> {
        let core = &mut self.core;
        let request = core.add_request(Request::waiting(context, Work::AwaitContext))?;
        let awaited = Awaited { request, provider, make };
        if let Some(id) = id {
            let word = id.map_or(NO_ID, u64::from);
            let others = members.iter().filter(|member| **member != provider);
            core.replies.extend(others.map(|dest| record(*dest, key, word)));
            core.apply_id(awaited, word);
            core.flush_replies(&mut self.endpoint);
            core.wake_leader_for_work();
        } else if let Some(word) = take(&mut core.context_agreement.known, key) {
            core.apply_id(awaited, word);
        } else {
            core.context_agreement.awaited.entry(key).or_default().push(awaited);
        }
        Ok(request)
    }
}

/// The record that carries an id to a process.
fn record(dest: u32, key: Key, word: u64) -> Reply {
    let head = |context, tag| RecordHead { kind: wire::CONTEXT, flags: 0, context, tag, a: 0, b: word };
    let plain = |head| Reply { dest, head, payload: [0; 32], len: 0 };
    match key {
        Key::Duplicate(parent, number) => plain(head(parent, number as i32)),
        Key::Named(_, digest) => plain(head(PENDING_CONTEXT, 0)).with(&wire::join::<2, 16>(digest)),
    }
}

impl Core {
    /// Handles an id that has arrived.
    #[cold]
    pub fn context_id_arrived(&mut self, from: u32, head: &RecordHead, payload: &Payload<'_>) -> Result<(), NotYet> {
        let key = match (head.context, payload.len()) {
            (PENDING_CONTEXT, 16) => Key::Named(from, [payload.word(0), payload.word(1)]),
            (PENDING_CONTEXT, _) => {
                self.fault(from, "a malformed context id");
                return Ok(());
            }
            (parent, _) => Key::Duplicate(parent, head.tag as u32),
        };
        let provider = match (self.context_agreement.awaited.get(&key), key) {
            (Some(awaited), _) => awaited[0].provider,
            (None, Key::Named(..)) => from,
            (None, Key::Duplicate(parent, number)) => match self.contexts.get(parent) {
                Some(context) => provider_of(context.spec.members(), number, parent >= SHARED_IDS),
                None => return Err(NotYet),
            },
        };
        if provider != from || head.context & 1 != 0 {
            self.fault(from, "a context id that another process gives out");
        } else if let Some(awaited) = take(&mut self.context_agreement.awaited, key) {
            self.apply_id(awaited, head.b);
        } else {
            self.context_agreement.known.entry(key).or_default().push(head.b);
        }
        Ok(())
    }

    /// Makes the contexts, and completes the request.
    fn apply_id(&mut self, awaited: Awaited, word: u64) {
        let id = u32::try_from(word).ok().filter(|id| id.is_multiple_of(2) && self.contexts.get(*id).is_none());
        match id.map(awaited.make) {
            Some(specs) if specs.iter().all(|spec| self.contexts.get(spec.id).is_none()) => {
                specs.into_iter().for_each(|spec| self.add_context(spec));
            }
            None if word == NO_ID => {
                if let Some(request) = self.requests.get_mut(awaited.request) {
                    let text = "the process whose turn it is has used all of its context ids";
                    request.error = Some(Error::new(MPI_ERR_OTHER, text));
                }
            }
            _ => self.fault(awaited.provider, "a context id that is none, or that is taken"),
        }
        self.finish(awaited.request);
    }

    /// Drops the ids of duplicates whose parent is freed: no call will use them.
    pub fn drop_unclaimed_ids(&mut self, parent: u32) {
        self.context_agreement.known.retain(|key, _| !matches!(key, Key::Duplicate(of, _) if *of == parent));
    }
}

/// The record's communicator has not been made here yet.
pub(crate) struct NotYet;
