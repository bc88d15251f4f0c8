//! Registered memory, and copies to and from that of peers.

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

    /// Copies from or to a peer's region, and waits for it.
    ///
    /// # Safety
    /// `at..at + bytes` is readable, and writable for a read.
    pub(super) unsafe fn copy(
        &self,
        peer: u32,
        key: RegionKey,
        offset: u64,
        writes: bool,
        at: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let [start, number] = key.to_words();
        if number == NO_KEY {
            let name = self.lock().name_of(peer);
            let rule = format!("{name} could not register the memory that this process was to copy");
            return Err(Error::new(MPI_ERR_OTHER, rule));
        }
        let mut done = 0;
        while done < bytes {
            let mut inner = self.lock();
            let part = (bytes - done).min(inner.provider.facts.longest);
            let Some(address) = inner.address(peer) else { return Err(lost_error(&inner, peer)) };
            let from = if inner.provider.by_address() { start.wrapping_add(offset) } else { offset } + done as u64;
            // SAFETY: inside the caller's memory.
            let place = unsafe { at.add(done) };
            let local = match inner.provider.registers_local() {
                // SAFETY: the memory stays until the end of this function, which ends the registration, except if the peer is lost, as below.
                true => unsafe {
                    let access = if writes { ffi::FI_WRITE } else { ffi::FI_READ };
                    inner.provider.register(place, part, access.into())?
                },
                false => Registered::NONE,
            };
            let mut operation = Box::new(Operation::new(Kind::Copy, 0));
            let context = &raw mut *operation;
            // SAFETY: the memory and the operation stay until it completes, for which the code below waits; except if the peer is lost: then the
            // operation is leaked, and the caller's memory has to stay mapped as long as the provider (docs/hosts.md).
            let mut status =
                unsafe { inner.provider.copy(address, writes, (place, part), local, (number, from), context) };
            let (mut polls, most) = (0, COPY_POLLS + (part / COPY_BYTES_PER_POLL).min(MOST_LONGER_POLLS) as u32);
            while status == -i64::from(ffi::FI_EAGAIN) && inner.peers[peer as usize].lost.is_none() {
                inner.progress();
                self.pause(inner, &mut polls, most);
                inner = self.lock();
                // SAFETY: as above.
                status = unsafe { inner.provider.copy(address, writes, (place, part), local, (number, from), context) };
            }
            // SAFETY: the operation is alive; `progress` changes it, under the lock.
            let waits = || unsafe { (&raw const (*context).number).read_volatile() } == 0;
            while status == 0 && waits() {
                if inner.peers[peer as usize].lost.is_some() {
                    // No answer will come, and the provider cannot be made to forget the operation.
                    std::mem::forget(operation);
                    inner.peers[peer as usize].copying = true;
                    return Err(lost_error(&inner, peer));
                }
                inner.progress();
                // Others that this process owes something may wait for it.
                inner.flush_all();
                if waits() || !inner.arrived.is_empty() {
                    self.pause(inner, &mut polls, most);
                    inner = self.lock();
                }
            }
            if local.key != 0 || inner.provider.registers_local() {
                inner.provider.end(local);
            }
            let ended = if status == 0 { operation.number.min(0) } else { status };
            if ended < 0 {
                drop(inner);
                self.await_loss(peer, &mut polls);
                let inner = self.lock();
                if inner.peers[peer as usize].lost.is_some() {
                    return Err(lost_error(&inner, peer));
                }
                let verb = if writes { "write" } else { "read" };
                let why =
                    format!("cannot {verb} the memory of {}: {}", inner.name_of(peer), inner.provider.text(ended));
                return Err(Error::new(MPI_ERR_PROC_ABORTED, why));
            }
            done += part;
            inner.meters.with(|meters| match writes {
                true => meters.bytes_written.add(part as u64),
                false => meters.bytes_read.add(part as u64),
            });
        }
        Ok(())
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
    fn pause(&self, inner: MutexGuard<'_, Inner>, polls: &mut u32, most: u32) {
        let arrivals = !inner.arrived.is_empty();
        drop(inner);
        // What this thread has taken makes the descriptor readable no more, so no thread that sleeps would find it.
        if arrivals {
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

#[cold]
pub(super) fn lost_error(inner: &Inner, peer: u32) -> Error {
    let why = inner.peers[peer as usize].lost.clone();
    Error::new(MPI_ERR_PROC_ABORTED, why.unwrap_or_else(|| format!("{} cannot be reached", inner.name_of(peer))))
}

impl NetworkCopies for Shared {
    fn read(&self, peer: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        // SAFETY: the slice is writable, and no other code uses it.
        unsafe { self.copy(peer, key, offset, false, into.as_mut_ptr(), into.len()) }
    }

    fn write(&self, peer: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        // SAFETY: the slice is readable.
        unsafe { self.copy(peer, key, offset, true, data.as_ptr().cast_mut(), data.len()) }
    }
}
