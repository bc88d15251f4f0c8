//! Offers whose data goes ahead: the sender puts the beginning of a long message, or all of it, into its copy buffer
//! together with the offer.
//!
//! If a receive waits for the message, it takes this data at once, so that neither process waits for an answer of the
//! other: the receiver requests the rest as fragments, or reports the end. If none waits, the data is dropped, and the
//! message is an offer like any other.
//! Invariant: a send whose data went ahead is over when its receiver has answered, so it still waits for a receive.
//! Not here: the segments (`segmented`), the rest of the data (`transfer`).

use mpi_fabric::{Endpoint, Extent, Full, RecordHead};

use crate::chains::Key;
use crate::core::{Core, Reply};
use crate::delivery::accepted;
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
    let extent = if ahead == data.len() { Extent::Whole } else { Extent::Part };
    if ahead > 0
        && let Some(segment) = endpoint.segment_bytes(dest, ahead, extent)
    {
        let lead = RecordHead { a: head.a | (ahead as u64) << 32, ..*head };
        if endpoint.push_ahead(dest, (&lead, offer), wire::SEGMENT, &data[..ahead], (segment, extent)).is_ok() {
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
        let (buffer, wanted) = self.take_matched(handle, key, offer.bytes);
        self.begin_work(handle, Work::Receiving { buffer, from, wanted, got: 0 });
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
        let (status, error, wanted) = accepted(key, offer.bytes, self.direct.buffer.bytes());
        self.replies.push_back(Reply::about(from, wire::DONE, head.b));
        self.instruments.bytes_in_fragments.add(wanted);
        self.direct.begin_filling(status, error, wanted);
        self.set_target(from, Target::Direct);
    }

    fn set_target(&mut self, from: u32, target: Target) {
        if let Some(message) = self.segmented.iter_mut().find(|message| message.from == from) {
            message.target = target;
        }
    }
}
