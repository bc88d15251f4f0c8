//! The threads of one process that wait: which one polls for messages, and which ones to wake.
//!
//! One waiting thread leads: it polls the rings and sleeps on the process's doorbell. The others follow: each sleeps on
//! a word of its own until its operation is complete, its condition may have changed, or the lead is vacant. All calls
//! here are made with the process's lock held, so a thread that checks its condition and then follows, under one guard,
//! loses no wake-up.
//! Invariant: while a thread follows and none leads, a woken thread will check its condition: the successor, or one
//! that returns and then wakes the next.
//! Not here: what a thread waits for, polling and sleeping (`waiting`). Model: `tests/loom_waiters.rs`.

use std::sync::Arc;

use mpi_errors::Error;
use smallvec::SmallVec;

use crate::sync::{Doorbell, ThreadWord};

/// Index of a waiting thread's entry.
pub(crate) type Place = u32;

/// Words whose threads the kernel has to wake once the lock is released.
pub(crate) type Due = SmallVec<[Arc<ThreadWord>; 4]>;

/// The state of a waiting thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The entry is free.
    Free,
    /// It runs, or waits for the lock.
    Awake,
    /// It sleeps, or is about to, until its word is set.
    Following,
    /// It leads, and sleeps on the doorbell.
    LeaderAsleep,
}

#[derive(Debug)]
struct Entry {
    word: Arc<ThreadWord>,
    role: Role,
    /// Anything that moves may change its condition.
    any_change: bool,
    /// A fault that another thread found.
    failure: Option<Error>,
}

/// The waiting threads of one process.
pub(crate) struct Waiters {
    doorbell: Doorbell,
    entries: Vec<Entry>,
    free: Vec<Place>,
    leader: Option<Place>,
    /// The follower that was woken to lead.
    successor: Option<Place>,
    /// Sleeping threads that a change of any kind may concern: followers with `any_change`, and a leader.
    watchful: usize,
    /// The lock's holder wakes threads itself once it has released the lock.
    deferring: bool,
    due: Due,
}

impl Waiters {
    pub fn new(doorbell: Doorbell) -> Waiters {
        Waiters {
            doorbell,
            entries: Vec::new(),
            free: Vec::new(),
            leader: None,
            successor: None,
            watchful: 0,
            deferring: false,
            due: Due::new(),
        }
    }

    /// The calling thread begins to wait. Allocates only when more threads wait at once than ever before.
    pub fn enter(&mut self) -> (Place, Arc<ThreadWord>) {
        let place = self.free.pop().unwrap_or_else(|| {
            let word = Arc::new(ThreadWord::default());
            self.entries.push(Entry { word, role: Role::Free, any_change: false, failure: None });
            self.entries.len() as Place - 1
        });
        let entry = &mut self.entries[place as usize];
        entry.role = Role::Awake;
        (place, entry.word.clone())
    }

    /// The thread leads from now on, if none does.
    pub fn try_lead(&mut self, place: Place) -> bool {
        if self.successor == Some(place) {
            self.successor = None;
        }
        match self.leader {
            None => {
                self.leader = Some(place);
                true
            }
            Some(leader) => leader == place,
        }
    }

    /// Whether a thread leads.
    pub fn has_leader(&self) -> bool {
        self.leader.is_some()
    }

    /// The thread is going to sleep: a follower on its word, the leader on the doorbell. `any_change`: it has to look
    /// again whatever moves.
    pub fn begin_sleep(&mut self, place: Place, any_change: bool) {
        let leads = self.leader == Some(place);
        let entry = &mut self.entries[place as usize];
        entry.role = if leads { Role::LeaderAsleep } else { Role::Following };
        entry.any_change = any_change;
        self.watchful += usize::from(leads || any_change);
        if !leads {
            entry.word.arm();
        }
    }

    /// The thread is awake; whether it slept until any change.
    pub fn end_sleep(&mut self, place: Place) -> bool {
        let entry = &mut self.entries[place as usize];
        self.watchful -= usize::from(entry.role == Role::LeaderAsleep || entry.any_change);
        entry.role = Role::Awake;
        std::mem::take(&mut entry.any_change)
    }

    /// The fault that another thread found since the thread began to wait.
    pub fn take_failure(&mut self, place: Place) -> Option<Error> {
        self.entries[place as usize].failure.take()
    }

    /// The thread waits no more. A thread that leaves the lead vacant wakes one that follows. Returns the words whose
    /// threads the caller wakes by the kernel once it has released the lock.
    pub fn leave(&mut self, place: Place) -> Due {
        if self.leader == Some(place) {
            self.leader = None;
        }
        if self.successor == Some(place) {
            self.successor = None;
        }
        let entry = &mut self.entries[place as usize];
        (entry.role, entry.failure) = (Role::Free, None);
        self.free.push(place);
        if self.leader.is_none() {
            self.deferring = true;
            self.wake_successor();
        }
        self.end_deferring()
    }

    /// Wakes a thread that follows to lead, unless one was woken for that already.
    fn wake_successor(&mut self) {
        if self.successor.is_none() {
            // A thread whose word is set runs already, and names a successor when it leaves.
            let follows = |entry: &Entry| entry.role == Role::Following && !entry.word.is_set();
            self.successor = self.entries.iter().position(follows).map(|place| place as Place);
            if let Some(place) = self.successor {
                self.wake(place);
            }
        }
    }

    /// The leader, which holds the lock, gives up the lead before it releases the lock until another process has answered: another
    /// thread may poll meanwhile, also one that begins to wait. Its place, for [`Self::lead_again`]; `None`, and nothing is changed, if
    /// the lock's holder does not lead.
    #[cold]
    pub fn lend_lead(&mut self) -> Option<Place> {
        if !self.deferring {
            return None;
        }
        let leader = self.leader.take()?;
        self.wake_successor();
        Some(leader)
    }

    /// After [`Self::lend_lead`], with the lock held again: the thread leads again, unless another one leads now.
    #[cold]
    pub fn lead_again(&mut self, place: Place) {
        match self.leader {
            None => self.leader = Some(place),
            // The lock's holder does not lead any more.
            Some(_) => self.deferring = false,
        }
    }

    /// Whether the thread leads.
    #[inline]
    pub fn leads(&self, place: Place) -> bool {
        self.leader == Some(place)
    }

    /// Wakes the thread, if it sleeps.
    #[cold]
    pub fn wake(&mut self, place: Place) {
        let Some(entry) = self.entries.get(place as usize) else { return };
        match entry.role {
            Role::Free | Role::Awake => {}
            Role::LeaderAsleep => self.doorbell.wake(),
            Role::Following => {
                if entry.word.set() {
                    match self.deferring {
                        true => self.due.push(entry.word.clone()),
                        false => self.doorbell.wake_thread(&entry.word),
                    }
                }
            }
        }
    }

    /// Whether a change of any kind may concern a thread that sleeps.
    #[inline(always)]
    pub fn any_watchful(&self) -> bool {
        self.watchful != 0
    }

    /// Wakes the threads whose condition may have changed, whatever has.
    #[cold]
    pub fn wake_on_any_change(&mut self) {
        for place in 0..self.entries.len() {
            if self.entries[place].any_change {
                self.wake(place as Place);
            }
        }
    }

    /// Wakes the leader for work that no doorbell announces.
    #[cold]
    pub fn wake_leader(&mut self) {
        if let Some(leader) = self.leader {
            self.wake(leader);
        }
    }

    /// Wakes the progress thread, which sleeps on the doorbell as a leader does, for work that no doorbell announces.
    #[cold]
    pub fn wake_background(&self) {
        self.doorbell.wake();
    }

    /// Ends all waits with the fault that the calling thread has found.
    #[cold]
    pub fn fail_all(&mut self, fault: &Error) {
        for place in 0..self.entries.len() {
            if self.entries[place].role != Role::Free {
                self.entries[place].failure = Some(Error::new(fault.class(), fault.to_string()));
                self.wake(place as Place);
            }
        }
    }

    /// From now on, until [`Self::end_deferring`], threads are woken after the lock is released, so that they do not
    /// block on it.
    pub fn defer(&mut self) {
        self.deferring = true;
    }

    /// Whether [`Self::defer`] holds: then the lock's holder leads, or leaves.
    pub fn is_deferring(&self) -> bool {
        self.deferring
    }

    /// Whether the lock's holder leads, and other threads depend on its polls.
    pub fn leads_others(&self) -> bool {
        self.deferring && self.entries.len() - self.free.len() > 1
    }

    /// The words whose threads are to be woken once the lock is released.
    pub fn end_deferring(&mut self) -> Due {
        self.deferring = false;
        std::mem::take(&mut self.due)
    }
}
