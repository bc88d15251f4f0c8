//! Steps of a blocking call, carried out one after the other.
//!
//! Invariants: no guard is held between two steps, and reductions run without one. When the value is dropped, no
//! process uses the call's memory any more.
#![allow(unsafe_code)] // messages use the call's memory, which outlives them

use mpi_comm::{Outcome, PendingOps};
use mpi_errors::Result;

use crate::Reduction;
use crate::link::Link;
use crate::lists::{Receive, keep_receives, receive_list};
use crate::memory::Memory;
use crate::missing_buffer::copy_own;
use crate::op::Reducer;
use crate::plan::SHORT;
use crate::shared::{Turns, no_channel, put_into};
use crate::steps::{Check, Side, Span, Steps};

/// The sink of a blocking call.
pub(crate) struct Run<'c, 'b> {
    /// Messages under way. Before the memory, so that it is dropped first.
    pending: Option<PendingOps<'c, 'static>>,
    /// Whether receives are among them.
    posted: bool,
    /// Receives that are not started yet.
    held: Vec<Receive>,
    link: Link<'c>,
    /// The context of the local group.
    local: u32,
    reduction: Option<(&'c Reduction<'c>, &'c Reducer<'c>)>,
    outcome: Outcome,
    memory: Memory<'b>,
    /// Its turns in the communicator's channel, if it goes that way.
    turns: Option<Turns<'c>>,
}

impl<'c, 'b> Run<'c, 'b> {
    /// A call over this link, whose local group has the context `local`.
    #[inline]
    pub fn new(
        link: Link<'c>,
        local: u32,
        memory: Memory<'b>,
        reduction: Option<(&'c Reduction<'c>, &'c Reducer<'c>)>,
        turns: Option<Turns<'c>>,
    ) -> Run<'c, 'b> {
        let (held, outcome) = (Vec::new(), Outcome::default());
        Run { pending: None, posted: false, held, link, local, reduction, outcome, memory, turns }
    }

    /// Waits for what is under way after the steps, which had this result, and returns the result of the call. `mutual`:
    /// as for the end of an operation in a channel.
    #[inline]
    pub fn end(mut self, steps: Result<()>, mutual: bool) -> Result<()> {
        if let Some(turns) = self.turns.take() {
            turns.end(mutual && steps.is_ok());
        }
        steps?;
        self.round()?;
        std::mem::take(&mut self.outcome).end()
    }

    /// What a rank publishes in this turn of the channel.
    #[inline]
    fn published(&self, source: u32, at: u64, len: u64) -> Result<&'c [u8]> {
        self.turns.as_ref().ok_or_else(no_channel)?.bytes(source, at, len)
    }

    #[inline]
    fn link_of(&self, side: Side) -> Link<'c> {
        match side {
            Side::Peers => self.link,
            Side::Local => Link { context: self.local, ..self.link },
        }
    }

    /// Starts the receives that are held.
    fn post(&mut self) -> Result<()> {
        for at in 0..self.held.len() {
            let (side, source, into) = self.held[at];
            let link = self.link_of(side);
            let datatype = self.reduction.map(|(what, _)| what.datatype);
            // SAFETY: the memory outlives the message, which is over when `pending` is dropped.
            let into = unsafe { self.memory.target(into, datatype).detach() };
            let pending = self.pending.get_or_insert_with(|| link.pending());
            link.irecv(pending, source, into)?;
            self.posted = true;
        }
        self.held.clear();
        Ok(())
    }
}

impl Drop for Run<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if self.held.capacity() > 0 {
            keep_receives(std::mem::take(&mut self.held));
        }
    }
}

impl Steps for Run<'_, '_> {
    #[inline]
    fn send_on(&mut self, side: Side, dest: u32, from: Span) -> Result<()> {
        if !self.held.is_empty() {
            self.post()?;
        }
        let link = self.link_of(side);
        let from = self.memory.source(from, self.reduction.map(|(what, _)| what.datatype));
        if link.send_at_once(dest, &from) {
            return Ok(());
        }
        // SAFETY: as in `post`; no step writes the memory before the next boundary.
        let from = unsafe { from.detach() };
        let pending = self.pending.get_or_insert_with(|| link.pending());
        link.isend(pending, dest, from)
    }

    #[inline]
    fn receive_on(&mut self, side: Side, source: u32, into: Span) -> Result<()> {
        if self.held.capacity() == 0 {
            self.held = receive_list();
        }
        self.held.push((side, source, into));
        Ok(())
    }

    #[inline]
    fn copy(&mut self, from: Span, into: Span) -> Result<()> {
        let (from, into) = self.memory.both(from, into, self.reduction.map(|(what, _)| what.datatype));
        copy_own(into, &from, &mut self.outcome)
    }

    #[inline]
    fn combine(&mut self, from: Span, into: Span) -> Result<()> {
        match self.reduction {
            Some((what, reducer)) => self.memory.combine(from, into, what.datatype, reducer),
            None => Ok(()),
        }
    }

    fn widen(&mut self, from: Span, into: Span) -> Result<()> {
        self.memory.widen(from, into)
    }

    fn narrow(&mut self, from: Span, into: Span) -> Result<()> {
        self.memory.narrow(from, into)
    }

    fn check(&mut self, check: Check) -> Result<()> {
        self.memory.check(check)
    }

    fn provide(&mut self, area: u8, words: &[u64]) -> Result<Span> {
        self.memory.add_words(area, words)
    }

    #[inline]
    fn received(&mut self) -> Result<()> {
        if self.posted || self.held.len() > 1 && self.held.iter().any(|(.., into)| into.bytes > SHORT) {
            return self.round();
        }
        // Every send of the round has been started, so the receives may wait one after the other.
        for at in 0..self.held.len() {
            let (side, source, into) = self.held[at];
            let link = self.link_of(side);
            let into = self.memory.target(into, self.reduction.map(|(what, _)| what.datatype));
            self.outcome.record_data_error(link.recv(source, into))?;
        }
        self.held.clear();
        Ok(())
    }

    #[inline]
    fn round(&mut self) -> Result<()> {
        if self.posted || self.held.len() > 1 && self.held.iter().any(|(.., into)| into.bytes > SHORT) {
            self.post()?;
        } else {
            self.received()?;
        }
        match self.pending.take() {
            None => Ok(()),
            Some(pending) => {
                self.posted = false;
                self.link.wait_all(pending, &mut self.outcome)
            }
        }
    }

    #[inline]
    fn reserve(&mut self, bytes: u64) -> Result<()> {
        self.turns.as_mut().ok_or_else(no_channel)?.reserve(bytes)
    }

    #[inline]
    fn put(&mut self, at: u64, from: Span) -> Result<()> {
        let data = self.memory.source(from, self.reduction.map(|(what, _)| what.datatype));
        if let Some(publication) = self.turns.as_mut().and_then(Turns::publication) {
            put_into(publication, at, &data);
        }
        Ok(())
    }

    #[inline]
    fn publish(&mut self) -> Result<()> {
        self.turns.as_mut().ok_or_else(no_channel)?.publish();
        Ok(())
    }

    #[inline]
    fn fetch(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        let turns = self.turns.as_ref().ok_or_else(no_channel)?;
        let mut room = self.memory.target(into, self.reduction.map(|(what, _)| what.datatype));
        turns.store(source, at, into.bytes, &mut room, 0)
    }

    #[inline]
    fn fold(&mut self, source: u32, at: u64, into: Span) -> Result<()> {
        let Some((what, reducer)) = self.reduction else { return Ok(()) };
        let data = self.published(source, at, into.bytes)?;
        self.memory.fold(data, into, what.datatype, reducer, what.is_direct())
    }

    #[inline]
    fn end_turn(&mut self) -> Result<()> {
        if let Some(turns) = &self.turns {
            turns.end_turn();
        }
        Ok(())
    }

    fn bytes(&mut self, area: u8, bytes: u64) -> Result<Span> {
        self.memory.add_bytes(area, bytes)
    }

    fn elements(&mut self, area: u8, count: u64) -> Result<Span> {
        match self.reduction {
            Some((what, _)) => self.memory.add_elements(area, count, what.datatype),
            None => self.memory.add_bytes(area, count),
        }
    }
}
