//! Blocking calls: on short ways if one publication of each process is enough, without shapes, spans and working memory;
//! else by their steps.
//!
//! Invariant: a short way makes the same publications and reads, and combines in the same order, as the steps of the call
//! would, so that some processes of a call may go the one way and some the other.
//! Not here: barriers, broadcasts and reductions, which have entries of their own (`barrier`, `bcast`, `reduce`, `allreduce`).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::call::{Amounts, CollCall};
use crate::call_scope::CallScope;
use crate::coll_op::{CollOp, Form};
use crate::shape::Root;
use crate::shared::{Heading, Turns, is_mutual, outside, place_among_others, publish, put_part, with_gaps};

/// Two processes exchange blocks of up to so many bytes without looking whether their buffers have gaps.
const ONE_COPY: u64 = 512;
/// Bytes of a part that is copied twice.
const TILE: usize = 8 << 10;

/// A call that goes a short way.
struct Short<'c, 'b, 'a, 'k> {
    turns: Turns<'c>,
    rank: u32,
    size: u32,
    root: u32,
    /// Bytes from each process to each other one.
    block: u64,
    /// Most bytes that a process publishes in one turn.
    longest: u64,
    call: &'k mut CollCall<'b, 'a>,
    /// Ends the call for its instruments when it is dropped.
    _calling: CallScope<'c>,
}

impl Collectives {
    /// Carries out a call, and returns when this process's part is done.
    pub fn block(&self, comm: &Comm, call: CollCall<'_, '_>) -> Result<()> {
        self.block_with(self.engine.lock(), comm, call)
    }

    /// As [`Collectives::block`], for a caller that has the process lock, which it releases.
    #[inline(always)]
    pub fn block_with<'a>(&'a self, guard: Guard<'a>, comm: &'a Comm, mut call: CollCall<'_, '_>) -> Result<()> {
        let guard = self.meet(comm, guard, call.which)?;
        match self.short_way(guard, comm, &mut call) {
            Ok(result) => result,
            Err(guard) => self.block_by_steps(guard, comm, call),
        }
    }

    /// Carries out a call that one publication of each process is enough for; gives the guard back, with nothing done, if
    /// the call must go by its steps.
    #[inline(always)]
    fn short_way<'g>(
        &'g self,
        guard: Guard<'g>,
        comm: &'g Comm,
        call: &mut CollCall<'_, '_>,
    ) -> std::result::Result<Result<()>, Guard<'g>> {
        // Each operation is a constant in what it calls.
        match call.which {
            CollOp::Gather => self.short_move(CollOp::Gather, guard, comm, call),
            CollOp::Scatter => self.short_move(CollOp::Scatter, guard, comm, call),
            CollOp::Allgather => self.short_move(CollOp::Allgather, guard, comm, call),
            CollOp::Alltoall => self.short_move(CollOp::Alltoall, guard, comm, call),
            _ => Err(guard),
        }
    }

    /// Of an operation that moves equal blocks.
    #[inline(always)]
    fn short_move<'g>(
        &'g self,
        which: CollOp,
        guard: Guard<'g>,
        comm: &'g Comm,
        call: &mut CollCall<'_, '_>,
    ) -> std::result::Result<Result<()>, Guard<'g>> {
        let sent = call.send.as_whole().map(SendBuf::bytes);
        let received = call.recv.as_whole().map(RecvBuf::bytes);
        let amounts = Amounts::of(which, comm.size(), (sent, received), (0, 0));
        let size = u64::from(comm.size());
        // A process whose buffers differ in length finds the error in its steps.
        let equal = match (sent, received) {
            (Some(sent), Some(received)) => match which {
                CollOp::Scatter => sent == size.saturating_mul(received),
                CollOp::Alltoall => sent == received,
                _ => size.saturating_mul(sent) == received,
            },
            _ => true,
        };
        let block = amounts.matching;
        let published = match which {
            CollOp::Scatter | CollOp::Alltoall => (size - 1).saturating_mul(block),
            _ => block,
        };
        if !equal {
            return Err(guard);
        }
        // Two processes exchange long blocks in turns.
        let longest = self.plan(comm, which).with_bytes(which, amounts.plan, self.settings).longest();
        let is_exchange = size == 2 && matches!(which, CollOp::Allgather | CollOp::Alltoall);
        let published = match is_exchange && published > longest && longest > 0 && has_no_gaps(call) {
            true => longest,
            false => published,
        };
        let mut short = self.begin_short(which, guard, comm, (amounts, published, longest), call)?;
        let result = short.moved(which);
        Ok(short.end(which, result))
    }

    /// Begins a call, if each process publishes so many bytes in one turn, of so many at most.
    #[inline(always)]
    fn begin_short<'g, 'b, 'a, 'k>(
        &'g self,
        which: CollOp,
        guard: Guard<'g>,
        comm: &'g Comm,
        (amounts, published, longest): (Amounts, u64, u64),
        call: &'k mut CollCall<'b, 'a>,
    ) -> std::result::Result<Short<'g, 'b, 'a, 'k>, Guard<'g>> {
        let (Some(channels), Root::Rank(root)) = (comm.channels(), call.root) else { return Err(guard) };
        if amounts.plan == 0 || published > longest || self.settings.check.get() {
            return Err(guard);
        }
        let (calling, guard) = self.begin_with(guard, comm, (which, amounts.plan), |it| {
            it.count(which, Form::Blocking, amounts.counted);
        });
        drop(guard);
        let turns = Turns::new(
            &self.engine,
            &channels.blocking,
            Heading::new(which, amounts.matching),
            is_mutual(which, comm.size()),
        );
        let (rank, size, block) = (comm.rank, comm.size(), amounts.matching);
        Ok(Short { turns, rank, size, root, block, longest, call, _calling: calling })
    }
}

/// Whether both buffers are whole, and contiguous in memory.
fn has_no_gaps(call: &mut CollCall<'_, '_>) -> bool {
    let sent = call.send.as_whole().is_some_and(|send| send.contiguous().is_some());
    sent && call.recv.as_whole_mut().is_some_and(|recv| recv.contiguous_mut().is_some())
}

impl Short<'_, '_, '_, '_> {
    /// Ends the call, whose turn had this result.
    #[inline(always)]
    fn end(self, which: CollOp, result: Result<()>) -> Result<()> {
        self.turns.end(is_mutual(which, self.size) && result.is_ok());
        result
    }

    /// Moves blocks.
    #[inline(always)]
    fn moved(&mut self, which: CollOp) -> Result<()> {
        match which {
            CollOp::Gather if self.rank != self.root => self.publish_own(),
            CollOp::Gather => {
                self.copy_own(0, u64::from(self.rank) * self.block);
                self.fetch_others(false)
            }
            CollOp::Scatter if self.rank != self.root => {
                let at = u64::from(place_among_others(self.rank, self.root)) * self.block;
                self.fetch(self.root, at, 0)
            }
            CollOp::Scatter => {
                self.publish_others()?;
                self.copy_own(u64::from(self.rank) * self.block, 0);
                Ok(())
            }
            CollOp::Allgather | CollOp::Alltoall if self.size == 2 && self.block > ONE_COPY => {
                match self.exchange(which == CollOp::Alltoall) {
                    Some(result) => result,
                    None if self.block <= self.longest => self.move_at_once(which),
                    None => Err(with_gaps()),
                }
            }
            _ => self.move_at_once(which),
        }
    }

    /// An exchange of blocks in one turn.
    #[inline(always)]
    fn move_at_once(&mut self, which: CollOp) -> Result<()> {
        match which {
            CollOp::Allgather => {
                if !self.publish_and_copy_own()? {
                    self.publish_own()?;
                    self.copy_own(0, u64::from(self.rank) * self.block);
                }
                self.fetch_others(false)
            }
            _ => {
                self.publish_others()?;
                let own = u64::from(self.rank) * self.block;
                self.copy_own(own, own);
                self.fetch_others(true)
            }
        }
    }

    /// Two processes exchange a block, a part of it in each turn, and copy their own meanwhile. `None`, with nothing done, if
    /// buffers have gaps or are in place.
    fn exchange(&mut self, each: bool) -> Option<Result<()>> {
        let Short { turns, call, block, longest, rank, .. } = &mut *self;
        let (send, recv) = (call.send.as_whole()?, call.recv.as_whole_mut()?);
        let (data, room, block) = (send.contiguous()?, recv.contiguous_mut()?, *block as usize);
        let (own, other) = room.split_at_mut_checked(block)?;
        let other = other.get_mut(..block)?;
        let (own, other) = if *rank == 0 { (own, other) } else { (other, own) };
        let (at_own, at_other) = match (each, *rank) {
            (false, _) => (0, 0),
            (true, 0) => (0, block),
            (true, _) => (block, 0),
        };
        let (mine, theirs) = (data.get(at_own..)?.get(..block)?, data.get(at_other..)?.get(..block)?);
        let source = 1 - *rank;
        let chunk = *longest as usize;
        let manner = (each, block > chunk);
        for at in (0..block).step_by(chunk) {
            if at > 0 {
                turns.end_turn();
            }
            let part = at..block.min(at + chunk);
            let exchanged =
                turns.exchange(source, (&mine[part.clone()], &mut own[part.clone()]), &theirs[part.clone()], manner);
            let read = exchanged.and_then(|published| match published.copy(0, &mut other[part]) {
                true => Ok(()),
                false => Err(outside(source)),
            });
            if read.is_err() {
                return Some(read);
            }
        }
        Some(Ok(()))
    }

    /// Publishes the one block of this process.
    #[inline(always)]
    fn publish_own(&mut self) -> Result<()> {
        let (rank, block) = (u64::from(self.rank), self.block);
        let Short { turns, call, .. } = self;
        match (call.send.as_whole(), call.recv.as_whole()) {
            (Some(send), _) => publish(turns, send),
            (None, Some(recv)) => {
                turns.reserve(block)?;
                if let Some(publication) = turns.publication() {
                    put_part(publication, 0, &recv.as_send(), rank * block, block);
                }
                turns.publish();
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Publishes the one block of this process and copies it to itself, in parts that a first-level cache holds, if it is longer;
    /// returns whether it has. Streaming stores are fastest in one piece.
    fn publish_and_copy_own(&mut self) -> Result<bool> {
        let (into, block) = (self.rank as usize * self.block as usize, self.block as usize);
        if block <= TILE || self.turns.streams() {
            return Ok(false);
        }
        let Short { turns, call, .. } = self;
        let (Some(send), Some(recv)) = (call.send.as_whole(), call.recv.as_whole_mut()) else { return Ok(false) };
        let (Some(data), Some(room)) = (send.contiguous(), recv.contiguous_mut()) else { return Ok(false) };
        let Some(own) = room.get_mut(into..into + block) else { return Ok(false) };
        turns.reserve(block as u64)?;
        if let Some(publication) = turns.publication() {
            for (at, (from, into)) in data.chunks(TILE).zip(own.chunks_mut(TILE)).enumerate() {
                publication.put(at * TILE, from);
                into.copy_from_slice(from);
            }
        }
        turns.publish();
        Ok(true)
    }

    /// Publishes the blocks for all others, in the order of their ranks.
    #[inline(always)]
    fn publish_others(&mut self) -> Result<()> {
        let Short { turns, call, .. } = self;
        turns.reserve(u64::from(self.size - 1) * self.block)?;
        let whole = match (call.send.as_whole(), call.recv.as_whole()) {
            (Some(send), _) => Some(send.clone()),
            (None, recv) => recv.map(RecvBuf::as_send),
        };
        if let (Some(publication), Some(whole)) = (turns.publication(), whole) {
            let (before, behind) = (u64::from(self.rank) * self.block, u64::from(self.rank + 1) * self.block);
            put_part(publication, 0, &whole, 0, before);
            put_part(publication, before, &whole, behind, u64::from(self.size) * self.block - behind);
        }
        turns.publish();
        Ok(())
    }

    /// Copies the block of this process to itself, unless it is in place.
    #[inline(always)]
    fn copy_own(&mut self, from: u64, into: u64) {
        let call = &mut *self.call;
        let (Some(send), Some(recv)) = (call.send.as_whole(), call.recv.as_whole_mut()) else { return };
        match send.contiguous() {
            Some(data) => {
                recv.unpack(into, &data[from as usize..][..self.block as usize]);
            }
            None => {
                recv.part(into, self.block).copy_from(&send.part(from, self.block));
            }
        }
    }

    /// Waits for what a rank publishes, and stores its block from an offset on.
    #[inline(always)]
    fn fetch(&mut self, source: u32, at: u64, into: u64) -> Result<()> {
        match self.call.recv.as_whole_mut() {
            Some(recv) => self.turns.store(source, at, self.block, recv, into),
            None => Ok(()),
        }
    }

    /// The same of all others; `each`: they publish a block for every other process.
    #[inline(always)]
    fn fetch_others(&mut self, each: bool) -> Result<()> {
        for step in 1..self.size {
            let source = if self.rank + step < self.size { self.rank + step } else { self.rank + step - self.size };
            let place = if each { place_among_others(self.rank, source) } else { 0 };
            self.fetch(source, u64::from(place) * self.block, u64::from(source) * self.block)?;
        }
        Ok(())
    }
}
