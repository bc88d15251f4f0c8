//! The map of the engine's queues for readers outside ([`mpi_fabric::queue_map`]).
//!
//! Invariant: the engine does not move, because it is in the allocation that the caller keeps.
//! Not here: what a reader makes of it (`mpi-observe`).
#![allow(unsafe_code)] // reads the representation of vectors and enumerations that a reader outside has to know

use std::mem::{ManuallyDrop, offset_of};
use std::sync::Arc;

use mpi_core::{Handle, Status, Table};
use mpi_datatype::RecvBuf;
use mpi_fabric::queue_map::QueueMap;
use mpi_fabric::{RecordHead, Registration};

use crate::chains::{Chains, Key};
use crate::context::{Context, ContextSpec, Contexts, Side};
use crate::direct::Direct;
use crate::engine::Engine;
use crate::id_table::IdTable;
use crate::instruments::{CommInstruments, CommMeters};
use crate::matching::Unexpected;
use crate::message::{Body, Message};
use crate::posted_queue::Posted;
use crate::queue::Queue;
use crate::request::{Data, Outgoing, Request, Work};

/// The bytes in front of the words of an entry of the instruments, and the kind of one in use (`FORMAT.md`).
const ENTRY_HEAD: usize = 64;
const ENTRY_NAME: usize = 16;
const ENTRY_IN_USE: u64 = 2;

impl Engine {
    /// The map of the queues of this engine, which the caller has put where it stays.
    pub fn queue_map(&self) -> QueueMap {
        let guard = self.lock();
        let state = self.state.get(&guard);
        let core = &state.core;
        let vec = vec_shape();
        let shared: Arc<[u32]> = Arc::from([0]);
        let works = Works::new();
        let in_slot = Table::<Request>::SLOT_VALUE + works.request_in_option + offset_of!(Request, work);
        let (side, posted, unexpected) = (
            offset_of!(Context, sides),
            offset_of!(Side, posted),
            offset_of!(Side, unexpected) + Unexpected::<Message>::QUEUE,
        );
        let (posted_chains, unexpected_chains) = (posted + Posted::CHAINS, unexpected + Queue::<()>::CHAINS);
        let request_at = Table::<Request>::SLOT_VALUE + works.request_in_option;
        let message_at = Unexpected::<Message>::SLOT_MESSAGE + works.message_in_option;
        let spec = offset_of!(Context, spec);
        let instruments = spec + offset_of!(ContextSpec, instruments) + offset_of!(CommMeters, block);
        let at = |offset: usize| offset as u64;
        QueueMap {
            rank: self.rank().into(),
            size: self.size().into(),
            vec_elements: vec.0,
            vec_length: vec.1,
            shared_data: Arc::as_ptr(&shared).cast::<u32>() as u64 - first_word(&shared),
            places: address(&core.contexts) + at(Contexts::TABLE + IdTable::<Context>::PLACES),
            place_bytes: at(IdTable::<Context>::PLACE_BYTES),
            place_id: at(IdTable::<Context>::PLACE_ID),
            place_context: at(IdTable::<Context>::PLACE_ITEM),
            context_rank: at(spec + offset_of!(ContextSpec, rank)),
            context_world_ranks: at(spec + offset_of!(ContextSpec, world_ranks)),
            context_both_groups: at(spec + offset_of!(ContextSpec, both_groups)),
            context_freed: at(offset_of!(Context, freed)),
            context_instruments: at(instruments),
            instruments_entry: at(ENTRY_HEAD),
            instruments_head: at(ENTRY_HEAD + size_of::<CommInstruments>()) << 32 | ENTRY_IN_USE,
            instruments_name: at(ENTRY_NAME),
            instruments_collectives: at(offset_of!(CommInstruments, collectives)),
            context_sides: at(side),
            side_bytes: at(size_of::<Side>()),
            posted_list: at(posted + Posted::LIST),
            posted_first: at(posted + Posted::FIRST),
            posted_bytes: at(Posted::ENTRY_BYTES),
            posted_word: at(Posted::ENTRY_WORD),
            posted_mask: at(Posted::ENTRY_MASK),
            posted_receive: at(Posted::ENTRY_RECEIVE),
            posted_linked: at(posted + Posted::LINKED),
            posted_nodes: at(posted_chains + Chains::<Handle>::NODES),
            posted_buckets: at(posted_chains + Chains::<Handle>::BUCKETS),
            posted_node_bytes: at(Chains::<Handle>::NODE_BYTES),
            posted_node_key: at(Chains::<Handle>::NODE_KEY),
            posted_node_stamp: at(Chains::<Handle>::NODE_STAMP),
            posted_node_next: at(Chains::<Handle>::NODE_NEXT),
            posted_node_item: at(Chains::<Handle>::NODE_ITEM),
            unexpected_list: at(unexpected + Queue::<()>::LIST),
            unexpected_first: at(unexpected + Queue::<()>::FIRST),
            unexpected_bytes: at(Queue::<()>::ENTRY_BYTES),
            unexpected_node: at(Queue::<()>::ENTRY_NODE),
            unexpected_linked: at(unexpected + Queue::<()>::LINKED),
            unexpected_nodes: at(unexpected_chains + Chains::<()>::NODES),
            unexpected_buckets: at(unexpected_chains + Chains::<()>::BUCKETS),
            unexpected_node_bytes: at(Chains::<()>::NODE_BYTES),
            unexpected_node_key: at(Chains::<()>::NODE_KEY),
            unexpected_node_stamp: at(Chains::<()>::NODE_STAMP),
            unexpected_node_next: at(Chains::<()>::NODE_NEXT),
            messages: at(offset_of!(Side, unexpected) + Unexpected::<Message>::SLOTS),
            message_bytes: at(Unexpected::<Message>::SLOT_BYTES),
            message_length: at(message_at + offset_of!(Message, bytes)),
            message_from: at(message_at + offset_of!(Message, from)),
            message_token: at(message_at + offset_of!(Message, token)),
            requests: address(&core.requests) + at(Table::<Request>::SLOTS),
            request_bytes: at(Table::<Request>::SLOT_BYTES),
            request_word: at(Table::<Request>::SLOT_WORD),
            request_context: at(request_at + offset_of!(Request, context)),
            request_length: at(request_at + offset_of!(Request, status) + Status::BYTES),
            request_work: at(in_slot),
            receive_length: at(in_slot + works.posted_buffer + RecvBuf::BYTES),
            receive_buffer: at(in_slot + works.posted_buffer + RecvBuf::START),
            work_posted: works.posted,
            work_queued: works.queued,
            queued_at: at(in_slot) + works.queued_at,
            queued_dest: at(offset_of!(Outgoing, dest)),
            queued_tag: at(offset_of!(Outgoing, head) + offset_of!(RecordHead, tag)),
            work_await: works.await_match.kind,
            await_dest: at(in_slot) + works.await_match.dest,
            await_tag: at(in_slot) + works.await_match.tag,
            work_offered: works.offered.kind,
            offered_dest: at(in_slot) + works.offered.dest,
            offered_tag: at(in_slot) + works.offered.tag,
            work_streaming: works.streaming.kind,
            streaming_dest: at(in_slot) + works.streaming.dest,
            streaming_tag: at(in_slot) + works.streaming.tag,
            direct_context: address(&core.direct) + at(offset_of!(Direct, context)),
            direct_key: address(&core.direct) + at(offset_of!(Direct, key)),
            direct_length: address(&core.direct) + at(offset_of!(Direct, buffer) + RecvBuf::BYTES),
        }
    }
}

/// The kind of a send, and where its receiver and tag are behind the start of its work.
struct Sending {
    kind: u64,
    dest: u64,
    tag: u64,
}

/// How the kinds of work that a reader looks for are represented.
struct Works {
    request_in_option: usize,
    message_in_option: usize,
    posted: u64,
    posted_buffer: usize,
    queued: u64,
    queued_at: u64,
    await_match: Sending,
    offered: Sending,
    streaming: Sending,
}

impl Works {
    fn new() -> Works {
        let key = Key { source: 0, tag: 0 };
        let posted = Work::Posted { key, buffer: RecvBuf::empty() };
        let Work::Posted { buffer, .. } = &posted else { unreachable!("it is made so") };
        let posted_buffer = (address(buffer) - address(&posted)) as usize;
        let none = || Data::Owned(Vec::new());
        let queued = Work::Queued(Box::new(Outgoing { dest: 0, head: RecordHead::default(), data: none() }));
        let Work::Queued(boxed) = &queued else { unreachable!("it is made so") };
        let registration = (Registration::NONE, None);
        let request = Some(Request::done(0));
        let body = Body::Synchronous(Vec::new());
        let message = Some(Message { from: 0, returned: false, bytes: 0, body, token: 0, arrived: 0 });
        let inside = |value: u64, whole: u64| (value - whole) as usize;
        Works {
            request_in_option: request.as_ref().map_or(0, |inner| inside(address(inner), address(&request))),
            message_in_option: message.as_ref().map_or(0, |inner| inside(address(inner), address(&message))),
            posted: kind(&posted),
            posted_buffer,
            queued: kind(&queued),
            queued_at: address(boxed) - address(&queued),
            await_match: sending(&Work::AwaitMatch { dest: 0, tag: 0 }),
            offered: sending(&Work::Offered {
                data: none(),
                dest: 0,
                tag: 0,
                copiers: 0,
                over: false,
                awaited: false,
                _registration: registration,
            }),
            streaming: sending(&Work::Streaming { data: none(), dest: 0, tag: 0, peer: 0, at: 0, limit: 0 }),
        }
    }
}

fn sending(work: &Work) -> Sending {
    let (Work::AwaitMatch { dest, tag } | Work::Offered { dest, tag, .. } | Work::Streaming { dest, tag, .. }) = work
    else {
        unreachable!("the callers pass these")
    };
    Sending { kind: kind(work), dest: address(dest) - address(work), tag: address(tag) - address(work) }
}

fn address<T>(value: &T) -> u64 {
    std::ptr::from_ref(value).addr() as u64
}

/// The number of the kind of work.
fn kind(work: &Work) -> u64 {
    // SAFETY: the enumeration is `repr(u32)`, so its number is its first four bytes.
    unsafe { *std::ptr::from_ref(work).cast::<u32>() }.into()
}

/// The address in a shared slice.
fn first_word(shared: &Arc<[u32]>) -> u64 {
    // SAFETY: the pointer of a shared slice is an address and a length of a word each, and both are initialised.
    unsafe { *std::ptr::from_ref(shared).cast::<u64>() }
}

/// Where the address of the elements and their number are in a vector.
fn vec_shape() -> (u64, u64) {
    let mut vec = Vec::with_capacity(5);
    vec.extend([1u64, 2, 3]);
    let vec = ManuallyDrop::new(vec);
    // SAFETY: a vector is three initialised words: address, capacity and number of elements.
    let words = unsafe { *std::ptr::from_ref(&*vec).cast::<[u64; 3]>() };
    let place = |value: u64| words.iter().position(|word| *word == value).map_or(0, |at| 8 * at as u64);
    let shape = (place(vec.as_ptr().addr() as u64), place(vec.len() as u64));
    drop(ManuallyDrop::into_inner(vec));
    shape
}

const _: () = assert!(size_of::<Vec<u64>>() == 24 && size_of::<Arc<[u32]>>() == 16);
