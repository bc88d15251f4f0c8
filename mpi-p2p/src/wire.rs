//! The records that two engines exchange.
//!
//! Every record carries the context id and tag of its message in the fabric's head; `a` is the sender's rank in the
//! communicator for records that open a message, and `b` a token: the handle word of the request, on the side named
//! below, that the record is about. Tokens come back from another process and are looked up, never trusted.
//! Not here: how records travel (`mpi-fabric`).

use mpi_fabric::RegionKey;

/// A whole message; the payload is its data, `b` the sender's token if the send can be cancelled.
pub(crate) const EAGER: u8 = 1;
/// As [`EAGER`], from a synchronous send: `b` is the sender's token, to be acknowledged when matched.
pub(crate) const EAGER_SYNC: u8 = 2;
/// Ready to send: `b` is the sender's token, the payload an [`Offer`]. If the high half of `a` is not 0, so many bytes
/// of the data follow at once, as [`SEGMENT`].
pub(crate) const OFFER: u8 = 3;
/// A synchronous message was matched: `b` is the sender's token.
pub(crate) const ACK: u8 = 4;
/// Send the data as fragments: `b` is the sender's token; payload: the receiver's token, bytes wanted, bytes that need
/// not be sent.
pub(crate) const STREAM: u8 = 5;
/// Help to copy: `b` is the sender's token, the payload a [`Share`].
pub(crate) const SHARE: u8 = 6;
/// The receiver needs no more data: `b` is the sender's token.
pub(crate) const DONE: u8 = 7;
/// Part of a message: `b` is the receiver's token, `a` the offset in bytes, the payload data.
pub(crate) const FRAGMENT: u8 = 8;
/// The context id `b` is for the duplicate with number `tag` of the communicator with this context, or, without a
/// context, for the communicator with the digest in the payload.
pub(crate) const CONTEXT: u8 = 9;
/// Cancel a message that has not been received: `b` is its token.
pub(crate) const CANCEL: u8 = 10;
/// The answer: `b` is the token, `a` is 1 if the receiver removed the message, 0 if it had been matched.
pub(crate) const CANCELLED: u8 = 11;

/// A whole message for the service of its context; the payload is its data.
pub(crate) const SERVICE: u8 = 12;

/// A partitioned receive has been started: `a` is the receiver's rank, with the number of the pair in its high half,
/// `b` the receiver's token; payload: bytes of room, the region of the buffer.
pub(crate) const PARTITIONS_GRANTED: u8 = 13;
/// Data of a partitioned message: `b` is the receiver's token, `a` the offset in bytes. Without data: an empty message
/// is complete.
pub(crate) const PARTITIONS: u8 = 14;
/// As [`PARTITIONS`], for data that is in place already; the payload is its length.
pub(crate) const PARTITIONS_WRITTEN: u8 = 15;
/// A partitioned message is not as long as the receiver's room: `b` is the receiver's token, `a` the bytes of the
/// message.
pub(crate) const PARTITIONED_SIZE: u8 = 16;
/// The first segment of a message, the payload its data: as [`EAGER`], with the bytes of the whole message in the high
/// half of `a`. The other segments follow at once.
pub(crate) const FIRST_SEGMENT: u8 = 17;
/// Another segment of the message: `a` is its offset, the payload its data.
pub(crate) const SEGMENT: u8 = 18;

/// The answer to a [`SHARE`] of a sender that waits for the end of the message, where fragments are the fastest way, and of one
/// that was to copy alone and cannot: `a` is the place of the transfer, as in the last word of the [`Share`]. The receiver requests what nobody has begun to copy.
pub(crate) const REST_IN_FRAGMENTS: u8 = 19;

/// In the flags of an [`OFFER`]: the message is for the service of its context.
pub(crate) const FOR_SERVICE: u8 = 1;

/// In the flags of an [`OFFER`] and a [`SHARE`]: the region is a table of the runs of the data, or of the buffer
/// (`run_table`).
pub(crate) const LISTED: u8 = 2;
/// In the flags of an [`OFFER`]: the data has gaps, and the sender writes it from its runs when the receiver opens a
/// transfer slot.
pub(crate) const WRITES: u8 = 4;
/// In the flags of an [`OFFER`]: the sender waits for the end of the message, and fragments are the fastest way.
pub(crate) const PIPELINED: u8 = 8;

/// In the flags of an [`OFFER`]: the region is the place of the data in an object that the receiver may have mapped
/// (`Endpoint::shared_place`).
pub(crate) const SHARED: u8 = 16;

/// In the flags of an [`OFFER`]: the region is a table of the regions of the data (`region_table`).
pub(crate) const REGIONS: u8 = 32;

/// In the flags of a [`SHARE`]: the receiver copies nothing, so the sender copies all or answers with [`REST_IN_FRAGMENTS`].
pub(crate) const SENDER_ALONE: u8 = 64;

/// What a sender offers: the size of its message, and the region that another process can copy it from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    pub bytes: u64,
    /// The registered data in the sender, or the table of its runs or of its regions; none when it is in too many pieces.
    pub region: RegionKey,
    /// [`LISTED`], [`WRITES`], [`SHARED`] and [`REGIONS`].
    pub ways: u8,
    /// [`PIPELINED`].
    pub pipelined: bool,
}

impl Offer {
    pub const LEN: usize = 24;

    /// Whether the region is a table of runs.
    pub fn is_listed(self) -> bool {
        self.ways & LISTED != 0
    }

    /// Whether the region is a place in shared memory.
    pub fn is_shared(self) -> bool {
        self.ways & SHARED != 0
    }

    /// Whether the region is a table of regions.
    pub fn has_regions(self) -> bool {
        self.ways & REGIONS != 0
    }

    pub fn encode(self) -> [u8; 24] {
        let [address, key] = self.region.to_words();
        join([self.bytes, address, key])
    }

    pub fn decode([bytes, address, key]: [u64; 3], flags: u8) -> Offer {
        let (ways, pipelined) = (flags & (LISTED | WRITES | SHARED | REGIONS), flags & PIPELINED != 0);
        Offer { bytes, region: RegionKey::from_words([address, key]), ways, pipelined }
    }
}

/// The receive buffer into which a sender may copy chunks while its receiver copies others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// The registered receive buffer in the receiver, or the table of its runs.
    pub region: RegionKey,
    /// Whether the region is a table ([`LISTED`]).
    pub listed: bool,
    /// Whether the receiver copies nothing ([`SENDER_ALONE`]).
    pub sender_alone: bool,
    /// Bytes to be copied in all.
    pub bytes: u64,
    /// Index of the transfer slot in the receiver's page, and the transfer's number in it.
    pub slot: u32,
    pub round: u32,
}

/// A transfer among those of its receiver, as a word.
pub(crate) fn place_of(slot: u32, round: u32) -> u64 {
    u64::from(round) << 32 | u64::from(slot)
}

impl Share {
    pub const LEN: usize = 32;

    pub fn encode(self) -> [u8; 32] {
        let [address, key] = self.region.to_words();
        join([address, key, self.bytes, self.place()])
    }

    /// The transfer among those of the receiver: slot and round.
    pub fn place(self) -> u64 {
        place_of(self.slot, self.round)
    }

    /// The flags of its record.
    pub fn flags(self) -> u8 {
        let listed = if self.listed { LISTED } else { 0 };
        listed | if self.sender_alone { SENDER_ALONE } else { 0 }
    }

    /// `None` for flags that no receiver sets.
    pub fn decode([address, key, bytes, place]: [u64; 4], flags: u8) -> Option<Share> {
        let (slot, round) = (place as u32, (place >> 32) as u32);
        let (listed, sender_alone) = (flags & LISTED != 0, flags & SENDER_ALONE != 0);
        let known = flags & !(LISTED | SENDER_ALONE) == 0;
        known.then_some(Share {
            region: RegionKey::from_words([address, key]),
            listed,
            sender_alone,
            bytes,
            slot,
            round,
        })
    }
}

/// Words as the bytes of a payload.
pub(crate) fn join<const WORDS: usize, const BYTES: usize>(words: [u64; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}
