//! One rank's end of the simulated network.

use std::ptr;
use std::sync::Arc;

use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_errors::{Error, Result};

use super::schedule::{Region, Schedule};
use crate::fault;
use crate::record::{Full, Payload, RecordHead, Sink};
use crate::region::{Access, RegionKey, Registration};
use crate::transport::{NetworkCopies, Transport, Waiter, Waiting};

/// Longest payload of a record.
const MAX_PAYLOAD: usize = 16 << 10;
/// Records that one poll delivers at most.
const BATCH: usize = 16;

pub(super) struct SimulatedTransport {
    schedule: Arc<Schedule>,
    rank: u32,
    copies: Arc<SimulatedCopies>,
}

impl SimulatedTransport {
    pub(super) fn new(schedule: Arc<Schedule>, rank: u32) -> SimulatedTransport {
        let copies = Arc::new(SimulatedCopies { schedule: schedule.clone(), rank });
        SimulatedTransport { schedule, rank, copies }
    }
}

/// Copies in virtual time, which advance the clock by the time they take.
struct SimulatedCopies {
    schedule: Arc<Schedule>,
    rank: u32,
}

impl SimulatedCopies {
    /// Copies between this process and a region, and advances the clock by the time it takes.
    fn copy(
        &self,
        peer: u32,
        key: RegionKey,
        (offset, bytes): (u64, usize),
        access: Access,
        copy: impl FnOnce(*mut u8),
    ) -> Result<()> {
        let mut state = self.schedule.lock();
        if let Some(error) = state.error_for(self.rank) {
            return Err(lost(error));
        }
        let region = state.regions.get(&key.number()).filter(|region| {
            let inside = offset.checked_add(bytes as u64).is_some_and(|end| end <= region.bytes as u64);
            region.owner == peer && inside && (access == Access::Read || region.access == Access::ReadWrite)
        });
        let Some(region) = region else {
            return Err(fault::foreign(format!(
                "rank {peer} has registered no region with the {bytes} bytes at offset {offset}"
            )));
        };
        copy(region.start.wrapping_add(offset as usize));
        state.copied(self.rank, peer, bytes);
        Ok(())
    }
}

/// Number of the job; one such job does not meet another.
const JOB: u64 = 1;

impl Transport for SimulatedTransport {
    fn job(&self) -> u64 {
        JOB
    }

    fn max_payload(&self) -> usize {
        MAX_PAYLOAD
    }

    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        assert!(payload.len() <= MAX_PAYLOAD, "a record of {} bytes", payload.len());
        self.schedule.lock().send(self.rank, dest, head, payload);
        Ok(())
    }

    fn poll(&mut self, sink: &mut dyn Sink) -> Result<usize> {
        let mut state = self.schedule.let_others_first(self.schedule.lock(), self.rank);
        let mut arrived = Vec::new();
        while arrived.len() < BATCH
            && let Some(record) = state.take_arrived(self.rank)
        {
            arrived.push(record);
        }
        if arrived.is_empty() {
            state.spend_poll(self.rank);
            if let Some(error) = state.error_for(self.rank) {
                return Err(lost(error));
            }
        }
        drop(state);
        for record in &arrived {
            sink.record(record.from, &record.head, Payload::from_words(&record.words, record.len));
        }
        Ok(arrived.len())
    }

    fn can_copy(&self, _peer: u32) -> bool {
        true
    }

    unsafe fn register(&self, start: *mut u8, bytes: usize, access: Access) -> (u64, Registration) {
        let region = Region { owner: self.rank, start, bytes, access };
        let key = self.schedule.lock().add_region(region);
        let registered = Registered { schedule: self.schedule.clone(), key };
        (key, Registration::new(registered))
    }

    fn copies(&self) -> Arc<dyn NetworkCopies> {
        self.copies.clone()
    }

    fn alive(&self, peer: u32) -> bool {
        !self.schedule.lock().is_lost(peer)
    }

    fn waiting(&self) -> Waiting {
        Waiting::Own(Arc::new(Turn { schedule: self.schedule.clone(), rank: self.rank }))
    }
}

impl NetworkCopies for SimulatedCopies {
    fn read(&self, peer: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        let bytes = into.len();
        self.copy(peer, key, (offset, bytes), Access::Read, |from| {
            // SAFETY: `from..from + bytes` lies in a region that stays registered while the schedule is locked.
            unsafe { ptr::copy(from, into.as_mut_ptr(), bytes) }
        })
    }

    fn write(&self, peer: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        self.copy(peer, key, (offset, data.len()), Access::ReadWrite, |to| {
            // SAFETY: as in `read`, and the region was registered for writing.
            unsafe { ptr::copy(data.as_ptr(), to, data.len()) }
        })
    }
}

impl Drop for SimulatedTransport {
    fn drop(&mut self) {
        self.schedule.end(self.rank);
    }
}

/// Sleeping in virtual time.
struct Turn {
    schedule: Arc<Schedule>,
    rank: u32,
}

impl Waiter for Turn {
    fn sleep(&self) {
        self.schedule.sleep(self.rank);
    }

    fn wake(&self) {
        self.schedule.lock().wake(self.rank);
    }
}

/// Keeps a region registered.
struct Registered {
    schedule: Arc<Schedule>,
    key: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.schedule.lock().regions.remove(&self.key);
    }
}

#[cold]
fn lost(what: String) -> Error {
    Error::new(MPI_ERR_PROC_ABORTED, what)
}
