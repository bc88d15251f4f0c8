//! Registered memory, and copies to and from that of peers.
//!
//! Not here: the operations of a copy (`under_way`).

use std::borrow::Cow;

use mpi_fabric::{CopyState, StartedCopy};

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
        let mut copy = NetworkCopy::new(peer, writes, Cow::Borrowed(pieces), longest);
        loop {
            let mut inner = self.lock();
            // SAFETY: the caller's promise.
            let step = unsafe { copy.step(&mut inner, true) };
            let over = match step {
                Step::Lost(error) => return Err(error),
                Step::Over => true,
                Step::Going { came } => {
                    if came {
                        polls = 0;
                        if inner.arrived.is_empty() {
                            continue;
                        }
                    }
                    false
                }
            };
            if !over || !inner.arrived.is_empty() {
                self.pause(inner, &mut polls, most);
            }
            if over {
                return self.result_of(copy);
            }
        }
    }

    /// The result of a copy that is over.
    fn result_of(&self, copy: NetworkCopy<'_>) -> Result<()> {
        match copy.failed {
            None => Ok(()),
            Some(Failure::Refused(why)) => Err(why),
            Some(Failure::Status(status)) => Err(self.failure_of_copy(copy.peer, copy.writes, status)),
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

/// A copy, and the operations of it that are under way.
struct NetworkCopy<'a> {
    peer: u32,
    writes: bool,
    left: Left<'a>,
    under_way: UnderWay,
    failed: Option<Failure>,
}

/// How far a copy has come.
enum Step {
    /// Something is under way or left; whether some of it has come.
    Going { came: bool },
    /// All has come, or it has failed and nothing is under way.
    Over,
    /// The peer or the provider is lost.
    Lost(Error),
}

impl<'a> NetworkCopy<'a> {
    fn new(peer: u32, writes: bool, pieces: Cow<'a, [(RegionKey, Piece)]>, longest: usize) -> NetworkCopy<'a> {
        let under_way = UnderWay::new(&pieces, longest);
        NetworkCopy { peer, writes, left: Left::new(pieces), under_way, failed: None }
    }

    /// Starts operations, and takes those that have completed. `polls`: also lets the provider make progress.
    ///
    /// # Safety
    /// The pieces of this process are readable, and writable for a read, until the copy is over; for ever, if it is lost or dropped
    /// before (docs/hosts.md).
    unsafe fn step(&mut self, inner: &mut Inner, polls: bool) -> Step {
        if inner.peers[self.peer as usize].lost.is_some() || inner.failure.is_some() {
            // No answer will come, and the provider cannot be made to forget the operations.
            self.give_up(inner);
            return Step::Lost(match &inner.failure {
                Some(why) => Error::new(MPI_ERR_OTHER, why.clone()),
                None => lost_error(inner, self.peer),
            });
        }
        while self.failed.is_none()
            && let Some((place, piece)) = self.under_way.next(&self.left)
        {
            // SAFETY: the caller's promise.
            match unsafe { self.under_way.start(place, inner, self.peer, self.writes, piece) } {
                Ok(()) => self.left.take(piece.1.bytes),
                Err(NotStarted::Later) => break,
                Err(NotStarted::Never(why)) => self.failed = Some(why),
            }
        }
        let before = self.under_way.count;
        if polls {
            inner.progress();
            // Others that this process owes something may wait for it.
            inner.flush_all();
        }
        self.under_way.collect(inner, self.writes, &mut self.failed);
        if self.failed.is_some() {
            self.under_way.end(inner);
        }
        let over = self.under_way.count == 0 && (self.failed.is_some() || self.left.first(usize::MAX).is_none());
        if over { Step::Over } else { Step::Going { came: self.under_way.count < before } }
    }

    /// Leaves the operations that are under way to the provider.
    fn give_up(&mut self, inner: &mut Inner) {
        inner.peers[self.peer as usize].copying |= self.under_way.leak();
        self.under_way.end(inner);
    }
}

/// A read that goes on while the process does other things.
struct StartedRead {
    shared: Arc<Shared>,
    /// `None`: it is over.
    copy: Option<NetworkCopy<'static>>,
}

impl StartedCopy for StartedRead {
    fn advance(&mut self) -> CopyState {
        let Some(copy) = &mut self.copy else { return CopyState::Over(Ok(())) };
        let mut inner = self.shared.lock();
        // SAFETY: the promise of the caller of `start_read`.
        let step = unsafe { copy.step(&mut inner, false) };
        let idle = copy.under_way.count == 0;
        drop(inner);
        match step {
            Step::Going { .. } if idle => CopyState::Refused,
            Step::Going { came } => CopyState::UnderWay { came },
            Step::Over => CopyState::Over(self.copy.take().map_or(Ok(()), |copy| self.shared.result_of(copy))),
            Step::Lost(error) => {
                self.copy = None;
                CopyState::Over(Err(error))
            }
        }
    }
}

impl Drop for StartedRead {
    fn drop(&mut self) {
        if let Some(copy) = &mut self.copy {
            copy.give_up(&mut self.shared.lock());
        }
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

    unsafe fn start_read(self: Arc<Self>, peer: u32, pieces: Vec<(RegionKey, Piece)>) -> Option<Box<dyn StartedCopy>> {
        if pieces.iter().all(|(_, piece)| piece.bytes == 0) || pieces.iter().any(|(key, _)| key.is_none()) {
            return None;
        }
        let longest = self.lock().provider.facts.longest;
        let copy = Some(NetworkCopy::new(peer, false, Cow::Owned(pieces), longest));
        Some(Box::new(StartedRead { shared: self, copy }))
    }

    unsafe fn write_pieces(&self, peer: u32, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(peer, true, &in_region(key, pieces)) }
    }
}
