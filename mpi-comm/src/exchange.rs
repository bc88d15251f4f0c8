//! Exchange: the processes of a communicator, or some of them, contribute a few words each and receive those of all.
//!
//! The words travel up a tree to the first process and down again. A process has up to [`RADIX`] - 1 children on each
//! level, so that in a small communicator the first process reaches all others directly.
//! Invariant: the messages of an exchange do not depend on the words, so that a process that contributes an error still
//! sends and receives all of its messages and no other process waits for ever. In an exchange among some processes of a
//! communicator, one that has lost another sends empty messages in place of the words, which are an error in all that
//! receive them.
//! Not here: the meaning of the words.

use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_PROC_ABORTED};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, Mode, TAGS_OF_SOME};

use crate::comm::Comm;
use crate::group::Group;

/// Branching factor of the tree.
const RADIX: usize = 16;

/// The processes that take part in an exchange, in an order that is the same in all of them. All calls are collective
/// over these processes; they wait, with no guard held.
pub struct Exchange<'a> {
    engine: &'a Engine,
    /// Context id of the messages.
    context: u32,
    tag: i32,
    /// Rank in the communicator of each participant.
    ranks: Vec<i32>,
    /// This process's place among them.
    place: usize,
}

impl<'a> Exchange<'a> {
    /// Among all processes of a communicator, in the order of their ranks.
    pub fn among_all(engine: &'a Engine, comm: &Comm, tag: i32) -> Exchange<'a> {
        let ranks = (0..comm.size() as i32).collect();
        Exchange { engine, context: comm.collective_context(), tag, ranks, place: comm.rank as usize }
    }

    /// Among the processes of a group, this one included, all of them in `comm`.
    ///
    /// Errors: `MPI_ERR_OTHER` for a group that has other members.
    pub fn among_group(engine: &'a Engine, comm: &Comm, group: &Group, tag: i32) -> Result<Exchange<'a>> {
        let rank = |world_rank: &u32| comm.group().rank_of(*world_rank).map(|rank| rank as i32);
        let ranks: Option<Vec<i32>> = group.world_ranks().iter().map(rank).collect();
        match (ranks, group.rank_of(engine.rank())) {
            (Some(ranks), Some(place)) => {
                Ok(Exchange { engine, context: comm.collective_context(), tag, ranks, place: place as usize })
            }
            _ => Err(Error::new(MPI_ERR_OTHER, "the group is no part of the communicator")),
        }
    }

    /// The same processes, with the one at another place first: the order goes round.
    pub fn starting_at(mut self, first: usize) -> Exchange<'a> {
        self.ranks.rotate_left(first);
        self.place = (self.place + self.ranks.len() - first) % self.ranks.len();
        self
    }

    /// The words of all processes, in their order.
    pub fn all<const N: usize>(&self, own: [u64; N]) -> Result<Vec<[u64; N]>> {
        self.all_with(own, |_| {})
    }

    /// As [`Exchange::all`], after an exchange of the same call that has ended with `first` in this process. It may have
    /// ended without an error in others, which wait for this process now; they get an error.
    pub fn all_after<const N: usize>(&self, first: Option<Error>, own: [u64; N]) -> Result<Vec<[u64; N]>> {
        self.all_unless(first, own, |_| {})
    }

    /// As [`Exchange::all`]; when the words of all have arrived at the first process, and before any process receives
    /// them, the first process applies `adjust` to them.
    pub fn all_with<const N: usize>(
        &self,
        own: [u64; N],
        adjust: impl FnOnce(&mut [[u64; N]]),
    ) -> Result<Vec<[u64; N]>> {
        self.all_unless(None, own, adjust)
    }

    fn all_unless<const N: usize>(
        &self,
        mut first: Option<Error>,
        own: [u64; N],
        adjust: impl FnOnce(&mut [[u64; N]]),
    ) -> Result<Vec<[u64; N]>> {
        self.end_if_found_by_all(&mut first)?;
        let mut all = vec![[0; N]; self.ranks.len()];
        all[self.place] = own;
        for child in self.children() {
            self.keep(&mut first, self.receive(child, all[child..self.end_of(child)].as_flattened_mut()))?;
        }
        match self.parent() {
            Some(parent) => {
                let words = all[self.place..self.end_of(self.place)].as_flattened();
                let sent = self.send_unless(parent, &first, words);
                self.keep(&mut first, sent)?;
            }
            None => adjust(&mut all),
        }
        self.distribute_unless(all.as_flattened_mut(), first)?;
        Ok(all)
    }

    /// The words that the first process makes.
    pub fn from_first<const N: usize>(&self, make: impl FnOnce() -> [u64; N]) -> Result<[u64; N]> {
        let mut words = if self.place == 0 { make() } else { [0; N] };
        self.distribute(&mut words)?;
        Ok(words)
    }

    /// Replaces the words of all processes by those of the first one; all pass as many.
    pub fn distribute(&self, words: &mut [u64]) -> Result<()> {
        self.distribute_unless(words, None)
    }

    /// The sum of the numbers of all processes, each place for itself; all processes give as many.
    pub fn sum(&self, own: Vec<u64>) -> Result<Vec<u64>> {
        self.sum_after(None, own)
    }

    /// As [`Exchange::sum`], after an exchange of the same call: as [`Exchange::all_after`].
    pub fn sum_after(&self, mut first: Option<Error>, own: Vec<u64>) -> Result<Vec<u64>> {
        self.end_if_found_by_all(&mut first)?;
        let mut sum = own;
        let mut of_child = vec![0; sum.len()];
        for child in self.children() {
            self.keep(&mut first, self.receive(child, &mut of_child))?;
            sum.iter_mut().zip(&of_child).for_each(|(sum, of_child)| *sum += of_child);
        }
        if let Some(parent) = self.parent() {
            let sent = self.send_unless(parent, &first, &sum);
            self.keep(&mut first, sent)?;
        }
        self.distribute_unless(&mut sum, first)?;
        Ok(sum)
    }

    /// As [`Exchange::distribute`]; with an error, of this process or of its parent, the children get that one.
    fn distribute_unless(&self, words: &mut [u64], mut first: Option<Error>) -> Result<()> {
        if let Some(parent) = self.parent() {
            self.keep(&mut first, self.receive(parent, words))?;
        }
        // The largest subtree first.
        for child in self.children().rev() {
            match self.send_unless(child, &first, words) {
                // The child needs nothing any more. The others would wait for this process in the next exchange.
                Err(error) if self.is_among_some() && error.class() == MPI_ERR_PROC_ABORTED => {}
                sent => self.keep(&mut first, sent)?,
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Whether the loss of a process ends the messages with that one alone. It ends all messages of operations of all
    /// processes, so that each of these finds it.
    fn is_among_some(&self) -> bool {
        !(0..TAGS_OF_SOME).contains(&self.tag)
    }

    /// Keeps the first error of an exchange that goes on with it. Errors: it, where each process finds one by itself.
    fn keep(&self, first: &mut Option<Error>, result: Result<()>) -> Result<()> {
        match result {
            Err(error) if self.is_among_some() => {
                first.get_or_insert(error);
                Ok(())
            }
            result => result,
        }
    }

    /// Errors: the error of an exchange before, where each process finds one by itself.
    fn end_if_found_by_all(&self, first: &mut Option<Error>) -> Result<()> {
        if self.is_among_some() { Ok(()) } else { first.take().map_or(Ok(()), Err) }
    }

    /// This process's place among the participants.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Sends words, or, with an error, nothing in their place.
    fn send_unless(&self, place: usize, error: &Option<Error>, words: &[u64]) -> Result<()> {
        let data = if error.is_some() { SendBuf::empty() } else { SendBuf::from_slice(words) };
        self.engine.send(self.engine.lock(), self.context, self.ranks[place], self.tag, data, Mode::Standard)
    }

    fn receive(&self, place: usize, words: &mut [u64]) -> Result<()> {
        let bytes = size_of_val(words) as u64;
        let room = RecvBuf::from_slice(words);
        let status = self.engine.recv(self.engine.lock(), self.context, self.ranks[place], self.tag, room)?;
        if status.bytes() == bytes { Ok(()) } else { Err(failed_elsewhere()) }
    }

    fn parent(&self) -> Option<usize> {
        (self.place > 0).then(|| self.place - self.place % (width(self.place) * RADIX))
    }

    /// The children of this process, those with the smallest subtrees first.
    fn children(&self) -> impl DoubleEndedIterator<Item = usize> {
        children(self.place, self.ranks.len())
    }

    /// The place behind the last one in the subtree of a place.
    fn end_of(&self, place: usize) -> usize {
        if place == 0 { self.ranks.len() } else { (place + width(place)).min(self.ranks.len()) }
    }
}

#[cold]
fn failed_elsewhere() -> Error {
    Error::new(MPI_ERR_PROC_ABORTED, "another process of the call has lost one that takes part, which has ended")
}

/// Places in the subtree of a place other than 0: the largest power of the radix that divides it.
fn width(place: usize) -> usize {
    let mut width = 1;
    while place.is_multiple_of(width * RADIX) {
        width *= RADIX;
    }
    width
}

/// The children of a place in a tree of `size` places: on each level below its own width, `RADIX - 1` at most.
fn children(place: usize, size: usize) -> impl DoubleEndedIterator<Item = usize> {
    let limit = if place == 0 { size } else { width(place) };
    let levels = (0..).map(|level| RADIX.pow(level)).take_while(move |step| *step < limit).collect::<Vec<_>>();
    let on_level = move |step: usize| (1..RADIX).map(move |index| place + index * step);
    levels.into_iter().flat_map(on_level).filter(move |child| *child < size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_but_the_first_is_the_child_of_its_parent_alone() {
        for size in [1, 2, 15, 16, 17, 255, 256, 257, 1000, 4096, 5000] {
            let mut parent = vec![None; size];
            for place in 0..size {
                for child in children(place, size) {
                    assert_eq!(parent[child].replace(place), None, "{child} of {size}");
                    assert_eq!(place, child - child % (width(child) * RADIX), "{child} of {size}");
                }
            }
            assert!(parent[0].is_none() && parent[1..].iter().all(Option::is_some), "{size}");
        }
    }

    #[test]
    fn the_subtree_of_a_place_is_the_range_behind_it() {
        fn members(place: usize, size: usize) -> Vec<usize> {
            let mut all = vec![place];
            children(place, size).for_each(|child| all.extend(members(child, size)));
            all.sort_unstable();
            all
        }
        for size in [17, 300, 5000] {
            for place in [1, 15, 16, 32, 255, 256, 272].into_iter().filter(|place| *place < size) {
                let range: Vec<usize> = (place..size.min(place + width(place))).collect();
                assert_eq!(members(place, size), range, "{place} of {size}");
            }
        }
    }

    #[test]
    fn a_small_communicator_has_no_levels() {
        assert_eq!(children(0, RADIX).collect::<Vec<_>>(), (1..RADIX).collect::<Vec<_>>());
        assert_eq!(children(0, 5000).count(), 3 * (RADIX - 1) + 1);
    }
}
