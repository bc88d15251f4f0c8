//! Long messages that both processes copy, chunk by chunk, over a transfer slot of the receiver.
//!
//! The receiver opens a slot and sends its number and the region of its buffer to the sender; from then on both claim
//! chunks. Each side has a job for the chunks that it copies.
//! A sender that waits until its message has been received has nothing else to do: where fragments are faster, it answers
//! that it sends them, and the receiver requests what nobody has begun to copy. So does a sender that was to copy alone and cannot.
//! Not here: the claims themselves (`chunk_claims`), the jobs (`copy_job`), which messages go this way (`copy_ways`).

use mpi_core::Handle;
use mpi_datatype::RecvBuf;
use mpi_fabric::{Endpoint, Payload, RecordHead, Registration};

use crate::chunk_claims;
use crate::copy_job::{Claims, CopyJob, Remote, SharedClaims, Side};
use crate::copy_ways::chunk_bytes;
use crate::core::{Core, Reply};
use crate::registration;
use crate::request::{Request, Work};
use crate::run_table::RunTable;
use crate::transfer_slots::SLOTS;
use crate::wire::{self, Share};

impl Core {
    /// Opens a free slot for a message into `buffer`. The sender copies chunks once it has the [`Share`], by
    /// [`Self::request_copies`]. `sender_alone`: it copies all of them.
    pub fn open_slot(
        &mut self,
        endpoint: &mut Endpoint,
        from: u32,
        buffer: &mut RecvBuf<'_>,
        sender_alone: bool,
    ) -> (SharedClaims, Share) {
        let slot = self.slots.free.pop().expect("the caller saw a free one");
        self.instruments.slots_free.lower(1);
        self.update_slots();
        let round = self.slots.rounds[slot as usize].wrapping_add(1);
        self.slots.rounds[slot as usize] = round;
        chunk_claims::open(endpoint.transfer_slot(endpoint.rank(), slot), round);
        let bytes = buffer.bytes();
        let (region, registration, table) = match buffer.contiguous_mut() {
            Some(memory) => {
                let (region, registration) = registration::for_writing(endpoint, from, memory);
                (region, registration, None)
            }
            None => {
                let table = RunTable::of(buffer, bytes, chunk_bytes(bytes));
                let (region, registration) = registration::of_table(endpoint, from, table.words());
                (region, registration, Some(table))
            }
        };
        let share = Share { region, listed: table.is_some(), sender_alone, bytes, slot, round };
        (shared_claims(&share, registration, table), share)
    }

    /// Requests the sender of a message, by its token, to copy chunks.
    pub fn request_copies(&mut self, endpoint: &mut Endpoint, (from, token): (u32, u64), share: Share) {
        let mut request = Reply::about(from, wire::SHARE, token).with(&share.encode());
        request.head.flags = share.flags();
        self.reply(endpoint, request);
    }

    /// Takes a slot back whose receive is over.
    pub fn free_slot(&mut self, slot: u32) {
        self.slots.free.push(slot);
        self.instruments.slots_free.raise(1);
        self.update_slots();
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
            && let Some(share) = Share::decode([0, 1, 2, 3].map(|i| payload.word(i)), head.flags)
            && share.slot < SLOTS
            && share.bytes <= data.bytes()
        {
            self.copy_requests.push((handle, share));
            return;
        }
        self.fault(from, "a request to copy data that was not offered");
    }

    /// Starts to copy the chunks of the transfers whose receivers requested it.
    pub fn begin_requested_copies(&mut self, endpoint: &Endpoint) {
        for (handle, share) in self.copy_requests.drain(..) {
            let Some(request) = self.requests.get(handle) else { continue };
            let Work::Offered { data, dest, awaited, .. } = &request.work else { continue };
            let copies = endpoint.shares_memory(*dest) && endpoint.can_copy(*dest);
            let in_pieces = data.contiguous().is_none() || share.listed;
            let copier = if copies { endpoint.copier(*dest).ok() } else { None };
            let in_fragments = match copier {
                // A receiver that relies on this process would wait for ever.
                None => share.sender_alone,
                Some(_) => {
                    *awaited
                        && !in_pieces
                        && !self.lock.is_contended()
                        && self.pipelined_limit.permits_awaited(endpoint, self.settings, *dest, share.bytes)
                }
            };
            if in_fragments {
                let mut answer = Reply::about(*dest, wire::REST_IN_FRAGMENTS, 0);
                answer.head.a = share.place();
                self.replies.push_back(answer);
                continue;
            }
            let Some(copier) = copier else { continue };
            let side = Side::of_send(data);
            let claims = Claims::Slot(shared_claims(&share, Registration::NONE, None));
            let remote =
                Remote { region: share.region, offset: 0, bytes: share.bytes, listed: share.listed, keyed: false };
            self.copies.add(handle, copier, remote, side, claims);
        }
    }
}

impl Core {
    /// The program waits until these operations are over: the data of offered sends among them may go in fragments.
    #[inline(always)] // nothing to do for short messages
    pub fn await_end(&mut self, requests: &[Handle]) {
        if self.offers != 0 {
            self.mark_awaited(requests);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark_awaited(&mut self, requests: &[Handle]) {
        let mut marked = 0;
        for request in requests {
            let request = self.under_way(*request);
            if let Some(Request { work: Work::Offered { awaited, .. }, .. }) = self.requests.get_mut(request) {
                marked += usize::from(!std::mem::replace(awaited, true));
            }
        }
        // Offers that no call waits for, as after `MPI_Test`, are forgotten one by one.
        self.offers = self.offers.saturating_sub(marked.max(1));
    }

    /// The sender of a message that this process copies sends the rest in fragments. The transfer may be over.
    pub fn rest_in_fragments(&mut self, from: u32, head: &RecordHead) {
        let of_transfer = |job: &&mut CopyJob| job.copier.peer() == from && matches!(job.side, Side::Receive { .. });
        for job in self.copies.list.iter_mut().filter(of_transfer) {
            if let Claims::Slot(claims) = &mut job.claims
                && wire::place_of(claims.slot, claims.round) == head.a
                && claims.claimed_at_close.is_none()
            {
                claims.rest_in_fragments = true;
            }
        }
    }
}

/// The claims of either side of a shared copy; the receiver's has the registration of its buffer, or of the table of
/// its runs.
fn shared_claims(share: &Share, registration: Registration, table: Option<RunTable>) -> SharedClaims {
    let Share { bytes, slot, round, .. } = *share;
    let chunk = chunk_bytes(bytes);
    let (chunks, _registration) = (bytes.div_ceil(chunk), (registration, table));
    let (claimed_at_close, rest_in_fragments) = (None, false);
    SharedClaims { slot, round, chunks, chunk, next: 0, claimed_at_close, rest_in_fragments, _registration }
}
