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
/// Numbers that a word is on its way.
const WORDS: usize = 5;

/// What one process tells: how it fared, and some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    /// What the process met; `None` when all is well.
    pub fault: Option<Fault>,
    /// What it means depends on the occasion.
    pub numbers: [u64; 3],
}

impl Word {
    /// What a process tells of its own part: the class of what was refused, or these numbers.
    pub fn of<T>(part: &Result<T>, numbers: [u64; 3]) -> Word {
        Word { fault: part.as_ref().err().map(|error| Fault { class: error.class(), errno: 0 }), numbers }
    }

    fn pack(self) -> [u64; 5] {
        let fault = self.fault.unwrap_or(Fault { class: 0, errno: 0 });
        [fault.class as u64, fault.errno as u64, self.numbers[0], self.numbers[1], self.numbers[2]]
    }

    fn unpack(words: &[u64]) -> Word {
        let (class, errno) = (words[0] as i32, words[1] as i32);
        let fault = (class != 0).then_some(Fault { class, errno });
        Word { fault, numbers: [words[2], words[3], words[4]] }
    }
}

/// Everybody tells everybody, through rank 0: the words of all, by rank.
pub(crate) fn exchange(engine: &Engine, comm: &Comm, own: Word) -> Result<Vec<Word>> {
    exchange_with(engine, comm, own, |_| {})
}

/// The same; when all words have come, and before anybody gets them, rank 0 does `settle`.
pub(crate) fn exchange_with(
    engine: &Engine,
    comm: &Comm,
    own: Word,
    settle: impl FnOnce(&mut [Word]),
) -> Result<Vec<Word>> {
    let (context, size) = (comm.collective_context(), comm.size() as usize);
    let mut told = vec![0u64; size * WORDS];
    if comm.rank() != 0 {
        engine.send(engine.lock(), context, 0, TAG, SendBuf::from_slice(&own.pack()), Mode::Standard)?;
        engine.recv(engine.lock(), context, 0, TAG, RecvBuf::from_slice(&mut told))?;
        return Ok(told.chunks_exact(WORDS).map(Word::unpack).collect());
    }
    told[..WORDS].copy_from_slice(&own.pack());
    for (rank, words) in told.chunks_exact_mut(WORDS).enumerate().skip(1) {
        engine.recv(engine.lock(), context, rank as i32, TAG, RecvBuf::from_slice(words))?;
    }
    let mut all: Vec<Word> = told.chunks_exact(WORDS).map(Word::unpack).collect();
    settle(&mut all);
    told = all.iter().flat_map(|word| word.pack()).collect();
    for rank in 1..size {
        engine.send(engine.lock(), context, rank as i32, TAG, SendBuf::from_slice(&told), Mode::Standard)?;
    }
    Ok(all)
}

/// Rank 0 does something, and tells everybody how it fared, with two numbers.
pub(crate) fn by_first(
    engine: &Engine,
    comm: &Comm,
    act: impl FnOnce() -> Result<[u64; 2], Fault>,
) -> Result<Result<[u64; 2], Fault>> {
    let context = comm.collective_context();
    let word = if comm.rank() != 0 {
        let mut told = [0u64; WORDS];
        engine.recv(engine.lock(), context, 0, TAG, RecvBuf::from_slice(&mut told))?;
        Word::unpack(&told)
    } else {
        let word = match act() {
            Ok([first, second]) => Word { fault: None, numbers: [first, second, 0] },
            Err(fault) => Word { fault: Some(fault), numbers: [0; 3] },
        };
        for rank in 1..comm.size() as i32 {
            engine.send(engine.lock(), context, rank, TAG, SendBuf::from_slice(&word.pack()), Mode::Standard)?;
        }
        word
    };
    Ok(word.fault.map_or(Ok([word.numbers[0], word.numbers[1]]), Err))
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
            let word = Word { fault, numbers: [7, u64::MAX, 0] };
            assert_eq!(Word::unpack(&word.pack()), word);
        }
    }

    #[test]
    fn the_lowest_rank_s_fault_counts() {
        let word = |class| Word { fault: (class != 0).then_some(Fault { class, errno: 5 }), numbers: [0; 3] };
        assert_eq!(first_fault(&[word(0), word(3), word(2)]), Some((1, Fault { class: 3, errno: 5 })));
        assert_eq!(first_fault(&[word(0)]), None);
    }
}
