//! The short way of a blocking receive, which waits for the next record in the ring of its sender, without a request.
//!
//! Invariant: it waits only while nothing of its context is posted and no message of it waits, so that the next record of the
//! sender that matches is the message that the receive has to get. The lock is held until it ends.
//! Not here: blocking receives that wait longer, for any sender, or for long messages (`direct_receive`, `waiting`).

use mpi_core::abi::MPI_ANY_TAG;
use mpi_fabric::{Expected, Payload, RecordHead, Records};

use crate::chains::Key;
use crate::context::{Context, Route};
use crate::core::State;
use crate::instruments::EngineInstruments;
use crate::wire;

/// One of so many receives takes the longer way, which looks at all rings: a program that receives from one process without
/// end serves the others too.
const LONGER_WAYS: u32 = 32;

/// A receive that has only to wait.
pub struct ShortReceive<'s> {
    records: Records<'s>,
    context: &'s Context,
    instruments: &'static EngineInstruments,
    key: Key,
    route: Route,
    looks: u32,
}

/// What a [`ShortReceive`] has received.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// The tag of the message.
    pub tag: i32,
    /// Its length.
    pub bytes: usize,
}

impl State {
    /// A receive of a message of the program that has only to wait for the next record of its sender; `None` for every other
    /// one.
    #[inline(always)] // one caller: `MPI_Recv`
    pub fn receive_shortly(&mut self, context_id: u32, key: Key) -> Option<ShortReceive<'_>> {
        let State { endpoint, core } = self;
        core.short_receives = core.short_receives.wrapping_add(1);
        if core.short_receives.is_multiple_of(LONGER_WAYS) || core.has_work() || core.posting != 0 {
            return None;
        }
        let looks = core.first_polls();
        let context = core.contexts.get_first(context_id)?;
        // As an unsigned number MPI_ANY_SOURCE, or MPI_PROC_NULL, is larger than any rank.
        let route = *context.routes.get(key.source as u32 as usize)?;
        let side = &context.sides[0];
        if !side.unexpected.is_empty() || !side.posted.is_empty() {
            return None;
        }
        let records = endpoint.records_of(route.world)?;
        Some(ShortReceive { records, context, instruments: core.instruments, key, route, looks })
    }
}

impl ShortReceive<'_> {
    /// Waits for the message for about as long as a call waits before it yields or sleeps, and puts it into `memory`. `None`:
    /// it has not come, or is no short message for this receive; the longer way continues.
    #[inline(always)] // one caller: `MPI_Recv`
    pub fn wait(self, memory: &mut [u8]) -> Option<Received> {
        let ShortReceive { records, context, instruments, key, route, looks } = self;
        let meters = context.spec.instruments.block;
        // As in a longer wait, the receive counts as waiting from the first look that finds nothing.
        let missed = || meters.posted_length.raise(1);
        let expected = ShortMessage { context: context.spec.id, key, memory };
        let (received, looked) = records.await_next(looks, missed, expected);
        instruments.polls.add(u64::from(looked));
        if looked > 1 {
            meters.posted_length.lower(1);
        }
        let received = received?;
        meters.count_received(route.peer, received.bytes as u64);
        instruments.eager_received.incr();
        Some(received)
    }
}

/// The message that a receive of one process waits for, and where it goes.
pub(crate) struct ShortMessage<'m> {
    pub context: u32,
    pub key: Key,
    pub memory: &'m mut [u8],
}

impl Expected for ShortMessage<'_> {
    type Output = Received;

    // What `message_key` refuses, and all else that is wrong, is left to the poll.
    #[inline(always)]
    fn is(&self, head: &RecordHead, len: usize) -> bool {
        head.kind == wire::EAGER
            && head.context == self.context
            && head.a == u64::from(self.key.source as u32)
            && len <= self.memory.len()
            && (head.tag == self.key.tag || self.key.tag == MPI_ANY_TAG && head.tag != MPI_ANY_TAG)
    }

    #[inline(always)]
    fn take(self, head: &RecordHead, payload: Payload<'_>) -> Received {
        let bytes = payload.len();
        payload.copy_to(&mut self.memory[..bytes]);
        Received { tag: head.tag, bytes }
    }
}
