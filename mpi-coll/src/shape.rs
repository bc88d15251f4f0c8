//! The shape of a collective call: everything that its steps follow from.
//!
//! Invariant: shapes of the processes of one call match, so that their steps do.
//! Not here: the algorithms (a file for each operation, chosen in `dispatch`), memory (`memory`).

use mpi_comm::Hosts;
use mpi_core::abi::{MPI_PROC_NULL, MPI_ROOT};
use mpi_errors::Result;

use crate::coll_op::CollOp;
use crate::memory::Layout;
use crate::plan::Plan;
use crate::steps::{Place, ROUNDED, STAGED, Span, Steps, Team, WIDE};

/// The root of a rooted operation, as one process names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// A rank of the communicator; in an intercommunicator, of the remote group.
    Rank(u32),
    /// This process, in an intercommunicator (`MPI_ROOT`).
    Here,
    /// Another process of the local group (`MPI_PROC_NULL`), which is all that takes part.
    Elsewhere,
}

impl Root {
    /// The root that an argument names.
    pub fn of(argument: i32) -> Root {
        match argument {
            MPI_ROOT => Root::Here,
            MPI_PROC_NULL => Root::Elsewhere,
            rank => Root::Rank(rank as u32),
        }
    }
}

/// The reduction of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Combining {
    /// Packed bytes of an element where elements are combined.
    pub size: u64,
    /// Packed bytes of an element in the program's buffers: others than `size` in a reproducible sum.
    pub plain: u64,
    /// Number of elements of a contribution.
    pub count: u64,
    /// Whether operands may be swapped.
    pub commutative: bool,
    /// Whether elements may be combined in the receive buffer.
    pub native: bool,
    /// Whether elements may be combined where another process published them: predefined ones without gaps.
    pub direct: bool,
}

impl Combining {
    /// Bytes of a contribution.
    pub fn bytes(&self) -> u64 {
        // Sums are longer than the numbers of the program, whose bytes are known to fit.
        self.size.saturating_mul(self.count)
    }

    /// Bytes of a contribution in the program's buffers.
    pub fn plain_bytes(&self) -> u64 {
        self.plain * self.count
    }

    /// Whether elements are combined in another form than that of the program's buffers.
    pub fn is_binned(&self) -> bool {
        self.size != self.plain
    }
}

/// The neighbours of a process; `None` beyond the end of a grid.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Neighbours<'a> {
    pub sources: &'a [Option<u32>],
    pub destinations: &'a [Option<u32>],
    /// Whether the neighbours are pairs, of which each sends to the other's opposite place (a grid).
    pub in_pairs: bool,
}

/// A call, without its data.
#[derive(Debug, Clone)]
pub(crate) struct Shape<'a> {
    pub which: CollOp,
    /// This process among its communicator's; in an intercommunicator in the local group.
    pub team: Team,
    /// Number of processes that messages go to.
    pub peers: u32,
    /// Whether the communicator is an intercommunicator.
    pub inter: bool,
    pub root: Root,
    pub plan: Plan,
    /// The bytes by which the plan chooses.
    pub bytes: u64,
    /// The bytes that match those of other processes.
    pub matching: u64,
    pub send: Layout,
    pub recv: Layout,
    /// Element counts of the blocks of a reduction that is scattered.
    pub counts: &'a [u64],
    pub reduction: Option<Combining>,
    pub neighbours: Neighbours<'a>,
    /// The hosts of the communicator, if it has several.
    pub hosts: Option<&'a Hosts>,
}

impl Shape<'_> {
    /// The rank of the root within the communicator.
    pub fn root_rank(&self) -> u32 {
        match self.root {
            Root::Rank(rank) => rank,
            Root::Here | Root::Elsewhere => self.team.rank,
        }
    }

    /// The data that this process sends to a rank.
    pub fn send_block(&self, block: u32) -> Span {
        self.send.block(Place::Send, block)
    }

    /// The place of the data that this process receives from a rank.
    pub fn recv_block(&self, block: u32) -> Span {
        self.recv.block(Place::Recv, block)
    }

    /// Whether a block is sent: a list of blocks may have empty ones, for which there is no message. Equal blocks are
    /// all sent, so that counts which do not match are found.
    pub fn is_sent(&self, block: Span) -> bool {
        block.bytes > 0 || !matches!((&self.send, &self.recv), (Layout::Each(_), _) | (_, Layout::Each(_)))
    }

    /// The reduction.
    pub fn combining(&self) -> Combining {
        self.reduction.unwrap_or(Combining {
            size: 0,
            plain: 0,
            count: 0,
            commutative: true,
            native: true,
            direct: true,
        })
    }

    /// The contribution of this process to a reduction, to be read.
    pub fn contribution<S: Steps + ?Sized>(&self, steps: &mut S) -> Result<Span> {
        let combining = self.combining();
        let own = match self.send.in_place() {
            true => self.result(combining.plain_bytes()),
            false => self.send.whole(Place::Send),
        };
        if !combining.is_binned() {
            return Ok(own);
        }
        let wide = steps.elements(WIDE, combining.count)?;
        steps.widen(own, wide)?;
        Ok(wide)
    }

    /// The contribution of this process to a reduction, and where its result is computed: the receive buffer, unless the
    /// elements may not be combined there.
    pub fn operands<S: Steps + ?Sized>(&self, steps: &mut S) -> Result<(Span, Span)> {
        let (combining, own) = (self.combining(), self.contribution(steps)?);
        if combining.is_binned() {
            return Ok((own, own));
        }
        if combining.native && self.recv.bytes() >= combining.bytes() {
            return Ok((own, self.result(combining.bytes())));
        }
        let staged = steps.elements(STAGED, combining.count)?;
        steps.copy(own, staged)?;
        Ok((staged, staged))
    }

    /// The first bytes of the receive buffer.
    pub fn result(&self, bytes: u64) -> Span {
        Span { place: Place::Recv, piece: 0, at: 0, bytes }
    }

    /// Copies a result into the receive buffer, if it is elsewhere and this process has one.
    pub fn deliver<S: Steps + ?Sized>(&self, steps: &mut S, result: Span) -> Result<()> {
        if result.place == Place::Recv || !self.recv.present() {
            return Ok(());
        }
        let what = self.combining();
        match what.is_binned() {
            true => steps.narrow(result, self.result(result.bytes / what.size * what.plain)),
            false => steps.copy(result, self.result(result.bytes)),
        }
    }

    /// A result in the form of the program's buffers, for other processes.
    pub fn rounded<S: Steps>(&self, steps: &mut S, result: Span) -> Result<Span> {
        let what = self.combining();
        if !what.is_binned() || result.bytes == 0 {
            return Ok(result);
        }
        let rounded = steps.bytes(ROUNDED, result.bytes / what.size * what.plain)?;
        steps.narrow(result, rounded)?;
        Ok(rounded)
    }

    /// Working memory for elements in the form of the program's buffers.
    pub fn room_for_result<S: Steps>(&self, steps: &mut S, area: u8) -> Result<Span> {
        let what = self.combining();
        match what.is_binned() {
            true => steps.bytes(area, what.plain_bytes()),
            false => steps.elements(area, what.count),
        }
    }
}
