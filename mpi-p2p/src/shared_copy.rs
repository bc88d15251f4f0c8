//! Long messages that both sides copy, chunk by chunk, over a transfer slot of the receiver.
//!
//! Invariant: a receive completes, or its request is dropped, only when no process copies into its buffer any more: all
//! chunks are done, or the slot is closed and all claimed chunks are done, or the sender has ended.
//! Not here: the claims themselves (`chunk_claims`), which messages go this way (`transfer`).

use std::thread::yield_now;

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::Error;
use mpi_fabric::{Endpoint, Payload, RecordHead};

use crate::chunk_claims;
use crate::core::{Core, Reply, State};
use crate::engine::Engine;
use crate::message::Matched;
use crate::registration;
use crate::request::Work;
use crate::transfer_slots::{SLOTS, SharedCopy};
use crate::wire::{self, Share};

/// Largest chunk one side claims at a time.
const CHUNK_MAX: u64 = 128 << 10;
/// Chunks are a quarter of a message, so that both sides end together, and never tiny.
fn chunk_bytes(bytes: u64) -> u64 {
    (bytes.div_ceil(4)).next_multiple_of(4096).clamp(16 << 10, CHUNK_MAX)
}

impl Core {
    /// Requests the sender to copy chunks of its message into `memory`, and copies the chunks that this process can claim.
    pub fn begin_shared_copy(&mut self, endpoint: &mut Endpoint, matched: Matched, memory: &mut [u8]) {
        let Matched { from, token: peer, offer, request, .. } = matched;
        let slot = self.slots.free.pop().expect("the caller saw a free one");
        self.instruments.slots_free.lower(1);
        self.update_slots();
        let round = self.slots.rounds[slot as usize].wrapping_add(1);
        self.slots.rounds[slot as usize] = round;
        chunk_claims::open(endpoint.transfer_slot(endpoint.rank(), slot), round);
        let bytes = memory.len() as u64;
        let (region, registration) = registration::for_writing(endpoint, from, memory);
        let share = Share { region, bytes, slot, round };
        self.reply(endpoint, Reply::about(from, wire::SHARE, peer).with(&share.encode()));
        let chunk = chunk_bytes(bytes);
        let chunks = bytes.div_ceil(chunk);
        let own = endpoint.transfer_slot(endpoint.rank(), slot);
        let mut failure = None;
        while let Some(index) = chunk_claims::claim(own, round, chunks) {
            let start = index * chunk;
            let end = bytes.min(start + chunk);
            let part = &mut memory[start as usize..end as usize];
            match endpoint.read(from, offer.region, start, part) {
                Ok(()) => self.instruments.bytes_copied.add(end - start),
                Err(error) => failure = Some(error),
            }
            chunk_claims::complete(own);
            self.update_shared(request, chunk_claims::completed(own).0 * chunk);
        }
        if let (Some(error), Some(request)) = (failure, self.requests.get_mut(request)) {
            request.error = Some(error);
        }
        let revoked = None;
        self.shares.push(SharedCopy {
            request,
            from,
            token: peer,
            slot,
            round,
            chunks,
            chunk,
            revoked,
            _registration: registration,
        });
        self.complete_shared_copies(endpoint);
    }

    fn update_slots(&self) {
        let used = u64::from(SLOTS) - self.instruments.slots_free.get();
        self.instruments.slots_used.set(used, u64::from(SLOTS));
    }

    /// A receiver requests this process, the sender, to copy chunks too.
    pub fn shared_copy_requested(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let handle = Handle(head.b as usize);
        if payload.len() == Share::LEN
            && let Some(request) = self.requests.get(handle)
            && let Work::Offered { data, dest, .. } = &request.work
            && *dest == from
        {
            let share = Share::decode([0, 1, 2, 3].map(|i| payload.word(i)));
            if share.slot < SLOTS && share.bytes <= data.bytes() && data.contiguous().is_some() {
                self.copy_requests.push((handle, share));
                return;
            }
        }
        self.fault(from, "a request to copy data that was not offered");
    }

    /// Copies the chunks that are still unclaimed of the transfers whose receivers requested it.
    pub fn copy_requested_chunks(&mut self, endpoint: &mut Endpoint) {
        while let Some((handle, share)) = self.copy_requests.pop() {
            let Some(request) = self.requests.get(handle) else { continue };
            let Work::Offered { data, dest, .. } = &request.work else { continue };
            let Some(memory) = data.contiguous() else { continue };
            if !endpoint.shares_memory(*dest) || !endpoint.can_copy(*dest) {
                continue;
            }
            let chunk = chunk_bytes(share.bytes);
            let theirs = endpoint.transfer_slot(*dest, share.slot);
            while let Some(index) = chunk_claims::claim(theirs, share.round, share.bytes.div_ceil(chunk)) {
                let start = index * chunk;
                let end = share.bytes.min(start + chunk);
                let part = &memory[start as usize..end as usize];
                match endpoint.write(*dest, share.region, start, part) {
                    Ok(()) => {
                        self.instruments.bytes_helped.add(end - start);
                        chunk_claims::complete(theirs);
                    }
                    Err(_) => chunk_claims::fail(theirs),
                }
            }
        }
    }

    /// Completes the shared receives whose chunks are all done, and drops the revoked ones whose claimed chunks are.
    pub fn complete_shared_copies(&mut self, endpoint: &mut Endpoint) {
        let mut at = 0;
        while at < self.shares.len() {
            let share = &self.shares[at];
            let owned = endpoint.transfer_slot(endpoint.rank(), share.slot);
            let (done, in_place) = chunk_claims::completed(owned);
            let over = match share.revoked {
                None => done >= share.chunks,
                Some(claimed) => chunk_claims::is_settled(owned, claimed) || !endpoint.alive(share.from),
            };
            if !over {
                self.update_shared(share.request, done * share.chunk);
                at += 1;
                continue;
            }
            let SharedCopy { request, from, token, slot, .. } = self.shares.swap_remove(at);
            if let (false, Some(request)) = (in_place, self.requests.get_mut(request)) {
                let text = format!("process {from} of the job could not copy its part of the message");
                request.error.get_or_insert_with(|| Error::new(MPI_ERR_OTHER, text));
            }
            self.slots.free.push(slot);
            self.instruments.slots_free.raise(1);
            self.update_slots();
            self.reply(endpoint, Reply::about(from, wire::DONE, token));
            self.finish_rendezvous(request);
        }
    }

    /// Ends a shared receive before its end, if `request` is one: no chunk is claimed any more. The request stays in its
    /// table, detached, until the chunks already claimed are done. Whether it is one.
    fn close_shared_copy(&mut self, endpoint: &Endpoint, request: Handle) -> bool {
        let Some(share) = self.shares.iter_mut().find(|share| share.request == request) else { return false };
        let owned = endpoint.transfer_slot(endpoint.rank(), share.slot);
        share.revoked = Some(chunk_claims::close(owned, share.round, share.chunks));
        self.detach(request);
        true
    }
}

impl State {
    /// Revokes a request after a fault, before its buffer becomes invalid. Returns false while another process may
    /// still copy into the buffer: then [`Core::complete_shared_copies`] drops the request as soon as no process does.
    #[cold]
    fn revoke(&mut self, request: Handle) -> bool {
        self.take_back(request);
        let State { core, endpoint, .. } = self;
        core.matched.retain(|matched| matched.request != request);
        if core.close_shared_copy(endpoint, request) {
            return false;
        }
        if let Some(under_way) = core.requests.get_mut(request)
            && let Work::Receiving { from, wanted, got, .. } = under_way.work
        {
            under_way.work = Work::Discarding { from, wanted, got };
            core.detach(request);
            return true;
        }
        core.drop_request(request);
        true
    }
}

impl Engine {
    /// Revokes requests after a fault, before their buffers become invalid. Waits, without the process's lock, while
    /// another process copies into one of the buffers; after the call no process does.
    #[cold]
    pub fn revoke(&self, requests: &[Handle]) {
        let mut guard = self.lock();
        let state = self.state.get_mut(&mut guard);
        let mut waiting = false;
        for request in requests {
            waiting |= !state.revoke(*request);
        }
        while waiting {
            let State { core, endpoint, .. } = self.state.get_mut(&mut guard);
            core.complete_shared_copies(endpoint);
            waiting = core.shares.iter().any(|share| requests.contains(&share.request));
            if waiting {
                // A claimed chunk is a matter of microseconds, unless its claimant is stopped.
                drop(guard);
                yield_now();
                guard = self.lock();
            }
        }
    }
}
