//! The comparison of the arguments of a collective call before it begins (control variable `coll_check`): a mismatch,
//! which would hang or give wrong data, becomes an error that names the ranks.
//!
//! Invariant: every process compares the same terms in rank order, so that all of them find the same error and none
//! continues with the call.
//! Not here: errors of a call whose counts do not match (`link`).

use std::fmt::Write;

use mpi_comm::{Comm, Exchange};
use mpi_core::Guard;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_core::handle::FIRST_DYNAMIC;
use mpi_datatype::predefined;
use mpi_errors::{Error, Result};

use crate::coll_op::CollOp;
use crate::link::CHECK;
use crate::op::Builtin;
use crate::{Collectives, Reduction};

/// The arguments of one process that must match those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    which: CollOp,
    root: Option<u32>,
    /// Bytes that one process contributes or receives.
    bytes: u64,
    /// Handle word of a predefined operation; `None` for others, which each process creates for itself.
    op: Option<Builtin>,
    /// Handle word of a predefined type; 0 for others, and where types may differ.
    datatype: usize,
}

/// Words of the terms in a message.
const WORDS: usize = 5;

impl Terms {
    #[inline]
    pub fn new(which: CollOp, bytes: u64) -> Terms {
        Terms { which, root: None, bytes, op: None, datatype: 0 }
    }

    #[inline]
    pub fn root(self, root: u32) -> Terms {
        Terms { root: Some(root), ..self }
    }

    #[inline]
    pub fn reducing(self, what: &Reduction<'_>) -> Terms {
        let datatype = if what.handle < FIRST_DYNAMIC { what.handle } else { 0 };
        Terms { op: what.op.builtin(), datatype, ..self }
    }

    fn to_words(self) -> [u64; WORDS] {
        [
            self.which as u64,
            self.root.map_or(0, |root| u64::from(root) + 1),
            self.bytes,
            self.op.map_or(0, |op| op as u64 + 1),
            self.datatype as u64,
        ]
    }

    /// The terms that another process sent; `None` for words that [`Terms::to_words`] does not return.
    fn from_words([which, root, bytes, op, datatype]: [u64; WORDS]) -> Option<Terms> {
        Some(Terms {
            which: CollOp::ALL.into_iter().find(|known| *known as u64 == which)?,
            root: root.checked_sub(1).map(u32::try_from).transpose().ok()?,
            bytes,
            op: op.checked_sub(1).map(|op| Builtin::at(op).ok_or(())).transpose().ok()?,
            datatype: usize::try_from(datatype).ok()?,
        })
    }

    /// Whether a process with the one and a process with the other may be in one call. Operations and types that the
    /// program created count as equal.
    fn fits(&self, other: &Terms) -> bool {
        let known = |one: Option<Builtin>, two: Option<Builtin>| one.is_none() || two.is_none() || one == two;
        (self.which, self.root, self.bytes) == (other.which, other.root, other.bytes)
            && known(self.op, other.op)
            && (self.datatype == 0 || other.datatype == 0 || self.datatype == other.datatype)
    }

    /// Adds the terms that only the other one has, which fits; returns whether there were any.
    fn complete_from(&mut self, other: &Terms) -> bool {
        let before = *self;
        self.op = self.op.or(other.op);
        if self.datatype == 0 {
            self.datatype = other.datatype;
        }
        *self != before
    }

    fn description(&self) -> String {
        let mut text = format!("{} of {}", self.which.function(), mpi_errors::counted(self.bytes, "byte"));
        if self.which == CollOp::Barrier {
            text = self.which.function().to_owned();
        }
        let mut with = " with".to_owned();
        let mut add = |what: String| {
            // Writing to a String does not fail.
            let _ = write!(text, "{with} {what}");
            with = ",".to_owned();
        };
        if let Some(root) = self.root {
            add(format!("root {root}"));
        }
        if let Some(op) = self.op {
            add(op.name().to_owned());
        }
        if let Some(datatype) = predefined(self.datatype) {
            add(datatype.name().to_owned());
        }
        text
    }
}

impl Collectives {
    /// Compares the terms of a call that has begun, if `coll_check` is set; releases the guard meanwhile. Errors:
    /// `MPI_ERR_OTHER` in all processes when they differ.
    #[inline(always)]
    pub(crate) fn agree<'a>(
        &'a self,
        comm: &Comm,
        guard: Guard<'a>,
        terms: impl FnOnce() -> Terms,
    ) -> Result<Guard<'a>> {
        if !self.settings.check.get() {
            return Ok(guard);
        }
        drop(guard);
        self.compare(comm, terms())?;
        Ok(self.engine.lock())
    }

    #[cold]
    #[inline(never)]
    fn compare(&self, comm: &Comm, own: Terms) -> Result<()> {
        let all = Exchange::among_all(&self.engine, comm, CHECK).all(own.to_words())?;
        let mut agreed: Option<(u32, Terms)> = None;
        for (rank, words) in (0u32..).zip(all) {
            let terms = Terms::from_words(words).ok_or_else(|| not_terms(rank))?;
            match &mut agreed {
                None => agreed = Some((rank, terms)),
                Some((first, known)) if !known.fits(&terms) => return Err(apart(*first, known, rank, &terms)),
                Some((first, known)) => {
                    if known.complete_from(&terms) {
                        *first = rank;
                    }
                }
            }
        }
        Ok(())
    }
}

fn apart(first: u32, known: &Terms, rank: u32, terms: &Terms) -> Error {
    Error::new(
        MPI_ERR_OTHER,
        format!(
            "rank {first} of the communicator calls {}, but rank {rank} calls {}",
            known.description(),
            terms.description()
        ),
    )
    .hint("All processes of a communicator call the same collectives in the same order, with arguments that match.")
}

fn not_terms(rank: u32) -> Error {
    Error::new(
        MPI_ERR_OTHER,
        format!("rank {rank} did not send the terms of a call; is coll_check set alike in all processes?"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use mpi_core::abi::{MPI_INT, MPI_SUM};

    fn reduce(root: u32, bytes: u64) -> Terms {
        let op = Op::predefined(MPI_SUM).expect("predefined");
        let datatype = predefined(MPI_INT).expect("predefined");
        let what = Reduction { op, datatype, handle: MPI_INT, count: bytes / 4 };
        Terms::new(CollOp::Reduce, bytes).root(root).reducing(&what)
    }

    #[test]
    fn terms_keep_their_value_in_a_message_and_other_words_are_no_terms() {
        for terms in [reduce(0, 8), reduce(u32::MAX, u64::MAX), Terms::new(CollOp::Barrier, 0)] {
            assert_eq!(Terms::from_words(terms.to_words()), Some(terms));
        }
        for place in [0, 1, 3] {
            let mut words = reduce(0, 8).to_words();
            words[place] = u64::MAX;
            assert_eq!(Terms::from_words(words), None, "word {place}");
        }
    }

    #[test]
    fn the_error_of_a_difference_describes_both_calls() {
        let (one, two) = (reduce(0, 8), Terms::new(CollOp::Bcast, 8).root(1));
        assert!(one.fits(&one) && !one.fits(&two) && !one.fits(&reduce(1, 8)) && !one.fits(&reduce(0, 12)));
        let mut own = Terms { op: None, datatype: 0, ..one };
        assert!(one.fits(&own) && own.fits(&one), "objects of the program may be equal");
        assert!(own.complete_from(&one) && own == one && !own.complete_from(&one));
        let text = apart(0, &one, 3, &two).to_string();
        for part in [
            "rank 0",
            "MPI_Reduce of 8 bytes with root 0, MPI_SUM, MPI_INT",
            "rank 3",
            "MPI_Bcast of 8 bytes with root 1",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
