//! Offers whose data goes ahead: the sender puts the beginning of a long message, or all of it, into its copy buffer
//! together with the offer.
//!
//! If a receive waits for the message, it takes this data at once, so that neither process waits for an answer of the
//! other: the receiver requests the rest as fragments, or reports the end. If none waits, the data is dropped, and the
//! message is an offer like any other.
//! Invariant: a send whose data went ahead is over when its receiver has answered, so it still waits for a receive.
//! Not here: the segments (`segmented`), the rest of the data (`transfer`).

use mpi_core::Status;
use mpi_fabric::{Endpoint, Full, RecordHead};

use crate::chains::Key;
use crate::core::{Core, Reply};
use crate::delivery::truncated;
use crate::message::{Matched, Segmented, Target};
use crate::request::Work;
use crate::wire::{self, Offer};

/// Pushes an offer, and behind it as many bytes of the data as there is room for at once, up to `most`.
pub(crate) fn push_offer(
    endpoint: &mut Endpoint,
    dest: u32,
    head: &RecordHead,
    offer: &[u8],
    (data, most): (&[u8], usize),
) -> Result<(), Full> {
    let ahead = data.len().min(most);
    if ahead > 0
        && let Some(segment) = endpoint.segment_bytes(dest, ahead)
    {
        let lead = RecordHead { a: head.a | (ahead as u64) << 32, ..*head };
        if endpoint.push_ahead(dest, (&lead, offer), wire::SEGMENT, &data[..ahead], segment).is_ok() {
            return Ok(());
        }
    }
    endpoint.push(dest, head, offer)
}

impl Core {
    /// `ahead` bytes of an offered message follow. Nothing takes them until a receive does.
    pub fn expect_ahead(&mut self, from: u32, head: &RecordHead, ahead: u64, bytes: u64) {
        if ahead > bytes || self.segmented.iter().any(|message| message.from == from) {
            return self.fault(from, "an offer with data of which there is none");
        }
        let target = Target::Nothing;
        self.segmented.push(Segmented { from, head: *head, bytes: ahead, got: 0, target, offered: true });
    }

    /// The receive that an offer has matched takes the data that follows.
    pub fn receive_ahead(&mut self, matched: Matched, ahead: u64) {
        let Matched { from, token, offer, key, request: handle } = matched;
        if mpi_t::any_callback_registered() {
            self.raise_rendezvous(handle, (key.source, key.tag, offer.bytes), false);
        }
        let request = self.requests.get_mut(handle).expect("a matched receive stays in its table");
        let Work::Matched { buffer } = std::mem::replace(&mut request.work, Work::Done) else {
            unreachable!("a matched receive waits for its transfer")
        };
        let room = buffer.bytes();
        let wanted = room.min(offer.bytes);
        request.status = Status::new(key.source, key.tag, wanted);
        request.error = (room < offer.bytes).then(|| truncated(key, offer.bytes, room));
        request.work = Work::Receiving { buffer, from, wanted, got: 0 };
        self.replies.push_back(match wanted > ahead {
            true => Reply::stream((from, token), handle, wanted, ahead),
            false => Reply::about(from, wire::DONE, token),
        });
        match wanted {
            0 => self.finish_rendezvous(handle),
            _ => self.set_target(from, Target::Receive(handle)),
        }
    }

    /// The direct receive, which an offer has matched, takes the data that follows, which is all.
    pub fn fill_direct_ahead(&mut self, head: &RecordHead, from: u32, offer: Offer, key: Key) {
        let room = self.direct.buffer.bytes();
        let wanted = room.min(offer.bytes);
        let error = (room < offer.bytes).then(|| truncated(key, offer.bytes, room));
        self.replies.push_back(Reply::about(from, wire::DONE, head.b));
        self.instruments.bytes_in_fragments.add(wanted);
        self.direct.begin_filling(Status::new(key.source, key.tag, wanted), error, wanted);
        self.set_target(from, Target::Direct);
    }

    fn set_target(&mut self, from: u32, target: Target) {
        if let Some(message) = self.segmented.iter_mut().find(|message| message.from == from) {
            message.target = target;
        }
    }
}
