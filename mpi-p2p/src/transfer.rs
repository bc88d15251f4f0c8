//! Large messages: offered first, then moved in a single copy or as fragments.
//!
//! The receiver decides once its receive is matched. Where the kernel lets it read the sender's memory it copies the
//! data itself; for a long message it tells the sender where to, and both copy chunks, claimed one by one from a
//! counter in the receiver's page, until none is left. Otherwise the sender feeds fragments through the ring.
//! Invariant: a receive completes when every byte it wants is in place; a send when its receiver said so, or when
//! its last fragment is in the ring.
//! Not here: matching (`arrival`).

use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_OTHER};
use mpi_core::{Handle, Status};
use mpi_errors::{Error, Result};
use mpi_fabric::{Endpoint, Payload, RecordHead};
use smallvec::SmallVec;

use crate::arrival::truncated;
use crate::chains::Key;
use crate::chunk_claims;
use crate::core::{Core, Reply};
use crate::request::{Data, Request, WATCHED, Work, token};
use crate::wire::{self, Offer, Share};

/// From this size on, both sides copy.
const SHARE_FROM: u64 = 32 << 10;
/// Largest chunk one side claims at a time.
const CHUNK_MAX: u64 = 128 << 10;
/// Number of transfer slots a process has.
pub(crate) const SLOTS: u32 = 256;

/// An offer that found its receive.
#[derive(Debug)]
pub(crate) struct Matched {
    pub from: u32,
    pub token: u64,
    pub offer: Offer,
    pub key: Key,
    pub request: Handle,
}

/// A receive whose chunks both sides copy.
#[derive(Debug)]
pub(crate) struct ShareInHand {
    pub request: Handle,
    from: u32,
    token: u64,
    slot: u32,
    chunks: u64,
    /// Bytes of a chunk.
    chunk: u64,
}

/// Free transfer slots of a process, and how often each was used.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Vec<u32>,
    rounds: Vec<u32>,
}

impl Slots {
    pub fn new() -> Slots {
        Slots { free: (0..SLOTS).rev().collect(), rounds: vec![0; SLOTS as usize] }
    }
}

/// Chunks are a quarter of a message, so that both sides end together, and never tiny.
fn chunk_bytes(bytes: u64) -> u64 {
    (bytes.div_ceil(4)).next_multiple_of(4096).clamp(16 << 10, CHUNK_MAX)
}

impl Core {
    /// Carries out what the last poll matched.
    pub fn carry_out_matched(&mut self, endpoint: &mut Endpoint) {
        for matched in std::mem::take(&mut self.matched) {
            self.begin_transfer(endpoint, matched);
        }
    }

    /// Starts to move a large message into the receive it matched. What goes wrong is the receive's error.
    pub fn begin_transfer(&mut self, endpoint: &mut Endpoint, matched: Matched) {
        let Matched { from, token: peer, offer, key, request: handle } = matched;
        if mpi_t::somebody_listens() {
            self.tell_rendezvous(handle, (key.source, key.tag, offer.bytes), false);
        }
        let request = self.requests.get_mut(handle).expect("a matched receive stays in its table");
        let Work::Matched { mut buffer } = std::mem::replace(&mut request.work, Work::Done) else {
            unreachable!("a matched receive waits for its transfer")
        };
        let room = buffer.bytes();
        let wanted = room.min(offer.bytes);
        request.status = Status::new(key.source, key.tag, wanted);
        request.error = (room < offer.bytes).then(|| truncated(key, offer.bytes, room));

        let copy = offer.address != 0 && endpoint.can_copy(from);
        if let (true, Some(memory)) = (copy, buffer.contiguous_mut()) {
            let memory = &mut memory[..wanted as usize];
            if wanted < SHARE_FROM || from == endpoint.rank() || self.slots.free.is_empty() {
                match endpoint.read_remote(from, offer.address, memory) {
                    Ok(()) => self.instruments.bytes_copied.add(wanted),
                    Err(error) => request.error = Some(error),
                }
                self.reply(endpoint, Reply::about(from, wire::DONE, peer));
                self.finish_rendezvous(handle);
                return;
            }
            request.work = Work::Sharing;
            self.copy_together(endpoint, matched, memory);
            return;
        }
        if wanted == 0 {
            self.reply(endpoint, Reply::about(from, wire::DONE, peer));
            self.finish_rendezvous(handle);
            return;
        }
        request.work = Work::Receiving { buffer, from, wanted, got: 0 };
        let payload: [u8; 16] = wire::join([token(handle), wanted]);
        self.reply(endpoint, Reply::about(from, wire::STREAM, peer).with(&payload));
    }

    /// Asks the sender to copy chunks of its message into `memory`, and copies what chunks this process can claim.
    fn copy_together(&mut self, endpoint: &mut Endpoint, matched: Matched, memory: &mut [u8]) {
        let Matched { from, token: peer, offer, request, .. } = matched;
        let slot = self.slots.free.pop().expect("the caller saw a free one");
        self.instruments.slots_free.lower(1);
        self.tell_slots();
        let round = self.slots.rounds[slot as usize].wrapping_add(1);
        self.slots.rounds[slot as usize] = round;
        chunk_claims::open(endpoint.transfer_slot(endpoint.rank(), slot), round);
        let bytes = memory.len() as u64;
        let share = Share { address: memory.as_ptr() as u64, bytes, slot, round };
        self.reply(endpoint, Reply::about(from, wire::SHARE, peer).with(&share.encode()));
        let chunk = chunk_bytes(bytes);
        let chunks = bytes.div_ceil(chunk);
        let own = endpoint.transfer_slot(endpoint.rank(), slot);
        let mut failure = None;
        while let Some(index) = chunk_claims::claim(own, round, chunks) {
            let start = index * chunk;
            let end = bytes.min(start + chunk);
            let part = &mut memory[start as usize..end as usize];
            match endpoint.read_remote(from, offer.address.wrapping_add(start), part) {
                Ok(()) => self.instruments.bytes_copied.add(end - start),
                Err(error) => failure = Some(error),
            }
            chunk_claims::complete(own);
            self.tell_shared(request, chunk_claims::completed(own).0 * chunk);
        }
        if let (Some(error), Some(request)) = (failure, self.requests.get_mut(request)) {
            request.error = Some(error);
        }
        self.shares.push(ShareInHand { request, from, token: peer, slot, chunks, chunk });
        self.settle_shares(endpoint);
    }

    fn tell_slots(&self) {
        let used = u64::from(SLOTS) - self.instruments.slots_free.get();
        self.instruments.slots_used.set(used, u64::from(SLOTS));
    }

    /// Completes the shared receives that all chunks are done with.
    pub fn settle_shares(&mut self, endpoint: &mut Endpoint) {
        let mut at = 0;
        while at < self.shares.len() {
            let share = &self.shares[at];
            let (done, in_place) = chunk_claims::completed(endpoint.transfer_slot(endpoint.rank(), share.slot));
            if done < share.chunks {
                self.tell_shared(share.request, done * share.chunk);
                at += 1;
                continue;
            }
            let ShareInHand { request, from, token, slot, .. } = self.shares.swap_remove(at);
            if let (false, Some(request)) = (in_place, self.requests.get_mut(request)) {
                let text = format!("process {from} of the job could not copy its part of the message");
                request.error.get_or_insert_with(|| Error::new(MPI_ERR_OTHER, text));
            }
            self.slots.free.push(slot);
            self.instruments.slots_free.raise(1);
            self.tell_slots();
            self.reply(endpoint, Reply::about(from, wire::DONE, token));
            self.finish_rendezvous(request);
        }
    }

    /// Pushes a reply at once, or keeps it until there is room.
    pub fn reply(&mut self, endpoint: &mut Endpoint, reply: Reply) {
        if self.replies.is_empty() && endpoint.push(reply.dest, &reply.head, &reply.payload[..reply.len]).is_ok() {
            return;
        }
        self.replies.push_back(reply);
    }

    /// Pushes what replies there is room for. Those to one process stay in order: the end of a transfer never overtakes
    /// the wish for help with it.
    pub fn flush_replies(&mut self, endpoint: &mut Endpoint) {
        let mut full = SmallVec::<[u32; 8]>::new();
        for _ in 0..self.replies.len() {
            let Some(reply) = self.replies.pop_front() else { return };
            if full.contains(&reply.dest) {
                self.replies.push_back(reply);
            } else if endpoint.push(reply.dest, &reply.head, &reply.payload[..reply.len]).is_err() {
                full.push(reply.dest);
                self.replies.push_back(reply);
            }
        }
    }

    /// A sender was told that its message has all been copied.
    pub fn delivered(&mut self, from: u32, head: &RecordHead) {
        let handle = Handle(head.b as usize);
        match self.requests.get(handle).map(|request| &request.work) {
            Some(Work::Offered { dest, .. }) if *dest == from => self.finish(handle),
            _ => self.fault(from, "the end of a transfer that was not under way"),
        }
    }

    /// A synchronous send was told that it is matched.
    pub fn acknowledged(&mut self, from: u32, head: &RecordHead) {
        let handle = Handle(head.b as usize);
        match self.requests.get(handle).map(|request| &request.work) {
            Some(Work::AwaitMatch { dest }) if *dest == from => self.finish(handle),
            _ => self.fault(from, "an acknowledgement that nothing waits for"),
        }
    }

    /// A sender is asked for fragments.
    pub fn stream_wanted(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let handle = Handle(head.b as usize);
        if payload.len() == 16
            && let Some(request) = self.requests.get_mut(handle)
            && let Work::Offered { data, dest } = &mut request.work
            && *dest == from
            && payload.word(1) <= data.bytes()
        {
            let data = std::mem::replace(data, Data::Owned(Vec::new()));
            let (peer, limit) = (payload.word(0), payload.word(1));
            request.work = Work::Streaming { data, dest: from, peer, at: 0, limit };
            self.streams.push(handle);
        } else {
            self.fault(from, "a wish for data that was not offered");
        }
    }

    /// A sender is asked to help with the copying.
    pub fn share_wanted(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let handle = Handle(head.b as usize);
        if payload.len() == Share::LEN
            && let Some(request) = self.requests.get(handle)
            && let Work::Offered { data, dest } = &request.work
            && *dest == from
        {
            let share = Share::decode([payload.word(0), payload.word(1), payload.word(2)]);
            if share.slot < SLOTS && share.bytes <= data.bytes() && data.contiguous().is_some() {
                self.help.push((handle, share));
                return;
            }
        }
        self.fault(from, "a wish for help with data that was not offered");
    }

    /// Copies what chunks are still to be had of the transfers this process was asked to help with.
    pub fn give_help(&mut self, endpoint: &mut Endpoint) {
        while let Some((handle, share)) = self.help.pop() {
            let Some(request) = self.requests.get(handle) else { continue };
            let Work::Offered { data, dest } = &request.work else { continue };
            let Some(memory) = data.contiguous() else { continue };
            if !endpoint.can_copy(*dest) {
                continue;
            }
            let chunk = chunk_bytes(share.bytes);
            let theirs = endpoint.transfer_slot(*dest, share.slot);
            while let Some(index) = chunk_claims::claim(theirs, share.round, share.bytes.div_ceil(chunk)) {
                let start = index * chunk;
                let end = share.bytes.min(start + chunk);
                let part = &memory[start as usize..end as usize];
                match endpoint.write_remote(*dest, share.address.wrapping_add(start), part) {
                    Ok(()) => {
                        self.instruments.bytes_helped.add(end - start);
                        chunk_claims::complete(theirs);
                    }
                    Err(_) => chunk_claims::fail(theirs),
                }
            }
        }
    }

    /// Part of a message arrived.
    pub fn fragment(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let handle = Handle(head.b as usize);
        let bytes = payload.len() as u64;
        if let Some(request) = self.requests.get_mut(handle)
            && let Work::Receiving { buffer, from: sender, wanted, got } = &mut request.work
            && *sender == from
            && head.a == *got
            && bytes <= *wanted - *got
        {
            let start = *got as usize;
            match buffer.contiguous_mut() {
                Some(memory) => payload.copy_to(&mut memory[start..start + payload.len()]),
                None => buffer.unpack(*got, &payload.to_vec()),
            };
            *got += bytes;
            self.instruments.bytes_in_fragments.add(bytes);
            let (all, asked) = (*got == *wanted, request.marks & WATCHED != 0);
            if asked {
                self.tell_standing(handle);
            }
            if all {
                self.finish_rendezvous(handle);
            }
        } else {
            self.fault(from, "part of a message that nothing waits for");
        }
    }

    /// Feeds fragments to the receivers that asked, as far as their rings have room.
    pub fn feed_streams(&mut self, endpoint: &mut Endpoint) {
        let most = endpoint.max_payload() as u64;
        let mut at = 0;
        while at < self.streams.len() {
            let handle = self.streams[at];
            let request = self.requests.get_mut(handle);
            let Some(Request { work: Work::Streaming { data, dest, peer, at: sent, limit }, marks, .. }) = request
            else {
                self.streams.swap_remove(at);
                continue;
            };
            let asked = *marks & WATCHED != 0;
            while *sent < *limit {
                let bytes = (*limit - *sent).min(most);
                let head = RecordHead { kind: wire::FRAGMENT, flags: 0, context: 0, tag: 0, a: *sent, b: *peer };
                let pushed = match data.contiguous() {
                    Some(memory) => endpoint.push(*dest, &head, &memory[*sent as usize..(*sent + bytes) as usize]),
                    None => endpoint.push_with(*dest, &head, bytes as usize, |out| data.pack(*sent, out)),
                };
                if pushed.is_err() {
                    break;
                }
                *sent += bytes;
            }
            let all = *sent == *limit;
            if asked {
                self.tell_standing(handle);
            }
            if all {
                self.streams.swap_remove(at);
                self.finish(handle);
            } else {
                at += 1;
            }
        }
    }

    /// Takes the fault found in what another process sent, if there is one.
    pub fn check_fault(&mut self) -> Result<()> {
        match self.fault.take() {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }
}

/// An engine whose table of requests is full.
#[cold]
pub(crate) fn too_many_requests() -> Error {
    Error::new(MPI_ERR_INTERN, "the process has 67,108,864 requests under way, which is all a process can have")
}
