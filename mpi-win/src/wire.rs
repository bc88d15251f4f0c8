//! The messages of operations that are not copied directly.
//!
//! All messages travel in the window's own context, each kind under its tag. A batch is a sequence of records: a head,
//! followed by a list of blocks if the elements are of a derived type, and by the operation's data if they are short.
//! Longer data follow as separate messages, in the order of their records. Data for gets and fetches are sent back as
//! replies, in the order of the records; only the answer to a request for a lock comes when the target grants it.
//! Invariant: a record is checked before use: another process wrote it.

use mpi_core::abi::{MPI_BYTE, MPI_ERR_INTERN};
use mpi_errors::{Error, Result};

use crate::blocks::{Block, MOST};
use crate::place::Place;

/// Tag of a batch of records.
pub(crate) const BATCH: i32 = 1;
/// Tag of data that are too long for a batch.
pub(crate) const DATA: i32 = 2;
/// Tag of replies.
pub(crate) const REPLY: i32 = 3;
/// Tag of the messages that begin exposure epochs (`MPI_Win_post`).
pub(crate) const POST: i32 = 4;
/// Tag of the messages that end them (`MPI_Win_complete`).
pub(crate) const COMPLETE: i32 = 5;

/// Tag of the answers to requests for locks ([`Verb::Lock`]).
pub(crate) const GRANT: i32 = 6;

/// A request for a lock, or an attempt, has the lock without a wait.
pub(crate) const AT_ONCE: u8 = 1;
/// A request for a lock has the lock after others.
pub(crate) const AFTER_OTHERS: u8 = 2;
/// An attempt to get a lock was in vain.
pub(crate) const BUSY: u8 = 3;

/// Longest data that go inside a batch.
pub(crate) const INLINE: u64 = 8 << 10;
/// From this length on, a batch is full.
pub(crate) const BATCH_FULL: usize = 56 << 10;
// The longest batch: full but for one byte, then a record with all that it may have.
const _: () =
    assert!((BATCH_FULL + Head::BYTES + MOST * Block::BYTES + INLINE as usize) as u64 <= mpi_p2p::LONGEST_FOR_SERVICE);
/// Longest data that an accumulation sends at once, which limits the memory that its target needs.
pub(crate) const PIECE: u64 = 1 << 20;

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Verb {
    /// Store the data.
    Put = 1,
    /// Reply with the elements.
    Get = 2,
    /// Combine the data with the elements.
    Accumulate = 3,
    /// Reply with the elements, then combine the data with them.
    Fetch = 4,
    /// Reply with the element; if it equals the first half of the data, store the second half.
    Swap = 5,
    /// Reply with nothing: all records before it are applied.
    Flush = 6,
    /// A request for the lock of the receiver's memory, of the kind `op` (`lock_queue::LockRequest`). It is answered with the tag
    /// [`GRANT`], when the process has the lock or an attempt was in vain; with an empty message if it makes no sense.
    Lock = 7,
    /// The request to share the lock may overtake those to hold it. Not answered.
    Overtake = 8,
    /// Gives the lock back; reply as to [`Verb::Flush`].
    Unlock = 9,
}

/// The head of a record: an operation on the receiver's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub verb: Verb,
    /// Handle word of a predefined operation, for accumulations.
    pub op: u32,
    /// Handle word of a predefined datatype.
    pub datatype: u32,
    /// Number of blocks that the memory is; 0 for elements of the predefined datatype.
    pub blocks: u32,
    /// Bytes from the start of the window to the first element; 0 for blocks.
    pub offset: u64,
    /// Elements that may be accessed; 1 for blocks, together.
    pub count: u64,
    /// Bytes of data that come with the record, packed; of a get, those of the reply.
    pub bytes: u64,
}

impl Head {
    pub const BYTES: usize = 40;

    /// The head of an operation on a place, or on a part of it that so many blocks name, with so many bytes of data.
    pub fn new(verb: Verb, op: usize, place: &Place<'_>, blocks: usize, bytes: u64) -> Head {
        let (offset, count) = if blocks > 0 { (0, 1) } else { (place.offset, place.elements.count) };
        // Words of predefined objects are small.
        let (op, datatype) = (op as u32, place.elements.basic.handle as u32);
        Head { verb, op, datatype, blocks: blocks as u32, offset, count, bytes }
    }

    /// The head of a record without data and elements.
    pub fn bare(verb: Verb, op: u32) -> Head {
        Head { verb, op, datatype: MPI_BYTE as u32, blocks: 0, offset: 0, count: 0, bytes: 0 }
    }

    /// Whether the record is about the lock, and has no data and elements.
    pub fn is_of_lock(&self) -> bool {
        matches!(self.verb, Verb::Lock | Verb::Overtake | Verb::Unlock) && *self == Head::bare(self.verb, self.op)
    }

    /// Whether the data are inside the batch.
    pub fn is_inline(&self) -> bool {
        self.verb != Verb::Get && self.bytes <= INLINE
    }

    /// Whether its data follow as a message of their own.
    pub fn has_data_behind(&self) -> bool {
        self.verb != Verb::Get && !self.is_inline()
    }

    /// Whether a reply is sent back.
    pub fn is_answered(&self) -> bool {
        matches!(self.verb, Verb::Get | Verb::Fetch | Verb::Swap | Verb::Flush | Verb::Lock | Verb::Unlock)
    }

    /// The tag of the answer.
    pub fn answer_tag(&self) -> i32 {
        if self.verb == Verb::Lock { GRANT } else { REPLY }
    }

    /// Bytes of the whole record in a batch; records begin at multiples of 8.
    pub fn record_bytes(&self) -> usize {
        let data = if self.is_inline() { (self.bytes as usize).next_multiple_of(8) } else { 0 };
        Head::BYTES + self.blocks as usize * Block::BYTES + data
    }

    pub fn encode(&self) -> [u8; Head::BYTES] {
        let words = [
            self.verb as u64 | u64::from(self.op) << 32,
            u64::from(self.datatype) | u64::from(self.blocks) << 32,
            self.offset,
            self.count,
            self.bytes,
        ];
        let mut bytes = [0; Head::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// The first record of a batch, and the rest of the batch.
    pub fn decode(batch: &[u8]) -> Result<(Record<'_>, &[u8])> {
        let Some((head, rest)) = batch.split_first_chunk::<{ Head::BYTES }>() else { return Err(malformed("is cut")) };
        let word = |index: usize| {
            let bytes: [u8; 8] = head[index * 8..index * 8 + 8].try_into().expect("eight bytes of forty");
            u64::from_ne_bytes(bytes)
        };
        let verb = match word(0) as u32 {
            1 => Verb::Put,
            2 => Verb::Get,
            3 => Verb::Accumulate,
            4 => Verb::Fetch,
            5 => Verb::Swap,
            6 => Verb::Flush,
            7 => Verb::Lock,
            8 => Verb::Overtake,
            9 => Verb::Unlock,
            _ => return Err(malformed("has an unknown kind")),
        };
        let head = Head {
            verb,
            op: (word(0) >> 32) as u32,
            datatype: word(1) as u32,
            blocks: (word(1) >> 32) as u32,
            offset: word(2),
            count: word(3),
            bytes: word(4),
        };
        if head.blocks as usize > MOST {
            return Err(malformed("has too many blocks"));
        }
        let length = head.record_bytes() - Head::BYTES;
        if rest.len() < length {
            return Err(malformed("is cut"));
        }
        let (record, rest) = rest.split_at(length);
        let (blocks, data) = record.split_at(head.blocks as usize * Block::BYTES);
        let data = if head.is_inline() { &data[..head.bytes as usize] } else { &[] };
        Ok((Record { head, blocks, data }, rest))
    }
}

/// A record of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record<'b> {
    pub head: Head,
    /// The list of blocks.
    pub blocks: &'b [u8],
    /// The data, if the batch contains them.
    pub data: &'b [u8],
}

#[cold]
pub(crate) fn malformed(what: &str) -> Error {
    let text = format!("a one-sided operation that another process sent {what}; its memory may be damaged");
    Error::new(MPI_ERR_INTERN, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head =
        Head { verb: Verb::Put, op: 7, datatype: 0x244, blocks: 0, offset: 1 << 40, count: 3, bytes: 11 };

    #[test]
    fn records_follow_each_other_at_multiples_of_eight() {
        let mut batch = HEAD.encode().to_vec();
        batch.extend_from_slice(b"hello worldPADDI");
        let get = Head { verb: Verb::Get, blocks: 2, bytes: 1 << 30, ..HEAD };
        batch.extend_from_slice(&get.encode());
        batch.extend_from_slice(&[5; 2 * Block::BYTES]);
        let (first, rest) = Head::decode(&batch).expect("whole");
        let length = Head::BYTES + 2 * Block::BYTES;
        let expected = Record { head: HEAD, blocks: &[], data: b"hello world" };
        assert_eq!((first, rest.len()), (expected, length));
        let (second, rest) = Head::decode(rest).expect("whole");
        assert_eq!((second, rest.len()), (Record { head: get, blocks: &[5; 2 * Block::BYTES], data: &[] }, 0));
    }

    #[test]
    fn records_of_locks_have_neither_data_nor_elements() {
        for (verb, op) in [(Verb::Lock, 3), (Verb::Overtake, 0), (Verb::Unlock, 0)] {
            let bare = Head::bare(verb, op);
            let bytes = bare.encode();
            let (record, rest) = Head::decode(&bytes).expect("whole");
            assert_eq!((record, rest.len()), (Record { head: bare, blocks: &[], data: &[] }, 0));
            assert!(bare.is_of_lock() && !bare.has_data_behind());
            assert!(!Head { bytes: 1, ..bare }.is_of_lock() && !Head { blocks: 1, ..bare }.is_of_lock());
        }
        assert!(!Head::bare(Verb::Flush, 0).is_of_lock());
    }

    #[test]
    fn cut_and_unknown_records_are_errors() {
        let mut batch = HEAD.encode().to_vec();
        batch.extend_from_slice(b"hello worldPADDI");
        for length in [0, 1, Head::BYTES - 1, Head::BYTES, batch.len() - 1] {
            assert_eq!(Head::decode(&batch[..length]).expect_err("cut").class(), MPI_ERR_INTERN);
        }
        let many = Head { blocks: MOST as u32 + 1, ..HEAD }.encode();
        let room = [many.as_slice(), &[0; (MOST + 2) * Block::BYTES]].concat();
        assert_eq!(Head::decode(&room).expect_err("too many").class(), MPI_ERR_INTERN);
        batch[0] = 10;
        assert_eq!(Head::decode(&batch).expect_err("unknown").class(), MPI_ERR_INTERN);
    }
}
