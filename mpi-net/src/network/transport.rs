//! The interface of the transport to the endpoint.

use super::*;
use mpi_fabric::{ProcessId, RemotePeer};

impl Transport for Network {
    fn job(&self) -> u64 {
        let inner = self.shared.lock();
        // Not the secret itself: the number is shown.
        inner.job.unwrap_or_else(|| inner.secret.token(u32::MAX, u32::MAX).max(1))
    }

    fn max_payload(&self) -> usize {
        PAYLOAD
    }

    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        let mut inner = self.shared.lock();
        let pushed = inner.push(dest, head, payload);
        self.shared.report(inner);
        pushed
    }

    fn whole_bytes(&self) -> usize {
        self.shared.settings.eager_limit.get().min(PAYLOAD as u64) as usize
    }

    fn gather(&mut self) {
        self.shared.lock().gathers = true;
    }

    fn release(&mut self) {
        let mut inner = self.shared.lock();
        inner.gathers = false;
        if !inner.waiting.is_empty() {
            inner.flush_all();
        }
        self.shared.report(inner);
    }

    fn poll(&mut self, sink: &mut dyn Sink) -> Result<usize> {
        let mut guard = self.shared.lock();
        let inner = &mut *guard;
        inner.polls += 1;
        inner.progress();
        let seen = if inner.arrived.is_empty() { 0 } else { self.shared.hand_out(inner, sink) };
        if !inner.waiting.is_empty() || !inner.creditors.is_empty() || inner.lacks_receives() {
            inner.flush_all();
        }
        for peer in &inner.lost {
            sink.lost(*peer);
        }
        let polled = match &inner.failure {
            Some(why) => Err(Error::new(MPI_ERR_OTHER, why.clone())),
            None => Ok(seen),
        };
        self.shared.report(guard);
        polled
    }

    fn can_copy(&self, _: u32) -> bool {
        self.shared.remote_access && self.shared.settings.remote_access.get()
    }

    unsafe fn register(&self, start: *mut u8, bytes: usize, access: Access) -> (u64, Registration) {
        if !self.shared.remote_access || bytes == 0 {
            return (RegionKey::NOT_REGISTERED, Registration::NONE);
        }
        let bits = match access {
            Access::Read => ffi::FI_REMOTE_READ,
            Access::ReadWrite => ffi::FI_REMOTE_READ | ffi::FI_REMOTE_WRITE,
        };
        // SAFETY: the caller's promise: the memory stays until the registration is dropped, which ends it.
        match unsafe { self.shared.lock().provider.register(start, bytes, bits.into()) } {
            Ok(region) => (region.key, Registration::new(Held { shared: self.shared.clone(), region })),
            Err(_) => (RegionKey::NOT_REGISTERED, Registration::NONE),
        }
    }

    fn copies(&self) -> Arc<dyn NetworkCopies> {
        self.shared.clone()
    }

    fn alive(&self, peer: u32) -> bool {
        self.shared.lock().peers.get(peer as usize).is_some_and(|peer| peer.lost.is_none())
    }

    fn lost_because(&self, peer: u32) -> Option<String> {
        self.shared.lock().peers.get(peer as usize)?.lost.clone()
    }

    fn waiting(&self) -> Waiting {
        Waiting::Bell(self.shared.clone())
    }

    fn address(&self) -> Option<String> {
        Some(Network::address(self))
    }

    fn connect(&mut self, number: u32, peer: &RemotePeer) -> Result<()> {
        self.shared.lock().connect(number, peer).map_err(|why| {
            let ProcessId { job, rank } = peer.id;
            Error::new(MPI_ERR_OTHER, format!("process {rank} of job {job:016x} cannot be reached: {why}"))
        })
    }

    fn begin(&mut self, number: u32, dials: bool) {
        self.shared.lock().begin(number, dials);
    }

    fn disconnect(&mut self, number: u32) -> bool {
        self.shared.lock().disconnect(number)
    }

    fn is_drained(&self) -> bool {
        self.shared.lock().is_drained()
    }

    fn settle(&mut self) {
        let mut inner = self.shared.lock();
        inner.settle();
        inner.flush_all();
        self.shared.report(inner);
    }

    fn depart(&mut self) {
        self.shared.lock().liveness = None;
        if let Ok(liveness) = &self.liveness {
            liveness.requests().leave();
        }
    }
}

impl Shared {
    /// Ends a use of the network: rings for a thread that sleeps if there is something that the provider's descriptor does not show.
    #[inline]
    fn report(&self, mut inner: MutexGuard<'_, Inner>) {
        let news = take(&mut inner.news);
        drop(inner);
        if news {
            self.ring();
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.depart();
        // The endpoint's doorbell has this value, and the function has the doorbell.
        let Bell { ring, watcher } = take(&mut *self.shared.bell());
        drop(watcher);
        drop(ring);
        let end = Instant::now() + LINGER;
        let mut inner = self.shared.lock();
        while !inner.is_drained() && inner.failure.is_none() && Instant::now() < end {
            inner.progress();
            inner.flush_all();
        }
    }
}

impl BellRinger for Shared {
    fn attach(&self, ring: Box<dyn Fn() + Send + Sync>) {
        self.bell().ring = Some(ring.into());
    }

    fn arm(&self) -> bool {
        let descriptor = {
            let mut inner = self.lock();
            if !inner.may_sleep() {
                return false;
            }
            inner.provider.descriptor
        };
        let mut bell = self.bell();
        if bell.watcher.is_none() {
            let Some(ring) = bell.ring.clone() else { return false };
            bell.watcher = Watcher::start(descriptor, ring);
        }
        bell.watcher.as_ref().is_some_and(|watcher| {
            watcher.arm();
            true
        })
    }
}
