//! Blocks with a layout each, and the exchanges in which every pair of processes has its own (`MPI_Alltoallw`,
//! `MPI_Neighbor_alltoallw`; MPI-5.0, 6.8 and 8.6.2).
//!
//! Invariant: blocks that are received into lie in their slice and do not overlap; both is checked before the call begins.
//! Not here: exchanges of elements that follow each other (`collective`, `varying`).

use std::ops::Range;

use mpi_core::functions;
use mpi_datatype::{Element, Placed};

use crate::arrangement::Kind;
use crate::call::CallName;
use crate::threads::ThreadUse;
use crate::{Communicator, Graph, Grid, Layout, Result};

const ALL_TO_ALL_BLOCKS: CallName = CallName::new("Communicator::all_to_all_blocks", functions::MPI_ALLTOALLW);

/// The elements of a slice that go to one process, or come from it: `count` times a layout, one behind the other, from the
/// element `start` on.
///
/// A layout from the beginning of the slice becomes a block by `into`. Cheap to clone; safe to use from any thread.
#[derive(Debug, Clone)]
pub struct Block<T> {
    layout: Layout<T>,
    start: usize,
    count: usize,
}

impl<T: Element> Block<T> {
    /// `count` times `layout` from the element `start` on.
    pub fn new(layout: &Layout<T>, start: usize, count: usize) -> Block<T> {
        Block { layout: layout.clone(), start, count }
    }

    /// Elements that follow each other; none for an empty range.
    pub fn elements(range: Range<usize>) -> Block<T> {
        Block { layout: Layout::element(), start: range.start, count: range.len() }
    }

    /// No elements: no message.
    pub fn empty() -> Block<T> {
        Block::elements(0..0)
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.layout.count().saturating_mul(self.count)
    }
}

impl<T: Element> From<Layout<T>> for Block<T> {
    fn from(layout: Layout<T>) -> Block<T> {
        Block { layout, start: 0, count: 1 }
    }
}

/// The places of blocks in bytes.
pub(crate) fn placed<T: Element>(blocks: &[Block<T>]) -> Vec<Placed> {
    let place = |block: &Block<T>| Placed {
        at: block.start.saturating_mul(size_of::<T>()),
        count: block.count as u64,
        datatype: block.layout.datatype().clone(),
    };
    blocks.iter().map(place).collect()
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Sends each process the block of `data` that `sends` has for it, and receives one from each into the block of `into`
    /// that `receives` has for it. What this process sends to another one has as many elements as that one receives.
    /// Errors: `MPI_ERR_COUNT` for lists that do not have a block for each process, and for blocks of this process for
    /// itself that differ in length; `MPI_ERR_BUFFER` for a block that reaches out of its slice, and for receives that
    /// overlap; `MPI_ERR_TRUNCATE`.
    ///
    /// ```no_run
    /// use mpi::{Block, Layout};
    ///
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// // Each process has a row of blocks of a matrix, and gets a column of them, transposed.
    /// let size = world.size() as usize;
    /// let (row, mut column) = (vec![world.rank(); 2 * 2 * size], vec![0; 2 * size * 2]);
    /// let block = Layout::vector(2, 2, 2 * size)?;
    /// let sends: Vec<_> = (0..size).map(|to| Block::new(&block, 2 * to, 1)).collect();
    /// let receives: Vec<_> = (0..size).map(|from| Block::elements(4 * from..4 * from + 4)).collect();
    /// world.all_to_all_blocks(&row, &sends, &mut column, &receives)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_to_all_blocks<T: Element>(
        &self,
        data: &[T],
        sends: &[Block<T>],
        into: &mut [T],
        receives: &[Block<T>],
    ) -> Result<()> {
        let kind = Kind::AllToAllBlocks(placed(sends), placed(receives));
        self.exchange_blocks(ALL_TO_ALL_BLOCKS, &kind, data, into)
    }

    fn exchange_blocks<T: Element>(&self, name: CallName, kind: &Kind, data: &[T], into: &mut [T]) -> Result<()> {
        self.call(name, |call| {
            let arranged = kind.arrange(self, data.len())?;
            self.carry_out(call, &arranged, data, into, None)
        })
    }
}

/// The call of neighbours.
macro_rules! neighbors {
    ($topology:ident $name:literal) => {
        impl<M: ThreadUse> $topology<'_, M> {
            /// Sends each neighbour that this process sends to the block of `data` that `sends` has for it, and receives
            /// one from each source into the block of `into` that `receives` has for it, in their order; nothing where
            /// there is no process. Errors: as [`Communicator::all_to_all_blocks`].
            pub fn neighbor_all_to_all_blocks<T: Element>(
                &self,
                data: &[T],
                sends: &[Block<T>],
                into: &mut [T],
                receives: &[Block<T>],
            ) -> Result<()> {
                const NAME: CallName = CallName::new($name, functions::MPI_NEIGHBOR_ALLTOALLW);
                let kind = Kind::NeighborAllToAllBlocks(placed(sends), placed(receives));
                self.exchange_blocks(NAME, &kind, data, into)
            }
        }
    };
}

neighbors!(Grid "Grid::neighbor_all_to_all_blocks");
neighbors!(Graph "Graph::neighbor_all_to_all_blocks");
