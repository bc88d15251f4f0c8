//! Carrying out what other processes want of this process's memory, in a fence.
//!
//! Invariant: what is not inside the window, not a datatype or no operation is an error and touches nothing; whoever
//! asked for data gets an answer, if an empty one, so that nobody waits for ever.

use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::Mode;

use crate::OneSided;
use crate::combine::Combine;
use crate::fence::{Flight, Outcome};
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
            .and_then(|basic| Some((basic, win.memory.elements_mut(head.offset, head.count, basic)?)))
            .filter(|(_, memory)| head.bytes <= memory.bytes());
        let (engine, context) = (&self.engine, win.context());
        match (head.verb, memory) {
            (Verb::Get, memory) => {
                let answer = match &memory {
                    Some((basic, _)) => win.memory.elements(head.offset, head.count, *basic).expect("seen above"),
                    None => SendBuf::empty(),
                };
                let answer = answer.part(0, head.bytes);
                flight.watch(engine.isend(&mut engine.lock(), context, source, REPLY, answer, Mode::Standard)?, None);
                memory.map(drop).ok_or_else(outside)
            }
            (Verb::Put, Some((_, mut memory))) if head.is_inline() => {
                memory.unpack(0, data);
                Ok(())
            }
            (Verb::Put, Some((_, mut memory))) => {
                engine.recv(engine.lock(), context, source, DATA, memory.part(0, head.bytes)).map(drop)
            }
            (Verb::Accumulate, Some((basic, memory))) if head.bytes <= PIECE => {
                let combine = Combine::new(head.op as usize, basic);
                let data = match head.is_inline() {
                    true => data,
                    false => {
                        scratch.resize(head.bytes as usize, 0);
                        engine.recv(engine.lock(), context, source, DATA, RecvBuf::from_slice(scratch))?;
                        &scratch[..]
                    }
                };
                // Another thread of this process may accumulate into its own memory.
                let _guard = engine.lock();
                combine?.apply(memory, basic, data);
                Ok(())
            }
            (_, _) => {
                if !head.is_inline() {
                    // The data come all the same: they are taken, so that the next ones are not mistaken for them.
                    let _ = engine.recv(engine.lock(), context, source, DATA, RecvBuf::empty());
                }
                Err(outside())
            }
        }
    }
}

#[cold]
fn outside() -> mpi_errors::Error {
    malformed("reaches outside of this process's part of the window")
}
