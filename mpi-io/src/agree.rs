//! What the processes of a file tell each other, over the file's own communicator.
//!
//! Invariant: every process sends and receives the same messages whatever it met before, so that none is left waiting.
//! Not here: what follows from what they tell.

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::{Engine, Mode};

use crate::fault::Fault;

const TAG: i32 = 0x7010;

/// What one process tells: how it fared, and two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    /// What the process met; `None` when all is well.
    pub fault: Option<Fault>,
    /// What it means depends on the occasion.
    pub numbers: [u64; 2],
}

impl Word {
    fn pack(self) -> [u64; 4] {
        let fault = self.fault.unwrap_or(Fault { class: 0, errno: 0 });
        [fault.class as u64, fault.errno as u64, self.numbers[0], self.numbers[1]]
    }

    fn unpack(words: &[u64]) -> Word {
        let (class, errno) = (words[0] as i32, words[1] as i32);
        let fault = (class != 0).then_some(Fault { class, errno });
        Word { fault, numbers: [words[2], words[3]] }
    }
}

/// Everybody tells everybody, through rank 0: the words of all, by rank.
pub(crate) fn exchange(engine: &Engine, comm: &Comm, own: Word) -> Result<Vec<Word>> {
    let (context, size) = (comm.collective_context(), comm.size() as usize);
    let mut all = vec![0u64; size * 4];
    if comm.rank() != 0 {
        engine.send(engine.lock(), context, 0, TAG, SendBuf::from_slice(&own.pack()), Mode::Standard)?;
        engine.recv(engine.lock(), context, 0, TAG, RecvBuf::from_slice(&mut all))?;
    } else {
        all[..4].copy_from_slice(&own.pack());
        for (rank, words) in all.chunks_exact_mut(4).enumerate().skip(1) {
            engine.recv(engine.lock(), context, rank as i32, TAG, RecvBuf::from_slice(words))?;
        }
        for rank in 1..size {
            engine.send(engine.lock(), context, rank as i32, TAG, SendBuf::from_slice(&all), Mode::Standard)?;
        }
    }
    Ok(all.chunks_exact(4).map(Word::unpack).collect())
}

/// Rank 0 does something, and tells everybody how it fared.
pub(crate) fn by_first(engine: &Engine, comm: &Comm, act: impl FnOnce() -> Result<(), Fault>) -> Result<Option<Fault>> {
    let context = comm.collective_context();
    if comm.rank() != 0 {
        let mut told = [0u64; 4];
        engine.recv(engine.lock(), context, 0, TAG, RecvBuf::from_slice(&mut told))?;
        return Ok(Word::unpack(&told).fault);
    }
    let word = Word { fault: act().err(), numbers: [0; 2] };
    for rank in 1..comm.size() as i32 {
        engine.send(engine.lock(), context, rank, TAG, SendBuf::from_slice(&word.pack()), Mode::Standard)?;
    }
    Ok(word.fault)
}

/// The first process that met something, and what.
pub(crate) fn first_fault(words: &[Word]) -> Option<(usize, Fault)> {
    words.iter().enumerate().find_map(|(rank, word)| Some((rank, word.fault?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_survives_its_journey() {
        for fault in [None, Some(Fault { class: 42, errno: libc::ENOENT }), Some(Fault { class: 1, errno: 0 })] {
            let word = Word { fault, numbers: [7, u64::MAX] };
            assert_eq!(Word::unpack(&word.pack()), word);
        }
    }

    #[test]
    fn the_lowest_rank_s_fault_counts() {
        let word = |class| Word { fault: (class != 0).then_some(Fault { class, errno: 5 }), numbers: [0; 2] };
        assert_eq!(first_fault(&[word(0), word(3), word(2)]), Some((1, Fault { class: 3, errno: 5 })));
        assert_eq!(first_fault(&[word(0)]), None);
    }
}
