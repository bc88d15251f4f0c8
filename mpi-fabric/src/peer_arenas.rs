//! The segments of other processes' arenas that this process has mapped, to copy messages from them.
//!
//! A segment is mapped when an offer first names it, for reading only, and stays mapped. What names it comes from the other
//! process: the descriptor must be one of the peer's process, its object shared memory that nobody can make shorter,
//! and the page in front must name the segment and the peer.
//! Invariant: an entry's mapping is of a segment of that peer.
//! Not here: segments of this process (`arena`), memory that all processes of a window map (`shared`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::arena::{ARENA, JOB, KIND, NUMBER, RANK, descriptor_of};
use crate::layout::PAGE;
use crate::mapping::{Mapping, open_sealed_for_reading};
use crate::transport::ProcessId;

/// Most segments of one peer that are mapped. Each is as long as all earlier ones together, so a sound peer has fewer.
const MOST: usize = 64;

/// The segments by peer and number.
#[derive(Default)]
pub(crate) struct PeerArenas(RefCell<HashMap<u32, Vec<Entry>>>);

struct Entry {
    number: u64,
    mapping: Result<Arc<Mapping>, Refused>,
}

/// How often a segment that could not be mapped was named since.
struct Refused(u32);

impl PeerArenas {
    /// The mapping of a segment that `owner`, a peer with this number, has named, if it has `bytes` bytes at an offset.
    /// `None`: they are not there, or the segment cannot be mapped; that is tried again ever less often.
    pub(crate) fn mapping_of(
        &self,
        (peer, owner): (u32, ProcessId),
        pid: impl FnOnce() -> Option<u32>,
        number: u64,
        (offset, bytes): (u64, u64),
    ) -> Option<Arc<Mapping>> {
        let mut peers = self.0.borrow_mut();
        let entries = peers.entry(peer).or_default();
        let at = match entries.iter().position(|entry| entry.number == number) {
            Some(at) => at,
            None if entries.len() == MOST => return None,
            None => {
                entries.push(Entry { number, mapping: Err(Refused(0)) });
                entries.len() - 1
            }
        };
        let mapping = &mut entries[at].mapping;
        if let Err(Refused(times)) = mapping {
            *times = times.saturating_add(1);
            if !times.is_power_of_two() {
                return None;
            }
            *mapping = Ok(Arc::new(open(pid()?, owner, number).ok()?));
        }
        let mapping = mapping.as_ref().ok()?;
        let fits = offset.checked_add(bytes)? <= (mapping.bytes() - PAGE) as u64;
        fits.then(|| mapping.clone())
    }
}

/// Maps a segment of a process.
fn open(pid: u32, owner: ProcessId, number: u64) -> io::Result<Mapping> {
    let other = || io::Error::new(io::ErrorKind::InvalidData, "that descriptor is of another object");
    let file = open_sealed_for_reading(pid, descriptor_of(number))?;
    // SAFETY: plain data, filled by the call when it succeeds.
    let kind = unsafe {
        let mut facts: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(file.as_raw_fd(), &mut facts) != 0 {
            return Err(io::Error::last_os_error());
        }
        facts.f_type
    };
    // Memory of other kinds may end before its object does.
    if kind != libc::TMPFS_MAGIC || file.metadata()?.len() < 2 * PAGE as u64 {
        return Err(other());
    }
    let mapping = Mapping::open_for_reading(file.as_fd())?;
    let word = |at: usize| mapping.word(at).load(Ordering::Relaxed);
    match [word(KIND), word(NUMBER), word(JOB), word(RANK)] == [ARENA, number, owner.job, u64::from(owner.rank)] {
        true => Ok(mapping),
        false => Err(other()),
    }
}

#[cfg(test)]
mod tests;
