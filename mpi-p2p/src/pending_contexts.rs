//! Context ids that a process waits for, and ids that arrived before the call that needs them.
//!
//! Invariant: the ids of one key are in the order of the calls.
//! Not here: the agreement itself (`context_agreement`).

use std::collections::HashMap;
use std::fmt;

use mpi_core::Handle;

use crate::context::ContextSpec;

/// Returns the contexts of a communicator with the id that has arrived: one, two of an intercommunicator, none when
/// they are no longer needed. Called with the process's lock held, so it must take no lock itself.
pub type MakeContext = Box<dyn FnOnce(u32) -> Vec<ContextSpec> + Send>;

/// Sent when the provider has no id left: ids are even.
pub(crate) const NO_ID: u64 = u64::MAX;

/// The key of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The duplicate with this number of the communicator with this context.
    Duplicate(u32, u32),
    /// The communicator with this digest, by the world rank of its provider.
    Named(u32, [u64; 2]),
}

/// The agreements of one process.
#[derive(Default)]
pub(crate) struct ContextAgreement {
    /// Calls whose id has not come, the oldest first.
    pub awaited: HashMap<Key, Vec<Awaited>>,
    /// Ids that came before the call.
    pub known: HashMap<Key, Vec<u64>>,
    /// Calls made so far with each digest. Kept for ever: a process that forgot its number when it frees the communicator
    /// would disagree with one that has not freed it yet.
    pub named_calls: HashMap<[u64; 2], u32>,
}

impl ContextAgreement {
    /// World rank of the process whose id a request waits for.
    pub fn provider(&self, request: Handle) -> Option<u32> {
        self.awaited.values().flatten().find(|awaited| awaited.request == request).map(|awaited| awaited.provider)
    }
}

pub(crate) struct Awaited {
    pub request: Handle,
    /// World rank of the process that sends the id.
    pub provider: u32,
    pub make: MakeContext,
}

/// Takes the oldest of a key.
pub(crate) fn take<T>(map: &mut HashMap<Key, Vec<T>>, key: Key) -> Option<T> {
    let list = map.get_mut(&key)?;
    let oldest = list.remove(0);
    if list.is_empty() {
        map.remove(&key);
    }
    Some(oldest)
}

impl fmt::Debug for ContextAgreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextAgreement").field("awaited", &self.awaited.len()).field("known", &self.known).finish()
    }
}
