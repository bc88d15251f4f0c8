//! Eager limits: the process's, and of each communicator its own or none.
//!
//! A send compares its size with one word per communicator, which is recomputed whenever one of the limits is set.
//! Invariant: that word is the communicator's own limit if it has one, else the process's, and never more than what one
//! record, or one message in segments, can carry.
//! Not here: the variables as tools see them (`cvars`), the comparison (`send`).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_t::{Cell, Limits, SettingType, TError, TResult, Value, ValueType};

/// The longest message that can be sent whole, whatever the limits are set to.
pub(crate) const LONGEST: u64 = 1 << 30;

/// The type of the limit of a process: bytes.
#[derive(Debug)]
pub enum ProcessLimit {}

/// The type of the limit of a communicator: bytes, or [`AS_PROCESS`].
#[derive(Debug)]
pub enum CommLimit {}

/// The communicator has no limit of its own.
pub const AS_PROCESS: i32 = -1;

/// The limit of a process. Thread-safe; setting takes a lock.
#[derive(Debug)]
pub struct ProcessLimitCell {
    own: AtomicU64,
    /// The longest message in bytes that the fabric carries without an offer, as one record or in segments.
    room: AtomicU64,
    followers: Mutex<Vec<&'static CommLimitCell>>,
}

/// The limit of a communicator. Thread-safe; setting takes a lock.
#[derive(Debug)]
pub struct CommLimitCell {
    own: AtomicU64,
    in_force: AtomicU64,
    process: Mutex<Option<&'static ProcessLimitCell>>,
}

impl ProcessLimitCell {
    /// The limit in bytes, as it was set.
    pub fn get(&self) -> u64 {
        self.own.load(Relaxed)
    }

    /// Sets the limit in bytes, unchecked against the declared range; in force with the next send.
    pub fn set(&self, limit: u64) {
        self.own.store(limit, Relaxed);
        self.update(&self.followers());
    }

    /// From here on no message of more bytes than these goes whole.
    pub(crate) fn set_room(&self, bytes: u64) {
        self.room.store(bytes, Relaxed);
        self.update(&self.followers());
    }

    /// Puts in force what is set. Under the lock of the followers, so that of two changes at once the second to come
    /// here sees both.
    fn update(&self, followers: &[&'static CommLimitCell]) {
        for follower in followers {
            let limit = u64::try_from(follower.get()).unwrap_or(self.get());
            follower.in_force.store(limit.min(self.room.load(Relaxed)), Relaxed);
        }
    }

    fn followers(&self) -> MutexGuard<'_, Vec<&'static CommLimitCell>> {
        // Each change of the list is complete when made.
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CommLimitCell {
    /// The limit in bytes, as it was set, or [`AS_PROCESS`].
    pub fn get(&self) -> i32 {
        self.own.load(Relaxed) as u32 as i32
    }

    /// Sets the limit, unchecked against the declared range; in force with the next send on the communicator.
    pub fn set(&self, limit: i32) {
        self.own.store(u64::from(limit as u32), Relaxed);
        if let Some(process) = *self.process() {
            process.update(&process.followers());
        }
    }

    /// What sends compare: the longest message in bytes that goes whole.
    pub(crate) fn in_force(&'static self) -> &'static AtomicU64 {
        &self.in_force
    }

    /// The communicator is used by the process with this limit. Has no effect the second time: instruments that
    /// several communicators share join once.
    pub(crate) fn join(&'static self, process: &'static ProcessLimitCell) {
        if self.process().replace(process).is_some() {
            return;
        }
        let mut followers = process.followers();
        followers.push(self);
        process.update(&followers);
    }

    /// The communicator is not used any more.
    pub(crate) fn leave(&self) {
        if let Some(process) = self.process().take() {
            process.followers().retain(|follower| !std::ptr::eq(*follower, self));
        }
    }

    fn process(&self) -> MutexGuard<'_, Option<&'static ProcessLimitCell>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SettingType for ProcessLimit {
    type Cell = ProcessLimitCell;
    type Initial = u64;
    const TYPE: ValueType = ValueType::U64;
    const LIMITS: Limits = Limits::Whole(0, LONGEST as i128);

    fn cell(initial: u64) -> ProcessLimitCell {
        let (own, room) = (AtomicU64::new(initial), AtomicU64::new(LONGEST));
        ProcessLimitCell { own, room, followers: Mutex::default() }
    }
}

impl SettingType for CommLimit {
    type Cell = CommLimitCell;
    type Initial = i32;
    const TYPE: ValueType = ValueType::I32;
    const LIMITS: Limits = Limits::Whole(AS_PROCESS as i128, LONGEST as i128);

    fn cell(initial: i32) -> CommLimitCell {
        let own = AtomicU64::new(u64::from(initial as u32));
        CommLimitCell { own, in_force: AtomicU64::new(0), process: Mutex::default() }
    }
}

impl Cell for ProcessLimitCell {
    fn read(&self) -> Value {
        Value::U64(self.get())
    }

    fn write(&self, value: &Value) -> TResult<()> {
        let Value::U64(value) = value else { return Err(TError::INVALID) };
        self.set(*value);
        Ok(())
    }

    fn word(&self) -> Option<&AtomicU64> {
        Some(&self.own)
    }
}

impl Cell for CommLimitCell {
    fn read(&self) -> Value {
        Value::I32(self.get())
    }

    fn write(&self, value: &Value) -> TResult<()> {
        let Value::I32(value) = value else { return Err(TError::INVALID) };
        self.set(*value);
        Ok(())
    }

    fn word(&self) -> Option<&AtomicU64> {
        Some(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cvars::{CommSettings, EngineSettings};

    fn limits() -> (&'static ProcessLimitCell, &'static CommLimitCell, &'static CommLimitCell) {
        (&EngineSettings::new().eager_limit, &CommSettings::new().eager_limit, &CommSettings::new().eager_limit)
    }

    fn in_force(limit: &'static CommLimitCell) -> u64 {
        limit.in_force().load(Relaxed)
    }

    #[test]
    fn a_communicator_follows_its_process_until_it_has_a_limit_of_its_own() {
        let (process, a, b) = limits();
        a.join(process);
        b.join(process);
        assert_eq!((in_force(a), in_force(b)), (process.get(), process.get()));
        process.set(100);
        a.set(0);
        assert_eq!((in_force(a), in_force(b)), (0, 100));
        process.set(200);
        assert_eq!((in_force(a), in_force(b)), (0, 200));
        a.set(AS_PROCESS);
        assert_eq!((in_force(a), a.get()), (200, AS_PROCESS));
    }

    #[test]
    fn no_limit_is_in_force_beyond_what_the_fabric_carries_whole() {
        let (process, a, b) = limits();
        a.join(process);
        process.set_room(50);
        b.join(process);
        assert_eq!((in_force(a), in_force(b), process.get()), (50, 50, 16384));
        a.set(51);
        b.set(49);
        assert_eq!((in_force(a), in_force(b), a.get()), (50, 49, 51));
    }

    #[test]
    fn who_has_left_follows_no_more() {
        let (process, a, b) = limits();
        a.join(process);
        b.join(process);
        a.leave();
        process.set(7);
        assert_eq!((in_force(a), in_force(b)), (16384, 7));
        a.set(3);
        assert_eq!(in_force(a), 16384);
        a.join(process);
        assert_eq!(in_force(a), 3);
    }
}
