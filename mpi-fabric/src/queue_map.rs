//! Where the queues of a process lie in its memory, for readers outside: debuggers, and reports on jobs that hang.
//!
//! The engine stores the map once, when it is made, and the rank's block has its address. Nothing is recorded while messages
//! pass: a reader follows the engine's own structures in the memory of the process, live, stopped or in a core file.
//! Invariant: a map is an array of words that begins with [`MAGIC`] and its length. Lengths and offsets are in bytes,
//! addresses those of the process.
//! Not here: the words' values (`mpi_p2p`), following them (`mpi-observe`).

#[cfg(not(loom))]
use std::sync::atomic::Ordering;

/// The first word of a map.
pub const MAGIC: u64 = 0x3151_4d55_5252_4546;

macro_rules! map {
    ($($(#[$doc:meta])* $word:ident,)+) => {
        /// The words of a map behind the first two.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct QueueMap {
            $($(#[$doc])* pub $word: u64,)+
        }

        impl QueueMap {
            /// Number of words, the first two included.
            pub const WORDS: usize = 2 + [$(stringify!($word)),+].len();

            /// The map as an array.
            pub fn to_words(&self) -> [u64; Self::WORDS] {
                [MAGIC, Self::WORDS as u64, $(self.$word),+]
            }

            /// The map of an array, if it is one.
            pub fn from_words(words: &[u64; Self::WORDS]) -> Option<QueueMap> {
                let [MAGIC, length, $($word),+] = *words else { return None };
                (length == Self::WORDS as u64).then_some(QueueMap { $($word),+ })
            }
        }
    };
}

map! {
    /// The rank of the process in its job.
    rank,
    /// Number of ranks of the job.
    size,
    /// In a vector, offset of the address of its elements.
    vec_elements,
    /// In a vector, offset of their number.
    vec_length,
    /// From the address in a shared slice to its first element.
    shared_data,
    /// Address of the places of the communicators: a word with the address of the first, a word with their number.
    places,
    /// Length of a place.
    place_bytes,
    /// In a place: the context id, 4 bytes; odd in an empty place.
    place_id,
    /// In a place: address of the communicator's context.
    place_context,
    /// In a context: the process's rank in the communicator, 4 bytes.
    context_rank,
    /// In a context: the shared slice of world ranks, 4 bytes each, of the processes that messages go to and come from.
    context_world_ranks,
    /// In a context: the shared slice of world ranks of both groups; its address is 0 in an intracommunicator.
    context_both_groups,
    /// In a context: 1 byte, 1 after the communicator was freed.
    context_freed,
    /// In a context: address of the communicator's instruments.
    context_instruments,
    /// From there back to the entry of the instruments that they are in (`FORMAT.md`), if they are in one.
    instruments_entry,
    /// The first word of that entry.
    instruments_head,
    /// In the entry: the name of the communicator, 48 bytes, padded with zeros.
    instruments_name,
    /// In the instruments: the number of collective calls that have begun on the communicator.
    instruments_collectives,
    /// In a context: the side of the program's messages; that of collectives follows.
    context_sides,
    /// Length of a side.
    side_bytes,
    /// In a side: the vector of posted receives in order.
    posted_list,
    /// In a side: which element of the vector is the first in use.
    posted_first,
    /// Length of such an element.
    posted_bytes,
    /// In it: source << 32 and tag.
    posted_word,
    /// In it: which bits of them have to agree.
    posted_mask,
    /// In it: the handle of the receive's request.
    posted_receive,
    /// In a side: 1 byte, 1 while the posted receives are in the chains.
    posted_linked,
    /// In a side: the nodes of the chains, a vector.
    posted_nodes,
    /// In a side: the ends of the chains, a vector of pairs of node numbers of 4 bytes; the first is the oldest, or all ones.
    posted_buckets,
    /// Length of a node.
    posted_node_bytes,
    /// In a node: source and tag, 4 bytes each.
    posted_node_key,
    /// In a node: a number that grows with the age of posted receives.
    posted_node_stamp,
    /// In a node: the next one's number, 4 bytes.
    posted_node_next,
    /// In a node: the handle of the receive's request.
    posted_node_item,
    /// In a side: the vector of unexpected messages in order.
    unexpected_list,
    /// In a side: which element of the vector is the first in use.
    unexpected_first,
    /// Length of such an element.
    unexpected_bytes,
    /// In it: the number of the message's node, 4 bytes.
    unexpected_node,
    /// In a side: 1 byte, 1 while the messages are in the chains.
    unexpected_linked,
    /// In a side: the nodes, a vector.
    unexpected_nodes,
    /// In a side: the ends of the chains.
    unexpected_buckets,
    /// Length of a node.
    unexpected_node_bytes,
    /// In a node: source and tag, 4 bytes each.
    unexpected_node_key,
    /// In a node: a number that grows with the order of arrival.
    unexpected_node_stamp,
    /// In a node: the next one's number, 4 bytes.
    unexpected_node_next,
    /// In a side: the vector of messages, by node.
    messages,
    /// Length of a message.
    message_bytes,
    /// In a message: its number of bytes.
    message_length,
    /// In a message: the world rank of the sender, 4 bytes.
    message_from,
    /// In a message: the handle of the send, if the sender waits for the receive.
    message_token,
    /// The requests: a vector.
    requests,
    /// Length of a request's slot.
    request_bytes,
    /// In a slot: the handle.
    request_word,
    /// In a slot: the context id of the operation, 4 bytes.
    request_context,
    /// In a slot: its number of bytes, if it is a send.
    request_length,
    /// In a slot: the kind of work, 4 bytes; another one than those below in a free slot.
    request_work,
    /// In a slot of a posted receive: its room in bytes.
    receive_length,
    /// In a slot of a posted receive: the address of its buffer.
    receive_buffer,
    /// The kind of work of a posted receive.
    work_posted,
    /// The kind of work of a send that waits for room: the word at `queued_at` is the address of what follows.
    work_queued,
    /// See `work_queued`.
    queued_at,
    /// There: the world rank of the receiver, 4 bytes.
    queued_dest,
    /// There: the tag, 4 bytes.
    queued_tag,
    /// The kind of work of a synchronous send that waits for its receive.
    work_await,
    /// In its slot: the world rank of the receiver, 4 bytes.
    await_dest,
    /// In its slot: the tag, 4 bytes.
    await_tag,
    /// The kind of work of a long send that its receiver has not taken.
    work_offered,
    /// As of `work_await`.
    offered_dest,
    /// As of `work_await`.
    offered_tag,
    /// The kind of work of a long send that its receiver takes.
    work_streaming,
    /// As of `work_await`.
    streaming_dest,
    /// As of `work_await`.
    streaming_tag,
    /// Address of the context id of the blocking receive that waits without a request, 4 bytes; all ones: none does.
    direct_context,
    /// Address of its source and tag, 4 bytes each.
    direct_key,
    /// Address of its room in bytes.
    direct_length,
}

#[cfg(not(loom))]
impl crate::Job {
    /// Address of the map of a rank in its own address space; 0 if it has none. Panics if there is no such
    /// rank.
    pub fn queue_map(&self, rank: u32) -> u64 {
        // Acquire pairs with the Release in `set_queue_map`.
        self.block(rank).queue_map().load(Ordering::Acquire)
    }

    /// Stores the address of the map; for that rank itself, which keeps the map as long as it lives.
    pub fn set_queue_map(&self, rank: u32, address: u64) {
        // Release pairs with the Acquire in `queue_map`: the map is complete.
        self.block(rank).queue_map().store(address, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_back_and_nothing_else_is_one() {
        let map = QueueMap { rank: 3, direct_length: 7, ..QueueMap::default() };
        let words = map.to_words();
        assert_eq!(QueueMap::from_words(&words), Some(map));
        for at in [0, 1] {
            let mut other = words;
            other[at] += 1;
            assert_eq!(QueueMap::from_words(&other), None);
        }
    }
}
