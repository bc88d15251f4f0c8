//! Large messages: offered first, then moved in a single copy or as fragments.
//!
//! The receiver decides once its receive is matched. Data in shared memory that it has mapped too, as that of a window, or can
//! map, as that of `MPI_Alloc_mem`, it copies from its own mapping. Where the kernel lets it read the sender's memory it copies the
//! data itself; for a long message it sends the region of its buffer to the sender, and both copy chunks, claimed one
//! by one from a counter in the receiver's page, until none is left. Where one side's memory has gaps, that side copies
//! alone, between its runs and the other's memory. A side whose runs are long gives the other a table of them; then
//! each chunk goes from runs to runs; over a network the sender's table is of regions, and the receiver alone copies.
//! Otherwise the sender feeds fragments through the ring: it packs one while the receiver unpacks another.
//! Invariant: a receive completes when all of its bytes are in place; a send completes when its receiver has reported
//! that, or when its last fragment is in the ring.
//! Not here: matching (`arrival`), the copying (`copies`, `shared_copy`).

use mpi_core::Handle;
use mpi_datatype::RecvBuf;
use mpi_fabric::{Copier, Endpoint, Payload, RecordHead, Way};
use smallvec::SmallVec;

use crate::chains::Key;
use crate::copy_job::{Claims, Remote, Side};
use crate::copy_ways::{Copied, RUNS_FROM, copied_in_runs, copied_whole};
use crate::core::{Core, Reply};
use crate::cvars::BY_AUTO;
use crate::delivery::{accepted, unpack_payload};
use crate::message::Matched;
use crate::region_table::BYTES_FROM;
use crate::request::{Data, Request, WATCHED, Work};
use crate::wire::{self, Offer};

/// Longest fragment between processes that share memory: the receiver unpacks one while the sender packs the next. Shorter
/// where another thread may need the lock.
const FRAGMENT_MAX: u64 = 32 << 10;
/// See [`FRAGMENT_MAX`].
const SHORT_FRAGMENT_MAX: u64 = 16 << 10;
/// Shortest mean run in bytes of a buffer with gaps into which data in shared memory is copied run by run.
const SHARED_RUNS_FROM: u64 = 1 << 10;
/// Most fragments of one message that are sent while the lock is held. One makes the waits of other threads shorter, 4 instead of
/// 20 us, and messages beside threads that call again and again two to three times as long (measured).
const FRAGMENTS_AT_ONCE: u32 = 8;

impl Core {
    /// Carries out what the last poll matched.
    pub fn start_matched_transfers(&mut self, endpoint: &mut Endpoint) {
        for matched in std::mem::take(&mut self.matched) {
            self.begin_transfer(endpoint, matched);
        }
    }

    /// Starts to move a large message into the receive that it matched. A failure is an error of the receive.
    pub fn begin_transfer(&mut self, endpoint: &mut Endpoint, matched: Matched) {
        let Matched { from, token: peer, offer, key, request: handle } = matched;
        let (buffer, wanted) = self.take_matched(handle, key, offer.bytes);
        if wanted == 0 {
            self.reply(endpoint, Reply::about(from, wire::DONE, peer));
            self.finish_rendezvous(handle);
            return;
        }
        let near = endpoint.shares_memory(from);
        if offer.is_shared() {
            let copies = near && (buffer.address().is_some() || buffer.mean_run() >= SHARED_RUNS_FROM);
            let copier = copies.then(|| endpoint.copier_of_shared(from, offer.region, wanted)).flatten();
            match copier {
                Some(copier) => self.copy_alone(handle, copier, offer, buffer, (wanted, peer)),
                None => self.receive_fragments(endpoint, handle, buffer, (from, peer), wanted),
            }
            return;
        }
        let has_slot = near && from != endpoint.rank() && !self.slots.are_all_used();
        let set = self.settings.single_copy_by.get();
        let least = self.settings.copy_runs_from.get();
        let copied_by = match (offer.ways, buffer.address()) {
            (0, Some(_)) if offer.region.is_none() || !endpoint.can_copy(from) => Copied::Never,
            (0, Some(_)) if offer.pipelined && near && !self.lock.is_contended() => Copied::Never,
            (0, Some(_)) => {
                let both = set == BY_AUTO && has_slot && self.is_copied_by_both(endpoint, wanted);
                copied_whole(set, has_slot, both)
            }
            _ if offer.has_regions() => {
                let reads = endpoint.way(from) == Way::Network && endpoint.can_copy(from) && !offer.region.is_none();
                let long = buffer.address().is_some() || buffer.mean_run() >= least.max(BYTES_FROM);
                if reads && long { Copied::ByReceiver } else { Copied::Never }
            }
            _ if wanted < RUNS_FROM => Copied::Never,
            // Over a network the receiver reads into its own runs; those of a sender have a registration each if they are few.
            (0, None) if endpoint.way(from) == Way::Network && endpoint.can_copy(from) => {
                copied_in_runs(offer, &buffer, wanted, (false, set), least.max(BYTES_FROM))
            }
            _ if !endpoint.can_copy_runs(from) => Copied::Never,
            _ => copied_in_runs(offer, &buffer, wanted, (has_slot, set), least),
        };
        let copier = if copied_by == Copied::Never { None } else { endpoint.copier(from).ok() };
        if let Some(copier) = copier {
            self.begin_work(handle, Work::Copying);
            let mut buffer = buffer.split_at(wanted).0;
            let by_sender = copied_by == Copied::BySender;
            let by_receiver = matches!(copied_by, Copied::ByReceiver | Copied::Never);
            let (listed, keyed) = (offer.is_listed(), offer.has_regions());
            // The chunks of a table are claimed in a slot also where the receiver alone copies.
            let claims = if by_receiver && !listed {
                Claims::alone(near)
            } else {
                let (claims, share) = self.open_slot(endpoint, from, &mut buffer, by_sender);
                if !by_receiver {
                    self.request_copies(endpoint, (from, peer), share);
                }
                Claims::Slot(claims)
            };
            let remote = Remote { region: offer.region, offset: 0, bytes: wanted, listed, keyed };
            self.copies.add(handle, copier, remote, Side::Receive { buffer, token: peer }, claims);
            if by_sender {
                self.copies.close(self.copies.list.len() - 1);
            }
            return;
        }
        // No copy begins, whose time was to be taken.
        self.both_limit.abandon(self.copies.next_if_idle());
        self.receive_fragments(endpoint, handle, buffer, (from, peer), wanted);
    }

    /// Whether both processes copy a message in one piece that the kernel copies.
    fn is_copied_by_both(&mut self, endpoint: &Endpoint, wanted: u64) -> bool {
        let set = self.settings.both_copy_from.get();
        self.both_limit.permits(set, endpoint.copied_by_both(), wanted, self.copies.next_if_idle())
    }

    /// Copies the message from shared memory, without the sender's help.
    #[inline(never)]
    fn copy_alone(
        &mut self,
        handle: Handle,
        copier: Copier,
        offer: Offer,
        buffer: RecvBuf<'static>,
        (wanted, token): (u64, u64),
    ) {
        self.instruments.shared_received.incr();
        self.begin_work(handle, Work::Copying);
        let buffer = buffer.split_at(wanted).0;
        let remote = Remote { region: offer.region, offset: 0, bytes: wanted, listed: false, keyed: false };
        self.copies.add(handle, copier, remote, Side::Receive { buffer, token }, Claims::alone(true));
    }

    /// Requests the message as fragments.
    #[inline(never)]
    fn receive_fragments(
        &mut self,
        endpoint: &mut Endpoint,
        handle: Handle,
        buffer: RecvBuf<'static>,
        (from, token): (u32, u64),
        wanted: u64,
    ) {
        self.begin_work(handle, Work::Receiving { buffer, from, wanted, got: 0 });
        self.reply(endpoint, Reply::stream((from, token), handle, wanted, 0));
    }

    /// The buffer of a receive that an offer of so many bytes has matched, and how many of them it wants. Its transfer
    /// begins.
    pub fn take_matched(&mut self, handle: Handle, key: Key, bytes: u64) -> (RecvBuf<'static>, u64) {
        if mpi_t::any_callback_registered() {
            self.raise_rendezvous(handle, (key.source, key.tag, bytes), false);
        }
        let request = self.requests.get_mut(handle).expect("a matched receive stays in its table");
        let Work::Matched { buffer } = std::mem::replace(&mut request.work, Work::Done) else {
            unreachable!("a matched receive waits for its transfer")
        };
        let wanted;
        (request.status, request.error, wanted) = accepted(key, bytes, buffer.bytes());
        (buffer, wanted)
    }

    /// What a receive waits for after [`Self::take_matched`].
    pub fn begin_work(&mut self, handle: Handle, work: Work) {
        self.requests.get_mut(handle).expect("a matched receive stays in its table").work = work;
    }

    /// Pushes a reply at once, or keeps it until there is room.
    pub fn reply(&mut self, endpoint: &mut Endpoint, reply: Reply) {
        if self.replies.is_empty() && endpoint.push(reply.dest, &reply.head, &reply.payload[..reply.len]).is_ok() {
            return;
        }
        self.replies.push_back(reply);
        self.wake_leader_for_work();
    }

    /// Pushes the replies for which there is room. Those to one process stay in order: the end of a transfer never
    /// overtakes the request to copy its chunks.
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

    /// The receiver reports that the whole message has been copied.
    pub fn delivered(&mut self, from: u32, head: &RecordHead) {
        let handle = Handle(head.b as usize);
        match self.requests.get(handle).map(|request| &request.work) {
            Some(Work::Offered { dest, .. }) if *dest == from => self.end_offer(handle),
            _ => self.fault(from, "the end of a transfer that was not under way"),
        }
    }

    /// The receiver reports that a synchronous send is matched.
    pub fn acknowledged(&mut self, from: u32, head: &RecordHead) {
        let handle = Handle(head.b as usize);
        match self.requests.get(handle).map(|request| &request.work) {
            Some(Work::AwaitMatch { dest, .. }) if *dest == from => self.finish(handle),
            _ => self.fault(from, "an acknowledgement that nothing waits for"),
        }
    }

    /// The receiver requests fragments.
    pub fn stream_requested(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let handle = Handle(head.b as usize);
        if payload.len() == 24
            && let Some(request) = self.requests.get_mut(handle)
            && let Work::Offered { data, dest, tag, copiers: 0, .. } = &mut request.work
            && *dest == from
            && payload.word(1) <= data.bytes()
            && payload.word(2) < payload.word(1)
        {
            let data = std::mem::replace(data, Data::Owned(Vec::new()));
            let tag = *tag;
            let (peer, limit, at) = (payload.word(0), payload.word(1), payload.word(2));
            request.work = Work::Streaming { data, dest: from, tag, peer, at, limit };
            self.streams.push(handle);
        } else {
            self.fault(from, "a request for data that was not offered");
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
                Some(memory) => _ = payload.copy_to(&mut memory[start..start + payload.len()]),
                None => unpack_payload(buffer, *got, &payload),
            };
            *got += bytes;
            self.instruments.bytes_in_fragments.add(bytes);
            let (all, watched) = (*got == *wanted, request.marks & WATCHED != 0);
            if watched {
                self.update_metrics(handle);
            }
            if all {
                self.finish_rendezvous(handle);
            }
        } else if let Some(request) = self.requests.get_mut(handle)
            && let Work::Discarding { from: sender, wanted, got } = &mut request.work
            && *sender == from
            && head.a == *got
            && bytes <= *wanted - *got
        {
            *got += bytes;
            if *got == *wanted {
                self.finish(handle);
            }
        } else {
            self.fault(from, "part of a message that nothing waits for");
        }
    }

    /// Sends fragments to the receivers that requested them, as far as their rings have room: some of each message in
    /// one pass, because a network has room for all.
    pub fn feed_streams(&mut self, endpoint: &mut Endpoint) {
        let longest = endpoint.max_payload() as u64;
        let shared = longest.min(if self.lock.is_contended() { SHORT_FRAGMENT_MAX } else { FRAGMENT_MAX });
        let mut at = 0;
        while at < self.streams.len() {
            let handle = self.streams[at];
            let request = self.requests.get_mut(handle);
            let Some(Request { work: Work::Streaming { data, dest, peer, at: sent, limit, .. }, marks, .. }) = request
            else {
                self.streams.swap_remove(at);
                continue;
            };
            let watched = *marks & WATCHED != 0;
            let most = if endpoint.shares_memory(*dest) { shared } else { longest };
            for _ in 0..FRAGMENTS_AT_ONCE {
                if *sent == *limit {
                    break;
                }
                let bytes = (*limit - *sent).min(endpoint.fragment_bytes(*dest, most));
                let head = RecordHead { kind: wire::FRAGMENT, flags: 0, context: 0, tag: 0, a: *sent, b: *peer };
                let pushed = match data.contiguous() {
                    Some(memory) => endpoint.push_part(*dest, &head, &memory[*sent as usize..(*sent + bytes) as usize]),
                    None => endpoint.push_with(*dest, &head, bytes as usize, |out| data.pack(*sent, out)),
                };
                if pushed.is_err() {
                    break;
                }
                *sent += bytes;
            }
            let all = *sent == *limit;
            if watched {
                self.update_metrics(handle);
            }
            if all {
                self.streams.swap_remove(at);
                self.finish(handle);
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
