//! Pins: what keeps the numbers of processes of other jobs in use.
//!
//! Invariant: a number is released once, when the last pins with it are dropped, by any thread.
//! Not here: what a release frees (`bridge`).

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::transport::ProcessId;

/// Keeps processes of other jobs connected and their numbers in use. Empty, and free of cost, for processes of the own
/// job. Thread-safe; cheap to clone.
#[derive(Clone, Default)]
pub struct PeerPins {
    parts: Vec<Arc<Pinned>>,
}

struct Pinned {
    own: ProcessId,
    first: u32,
    members: Box<[(u32, ProcessId)]>,
    table: Arc<PinTable>,
}

/// How many pins have each number.
#[derive(Default)]
pub(super) struct PinTable {
    counts: Mutex<HashMap<u32, usize>>,
    /// Some count has become 0.
    released: AtomicBool,
}

impl PinTable {
    // A panic elsewhere leaves the counts whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(super) fn has_released(&self) -> bool {
        // Relaxed: the counts are read under their lock.
        self.released.load(Ordering::Relaxed)
    }

    /// Whether something pins a number.
    pub(super) fn is_pinned(&self, number: u32) -> bool {
        self.lock().get(&number).is_some_and(|count| *count > 0)
    }

    /// The numbers whose count is 0, which are no longer counted.
    pub(super) fn take_released(&self) -> Vec<u32> {
        let mut counts = self.lock();
        self.released.store(false, Ordering::Relaxed);
        let released: Vec<u32> = counts.iter().filter(|(_, count)| **count == 0).map(|(number, _)| *number).collect();
        counts.retain(|_, count| *count > 0);
        released
    }
}

impl PeerPins {
    pub(super) fn new(own: ProcessId, first: u32, members: Vec<(u32, ProcessId)>, table: &Arc<PinTable>) -> PeerPins {
        if members.is_empty() {
            return PeerPins::default();
        }
        let mut counts = table.lock();
        members.iter().for_each(|(number, _)| *counts.entry(*number).or_insert(0) += 1);
        drop(counts);
        PeerPins { parts: vec![Arc::new(Pinned { own, first, members: members.into(), table: table.clone() })] }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds the pins of `other`.
    pub fn merge(&mut self, other: &PeerPins) {
        for part in &other.parts {
            if !self.parts.iter().any(|own| Arc::ptr_eq(own, part)) {
                self.parts.push(part.clone());
            }
        }
    }

    /// The identity of the process with a number: of the own job, or pinned here. `None` without pins, and for other
    /// numbers.
    pub fn id_of(&self, number: u32) -> Option<ProcessId> {
        let part = self.parts.first()?;
        if number < part.first {
            return Some(ProcessId { job: part.own.job, rank: number });
        }
        let all = self.parts.iter().flat_map(|part| part.members.iter());
        all.into_iter().find(|(member, _)| *member == number).map(|(_, id)| *id)
    }
}

impl fmt::Debug for PeerPins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.parts.iter().flat_map(|part| part.members.iter().map(|(number, _)| number));
        f.debug_list().entries(numbers).finish()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut counts = self.table.lock();
        for (number, _) in &self.members {
            if let Some(count) = counts.get_mut(number) {
                *count -= 1;
                if *count == 0 {
                    self.table.released.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}
