//! Carrying out what other processes want of this process's memory, in a fence.
//!
//! Invariant: what is not inside the window, not a datatype or no operation is an error and touches nothing; whoever
//! asked for data gets an answer, if an empty one, so that nobody waits for ever.

use mpi_comm::Outcome;
use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::Mode;

use crate::OneSided;
use crate::basic::Basic;
use crate::combine::Combine;
use crate::fence::FenceOps;
use crate::fetch::{comparable, swap};
use crate::window::Win;
use crate::wire::{BATCH, BATCH_MAX, DATA, Head, PIECE, REPLY, Verb, malformed};

impl OneSided {
    /// Carries out as many batches as all others together have sent. Errors of single operations are noted.
    pub(crate) fn serve(&self, win: &Win, expected: u64, ops: &mut FenceOps<'_>, outcome: &mut Outcome) {
        let (engine, context) = (&self.engine, win.context());
        let (mut batch, mut scratch) = (Vec::new(), Vec::new());
        for _ in 0..expected {
            let (message, status) = match engine.mprobe(engine.lock(), context, MPI_ANY_SOURCE, BATCH) {
                Ok(found) => found,
                Err(error) => {
                    outcome.note(Err(error));
                    continue;
                }
            };
            batch.resize((status.bytes() as usize).min(BATCH_MAX), 0);
            if let Err(failure) = engine.mrecv(engine.lock(), message, RecvBuf::from_slice(&mut batch)) {
                outcome.note(Err(failure.into()));
                continue;
            }
            let mut rest = batch.as_slice();
            while !rest.is_empty() {
                let (head, data, behind) = match Head::decode(rest) {
                    Ok(record) => record,
                    Err(error) => {
                        outcome.note(Err(error));
                        break;
                    }
                };
                rest = behind;
                outcome.note(self.carry_out(win, status.source, &head, data, &mut scratch, ops));
            }
        }
    }

    fn carry_out(
        &self,
        win: &Win,
        source: i32,
        head: &Head,
        data: &[u8],
        scratch: &mut Vec<u8>,
        ops: &mut FenceOps<'_>,
    ) -> Result<()> {
        let memory = Basic::predefined(head.datatype as usize)
            .and_then(|basic| Some((basic, win.memory.elements_mut(head.offset, head.count, basic)?)));
        let Some((basic, mut memory)) = memory.filter(|(basic, memory)| head.makes_sense(*basic, memory.bytes()))
        else {
            return self.refuse(win, source, head, ops);
        };
        let (engine, context) = (&self.engine, win.context());
        if head.verb == Verb::Put && !head.is_inline() {
            let status = engine.recv(engine.lock(), context, source, DATA, memory.part(0, head.bytes))?;
            return whole(head, status.bytes());
        }
        let data = if head.verb == Verb::Get || head.is_inline() {
            data
        } else {
            scratch.resize(head.bytes as usize, 0);
            let status = engine.recv(engine.lock(), context, source, DATA, RecvBuf::from_slice(scratch));
            if let Err(error) = status.map_err(Error::from).and_then(|status| whole(head, status.bytes())) {
                if head.is_answered() {
                    self.answer(win, source, SendBuf::empty(), ops)?;
                }
                return Err(error);
            }
            &scratch[..]
        };
        // Another thread of this process may accumulate into its own memory.
        let held = engine.lock();
        let answer = match head.verb {
            Verb::Put => {
                memory.unpack(0, data);
                return Ok(());
            }
            Verb::Accumulate => {
                Combine::new(head.op as usize, basic)?.apply(memory, basic, data);
                return Ok(());
            }
            // Memory that is only read may be sent from where it is.
            Verb::Get => win.memory.elements(head.offset, head.count, basic).expect("seen above").part(0, head.bytes),
            Verb::Fetch => {
                let before = copied(&memory);
                let combine = Combine::fetching(head.op as usize, basic);
                if let Ok(Some(combine)) = &combine {
                    combine.apply(memory.part(0, head.bytes), basic, data);
                }
                let answer = if combine.is_ok() { ops.keep(before) } else { SendBuf::empty() };
                drop(held);
                self.answer(win, source, answer, ops)?;
                return combine.map(drop);
            }
            Verb::Swap => {
                let before = swap(&mut memory, data);
                ops.keep(before[..head.bytes as usize / 2].to_vec())
            }
        };
        drop(held);
        self.answer(win, source, answer, ops)
    }

    /// Replies, with nothing if it must be: an empty message needs no request.
    fn answer(&self, win: &Win, source: i32, answer: SendBuf<'static>, ops: &mut FenceOps<'_>) -> Result<()> {
        let (engine, context) = (&self.engine, win.context());
        let send = engine.isend(&mut engine.lock(), context, source, REPLY, answer, Mode::Standard);
        if send.is_err() {
            engine.send(engine.lock(), context, source, REPLY, SendBuf::empty(), Mode::Standard)?;
        }
        ops.add_send(send?);
        Ok(())
    }

    /// What comes with a record that makes no sense is taken all the same, so that it is not mistaken for the next
    /// one's; who waits for an answer gets an empty one.
    #[cold]
    fn refuse(&self, win: &Win, source: i32, head: &Head, ops: &mut FenceOps<'_>) -> Result<()> {
        let engine = &self.engine;
        if head.has_data_behind() {
            let _ = engine.recv(engine.lock(), win.context(), source, DATA, RecvBuf::empty());
        }
        if head.is_answered() {
            self.answer(win, source, SendBuf::empty(), ops)?;
        }
        Err(malformed("reaches outside of this process's part of the window, or makes no sense"))
    }
}

impl Head {
    /// Whether the data go with elements of this type that have `room` bytes of data.
    fn makes_sense(&self, basic: Basic, room: u64) -> bool {
        match self.verb {
            Verb::Put | Verb::Get => self.bytes <= room,
            Verb::Accumulate | Verb::Fetch => self.bytes <= room.min(PIECE),
            Verb::Swap => self.count == 1 && self.bytes == 2 * room && comparable(basic).is_ok(),
        }
    }
}

/// Errors when an operation's data did not all come.
fn whole(head: &Head, bytes: u64) -> Result<()> {
    if bytes == head.bytes { Ok(()) } else { Err(malformed("came without all of its data")) }
}

/// What stands in a buffer.
fn copied(memory: &RecvBuf<'_>) -> Vec<u8> {
    let mut copy = vec![0; memory.bytes() as usize];
    memory.pack(0, &mut copy);
    copy
}
