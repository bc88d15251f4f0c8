//! The lock of one process's memory as its owner grants it, where the processes share no memory: who has it, and who
//! waits for it.
//!
//! Requests are granted in their order: processes that share the lock have it together, one with an exclusive lock has it
//! without others. Only a request to share that may overtake goes before an older one, and only while others share the
//! lock: one of these may wait for the process before it gives the lock back.
//! Invariants: a process has the lock once or waits for it once; while one has it exclusively no other has it.
//! Not here: the messages (`serve`), how long a process waits before it overtakes (`message_locks`).

use std::collections::{BTreeSet, VecDeque};

/// The processes that have a lock, and those that wait for it, by rank.
#[derive(Debug, Default)]
pub(crate) struct LockQueue {
    holders: BTreeSet<u32>,
    /// Whether the one holder has it exclusively.
    exclusive: bool,
    waiting: VecDeque<Waiting>,
}

/// A request that waits.
#[derive(Debug)]
struct Waiting {
    rank: u32,
    exclusive: bool,
    overtakes: bool,
}

/// What a process requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum LockRequest {
    /// To share the lock; waits.
    Shared = 1,
    /// To have it without others; waits.
    Exclusive = 2,
    /// To share it if no other process has it exclusively, or waits for it.
    TryShared = 3,
    /// To share it if no other process has it exclusively.
    TrySharedFirst = 4,
}

impl LockRequest {
    /// The request with this number.
    pub fn of(number: u32) -> Option<LockRequest> {
        [LockRequest::Shared, LockRequest::Exclusive, LockRequest::TryShared, LockRequest::TrySharedFirst]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The process has the lock now.
    Granted,
    /// It waits.
    Waits,
    /// It has nothing, as its request does not wait.
    Busy,
}

/// A request that does not fit what its process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvalidRequest;

impl LockQueue {
    /// A request. Errors: the process has the lock or waits for it.
    pub fn request(&mut self, rank: u32, kind: LockRequest) -> Result<Answer, InvalidRequest> {
        if self.holders.contains(&rank) || self.place(rank).is_some() {
            return Err(InvalidRequest);
        }
        let exclusive = kind == LockRequest::Exclusive;
        let in_order = self.waiting.is_empty() && self.admits(exclusive);
        if in_order || kind == LockRequest::TrySharedFirst && self.admits(false) {
            self.admit(rank, exclusive);
            return Ok(Answer::Granted);
        }
        if matches!(kind, LockRequest::TryShared | LockRequest::TrySharedFirst) {
            return Ok(Answer::Busy);
        }
        self.waiting.push_back(Waiting { rank, exclusive, overtakes: false });
        Ok(Answer::Waits)
    }

    /// The request to share of a process that waits may overtake others. Nothing happens if it was granted meanwhile.
    /// Errors: the process has not requested to share the lock.
    pub fn overtake(&mut self, rank: u32) -> Result<(), InvalidRequest> {
        match self.place(rank).map(|place| &mut self.waiting[place]) {
            Some(waiting) if !waiting.exclusive => waiting.overtakes = true,
            None if self.holders.contains(&rank) && !self.exclusive => {}
            _ => return Err(InvalidRequest),
        }
        Ok(())
    }

    /// The process gives the lock back. Errors: it does not have it.
    pub fn release(&mut self, rank: u32) -> Result<(), InvalidRequest> {
        if !self.holders.remove(&rank) {
            return Err(InvalidRequest);
        }
        self.exclusive = false;
        Ok(())
    }

    /// The process has ended: it has nothing any more, and waits for nothing.
    pub fn remove(&mut self, rank: u32) {
        let _ = self.release(rank);
        self.waiting.retain(|waiting| waiting.rank != rank);
    }

    /// A process that has waited and has the lock from now on. To be called after each change, until it returns none.
    pub fn next(&mut self) -> Option<u32> {
        let first = self.waiting.front()?;
        let place = match self.admits(first.exclusive) {
            true => 0,
            false => self.waiting.iter().position(|waiting| waiting.overtakes && self.admits(false))?,
        };
        let Waiting { rank, exclusive, .. } = self.waiting.remove(place)?;
        self.admit(rank, exclusive);
        Some(rank)
    }

    /// Whether a process can have the lock beside its holders.
    fn admits(&self, exclusive: bool) -> bool {
        self.holders.is_empty() || !exclusive && !self.exclusive
    }

    fn admit(&mut self, rank: u32, exclusive: bool) {
        self.holders.insert(rank);
        self.exclusive = exclusive;
    }

    fn place(&self, rank: u32) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.rank == rank)
    }
}

#[cfg(test)]
mod tests {
    use super::Answer::{Busy, Granted, Waits};
    use super::LockRequest::{Exclusive, Shared, TryShared, TrySharedFirst};
    use super::*;

    /// All processes that get the lock now.
    fn granted(queue: &mut LockQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.next()).collect()
    }

    #[test]
    fn requests_are_granted_in_their_order() {
        let mut queue = LockQueue::default();
        let answers = [(0, Shared), (1, Shared), (2, Exclusive), (3, Shared), (4, Shared), (5, Exclusive)]
            .map(|(rank, kind)| queue.request(rank, kind));
        assert_eq!(answers, [Granted, Granted, Waits, Waits, Waits, Waits].map(Ok));
        assert_eq!((queue.release(0), granted(&mut queue)), (Ok(()), vec![]));
        assert_eq!((queue.release(1), granted(&mut queue)), (Ok(()), vec![2]));
        assert_eq!((queue.release(2), granted(&mut queue)), (Ok(()), vec![3, 4]));
        assert_eq!((queue.release(4), granted(&mut queue)), (Ok(()), vec![]));
        assert_eq!((queue.release(3), granted(&mut queue)), (Ok(()), vec![5]));
        assert_eq!((queue.release(5), queue.request(0, Exclusive)), (Ok(()), Ok(Granted)));
    }

    #[test]
    fn attempts_do_not_wait() {
        let mut queue = LockQueue::default();
        assert_eq!((queue.request(0, TryShared), queue.request(1, TrySharedFirst)), (Ok(Granted), Ok(Granted)));
        assert_eq!(queue.request(2, Exclusive), Ok(Waits));
        assert_eq!((queue.request(3, TryShared), queue.request(3, TrySharedFirst)), (Ok(Busy), Ok(Granted)));
        [0, 1, 3].iter().for_each(|rank| queue.release(*rank).expect("a holder"));
        assert_eq!(granted(&mut queue), [2]);
        assert_eq!((queue.request(3, TryShared), queue.request(3, TrySharedFirst)), (Ok(Busy), Ok(Busy)));
    }

    #[test]
    fn who_overtakes_shares_a_lock_that_others_share_and_no_other() {
        let mut queue = LockQueue::default();
        assert_eq!(
            [(0, Shared), (1, Exclusive), (2, Shared)].map(|(rank, kind)| queue.request(rank, kind)),
            [Ok(Granted), Ok(Waits), Ok(Waits)]
        );
        assert_eq!((queue.overtake(2), granted(&mut queue)), (Ok(()), vec![2]));
        [0, 2].iter().for_each(|rank| queue.release(*rank).expect("a holder"));
        assert_eq!(
            (granted(&mut queue), queue.request(3, Exclusive), queue.request(4, Shared)),
            (vec![1], Ok(Waits), Ok(Waits))
        );
        assert_eq!((queue.overtake(4), granted(&mut queue)), (Ok(()), vec![]));
        // A lock that is free goes to the oldest request.
        assert_eq!((queue.release(1), granted(&mut queue)), (Ok(()), vec![3]));
        assert_eq!((queue.release(3), granted(&mut queue)), (Ok(()), vec![4]));
        assert_eq!(queue.overtake(4), Ok(()), "granted meanwhile");
    }

    #[test]
    fn a_process_that_has_ended_is_neither_holder_nor_waits() {
        let mut queue = LockQueue::default();
        let answers =
            [(0, Exclusive), (1, Exclusive), (2, Exclusive), (3, Shared)].map(|(rank, kind)| queue.request(rank, kind));
        assert_eq!(answers, [Granted, Waits, Waits, Waits].map(Ok));
        queue.remove(1);
        assert_eq!(granted(&mut queue), []);
        queue.remove(0);
        assert_eq!(granted(&mut queue), [2]);
        queue.remove(2);
        assert_eq!(granted(&mut queue), [3]);
        queue.remove(7);
        assert_eq!(queue.request(4, Shared), Ok(Granted));
    }

    #[test]
    fn requests_that_do_not_fit_are_errors_and_change_nothing() {
        let mut queue = LockQueue::default();
        assert_eq!((queue.release(0), queue.overtake(0)), (Err(InvalidRequest), Err(InvalidRequest)));
        assert_eq!((queue.request(0, Exclusive), queue.request(1, Exclusive)), (Ok(Granted), Ok(Waits)));
        for kind in [Shared, Exclusive, TryShared, TrySharedFirst] {
            assert_eq!((queue.request(0, kind), queue.request(1, kind)), (Err(InvalidRequest), Err(InvalidRequest)));
        }
        assert_eq!(
            (queue.release(1), queue.overtake(0), queue.overtake(1)),
            (Err(InvalidRequest), Err(InvalidRequest), Err(InvalidRequest))
        );
        assert_eq!((granted(&mut queue), queue.release(0), granted(&mut queue)), (vec![], Ok(()), vec![1]));
        assert_eq!(
            [0, 1, 2, 3, 4, 5, u32::MAX].map(LockRequest::of),
            [None, Some(Shared), Some(Exclusive), Some(TryShared), Some(TrySharedFirst), None, None]
        );
    }

    /// What a rank has, by a model of all ranks: a list of requests in their order, each granted or not.
    #[derive(Debug, Clone, Copy)]
    struct Entry {
        rank: u32,
        exclusive: bool,
        granted: bool,
        overtakes: bool,
    }

    /// Grants what the rules allow: entry by entry, so another way than that of the queue.
    fn settle(entries: &mut [Entry]) {
        loop {
            let has = |entry: &&Entry| entry.granted;
            let (shared, any) =
                (!entries.iter().any(|entry| entry.granted && entry.exclusive), entries.iter().any(|it| it.granted));
            let fits = |entry: &Entry| !any || !entry.exclusive && shared;
            let first = entries.iter().position(|entry| !has(&entry));
            let Some(first) = first else { return };
            let next = if fits(&entries[first]) {
                Some(first)
            } else {
                entries.iter().position(|entry| !entry.granted && entry.overtakes && fits(entry))
            };
            let Some(next) = next else { return };
            entries[next].granted = true;
        }
    }

    #[test]
    fn random_calls_have_the_effects_of_a_model() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |limit: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as u32 % limit
        };
        let (mut queue, mut model) = (LockQueue::default(), Vec::<Entry>::new());
        let mut waits = 0;
        for _ in 0..200_000 {
            let rank = below(6);
            let place = model.iter().position(|entry| entry.rank == rank);
            match below(10) {
                0..5 => {
                    let kind = [Shared, Shared, Exclusive, TryShared, TrySharedFirst][below(5) as usize];
                    let answer = queue.request(rank, kind);
                    if place.is_some() {
                        assert_eq!(answer, Err(InvalidRequest));
                        continue;
                    }
                    let mut after = model.clone();
                    let overtakes = kind == TrySharedFirst;
                    after.push(Entry { rank, exclusive: kind == Exclusive, granted: false, overtakes });
                    settle(&mut after);
                    let granted = after.last().expect("just added").granted;
                    let attempt = matches!(kind, TryShared | TrySharedFirst);
                    assert_eq!(
                        answer,
                        Ok(if granted {
                            Granted
                        } else if attempt {
                            Busy
                        } else {
                            Waits
                        })
                    );
                    if granted || !attempt {
                        model = after;
                        waits += u32::from(!granted);
                    }
                }
                5..8 => {
                    let holds = place.is_some_and(|place| model[place].granted);
                    assert_eq!(queue.release(rank), if holds { Ok(()) } else { Err(InvalidRequest) });
                    model.retain(|entry| entry.rank != rank || !holds);
                }
                8 => {
                    let fits = place.is_some_and(|place| !model[place].exclusive);
                    assert_eq!(queue.overtake(rank), if fits { Ok(()) } else { Err(InvalidRequest) });
                    model
                        .iter_mut()
                        .filter(|entry| fits && entry.rank == rank)
                        .for_each(|entry| entry.overtakes = true);
                }
                _ => {
                    queue.remove(rank);
                    model.retain(|entry| entry.rank != rank);
                }
            }
            let before: Vec<u32> = model.iter().filter(|entry| entry.granted).map(|entry| entry.rank).collect();
            settle(&mut model);
            let mut expected: Vec<u32> = model.iter().filter(|it| it.granted).map(|it| it.rank).collect();
            expected.retain(|rank| !before.contains(rank));
            let mut got = granted(&mut queue);
            got.sort_unstable();
            expected.sort_unstable();
            assert_eq!(got, expected);
            let holders: BTreeSet<u32> = model.iter().filter(|entry| entry.granted).map(|entry| entry.rank).collect();
            assert_eq!(queue.holders, holders);
        }
        assert!(waits > 1000, "{waits} requests waited");
    }
}
