//! Moving partitions: grants, data, and what is written straight into the receiver's buffer (MPI-5.0, 4.2).
//!
//! A start of the receive sends a grant. The sender then sends each partition as soon as it is ready: short ones
//! through the ring, several neighbours in one record; long ones by writing into the receiver's memory, where the
//! kernel allows it, and reporting that. A sender whose message is not as long as the receiver's room reports its size
//! first.
//! Invariant: everything in a record is checked before use: token, process, place, length.
//! Not here: what partitions a send still has to send (`partitions`), the calls (`partitioned`).

use mpi_core::{Handle, Status};
use mpi_errors::Error;
use mpi_fabric::{Copier, Endpoint, Full, Payload, RecordHead, RegionKey};

use crate::chains::Key;
use crate::copy_job::{Claims, CopyJob, CopyJobs, Remote, Side};
use crate::core::{Core, Reply};
use crate::delivery::{truncated, unpack_payload};
use crate::partitions::{Channel, Grant, PairKey, PartitionedReceive, PartitionedSend};
use crate::recipe::{Activity, Recipe, RecipeRequest};
use crate::request::Request;
use crate::wire;

/// Bytes of the payload of a grant.
const GRANT_BYTES: usize = 24;

impl Core {
    /// Sends what is ready of the sends that waited for room or for a grant.
    pub fn send_pending_partitions(&mut self, endpoint: &mut Endpoint) {
        for request in std::mem::take(&mut self.partitions.pending) {
            if let Some(RecipeRequest { recipe: Recipe::PartitionedSend(send), .. }) = self.recipes.get_mut(request) {
                send.is_pending = false;
                // It adds itself again while there is no room.
                self.send_partitions(endpoint, request);
            }
        }
    }

    /// Sends what is ready of a partitioned send, as far as the receiver has granted it and there is room; completes
    /// the send when all is on its way.
    pub fn send_partitions(&mut self, endpoint: &mut Endpoint, request: Handle) {
        let found = self.recipes.get_mut(request);
        let Some(RecipeRequest {
            context,
            activity: Activity::UnderWay(operation),
            recipe: Recipe::PartitionedSend(send),
            ..
        }) = found
        else {
            return;
        };
        let operation = *operation;
        if self.requests.get(operation).is_none_or(Request::is_done) {
            // A poll in the same call has completed it.
            return;
        }
        let is_complete = match (send.world, send.granted()) {
            (None, _) => send.are_all_ready(),
            (Some(_), None) => false,
            (Some(world), Some(grant)) => {
                let whole = self.contexts.get(*context).is_some_and(|context| context.is_eager(send.shape.each))
                    && send.shape.each <= endpoint.max_payload() as u64;
                let writes = !whole && !grant.region.is_none() && !send.is_refused && endpoint.can_copy(world);
                let copier = if writes { endpoint.copier(world).ok() } else { None };
                let path = SendPath { world, grant, copier, request, operation };
                let pushed = push_ready(endpoint, send, path, &mut self.copies);
                if pushed.is_err() && !send.is_pending {
                    send.is_pending = true;
                    self.partitions.pending.push(request);
                }
                pushed.unwrap_or(false) && send.copying == 0
            }
        };
        if is_complete {
            self.end_partitioned(request, operation);
        }
        self.wake_leader_for_work();
    }

    /// A receiver has started a partitioned receive.
    pub fn partitions_granted(&mut self, from: u32, head: &RecordHead, payload: &Payload<'_>) {
        let Some(context) = self.contexts.get(head.context) else { return self.keep_early(from, head, payload) };
        let (peer, number) = (head.a as u32, (head.a >> 32) as u32);
        let is_member = context.spec.world_ranks.get(peer as usize) == Some(&from);
        if !is_member || payload.len() != GRANT_BYTES {
            return self.fault(from, "a malformed grant of a partitioned message");
        }
        let region = RegionKey::from_words([payload.word(1), payload.word(2)]);
        let grant = Grant { token: head.b, room: payload.word(0), region, messages: 1 };
        let channel = Channel { context: head.context, peer: peer as i32, tag: head.tag, is_send: true };
        let freed = context.freed;
        let Some(request) = self.partitions.granted(PairKey { channel, number }, grant, freed) else { return };
        let Some(RecipeRequest { recipe: Recipe::PartitionedSend(send), .. }) = self.recipes.get_mut(request) else {
            return;
        };
        let known = send.grant.get_or_insert(Grant { messages: 0, ..grant });
        known.messages += 1;
        if known.token != grant.token || known.messages > send.starts + 1 {
            return self.fault(from, "a grant of a partitioned message that cannot be");
        }
        if !send.is_pending {
            send.is_pending = true;
            self.partitions.pending.push(request);
        }
        let metrics = self.partition_metrics;
        if send.granted().is_some()
            && let Some(since) = send.early.take()
        {
            metrics.counts.waiting.lower(1);
            if since != 0 {
                metrics.counts.time_waiting.add_ns(mpi_t::now_ns().saturating_sub(since));
            }
        }
        metrics.raise_granted(self.contexts.get(head.context), send.pair);
    }

    /// A sender reports the size of its message, which is not that of the receiver's buffer.
    pub fn partitioned_size(&mut self, from: u32, head: &RecordHead) {
        match self.partitioned_receive(from, head.b) {
            Some((receive, _)) if receive.got == 0 => receive.message = Some(head.a),
            _ => self.fault(from, "the size of a partitioned message that nothing waits for"),
        }
    }

    /// Data of a partitioned message arrives (`written`: is in place already).
    pub fn partitions_arrived(&mut self, from: u32, head: &RecordHead, payload: &Payload<'_>, written: bool) {
        let bytes = match written {
            true if payload.len() == 8 => payload.word(0),
            true => return self.fault(from, "a malformed report of partitions"),
            false => payload.len() as u64,
        };
        let (at, instruments, metrics) = (head.a, self.instruments, self.partition_metrics);
        let Some((receive, operation)) = self.partitioned_receive(from, head.b) else {
            return self.fault(from, "partitions that nothing waits for");
        };
        let expected = receive.expected();
        if at.checked_add(bytes).is_none_or(|end| end > expected) {
            return self.fault(from, "partitions outside of the receiver's buffer");
        }
        if !receive.misses(at, bytes) {
            return self.fault(from, "a partition twice");
        }
        if !written {
            unpack_payload(&mut receive.buffer, at, payload);
            instruments.bytes_in_fragments.add(bytes);
        }
        receive.stored(at, bytes);
        let (pair, is_whole) = (receive.pair, receive.got == expected);
        metrics.counts.arrivals.incr();
        metrics.raise_arrived(self.contexts.get(pair.channel.context), pair, at, bytes);
        if is_whole {
            self.end_partitioned(Handle(head.b as usize), operation);
        }
    }

    /// The partitioned receive with this token, if it is under way and its sender is `from`, and its operation.
    fn partitioned_receive(&mut self, from: u32, token: u64) -> Option<(&mut PartitionedReceive, Handle)> {
        let found = self.recipes.get_mut(Handle(token as usize))?;
        let (Recipe::PartitionedReceive(receive), Activity::UnderWay(operation)) = (&mut found.recipe, found.activity)
        else {
            return None;
        };
        let is_awaited = self.requests.get(operation).is_some_and(|operation| !operation.is_done());
        (receive.world == Some(from) && is_awaited).then_some((receive, operation))
    }

    /// Ends a partitioned operation, whose other process has ended, with an error; a freed request ends.
    #[cold]
    pub fn fail_partitioned(&mut self, request: Handle, operation: Handle, error: Error) {
        let Some(found) = self.recipes.get(request) else { return };
        let freed = found.freed;
        if let Recipe::PartitionedReceive(receive) = &found.recipe {
            receive.arrivals.end_all();
        }
        if let Some(request) = self.requests.get_mut(operation) {
            request.error = Some(error);
        }
        self.finish(operation);
        if freed {
            self.remove_partitioned(request);
        }
    }

    /// Completes a partitioned operation; a freed request ends.
    pub fn end_partitioned(&mut self, request: Handle, operation: Handle) {
        let Some(found) = self.recipes.get_mut(request) else { return };
        let (context, freed) = (found.context, found.freed);
        match &found.recipe {
            Recipe::PartitionedSend(send) if send.world.is_some() => self.partition_metrics.counts.sent.incr(),
            Recipe::PartitionedReceive(receive) if receive.world.is_some() => {
                self.partition_metrics.counts.received.incr();
            }
            _ => {}
        }
        if let Recipe::PartitionedReceive(receive) = &mut found.recipe {
            receive.arrivals.end_all();
            let key = Key { source: receive.pair.channel.peer, tag: receive.pair.channel.tag };
            let (room, expected) = (receive.shape.total(), receive.expected());
            let message = receive.message.unwrap_or(room);
            if let Some(request) = self.requests.get_mut(operation)
                && receive.world.is_some()
            {
                request.status = Status::new(key.source, key.tag, expected);
                request.error = (message > room).then(|| truncated(key, message, room));
            }
            if let Some(context) = self.contexts.get(context)
                && receive.world.is_some()
            {
                context.count_received(receive.pair.channel.context, key.source, message);
            }
        }
        self.finish(operation);
        if freed {
            self.remove_partitioned(request);
        }
    }
}

impl Core {
    /// Partitions have been copied into the receiver's memory, or could not be.
    pub fn partitions_copied(&mut self, endpoint: &mut Endpoint, job: CopyJob) {
        let CopyJob { side: Side::Partitions { send: request, range, .. }, remote, copied, copier, .. } = job else {
            return;
        };
        let found = self.recipes.get_mut(request);
        let Some(RecipeRequest { recipe: Recipe::PartitionedSend(send), .. }) = found else {
            unreachable!("a send that is being copied is not complete")
        };
        send.copying -= 1;
        if copied == remote.bytes {
            let token = send.grant.map_or(0, |grant| grant.token);
            let mut written = Reply::about(copier.peer(), wire::PARTITIONS_WRITTEN, token).with(&copied.to_ne_bytes());
            written.head.a = remote.offset;
            self.reply(endpoint, written);
        } else {
            // The rings need no permission.
            send.is_refused = true;
            send.waiting.push_back(range);
        }
        self.send_partitions(endpoint, request);
    }
}

/// How a send's data reaches its receiver.
struct SendPath {
    world: u32,
    grant: Grant,
    /// Straight into the receiver's memory.
    copier: Option<Copier>,
    /// The partitioned send, and the request of the operation that it has started.
    request: Handle,
    operation: Handle,
}

/// Pushes what is ready, or starts to copy it; returns whether the whole message is on its way or being copied.
fn push_ready(
    endpoint: &mut Endpoint,
    send: &mut PartitionedSend,
    path: SendPath,
    copies: &mut CopyJobs,
) -> Result<bool, Full> {
    let SendPath { world, grant, copier, request, operation } = path;
    let head = |kind, at| RecordHead { kind, flags: 0, context: 0, tag: 0, a: at, b: grant.token };
    let (total, each) = (send.shape.total(), send.shape.each);
    if total != grant.room && !send.announced {
        endpoint.push(world, &head(wire::PARTITIONED_SIZE, total), &[])?;
        send.announced = true;
    }
    let limit = total.min(grant.room);
    let most = endpoint.max_payload() as u64;
    while let Some((low, end)) = send.waiting.front().copied() {
        let at = u64::from(low) * each + send.sent;
        let left = (u64::from(end) * each).min(limit).saturating_sub(at);
        if left == 0 {
            send.waiting.pop_front();
            send.sent = 0;
            continue;
        }
        if let Some(copier) = &copier
            && send.sent == 0
            && send.buffer.address().is_some()
        {
            let side = Side::Partitions { data: send.buffer.part(at, left), send: request, range: (low, end) };
            let remote = Remote { region: grant.region, offset: at, bytes: left, listed: false, keyed: false };
            copies.add(operation, copier.clone(), remote, side, Claims::alone(endpoint.shares_memory(world)));
            send.copying += 1;
            send.waiting.pop_front();
            continue;
        }
        let bytes = left.min(most);
        // Only this part of the buffer: the program may write the partitions that are not ready.
        let part = send.buffer.part(at, bytes);
        match part.contiguous() {
            Some(data) => endpoint.push(world, &head(wire::PARTITIONS, at), data)?,
            None => endpoint.push_with(world, &head(wire::PARTITIONS, at), bytes as usize, |out| {
                part.pack(0, out);
            })?,
        }
        send.sent += bytes;
    }
    if !send.are_all_ready() {
        return Ok(false);
    }
    if limit == 0 {
        // No data completes the receive.
        endpoint.push(world, &head(wire::PARTITIONS, 0), &[])?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
