//! Carrying out what other processes want of this process's memory, in a fence.
//!
//! Invariant: what is not inside the window, not a datatype or no operation is an error and touches nothing; whoever
//! asked for data gets an answer, if an empty one, so that nobody waits for ever.

use mpi_core::Guard;
use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::Mode;

use crate::OneSided;
use crate::combine::Combine;
use crate::fence::{Flight, Outcome};
use crate::fetch::{comparable, swap};
use crate::target::Basic;
use crate::window::Win;
use crate::wire::{BATCH, BATCH_MAX, DATA, Head, PIECE, REPLY, Verb, malformed};

impl OneSided {
    /// Carries out as many batches as all others together have sent. Errors of single operations are noted.
    pub(crate) fn serve(&self, win: &Win, expected: u64, flight: &mut Flight<'_>, outcome: &mut Outcome) -> Result<()> {
        let (engine, context) = (&self.engine, win.context());
        let (mut batch, mut scratch) = (Vec::new(), Vec::new());
        for _ in 0..expected {
            let (message, status) = engine.mprobe(engine.lock(), context, MPI_ANY_SOURCE, BATCH)?;
            batch.resize((status.bytes() as usize).min(BATCH_MAX), 0);
            if let Err(error) = engine.mrecv(engine.lock(), message, RecvBuf::from_slice(&mut batch)) {
                outcome.note(Err(error));
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
                outcome.note(self.carry_out(win, status.source, &head, data, &mut scratch, flight));
            }
        }
        Ok(())
    }

    fn carry_out(
        &self,
        win: &Win,
        source: i32,
        head: &Head,
        data: &[u8],
        scratch: &mut Vec<u8>,
        flight: &mut Flight<'_>,
    ) -> Result<()> {
        let memory = Basic::predefined(head.datatype as usize)
            .and_then(|basic| Some((basic, win.memory.elements_mut(head.offset, head.count, basic)?)));
        let Some((basic, mut memory)) = memory.filter(|(basic, memory)| head.makes_sense(*basic, memory.bytes()))
        else {
            return self.refuse(win, source, head, flight);
        };
        let (engine, context) = (&self.engine, win.context());
        if head.verb == Verb::Put && !head.is_inline() {
            return engine.recv(engine.lock(), context, source, DATA, memory.part(0, head.bytes)).map(drop);
        }
        let data = if head.verb == Verb::Get || head.is_inline() {
            data
        } else {
            scratch.resize(head.bytes as usize, 0);
            engine.recv(engine.lock(), context, source, DATA, RecvBuf::from_slice(scratch))?;
            &scratch[..]
        };
        // Another thread of this process may accumulate into its own memory.
        let guard = &mut engine.lock();
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
                let answer = if combine.is_ok() { flight.keep(before) } else { SendBuf::empty() };
                self.answer(guard, win, source, answer, flight)?;
                return combine.map(drop);
            }
            Verb::Swap => {
                let before = swap(&mut memory, data);
                flight.keep(before[..head.bytes as usize / 2].to_vec())
            }
        };
        self.answer(guard, win, source, answer, flight)
    }

    fn answer(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        source: i32,
        answer: SendBuf<'static>,
        flight: &mut Flight<'_>,
    ) -> Result<()> {
        flight.watch(self.engine.isend(guard, win.context(), source, REPLY, answer, Mode::Standard)?, None);
        Ok(())
    }

    /// What comes with a record that makes no sense is taken all the same, so that it is not mistaken for the next
    /// one's; who waits for an answer gets an empty one.
    #[cold]
    fn refuse(&self, win: &Win, source: i32, head: &Head, flight: &mut Flight<'_>) -> Result<()> {
        let engine = &self.engine;
        if head.verb != Verb::Get && !head.is_inline() {
            let _ = engine.recv(engine.lock(), win.context(), source, DATA, RecvBuf::empty());
        }
        if matches!(head.verb, Verb::Get | Verb::Fetch | Verb::Swap) {
            self.answer(&mut engine.lock(), win, source, SendBuf::empty(), flight)?;
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

/// What stands in a buffer.
fn copied(memory: &RecvBuf<'_>) -> Vec<u8> {
    let mut copy = vec![0; memory.bytes() as usize];
    memory.pack(0, &mut copy);
    copy
}
