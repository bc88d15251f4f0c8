//! Registered memory, and copies to and from that of peers.
//!
//! Not here: the operations of a copy (`under_way`).

use super::under_way::{Failure, Left, NotStarted, UnderWay};
use super::*;
use crate::liveness::LOSS_DELAY;

/// Keeps memory registered.
pub(super) struct Held {
    pub(super) shared: Arc<Shared>,
    pub(super) region: Registered,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut ended = self.shared.ended();
        if ended.waits {
            return ended.regions.push(self.region);
        }
        // The thread that hands out records has `inner`, and may wait for this lock.
        drop(ended);
        self.shared.lock().provider.end(self.region);
    }
}

impl Shared {
    /// Hands out the records that have arrived; the number of records.
    pub(super) fn hand_out(&self, inner: &mut Inner, sink: &mut dyn Sink) -> usize {
        self.ended().waits = true;
        let mut seen = 0;
        // As many as there are now: a receive that is posted again may complete at once.
        for _ in 0..inner.arrived.len() {
            if let Some((number, bytes)) = inner.arrived.pop_front() {
                seen += inner.take(number, bytes, sink);
                inner.unposted.push(number);
            }
        }
        let mut ended = self.ended();
        ended.waits = false;
        for region in ended.regions.drain(..) {
            inner.provider.end(region);
        }
        seen
    }

    /// Copies pieces from or to regions of a peer, several at a time, and waits for them.
    ///
    /// # Safety
    /// The pieces of this process are readable, and writable for a read.
    unsafe fn copy(&self, peer: u32, writes: bool, pieces: &[(RegionKey, Piece)]) -> Result<()> {
        if pieces.iter().any(|(key, _)| key.is_none()) {
            let name = self.lock().name_of(peer);
            let rule = format!("{name} could not register the memory that this process was to copy");
            return Err(Error::new(MPI_ERR_OTHER, rule));
        }
        let bytes: usize = pieces.iter().map(|(_, piece)| piece.bytes).sum();
        if bytes == 0 {
            return Ok(());
        }
        let (mut polls, most) = (0, COPY_POLLS + (bytes / COPY_BYTES_PER_POLL).min(MOST_LONGER_POLLS) as u32);
        let longest = self.lock().provider.facts.longest;
        let (mut left, mut under_way) = (Left { pieces, done: 0 }, UnderWay::new(pieces, longest));
        let mut failed = None;
        loop {
            let mut inner = self.lock();
            if inner.peers[peer as usize].lost.is_some() || inner.failure.is_some() {
                // No answer will come, and the provider cannot be made to forget the operations.
                inner.peers[peer as usize].copying |= under_way.leak();
                under_way.end(&mut inner);
                return Err(match &inner.failure {
                    Some(why) => Error::new(MPI_ERR_OTHER, why.clone()),
                    None => lost_error(&inner, peer),
                });
            }
            while failed.is_none()
                && let Some((place, piece)) = under_way.next(&left)
            {
                // SAFETY: the caller's promise; the memory and the operation stay until it completes, for which the code below waits; except if
                // the peer or the provider is lost: then the operation is leaked, and the caller's memory has to stay (docs/hosts.md).
                match unsafe { under_way.start(place, &mut inner, peer, writes, piece) } {
                    Ok(()) => left.take(piece.1.bytes),
                    Err(NotStarted::Later) => break,
                    Err(NotStarted::Never(why)) => failed = Some(why),
                }
            }
            let before = under_way.count;
            inner.progress();
            // Others that this process owes something may wait for it.
            inner.flush_all();
            under_way.collect(&mut inner, writes, &mut failed);
            if failed.is_some() {
                under_way.end(&mut inner);
            }
            if under_way.count < before {
                polls = 0;
            }
            let over = under_way.count == 0 && (failed.is_some() || left.first(usize::MAX).is_none());
            if !over && under_way.count < before && inner.arrived.is_empty() {
                continue;
            }
            if !over || !inner.arrived.is_empty() {
                self.pause(inner, &mut polls, most);
            }
            if over {
                break;
            }
        }
        match failed {
            None => Ok(()),
            Some(Failure::Refused(why)) => Err(why),
            Some(Failure::Status(status)) => Err(self.failure_of_copy(peer, writes, status)),
        }
    }

    /// The error of a copy for which the provider reported a status: that of the peer's loss, if that is why.
    #[cold]
    fn failure_of_copy(&self, peer: u32, writes: bool, status: i64) -> Error {
        self.await_loss(peer, &mut 0);
        let inner = self.lock();
        if inner.peers[peer as usize].lost.is_some() {
            return lost_error(&inner, peer);
        }
        let (verb, why) = (if writes { "write" } else { "read" }, inner.provider.text(status));
        Error::new(MPI_ERR_PROC_ABORTED, format!("cannot {verb} the memory of {}: {why}", inner.name_of(peer)))
    }

    /// Waits until a peer for whose memory the provider has reported an error counts as lost, at most 2.5 s.
    #[cold]
    fn await_loss(&self, peer: u32, polls: &mut u32) {
        let end = Instant::now() + LOSS_DELAY + LOSS_DELAY / 4;
        while Instant::now() < end {
            let mut inner = self.lock();
            if inner.liveness.is_none() || inner.peers[peer as usize].lost.is_some() {
                return;
            }
            inner.progress();
            inner.flush_all();
            self.pause(inner, polls, COPY_POLLS);
        }
    }

    /// Between two polls of a thread that waits for a copy: rings for what has arrived for others, and sleeps a while after `most` polls.
    /// What has arrived does not keep it awake: a thread that yields the core again and again takes it from those that were rung for, and
    /// from whatever else runs on this host.
    fn pause(&self, mut inner: MutexGuard<'_, Inner>, polls: &mut u32, most: u32) {
        let rings = take(&mut inner.news) || !inner.arrived.is_empty();
        drop(inner);
        // What this thread has taken makes the descriptor readable no more, so no thread that sleeps would find it.
        if rings {
            self.ring();
        }
        *polls += 1;
        if *polls < most {
            return std::hint::spin_loop();
        }
        let mut inner = self.lock();
        let quiet = inner.provider.may_sleep();
        if !quiet && *polls < most + COPY_YIELDS {
            drop(inner);
            return std::thread::yield_now();
        }
        let mut list = libc::pollfd { fd: inner.provider.descriptor, events: libc::POLLIN, revents: 0 };
        drop(inner);
        // SAFETY: a list of one, which is passed over if the provider has no descriptor. The time is short, because another thread may take
        // what the descriptor is readable for, and the provider may have to be polled.
        unsafe { libc::poll(&mut list, 1, 1) };
    }
}

fn in_region(key: RegionKey, pieces: &[Piece]) -> Vec<(RegionKey, Piece)> {
    pieces.iter().map(|piece| (key, *piece)).collect()
}

#[cold]
pub(super) fn lost_error(inner: &Inner, peer: u32) -> Error {
    let why = inner.peers[peer as usize].lost.clone();
    Error::new(MPI_ERR_PROC_ABORTED, why.unwrap_or_else(|| format!("{} cannot be reached", inner.name_of(peer))))
}

impl NetworkCopies for Shared {
    fn read(&self, peer: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        let piece = Piece { offset, address: into.as_mut_ptr().expose_provenance(), bytes: into.len() };
        // SAFETY: the slice is writable, and no other code uses it.
        unsafe { self.copy(peer, false, &[(key, piece)]) }
    }

    fn write(&self, peer: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        let piece = Piece { offset, address: data.as_ptr().expose_provenance(), bytes: data.len() };
        // SAFETY: the slice is readable.
        unsafe { self.copy(peer, true, &[(key, piece)]) }
    }

    unsafe fn read_pieces(&self, peer: u32, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(peer, false, &in_region(key, pieces)) }
    }

    unsafe fn read_regions(&self, peer: u32, pieces: &[(RegionKey, Piece)]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(peer, false, pieces) }
    }

    unsafe fn write_pieces(&self, peer: u32, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(peer, true, &in_region(key, pieces)) }
    }
}
