//! The message queues and communicators in the memory of a process: live, stopped, or in a core file.
//!
//! The process has a map of its own structures ([`mpi_fabric::queue_map`]). They are read as they lie there; the process does
//! nothing for it. A process that runs changes them meanwhile, so what is read of it may be incomplete; of one that waits
//! or is stopped it is exact.
//! Invariant: whatever the memory contains, reading ends, allocates at most [`MOST_ITEMS`] items for each queue, and is an
//! error or a list of numbers. Not here: what follows from them (`hang`), the interface of debuggers (`mpi-mqs`).

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use mpi_fabric::queue_map::QueueMap;

/// The most items that are read of one queue, and the most communicators.
pub const MOST_ITEMS: usize = 1 << 16;
/// The most slots of requests that are looked at.
const MOST_SLOTS: usize = 1 << 20;
/// The most ranks of a communicator that are read.
const MOST_RANKS: usize = 1 << 16;
/// The longest part of a process's memory that is read at once.
const MOST_BYTES: usize = 1 << 26;
/// The most bytes that are read of one process: damaged memory may have the same long queue in each of its communicators.
const MOST_BYTES_IN_ALL: usize = 1 << 28;
/// The longest name of a communicator in the instruments.
const NAME_BYTES: usize = 48;
/// The end of a chain.
const NIL: u32 = u32::MAX;
/// The context id of a direct receive when there is none.
const NO_CONTEXT: u32 = u32::MAX;

/// The memory of a process.
pub trait ProcessMemory {
    /// Reads from an address on.
    /// # Errors
    /// Not all of it can be read.
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()>;
}

/// The memory of a process that exists.
#[derive(Debug)]
pub struct LiveMemory(File);

impl LiveMemory {
    /// # Errors
    /// There is no such process, or the system does not permit this one to read its memory.
    pub fn open(pid: u32) -> io::Result<LiveMemory> {
        File::open(format!("/proc/{pid}/mem")).map(LiveMemory)
    }
}

impl ProcessMemory for LiveMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(into, address)
    }
}

/// The queues of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// The rank of the process in its job, and the number of ranks there.
    pub rank: u32,
    /// See `rank`.
    pub size: u32,
    /// Its communicators, by context id.
    pub comms: Vec<CommQueues>,
    /// Sends that are not complete.
    pub sends: Vec<PendingSend>,
}

/// A communicator and its queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommQueues {
    /// Its context id, even.
    pub context: u32,
    /// Its name; empty where none is recorded.
    pub name: String,
    /// The rank of the process in it.
    pub rank: u32,
    /// World rank of each rank that messages go to and come from.
    pub world_ranks: Vec<u32>,
    /// World ranks of both groups of an intercommunicator.
    pub both_groups: Option<Vec<u32>>,
    /// Whether the program has freed it.
    pub freed: bool,
    /// Number of collective operations that have begun on it; `None` where it is not recorded.
    pub collectives: Option<u64>,
    /// Receives that wait for a message, in order.
    pub posted: Vec<PostedReceive>,
    /// Messages that wait for a receive, in order.
    pub unexpected: Vec<UnexpectedMessage>,
    /// The same of the library's own messages in collectives.
    pub internal_posted: Vec<PostedReceive>,
    /// See `internal_posted`.
    pub internal_unexpected: Vec<UnexpectedMessage>,
}

impl CommQueues {
    /// World ranks of all of its processes.
    pub fn members(&self) -> &[u32] {
        self.both_groups.as_deref().unwrap_or(&self.world_ranks)
    }
}

/// A receive that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostedReceive {
    /// Rank in the communicator; `MPI_ANY_SOURCE`.
    pub source: i32,
    /// Tag; `MPI_ANY_TAG`.
    pub tag: i32,
    /// Room in bytes; `None` where it is not recorded.
    pub bytes: Option<u64>,
    /// The address of the buffer; 0 where it is not recorded.
    pub buffer: u64,
}

/// A message that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnexpectedMessage {
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// Its tag.
    pub tag: i32,
    /// Its number of bytes.
    pub bytes: u64,
    /// World rank of the sender.
    pub from: u32,
}

/// A send that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingSend {
    /// Context id of the communicator; odd for a message of a collective.
    pub context: u32,
    /// World rank of the receiver.
    pub to: u32,
    /// Tag.
    pub tag: i32,
    /// Number of bytes.
    pub bytes: u64,
    /// What it waits for.
    pub state: SendState,
}

/// What a send waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendState {
    /// Room in the ring to the receiver.
    Room,
    /// A matching receive.
    Match,
    /// The receiver takes the data.
    Transfer,
}

/// Reads the queues of a process whose map lies at an address.
/// # Errors
/// The memory cannot be read, or there is no map at that address.
pub fn read(memory: &dyn ProcessMemory, map_at: u64) -> io::Result<Queues> {
    let mut words = [0; QueueMap::WORDS];
    let bytes = bytes_at(memory, map_at, size_of_val(&words))?;
    words.iter_mut().zip(bytes.chunks_exact(8)).for_each(|(word, bytes)| *word = word_of(bytes));
    let map = QueueMap::from_words(&words).ok_or_else(|| io::Error::other("there is no map of queues"))?;
    Reader { memory, map, left: Cell::new(MOST_BYTES_IN_ALL) }.queues()
}

struct Reader<'m> {
    memory: &'m dyn ProcessMemory,
    map: QueueMap,
    /// How many bytes may still be read.
    left: Cell<usize>,
}

/// Elements of equal length, read together.
struct Items {
    bytes: Vec<u8>,
    length: usize,
}

impl Items {
    fn iter(&self) -> impl Iterator<Item = Item<'_>> {
        self.bytes.chunks_exact(self.length).map(Item)
    }

    fn get(&self, at: u32) -> Option<Item<'_>> {
        let start = (at as usize).checked_mul(self.length)?;
        self.bytes.get(start..start.checked_add(self.length)?).map(Item)
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.length
    }
}

/// One element; what lies outside of it reads as 0.
#[derive(Clone, Copy)]
struct Item<'i>(&'i [u8]);

impl Item<'_> {
    fn word(&self, at: u64) -> u64 {
        self.part(at, 8).map_or(0, word_of)
    }

    fn half(&self, at: u64) -> u32 {
        self.part(at, 4).map_or(0, |bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    fn signed(&self, at: u64) -> i32 {
        self.half(at) as i32
    }

    fn part(&self, at: u64, length: usize) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(length)?)
    }
}

impl Reader<'_> {
    fn queues(&self) -> io::Result<Queues> {
        let map = &self.map;
        let requests = self.vector_at(map.requests, map.request_bytes, MOST_SLOTS)?;
        let mut comms = self.comms(&requests)?;
        let direct = Item(&self.bytes(map.direct_context, 4)?).half(0);
        if let Some(comm) = comms.iter_mut().find(|comm| comm.context == direct & !1).filter(|_| direct != NO_CONTEXT) {
            let (key, room) = (self.bytes(map.direct_key, 8)?, self.bytes(map.direct_length, 8)?);
            let (key, bytes) = (Item(&key), Some(word_of(&room)));
            let receive = PostedReceive { source: key.signed(0), tag: key.signed(4), bytes, buffer: 0 };
            if direct & 1 == 0 { &mut comm.posted } else { &mut comm.internal_posted }.push(receive);
        }
        let sends = requests.iter().filter_map(|slot| self.send(slot).transpose()).collect::<io::Result<_>>()?;
        Ok(Queues { rank: map.rank as u32, size: map.size as u32, comms, sends })
    }

    fn comms(&self, requests: &Items) -> io::Result<Vec<CommQueues>> {
        let map = &self.map;
        let places = self.items(self.word(map.places)?, self.word(map.places + 8)?, map.place_bytes, MOST_ITEMS)?;
        let in_use =
            places.iter().filter(|place| place.half(map.place_id) & 1 == 0 && place.word(map.place_context) != 0);
        let comm = |place: Item<'_>| self.comm(place.half(map.place_id), place.word(map.place_context), requests);
        let mut comms: Vec<CommQueues> = in_use.map(comm).collect::<io::Result<_>>()?;
        comms.sort_by_key(|comm| comm.context);
        Ok(comms)
    }

    fn comm(&self, id: u32, at: u64, requests: &Items) -> io::Result<CommQueues> {
        let map = &self.map;
        let field = |offset: u64| at.wrapping_add(offset);
        let groups = self.ranks(field(map.context_both_groups))?;
        let (posted, unexpected) = self.side(field(map.context_sides), requests)?;
        let (internal_posted, internal_unexpected) = self.side(field(map.context_sides + map.side_bytes), requests)?;
        let (name, collectives) = self.instruments(self.word(field(map.context_instruments))?);
        Ok(CommQueues {
            context: id,
            name,
            rank: Item(&self.bytes(field(map.context_rank), 4)?).half(0),
            world_ranks: self.ranks(field(map.context_world_ranks))?.unwrap_or_default(),
            both_groups: groups,
            freed: self.flag(field(map.context_freed))?,
            collectives,
            posted,
            unexpected,
            internal_posted,
            internal_unexpected,
        })
    }

    /// Name and number of collective operations; of instruments outside of the job memory only the latter.
    fn instruments(&self, at: u64) -> (String, Option<u64>) {
        let map = &self.map;
        let entry = at.wrapping_sub(map.instruments_entry);
        let collectives = self.word(at.wrapping_add(map.instruments_collectives)).ok();
        if self.word(entry).ok() != Some(map.instruments_head) {
            return (String::new(), collectives);
        }
        let name = self.bytes(entry.wrapping_add(map.instruments_name), NAME_BYTES).unwrap_or_default();
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..end]);
        (name.chars().filter(|letter| !letter.is_control()).collect(), collectives)
    }

    /// A shared slice of ranks; `None` if its address is 0.
    fn ranks(&self, at: u64) -> io::Result<Option<Vec<u32>>> {
        let (first, count) = (self.word(at)?, self.word(at.wrapping_add(8))?);
        if first == 0 {
            return Ok(None);
        }
        let ranks = self.items(first.wrapping_add(self.map.shared_data), count, 4, MOST_RANKS)?;
        Ok(Some(ranks.iter().map(|rank| rank.half(0)).collect()))
    }

    fn side(&self, at: u64, requests: &Items) -> io::Result<(Vec<PostedReceive>, Vec<UnexpectedMessage>)> {
        Ok((self.posted(at, requests)?, self.unexpected(at)?))
    }

    fn posted(&self, side: u64, requests: &Items) -> io::Result<Vec<PostedReceive>> {
        let map = &self.map;
        if self.flag(side.wrapping_add(map.posted_linked))? {
            let nodes = self.vector_at(side.wrapping_add(map.posted_nodes), map.posted_node_bytes, MOST_ITEMS)?;
            let order = self.chained(
                &nodes,
                side.wrapping_add(map.posted_buckets),
                map.posted_node_next,
                map.posted_node_stamp,
            )?;
            let receive = |node: &Item<'_>| {
                let key = (node.signed(map.posted_node_key), node.signed(map.posted_node_key + 4));
                self.receive(key, node.word(map.posted_node_item), requests)
            };
            return Ok(order.iter().filter_map(|node| nodes.get(*node)).map(|node| receive(&node)).collect());
        }
        let list = self.vector_at(side.wrapping_add(map.posted_list), map.posted_bytes, MOST_ITEMS)?;
        let first = self.word(side.wrapping_add(map.posted_first))? as usize;
        let receive = |item: Item<'_>| {
            let (word, mask) = (item.word(map.posted_word), item.word(map.posted_mask));
            let source = if mask >> 32 == 0 { MPI_ANY_SOURCE } else { (word >> 32) as i32 };
            let tag = if mask as u32 == 0 { MPI_ANY_TAG } else { word as i32 };
            self.receive((source, tag), item.word(map.posted_receive), requests)
        };
        Ok(list.iter().skip(first).map(receive).collect())
    }

    fn receive(&self, (source, tag): (i32, i32), handle: u64, requests: &Items) -> PostedReceive {
        let map = &self.map;
        let slot = requests.get(mpi_core::Handle(handle as usize).index());
        let slot = slot.filter(|slot| {
            slot.word(map.request_word) == handle && u64::from(slot.half(map.request_work)) == map.work_posted
        });
        let bytes = slot.map(|slot| slot.word(map.receive_length));
        PostedReceive { source, tag, bytes, buffer: slot.map_or(0, |slot| slot.word(map.receive_buffer)) }
    }

    fn unexpected(&self, side: u64) -> io::Result<Vec<UnexpectedMessage>> {
        let map = &self.map;
        let nodes = self.vector_at(side.wrapping_add(map.unexpected_nodes), map.unexpected_node_bytes, MOST_ITEMS)?;
        let order: Vec<u32> = if self.flag(side.wrapping_add(map.unexpected_linked))? {
            let buckets = side.wrapping_add(map.unexpected_buckets);
            self.chained(&nodes, buckets, map.unexpected_node_next, map.unexpected_node_stamp)?
        } else {
            let list = self.vector_at(side.wrapping_add(map.unexpected_list), map.unexpected_bytes, MOST_ITEMS)?;
            let first = self.word(side.wrapping_add(map.unexpected_first))? as usize;
            list.iter().skip(first).map(|item| item.half(map.unexpected_node)).collect()
        };
        let messages = self.vector_at(side.wrapping_add(map.messages), map.message_bytes, MOST_ITEMS)?;
        let message = |node: &u32| {
            let (key, message) = (nodes.get(*node)?, messages.get(*node)?);
            Some(UnexpectedMessage {
                source: key.signed(map.unexpected_node_key),
                tag: key.signed(map.unexpected_node_key + 4),
                bytes: message.word(map.message_length),
                from: message.half(map.message_from),
            })
        };
        Ok(order.iter().filter_map(message).collect())
    }

    /// The nodes of all chains, the oldest first.
    fn chained(&self, nodes: &Items, buckets: u64, next: u64, stamp: u64) -> io::Result<Vec<u32>> {
        let buckets = self.vector_at(buckets, 8, MOST_ITEMS)?;
        let mut found = Vec::new();
        for bucket in buckets.iter() {
            let mut node = bucket.half(0);
            // Damaged chains may be circles.
            while node != NIL && found.len() < nodes.len() {
                let Some(item) = nodes.get(node) else { break };
                found.push((item.word(stamp), node));
                node = item.half(next);
            }
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, node)| node).collect())
    }

    fn send(&self, slot: Item<'_>) -> io::Result<Option<PendingSend>> {
        let map = &self.map;
        let work = u64::from(slot.half(map.request_work));
        let sending = |dest, tag, state| Ok(Some((slot.half(dest), slot.signed(tag), state)));
        let found: io::Result<Option<(u32, i32, SendState)>> = match work {
            work if work == map.work_await => sending(map.await_dest, map.await_tag, SendState::Match),
            work if work == map.work_offered => sending(map.offered_dest, map.offered_tag, SendState::Match),
            work if work == map.work_streaming => sending(map.streaming_dest, map.streaming_tag, SendState::Transfer),
            work if work == map.work_queued => {
                let at = slot.word(map.queued_at);
                let half = |offset: u64| Ok(Item(&self.bytes(at.wrapping_add(offset), 4)?).half(0));
                half(map.queued_dest).and_then(|dest| Ok(Some((dest, half(map.queued_tag)? as i32, SendState::Room))))
            }
            _ => Ok(None),
        };
        let context = slot.half(map.request_context);
        let bytes = slot.word(map.request_length);
        Ok(found?.map(|(to, tag, state)| PendingSend { context, to, tag, bytes, state }))
    }

    fn vector_at(&self, at: u64, length: u64, most: usize) -> io::Result<Items> {
        let elements = self.word(at.wrapping_add(self.map.vec_elements))?;
        let count = self.word(at.wrapping_add(self.map.vec_length))?;
        self.items(elements, count, length, most)
    }

    fn items(&self, at: u64, count: u64, length: u64, most: usize) -> io::Result<Items> {
        let length = usize::try_from(length).ok().filter(|length| (1..=4096).contains(length));
        let length = length.ok_or_else(|| io::Error::other("the map of the queues is damaged"))?;
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(most);
        let bytes = if count == 0 { Vec::new() } else { self.bytes(at, (count * length).min(MOST_BYTES))? };
        Ok(Items { bytes, length })
    }

    fn flag(&self, at: u64) -> io::Result<bool> {
        Ok(self.bytes(at, 1)?[0] != 0)
    }

    fn word(&self, at: u64) -> io::Result<u64> {
        Ok(word_of(&self.bytes(at, 8)?))
    }

    fn bytes(&self, at: u64, count: usize) -> io::Result<Vec<u8>> {
        let left = self.left.get().checked_sub(count);
        self.left.set(left.ok_or_else(|| io::Error::other("the queues are too long, or damaged"))?);
        bytes_at(self.memory, at, count)
    }
}

fn bytes_at(memory: &dyn ProcessMemory, at: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    memory.read(at, &mut bytes)?;
    Ok(bytes)
}

fn word_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory from address 0 on.
    struct Bytes(Vec<u8>);

    impl ProcessMemory for Bytes {
        fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
            let start = usize::try_from(address).unwrap_or(usize::MAX);
            let part = self.0.get(start..start.saturating_add(into.len())).ok_or(io::ErrorKind::UnexpectedEof)?;
            into.copy_from_slice(part);
            Ok(())
        }
    }

    #[test]
    fn no_map_is_an_error() {
        assert!(read(&Bytes(vec![0; 8192]), 0).is_err() && read(&Bytes(Vec::new()), 0).is_err());
    }

    #[test]
    fn damaged_memory_is_read_to_an_end() {
        let mut state = 1u64;
        let mut next = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut readable = 0;
        for round in 0..3000 {
            let mut words = vec![0; QueueMap::WORDS];
            let map = QueueMap::default().to_words();
            words[..2].copy_from_slice(&map[..2]);
            // Small numbers lead to other parts of the memory.
            words[2..].iter_mut().for_each(|word| *word = next(if round % 3 == 0 { 1 << 31 } else { 512 }));
            words.extend((0..4096).map(|_| if next(2) == 0 { next(4096) } else { next(1 << 31) << 32 | next(64) }));
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            readable += usize::from(read(&Bytes(bytes), 0).is_ok());
        }
        assert!(readable > 0, "the rounds get beyond the map");
    }
}
