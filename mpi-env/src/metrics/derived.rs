//! The objects derived from sessions, counted by session and kind (MPI-5.0, 11.3).
//!
//! Invariant: the counts of a session equal the numbers of its objects recorded here; a session without objects has no
//! entry.
//! Not here: the variables of sessions (`on_demand`).

use std::collections::HashMap;

use mpi_core::{Handle, Kind};
use rustc_hash::FxBuildHasher;

/// The kinds of objects that are derived from sessions.
const KINDS: [Kind; 4] = [Kind::Group, Kind::Comm, Kind::Win, Kind::File];

/// Numbers of groups, communicators, windows and files.
pub(crate) type Counts = [u64; KINDS.len()];

/// Derived objects.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    /// Object to session.
    sessions: HashMap<usize, Handle, FxBuildHasher>,
    /// Session to counts.
    counts: HashMap<usize, Counts, FxBuildHasher>,
}

impl Derived {
    /// The numbers of objects of each kind that are derived from a session.
    pub(crate) fn counts(&self, session: Handle) -> Counts {
        self.counts.get(&session.0).copied().unwrap_or_default()
    }

    /// Records that an object is derived from this session. The object is of one of [`KINDS`] and not yet recorded.
    pub(crate) fn made(&mut self, object: Handle, session: Handle) {
        let before = self.sessions.insert(object.0, session);
        debug_assert!(before.is_none(), "{object:?} is recorded already");
        self.counts.entry(session.0).or_default()[place(object)] += 1;
    }

    /// Removes an object whose handle is stale. Returns its session if that is not finalised.
    pub(crate) fn remove(&mut self, object: Handle) -> Option<Handle> {
        let session = self.sessions.remove(&object.0)?;
        let counts = self.counts.get_mut(&session.0).expect("a session with objects has counts");
        counts[place(object)] -= 1;
        if *counts == Counts::default() {
            self.counts.remove(&session.0);
        }
        Some(session)
    }

    /// Removes a finalised session and the records of its objects.
    pub(crate) fn session_ended(&mut self, session: Handle) {
        if self.counts.remove(&session.0).is_some() {
            self.sessions.retain(|_, of| *of != session);
        }
    }
}

/// The position in [`Counts`] of an object's kind.
fn place(object: Handle) -> usize {
    KINDS.iter().position(|kind| object.is(*kind)).expect("groups, communicators, windows and files are derived")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_objects_that_come_and_go() {
        let [one, other] = [1, 2].map(|index| Handle::pack(Kind::Session, index, 1));
        let [group, comm, second, window, file] =
            [Kind::Group, Kind::Comm, Kind::Comm, Kind::Win, Kind::File].map(|kind| Handle::pack(kind, 1, 1));
        let second = Handle::pack(Kind::Comm, second.index() + 1, 1);
        let mut derived = Derived::default();
        for object in [group, comm, second, file] {
            derived.made(object, one);
        }
        derived.made(window, other);
        assert_eq!((derived.counts(one), derived.counts(other)), ([1, 2, 0, 1], [0, 0, 1, 0]));
        assert_eq!((derived.remove(comm), derived.remove(comm)), (Some(one), None));
        assert_eq!((derived.remove(window), derived.counts(other)), (Some(other), [0; 4]));
        assert_eq!(derived.counts(one), [1, 1, 0, 1]);
        derived.session_ended(one);
        assert_eq!((derived.counts(one), derived.remove(group)), ([0; 4], None));
        assert!(derived.sessions.is_empty() && derived.counts.is_empty());
    }
}
